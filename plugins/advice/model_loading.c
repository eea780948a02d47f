/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models that are loaded again and again: in each run of a trace, in each prompt of a log. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
                   "Share of the run, or of the prompts, that loading again takes, from which the "
                   "rule fires"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    STEP,
    LOADS,
    BYTES,
    COPIES,
    TOTAL,
    FIRST,
    WINDOW,
    STAGE_RANK,
    STAGE,
    STAGE_CALLS,
    STAGE_TIME,
    MODEL,
    EXTENT,
    BAR_ELAPSED,
    BAR_MODEL
};

static const struct ta_ref reads[] = {
    [RANK] = {"models.reloaded", "rank"},
    [STEP] = {"models.reloaded", "step"},
    [LOADS] = {"models.reloaded", "loads"},
    [BYTES] = {"models.reloaded", "bytes"},
    [COPIES] = {"models.reloaded", "copy_ns"},
    [TOTAL] = {"models.reloaded", "total_ns"},
    [FIRST] = {"models.reloaded", "first_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE] = {"stages.by_name", "stage"},
    [STAGE_CALLS] = {"stages.by_name", "calls"},
    [STAGE_TIME] = {"stages.by_name", "total_ns"},
    [MODEL] = {"models.loads", "model"},
    [EXTENT] = {"models.loads", "extent"},
    [BAR_ELAPSED] = {"progress.bars", "elapsed_ns"},
    [BAR_MODEL] = {"progress.bars", "model"},
};

static const char advice_text[] = "Load the model once and keep it on the GPU between the runs, in "
                                  "one process; where it does not "
                                  "fit, keep the weights in pinned host memory.";
static const char details_text[] = "A load itself is faster from a local NVMe disk, as safetensors "
                                   "that are mapped straight to the "
                                   "GPU (safetensors' load_file(device=\"cuda\"), fastsafetensors, "
                                   "run:ai streamer) and from pinned "
                                   "buffers.";

/* Loading that copies for less of its time than this reads or converts for most of it. */
#define COPIES_LITTLE 0.3

/* ---- traces -------------------------------------------------------------------------------- */

static void advise_runs(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW};
    struct ta_place worst = {.table = NULL};
    double share = ta_ctx_option(ctx, THRESHOLD);
    for (size_t row = 0; row < ta_ref_rows(in, TOTAL); row++) {
        const struct ta_place total = ta_place_at(in, TOTAL, row);
        const double window = ta_look_most(in, &windows, ta_ref_integer(in, RANK, row));
        if (!total.table || window <= 0 || total.value / window <= share)
            continue;
        share = total.value / window;
        worst = total;
    }
    if (!worst.table)
        return;
    const double loads = ta_ref_number(in, LOADS, worst.row, 1);
    const double first = ta_ref_number(in, FIRST, worst.row, 0);
    const double copies = ta_ref_number(in, COPIES, worst.row, 0);
    const char *step = ta_place_text(advice, in, &worst, STEP);
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst),
                                           ta_ref_evidence(in, BYTES, worst.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "model-reloaded",
            .rule = "model_loading",
            .title = ta_advice_printf(
                advice, "Weights are loaded again in each of %s runs%s%s%s%s: %s of the run (%s)",
                ta_advice_number(advice, loads, TA_UNIT_COUNT), *step ? " (" : "", step,
                *step ? ")" : "", ta_place_owner(advice, in->report, &worst),
                ta_advice_number(advice, share, TA_UNIT_RATIO),
                ta_advice_number(advice, worst.value, TA_UNIT_NS)),
            .why = ta_advice_printf(
                advice,
                "Before its first kernels each copies %s to the GPU, which takes %s; "
                "copying itself is %s of it%s.",
                ta_advice_number(advice, ta_ref_number(in, BYTES, worst.row, 0) / loads,
                                 TA_UNIT_BYTES),
                ta_advice_number(advice, worst.value / loads, TA_UNIT_NS),
                ta_advice_number(advice, fmin(1, copies / worst.value), TA_UNIT_RATIO),
                copies < COPIES_LITTLE * worst.value
                    ? ta_advice_printf(
                          advice, ", so the disk or the host limits it, at %s",
                          ta_advice_number(advice,
                                           1e9 * ta_ref_number(in, BYTES, worst.row, 0) /
                                               (worst.value - copies),
                                           TA_UNIT_BYTES_PER_S))
                    : ""),
            .advice = advice_text,
            .details = details_text,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(worst.value - first),
            .saving_high_ns = ta_whole(worst.value),
            .steps_ns = TA_OUTSIDE_LOOP,
            .confidence = 0.8,
            .threshold = "runs that begin with copies of weights ≥ 2",
        });
}

/* ---- logs ---------------------------------------------------------------------------------- */

static bool is_loading(struct ta_slice stage)
{
    static const char *const words[] = {"loading", "load_model", "from_pretrained",
                                        "load_state_dict", NULL};
    return ta_slice_has_any(stage, words);
}

/* What the prompts or requests of a rank take in all; its table is NULL without any. */
static struct ta_place prompts_of(const struct ta_refs *in, int64_t rank)
{
    struct ta_place prompts = {.table = NULL};
    for (size_t i = 0; i < ta_ref_rows(in, STAGE); i++)
        if (ta_ref_integer(in, STAGE_RANK, i) == rank &&
            ta_slice_ends(ta_ref_text(in, STAGE, i), "/total"))
            prompts = ta_place_at(in, STAGE_TIME, i);
    return prompts;
}

/* How often the model of a row was loaded as a whole. */
static size_t loads_of(const struct ta_refs *in, size_t row)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, MODEL); i++)
        n += ta_ref_reads(in, EXTENT, i, "complete") &&
             ta_slice_equal(ta_ref_text(in, MODEL, i), ta_ref_text(in, MODEL, row));
    return n;
}

/* Whether loops run the model of a row: the others are loaded for one pass. */
static bool has_loop(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, BAR_MODEL); i++)
        if (ta_slice_equal(ta_ref_text(in, BAR_MODEL, i), ta_ref_text(in, MODEL, row)))
            return true;
    return false;
}

/* Share of prompts outside their loops from which loads that have no time of their own are said. */
#define MUCH 0.3

/* Loads of which a log says that they were, not how long: they are part of what prompts take
 * outside their loops. */
static void advise_loads(const struct ta_refs *in, struct ta_advice *advice)
{
    size_t most = 0, row = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, MODEL); i++) {
        const size_t n = has_loop(in, i) ? loads_of(in, i) : 0;
        if (n > most) {
            most = n;
            row = i;
        }
    }
    const struct ta_place prompts =
        row == SIZE_MAX ? (struct ta_place){.table = NULL} : prompts_of(in, 0);
    const double n = prompts.table ? ta_ref_number(in, STAGE_CALLS, prompts.row, 0) : 0;
    const double outside = prompts.value - ta_ref_sum(in, BAR_ELAPSED);
    if (n < 2 || (double)most < n || outside < MUCH * prompts.value)
        return;
    const struct ta_place model = {.table = ta_ref_table(in, MODEL), .row = row};
    const struct ta_evidence evidence[] = {ta_place_evidence(&prompts)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "model-reloaded",
                  .rule = "model_loading",
                  .title = ta_advice_printf(
                      advice,
                      "%s is loaded again in each of %.0f prompts, which spend %s of their time "
                      "outside their loops (%s)",
                      ta_place_text(advice, in, &model, MODEL), n,
                      ta_advice_number(advice, outside / prompts.value, TA_UNIT_RATIO),
                      ta_advice_number(advice, outside, TA_UNIT_NS)),
                  .why = (double)most > n
                             ? ta_advice_printf(advice, "%s was loaded %zu times.",
                                                ta_place_text(advice, in, &model, MODEL), most)
                             : NULL,
                  .advice = advice_text,
                  .details = details_text,
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 1,
                  .saving_low_ns = ta_whole(0.3 * outside),
                  .saving_high_ns = ta_whole(0.9 * outside),
                  .steps_ns = TA_OUTSIDE_LOOP,
                  .confidence = 0.5,
                  .threshold = "loads >= prompts, and prompts outside their loops > 30 %",
              });
}

static void advise_prompts(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct ta_place worst = {.table = NULL};
    double share = ta_ctx_option(ctx, THRESHOLD);
    for (size_t i = 0; i < ta_ref_rows(in, STAGE); i++) {
        const struct ta_place time = ta_place_at(in, STAGE_TIME, i);
        const struct ta_place prompts = prompts_of(in, ta_ref_integer(in, STAGE_RANK, i));
        const double calls = ta_ref_number(in, STAGE_CALLS, i, 0);
        if (!time.table || calls < 2 || !is_loading(ta_ref_text(in, STAGE, i)) || !prompts.table ||
            ta_ref_number(in, STAGE_CALLS, prompts.row, 0) < 2 ||
            time.value / prompts.value <= share)
            continue;
        share = time.value / prompts.value;
        worst = time;
    }
    if (!worst.table) {
        advise_loads(in, advice);
        return;
    }
    const struct ta_place prompts = prompts_of(in, ta_ref_integer(in, STAGE_RANK, worst.row));
    const double calls = ta_ref_number(in, STAGE_CALLS, worst.row, 0);
    const double n = ta_ref_number(in, STAGE_CALLS, prompts.row, 0);
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&prompts)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "model-reloaded",
            .rule = "model_loading",
            .title = ta_advice_printf(
                advice, "Models are loaded again in %s%s prompts%s: %s of their time (%s)",
                calls >= n ? "each of " : "",
                ta_advice_number(advice, fmin(calls, n), TA_UNIT_COUNT),
                ta_place_owner(advice, in->report, &worst),
                ta_advice_number(advice, share, TA_UNIT_RATIO),
                ta_advice_number(advice, worst.value, TA_UNIT_NS)),
            .why = ta_advice_printf(advice, "\"%s\" takes %s each time.",
                                    ta_place_text(advice, in, &worst, STAGE),
                                    ta_advice_number(advice, worst.value / calls, TA_UNIT_NS)),
            .advice = advice_text,
            .details = details_text,
            .severity = share > 0.3 ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(worst.value * (1 - 1 / calls) * 0.8),
            .saving_high_ns = ta_whole(worst.value),
            .steps_ns = TA_OUTSIDE_LOOP,
            .confidence = 0.8,
            .threshold = "loads ≥ 2 in prompts",
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    advise_runs(ctx, in, advice);
    if (ta_ref_rows(in, TOTAL) == 0) /* one finding of a name */
        advise_prompts(ctx, in, advice);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, model_loading, &ops, .title = "Models loaded again",
          .summary = "Fires when each run or prompt loads the model again", .version = "1",
          .options = options);
