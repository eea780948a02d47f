/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More GPUs that give little more speed. */
#include <traceanalyze/rule.h>

enum { EFFICIENCY, HIGH };

static const struct ta_option options[] = {
    [EFFICIENCY] = {"efficiency", TA_OPTION_NUMBER, 0.7, 0, 1, TA_OPTION_RATIO,
                    "Speed-up over times as many GPUs, below which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.4, 0, 1, TA_OPTION_RATIO,
              "Efficiency below which it is severe"},
    TA_OPTIONS_END,
};

enum {
    WORLD,
    BASE,
    SPEEDUP,
    WORLD_EFFICIENCY,
    RUNS_WORLD,
    RUNS_BASE,
    RUNS_SPEEDUP,
    RUNS_EFFICIENCY
};

static const struct ta_ref reads[] = {
    [WORLD] = {"scaling.by_world_size", "world_size"},
    [BASE] = {"scaling.by_world_size", "base_world_size"},
    [SPEEDUP] = {"scaling.by_world_size", "speedup"},
    [WORLD_EFFICIENCY] = {"scaling.by_world_size", "efficiency"},
    [RUNS_WORLD] = {"scaling.runs", "world_size"},
    [RUNS_BASE] = {"scaling.runs", "base_world_size"},
    [RUNS_SPEEDUP] = {"scaling.runs", "speedup"},
    [RUNS_EFFICIENCY] = {"scaling.runs", "efficiency"},
};

/* Sessions of a profiler in one run; runs that are compared. */
static const struct {
    struct ta_look look;
    size_t world, base, speedup;
} sources[] = {
    {{.cells = WORLD_EFFICIENCY, .lowest = true}, WORLD, BASE, SPEEDUP},
    {{.cells = RUNS_EFFICIENCY, .lowest = true}, RUNS_WORLD, RUNS_BASE, RUNS_SPEEDUP},
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, EFFICIENCY);
    const size_t n_sources = TA_LENGTH(sources);
    struct ta_place worst;
    size_t s = 0;
    while (s < n_sources && !ta_look_worst(in, &sources[s].look, &worst))
        s++;
    if (s == n_sources || worst.value >= threshold)
        return TA_OK;
    const struct ta_place world = ta_place_at(in, sources[s].world, worst.row);
    const struct ta_place base = ta_place_at(in, sources[s].base, worst.row);
    const struct ta_place speedup = ta_place_at(in, sources[s].speedup, worst.row);
    if (!world.table || !base.table || !speedup.table)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&speedup)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "scaling",
            .rule = "scaling",
            .title = ta_advice_printf(
                advice,
                "More GPUs bring little: %.0f are %.3g times as fast as %.0f, %s of linear scaling",
                world.value, speedup.value, base.value,
                ta_advice_number(advice, worst.value, TA_UNIT_RATIO)),
            .advice = "Compare the time of computing, of collectives and of waiting at both sizes, "
                      "and keep tensor and Ulysses groups within what NVLink joins.",
            .details = "Where several videos wait, fewer GPUs for each of them give more frames "
                       "than all GPUs for one. Decoder, text encoder and loading do not become "
                       "faster by more GPUs.",
            .severity = worst.value < ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "speed-up over times as many GPUs < %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, scaling, &ops, .title = "Multi-GPU scaling",
          .summary = "Fires when more GPUs give little more speed", .version = "1",
          .options = options);
