/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.waves and kernels.occupancy: how well the blocks of a kernel fill the multiprocessors of
 * its device.
 *
 * A device runs `resident` blocks per multiprocessor at a time. A kernel with more blocks runs in
 * waves, the last of which is mostly not full: of w waves it takes the time of ceil(w). A kernel
 * with fewer blocks than multiprocessors leaves some of these without work. In between, each has
 * work, and nothing is counted as lost. Kernels that fetch their work themselves are left out. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

/* What is read of each kernel. */
enum { GRID, BLOCK, PER_UNIT, OCCUPANCY, NUMBERS };

struct kernel_numbers {
    double at[NUMBERS]; /* 0 where there is none */
    bool has[NUMBERS];
};

/* How a kernel with these numbers fills its device. */
struct filling {
    int64_t blocks;     /* TA_MISSING when not known */
    int64_t milliwaves; /* TA_MISSING when not known, or beyond counting */
    double lost;        /* share of its time during which multiprocessors have no block */
    int64_t units;      /* UNITS_WHOLE times the share of them with a block, or TA_MISSING */
    double warps;       /* share of the warps that they hold */
    bool is_known;      /* `lost` and `is_under` are */
    bool is_under;      /* fewer blocks than multiprocessors */
    bool has_warps;
};

/* Shares are millionths, so that sums are exact and kernels may end in any order. */
enum { UNITS_WHOLE = 1000000 };

enum { NUMBERS_RECENT = 512 };

/* Arguments as the trace has them; 0 where there is none. */
struct values {
    int64_t at[NUMBERS];
    unsigned kinds; /* for each, whether it is there, and is a text */
};

/* Arguments of the kernels of a trace.  Thousands of kernels are launched alike, so that what
 * follows from them is worked out once for those that were met lately. */
struct numbers {
    const struct ta_trace *trace;
    struct ta_device_units device;
    struct ta_args args[NUMBERS];
    struct {
        struct values values;
        struct filling filling;
    } recent[NUMBERS_RECENT]; /* by hash of the values */
};

enum {
    OCCUPANCY_RANK,
    OCCUPANCY_DEVICE,
    OCCUPANCY_WINDOW,
    OCCUPANCY_UNITS, /* time of the window, each moment times the share of units with a block */
    OCCUPANCY_KNOWN, /* time of kernels that say their blocks per unit */
    OCCUPANCY_WARPS, /* time of kernels that say their occupancy, times that */
    OCCUPANCY_TIME,  /* the same as it is */
    OCCUPANCY_FIELDS
};

enum { OCCUPANCY_RUNNING_MOST = 256 };

/* The kernels of a device that run at a moment. */
struct occupancy_sweep {
    struct {
        int64_t end, share;
    } running[OCCUPANCY_RUNNING_MOST];
    size_t n;
    int64_t now, share;
    __int128 units; /* millionths of ns */
};

/* Set `trace`, `spans` and `out`; the rest, zero at first, is of the device at hand. */
struct occupancy {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *out;
    bool begun;
    int64_t device, first, last, known, time;
    double warps;
    struct occupancy_sweep sweep;
};

/* ---- filling --------------------------------------------------------------------------------- */

/* What the numbers of a kernel say of how it fills its device. */

struct shape {
    double blocks, units, resident; /* 0 when not known */
};

/* Waves and the share of time that is lost; false when it is not known. */
static bool judge(struct shape shape, double *waves, double *lost)
{
    if (shape.blocks <= 0 || shape.units <= 0)
        return false;
    *waves = shape.blocks / shape.units;
    *lost = *waves < 1 ? 1 - *waves : 0;
    if (*waves <= 1)
        return true;
    if (shape.resident <= 0)
        return false;
    *waves = fmax(1, *waves / shape.resident);
    *lost = 1 - *waves / ceil(*waves);
    return true;
}

static struct filling filling_of(const struct kernel_numbers *of, struct ta_device_units device)
{
    struct shape shape = {.blocks = of->at[GRID]};
    const double per_unit = of->at[PER_UNIT];
    shape.units = device.multiprocessors > 0 ? (double)device.multiprocessors
                  : per_unit > 0             ? nearbyint(shape.blocks / per_unit)
                                             : 0;
    const double threads = of->at[BLOCK], occupancy = of->at[OCCUPANCY];
    /* The profiler's occupancy is of min(blocks per multiprocessor, what it can hold). */
    if (threads > 0 && occupancy > 0 && device.threads > 0)
        shape.resident = fmax(1, nearbyint(occupancy / 100 * (double)device.threads / threads));
    const double in_use = fmin(of->at[PER_UNIT], 1);
    double waves = 0, lost = 0;
    struct filling f = {
        .blocks = shape.blocks > 0 && shape.blocks < 1e15 ? ta_whole(shape.blocks) : TA_MISSING,
        .milliwaves = TA_MISSING,
        .units = in_use > 0 ? ta_whole(nearbyint(in_use * UNITS_WHOLE)) : TA_MISSING,
        .has_warps = of->has[OCCUPANCY],
        .warps = of->at[OCCUPANCY] / 100,
    };
    f.is_known = judge(shape, &waves, &lost);
    if (!f.is_known)
        return f;
    f.lost = lost;
    f.is_under = shape.blocks < shape.units;
    if (waves < 1e12)
        f.milliwaves = ta_whole(nearbyint(waves * 1000));
    return f;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Arguments of kernels, as numbers and what follows from these. */

/* Product of the numbers in "[4, 106, 1]"; 0 when it is no such list. */
static double product_of(struct ta_slice text)
{
    double all = 1;
    size_t numbers = 0;
    for (size_t i = 0; i < text.len;) {
        double number = 0;
        size_t digits = 0;
        for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++, digits++)
            number = number * 10 + (text.ptr[i] - '0');
        if (digits) {
            all *= number;
            numbers++;
        } else {
            i++;
        }
    }
    return numbers ? all : 0;
}

/* "0.006757", or a whole number; NAN when it is none. */
static double decimal_of(struct ta_slice text)
{
    char copy[32];
    if (text.len == 0 || text.len >= sizeof copy)
        return NAN;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    double value = 0, unit = 1;
    bool fraction = false;
    for (const char *c = copy; *c; c++) {
        if (*c == '.' && !fraction) {
            fraction = true;
        } else if (*c >= '0' && *c <= '9') {
            value = value * 10 + (*c - '0');
            unit *= fraction ? 10 : 1;
        } else {
            return NAN;
        }
    }
    return value / unit;
}

/* ---- of each kernel -------------------------------------------------------------------------- */

static const struct {
    const char *key;
    double (*read)(struct ta_slice text);
} sources[NUMBERS] = {
    [GRID] = {"grid", product_of},
    [BLOCK] = {"block", product_of},
    [PER_UNIT] = {"blocks per SM", decimal_of},
    [OCCUPANCY] = {"est. achieved occupancy %", decimal_of},
};

/* Two bits of struct values for an argument that is there. */
static const unsigned is_number = 1, is_text = 2;

static void read_values(const struct numbers *numbers, ta_row row, struct values *values)
{
    size_t place = 0;
    unsigned kinds = 0;
    for (int i = 0; i < NUMBERS; i++) {
        const struct ta_args *args = &numbers->args[i];
        if (i == 0 || args->row != args[-1].row) /* the profiler mostly writes all or none */
            place = ta_args_place(args, row);
        values->at[i] = 0;
        if (place == args->n)
            continue;
        values->at[i] = ta_args_value(args, place);
        kinds |= (ta_args_is_text(args, place) ? is_text : is_number) << 2 * i;
    }
    values->kinds = kinds;
}

/* A place that was not used yet holds what follows from no values. */
static const struct filling *numbers_filling(struct numbers *numbers, ta_row row)
{
    struct values values;
    read_values(numbers, row, &values);
    const uint64_t hash = ((uint64_t)values.at[GRID] * 31 + (uint64_t)values.at[BLOCK]) * 31 +
                          (uint64_t)values.at[PER_UNIT] * 7 + (uint64_t)values.at[OCCUPANCY];
    const size_t place = hash % NUMBERS_RECENT;
    const struct values *a = &numbers->recent[place].values;
    if (!(a->kinds == values.kinds && a->at[GRID] == values.at[GRID] &&
          a->at[BLOCK] == values.at[BLOCK] && a->at[PER_UNIT] == values.at[PER_UNIT] &&
          a->at[OCCUPANCY] == values.at[OCCUPANCY])) {
        struct kernel_numbers of = {0};
        for (int i = 0; i < NUMBERS; i++) {
            const int64_t value = values.at[i];
            const unsigned kind = values.kinds >> 2 * i & 3;
            const double number =
                kind == is_text ? sources[i].read(ta_trace_text(numbers->trace, (ta_str)value))
                                : (double)value;
            of.has[i] = kind != 0 && !isnan(number);
            of.at[i] = of.has[i] ? number : 0;
        }
        numbers->recent[place].values = values;
        numbers->recent[place].filling = filling_of(&of, numbers->device);
    }
    return &numbers->recent[place].filling;
}

/* ---- occupancy ------------------------------------------------------------------------------- */

/* kernels.occupancy: which share of its multiprocessors a device has in use, and which share of the
 * warps that they hold.
 *
 * A kernel of b blocks per multiprocessor has min(b, 1) of them in use, as far as its blocks go
 * around; what runs at the same time adds up to at most all.  Time in which nothing runs counts, so
 * the busy share of the device is the most that can be. */

static const struct ta_field occupancy_fields[OCCUPANCY_FIELDS] = {
    [OCCUPANCY_RANK] = {"rank", TA_FIELD_RANK},
    [OCCUPANCY_DEVICE] = {"device", TA_FIELD_INT},
    [OCCUPANCY_WINDOW] = {"window_ns", TA_FIELD_SUM},
    [OCCUPANCY_UNITS] = {"units_ns", TA_FIELD_SUM},
    [OCCUPANCY_KNOWN] = {"known_ns", TA_FIELD_SUM},
    [OCCUPANCY_WARPS] = {"warps_ns", TA_FIELD_SUM},
    [OCCUPANCY_TIME] = {"occupancy_ns", TA_FIELD_SUM},
};

enum {
    DEVICE_RANK,
    DEVICE_DEVICE,
    DEVICE_WINDOW,
    DEVICE_SM_EFFICIENCY,
    DEVICE_OCCUPANCY,
    DEVICE_KNOWN
};
static const struct ta_column wave_occupancy_columns[] = {
    [DEVICE_RANK] = TA_RANK_COLUMN,
    [DEVICE_DEVICE] = TA_DEVICE_COLUMN,
    [DEVICE_WINDOW] = {"window_ns", "Window", TA_NS,
                       .doc = "From the start of the first to the end of the last device activity"},
    [DEVICE_SM_EFFICIENCY] = {"sm_efficiency", "SM efficiency", TA_RATIO, .better = TA_HIGHER,
                              .weight = 0.3,
                              .doc =
                                  "Estimated share of the multiprocessors with at least one block, "
                                  "over the window including idle time: from the profiler's blocks "
                                  "per multiprocessor, at most 1 for kernels that run together"},
    [DEVICE_OCCUPANCY] =
        {"occupancy", "Occupancy", TA_RATIO, .better = TA_HIGHER, .weight = 0.2,
         .doc = "Mean share of a multiprocessor's warp slots in use, estimated by the profiler per "
                "kernel and weighted by duration; kernels without an estimate do not count"},
    [DEVICE_KNOWN] = {"known_ns", "Known time", TA_NS,
                      .doc = "Time of the kernels that record their blocks per multiprocessor"},
};

/* kernels.occupancy, and its rows. */
static const struct ta_table_def wave_occupancy = {
    "kernels.occupancy",
    "Use of the devices",
    TA_COLUMNS(wave_occupancy_columns),
    .doc = "One row per rank and device whose kernels record their blocks per multiprocessor, or "
           "their occupancy: the figures \"SM efficiency\" and \"achieved occupancy\" of the "
           "TensorBoard plug-in, over the device's window.",
    .tier = TA_TIER_DETAIL,
    .rank_words = "Kernels"};

/* ---- map ----------------------------------------------------------------------------------- */

static void pass(struct occupancy_sweep *sweep, int64_t to)
{
    sweep->units += (__int128)(to - sweep->now) * ta_min_i64(sweep->share, UNITS_WHOLE);
    sweep->now = to;
}

static void go_on(struct occupancy_sweep *sweep, int64_t to)
{
    for (;;) {
        size_t first = SIZE_MAX;
        for (size_t i = 0; i < sweep->n; i++)
            if (sweep->running[i].end <= to &&
                (first == SIZE_MAX || sweep->running[i].end < sweep->running[first].end))
                first = i;
        if (first == SIZE_MAX)
            break;
        pass(sweep, sweep->running[first].end);
        sweep->share -= sweep->running[first].share;
        sweep->running[first] = sweep->running[--sweep->n];
    }
    pass(sweep, to);
}

static int64_t start_of(const struct occupancy *o, const struct ta_activity *a)
{
    return o->spans.ts[a->span];
}

/* Puts down what is known of the device at hand. */
static void occupancy_end(struct occupancy *o)
{
    if (o->known == 0 && o->time == 0)
        return;
    go_on(&o->sweep, o->last);
    int64_t *row =
        TA_PARTIAL_ROW(o->out, ta_key_int(ta_trace_rank(o->trace)), ta_key_int(o->device));
    ta_sum(&row[OCCUPANCY_WINDOW], o->last - o->first);
    ta_sum(&row[OCCUPANCY_UNITS], (int64_t)(o->sweep.units / UNITS_WHOLE));
    ta_sum(&row[OCCUPANCY_KNOWN], o->known);
    ta_sum(&row[OCCUPANCY_WARPS], ta_whole(nearbyint(o->warps)));
    ta_sum(&row[OCCUPANCY_TIME], o->time);
}

static void begin_device(struct occupancy *o, const struct ta_activity *first)
{
    occupancy_end(o);
    const int64_t start = start_of(o, first);
    *o = (struct occupancy){.trace = o->trace,
                            .spans = o->spans,
                            .out = o->out,
                            .begun = true,
                            .device = first->device,
                            .first = start,
                            .last = start};
    o->sweep.now = start;
}

/* The next activity of the trace; `of` is NULL when it is no kernel. */
static void occupancy_take(struct occupancy *o, const struct ta_activity *a,
                           const struct filling *of)
{
    if (!o->begun || a->device != o->device)
        begin_device(o, a);
    const int64_t start = start_of(o, a), dur = o->spans.dur[a->span];
    o->last = ta_max_i64(o->last, start + dur);
    if (!of)
        return;
    if (of->units != TA_MISSING) {
        o->known = ta_add_sat(o->known, dur);
        const int64_t end = start + dur;
        go_on(&o->sweep, start);
        if (o->sweep.n != OCCUPANCY_RUNNING_MOST) {
            o->sweep.running[o->sweep.n].end = end;
            o->sweep.running[o->sweep.n++].share = of->units;
            o->sweep.share += of->units;
        }
    }
    if (of->has_warps) {
        o->time = ta_add_sat(o->time, dur);
        o->warps += of->warps * (double)dur;
    }
}

/* ---- table --------------------------------------------------------------------------------- */

/* ---- table ----------------------------------------------------------------------------------- */

enum { NAME, CALLS, TOTAL, KNOWN_CALLS, KNOWN_NS, LOST_NS, UNDER, UNDER_NS, WAVES, BLOCKS, FIELDS };
enum { ALL_KEY, ALL_NS, ALL_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [NAME] = {"name", TA_FIELD_TEXT},        [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},    [KNOWN_CALLS] = {"known", TA_FIELD_SUM},
    [KNOWN_NS] = {"known_ns", TA_FIELD_SUM}, [LOST_NS] = {"lost_ns", TA_FIELD_SUM},
    [UNDER] = {"under", TA_FIELD_SUM},       [UNDER_NS] = {"under_ns", TA_FIELD_SUM},
    [WAVES] = {"milliwaves", TA_FIELD_DIST}, [BLOCKS] = {"blocks", TA_FIELD_DIST},
};

static const struct ta_field all_fields[ALL_FIELDS] = {
    [ALL_KEY] = {"all", TA_FIELD_INT}, [ALL_NS] = {"total_ns", TA_FIELD_SUM}};

static const struct ta_partial_def partials[] = {{"kernels", fields, FIELDS},
                                                 {"all", all_fields, ALL_FIELDS},
                                                 {"devices", occupancy_fields, OCCUPANCY_FIELDS},
                                                 {0}};

enum {
    KERNEL_NAME,
    KERNEL_CALLS,
    KERNEL_TOTAL,
    KERNEL_SHARE,
    KERNEL_BLOCKS,
    KERNEL_WAVES,
    KERNEL_EFFICIENCY,
    KERNEL_LOST,
    KERNEL_UNDERFILLED,
    KERNEL_UNDERFILLED_NS,
    KERNEL_KNOWN
};
static const struct ta_column by_kernel_columns[] = {
    [KERNEL_NAME] = {"name", "Kernel", TA_TEXT, .doc = "Name of the kernel"},
    [KERNEL_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of executions"},
    [KERNEL_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                      .doc = "Sum of kernel durations, over all ranks"},
    [KERNEL_SHARE] = {"share", "Share", TA_RATIO,
                      .doc = "Time of this kernel divided by the time of all kernels"},
    [KERNEL_BLOCKS] = {"blocks_p50", "Blocks p50", TA_NUMBER,
                       .doc = "Median number of thread blocks"},
    [KERNEL_WAVES] = {"waves_p50", "Waves p50", TA_NUMBER,
                      .doc = "Median number of waves: blocks over the blocks that the device holds "
                             "at a time; below 1, blocks over multiprocessors"},
    [KERNEL_EFFICIENCY] = {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
                           .doc = "1 − lost time / time of the executions for which it is known; "
                                  "empty if that is less than half of them"},
    [KERNEL_LOST] = {"lost_ns", "Lost", TA_NS, .better = TA_LOWER,
                     .doc = "Time in which multiprocessors had no block: in the last wave, or with "
                            "fewer blocks than multiprocessors"},
    [KERNEL_UNDERFILLED] = {"underfilled", "Underfilled runs", TA_COUNT, .better = TA_LOWER,
                            .doc =
                                "Executions with fewer blocks than the device has multiprocessors"},
    [KERNEL_UNDERFILLED_NS] = {"underfilled_ns", "Underfilled time", TA_NS, .better = TA_LOWER,
                               .doc = "Total duration of the underfilled runs"},
    [KERNEL_KNOWN] =
        {"known_ns", "Known time", TA_NS,
         .doc = "Time of the executions with a known efficiency: blocks, number of multiprocessors "
                "and, with more blocks than multiprocessors, the occupancy were recorded"},
};

static const struct ta_table_def by_kernel = {
    "kernels.waves",
    "Wave efficiency",
    TA_COLUMNS(by_kernel_columns),
    .doc = "One row per kernel that records its grid. A device holds a certain number of blocks at "
           "a time. The remainder runs in a last wave, which is usually not full; with fewer "
           "blocks than multiprocessors, some multiprocessors have no work. Occupancy is recorded "
           "on NVIDIA only: elsewhere only the second case is known. Kernels that fetch their work "
           "themselves (\"persistent\") are left out.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_kernel_columns[KERNEL_LOST], TA_DESCENDING}};

/* ---- map ------------------------------------------------------------------------------------- */

static bool is_persistent(const struct ta_trace *trace, const struct ta_kernel *kernel)
{
    static const char *const words[] = {
        "persistent",          "Persistent",       "nvjet",  "stream_k",  "StreamK",     "streamk",
        "GmmaWarpSpecialized", "FlashAttnFwdSm90", "sm100f", "deep_gemm", "cooperative", "_SK3_"};
    const struct ta_slice name = ta_trace_text(trace, kernel->name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(name.ptr, name.len, words[i], strlen(words[i])))
            return true;
    return kernel->facts.kind == TA_KERNEL_COLLECTIVE;
}

/* Of one kernel; its row takes the figures when all are added up. */
struct sums {
    int64_t *row; /* NULL for kernels that are left out */
    struct ta_dist *waves, *blocks;
    int64_t calls, total, known, known_ns, lost, under, under_ns;
};

static void add(struct sums *sums, int64_t dur, const struct filling *filling)
{
    sums->calls++;
    sums->total = ta_add_sat(sums->total, dur);
    if (filling->blocks != TA_MISSING)
        ta_dist_add(sums->blocks, filling->blocks);
    if (!filling->is_known)
        return;
    sums->known++;
    sums->known_ns = ta_add_sat(sums->known_ns, dur);
    if (filling->lost != 0)
        sums->lost = ta_add_sat(sums->lost, ta_whole(nearbyint(filling->lost * (double)dur)));
    if (filling->is_under) {
        sums->under++;
        sums->under_ns = ta_add_sat(sums->under_ns, dur);
    }
    if (filling->milliwaves != TA_MISSING)
        ta_dist_add(sums->waves, filling->milliwaves);
}

static void put_sums(const struct sums *sums)
{
    if (!sums->row || sums->calls == 0)
        return;
    ta_sum(&sums->row[CALLS], sums->calls);
    ta_sum(&sums->row[TOTAL], sums->total);
    if (sums->known == 0)
        return;
    ta_sum(&sums->row[KNOWN_CALLS], sums->known);
    ta_sum(&sums->row[KNOWN_NS], sums->known_ns);
    ta_sum(&sums->row[LOST_NS], sums->lost);
    ta_sum(&sums->row[UNDER], sums->under);
    ta_sum(&sums->row[UNDER_NS], sums->under_ns);
}

static void meet_kernels(const struct ta_trace *trace, struct ta_partial *out, struct sums *sums)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    for (size_t k = 0; k < kernels.n; k++) {
        if (is_persistent(trace, &kernels.at[k]))
            continue;
        sums[k].row = TA_PARTIAL_ROW(out, ta_key_text(ta_trace_text(trace, kernels.at[k].name)));
        sums[k].waves = ta_partial_dist(out, sums[k].row, WAVES);
        sums[k].blocks = ta_partial_dist(out, sums[k].row, BLOCKS);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    if (kernels.n == 0 || ta_trace_args(trace, "grid").n == 0)
        return TA_OK;
    struct sums *sums = calloc(kernels.n, sizeof *sums);
    struct numbers *numbers = calloc(1, sizeof *numbers);
    const bool done = sums && numbers;
    if (done) {
        struct occupancy occupancy = {
            .trace = trace, .spans = ta_trace_spans(trace), .out = out[2]};
        numbers->trace = trace;
        numbers->device = ta_trace_device_units(trace);
        for (int i = 0; i < NUMBERS; i++)
            numbers->args[i] = ta_trace_args(trace, sources[i].key);
        const struct kernel_numbers none = {0};
        const struct filling unknown = filling_of(&none, numbers->device);
        for (size_t i = 0; i < NUMBERS_RECENT; i++)
            numbers->recent[i].filling = unknown;
        meet_kernels(trace, out[0], sums);
        const struct ta_activities activities = ta_trace_activities(trace);
        const struct ta_spans s = ta_trace_spans(trace);
        int64_t all_ns = 0;
        for (size_t i = 0; i < activities.n; i++) {
            const struct ta_activity *a = &activities.at[i];
            if (a->kernel == TA_NO_KERNEL) {
                occupancy_take(&occupancy, a, NULL);
                continue;
            }
            const struct filling *filling = numbers_filling(numbers, a->span);
            occupancy_take(&occupancy, a, filling);
            all_ns = ta_add_sat(all_ns, s.dur[a->span]);
            if (sums[a->kernel].row)
                add(&sums[a->kernel], s.dur[a->span], filling);
        }
        occupancy_end(&occupancy);
        ta_sum(&TA_PARTIAL_ROW(out[1], ta_key_int(0))[ALL_NS], all_ns);
        for (size_t k = 0; k < kernels.n; k++)
            put_sums(&sums[k]);
    }
    free(numbers);
    free(sums);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up waves");
}

/* ---- table --------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t all = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++)
        all = ta_add_sat(all, ta_partial_at(merged[1], i)[ALL_NS]);
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        if (row[CALLS] != TA_MISSING && ta_partial_dist_at(merged[0], row, BLOCKS)) {
            const struct ta_partial *kernels = merged[0];
            const struct ta_dist *waves = ta_partial_dist_at(kernels, row, WAVES);
            const struct ta_dist *blocks = ta_partial_dist_at(kernels, row, BLOCKS);
            const bool some = row[KNOWN_NS] != TA_MISSING;
            const bool known = some && row[KNOWN_NS] >= row[TOTAL] / 2;
            TA_ROW(out, by_kernel, [KERNEL_NAME] = ta_text(ta_partial_text(kernels, row, NAME)),
                   [KERNEL_CALLS] = ta_int(row[CALLS]), [KERNEL_TOTAL] = ta_int(row[TOTAL]),
                   [KERNEL_SHARE] = ta_share(row[TOTAL], all),
                   [KERNEL_BLOCKS] = blocks ? ta_num(ta_dist_quantile(blocks, 50)) : ta_null(),
                   [KERNEL_WAVES] =
                       waves && known ? ta_num(ta_dist_quantile(waves, 50) / 1000) : ta_null(),
                   [KERNEL_EFFICIENCY] =
                       known ? ta_share(row[KNOWN_NS] - row[LOST_NS], row[KNOWN_NS]) : ta_null(),
                   [KERNEL_LOST] = ta_int(row[LOST_NS]), [KERNEL_UNDERFILLED] = ta_int(row[UNDER]),
                   [KERNEL_UNDERFILLED_NS] = ta_int(row[UNDER_NS]),
                   [KERNEL_KNOWN] = ta_int(some ? row[KNOWN_NS] : 0));
        }
    }
    for (size_t i = 0; i < ta_partial_rows(merged[2]); i++) {
        const int64_t *row = ta_partial_at(merged[2], i);
        const bool has_units = row[OCCUPANCY_KNOWN] > 0, has_warps = row[OCCUPANCY_TIME] > 0;
        TA_ROW(out, wave_occupancy, [DEVICE_RANK] = ta_int(row[OCCUPANCY_RANK]),
               [DEVICE_DEVICE] = ta_int(row[OCCUPANCY_DEVICE]),
               [DEVICE_WINDOW] = ta_int(row[OCCUPANCY_WINDOW]),
               [DEVICE_SM_EFFICIENCY] =
                   has_units ? ta_share(row[OCCUPANCY_UNITS], row[OCCUPANCY_WINDOW]) : ta_null(),
               [DEVICE_OCCUPANCY] =
                   has_warps ? ta_share(row[OCCUPANCY_WARPS], row[OCCUPANCY_TIME]) : ta_null(),
               [DEVICE_KNOWN] = ta_int(row[OCCUPANCY_KNOWN]));
    }
    return TA_OK;
}

static const char *const needs_args[] = {"grid", "block", "blocks per SM",
                                         "est. achieved occupancy %", NULL};
static const struct ta_table_def *const tables[] = {&by_kernel, &wave_occupancy, NULL};

static const struct ta_analysis_ops ops = {.needs_args = needs_args,
                                           .section = "kernels",
                                           .place = 8,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, wave_efficiency, &ops, .title = "Wave efficiency",
    .summary = "How well the blocks of kernels fill the device: kernels.waves, kernels.occupancy",
    .version = "1");
