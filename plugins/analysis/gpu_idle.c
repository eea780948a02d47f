/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_idle.by_rank, by_cause, by_site and longest: why devices were idle, and where the host lost
 * the time. */
#include "analyze/partial.h"
#include "model/idle/idle.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { LONGEST_KEPT = 50 }; /* gaps per device that are listed one by one */

/* The partials of the analysis, in order. */
enum { PARTIAL_CAUSES, PARTIAL_SITES, PARTIAL_GAPS };

/* Fields of partials. */
enum { CAUSE_RANK, CAUSE_DEVICE, CAUSE_CAUSE, CAUSE_GAPS, CAUSE_TOTAL, CAUSE_LONGEST };
enum { SITE_CAUSE, SITE_SITE, SITE_PIECES, SITE_TOTAL };
enum { GAP_RANK, GAP_DEVICE, GAP_START, GAP_CAUSE, GAP_SITE, GAP_NEXT, GAP_TOTAL };

/* ---- gaps ------------------------------------------------------------------------------------ */

/* The gaps of one trace: added up by cause and by place, the longest one by one. */

struct gap {
    int64_t start, end;
    enum ta_idle_cause cause;
    ta_row site, next;
};

struct sums {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_partial *const *out;
    struct ta_map site_rows;
    struct gap longest[LONGEST_KEPT];
    size_t n_longest, least;         /* of the gaps kept: position of the shortest */
    int64_t *causes[TA_IDLE_CAUSES]; /* rows of the device in the partial, NULL before the first */
};

static struct ta_slice name_of(const struct sums *s, ta_row row)
{
    return row == TA_NO_ROW ? TA_LIT("")
                            : ta_host_place(ta_trace_text(s->trace, s->spans.name[row]));
}

/* ---- the longest gaps ------------------------------------------------------------------------ */

/* Longer gaps rank higher; of equal ones, the earlier. */
static bool is_less(const struct gap *a, const struct gap *b)
{
    const int64_t left = a->end - a->start, right = b->end - b->start;
    return left != right ? left < right : a->start > b->start;
}

static void keep_longest(struct sums *s, const struct gap *gap)
{
    if (s->n_longest < LONGEST_KEPT)
        s->longest[s->n_longest++] = *gap;
    else if (is_less(&s->longest[s->least], gap))
        s->longest[s->least] = *gap;
    else
        return;
    if (s->n_longest == LONGEST_KEPT) {
        size_t least = 0;
        for (size_t i = 1; i < s->n_longest; i++)
            if (is_less(&s->longest[i], &s->longest[least]))
                least = i;
        s->least = least;
    }
}

static void list_longest(void *user, int64_t device)
{
    struct sums *s = user;
    for (size_t i = 0; i < s->n_longest; i++) {
        const struct gap *gap = &s->longest[i];
        int64_t *row =
            TA_PARTIAL_ROW(s->out[PARTIAL_GAPS], ta_key_int(ta_trace_rank(s->trace)),
                           ta_key_int(device), ta_key_int(gap->start - ta_trace_origin(s->trace)),
                           ta_key_text(ta_slice_of(ta_idle_causes[gap->cause].name)),
                           ta_key_text(name_of(s, gap->site)), ta_key_text(name_of(s, gap->next)));
        ta_sum(&row[GAP_TOTAL], gap->end - gap->start);
    }
    s->n_longest = 0;
    memset(s->causes, 0, sizeof s->causes);
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void count_piece(void *user, const struct ta_idle_piece *piece)
{
    struct sums *s = user;
    const enum ta_idle_cause cause = piece->cause;
    const ta_row place = piece->place;
    if (cause == TA_IDLE_MICRO || cause == TA_IDLE_UNLINKED || cause == TA_IDLE_LOST ||
        cause == TA_IDLE_PROFILER || cause == TA_IDLE_DISORDER || cause == TA_IDLE_BEFORE)
        return;
    const ta_str name = place == TA_NO_ROW ? TA_STR_ABSENT : s->spans.name[place];
    const uint64_t id = (uint64_t)cause << 32 | name;
    const uint64_t *known = ta_map_find(&s->site_rows, id);
    int64_t *row =
        known ? (int64_t *)(uintptr_t)*known
              : ta_partial_cached(s->out[PARTIAL_SITES], &s->site_rows, id,
                                  (const struct ta_key[]){
                                      ta_key_text(ta_slice_of(ta_idle_causes[cause].name)),
                                      ta_key_text(ta_host_place(ta_trace_text(s->trace, name)))});
    ta_sum(&row[SITE_PIECES], 1);
    ta_sum(&row[SITE_TOTAL], piece->ns);
}

static void count_gap(void *user, const struct ta_idle_gap *of)
{
    struct sums *s = user;
    const struct ta_activity *next = &s->activities.at[of->next];
    struct gap gap = {.start = of->start, .end = of->end, .next = next->span};
    int64_t most = -1;
    for (size_t i = 0; i < of->parts.n; i++) {
        const struct ta_idle_part *part = &of->parts.at[i];
        const enum ta_idle_cause cause = part->cause;
        if (!s->causes[cause])
            s->causes[cause] = TA_PARTIAL_ROW(
                s->out[PARTIAL_CAUSES], ta_key_int(ta_trace_rank(s->trace)),
                ta_key_int(next->device), ta_key_text(ta_slice_of(ta_idle_causes[cause].name)));
        int64_t *row = s->causes[cause];
        ta_sum(&row[CAUSE_GAPS], 1);
        ta_sum(&row[CAUSE_TOTAL], part->ns);
        ta_most(&row[CAUSE_LONGEST], part->ns);
        if (part->ns > most || (part->ns == most && part->cause < gap.cause)) {
            most = part->ns;
            gap.cause = part->cause;
            gap.site = part->site;
        }
    }
    if (gap.end - gap.start >= TA_IDLE_MICRO_NS)
        keep_longest(s, &gap);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct sums s = {.trace = trace,
                     .activities = ta_trace_activities(trace),
                     .spans = ta_trace_spans(trace),
                     .out = out};
    const struct ta_idle_watcher watcher = {
        .user = &s, .piece = count_piece, .gap = count_gap, .device = list_longest};
    const bool done = ta_idle_walk(trace, &watcher);
    ta_map_free(&s.site_rows);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the gaps of a device");
}

/* ---- partials -------------------------------------------------------------------------------- */

static const struct ta_field cause_fields[] = {
    [CAUSE_RANK] = {"rank", TA_FIELD_RANK},     [CAUSE_DEVICE] = {"device", TA_FIELD_INT},
    [CAUSE_CAUSE] = {"cause", TA_FIELD_TEXT},   [CAUSE_GAPS] = {"gaps", TA_FIELD_SUM},
    [CAUSE_TOTAL] = {"total_ns", TA_FIELD_SUM}, [CAUSE_LONGEST] = {"longest_ns", TA_FIELD_MAX},
};

static const struct ta_field site_fields[] = {
    [SITE_CAUSE] = {"cause", TA_FIELD_TEXT},
    [SITE_SITE] = {"site", TA_FIELD_TEXT},
    [SITE_PIECES] = {"pieces", TA_FIELD_SUM},
    [SITE_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field gap_fields[] = {
    [GAP_RANK] = {"rank", TA_FIELD_RANK},     [GAP_DEVICE] = {"device", TA_FIELD_INT},
    [GAP_START] = {"start_ns", TA_FIELD_INT}, [GAP_CAUSE] = {"cause", TA_FIELD_TEXT},
    [GAP_SITE] = {"site", TA_FIELD_TEXT},     [GAP_NEXT] = {"next", TA_FIELD_TEXT},
    [GAP_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_CAUSES] = {"causes", cause_fields, TA_LENGTH(cause_fields)},
    [PARTIAL_SITES] = {"sites", site_fields, TA_LENGTH(site_fields)},
    [PARTIAL_GAPS] = {"gaps", gap_fields, TA_LENGTH(gap_fields)},
    {0},
};

/* ---- tables -------------------------------------------------------------------------------- */

static const char cause_doc[] =
    "What delayed the activity that ended the gap. If the host launched late, the cause is what "
    "the launching thread was doing until the launch returned (operator dispatch, python, "
    "synchronization and so on). First call: an operator, a launch or another runtime call that "
    "takes 1 ms or more because it is the first of its kind, ten times as long as later ones. "
    "Launch latency: from the end of the launch call to the start of the activity. Queued: the "
    "activity was launched before the gap began. Late start: launch latency or queueing above 1 ms "
    "while nothing ran. Kernels not recorded: launches in between have no kernel, so the device "
    "may have worked. Out of order: a kernel started later than its stream allows. Began before "
    "the recording: no call was recorded yet, or the first activity of a stream is a late start "
    "and the host has not waited for the device since the recording began. Micro gap: shorter than "
    "1 µs";

enum {
    BY_CAUSE_RANK,
    BY_CAUSE_DEVICE,
    BY_CAUSE_CAUSE,
    BY_CAUSE_GAPS,
    BY_CAUSE_TOTAL,
    BY_CAUSE_SHARE,
    BY_CAUSE_LONGEST
};
static const struct ta_column by_cause_columns[] = {
    [BY_CAUSE_RANK] = TA_RANK_COLUMN,
    [BY_CAUSE_DEVICE] = TA_DEVICE_COLUMN,
    [BY_CAUSE_CAUSE] = {"cause", "Cause", TA_TEXT, .read_as = TA_AS_IDLE_CAUSE, .doc = cause_doc},
    [BY_CAUSE_GAPS] = {"gaps", "Gaps", TA_COUNT, .better = TA_LOWER, .read_as = TA_AS_IDLE_GAPS,
                       .doc = "Number of gaps that are at least partly due to this cause"},
    [BY_CAUSE_TOTAL] =
        {"total_ns", "Total", TA_NS, .better = TA_LOWER, .read_as = TA_AS_IDLE_TIME,
         .doc = "Idle time due to this cause; the causes of a device add up to its idle time"},
    [BY_CAUSE_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                        .doc = "Share of the idle time of the device"},
    [BY_CAUSE_LONGEST] = {"longest_ns", "Longest", TA_NS, .better = TA_LOWER,
                          .doc = "Longest time in one gap due to this cause"},
};

static const struct ta_table_def by_cause = {
    "gpu_idle.by_cause",
    "Idle time by cause",
    TA_COLUMNS(by_cause_columns),
    .doc =
        "One row per rank, device and cause. A gap lies between the latest end of all earlier "
        "activities of a device and the start of the next one, and its cause is found from the "
        "call that launched that next activity. If the call ended within the gap, the host was "
        "late: until then the gap is split by what the calling thread was doing, moment by moment "
        "(`operator dispatch`, `python`, `launch calls`, `runtime calls`, `synchronization`, "
        "`blocking copy`, `memory allocation`, `compilation`, `data loading`, `host collective`, "
        "`host untraced`; a data loader or a compiler counts with all that runs within it; "
        "capturing a graph counts as `compilation`; overhead of the profiler is `profiler`), and "
        "the rest is `launch latency`, or `late start` above 1 ms. A launch that takes 1 ms or "
        "more and is the first of its kernel is a `first call`: it loads code. So is the first "
        "call of an operator or of another runtime function that takes as long and ten times as "
        "long as the mean of the later ones; and so is any call of an operator that loads code, "
        "compared with the mean of its calls that load none. If an operator initializes a library "
        "in this way, runtime calls that it makes and that take ten times as long as others of "
        "their name are part of it. If the call had ended before the gap, the activity was queued: "
        "`within a graph` if a graph launched both neighbors, `queued, same stream` up to 20 µs "
        "after work of its own stream, otherwise `queued, dependency`; above 1 ms, while no other "
        "device of the file works, `late start`. A late start of the first activity of a stream is "
        "`began before the recording` as long as the host has not waited for a whole device: what "
        "was launched before may still run. The same holds for a wait of the host above 1 ms "
        "before the first launch, while no device works. If a launch between the launches of both "
        "neighbors has no kernel, everything from its end on is `kernels not recorded`; so is "
        "everything until the host has waited for the device after launching a graph of which no "
        "kernel was recorded, and everything in which activities without a time may have run. If "
        "an activity runs after work that was launched later on its stream, the time from its "
        "launch to its start is `out of order`. Gaps below 1 µs are `micro gap`; gaps without a "
        "call are `began before the recording` up to the first call of all, and `launch not "
        "recorded` later. Σ `total_ns` of a device is its `idle_ns` in `gpu_time.by_rank`.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_cause_columns[BY_CAUSE_TOTAL], TA_DESCENDING}};

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_IDLE,
    BY_RANK_DISPATCH,
    BY_RANK_HOST,
    BY_RANK_COMPUTATION,
    BY_RANK_SYNC,
    BY_RANK_SETUP,
    BY_RANK_INPUT,
    BY_RANK_LATENCY,
    BY_RANK_QUEUED,
    BY_RANK_UNKNOWN,
    BY_RANK_DEPTH,
    BY_RANK_EMPTY,
    BY_RANK_LATE,
    BY_RANK_DELAY
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_DEVICE] = TA_DEVICE_COLUMN,
    [BY_RANK_IDLE] = {"idle_ns", "Idle", TA_NS, .better = TA_LOWER,
                      .doc = "Time in the window in which the device does nothing"},
    [BY_RANK_DISPATCH] =
        {"dispatch_ns", "Dispatch", TA_NS, .better = TA_LOWER, .weight = 0.5,
         .read_as = TA_AS_IDLE_DISPATCH,
         .doc = "Idle while the host was dispatching work: operators, Python, runtime calls"},
    [BY_RANK_HOST] = {"host_ns", "Untraced", TA_NS, .better = TA_LOWER, .weight = 0.5,
                      .read_as = TA_AS_IDLE_HOST,
                      .doc = "Idle because the host was late, for a reason that was not recorded"},
    [BY_RANK_COMPUTATION] = {"computation_ns", "CPU work", TA_NS, .better = TA_LOWER, .weight = 0.5,
                             .doc = "Idle while the host computed: CPU operators, arrays, images"},
    [BY_RANK_SYNC] = {"sync_ns", "Sync", TA_NS, .better = TA_LOWER, .weight = 0.5,
                      .read_as = TA_AS_IDLE_SYNC,
                      .doc = "Idle because the host waited for the device, or for a blocking copy, "
                             "before it went on"},
    [BY_RANK_SETUP] = {"setup_ns", "Setup", TA_NS, .better = TA_LOWER, .weight = 0.3,
                       .read_as = TA_AS_IDLE_SETUP,
                       .doc = "Idle while memory was allocated, code was compiled or loaded, or a "
                              "first call initialized something"},
    [BY_RANK_INPUT] = {"input_ns", "Input", TA_NS, .better = TA_LOWER, .weight = 0.5,
                       .read_as = TA_AS_IDLE_INPUT,
                       .doc = "Idle while the host loaded data or waited for other hosts"},
    [BY_RANK_LATENCY] = {"latency_ns", "Latency", TA_NS, .better = TA_LOWER,
                         .doc = "Idle from the end of a launch call to the start of its activity"},
    [BY_RANK_QUEUED] = {"queued_ns", "Queued", TA_NS, .better = TA_LOWER, .weight = 0.2,
                        .doc = "Idle although work was queued: it depended on other work, or the "
                               "device had not started it yet; includes micro gaps"},
    [BY_RANK_UNKNOWN] =
        {"unknown_ns", "Unknown", TA_NS, .better = TA_LOWER,
         .doc = "Idle time whose cause is unknown: no launch or no kernel was recorded, the "
                "profiler interrupted, or the device began more than 1 ms late"},
    [BY_RANK_DEPTH] =
        {"depth_mean", "Queue depth", TA_NUMBER, .role = TA_NOTE,
         .from = {"launch_queue.by_rank", "depth_mean"},
         .doc = "Launches that are not finished, averaged over the window; a graph is one"},
    [BY_RANK_EMPTY] = {"empty_share", "Queue empty", TA_RATIO, .better = TA_LOWER, .role = TA_NOTE,
                       .from = {"launch_queue.by_rank", "empty_share"},
                       .doc = "Share of the window in which nothing was launched or running"},
    [BY_RANK_LATE] = {"late", "Late launches", TA_COUNT, .better = TA_LOWER, .role = TA_NOTE,
                      .from = {"launch_queue.by_rank", "late"},
                      .doc = "Activities that began more than 100 µs after their launch although "
                             "the device had been idle for as long"},
    [BY_RANK_DELAY] = {"delay_p50_ns", "Launch delay p50", TA_NS_MEAN, .role = TA_NOTE,
                       .from = {"launches.by_rank", "delay_p50_ns"},
                       .doc = "Median time from the end of a launch call to the start of its "
                              "activity, all devices of the rank"},
};

static const struct ta_chart_def rank_chart = {
    .id = "idle-breakdown",
    .title = "Idle time by cause",
    .caption = "Idle time of each device by what delayed the next activity; the parts add up to "
               "the idle time.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_rank_columns[BY_RANK_RANK], &by_rank_columns[BY_RANK_DEVICE]},
    .y = {{&by_rank_columns[BY_RANK_DISPATCH], "Host launches late", TA_INK_IDLE},
          {&by_rank_columns[BY_RANK_HOST], "Untraced host work", TA_INK_IDLE_HOST},
          {&by_rank_columns[BY_RANK_COMPUTATION], "Host computation", TA_INK_IDLE_COMPUTE},
          {&by_rank_columns[BY_RANK_SYNC], "Host waits for the GPU", TA_INK_IDLE_SYNC},
          {&by_rank_columns[BY_RANK_SETUP], "Setup or compilation", TA_INK_IDLE_SETUP},
          {&by_rank_columns[BY_RANK_INPUT], "Data loading", TA_INK_IDLE_INPUT},
          {&by_rank_columns[BY_RANK_LATENCY], "Launch latency", TA_INK_IDLE_LATENCY},
          {&by_rank_columns[BY_RANK_QUEUED], "Queued work", TA_INK_IDLE_QUEUED},
          {&by_rank_columns[BY_RANK_UNKNOWN], "Unknown", TA_INK_IDLE_UNKNOWN}},
};

static const struct ta_table_def by_rank = {
    "gpu_idle.by_rank",
    "Idle time by rank",
    TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank and device that was ever idle between its first and its last "
           "activity, with the causes of `gpu_idle.by_cause` in groups that add up to `idle_ns`, "
           "and what `launch_queue.by_rank` and `launches.by_rank` say of its launches. Chart "
           "`idle-breakdown`.",
    .tier = TA_TIER_CHART,
    .joined_by = {&by_rank_columns[BY_RANK_RANK], &by_rank_columns[BY_RANK_DEVICE]},
    .chart = {&rank_chart},
    .rank_words = "GPU idle",
    .parts_of_whole = true};

enum {
    BY_SITE_CAUSE,
    BY_SITE_SITE,
    BY_SITE_PIECES,
    BY_SITE_TOTAL,
    BY_SITE_SHARE,
    BY_SITE_CAUSE_TOTAL,
    BY_SITE_CAUSE_SHARE
};
static const struct ta_column by_site_columns[] = {
    [BY_SITE_CAUSE] = {"cause", "Cause", TA_TEXT, .doc = cause_doc},
    [BY_SITE_SITE] = {"site", "Call site", TA_TEXT,
                      .doc = "Operator, function or range that the host was in, or the kernel that "
                             "waited; empty outside all recorded spans, and for causes that have "
                             "no call site"},
    [BY_SITE_PIECES] = {"pieces", "Intervals", TA_COUNT, .better = TA_LOWER,
                        .doc = "Number of idle intervals in which the host was at this call site; "
                               "empty for causes that have no call site"},
    [BY_SITE_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                       .doc = "Idle time while the host was at this call site, all ranks"},
    [BY_SITE_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                       .doc = "Share of the idle time of all ranks"},
    [BY_SITE_CAUSE_TOTAL] = {"cause_ns", "Cause total", TA_NS, .better = TA_LOWER,
                             .doc = "Idle time due to the cause at all call sites, all ranks"},
    [BY_SITE_CAUSE_SHARE] = {"cause_share", "Cause share", TA_RATIO, .better = TA_LOWER,
                             .doc = "The cause's share of the idle time of all ranks"},
};

static const struct ta_table_def by_site = {
    "gpu_idle.by_site", "Idle time by cause and call site", TA_COLUMNS(by_site_columns),
    .doc =
        "One row per cause and call site, all ranks: where the host was while a device was idle, "
        "interval by interval. For a cause such as `data loading` the call site is its outermost "
        "span, for a call the operator or function that made it, for queued work its kernel. "
        "Causes such as `micro gap` and `launch not recorded` have no call site. Σ `total_ns` is "
        "the idle time of all devices.",
    .order = {&by_site_columns[BY_SITE_TOTAL], TA_DESCENDING}};

enum {
    LONGEST_RANK,
    LONGEST_DEVICE,
    LONGEST_INDEX,
    LONGEST_START,
    LONGEST_LENGTH,
    LONGEST_CAUSE,
    LONGEST_SITE,
    LONGEST_NEXT
};
static const struct ta_column longest_columns[] = {
    [LONGEST_RANK] = TA_RANK_COLUMN,
    [LONGEST_DEVICE] = TA_DEVICE_COLUMN,
    [LONGEST_INDEX] =
        {"index", "Gap", TA_INTEGER, .role = TA_IN_SERIES,
         .doc = "Number of the gap among the listed gaps of the device, in the order of time"},
    [LONGEST_START] = {"start_ns", "Start", TA_NS, .role = TA_IN_SERIES,
                       .doc =
                           "Start of the gap, counted from the earliest span in the rank's file"},
    [LONGEST_LENGTH] = {"dur_ns", "Length", TA_NS, .better = TA_LOWER,
                        .doc = "Duration of the gap"},
    [LONGEST_CAUSE] = {"cause", "Main cause", TA_TEXT,
                       .doc = "Cause of the largest part of the gap"},
    [LONGEST_SITE] = {"site", "Call site", TA_TEXT,
                      .doc = "Operator, function or range that the host was in during the gap"},
    [LONGEST_NEXT] = {"next", "Next activity", TA_TEXT, .doc = "Activity that ended the gap"},
};

static const struct ta_table_def longest = {
    "gpu_idle.longest",
    "Longest gaps",
    TA_COLUMNS(longest_columns),
    .doc = "The 50 longest gaps of each device of a file that last 1 µs or more; at most the "
           "10,000 longest of all.",
    .tier = TA_TIER_DETAIL,
    .order = {&longest_columns[LONGEST_LENGTH], TA_DESCENDING}};

/* ---- finish -------------------------------------------------------------------------------- */

/* TA_IDLE_CAUSES for one of a summary of another version. */
static size_t cause_of(struct ta_slice name)
{
    const struct ta_idle_cause_info *known = ta_idle_cause_find(name);
    return known ? (size_t)(known - ta_idle_causes) : TA_IDLE_CAUSES;
}

/* Adds the causes of one device, rows [from, to). */
static void add_device(const struct ta_partial *causes, size_t from, size_t to,
                       struct ta_section_builder *out)
{
    int64_t groups[TA_IDLE_GROUPS] = {0}, idle = 0;
    for (size_t i = from; i < to; i++) {
        const int64_t *row = ta_partial_at(causes, i);
        const size_t cause = cause_of(ta_partial_text(causes, row, CAUSE_CAUSE));
        int64_t *sum =
            &groups[cause < TA_IDLE_CAUSES ? ta_idle_causes[cause].group : TA_IDLE_GROUP_UNKNOWN];
        *sum = ta_add_sat(*sum, row[CAUSE_TOTAL]);
        idle = ta_add_sat(idle, row[CAUSE_TOTAL]);
    }
    for (size_t i = from; i < to; i++) {
        const int64_t *row = ta_partial_at(causes, i);
        TA_ROW(
            out, by_cause, [BY_CAUSE_RANK] = ta_int(row[CAUSE_RANK]),
            [BY_CAUSE_DEVICE] = ta_int(row[CAUSE_DEVICE]),
            [BY_CAUSE_CAUSE] = ta_text(ta_partial_text(causes, row, CAUSE_CAUSE)),
            [BY_CAUSE_GAPS] = ta_int(row[CAUSE_GAPS]), [BY_CAUSE_TOTAL] = ta_int(row[CAUSE_TOTAL]),
            [BY_CAUSE_SHARE] = ta_share(row[CAUSE_TOTAL], idle),
            [BY_CAUSE_LONGEST] = ta_int(row[CAUSE_LONGEST]));
    }
    const int64_t *row = ta_partial_at(causes, from);
    TA_ROW(out, by_rank, [BY_RANK_RANK] = ta_int(row[CAUSE_RANK]),
           [BY_RANK_DEVICE] = ta_int(row[CAUSE_DEVICE]), [BY_RANK_IDLE] = ta_int(idle),
           [BY_RANK_DISPATCH] = ta_int(groups[TA_IDLE_GROUP_DISPATCH]),
           [BY_RANK_HOST] = ta_int(groups[TA_IDLE_GROUP_HOST]),
           [BY_RANK_COMPUTATION] = ta_int(groups[TA_IDLE_GROUP_COMPUTE]),
           [BY_RANK_SYNC] = ta_int(groups[TA_IDLE_GROUP_SYNC]),
           [BY_RANK_SETUP] = ta_int(groups[TA_IDLE_GROUP_SETUP]),
           [BY_RANK_INPUT] = ta_int(groups[TA_IDLE_GROUP_INPUT]),
           [BY_RANK_LATENCY] = ta_int(groups[TA_IDLE_GROUP_LATENCY]),
           [BY_RANK_QUEUED] = ta_int(groups[TA_IDLE_GROUP_QUEUED]),
           [BY_RANK_UNKNOWN] = ta_int(groups[TA_IDLE_GROUP_UNKNOWN]));
}

/* Rows of gpu_idle.longest; with thousands of devices, the longest gaps of all. */
enum { GAPS_MOST = 10000 };

struct listed {
    const int64_t *row;
    int64_t index; /* among the listed gaps of the device */
};

static int by_length(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    if (a->row[GAP_TOTAL] != b->row[GAP_TOTAL])
        return a->row[GAP_TOTAL] > b->row[GAP_TOTAL] ? -1 : 1;
    if (a->row[GAP_RANK] != b->row[GAP_RANK])
        return a->row[GAP_RANK] < b->row[GAP_RANK] ? -1 : 1;
    if (a->row[GAP_DEVICE] != b->row[GAP_DEVICE])
        return a->row[GAP_DEVICE] < b->row[GAP_DEVICE] ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool add_gaps(const struct ta_partial *gaps, struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(gaps), kept = n < GAPS_MOST ? n : GAPS_MOST;
    struct listed *list = calloc(n + 1, sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < ta_partial_rows(gaps); i++) {
        const int64_t *row = ta_partial_at(gaps, i), *before = i ? list[i - 1].row : NULL;
        const bool is_next =
            before && before[GAP_RANK] == row[GAP_RANK] && before[GAP_DEVICE] == row[GAP_DEVICE];
        list[i] = (struct listed){row, is_next ? list[i - 1].index + 1 : 0};
    }
    qsort(list, n, sizeof *list, by_length);
    for (size_t i = 0; i < kept; i++) {
        const int64_t *row = list[i].row;
        const struct ta_slice site = ta_partial_text(gaps, row, GAP_SITE);
        TA_ROW(out, longest, [LONGEST_RANK] = ta_int(row[GAP_RANK]),
               [LONGEST_DEVICE] = ta_int(row[GAP_DEVICE]), [LONGEST_INDEX] = ta_int(list[i].index),
               [LONGEST_START] = ta_int(row[GAP_START]), [LONGEST_LENGTH] = ta_int(row[GAP_TOTAL]),
               [LONGEST_CAUSE] = ta_text(ta_partial_text(gaps, row, GAP_CAUSE)),
               [LONGEST_SITE] = site.len ? ta_text(site) : ta_null(),
               [LONGEST_NEXT] = ta_text(ta_partial_text(gaps, row, GAP_NEXT)));
    }
    free(list);
    if (kept < n)
        ta_add_missing(out, "Of the %zu longest gaps of all devices the %zu longest are listed.", n,
                       kept);
    return true;
}

/* ---- causes and call sites ------------------------------------------------------------------- */

/* Of all devices. */
struct cause_sums {
    int64_t idle, of[TA_IDLE_CAUSES], at_sites[TA_IDLE_CAUSES];
};

static void add_to(int64_t *of, struct ta_slice cause, int64_t ns)
{
    const size_t at = cause_of(cause);
    if (at < TA_IDLE_CAUSES)
        of[at] = ta_add_sat(of[at], ns);
}

static struct cause_sums sum_up(const struct ta_partial *causes, const struct ta_partial *sites)
{
    struct cause_sums sums = {.idle = 0};
    for (size_t i = 0; i < ta_partial_rows(causes); i++) {
        const int64_t *row = ta_partial_at(causes, i);
        sums.idle = ta_add_sat(sums.idle, row[CAUSE_TOTAL]);
        add_to(sums.of, ta_partial_text(causes, row, CAUSE_CAUSE), row[CAUSE_TOTAL]);
    }
    for (size_t i = 0; i < ta_partial_rows(sites); i++) {
        const int64_t *row = ta_partial_at(sites, i);
        add_to(sums.at_sites, ta_partial_text(sites, row, SITE_CAUSE), row[SITE_TOTAL]);
    }
    return sums;
}

static void add_site(struct ta_section_builder *out, const struct cause_sums *sums,
                     struct ta_slice cause, struct ta_slice site, int64_t pieces, int64_t ns)
{
    const size_t at = cause_of(cause);
    const int64_t all = at < TA_IDLE_CAUSES ? sums->of[at] : TA_MISSING;
    TA_ROW(out, by_site, [BY_SITE_CAUSE] = ta_text(cause),
           [BY_SITE_SITE] = site.len ? ta_text(site) : ta_null(), [BY_SITE_PIECES] = ta_int(pieces),
           [BY_SITE_TOTAL] = ta_int(ns), [BY_SITE_SHARE] = ta_share(ns, sums->idle),
           [BY_SITE_CAUSE_TOTAL] = ta_int(all), [BY_SITE_CAUSE_SHARE] = ta_share(all, sums->idle));
}

/* What no call site has of a cause is a row of its own, so that all rows add up. */
static void add_sites(const struct ta_partial *causes, const struct ta_partial *sites,
                      struct ta_section_builder *out)
{
    const struct cause_sums sums = sum_up(causes, sites);
    for (size_t i = 0; i < ta_partial_rows(sites); i++) {
        const int64_t *row = ta_partial_at(sites, i);
        add_site(out, &sums, ta_partial_text(sites, row, SITE_CAUSE),
                 ta_partial_text(sites, row, SITE_SITE), row[SITE_PIECES], row[SITE_TOTAL]);
    }
    for (size_t cause = 0; cause < TA_IDLE_CAUSES; cause++)
        if (sums.of[cause] > sums.at_sites[cause])
            add_site(out, &sums, ta_slice_of(ta_idle_causes[cause].name), TA_LIT(""), TA_MISSING,
                     sums.of[cause] - sums.at_sites[cause]);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    const struct ta_partial *causes = merged[PARTIAL_CAUSES];
    const size_t n = ta_partial_rows(causes);
    for (size_t from = 0, to; from < n; from = to) {
        const int64_t *first = ta_partial_at(causes, from);
        for (to = from + 1; to < n; to++) {
            const int64_t *row = ta_partial_at(causes, to);
            if (row[CAUSE_RANK] != first[CAUSE_RANK] || row[CAUSE_DEVICE] != first[CAUSE_DEVICE])
                break;
        }
        add_device(causes, from, to, out);
    }
    add_sites(causes, merged[PARTIAL_SITES], out);
    if (!add_gaps(merged[PARTIAL_GAPS], out))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the longest gaps");
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank, &by_cause, &by_site, &longest, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "launches",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, gpu_idle, &ops, .title = "Idle time",
          .summary = "Why devices were idle, and where the host lost time: gpu_idle.by_cause",
          .version = "1");
