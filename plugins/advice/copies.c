/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposed copies: nothing else runs on the device meanwhile.  Copies that the host waits for are
 * blocking_copies.c's, copies of weights weight_copies.c's. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { EXPOSED };

static const struct ta_option options[] = {
    [EXPOSED] = {"exposed", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                 "Exposed share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    WINDOW,
    COPIES_EXPOSED,
    BLOCKING_EXPOSED,
    KIND_RANK,
    KIND_MEMORY,
    KIND_PATH,
    KIND_EXPOSED,
    WEIGHTS_EXPOSED
};

static const struct ta_ref reads[] = {
    [RANK] = {"gpu_time.by_rank", "rank"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [COPIES_EXPOSED] = {"gpu_time.by_rank", "memcpy_exposed_ns"},
    [BLOCKING_EXPOSED] = {"copies.blocking", "exposed_ns"},
    [KIND_RANK] = {"copies.bandwidth", "rank"},
    [KIND_MEMORY] = {"copies.bandwidth", "memory"},
    [KIND_PATH] = {"copies.bandwidth", "path"},
    [KIND_EXPOSED] = {"copies.bandwidth", "exposed_ns"},
    [WEIGHTS_EXPOSED] = {"copies.weights", "exposed_ns"},
};

struct worst {
    struct ta_place exposed;
    double ns, window;
};

/* Exposed time of the copies of a path, of all sizes. */
static double exposed_of(const struct ta_refs *in, int64_t rank, struct ta_slice path)
{
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, KIND_EXPOSED); row++)
        if (ta_ref_integer(in, KIND_RANK, row) == rank &&
            ta_slice_equal(ta_ref_text(in, KIND_PATH, row), path))
            sum += ta_ref_number(in, KIND_EXPOSED, row, 0);
    return sum;
}

/* A row of copies.bandwidth of the path of a rank with most exposed time, and that time. */
static bool find_kind(const struct ta_refs *in, const struct ta_place *exposed,
                      struct ta_place *kind, double *ns)
{
    const int64_t rank = ta_whole(ta_place_beside(in, exposed, RANK).value);
    *ns = 0;
    for (size_t row = 0; row < ta_ref_rows(in, KIND_EXPOSED); row++) {
        const double sum = ta_ref_integer(in, KIND_RANK, row) == rank
                               ? exposed_of(in, rank, ta_ref_text(in, KIND_PATH, row))
                               : 0;
        if (sum > *ns) {
            *ns = sum;
            *kind = ta_place_at(in, KIND_EXPOSED, row);
        }
    }
    return *ns > 0;
}

static const char *advice_on(const struct ta_refs *in, struct ta_advice *advice,
                             const struct ta_place *kind)
{
    const char *memory = kind->table ? ta_place_text(advice, in, kind, KIND_MEMORY) : "unknown";
    if (strcmp(memory, "device") == 0)
        return "Copy less within the GPU: write results into their final buffer, keep one layout, "
               "and drop clone(), contiguous() and cat() that only move bytes.";
    if (strcmp(memory, "pinned") == 0)
        return "Copy on a stream of its own, ahead of the use, so that kernels run meanwhile.";
    return "Pin the host memory, and copy with non_blocking=True on a stream of its own, ahead of "
           "the use.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, EXPOSED);
    /* The device with the largest share of exposed copies, less those that the host waits for. */
    static const struct ta_look waits = {.cells = BLOCKING_EXPOSED};
    static const struct ta_look weights = {.cells = WEIGHTS_EXPOSED};
    struct worst worst = {.window = 1};
    for (size_t row = 0; row < ta_ref_rows(in, COPIES_EXPOSED); row++) {
        const struct ta_place place = ta_place_at(in, COPIES_EXPOSED, row);
        const double rank = ta_ref_number(in, RANK, row, 0);
        const struct ta_place window = ta_place_at(in, WINDOW, row);
        if (!place.table || !window.table || window.value <= 0)
            continue;
        /* Copies of weights may be among those that the host waits for. */
        const double rest = place.value - fmax(ta_look_sum(in, &waits, ta_whole(rank)),
                                               ta_look_sum(in, &weights, ta_whole(rank)));
        if (rest / window.value > worst.ns / worst.window)
            worst = (struct worst){place, rest, window.value};
    }
    const double share = worst.ns / worst.window;
    if (!worst.exposed.table || share <= threshold)
        return TA_OK;
    struct ta_place kind = {0};
    struct ta_evidence evidence[2] = {ta_place_evidence(&worst.exposed)};
    double of_kind;
    const bool known = find_kind(in, &worst.exposed, &kind, &of_kind);
    if (known)
        evidence[1] = ta_place_evidence(&kind);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "exposed-copies",
            .rule = "copies",
            .title = ta_advice_printf(advice, "The GPU only copies for %s of the run (%s)%s",
                                      ta_advice_number(advice, share, TA_UNIT_RATIO),
                                      ta_advice_number(advice, worst.ns, TA_UNIT_NS),
                                      ta_place_owner(advice, in->report, &worst.exposed)),
            .why = known && of_kind >= 0.5 * worst.ns
                       ? ta_advice_printf(
                             advice, "No kernel runs during these copies; most of them are %s.",
                             ta_place_text(advice, in, &kind, KIND_PATH))
                       : "No kernel runs during these copies.",
            .advice = advice_on(in, advice, &kind),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = known ? 2 : 1,
            .saving_low_ns = ta_whole(0.4 * worst.ns),
            .saving_high_ns = ta_whole(worst.ns),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "exposed copies > %s of the window",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, copies, &ops, .title = "Exposed copies",
          .summary = "Fires when a device copies and runs no kernel meanwhile", .version = "1",
          .options = options);
