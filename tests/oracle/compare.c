/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two readings of one file, row by row. */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>

struct comparison {
    const struct ta_trace *a, *b; /* expected, found */
    ta_str *same;                 /* text of a → text of b with the same bytes, once seen */
    struct difference *difference;
    const char *table;
    size_t row;
    bool in_spans;
    int64_t ts; /* of the present row */
};

static bool differ(struct comparison *c, const char *field, const char *format, ...)
    TA_PRINTF(3, 4);

static bool differ(struct comparison *c, const char *field, const char *format, ...)
{
    char values[800];
    va_list args;
    va_start(args, format);
    vsnprintf(values, sizeof values, format, args);
    va_end(args);
    struct difference *d = c->difference;
    snprintf(d->what, sizeof d->what, "%s %zu: %s %s", c->table, c->row, field, values);
    d->span = c->in_spans ? (ta_row)c->row : TA_NO_ROW;
    d->ts = c->ts;
    return false;
}

static bool same_number(struct comparison *c, const char *field, int64_t a, int64_t b)
{
    return a == b || differ(c, field, "is %" PRId64 ", expected %" PRId64, b, a);
}

/* At most 300 bytes of a text, made printable. */
static const char *shown(struct ta_slice text, char *out, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 8 < max; i++) {
        const unsigned char c = (unsigned char)text.ptr[i];
        n += (size_t)snprintf(out + n, max - n, c < 0x20 || c > 0x7e ? "\\x%02x" : "%c", c);
    }
    out[n] = '\0';
    return out;
}

static bool same_bytes(struct comparison *c, const char *field, struct ta_slice a,
                       struct ta_slice b)
{
    char left[300], right[300];
    if (ta_slice_equal(a, b))
        return true;
    return differ(c, field, "is \"%s\" of %zu bytes, expected \"%s\" of %zu bytes",
                  shown(b, right, sizeof right), b.len, shown(a, left, sizeof left), a.len);
}

static bool same_text(struct comparison *c, const char *field, ta_str a, ta_str b)
{
    if (a == TA_STR_ABSENT || b == TA_STR_ABSENT)
        return a == b || differ(c, field, "is %s, expected %s", b ? "there" : "absent",
                                a ? "there" : "absent");
    if (c->same[a] == b)
        return true;
    if (!same_bytes(c, field, ta_trace_text(c->a, a), ta_trace_text(c->b, b)))
        return false;
    c->same[a] = b;
    return true;
}

static void begin_table(struct comparison *c, const char *table)
{
    c->table = table;
    c->row = 0;
    c->in_spans = false;
    c->ts = TA_MISSING;
}

static bool same_count(struct comparison *c, size_t a, size_t b)
{
    return same_number(c, "number of rows", (int64_t)a, (int64_t)b);
}

/* ---- tables -------------------------------------------------------------------------------- */

static bool same_tracks(struct comparison *c)
{
    const struct ta_tracks a = ta_trace_tracks(c->a), b = ta_trace_tracks(c->b);
    begin_table(c, "tracks");
    for (c->row = 0; c->row < a.n && c->row < b.n; c->row++) {
        const struct ta_track *x = &a.at[c->row], *y = &b.at[c->row];
        if (!same_text(c, "pid", x->pid, y->pid) || !same_text(c, "tid", x->tid, y->tid) ||
            !same_text(c, "process name", x->process_name, y->process_name) ||
            !same_text(c, "thread name", x->thread_name, y->thread_name))
            return false;
    }
    return same_count(c, a.n, b.n);
}

static bool same_cat(struct comparison *c, ta_cat a, ta_cat b)
{
    const struct ta_category *x = &ta_trace_categories(c->a).at[a];
    const struct ta_category *y = &ta_trace_categories(c->b).at[b];
    return same_text(c, "category", x->name, y->name) &&
           same_number(c, "class of category", x->class, y->class);
}

static bool same_kinds(struct comparison *c)
{
    const struct ta_kind_counts a = ta_trace_kind_counts(c->a), b = ta_trace_kind_counts(c->b);
    begin_table(c, "kinds");
    for (c->row = 0; c->row < a.n && c->row < b.n; c->row++) {
        const struct ta_kind_count *x = &a.at[c->row], *y = &b.at[c->row];
        if (!same_number(c, "phase", x->phase, y->phase) || !same_cat(c, x->cat, y->cat) ||
            !same_number(c, "count", x->count, y->count))
            return false;
    }
    return same_count(c, a.n, b.n);
}

/* The track of a row, by what names it. */
static bool same_track(struct comparison *c, uint32_t a, uint32_t b)
{
    const struct ta_track *x = &ta_trace_tracks(c->a).at[a], *y = &ta_trace_tracks(c->b).at[b];
    return same_text(c, "pid", x->pid, y->pid) && same_text(c, "tid", x->tid, y->tid);
}

static bool same_spans(struct comparison *c)
{
    const struct ta_spans a = ta_trace_spans(c->a), b = ta_trace_spans(c->b);
    begin_table(c, "spans");
    c->in_spans = true;
    for (size_t i = c->row = 0; i < a.n && i < b.n; c->row = ++i) {
        if (!same_number(c, "ts", a.ts[i], b.ts[i]) || !same_number(c, "dur", a.dur[i], b.dur[i]) ||
            !same_text(c, "name", a.name[i], b.name[i]) || !same_cat(c, a.cat[i], b.cat[i]) ||
            !same_track(c, a.track[i], b.track[i]) ||
            !same_number(c, "self time", a.self[i], b.self[i]) ||
            !same_number(c, "parent", a.parent[i], b.parent[i]) ||
            !same_number(c, "depth", a.depth[i], b.depth[i]))
            return false;
    }
    c->in_spans = c->row < a.n;
    return same_count(c, a.n, b.n);
}

static bool same_args(struct comparison *c, struct ta_slice key)
{
    const struct ta_args a = ta_trace_args(c->a, key.ptr), b = ta_trace_args(c->b, key.ptr);
    char table[64];
    snprintf(table, sizeof table, "argument \"%s\" of spans row", key.ptr);
    begin_table(c, table);
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        c->row = a.row[i];
        c->in_spans = true;
        if (!same_number(c, "row", a.row[i], b.row[i]) ||
            !same_number(c, "is text", ta_args_is_text(&a, i), ta_args_is_text(&b, i)))
            return false;
        const int64_t x = ta_args_value(&a, i), y = ta_args_value(&b, i);
        if (ta_args_is_text(&a, i) ? !same_text(c, "text", (ta_str)x, (ta_str)y)
                                   : !same_number(c, "value", x, y))
            return false;
    }
    return same_count(c, a.n, b.n);
}

static bool same_activities(struct comparison *c)
{
    const struct ta_activities a = ta_trace_activities(c->a), b = ta_trace_activities(c->b);
    begin_table(c, "activities");
    for (c->row = 0; c->row < a.n && c->row < b.n; c->row++) {
        const struct ta_activity *x = &a.at[c->row], *y = &b.at[c->row];
        if (!same_number(c, "span", x->span, y->span) ||
            !same_number(c, "launch", x->launch, y->launch) ||
            !same_number(c, "op", x->op, y->op) || !same_number(c, "device", x->device, y->device))
            return false;
    }
    return same_count(c, a.n, b.n);
}

static bool same_series(struct comparison *c, const struct ta_counters *a,
                        const struct ta_counters *b)
{
    begin_table(c, "series of counters");
    for (size_t i = c->row = 0; i < a->n_series && i < b->n_series; c->row = ++i) {
        const struct ta_counter_series *x = &a->series[i], *y = &b->series[i];
        if (!same_number(c, "first", (int64_t)x->first, (int64_t)y->first) ||
            !same_text(c, "name", x->name, y->name) ||
            !same_text(c, "series", x->series, y->series) || !same_track(c, x->track, y->track))
            return false;
    }
    return same_count(c, a->n_series, b->n_series);
}

static bool same_counters(struct comparison *c)
{
    const struct ta_counters a = ta_trace_counters(c->a), b = ta_trace_counters(c->b);
    begin_table(c, "counters");
    for (size_t i = c->row = 0; i < a.n && i < b.n; c->row = ++i) {
        c->ts = a.ts[i];
        if (memcmp(&a.value[i], &b.value[i], sizeof a.value[i]) != 0)
            return differ(c, "value", "is %.17g, expected %.17g", b.value[i], a.value[i]);
        if (!same_number(c, "ts", a.ts[i], b.ts[i]))
            return false;
    }
    return same_count(c, a.n, b.n) && same_series(c, &a, &b);
}

static bool same_instants(struct comparison *c)
{
    const struct ta_instants a = ta_trace_instants(c->a), b = ta_trace_instants(c->b);
    begin_table(c, "instants");
    for (size_t i = c->row = 0; i < a.n && i < b.n; c->row = ++i) {
        c->ts = a.ts[i];
        if (!same_number(c, "ts", a.ts[i], b.ts[i]) ||
            !same_text(c, "name", a.name[i], b.name[i]) || !same_cat(c, a.cat[i], b.cat[i]) ||
            !same_track(c, a.track[i], b.track[i]))
            return false;
    }
    return same_count(c, a.n, b.n);
}

static bool same_flows(struct comparison *c)
{
    const struct ta_flows a = ta_trace_flows(c->a), b = ta_trace_flows(c->b);
    begin_table(c, "flows");
    for (size_t i = c->row = 0; i < a.n && i < b.n; c->row = ++i) {
        c->ts = a.ts[i];
        if (!same_number(c, "ts", a.ts[i], b.ts[i]) ||
            !same_text(c, "name", a.name[i], b.name[i]) || !same_text(c, "id", a.id[i], b.id[i]) ||
            !same_number(c, "phase", a.phase[i], b.phase[i]) ||
            !same_track(c, a.track[i], b.track[i]))
            return false;
    }
    return same_count(c, a.n, b.n);
}

static bool same_asyncs(struct comparison *c)
{
    const struct ta_asyncs a = ta_trace_asyncs(c->a), b = ta_trace_asyncs(c->b);
    begin_table(c, "asynchronous spans");
    for (size_t i = c->row = 0; i < a.n && i < b.n; c->row = ++i) {
        c->ts = a.ts[i];
        if (!same_number(c, "ts", a.ts[i], b.ts[i]) || !same_number(c, "dur", a.dur[i], b.dur[i]) ||
            !same_text(c, "name", a.name[i], b.name[i]) || !same_text(c, "id", a.id[i], b.id[i]) ||
            !same_cat(c, a.cat[i], b.cat[i]))
            return false;
    }
    return same_count(c, a.n, b.n);
}

/* Facts and lists first: what is wrong there shows as something else further on.  Spans go before
 * what refers to their rows. */
bool trace_same(const struct ta_trace *expected, const struct ta_trace *found,
                struct difference *difference)
{
    struct comparison c = {.a = expected, .b = found, .difference = difference};
    c.same = calloc(ta_trace_string_count(expected) + 1, sizeof *c.same);
    assert_non_null(c.same);
    begin_table(&c, "facts");
    bool same = same_spans(&c);
    for (size_t i = 0; same && i < ORACLE_KEYS; i++)
        same = same_args(&c, oracle_keys[i]);
    same = same && same_activities(&c) && same_counters(&c) && same_instants(&c) &&
           same_flows(&c) && same_asyncs(&c) && same_tracks(&c) && same_kinds(&c);
    begin_table(&c, "facts");
    same = same && same_number(&c, "origin", ta_trace_origin(expected), ta_trace_origin(found)) &&
           same_number(&c, "base time", ta_trace_base_ns(expected), ta_trace_base_ns(found)) &&
           same_number(&c, "events", (int64_t)ta_trace_file(expected).events,
                       (int64_t)ta_trace_file(found).events);
    free(c.same);
    return same;
}

/* ---- facts and findings ---------------------------------------------------------------------- */

static bool same_slot(struct comparison *c, const struct ta_quality_slot *a,
                      const struct ta_quality_slot *b, bool told)
{
    if (!same_number(c, "count", (int64_t)a->count, (int64_t)b->count) || a->count == 0)
        return a->count == b->count;
    return same_number(c, "first offset", (int64_t)a->first, (int64_t)b->first) &&
           same_number(c, "last offset", (int64_t)a->last, (int64_t)b->last) &&
           same_number(c, "severity", a->severity, b->severity) &&
           (!told || (same_number(c, "offset in the file", (int64_t)a->file_offset,
                                  (int64_t)b->file_offset) &&
                      same_bytes(c, "text", ta_slice_of(a->text), ta_slice_of(b->text))));
}

bool quality_same(const struct ta_quality *expected, const struct ta_quality *found, bool told,
                  struct difference *difference)
{
    struct comparison c = {.difference = difference};
    bool same = true;
    for (int code = 0; same && code < TA_Q_COUNT; code++) {
        char table[64];
        snprintf(table, sizeof table, "finding %s", ta_quality_name((enum ta_quality_code)code));
        begin_table(&c, table);
        same = same_slot(&c, &expected->slots[code], &found->slots[code], told);
    }
    return same;
}

static bool same_facts(struct comparison *c, const struct outcome *a, const struct outcome *b)
{
    begin_table(c, "facts");
    return same_number(c, "kept", (int64_t)a->kept, (int64_t)b->kept) &&
           same_number(c, "dropped", (int64_t)a->dropped, (int64_t)b->dropped) &&
           same_number(c, "repaired", (int64_t)a->repaired, (int64_t)b->repaired) &&
           same_number(c, "bytes skipped", (int64_t)a->skipped, (int64_t)b->skipped) &&
           same_number(c, "truncated", a->truncated, b->truncated) &&
           same_number(c, "early end of the stream", a->early, b->early) &&
           same_number(c, "status", a->status, b->status) &&
           same_number(c, "first ts", a->first_ts, b->first_ts) &&
           same_number(c, "last ts", a->last_ts, b->last_ts) &&
           same_number(c, "rank", a->rank, b->rank) &&
           same_number(c, "world size", a->world_size, b->world_size) &&
           same_bytes(c, "vendor", ta_slice_of(a->vendor), ta_slice_of(b->vendor)) &&
           same_bytes(c, "devices", ta_slice_of(a->devices), ta_slice_of(b->devices));
}

bool outcome_same(const struct outcome *expected, const struct outcome *found, bool told,
                  struct difference *difference)
{
    struct comparison c = {.difference = difference};
    *difference = (struct difference){.span = TA_NO_ROW, .ts = TA_MISSING};
    if (expected->trace && found->trace && !trace_same(expected->trace, found->trace, difference))
        return false;
    if (!same_facts(&c, expected, found) ||
        !quality_same(&expected->quality, &found->quality, told, difference))
        return false;
    return !told ||
           same_bytes(&c, "refusal", ta_slice_of(expected->causes), ta_slice_of(found->causes));
}
