/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle devices, for reasons that no other rule is about. */
#include "lib/gaps.h"
#include "lib/owners.h"
#include "lib/recorder.h"
#include "lib/reloads.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
                   "Share of the window that a device is idle for a cause without a rule of its "
                   "own, from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    OWNERS,
    LATE_RANK = OWNERS_READ,
    IS_LATE,
    EDGE_CAUSE,
    EDGE_TIME,
    RECORDER,
    GAPS = RECORDER + 3,
    RELOADS = GAPS + 4
};

static const struct ta_ref reads[] = {
    OWNERS_READS(OWNERS),
    [LATE_RANK] = {"stragglers.by_rank", "rank"},
    [IS_LATE] = {"stragglers.by_rank", "is_late"},
    [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
    [EDGE_TIME] = {"gpu_idle.edges", "total_ns"},
    RECORDER_READS(RECORDER),
    GAPS_READS(GAPS),
    RELOADS_READS(RELOADS),
};

/* A host that is late loses nearly all of this time, whatever it does: waits, computes, or launches
 * too slowly.  Of kernels that follow each other fusing joins two or more. */
#define LEAST (1. / 3)

/* Of the run: what is idle that long is what has to be known first. */
#define MOSTLY 0.5

/* The owners that the rule is about (set-up is setup.c's): what the title says, and what to do. */
static const struct owner {
    const char *owner;
    const char *what;       /* before what it costs; of an unknown cause, before "the GPU idles" */
    const char *advice;     /* what to do */
    const char *recorded;   /* kind of idle time that recording explains */
    double least;           /* part of it that is saved whatever the reason is */
    const char *what_after; /* of an unknown cause: the end of the title */
    bool is_unknown;        /* why it idles was not recorded: recording again saves nothing */
} owners[] = {
    {"host untraced", "What the host does while",
     "Record again with with_stack=True, or with ranges (record_function) around the phases of the "
     "program.",
     "host untraced", LEAST, .is_unknown = true, .what_after = " was not recorded"},
    {"host collective", "The host waits for other hosts",
     "Look at which host comes late, and move collectives to the GPU (NCCL).", NULL},
    {"within a graph", "Kernels of a graph wait for each other",
     "Fuse short kernels: each starts about a microsecond after the one it depends on.", NULL,
     LEAST},
    {"micro gap", "Short kernels follow each other",
     "Fuse the short kernels: each starts about a microsecond after the one before.", "queued",
     LEAST},
    {"queued, same stream", "Queued work begins late",
     "Look at what the stream of that work waits for.", "queued"},
    {"queued, dependency", "Queued work waits for other work",
     "Look at what the stream of that work waits for (events, copies, other streams), and at other "
     "devices.",
     NULL},
    {"launch not recorded", "The launches were not recorded that say why",
     "Record host and device together, and all threads: activities=[CPU, CUDA].", NULL, LEAST,
     .is_unknown = true, .what_after = ""},
    {"late start", "The GPU begins launched work late",
     "Look for other processes on the GPU, or work that was not recorded.", NULL},
    {"profiler", "The profiler holds the program up", "Record without stacks and memory.", NULL},
};

/* The finding about a straggler says why its collectives begin late. */
static bool is_straggling(const struct ta_refs *in, const struct owner *owner,
                          const struct ta_place *place)
{
    if (strcmp(owner->owner, "late start") != 0)
        return false;
    for (size_t row = 0; row < ta_ref_rows(in, IS_LATE); row++) {
        const struct ta_cell *late = ta_ref_cell(in, IS_LATE, row);
        if (late->kind == TA_CELL_BOOL && late->b &&
            ta_ref_integer(in, LATE_RANK, row) ==
                ta_ref_rank(in, OWNERS + OWNERS_TOTAL, place->row))
            return true;
    }
    return false;
}

/* The owner that takes the largest share of the run on any device. */
static const struct owner *find_worst(const struct ta_refs *in, struct ta_advice *advice,
                                      struct ta_owned *worst)
{
    const struct owner *found = NULL;
    for (size_t i = 0; i < TA_LENGTH(owners); i++) {
        const struct ta_owners_asked asked = {OWNERS, &owners[i].owner, 1};
        struct ta_owned owned = ta_owned_worst(in, advice, &asked, NULL, 0);
        if (!owned.place.table)
            continue;
        if (!found || owned.share > worst->share) {
            found = &owners[i];
            *worst = owned;
        }
    }
    return found;
}

/* With what the host does unrecorded before the first work of the device and after its last, which
 * is the same part of run.bound. */
static struct ta_owned with_edges(const struct ta_refs *in, struct ta_advice *advice,
                                  const struct ta_owners_asked *asked)
{
    static const struct ta_look edges = {.cells = EDGE_TIME,
                                         .where = {{EDGE_CAUSE, "host untraced"}}};
    return ta_owned_worst(in, advice, asked, &edges, 1);
}

/* `range`: of the program, with most of what was not recorded; or NULL. */
static const char *title_of(struct ta_advice *advice, const struct owner *owner,
                            const struct ta_owned *owned, const char *range)
{
    if (range)
        return ta_advice_printf(advice, "The host works in %s (no more was recorded)%s", range,
                                ta_owned_cost(advice, owned));
    if (!owner->is_unknown)
        return ta_advice_printf(advice, "%s%s", owner->what, ta_owned_cost(advice, owned));
    return ta_advice_printf(advice, "%s the GPU%s idles %s%s", owner->what,
                            ta_owned_of(advice, &owned->place), ta_owned_part(advice, owned),
                            owner->what_after);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_owned owned = {.share = 0};
    const struct owner *owner = find_worst(in, advice, &owned);
    if (!owner || owned.share <= threshold || is_straggling(in, owner, &owned.place) ||
        (strcmp(owner->owner, "host untraced") == 0 &&
         ta_owned_reloads(in, RELOADS, OWNERS, &owned)))
        return TA_OK;
    const struct ta_owners_asked asked = {OWNERS, &owner->owner, 1};
    struct ta_owned_where where = ta_owned_where(in, advice, &asked, &owned.window);
    /* A range of the program with most of it names the time. */
    const bool is_range =
        strcmp(owner->owner, "host untraced") == 0 && *where.function && where.share >= 0.5;
    const bool is_unknown = owner->is_unknown && !is_range;
    const struct ta_gaps_asked gaps_asked = {GAPS, owned.place, owned.ns, &owner->owner, 1};
    const struct ta_gaps gaps = ta_gaps_find(in, &gaps_asked);
    if (strcmp(owner->owner, "host untraced") == 0 && !is_range) {
        const double between = owned.ns;
        owned = with_edges(in, advice, &asked);
        where.share *= between / owned.ns;
        where.site_share *= between / owned.ns;
    }
    const struct ta_recorded recorded =
        owner->recorded ? ta_recorder_of(in, RECORDER, owner->recorded, &owned.place, 1)
                        : (struct ta_recorded){.ns = 0};
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&owned.place), ta_place_evidence(&owned.run),
        ta_place_evidence(gaps.n ? &gaps.longest : &owned.place)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "gpu-idle",
                  .rule = "gpu_idle",
                  .title = title_of(advice, owner, &owned, is_range ? where.function : NULL),
                  .why = ta_owned_sentence(advice, &where, owned.ns),
                  .advice = is_range ? "Do this while the GPU works, in another process, or once; "
                                       "with_stack=True shows what it is."
                                     : owner->advice,
                  .details = gaps.n ? ta_gaps_sentence(in, advice, &gaps_asked, &gaps) : NULL,
                  .severity = is_unknown && owned.share >= MOSTLY ? TA_HIGH : TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = gaps.n ? 3 : 2,
                  .saving_low_ns = is_unknown ? TA_MISSING : ta_whole(owner->least * owned.ns),
                  .saving_high_ns = is_unknown ? TA_MISSING : ta_whole(owned.ns),
                  .recorder_ns = recorded.ns,
                  .recorder_most_ns = recorded.most_ns,
                  .confidence = 0.4,
                  .threshold = ta_advice_printf(advice, "idle time of one cause > %s of the run",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, gpu_idle, &ops, .title = "Low GPU busy share",
          .summary = "Fires when a device is idle for a cause without a rule of its own",
          .version = "1", .options = options);
