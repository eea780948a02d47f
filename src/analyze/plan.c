/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which analyses run, in which order, and what they need from the reader. */
#include "analyze/analyze.h"

#include "traceanalyze/document.h"

#include <stdlib.h>

/* Arguments that the core itself needs to link launches; the one that the timeline shows, too, is
 * the last. */
static const char drawn_arg[] = "correlation";
static const char *const core_args[] = {"device", "context", drawn_arg, NULL};

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

/* Keys after the keys whose values are wanted of every event. */
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

/* The analyses of a registry, which of them run, and which wait for which. */
struct choice {
    const struct ta_registry *registry;
    size_t n;    /* in the registry */
    bool *runs;  /* by place in the registry */
    bool *reads; /* [reader × n + read] */
    bool *waits; /* the same, and those whose items come later in a section */
};

static const struct ta_analysis_ops *ops_at(const struct choice *choice, size_t i)
{
    return ta_registry_at(choice->registry, TA_KIND_analysis, i)->plugin.analysis;
}

/* Notes that analysis `i` reads the table or scalar of another. */
static void note_read(const struct choice *choice, size_t i, const struct ta_ref *read)
{
    const struct ta_entry *owner = NULL;
    if (read->scalar)
        ta_registry_scalar(choice->registry, read->scalar, &owner);
    else
        ta_registry_table(choice->registry, read->table, &owner);
    for (size_t other = 0; other < choice->n; other++)
        if (other != i && ta_registry_at(choice->registry, TA_KIND_analysis, other) == owner)
            choice->reads[i * choice->n + other] = true;
}

/* Whether an analysis makes a table in which ranks are compared. */
static bool has_ranks(const struct ta_analysis_ops *ops)
{
    for (const struct ta_table_def *const *def = ops->tables; def && *def; def++)
        for (size_t i = 0; !(*def)->not_of_ranks && i < (*def)->n_columns; i++)
            if ((*def)->columns[i].role == TA_RANK)
                return true;
    return false;
}

static void find_edges(const struct choice *choice)
{
    const size_t n = choice->n;
    bool *reads = choice->reads, *waits = choice->waits;
    for (size_t i = 0; i < n; i++)
        for (size_t ref = 0; ref < ops_at(choice, i)->n_reads; ref++)
            note_read(choice, i, &ops_at(choice, i)->reads[ref]);
    memcpy(waits, reads, n * n * sizeof *waits);
    for (size_t middle = 0; middle < n; middle++) /* and for all that these wait for */
        for (size_t i = 0; i < n; i++)
            for (size_t other = 0; waits[i * n + middle] && other < n; other++)
                waits[i * n + other] |= waits[middle * n + other];
    for (size_t i = 0; i < n; i++)
        for (size_t other = 0; ops_at(choice, i)->reads_ranks && other < n; other++)
            if (other != i && has_ranks(ops_at(choice, other)) && !waits[other * n + i])
                reads[i * n + other] = waits[i * n + other] = true;
    for (size_t i = 0; i < n; i++)
        for (size_t other = 0; other < n; other++)
            waits[i * n + other] |=
                ops_at(choice, other)->place < ops_at(choice, i)->place &&
                strcmp(ops_at(choice, other)->section, ops_at(choice, i)->section) == 0;
}

static void choose(const struct choice *choice, size_t i)
{
    if (ta_registry_at(choice->registry, TA_KIND_analysis, i)->off || choice->runs[i])
        return;
    choice->runs[i] = true;
    for (size_t other = 0; other < choice->n; other++)
        if (choice->reads[i * choice->n + other])
            choose(choice, other);
}

/* Analyses in an order. */
struct order {
    const struct choice *choice;
    size_t *at;   /* places in the registry */
    bool *listed; /* by place */
    size_t n;
};

/* Whether all that an analysis waits for are listed already. */
static bool is_ready(const struct order *order, size_t i)
{
    for (size_t other = 0; other < order->choice->n; other++)
        if (order->choice->waits[i * order->choice->n + other] && !order->listed[other])
            return false;
    return true;
}

/* The same order whichever of them run. */
static void put_in_order(struct order *order)
{
    const struct choice *choice = order->choice;
    for (size_t before = SIZE_MAX; order->n < choice->n && before != order->n;) {
        before = order->n;
        for (size_t i = 0; i < choice->n; i++)
            if (!order->listed[i] && is_ready(order, i)) {
                order->listed[i] = true;
                order->at[order->n++] = i;
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

static void list_stages(const struct choice *choice, const struct ta_plan_stages *stages,
                        struct ta_plan *plan)
{
    bool needs_steps = stages->steps.wanted, needs_ranks = stages->ranks.wanted;
    for (size_t i = 0; i < choice->n; i++) {
        needs_steps |= choice->runs[i] && ops_at(choice, i)->needs_steps;
        needs_ranks |= choice->runs[i] && ops_at(choice, i)->needs_ranks;
    }
    if (needs_steps)
        plan->analyses[plan->steps = plan->n++] = stages->steps.entry;
    if (needs_ranks)
        plan->analyses[plan->ranks = plan->n++] = stages->ranks.entry;
}

static enum ta_status list_needs(struct ta_ctx *ctx, struct ta_plan *plan)
{
    for (const char *const *key = core_args; *key; key++)
        if (!is_asked_for(plan, *key) && add_key(plan, *key)) {
            plan->n_passing++;
            plan->n_passing_drawn += *key != drawn_arg;
        }
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

enum ta_status ta_plan_make(struct ta_ctx *ctx, const struct ta_registry *registry, bool runs_any,
                            const struct ta_plan_stages *stages, struct ta_plan *plan)
{
    const size_t n = ta_registry_count(registry, TA_KIND_analysis);
    const struct choice choice = {registry, n, calloc(n + 1, sizeof(bool)),
                                  calloc(n * n + 1, sizeof(bool)), calloc(n * n + 1, sizeof(bool))};
    *plan = (struct ta_plan){.analyses = calloc(n + 3, sizeof *plan->analyses),
                             .keys = calloc(TA_RECORD_ARGS, sizeof *plan->keys),
                             .steps = SIZE_MAX,
                             .ranks = SIZE_MAX};
    enum ta_status status =
        choice.runs && choice.reads && choice.waits && plan->analyses && plan->keys
            ? TA_OK
            : ta_fail(ctx, TA_ERR_NOMEM, "Cannot plan the analyses: analyses=%zu", n);
    if (status == TA_OK)
        find_edges(&choice);
    for (size_t i = 0; status == TA_OK && runs_any && i < n; i++)
        if (!ta_registry_at(registry, TA_KIND_analysis, i)->off)
            choose(&choice, i);
    if (status == TA_OK) {
        list_stages(&choice, stages, plan);
        status = list_analyses(ctx, &choice, plan);
    }
    if (status == TA_OK)
        status = list_needs(ctx, plan);
    free(choice.runs);
    free(choice.reads);
    free(choice.waits);
    return status;
}

void ta_plan_free(struct ta_plan *plan)
{
    free(plan->analyses);
    free(plan->keys);
}
