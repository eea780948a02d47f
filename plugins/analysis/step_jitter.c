/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.jitter and steps.outliers: how much steps of one kind differ, which take far longer than
 * the median, and what they have more of.
 *
 * The time of a step on the host is split into what the device did meanwhile: idle time by cause,
 * and the rest, busy.  Each part is compared with the median of that part over the steps of the
 * kind; the part with the largest excess is the cause.  Where the device is busy for longer, what
 * was launched says whether there is more work, or the same work takes longer. */
#include "lib/outlier.h"
#include "model/idle/idle.h"
#include "model/program/generation.h"
#include "model/program/marker.h"
#include "model/program/steps.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- partials -------------------------------------------------------------------------------- */

/* What runs longer when a device is busy for longer. */
enum { WORK_COMPUTE, WORK_COMM, WORK_COPY, WORKS };

enum {
    RANK,
    DEVICE,
    PLACE, /* of the step in its trace */
    START,
    KIND,
    LABEL,
    TIME,
    KERNELS,
    EDGE, /* of the step before the first activity of the device, or after the last */
    WORK,
    IDLE = WORK + WORKS,
    FIELDS = IDLE + TA_IDLE_CAUSES
};

enum { SITE_RANK, SITE_DEVICE, SITE_PLACE, SITE_CAUSE, SITE_NAME, SITE_NS, SITE_FIELDS };

enum { PARTIAL_STEPS, PARTIAL_SITES };

/* Steps that are looked at, and idle time that has a place. */
enum { STEPS_MOST = 20000, SITE_LEAST_NS = 100000 };

static const struct ta_field site_fields[SITE_FIELDS] = {
    [SITE_RANK] = {"rank", TA_FIELD_RANK},  [SITE_DEVICE] = {"device", TA_FIELD_INT},
    [SITE_PLACE] = {"place", TA_FIELD_INT}, [SITE_CAUSE] = {"cause", TA_FIELD_INT},
    [SITE_NAME] = {"site", TA_FIELD_TEXT},  [SITE_NS] = {"total_ns", TA_FIELD_SUM},
};

/* clang-format off */
#define CAUSE(n) [IDLE + (n)] = {"idle_" #n "_ns", TA_FIELD_SUM}
static const struct ta_field step_fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [DEVICE] = {"device", TA_FIELD_INT},
    [PLACE] = {"place", TA_FIELD_INT},
    [START] = {"host_start_ns", TA_FIELD_INT},
    [KIND] = {"kind", TA_FIELD_TEXT},
    [LABEL] = {"step", TA_FIELD_TEXT},
    [TIME] = {"dur_ns", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM},
    [EDGE] = {"edge_ns", TA_FIELD_SUM},
    [WORK + WORK_COMPUTE] = {"compute_ns", TA_FIELD_SUM},
    [WORK + WORK_COMM] = {"comm_ns", TA_FIELD_SUM},
    [WORK + WORK_COPY] = {"copy_ns", TA_FIELD_SUM},
    CAUSE(0), CAUSE(1), CAUSE(2), CAUSE(3), CAUSE(4), CAUSE(5), CAUSE(6), CAUSE(7), CAUSE(8),
    CAUSE(9), CAUSE(10), CAUSE(11), CAUSE(12), CAUSE(13), CAUSE(14), CAUSE(15), CAUSE(16),
    CAUSE(17), CAUSE(18), CAUSE(19), CAUSE(20), CAUSE(21), CAUSE(22), CAUSE(23),
};
/* clang-format on */
_Static_assert(TA_IDLE_CAUSES == 24, "a field per cause");

static const struct ta_partial_def partials[] = {
    [PARTIAL_STEPS] = {"steps", step_fields, FIELDS},
    [PARTIAL_SITES] = {"sites", site_fields, SITE_FIELDS},
    {0}};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{PARTIAL_SITES, SITE_CAUSE, TA_IDLE_CAUSES},
                                         TA_BOUNDS_END};

/* ---- map ------------------------------------------------------------------------------------- */

/* Of one device: the rows of the steps. */
struct walk {
    const struct ta_trace *trace;
    struct ta_partial *const *out;
    const struct ta_program_steps *steps;
    struct ta_spans spans;
    int64_t device, first, last; /* window of the device */
    int64_t **rows;              /* by step */
    struct ta_activities activities;
    size_t at; /* the first step that is not over when the last gap begins */
};

/* The name without numbers, with what its numbers say of the work; of the denoiser by what a pass
 * launches.  Steps that read prompts differ by the length of these: NULL. */
static struct ta_slice kind_of(const struct walk *w, const struct ta_generation *generation,
                               size_t step, struct ta_slice name, char text[128])
{
    char room[64];
    if (w->steps->by == TA_STEPS_BY_DENOISER) {
        snprintf(text, 128, "denoising step, kind %" PRIu32, generation->steps[step].kind);
        return ta_slice_of(text);
    }
    const struct ta_marked_work work = ta_marked_work_of(name);
    const struct ta_slice kind = ta_marker_kind(name, room);
    if (work.phase == TA_PHASE_PREFILL || work.phase == TA_PHASE_MIXED)
        return (struct ta_slice){0};
    int n = snprintf(text, 128, "%.*s", (int)kind.len, kind.ptr);
    if (work.batch != TA_MISSING)
        n += snprintf(text + n, 128 - (size_t)n, " bs=%" PRId64, work.batch);
    if (work.width != TA_MISSING && work.height != TA_MISSING && n < 80)
        snprintf(text + n, 128 - (size_t)n, " %" PRId64 "x%" PRId64, work.width, work.height);
    return ta_slice_of(text);
}

static void open_rows(struct walk *w, const struct ta_generation *generation)
{
    const int64_t origin = ta_trace_origin(w->trace);
    for (size_t i = 0; i < w->steps->n; i++) {
        const struct ta_program_step *step = &w->steps->at[i];
        char name_room[TA_STEP_NAME_ROOM], label_room[TA_STEP_LABEL_ROOM], kind_room[128];
        const struct ta_slice name = ta_program_step_name(w->trace, w->steps, i, name_room);
        const struct ta_slice kind = kind_of(w, generation, i, name, kind_room);
        w->rows[i] = NULL;
        if (!kind.len)
            continue;
        int64_t *row = TA_PARTIAL_ROW(w->out[PARTIAL_STEPS], ta_key_int(ta_trace_rank(w->trace)),
                                      ta_key_int(w->device), ta_key_int((int64_t)i),
                                      ta_key_int(step->start - origin), ta_key_text(kind),
                                      ta_key_text(ta_step_label(name, step->repeat, label_room)));
        for (int field = TIME; field < FIELDS; field++)
            ta_sum(&row[field], 0);
        const int64_t before = ta_max_i64(0, ta_min_i64(w->first, step->end) - step->start);
        const int64_t after = ta_max_i64(0, step->end - ta_max_i64(w->last, step->start));
        ta_sum(&row[TIME], step->end - step->start);
        ta_sum(&row[EDGE], before + after);
        w->rows[i] = row;
    }
}

/* What was launched in each step. */
static void add_work(struct walk *w, size_t first, size_t end)
{
    const struct ta_kernels kernels = ta_trace_kernels(w->trace);
    for (size_t i = first; i < end; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        const size_t step = a->launch == TA_NO_ROW
                                ? SIZE_MAX
                                : ta_program_step_at(w->steps, w->spans.ts[a->launch]);
        if (step == SIZE_MAX || !w->rows[step])
            continue;
        const bool is_kernel = a->kernel != TA_NO_KERNEL;
        const int work = !is_kernel                                                 ? WORK_COPY
                         : kernels.at[a->kernel].facts.kind == TA_KERNEL_COLLECTIVE ? WORK_COMM
                                                                                    : WORK_COMPUTE;
        ta_sum(&w->rows[step][WORK + work], w->spans.dur[a->span]);
        ta_sum(&w->rows[step][KERNELS], is_kernel);
    }
}

/* A gap counts in each step by the time that it shares with it. */
static void take_gap(void *user, const struct ta_idle_gap *gap)
{
    struct walk *w = user;
    if (w->activities.at[gap->next].device != w->device)
        return;
    while (w->at < w->steps->n && w->steps->at[w->at].end <= gap->start)
        w->at++;
    for (size_t i = w->at; i < w->steps->n && w->steps->at[i].start < gap->end; i++) {
        const struct ta_program_step *step = &w->steps->at[i];
        const int64_t shared =
            ta_min_i64(step->end, gap->end) - ta_max_i64(step->start, gap->start);
        for (size_t p = 0; w->rows[i] && shared > 0 && p < gap->parts.n; p++) {
            const struct ta_idle_part *part = &gap->parts.at[p];
            const int64_t ns =
                ta_whole((double)part->ns * (double)shared / (double)(gap->end - gap->start));
            ta_sum(&w->rows[i][IDLE + part->cause], ns);
            if (ns < SITE_LEAST_NS || part->site == TA_NO_ROW)
                continue;
            const struct ta_slice name =
                ta_host_place(ta_trace_text(w->trace, w->spans.name[part->site]));
            ta_sum(&TA_PARTIAL_ROW(w->out[PARTIAL_SITES], ta_key_int(ta_trace_rank(w->trace)),
                                   ta_key_int(w->device), ta_key_int((int64_t)i),
                                   ta_key_int(part->cause), ta_key_text(name))[SITE_NS],
                   ns);
        }
    }
}

/* Looks at the device with the most activities, [first, end) of all. */
static void find_device(struct walk *w, size_t *first, size_t *end)
{
    *first = *end = 0;
    for (size_t from = 0, to; from < w->activities.n; from = to) {
        to = ta_device_end(&w->activities, from);
        if (to - from > *end - *first) {
            *first = from;
            *end = to;
        }
    }
    w->device = w->activities.at[*first].device;
    w->first = w->spans.ts[w->activities.at[*first].span];
    for (size_t i = *first; i < *end; i++) {
        const ta_row span = w->activities.at[i].span;
        w->first = ta_min_i64(w->first, w->spans.ts[span]);
        w->last = ta_max_i64(w->last, w->spans.ts[span] + w->spans.dur[span]);
    }
}

/* Fewer steps say nothing of what is usual. */
enum { LEAST_STEPS = 8 };

static bool look_at_steps(struct walk *w, const struct ta_generation *generation)
{
    size_t first, end;
    w->rows = calloc(w->steps->n, sizeof *w->rows);
    if (!w->rows)
        return false;
    find_device(w, &first, &end);
    open_rows(w, generation);
    add_work(w, first, end);
    return ta_idle_walk(w->trace, &(struct ta_idle_watcher){.user = w, .gap = take_gap});
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct walk w = {.trace = trace,
                     .out = out,
                     .steps = ta_program_steps(trace),
                     .spans = ta_trace_spans(trace),
                     .activities = ta_trace_activities(trace),
                     .last = INT64_MIN};
    const struct ta_generation *generation = ta_program_generation(trace);
    bool done = w.steps && generation;
    if (done && w.steps->n >= LEAST_STEPS && w.steps->n <= STEPS_MOST && w.activities.n > 0)
        done = look_at_steps(&w, generation);
    free(w.rows);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of the program");
}

/* ---- tables ---------------------------------------------------------------------------------- */

enum {
    JITTER_RANK,
    JITTER_DEVICE,
    JITTER_KIND,
    JITTER_STEPS,
    JITTER_P50,
    JITTER_P95,
    JITTER_RATIO,
    JITTER_MAD,
    JITTER_CHANGE,
    JITTER_OUTLIERS,
    JITTER_EXCESS,
    JITTER_SHARE,
    JITTER_CAUSE,
    JITTER_CAUSE_EXCESS,
    JITTER_CONCENTRATED
};
static const struct ta_column steps_jitter_columns[] = {
    [JITTER_RANK] = TA_RANK_COLUMN,
    [JITTER_DEVICE] = TA_DEVICE_COLUMN_OF(
        "Device that was analyzed: if a process has several, the one with the most activities"),
    [JITTER_KIND] = {"kind", "Kind", TA_TEXT,
                     .doc = "Name of the steps without numbers; denoising steps that launch the "
                            "same kernels are one kind"},
    [JITTER_STEPS] = {"steps", "Steps", TA_COUNT, .doc = "Steps of the kind, without set-up steps"},
    [JITTER_P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER,
                    .doc = "Median step time on the host"},
    [JITTER_P95] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER,
                    .doc = "95th percentile of the step time (type 7)"},
    [JITTER_RATIO] = {"p95_ratio", "p95 / p50", TA_NUMBER, .better = TA_LOWER,
                      .doc = "p95 divided by p50"},
    [JITTER_MAD] = {"mad_share", "MAD", TA_RATIO, .better = TA_LOWER,
                    .doc = "Median absolute deviation of the step time divided by its median"},
    [JITTER_CHANGE] = {"change_ns", "Mean step-to-step change", TA_NS_MEAN, .better = TA_LOWER,
                       .doc = "Mean difference between a step and the next of its kind"},
    [JITTER_OUTLIERS] = {"outliers", "Outliers", TA_COUNT, .better = TA_LOWER,
                         .doc = "Number of unusually long steps, as listed in `steps.outliers`"},
    [JITTER_EXCESS] = {"excess_ns", "Extra time", TA_NS, .better = TA_LOWER,
                       .doc = "Time of the outlier steps beyond the median, summed"},
    [JITTER_SHARE] = {"excess_share", "Extra time share", TA_RATIO, .better = TA_LOWER,
                      .doc = "Extra time divided by the time of all steps of the kind"},
    [JITTER_CAUSE] = {"cause", "Cause", TA_WORD,
                      .doc = "What makes the outlier steps long: more kernels, slower kernels, "
                             "communication, copies, or idle time and its cause"},
    [JITTER_CAUSE_EXCESS] = {"cause_ns", "Extra time by cause", TA_NS, .better = TA_LOWER,
                             .doc = "Part of the extra time due to that cause"},
    [JITTER_CONCENTRATED] = {"concentrated", "Share of the cause's idle time", TA_RATIO,
                             .doc = "Extra idle time of the outliers divided by all idle time with "
                                    "that cause in the steps; empty unless the cause is idle time"},
};

static const struct ta_table_def steps_jitter = {
    "steps.jitter", "Step jitter", TA_COLUMNS(steps_jitter_columns),
    .doc = "One row per rank and kind of step with at least eight steps, without set-up steps: how "
           "much step times vary. Steps whose marks enclose only the launches, and steps that read "
           "prompts of different lengths, are left out."};

enum {
    OUTLIER_RANK,
    OUTLIER_DEVICE,
    OUTLIER_STEP,
    OUTLIER_KIND,
    OUTLIER_START,
    OUTLIER_TIME,
    OUTLIER_RATIO,
    OUTLIER_EXCESS,
    OUTLIER_CAUSE,
    OUTLIER_CAUSE_EXCESS,
    OUTLIER_SITE,
    OUTLIER_KERNELS
};
static const struct ta_column steps_outliers_columns[] = {
    [OUTLIER_RANK] = TA_RANK_COLUMN,
    [OUTLIER_DEVICE] = TA_DEVICE_COLUMN_OF("Device that was analyzed"),
    [OUTLIER_STEP] = {"step", "Step", TA_TEXT, .doc = "Label of the step"},
    [OUTLIER_KIND] = {"kind", "Kind", TA_TEXT, .doc = "Kind of the step"},
    [OUTLIER_START] = {"host_start_ns", "Start", TA_NS, .role = TA_IN_SERIES,
                       .doc = "Start, since the earliest span of the rank"},
    [OUTLIER_TIME] = {"dur_ns", "Time", TA_NS, .better = TA_LOWER, .doc = "Step time on the host"},
    [OUTLIER_RATIO] = {"ratio", "Ratio", TA_NUMBER, .better = TA_LOWER,
                       .doc = "Time of the step over the median of its kind"},
    [OUTLIER_EXCESS] = {"excess_ns", "Extra time", TA_NS, .better = TA_LOWER,
                        .doc = "Time of the step minus the median of its kind, and minus the time "
                               "in which the device still works on earlier steps"},
    [OUTLIER_CAUSE] = {"cause", "Cause", TA_WORD,
                       .doc = "What makes this step long: more kernels, slower kernels, "
                              "communication, copies, or idle time and its cause"},
    [OUTLIER_CAUSE_EXCESS] = {"cause_ns", "Extra time by cause", TA_NS, .better = TA_LOWER,
                              .doc = "Part of the extra time due to that cause"},
    [OUTLIER_SITE] =
        {"site", "Call site", TA_TEXT,
         .doc = "Where the host spent most of the idle time; empty unless the cause is idle time"},
    [OUTLIER_KERNELS] = {"more_kernels", "Extra kernels", TA_INTEGER,
                         .doc = "Kernels of the step minus the median of its kind"},
};

static const struct ta_table_def steps_outliers = {
    "steps.outliers", "Outlier steps", TA_COLUMNS(steps_outliers_columns), .tier = TA_TIER_DETAIL,
    .doc = "One row per step that takes at least 1.2 times the median of its kind, and exceeds it "
           "by five scaled median absolute deviations and 100 µs, not counting waits for the work "
           "of earlier steps."};

/* ---- steps of a kind ------------------------------------------------------------------------- */

/* What the time of a step is split into. */
enum { PART_BUSY, PART_EDGE, PART_IDLE, PARTS = PART_IDLE + TA_IDLE_CAUSES };

enum { STEP_RANK, STEP_START, STEP_TIME, STEP_COUNTED, STEP_PART };

static const struct ta_ref reads[] = {
    [STEP_RANK] = {"steps.by_step", "rank"},
    [STEP_START] = {"steps.by_step", "host_start_ns"},
    [STEP_TIME] = {"steps.by_step", "host_dur_ns"},
    [STEP_COUNTED] = {"steps.by_step", "counted_ns"},
    [STEP_PART] = {"steps.by_step", "part"},
};

struct finish {
    const struct ta_partial *steps, *sites;
    const struct ta_refs *in;
    struct ta_section_builder *out;
    size_t n_listed;      /* rows of `steps.by_step` before the steps around others */
    const int64_t **rows; /* of one kind, in the order of time */
    size_t n;
    double *values;
    double medians[PARTS], works[WORKS], kernels, median, sigma;
};

static int64_t part_of(const int64_t *row, int part)
{
    if (part >= PART_IDLE)
        return row[IDLE + part - PART_IDLE];
    if (part == PART_EDGE)
        return row[EDGE];
    int64_t busy = row[TIME] - row[EDGE];
    for (int cause = 0; cause < TA_IDLE_CAUSES; cause++)
        busy -= row[IDLE + cause];
    return ta_max_i64(busy, 0);
}

static double median_of(struct finish *f, int field)
{
    for (size_t i = 0; i < f->n; i++)
        f->values[i] = (double)f->rows[i][field];
    ta_sort_numbers(f->values, f->n);
    return ta_quantile(f->values, f->n, 0.5);
}

static void measure(struct finish *f)
{
    for (int part = 0; part < PARTS; part++) {
        for (size_t i = 0; i < f->n; i++)
            f->values[i] = (double)part_of(f->rows[i], part);
        ta_sort_numbers(f->values, f->n);
        f->medians[part] = ta_quantile(f->values, f->n, 0.5);
    }
    for (int work = 0; work < WORKS; work++)
        f->works[work] = median_of(f, WORK + work);
    f->kernels = median_of(f, KERNELS);
    f->median = median_of(f, TIME);
    for (size_t i = 0; i < f->n; i++)
        f->values[i] = fabs((double)f->rows[i][TIME] - f->median);
    ta_sort_numbers(f->values, f->n);
    f->sigma = ta_quantile(f->values, f->n, 0.5);
}

/* What a step takes longer because the device is still at the work of the steps before it, which is
 * theirs: busy time beyond the median that what it launched itself does not explain.  The host
 * waits for a long step in the step after it. */
static double waited(const struct finish *f, const int64_t *row)
{
    double own = 0;
    for (int work = 0; work < WORKS; work++)
        own += (double)row[WORK + work] - f->works[work];
    return fmax((double)part_of(row, PART_BUSY) - f->medians[PART_BUSY] - fmax(own, 0), 0);
}

static double own_time(const struct finish *f, const int64_t *row)
{
    return (double)row[TIME] - waited(f, row);
}

static bool is_outlier(const struct finish *f, const int64_t *row)
{
    return ta_is_far_longer(own_time(f, row), f->median, f->sigma);
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* Causes that are no idle time come after those that are. */
enum { CAUSE_MORE = TA_IDLE_CAUSES, CAUSE_SLOWER, CAUSE_COMM, CAUSE_COPIES, CAUSE_OUTSIDE, CAUSES };

static const char *cause_name(int cause)
{
    static const char *const names[CAUSES - TA_IDLE_CAUSES] = {
        "more kernels", "slower kernels", "communication", "copies", "outside of the device work"};
    return cause < TA_IDLE_CAUSES ? ta_idle_causes[cause].name : names[cause - TA_IDLE_CAUSES];
}

/* What keeps the device busy for longer: the class of work with the largest excess. */
static int busy_cause(const struct finish *f, const int64_t *row)
{
    double most = 0;
    int work = WORK_COMPUTE;
    for (int i = 0; i < WORKS; i++)
        if ((double)row[WORK + i] - f->works[i] > most) {
            most = (double)row[WORK + i] - f->works[i];
            work = i;
        }
    if (work != WORK_COMPUTE)
        return work == WORK_COMM ? CAUSE_COMM : CAUSE_COPIES;
    return (double)row[KERNELS] > 1.02 * f->kernels ? CAUSE_MORE : CAUSE_SLOWER;
}

/* Adds what a step has more of than the median, by cause; returns the largest. */
static int add_excess(const struct finish *f, const int64_t *row, double excess[CAUSES])
{
    double most = 0;
    int largest = CAUSE_SLOWER;
    for (int part = 0; part < PARTS; part++) {
        const double more = (double)part_of(row, part) - f->medians[part] -
                            (part == PART_BUSY ? waited(f, row) : 0);
        const int cause = part == PART_BUSY   ? busy_cause(f, row)
                          : part == PART_EDGE ? CAUSE_OUTSIDE
                                              : part - PART_IDLE;
        excess[cause] += more;
        if (more > most) {
            most = more;
            largest = cause;
        }
    }
    return largest;
}

/* How the key of a place compares with a step and a cause. */
static int compare_site(const int64_t *site, const int64_t *row, int cause)
{
    const int64_t a[] = {site[SITE_RANK], site[SITE_DEVICE], site[SITE_PLACE], site[SITE_CAUSE]};
    const int64_t b[] = {row[RANK], row[DEVICE], row[PLACE], cause};
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* The place with most idle time of a cause in a step; empty without one. */
static struct ta_slice site_of(const struct finish *f, const int64_t *row, int cause)
{
    const size_t n = ta_partial_rows(f->sites);
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_site(ta_partial_at(f->sites, middle), row, cause) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct ta_slice site = {0};
    int64_t most = 0;
    for (; low < n && compare_site(ta_partial_at(f->sites, low), row, cause) == 0; low++) {
        const int64_t *at = ta_partial_at(f->sites, low);
        if (at[SITE_NS] > most) {
            most = at[SITE_NS];
            site = ta_partial_text(f->sites, at, SITE_NAME);
        }
    }
    return site;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double outlier_rows(struct finish *f, double excess[CAUSES], int64_t *n)
{
    double all = 0;
    for (size_t i = 0; i < f->n; i++) {
        const int64_t *row = f->rows[i];
        double own[CAUSES] = {0};
        if (!is_outlier(f, row))
            continue;
        const int cause = add_excess(f, row, own);
        for (int c = 0; c < CAUSES; c++)
            excess[c] += own[c];
        const double more = own_time(f, row) - f->median;
        all += more;
        ++*n;
        TA_ROW(f->out, steps_outliers, [OUTLIER_RANK] = ta_int(row[RANK]),
               [OUTLIER_DEVICE] = ta_int(row[DEVICE]),
               [OUTLIER_STEP] = ta_text(ta_partial_text(f->steps, row, LABEL)),
               [OUTLIER_KIND] = ta_text(ta_partial_text(f->steps, row, KIND)),
               [OUTLIER_START] = ta_int(row[START]), [OUTLIER_TIME] = ta_int(row[TIME]),
               [OUTLIER_RATIO] = ta_num((double)row[TIME] / f->median),
               [OUTLIER_EXCESS] = ta_int(ta_whole(more)),
               [OUTLIER_CAUSE] = ta_text(ta_slice_of(cause_name(cause))),
               [OUTLIER_CAUSE_EXCESS] = ta_int(ta_whole(own[cause])),
               [OUTLIER_SITE] =
                   cause < TA_IDLE_CAUSES ? ta_text_or_null(site_of(f, row, cause)) : ta_null(),
               [OUTLIER_KERNELS] = ta_int(ta_whole((double)row[KERNELS] - f->kernels)));
    }
    return all;
}

static double sum_of(const struct finish *f, int field)
{
    double sum = 0;
    for (size_t i = 0; i < f->n; i++)
        sum += (double)f->rows[i][field];
    return sum;
}

static void add_kind(struct finish *f)
{
    double excess[CAUSES] = {0}, change = 0;
    int64_t outliers = 0;
    if (f->n < LEAST_STEPS)
        return;
    measure(f);
    const int64_t *row = f->rows[0];
    const double all = outlier_rows(f, excess, &outliers);
    int cause = 0;
    for (int c = 1; c < CAUSES; c++)
        cause = excess[c] > excess[cause] ? c : cause;
    for (size_t i = 1; i < f->n; i++)
        change += fabs((double)f->rows[i][TIME] - (double)f->rows[i - 1][TIME]);
    for (size_t i = 0; i < f->n; i++)
        f->values[i] = (double)f->rows[i][TIME];
    ta_sort_numbers(f->values, f->n);
    const double p95 = ta_quantile(f->values, f->n, 0.95);
    const bool is_known = outliers && excess[cause] > 0;
    const bool is_idle = is_known && cause < TA_IDLE_CAUSES;
    TA_ROW(
        f->out,
        steps_jitter, [JITTER_RANK] = ta_int(row[RANK]), [JITTER_DEVICE] = ta_int(row[DEVICE]),
        [JITTER_KIND] = ta_text(ta_partial_text(f->steps, row, KIND)),
        [JITTER_STEPS] = ta_int((int64_t)f->n), [JITTER_P50] = ta_num(f->median),
        [JITTER_P95] = ta_num(p95), [JITTER_RATIO] = ta_num(p95 / f->median),
        [JITTER_MAD] = ta_num(f->sigma / f->median),
        [JITTER_CHANGE] = ta_num(change / (double)(f->n - 1)), [JITTER_OUTLIERS] = ta_int(outliers),
        [JITTER_EXCESS] = ta_int(ta_whole(all)), [JITTER_SHARE] = ta_num(all / sum_of(f, TIME)),
        [JITTER_CAUSE] = is_known ? ta_text(ta_slice_of(cause_name(cause))) : ta_null(),
        [JITTER_CAUSE_EXCESS] = is_known ? ta_int(ta_whole(excess[cause])) : ta_null(),
        [JITTER_CONCENTRATED] =
            is_idle ? ta_num(excess[cause] / sum_of(f, IDLE + cause)) : ta_null());
}

/* ---- finish ---------------------------------------------------------------------------------- */

/* Whether the mark of a step is its time, which it is unless the table has another one. */
static bool is_timed(const struct ta_refs *in, size_t row)
{
    const int64_t counted = ta_ref_integer(in, STEP_COUNTED, row);
    return counted == TA_MISSING || counted == ta_ref_integer(in, STEP_TIME, row);
}

/* Which steps count: by rank and start, as `steps.by_step` has them. */
static bool counts(const struct finish *f, const int64_t *row)
{
    size_t low = 0, high = f->n_listed;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int64_t rank = ta_ref_integer(f->in, STEP_RANK, middle);
        if (rank < row[RANK] ||
            (rank == row[RANK] && ta_ref_integer(f->in, STEP_START, middle) < row[START]))
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->n_listed && ta_ref_integer(f->in, STEP_RANK, low) == row[RANK] &&
           ta_ref_integer(f->in, STEP_START, low) == row[START] &&
           ta_ref_text(f->in, STEP_PART, low).len == 0 && is_timed(f->in, low) && row[TIME] > 0;
}

/* The rows by rank and start, which steps around those come after. */
static size_t count_listed(const struct ta_refs *in)
{
    size_t n = ta_ref_rows(in, STEP_START) > 0;
    for (; n < ta_ref_rows(in, STEP_START); n++) {
        const int64_t rank = ta_ref_integer(in, STEP_RANK, n);
        const int64_t before = ta_ref_integer(in, STEP_RANK, n - 1);
        if (rank < before || (rank == before && ta_ref_integer(in, STEP_START, n) <
                                                    ta_ref_integer(in, STEP_START, n - 1)))
            break;
    }
    return n;
}

/* By rank, device and kind, then time. */
static int by_kind(const void *left, const void *right, void *user)
{
    const struct finish *f = user;
    const int64_t *a = *(const int64_t *const *)left, *b = *(const int64_t *const *)right;
    if (a[RANK] != b[RANK])
        return a[RANK] < b[RANK] ? -1 : 1;
    if (a[DEVICE] != b[DEVICE])
        return a[DEVICE] < b[DEVICE] ? -1 : 1;
    const int order =
        ta_slice_compare(ta_partial_text(f->steps, a, KIND), ta_partial_text(f->steps, b, KIND));
    return order ? order : (a[PLACE] > b[PLACE]) - (a[PLACE] < b[PLACE]);
}

static bool is_same_kind(const struct finish *f, const int64_t *a, const int64_t *b)
{
    return a[RANK] == b[RANK] && a[DEVICE] == b[DEVICE] &&
           ta_slice_equal(ta_partial_text(f->steps, a, KIND), ta_partial_text(f->steps, b, KIND));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    struct finish f = {
        .steps = merged[PARTIAL_STEPS], .sites = merged[PARTIAL_SITES], .in = in, .out = out};
    f.n_listed = count_listed(in);
    const size_t most = ta_partial_rows(f.steps);
    const int64_t **all = calloc(most + 1, sizeof *all);
    f.values = calloc(most + 1, sizeof *f.values);
    const bool done = all && f.values;
    size_t n = 0;
    for (size_t i = 0; done && i < most; i++)
        if (counts(&f, ta_partial_at(f.steps, i)))
            all[n++] = ta_partial_at(f.steps, i);
    if (done && n > 0)
        qsort_r(all, n, sizeof *all, by_kind, &f);
    for (size_t first = 0, end; done && first < n; first = end) {
        for (end = first + 1; end < n && is_same_kind(&f, all[first], all[end]);)
            end++;
        f.rows = all + first;
        f.n = end - first;
        add_kind(&f);
    }
    free(all);
    free(f.values);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the times of steps");
}

static const struct ta_table_def *const tables[] = {&steps_jitter, &steps_outliers, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .bounds = bounds,
                                           .section = "steps",
                                           .place = 8,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, step_jitter, &ops, .title = "Step jitter",
          .summary = "How much step times vary, and why some steps take far longer: steps.jitter, "
                     "steps.outliers",
          .version = "1");
