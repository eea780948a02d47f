/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.by_kind and its company: what collectives cost, and how much of it is waiting. */
#include "tables.h"

static const struct ta_field record_fields[RECORDS_FIELDS] = {
    [RECORDS_RANK] = {"rank", TA_FIELD_RANK},
    [RECORDS_DEVICE] = {"device", TA_FIELD_INT},
    [RECORDS_PACK] = {"pack", TA_FIELD_TEXT},
    [RECORDS_LEFT_OUT] = {"left_out", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"records", record_fields, RECORDS_FIELDS}, {0}};

static bool prepare(const struct ta_partial *records, struct coll_run *run)
{
    return coll_read(records, run) && coll_match(run) && coll_align(run) && coll_arrive(run) &&
           coll_compare(run);
}

/* Says what is not known, and why. */
static void add_lacks(const struct coll_run *run, struct ta_section_builder *out)
{
    if (run->damaged)
        ta_add_missing(out, "Records of collectives could not be read, those of others are shown.");
    else if (run->left_out)
        ta_add_missing(out,
                       "Of each device the first %d collectives were compared one by one; %lld "
                       "later ones are left out.",
                       COLL_RECORDS_MOST, (long long)run->left_out);
    else if (run->n_unmatched)
        ta_add_missing(out,
                       "%zu of %zu records of collectives have no counterpart on the other ranks, "
                       "which lost theirs or did something else there: they are not compared.",
                       run->n_unmatched, run->n_records);
    else if (run->n_records && run->n_members < 2)
        ta_add_missing(out,
                       "Collectives of one rank alone: who waits for whom, and how long, shows "
                       "with the traces of the other ranks.");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    struct coll_run run;
    struct coll_ranks ranks = {0};
    bool done = prepare(merged[0], &run) && coll_judge(&run, &ranks) && coll_add_kinds(&run, out);
    if (done) {
        done = coll_add_ranks(&ranks, out) && coll_add_blame(&run, &ranks, out) &&
               coll_add_parts(&run, &ranks, out) && coll_add_sizes(&run, out) &&
               coll_add_small(&run, out) && coll_add_layout(&run, out) &&
               coll_add_ladder(&run, in, out);
        coll_add_exposed(&run, in, out);
        coll_add_clocks(&run, out);
        add_lacks(&run, out);
    }
    coll_ranks_free(&ranks);
    coll_run_free(&run);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the collectives of all ranks");
}

static const struct ta_table_def *const tables[] = {
    &coll_by_kind, &coll_by_rank, &coll_blame,  &coll_by_step, &coll_by_size, &coll_links,
    &coll_small,   &coll_layout,  &coll_ladder, &coll_exposed, &coll_clocks,  NULL};

static const struct ta_ref reads[] = {
    [GPU_RANK] = {"gpu_time.by_rank", "rank"},
    [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
    [GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
    [GPU_EXPOSED] = {"gpu_time.by_rank", "comm_exposed_ns"},
    [GPU_COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
};

static const struct ta_analysis_ops ops = {
    .needs = TA_NEED_HOST_WORK,
    .needs_args = coll_args,
    .section = "collectives",
    .partials = partials,
    .map = coll_map,
    .finish = finish,
    .tables = tables,
    TA_READS(reads),
};

TA_PLUGIN(analysis, collectives, &ops, .title = "Collectives",
          .summary = "Collectives over all ranks, on one clock: collectives.by_kind, "
                     "stragglers.by_rank",
          .version = "1");
