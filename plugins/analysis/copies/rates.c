/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was copied and how fast, what ran beside it, and how long it held up the host. */
#include "copies.h"
#include "model/cover.h"
#include "model/busy.h"

#include <traceanalyze/hardware.h>
#include <traceanalyze/model.h>

/* What a copy is by its name, with the rows of its sums. */
struct kind {
    ta_str name;
    struct ta_slice direction, memory;
    bool is_pageable;
    int64_t *by_direction, *by_memory;
};

/* Names of copies looked at last: those of most traces, of which there are few. */
enum { KINDS = 16 };

struct walk {
    const struct ta_ctx *ctx;
    const struct ta_trace *trace;
    const struct ta_hardware *hardware; /* of the device at hand; NULL when it is not known */
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_args sizes;
    struct ta_cover kernels;
    const struct ta_intervals *busy;
    struct ta_map rates, waits; /* rows of partials */
    struct kind kinds[KINDS];   /* by the last bits of the name */
    struct ta_map seen;         /* calls whose time is counted */
    struct ta_partial *const *out;
};

static struct ta_slice name_of(const struct walk *w, ta_row row)
{
    return ta_trace_text(w->trace, w->spans.name[row]);
}

static const struct kind *kind_of(struct walk *w, ta_row copy)
{
    const ta_str named = w->spans.name[copy];
    struct kind *kind = &w->kinds[named % KINDS];
    if (kind->name != named || !kind->direction.ptr) {
        const struct ta_slice name = name_of(w, copy), memory = copies_host_memory(name);
        const struct ta_key rank = ta_key_int(ta_trace_rank(w->trace));
        *kind = (struct kind){
            .name = named,
            .direction = copies_direction(name),
            .memory = memory,
            .is_pageable = ta_slice_equal(memory, TA_LIT("pageable")),
            .by_memory =
                TA_PARTIAL_ROW(w->out[COPIES_MEMORIES], rank, ta_key_text(copies_memory(name))),
        };
        kind->by_direction =
            TA_PARTIAL_ROW(w->out[COPIES_DIRECTIONS], rank, ta_key_text(kind->direction));
    }
    return kind;
}

/* Bytes per second; TA_MISSING for copies without size or duration. */
static int64_t rate_of(int64_t bytes, int64_t ns)
{
    if (bytes == TA_MISSING || bytes < 0 || ns <= 0)
        return TA_MISSING;
    const __int128 rate = (__int128)bytes * 1000000000 / ns;
    return rate < INT64_MAX ? (int64_t)rate : TA_MISSING;
}

/* What the link of a direction is stated to do; TA_MISSING where that is not known. */
static int64_t stated_link(const struct walk *w, struct ta_slice direction)
{
    if (!w->hardware)
        return TA_MISSING;
    const bool is_peer = ta_slice_equal(direction, TA_LIT("PtoP"));
    const bool is_host =
        ta_slice_equal(direction, TA_LIT("HtoD")) || ta_slice_equal(direction, TA_LIT("DtoH"));
    const double rate = is_peer   ? w->hardware->peer_bytes_per_s
                        : is_host ? w->hardware->host_bytes_per_s
                                  : 0;
    return rate > 0 ? ta_whole(rate) : TA_MISSING;
}

/* ---- sums and rates ------------------------------------------------------------------------- */

static void add_copy(int64_t *row, int64_t dur, int64_t bytes)
{
    ta_sum(&row[SUM_COUNT], 1);
    ta_sum(&row[SUM_TOTAL], dur);
    ta_sum(&row[SUM_BYTES], bytes);
    if (bytes != TA_MISSING)
        ta_sum(&row[SUM_SIZED_NS], dur);
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* The row of a copy for which a host thread waits within the call: by its own choice, or because
 * the driver has to stage pageable memory.  NULL for all others. */
static int64_t *wait_row(struct walk *w, const struct ta_activity *a)
{
    const ta_row call = a->launch;
    const struct kind *kind = kind_of(w, a->span);
    if (!kind->is_pageable && w->spans.work[call] != TA_HOST_COPY)
        return NULL;
    return TA_PARTIAL_ROW(w->out[COPIES_WAITS], ta_key_int(ta_trace_rank(w->trace)),
                          ta_key_text(kind->direction), ta_key_text(kind->memory),
                          ta_key_text(name_of(w, call)));
}

static void take_wait(struct walk *w, const struct ta_activity *a, int64_t bytes, int64_t exposed)
{
    if (a->launch == TA_NO_ROW || (bytes != TA_MISSING && bytes < TA_HOST_VALUE_BYTES))
        return;
    const uint64_t id = (uint64_t)w->spans.name[a->launch] << 32 | w->spans.name[a->span];
    uint64_t *known = ta_map_at(&w->waits, id, UINT64_MAX);
    if (!known)
        return;
    if (*known == UINT64_MAX)
        *known = (uint64_t)(uintptr_t)wait_row(w, a);
    int64_t *row = (int64_t *)(uintptr_t)*known;
    if (!row)
        return;
    ta_sum(&row[WAIT_COUNT], 1);
    ta_sum(&row[WAIT_BYTES], bytes);
    ta_sum(&row[WAIT_COPY], w->spans.dur[a->span]);
    ta_sum(&row[WAIT_EXPOSED], exposed);
    /* A call may make several copies; its own time counts once. */
    uint64_t *seen = ta_map_at(&w->seen, a->launch, 0);
    if (!seen || *seen)
        return;
    *seen = 1;
    const int64_t start = w->spans.ts[a->launch], end = start + w->spans.dur[a->launch];
    ta_sum(&row[WAIT_HOST], end - start);
    ta_sum(&row[WAIT_IDLE], ta_intervals_gaps(w->busy, start, end));
}

/* ---- the walk ------------------------------------------------------------------------------- */

static bool is_kernel(const void *user, const struct ta_activity *activity)
{
    (void)user;
    return activity->kernel != TA_NO_KERNEL;
}

static bool is_copy(const struct walk *w, const struct ta_activity *a)
{
    return a->kernel == TA_NO_KERNEL &&
           w->categories.at[w->spans.cat[a->span]].class == TA_CLASS_MEMCPY;
}

/* The activities [from, to) are those of one device. */
static void take_device(struct walk *w, size_t from, size_t to)
{
    const struct ta_device *device = ta_trace_device(w->trace, w->activities.at[from].device);
    const char *why;
    w->hardware = device ? ta_ctx_hardware(w->ctx, device, &why) : NULL;
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (!is_copy(w, a))
            continue;
        const int64_t exposed = w->spans.dur[a->span] - ta_cover_of(&w->kernels, i);
        const struct kind *kind = kind_of(w, a->span);
        int64_t bytes = TA_MISSING;
        ta_args_find(&w->sizes, a->span, &bytes);
        add_copy(kind->by_direction, w->spans.dur[a->span], bytes);
        add_copy(kind->by_memory, w->spans.dur[a->span], bytes);
        const int64_t ns = w->spans.dur[a->span], rate = rate_of(bytes, ns);
        if (rate != TA_MISSING) {
            const int size = copies_size_class(bytes);
            const uint64_t id = (uint64_t)size << 32 | w->spans.name[a->span];
            int64_t *row = ta_partial_cached(
                w->out[COPIES_RATES], &w->rates, id,
                (const struct ta_key[]){ta_key_int(ta_trace_rank(w->trace)),
                                        ta_key_text(kind->direction), ta_key_text(kind->memory),
                                        ta_key_int(size)});
            ta_sum(&row[RATE_COUNT], 1);
            ta_sum(&row[RATE_BYTES], bytes);
            ta_sum(&row[RATE_TOTAL], ns);
            ta_sum(&row[RATE_EXPOSED], exposed);
            ta_most(&row[RATE_LINK], stated_link(w, kind->direction));
            if (bytes >= COPIES_LARGE_FROM) {
                int64_t *link = TA_PARTIAL_ROW(w->out[COPIES_LINKS], ta_key_text(kind->direction));
                ta_dist_add(ta_partial_dist(w->out[COPIES_LINKS], link, LINK_RATE), rate);
            }
        }
        take_wait(w, a, bytes, exposed);
    }
}

static bool has_copies(const struct walk *w)
{
    for (size_t i = 0; i < w->activities.n; i++)
        if (is_copy(w, &w->activities.at[i]))
            return true;
    return false;
}

enum ta_status copies_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct walk w = {
        .ctx = ctx,
        .trace = trace,
        .activities = ta_trace_activities(trace),
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
        .sizes = ta_trace_args(trace, "bytes"),
        .out = out,
    };
    if (!has_copies(&w))
        return TA_OK;
    w.busy = ta_trace_busy(trace);
    w.kernels =
        (struct ta_cover){.activities = w.activities, .spans = w.spans, .counts = is_kernel};
    for (size_t from = 0, to; w.busy && from < w.activities.n; from = to) {
        to = ta_device_end(&w.activities, from);
        take_device(&w, from, to);
    }
    const bool done = w.busy && !w.rates.failed && !w.waits.failed && !w.seen.failed;
    ta_map_free(&w.rates);
    ta_map_free(&w.waits);
    ta_map_free(&w.seen);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the copies of a trace");
}
