/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of profilers other than traces, as tables of rows. */
#include "model/dump.h"

#include "model/builder.h"

#include <inttypes.h>

static const size_t row_sizes[TA_DUMP_COUNT] = {
#define TA_DUMP_SIZE(kind, type) [TA_DUMP_##kind] = sizeof(type),
    TA_DUMP_TABLES(TA_DUMP_SIZE)
#undef TA_DUMP_SIZE
};

static void free_allocator(struct ta_allocator *allocator)
{
    if (!allocator)
        return;
    free(allocator->segments);
    free(allocator->blocks);
    free(allocator->events);
    free(allocator->stacks);
    free(allocator);
}

void ta_dump_free(struct ta_dump *dump)
{
    for (int table = 0; table < TA_DUMP_COUNT; table++)
        free(dump->rows[table].at);
    free_allocator(dump->allocator);
    *dump = (struct ta_dump){0};
}

bool ta_dump_holds_any(const struct ta_dump *dump)
{
    for (int table = 0; table < TA_DUMP_COUNT; table++)
        if (dump->rows[table].n)
            return true;
    return dump->allocator != NULL;
}

void ta_dump_drop(struct ta_dump *dump, enum ta_dump_table table)
{
    dump->rows[table].n = 0;
}

/* ---- writing ------------------------------------------------------------------------------- */

static enum ta_status no_memory(struct ta_ctx *ctx)
{
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the records of a file");
}

enum ta_status ta_builder_add_row(struct ta_ctx *ctx, struct ta_builder *builder,
                                  enum ta_dump_table table, const void *row)
{
    struct ta_dump *dump = &builder->trace->dump;
    const size_t size = row_sizes[table];
    if (!ta_vec_grow((void **)&dump->rows[table].at, &dump->rows[table].max, dump->rows[table].n,
                     size))
        return no_memory(ctx);
    memcpy(dump->rows[table].at + dump->rows[table].n++ * size, row, size);
    return TA_OK;
}

void ta_builder_set_copy(struct ta_builder *builder, struct ta_slice set,
                         enum ta_exactness exactness)
{
    struct ta_dump *dump = &builder->trace->dump;
    dump->set = ta_arena_copy(&builder->trace->arena, set);
    dump->exactness = exactness;
    if (!dump->set)
        builder->track_of.failed = true;
}

/* A copy of n elements; with n 0 one that may be freed. */
static void *copy_array(const void *from, size_t n, size_t size)
{
    void *copy = reallocarray(NULL, n ? n : 1, size);
    if (copy && n)
        memcpy(copy, from, n * size);
    return copy;
}

#define COPY(field)                                                                                \
    ((copy->field =                                                                                \
          copy_array(allocator->field, allocator->n_##field, sizeof *allocator->field)) != NULL)

/* The frames of each stack go to the arena of the trace. */
static bool copy_stacks(struct ta_arena *arena, struct ta_allocator *copy)
{
    for (size_t i = 0; i < copy->n_stacks; i++) {
        struct ta_frames *stack = &copy->stacks[i];
        const size_t size = (stack->n + 1) * sizeof *stack->at;
        ta_str *at = ta_arena_alloc(arena, size);
        if (!at)
            return false;
        if (stack->n)
            memcpy(at, stack->at, stack->n * sizeof *stack->at);
        stack->at = at;
    }
    return true;
}

enum ta_status ta_builder_set_allocator(struct ta_ctx *ctx, struct ta_builder *builder,
                                        const struct ta_allocator *allocator)
{
    struct ta_trace *trace = builder->trace;
    struct ta_allocator *copy = calloc(1, sizeof *copy);
    if (!copy)
        return no_memory(ctx);
    free_allocator(trace->dump.allocator);
    trace->dump.allocator = copy;
    const bool done = COPY(segments) && COPY(blocks) && COPY(events) && COPY(stacks);
    if (done) {
        copy->n_segments = allocator->n_segments;
        copy->n_blocks = allocator->n_blocks;
        copy->n_events = allocator->n_events;
        copy->n_stacks = allocator->n_stacks;
    }
    return done && copy_stacks(&trace->arena, copy) ? TA_OK : no_memory(ctx);
}

/* ---- reading ------------------------------------------------------------------------------- */

const void *ta_trace_rows(const struct ta_trace *trace, enum ta_dump_table table, size_t *n)
{
    *n = trace->dump.rows[table].n;
    return *n ? trace->dump.rows[table].at : NULL;
}

const struct ta_allocator *ta_trace_allocator(const struct ta_trace *trace)
{
    return trace->dump.allocator;
}
