/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which analyses run, in which order, and what they need from the reader. */
#include "analyze/analyze.h"

#include "traceanalyze/json.h"

#include <stdlib.h>

/* Arguments that the core itself needs to link launches. */
static const char *const core_args[] = {"correlation", "device", NULL};

static bool add_key(struct ta_plan *plan, const char *key)
{
    const struct ta_slice wanted = ta_slice_of(key);
    for (size_t i = 0; i < plan->n_keys; i++)
        if (ta_slice_equal(plan->keys[i], wanted))
            return true;
    if (plan->n_keys == TA_RECORD_ARGS)
        return false;
    plan->keys[plan->n_keys++] = wanted;
    return true;
}

static bool add_keys(struct ta_plan *plan, const char *const *keys)
{
    for (; keys && *keys; keys++)
        if (!add_key(plan, *keys))
            return false;
    return true;
}

static bool is_planned(const struct ta_plan *plan, const char *id)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->analyses[i]->plugin.id, id) == 0)
            return true;
    return false;
}

/* Whether everything that an analysis reads is planned before it.  What is not there at all is
 * not waited for: finish() finds no table and says what is missing. */
static bool is_ready(const struct ta_plan *plan, const struct ta_registry *registry,
                     const struct ta_entry *entry)
{
    const char *const *after = entry->plugin.analysis->after;
    for (; after && *after; after++) {
        const struct ta_entry *other = ta_registry_find(registry, TA_KIND_analysis, *after);
        if (other && !other->off && !is_planned(plan, *after))
            return false;
    }
    return true;
}

static size_t count_wanted(const struct ta_registry *registry, size_t n)
{
    size_t wanted = 0;
    for (size_t i = 0; i < n; i++)
        wanted += !ta_registry_at(registry, TA_KIND_analysis, i)->off;
    return wanted;
}

enum ta_status ta_plan_make(struct ta_ctx *ctx, const struct ta_registry *registry,
                            struct ta_plan *plan)
{
    const size_t n = registry ? ta_registry_count(registry, TA_KIND_analysis) : 0;
    *plan = (struct ta_plan){0};
    plan->analyses = calloc(n + 1, sizeof *plan->analyses);
    plan->keys = calloc(TA_RECORD_ARGS, sizeof *plan->keys);
    if (!plan->analyses || !plan->keys)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot plan the analyses: analyses=%zu", n);
    add_keys(plan, core_args);
    const size_t wanted = count_wanted(registry, n);
    for (size_t before = SIZE_MAX; plan->n < wanted && before != plan->n;) {
        before = plan->n;
        for (size_t i = 0; i < n; i++) {
            const struct ta_entry *entry = ta_registry_at(registry, TA_KIND_analysis, i);
            if (!entry->off && !is_planned(plan, entry->plugin.id) &&
                is_ready(plan, registry, entry))
                plan->analyses[plan->n++] = entry;
        }
    }
    if (plan->n < wanted)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Analyses wait for each other: planned=%zu of %zu",
                       plan->n, wanted);
    for (size_t i = 0; i < plan->n; i++) {
        const struct ta_analysis_ops *ops = plan->analyses[i]->plugin.analysis;
        plan->needs |= ops->needs;
        if (!add_keys(plan, ops->needs_args))
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "Analyses ask for more than %d event arguments: analysis=%s",
                           TA_RECORD_ARGS, plan->analyses[i]->plugin.id);
    }
    return TA_OK;
}

void ta_plan_free(struct ta_plan *plan)
{
    free(plan->analyses);
    free(plan->keys);
}
