/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The collectives of a trace, one by one, with what the device did before each of them.
 *
 * The time before a collective begins where the one before ended.  Activities in it are taken in
 * the order of their start, each with the part that does not overlap those before; time
 * without any activity is a gap, which has causes.  So the parts add up to the time. */
#include "ranks/map.h"

#include "model/cover.h"
#include "model/extent.h"
#include "model/idle/idle.h"
#include "model/program/steps.h"

struct walk {
    const struct ta_trace *trace;
    struct ta_partial *const *out;
    struct ta_spans spans;
    struct ta_activities activities;
    struct ta_kernels kernels;
    struct calls calls;
    const struct ta_program_steps *steps;
    struct items items;
    struct ta_cover compute;
    size_t next;  /* activity to be taken */
    bool is_open; /* a device is begun */
    /* The time before the next collective. */
    int64_t begin, covered, host_late;
    uint32_t last; /* item that covers up to `covered` */
    /* The pack of the device. */
    struct ta_pack records;
    int64_t base, before_start, n, left_out;
    int64_t began; /* the recording: the first span of the host, or of all without a host */
    int32_t before_step;
    bool failed;
};

static int64_t end_of(const struct walk *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

static bool is_comm(const struct walk *w, const struct ta_activity *a)
{
    return a->kernel != TA_NO_KERNEL && w->kernels.at[a->kernel].facts.class == TA_KERNEL_COMM;
}

static bool computes(const void *user, const struct ta_activity *activity)
{
    const struct ta_kernels *kernels = user;
    return activity->kernel != TA_NO_KERNEL &&
           kernels->at[activity->kernel].facts.class != TA_KERNEL_COMM;
}

/* ---- records --------------------------------------------------------------------------------- */

/* The number of the step that is open at a time, or -1. */
static int32_t step_at(const struct walk *w, int64_t time)
{
    const size_t at = ta_program_step_at(w->steps, time);
    return at == SIZE_MAX || w->steps->at[at].number > INT32_MAX ? -1
                                                                 : (int32_t)w->steps->at[at].number;
}

/* `hidden`: how long the device computes during it. */
static void put_record(struct walk *w, ta_row span, ta_row launch, int64_t whole, int64_t hidden)
{
    const int64_t start = w->spans.ts[span], end = end_of(w, span);
    if (w->n == TA_COLL_RECORDS_MOST) {
        w->left_out++;
        return;
    }
    const int32_t step = step_at(w, launch == TA_NO_ROW ? start : w->spans.ts[launch]);
    if (w->n++ == 0)
        w->base = w->before_start = start;
    int64_t seq;
    const size_t call = calls_of(&w->calls, span, launch, &seq);
    ta_pack_int(&w->records, (int64_t)call);
    if (seq != TA_MISSING && !w->calls.failed) {
        ta_pack_int(&w->records, seq - w->calls.at[call].seq);
        w->calls.at[call].seq = seq;
    }
    ta_pack_int(&w->records, step - w->before_step);
    ta_pack_int(&w->records, start - w->before_start);
    ta_pack_int(&w->records, end - start);
    ta_pack_int(&w->records, whole);
    ta_pack_int(&w->records, hidden);
    ta_pack_int(&w->records, w->host_late);
    items_flush(&w->items, whole, &w->records);
    w->before_start = start;
    w->before_step = step;
}

static void begin_pack(struct walk *w)
{
    calls_free(&w->calls);
    items_free(&w->items);
    calls_open(&w->calls, w->trace);
    w->items = (struct items){.trace = w->trace};
    w->records.n = 0;
    w->n = w->left_out = w->host_late = 0;
    w->before_step = 0;
    w->last = TA_COLL_NONE;
}

/* The head of a pack is known when its records are. */
static void end_pack(struct walk *w, int64_t device)
{
    struct ta_pack pack = {0};
    const int64_t zero = ta_trace_base_ns(w->trace);
    ta_pack_int(&pack, PACK_VERSION);
    ta_pack_int(&pack, zero == TA_MISSING ? w->base : ta_add_sat(zero, w->base));
    calls_put(&w->calls, &pack);
    items_put(&w->items, &pack);
    ta_pack_int(&pack, w->n);
    ta_pack_join(&pack, &w->records);
    if (w->n) {
        int64_t *row =
            TA_PARTIAL_ROW(w->out[0], ta_key_int(ta_trace_rank(w->trace)), ta_key_int(device),
                           ta_key_text((struct ta_slice){pack.at, pack.n}));
        ta_sum(&row[RECORDS_LEFT_OUT], w->left_out);
        ta_least(&row[RECORDS_BEGAN], zero == TA_MISSING ? w->began : ta_add_sat(zero, w->began));
    }
    w->failed |= pack.failed || w->calls.failed || w->items.failed;
    ta_pack_free(&pack);
}

/* ---- activities ------------------------------------------------------------------------------ */

static void take_comm(struct walk *w, const struct ta_activity *a)
{
    const int64_t start = w->spans.ts[a->span], end = end_of(w, a->span);
    const uint32_t last = w->last;
    if (last != TA_COLL_NONE && w->covered > start) /* what runs on is not before it */
        w->items.at[last].ns -= ta_min_i64(w->items.at[last].ns, w->covered - start);
    put_record(w, a->span, a->launch, ta_max_i64(start - w->begin, 0),
               ta_cover_of(&w->compute, w->next));
    w->host_late = 0;
    w->begin = ta_max_i64(w->begin, end);
    if (last != TA_COLL_NONE &&
        w->covered > w->begin) { /* it still runs when the collective ends */
        const struct item *item = &w->items.at[last];
        w->last = items_add(&w->items, item->kind, item->name, item->within, w->covered - w->begin);
    } else {
        w->last = TA_COLL_NONE;
        w->covered = w->begin;
    }
}

static void take_other(struct walk *w, const struct ta_activity *a)
{
    const int64_t start = w->spans.ts[a->span], end = end_of(w, a->span);
    const int64_t from = ta_max_i64(ta_max_i64(start, w->covered), w->begin);
    if (end <= from)
        return;
    const ta_str within =
        a->op == TA_NO_ROW || a->op == a->launch ? TA_STR_ABSENT : w->spans.name[a->op];
    w->last =
        items_add(&w->items, a->kernel == TA_NO_KERNEL ? TA_COLL_ITEM_COPY : TA_COLL_ITEM_KERNEL,
                  w->spans.name[a->span], within, end - from);
    w->covered = end;
}

/* The activities from `w->next` to `to`. */
static void advance(struct walk *w, size_t to)
{
    for (; w->next < to; w->next++) {
        const struct ta_activity *a = &w->activities.at[w->next];
        if (is_comm(w, a))
            take_comm(w, a);
        else
            take_other(w, a);
    }
}

/* Devices come one after the other; the first activity of one begins its time. */
static void open_device(struct walk *w)
{
    if (w->is_open)
        return;
    begin_pack(w);
    w->begin = w->covered = w->spans.ts[w->activities.at[w->next].span];
    w->is_open = true;
}

static void take_gap(void *user, const struct ta_idle_gap *gap)
{
    struct walk *w = user;
    open_device(w);
    advance(w, gap->next);
    for (size_t i = 0; i < gap->parts.n; i++) {
        const struct ta_idle_part *part = &gap->parts.at[i];
        const ta_str site = part->site == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[part->site];
        w->last = items_add(&w->items, TA_COLL_ITEM_GAP, (ta_str)part->cause, site, part->ns);
        if (ta_idle_is_of_host(part->cause))
            w->host_late += part->ns;
    }
    w->covered = gap->end;
}

static void end_device(void *user, int64_t device)
{
    struct walk *w = user;
    open_device(w);
    size_t to = w->next;
    while (to < w->activities.n && w->activities.at[to].device == device)
        to++;
    advance(w, to);
    end_pack(w, device);
    w->is_open = false;
}

/* ---- collectives of the host ---------------------------------------------------------------- */

static int by_start(const void *left, const void *right, void *user)
{
    const struct walk *w = user;
    const ta_row a = *(const ta_row *)left, b = *(const ta_row *)right;
    if (w->spans.ts[a] != w->spans.ts[b])
        return w->spans.ts[a] < w->spans.ts[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* The rows of host spans that are collectives themselves, in the order of time. */
static bool find_host(const struct walk *w, ta_row **rows, size_t *n)
{
    const size_t names = ta_trace_string_count(w->trace);
    bool *is_name = calloc(names + 1, sizeof *is_name);
    bool any = false, done = is_name != NULL;
    size_t max = 0;
    for (size_t id = 0; done && id < names; id++)
        any |= is_name[id] = calls_is_of_host(ta_trace_text(w->trace, (ta_str)id));
    for (ta_row row = 0; done && any && row < w->spans.n; row++)
        if (is_name[w->spans.name[row]] &&
            (done = ta_vec_grow((void **)rows, &max, *n, sizeof **rows)))
            (*rows)[(*n)++] = row;
    free(is_name);
    if (done && *n)
        qsort_r(*rows, *n, sizeof **rows, by_start, (void *)(uintptr_t)w);
    return done;
}

static bool walk_host(struct walk *w)
{
    ta_row *rows = NULL;
    size_t n = 0;
    const bool done = find_host(w, &rows, &n);
    struct host_work work;
    host_work_open(&work, w->trace);
    begin_pack(w);
    for (size_t i = 0; done && i < n; i++) {
        const int64_t start = w->spans.ts[rows[i]];
        if (i == 0)
            w->begin = ta_trace_origin(w->trace);
        if (start > w->begin) {
            host_work_until(&work, w->begin, NULL);
            host_work_until(&work, start, &w->items);
        }
        put_record(w, rows[i], TA_NO_ROW, ta_max_i64(start - w->begin, 0), 0);
        w->begin = ta_max_i64(w->begin, end_of(w, rows[i]));
    }
    end_pack(w, TA_MISSING);
    free(rows);
    return done;
}

/* When the recording of the host began. */
static bool find_beginning(struct walk *w)
{
    const struct ta_categories categories = ta_trace_categories(w->trace);
    const struct ta_extent *extents = ta_trace_extents(w->trace);
    struct ta_extent host = TA_EXTENT_EMPTY;
    for (size_t c = 0; extents && c < categories.n; c++)
        if (ta_class_is_host(categories.at[c].class))
            host = ta_extent_join(host, extents[c]);
    w->began = host.n ? host.start : ta_trace_origin(w->trace);
    return extents != NULL;
}

/* ---- a trace --------------------------------------------------------------------------------- */

enum ta_status map_collectives(struct ta_ctx *ctx, const struct ta_trace *trace,
                               struct ta_partial *const *out)
{
    struct walk w = {.trace = trace,
                     .out = out,
                     .spans = ta_trace_spans(trace),
                     .activities = ta_trace_activities(trace),
                     .kernels = ta_trace_kernels(trace),
                     .steps = ta_program_steps(trace)};
    w.compute = (struct ta_cover){
        .activities = w.activities, .spans = w.spans, .counts = computes, .user = &w.kernels};
    const struct ta_idle_watcher watcher = {.user = &w, .gap = take_gap, .device = end_device};
    bool communicates = false;
    for (size_t i = 0; i < w.kernels.n; i++)
        communicates |= w.kernels.at[i].facts.class == TA_KERNEL_COMM;
    const bool done = w.steps && find_beginning(&w) &&
                      (communicates ? ta_idle_walk(trace, &watcher) : walk_host(&w)) && !w.failed &&
                      !w.records.failed;
    calls_free(&w.calls);
    items_free(&w.items);
    ta_pack_free(&w.records);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the collectives of a trace");
}
