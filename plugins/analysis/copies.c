/* SPDX-License-Identifier: GPL-3.0-or-later */
/* copies.by_direction, copies.by_memory, copies.bandwidth, copies.blocking: what was copied
 * between host and devices, how fast, and how long the host waited for it. */
#include "lib/copy_names.h"
#include "model/busy.h"
#include "model/cover.h"
#include "model/damage.h"
#include "model/lost.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <math.h>
#include <stdio.h>

/* The partials of the analysis, in order, and their fields. */
enum {
    COPIES_DIRECTIONS,
    COPIES_MEMORIES,
    COPIES_RATES,
    COPIES_LINKS,
    COPIES_WAITS,
};
enum { SUM_RANK, SUM_WHAT, SUM_COUNT, SUM_BYTES, SUM_TOTAL, SUM_SIZED_NS, SUM_FIELDS };
enum {
    RATE_RANK,
    RATE_DIRECTION,
    RATE_MEMORY,
    RATE_SIZE, /* number of a size class */
    RATE_COUNT,
    RATE_BYTES,
    RATE_TOTAL,
    RATE_EXPOSED,
    RATE_LINK, /* data sheet bandwidth of the link, bytes/s */
    RATE_FIELDS
};
enum { LINK_DIRECTION, LINK_RATE, LINK_FIELDS };
enum {
    WAIT_RANK,
    WAIT_DIRECTION,
    WAIT_MEMORY,
    WAIT_CALL,
    WAIT_COUNT,
    WAIT_BYTES,
    WAIT_COPY,
    WAIT_HOST,
    WAIT_EXPOSED,
    WAIT_IDLE,
    WAIT_FIELDS
};

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Classes of sizes: decades of KiB, MiB and GiB.  Copies below a MiB are bound by latency. */
enum { COPIES_SIZES = 10 };
#define COPIES_LARGE_FROM (INT64_C(1) << 20)

#define KIB INT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

static const struct {
    int64_t from;
    const char *name;
} sizes[COPIES_SIZES] = {
    {0, "below 1 KiB"},
    {KIB, "1 to 10 KiB"},
    {10 * KIB, "10 to 100 KiB"},
    {100 * KIB, "100 KiB to 1 MiB"},
    {MIB, "1 to 10 MiB"},
    {10 * MIB, "10 to 100 MiB"},
    {100 * MIB, "100 MiB to 1 GiB"},
    {GIB, "1 to 10 GiB"},
    {10 * GIB, "10 to 100 GiB"},
    {100 * GIB, "from 100 GiB"},
};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* Smallest size of a class, and its name: "1 to 10 MiB". */
static int64_t copies_size_from(int size_class)
{
    return sizes[size_class].from;
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* What was copied and how fast, what ran at the same time, and how long the host was blocked. */

/* What a copy is by its name, with the rows of its sums. */
struct kind {
    ta_str name;
    struct ta_slice direction, memory;
    bool is_pageable;
    int64_t *by_direction, *by_memory;
};

/* Recently seen names of copies: most traces have few. */
enum { KINDS = 16 };

struct walk {
    const struct ta_ctx *ctx;
    const struct ta_trace *trace;
    const struct ta_hardware *hardware; /* of the current device; NULL if not known */
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_args sizes;
    struct ta_cover kernels;
    const struct ta_intervals *busy; /* busy time, including work that may not have been recorded */
    struct ta_map rates, waits;      /* rows of partials */
    struct kind kinds[KINDS];        /* by the last bits of the name */
    struct ta_map seen;              /* calls whose time is counted */
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
        const struct ta_slice name = name_of(w, copy), memory = ta_copy_host_memory(name);
        const struct ta_key rank = ta_key_int(ta_trace_rank(w->trace));
        *kind = (struct kind){
            .name = named,
            .direction = ta_copy_direction(name),
            .memory = memory,
            .is_pageable = ta_slice_equal(memory, TA_LIT("pageable")),
            .by_memory =
                TA_PARTIAL_ROW(w->out[COPIES_MEMORIES], rank, ta_key_text(ta_copy_memory(name))),
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

/* Data sheet bandwidth of the link in a direction; TA_MISSING if not known. */
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

/* The row of a copy that a host thread waits for within the call, by definition of the call or
 * because the driver has to stage pageable memory.  NULL for all others. */
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
    /* A call may make several copies; its duration counts once. */
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

/* Adds the copies among activities [from, to), all of one device. */
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
            int size = 0;
            while (size + 1 < SIZES && bytes >= sizes[size + 1].from)
                size++;
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

/* Adds the busy times of devices to `out`, and the times in which they may have worked: from a
 * call whose kernel was not recorded to the next recorded activity. */
static void add_work(const struct ta_trace *trace, const struct ta_lost *lost,
                     struct ta_intervals *out)
{
    const struct ta_intervals *busy = ta_trace_busy(trace);
    const struct ta_damage *damage = ta_trace_damage(trace);
    for (size_t i = 0; i < lost->n; i++) {
        const size_t next = ta_intervals_behind(busy, lost->at[i].end);
        if (next < busy->n && busy->at[next].start > lost->at[i].end)
            ta_intervals_add(out, lost->at[i].end, busy->at[next].start);
    }
    ta_intervals_join(out, busy);
    ta_intervals_join(out, &lost->unrecorded);
    ta_intervals_join(out, &damage->unknown);
    ta_intervals_join(out, &damage->disordered);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct ta_intervals work = {0};
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
    const struct ta_lost *lost = ta_trace_lost(trace);
    w.busy = lost ? ta_trace_busy(trace) : NULL;
    if (w.busy && w.busy->n && lost->n + lost->unrecorded.n > 0) {
        add_work(trace, lost, &work);
        w.busy = &work;
    }
    w.kernels =
        (struct ta_cover){.activities = w.activities, .spans = w.spans, .counts = is_kernel};
    for (size_t from = 0, to; w.busy && from < w.activities.n; from = to) {
        to = ta_device_end(&w.activities, from);
        take_device(&w, from, to);
    }
    const bool done =
        w.busy && !work.failed && !w.rates.failed && !w.waits.failed && !w.seen.failed;
    ta_intervals_free(&work);
    ta_map_free(&w.rates);
    ta_map_free(&w.waits);
    ta_map_free(&w.seen);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the copies of a trace");
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* copies.bandwidth and copies.blocking: copies compared with their link, and copies that the
 * host waited for. */

static const char direction_doc[] = "Direction of the copies: HtoD (host to device), DtoH, DtoD, "
                                    "PtoP (peer to peer), HtoH, or other";
static const char memory_doc[] = "Kind of host memory: pageable, pinned, managed, or unknown if "
                                 "the trace does not say it; device for copies without the host";

enum {
    BANDWIDTH_RANK,
    BANDWIDTH_PATH,
    BANDWIDTH_DIRECTION,
    BANDWIDTH_MEMORY,
    BANDWIDTH_SIZE,
    BANDWIDTH_FROM,
    BANDWIDTH_COUNT,
    BANDWIDTH_BYTES,
    BANDWIDTH_MEAN,
    BANDWIDTH_TOTAL,
    BANDWIDTH_EXPOSED,
    BANDWIDTH_RATE,
    BANDWIDTH_LINK,
    BANDWIDTH_LINK_SHARE,
    BANDWIDTH_LINK_NAME
};
static const struct ta_column copies_bandwidth_columns[] = {
    [BANDWIDTH_RANK] = TA_RANK_COLUMN,
    [BANDWIDTH_PATH] = {"path", "Copies", TA_TEXT, .doc = "Direction, and kind of host memory"},
    [BANDWIDTH_DIRECTION] = {"direction", "Direction", TA_ID, .doc = direction_doc},
    [BANDWIDTH_MEMORY] = {"memory", "Memory", TA_ID, .doc = memory_doc},
    [BANDWIDTH_SIZE] = {"size", "Size", TA_TEXT, .doc = "Size class of the copies"},
    [BANDWIDTH_FROM] = {"from_bytes", "Size from", TA_BYTES, .doc = "Smallest size in the class"},
    [BANDWIDTH_COUNT] =
        {"count", "Count", TA_COUNT, .better = TA_LOWER,
         .doc = "Number of copies whose size was recorded and whose duration is not 0"},
    [BANDWIDTH_BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER,
                         .doc = "Sum of the bytes of these copies"},
    [BANDWIDTH_MEAN] = {"mean_bytes", "Mean size", TA_BYTES_MEAN, .doc = "Bytes divided by count"},
    [BANDWIDTH_TOTAL] =
        {"total_ns", "Total", TA_NS, .better = TA_LOWER,
         .doc = "Sum of the durations of these copies; copies at the same time add up"},
    [BANDWIDTH_EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                           .doc = "Part of the total in which no kernel runs on the device; copies "
                                  "at the same time add up"},
    [BANDWIDTH_RATE] = {"bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                        .better = TA_HIGHER, .doc = "Bytes divided by total time"},
    [BANDWIDTH_LINK] =
        {"link", "Link rate", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
         .doc = "Bandwidth that the link can reach in this direction, from the data sheet of the "
                "device; if that is not known, or if copies are faster, the 99th percentile of the "
                "bandwidth of all copies of 1 MiB or more, all ranks. Empty for smaller copies, "
                "which are bound by latency, and for copies within a device"},
    [BANDWIDTH_LINK_SHARE] = {"link_share", "Link utilization", TA_RATIO, .better = TA_HIGHER,
                              .doc = "Bandwidth divided by the link rate"},
    [BANDWIDTH_LINK_NAME] =
        {"link_name", "Link rate source", TA_TEXT,
         .doc =
             "Where the link rate comes from: stated by the maker of the device, or p99 observed"},
};

static const struct ta_chart_def rate_chart = {
    .id = "copy-rates",
    .title = "Copy bandwidth by size",
    .caption = "Copy bandwidth by size: one dot per rank, direction, kind of host memory and "
               "decade of size, at the mean size; its area is the total time. Copies below 1 MiB "
               "are bound by latency. Lines: what the link can reach.",
    .kind = TA_CHART_SCATTER,
    .label = {&copies_bandwidth_columns[BANDWIDTH_PATH], &copies_bandwidth_columns[BANDWIDTH_RANK]},
    .x = &copies_bandwidth_columns[BANDWIDTH_MEAN],
    .y = {{&copies_bandwidth_columns[BANDWIDTH_RATE], "Bandwidth", TA_INK_MEMCPY}},
    .group = &copies_bandwidth_columns[BANDWIDTH_PATH],
    .size = &copies_bandwidth_columns[BANDWIDTH_TOTAL],
    .roof = {.level = &copies_bandwidth_columns[BANDWIDTH_LINK],
             .name = &copies_bandwidth_columns[BANDWIDTH_LINK_NAME]},
};

/* The tables of rates and links, and of waits. */
static const struct ta_table_def copies_bandwidth = {
    "copies.bandwidth",
    "Copy bandwidth by size",
    TA_COLUMNS(copies_bandwidth_columns),
    .doc =
        "One row per rank, direction, kind of host memory and size class: decades of KiB, MiB and "
        "GiB. Copies below 1 MiB are bound by latency and have no link rate. Chart `copy-rates`.",
    .tier = TA_TIER_DETAIL,
    .chart = {&rate_chart},
    .not_of_ranks = true};

enum {
    BLOCKING_RANK,
    BLOCKING_PATH,
    BLOCKING_DIRECTION,
    BLOCKING_MEMORY,
    BLOCKING_CALL,
    BLOCKING_COUNT,
    BLOCKING_BYTES,
    BLOCKING_COPY,
    BLOCKING_HOST,
    BLOCKING_EXPOSED,
    BLOCKING_IDLE
};
static const struct ta_column copies_blocking_columns[] = {
    [BLOCKING_RANK] = TA_RANK_COLUMN,
    [BLOCKING_PATH] = {"path", "Copies", TA_TEXT, .role = TA_NOTE,
                       .doc = "Direction, and kind of host memory"},
    [BLOCKING_DIRECTION] = {"direction", "Direction", TA_ID, .doc = direction_doc},
    [BLOCKING_MEMORY] = {"memory", "Memory", TA_ID, .doc = memory_doc},
    [BLOCKING_CALL] = {"call", "Call", TA_TEXT,
                       .doc = "Runtime call that made the copies: it waits by definition, or "
                              "because the driver has to stage pageable memory"},
    [BLOCKING_COUNT] =
        {"count", "Count", TA_COUNT, .better = TA_LOWER,
         .doc = "Number of copies; reads of single values, below 1 KiB, count as waits instead"},
    [BLOCKING_BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER,
                        .doc = "Sum of the bytes of the copies whose size was recorded"},
    [BLOCKING_COPY] = {"copy_ns", "On the device", TA_NS, .better = TA_LOWER,
                       .doc = "Sum of the durations of the copies on the device"},
    [BLOCKING_HOST] = {"host_ns", "Host blocked", TA_NS, .better = TA_LOWER,
                       .doc = "Time that host threads spent in these calls"},
    [BLOCKING_EXPOSED] = {"exposed_ns", "Exposed", TA_NS, .better = TA_LOWER,
                          .doc =
                              "Part of the copy time on the device in which no kernel runs there"},
    [BLOCKING_IDLE] = {"idle_ns", "GPU idle during", TA_NS, .better = TA_LOWER,
                       .doc = "Time within these calls in which no device of the rank works, "
                              "between its first and its last activity"},
};

static const struct ta_table_def copies_blocking = {
    "copies.blocking",
    "Copies the host waits for",
    TA_COLUMNS(copies_blocking_columns),
    .doc = "One row per rank, direction, kind of host memory and call: copies of 1 KiB and more "
           "that a host thread waits for within the call, because the call returns when they are "
           "done (`cudaMemcpy`, `hipMemcpyWithStream`) or because the driver stages pageable "
           "memory. Reads of single values, below 1 KiB, are waits: `sync.by_site`.",
    .tier = TA_TIER_DETAIL,
    .order = {&copies_blocking_columns[BLOCKING_HOST], TA_DESCENDING}};

/* "HtoD pinned"; only the direction if the copy does not involve the host or the kind of its
 * memory is unknown. */
static struct ta_slice path_of(struct ta_slice direction, struct ta_slice memory, char text[64])
{
    const bool hosts =
        !ta_slice_equal(memory, TA_LIT("device")) && !ta_slice_equal(memory, TA_LIT("unknown"));
    const int n = snprintf(text, 64, hosts ? "%.*s %.*s" : "%.*s", (int)direction.len,
                           direction.ptr, (int)memory.len, memory.ptr);
    return (struct ta_slice){text, (size_t)n};
}

/* The 99th percentile of the rates of a direction, NAN without enough copies. */
static double observed_link(const struct ta_partial *links, struct ta_slice direction)
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

struct link {
    double rate; /* NAN: not known */
    const char *by;
};

/* Bandwidth that the link of some copies can reach.  The data sheet counts unless copies are
 * faster: then the device is attached in another way. */
static struct link link_of(const struct ta_partial *links, const int64_t *row,
                           struct ta_slice direction)
{
    const double observed = observed_link(links, direction);
    const double stated = row[RATE_LINK] == TA_MISSING ? NAN : (double)row[RATE_LINK];
    if (copies_size_from((int)row[RATE_SIZE]) < COPIES_LARGE_FROM ||
        ta_slice_equal(direction, TA_LIT("DtoD")))
        return (struct link){NAN, ""};
    if (isnan(stated) || observed > stated)
        return (struct link){observed, "p99 observed"};
    return (struct link){stated, "stated by the maker"};
}

/* ---- table ----------------------------------------------------------------------------------- */

/* Both tables of sums have the same columns; `what` is the direction or the kinds of memory. */
static const struct ta_field fields[SUM_FIELDS] = {
    [SUM_RANK] = {"rank", TA_FIELD_RANK},
    [SUM_WHAT] = {"what", TA_FIELD_TEXT},
    [SUM_COUNT] = {"count", TA_FIELD_SUM},
    [SUM_BYTES] = {"bytes", TA_FIELD_SUM},
    [SUM_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [SUM_SIZED_NS] = {"sized_ns", TA_FIELD_SUM}, /* time of the copies that say their bytes */
};

static const struct ta_field rate_fields[RATE_FIELDS] = {
    [RATE_RANK] = {"rank", TA_FIELD_RANK},     [RATE_DIRECTION] = {"direction", TA_FIELD_TEXT},
    [RATE_MEMORY] = {"memory", TA_FIELD_TEXT}, [RATE_SIZE] = {"size", TA_FIELD_INT},
    [RATE_COUNT] = {"count", TA_FIELD_SUM},    [RATE_BYTES] = {"bytes", TA_FIELD_SUM},
    [RATE_TOTAL] = {"total_ns", TA_FIELD_SUM}, [RATE_EXPOSED] = {"exposed_ns", TA_FIELD_SUM},
    [RATE_LINK] = {"link", TA_FIELD_MAX},
};

static const struct ta_field link_fields[LINK_FIELDS] = {
    [LINK_DIRECTION] = {"direction", TA_FIELD_TEXT},
    [LINK_RATE] = {"rate", TA_FIELD_DIST}, /* bytes per second of copies from 1 MiB on */
};

static const struct ta_field wait_fields[WAIT_FIELDS] = {
    [WAIT_RANK] = {"rank", TA_FIELD_RANK},         [WAIT_DIRECTION] = {"direction", TA_FIELD_TEXT},
    [WAIT_MEMORY] = {"memory", TA_FIELD_TEXT},     [WAIT_CALL] = {"call", TA_FIELD_TEXT},
    [WAIT_COUNT] = {"count", TA_FIELD_SUM},        [WAIT_BYTES] = {"bytes", TA_FIELD_SUM},
    [WAIT_COPY] = {"copy_ns", TA_FIELD_SUM},       [WAIT_HOST] = {"host_ns", TA_FIELD_SUM},
    [WAIT_EXPOSED] = {"exposed_ns", TA_FIELD_SUM}, [WAIT_IDLE] = {"idle_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [COPIES_DIRECTIONS] = {"directions", fields, SUM_FIELDS},
    [COPIES_MEMORIES] = {"memories", fields, SUM_FIELDS},
    [COPIES_RATES] = {"rates", rate_fields, RATE_FIELDS},
    [COPIES_LINKS] = {"links", link_fields, LINK_FIELDS},
    [COPIES_WAITS] = {"waits", wait_fields, WAIT_FIELDS},
    {0},
};

/* The columns of both tables of sums are the fields of their partials, except for the last. */
enum { SUM_BANDWIDTH = SUM_TOTAL + 1, SUM_COLUMN_COUNT };

/* clang-format off */
/* With the weights of three columns for comparing ranks. */
#define SUM_COLUMNS(key, title, what, bytes_weight, total_weight, bandwidth_weight) \
    [SUM_RANK] = TA_RANK_COLUMN, \
    [SUM_WHAT] = {key, title, TA_TEXT, .doc = what}, \
    [SUM_COUNT] = {"count", "Copies", TA_COUNT, .better = TA_LOWER, .doc = "Number of copies"}, \
    [SUM_BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER, .weight = (bytes_weight), \
                   .doc = "Sum of the bytes of the copies whose size was recorded"}, \
    [SUM_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .weight = (total_weight), \
                   .doc = "Sum of the durations of the copies; copies at the same time add up"}, \
    [SUM_BANDWIDTH] = {"bandwidth", "Bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, \
                       .better = TA_HIGHER, .weight = (bandwidth_weight), \
                       .doc = "Bytes divided by the duration of the copies whose size was recorded"}
/* clang-format on */

static const struct ta_column by_direction_columns[] = {SUM_COLUMNS(
    "direction", "Direction",
    "HtoD: host to device; DtoH: device to host; DtoD: within a device or between devices; PtoP: "
    "peer to peer; HtoH: within the host; other: the name does not say it",
    0.4, 0.3, 0.2)};

static const struct ta_chart_def chart = {
    .id = "copy-bandwidth",
    .title = "Copy bandwidth",
    .caption = "Copy bandwidth (bytes over copy time) by rank and direction; small copies are "
               "bound by latency.",
    .kind = TA_CHART_BARS,
    .label = {&by_direction_columns[SUM_RANK], &by_direction_columns[SUM_WHAT]},
    .y = {{&by_direction_columns[SUM_BANDWIDTH], "Bandwidth", TA_INK_MEMCPY}},
    .group = &by_direction_columns[SUM_WHAT],
};

static const struct ta_table_def by_direction = {
    "copies.by_direction",
    "Copies by direction",
    TA_COLUMNS(by_direction_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and direction: `HtoD`, `DtoH`, `DtoD`, `PtoP`, `HtoH` or `other`, "
           "from the name of the copy. Chart `copy-bandwidth`.",
    .chart = {&chart},
    .rank_words = "Copies",
    .brief = &(const struct ta_brief){
        .place = 270, .rows = 8, .largest = &by_direction_columns[SUM_TOTAL]}};

static const struct ta_column by_memory_columns[] = {SUM_COLUMNS(
    "memory", "Memory", "Kinds of memory at both ends, as the profiler names them", 0, 0, 0)};

static const struct ta_table_def by_memory = {
    "copies.by_memory", "Copies by memory type", TA_COLUMNS(by_memory_columns),
    .doc = "One row per rank and pair of memory kinds, such as `Pageable -> Device`: the text in "
           "parentheses in the name of the copy, or the whole name.",
    .tier = TA_TIER_DETAIL};

static void add_rows(struct ta_section_builder *out, const struct ta_table_def *def,
                     const struct ta_partial *copies)
{
    for (size_t i = 0; i < ta_partial_rows(copies); i++) {
        const int64_t *row = ta_partial_at(copies, i);
        const bool sized = row[SUM_BYTES] != TA_MISSING && row[SUM_SIZED_NS] > 0;
        ta_add_row(ta_rows(out, def),
                   (const struct ta_cell[SUM_COLUMN_COUNT]){
                       [SUM_RANK] = ta_int(row[SUM_RANK]),
                       [SUM_WHAT] = ta_text(ta_partial_text(copies, row, SUM_WHAT)),
                       [SUM_COUNT] = ta_int(row[SUM_COUNT]),
                       [SUM_BYTES] = ta_int(row[SUM_BYTES]),
                       [SUM_TOTAL] = ta_int(row[SUM_TOTAL]),
                       [SUM_BANDWIDTH] =
                           sized ? ta_num((double)row[SUM_BYTES] * 1e9 / (double)row[SUM_SIZED_NS])
                                 : ta_null()});
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    add_rows(out, &by_direction, merged[COPIES_DIRECTIONS]);
    add_rows(out, &by_memory, merged[COPIES_MEMORIES]);
    const struct ta_partial *rates = merged[COPIES_RATES];
    for (size_t i = 0; i < ta_partial_rows(rates); i++) {
        const int64_t *row = ta_partial_at(rates, i);
        const struct ta_slice direction = ta_partial_text(rates, row, RATE_DIRECTION);
        const struct ta_slice memory = ta_partial_text(rates, row, RATE_MEMORY);
        const int size = (int)row[RATE_SIZE];
        const double bandwidth = (double)row[RATE_BYTES] * 1e9 / (double)row[RATE_TOTAL];
        const struct link link = link_of(merged[COPIES_LINKS], row, direction);
        char path[64], name[64];
        snprintf(name, sizeof name, "%.*s: %s", (int)direction.len, direction.ptr, link.by);
        TA_ROW(out, copies_bandwidth, [BANDWIDTH_RANK] = ta_int(row[RATE_RANK]),
               [BANDWIDTH_PATH] = ta_text(path_of(direction, memory, path)),
               [BANDWIDTH_DIRECTION] = ta_text(direction), [BANDWIDTH_MEMORY] = ta_text(memory),
               [BANDWIDTH_SIZE] = ta_text(ta_slice_of(sizes[size].name)),
               [BANDWIDTH_FROM] = ta_int(copies_size_from(size)),
               [BANDWIDTH_COUNT] = ta_int(row[RATE_COUNT]),
               [BANDWIDTH_BYTES] = ta_int(row[RATE_BYTES]),
               [BANDWIDTH_MEAN] = ta_num((double)row[RATE_BYTES] / (double)row[RATE_COUNT]),
               [BANDWIDTH_TOTAL] = ta_int(row[RATE_TOTAL]),
               [BANDWIDTH_EXPOSED] = ta_int(row[RATE_EXPOSED]),
               [BANDWIDTH_RATE] = ta_num(bandwidth), [BANDWIDTH_LINK] = ta_num(link.rate),
               [BANDWIDTH_LINK_SHARE] = ta_num(bandwidth / link.rate),
               [BANDWIDTH_LINK_NAME] = isnan(link.rate) ? ta_null() : ta_text(ta_slice_of(name)));
    }
    const struct ta_partial *waits = merged[COPIES_WAITS];
    for (size_t i = 0; i < ta_partial_rows(waits); i++) {
        const int64_t *row = ta_partial_at(waits, i);
        const struct ta_slice direction = ta_partial_text(waits, row, WAIT_DIRECTION);
        const struct ta_slice memory = ta_partial_text(waits, row, WAIT_MEMORY);
        char path[64];
        TA_ROW(
            out, copies_blocking, [BLOCKING_RANK] = ta_int(row[WAIT_RANK]),
            [BLOCKING_PATH] = ta_text(path_of(direction, memory, path)),
            [BLOCKING_DIRECTION] = ta_text(direction), [BLOCKING_MEMORY] = ta_text(memory),
            [BLOCKING_CALL] = ta_text(ta_partial_text(waits, row, WAIT_CALL)),
            [BLOCKING_COUNT] = ta_int(row[WAIT_COUNT]), [BLOCKING_BYTES] = ta_int(row[WAIT_BYTES]),
            [BLOCKING_COPY] = ta_int(row[WAIT_COPY]), [BLOCKING_HOST] = ta_int(row[WAIT_HOST]),
            [BLOCKING_EXPOSED] = ta_int(row[WAIT_EXPOSED]),
            [BLOCKING_IDLE] = ta_int(row[WAIT_IDLE]));
    }
    return TA_OK;
}

static const char *const needs_args[] = {"bytes", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{COPIES_RATES, RATE_SIZE, COPIES_SIZES}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_direction, &by_memory, &copies_bandwidth,
                                                    &copies_blocking, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs = TA_NEED_HOST_WORK,
                                           .needs_args = needs_args,
                                           .section = "copies",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, copies, &ops, .title = "Copies",
          .summary = "Memory copies: how fast they are, and which the host waits for: "
                     "copies.by_direction, copies.bandwidth, copies.blocking",
          .version = "1");
