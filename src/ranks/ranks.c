/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stage across ranks: what it takes from traces, and its steps in order. */
#include "analyze/analyze.h"
#include "ranks/stage.h"
#include "ranks/steps.h"

#include <stdlib.h>

static const struct ta_field record_fields[RECORDS_FIELDS] = {
    [RECORDS_RANK] = {"rank", TA_FIELD_RANK},     [RECORDS_DEVICE] = {"device", TA_FIELD_INT},
    [RECORDS_PACK] = {"pack", TA_FIELD_TEXT},     [RECORDS_LEFT_OUT] = {"left_out", TA_FIELD_SUM},
    [RECORDS_BEGAN] = {"began_ns", TA_FIELD_MIN},
};

static const struct ta_partial_def partials[] = {{"records", record_fields, RECORDS_FIELDS}, {0}};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .needs_args = collective_args,
                                           .partials = partials,
                                           .map = map_collectives};

const struct ta_entry ta_ranks_entry = {
    .plugin = {.kind = TA_KIND_analysis,
               .id = "stage:ranks", /* no plugin can have this id */
               .title = "Across ranks",
               .version = "2",
               .analysis = &ops},
    .origin = TA_BUILT_IN,
};

const struct ta_plan_stages ta_stages = {.steps = {&ta_steps_entry, false},
                                         .ranks = {&ta_ranks_entry, false}};

enum ta_status ta_ranks_run(struct ta_ctx *ctx, const struct ta_plan *plan,
                            struct ta_partial_set *set, const int64_t *final_ranks, size_t n,
                            struct ta_ranks **ranks)
{
    *ranks = NULL;
    if (plan->ranks == SIZE_MAX)
        return TA_OK;
    const enum ta_status status = ta_partial_set_settle(ctx, set, plan->ranks, final_ranks, n);
    if (status != TA_OK)
        return status;
    struct ta_ranks *r = calloc(1, sizeof *r);
    if (r && read_records(ta_partial_set_table(set, plan->ranks, 0), r) && match_records(r) &&
        align_clocks(r) && find_arrivals(r) && compare_stretches(r) &&
        judge_ranks(r, &r->lateness)) {
        *ranks = r;
        return TA_OK;
    }
    ta_ranks_free(r);
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the collectives of all ranks");
}

void ta_ranks_free(struct ta_ranks *ranks)
{
    if (!ranks)
        return;
    free(ranks->groups);
    free(ranks->shapes);
    free(ranks->communicators);
    free(ranks->members);
    free(ranks->records);
    free(ranks->collectives);
    free(ranks->order);
    free(ranks->entries);
    free(ranks->stretches);
    free(ranks->by_stretch);
    free(ranks->reference);
    free(ranks->excess);
    free(ranks->items);
    free(ranks->packs);
    free(ranks->lateness.at);
    free(ranks->lateness.of);
    free(ranks);
}

const struct ta_rank_member *ta_ranks_clock(const struct ta_rank_member *members, size_t n,
                                            int64_t rank, int64_t *axis)
{
    const struct ta_rank_member *best = NULL;
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (members[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && members[low].rank == rank; low++) {
        const struct ta_rank_clock *clock = &members[low].clock;
        if (clock->state == TA_CLOCK_NONE || clock->state == TA_CLOCK_REFUSED ||
            (*axis != TA_MISSING && clock->axis != *axis) || (best && clock->n <= best->clock.n))
            continue;
        best = &members[low];
    }
    if (best)
        *axis = best->clock.axis;
    return best;
}
