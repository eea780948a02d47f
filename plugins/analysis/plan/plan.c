/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.plan: how long a block, an image or a video would take with other steps, frames of a
 * block, guidance or cached steps, by what the run was measured to be made of; what --plan asks. */
#include "base/context.h"
#include "base/what_if.h"
#include "model.h"

#include <math.h>
#include <stdio.h>

enum {
    PLAN_RANK,
    PLAN_NUMBER,
    PLAN_STEPS,
    PLAN_BLOCK,
    PLAN_FRAMES,
    PLAN_GUIDANCE,
    PLAN_CACHED,
    PLAN_UNIT,
    PLAN_TIME,
    PLAN_TIME_LOW,
    PLAN_TIME_HIGH,
    PLAN_FPS,
    PLAN_FPS_LOW,
    PLAN_FPS_HIGH,
    PLAN_VIDEO,
    PLAN_VIDEO_LOW,
    PLAN_VIDEO_HIGH,
    PLAN_BEYOND,
    PLAN_NOTE
};
static const struct ta_column plan_columns[] = {
    [PLAN_RANK] = TA_RANK_COLUMN_OF("Rank that the prediction is for: the slowest"),
    [PLAN_NUMBER] = {"plan", "Plan", TA_INTEGER, .role = TA_IN_SERIES,
                     .doc = "Number of the predicted run; 0 is the run as recorded"},
    [PLAN_STEPS] = {"steps", "Steps", TA_NUMBER,
                    .doc = "Denoising steps per block or image; for the recorded run, the mean"},
    [PLAN_BLOCK] =
        {"block", "Block", TA_NUMBER,
         .doc =
             "Frames per block as recorded: latent frames if blocks are recorded in latent frames"},
    [PLAN_FRAMES] = {"frames", "Frames", TA_NUMBER, .doc = "Frames of the video as shown"},
    [PLAN_GUIDANCE] = {"guidance", "Forwards per step", TA_NUMBER,
                       .doc = "Calls of the denoiser per step: 2 for guidance in two calls"},
    [PLAN_CACHED] = {"cached", "Cached", TA_RATIO,
                     .doc = "Share of the steps that a cache shortens"},
    [PLAN_UNIT] = {"unit", "Unit", TA_TEXT,
                   .doc = "What the predicted time is for: block or image"},
    [PLAN_TIME] = {"time_ns", "Predicted time", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Predicted mean time per block or image, including the time between "
                          "blocks; empty if only bounds are known"},
    [PLAN_TIME_LOW] = {"time_low_ns", "Low", TA_NS_MEAN,
                       .doc = "Lower end of the 95 % interval for a run with as many blocks or "
                              "images as recorded; or lower bound"},
    [PLAN_TIME_HIGH] = {"time_high_ns", "High", TA_NS_MEAN,
                        .doc = "Upper end of that interval, or upper bound"},
    [PLAN_FPS] = {"fps", "FPS", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                  .doc = "Frames of the video over the predicted time"},
    [PLAN_FPS_LOW] = {"fps_low", "FPS low", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                      .doc = "FPS at the upper end of the time"},
    [PLAN_FPS_HIGH] = {"fps_high", "FPS high", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                       .doc = "FPS at the lower end of the time"},
    [PLAN_VIDEO] = {"video_ns", "Video", TA_NS_MEAN, .better = TA_LOWER,
                    .doc = "Predicted time of the whole video, from the start of the session if "
                           "known, otherwise from its first block"},
    [PLAN_VIDEO_LOW] = {"video_low_ns", "Video low", TA_NS_MEAN,
                        .doc = "Lower end of the predicted time of the video"},
    [PLAN_VIDEO_HIGH] = {"video_high_ns", "Video high", TA_NS_MEAN,
                         .doc = "Upper end of the predicted time of the video"},
    [PLAN_BEYOND] = {"extrapolated", "Extrapolated", TA_TEXT,
                     .doc = "Values outside the measured range, which make the prediction less "
                            "certain than its interval says; empty if there are none"},
    [PLAN_NOTE] = {"note", "Note", TA_SENTENCE,
                   .doc = "Where the bounds come from, or why nothing can be predicted"},
};
static const struct ta_table_def plan = {
    "diffusion.plan",
    "Predicted runs",
    TA_COLUMNS(plan_columns),
    .not_of_ranks = true,
    .doc =
        "What `--plan` asks for, one row per combination of its values; values that are not given "
        "are as recorded. Time = rest + steps × time per step; the rest is what a block or image "
        "takes besides its steps. Both are lines over the frames per block if blocks of at least 3 "
        "sizes were recorded. Otherwise the time of a block of another size is only bounded: "
        "between unchanged and proportional to its frames. Set-up steps are left out. In a trace, "
        "a "
        "step lasts until the start of the next. Intervals come from refitting the parts to 1000 "
        "bootstrap samples of the measurements, plus the scatter of another run.",
    .brief =
        &(const struct ta_brief){.place = 270,
                                 .rows = 16,
                                 .first = {&plan_columns[PLAN_STEPS], &plan_columns[PLAN_BLOCK],
                                           &plan_columns[PLAN_TIME], &plan_columns[PLAN_TIME_LOW],
                                           &plan_columns[PLAN_TIME_HIGH], &plan_columns[PLAN_FPS]},
                                 .never = {&plan_columns[PLAN_NUMBER], &plan_columns[PLAN_RANK]},
                                 .remark = &plan_columns[PLAN_NOTE],
                                 .is_supplement = true}};

/* ---- one plan -------------------------------------------------------------------------------- */

enum { NOTE_MAX = 160, BEYOND_MAX = 64 };

/* What a plan comes to. */
struct outcome {
    double values[TA_WHAT_IF_KEYS]; /* as asked, else as recorded */
    struct ta_estimate unit;        /* its value NAN between bounds */
    bool is_known;
    char note[NOTE_MAX], beyond[BEYOND_MAX];
};

static bool is_out_of(double value, double least, double most)
{
    return value < least || value > most;
}

static void add_beyond(struct outcome *outcome, const char *key)
{
    const size_t length = strlen(outcome->beyond);
    snprintf(outcome->beyond + length, BEYOND_MAX - length, "%s%s", length ? ", " : "", key);
}

/* Makes an estimate bounds: from `low` to `high` times what it is. */
static void bound(struct ta_estimate *unit, double low, double high)
{
    const double least = isnan(unit->low) ? unit->value : unit->low;
    const double most = isnan(unit->high) ? unit->value : unit->high;
    unit->low = least * low;
    unit->high = most * high;
    unit->value = NAN;
}

/* Why a plan cannot be predicted at all; NULL when it can. */
static const char *refusal(const struct parts *parts, const double asked[TA_WHAT_IF_KEYS])
{
    bool is_shortened = false;
    for (size_t i = 0; i < parts->steps.n; i++)
        is_shortened |= parts->steps.is_short[i];
    if (parts->steps.n == 0)
        return "No denoising steps were recorded.";
    if (asked[TA_WHAT_IF_CACHED] > 0 && !is_shortened)
        return "No step shortened by a cache was recorded.";
    if (!isnan(asked[TA_WHAT_IF_GUIDANCE]) && isnan(parts->guidance))
        return "The number of passes per step was not recorded.";
    if (!isnan(asked[TA_WHAT_IF_BLOCK]) && isnan(parts->block))
        return "No blocks of frames were recorded.";
    return NULL;
}

static double share_cached(const struct parts *parts)
{
    double n = 0;
    for (size_t i = 0; i < parts->steps.n; i++)
        n += parts->steps.is_short[i];
    return n > 0 ? n / (double)parts->steps.n : NAN;
}

static double either(double asked, double recorded)
{
    return isnan(asked) ? recorded : asked;
}

static double mean_steps(const struct parts *parts)
{
    return (parts->steps_least + parts->steps_most) / 2;
}

static void add_note(struct outcome *outcome, const char *note)
{
    const size_t length = strlen(outcome->note);
    snprintf(outcome->note + length, NOTE_MAX - length, "%s%s", length ? " " : "Bounds: ", note);
}

/* A block of another size than the only ones that were measured. */
static void bound_block(const struct model *model, struct outcome *outcome)
{
    const double factor = outcome->values[TA_WHAT_IF_BLOCK] / model->parts->block;
    if (model->has_law || isnan(factor) || (factor >= 1 && factor <= 1))
        return;
    bound(&outcome->unit, fmin(1, factor), fmax(1, factor));
    add_note(outcome, "blocks of fewer than 3 sizes were recorded.");
}

/* More passes than were measured: in one batch they may cost nothing, one by one each the same. */
static void bound_guidance(const struct model *model, struct outcome *outcome, double factor,
                           const struct asked *asked)
{
    if (!(factor > 1))
        return;
    const struct asked once = {asked->steps, asked->block, 1, asked->cached};
    const struct ta_estimate least = plan_model_unit(model, &once);
    bound(&outcome->unit, 1, 1);
    outcome->unit.low = isnan(least.low) ? least.value : least.low;
    add_note(outcome,
             "further passes cost little if batched, and as much as the first if run one by one.");
}

static void predict(const struct model *model, const double asked[TA_WHAT_IF_KEYS],
                    struct outcome *outcome)
{
    const struct parts *parts = model->parts;
    const char *refused = refusal(parts, asked);
    *outcome = (struct outcome){.unit = {NAN, NAN, NAN}, .is_known = !refused};
    double *values = outcome->values;
    values[TA_WHAT_IF_STEPS] = either(asked[TA_WHAT_IF_STEPS], mean_steps(parts));
    values[TA_WHAT_IF_BLOCK] = either(asked[TA_WHAT_IF_BLOCK], parts->block);
    values[TA_WHAT_IF_FRAMES] = either(asked[TA_WHAT_IF_FRAMES], parts->frames);
    values[TA_WHAT_IF_GUIDANCE] = either(asked[TA_WHAT_IF_GUIDANCE], parts->guidance);
    values[TA_WHAT_IF_CACHED] = either(asked[TA_WHAT_IF_CACHED], share_cached(parts));
    if (refused) {
        snprintf(outcome->note, NOTE_MAX, "%s", refused);
        return;
    }
    const double factor =
        isnan(parts->guidance) ? 1 : values[TA_WHAT_IF_GUIDANCE] / parts->guidance;
    const struct asked ask = {values[TA_WHAT_IF_STEPS], values[TA_WHAT_IF_BLOCK], factor,
                              asked[TA_WHAT_IF_CACHED]};
    outcome->unit = plan_model_unit(model, &ask);
    bound_guidance(model, outcome, factor, &ask);
    bound_block(model, outcome);
    if (is_out_of(ask.steps, parts->steps_least, parts->steps_most))
        add_beyond(outcome, "steps");
    if (is_out_of(ask.block, parts->size_least, parts->size_most))
        add_beyond(outcome, "block");
    if (is_out_of(values[TA_WHAT_IF_FRAMES], 0, parts->frames))
        add_beyond(outcome, "frames");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double rate_of(const struct parts *parts, const struct outcome *outcome, double unit_ns)
{
    return parts->is_image ? NAN : outcome->values[TA_WHAT_IF_BLOCK] * parts->ratio * 1e9 / unit_ns;
}

static double video_of(const struct parts *parts, const struct outcome *outcome, double unit_ns)
{
    const double frames = outcome->values[TA_WHAT_IF_FRAMES];
    const double blocks = ceil(frames / (outcome->values[TA_WHAT_IF_BLOCK] * parts->ratio));
    const double after = parts->after_ns > 0 ? parts->after_ns * frames / parts->frames : 0;
    return parts->is_image
               ? NAN
               : (isnan(parts->start_ns) ? 0 : parts->start_ns) + blocks * unit_ns + after;
}

static void add_plan(struct ta_section_builder *out, const struct parts *parts, size_t number,
                     const struct outcome *outcome)
{
    const struct ta_estimate *unit = &outcome->unit;
    const double *values = outcome->values;
    TA_ROW(out, plan, [PLAN_RANK] = ta_int(parts->rank), [PLAN_NUMBER] = ta_count(number),
           [PLAN_STEPS] = ta_num(values[TA_WHAT_IF_STEPS]),
           [PLAN_BLOCK] = ta_num(values[TA_WHAT_IF_BLOCK]),
           [PLAN_FRAMES] = ta_num(values[TA_WHAT_IF_FRAMES]),
           [PLAN_GUIDANCE] = ta_num(values[TA_WHAT_IF_GUIDANCE]),
           [PLAN_CACHED] = ta_num(values[TA_WHAT_IF_CACHED]),
           [PLAN_UNIT] = ta_string(parts->is_image ? "image" : "block"),
           [PLAN_TIME] = ta_num(unit->value), [PLAN_TIME_LOW] = ta_num(unit->low),
           [PLAN_TIME_HIGH] = ta_num(unit->high),
           [PLAN_FPS] = ta_num(rate_of(parts, outcome, unit->value)),
           [PLAN_FPS_LOW] = ta_num(rate_of(parts, outcome, unit->high)),
           [PLAN_FPS_HIGH] = ta_num(rate_of(parts, outcome, unit->low)),
           [PLAN_VIDEO] = ta_num(video_of(parts, outcome, unit->value)),
           [PLAN_VIDEO_LOW] = ta_num(video_of(parts, outcome, unit->low)),
           [PLAN_VIDEO_HIGH] = ta_num(video_of(parts, outcome, unit->high)),
           [PLAN_BEYOND] = ta_string(outcome->beyond), [PLAN_NOTE] = ta_string(outcome->note));
}

static void add_plans(struct ta_section_builder *out, const struct model *model,
                      const struct ta_what_if *what_if)
{
    double asked[TA_WHAT_IF_KEYS];
    struct outcome outcome;
    for (size_t k = 0; k < TA_WHAT_IF_KEYS; k++)
        asked[k] = NAN;
    predict(model, asked, &outcome);
    if (outcome.is_known && outcome.note[0] == '\0')
        snprintf(outcome.note, NOTE_MAX, "As recorded%s.",
                 model->parts->rests.n ? "" : "; denoising alone");
    add_plan(out, model->parts, 0, &outcome);
    for (size_t way = 0; model->parts->steps.n > 0 && way < ta_what_if_ways(what_if); way++) {
        ta_what_if_at(what_if, way, asked);
        predict(model, asked, &outcome);
        add_plan(out, model->parts, way + 1, &outcome);
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_what_if *what_if = ctx->shared->what_if;
    struct parts parts;
    struct model model = {0};
    if (!what_if || ta_what_if_ways(what_if) == 0)
        return TA_OK;
    const bool done = plan_parts_find(in, &parts) && plan_model_fit(&parts, &model);
    if (done)
        add_plans(out, &model, what_if);
    plan_model_free(&model);
    plan_parts_free(&parts);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot predict runs");
}

static const struct ta_table_def *const tables[] = {&plan, NULL};

static const struct ta_analysis_ops ops = {.section = "diffusion",
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           .reads = plan_reads,
                                           .n_reads = PLAN_READS};

TA_PLUGIN(analysis, plan, &ops, .title = "Predicted runs",
          .summary = "How long a diffusion run would take with other steps, blocks or guidance "
                     "(--plan): diffusion.plan",
          .version = "1");
