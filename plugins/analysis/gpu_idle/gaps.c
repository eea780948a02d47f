/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps of one trace: added up by cause and by place, the longest one by one. */
#include "idle.h"

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
    struct gap longest[IDLE_LONGEST_KEPT];
    bool lists_gaps;
    size_t n_longest, least;         /* of as many as are kept: the place of the shortest */
    int64_t *causes[TA_IDLE_CAUSES]; /* rows of the device in the partial, NULL before the first */
};

static struct ta_slice name_of(const struct sums *s, ta_row row)
{
    return row == TA_NO_ROW ? TA_LIT("")
                            : ta_host_place(ta_trace_text(s->trace, s->spans.name[row]));
}

/* ---- the longest gaps ------------------------------------------------------------------------
 */

/* Longer gaps count more; of equal ones the earlier. */
static bool is_less(const struct gap *a, const struct gap *b)
{
    const int64_t left = a->end - a->start, right = b->end - b->start;
    return left != right ? left < right : a->start > b->start;
}

static void keep_longest(struct sums *s, const struct gap *gap)
{
    if (s->n_longest < IDLE_LONGEST_KEPT)
        s->longest[s->n_longest++] = *gap;
    else if (is_less(&s->longest[s->least], gap))
        s->longest[s->least] = *gap;
    else
        return;
    if (s->n_longest == IDLE_LONGEST_KEPT) {
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
            TA_PARTIAL_ROW(s->out[IDLE_PARTIAL_GAPS], ta_key_int(ta_trace_rank(s->trace)),
                           ta_key_int(device), ta_key_int(gap->start - ta_trace_origin(s->trace)),
                           ta_key_text(ta_slice_of(ta_idle_causes[gap->cause].name)),
                           ta_key_text(name_of(s, gap->site)), ta_key_text(name_of(s, gap->next)));
        ta_sum(&row[GAP_TOTAL], gap->end - gap->start);
    }
    s->n_longest = 0;
    memset(s->causes, 0, sizeof s->causes);
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void count_piece(void *user, enum ta_idle_cause cause, int64_t ns, ta_row place)
{
    struct sums *s = user;
    if (cause == TA_IDLE_MICRO || cause == TA_IDLE_UNLINKED || cause == TA_IDLE_LOST ||
        cause == TA_IDLE_PROFILER)
        return;
    const ta_str name = place == TA_NO_ROW ? TA_STR_ABSENT : s->spans.name[place];
    const uint64_t id = (uint64_t)cause << 32 | name;
    const uint64_t *known = ta_map_find(&s->site_rows, id);
    int64_t *row =
        known ? (int64_t *)(uintptr_t)*known
              : ta_partial_cached(s->out[IDLE_PARTIAL_SITES], &s->site_rows, id,
                                  (const struct ta_key[]){
                                      ta_key_text(ta_slice_of(ta_idle_causes[cause].name)),
                                      ta_key_text(ta_host_place(ta_trace_text(s->trace, name)))});
    ta_sum(&row[SITE_PIECES], 1);
    ta_sum(&row[SITE_TOTAL], ns);
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
                s->out[IDLE_PARTIAL_CAUSES], ta_key_int(ta_trace_rank(s->trace)),
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
    if (s->lists_gaps && gap.end - gap.start >= TA_IDLE_MICRO_NS)
        keep_longest(s, &gap);
}

enum ta_status idle_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                        struct ta_partial *const *out)
{
    struct sums s = {.trace = trace,
                     .activities = ta_trace_activities(trace),
                     .spans = ta_trace_spans(trace),
                     .out = out};
    s.lists_gaps = ta_partial_is_kept(out[IDLE_PARTIAL_GAPS]);
    const struct ta_idle_watcher watcher = {
        .user = &s,
        .piece = ta_partial_is_kept(out[IDLE_PARTIAL_SITES]) ? count_piece : NULL,
        .gap = count_gap,
        .device = list_longest};
    const bool done = ta_idle_walk(trace, &watcher);
    ta_map_free(&s.site_rows);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the gaps of a device");
}
