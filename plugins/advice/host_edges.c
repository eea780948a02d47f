/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host works while the devices have nothing to do yet, or are done: input is prepared, a part
 * of the model runs on the host, results are written. */
#include "lib/edges.h"
#include "lib/recorder.h"
#include "recommend/rule.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
                   "Share of the program's window before the first work of a device, or after its "
                   "last, from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    BEFORE,
    AFTER,
    WINDOW,
    EDGE,
    CAUSE,
    TIME,
    SITE_EDGE,
    SITE_CAUSE,
    SITE,
    SITE_TIME,
    IDLE_CAUSE,
    IDLE_TIME,
    TRUST,
    DAMAGE,
    DAMAGE_SHARE,
    RECORDER
};

static const struct ta_ref reads[] = {
    [BEFORE] = {"gpu_time.program", "before_ns"},
    [AFTER] = {"gpu_time.program", "after_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [EDGE] = {"gpu_idle.edges", "edge"},
    [CAUSE] = {"gpu_idle.edges", "cause"},
    [TIME] = {"gpu_idle.edges", "total_ns"},
    [SITE_EDGE] = {"gpu_idle.edge_sites", "edge"},
    [SITE_CAUSE] = {"gpu_idle.edge_sites", "cause"},
    [SITE] = {"gpu_idle.edge_sites", "site"},
    [SITE_TIME] = {"gpu_idle.edge_sites", "total_ns"},
    [IDLE_CAUSE] = {"gpu_idle.by_cause", "cause"},
    [IDLE_TIME] = {"gpu_idle.by_cause", "total_ns"},
    [TRUST] = {.scalar = "trust_score"},
    [DAMAGE] = {"health.damage", "damage"},
    [DAMAGE_SHARE] = {"health.damage", "share"},
    RECORDER_READS(RECORDER),
};

/* What the host does, by the cause with most of the time, and what to do about it.  What happens
 * once is a finding of its own (setup). */
static const struct {
    const char *cause, *does, *advice;
} causes[] = {
    {"data loading", "loads data",
     "Load in other processes (num_workers, prefetch_factor, persistent_workers), and prepare the "
     "next batch while the GPU works."},
    {"compilation", NULL, NULL},
    {"first call", NULL, NULL},
    {"memory allocation", NULL, NULL},
    {"operator dispatch", "computes on the CPU",
     "Move this work to the GPU, or do it once and keep the result (prompt embeddings, "
     "preprocessed input)."},
    {"python", "runs Python",
     "Do this work once for several inputs or in other processes, and prepare the next input while "
     "the GPU works on this one."},
    {"host untraced", "works in ranges of the program",
     "Do this work while the GPU is busy, or once; record with with_stack=True to see what it is."},
    {"host collective", "waits for other hosts",
     "Look at which host comes late, and at the network between them."},
};

/* What the host does in an operator that computes nothing itself; NULL for set-up. */
static const struct {
    const char *site; /* how it begins */
    const char *does, *advice;
} not_computing[] = {
    {"aten::empty", NULL, NULL},
    {"Torch-Compiled Region", NULL, NULL},
    {"## Call CompiledFxGraph", NULL, NULL},
    {"$profiler.py", NULL, NULL}, /* JAX starts and stops its recording */
    {"record_param_comms", "communicates",
     "Look at which rank comes late, and start communication earlier."},
    {"c10d::", "communicates", "Look at which rank comes late, and start communication earlier."},
};

/* What is saved at least of work that is done while the GPU works, or once. */
#define SAVED_LEAST 0.4

/* The part of the time that the place with most of it has at least, to be named. */
#define PLACE_LEAST 0.2

struct edge {
    size_t cells;
    const char *name, *id, *when, *kind;
};

static size_t largest_cause(const struct ta_refs *in, const struct edge *edge,
                            const struct ta_place *place)
{
    size_t best = SIZE_MAX;
    double most = place->value / 2;
    for (size_t i = 0; i < TA_LENGTH(causes); i++) {
        const struct ta_look look = {.cells = TIME,
                                     .where = {{EDGE, edge->name}, {CAUSE, causes[i].cause}}};
        struct ta_place same;
        if (ta_look_same(in, &look, place, &same) && same.value > most) {
            most = same.value;
            best = i;
        }
    }
    return best;
}

/* The place with most of the time of the cause; its table is NULL where it is not known. */
static struct ta_place find_site(const struct ta_refs *in, const struct edge *edge, size_t cause)
{
    struct ta_place site = {.table = NULL};
    const struct ta_look look = {
        .cells = SITE_TIME,
        .where = {{SITE_EDGE, edge->name},
                  {SITE_CAUSE, cause == SIZE_MAX ? NULL : causes[cause].cause}}};
    return ta_look_worst(in, &look, &site) ? site : (struct ta_place){.table = NULL};
}

/* In the range of a step, or outside of all, nothing says what the host does. */
static bool is_known(size_t cause, const char *place)
{
    return cause != SIZE_MAX && (strcmp(causes[cause].cause, "host untraced") != 0 ||
                                 (*place && strcmp(place, "ProfilerStep") != 0));
}

/* Data that is loaded has a finding of its own (input_bound), and so has computation
 * (host_computation); Python that is nowhere in particular is what each program does at its
 * begin. */
static bool is_worth(const struct ta_refs *in, const struct edge *edge, size_t cause,
                     const struct ta_place *worst, const struct ta_place *site, const char *place)
{
    const struct ta_look computing = {.cells = TIME,
                                      .where = {{EDGE, edge->name}, {CAUSE, "host computation"}}};
    static const struct ta_look loading = {.cells = IDLE_TIME,
                                           .where = {{IDLE_CAUSE, "data loading"}}};
    struct ta_place same;
    if (edge->cells == BEFORE && ta_look_same(in, &computing, worst, &same) &&
        ta_edge_computes(same.value, worst->value))
        return false;
    if (strcmp(causes[cause].cause, "data loading") == 0)
        return ta_edge_loads_weights(place) ||
               (edge->cells != BEFORE &&
                (!ta_look_same(in, &loading, worst, &same) || same.value < worst->value));
    return strcmp(causes[cause].cause, "python") != 0 ||
           (site->table && site->value > PLACE_LEAST * worst->value);
}

static void advise_edge(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                        const struct edge *edge)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place worst = {0}, window = {0};
    double most = threshold;
    for (size_t row = 0; row < ta_ref_rows(in, edge->cells); row++) {
        const struct ta_place time = ta_place_at(in, edge->cells, row);
        const struct ta_place all = ta_place_at(in, WINDOW, row);
        if (!time.table || !all.table || all.value <= 0 || time.value / all.value <= most)
            continue;
        most = time.value / all.value;
        worst = time;
        window = all;
    }
    if (!worst.table)
        return;
    const size_t cause = largest_cause(in, edge, &worst);
    const struct ta_place site = find_site(in, edge, cause);
    const char *place = site.table ? ta_place_text(advice, in, &site, SITE) : "";
    if (!is_known(cause, place))
        return;
    const char *does = causes[cause].does, *what_to_do = causes[cause].advice;
    for (size_t i = 0; i < TA_LENGTH(not_computing); i++)
        if (strncmp(place, not_computing[i].site, strlen(not_computing[i].site)) == 0) {
            does = not_computing[i].does;
            what_to_do = not_computing[i].advice;
        }
    if (!does || !is_worth(in, edge, cause, &worst, &site, place))
        return;
    if (strcmp(causes[cause].cause, "host untraced") == 0)
        does = ta_advice_printf(advice, "is in %s", place);
    if (ta_edge_loads_weights(place)) {
        does = "loads weights";
        what_to_do =
            "Keep the process and the model resident between jobs; load safetensors from a "
            "local NVMe disk straight to the GPU (load_file(device=\"cuda\"), "
            "fastsafetensors).";
    }
    const struct ta_recorded recorded = ta_recorder_of(in, RECORDER, edge->kind, &worst, 1);
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&window)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = edge->id,
            .rule = "host_edges",
            .recorder_ns = recorded.ns,
            .recorder_most_ns = recorded.most_ns,
            .title = ta_advice_printf(advice, "The host %s %s%s: %s of the run (%s)", does,
                                      edge->when, ta_place_owner(advice, in->report, &worst),
                                      ta_advice_number(advice, most, TA_UNIT_RATIO),
                                      ta_advice_number(advice, worst.value, TA_UNIT_NS)),
            .why = *place && strcmp(place, "ProfilerStep") != 0 &&
                           site.value > PLACE_LEAST * worst.value
                       ? ta_advice_printf(
                             advice, "%s takes %s of the %s.", place,
                             ta_advice_number(advice, fmin(site.value, worst.value), TA_UNIT_NS),
                             ta_advice_number(advice, worst.value, TA_UNIT_NS))
                       : NULL,
            .advice = what_to_do,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            .saving_low_ns = ta_whole(SAVED_LEAST * worst.value),
            .saving_high_ns = ta_whole(worst.value),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "such time > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

/* Where kernels are missing nobody knows when the GPU was done. */
static bool lacks_kernels(const struct ta_refs *in)
{
    static const double much = 0.02;
    for (size_t i = 0; i < ta_ref_rows(in, DAMAGE); i++)
        if (ta_slice_ends(ta_ref_text(in, DAMAGE, i), " lost") &&
            ta_ref_number(in, DAMAGE_SHARE, i, 0) > much)
            return true;
    return false;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct edge edges[] = {
        {BEFORE, "before", "host-before", "before the GPU has work", "before the first work"},
        {AFTER, "after", "host-after", "after the GPU is done", "after the last work"},
    };
    if (ta_ref_scalar(in, TRUST, 1) < TA_TRUST_LEAST)
        return TA_OK;
    for (size_t i = 0; i < TA_LENGTH(edges) - lacks_kernels(in); i++)
        advise_edge(ctx, in, advice, &edges[i]);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, host_edges, &ops, .title = "Host work before and after the GPU's",
          .summary = "Fires when the host works long before the first work of a device or after "
                     "its last",
          .version = "1", .options = options);
