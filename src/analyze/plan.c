/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which analyses run, in which order, and what they need from the reader. */
#include "analyze/analyze.h"

#include "traceanalyze/json.h"

#include <stdlib.h>

/* Arguments that the core itself needs to link launches. */
static const char *const core_args[] = {"correlation", "device", NULL};

_Static_assert(TA_RECORD_ARGS <= 64, "ta_plan.sampled has a bit for each key");

static bool has_key(const struct ta_plan *plan, const char *key)
{
    const struct ta_slice wanted = ta_slice_of(key);
    for (size_t i = 0; i < plan->n_keys; i++)
        if (ta_slice_equal(plan->keys[i], wanted))
            return true;
    return false;
}

static bool add_key(struct ta_plan *plan, const char *key)
{
    if (has_key(plan, key))
        return true;
    if (plan->n_keys == TA_RECORD_ARGS)
        return false;
    plan->keys[plan->n_keys++] = ta_slice_of(key);
    return true;
}

static bool is_among(const char *const *keys, const char *key)
{
    for (; keys && *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

static bool is_asked_for(const struct ta_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->n; i++) {
        const struct ta_analysis_ops *ops = plan->analyses[i]->plugin.analysis;
        if (is_among(ops->needs_args, key) || is_among(ops->samples_op_args, key))
            return true;
    }
    return false;
}

static bool add_keys(struct ta_plan *plan, const char *const *keys)
{
    for (; keys && *keys; keys++)
        if (!add_key(plan, *keys))
            return false;
    return true;
}

/* Keys behind all those of which every event's value is wanted. */
static bool add_sampled_keys(struct ta_plan *plan, const char *const *keys)
{
    for (; keys && *keys; keys++) {
        if (has_key(plan, *keys))
            continue;
        if (!add_key(plan, *keys))
            return false;
        plan->sampled |= UINT64_C(1) << (plan->n_keys - 1);
    }
    return true;
}

/* The analyses of a registry that run. */
struct choice {
    const struct ta_registry *registry;
    bool *runs; /* by place in the registry */
    size_t n;   /* in the registry */
};

static size_t place_of(const struct choice *choice, const char *id)
{
    size_t i = 0;
    while (i < choice->n &&
           strcmp(ta_registry_at(choice->registry, TA_KIND_analysis, i)->plugin.id, id) != 0)
        i++;
    return i;
}

static void choose(const struct choice *choice, size_t i)
{
    const struct ta_entry *entry = ta_registry_at(choice->registry, TA_KIND_analysis, i);
    if (entry->off || choice->runs[i])
        return;
    choice->runs[i] = true;
    for (const char *const *id = entry->plugin.analysis->after; id && *id; id++) {
        const size_t other = place_of(choice, *id);
        if (other < choice->n)
            choose(choice, other);
    }
}

/* Analyses in an order. */
struct order {
    const struct choice *choice;
    size_t *at;   /* places in the registry */
    bool *listed; /* by place */
    size_t n;
};

/* Whether all of a list stand already.  What is not there at all is not waited for: finish() finds
 * no table and says what is missing. */
static bool stand(const struct order *order, const char *const *ids)
{
    for (; ids && *ids; ids++) {
        const size_t i = place_of(order->choice, *ids);
        if (i < order->choice->n && !order->listed[i])
            return false;
    }
    return true;
}

/* Each behind those that it reads and those that its items stand behind; the same order whichever
 * of them run. */
static void put_in_order(struct order *order)
{
    const struct choice *choice = order->choice;
    for (size_t before = SIZE_MAX; order->n < choice->n && before != order->n;) {
        before = order->n;
        for (size_t i = 0; i < choice->n; i++) {
            const struct ta_analysis_ops *ops =
                ta_registry_at(choice->registry, TA_KIND_analysis, i)->plugin.analysis;
            if (!order->listed[i] && stand(order, ops->after) && stand(order, ops->behind)) {
                order->listed[i] = true;
                order->at[order->n++] = i;
            }
        }
    }
}

static enum ta_status list_analyses(struct ta_ctx *ctx, const struct choice *choice,
                                    struct ta_plan *plan)
{
    struct order order = {choice, calloc(choice->n + 1, sizeof *order.at),
                          calloc(choice->n + 1, sizeof *order.listed), 0};
    enum ta_status status = TA_OK;
    if (!order.at || !order.listed)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the analyses: analyses=%zu", choice->n);
    else
        put_in_order(&order);
    if (status == TA_OK && order.n < choice->n)
        status = ta_fail(ctx, TA_ERR_PLUGIN, "Analyses wait for each other: planned=%zu of %zu",
                         order.n, choice->n);
    for (size_t i = 0; status == TA_OK && i < order.n; i++)
        if (choice->runs[order.at[i]])
            plan->analyses[plan->n++] =
                ta_registry_at(choice->registry, TA_KIND_analysis, order.at[i]);
    free(order.at);
    free(order.listed);
    return status;
}

static enum ta_status list_needs(struct ta_ctx *ctx, struct ta_plan *plan)
{
    for (const char *const *key = core_args; *key; key++)
        if (!is_asked_for(plan, *key) && add_key(plan, *key))
            plan->n_passing++;
    bool fits = add_keys(plan, core_args);
    for (size_t i = 0; fits && i < plan->n; i++) {
        const struct ta_analysis_ops *ops = plan->analyses[i]->plugin.analysis;
        plan->needs |= ops->needs;
        fits = add_keys(plan, ops->needs_args);
    }
    for (size_t i = 0; fits && i < plan->n; i++)
        fits = add_sampled_keys(plan, plan->analyses[i]->plugin.analysis->samples_op_args);
    return fits ? TA_OK
                : ta_fail(ctx, TA_ERR_PLUGIN, "Analyses ask for more than %d event arguments",
                          TA_RECORD_ARGS);
}

enum ta_status ta_plan_make(struct ta_ctx *ctx, const struct ta_registry *registry,
                            const struct ta_wanted *wanted, struct ta_plan *plan)
{
    const size_t n = ta_registry_count(registry, TA_KIND_analysis);
    const struct choice choice = {registry, calloc(n + 1, sizeof(bool)), n};
    *plan = (struct ta_plan){.analyses = calloc(n + 1, sizeof *plan->analyses),
                             .keys = calloc(TA_RECORD_ARGS, sizeof *plan->keys),
                             .compared = wanted && wanted->compared};
    enum ta_status status =
        choice.runs && plan->analyses && plan->keys
            ? TA_OK
            : ta_fail(ctx, TA_ERR_NOMEM, "Cannot plan the analyses: analyses=%zu", n);
    for (size_t i = 0; status == TA_OK && i < n; i++)
        if (ta_registry_wants(ta_registry_at(registry, TA_KIND_analysis, i), wanted))
            choose(&choice, i);
    if (status == TA_OK)
        status = list_analyses(ctx, &choice, plan);
    if (status == TA_OK)
        status = list_needs(ctx, plan);
    free(choice.runs);
    return status;
}

void ta_plan_free(struct ta_plan *plan)
{
    free(plan->analyses);
    free(plan->keys);
}
