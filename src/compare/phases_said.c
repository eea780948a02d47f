/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the verdict of a comparison says of the phases and steps of a diffusion. */
#include "compare/phases.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>

/* ---- what the first line says ---------------------------------------------------------------- */

/* The least of the change that what is said explains, and a second thing. */
#define MOST 0.5
#define ALSO 0.2

/* Steps of an image, or of all where images have different numbers of them. */
static int64_t steps_of(const struct diff_phases_side *side)
{
    return side->images > 0 && side->steps % side->images == 0 ? side->steps / side->images
                                                               : side->steps;
}

static const char *times(struct diff *diff, int64_t n)
{
    return n == 1   ? "once"
           : n == 2 ? "twice"
                    : ta_arena_printf(&diff->arena, "%lld times", (long long)n);
}

/* Of a call, or of an image's part of it. */
static double mean_of(const struct diff_phase_bars *bars, const struct diff_phase_bar *bar,
                      int side)
{
    return (double)bar->ns[side] / (double)bar->n[side] / bars->batch[side];
}

static bool has_other_batch(const struct diff_phase_bars *bars)
{
    return bars->batch[TA_DIFF_BASE] != bars->batch[TA_DIFF_NEW];
}

/* Guidance that came, went, or became a part of the batch. */
static bool has_other_passes(const struct diff_phase_bars *bars)
{
    const int64_t before = bars->sides[TA_DIFF_BASE].per_step;
    const int64_t after = bars->sides[TA_DIFF_NEW].per_step;
    return before > 0 && after > 0 && before != after;
}

/* More or fewer predictions of an image at once: guidance that came or went, or that another rank
 * calculates; images of a batch whose size nothing else says. */
static bool has_other_samples(const struct diff_phase_bars *bars)
{
    const int64_t before = bars->sides[TA_DIFF_BASE].size.samples;
    const int64_t after = bars->sides[TA_DIFF_NEW].size.samples;
    const double batch = bars->batch[TA_DIFF_NEW] / bars->batch[TA_DIFF_BASE];
    return before > 0 && after > 0 && (double)after != (double)before * batch;
}

static bool has_other_layers(const struct diff_phase_bars *bars)
{
    const int64_t before = bars->sides[TA_DIFF_BASE].layers;
    const int64_t after = bars->sides[TA_DIFF_NEW].layers;
    return before > 1 && after > 1 && before != after;
}

/* Whether steps do the same work, as far as counts tell. */
static bool is_same_work(const struct diff_phase_bars *bars)
{
    return !has_other_passes(bars) && !has_other_layers(bars) && !has_other_samples(bars);
}

static const char *step_text(struct diff *diff, const struct diff_phase_bars *bars)
{
    const int64_t before = steps_of(&bars->sides[TA_DIFF_BASE]);
    const int64_t after = steps_of(&bars->sides[TA_DIFF_NEW]);
    return before != after || after == 1
               ? "denoising steps"
               : ta_arena_printf(&diff->arena, "the %lld denoising steps", (long long)after);
}

/* "take 4.89 ms each instead of 8.94 ms", with what they do more or less of. */
static const char *of_step_time(struct diff *diff, const struct diff_phase_bars *bars,
                                const struct diff_phase_bar *bar)
{
    const struct diff_phases_side *base = &bars->sides[TA_DIFF_BASE],
                                  *new = &bars->sides[TA_DIFF_NEW];
    struct diff_two each;
    diff_two(&each, mean_of(bars, bar, TA_DIFF_BASE), mean_of(bars, bar, TA_DIFF_NEW), TA_UNIT_NS);
    const char *more = "";
    if (has_other_passes(bars))
        more = ta_arena_printf(&diff->arena, "run the denoiser %s instead of %s and ",
                               times(diff, new->per_step), times(diff, base->per_step));
    else if (has_other_layers(bars))
        more = ta_arena_printf(&diff->arena, "run %lld layers instead of %lld and ",
                               (long long)new->layers, (long long)base->layers);
    else if (has_other_samples(bars))
        more = ta_arena_printf(&diff->arena, "run %lld sample%s a pass instead of %lld and ",
                               (long long)new->size.samples, new->size.samples == 1 ? "" : "s",
                               (long long)base->size.samples);
    return ta_arena_printf(&diff->arena, "%stake %s each instead of %s%s", more, each.after,
                           each.before,
                           has_other_batch(bars) ? " for an image"
                           : bar->size != 0      ? ", more than sizes explain"
                                                 : "");
}

/* "8 denoising steps instead of 4". */
static const char *of_steps(struct diff *diff, const struct diff_phase_bars *bars)
{
    const int64_t before = steps_of(&bars->sides[TA_DIFF_BASE]);
    const int64_t after = steps_of(&bars->sides[TA_DIFF_NEW]);
    return ta_arena_printf(&diff->arena, "%lld denoising step%s instead of %lld", (long long)after,
                           after == 1 ? "" : "s", (long long)before);
}

/* "are 4 of 8 passes of the denoiser instead of none, as with a step cache". */
static const char *of_mix(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct diff_phases_side *base = &bars->sides[TA_DIFF_BASE],
                                  *new = &bars->sides[TA_DIFF_NEW];
    const char *before = base->passes.n[1] > 0
                             ? ta_arena_printf(&diff->arena, "%.0f of %lld", base->passes.n[1],
                                               (long long)base->forwards)
                             : "none";
    return ta_arena_printf(&diff->arena, "are %.0f of %lld instead of %s, as with a step cache",
                           new->passes.n[1], (long long)new->forwards, before ? before : "");
}

static double of_image(const struct diff_phase_bars *bars, const struct diff_phase_bar *bar,
                       int side)
{
    return (double)bar->ns[side] / bars->images[side];
}

static const char *of_phase(struct diff *diff, const struct diff_phase_bars *bars,
                            const struct diff_phase_bar *bar)
{
    const int64_t *n = bar->n;
    if (bar->ns[TA_DIFF_BASE] && bar->ns[TA_DIFF_NEW] && n[TA_DIFF_BASE] != n[TA_DIFF_NEW] &&
        fabs(bar->count) > fabs(bar->rate))
        return ta_arena_printf(&diff->arena, "calls its model %s instead of %s",
                               times(diff, n[TA_DIFF_NEW]), times(diff, n[TA_DIFF_BASE]));
    return diff_instead(diff, "takes", of_image(bars, bar, TA_DIFF_BASE),
                        of_image(bars, bar, TA_DIFF_NEW), TA_UNIT_NS);
}

/* Something that may be said. */
struct say {
    struct diff_clause clause; /* without words: what it is of is not known */
    bool is_of_time;
};

/* The two that explain most, and what works most against them. */
struct says {
    struct say at[2], against;
};

static void offer(struct says *says, struct say say, double whole)
{
    const double ns = say.clause.ns;
    if (ns == 0)
        return;
    if ((ns > 0) != (whole > 0)) {
        if (fabs(ns) > fabs(says->against.clause.ns))
            says->against = say;
    } else if (fabs(ns) > fabs(says->at[0].clause.ns)) {
        says->at[1] = says->at[0];
        says->at[0] = say;
    } else if (fabs(ns) > fabs(says->at[1].clause.ns)) {
        says->at[1] = say;
    }
}

/* "4× fewer image tokens", of all phases. */
static struct say say_of_size(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct diff_size sizes[TA_DIFF_SIDES] = {bars->sides[TA_DIFF_BASE].size,
                                                   bars->sides[TA_DIFF_NEW].size};
    struct say say = {.clause = {.is_plural = true}};
    if (!diff_sizes_differ(sizes))
        return say;
    for (size_t i = 0; i < bars->n; i++)
        say.clause.ns += bars->at[i].size;
    say.clause.what = diff_size_tokens_text(diff, sizes);
    return say;
}

static struct say say_of_phase(struct diff *diff, const struct diff_phase_bars *bars,
                               const struct diff_phase_bar *bar)
{
    const bool is_both = bar->n[TA_DIFF_BASE] > 0 && bar->n[TA_DIFF_NEW] > 0;
    const bool is_rest = diff_phase_is_rest(bar->name);
    struct say say = {.clause = {.ns = bar->change - bar->size}, .is_of_time = is_both || is_rest};
    if (!is_rest) {
        say.clause.what = ta_arena_copy(&diff->arena, bar->name);
        say.clause.does = of_phase(diff, bars, bar);
    }
    return say;
}

static void offer_steps(struct diff *diff, const struct diff_phase_bars *bars,
                        const struct diff_phase_bar *bar, struct says *says)
{
    const struct say count = {
        .clause = {.what = of_steps(diff, bars), .ns = bar->count, .is_plural = true}};
    const struct say mix = {.clause = {.what = "shortened passes of the denoiser",
                                       .does = of_mix(diff, bars),
                                       .ns = bar->mix,
                                       .is_plural = true}};
    const struct say time = {.clause = {.what = step_text(diff, bars),
                                        .does = of_step_time(diff, bars, bar),
                                        .ns = bar->rate,
                                        .is_plural = true},
                             .is_of_time = is_same_work(bars)};
    offer(says, count, bars->whole);
    offer(says, mix, bars->whole);
    offer(says, time, bars->whole);
}

static struct says find_says(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct say none = {.is_of_time = true};
    struct says says = {{none, none}, none};
    offer(&says, say_of_size(diff, bars), bars->whole);
    for (size_t i = 0; i < bars->n; i++) {
        const struct diff_phase_bar *bar = &bars->at[i];
        const bool is_both = bar->n[TA_DIFF_BASE] > 0 && bar->n[TA_DIFF_NEW] > 0;
        if (is_both && ta_slice_equal(bar->name, diff_denoising))
            offer_steps(diff, bars, bar, &says);
        else
            offer(&says, say_of_phase(diff, bars, bar), bars->whole);
    }
    return says;
}

/* "image", "video"; NULL where not each is denoised and decoded, or the sides make other things. */
static const char *what_is_made(const struct diff_phase_bars *bars)
{
    bool is_video[TA_DIFF_SIDES];
    for (int i = 0; i < TA_DIFF_SIDES; i++) {
        const struct diff_phases_side *side = &bars->sides[i];
        if (!side->is_whole || side->images <= 0)
            return NULL;
        is_video[i] = side->blocks > side->images || side->size.frames > 1;
    }
    return is_video[TA_DIFF_BASE] != is_video[TA_DIFF_NEW] ? NULL
           : is_video[TA_DIFF_NEW]                         ? "video"
                                                           : "image";
}

/* "smaller images (1024×1024 → 512×512)", "batches of 4 instead of 1": what the program was asked
 * for, which no one may take for a faster or slower program. */
static const char *task_of(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct diff_size sizes[TA_DIFF_SIDES] = {bars->sides[TA_DIFF_BASE].size,
                                                   bars->sides[TA_DIFF_NEW].size};
    const int64_t before = diff_size_batch(sizes, TA_DIFF_BASE);
    const int64_t after = diff_size_batch(sizes, TA_DIFF_NEW);
    const bool is_other_size = diff_sizes_differ(sizes);
    if (!is_other_size && before == after)
        return NULL;
    const char *size = is_other_size ? diff_size_change(diff, sizes) : NULL;
    const char *batch = before == after
                            ? NULL
                            : ta_arena_printf(&diff->arena, "batches of %lld instead of %lld",
                                              (long long)after, (long long)before);
    return ta_arena_printf(&diff->arena, "%s%s%s", size ? size : "", size && batch ? " and " : "",
                           batch ? batch : "");
}

/* What the steps are that the program marks, where both runs have as many as of that; else NULL. */
static const char *step_word(struct diff *diff, const struct diff_phase_bars *bars)
{
    static const char *const words[] = {"denoising step", "block", "image"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool is_so = true;
        for (int side = 0; side < TA_DIFF_SIDES; side++) {
            const struct diff_phases_side *of = &bars->sides[side];
            const int64_t counts[] = {of->steps, of->blocks, of->images};
            is_so &= counts[i] > 1 && diff_units(&diff->in[side], DIFF_STEPS) == counts[i];
        }
        if (is_so)
            return words[i];
    }
    return NULL;
}

/* Nothing where it is too little of the change. */
static struct diff_clause much_of(const struct say *say, double whole)
{
    return fabs(say->clause.ns) < ALSO * fabs(whole) ? (struct diff_clause){0} : say->clause;
}

void diff_phases_say(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct says says = find_says(diff, bars);
    const struct say *most = &says.at[0];
    struct diff_phase_story *story = &diff->phases;
    const struct diff_phases_side *base = &bars->sides[TA_DIFF_BASE],
                                  *new = &bars->sides[TA_DIFF_NEW];
    *story = (struct diff_phase_story){
        .task = task_of(diff, bars), .made = what_is_made(bars), .whole = bars->whole};
    const int64_t batch = base->size.batch > 0 ? base->size.batch : 1;
    story->is_each = bars->images[TA_DIFF_BASE] != 1 || bars->images[TA_DIFF_NEW] != 1;
    story->step = step_word(diff, bars);
    if (base->steps > 0 && new->steps > 0 && steps_of(base) != steps_of(new))
        story->steps = of_steps(diff, bars);
    story->n_made = base->images == new->images && !story->is_each ? base->images *batch : 0;
    if (!most->clause.what || fabs(most->clause.ns) < MOST * fabs(bars->whole))
        return;
    story->most = most->clause;
    story->next = much_of(&says.at[1], bars->whole);
    story->against = much_of(&says.against, bars->whole);
    story->is_of_time = most->is_of_time && !story->task;
}
