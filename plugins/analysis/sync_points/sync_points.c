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

/* The columns are the fields of the partials, and one more in two of them. */
enum { HARMFUL = SITE_FIELDS, RANK_HARMFUL_SHARE = RANK_FIELDS };

static const struct ta_column by_site_columns[] = {
    [KIND] = {"kind", "Kind", TA_TEXT,
              .doc = "Synchronization; the read of a single value, a blocking or pageable copy of "
                     "less than 1 KiB; a larger blocking copy; or a larger one of pageable memory, "
                     "which the driver has to stage"},
    [CALL] = {"call", "Call", TA_TEXT, .doc = "Call of the runtime that waits"},
    [SITE] = {"site", "Operator", TA_TEXT,
              .doc = "Outermost operator around the call, else the range or function that made it"},
    [CALLER] =
        {"caller", "Called from", TA_TEXT,
         .doc = "Nearest Python function around the operator; none where stacks were not recorded"},
    [COUNT] = {"count", "Calls", TA_COUNT, .better = TA_LOWER, .doc = "Number of waits, all ranks"},
    [TOTAL] = {"total_ns", "Host time", TA_NS, .better = TA_LOWER,
               .doc = "Time that host threads spent in the call"},
    [DURING] = {"idle_during_ns", "Idle during", TA_NS, .better = TA_LOWER,
                .doc = "Part of it in which no device of the rank worked and the next work was not "
                       "launched yet; of waits at the same time the first has it"},
    [AFTER] = {"idle_after_ns", "Idle after", TA_NS, .better = TA_LOWER,
               .doc = "From the end of the call until a device began to work or the next wait "
                      "began, where none worked at its end"},
    [HARMFUL] = {"harmful_ns", "Harmful", TA_NS, .better = TA_LOWER,
                 .doc = "Idle during and after"},
};

static const struct ta_table_def by_site = {
    "sync.by_site", "Waits for the device by place", TA_COLUMNS(by_site_columns),
    .doc = "One row per kind of wait, call, operator and caller, all ranks: host threads that "
           "wait for the device, and what that costs. A wait does no harm while the devices of "
           "the rank work; harm is the idle time during it, and after it until a device works "
           "again or the next wait begins, in which the next work was not launched yet: work in "
           "the queue is held up by something else. No moment counts twice; of waits at the "
           "same time the first one has it.",
    .order = {&by_site_columns[HARMFUL], TA_DESCENDING}};

static const struct ta_column by_rank_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [RANK_COUNT] = {"count", "Calls", TA_COUNT, .better = TA_LOWER, .weight = 0.1,
                    .doc = "Number of waits"},
    [RANK_TOTAL] = {"total_ns", "Host time", TA_NS, .better = TA_LOWER, .weight = 0.1,
                    .doc = "Time that host threads spent in waits"},
    [RANK_HARMFUL] = {"harmful_ns", "Harmful", TA_NS, .better = TA_LOWER, .weight = 0.5,
                      .doc = "Device idle during waits and right after them, each moment once"},
    [RANK_WINDOW] = {"window_ns", "Window", TA_NS,
                     .doc = "First to last activity of all devices of the rank"},
    [RANK_HARMFUL_SHARE] = {"harmful_share", "Harmful %", TA_RATIO, .better = TA_LOWER,
                            .doc = "Harmful time over the window"},
};

static const struct ta_table_def by_rank = {"sync.by_rank",
                                            "Waits for the device by rank",
                                            TA_COLUMNS(by_rank_columns),
                                            .doc = "One row per rank with device activities.",
                                            .tier = TA_TIER_DETAIL,
                                            .rank_words = "Waits for the device"};

static const struct ta_column by_kind_columns[] = {
    [KIND_RANK] = TA_RANK_COLUMN,
    [KIND_KIND] = {"kind", "Kind", TA_TEXT, .doc = "As in the table of waits by place"},
    [KIND_COUNT] = {"count", "Calls", TA_COUNT, .better = TA_LOWER, .doc = "Number of waits"},
    [KIND_TOTAL] = {"total_ns", "Host time", TA_NS, .better = TA_LOWER,
                    .doc = "Time that host threads spent in the call"},
    [KIND_DURING] = {"idle_during_ns", "Idle during", TA_NS, .better = TA_LOWER,
                     .doc = "Part of it in which no device of the rank worked and the next work "
                            "was not launched yet; of waits at the same time the first has it"},
    [KIND_AFTER] =
        {"idle_after_ns", "Idle after", TA_NS, .better = TA_LOWER,
         .doc = "From the end of the call until a device began to work or the next wait began"},
    [KIND_REFILL] = {"idle_refill_ns", "Idle later", TA_NS, .better = TA_LOWER,
                     .doc = "Further idle time before the next wait in which the host was late: it "
                            "has not got ahead of the device again"},
    [KIND_SAVING] = {"saving_ns", "Saving", TA_NS, .better = TA_LOWER,
                     .doc = "Idle time of all three, of each wait at most the host's time in it: "
                            "without the wait the host would be ahead by no more"},
};

static const struct ta_table_def by_kind = {
    "sync.by_kind", "Waits for the device by kind", TA_COLUMNS(by_kind_columns),
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
                                           .map = sync_map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, sync_points, &ops, .title = "Synchronization",
          .summary = "Waits for the device, with the part that does harm: sync.by_site",
          .version = "1");
