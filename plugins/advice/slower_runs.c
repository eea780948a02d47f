/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps, runs that a program marks, or loops of a log, which get slower one after the other:
 * something grows on the host, the work grows, or the clock falls. */
#include "lib/bars.h"

#include <ctype.h>
#include <math.h>

enum { RATIO, ORDERED, RUNS };

static const struct ta_option options[] = {
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 1.07, 1, 1e6, TA_OPTION_PLAIN,
               "Time of the last run over that of the first, above which the rule fires"},
    [ORDERED] =
        {"ordered", TA_OPTION_NUMBER, 0.9, 0.5, 1, TA_OPTION_RATIO,
         "Share of pairs of runs in which the later run is slower, from which the rule fires"},
    [RUNS] = {"runs", TA_OPTION_INTEGER, 4, 3, 1e6, TA_OPTION_PLAIN,
              "Least number of runs of a kind"},
    TA_OPTIONS_END,
};

enum {
    RANK = BAR_REFS,
    STEP,
    HOST,
    BUSY,
    COUNTED,
    START,
    LOST,
    PART,
    CLASS_STEP,
    CLASS,
    CLASS_TIME,
    RUN,
    SAMPLE_RANK,
    SAMPLE_DEVICE,
    SAMPLE_USED,
    SAMPLE_CLOCK,
    SAMPLE_HEAT,
    SAMPLE_MEMORY,
    HELD_RANK,
    HELD_DEVICE,
    HELD_ALLOCATED,
    HELD_RESERVED
};

static const struct ta_ref reads[] = {
    BAR_READS,
    [RANK] = {"steps.by_step", "rank"},
    [STEP] = {"steps.by_step", "step"},
    [HOST] = {"steps.by_step", "host_dur_ns"},
    [BUSY] = {"steps.by_step", "gpu_busy_ns"},
    [COUNTED] = {"steps.by_step", "counted_ns"},
    [START] = {"steps.by_step", "gpu_start_ns"},
    [LOST] = {"steps.by_step", "lost"},
    [PART] = {"steps.by_step", "part"},
    [CLASS_STEP] = {"kernels.by_step", "step"},
    [CLASS] = {"kernels.by_step", "class"},
    [CLASS_TIME] = {"kernels.by_step", "total_ns"},
    [RUN] = {"run.window", "window_ns"},
    [SAMPLE_RANK] = {"telemetry.timeline", "rank"},
    [SAMPLE_DEVICE] = {"telemetry.timeline", "device"},
    [SAMPLE_USED] = {"telemetry.timeline", "gpu_utilization"},
    [SAMPLE_CLOCK] = {"telemetry.timeline", "gpu_clock"},
    [SAMPLE_HEAT] = {"telemetry.timeline", "gpu_temperature"},
    [SAMPLE_MEMORY] = {"telemetry.timeline", "gpu_memory_used"},
    [HELD_RANK] = {"memory.snapshots", "rank"},
    [HELD_DEVICE] = {"memory.snapshots", "device"},
    [HELD_ALLOCATED] = {"memory.snapshots", "allocated_bytes"},
    [HELD_RESERVED] = {"memory.snapshots", "reserved_bytes"},
};

/* A rise that has more of the whole in one place is a change there, which others explain. */
#define AT_ONCE 0.85

/* Bars that are slower by this at once are a change of speed, which has a rule of its own. */
#define SPEED_CHANGE 1.3

enum { RUNS_MAX = 512 }; /* more of a kind are not compared */

/* Runs of one kind on one rank, in the order in which they were recorded: rows of a table. */
struct runs {
    size_t rows[RUNS_MAX];
    double ns[RUNS_MAX];
    size_t n;
    double total, cost; /* cost: what they take more than if all were as the first */
};

static bool add(struct runs *runs, size_t row, double ns)
{
    if (runs->n == RUNS_MAX)
        return false;
    runs->rows[runs->n] = row;
    runs->ns[runs->n++] = ns;
    runs->total += ns;
    runs->cost += ns - runs->ns[0];
    return true;
}

static bool get_slower(struct ta_ctx *ctx, const struct runs *runs)
{
    if ((double)runs->n < ta_ctx_option(ctx, RUNS))
        return false;
    const double first = runs->ns[0], last = runs->ns[runs->n - 1];
    if (last < ta_ctx_option(ctx, RATIO) * first)
        return false;
    size_t pairs = 0, slower = 0;
    double jump = 0;
    for (size_t i = 0; i < runs->n; i++) {
        jump = i ? fmax(jump, runs->ns[i] - runs->ns[i - 1]) : 0;
        for (size_t k = i + 1; k < runs->n; k++, pairs++)
            slower += runs->ns[k] > runs->ns[i];
    }
    return jump < AT_ONCE * (last - first) &&
           (double)slower >= ta_ctx_option(ctx, ORDERED) * (double)pairs;
}

/* ---- steps of a trace ------------------------------------------------------------------------ */

/* The name of a step without what numbers it: "generate" of "generate (3)", "ProfilerStep" of
 * "ProfilerStep#4". */
static struct ta_slice kind_of(const struct ta_refs *in, size_t row)
{
    const struct ta_slice label = ta_ref_text(in, STEP, row);
    size_t n = label.len;
    if (n && *ta_slice_at(label, n - 1) == ')') {
        size_t open = n - 1;
        while (open && isdigit((unsigned char)*ta_slice_at(label, open - 1)))
            open--;
        if (open > 1 && open < n - 1 && *ta_slice_at(label, open - 1) == '(')
            n = open - 1;
    }
    while (n && (isdigit((unsigned char)*ta_slice_at(label, n - 1)) ||
                 *ta_slice_at(label, n - 1) == '#' || *ta_slice_at(label, n - 1) == ' '))
        n--;
    return ta_slice_part(label, 0, n);
}

/* The host may be ahead in the first ones and wait in later ones, while the device works as fast.
 */
static double time_of(const struct ta_refs *in, size_t row)
{
    const double host = ta_ref_number(in, HOST, row, NAN);
    return ta_ref_number(in, COUNTED, row, fmax(host, ta_ref_number(in, BUSY, row, 0)));
}

/* Steps that set the run up or lack kernels say nothing of the others. */
static bool counts(const struct ta_refs *in, size_t row)
{
    return time_of(in, row) > 0 && !ta_ref_text(in, PART, row).len &&
           ta_ref_number(in, LOST, row, 0) == 0;
}

/* Where the host is ahead of the device, a step lasts until the device begins the next one: its
 * work may overlap with the work of other steps.  The last one is not known. */
static struct runs by_starts(const struct ta_refs *in, const struct runs *steps)
{
    struct runs runs = {.n = 0};
    for (size_t i = 0; i + 1 < steps->n; i++)
        add(&runs, steps->rows[i],
            ta_ref_number(in, START, steps->rows[i + 1], 0) -
                ta_ref_number(in, START, steps->rows[i], 0));
    return runs;
}

/* The runs of which the row is the first; none where an earlier row is of the same kind. */
static struct runs steps_from(const struct ta_refs *in, size_t first)
{
    struct runs runs = {.n = 0};
    const struct ta_slice kind = kind_of(in, first);
    for (size_t row = 0; row < ta_ref_rows(in, STEP); row++)
        if (ta_ref_integer(in, RANK, row) == ta_ref_integer(in, RANK, first) && counts(in, row) &&
            ta_slice_equal(kind_of(in, row), kind) &&
            (row < first || !add(&runs, row, time_of(in, row))))
            return (struct runs){.n = 0};
    return isnan(ta_ref_number(in, COUNTED, first, NAN)) ? runs : by_starts(in, &runs);
}

/* ---- why ------------------------------------------------------------------------------------- */

/* Time of a class of kernels in a step, over all ranks. */
static double class_time(const struct ta_refs *in, size_t step, struct ta_slice class)
{
    for (size_t row = 0; row < ta_ref_rows(in, CLASS_STEP); row++)
        if (ta_slice_equal(ta_ref_text(in, CLASS_STEP, row), ta_ref_text(in, STEP, step)) &&
            ta_slice_equal(ta_ref_text(in, CLASS, row), class))
            return ta_ref_number(in, CLASS_TIME, row, 0);
    return 0;
}

/* What kernels take more in the last run than in the first. */
struct growth {
    double least, most; /* last over first, of the classes that have a twentieth of the time */
    struct ta_slice class;
    double ns; /* what the class that grows most takes more */
};

static struct growth growth_of(const struct ta_refs *in, const struct runs *runs)
{
    const size_t first = runs->rows[0], last = runs->rows[runs->n - 1];
    struct growth growth = {.least = INFINITY};
    for (size_t row = 0; row < ta_ref_rows(in, CLASS_STEP); row++) {
        if (!ta_slice_equal(ta_ref_text(in, CLASS_STEP, row), ta_ref_text(in, STEP, last)))
            continue;
        const struct ta_slice class = ta_ref_text(in, CLASS, row);
        const double now = ta_ref_number(in, CLASS_TIME, row, 0);
        const double before = class_time(in, first, class);
        if (now - before > growth.ns) {
            growth.ns = now - before;
            growth.class = class;
        }
        if (now < 0.05 * ta_ref_number(in, BUSY, last, 0))
            continue;
        growth.least = fmin(growth.least, now / fmax(before, 1));
        growth.most = fmax(growth.most, now / fmax(before, 1));
    }
    return growth;
}

/* Whether all kernels take longer by about as much. */
static bool is_alike(const struct growth *growth)
{
    return growth->least > 1 && growth->least - 1 > 0.5 * (growth->most - 1);
}

struct reason {
    const char *cause; /* how the title begins; NULL where nothing was recorded that names it */
    const char *why, *advice;
};

/* ---- why, by what was sampled -----------------------------------------------------------------
 */

/* The value of a signal early in the samples of a device at work, before their end, and at it. */
struct trend {
    double early, before, late;
};

enum { TREND_SAMPLES = 8 };

/* Means over the first, third and last quarter of the busy samples; NAN where they are few. */
static struct trend trend_of(const struct ta_refs *in, size_t first, size_t end, size_t signal)
{
    size_t n = 0, at = 0, counts[4] = {0};
    double sums[4] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t row = first; row < end; row++) {
            const double value = ta_ref_number(in, signal, row, NAN);
            if (isnan(value) || ta_ref_number(in, SAMPLE_USED, row, 1) < 0.5)
                continue;
            if (pass == 0) {
                n++;
                continue;
            }
            const size_t quarter = 4 * at++ / n;
            sums[quarter] += value;
            counts[quarter]++;
        }
    if (n < TREND_SAMPLES)
        return (struct trend){NAN, NAN, NAN};
    return (struct trend){sums[0] / (double)counts[0], sums[2] / (double)counts[2],
                          sums[3] / (double)counts[3]};
}

/* Memory that is still growing at the end: models that are loaded first end before. */
static bool is_growing(const struct trend *memory)
{
    return memory->late > 1.1 * memory->early && memory->late > 1.01 * memory->before;
}

static const char of_growth[] =
    "Free what stays from one run to the next: results kept in lists, hooks and adapters that are "
    "added again, latents on the GPU.";

/* Of the samples of one device; runs are `rise` times as long at the end. */
static bool sampled_reason(struct ta_advice *advice, const struct ta_refs *in, size_t first,
                           size_t end, double rise, struct reason *reason)
{
    const struct trend clock = trend_of(in, first, end, SAMPLE_CLOCK);
    const struct trend heat = trend_of(in, first, end, SAMPLE_HEAT);
    const struct trend memory = trend_of(in, first, end, SAMPLE_MEMORY);
    const double slower = clock.early / clock.late - 1;
    if (slower >= 0.02 && slower >= 0.3 * (rise - 1)) {
        const bool is_hot = heat.late >= heat.early + 3;
        *reason = (struct reason){
            is_hot ? "Heat lowers the GPU's clock" : "The GPU's clock falls",
            ta_advice_printf(
                advice, "The clock falls from %s to %s%s, so kernels take %s longer.",
                ta_advice_number(advice, clock.early, TA_UNIT_HERTZ),
                ta_advice_number(advice, clock.late, TA_UNIT_HERTZ),
                is_hot ? ta_advice_printf(advice, " while the GPU heats up from %s to %s",
                                          ta_advice_number(advice, heat.early, TA_UNIT_CELSIUS),
                                          ta_advice_number(advice, heat.late, TA_UNIT_CELSIUS))
                       : "",
                ta_advice_number(advice, slower, TA_UNIT_RATIO)),
            is_hot
                ? "Cool the GPU (air flow, fans), or lower its power limit so that the clock "
                  "stays even."
                : "Look at the clock's limit: nvidia-smi -q -d PERFORMANCE,POWER while it runs."};
        return true;
    }
    if (is_growing(&memory)) {
        *reason = (struct reason){
            "GPU memory grows",
            ta_advice_printf(advice, "GPU memory in use grows with the runs, from %s to %s.",
                             ta_advice_number(advice, memory.early, TA_UNIT_BYTES),
                             ta_advice_number(advice, memory.late, TA_UNIT_BYTES)),
            of_growth};
        return true;
    }
    return false;
}

/* What the allocator says: snapshots of a device that grow, or of which more and more is unused. */
static bool held_reason(struct ta_advice *advice, const struct ta_refs *in, struct reason *reason)
{
    size_t first = SIZE_MAX, last = SIZE_MAX, n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, HELD_ALLOCATED); row++) {
        if (isnan(ta_ref_number(in, HELD_ALLOCATED, row, NAN)) ||
            (first != SIZE_MAX &&
             (ta_ref_integer(in, HELD_RANK, row) != ta_ref_integer(in, HELD_RANK, first) ||
              ta_ref_integer(in, HELD_DEVICE, row) != ta_ref_integer(in, HELD_DEVICE, first))))
            continue;
        first = n++ ? first : row;
        last = row;
    }
    if (n < 3)
        return false;
    const double before = ta_ref_number(in, HELD_ALLOCATED, first, 0);
    const double after = ta_ref_number(in, HELD_ALLOCATED, last, 0);
    const double held_before = ta_ref_number(in, HELD_RESERVED, first, NAN);
    const double held_after = ta_ref_number(in, HELD_RESERVED, last, NAN);
    const double unused = held_after - after, more = unused - (held_before - before);
    if (after > 1.1 * before) {
        *reason = (struct reason){
            "GPU memory grows",
            ta_advice_printf(advice, "Tensors hold %s at the first snapshot and %s at the last.",
                             ta_advice_number(advice, before, TA_UNIT_BYTES),
                             ta_advice_number(advice, after, TA_UNIT_BYTES)),
            of_growth};
        return true;
    }
    if (more > 0.1 * held_after) {
        *reason = (struct reason){
            "GPU memory fragments",
            ta_advice_printf(advice,
                             "Tensors hold as much at the last snapshot as at the first, but %s of "
                             "the %s that the allocator holds are unused, %s more than at first.",
                             ta_advice_number(advice, unused, TA_UNIT_BYTES),
                             ta_advice_number(advice, held_after, TA_UNIT_BYTES),
                             ta_advice_number(advice, more, TA_UNIT_BYTES)),
            "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and keep shapes the same from "
            "run to run."};
        return true;
    }
    return false;
}

static bool recorded_reason(struct ta_advice *advice, const struct ta_refs *in, double rise,
                            struct reason *reason)
{
    const size_t n = ta_ref_rows(in, SAMPLE_RANK);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1;
             end < n &&
             ta_ref_integer(in, SAMPLE_RANK, end) == ta_ref_integer(in, SAMPLE_RANK, first) &&
             ta_ref_integer(in, SAMPLE_DEVICE, end) == ta_ref_integer(in, SAMPLE_DEVICE, first);)
            end++;
        if (sampled_reason(advice, in, first, end, rise, reason))
            return true;
    }
    return held_reason(advice, in, reason);
}

static struct reason reason_of(struct ta_advice *advice, const struct ta_refs *in,
                               const struct runs *runs)
{
    const size_t first = runs->rows[0], last = runs->rows[runs->n - 1];
    const double more = runs->ns[runs->n - 1] - runs->ns[0];
    struct reason recorded;
    if (recorded_reason(advice, in, runs->ns[runs->n - 1] / runs->ns[0], &recorded))
        return recorded;
    const double busy = ta_ref_number(in, BUSY, last, 0) - ta_ref_number(in, BUSY, first, 0);
    const struct growth growth = growth_of(in, runs);
    if (busy < 0.3 * more)
        return (struct reason){
            NULL,
            ta_advice_printf(advice,
                             "The kernels take as long in the last run as in the first: the host "
                             "takes %s longer.",
                             ta_advice_number(advice, more - busy, TA_UNIT_NS)),
            "Find what grows on the host with each run: hooks, adapters and wrappers that are "
            "added "
            "again, lists and caches that are searched, objects for the garbage collector."};
    if (is_alike(&growth))
        return (struct reason){
            NULL,
            ta_advice_printf(advice,
                             "All kinds of kernels take longer alike (%s to %s more in the last "
                             "run), as they do when the clock of the GPU falls.",
                             ta_advice_number(advice, growth.least - 1, TA_UNIT_RATIO),
                             ta_advice_number(advice, growth.most - 1, TA_UNIT_RATIO)),
            "Record clock, temperature and power during the runs (nvidia-smi "
            "--query-gpu=clocks.sm,temperature.gpu,power.draw --format=csv -l 1) and cool the GPU "
            "or raise its power limit."};
    return (struct reason){
        NULL,
        growth.ns > 0.5 * more
            ? ta_advice_printf(advice, "Kernels of the class %.*s take %s more in the last run.",
                               (int)growth.class.len, ta_slice_at(growth.class, 0),
                               ta_advice_number(advice, growth.ns, TA_UNIT_NS))
            : NULL,
        "Find what grows from run to run: a cache or a list of tensors that is joined again, a "
        "longer context, more tiles or frames."};
}

/* ---- bars of a log --------------------------------------------------------------------------- */

static bool is_same_loop(const struct ta_refs *in, size_t a, size_t b)
{
    return ta_slice_equal(ta_ref_text(in, BAR_LOOP, a), ta_ref_text(in, BAR_LOOP, b)) &&
           ta_slice_equal(ta_ref_text(in, BAR_MODEL, a), ta_ref_text(in, BAR_MODEL, b)) &&
           ta_ref_number(in, BAR_DONE, a, 0) == ta_ref_number(in, BAR_DONE, b, 0) &&
           ta_ref_number(in, BAR_OFFLOADED, a, -1) == ta_ref_number(in, BAR_OFFLOADED, b, -1);
}

static struct runs bars_from(const struct ta_refs *in, size_t first)
{
    struct runs runs = {.n = 0};
    for (size_t row = 0; row < ta_ref_rows(in, BAR_DONE); row++) {
        const double ns =
            ta_ref_number(in, BAR_MEAN, row, NAN) * ta_ref_number(in, BAR_DONE, row, NAN);
        if (ns > 0 && is_same_loop(in, first, row) && (row < first || !add(&runs, row, ns)))
            return (struct runs){.n = 0};
    }
    return runs.n > 1 && runs.ns[1] > SPEED_CHANGE * runs.ns[0] ? (struct runs){.n = 0} : runs;
}

/* ---- the finding ----------------------------------------------------------------------------- */

/* Which rows the runs are, and what is said of them. */
struct subject {
    size_t column; /* of evidence */
    const char *name, *owner, *share_of;
    double whole;
    struct reason reason;
};

static struct subject steps_subject(struct ta_advice *advice, const struct ta_refs *in,
                                    const struct runs *runs)
{
    const struct ta_place first = ta_place_at(in, HOST, runs->rows[0]);
    const struct ta_slice kind = kind_of(in, runs->rows[0]);
    double window = 1;
    for (size_t row = 0; row < ta_ref_rows(in, RUN); row++)
        window = fmax(window, ta_ref_number(in, RUN, row, 0));
    return (struct subject){
        HOST,
        ta_advice_printf(advice, "%.*s", kind.len > 48 ? 48 : (int)kind.len, ta_slice_at(kind, 0)),
        ta_place_owner(advice, in->report, &first),
        "the run",
        window,
        reason_of(advice, in, runs),
    };
}

static struct subject bars_subject(struct ta_advice *advice, const struct ta_refs *in,
                                   const struct runs *runs)
{
    const struct ta_place first = ta_place_at(in, BAR_MEAN, runs->rows[0]);
    struct reason reason = {
        NULL, "No temperature, clock or memory was recorded that would name the cause.",
        "Sample clock, temperature and memory while it runs (nvidia-smi dmon -s pucm): free what "
        "stays from one run to the next, or cool the GPU."};
    recorded_reason(advice, in, runs->ns[runs->n - 1] / runs->ns[0], &reason);
    return (struct subject){
        BAR_MEAN,
        ta_advice_printf(advice, "run of the loop%s", bar_of(advice, in, &first)),
        ta_place_owner(advice, in->report, &first),
        "their time",
        runs->total,
        reason,
    };
}

static void give(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                 const struct runs *runs, const struct subject *subject)
{
    const struct ta_place first = ta_place_at(in, subject->column, runs->rows[0]);
    const struct ta_place last = ta_place_at(in, subject->column, runs->rows[runs->n - 1]);
    const struct ta_evidence evidence[] = {ta_place_evidence(&first), ta_place_evidence(&last)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "slower-runs",
            .rule = "slower_runs",
            .title = ta_advice_printf(
                advice, "%s %s is slower than the one before (%s to %s in %zu)%s: %s of %s (%s)",
                subject->reason.cause ? ta_advice_printf(advice, "%s: each", subject->reason.cause)
                                      : "Each",
                subject->name, ta_advice_number(advice, runs->ns[0], TA_UNIT_NS),
                ta_advice_number(advice, runs->ns[runs->n - 1], TA_UNIT_NS), runs->n,
                subject->owner,
                ta_advice_number(advice, runs->cost / subject->whole, TA_UNIT_RATIO),
                subject->share_of, ta_advice_number(advice, runs->cost, TA_UNIT_NS)),
            .why = subject->reason.why,
            .advice = subject->reason.advice,
            .details =
                "The saving is what these runs take more than if all were as fast as the first.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = ta_whole(0.6 * runs->cost),
            .saving_high_ns = ta_whole(1.1 * runs->cost),
            .confidence = 0.8,
            .threshold = ta_advice_printf(
                advice, "last of at least %.0f runs > %.3g times the first, and in order",
                ta_ctx_option(ctx, RUNS), ta_ctx_option(ctx, RATIO)),
        });
}

enum { ROWS_MAX = 1024 }; /* more are compared with each other at length */

static void advise_steps(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct runs worst = {.n = 0};
    for (size_t row = 0; row < ta_ref_rows(in, STEP) && row < ROWS_MAX; row++) {
        if (!counts(in, row))
            continue;
        const struct runs runs = steps_from(in, row);
        if (runs.cost > worst.cost && get_slower(ctx, &runs))
            worst = runs;
    }
    if (worst.n) {
        const struct subject subject = steps_subject(advice, in, &worst);
        give(ctx, in, advice, &worst, &subject);
    }
}

static void advise_bars(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct runs worst = {.n = 0};
    for (size_t row = 0; row < ta_ref_rows(in, BAR_DONE) && row < ROWS_MAX; row++) {
        const struct runs runs = bars_from(in, row);
        if (runs.cost > worst.cost && get_slower(ctx, &runs))
            worst = runs;
    }
    if (worst.n) {
        const struct subject subject = bars_subject(advice, in, &worst);
        give(ctx, in, advice, &worst, &subject);
    }
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    advise_steps(ctx, in, advice);
    advise_bars(ctx, in, advice);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(
    advice, slower_runs, &ops, .title = "Slower from run to run",
    .summary = "Fires when steps, marked runs or loops of one kind get slower one after the other",
    .version = "1", .options = options);
