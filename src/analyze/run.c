/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map → merge → finish. */
#include "analyze/analyze.h"

#include "analyze/partial.h"
#include "base/share.h"
#include "report/report.h"

#include <stdlib.h>

struct ta_partial_set {
    const struct ta_plan *plan;
    struct ta_partial ***tables; /* [analysis][partial], each list ends with NULL */
    struct ta_lap *spent;        /* [analysis] by its map() */
};

static size_t count_defs(const struct ta_analysis_ops *ops)
{
    size_t n = 0;
    while (ops->partials && ops->partials[n].name)
        n++;
    return n;
}

struct ta_partial_set *ta_partial_set_new(const struct ta_plan *plan)
{
    struct ta_partial_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->plan = plan;
    set->tables = calloc(plan->n + 1, sizeof *set->tables);
    set->spent = calloc(plan->n + 1, sizeof *set->spent);
    bool made = set->tables && set->spent;
    for (size_t a = 0; made && a < plan->n; a++) {
        const struct ta_analysis_ops *ops = plan->analyses[a]->plugin.analysis;
        const size_t n = count_defs(ops);
        set->tables[a] = calloc(n + 1, sizeof *set->tables[a]);
        made = set->tables[a] != NULL;
        for (size_t i = 0; made && i < n; i++) {
            set->tables[a][i] = ta_partial_new(&ops->partials[i]);
            made = set->tables[a][i] != NULL;
        }
    }
    if (made)
        return set;
    ta_partial_set_free(set);
    return NULL;
}

void ta_partial_set_free(struct ta_partial_set *set)
{
    if (!set)
        return;
    for (size_t a = 0; set->tables && a < set->plan->n; a++) {
        for (size_t i = 0; set->tables[a] && set->tables[a][i]; i++)
            ta_partial_free(set->tables[a][i]);
        free(set->tables[a]);
    }
    free(set->tables);
    free(set->spent);
    free(set);
}

/* What goes into one analysis of one trace. */
struct mapping {
    const struct ta_trace *trace;
    struct ta_partial_set *set;
    const struct ta_beside *beside; /* the task before the analyses, as it takes longest; or NULL */
};

static enum ta_status map_one(struct ta_ctx *ctx, const struct mapping *mapping, size_t a)
{
    const struct ta_entry *entry = mapping->set->plan->analyses[a];
    struct ta_partial **tables = mapping->set->tables[a];
    if (!entry->plugin.analysis->map)
        return TA_OK;
    if (ta_ctx_canceled(ctx))
        return ta_fail(ctx, TA_ERR_CANCELED, "Interrupted");
    const struct ta_lap start = ta_lap_now();
    ctx->option_values = entry->option_values;
    const enum ta_status status = entry->plugin.analysis->map(ctx, mapping->trace, tables);
    ta_lap_add(&mapping->set->spent[a], start);
    if (status != TA_OK)
        return ta_cause(ctx, status, "Analysis \"%s\" failed on a trace", entry->plugin.id);
    for (size_t i = 0; tables[i]; i++)
        if (!ta_partial_has_rows(tables[i]))
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the results of analysis \"%s\"",
                           entry->plugin.id);
    return TA_OK;
}

static enum ta_status do_task(struct ta_ctx *ctx, size_t i, void *user)
{
    const struct mapping *mapping = user;
    if (!mapping->beside)
        return map_one(ctx, mapping, i);
    return i ? map_one(ctx, mapping, i - 1) : mapping->beside->task(ctx, mapping->beside->user);
}

enum ta_status ta_partial_set_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                  struct ta_partial_set *set, const struct ta_beside *beside)
{
    struct mapping mapping = {trace, set, beside};
    return ta_share_out(ctx, TA_STAGE_ANALYZE, set->plan->n + (beside != NULL), do_task, &mapping);
}

/* Of thousands of ranks partials are large, and the report grows as they are used up. */
static void drop_tables(struct ta_partial_set *set, size_t a)
{
    for (size_t i = 0; set->tables[a][i]; i++)
        ta_partial_free(set->tables[a][i]);
    set->tables[a][0] = NULL;
}

void ta_partial_set_drain(struct ta_partial_set *into, struct ta_partial_set *from)
{
    for (size_t a = 0; a < into->plan->n; a++) {
        for (size_t i = 0; into->tables[a][i]; i++)
            ta_partial_drain(into->tables[a][i], from->tables[a][i]);
        drop_tables(from, a);
        into->spent[a].wall_ns += from->spent[a].wall_ns;
        into->spent[a].cpu_ns += from->spent[a].cpu_ns;
    }
    ta_partial_set_free(from);
}

struct ta_partial *ta_partial_set_table(const struct ta_partial_set *set, size_t analysis, size_t i)
{
    return set->tables[analysis][i];
}

bool ta_partial_set_ok(const struct ta_partial_set *set)
{
    for (size_t a = 0; a < set->plan->n; a++)
        for (size_t i = 0; set->tables[a][i]; i++)
            if (!ta_partial_ok(set->tables[a][i]))
                return false;
    return true;
}

/* A partial with final ranks, in order; false without memory. */
static bool settle_one(struct ta_partial **partial, const int64_t *ranks, size_t n_ranks)
{
    if (ta_partial_has_rank(*partial) && !ta_partial_resolve(partial, ranks, n_ranks))
        return false;
    return ta_partial_settle(*partial);
}

enum ta_status ta_partial_set_settle(struct ta_ctx *ctx, struct ta_partial_set *set, size_t a,
                                     const int64_t *ranks, size_t n_ranks)
{
    for (size_t i = 0; set->tables[a][i]; i++)
        if (!settle_one(&set->tables[a][i], ranks, n_ranks))
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot merge the results of analysis \"%s\"",
                           set->plan->analyses[a]->plugin.id);
    return TA_OK;
}

/* Reports to those who ask for it which analyses take long on traces. */
static void say_times(struct ta_ctx *ctx, const struct ta_partial_set *set)
{
    enum { LONG_NS = 10000000 };
    for (size_t a = 0; a < set->plan->n; a++)
        if (set->spent[a].cpu_ns >= LONG_NS)
            ta_log(ctx, TA_LOG_DEBUG, "Analysis \"%s\": wall=%.3f s, CPU=%.3f s",
                   set->plan->analyses[a]->plugin.id, (double)set->spent[a].wall_ns / 1e9,
                   (double)set->spent[a].cpu_ns / 1e9);
}

enum ta_status ta_partial_set_finish_one(struct ta_ctx *ctx, struct ta_partial_set *set, size_t a,
                                         const struct ta_across *across, struct ta_report *report)
{
    const struct ta_entry *entry = set->plan->analyses[a];
    const struct ta_plugin *plugin = &entry->plugin;
    const struct ta_analysis_ops *ops = plugin->analysis;
    struct ta_section_builder *section =
        ta_report_open_section(report, ops->section, plugin->title);
    struct ta_refs in;
    ta_refs_open(&in, report, ops->reads, ops->n_reads);
    in.steps = ops->needs_steps ? across->steps : NULL;
    in.ranks = ops->needs_ranks ? across->ranks : NULL;
    ta_declare_tables(section, ops->tables);
    ta_declare_scalars(section, ops->scalars, ops->n_scalars);
    ctx->option_values = entry->option_values;
    const enum ta_status status =
        ops->finish(ctx, (const struct ta_partial *const *)set->tables[a], &in, section);
    ta_close_tables(section);
    if (status == TA_OK && ta_report_fault(report))
        return ta_fail(ctx, TA_ERR_INTERNAL, "Analysis \"%s\": %s", plugin->id,
                       ta_report_fault(report));
    return status == TA_OK ? TA_OK
                           : ta_cause(ctx, status, "Analysis \"%s\" could not finish", plugin->id);
}

static enum ta_status sort_one(struct ta_ctx *ctx, size_t a, void *user)
{
    const struct ta_partial_set *set = user;
    (void)ctx;
    for (size_t i = 0; set->tables[a][i]; i++)
        ta_partial_sort_samples(set->tables[a][i]);
    return TA_OK;
}

/* Sorts samples on all threads, ahead of settling: with tables one after the other, one would. */
static enum ta_status sort_samples(struct ta_ctx *ctx, struct ta_partial_set *set)
{
    return ta_share_out(ctx, TA_STAGE_FINISH, set->plan->n, sort_one, set);
}

enum ta_status ta_finish(struct ta_ctx *ctx, struct ta_partial_set *set, const int64_t *ranks,
                         size_t n_ranks, const struct ta_across *across, struct ta_report *report)
{
    say_times(ctx, set);
    enum ta_status status = sort_samples(ctx, set);
    for (size_t a = 0; status == TA_OK && a < set->plan->n; a++) {
        if (!set->plan->analyses[a]->plugin.analysis->finish)
            continue;
        status = ta_partial_set_settle(ctx, set, a, ranks, n_ranks);
        if (status == TA_OK)
            status = ta_partial_set_finish_one(ctx, set, a, across, report);
        if (status == TA_OK)
            drop_tables(set, a);
        ta_report_trim(report);
        if (n_ranks >= TA_FILES_MANY && ctx->shared->memory_freed)
            ctx->shared->memory_freed();
    }
    if (status == TA_OK && !ta_report_join_columns(report))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot join the tables of the report");
    return status;
}
