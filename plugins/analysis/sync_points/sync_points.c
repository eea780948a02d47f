/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sync.by_site, sync.by_rank: where host threads wait for the device, and which part of that does
 * harm.  A wait while the device works costs nothing by itself; what it costs is the time in which
 * the device has nothing to do during the wait, and from its end until new work arrives. */
#include "sync_points.h"

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

static const struct ta_column site_columns[] = {
    {"kind", "Kind", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Synchronization; the read of a single value, a blocking or pageable copy of less than 1 KiB; "
     "a larger blocking copy; or a larger one of pageable memory, which the driver has to stage"},
    {"call", "Call", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Call of the runtime that waits"},
    {"site", "Operator", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Outermost operator around the call, else the range or function that made it"},
    {"caller", "Called from", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Nearest Python function around the operator; none where stacks were not recorded"},
    {"count", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER, "Number of waits, all ranks"},
    {"total_ns", "Host time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Time that host threads spent in the call"},
    {"idle_during_ns", "Idle during", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Part of it in which no device of the rank worked and the next work was not launched yet; of "
     "waits at the same time the first has it"},
    {"idle_after_ns", "Idle after", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "From the end of the call until a device began to work or the next wait began, where none "
     "worked at its end"},
    {"harmful_ns", "Harmful", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Idle during and after"},
};

static const struct ta_column rank_columns[] = {
    TA_RANK_COLUMN,
    {"count", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER, "Number of waits"},
    {"total_ns", "Host time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Time that host threads spent in waits"},
    {"harmful_ns", "Harmful", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Device idle during waits and right after them, each moment once"},
    {"window_ns", "Window", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "First to last activity of all devices of the rank"},
    {"harmful_share", "Harmful %", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Harmful time over the window"},
};

static const struct ta_column kind_columns[] = {
    TA_RANK_COLUMN,
    TA_TEXT_COLUMN("kind", "Kind", "As in the table of waits by place"),
    TA_COUNT_COLUMN("count", "Calls", TA_LOWER, "Number of waits"),
    TA_NS_COLUMN("total_ns", "Host time", TA_LOWER, "Time that host threads spent in the call"),
    TA_NS_COLUMN("idle_during_ns", "Idle during", TA_LOWER,
                 "Part of it in which no device of the rank worked and the next work was not "
                 "launched yet; of waits at the same time the first has it"),
    TA_NS_COLUMN("idle_after_ns", "Idle after", TA_LOWER,
                 "From the end of the call until a device began to work or the next wait began"),
    TA_NS_COLUMN(
        "idle_refill_ns", "Idle later", TA_LOWER,
        "Further idle time before the next wait in which the host was late: it has not got "
        "ahead of the device again"),
    TA_NS_COLUMN("saving_ns", "Saving", TA_LOWER,
                 "Idle time of all three, of each wait at most the host's time in it: without the "
                 "wait the host would be ahead by no more"),
};

/* ---- finish -------------------------------------------------------------------------------- */

static struct ta_cell name_cell(const struct ta_partial *sites, const int64_t *row, size_t field)
{
    const struct ta_slice text = ta_partial_text(sites, row, field);
    return text.len ? ta_text(text) : ta_null();
}

static void add_ranks(const struct ta_partial *ranks, struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "sync.by_rank", "Waits for the device by rank", rank_columns, 6);
    for (size_t i = 0; i < ta_partial_rows(ranks); i++) {
        const int64_t *row = ta_partial_at(ranks, i);
        TA_ROW(table, ta_int(row[RANK]), ta_int(row[RANK_COUNT]), ta_int(row[RANK_TOTAL]),
               ta_int(row[RANK_HARMFUL]), ta_int(row[RANK_WINDOW]),
               row[RANK_WINDOW] > 0 ? ta_num((double)row[RANK_HARMFUL] / (double)row[RANK_WINDOW])
                                    : ta_null());
    }
}

static void add_kinds(const struct ta_partial *kinds, struct ta_section_builder *out)
{
    struct ta_table_builder *table =
        ta_add_table(out, "sync.by_kind", "Waits for the device by kind", kind_columns,
                     sizeof kind_columns / sizeof *kind_columns);
    for (size_t i = 0; i < ta_partial_rows(kinds); i++) {
        const int64_t *row = ta_partial_at(kinds, i);
        TA_ROW(table, ta_int(row[KIND_RANK]), name_cell(kinds, row, KIND_KIND),
               ta_int(row[KIND_COUNT]), ta_int(row[KIND_TOTAL]), ta_int(row[KIND_DURING]),
               ta_int(row[KIND_AFTER]), ta_int(row[KIND_REFILL]), ta_int(row[KIND_SAVING]));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *sites = merged[PARTIAL_SITES];
    struct ta_table_builder *table =
        ta_add_table(out, "sync.by_site", "Waits for the device by place", site_columns, 9);
    for (size_t i = 0; i < ta_partial_rows(sites); i++) {
        const int64_t *row = ta_partial_at(sites, i);
        TA_ROW(table, name_cell(sites, row, KIND), name_cell(sites, row, CALL),
               name_cell(sites, row, SITE), name_cell(sites, row, CALLER), ta_int(row[COUNT]),
               ta_int(row[TOTAL]), ta_int(row[DURING]), ta_int(row[AFTER]),
               ta_int(ta_add_sat(row[DURING], row[AFTER])));
    }
    ta_sort_rows(table, "harmful_ns", true);
    add_ranks(merged[PARTIAL_RANKS], out);
    add_kinds(merged[PARTIAL_KINDS], out);
    return TA_OK;
}

static const char *const needs_args[] = {"bytes", NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .needs_args = needs_args,
                                           .section = "launches",
                                           .partials = partials,
                                           .map = sync_map,
                                           .finish = finish};

TA_PLUGIN(analysis, sync_points, &ops, .title = "Synchronization",
          .summary = "Waits for the device, with the part that does harm: sync.by_site",
          .version = "1");
