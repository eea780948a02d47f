/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast each copy was, what ran beside it, and how long it held up the host. */
#include "copies.h"

#include <traceanalyze/host.h>

#include <math.h>
#include <stdio.h>

/* What a copy is by its name, worked out once per name and trace. */
struct kind {
    struct ta_slice direction, memory;
    bool is_pageable;
};

struct walk {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_args sizes;
    struct ta_intervals kernels; /* of the device at hand */
    struct ta_intervals busy;    /* of all devices */
    struct ta_map rates, waits;  /* rows of partials */
    struct ta_map seen;          /* calls whose time is counted */
    struct ta_partial *const *out;
};

static struct ta_slice name_of(const struct walk *w, ta_row row)
{
    return ta_trace_text(w->trace, w->spans.name[row]);
}

static struct kind kind_of(const struct walk *w, ta_row copy)
{
    const struct ta_slice name = name_of(w, copy);
    struct kind kind = {.direction = copies_direction(name), .memory = copies_host_memory(name)};
    kind.is_pageable = ta_slice_equal(kind.memory, TA_LIT("pageable"));
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

/* ---- rates ---------------------------------------------------------------------------------- */

static void take_rate(struct walk *w, ta_row copy, int64_t bytes, int64_t exposed)
{
    const int64_t ns = w->spans.dur[copy], rate = rate_of(bytes, ns);
    if (rate == TA_MISSING)
        return;
    const int size = copies_size_class(bytes);
    const uint64_t id = (uint64_t)size << 32 | w->spans.name[copy];
    const uint64_t *known = ta_map_find(&w->rates, id);
    int64_t *row = known ? (int64_t *)(uintptr_t)*known : NULL;
    if (!row) {
        const struct kind kind = kind_of(w, copy);
        row =
            ta_partial_cached(w->out[COPIES_RATES], &w->rates, id,
                              (const struct ta_key[]){ta_key_int(ta_trace_rank(w->trace)),
                                                      ta_key_text(kind.direction),
                                                      ta_key_text(kind.memory), ta_key_int(size)});
    }
    ta_sum(&row[RATE_COUNT], 1);
    ta_sum(&row[RATE_BYTES], bytes);
    ta_sum(&row[RATE_TOTAL], ns);
    ta_sum(&row[RATE_EXPOSED], exposed);
    if (bytes >= COPIES_LARGE_FROM) {
        int64_t *link =
            TA_PARTIAL_ROW(w->out[COPIES_LINKS], ta_key_text(copies_direction(name_of(w, copy))));
        ta_dist_add(ta_partial_dist(w->out[COPIES_LINKS], link, LINK_RATE), rate);
    }
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* The row of a copy for which a host thread waits within the call: by its own choice, or because
 * the driver has to stage pageable memory.  NULL for all others. */
static int64_t *wait_row(struct walk *w, const struct ta_activity *a)
{
    const ta_row call = a->launch;
    const struct kind kind = kind_of(w, a->span);
    if (!kind.is_pageable && w->spans.work[call] != TA_HOST_COPY)
        return NULL;
    return TA_PARTIAL_ROW(w->out[COPIES_WAITS], ta_key_int(ta_trace_rank(w->trace)),
                          ta_key_text(kind.direction), ta_key_text(kind.memory),
                          ta_key_text(name_of(w, call)));
}

/* A call may make several copies; its own time counts once. */
static void take_call(struct walk *w, ta_row call, int64_t *row)
{
    uint64_t *seen = ta_map_at(&w->seen, call, 0);
    if (!seen || *seen)
        return;
    *seen = 1;
    const int64_t start = w->spans.ts[call], end = start + w->spans.dur[call];
    ta_sum(&row[WAIT_HOST], end - start);
    ta_sum(&row[WAIT_IDLE], ta_intervals_gaps(&w->busy, start, end));
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
    take_call(w, a->launch, row);
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* The activities [from, to) are those of one device. */
static void take_device(struct walk *w, size_t from, size_t to)
{
    w->kernels.n = 0;
    for (size_t i = from; i < to; i++) {
        const ta_row span = w->activities.at[i].span;
        if (w->activities.at[i].kernel != TA_NO_KERNEL)
            ta_intervals_add(&w->kernels, w->spans.ts[span],
                             w->spans.ts[span] + w->spans.dur[span]);
    }
    ta_intervals_unite(&w->kernels);
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (w->categories.at[w->spans.cat[a->span]].class != TA_CLASS_MEMCPY)
            continue;
        const int64_t start = w->spans.ts[a->span], ns = w->spans.dur[a->span];
        const int64_t exposed = ns - ta_intervals_within(&w->kernels, start, start + ns);
        int64_t bytes = TA_MISSING;
        ta_args_find(&w->sizes, a->span, &bytes);
        take_rate(w, a->span, bytes, exposed);
        take_wait(w, a, bytes, exposed);
    }
}

static bool has_copies(const struct walk *w)
{
    for (size_t i = 0; i < w->activities.n; i++)
        if (w->categories.at[w->spans.cat[w->activities.at[i].span]].class == TA_CLASS_MEMCPY)
            return true;
    return false;
}

static void find_busy(struct walk *w)
{
    for (size_t i = 0; i < w->activities.n; i++) {
        const ta_row span = w->activities.at[i].span;
        ta_intervals_add(&w->busy, w->spans.ts[span], w->spans.ts[span] + w->spans.dur[span]);
    }
    ta_intervals_unite(&w->busy);
}

enum ta_status copies_map_rates(struct ta_ctx *ctx, const struct ta_trace *trace,
                                struct ta_partial *const *out)
{
    struct walk w = {
        .trace = trace,
        .activities = ta_trace_activities(trace),
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
        .sizes = ta_trace_args(trace, "bytes"),
        .out = out,
    };
    if (!has_copies(&w))
        return TA_OK;
    find_busy(&w);
    for (size_t from = 0, to; from < w.activities.n; from = to) {
        for (to = from + 1;
             to < w.activities.n && w.activities.at[to].device == w.activities.at[from].device;)
            to++;
        take_device(&w, from, to);
    }
    const bool done =
        !w.kernels.failed && !w.busy.failed && !w.rates.failed && !w.waits.failed && !w.seen.failed;
    ta_intervals_free(&w.kernels);
    ta_intervals_free(&w.busy);
    ta_map_free(&w.rates);
    ta_map_free(&w.waits);
    ta_map_free(&w.seen);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the copies of a trace");
}

/* ---- tables --------------------------------------------------------------------------------- */

#define ID_COLUMN(key, title, doc)                                                                 \
    {                                                                                              \
        key, title, TA_TYPE_ID, TA_UNIT_NONE, TA_NEUTRAL, doc                                      \
    }

static const char direction_doc[] = "HtoD, DtoH, DtoD, PtoP, HtoH or other";
static const char memory_doc[] = "Memory on the side of the host: pageable, pinned, managed, or "
                                 "unknown where the trace does not "
                                 "say; device for copies without the host";

static const struct ta_column rate_columns[] = {
    TA_RANK_COLUMN,
    {"path", "Copies", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Direction, and the kind of memory of the host"},
    ID_COLUMN("direction", "Direction", direction_doc),
    ID_COLUMN("memory", "Memory", memory_doc),
    {"size", "Size", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Class of size of the copies"},
    {"from_bytes", "From", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_NEUTRAL, "Least size of the class"},
    {"count", "Count", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Number of copies that say their bytes and take time"},
    {"bytes", "Bytes", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER, "Bytes of them"},
    {"mean_bytes", "Mean size", TA_TYPE_NUMBER, TA_UNIT_BYTES, TA_NEUTRAL, "Bytes over count"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Sum of durations: work, not wall time"},
    {"exposed_ns", "Exposed", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Part of it in which no kernel of the device runs; of copies at the same time each counts"},
    {"bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, TA_HIGHER,
     "Bytes over total time"},
    {"link", "Link", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, TA_NEUTRAL,
     "What the link can do: the 99th percentile of the bandwidth of all copies from 1 MiB on in "
     "this direction, all ranks. None for smaller copies, which are bound by latency, and for "
     "copies within a device"},
    {"link_share", "Of the link", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_HIGHER, "Bandwidth over that"},
    {"link_name", "Link by", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Where the rate of the link is from"},
};

static const struct ta_chart rate_chart = {
    .id = "copy-rates",
    .title = "Copy bandwidth by size",
    .caption = "Bytes over time of the copies of each rank, direction and kind of host memory, by "
               "decades of size, at their mean size; the area of a dot is their total time. Below "
               "1 MiB copies are bound by latency. Lines: the best that was seen from 1 MiB on.",
    .kind = TA_CHART_SCATTER,
    .label = {"path", "rank"},
    .x = "mean_bytes",
    .y = {{"bandwidth", "Bandwidth", TA_INK_MEMCPY}},
    .group = "path",
    .size = "total_ns",
    .roof = {.level = "link", .name = "link_name"},
};

static const struct ta_column wait_columns[] = {
    TA_RANK_COLUMN,
    {"path", "Copies", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Direction, and the kind of memory of the host"},
    ID_COLUMN("direction", "Direction", direction_doc),
    ID_COLUMN("memory", "Memory", memory_doc),
    {"call", "Call", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Call that made them: it waits by itself, or because the driver has to stage pageable memory"},
    {"count", "Count", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Number of copies; reads of single values, below 1 KiB, count as waits instead"},
    {"bytes", "Bytes", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER, "Bytes of those that say so"},
    {"copy_ns", "On the device", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Sum of durations of the copies"},
    {"host_ns", "Host blocked", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Time that host threads spent in the calls"},
    {"exposed_ns", "Exposed", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Part of the copies in which no kernel of the device runs"},
    {"idle_ns", "Idle during", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Part of the calls in which no device of the rank works, within the first and last activity"},
};

/* "HtoD pinned"; the direction alone without the host, or where its memory is not known. */
static struct ta_slice path_of(struct ta_slice direction, struct ta_slice memory, char text[64])
{
    const bool hosts =
        !ta_slice_equal(memory, TA_LIT("device")) && !ta_slice_equal(memory, TA_LIT("unknown"));
    const int n = snprintf(text, 64, hosts ? "%.*s %.*s" : "%.*s", (int)direction.len,
                           direction.ptr, (int)memory.len, memory.ptr);
    return (struct ta_slice){text, (size_t)n};
}

/* The rate of the link of a direction, NAN where there is none or too few copies to tell. */
static double link_of(const struct ta_partial *links, struct ta_slice direction)
{
    enum { LEAST_COPIES = 5 };
    for (size_t i = 0; i < ta_partial_rows(links); i++) {
        const int64_t *row = ta_partial_at(links, i);
        const struct ta_dist *rates = ta_partial_dist_at(links, row, LINK_RATE);
        if (rates && ta_slice_equal(ta_partial_text(links, row, LINK_DIRECTION), direction))
            return ta_dist_count(rates) >= LEAST_COPIES ? ta_dist_quantile(rates, 99) : NAN;
    }
    return NAN;
}

void copies_add_rates(const struct ta_partial *rates, const struct ta_partial *links,
                      struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "copies.bandwidth", "Copy bandwidth by size", rate_columns,
                     sizeof rate_columns / sizeof *rate_columns);
    for (size_t i = 0; i < ta_partial_rows(rates); i++) {
        const int64_t *row = ta_partial_at(rates, i);
        const struct ta_slice direction = ta_partial_text(rates, row, RATE_DIRECTION);
        const struct ta_slice memory = ta_partial_text(rates, row, RATE_MEMORY);
        const int size = (int)row[RATE_SIZE];
        const bool large = copies_size_from(size) >= COPIES_LARGE_FROM;
        const double bandwidth = (double)row[RATE_BYTES] * 1e9 / (double)row[RATE_TOTAL];
        const double link =
            large && !ta_slice_equal(direction, TA_LIT("DtoD")) ? link_of(links, direction) : NAN;
        char path[64], name[64];
        snprintf(name, sizeof name, "%.*s: p99 observed", (int)direction.len, direction.ptr);
        TA_ROW(table, ta_int(row[RATE_RANK]), ta_text(path_of(direction, memory, path)),
               ta_text(direction), ta_text(memory), ta_text(ta_slice_of(copies_size_name(size))),
               ta_int(copies_size_from(size)), ta_int(row[RATE_COUNT]), ta_int(row[RATE_BYTES]),
               ta_num((double)row[RATE_BYTES] / (double)row[RATE_COUNT]), ta_int(row[RATE_TOTAL]),
               ta_int(row[RATE_EXPOSED]), ta_num(bandwidth), ta_num(link), ta_num(bandwidth / link),
               isnan(link) ? ta_null() : ta_text(ta_slice_of(name)));
    }
    ta_add_chart(table, &rate_chart);
}

void copies_add_waits(const struct ta_partial *waits, struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "copies.blocking", "Copies that the host waits for", wait_columns,
                     sizeof wait_columns / sizeof *wait_columns);
    for (size_t i = 0; i < ta_partial_rows(waits); i++) {
        const int64_t *row = ta_partial_at(waits, i);
        const struct ta_slice direction = ta_partial_text(waits, row, WAIT_DIRECTION);
        const struct ta_slice memory = ta_partial_text(waits, row, WAIT_MEMORY);
        char path[64];
        TA_ROW(table, ta_int(row[WAIT_RANK]), ta_text(path_of(direction, memory, path)),
               ta_text(direction), ta_text(memory), ta_text(ta_partial_text(waits, row, WAIT_CALL)),
               ta_int(row[WAIT_COUNT]), ta_int(row[WAIT_BYTES]), ta_int(row[WAIT_COPY]),
               ta_int(row[WAIT_HOST]), ta_int(row[WAIT_EXPOSED]), ta_int(row[WAIT_IDLE]));
    }
    ta_sort_rows(table, "host_ns", true);
}
