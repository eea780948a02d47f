/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks compared: every figure of every table by rank, which ranks differ from the others, and
 * nodes or process groups side by side. */
#include "figures.h"

enum { BY, OUTLIERS, PER_NODE };

static const struct ta_option options[] = {
    [BY] = {"by", TA_OPTION_INTEGER, RANKS_BY_RANK, RANKS_BY_RANK, RANKS_BY_GROUP, TA_OPTION_PLAIN,
            "Compare also nodes (1) or process groups (2), not only ranks (0)"},
    [OUTLIERS] = {"outliers", TA_OPTION_INTEGER, 16, 0, 1e6, TA_OPTION_PLAIN,
                  "Most ranks to list that differ from the others"},
    [PER_NODE] = {"per_node", TA_OPTION_INTEGER, 0, 0, 1e6, TA_OPTION_PLAIN,
                  "Ranks per node; 0: as device numbers show, otherwise 8"},
    TA_OPTIONS_END,
};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const int by = ta_whole_int(ta_ctx_option(ctx, BY));
    struct figures figures;
    bool done = ranks_read(in->report, &figures);
    if (done)
        ranks_add_metrics(&figures, out);
    done = done && ranks_add_outliers(&figures, ta_whole_size(ta_ctx_option(ctx, OUTLIERS)), out);
    if (by == RANKS_BY_NODE)
        done = done && ranks_add_nodes(&figures, in, ta_whole(ta_ctx_option(ctx, PER_NODE)), out);
    if (by == RANKS_BY_GROUP)
        done = done && ranks_add_groups(&figures, in, out);
    ranks_free(&figures);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the ranks");
}

static const struct ta_table_def *const tables[] = {&ranks_metrics, &ranks_outliers, &ranks_parts,
                                                    &parts_metrics, NULL};

static const struct ta_ref reads[] = {
    [GPU_RANK] = {"gpu_time.by_rank", "rank"},
    [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
    [GROUPS_DESCRIPTION] = {"groups.by_rank", "description"},
    [GROUPS_RANK] = {"groups.by_rank", "rank"},
    [GROUPS_NAME] = {"groups.by_rank", "group"},
    [GROUPS_RANKS] = {"groups.by_rank", "ranks"},
    [FIRST_SHOWN] = {"gpu_time.parts", "window_ns"},
    {"gpu_time.parts", "compute_ns"},
    {"gpu_time.parts", "comm_hidden_ns"},
    {"gpu_time.parts", "comm_exposed_ns"},
    {"gpu_time.parts", "memcpy_exposed_ns"},
    {"gpu_time.parts", "host_wait_ns"},
    {"gpu_time.parts", "kernel_wait_ns"},
    {"gpu_time.parts", "around_ns"},
    {"gpu_time.parts", "other_ns"},
    {"steps.by_rank", "p50_ns"},
    {"stragglers.by_rank", "mean_lateness_ns"},
};

static const struct ta_analysis_ops ops = {.section = "ranks",
                                           .reads_ranks = true,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, ranks, &ops, .title = "Ranks", .options = options,
          .summary = "Every figure by rank, compared over all ranks; and ranks, nodes or groups "
                     "that differ: ranks.metrics, ranks.outliers, ranks.parts, parts.metrics",
          .version = "2");
