/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tables the summary shows, and what of them. */
#include "text.h"

#include <string.h>

/* What tables of names of a comparison show: the ratio is the change, and without calls or time on
 * a side a name was added or removed. */
#define DIFF_NAMES                                                                                 \
    .first = "base_total_ns new_total_ns delta_ns change q_value", .renamed = "matched_as",        \
    .together = "base_calls new_calls", .spare = "same",                                           \
    .without = "ratio status method confidence set ci_low ci_high p_value"

/* In the order of the questions: which rank, which kernels, who launched them, which steps; of
 * dumps which stages, how fast, how much memory, and how the ranks differ. */
const struct text_pick text_picks[] = {
    {.table = "gates.results",
     .rows = 20,
     .first = "outcome what base new change",
     .whole = true,
     .together = "change_low change_high"},
    {.table = "diff.waterfall",
     .rows = 10,
     .first = "base_ns new_ns delta_ns",
     .together = "count_effect_ns rate_effect_ns",
     .without = "base_calls new_calls"},
    {.table = "diff.normalized", .rows = 3},
    {.table = "diff.step_classes",
     .rows = 4,
     .first = "base_steps new_steps base_mean_ns new_mean_ns change"},
    {.table = "diff.machine", .rows = 1},
    {.table = "diff.environment", .rows = 8, .first = "key base new", .spare = "same"},
    {.table = "diff.metrics",
     .rows = 12,
     .first = "base new delta change verdict",
     .whole = true,
     .without = "ratio ci_low ci_high polarity evidence base_runs new_runs"},
    {.table = "diff.stages", .rows = 8, DIFF_NAMES},
    {.table = "diff.memory", .rows = 6},
    {.table = "diff.memory_levels",
     .rows = 6,
     .by = "delta_bytes",
     .first = "base_bytes new_bytes delta_bytes change"},
    {.table = "diff.kernels", .rows = 10, DIFF_NAMES},
    {.table = "diff.copies", .rows = 4, DIFF_NAMES},
    {.table = "diff.ops", .rows = 8, DIFF_NAMES},
    {.table = "scaling.runs",
     .rows = 16,
     .first = "run world_size time_ns speedup efficiency serial gpu_ns",
     .said = "the smallest"},
    {.table = "scaling.factors",
     .rows = 25,
     .first = "run factor efficiency base_efficiency share"},
    {.table = "scaling.fits", .rows = 6, .first = "law figure value low high deviation"},
    {.table = "gpu_time.parts", .by = "host_wait_ns", .rows = 16},
    {.table = "gpu_time.by_rank", .by = "idle_ns", .rows = 16},
    {.table = "stragglers.by_rank",
     .by = "held_up_ns",
     .rows = 8,
     .first = "last_arrivals mean_lateness_ns wait_ns held_up_ns host_late_ns since"},
    {.table = "collectives.by_kind",
     .by = "total_ns",
     .rows = 6,
     .first = "op count bytes wait_ns transfer_ns bus_bandwidth"},
    {.table = "kernels.by_name", .by = "total_ns", .rows = 8},
    {.table = "stages.by_name", .by = "total_ns", .rows = 12},
    {.table = "stages.over_ranks", .by = "mean_total_ns", .rows = 12},
    {.table = "ops.by_name", .by = "self_ns", .rows = 8},
    {.table = "ops.summed", .rows = 8, .without = "device_part_ns"},
    {.table = "steps.by_step", .by = "host_dur_ns", .rows = 6},
    {.table = "copies.by_direction", .by = "total_ns", .rows = 8},
    {.table = "diffusion.by_rank", .by = "step_mean_ns", .rows = 8},
    {.table = "throughput.values",
     .rows = 12,
     .first = "metric value note",
     .said = "the first ranks"},
    {.table = "requests.by_rank", .rows = 8, .said = "the first ranks"},
    {.table = "layers.by_name", .by = "total_ns", .rows = 6},
    {.table = "streaming.by_rank", .rows = 4, .said = "the first ranks"},
    {.table = "memory.sites",
     .by = "peak_block_bytes",
     .rows = 8,
     .first = "peak_block_bytes peak_share",
     .whole = true,
     .without = "peak_bytes unfreed_blocks unfreed_bytes total_bytes allocations"},
    {.table = "memory.failures",
     .rows = 4,
     .first = "site wanted_bytes device_free_bytes",
     .without = "index"},
    {.table = "memory.snapshots", .by = "allocated_bytes", .rows = 12},
    {.table = "memory.by_rank", .by = "peak_allocated_bytes", .rows = 8},
    {.table = "telemetry.by_rank",
     .rows = 12,
     .first = "mean max",
     .said = "the first ranks and devices",
     .spare = "gpu_memory_activity gpu_memory_total gpu_memory_clock cpu_memory_total"},
    {.table = "caches.by_name", .by = "hits", .rows = 6},
    {.table = "figures.aggregated", .rows = 12, .first = "min mean max"},
    {.table = "iterations.by_name",
     .rows = 6,
     .alone = true,
     .first = "count per_s mean_ns total_ns"},
    {.table = "stacks.folded", .by = "total_ns", .rows = 8, .alone = true},
    {.table = "allocations.by_allocator", .by = "bytes", .rows = 6, .alone = true},
    {.table = "models.parameters", .rows = 6, .alone = true},
    {.table = "counters.by_name", .by = "samples", .rows = 6, .alone = true},
    {.table = "instants.by_name", .by = "count", .rows = 6, .alone = true},
    {.table = "figures.reported", .rows = 12, .alone = true},
    {.table = "ranks.metrics",
     .rows = 10,
     .first = "spread max max_rank min min_rank mean",
     .said = "the most telling differences",
     .spare = "events.by_kind. run.files.",
     .moves = "spread",
     .whole = true},
    {.table = NULL},
};

/* Whether any row has other numbers in two columns. */
static bool differs(const struct ta_table *table, const char *first, const char *second)
{
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (ta_row_number(table, i, first, 0) != ta_row_number(table, i, second, 0))
            return true;
    return false;
}

/* Whether a table of a comparison has anything that is not as it was. */
static bool tells_change(const struct ta_table *table)
{
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (!ta_row_reads(table, i, "status", "same") ||
            text_row_is_renamed(table, i, "matched_as"))
            return true;
    return false;
}

/* Whether memory by rank or by label is left to the other: labels say more of one rank.  Where all
 * rows are states of allocators, call sites say more of a single one. */
static bool is_left_out_of_memory(const struct ta_report *report, const char *id, bool several)
{
    const struct ta_table *snapshots = ta_report_table(report, "memory.snapshots");
    const struct ta_table *states = ta_report_table(report, "memory.fragmentation");
    const struct ta_table *ranks = ta_report_table(report, "memory.by_rank");
    const bool labelled = snapshots && (!states || snapshots->n_rows > states->n_rows) && !several;
    if (strcmp(id, labelled ? "memory.by_rank" : "memory.snapshots") == 0)
        return true;
    const struct ta_table *sites = ta_report_table(report, "memory.sites");
    if (strcmp(id, "memory.sites") == 0) /* of stacks that were not recorded */
        return sites && sites->n_rows == 1;
    return strcmp(id, "memory.by_rank") == 0 && ranks && ranks->n_rows == 1 && sites;
}

/* Whether a table of the list is left to the others: stages of one rank are listed by name, those
 * of several over all ranks, and so are they where one was not recorded as such; sums of operators
 * are for want of a trace, memory by rank of labels, or for many ranks; the time of the devices
 * says itself how ranks differ, and in parts what it is spent on. */
static bool is_left_out(const struct ta_report *report, const char *id)
{
    if (strcmp(id, "diff.normalized") == 0) /* says nothing new of the same amount of work */
        return !differs(ta_report_table(report, id), "base_units", "new_units");
    if (strcmp(id, "diff.memory") == 0) /* the levels say more */
        return ta_report_table(report, "diff.memory_levels") != NULL;
    static const char *const changes[] = {"diff.environment", "diff.stages", "diff.kernels",
                                          "diff.copies", "diff.ops"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(id, changes[i]) == 0)
            return !tells_change(ta_report_table(report, id));
    const bool several = ta_report_run(report)->n_ranks > 1;
    const bool over_ranks = several || ta_report_table(report, "stages.derived");
    if (strcmp(id, over_ranks ? "stages.by_name" : "stages.over_ranks") == 0)
        return true;
    if (strcmp(id, "ops.summed") == 0) /* a trace says more */
        return ta_report_table(report, "ops.by_name") != NULL;
    if (strcmp(id, "gpu_time.by_rank") == 0)
        return ta_report_table(report, "gpu_time.parts") != NULL;
    if (strcmp(id, "ranks.metrics") == 0)
        return ta_report_table(report, "gpu_time.by_rank") != NULL;
    return is_left_out_of_memory(report, id, several);
}

static bool has_rows(const struct ta_table *table, const struct text_pick *pick)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (!text_row_is_spare(table, i, pick))
            return true;
    return false;
}

/* Whether a table that stands by its own is shown: differences between ranks alone do not say what
 * the run did. */
static bool tells_more(const struct ta_report *report)
{
    for (const struct text_pick *pick = text_picks; pick->table; pick++)
        if (!pick->alone && strcmp(pick->table, "ranks.metrics") != 0 && text_picked(report, pick))
            return true;
    return false;
}

const struct ta_table *text_picked(const struct ta_report *report, const struct text_pick *pick)
{
    const struct ta_table *table = ta_report_table(report, pick->table);
    const bool is_shown = table && !is_left_out(report, pick->table) && has_rows(table, pick) &&
                          !(pick->alone && tells_more(report));
    return is_shown ? table : NULL;
}

bool text_is_picked(const struct ta_report *report, const char *id)
{
    for (const struct text_pick *pick = text_picks; pick->table; pick++)
        if (strcmp(pick->table, id) == 0)
            return text_picked(report, pick) != NULL;
    return false;
}
