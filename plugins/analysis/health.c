/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.checks: whether the traces can carry what is said of them.  Each check costs a part of the
 * trust score, which is the product of what is left, and every finding's confidence is multiplied
 * with it (recommend.c). */
#include <traceanalyze/analysis.h>
#include <traceanalyze/host.h>

#include <math.h>
#include <stdlib.h>

/* ---- what is counted in each trace ---------------------------------------------------------- */

enum {
    RANK,
    ACTIVITIES,
    LINKED,
    EARLY,  /* activities that begin before the call that launched them */
    SHIFT,  /* the largest such difference */
    CALLS,  /* calls that launch a kernel */
    CALLED, /* those whose kernel was recorded */
    HEAD,   /* those that came before the first whose kernel was recorded */
    OVERHEAD,
    SPAN,   /* first to last host span */
    OPENED, /* spans of the host */
    GRAIN,  /* divides all times looked at */
    FAR,    /* spans that begin more than an hour from the median start */
    TRACE_FIELDS
};

static const struct ta_field trace_fields[TRACE_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [ACTIVITIES] = {"activities", TA_FIELD_SUM},
    [LINKED] = {"linked", TA_FIELD_SUM},
    [EARLY] = {"early", TA_FIELD_SUM},
    [SHIFT] = {"shift_ns", TA_FIELD_MAX},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [CALLED] = {"called", TA_FIELD_SUM},
    [HEAD] = {"head", TA_FIELD_SUM},
    [OVERHEAD] = {"overhead_ns", TA_FIELD_SUM},
    [SPAN] = {"span_ns", TA_FIELD_SUM},
    [OPENED] = {"spans", TA_FIELD_SUM},
    [GRAIN] = {"grain_ns", TA_FIELD_MIN},
    [FAR] = {"far", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"traces", trace_fields, TRACE_FIELDS}, {0}};

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_map works;
    bool *has_activity; /* by row of a call */
    struct ta_intervals overhead;
    int64_t first_launch; /* start of the first call whose kernel was recorded */
    int64_t *row;
};

static enum ta_event_class class_of(const struct search *s, ta_row row)
{
    return s->categories.at[s->spans.cat[row]].class;
}

static int64_t end_of(const struct search *s, ta_row row)
{
    return s->spans.ts[row] + s->spans.dur[row];
}

static bool holds(struct ta_slice name, const char *text)
{
    return memmem(name.ptr, name.len, text, strlen(text)) != NULL;
}

enum call { CALL_OTHER, CALL_KERNEL, CALL_BEGIN_CAPTURE, CALL_END_CAPTURE };

/* What a call is, by its name. */
static enum call call_of(struct search *s, ta_row row)
{
    uint64_t *known = ta_map_at(&s->works, s->spans.name[row], UINT64_MAX);
    if (!known)
        return CALL_OTHER;
    if (*known == UINT64_MAX) {
        const struct ta_slice name = ta_trace_text(s->trace, s->spans.name[row]);
        *known = holds(name, "BeginCapture") ? CALL_BEGIN_CAPTURE
                 : holds(name, "EndCapture") ? CALL_END_CAPTURE
                 : ta_host_classify(TA_CLASS_RUNTIME, TA_LIT(""), name) == TA_HOST_LAUNCH &&
                         holds(name, "LaunchKernel")
                     ? CALL_KERNEL
                     : CALL_OTHER;
    }
    return (enum call) * known;
}

/* Calls between the begin and the end of a capture on one thread launch nothing. */
static void count_calls(struct search *s, const struct ta_track *track)
{
    int64_t calls = 0, called = 0, head = 0;
    bool captures = false;
    for (ta_row row = track->first; row < track->first + track->n; row++) {
        if (class_of(s, row) != TA_CLASS_RUNTIME)
            continue;
        const enum call call = call_of(s, row);
        captures = call == CALL_BEGIN_CAPTURE || (captures && call != CALL_END_CAPTURE);
        if (call != CALL_KERNEL || captures)
            continue;
        calls++;
        called += s->has_activity[row];
        head += s->spans.ts[row] < s->first_launch;
    }
    ta_sum(&s->row[CALLS], calls);
    ta_sum(&s->row[CALLED], called);
    ta_sum(&s->row[HEAD], head);
}

static void count_activities(struct search *s)
{
    const struct ta_activities activities = ta_trace_activities(s->trace);
    int64_t linked = 0, early = 0;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch == TA_NO_ROW)
            continue;
        linked++;
        s->has_activity[a->launch] = true;
        s->first_launch = ta_min_i64(s->first_launch, s->spans.ts[a->launch]);
        const int64_t shift = s->spans.ts[a->launch] - s->spans.ts[a->span];
        if (shift > 0) {
            early++;
            ta_most(&s->row[SHIFT], shift);
        }
    }
    ta_sum(&s->row[ACTIVITIES], (int64_t)activities.n);
    ta_sum(&s->row[LINKED], linked);
    ta_sum(&s->row[EARLY], early);
}

/* Times to look at for the resolution: enough, and cheap. */
enum { GRAIN_SAMPLES = 65536, GRAIN_LEAST = 100 };

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Overhead, the extent of the host's spans, and the largest number that divides all times. */
static void look_at_spans(struct search *s)
{
    int64_t first = INT64_MAX, last = INT64_MIN, spans = 0, grain = 0;
    for (ta_row row = 0; row < s->spans.n; row++) {
        if (!ta_class_is_host(class_of(s, row)))
            continue;
        spans++;
        first = ta_min_i64(first, s->spans.ts[row]);
        last = ta_max_i64(last, end_of(s, row));
        if (row < GRAIN_SAMPLES && grain != 1)
            grain = divisor(divisor(llabs(s->spans.ts[row] - first), s->spans.dur[row]), grain);
        const struct ta_slice category =
            ta_trace_text(s->trace, s->categories.at[s->spans.cat[row]].name);
        if (category.len == 8 && memcmp(category.ptr, "overhead", 8) == 0)
            ta_intervals_add(&s->overhead, s->spans.ts[row], end_of(s, row));
    }
    ta_intervals_unite(&s->overhead);
    ta_sum(&s->row[OPENED], spans);
    if (spans == 0)
        return;
    ta_sum(&s->row[SPAN], last - first);
    ta_sum(&s->row[OVERHEAD], ta_intervals_length(&s->overhead));
    if (grain)
        ta_least(&s->row[GRAIN], grain);
}

/* A clock that was set, or a time that is none, moves spans far away from all others. */
static bool look_for_strays(struct search *s)
{
    enum { FAR_NS_IN_S = 3600 };
    const int64_t far = INT64_C(1000000000) * FAR_NS_IN_S;
    int64_t first = INT64_MAX, last = INT64_MIN, strays = 0;
    for (ta_row row = 0; row < s->spans.n; row++) {
        first = ta_min_i64(first, s->spans.ts[row]);
        last = ta_max_i64(last, s->spans.ts[row]);
    }
    ta_sum(&s->row[FAR], 0);
    if (last - first <= far)
        return true; /* as nearly always */
    int64_t *starts = malloc(s->spans.n * sizeof *starts);
    if (!starts)
        return false;
    memcpy(starts, s->spans.ts, s->spans.n * sizeof *starts);
    ta_sort_times(starts, s->spans.n);
    const int64_t median = starts[s->spans.n / 2];
    for (ta_row row = 0; row < s->spans.n; row++)
        strays += llabs(s->spans.ts[row] - median) > far;
    free(starts);
    ta_sum(&s->row[FAR], strays);
    return true;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    struct search s = {
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
        .first_launch = INT64_MAX,
    };
    if (s.spans.n == 0)
        return TA_OK;
    s.has_activity = calloc(s.spans.n, sizeof *s.has_activity);
    bool done = s.has_activity;
    if (done) {
        s.row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
        count_activities(&s);
        for (size_t t = 0; t < tracks.n; t++)
            count_calls(&s, &tracks.at[t]);
        look_at_spans(&s);
        done = look_for_strays(&s) && !s.works.failed && !s.overhead.failed;
    }
    free(s.has_activity);
    ta_map_free(&s.works);
    ta_intervals_free(&s.overhead);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the checks of a trace");
}

/* ---- checks -------------------------------------------------------------------------------- */

static const struct ta_column columns[] = {
    {"check", "Check", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "What is looked at"},
    {"value", "Value", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "What was found, in its unit"},
    {"limit", "Limit", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL,
     "From where the check counts as failed, in the same unit"},
    {"unit", "Unit", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Unit of both"},
    {"holds", "Holds", TA_TYPE_BOOLEAN, TA_UNIT_NONE, TA_NEUTRAL, "Whether the limit is kept"},
    {"penalty", "Penalty", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Part that the check takes from the trust score"},
    {"what", "What it means", TA_TYPE_SENTENCE, TA_UNIT_NONE, TA_NEUTRAL,
     "How the value is worked out, and what a bad one spoils"},
};

/* Sums over all traces. */
struct sums {
    double field[TRACE_FIELDS];
    double shift, grain;
};

static struct sums add_up(const struct ta_partial *traces)
{
    struct sums sums = {.shift = NAN, .grain = NAN};
    for (size_t i = 0; i < ta_partial_rows(traces); i++) {
        const int64_t *row = ta_partial_at(traces, i);
        for (int f = ACTIVITIES; f < TRACE_FIELDS; f++)
            sums.field[f] += row[f] == TA_MISSING ? 0 : (double)row[f];
        if (row[SHIFT] != TA_MISSING)
            sums.shift = fmax(sums.shift, (double)row[SHIFT]);
        if (row[GRAIN] != TA_MISSING && row[OPENED] >= GRAIN_LEAST)
            sums.grain = fmax(sums.grain, (double)row[GRAIN]);
    }
    return sums;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* How many of the records seen were dropped. */
static double dropped_share(const struct ta_report *prior)
{
    const struct ta_accounts *accounts = ta_report_accounts(prior);
    return accounts ? ratio((double)accounts->totals.events_dropped,
                            (double)accounts->totals.events_seen)
                    : NAN;
}

/* Cases of a code in all files, over the host's spans. */
static double case_share(const struct ta_report *prior, const enum ta_quality_code *codes, size_t n,
                         double whole)
{
    const struct ta_accounts *accounts = ta_report_accounts(prior);
    double cases = 0;
    for (size_t f = 0; accounts && f < accounts->n_files; f++)
        for (size_t i = 0; i < accounts->files[f].n_findings; i++)
            for (size_t c = 0; c < n; c++)
                if (accounts->files[f].findings[i].code == codes[c])
                    cases += (double)accounts->files[f].findings[i].count;
    return ratio(cases, whole);
}

static double missing_ranks(const struct ta_report *prior)
{
    const struct ta_run_info *run = ta_report_run(prior);
    if (!run || run->world_size == TA_MISSING || run->world_size <= 0)
        return NAN;
    const double missing = (double)run->world_size - (double)run->n_ranks;
    return missing > 0 ? missing / (double)run->world_size : 0;
}

/* Activities of the rank with fewest over those of the median rank. */
static double least_activities(const struct ta_partial *traces)
{
    const size_t n = ta_partial_rows(traces);
    double *counts = malloc((n + 1) * sizeof *counts);
    double share = NAN;
    for (size_t i = 0; counts && i < n; i++)
        counts[i] = fmax(0, (double)ta_partial_at(traces, i)[ACTIVITIES]);
    if (counts && n > 1) {
        ta_sort_numbers(counts, n);
        share = ratio(counts[0], ta_quantile(counts, n, 0.5));
    }
    free(counts);
    return share;
}

struct check {
    const char *name;
    double value, limit, penalty;
    bool at_least; /* the value should not be below the limit */
    const char *unit, *what;
};

/* Adds a row and returns what is left of the trust; a check without a value is left out. */
static double add_check(struct ta_table_builder *table, const struct check *check)
{
    if (isnan(check->value))
        return 1;
    const bool good = check->at_least ? check->value >= check->limit : check->value <= check->limit;
    const double penalty = fmin(fmax(check->penalty, 0), 1);
    TA_ROW(table, ta_text(ta_slice_of(check->name)), ta_num(check->value), ta_num(check->limit),
           ta_text(ta_slice_of(check->unit)), ta_bool(good), ta_num(penalty),
           ta_text(ta_slice_of(check->what)));
    return 1 - penalty;
}

static double add_checks(struct ta_table_builder *table, const struct ta_report *prior,
                         const struct ta_partial *traces)
{
    static const enum ta_quality_code bad_times[] = {
        TA_Q_BAD_TS, TA_Q_NEGATIVE_DURATION, TA_Q_BAD_DURATION, TA_Q_UNFINISHED, TA_Q_ZERO_TIME};
    static const enum ta_quality_code crossings[] = {TA_Q_OVERLAP, TA_Q_CROSSED_PAIR};
    const struct sums s = add_up(traces);
    const double dropped = dropped_share(prior);
    const double times = case_share(prior, bad_times, 5, s.field[OPENED]);
    const double strays = ratio(s.field[FAR], s.field[OPENED]);
    const double linked = ratio(s.field[LINKED], s.field[ACTIVITIES]);
    const double early = ratio(s.field[EARLY], s.field[LINKED]);
    /* Where no kernel at all was recorded the device was not traced, which is no loss. */
    const double calls = s.field[ACTIVITIES] > 0 ? s.field[CALLS] : 0;
    const double lost = ratio(calls - s.field[CALLED] - s.field[HEAD], calls);
    const double head = ratio(s.field[HEAD], calls);
    const double overhead = ratio(s.field[OVERHEAD], s.field[SPAN]);
    const double crossed = case_share(prior, crossings, 2, s.field[OPENED]);
    const double missing = missing_ranks(prior);
    const double fewest = least_activities(traces);
    const struct check checks[] = {
        {"records dropped", dropped, 0.01, dropped, false, "ratio",
         "Damaged records over all; what they would have said is missing everywhere"},
        {"bad times", times, 0.001, times, false, "ratio",
         "Records without a usable time or duration over the host's spans"},
        {"times far away", strays, 0, strays, false, "ratio",
         "Spans that begin more than an hour from the median start, over the host's spans: the "
         "clock "
         "was set, or the times are none"},
        {"launches linked", linked, 0.99, 0.5 * (1 - linked), true, "ratio",
         "Activities whose call was recorded; the causes of idle time and the device time of "
         "operators need them"},
        {"activities before their call", early, 0.001, early, false, "ratio",
         "Of the linked ones: clocks of host and device that do not agree"},
        {"lead of activities", s.shift, 0, 0, false, "ns",
         "Most that one of them begins before its call: the clocks differ by no less"},
        {"kernels lost", lost, 0.01, lost, false, "ratio",
         "Calls that launch a kernel and have none, behind the first one that has; busy time is "
         "too small by theirs"},
        {"kernels lost at the start", head, 0.05, 0.5 * head, false, "ratio",
         "Such calls before the first kernel that was recorded; leave out the first steps"},
        {"profiler overhead", overhead, 0.05, overhead, false, "ratio",
         "Time that the profiler says it took itself, over the extent of the host's spans"},
        {"spans that cross", crossed, 0.001, crossed, false, "ratio",
         "Spans that end after the span around them, over all; spoils self time"},
        {"ranks missing", missing, 0, 0.5 * missing, false, "ratio",
         "Of the world size that the traces name"},
        {"fewest activities", fewest, 0.9, 0.1 * (1 - fewest), true, "ratio",
         "Of a rank, over the median rank: a rank that recorded less, or does other work"},
        {"resolution", s.grain, 100, s.grain >= 1000 ? 0.05 : 0, false, "ns",
         "Largest number that divides the times looked at; short kernels and gaps are rounded to "
         "it"},
    };
    double trust = 1;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        trust *= add_check(table, &checks[i]);
    return trust;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    if (ta_partial_rows(merged[0]) == 0)
        return TA_OK;
    struct ta_table_builder *table =
        ta_add_table(out, "health.checks", "Checks of the traces", columns, 7);
    const double trust = add_checks(table, prior, merged[0]);
    ta_add_scalar(out, &(struct ta_scalar){
                           .id = "trust_score",
                           .title = "Trust",
                           .value = ta_num(trust),
                           .unit = TA_UNIT_RATIO,
                           .polarity = TA_HIGHER,
                           .note = "Product of what the checks of the traces leave; findings are "
                                   "believed that much less"});
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "health", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, health, &ops, .title = "Trace health",
          .summary = "Whether the traces can carry what is said of them: health.checks",
          .version = "1");
