/* SPDX-License-Identifier: GPL-3.0-or-later */
/* copies.weights: weights that live in host memory and are copied to the device to be used, layer
 * by layer while the model runs, or model by model and back.
 *
 * A trace does not say what a copy holds.  Weights of layers show in where their copies are:
 * between the kernels of the model, few kernels apart, of several sizes, where inputs come at the
 * start of a step.  Models that move show in copies back to the host of the same sizes.  How often
 * the same weights come shows in sizes that return at an even distance: a model has tensors of a
 * size that no other has. */
#include "base/vec.h"
#include "lib/copy_names.h"
#include "lib/outward.h"
#include "model/busy.h"
#include "model/program/steps.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <math.h>
#include <stdlib.h>

enum { PATTERN_LAYERS, PATTERN_MODELS, PATTERNS };

static const char *const pattern_words[PATTERNS] = {
    [PATTERN_LAYERS] = "layers",
    [PATTERN_MODELS] = "models",
};

/* The partials of the analysis, in order, and their fields. */
enum { OF_RANKS, OF_SITES };
enum {
    RANK,
    PATTERN,
    COUNT,
    BYTES,
    PASSES,
    PASS_BYTES,
    STEPS,
    BACK_BYTES,
    PAGEABLE,
    COPY,
    EXPOSED,
    HOST,
    IDLE,
    KERNELS,
    MEMORY,
    FIELDS
};
enum { SITE_RANK, SITE_PATTERN, SITE, SITE_COUNT, SITE_BYTES, SITE_FIELDS };

/* Smaller tensors are biases, norms and values. */
enum { TENSOR_BYTES = 64 << 10 };
/* What makes copies the weights of layers. */
enum { GROUPS_LEAST = 8, GROUPS_A_STEP = 4, SIZES_LEAST = 3, KERNELS_A_GROUP = 48 };
enum { LAYERS_BYTES = 32 << 20 };
/* Of fewer sizes, where the tensors of a layer lie in one buffer: what a copy brings at least. */
enum { BUFFER_BYTES = 64 << 20 };
/* What shows that models move. */
enum { MODELS_COPIES = 16 };
#define MODELS_BYTES (INT64_C(256) << 20)

/* A copy between host and device. */
struct copy {
    ta_row span, launch;
    int64_t bytes;
    uint32_t group; /* copies to the device with no kernel of a model in between have the same */
    bool is_back, is_pageable;
    bool counts; /* among what the row is about */
};

struct walk {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_kernels kernels;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_args sizes;
    struct ta_outward frames, callers;
    TA_VEC(struct copy) copies; /* of one device, by start */
    size_t matrix;              /* kernels of models among its activities */
    uint32_t groups;
    int64_t kernel_ns;
    bool failed;
    struct ta_partial *const *out;
};

static struct ta_slice name_of(const struct walk *w, ta_row row)
{
    return ta_trace_text(w->trace, w->spans.name[row]);
}

/* What a model computes with, and no input is made ready with. */
static bool is_of_model(enum ta_kernel_kind kind)
{
    return kind == TA_KERNEL_GEMM || kind == TA_KERNEL_ATTENTION || kind == TA_KERNEL_CONV ||
           kind == TA_KERNEL_TRITON;
}

static void take_copy(struct walk *w, const struct ta_activity *a)
{
    int64_t bytes = TA_MISSING;
    if (!ta_args_find(&w->sizes, a->span, &bytes) || bytes < TENSOR_BYTES)
        return;
    const struct ta_slice name = name_of(w, a->span), direction = ta_copy_direction(name);
    const bool is_back = ta_slice_equal(direction, TA_LIT("DtoH"));
    if (!is_back && !ta_slice_equal(direction, TA_LIT("HtoD")))
        return;
    struct copy copy = {.span = a->span,
                        .launch = a->launch,
                        .bytes = bytes,
                        .is_back = is_back,
                        .is_pageable =
                            ta_slice_equal(ta_copy_host_memory(name), TA_LIT("pageable"))};
    if (!is_back) {
        /* The group of the last copy to the device goes on until a kernel of a model. */
        w->groups += w->groups == 0;
        copy.group = w->groups;
    }
    w->failed |= !ta_vec_push(&w->copies, copy);
}

/* The copies of the device whose activities are [from, to), and the groups that its kernels make of
 * them. */
static void take_device(struct walk *w, size_t from, size_t to)
{
    bool is_open = false; /* a copy to the device since the last kernel of a model */
    w->copies.n = w->matrix = 0;
    w->groups = 0;
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (a->kernel != TA_NO_KERNEL) {
            if (!is_of_model(w->kernels.at[a->kernel].facts.kind))
                continue;
            w->matrix++;
            w->groups += is_open;
            is_open = false;
        } else if (w->categories.at[w->spans.cat[a->span]].class == TA_CLASS_MEMCPY) {
            const size_t before = w->copies.n;
            take_copy(w, a);
            is_open |= w->copies.n > before && !w->copies.at[before].is_back;
        }
    }
}

/* ---- how often the same comes ---------------------------------------------------------------- */

/* One size among copies to the device. */
struct size {
    int64_t bytes;
    size_t n, first, last; /* places among the copies to the device */
    size_t gap;            /* between the first two */
    bool is_even;          /* all gaps are like that, within one in eight */
    size_t back;           /* copies to the host of this size that have no partner yet */
};

static int by_bytes(const void *left, const void *right)
{
    const struct size *a = left, *b = right;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static struct size *size_of(struct size *sizes, size_t n, int64_t bytes)
{
    const struct size wanted = {.bytes = bytes};
    return bsearch(&wanted, sizes, n, sizeof *sizes, by_bytes);
}

/* The distinct sizes of the copies to the device, by size; NULL without memory. */
static struct size *find_sizes(const struct walk *w, size_t *n)
{
    struct size *sizes = calloc(w->copies.n + 1, sizeof *sizes);
    *n = 0;
    for (size_t i = 0; sizes && i < w->copies.n; i++)
        if (!w->copies.at[i].is_back)
            sizes[(*n)++].bytes = w->copies.at[i].bytes;
    if (!sizes || *n == 0)
        return sizes;
    qsort(sizes, *n, sizeof *sizes, by_bytes);
    size_t distinct = 1;
    for (size_t i = 1; i < *n; i++)
        if (sizes[i].bytes != sizes[distinct - 1].bytes)
            sizes[distinct++] = sizes[i];
    *n = distinct;
    size_t place = 0;
    for (size_t i = 0; i < w->copies.n; i++) {
        struct size *size = size_of(sizes, *n, w->copies.at[i].bytes);
        if (w->copies.at[i].is_back) {
            if (size)
                size->back++;
            continue;
        }
        const size_t gap = place - size->last;
        if (size->n == 0)
            size->first = place;
        else if (size->n == 1)
            size->is_even = (size->gap = gap) > 0;
        else
            size->is_even &= gap * 8 >= size->gap * 7 && gap * 8 <= size->gap * 9;
        size->last = place++;
        size->n++;
    }
    return sizes;
}

struct pass {
    size_t n;      /* times that it comes; 0: not known */
    int64_t bytes; /* of one time */
};

/* Of the sizes that return evenly the one with the largest distance is of a tensor that a pass has
 * once.  A distance of less than GROUPS_LEAST groups is the distance of layers. */
static struct pass find_pass(const struct walk *w, const struct size *sizes, size_t n)
{
    const struct size *rare = NULL;
    for (size_t i = 0; i < n; i++)
        if (sizes[i].is_even && (!rare || sizes[i].gap > rare->gap))
            rare = &sizes[i];
    struct pass pass = {0};
    if (!rare)
        return pass;
    size_t place = 0;
    uint32_t first = 0, last = 0;
    for (size_t i = 0; i < w->copies.n; i++) {
        const struct copy *copy = &w->copies.at[i];
        if (copy->is_back)
            continue;
        if (place >= rare->first && place < rare->first + rare->gap) {
            first = first ? first : copy->group;
            last = copy->group;
            pass.bytes += copy->bytes;
        }
        place++;
    }
    pass.n = last - first + 1 >= GROUPS_LEAST ? rare->n : 0;
    return pass;
}

/* ---- what it is ------------------------------------------------------------------------------ */

/* The marked steps that copies to the device were launched in, how many of them have the groups of
 * layers, and the least and most bytes that one has. */
struct in_steps {
    size_t n, layered;
    int64_t least, most;
};

static struct in_steps steps_of(struct walk *w, const struct ta_program_steps *steps)
{
    struct in_steps in = {.least = INT64_MAX};
    struct {
        int64_t bytes;
        size_t groups;
        uint32_t group; /* the last of them */
    } *of = calloc(steps->n + 1, sizeof *of);
    w->failed |= !of;
    for (size_t i = 0; of && i < w->copies.n; i++) {
        const struct copy *copy = &w->copies.at[i];
        const ta_row row = copy->launch == TA_NO_ROW ? copy->span : copy->launch;
        const size_t step = copy->is_back ? SIZE_MAX : ta_program_step_at(steps, w->spans.ts[row]);
        if (step == SIZE_MAX)
            continue;
        of[step].bytes += copy->bytes;
        of[step].groups += copy->group != of[step].group;
        of[step].group = copy->group;
    }
    for (size_t s = 0; of && s < steps->n; s++) {
        if (of[s].bytes == 0)
            continue;
        in.n++;
        in.layered += of[s].groups >= GROUPS_A_STEP;
        in.least = of[s].bytes < in.least ? of[s].bytes : in.least;
        in.most = of[s].bytes > in.most ? of[s].bytes : in.most;
    }
    free(of);
    return in;
}

static bool is_layers(const struct walk *w, const struct size *sizes, size_t n_sizes,
                      const struct pass *pass, const struct in_steps *in)
{
    /* Layers are alike: most bytes are of sizes that come several times a pass.  Inputs of a step,
     * which may be copied while kernels run, are not. */
    const size_t passes = pass->n > 1 ? pass->n : in->n > 1 ? in->n : 1;
    int64_t bytes = 0, repeated = 0, copies = 0;
    for (size_t i = 0; i < n_sizes; i++) {
        const int64_t sum = (int64_t)sizes[i].n * sizes[i].bytes;
        bytes += sum;
        copies += (int64_t)sizes[i].n;
        repeated += sizes[i].n >= 2 * passes ? sum : 0;
    }
    if (2 * repeated < bytes)
        return false;
    const bool is_buffers = bytes >= copies * BUFFER_BYTES && w->groups >= 2 * GROUPS_LEAST;
    if (w->groups < GROUPS_LEAST || (n_sizes < SIZES_LEAST && !is_buffers) ||
        bytes < LAYERS_BYTES || w->matrix > (size_t)w->groups * KERNELS_A_GROUP)
        return false;
    /* An input comes once a step, however short it is. */
    return in->n ? 2 * in->layered >= in->n : pass->n > 0 || n_sizes * 4 <= w->groups;
}

/* Marks what moved in both directions; whether that is models. */
static bool mark_moved(struct walk *w, struct size *sizes, size_t n)
{
    size_t moved = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t pairs = sizes[i].back < sizes[i].n ? sizes[i].back : sizes[i].n;
        moved += pairs;
        bytes += (int64_t)pairs * sizes[i].bytes;
    }
    if (moved < MODELS_COPIES || bytes < MODELS_BYTES)
        return false;
    for (size_t i = 0; i < w->copies.n; i++) {
        const struct size *size = size_of(sizes, n, w->copies.at[i].bytes);
        w->copies.at[i].counts = size && size->back > 0;
    }
    return true;
}

/* ---- where ----------------------------------------------------------------------------------- */

/* A function of the program: no built-in one, and none of torch. */
static bool is_frame(void *user, ta_row row)
{
    const struct walk *w = user;
    const struct ta_slice name = name_of(w, row);
    return w->spans.work[row] == TA_HOST_PYTHON && !ta_host_is_builtin(name) &&
           !ta_slice_starts(name, "torch/") && !ta_slice_has_word(name, "site-packages/torch/") &&
           ta_slice_has_word(name, ".py(");
}

static bool is_caller(void *user, ta_row row)
{
    const struct walk *w = user;
    return w->categories.at[w->spans.cat[row]].class != TA_CLASS_RUNTIME &&
           w->spans.work[row] != TA_HOST_PYTHON && !ta_host_is_step(name_of(w, row));
}

/* The nearest function of the program around the call, else what is around it. */
static struct ta_slice site_of(struct walk *w, ta_row launch)
{
    if (launch == TA_NO_ROW)
        return TA_LIT("");
    ta_row row = ta_outward_find(&w->frames, launch, is_frame, w);
    if (row == TA_NO_ROW)
        row = ta_outward_find(&w->callers, launch, is_caller, w);
    return row == TA_NO_ROW ? TA_LIT("") : name_of(w, row);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_row(struct walk *w, size_t from, size_t to, int pattern, const struct pass *pass,
                    size_t steps)
{
    const struct ta_key rank = ta_key_int(ta_trace_rank(w->trace)), key = ta_key_int(pattern);
    int64_t *row = TA_PARTIAL_ROW(w->out[OF_RANKS], rank, key);
    struct ta_intervals copies = {0}, calls = {0}, kernels = {0};
    const struct ta_intervals *busy = ta_trace_busy(w->trace);
    if (!busy || busy->n == 0) {
        w->failed |= !busy;
        return;
    }
    for (size_t i = 0; i < w->copies.n; i++) {
        const struct copy *copy = &w->copies.at[i];
        if (!copy->counts)
            continue;
        const int64_t ts = w->spans.ts[copy->span], dur = w->spans.dur[copy->span];
        ta_sum(&row[COUNT], 1);
        ta_sum(&row[copy->is_back ? BACK_BYTES : BYTES], copy->bytes);
        ta_sum(&row[COPY], dur);
        ta_sum(&row[PAGEABLE], copy->is_pageable ? copy->bytes : 0);
        ta_intervals_add(&copies, ts, ts + dur);
        if (copy->launch != TA_NO_ROW) {
            const int64_t call = w->spans.ts[copy->launch];
            ta_intervals_add(&calls, call, call + w->spans.dur[copy->launch]);
        }
        int64_t *site =
            TA_PARTIAL_ROW(w->out[OF_SITES], rank, key, ta_key_text(site_of(w, copy->launch)));
        ta_sum(&site[SITE_COUNT], 1);
        ta_sum(&site[SITE_BYTES], copy->bytes);
    }
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (a->kernel != TA_NO_KERNEL)
            ta_intervals_add(&kernels, w->spans.ts[a->span],
                             w->spans.ts[a->span] + w->spans.dur[a->span]);
    }
    ta_intervals_unite(&copies);
    ta_intervals_unite(&calls);
    ta_intervals_unite(&kernels);
    int64_t idle = 0;
    for (size_t i = 0; i < calls.n; i++)
        idle += ta_intervals_gaps(busy, calls.at[i].start, calls.at[i].end);
    ta_sum(&row[EXPOSED], ta_intervals_outside(&copies, &kernels));
    ta_sum(&row[HOST], ta_intervals_length(&calls));
    ta_sum(&row[IDLE], idle);
    ta_sum(&row[KERNELS], ta_intervals_length(&kernels));
    if (pass->n) {
        ta_sum(&row[PASSES], (int64_t)pass->n);
        ta_most(&row[PASS_BYTES], pass->bytes);
    }
    if (steps)
        ta_sum(&row[STEPS], (int64_t)steps);
    const struct ta_device *device = ta_trace_device(w->trace, w->activities.at[from].device);
    if (device && device->memory_bytes > 0)
        ta_most(&row[MEMORY], device->memory_bytes);
    w->failed |= copies.failed || calls.failed || kernels.failed;
    ta_intervals_free(&copies);
    ta_intervals_free(&calls);
    ta_intervals_free(&kernels);
}

static void judge_device(struct walk *w, size_t from, size_t to)
{
    size_t n;
    struct size *sizes = find_sizes(w, &n);
    const struct ta_program_steps *steps = ta_program_steps(w->trace);
    w->failed |= !steps || !sizes;
    if (!sizes || !steps) {
        free(sizes);
        return;
    }
    struct pass pass = find_pass(w, sizes, n);
    const struct in_steps in = steps_of(w, steps);
    const bool is_even = in.n > 1 && in.least >= in.most - in.most / 20;
    if (is_layers(w, sizes, n, &pass, &in)) {
        for (size_t i = 0; i < w->copies.n; i++) {
            const struct size *size = size_of(sizes, n, w->copies.at[i].bytes);
            w->copies.at[i].counts = !w->copies.at[i].is_back || (size && size->back > 0);
        }
        if (pass.n < 2 && is_even)
            pass = (struct pass){in.n, in.most};
        add_row(w, from, to, PATTERN_LAYERS, &pass, in.n);
    } else if (mark_moved(w, sizes, n)) {
        add_row(w, from, to, PATTERN_MODELS, &(struct pass){0}, in.n);
    }
    free(sizes);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct walk w = {.trace = trace,
                     .activities = ta_trace_activities(trace),
                     .kernels = ta_trace_kernels(trace),
                     .spans = ta_trace_spans(trace),
                     .categories = ta_trace_categories(trace),
                     .sizes = ta_trace_args(trace, "bytes"),
                     .out = out};
    w.frames.parent = w.callers.parent = w.spans.parent;
    for (size_t from = 0, to; w.sizes.n && from < w.activities.n; from = to) {
        to = ta_device_end(&w.activities, from);
        take_device(&w, from, to);
        if (w.copies.n)
            judge_device(&w, from, to);
    }
    const bool done = !w.failed;
    free(w.copies.at);
    ta_outward_free(&w.frames);
    ta_outward_free(&w.callers);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the copies of a trace");
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [PATTERN] = {"pattern", TA_FIELD_INT},
    [COUNT] = {"count", TA_FIELD_SUM},
    [BYTES] = {"bytes", TA_FIELD_SUM},
    [PASSES] = {"passes", TA_FIELD_SUM},
    [PASS_BYTES] = {"pass_bytes", TA_FIELD_MAX},
    [STEPS] = {"steps", TA_FIELD_SUM},
    [BACK_BYTES] = {"back_bytes", TA_FIELD_SUM},
    [PAGEABLE] = {"pageable_bytes", TA_FIELD_SUM},
    [COPY] = {"copy_ns", TA_FIELD_SUM},
    [EXPOSED] = {"exposed_ns", TA_FIELD_SUM},
    [HOST] = {"host_ns", TA_FIELD_SUM},
    [IDLE] = {"idle_ns", TA_FIELD_SUM},
    [KERNELS] = {"kernel_ns", TA_FIELD_SUM},
    [MEMORY] = {"memory_bytes", TA_FIELD_MAX},
};

static const struct ta_field site_fields[SITE_FIELDS] = {
    [SITE_RANK] = {"rank", TA_FIELD_RANK},  [SITE_PATTERN] = {"pattern", TA_FIELD_INT},
    [SITE] = {"site", TA_FIELD_TEXT},       [SITE_COUNT] = {"count", TA_FIELD_SUM},
    [SITE_BYTES] = {"bytes", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [OF_RANKS] = {"ranks", fields, FIELDS}, [OF_SITES] = {"sites", site_fields, SITE_FIELDS}, {0}};

/* The columns are the fields of the partial, where most of the bytes are copied, and what that
 * means: how fast it is, and what it would be on the device or ahead of use. */
enum {
    COLUMN_SITE = FIELDS,
    COLUMN_SITE_BYTES,
    COLUMN_RATE,
    COLUMN_LINK_RATE,
    COLUMN_LINK_SHARE,
    COLUMN_PAGEABLE_SHARE,
    COLUMN_AHEAD,
    COLUMN_HELD,
    COLUMN_FREE,
    COLUMN_COUNT
};

static const struct ta_column columns[COLUMN_COUNT] = {
    [RANK] = TA_RANK_COLUMN,
    [PATTERN] = {"pattern", "Pattern", TA_WORD,
                 .doc = "layers: weights copied between a model's kernels and used at once; "
                        "models: whole models moved to the device and back"},
    [COUNT] = {"count", "Copies", TA_COUNT, .better = TA_LOWER,
               .doc = "Copies of 64 KiB or more, in both directions"},
    [BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER, .doc = "Bytes copied to the device"},
    [PASSES] = {"passes", "Passes", TA_COUNT,
                .doc = "Times that the same weights are copied, such as once per forward pass: "
                       "copies of one size that return at even intervals, otherwise the steps that "
                       "copy as much; empty if neither is found"},
    [PASS_BYTES] = {"pass_bytes", "Bytes per pass", TA_BYTES, .better = TA_LOWER,
                    .doc =
                        "Bytes copied per pass: device memory needed to keep them on the device"},
    [STEPS] = {"steps", "Steps", TA_COUNT, .doc = "Marked steps that copy any of these weights"},
    [BACK_BYTES] = {"back_bytes", "Copied back", TA_BYTES, .better = TA_LOWER,
                    .doc = "Bytes copied back to the host, in copies of the same sizes"},
    [PAGEABLE] = {"pageable_bytes", "Pageable", TA_BYTES, .better = TA_LOWER,
                  .doc = "Bytes copied from or to pageable memory, both directions"},
    [COPY] = {"copy_ns", "Copying", TA_NS, .better = TA_LOWER,
              .doc = "Sum of the durations of these copies"},
    [EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                 .doc = "Time in which these copies run and no kernel of the device does"},
    [HOST] = {"host_ns", "Host", TA_NS, .better = TA_LOWER,
              .doc = "Time in which a host thread is in the calls that make these copies"},
    [IDLE] = {"idle_ns", "Idle during", TA_NS, .better = TA_LOWER,
              .doc = "Part of the host time in which no device of the rank works"},
    [KERNELS] = {"kernel_ns", "Kernels", TA_NS,
                 .doc = "Time in which kernels run on the same devices"},
    [MEMORY] = {"memory_bytes", "Device memory", TA_BYTES, .doc = "Total memory of the device"},
    [COLUMN_SITE] = {"site", "Place", TA_TEXT,
                     .doc = "Place that copies most of the bytes: nearest Python function outside "
                            "torch, otherwise the operator or range around the call"},
    [COLUMN_SITE_BYTES] = {"site_bytes", "Bytes at call site", TA_BYTES,
                           .doc = "Bytes copied at that place"},
    [COLUMN_RATE] = {"bandwidth", "Rate", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
                     .doc = "Bytes in both directions over the total copy time"},
    [COLUMN_LINK_RATE] =
        {"link_bandwidth", "Link", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
         .doc = "Rate that copies from pinned memory to the device reach in this run, otherwise "
                "the specified rate of the link; empty if neither is known"},
    [COLUMN_LINK_SHARE] = {"link_share", "Link utilization", TA_RATIO, .better = TA_HIGHER,
                           .doc = "Copy rate divided by the rate of the link"},
    [COLUMN_PAGEABLE_SHARE] = {"pageable_share", "Pageable", TA_RATIO, .better = TA_LOWER,
                               .doc = "Bytes from or to pageable memory divided by all bytes"},
    [COLUMN_AHEAD] =
        {"ahead_ns", "Time if prefetched", TA_NS,
         .doc =
             "Time of kernels and exposed copies if weights came from pinned memory while kernels "
             "run: the kernel time or the link's time for these bytes, whichever is larger"},
    [COLUMN_HELD] = {"held_bytes", "Max reserved", TA_BYTES,
                     .doc = "Most memory that the rank's allocator held; empty if not recorded"},
    [COLUMN_FREE] =
        {"free_bytes", "Free", TA_BYTES,
         .doc = "Device memory minus max reserved: room in which the copied weights could stay"},
};

static const struct ta_table_def table = {
    "copies.weights", "Weights copied from host memory", TA_COLUMNS(columns),
    .doc =
        "One row per rank and pattern, for ranks that copy weights to the device to use them. A "
        "trace does not say what a copy holds, so copies count as weights by these criteria. "
        "layers: at least 8 groups of copies between matmuls, attention or convolutions, on "
        "average at most 48 of those apart; at least 3 sizes, or 64 MiB per group; most bytes in "
        "sizes that return several times per pass; 32 MiB in all; at least 4 groups in most marked "
        "steps. models: at least 16 copies and 256 MiB, with a copy back of the same size.",
    .tier = TA_TIER_DETAIL};

enum { RATE, RATE_LINK, RATE_DIRECTION, RATE_MEMORY, PEAK, PEAK_RANK };

static const struct ta_ref reads[] = {
    [RATE] = {"copies.bandwidth", "bandwidth"},
    [RATE_LINK] = {"copies.bandwidth", "link"},
    [RATE_DIRECTION] = {"copies.bandwidth", "direction"},
    [RATE_MEMORY] = {"copies.bandwidth", "memory"},
    [PEAK] = {"memory.by_rank", "peak_reserved_bytes"},
    [PEAK_RANK] = {"memory.by_rank", "rank"},
};

/* What copies to the device reach from pinned memory here, else what their link is stated to do;
 * NAN where neither is known. */
static double link_rate(const struct ta_refs *in)
{
    double pinned = 0, link = 0;
    for (size_t i = 0; i < ta_ref_rows(in, RATE); i++) {
        const double limit = ta_ref_number(in, RATE_LINK, i, 0);
        const double rate = ta_ref_number(in, RATE, i, 0);
        if (!(limit > 0) || !ta_ref_reads(in, RATE_DIRECTION, i, "HtoD"))
            continue; /* small copies have no link: they are bound by latency */
        link = limit > link ? limit : link;
        if (rate > pinned && ta_ref_reads(in, RATE_MEMORY, i, "pinned"))
            pinned = rate;
    }
    return pinned > 0 ? pinned : link > 0 ? link : (double)NAN;
}

/* The most that the allocator of a rank held; TA_MISSING where that is not recorded. */
static int64_t held_of(const struct ta_refs *in, int64_t rank)
{
    for (size_t i = 0; i < ta_ref_rows(in, PEAK); i++)
        if (ta_ref_integer(in, PEAK_RANK, i) == rank)
            return ta_ref_integer(in, PEAK, i);
    return TA_MISSING;
}

static struct ta_cell number(double value)
{
    return isfinite(value) ? ta_num(value) : ta_null();
}

/* What follows from a row of the partial. */
static void add_derived(const struct ta_refs *in, const int64_t *row, struct ta_cell *cells)
{
    const double to = row[BYTES] < 0 ? 0 : (double)row[BYTES];
    const double back = row[BACK_BYTES] < 0 ? 0 : (double)row[BACK_BYTES];
    const double rate = (to + back) * 1e9 / (double)row[COPY], link = link_rate(in);
    const double copying = to * 1e9 / link, kernels = (double)row[KERNELS];
    const int64_t held = held_of(in, row[RANK]);
    cells[COLUMN_RATE] = number(row[COPY] > 0 ? rate : (double)NAN);
    cells[COLUMN_LINK_RATE] = number(link);
    cells[COLUMN_LINK_SHARE] = number(row[COPY] > 0 ? rate / link : (double)NAN);
    cells[COLUMN_PAGEABLE_SHARE] = number((double)row[PAGEABLE] / (to + back));
    cells[COLUMN_AHEAD] = isfinite(copying) && row[KERNELS] >= 0
                              ? ta_int(ta_whole(copying > kernels ? copying : kernels))
                              : ta_null();
    cells[COLUMN_HELD] = ta_int(held);
    cells[COLUMN_FREE] = held >= 0 && row[MEMORY] >= held ? ta_int(row[MEMORY] - held) : ta_null();
}

/* The place where most is copied, of a row; NULL without one. */
static const int64_t *largest_site(const struct ta_partial *sites, const int64_t *row)
{
    const int64_t *most = NULL;
    for (size_t k = 0; k < ta_partial_rows(sites); k++) {
        const int64_t *site = ta_partial_at(sites, k);
        if (site[SITE_RANK] == row[RANK] && site[SITE_PATTERN] == row[PATTERN] &&
            (!most || site[SITE_BYTES] > most[SITE_BYTES]))
            most = site;
    }
    return most;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *ranks = merged[OF_RANKS], *sites = merged[OF_SITES];
    for (size_t i = 0; i < ta_partial_rows(ranks); i++) {
        const int64_t *row = ta_partial_at(ranks, i), *most = largest_site(sites, row);
        struct ta_cell cells[COLUMN_COUNT];
        for (size_t c = 0; c < FIELDS; c++)
            cells[c] = ta_int(row[c]);
        cells[PATTERN] = ta_string(pattern_words[row[PATTERN]]);
        cells[COLUMN_SITE] = most ? ta_text_or_null(ta_partial_text(sites, most, SITE)) : ta_null();
        cells[COLUMN_SITE_BYTES] = most ? ta_int(most[SITE_BYTES]) : ta_null();
        add_derived(in, row, cells);
        ta_add_row(ta_rows(out, &table), cells);
    }
    return TA_OK;
}

static const char *const needs_args[] = {"bytes", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{OF_RANKS, PATTERN, PATTERNS}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&table, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs = TA_NEED_HOST_WORK,
                                           .needs_args = needs_args,
                                           .section = "copies",
                                           .place = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(
    analysis, weight_copies, &ops, .title = "Weights in host memory",
    .summary = "Weights that are copied to the device each time they are used: copies.weights",
    .version = "2");
