/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of profilers other than traces: stages, denoising steps, blocks, memory snapshots,
 * telemetry, figures that a profiler worked out itself.
 *
 * An input plugin adds them to a builder in addition to, or instead of, events; analyses read them
 * from the trace as typed tables in the order of the file.  They are few, so they are plain rows
 * and not columns.  Texts are interned in the trace.  TA_MISSING, NAN and TA_STR_ABSENT say that
 * the file does not say; 0 is a value.
 *
 * Every row begins with its rank: TA_MISSING for the rank of the file, the one that the row itself
 * names (a table of several ranks), or TA_NO_RANK where such a table says that a row is of none. */
#ifndef TRACEANALYZE_DUMP_H
#define TRACEANALYZE_DUMP_H

#include "input.h"
#include "model.h"
#include "report.h"

#include <math.h>

TA_BEGIN_DECLS

/* Rank of a row that belongs to no rank, or to all, such as the scopes of an engine above its
 * ranks: null in tables, never the rank of the file. */
#define TA_NO_RANK (INT64_MIN + 1)

/* A stage, section or timed operation: finished sums, or one call of it. */
struct ta_timed_stage {
    int64_t rank;
    ta_str name;                /* of a stage table "scope/stage" */
    int64_t calls, total_ns;    /* calls is 1 for a single call */
    int64_t min_ns, max_ns;     /* of a single call its duration */
    int64_t last_ns, median_ns; /* as the profiler has them */
    int64_t device_ns;          /* the same calls on the device clock */
    int64_t step;               /* of a single call */
    bool is_call;               /* one of the calls, so that quantiles can be had */
    ta_str exception;           /* the call ended with it */
    ta_str source;              /* who wrote it, where a file has stages of several; or absent */
};

/* The iterations of a loop, summed up: like a stage, but no part of the time of a run. */
struct ta_iterations {
    int64_t rank;
    ta_str name;
    int64_t count, total_ns, min_ns, max_ns, median_ns;
};

/* A denoising step. */
struct ta_diffusion_step {
    int64_t rank;
    int64_t step; /* as numbered in its block */
    double timestep;
    int64_t block_size, dur_ns; /* frames */
    double guidance_scale;
    int64_t end_ns; /* since 1970 */
};

/* A block of frames. */
struct ta_diffusion_block {
    int64_t rank;
    int64_t block, frames, dur_ns, memory_bytes;
    int64_t end_ns; /* since 1970 */
};

struct ta_model_info {
    int64_t rank;
    ta_str name, type;
    int64_t parameters;
};

/* A layer of a model, summed up. */
struct ta_layer {
    int64_t rank;
    ta_str name;
    int64_t calls, total_ns, min_ns, max_ns, parameters;
};

/* Memory at a labelled moment. */
struct ta_memory_mark {
    int64_t rank;
    ta_str label;
    int64_t device;  /* TA_MISSING when not named */
    int64_t time_ns; /* since 1970 */
    int64_t allocated_bytes, reserved_bytes, max_allocated_bytes, max_reserved_bytes, total_bytes;
    int64_t ooms, retries; /* failed allocations, allocations that were tried again */
};

/* What is measured while a run goes on, one value per sample. */
enum ta_signal {
    TA_SIGNAL_GPU_UTILIZATION,     /* ratio: time with a kernel running */
    TA_SIGNAL_GPU_MEMORY_ACTIVITY, /* ratio: time with memory being read or written */
    TA_SIGNAL_GPU_MEMORY_USED,     /* bytes */
    TA_SIGNAL_GPU_MEMORY_TOTAL,    /* bytes */
    TA_SIGNAL_GPU_TEMPERATURE,     /* °C */
    TA_SIGNAL_GPU_POWER,           /* W */
    TA_SIGNAL_GPU_CLOCK,           /* Hz, of the multiprocessors */
    TA_SIGNAL_GPU_MEMORY_CLOCK,    /* Hz */
    TA_SIGNAL_TORCH_ALLOCATED,     /* bytes */
    TA_SIGNAL_TORCH_RESERVED,      /* bytes */
    TA_SIGNAL_CPU_UTILIZATION,     /* ratio */
    TA_SIGNAL_CPU_MEMORY_USED,     /* bytes */
    TA_SIGNAL_CPU_MEMORY_TOTAL,    /* bytes */
    TA_SIGNAL_GPU_PCIE_RECEIVED,   /* bytes per second */
    TA_SIGNAL_GPU_PCIE_SENT,       /* bytes per second */
    TA_SIGNAL_GPU_POWER_LIMIT,     /* W */
    TA_SIGNAL_GPU_CLOCK_MAX,       /* Hz, of the multiprocessors */
    /* What lowers the clock, as a ratio: 1 while it does. */
    TA_SIGNAL_GPU_POWER_CAP,
    TA_SIGNAL_GPU_THERMAL_SLOWDOWN,          /* by the driver */
    TA_SIGNAL_GPU_HARDWARE_THERMAL_SLOWDOWN, /* by the device itself */
    TA_SIGNAL_GPU_HARDWARE_SLOWDOWN,         /* by the device itself, for heat or power */
    TA_SIGNAL_GPU_POWER_BRAKE,               /* by the power supply */
    TA_SIGNAL_GPU_CLOCK_SETTING,             /* by application clocks, sync boost or the display */
    TA_SIGNAL_GPU_MEMORY_TEMPERATURE,        /* °C */
    /* How much of the device works, as its own counters say: ratios of time and units. */
    TA_SIGNAL_GPU_GRAPHICS_ACTIVITY, /* of time with any work */
    TA_SIGNAL_GPU_SM_ACTIVITY,       /* of the multiprocessors with a warp */
    TA_SIGNAL_GPU_SM_OCCUPANCY,      /* of the warps that they can hold */
    TA_SIGNAL_GPU_TENSOR_ACTIVITY,
    TA_SIGNAL_GPU_INTEGER_ACTIVITY,
    TA_SIGNAL_GPU_FP64_ACTIVITY,
    TA_SIGNAL_GPU_FP32_ACTIVITY,
    TA_SIGNAL_GPU_FP16_ACTIVITY,
    TA_SIGNAL_GPU_DRAM_ACTIVITY,
    TA_SIGNAL_GPU_NVLINK_RECEIVED, /* bytes per second */
    TA_SIGNAL_GPU_NVLINK_SENT,     /* bytes per second */
    TA_SIGNAL_DISK_READ,           /* bytes per second, of the host */
    TA_SIGNAL_DISK_WRITTEN,        /* likewise */
    TA_SIGNAL_SWAP_READ,           /* likewise, from swap space into memory */
    TA_SIGNAL_SWAP_WRITTEN,        /* and back */
    TA_SIGNAL_DISK_WAIT, /* ratio: of time in which a process waits for a disk, or one works */
    TA_SIGNAL_COUNT
};

/* Name of a signal for programs, "gpu_power", and the unit of its values; constants. */
TA_API const char *ta_signal_name(enum ta_signal signal);
TA_API enum ta_unit ta_signal_unit(enum ta_signal signal);

struct ta_sample {
    int64_t rank;
    int64_t device; /* TA_MISSING: the sum or largest of all, or the host */
    enum ta_signal signal;
    int64_t time_ns; /* since 1970, or since the first sample when `relative` */
    double value;
    bool relative;

    /* Of relative ones: when their time 0 was, since 1970 by a clock whose zone is not known.  All
     * samples of a file have the same; 0: not known. */
    int64_t origin_ns;
};

/* Lookups of a cache. */
struct ta_cache_count {
    int64_t rank;
    ta_str cache;
    int64_t hits, misses, evictions; /* TA_MISSING: not recorded, as where only hits are */
};

/* A hit on the time axis of the generated video. */
struct ta_cache_hit {
    int64_t rank;
    ta_str cache, details;
    int64_t video_ns, frame;
};

/* A denoising step of a run with a step cache: whether the cache answered it. */
struct ta_cache_step {
    int64_t rank;
    ta_str cache;
    int64_t step; /* from 0 */
    bool is_cached;
    double difference; /* from the step before, as the cache measures it; NAN: not measured */
};

/* A section with its tokens.  0 is what a section has whose tokens were not recorded. */
struct ta_section_tokens {
    int64_t rank;
    ta_str section;
    int64_t tokens, dur_ns; /* dur_ns: the one the tokens were counted over */
};

/* A request to a language model: its time until each of its tokens, as its steps say. */
struct ta_request {
    int64_t rank;
    ta_str id;
    int64_t steps, decode_steps, tokens, decode_tokens;
    int64_t first_token_ns, dur_ns, decode_ns; /* up to the first tokens; all steps; decode ones */
};

/* A number that the profiler itself worked out, shown next to ours. */
struct ta_figure {
    int64_t rank;
    ta_str name;  /* "fps", "ttft_ns"; of a section "name/metric" */
    ta_str group; /* what it is about: "diffusion", "block", "streaming", "custom" … */
    double value; /* in the base unit: ns, bytes, ratio, 1/s */
    int unit;     /* enum ta_unit of report.h */
};

/* Requests to a memory allocator, summed up. */
struct ta_allocation_pattern {
    int64_t rank;
    ta_str allocator;
    int64_t allocations, deallocations, bytes, min_bytes, max_bytes;
    double small_ratio; /* of the allocations, below 1 MiB */
};

/* An operator, a kernel, a call or an annotation with its sums, as torch's own table has it.  A
 * total follows the rows of its recording, has only self times and is named after the device
 * ("CUDA"): it counts rows that were not printed too. */
struct ta_operator_sum {
    int64_t rank;
    ta_str name, shapes;
    int64_t calls, self_cpu_ns, cpu_ns, self_device_ns, device_ns;
    int64_t self_cpu_bytes, self_device_bytes, flops;
    bool is_total;
};

/* A folded call stack, "outer;…;inner", with its time or with how often it was sampled. */
struct ta_stack_weight {
    int64_t rank;
    ta_str stack;
    int64_t weight_ns, samples;
};

/* Advice that the profiler itself gave. */
struct ta_given_advice {
    int64_t rank;
    ta_str category, priority, issue, suggestion;
};

/* Who and what was recorded; one row a session. */
struct ta_session {
    int64_t rank;
    ta_str id;
    int64_t start_ns, end_ns, dur_ns; /* since 1970 */
    bool is_cut;                      /* the file has not all steps and blocks of it any more */
    bool is_request;                  /* one that a server answered */
};

/* A word about a session, such as a configuration tag. */
struct ta_tag {
    int64_t rank;
    ta_str key, value;
};

/* Anything that happened at a moment. */
struct ta_happening {
    int64_t rank;
    ta_str name, data;
    int64_t time_ns; /* since 1970 */
};

/* An allocation that failed for lack of memory, as its error says. */
struct ta_failed_allocation {
    int64_t rank;
    int64_t device, time_ns;                              /* since 1970 */
    int64_t wanted_bytes, total_bytes, free_bytes;        /* of the device */
    int64_t process_bytes, allocated_bytes, unused_bytes; /* unused: reserved, not allocated */
    ta_str place;                                         /* in the program */
};

/* A state of a bar of progress, in the order in which they were printed. */
struct ta_bar_state {
    int64_t rank;
    ta_str name;          /* what the bar is called; absent: not */
    int64_t bar;          /* which one of the file, from 0 */
    int64_t done, total;  /* iterations; TA_MISSING: no total is known */
    int64_t elapsed_ns;   /* in whole seconds */
    int64_t iteration_ns; /* of the last iterations, smoothed, as the bar says */
    int64_t time_ns;      /* since 1970 */
    int64_t load;         /* model that runs: which model_load of the file, from 1; 0: not known */
};

/* Weights of a model brought to where it runs, as its loader says. */
struct ta_model_load {
    int64_t rank;
    ta_str model;
    ta_str device;                                       /* "cpu", "cuda:0" */
    ta_str extent;                                       /* "complete", "partial" */
    int64_t usable_bytes, loaded_bytes, offloaded_bytes; /* offloaded: left in host memory */
};

/* Time that passes between two lines of a log with a clock: the longest ones of a log. */
struct ta_log_pause {
    int64_t rank;
    int64_t start_ns; /* since the first line with a clock */
    int64_t dur_ns;
    int64_t timed_ns; /* of it, what lines between them account for: bars, stages with a time */
    int64_t log_ns;   /* from the first line with a clock to the last */
    ta_str work; /* "loading", "compiling": what the program did, as the lines say; or absent */
    ta_str before, after; /* the lines, without their prefix */
};

/* All of them but the samples: kind, structure. */
#define TA_DUMP_TABLES(X)                                                                          \
    X(stage, struct ta_timed_stage)                                                                \
    X(iterations, struct ta_iterations)                                                            \
    X(diffusion_step, struct ta_diffusion_step)                                                    \
    X(diffusion_block, struct ta_diffusion_block)                                                  \
    X(model, struct ta_model_info)                                                                 \
    X(layer, struct ta_layer)                                                                      \
    X(memory_mark, struct ta_memory_mark)                                                          \
    X(cache, struct ta_cache_count)                                                                \
    X(cache_hit, struct ta_cache_hit)                                                              \
    X(cache_step, struct ta_cache_step)                                                            \
    X(section_tokens, struct ta_section_tokens)                                                    \
    X(request, struct ta_request)                                                                  \
    X(figure, struct ta_figure)                                                                    \
    X(allocation, struct ta_allocation_pattern)                                                    \
    X(operator_sum, struct ta_operator_sum)                                                        \
    X(stack, struct ta_stack_weight)                                                               \
    X(advice, struct ta_given_advice)                                                              \
    X(session, struct ta_session)                                                                  \
    X(tag, struct ta_tag)                                                                          \
    X(happening, struct ta_happening)                                                              \
    X(failed_allocation, struct ta_failed_allocation)                                              \
    X(bar_state, struct ta_bar_state)                                                              \
    X(model_load, struct ta_model_load)                                                            \
    X(pause, struct ta_log_pause)
enum ta_dump_table {
#define TA_DUMP_ENUM(kind, type) TA_DUMP_##kind,
    TA_DUMP_TABLES(TA_DUMP_ENUM)
#undef TA_DUMP_ENUM
        TA_DUMP_sample, /* many, so they are packed: see ta_trace_samples() */
    TA_DUMP_COUNT
};

/* How exact the figures of a file are.  One set of records is often written several times (JSON,
 * CSV, text of one base name; a console copy); per kind of record only the most exact copy counts.
 */
enum ta_exactness {
    TA_EXACT_CONSOLE, /* copied from a terminal, rounded */
    TA_EXACT_TEXT,    /* a text made for people, rounded */
    TA_EXACT_TABLE,   /* a table with some of the fields */
    TA_EXACT_FULL     /* everything that the profiler knew */
};

/* Adds a row of a table; use the typed ta_builder_add_…() below. */
TA_API enum ta_status ta_builder_add_row(struct ta_ctx *ctx, struct ta_builder *builder,
                                         enum ta_dump_table table, const void *row) TA_MUST_CHECK;

#define TA_DUMP_ADD(kind, type)                                                                    \
    static inline enum ta_status TA_MUST_CHECK ta_builder_add_##kind(                              \
        struct ta_ctx *ctx, struct ta_builder *builder, const type *row)                           \
    {                                                                                              \
        return ta_builder_add_row(ctx, builder, TA_DUMP_##kind, row);                              \
    }
TA_DUMP_TABLES(TA_DUMP_ADD)
TA_DUMP_ADD(sample, struct ta_sample)
#undef TA_DUMP_ADD

/* Says what set of records this file is a copy of, and how exact a copy.  Copies are files of one
 * set, folder (a `rank_N` folder counts as the one above it) and rank; `set` is what their names or
 * contents share, "" for the only set of a folder.  A console copy may be above the folder, is a
 * copy of every set there, and of every rank unless it says one.
 *
 * Of each kind of record, and of each signal of the samples, only the most exact copy is kept; of
 * equally exact ones the one with samples per device, then the first by path.  Equally exact files
 * whose sessions began at different times are different runs and no copies.  A file that does not
 * say its rank has the rank of the other files of its set.  Without this call a file is a set of
 * its own; so are its tables that are not among `tables`, a bit each: a log has the lines of many
 * writers. */
TA_API void ta_builder_set_copy_of(struct ta_builder *builder, uint32_t tables, struct ta_slice set,
                                   enum ta_exactness exactness);

#define TA_DUMP_BIT(kind) (UINT32_C(1) << TA_DUMP_##kind)

/* Says so of all tables. */
static inline void ta_builder_set_copy(struct ta_builder *builder, struct ta_slice set,
                                       enum ta_exactness exactness)
{
    ta_builder_set_copy_of(builder, UINT32_MAX, set, exactness);
}

/* The rows of a table but the samples; NULL with *n 0 when there are none. */
TA_API const void *ta_trace_rows(const struct ta_trace *trace, enum ta_dump_table table, size_t *n);

#define TA_DUMP_GET(kind, type)                                                                    \
    static inline const type *ta_trace_##kind##_rows(const struct ta_trace *trace, size_t *n)      \
    {                                                                                              \
        return (const type *)ta_trace_rows(trace, TA_DUMP_##kind, n);                              \
    }
TA_DUMP_TABLES(TA_DUMP_GET)
#undef TA_DUMP_GET

/* The samples of a trace in the order of the file, one after the other. */
struct ta_samples {
    struct ta_sample sample; /* after ta_samples_next() */
    size_t left;             /* how many follow */
    const unsigned char *at;
};

/* Before the first of them. */
TA_API struct ta_samples ta_trace_samples(const struct ta_trace *trace);
/* False at the end. */
TA_API bool ta_samples_next(struct ta_samples *samples);

/* ==== rows of which nothing is known yet ====================================================== */

/* Rows of dumps of which nothing is known yet: of the rank of the file, all else missing.  A reader
 * begins with one and sets what its file says. */

static inline struct ta_timed_stage ta_unknown_stage(void)
{
    const struct ta_timed_stage row = {.rank = TA_MISSING,
                                       .calls = TA_MISSING,
                                       .total_ns = TA_MISSING,
                                       .min_ns = TA_MISSING,
                                       .max_ns = TA_MISSING,
                                       .last_ns = TA_MISSING,
                                       .median_ns = TA_MISSING,
                                       .device_ns = TA_MISSING,
                                       .step = TA_MISSING};
    return row;
}

/* One call of a stage; one without a time is no sample of it. */
static inline struct ta_timed_stage ta_single_call(ta_str name, int64_t dur_ns)
{
    struct ta_timed_stage row = ta_unknown_stage();
    row.name = name;
    row.calls = 1;
    row.total_ns = row.min_ns = row.max_ns = dur_ns;
    row.is_call = dur_ns != TA_MISSING;
    return row;
}

static inline struct ta_iterations ta_unknown_iterations(void)
{
    const struct ta_iterations row = {.rank = TA_MISSING,
                                      .count = TA_MISSING,
                                      .total_ns = TA_MISSING,
                                      .min_ns = TA_MISSING,
                                      .max_ns = TA_MISSING,
                                      .median_ns = TA_MISSING};
    return row;
}

static inline struct ta_diffusion_block ta_unknown_diffusion_block(void)
{
    const struct ta_diffusion_block row = {.rank = TA_MISSING,
                                           .block = TA_MISSING,
                                           .frames = TA_MISSING,
                                           .dur_ns = TA_MISSING,
                                           .memory_bytes = TA_MISSING,
                                           .end_ns = TA_MISSING};
    return row;
}

static inline struct ta_layer ta_unknown_layer(void)
{
    const struct ta_layer row = {.rank = TA_MISSING,
                                 .calls = TA_MISSING,
                                 .total_ns = TA_MISSING,
                                 .min_ns = TA_MISSING,
                                 .max_ns = TA_MISSING,
                                 .parameters = TA_MISSING};
    return row;
}

static inline struct ta_memory_mark ta_unknown_memory_mark(void)
{
    const struct ta_memory_mark row = {.rank = TA_MISSING,
                                       .device = TA_MISSING,
                                       .time_ns = TA_MISSING,
                                       .allocated_bytes = TA_MISSING,
                                       .reserved_bytes = TA_MISSING,
                                       .max_allocated_bytes = TA_MISSING,
                                       .max_reserved_bytes = TA_MISSING,
                                       .total_bytes = TA_MISSING,
                                       .ooms = TA_MISSING,
                                       .retries = TA_MISSING};
    return row;
}

static inline struct ta_failed_allocation ta_unknown_failed_allocation(void)
{
    const struct ta_failed_allocation row = {.rank = TA_MISSING,
                                             .device = TA_MISSING,
                                             .time_ns = TA_MISSING,
                                             .wanted_bytes = TA_MISSING,
                                             .total_bytes = TA_MISSING,
                                             .free_bytes = TA_MISSING,
                                             .process_bytes = TA_MISSING,
                                             .allocated_bytes = TA_MISSING,
                                             .unused_bytes = TA_MISSING};
    return row;
}

static inline struct ta_model_load ta_unknown_model_load(void)
{
    const struct ta_model_load row = {.rank = TA_MISSING,
                                      .usable_bytes = TA_MISSING,
                                      .loaded_bytes = TA_MISSING,
                                      .offloaded_bytes = TA_MISSING};
    return row;
}

static inline struct ta_operator_sum ta_unknown_operator_sum(void)
{
    const struct ta_operator_sum row = {.rank = TA_MISSING,
                                        .calls = TA_MISSING,
                                        .self_cpu_ns = TA_MISSING,
                                        .cpu_ns = TA_MISSING,
                                        .self_device_ns = TA_MISSING,
                                        .device_ns = TA_MISSING,
                                        .self_cpu_bytes = TA_MISSING,
                                        .self_device_bytes = TA_MISSING,
                                        .flops = TA_MISSING};
    return row;
}

static inline struct ta_session ta_unknown_session(void)
{
    const struct ta_session row = {
        .rank = TA_MISSING, .start_ns = TA_MISSING, .end_ns = TA_MISSING, .dur_ns = TA_MISSING};
    return row;
}

TA_END_DECLS

#endif
