/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a pickle, and as a memory snapshot: the objects are whole and finite, the rows that
 * come from them fit together, and the analyses take them. */
#include "model/allocator.h"
#include "support.h"

#include "analyze/analyze.h"
#include "base/quality.h"
#include "normalize/normalize.h"
#include "parse/pickle/object.h"
#include "ranks/ranks.h"
#include "traceanalyze/dump.h"

/* ---- objects ------------------------------------------------------------------------------- */

/* Containers that the root holds have more levels than what is in them, so none holds itself. */
static void check_container(const struct ta_objects *o, const struct object *object)
{
    FUZZ_CHECK(object->n <= object->max || object->n == 0);
    FUZZ_CHECK(object->kind != TA_OBJECT_DICT || object->n % 2 == 0);
    for (uint32_t i = 0; i < object->n; i++) {
        FUZZ_CHECK(object->items[i] < o->all.n);
        const struct object *item = &o->all.at[object->items[i]];
        FUZZ_CHECK(!object->height || !is_container(item) || item->height < object->height);
    }
}

static void check_objects(const struct ta_objects *o, uint64_t depth, uint64_t limit)
{
    FUZZ_CHECK(ta_objects_root(o) < ta_objects_count(o));
    FUZZ_CHECK(ta_objects_count(o) <= limit + OBJECT_CONSTANTS);
    FUZZ_CHECK(!is_container(&o->all.at[o->root]) || o->all.at[o->root].height > 0);
    FUZZ_CHECK(o->all.at[o->root].height <= depth);
    for (size_t i = 0; i < o->all.n; i++) {
        const struct object *object = &o->all.at[i];
        FUZZ_CHECK(object->offset <= o->n_bytes);
        if (is_container(object))
            check_container(o, object);
        const struct ta_slice text = ta_object_text(o, (ta_object)i);
        volatile char last = text.len ? text.ptr[text.len - 1] : '\0'; /* can be read */
        (void)last;
    }
}

static void read_objects(struct fuzz_run *run, struct ta_reader *reader)
{
    struct ta_objects *objects = ta_objects_read(&run->ctx, reader);
    if (objects)
        check_objects(objects, ta_ctx_limit(&run->ctx, TA_LIMIT_PICKLE_DEPTH),
                      ta_ctx_limit(&run->ctx, TA_LIMIT_PICKLE_OBJECTS));
    else
        FUZZ_CHECK(ta_ctx_status(&run->ctx) == TA_ERR_INPUT);
    ta_objects_free(objects);
}

/* ---- snapshots ----------------------------------------------------------------------------- */

static void check_frames(const struct ta_allocator *a, uint32_t frames)
{
    FUZZ_CHECK(frames == UINT32_MAX || frames < a->n_stacks);
}

static void check_allocator(const struct ta_trace *trace, const struct ta_allocator *a)
{
    size_t blocks = 0;
    for (size_t i = 0; i < a->n_segments; i++) {
        const struct ta_alloc_segment *s = &a->segments[i];
        FUZZ_CHECK(s->n == 0 || s->first >= blocks);
        FUZZ_CHECK(s->first <= a->n_blocks && s->n <= a->n_blocks - s->first);
        blocks = s->first + s->n;
        check_frames(a, s->frames);
    }
    for (size_t i = 0; i < a->n_blocks; i++)
        check_frames(a, a->blocks[i].frames);
    for (size_t i = 0; i < a->n_events; i++)
        check_frames(a, a->events[i].frames);
    for (size_t i = 0; i < a->n_stacks; i++)
        for (uint32_t f = 0; f < a->stacks[i].n; f++)
            FUZZ_CHECK(a->stacks[i].at[f] < ta_trace_string_count(trace));
}

static void analyze(struct fuzz_run *run, struct ta_builder *builder, const struct ta_plan *plan)
{
    struct ta_trace *trace;
    FUZZ_CHECK(ta_normalize(&run->ctx, builder, &trace) == TA_OK);
    FUZZ_CHECK(ta_trace_allocator(trace));
    check_allocator(trace, ta_trace_allocator(trace));
    trace->view.file.path = "input.pickle";
    trace->view.file.format = "torch_memory";
    struct ta_partial_set *set = ta_partial_set_new(plan);
    FUZZ_CHECK(set);
    FUZZ_CHECK(ta_partial_set_map(&run->ctx, trace, set, NULL) == TA_OK);
    ta_partial_set_free(set);
    ta_trace_free(trace);
}

static void read_snapshot(struct fuzz_run *run, struct ta_reader *reader,
                          const struct ta_plan *plan, struct ta_quality *quality)
{
    struct ta_builder builder;
    const struct ta_input_ops *input =
        ta_registry_find(run->registry, TA_KIND_input, "torch_memory")->plugin.input;
    const struct ta_probe probe = ta_reader_probe(reader);
    const int sure = input->sniff(&probe);
    FUZZ_CHECK(sure >= 0 && sure <= 100);
    FUZZ_CHECK(ta_builder_init(&builder, quality, plan->needs, plan->keys, plan->n_keys, SIZE_MAX));
    const enum ta_status status = input->read(&run->ctx, reader, &builder);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_INPUT);
    if (status == TA_OK)
        analyze(run, &builder, plan);
    ta_builder_free(&builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ta_plan plan;
    struct fuzz_run *run = fuzz_begin();
    struct ta_quality quality;
    if (!plan.n)
        FUZZ_CHECK(ta_plan_make(&run->ctx, run->registry, true, &ta_stages, &plan) == TA_OK);
    FUZZ_CHECK(ta_limits_set(&run->ctx, "pickle-objects=100000") == TA_OK);
    for (int as_snapshot = 0; as_snapshot < 2; as_snapshot++) {
        ta_quality_init(&quality);
        struct ta_reader *reader = ta_reader_open(&run->ctx, NULL, fuzz_file(data, size), &quality);
        FUZZ_CHECK(reader);
        if (as_snapshot)
            read_snapshot(run, reader, &plan, &quality);
        else
            read_objects(run, reader);
        ta_reader_close(reader);
        ta_quality_free(&quality);
    }
    return 0;
}
