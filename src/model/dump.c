/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of profilers other than traces, as tables of rows. */
#include "model/dump.h"

#include "model/allocator.h"
#include "model/block_sizes.h"
#include "model/builder.h"
#include "model/samples.h"
#include "model/says.h"

#include <inttypes.h>
#include <math.h>

static const size_t row_sizes[TA_DUMP_COUNT] = {
#define TA_DUMP_SIZE(kind, type) [TA_DUMP_##kind] = sizeof(type),
    TA_DUMP_TABLES(TA_DUMP_SIZE)
#undef TA_DUMP_SIZE
        [TA_DUMP_sample] = 1, /* packed */
};

/* ---- signals ------------------------------------------------------------------------------- */

/* Of all devices together, or of a host, utilization may be a sum. */
static const struct {
    const char *name;
    enum ta_unit unit;
    enum ta_range range;
} signals[TA_SIGNAL_COUNT] = {
    [TA_SIGNAL_GPU_UTILIZATION] = {"gpu_utilization", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_MEMORY_ACTIVITY] = {"gpu_memory_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_MEMORY_USED] = {"gpu_memory_used", TA_UNIT_BYTES, TA_RANGE_BYTES},
    [TA_SIGNAL_GPU_MEMORY_TOTAL] = {"gpu_memory_total", TA_UNIT_BYTES, TA_RANGE_BYTES},
    [TA_SIGNAL_GPU_TEMPERATURE] = {"gpu_temperature", TA_UNIT_CELSIUS, TA_RANGE_CELSIUS},
    [TA_SIGNAL_GPU_POWER] = {"gpu_power", TA_UNIT_WATT, TA_RANGE_WATT},
    [TA_SIGNAL_GPU_CLOCK] = {"gpu_clock", TA_UNIT_PER_S, TA_RANGE_HERTZ},
    [TA_SIGNAL_GPU_MEMORY_CLOCK] = {"gpu_memory_clock", TA_UNIT_PER_S, TA_RANGE_HERTZ},
    [TA_SIGNAL_TORCH_ALLOCATED] = {"torch_allocated", TA_UNIT_BYTES, TA_RANGE_BYTES},
    [TA_SIGNAL_TORCH_RESERVED] = {"torch_reserved", TA_UNIT_BYTES, TA_RANGE_BYTES},
    [TA_SIGNAL_CPU_UTILIZATION] = {"cpu_utilization", TA_UNIT_RATIO, TA_RANGE_LOAD},
    [TA_SIGNAL_CPU_MEMORY_USED] = {"cpu_memory_used", TA_UNIT_BYTES, TA_RANGE_BYTES},
    [TA_SIGNAL_CPU_MEMORY_TOTAL] = {"cpu_memory_total", TA_UNIT_BYTES, TA_RANGE_BYTES},
    [TA_SIGNAL_GPU_PCIE_RECEIVED] = {"gpu_pcie_received", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_GPU_PCIE_SENT] = {"gpu_pcie_sent", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_GPU_POWER_LIMIT] = {"gpu_power_limit", TA_UNIT_WATT, TA_RANGE_WATT},
    [TA_SIGNAL_GPU_CLOCK_MAX] = {"gpu_clock_max", TA_UNIT_PER_S, TA_RANGE_HERTZ},
    [TA_SIGNAL_GPU_POWER_CAP] = {"gpu_power_cap", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_THERMAL_SLOWDOWN] = {"gpu_thermal_slowdown", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_HARDWARE_THERMAL_SLOWDOWN] = {"gpu_hardware_thermal_slowdown", TA_UNIT_RATIO,
                                                 TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_HARDWARE_SLOWDOWN] = {"gpu_hardware_slowdown", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_POWER_BRAKE] = {"gpu_power_brake", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_CLOCK_SETTING] = {"gpu_clock_setting", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_MEMORY_TEMPERATURE] = {"gpu_memory_temperature", TA_UNIT_CELSIUS,
                                          TA_RANGE_CELSIUS},
    [TA_SIGNAL_GPU_GRAPHICS_ACTIVITY] = {"gpu_graphics_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_SM_ACTIVITY] = {"gpu_sm_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_SM_OCCUPANCY] = {"gpu_sm_occupancy", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_TENSOR_ACTIVITY] = {"gpu_tensor_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_INTEGER_ACTIVITY] = {"gpu_integer_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_FP64_ACTIVITY] = {"gpu_fp64_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_FP32_ACTIVITY] = {"gpu_fp32_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_FP16_ACTIVITY] = {"gpu_fp16_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_DRAM_ACTIVITY] = {"gpu_dram_activity", TA_UNIT_RATIO, TA_RANGE_RATIO},
    [TA_SIGNAL_GPU_NVLINK_RECEIVED] = {"gpu_nvlink_received", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_GPU_NVLINK_SENT] = {"gpu_nvlink_sent", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_DISK_READ] = {"disk_read", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_DISK_WRITTEN] = {"disk_written", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_SWAP_READ] = {"swap_read", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_SWAP_WRITTEN] = {"swap_written", TA_UNIT_BYTES_PER_S, TA_RANGE_BYTES},
    [TA_SIGNAL_DISK_WAIT] = {"disk_wait", TA_UNIT_RATIO, TA_RANGE_RATIO},
};

const char *ta_signal_name(enum ta_signal signal)
{
    return signals[signal].name;
}

enum ta_unit ta_signal_unit(enum ta_signal signal)
{
    return signals[signal].unit;
}

/* ---- memory -------------------------------------------------------------------------------- */

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

void ta_dump_free(struct ta_dump *dump, struct ta_store *store)
{
    for (int table = 0; table < TA_DUMP_COUNT; table++)
        ta_store_free(store, dump->rows[table].at);
    free_allocator(dump->allocator);
    *dump = (struct ta_dump){0};
}

bool ta_dump_holds_more_than_tags(const struct ta_dump *dump)
{
    for (int table = 0; table < TA_DUMP_COUNT; table++)
        if (table != TA_DUMP_tag && dump->rows[table].n)
            return true;
    return ta_dump_has_allocator(dump);
}

bool ta_dump_holds_any(const struct ta_dump *dump)
{
    return dump->rows[TA_DUMP_tag].n || ta_dump_holds_more_than_tags(dump);
}

bool ta_dump_has_allocator(const struct ta_dump *dump)
{
    return dump->allocator || dump->held_allocator;
}

bool ta_dump_allocator_is_dated(const struct ta_dump *dump)
{
    const struct ta_allocator *allocator = dump->allocator;
    for (size_t i = 0; allocator && i < allocator->n_events; i++)
        if (allocator->events[i].time_ns != TA_MISSING)
            return true;
    return dump->allocator_dated;
}

/* ---- what rows have in common ---------------------------------------------------------------- */

const void *ta_dump_row(const struct ta_dump *dump, enum ta_dump_table table, size_t i)
{
    return dump->rows[table].at + i * row_sizes[table];
}

struct ta_samples ta_dump_samples(const struct ta_dump *dump)
{
    struct ta_sample first = TA_SAMPLE_FIRST;
    first.origin_ns = dump->sample_origin_ns;
    return (struct ta_samples){.sample = first,
                               .left = dump->rows[TA_DUMP_sample].n,
                               .at = (const unsigned char *)dump->rows[TA_DUMP_sample].at};
}

struct ta_dump_cursor ta_dump_first(const struct ta_dump *dump, enum ta_dump_table table)
{
    return (struct ta_dump_cursor){dump, table, 0, ta_dump_samples(dump)};
}

const void *ta_dump_next(struct ta_dump_cursor *cursor)
{
    if (cursor->table == TA_DUMP_sample)
        return ta_samples_next(&cursor->samples) ? &cursor->samples.sample : NULL;
    if (cursor->i == cursor->dump->rows[cursor->table].n)
        return NULL;
    return ta_dump_row(cursor->dump, cursor->table, cursor->i++);
}

int64_t ta_dump_rank(const void *row)
{
    int64_t rank;
    memcpy(&rank, row, sizeof rank);
    return rank;
}

/* Packs the samples that are kept over those before. */
static size_t filter_samples(struct ta_dump *dump, bool (*keeps)(void *user, const void *row),
                             void *user)
{
    unsigned char *packed = (unsigned char *)dump->rows[TA_DUMP_sample].at;
    struct ta_samples samples = ta_dump_samples(dump);
    const size_t n = samples.left;
    size_t kept = 0;
    dump->sample_bytes = 0;
    dump->last_sample = TA_SAMPLE_FIRST;
    while (ta_samples_next(&samples)) {
        if (!keeps(user, &samples.sample))
            continue;
        dump->sample_bytes +=
            ta_sample_pack(packed + dump->sample_bytes, &dump->last_sample, &samples.sample);
        kept++;
    }
    dump->rows[TA_DUMP_sample].n = kept;
    return n - kept;
}

size_t ta_dump_filter(struct ta_dump *dump, enum ta_dump_table table,
                      bool (*keeps)(void *user, const void *row), void *user)
{
    if (table == TA_DUMP_sample)
        return filter_samples(dump, keeps, user);
    const size_t size = row_sizes[table], n = dump->rows[table].n;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        char *row = dump->rows[table].at + i * size;
        if (!keeps(user, row))
            continue;
        if (kept < i)
            memcpy(dump->rows[table].at + kept * size, row, size);
        kept++;
    }
    dump->rows[table].n = kept;
    return n - kept;
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The ranks of all rows, with few repetitions. */
static bool collect_ranks(const struct ta_dump *dump, int64_t **ranks, size_t *n, bool *all)
{
    TA_VEC(int64_t) found = {0};
    *all = true;
    for (int table = 0; table < TA_DUMP_COUNT; table++) {
        struct ta_dump_cursor cursor = ta_dump_first(dump, (enum ta_dump_table)table);
        for (const void *row; (row = ta_dump_next(&cursor)) != NULL;) {
            const int64_t rank = ta_dump_rank(row);
            *all &= rank != TA_MISSING;
            if (rank < 0 || rank > INT32_MAX || (found.n && found.at[found.n - 1] == rank))
                continue;
            if (!ta_vec_push(&found, rank)) {
                free(found.at);
                return false;
            }
        }
    }
    *ranks = found.at;
    *n = found.n;
    return true;
}

const int64_t *ta_dump_ranks(const struct ta_dump *dump, struct ta_arena *arena, size_t *n,
                             bool *all)
{
    int64_t *found = NULL;
    size_t n_found = 0, distinct = 0;
    if (!collect_ranks(dump, &found, &n_found, all))
        return NULL;
    if (n_found)
        qsort(found, n_found, sizeof *found, by_value);
    for (size_t i = 0; i < n_found; i++)
        if (i == 0 || found[i] != found[distinct - 1])
            found[distinct++] = found[i];
    int64_t *ranks = ta_arena_alloc(arena, (distinct + 1) * sizeof *ranks);
    if (ranks && distinct)
        memcpy(ranks, found, distinct * sizeof *ranks);
    free(found);
    *n = distinct;
    *all &= !ta_dump_has_allocator(dump);
    return ranks;
}

/* Whether any row of a table has a time in the field. */
#define HAS_TIME(dump, kind, type, field) has_time((dump), TA_DUMP_##kind, offsetof(type, field))

static bool has_time(const struct ta_dump *dump, enum ta_dump_table table, size_t place)
{
    for (size_t i = 0; i < dump->rows[table].n; i++) {
        int64_t time;
        memcpy(&time, (const char *)ta_dump_row(dump, table, i) + place, sizeof time);
        if (time != TA_MISSING)
            return true;
    }
    return false;
}

static bool has_sample(const struct ta_dump *dump, bool relative)
{
    struct ta_samples samples = ta_dump_samples(dump);
    while (ta_samples_next(&samples))
        if (samples.sample.time_ns != TA_MISSING && samples.sample.relative == relative)
            return true;
    return false;
}

bool ta_dump_is_relative(const struct ta_dump *dump)
{
    return has_sample(dump, true);
}

bool ta_dump_is_dated(const struct ta_dump *dump)
{
    return ta_dump_allocator_is_dated(dump) || has_sample(dump, false) ||
           HAS_TIME(dump, diffusion_step, struct ta_diffusion_step, end_ns) ||
           HAS_TIME(dump, diffusion_block, struct ta_diffusion_block, end_ns) ||
           HAS_TIME(dump, memory_mark, struct ta_memory_mark, time_ns) ||
           HAS_TIME(dump, session, struct ta_session, start_ns) ||
           HAS_TIME(dump, happening, struct ta_happening, time_ns) ||
           HAS_TIME(dump, failed_allocation, struct ta_failed_allocation, time_ns) ||
           HAS_TIME(dump, bar_state, struct ta_bar_state, time_ns);
}

/* ---- writing ------------------------------------------------------------------------------- */

static enum ta_status no_memory(struct ta_ctx *ctx)
{
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the records of a file");
}

/* Dumps wait until all files are read: what is beyond the limit of the run waits in a file. */
static bool grow(struct ta_builder *builder, enum ta_dump_table table)
{
    struct ta_dump *dump = &builder->trace->dump;
    const size_t least = table == TA_DUMP_sample ? 2 * TA_SAMPLE_BYTES_MAX : 16;
    const size_t max = dump->rows[table].max, more = max < least ? least : max + max / 2;
    char *grown =
        ta_store_resize(&builder->trace->store, dump->rows[table].at, more, row_sizes[table]);
    if (!grown)
        return false;
    dump->rows[table].at = grown;
    dump->rows[table].max = more;
    return true;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Fields that have one, besides the rank, which is the first of every row. */
static const struct {
    enum ta_dump_table table;
    size_t place;
    bool is_real;
    enum ta_range range;
} ranged[] = {
#define WHOLE(kind, type, field, range)                                                            \
    {                                                                                              \
        TA_DUMP_##kind, offsetof(struct type, field), false, range                                 \
    }
    WHOLE(diffusion_step, ta_diffusion_step, end_ns, TA_RANGE_TIME_NS),
    WHOLE(diffusion_block, ta_diffusion_block, end_ns, TA_RANGE_TIME_NS),
    WHOLE(memory_mark, ta_memory_mark, device, TA_RANGE_DEVICE),
    WHOLE(memory_mark, ta_memory_mark, time_ns, TA_RANGE_TIME_NS),
    WHOLE(session, ta_session, start_ns, TA_RANGE_TIME_NS),
    WHOLE(session, ta_session, end_ns, TA_RANGE_TIME_NS),
    WHOLE(happening, ta_happening, time_ns, TA_RANGE_TIME_NS),
    WHOLE(failed_allocation, ta_failed_allocation, device, TA_RANGE_DEVICE),
    WHOLE(failed_allocation, ta_failed_allocation, time_ns, TA_RANGE_TIME_NS),
    WHOLE(failed_allocation, ta_failed_allocation, wanted_bytes, TA_RANGE_BYTES),
    WHOLE(failed_allocation, ta_failed_allocation, total_bytes, TA_RANGE_BYTES),
    WHOLE(failed_allocation, ta_failed_allocation, free_bytes, TA_RANGE_BYTES),
    WHOLE(failed_allocation, ta_failed_allocation, process_bytes, TA_RANGE_BYTES),
    WHOLE(failed_allocation, ta_failed_allocation, allocated_bytes, TA_RANGE_BYTES),
    WHOLE(failed_allocation, ta_failed_allocation, unused_bytes, TA_RANGE_BYTES),
    WHOLE(bar_state, ta_bar_state, time_ns, TA_RANGE_TIME_NS),
    WHOLE(model_load, ta_model_load, usable_bytes, TA_RANGE_BYTES),
    WHOLE(model_load, ta_model_load, loaded_bytes, TA_RANGE_BYTES),
    WHOLE(model_load, ta_model_load, offloaded_bytes, TA_RANGE_BYTES),
    {TA_DUMP_figure, offsetof(struct ta_figure, value), true, TA_RANGE_FIGURE},
    {TA_DUMP_allocation, offsetof(struct ta_allocation_pattern, small_ratio), true, TA_RANGE_RATIO},
#undef WHOLE
};

enum { RANGED = sizeof ranged / sizeof *ranged };

/* A number of a row, looked at where it is. */
static void check_whole(struct ta_builder *builder, enum ta_range range, void *at, uint64_t offset)
{
    int64_t value;
    memcpy(&value, at, sizeof value);
    if (range == TA_RANGE_RANK && value == TA_NO_RANK)
        return;
    value = ta_builder_number(builder, range, value, offset);
    memcpy(at, &value, sizeof value);
}

static void check_real(struct ta_builder *builder, enum ta_range range, void *at, uint64_t offset)
{
    double value;
    memcpy(&value, at, sizeof value);
    value = ta_builder_real(builder, range, value, offset);
    memcpy(at, &value, sizeof value);
}

/* A value out of range is missing in the row, which is the row of the record at hand. */
static void check_row(struct ta_builder *builder, enum ta_dump_table table, char *row)
{
    const uint64_t offset = ta_quality_place(builder->quality);
    check_whole(builder, TA_RANGE_RANK, row, offset);
    for (size_t i = 0; i < RANGED; i++) {
        if (ranged[i].table != table)
            continue;
        if (ranged[i].is_real)
            check_real(builder, ranged[i].range, row + ranged[i].place, offset);
        else
            check_whole(builder, ranged[i].range, row + ranged[i].place, offset);
    }
}

/* False when nothing is left of the sample. */
static bool check_sample(struct ta_builder *builder, struct ta_sample *sample)
{
    const uint64_t offset = ta_quality_place(builder->quality);
    const enum ta_range range = signals[sample->signal].range;
    const bool is_of_one = sample->device != TA_MISSING;
    check_whole(builder, TA_RANGE_RANK, &sample->rank, offset);
    sample->device = ta_builder_number(builder, TA_RANGE_DEVICE, sample->device, offset);
    sample->time_ns = ta_builder_number(builder, TA_RANGE_TIME_NS, sample->time_ns, offset);
    sample->origin_ns = ta_builder_number(builder, TA_RANGE_TIME_NS, sample->origin_ns, offset);
    if (sample->origin_ns == TA_MISSING)
        sample->origin_ns = 0;
    const double value =
        ta_builder_real(builder, range == TA_RANGE_RATIO && !is_of_one ? TA_RANGE_LOAD : range,
                        sample->value, offset);
    const bool is_kept =
        (!isnan(value) || isnan(sample->value)) && (!is_of_one || sample->device != TA_MISSING);
    sample->value = value;
    return is_kept;
}

/* ---- adding ---------------------------------------------------------------------------------- */

bool ta_dump_push_sample(struct ta_builder *builder, const struct ta_sample *sample)
{
    struct ta_dump *dump = &builder->trace->dump;
    if (dump->rows[TA_DUMP_sample].max - dump->sample_bytes < TA_SAMPLE_BYTES_MAX &&
        !grow(builder, TA_DUMP_sample))
        return false;
    if (dump->rows[TA_DUMP_sample].n++ == 0)
        dump->last_sample = TA_SAMPLE_FIRST;
    unsigned char *end = (unsigned char *)dump->rows[TA_DUMP_sample].at + dump->sample_bytes;
    dump->sample_bytes += ta_sample_pack(end, &dump->last_sample, sample);
    if (sample->origin_ns)
        dump->sample_origin_ns = sample->origin_ns;
    return true;
}

bool ta_dump_push(struct ta_builder *builder, enum ta_dump_table table, const void *row)
{
    struct ta_dump *dump = &builder->trace->dump;
    const size_t size = row_sizes[table];
    if (dump->rows[table].n == dump->rows[table].max && !grow(builder, table))
        return false;
    memcpy(dump->rows[table].at + dump->rows[table].n++ * size, row, size);
    return true;
}

enum ta_status ta_builder_add_row(struct ta_ctx *ctx, struct ta_builder *builder,
                                  enum ta_dump_table table, const void *row)
{
    const struct ta_dump *dump = &builder->trace->dump;
    /* Also when a text of the row could not be kept: it would pass for one that is not there. */
    bool done = !builder->track_of.failed;
    if (done && table == TA_DUMP_sample) {
        struct ta_sample sample = *(const struct ta_sample *)row;
        done = !check_sample(builder, &sample) || ta_dump_push_sample(builder, &sample);
    } else if (done && (done = ta_dump_push(builder, table, row))) {
        check_row(builder, table,
                  dump->rows[table].at + (dump->rows[table].n - 1) * row_sizes[table]);
    }
    return done ? TA_OK : no_memory(ctx);
}

void ta_builder_set_copy_of(struct ta_builder *builder, uint32_t tables, struct ta_slice set,
                            enum ta_exactness exactness)
{
    struct ta_dump *dump = &builder->trace->dump;
    dump->copied = tables;
    dump->set = ta_arena_copy(&builder->trace->arena, set);
    dump->exactness = exactness;
    if (!dump->set)
        builder->track_of.failed = true;
}

void ta_builder_set_growing(struct ta_builder *builder)
{
    builder->trace->dump.is_growing = true;
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
        memcpy(copy->divisions, allocator->divisions, sizeof copy->divisions);
    }
    const bool has_texts = !builder->track_of.failed;
    return done && has_texts && copy_stacks(&trace->arena, copy) && ta_block_sizes_find(copy)
               ? TA_OK
               : no_memory(ctx);
}

/* ---- reading ------------------------------------------------------------------------------- */

const void *ta_trace_rows(const struct ta_trace *trace, enum ta_dump_table table, size_t *n)
{
    *n = table == TA_DUMP_sample ? 0 : trace->dump.rows[table].n;
    return *n ? trace->dump.rows[table].at : NULL;
}

struct ta_samples ta_trace_samples(const struct ta_trace *trace)
{
    return ta_dump_samples(&trace->dump);
}

const struct ta_allocator *ta_trace_allocator(const struct ta_trace *trace)
{
    return trace->dump.allocator;
}
