/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.clocks: the clock of each rank against the reference clock. */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <inttypes.h>
#include <stdio.h>

static const char *const state_names[] = {
    [TA_CLOCK_NONE] = "not_compared", [TA_CLOCK_REFERENCE] = "reference",
    [TA_CLOCK_OFFSET] = "offset",     [TA_CLOCK_DRIFT] = "offset_and_drift",
    [TA_CLOCK_REFUSED] = "refused",
};

enum { RANK, DEVICE, STATE, AXIS, COLLECTIVES, OFFSET, DRIFT, ORIGIN, UNCERTAINTY, CORRECTED };
static const struct ta_column clocks_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [DEVICE] = TA_DEVICE_COLUMN,
    [STATE] = {"state", "Clock", TA_WORD,
               .doc = "How the clock was aligned. reference: others are compared with it; offset, "
                      "offset_and_drift: what was found, drift only from 20 collectives on; "
                      "refused: collectives end further apart than they last; not_compared: fewer "
                      "than two shared collectives that wait for all"},
    [AXIS] = {"axis", "Clock group", TA_INTEGER,
              .doc = "Ranks with the same number can be compared; empty if not compared"},
    [COLLECTIVES] = {"collectives", "Collectives", TA_COUNT,
                     .doc = "Shared ends of collectives that the alignment uses"},
    [OFFSET] =
        {"offset_ns", "Offset", TA_NS,
         .doc = "Clock of this rank minus the reference clock, at the first of these collectives"},
    [DRIFT] = {"drift", "Drift", TA_NUMBER,
               .doc = "Change of the offset per unit of time: 1e-6 is one microsecond per second"},
    [ORIGIN] = {"origin", "Drift origin", TA_ID,
                .doc = "Time on this rank's clock at which the offset holds if there is a drift: "
                       "ns since 1970 if the trace has a date, otherwise as recorded; a text, "
                       "since JSON numbers may not be exact at this size"},
    [UNCERTAINTY] =
        {"uncertainty_ns", "Uncertainty", TA_NS_MEAN, .better = TA_LOWER,
         .doc =
             "Scatter of the collectives' ends around the offset (scaled median absolute "
             "deviation); a shift common to all ends, such as the order in a ring, does not show"},
    [CORRECTED] = {"corrected", "Corrected", TA_FLAG,
                   .doc = "Whether times were shifted: the offset exceeds three uncertainties"},
};

static const struct ta_table_def clocks = {
    "collectives.clocks",
    "Rank clocks",
    TA_COLUMNS(clocks_columns),
    .doc = "One row per rank and device with collectives, if there are several.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true,
    .joining = TA_JOIN_NOT};

static struct ta_cell origin_of(const struct ta_rank_clock *clock, char text[24])
{
    snprintf(text, 24, "%" PRId64, clock->origin);
    return ta_text(ta_slice_of(text));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    (void)ctx;
    const struct ta_ranks *ranks = in->ranks;
    if (ranks->n_members < 2)
        return TA_OK;
    for (size_t i = 0; i < ranks->n_members; i++) {
        const struct ta_rank_member *member = &ranks->members[i];
        const struct ta_rank_clock *clock = &member->clock;
        const bool is_compared = clock->n > 0;
        const bool has_drift = clock->state == TA_CLOCK_DRIFT;
        char origin[24];
        TA_ROW(out, clocks, [RANK] = ta_int(member->rank), [DEVICE] = ta_int(member->device),
               [STATE] = ta_text(ta_slice_of(state_names[clock->state])),
               [AXIS] = clock->state == TA_CLOCK_NONE ? ta_null() : ta_int(clock->axis),
               [COLLECTIVES] = is_compared ? ta_int((int64_t)clock->n) : ta_null(),
               [OFFSET] = is_compared ? ta_int(clock->offset) : ta_null(),
               [DRIFT] = has_drift ? ta_num(clock->drift) : ta_null(),
               [ORIGIN] = has_drift ? origin_of(clock, origin) : ta_null(),
               [UNCERTAINTY] = is_compared ? ta_num(clock->uncertainty) : ta_null(),
               [CORRECTED] = ta_bool(clock->corrected));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&clocks, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 9,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, rank_clocks, &ops, .title = "Rank clocks",
          .summary = "The clock of each rank compared with a reference: collectives.clocks",
          .version = "1");
