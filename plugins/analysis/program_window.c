/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.window, gpu_time.program: the window of the program, on host and devices, next to the windows
 * of devices; gpu_idle.edges, gpu_idle.edge_sites: what the host does in it before the first
 * activity of a device and after the last. */
#include "model/idle/idle.h"
#include "model/program/window.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { PARTIAL_RANKS, PARTIAL_EDGES, PARTIAL_SITES };
enum { RANK, START, WINDOW, DEVICE_WINDOW, BEFORE, AFTER, WHAT, RANK_COLUMNS };
enum {
    OF_RANK,
    OF_DEVICES,
    OF_START,
    OF_WINDOW,
    OF_DEVICE_WINDOW,
    OF_BEFORE,
    OF_AFTER,
    RANK_FIELDS
};
enum { EDGE_RANK, EDGE_DEVICE, EDGE_EDGE, EDGE_CAUSE, EDGE_TOTAL, EDGE_FIELDS };
enum { SITE_EDGE, SITE_CAUSE, SITE_SITE, SITE_PIECES, SITE_TOTAL, SITE_FIELDS };

/* Of the files of a rank those with device work count, where there is any. */
static const struct ta_field rank_fields[RANK_FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},
    [OF_DEVICES] = {"has_devices", TA_FIELD_INT},
    [OF_START] = {"start_ns", TA_FIELD_MIN},
    [OF_WINDOW] = {"window_ns", TA_FIELD_SUM},
    [OF_DEVICE_WINDOW] = {"device_window_ns", TA_FIELD_SUM},
    [OF_BEFORE] = {"before_ns", TA_FIELD_SUM},
    [OF_AFTER] = {"after_ns", TA_FIELD_SUM},
};

static const struct ta_field edge_fields[EDGE_FIELDS] = {
    [EDGE_RANK] = {"rank", TA_FIELD_RANK},     [EDGE_DEVICE] = {"device", TA_FIELD_INT},
    [EDGE_EDGE] = {"edge", TA_FIELD_INT},      [EDGE_CAUSE] = {"cause", TA_FIELD_TEXT},
    [EDGE_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field site_fields[SITE_FIELDS] = {
    [SITE_EDGE] = {"edge", TA_FIELD_INT},      [SITE_CAUSE] = {"cause", TA_FIELD_TEXT},
    [SITE_SITE] = {"site", TA_FIELD_TEXT},     [SITE_PIECES] = {"pieces", TA_FIELD_SUM},
    [SITE_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_RANKS] = {"ranks", rank_fields, RANK_FIELDS},
    [PARTIAL_EDGES] = {"edges", edge_fields, EDGE_FIELDS},
    [PARTIAL_SITES] = {"sites", site_fields, SITE_FIELDS},
    {0},
};

/* Rows may come from a saved summary. */
static const struct ta_bound bounds[] = {{PARTIAL_RANKS, OF_DEVICES, 2},
                                         {PARTIAL_EDGES, EDGE_EDGE, TA_EDGES},
                                         {PARTIAL_SITES, SITE_EDGE, TA_EDGES},
                                         TA_BOUNDS_END};

static const char *const edge_names[TA_EDGES] = {
    [TA_EDGE_BEFORE] = "before", [TA_EDGE_AFTER] = "after"};

/* ---- tables -------------------------------------------------------------------------------- */

static const struct ta_column rank_columns[RANK_COLUMNS] = {
    [RANK] = TA_RANK_COLUMN,
    [START] = {"start_ns", "Start", TA_NS, .role = TA_NOTE,
               .doc = "Start of the window, since the earliest span of the rank's file"},
    [WINDOW] = {"window_ns", "Window", TA_NS, .read_as = TA_AS_RANK_WINDOW, .better = TA_LOWER,
                .weight = 0.8,
                .doc = "From the first to the last work of the program, on host and devices"},
    [DEVICE_WINDOW] =
        {"device_window_ns", "Device window", TA_NS, .better = TA_LOWER,
         .doc = "From the first to the last activity of any device; empty without activities"},
    [BEFORE] =
        {"before_ns", "Before", TA_NS, .better = TA_LOWER, .weight = 0.6,
         .doc = "Part of the window before the first device activity; empty without activities"},
    [AFTER] = {"after_ns", "After", TA_NS, .better = TA_LOWER, .weight = 0.4,
               .doc =
                   "Part of the window after the last device activity; empty without activities"},
    [WHAT] = {"what", "Definition", TA_SENTENCE, .role = TA_NOTE,
              .doc = "What the window is made of, and why"},
};

static const struct ta_table_def rank = {
    "run.window",
    "Program window",
    TA_COLUMNS(rank_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank: the window that verdict, bounds, key figures and charts refer to. It "
           "begins with the first and ends with the last of: device activities, operators, ranges "
           "of the program, calls that launch work. On the host it covers what the profiler "
           "recorded. So it includes time before the first launch, in which data is loaded, input "
           "prepared or a prompt encoded on the host, and time after the last kernel. Python "
           "functions do not count, since the outer ones are open from the start of the recording "
           "to its end; nor does what the profiler does to start and stop. The window of a device, "
           "from its first activity to its last, may be shorter.",
    .not_of_ranks = true};

enum { BY_RANK, BY_DEVICE, BY_WINDOW, BY_BUSY, BY_BEFORE, BY_AFTER, BY_SHARE };
static const struct ta_column program_columns[] = {
    [BY_RANK] = TA_RANK_COLUMN,
    [BY_DEVICE] = TA_DEVICE_COLUMN,
    [BY_WINDOW] = {"window_ns", "Window", TA_NS, .better = TA_LOWER, .doc = "Program window"},
    [BY_BUSY] = {"busy_ns", "Busy", TA_NS,
                 .doc = "Time with at least one activity running on the device"},
    [BY_BEFORE] = {"before_ns", "Before", TA_NS, .better = TA_LOWER,
                   .doc = "Part of the window before the device's first activity"},
    [BY_AFTER] = {"after_ns", "After", TA_NS, .better = TA_LOWER,
                  .doc = "Part of the window after the device's last activity"},
    [BY_SHARE] = {"busy_share", "Busy %", TA_RATIO, .better = TA_HIGHER, .weight = 0.7,
                  .doc = "Busy time divided by the window"},
};

static const struct ta_table_def program = {
    "gpu_time.program",
    "GPU time in the program window",
    TA_COLUMNS(program_columns),
    .doc = "One row per rank and device of `gpu_time.by_rank`: `window_ns` = its window there + "
           "`before_ns` + `after_ns`.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true};

#define EDGE_DOC "before: until the device's first activity; after: from its last activity on"
#define CAUSE_DOC "What the host did meanwhile, with the same names as causes of idle time"

static const struct ta_column edge_columns[] = {
    [EDGE_RANK] = TA_RANK_COLUMN,
    [EDGE_DEVICE] = TA_DEVICE_COLUMN,
    [EDGE_EDGE] = {"edge", "When", TA_TEXT, .doc = EDGE_DOC},
    [EDGE_CAUSE] = {"cause", "Cause", TA_TEXT, .doc = CAUSE_DOC},
    [EDGE_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                    .doc = "Time that the host spent on this"},
};

static const struct ta_table_def edge = {
    "gpu_idle.edges",
    "Before and after GPU work",
    TA_COLUMNS(edge_columns),
    .doc = "One row per rank, device, edge and cause: the program's time before the first activity "
           "of a device and after its last, by what the host did. Until the first launch, that is "
           "the thread that makes it; after the last activity, the thread that works last. Σ "
           "`total_ns` of a device is `before_ns` + `after_ns` of `gpu_time.program`.",
    .tier = TA_TIER_DETAIL,
    .order = {&edge_columns[EDGE_TOTAL], TA_DESCENDING},
    .not_of_ranks = true};

enum { SITE_SHARE = SITE_FIELDS };
static const struct ta_column site_columns[] = {
    [SITE_EDGE] = {"edge", "When", TA_TEXT, .doc = EDGE_DOC},
    [SITE_CAUSE] = {"cause", "Cause", TA_TEXT, .doc = CAUSE_DOC},
    [SITE_SITE] = {"site", "Where", TA_TEXT,
                   .doc = "Operator, function or range that the host was in"},
    [SITE_PIECES] = {"pieces", "Pieces", TA_COUNT, .better = TA_LOWER,
                     .doc = "Intervals in which the host was at this place"},
    [SITE_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                    .doc = "Time at this place, summed over all devices of all ranks"},
    [SITE_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                    .doc = "This time divided by all time before and after GPU work"},
};

static const struct ta_table_def site = {
    "gpu_idle.edge_sites",    "Before and after GPU work, by call site",
    TA_COLUMNS(site_columns), .doc = "One row per edge, cause and place, all ranks.",
    .tier = TA_TIER_DETAIL,   .order = {&site_columns[SITE_TOTAL], TA_DESCENDING}};

/* ---- map ----------------------------------------------------------------------------------- */

struct adding {
    const struct ta_trace *trace;
    struct ta_partial *const *out;
};

/* As much of a name as anybody reads. */
static struct ta_key name_key(const struct adding *a, ta_row row)
{
    enum { NAME_MOST = 4096 };
    if (row == TA_NO_ROW)
        return ta_key_text(TA_LIT(""));
    struct ta_slice name =
        ta_host_place(ta_trace_text(a->trace, ta_trace_spans(a->trace).name[row]));
    if (name.len > NAME_MOST)
        for (name.len = NAME_MOST; name.len && (name.ptr[name.len] & 0xC0) == 0x80;)
            name.len--; /* not within a letter */
    return ta_key_text(name);
}

static void add_part(void *user, const struct ta_idle_edge_part *part)
{
    const struct adding *a = user;
    const struct ta_key cause = ta_key_text(ta_slice_of(ta_idle_causes[part->cause].name));
    int64_t *row = TA_PARTIAL_ROW(a->out[PARTIAL_EDGES], ta_key_int(ta_trace_rank(a->trace)),
                                  ta_key_int(part->device), ta_key_int(part->edge), cause);
    ta_sum(&row[EDGE_TOTAL], part->ns);
    row = TA_PARTIAL_ROW(a->out[PARTIAL_SITES], ta_key_int(part->edge), cause,
                         name_key(a, part->place));
    ta_sum(&row[SITE_PIECES], part->times);
    ta_sum(&row[SITE_TOTAL], part->ns);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_program_window *window = ta_program_window(trace);
    struct adding adding = {.trace = trace, .out = out};
    if (!window || !ta_idle_edges(trace, &adding, add_part))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the window of a program");
    if (window->start == window->end)
        return TA_OK;
    const bool has_devices = window->first <= window->last;
    int64_t *row = TA_PARTIAL_ROW(out[PARTIAL_RANKS], ta_key_int(ta_trace_rank(trace)),
                                  ta_key_int(has_devices));
    ta_least(&row[OF_START], window->start - ta_trace_origin(trace));
    ta_sum(&row[OF_WINDOW], window->end - window->start);
    if (has_devices) {
        ta_sum(&row[OF_DEVICE_WINDOW], window->last - window->first);
        ta_sum(&row[OF_BEFORE], window->first - window->start);
        ta_sum(&row[OF_AFTER], window->end - window->last);
    }
    return TA_OK;
}

/* ---- finish -------------------------------------------------------------------------------- */

enum { GPU_RANK, GPU_DEVICE, GPU_WINDOW, GPU_BUSY };
static const struct ta_ref reads[] = {[GPU_RANK] = {"gpu_time.by_rank", "rank"},
                                      [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
                                      [GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
                                      [GPU_BUSY] = {"gpu_time.by_rank", "busy_ns"}};

static const char *what_of(const int64_t *row)
{
    if (!row[OF_DEVICES])
        return "Work of the host alone: no device activity was recorded";
    if (row[OF_BEFORE] + row[OF_AFTER] == 0)
        return "Work of devices: nothing of the host was recorded before or after it";
    return "Work of host and devices: the host works before the first activity or after the last";
}

/* A row with device work comes after one of the same rank without. */
static void add_ranks(const struct ta_partial *ranks, struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(ranks);
    for (size_t i = 0; i < n; i++) {
        const int64_t *row = ta_partial_at(ranks, i);
        if (i + 1 < n && ta_partial_at(ranks, i + 1)[OF_RANK] == row[OF_RANK])
            continue;
        TA_ROW(out, rank, [RANK] = ta_int(row[OF_RANK]), [START] = ta_int(row[OF_START]),
               [WINDOW] = ta_int(row[OF_WINDOW]), [DEVICE_WINDOW] = ta_int(row[OF_DEVICE_WINDOW]),
               [BEFORE] = ta_int(row[OF_BEFORE]), [AFTER] = ta_int(row[OF_AFTER]),
               [WHAT] = ta_string(what_of(row)));
    }
}

/* Both lists are in the order of ranks and devices. */
static void add_devices(const struct ta_refs *in, const struct ta_partial *edges,
                        struct ta_section_builder *out)
{
    size_t next = 0;
    for (size_t i = 0; i < ta_ref_rows(in, GPU_WINDOW); i++) {
        const int64_t of = ta_ref_integer(in, GPU_RANK, i);
        const int64_t device = ta_ref_integer(in, GPU_DEVICE, i);
        int64_t time[TA_EDGES] = {0};
        for (; next < ta_partial_rows(edges); next++) {
            const int64_t *row = ta_partial_at(edges, next);
            if (row[EDGE_RANK] != of || row[EDGE_DEVICE] != device)
                break;
            time[row[EDGE_EDGE]] = ta_add_sat(time[row[EDGE_EDGE]], row[EDGE_TOTAL]);
        }
        const int64_t window = ta_add_sat(ta_ref_integer(in, GPU_WINDOW, i),
                                          ta_add_sat(time[TA_EDGE_BEFORE], time[TA_EDGE_AFTER]));
        TA_ROW(out, program, [BY_RANK] = ta_int(of), [BY_DEVICE] = ta_int(device),
               [BY_WINDOW] = ta_int(window), [BY_BUSY] = ta_int(ta_ref_integer(in, GPU_BUSY, i)),
               [BY_BEFORE] = ta_int(time[TA_EDGE_BEFORE]), [BY_AFTER] = ta_int(time[TA_EDGE_AFTER]),
               [BY_SHARE] = ta_share(ta_ref_integer(in, GPU_BUSY, i), window));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *edges = merged[PARTIAL_EDGES], *sites = merged[PARTIAL_SITES];
    int64_t all = 0;
    add_ranks(merged[PARTIAL_RANKS], out);
    add_devices(in, edges, out);
    for (size_t i = 0; i < ta_partial_rows(edges); i++) {
        const int64_t *row = ta_partial_at(edges, i);
        all = ta_add_sat(all, row[EDGE_TOTAL]);
        TA_ROW(out,
               edge, [EDGE_RANK] = ta_int(row[EDGE_RANK]), [EDGE_DEVICE] = ta_int(row[EDGE_DEVICE]),
               [EDGE_EDGE] = ta_string(edge_names[row[EDGE_EDGE]]),
               [EDGE_CAUSE] = ta_text(ta_partial_text(edges, row, EDGE_CAUSE)),
               [EDGE_TOTAL] = ta_int(row[EDGE_TOTAL]));
    }
    for (size_t i = 0; i < ta_partial_rows(sites); i++) {
        const int64_t *row = ta_partial_at(sites, i);
        TA_ROW(out, site, [SITE_EDGE] = ta_string(edge_names[row[SITE_EDGE]]),
               [SITE_CAUSE] = ta_text(ta_partial_text(sites, row, SITE_CAUSE)),
               [SITE_SITE] = ta_text_or_null(ta_partial_text(sites, row, SITE_SITE)),
               [SITE_PIECES] = ta_int(row[SITE_PIECES]), [SITE_TOTAL] = ta_int(row[SITE_TOTAL]),
               [SITE_SHARE] = ta_share(row[SITE_TOTAL], all));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&rank, &program, &edge, &site, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "gpu_time",
                                           .partials = partials,
                                           .bounds = bounds,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, program_window, &ops, .title = "Program window",
          .summary = "From the first work of the program to its last, on host and devices: "
                     "run.window, gpu_time.program",
          .version = "1");
