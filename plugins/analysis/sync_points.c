/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sync.by_site, sync.by_rank: where host threads wait for the device, and which part of that does
 * harm.  A wait while the device works costs nothing by itself; what it costs is the time in which
 * the device has nothing to do during the wait, and from its end until new work arrives. */
#include "base/vec.h"
#include "lib/outward.h"
#include "model/busy.h"
#include "model/damage.h"
#include "model/idle/idle.h"
#include "model/lost.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

/* The partials of the analysis, in order, and their fields. */
enum { PARTIAL_SITES, PARTIAL_RANKS, PARTIAL_KINDS };
enum { KIND, CALL, SITE, CALLER, COUNT, TOTAL, DURING, AFTER, SITE_FIELDS };
enum {
    KIND_RANK,
    KIND_KIND,
    KIND_COUNT,
    KIND_TOTAL,
    KIND_DURING,
    KIND_AFTER,
    KIND_REFILL,
    KIND_SAVING,
    KIND_FIELDS
};
enum { RANK, RANK_COUNT, RANK_TOTAL, RANK_HARMFUL, RANK_WINDOW, RANK_FIELDS };

/* ---- waits ----------------------------------------------------------------------------------- */

/* The waits of a trace, and the idle time of its devices around them. */

/* What the kinds of waits are called. */
enum kind { SYNCHRONIZATION, VALUE_READ, BLOCKING_COPY, PAGEABLE_COPY, KINDS };

static const char *const kind_names[] = {
    [SYNCHRONIZATION] = "synchronization",
    [VALUE_READ] = "value read",
    [BLOCKING_COPY] = "blocking copy",
    [PAGEABLE_COPY] = "pageable copy",
};

/* A wait of any thread. */
struct wait {
    int64_t from, to;
    ta_row row;
};

/* What the copies of a call are. */
enum { COPIES = 1, COPIES_PAGEABLE = 2, COPIES_BYTES = 4 /* more than a single value */ };

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    const struct ta_intervals *busy;
    const struct ta_lost *lost;
    uint8_t *copies;     /* what is known of the calls that copied, by row */
    ta_str looked_at;    /* name of a copy */
    bool is_pageable;    /* such copies are */
    struct ta_map calls; /* number of a call and an operator, by their names */
    struct ta_map cells; /* rows of the partial, by that, the kind and the caller */
    struct ta_outward makers, sites, callers; /* see site_of() and caller_of() */
    struct ta_args sizes;
    struct ta_intervals late;    /* the parts of its gaps in which the host was late */
    size_t next_busy, next_late; /* intervals of them where the last search ended */
    struct wait *waits;
    size_t n_waits, max_waits;
    bool failed;
    struct ta_partial *const *out;
    int64_t *rank, *kinds[KINDS]; /* rows of partials; of kinds NULL before the first wait */
};

static enum ta_event_class class_of(const struct search *s, ta_row row)
{
    return s->categories.at[s->spans.cat[row]].class;
}

static enum ta_host_work work_of(const struct search *s, ta_row row)
{
    return (enum ta_host_work)s->spans.work[row];
}

static struct ta_slice name_of(const struct search *s, ta_row row)
{
    return row == TA_NO_ROW ? TA_LIT("") : ta_trace_text(s->trace, s->spans.name[row]);
}

static bool is_python(void *user, ta_row row)
{
    const struct search *s = user;
    return work_of(s, row) == TA_HOST_PYTHON && !ta_host_is_builtin(name_of(s, row));
}

static bool is_maker(void *user, ta_row row)
{
    const struct search *s = user;
    return class_of(s, row) != TA_CLASS_RUNTIME && !ta_host_is_builtin(name_of(s, row));
}

/* No operator, or one that no other calls. */
static bool is_outermost(void *user, ta_row row)
{
    const struct search *s = user;
    const ta_row parent = s->spans.parent[row];
    return class_of(s, row) != TA_CLASS_OP || parent == TA_NO_ROW ||
           class_of(s, parent) != TA_CLASS_OP;
}

/* End of the waits taken so far: time before it already counts for them. */
struct reach {
    int64_t to;   /* end of the latest, and of the idle time after it */
    int64_t next; /* start of the next wait */
};

static int64_t late_within(struct search *s, int64_t from, int64_t to)
{
    return ta_intervals_within_near(&s->late, from, to, &s->next_late);
}

/* Idle time of a wait, and after it until the devices work again or the next wait begins, as far
 * as the host was late: work that was in the queue already is held up by something else. */
static void idle_around(struct search *s, const struct wait *wait, struct reach *reach,
                        int64_t *during, int64_t *after)
{
    const int64_t from = ta_max_i64(wait->from, reach->to), to = ta_max_i64(wait->to, reach->to);
    *during = late_within(s, from, wait->to);
    *after = 0;
    reach->to = to;
    const size_t i = s->next_busy = ta_intervals_near(s->busy, to, s->next_busy);
    if (to < s->busy->at[0].start || i == s->busy->n || s->busy->at[i].start <= to)
        return;
    int64_t works = s->busy->at[i].start;
    if (reach->next >= to)
        works = ta_min_i64(works, reach->next);
    *after = late_within(s, to, works);
    reach->to = works;
}

static ta_str id_of(const struct search *s, ta_row row)
{
    return row == TA_NO_ROW ? TA_STR_ABSENT : s->spans.name[row];
}

static enum kind kind_of(const struct search *s, ta_row row)
{
    const enum ta_host_work work = work_of(s, row);
    if (work == TA_HOST_SYNC)
        return SYNCHRONIZATION;
    if (s->copies[row] && !(s->copies[row] & COPIES_BYTES))
        return VALUE_READ;
    return work == TA_HOST_COPY ? BLOCKING_COPY : PAGEABLE_COPY;
}

static void take_site(struct search *s, const struct wait *wait, enum kind kind, int64_t during,
                      int64_t after)
{
    /* The outermost of the operators right around a call, or what made the call. */
    ta_row row = wait->row;
    row = ta_outward_find(&s->makers, s->spans.parent[row], is_maker, s);
    const ta_row site = ta_outward_find(&s->sites, row, is_outermost, s),
                 caller = ta_outward_find(&s->callers, site, is_python, s);
    const uint64_t *call =
        ta_map_at(&s->calls, (uint64_t)id_of(s, wait->row) << 32 | id_of(s, site), s->calls.n);
    const uint64_t id = call ? (*call << 2 | kind) << 32 | id_of(s, caller) : 0;
    int64_t *cells =
        ta_partial_cached(s->out[PARTIAL_SITES], &s->cells, id,
                          (const struct ta_key[]){ta_key_text(ta_slice_of(kind_names[kind])),
                                                  ta_key_text(name_of(s, wait->row)),
                                                  ta_key_text(ta_host_place(name_of(s, site))),
                                                  ta_key_text(name_of(s, caller))});
    ta_sum(&cells[COUNT], 1);
    ta_sum(&cells[TOTAL], wait->to - wait->from);
    ta_sum(&cells[DURING], during);
    ta_sum(&cells[AFTER], after);
}

static bool is_wait(enum ta_host_work work)
{
    return work == TA_HOST_SYNC || work == TA_HOST_COPY;
}

static int by_start(const void *left, const void *right)
{
    const struct wait *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void take_waits(struct search *s)
{
    if (s->n_waits)
        qsort(s->waits, s->n_waits, sizeof *s->waits, by_start);
    struct reach reach = {.to = INT64_MIN};
    for (size_t i = 0; i < s->n_waits; i++) {
        reach.next = i + 1 < s->n_waits ? s->waits[i + 1].from : INT64_MAX;
        const struct wait *wait = &s->waits[i];
        const int64_t length = wait->to - wait->from;
        int64_t during, after;
        idle_around(s, wait, &reach, &during, &after);
        const int64_t refill = late_within(s, reach.to, reach.next);
        const enum kind kind = kind_of(s, wait->row);
        take_site(s, wait, kind, during, after);
        ta_sum(&s->rank[RANK_COUNT], 1);
        ta_sum(&s->rank[RANK_TOTAL], length);
        ta_sum(&s->rank[RANK_HARMFUL], during + after);
        if (!s->kinds[kind])
            s->kinds[kind] =
                TA_PARTIAL_ROW(s->out[PARTIAL_KINDS], ta_key_int(ta_trace_rank(s->trace)),
                               ta_key_text(ta_slice_of(kind_names[kind])));
        int64_t *cells = s->kinds[kind];
        ta_sum(&cells[KIND_COUNT], 1);
        ta_sum(&cells[KIND_TOTAL], length);
        ta_sum(&cells[KIND_DURING], during);
        ta_sum(&cells[KIND_AFTER], after);
        ta_sum(&cells[KIND_REFILL], refill);
        ta_sum(&cells[KIND_SAVING], ta_min_i64(length, during + after + refill));
    }
}

/* Not what is part of another wait. */
static void take_call(struct search *s, ta_row row)
{
    const ta_row parent = s->spans.parent[row];
    if (class_of(s, row) == TA_CLASS_RUNTIME &&
        (parent == TA_NO_ROW || class_of(s, parent) != TA_CLASS_RUNTIME ||
         !is_wait(work_of(s, parent)))) {
        if (!ta_vec_grow((void **)&s->waits, &s->max_waits, s->n_waits, sizeof *s->waits)) {
            s->failed = true;
            return;
        }
        const int64_t from = s->spans.ts[row];
        s->waits[s->n_waits++] = (struct wait){from, from + s->spans.dur[row], row};
    }
}

static bool is_pageable(struct search *s, ta_str id)
{
    const struct ta_slice name = ta_trace_text(s->trace, id);
    if (id != s->looked_at)
        s->is_pageable = memmem(name.ptr, name.len, "Pageable", strlen("Pageable")) != NULL;
    s->looked_at = id;
    return s->is_pageable;
}

static void take_copy(struct search *s, const struct ta_activity *a)
{
    uint8_t *copies = &s->copies[a->launch];
    *copies |= COPIES;
    if (is_pageable(s, s->spans.name[a->span])) {
        if (!(*copies & COPIES_PAGEABLE) && !is_wait(work_of(s, a->launch)))
            take_call(s, a->launch);
        *copies |= COPIES_PAGEABLE;
    }
    int64_t bytes = TA_MISSING;
    if (!ta_args_find(&s->sizes, a->span, &bytes) || bytes >= TA_HOST_VALUE_BYTES)
        *copies |= COPIES_BYTES;
}

/* Until when it is known what the device did before an activity; INT64_MAX where all is.  A call
 * whose kernel was not recorded, between the launches of both, may keep it busy once it returns. */
static int64_t known_until(const struct search *s, const struct ta_activities *activities, size_t i)
{
    const struct ta_activity *a = &activities->at[i];
    const bool has_one_device =
        activities->at[0].device == activities->at[activities->n - 1].device;
    const ta_row before = i ? activities->at[i - 1].launch : TA_NO_ROW;
    const int64_t from = before == TA_NO_ROW ? s->spans.ts[a->launch] : s->spans.ts[before];
    for (size_t l = s->lost->n ? ta_lost_from(s->lost, from) : 0;
         l < s->lost->n && s->lost->at[l].start < s->spans.ts[a->launch]; l++)
        if (has_one_device || s->lost->at[l].track == s->spans.track[a->launch])
            return s->lost->at[l].end;
    return INT64_MAX;
}

static void take_activities(struct search *s)
{
    const struct ta_activities activities = ta_trace_activities(s->trace);
    size_t next = 0;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        /* Activities of a device come in order: the next interval is near. */
        next = ta_intervals_near(s->busy, s->spans.ts[a->span], next);
        if (a->launch == TA_NO_ROW)
            continue;
        /* The gap of all devices together that an activity ends, if it was launched within it, up
         * to its launch and the way from there to the device. */
        const int64_t start = s->spans.ts[a->span];
        if (next != 0 && next != s->busy->n &&
            s->busy->at[next].start == start) { /* begins while others wait */
            const int64_t gap = s->busy->at[next - 1].end,
                          launched = s->spans.ts[a->launch] + s->spans.dur[a->launch];
            if (launched > gap)
                ta_intervals_add(
                    &s->late, gap,
                    ta_max_i64(gap, ta_min_i64(ta_min_i64(start, launched + TA_IDLE_LATENCY_NS),
                                               known_until(s, &activities, i))));
        }
        if (a->kernel == TA_NO_KERNEL && class_of(s, a->span) == TA_CLASS_MEMCPY)
            take_copy(s, a);
    }
    ta_intervals_unite(&s->late);
    /* While work may have run that was not recorded, nothing is known. */
    const struct ta_damage *damage = ta_trace_damage(s->trace);
    const struct ta_intervals *const unknown[] = {&s->lost->unrecorded, &damage->unknown,
                                                  &damage->disordered};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct ta_intervals known = {0};
        if (unknown[i]->n == 0)
            continue;
        ta_intervals_subtract(&s->late, unknown[i], &known);
        ta_intervals_free(&s->late);
        s->late = known;
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct search s = {.trace = trace,
                       .spans = ta_trace_spans(trace),
                       .categories = ta_trace_categories(trace),
                       .sizes = ta_trace_args(trace, "bytes"),
                       .out = out};
    s.makers.parent = s.sites.parent = s.callers.parent = s.spans.parent;
    s.copies = calloc(s.spans.n + 1, sizeof *s.copies);
    s.busy = ta_trace_busy(trace);
    s.lost = ta_trace_lost(trace);
    s.failed = !s.copies || !s.busy || !s.lost;
    if (!s.failed)
        take_activities(&s);
    if (!s.failed && s.busy->n) {
        s.rank = TA_PARTIAL_ROW(out[PARTIAL_RANKS], ta_key_int(ta_trace_rank(trace)));
        ta_sum(&s.rank[RANK_WINDOW], s.busy->at[s.busy->n - 1].end - s.busy->at[0].start);
        ta_sum(&s.rank[RANK_COUNT], 0);
        ta_sum(&s.rank[RANK_TOTAL], 0);
        ta_sum(&s.rank[RANK_HARMFUL], 0);
        /* The calls that wait, besides those that copy pageable memory. */
        static const enum ta_host_work waits[] = {TA_HOST_SYNC, TA_HOST_COPY};
        for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
            for (ta_row row = 0; (row = ta_host_next(&s.spans, row, waits[i])) < s.spans.n; row++)
                take_call(&s, row);
        take_waits(&s);
    }
    const bool done = !s.failed && !s.late.failed && !s.calls.failed && !s.cells.failed;
    ta_intervals_free(&s.late);
    free(s.waits);
    free(s.copies);
    ta_map_free(&s.calls);
    ta_map_free(&s.cells);
    ta_outward_free(&s.makers);
    ta_outward_free(&s.sites);
    ta_outward_free(&s.callers);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the waits of a trace");
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field site_fields[SITE_FIELDS] = {
    [KIND] = {"kind", TA_FIELD_TEXT},         [CALL] = {"call", TA_FIELD_TEXT},
    [SITE] = {"site", TA_FIELD_TEXT},         [CALLER] = {"caller", TA_FIELD_TEXT},
    [COUNT] = {"count", TA_FIELD_SUM},        [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [DURING] = {"idle_during", TA_FIELD_SUM}, [AFTER] = {"idle_after", TA_FIELD_SUM},
};

static const struct ta_field rank_fields[RANK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [RANK_COUNT] = {"count", TA_FIELD_SUM},
    [RANK_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [RANK_HARMFUL] = {"harmful_ns", TA_FIELD_SUM},
    [RANK_WINDOW] = {"window_ns", TA_FIELD_SUM},
};

static const struct ta_field kind_fields[KIND_FIELDS] = {
    [KIND_RANK] = {"rank", TA_FIELD_RANK},         [KIND_KIND] = {"kind", TA_FIELD_TEXT},
    [KIND_COUNT] = {"count", TA_FIELD_SUM},        [KIND_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [KIND_DURING] = {"idle_during", TA_FIELD_SUM}, [KIND_AFTER] = {"idle_after", TA_FIELD_SUM},
    [KIND_REFILL] = {"idle_refill", TA_FIELD_SUM}, [KIND_SAVING] = {"saving", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_SITES] = {"sites", site_fields, SITE_FIELDS},
    [PARTIAL_RANKS] = {"ranks", rank_fields, RANK_FIELDS},
    [PARTIAL_KINDS] = {"kinds", kind_fields, KIND_FIELDS},
    {0},
};

/* The columns are the fields of the partials, and one more in two of them. */
enum { HARMFUL = SITE_FIELDS, RANK_HARMFUL_SHARE = RANK_FIELDS };

static const struct ta_column by_site_columns[] = {
    [KIND] = {"kind", "Kind", TA_TEXT,
              .doc = "Kind of wait: synchronization; value read (of a single value, or a blocking "
                     "or pageable copy below 1 KiB); blocking copy (1 KiB or more); pageable copy "
                     "(1 KiB or more of pageable memory, which the driver has to stage)"},
    [CALL] = {"call", "Call", TA_TEXT, .doc = "Runtime call in which the host waits"},
    [SITE] =
        {"site", "Operator", TA_TEXT,
         .doc =
             "Outermost operator around the call; without one, the range or function that made it"},
    [CALLER] =
        {"caller", "Called from", TA_TEXT,
         .doc = "Nearest Python function around the operator; empty if stacks were not recorded"},
    [COUNT] = {"count", "Calls", TA_COUNT, .better = TA_LOWER,
               .doc = "Number of waits, over all ranks"},
    [TOTAL] = {"total_ns", "Host time", TA_NS, .better = TA_LOWER,
               .doc = "Time that host threads spent in the call"},
    [DURING] =
        {"idle_during_ns", "Idle during", TA_NS, .better = TA_LOWER,
         .doc = "Part of the host time in which no device of the rank worked and the next work was "
                "not launched yet; if several threads wait at once, it counts for the first wait"},
    [AFTER] = {"idle_after_ns", "Idle after", TA_NS, .better = TA_LOWER,
               .doc = "Idle time from the end of the call until a device worked again or the next "
                      "wait began; 0 if a device worked at its end"},
    [HARMFUL] = {"harmful_ns", "Harmful", TA_NS, .better = TA_LOWER,
                 .doc = "Idle time during and after the waits"},
};

static const struct ta_table_def by_site = {
    "sync.by_site",
    "Synchronization by call site",
    TA_COLUMNS(by_site_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per kind of wait, call, operator and caller, all ranks: host threads that wait "
           "for the device, and what that costs. A wait does no harm while the rank's devices "
           "work. Harm is idle time during the wait, and after it until a device works again or "
           "the next wait begins, while the next work was not launched yet: queued work is delayed "
           "by something else. No moment counts twice; if several threads wait at once, it counts "
           "for the first wait.",
    .order = {&by_site_columns[HARMFUL], TA_DESCENDING}};

static const struct ta_column by_rank_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [RANK_COUNT] = {"count", "Calls", TA_COUNT, .better = TA_LOWER, .weight = 0.1,
                    .doc = "Number of waits"},
    [RANK_TOTAL] = {"total_ns", "Host time", TA_NS, .better = TA_LOWER, .weight = 0.1,
                    .doc = "Time that host threads spent in waits"},
    [RANK_HARMFUL] =
        {"harmful_ns", "Harmful", TA_NS, .better = TA_LOWER, .weight = 0.5,
         .doc = "Device idle time during waits and right after them, each moment counted once"},
    [RANK_WINDOW] = {"window_ns", "Window", TA_NS,
                     .doc = "From the first to the last activity of all devices of the rank"},
    [RANK_HARMFUL_SHARE] = {"harmful_share", "Harmful %", TA_RATIO, .better = TA_LOWER,
                            .doc = "Harmful time divided by the window"},
};

static const struct ta_table_def by_rank = {"sync.by_rank",
                                            "Synchronization by rank",
                                            TA_COLUMNS(by_rank_columns),
                                            .doc = "One row per rank with device activities.",
                                            .tier = TA_TIER_DETAIL,
                                            .rank_words = "Waits for the device"};

static const struct ta_column by_kind_columns[] = {
    [KIND_RANK] = TA_RANK_COLUMN,
    [KIND_KIND] = {"kind", "Kind", TA_TEXT, .doc = "Kind of wait"},
    [KIND_COUNT] = {"count", "Calls", TA_COUNT, .better = TA_LOWER, .doc = "Number of waits"},
    [KIND_TOTAL] = {"total_ns", "Host time", TA_NS, .better = TA_LOWER,
                    .doc = "Time that host threads spent in these waits"},
    [KIND_DURING] =
        {"idle_during_ns", "Idle during", TA_NS, .better = TA_LOWER,
         .doc = "Part of the host time in which no device of the rank worked and the next work was "
                "not launched yet; if several threads wait at once, it counts for the first wait"},
    [KIND_AFTER] = {"idle_after_ns", "Idle after", TA_NS, .better = TA_LOWER,
                    .doc = "Idle time from the end of the call until a device worked again or the "
                           "next wait began"},
    [KIND_REFILL] = {"idle_refill_ns", "Idle while refilling", TA_NS, .better = TA_LOWER,
                     .doc = "Further idle time before the next wait because the host is late: it "
                            "has not got ahead of the device again"},
    [KIND_SAVING] = {"saving_ns", "Saving", TA_NS, .better = TA_LOWER,
                     .doc = "Sum of these three idle times, per wait at most its host time: "
                            "without the wait the host would be ahead by no more than that"},
};

static const struct ta_table_def by_kind = {
    "sync.by_kind", "Synchronization by kind", TA_COLUMNS(by_kind_columns),
    .doc = "One row per rank and kind of wait.", .tier = TA_TIER_DETAIL};

/* ---- finish -------------------------------------------------------------------------------- */

static struct ta_cell name_cell(const struct ta_partial *sites, const int64_t *row, size_t field)
{
    const struct ta_slice text = ta_partial_text(sites, row, field);
    return text.len ? ta_text(text) : ta_null();
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *sites = merged[PARTIAL_SITES];

    for (size_t i = 0; i < ta_partial_rows(sites); i++) {
        const int64_t *row = ta_partial_at(sites, i);
        TA_ROW(out,
               by_site, [KIND] = name_cell(sites, row, KIND), [CALL] = name_cell(sites, row, CALL),
               [SITE] = name_cell(sites, row, SITE), [CALLER] = name_cell(sites, row, CALLER),
               [COUNT] = ta_int(row[COUNT]), [TOTAL] = ta_int(row[TOTAL]),
               [DURING] = ta_int(row[DURING]), [AFTER] = ta_int(row[AFTER]),
               [HARMFUL] = ta_int(ta_add_sat(row[DURING], row[AFTER])));
    }
    for (size_t i = 0; i < ta_partial_rows(merged[PARTIAL_RANKS]); i++) {
        const int64_t *row = ta_partial_at(merged[PARTIAL_RANKS], i);
        TA_ROW(out, by_rank, [RANK] = ta_int(row[RANK]), [RANK_COUNT] = ta_int(row[RANK_COUNT]),
               [RANK_TOTAL] = ta_int(row[RANK_TOTAL]), [RANK_HARMFUL] = ta_int(row[RANK_HARMFUL]),
               [RANK_WINDOW] = ta_int(row[RANK_WINDOW]),
               [RANK_HARMFUL_SHARE] = row[RANK_WINDOW] > 0 ? ta_num((double)row[RANK_HARMFUL] /
                                                                    (double)row[RANK_WINDOW])
                                                           : ta_null());
    }
    const struct ta_partial *kinds = merged[PARTIAL_KINDS];
    for (size_t i = 0; i < ta_partial_rows(kinds); i++) {
        const int64_t *row = ta_partial_at(kinds, i);
        TA_ROW(out, by_kind, [KIND_RANK] = ta_int(row[KIND_RANK]),
               [KIND_KIND] = name_cell(kinds, row, KIND_KIND),
               [KIND_COUNT] = ta_int(row[KIND_COUNT]), [KIND_TOTAL] = ta_int(row[KIND_TOTAL]),
               [KIND_DURING] = ta_int(row[KIND_DURING]), [KIND_AFTER] = ta_int(row[KIND_AFTER]),
               [KIND_REFILL] = ta_int(row[KIND_REFILL]), [KIND_SAVING] = ta_int(row[KIND_SAVING]));
    }
    return TA_OK;
}

static const char *const needs_args[] = {"bytes", NULL};

static const struct ta_table_def *const tables[] = {&by_site, &by_rank, &by_kind, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .needs_args = needs_args,
                                           .section = "launches",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, sync_points, &ops, .title = "Synchronization",
          .summary = "Waits for the device, and the idle time that they cause: sync.by_site",
          .version = "1");
