/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running analyses: which are on and what they need, map on every trace, merge, finish. */
#ifndef TA_ANALYZE_H
#define TA_ANALYZE_H

#include "plugin/registry.h"
#include "traceanalyze/analysis.h"

/* From so many files on what one stage frees is more than the next one takes. */
enum { TA_FILES_MANY = 512 };

/* Stages that map traces as analyses do, with those, and have no finish(): what they find is not
 * for people but for analyses, the timeline and merging (src/ranks). */
struct ta_plan_stages {
    struct ta_plan_stage {
        const struct ta_entry *entry;
        bool wanted; /* whichever analyses run */
    } steps, ranks;
};

/* What these stages found; NULL where they did not run. */
struct ta_across {
    const struct ta_steps *steps;
    const struct ta_ranks *ranks;
};

/* The analyses of a run, stages first, then ordered so that each follows those it reads. */
struct ta_plan {
    const struct ta_entry **analyses;
    size_t n;
    uint32_t needs;        /* tables of the model that some analysis wants */
    struct ta_slice *keys; /* event arguments to keep: the core's and the analyses' */
    size_t n_keys;
    size_t n_passing;       /* the first of them: the core's that no analysis wants */
    size_t n_passing_drawn; /* the first of these: no timeline shows them either */
    uint64_t sampled;       /* a bit for each key of which a sample is wanted (samples_op_args) */
    size_t steps, ranks;    /* in `analyses`, the stages; SIZE_MAX where nothing needs them */
};

/* All analyses of the registry that are on, and those whose results they read; without `runs_any`
 * none, and only the stages that are wanted for themselves.  TA_ERR_PLUGIN when analyses wait for
 * each other or want too many arguments. */
enum ta_status ta_plan_make(struct ta_ctx *ctx, const struct ta_registry *registry, bool runs_any,
                            const struct ta_plan_stages *stages,
                            struct ta_plan *plan) TA_MUST_CHECK;
void ta_plan_free(struct ta_plan *plan);

/* The partials of all analyses of a plan. */
struct ta_partial_set;

struct ta_partial_set *ta_partial_set_new(const struct ta_plan *plan);
void ta_partial_set_free(struct ta_partial_set *set);

/* More to be done with a trace, by one thread while others run analyses. */
struct ta_beside {
    enum ta_status (*task)(struct ta_ctx *ctx, void *user);
    void *user;
};

/* Adds one trace: calls map() of every analysis, and `beside` if it is not NULL. */
enum ta_status ta_partial_set_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                  struct ta_partial_set *set,
                                  const struct ta_beside *beside) TA_MUST_CHECK;
/* Adds all of `from` and frees it, table by table; any order gives the same result. */
void ta_partial_set_drain(struct ta_partial_set *into, struct ta_partial_set *from);

/* Table i of an analysis of the plan; NULL after the last. */
struct ta_partial *ta_partial_set_table(const struct ta_partial_set *set, size_t analysis,
                                        size_t i);
/* False when an allocation failed and rows are missing. */
bool ta_partial_set_ok(const struct ta_partial_set *set);

/* Gives the placeholders of one analysis their ranks and puts its rows in order. */
enum ta_status ta_partial_set_settle(struct ta_ctx *ctx, struct ta_partial_set *set,
                                     size_t analysis, const int64_t *ranks,
                                     size_t n_ranks) TA_MUST_CHECK;

/* Calls finish() of one analysis of the plan, whose partials are settled. */
enum ta_status ta_partial_set_finish_one(struct ta_ctx *ctx, struct ta_partial_set *set,
                                         size_t analysis, const struct ta_across *across,
                                         struct ta_report *report) TA_MUST_CHECK;

/* Settles and finishes every analysis, one after the other.  The set is empty then, but for the
 * stages, which are settled already. */
enum ta_status ta_finish(struct ta_ctx *ctx, struct ta_partial_set *set, const int64_t *ranks,
                         size_t n_ranks, const struct ta_across *across,
                         struct ta_report *report) TA_MUST_CHECK;

#endif
