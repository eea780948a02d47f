/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.checks: whether the traces support what is said about them.  Each check takes a part of
 * the trust score, which is the product of what the checks leave; every finding's confidence is
 * multiplied by it (recommend.c). */
#include "likeness.h"
#include "model/damage.h"
#include "model/extent.h"
#include "model/lost.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>
#include <traceanalyze/table.h>

#include <math.h>
#include <stdlib.h>

/* Fields of the partial. */
enum {
    HEALTH_RANK,
    HEALTH_ACTIVITIES,
    HEALTH_LINKED,
    HEALTH_LINKABLE,
    HEALTH_EARLY, /* activities that begin before the call that launched them */
    HEALTH_SHIFT, /* the largest such difference */
    HEALTH_CALLS, /* kernels that were launched */
    HEALTH_LOST,  /* of these, not recorded, after the first recorded one */
    HEALTH_HEAD,  /* of these, not recorded, before the first recorded one */
    HEALTH_OVERHEAD,
    HEALTH_SPAN,     /* from the first to the last host span */
    HEALTH_OPENED,   /* spans of the host */
    HEALTH_GRAIN,    /* largest divisor of all examined times */
    HEALTH_FAR,      /* spans that begin more than an hour from the median start */
    HEALTH_ALL,      /* spans, of devices too */
    HEALTH_CUT,      /* activities that ran past later ones of their stream */
    HEALTH_DISORDER, /* activities that are out of order on their stream */
    HEALTH_PAIRS,    /* numbered operators that follow each other on a thread */
    HEALTH_LEAPS,    /* pairs between which numbers are missing */
    HEALTH_DEVICE,   /* host spans on tracks that are named like a device; the last field */
    HEALTH_FIELDS
};

/* Fewer records than this say little. */
enum { HEALTH_FEW = 30, HEALTH_FEWEST = 4 };

/* The checks, in the order of the table. */
enum health_check {
    CHECK_DROPPED,
    CHECK_CUT_SHORT,
    CHECK_TIMES,
    CHECK_FAR,
    CHECK_CUT,
    CHECK_DISORDER,
    CHECK_FOREIGN,
    CHECK_LINKED,
    CHECK_EARLY,
    CHECK_LEAD,
    CHECK_LOST,
    CHECK_HEAD,
    CHECK_THINNED,
    CHECK_ACTIVITIES,
    CHECK_HOLES,
    CHECK_OVERHEAD,
    CHECK_CROSSED,
    CHECK_RANKS,
    CHECK_FEWEST,
    CHECK_ALIKE,
    CHECK_GRAIN,
    HEALTH_CHECKS
};

/* ---- trace ----------------------------------------------------------------------------------- */

/* Counts in each trace that show how much it can be trusted. */

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_intervals overhead;
    int64_t *row;
};

static enum ta_event_class class_of(const struct search *s, ta_row row)
{
    return s->categories.at[s->spans.cat[row]].class;
}

static bool count_lost(struct search *s)
{
    const struct ta_lost *lost = ta_trace_lost(s->trace);
    if (!lost)
        return false;
    const int64_t head =
        (size_t)lost->head < lost->n ? lost->at[lost->head].before : lost->lost_kernels;
    ta_sum(&s->row[HEALTH_CALLS], lost->kernels);
    ta_sum(&s->row[HEALTH_LOST], lost->lost_kernels - head);
    ta_sum(&s->row[HEALTH_HEAD], head);
    return true;
}

/* Each thread numbers its operators as they begin, together with the ranges around them, so from
 * one to the next the number grows by one or a little more.  In a trace that was thinned out it
 * jumps; a sample is enough, since thinning affects the whole trace. */
static void count_successions(struct search *s)
{
    enum { LEAP = 3 };
    const struct ta_args ids = ta_trace_args(s->trace, "External id");
    int64_t pairs = 0, leaps = 0, before = 0;
    uint32_t track = UINT32_MAX;
    for (size_t i = 0; i < ids.n; i++) {
        const ta_row row = ids.row[i];
        if (ta_args_is_text(&ids, i) || class_of(s, row) != TA_CLASS_OP)
            continue;
        const int64_t id = ta_args_value(&ids, i);
        if (s->spans.track[row] == track) {
            pairs++;
            leaps += id <= before || id - before > LEAP;
        }
        track = s->spans.track[row];
        before = id;
    }
    if (pairs < HEALTH_FEW)
        return;
    ta_sum(&s->row[HEALTH_PAIRS], pairs);
    ta_sum(&s->row[HEALTH_LEAPS], leaps);
}

/* Times examined for the resolution: enough, and cheap. */
enum { GRAIN_SAMPLES = 65536 };

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether spans of a category are the profiler's own overhead. */
static bool is_overhead(const struct search *s, size_t category)
{
    return ta_slice_equal(ta_trace_text(s->trace, s->categories.at[category].name),
                          TA_LIT("overhead"));
}

/* Measures the extent of the host's spans and the overhead within it.  False without memory. */
static bool measure_host(struct search *s)
{
    const struct ta_extent *extents = ta_trace_extents(s->trace);
    struct ta_extent host = TA_EXTENT_EMPTY;
    for (size_t c = 0; extents && c < s->categories.n; c++) {
        if (!ta_class_is_host(s->categories.at[c].class))
            continue;
        host = ta_extent_join(host, extents[c]);
        if (is_overhead(s, c)) {
            const ta_cat category = (ta_cat)c;
            for (ta_row row = 0; (row = ta_category_next(&s->spans, row, category)) < s->spans.n;
                 row++)
                ta_intervals_add(&s->overhead, s->spans.ts[row],
                                 s->spans.ts[row] + s->spans.dur[row]);
        }
    }
    ta_intervals_unite(&s->overhead);
    ta_sum(&s->row[HEALTH_OPENED], (int64_t)host.n);
    if (host.n) {
        ta_sum(&s->row[HEALTH_SPAN], host.end - host.start);
        ta_sum(&s->row[HEALTH_OVERHEAD], ta_intervals_length(&s->overhead));
    }
    return extents && !s->overhead.failed;
}

/* Spans far away from all others: the clock was set, or the value is not a time. */
static bool look_for_strays(struct search *s)
{
    enum { FAR_NS_IN_S = 3600 };
    const int64_t far = INT64_C(1000000000) * FAR_NS_IN_S;
    const struct ta_tracks tracks = ta_trace_tracks(s->trace);
    int64_t first = INT64_MAX, last = INT64_MIN, strays = 0;
    for (size_t t = 0; t < tracks.n; t++) /* spans of a track are in the order of their starts */
        if (tracks.at[t].n) {
            first = ta_min_i64(first, s->spans.ts[tracks.at[t].first]);
            last = ta_max_i64(last, s->spans.ts[tracks.at[t].first + tracks.at[t].n - 1]);
        }
    ta_sum(&s->row[HEALTH_FAR], 0);
    if (last - first <= far)
        return true; /* as in nearly all traces */
    int64_t *starts = malloc(s->spans.n * sizeof *starts);
    if (!starts)
        return false;
    memcpy(starts, s->spans.ts, s->spans.n * sizeof *starts);
    ta_sort_times(starts, s->spans.n);
    const int64_t median = starts[s->spans.n / 2];
    for (ta_row row = 0; row < s->spans.n; row++)
        strays += llabs(s->spans.ts[row] - median) > far;
    free(starts);
    ta_sum(&s->row[HEALTH_FAR], strays);
    return true;
}

/* "/device:GPU:0" of JAX and TensorFlow, "GPU0" of rocprof, "Ascend Hardware".  Kineto names the
 * process of the host for both. */
static bool names_device(struct ta_slice name)
{
    static const char *const starts[] = {"/device:",        "GPU",           "TPU", "NPU", "XPU",
                                         "Ascend Hardware", "CUDA functions"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const size_t n = strlen(starts[i]);
        if (name.len >= n && memcmp(name.ptr, starts[i], n) == 0)
            return !memmem(name.ptr, name.len, "CPU", 3);
    }
    return false;
}

/* Device work in an unknown form looks like host work. */
static void look_for_devices(struct search *s)
{
    const struct ta_tracks tracks = ta_trace_tracks(s->trace);
    int64_t spans = 0;
    for (size_t t = 0; t < tracks.n; t++) {
        const struct ta_track *track = &tracks.at[t];
        if (track->process_name == TA_STR_ABSENT ||
            !names_device(ta_trace_text(s->trace, track->process_name)))
            continue;
        for (ta_row row = track->first; row < track->first + track->n; row++)
            spans += ta_class_is_host(class_of(s, row));
    }
    ta_sum(&s->row[HEALTH_DEVICE], spans);
}

/* Exporters that write no categories link launches on some systems only: if no activity is
 * linked, launches are not damaged but unknown. */
static bool writes_launches(const struct search *s)
{
    static const char *const processes[] = {"/device:", "Ascend Hardware", "CUDA functions"};
    const struct ta_activities activities = ta_trace_activities(s->trace);
    if (activities.n == 0)
        return true;
    const struct ta_track *track =
        &ta_trace_tracks(s->trace).at[s->spans.track[activities.at[0].span]];
    const struct ta_slice name = ta_trace_text(
        s->trace, track->process_name == TA_STR_ABSENT ? track->pid : track->process_name);
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++)
        if (ta_slice_starts(name, processes[i]))
            return false;
    return true;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct search s = {
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
    };
    if (s.spans.n == 0)
        return TA_OK;
    s.row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
    const struct ta_activities activities = ta_trace_activities(s.trace);
    int64_t linked = 0, early = 0;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch == TA_NO_ROW)
            continue;
        linked++;
        const int64_t shift = s.spans.ts[a->launch] - s.spans.ts[a->span];
        if (shift > 0) {
            early++;
            ta_most(&s.row[HEALTH_SHIFT], shift);
        }
    }
    ta_sum(&s.row[HEALTH_ACTIVITIES], (int64_t)activities.n);
    ta_sum(&s.row[HEALTH_LINKED], linked);
    ta_sum(&s.row[HEALTH_LINKABLE], linked || writes_launches(&s) ? (int64_t)activities.n : 0);
    ta_sum(&s.row[HEALTH_EARLY], early);
    const struct ta_damage *damage = ta_trace_damage(trace);
    ta_sum(&s.row[HEALTH_ALL], (int64_t)s.spans.n);
    ta_sum(&s.row[HEALTH_CUT], damage->n_overlong);
    ta_sum(&s.row[HEALTH_DISORDER], damage->n_disordered);
    count_successions(&s);
    /* The largest number that divides all times. */
    int64_t first = INT64_MAX, grain = 0;
    for (ta_row row = 0; row < s.spans.n && row < GRAIN_SAMPLES && grain != 1; row++) {
        if (!ta_class_is_host(class_of(&s, row)))
            continue;
        first = ta_min_i64(first, s.spans.ts[row]);
        grain = divisor(divisor(llabs(s.spans.ts[row] - first), s.spans.dur[row]), grain);
    }
    if (grain)
        ta_least(&s.row[HEALTH_GRAIN], grain);
    look_for_devices(&s);
    const bool done = count_lost(&s) && measure_host(&s) && look_for_strays(&s) &&
                      health_count_names(trace, out[1]);
    ta_intervals_free(&s.overhead);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the checks of a trace");
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The checks: limit, part that each takes from the trust score, and meaning. */

enum { CHECK, VALUE, LIMIT, UNIT, HOLDS, PENALTY, WHAT };
static const struct ta_column health_checks_columns[] = {
    [CHECK] = {"check", "Check", TA_TEXT, .doc = "What is checked"},
    [VALUE] = {"value", "Value", TA_NUMBER, .doc = "What was found, in the row's unit"},
    [LIMIT] = {"limit", "Limit", TA_NUMBER,
               .doc = "Value from which the check counts as failed, in the row's unit"},
    [UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of value and limit"},
    [HOLDS] = {"holds", "Passed", TA_FLAG, .doc = "Whether the value is within the limit"},
    [PENALTY] = {"penalty", "Penalty", TA_RATIO, .better = TA_LOWER,
                 .doc = "Part of the trust score that the check takes away"},
    [WHAT] = {"what", "Meaning", TA_SENTENCE,
              .doc = "How the value is computed, and what a bad value makes unreliable"},
};

static const struct ta_table_def health_checks = {
    "health.checks", "Recording checks", TA_COLUMNS(health_checks_columns),
    .doc = "Scalar `trust_score`: the product of 1 − `penalty` over the checks. The confidence of "
           "every finding is multiplied by it, except for the finding `trust` that reports it. "
           "Below 0.5 that finding comes first and all others are hints: their severity is "
           "`info`.\n\nOne row per check that the traces allow: records dropped, traces cut short, "
           "bad times, times far away, activities too long and out of order, devices as the host's "
           "(spans of processes that are named like a device, in a category that is not known as a "
           "device category, on ranks without device activities), launches linked, activities "
           "before their call and their lead, kernels lost (at the start, and later), operators "
           "missing, activities recorded, holes in samples, profiler overhead, spans that cross, "
           "ranks missing, fewest activities of a rank, kernels in common, resolution."};

/* A check takes `weight` times what is bad: the value, or 1 minus the value. */
static const struct {
    const char *name, *unit;
    double limit, weight;
    bool at_least; /* the value should not be below the limit */
    const char *what;
} checks[HEALTH_CHECKS] = {
    [CHECK_DROPPED] = {"records dropped", "ratio", 0.01, 1, false,
                       "Damaged records divided by all records; what they would have contributed "
                       "is missing everywhere"},
    [CHECK_CUT_SHORT] =
        {"traces cut short", "ratio", 0, 0.3, false,
         "Files whose profiler reports a full buffer, divided by all files: sums are too small"},
    [CHECK_TIMES] = {"bad times", "ratio", 0.001, 1, false,
                     "Records without a usable time or duration, divided by all records"},
    [CHECK_FAR] = {"times far away", "ratio", 0, 1, false,
                   "Spans that begin more than an hour from the median start, divided by all "
                   "spans: the clock was set, or these are not times"},
    [CHECK_CUT] = {"activities too long", "ratio", 0, 1, false,
                   "Device activities that run past later ones of their stream, divided by all: "
                   "they are cut where the next one starts"},
    [CHECK_DISORDER] = {"activities out of order", "ratio", 0, 0.5, false,
                        "Activities that start after work that was launched later on their stream, "
                        "divided by all linked activities: idle time between them is not known"},
    [CHECK_FOREIGN] = {"devices as the host's", "ratio", 0, 0.5, false,
                       "Spans of processes that are named like a device, divided by the host's "
                       "spans: their category is not known as a device category, and nothing else "
                       "marks them as device work, so they count as host spans"},
    [CHECK_LINKED] = {"launches linked", "ratio", 0.99, 0.5, true,
                      "Activities whose launch call was recorded, divided by all activities; the "
                      "causes of idle time and the device time of operators need them"},
    [CHECK_EARLY] = {"activities before their call", "ratio", 0.001, 1, false,
                     "Activities that start before their launch call, divided by the linked ones: "
                     "clocks of host and device do not agree"},
    [CHECK_LEAD] = {"lead of activities", "ns", 0, 0, false,
                    "The longest time by which an activity starts before its launch call: the "
                    "clocks differ by at least this"},
    [CHECK_LOST] = {"kernels lost", "ratio", 0.01, 1, false,
                    "Kernels that were launched but not recorded, after the first recorded one, "
                    "divided by all kernels; a lost graph replay counts as many kernels as its "
                    "other replays have. Busy time is too small by theirs"},
    [CHECK_HEAD] = {"kernels lost at the start", "ratio", 0.05, 0.5, false,
                    "Kernels that were launched but not recorded, before the first recorded one, "
                    "divided by all kernels; leave out the first steps"},
    [CHECK_THINNED] =
        {"operators missing", "ratio", 0.1, 1, false,
         "Gaps in the numbers that the profiler gives consecutive operators of a thread, among the "
         "first operators of a file; a thinned-out trace shows idle time where the program worked"},
    [CHECK_ACTIVITIES] =
        {"activities recorded", "count", HEALTH_FEW, 0.3, true,
         "Number of device activities in all traces; too few do not represent a run"},
    [CHECK_HOLES] = {"holes in samples", "ratio", 0.05, 0.2, false,
                     "Sampling time of devices in intervals longer than three median intervals, "
                     "divided by all of it"},
    [CHECK_OVERHEAD] =
        {"profiler overhead", "ratio", 0.05, 1, false,
         "Time that the profiler says it took itself, divided by the extent of the host's spans"},
    [CHECK_CROSSED] = {"spans that cross", "ratio", 0.001, 1, false,
                       "Spans that end after the span around them, divided by the host's spans; "
                       "they make self times unreliable"},
    [CHECK_RANKS] = {"ranks missing", "ratio", 0, 0.2, false,
                     "Ranks not read, divided by the world size that the traces name; statements "
                     "about one rank hold, but who waits for whom is not known"},
    [CHECK_FEWEST] = {"fewest activities", "ratio", 0.9, 0.1, true,
                      "Activities of the rank with the fewest, divided by the median rank's: a "
                      "rank that recorded less, or does other work"},
    [CHECK_ALIKE] = {"kernels in common", "ratio", 0.9, 0.1, true,
                     "Kernels, by name, that a rank shares with its most similar rank, divided by "
                     "the kernels of either: a low value is a rank that runs something else, or "
                     "lost part of its recording"},
    [CHECK_GRAIN] = {"resolution", "ns", 100, 0, false,
                     "Largest number that divides the examined times; short kernels and gaps are "
                     "rounded to it"},
};

/* Penalties for times in whole microseconds, for any unknown device work, and for hardly more
 * than one kernel. */
#define COARSE_NS 1000
#define COARSE_PENALTY 0.05
#define FOREIGN_PENALTY 0.5
#define FEWEST_PENALTY 0.8

static double penalty_of(enum health_check check, double value)
{
    const double weight = checks[check].weight;
    switch (check) {
    case CHECK_FOREIGN:
        return FOREIGN_PENALTY + weight * value;
    case CHECK_ACTIVITIES:
        return weight * (1 - value / HEALTH_FEW) +
               FEWEST_PENALTY * fmax(0, 1 - value / HEALTH_FEWEST);
    case CHECK_GRAIN:
        return value >= COARSE_NS ? COARSE_PENALTY : 0;
    default:
        return weight * (checks[check].at_least ? 1 - value : value);
    }
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field trace_fields[HEALTH_FIELDS] = {
    [HEALTH_RANK] = {"rank", TA_FIELD_RANK},
    [HEALTH_ACTIVITIES] = {"activities", TA_FIELD_SUM},
    [HEALTH_LINKED] = {"linked", TA_FIELD_SUM},
    [HEALTH_LINKABLE] = {"linkable", TA_FIELD_SUM},
    [HEALTH_EARLY] = {"early", TA_FIELD_SUM},
    [HEALTH_SHIFT] = {"shift_ns", TA_FIELD_MAX},
    [HEALTH_CALLS] = {"calls", TA_FIELD_SUM},
    [HEALTH_LOST] = {"lost", TA_FIELD_SUM},
    [HEALTH_HEAD] = {"head", TA_FIELD_SUM},
    [HEALTH_OVERHEAD] = {"overhead_ns", TA_FIELD_SUM},
    [HEALTH_SPAN] = {"span_ns", TA_FIELD_SUM},
    [HEALTH_OPENED] = {"spans", TA_FIELD_SUM},
    [HEALTH_GRAIN] = {"grain_ns", TA_FIELD_MIN},
    [HEALTH_FAR] = {"far", TA_FIELD_SUM},
    [HEALTH_ALL] = {"all_spans", TA_FIELD_SUM},
    [HEALTH_CUT] = {"overlong", TA_FIELD_SUM},
    [HEALTH_DISORDER] = {"disordered", TA_FIELD_SUM},
    [HEALTH_PAIRS] = {"pairs", TA_FIELD_SUM},
    [HEALTH_LEAPS] = {"leaps", TA_FIELD_SUM},
    [HEALTH_DEVICE] = {"on_device", TA_FIELD_SUM},
};

/* Field names are for people; here they are only numbers. */
static const struct ta_partial_def partials[] = {{"traces", trace_fields, HEALTH_FIELDS},
                                                 {"names", health_name_fields, HEALTH_NAMES_FIELDS},
                                                 {0}};

enum { SAMPLING_HOLES, SAMPLING_SPAN };
static const struct ta_ref reads[] = {
    [SAMPLING_HOLES] = {"telemetry.sampling", "hole_ns"},
    [SAMPLING_SPAN] = {"telemetry.sampling", "span_ns"},
};

/* ---- what is measured ----------------------------------------------------------------------- */

/* Fewer spans do not show a resolution. */
enum { GRAIN_LEAST = 100 };

/* Sums over all traces. */
struct sums {
    double field[HEALTH_FIELDS];
    double shift, grain;
};

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Number of cases with these data-quality codes in all files. */
static double count_cases(const struct ta_report *prior, const enum ta_quality_code *codes,
                          size_t n)
{
    const struct ta_accounts *accounts = ta_report_accounts(prior);
    double cases = 0;
    for (size_t f = 0; accounts && f < accounts->n_files; f++)
        for (size_t i = 0; i < accounts->files[f].n_findings; i++)
            for (size_t c = 0; c < n; c++)
                if (accounts->files[f].findings[i].code == codes[c])
                    cases += (double)accounts->files[f].findings[i].count;
    return cases;
}

static double missing_ranks(const struct ta_report *prior)
{
    const struct ta_run_info *run = ta_report_run(prior);
    if (!run || run->world_size == TA_MISSING || run->world_size <= 0)
        return NAN;
    const double missing = (double)run->world_size - (double)run->n_ranks;
    return missing > 0 ? missing / (double)run->world_size : 0;
}

/* Activities of the rank with the fewest, divided by the median over ranks. */
static double least_activities(const struct ta_partial *traces)
{
    const size_t n = ta_partial_rows(traces);
    double *counts = malloc((n + 1) * sizeof *counts);
    double share = NAN;
    for (size_t i = 0; counts && i < n; i++)
        counts[i] = fmax(0, (double)ta_partial_at(traces, i)[HEALTH_ACTIVITIES]);
    if (counts && n > 1) {
        ta_sort_numbers(counts, n);
        share = ratio(counts[0], ta_quantile(counts, n, 0.5));
    }
    free(counts);
    return share;
}

/* Share of sampling time in holes between samples of devices. */
static double hole_share(const struct ta_refs *in)
{
    double holes = 0, span = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SAMPLING_HOLES); i++) {
        holes += ta_ref_number(in, SAMPLING_HOLES, i, 0);
        span += ta_ref_number(in, SAMPLING_SPAN, i, 0);
    }
    return ratio(holes, span);
}

/* Values of the checks; NaN if the traces do not allow one. */
static void measure(const struct ta_refs *in, const struct ta_partial *traces, double alike,
                    double values[HEALTH_CHECKS])
{
    static const enum ta_quality_code bad_times[] = {
        TA_Q_BAD_TS, TA_Q_NEGATIVE_DURATION, TA_Q_BAD_DURATION, TA_Q_UNFINISHED, TA_Q_ZERO_TIME};
    static const enum ta_quality_code untimed[] = {TA_Q_ZERO_TIME};
    static const enum ta_quality_code crossings[] = {TA_Q_OVERLAP, TA_Q_CROSSED_PAIR};
    struct sums s = {.shift = NAN, .grain = NAN};
    for (size_t i = 0; i < ta_partial_rows(traces); i++) {
        const int64_t *row = ta_partial_at(traces, i);
        /* If activities of the rank are known, for example from the tables next to an Ascend
         * trace, its device tracks do no harm. */
        const int end = row[HEALTH_ACTIVITIES] > 0 ? HEALTH_DEVICE : HEALTH_FIELDS;
        for (int f = HEALTH_ACTIVITIES; f < end; f++)
            s.field[f] += row[f] == TA_MISSING ? 0 : (double)row[f];
        if (row[HEALTH_SHIFT] != TA_MISSING)
            s.shift = fmax(s.shift, (double)row[HEALTH_SHIFT]);
        if (row[HEALTH_GRAIN] != TA_MISSING && row[HEALTH_OPENED] >= GRAIN_LEAST)
            s.grain = fmax(s.grain, (double)row[HEALTH_GRAIN]);
    }
    const double spans = s.field[HEALTH_OPENED], activities = s.field[HEALTH_ACTIVITIES];
    const double calls = s.field[HEALTH_CALLS], foreign = s.field[HEALTH_DEVICE];
    const struct ta_accounts *accounts = ta_report_accounts(in->report);
    const double seen = accounts ? (double)accounts->totals.events_seen : NAN;
    /* Events without a time are dropped as well, but have a check of their own. */
    values[CHECK_DROPPED] =
        accounts
            ? ratio((double)accounts->totals.events_dropped - count_cases(in->report, untimed, 1),
                    seen)
            : NAN;
    /* Most profilers never report lost events.  Files without events, such as those whose events
     * are in other files or that are not recordings, cannot lose any. */
    double lossy = 0, recordings = 0;
    for (size_t f = 0; accounts && f < accounts->n_files; f++) {
        const struct ta_file_account *file = &accounts->files[f];
        if (file->events_kept == 0)
            continue;
        recordings++;
        for (size_t i = 0; i < file->n_findings; i++)
            lossy += file->findings[i].code == TA_Q_EVENTS_LOST;
    }
    values[CHECK_CUT_SHORT] = lossy > 0 ? lossy / recordings : NAN;
    values[CHECK_TIMES] = ratio(count_cases(in->report, bad_times, 5), seen);
    values[CHECK_FAR] = ratio(s.field[HEALTH_FAR], s.field[HEALTH_ALL]);
    values[CHECK_CUT] = ratio(s.field[HEALTH_CUT], activities);
    values[CHECK_DISORDER] = ratio(s.field[HEALTH_DISORDER], s.field[HEALTH_LINKED]);
    /* Most profilers name no process like a device: then there is nothing to check. */
    values[CHECK_FOREIGN] = foreign > 0 ? ratio(foreign, spans) : NAN;
    values[CHECK_LINKED] = ratio(s.field[HEALTH_LINKED], s.field[HEALTH_LINKABLE]);
    values[CHECK_EARLY] = ratio(s.field[HEALTH_EARLY], s.field[HEALTH_LINKED]);
    values[CHECK_LEAD] = s.shift;
    values[CHECK_LOST] = ratio(s.field[HEALTH_LOST], calls);
    values[CHECK_HEAD] = ratio(s.field[HEALTH_HEAD], calls);
    values[CHECK_THINNED] = ratio(s.field[HEALTH_LEAPS], s.field[HEALTH_PAIRS]);
    values[CHECK_ACTIVITIES] = activities > 0 ? activities : NAN;
    values[CHECK_HOLES] = hole_share(in);
    values[CHECK_OVERHEAD] = ratio(s.field[HEALTH_OVERHEAD], s.field[HEALTH_SPAN]);
    values[CHECK_CROSSED] = ratio(count_cases(in->report, crossings, 2), spans);
    values[CHECK_RANKS] = missing_ranks(in->report);
    values[CHECK_FEWEST] = least_activities(traces);
    values[CHECK_ALIKE] = alike;
    values[CHECK_GRAIN] = s.grain;
}

static const struct ta_scalar_def scalar = {
    "trust_score",
    "Trust",
    TA_UNIT_RATIO,
    TA_HIGHER,
    .doc = "Share of trust that the recording checks leave, 100 % if all pass; the confidence of "
           "findings is multiplied by it",
    .read_as = TA_AS_TRUST};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    if (ta_partial_rows(merged[0]) == 0)
        return TA_OK;
    double alike, values[HEALTH_CHECKS];
    if (!health_compare_names(merged[1], out, &alike))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the kernels of ranks");
    measure(in, merged[0], alike, values);
    double trust = 1;
    for (enum health_check i = 0; i < HEALTH_CHECKS; i++) {
        const double value = values[i], limit = checks[i].limit;
        if (isnan(value))
            continue;
        const bool holds = checks[i].at_least ? value >= limit : value <= limit;
        const double penalty = fmin(fmax(penalty_of(i, value), 0), 1);
        TA_ROW(out, health_checks, [CHECK] = ta_text(ta_slice_of(checks[i].name)),
               [VALUE] = ta_num(value), [LIMIT] = ta_num(limit),
               [UNIT] = ta_text(ta_slice_of(checks[i].unit)), [HOLDS] = ta_bool(holds),
               [PENALTY] = ta_num(penalty), [WHAT] = ta_text(ta_slice_of(checks[i].what)));
        trust *= 1 - penalty;
    }
    ta_set_scalar(out, &scalar, ta_num(trust));
    return TA_OK;
}

static const char *const samples_op_args[] = {"External id", NULL};

static const struct ta_table_def *const tables[] = {&health_checks, &health_kernels, NULL};

static const struct ta_analysis_ops ops = {.samples_op_args = samples_op_args,
                                           .section = "health",
                                           .scalars = &scalar,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(
    analysis, health, &ops, .title = "Trace health",
    .summary =
        "Whether the recordings are good enough to support what is said about them: health.checks",
    .version = "1");
