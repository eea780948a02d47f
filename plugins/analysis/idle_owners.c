/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_idle.by_owner and owner_sites: the root cause of each nanosecond of idle time, and where
 * in the program it is.  "Owner" in names here means root cause. */
#include "analyze/partial.h"
#include "base/vec.h"
#include "lib/functions.h"
#include "model/idle/idle.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { PARTIAL_OWNERS, PARTIAL_SITES };

/* Fields of partials. */
enum { OWNER_RANK, OWNER_DEVICE, OWNER_OWNER, OWNER_TOTAL, OWNER_LATER };
enum { OF_RANK, OF_DEVICE, OF_OWNER, OF_FUNCTION, OF_SITE, OF_PIECES, OF_WAITS, OF_TOTAL };

/* Root causes: an immediate cause, or one of these. */
enum owner {
    OWNER_LAUNCHING = TA_IDLE_CAUSES, /* the causes that are preparing and launching work */
    OWNER_SYNCHRONIZATION, /* waits for the device, including the time until the host has caught up
                            */
    OWNER_VALUE_READ,
    OWNER_BLOCKING_COPY,
    OWNER_PAGEABLE_COPY,
    OWNERS
};

static const char *owner_name(int owner)
{
    static const char *const names[OWNERS - TA_IDLE_CAUSES] = {
        "launching", "synchronization", "value read", "blocking copy", "pageable copy"};
    return owner < TA_IDLE_CAUSES ? ta_idle_causes[owner].name : names[owner - TA_IDLE_CAUSES];
}

/* ---- map ----------------------------------------------------------------------------------- */

/* A call site at which time of a root cause was lost, on one device. */
struct place {
    int owner;
    ta_row function, site; /* the first rows with their names */
    int64_t pieces, waits, total;
};

struct sums {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_partial *const *out;
    /* Time of the device by root cause: all of it, and the part after a waiting call. */
    int64_t owned[OWNERS], later[OWNERS];
    struct ta_functions functions;
    TA_VEC(struct place) places;
    struct ta_map numbers[OWNERS]; /* index of the places by function and call site */
    struct ta_map waits;           /* what each wait is, by its row */
    bool failed;
    struct ta_args sizes;
};

static struct ta_slice name_of(const struct sums *s, ta_row row)
{
    return row == TA_NO_ROW ? TA_LIT("")
                            : ta_host_place(ta_trace_text(s->trace, s->spans.name[row]));
}

/* What is known of the copies of waiting calls, by their rows. */
enum { COPY_KNOWN = 1, COPY_PAGEABLE = 2, COPY_LARGE = 4, WAIT_COUNTED = 8 };

static void find_copies(struct sums *s)
{
    for (size_t i = 0; i < s->activities.n; i++) {
        const struct ta_activity *a = &s->activities.at[i];
        if (a->kernel != TA_NO_KERNEL || a->launch == TA_NO_ROW)
            continue;
        const struct ta_slice name = name_of(s, a->span);
        const bool is_pageable = memmem(name.ptr, name.len, "Pageable", 8) != NULL;
        if (!is_pageable && s->spans.work[a->launch] != TA_HOST_COPY)
            continue;
        int64_t bytes = TA_MISSING;
        const bool is_value =
            ta_args_find(&s->sizes, a->span, &bytes) && bytes < TA_HOST_VALUE_BYTES;
        uint64_t *known = ta_map_at(&s->waits, a->launch, COPY_KNOWN);
        if (known)
            *known |= (is_pageable ? COPY_PAGEABLE : 0) | (is_value ? 0 : COPY_LARGE);
    }
}

/* A wait is for a value that an operator reads, for the program's explicit call, or for a copy;
 * or the host has computed, which is not a wait. */
static int owner_of_wait(struct sums *s, ta_row wait, uint64_t copies)
{
    if (s->spans.work[wait] != TA_HOST_SYNC && s->spans.work[wait] != TA_HOST_COPY &&
        !(copies & COPY_KNOWN))
        return TA_IDLE_COMPUTE;
    if (s->spans.work[wait] == TA_HOST_SYNC)
        return ta_operator_around(&s->functions, wait) == TA_NO_ROW ? OWNER_SYNCHRONIZATION
                                                                    : OWNER_VALUE_READ;
    if (copies & COPY_KNOWN && !(copies & COPY_LARGE))
        return OWNER_VALUE_READ;
    return copies & COPY_PAGEABLE ? OWNER_PAGEABLE_COPY : OWNER_BLOCKING_COPY;
}

/* The call site of lost time: for a wait, the operator that waits. */
static ta_row site_of(struct sums *s, const struct ta_idle_piece *piece, int owner)
{
    if (piece->wait == TA_NO_ROW)
        return piece->place;
    if (owner == TA_IDLE_COMPUTE)
        return piece->wait;
    const ta_row op = ta_operator_around(&s->functions, piece->wait);
    return op == TA_NO_ROW ? piece->wait : op;
}

static int owner_of_cause(const struct ta_idle_piece *piece)
{
    return ta_idle_is_launching(piece) ? OWNER_LAUNCHING : (int)piece->cause;
}

/* NULL without memory. */
static struct place *place_at(struct sums *s, const struct ta_idle_piece *piece, int owner,
                              bool waits)
{
    const ta_row site = site_of(s, piece, owner);
    const ta_row function = ta_function_around(&s->functions, waits ? piece->wait : site);
    const ta_str names[] = {function == TA_NO_ROW ? TA_STR_ABSENT : s->spans.name[function],
                            site == TA_NO_ROW ? TA_STR_ABSENT : s->spans.name[site]};
    const uint64_t *number =
        ta_map_at(&s->numbers[owner], (uint64_t)names[0] << 32 | names[1], s->places.n);
    const struct place made = {.owner = owner, .function = function, .site = site};
    if (!number || (*number == s->places.n && !ta_vec_push(&s->places, made))) {
        s->failed = true;
        return NULL;
    }
    return &s->places.at[*number];
}

static void count_piece(void *user, const struct ta_idle_piece *piece)
{
    struct sums *s = user;
    uint64_t *wait = piece->wait == TA_NO_ROW ? NULL : ta_map_at(&s->waits, piece->wait, false);
    const enum ta_idle_group group = ta_idle_causes[piece->cause].group;
    const int owner = wait ? owner_of_wait(s, piece->wait, *wait) : owner_of_cause(piece);
    s->owned[owner] += piece->ns;
    if (wait && group != TA_IDLE_GROUP_SYNC)
        s->later[owner] += piece->ns;
    if (!ta_idle_is_of_host(piece->cause) && !wait)
        return;
    struct place *place = place_at(s, piece, owner, wait != NULL);
    if (!place)
        return;
    place->pieces++;
    place->waits += wait && owner != TA_IDLE_COMPUTE && !(*wait & WAIT_COUNTED);
    place->total += piece->ns;
    if (wait)
        *wait |= WAIT_COUNTED;
}

static int by_owner_and_time(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->owner != b->owner)
        return a->owner - b->owner;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return a->site != b->site ? (a->site > b->site) - (a->site < b->site)
                              : (a->function > b->function) - (a->function < b->function);
}

/* Lists the call sites of a device with the most time; beyond a maximum per root cause, one row
 * per function. */
static void list_places(struct sums *s, int64_t device)
{
    enum { PLACES_KEPT = 50 };
    int kept = 0;
    if (s->places.n)
        qsort(s->places.at, s->places.n, sizeof *s->places.at, by_owner_and_time);
    for (size_t i = 0; i < s->places.n; i++) {
        const struct place *place = &s->places.at[i];
        kept = i && place[-1].owner == place->owner ? kept + 1 : 0;
        int64_t *row =
            TA_PARTIAL_ROW(s->out[PARTIAL_SITES], ta_key_int(ta_trace_rank(s->trace)),
                           ta_key_int(device), ta_key_text(ta_slice_of(owner_name(place->owner))),
                           ta_key_text(name_of(s, place->function)),
                           ta_key_text(name_of(s, kept < PLACES_KEPT ? place->site : TA_NO_ROW)));
        ta_sum(&row[OF_PIECES], place->pieces);
        ta_sum(&row[OF_WAITS], place->waits);
        ta_sum(&row[OF_TOTAL], place->total);
    }
    s->places.n = 0;
    for (int owner = 0; owner < OWNERS; owner++)
        ta_map_free(&s->numbers[owner]);
}

static void add_device(void *user, int64_t device)
{
    struct sums *s = user;
    for (int owner = 0; owner < OWNERS; owner++)
        if (s->owned[owner]) {
            int64_t *row =
                TA_PARTIAL_ROW(s->out[PARTIAL_OWNERS], ta_key_int(ta_trace_rank(s->trace)),
                               ta_key_int(device), ta_key_text(ta_slice_of(owner_name(owner))));
            ta_sum(&row[OWNER_TOTAL], s->owned[owner]);
            ta_sum(&row[OWNER_LATER], s->later[owner]);
        }
    memset(s->owned, 0, sizeof s->owned);
    memset(s->later, 0, sizeof s->later);
    list_places(s, device);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct sums s = {.trace = trace,
                     .activities = ta_trace_activities(trace),
                     .spans = ta_trace_spans(trace),
                     .sizes = ta_trace_args(trace, "bytes"),
                     .out = out};
    const struct ta_idle_watcher watcher = {.user = &s, .piece = count_piece, .device = add_device};
    bool done = ta_functions_open(&s.functions, trace);
    if (done && s.spans.work)
        find_copies(&s);
    done = done && ta_idle_walk(trace, &watcher) && !s.waits.failed && !s.failed;
    ta_functions_close(&s.functions);
    for (int owner = 0; owner < OWNERS; owner++)
        ta_map_free(&s.numbers[owner]);
    free(s.places.at);
    ta_map_free(&s.waits);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot find the root causes of idle time");
}

/* ---- tables -------------------------------------------------------------------------------- */

static const struct ta_field owner_fields[] = {
    [OWNER_RANK] = {"rank", TA_FIELD_RANK},     [OWNER_DEVICE] = {"device", TA_FIELD_INT},
    [OWNER_OWNER] = {"owner", TA_FIELD_TEXT},   [OWNER_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [OWNER_LATER] = {"later_ns", TA_FIELD_SUM},
};

static const struct ta_field owner_site_fields[] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},   [OF_DEVICE] = {"device", TA_FIELD_INT},
    [OF_OWNER] = {"owner", TA_FIELD_TEXT}, [OF_FUNCTION] = {"function", TA_FIELD_TEXT},
    [OF_SITE] = {"site", TA_FIELD_TEXT},   [OF_PIECES] = {"pieces", TA_FIELD_SUM},
    [OF_WAITS] = {"waits", TA_FIELD_SUM},  [OF_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_OWNERS] = {"owners", owner_fields, TA_LENGTH(owner_fields)},
    [PARTIAL_SITES] = {"sites", owner_site_fields, TA_LENGTH(owner_site_fields)},
    {0},
};

static const char owner_doc[] =
    "Root cause of the idle time: the immediate cause, except: launching: the host prepares and "
    "launches work (operators, Python, runtime calls, launch latency, and less than 1 ms in "
    "between of which nothing was recorded) and is late for no other reason; value read, "
    "synchronization, blocking copy and pageable copy: the host waits for the device in an "
    "operator, a call of the program or a copy, or has not caught up with the device since";

enum { OWNERS_RANK, OWNERS_DEVICE, OWNERS_OWNER, OWNERS_TOTAL, OWNERS_LATER, OWNERS_SHARE };
static const struct ta_column by_owner_columns[] = {
    [OWNERS_RANK] = TA_RANK_COLUMN,
    [OWNERS_DEVICE] = TA_DEVICE_COLUMN,
    [OWNERS_OWNER] = {"owner", "Root cause", TA_TEXT, .doc = owner_doc},
    [OWNERS_TOTAL] =
        {"total_ns", "Total", TA_NS, .better = TA_LOWER,
         .doc =
             "Idle time with this root cause; the root causes of a device add up to its idle time"},
    [OWNERS_LATER] = {"later_ns", "Catching up", TA_NS, .better = TA_LOWER,
                      .doc = "Part of the total after a waiting call has returned, or in a copy of "
                             "pageable memory"},
    [OWNERS_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                      .doc = "Share of the idle time of the device"},
};

static const struct ta_table_def by_owner = {
    "gpu_idle.by_owner",
    "Idle time by root cause",
    TA_COLUMNS(by_owner_columns),
    .doc = "One row per rank, device and root cause: each nanosecond of `gpu_idle.by_cause` has "
           "one. While a thread waits for the device it launches nothing, so afterwards the device "
           "idles until the thread has launched again. Of that time (launching work, launch "
           "latency, less than 10 ms outside all spans) the wait is the root cause for as long as "
           "it lasted, less the idle time of the device during it, until the thread is 3 ms ahead "
           "of the device, has launched 100 times without getting there, or computes, compiles, "
           "loads or allocates for 100 µs. Consecutive waits add up; each accounts for at most its "
           "own duration, the latest first. The same holds after computation on the CPU.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_owner_columns[OWNERS_TOTAL], TA_DESCENDING}};

enum {
    OWNER_SITES_RANK,
    OWNER_SITES_DEVICE,
    OWNER_SITES_OWNER,
    OWNER_SITES_FUNCTION,
    OWNER_SITES_SITE,
    OWNER_SITES_PIECES,
    OWNER_SITES_WAITS,
    OWNER_SITES_TOTAL,
    OWNER_SITES_SHARE
};
static const struct ta_column owner_sites_columns[] = {
    [OWNER_SITES_RANK] = TA_RANK_COLUMN,
    [OWNER_SITES_DEVICE] = TA_DEVICE_COLUMN,
    [OWNER_SITES_OWNER] = {"owner", "Root cause", TA_TEXT, .doc = owner_doc},
    [OWNER_SITES_FUNCTION] =
        {"function", "Function", TA_TEXT,
         .doc = "Nearest enclosing function that belongs neither to torch nor to Python's library; "
                "otherwise the nearest annotated range, otherwise the outermost operator"},
    [OWNER_SITES_SITE] = {"site", "Call site", TA_TEXT,
                          .doc = "Operator, function or range that the host was in; for a wait, "
                                 "the outermost operator that waits, otherwise the call"},
    [OWNER_SITES_PIECES] = {"pieces", "Intervals", TA_COUNT, .better = TA_LOWER,
                            .doc = "Number of idle intervals"},
    [OWNER_SITES_WAITS] = {"waits", "Waits", TA_COUNT, .better = TA_LOWER,
                           .doc = "Waiting calls that are the root cause of part of the time"},
    [OWNER_SITES_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                           .doc = "Idle time of the device"},
    [OWNER_SITES_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                           .doc = "Share of the device's idle time with this root cause"},
};

static const struct ta_table_def owner_sites = {
    "gpu_idle.owner_sites",
    "Idle time by root cause and function",
    TA_COLUMNS(owner_sites_columns),
    .doc = "One row per rank, device, root cause, function and call site: where a programmer can "
           "act on idle time that the host causes. For each root cause the 50 call sites with the "
           "most time; the others are one row per function. At most the 10,000 largest rows.",
    .tier = TA_TIER_DETAIL,
    .order = {&owner_sites_columns[OWNER_SITES_TOTAL], TA_DESCENDING}};

/* ---- finish -------------------------------------------------------------------------------- */

static struct ta_cell text_cell(const struct ta_partial *partial, const int64_t *row, size_t field)
{
    return ta_text_or_null(ta_partial_text(partial, row, field));
}

/* Sum of a column from row `from` on, over consecutive rows whose first `n_keys` fields are
 * equal. */
static int64_t sum_like(const struct ta_partial *partial, size_t from, size_t n_keys, size_t field)
{
    const size_t end = ta_partial_group_end(partial, from, n_keys - 1);
    int64_t sum = 0;
    for (size_t i = from; i < end; i++)
        sum = ta_add_sat(sum, ta_partial_at(partial, i)[field]);
    return sum;
}

static bool is_like_before(const struct ta_partial *partial, size_t i, size_t n_keys)
{
    return i && memcmp(ta_partial_at(partial, i), ta_partial_at(partial, i - 1),
                       n_keys * sizeof(int64_t)) == 0;
}

static void add_owners(const struct ta_partial *owners, struct ta_section_builder *out)
{
    int64_t all = 0; /* of the device */
    for (size_t i = 0; i < ta_partial_rows(owners); i++) {
        const int64_t *row = ta_partial_at(owners, i);
        if (!is_like_before(owners, i, OWNER_OWNER))
            all = sum_like(owners, i, OWNER_OWNER, OWNER_TOTAL);
        TA_ROW(out, by_owner, [OWNERS_RANK] = ta_int(row[OWNER_RANK]),
               [OWNERS_DEVICE] = ta_int(row[OWNER_DEVICE]),
               [OWNERS_OWNER] = text_cell(owners, row, OWNER_OWNER),
               [OWNERS_TOTAL] = ta_int(row[OWNER_TOTAL]), [OWNERS_LATER] = ta_int(row[OWNER_LATER]),
               [OWNERS_SHARE] = ta_share(row[OWNER_TOTAL], all));
    }
}

/* A row of call sites, its number, and the time of its root cause on its device. */
struct listed {
    const int64_t *row;
    size_t number;
    int64_t all;
};

static int by_time(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    if (a->row[OF_TOTAL] != b->row[OF_TOTAL])
        return a->row[OF_TOTAL] > b->row[OF_TOTAL] ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool add_sites(const struct ta_partial *sites, struct ta_section_builder *out)
{
    enum { SITES_MOST = 10000 };
    const size_t n = ta_partial_rows(sites), kept = n < SITES_MOST ? n : SITES_MOST;
    struct listed *list = calloc(n + 1, sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < n; i++)
        list[i] = (struct listed){ta_partial_at(sites, i), i,
                                  is_like_before(sites, i, OF_FUNCTION)
                                      ? list[i - 1].all
                                      : sum_like(sites, i, OF_FUNCTION, OF_TOTAL)};
    qsort(list, n, sizeof *list, by_time);
    for (size_t i = 0; i < kept; i++) {
        const int64_t *row = list[i].row;
        TA_ROW(out, owner_sites, [OWNER_SITES_RANK] = ta_int(row[OF_RANK]),
               [OWNER_SITES_DEVICE] = ta_int(row[OF_DEVICE]),
               [OWNER_SITES_OWNER] = text_cell(sites, row, OF_OWNER),
               [OWNER_SITES_FUNCTION] = text_cell(sites, row, OF_FUNCTION),
               [OWNER_SITES_SITE] = text_cell(sites, row, OF_SITE),
               [OWNER_SITES_PIECES] = ta_int(row[OF_PIECES]),
               [OWNER_SITES_WAITS] = ta_int(row[OF_WAITS]),
               [OWNER_SITES_TOTAL] = ta_int(row[OF_TOTAL]),
               [OWNER_SITES_SHARE] = ta_share(row[OF_TOTAL], list[i].all));
    }
    free(list);
    if (kept < n)
        ta_add_missing(
            out, "Of the %zu call sites where devices lost idle time the %zu largest are listed.",
            n, kept);
    return true;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    add_owners(merged[PARTIAL_OWNERS], out);
    return add_sites(merged[PARTIAL_SITES], out)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the places of idle time");
}

static const char *const needs_args[] = {"bytes", NULL};

static const struct ta_table_def *const tables[] = {&by_owner, &owner_sites, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .needs_args = needs_args,
                                           .section = "launches",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, idle_owners, &ops, .title = "Root causes of idle time",
    .summary = "Root causes of idle time, and where in the program they are: gpu_idle.by_owner",
    .version = "1");
