/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the first line of a comparison says of the phases and steps of a diffusion. */
#include "compare/phases.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>

/* ---- what the first line says ---------------------------------------------------------------- */

/* The least of the change that what is said explains, and a second thing. */
#define MOST 0.5
#define ALSO 0.2
/* What explains more of it is no part of it: something else works against it. */
#define MORE 1.05

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

/* "150 ms instead of 170 ms (-11.8 %)". */
static const char *instead(struct diff *diff, double before, double after)
{
    char old[TA_UNIT_TEXT_MAX], now[TA_UNIT_TEXT_MAX], change[TA_UNIT_TEXT_MAX];
    return ta_arena_printf(&diff->arena, "%s instead of %s (%s)",
                           ta_unit_format(now, after, TA_UNIT_NS),
                           ta_unit_format(old, before, TA_UNIT_NS),
                           ta_unit_format(change, after / before - 1, TA_UNIT_RATIO_CHANGE));
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

static const char *of_step_time(struct diff *diff, const struct diff_phase_bars *bars,
                                const struct diff_phase_bar *bar)
{
    const struct diff_phases_side *base = &bars->sides[TA_DIFF_BASE],
                                  *new = &bars->sides[TA_DIFF_NEW];
    const char *change =
        instead(diff, mean_of(bars, bar, TA_DIFF_BASE), mean_of(bars, bar, TA_DIFF_NEW));
    const char *with = "";
    if (has_other_layers(bars))
        with = ta_arena_printf(&diff->arena, ", with %lld layers instead of %lld,",
                               (long long)new->layers, (long long)base->layers);
    else if (has_other_samples(bars))
        with = ta_arena_printf(&diff->arena, ", with %lld sample%s a pass instead of %lld,",
                               (long long)new->size.samples, new->size.samples == 1 ? "" : "s",
                               (long long)base->size.samples);
    const char *each = steps_of(base) == steps_of(new)
                           ? ta_arena_printf(&diff->arena, "each of the %lld denoising steps",
                                             (long long)steps_of(new))
                           : "each denoising step";
    if (has_other_passes(bars))
        return ta_arena_printf(&diff->arena, "%s runs the denoiser %s instead of %s, and takes %s",
                               each, times(diff, new->per_step), times(diff, base->per_step),
                               change);
    if (bar->size != 0)
        return ta_arena_printf(&diff->arena, "%s takes %s, more than sizes explain", each, change);
    return ta_arena_printf(&diff->arena, "%s%s takes %s%s", each, with, change,
                           has_other_batch(bars) ? " for an image" : "");
}

static const char *of_steps(struct diff *diff, const struct diff_phase_bars *bars)
{
    const int64_t before = steps_of(&bars->sides[TA_DIFF_BASE]);
    const int64_t after = steps_of(&bars->sides[TA_DIFF_NEW]);
    return ta_arena_printf(&diff->arena, "%lld denoising step%s instead of %lld", (long long)after,
                           after == 1 ? "" : "s", (long long)before);
}

/* "20 of 28 passes of the denoiser are full ones, 28 of 28 before: a step cache". */
static const char *of_mix(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct diff_phases_side *base = &bars->sides[TA_DIFF_BASE],
                                  *new = &bars->sides[TA_DIFF_NEW];
    return ta_arena_printf(
        &diff->arena, "%.0f of %lld passes of the denoiser are shortened, as by a step cache, %s",
        new->passes.n[1], (long long)new->forwards,
        base->passes.n[1] > 0 ? ta_arena_printf(&diff->arena, "%.0f of %lld before",
                                                base->passes.n[1], (long long)base->forwards)
                              : "none before");
}

static const char *of_phase(struct diff *diff, const struct diff_phase_bars *bars,
                            const struct diff_phase_bar *bar)
{
    char ns[TA_UNIT_TEXT_MAX];
    const int64_t *n = bar->n;
    const int length = (int)bar->name.len;
    const char *name = bar->name.ptr;
    if (bar->ns[TA_DIFF_BASE] == 0)
        return ta_arena_printf(
            &diff->arena, "%.*s takes %s, and was not there before", length, name,
            ta_unit_format(ns, (double)bar->ns[TA_DIFF_NEW] / bars->images[TA_DIFF_NEW],
                           TA_UNIT_NS));
    if (bar->ns[TA_DIFF_NEW] == 0)
        return ta_arena_printf(
            &diff->arena, "%.*s, which took %s, is gone", length, name,
            ta_unit_format(ns, (double)bar->ns[TA_DIFF_BASE] / bars->images[TA_DIFF_BASE],
                           TA_UNIT_NS));
    if (n[TA_DIFF_BASE] != n[TA_DIFF_NEW] && fabs(bar->count) > fabs(bar->rate))
        return ta_arena_printf(&diff->arena, "%.*s calls its model %s instead of %s", length, name,
                               times(diff, n[TA_DIFF_NEW]), times(diff, n[TA_DIFF_BASE]));
    return ta_arena_printf(&diff->arena, "%.*s takes %s", length, name,
                           instead(diff, (double)bar->ns[TA_DIFF_BASE] / bars->images[TA_DIFF_BASE],
                                   (double)bar->ns[TA_DIFF_NEW] / bars->images[TA_DIFF_NEW]));
}

/* Something that may be said, with what it explains. */
struct say {
    const char *text; /* empty: what it is of is not known */
    double ns;
    bool is_of_time;
    const char *joint; /* between the text and what it explains; NULL: a colon */
};

/* The two that explain most, and what works most against them. */
struct says {
    struct say at[2], against;
};

static void offer(struct says *says, struct say say, double whole)
{
    if (!say.text || say.ns == 0)
        return;
    if ((say.ns > 0) != (whole > 0)) {
        if (fabs(say.ns) > fabs(says->against.ns))
            says->against = say;
    } else if (fabs(say.ns) > fabs(says->at[0].ns)) {
        says->at[1] = says->at[0];
        says->at[0] = say;
    } else if (fabs(say.ns) > fabs(says->at[1].ns)) {
        says->at[1] = say;
    }
}

/* "4× fewer image tokens explain", of all phases. */
static struct say say_of_size(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct diff_size sizes[TA_DIFF_SIDES] = {bars->sides[TA_DIFF_BASE].size,
                                                   bars->sides[TA_DIFF_NEW].size};
    struct say say = {.text = "", .joint = " explain"};
    if (!diff_sizes_differ(sizes))
        return say;
    for (size_t i = 0; i < bars->n; i++)
        say.ns += bars->at[i].size;
    say.text = diff_size_tokens_text(diff, sizes);
    return say;
}

static struct says find_says(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct say none = {.text = "", .is_of_time = true};
    struct says says = {{none, none}, none};
    offer(&says, say_of_size(diff, bars), bars->whole);
    for (size_t i = 0; i < bars->n; i++) {
        const struct diff_phase_bar *bar = &bars->at[i];
        const bool is_both = bar->n[TA_DIFF_BASE] > 0 && bar->n[TA_DIFF_NEW] > 0;
        const struct say phase = {.text = diff_phase_is_rest(bar->name) ? ""
                                                                        : of_phase(diff, bars, bar),
                                  .ns = bar->change - bar->size,
                                  .is_of_time = is_both || diff_phase_is_rest(bar->name)};
        if (!ta_slice_equal(bar->name, diff_denoising) || !is_both) {
            offer(&says, phase, bars->whole);
            continue;
        }
        const struct say time = {.text = of_step_time(diff, bars, bar),
                                 .ns = bar->rate,
                                 .is_of_time = is_same_work(bars)};
        offer(&says, (struct say){.text = of_steps(diff, bars), .ns = bar->count}, bars->whole);
        offer(&says, (struct say){.text = of_mix(diff, bars), .ns = bar->mix}, bars->whole);
        offer(&says, time, bars->whole);
    }
    return says;
}

static const char *what_is_made(const struct diff_phase_bars *bars)
{
    const struct diff_phases_side *base = &bars->sides[TA_DIFF_BASE],
                                  *new = &bars->sides[TA_DIFF_NEW];
    if (!base->is_whole || !new->is_whole || (bars->images[TA_DIFF_BASE] <= 1 && base->images != 1))
        return "";
    return new->blocks > new->images || new->size.frames > 1 ? " a video" : " an image";
}

/* "8 steps instead of 16: -560 ms of -600 ms an image"; without "of" where it is more than all. */
static const char *with_part(struct diff *diff, const struct diff_phase_bars *bars,
                             const struct say *say)
{
    char part[TA_UNIT_TEXT_MAX], whole[TA_UNIT_TEXT_MAX];
    const bool is_part = fabs(say->ns) < MORE * fabs(bars->whole);
    return ta_arena_printf(&diff->arena, "%s%s %s%s%s%s", say->text, say->joint ? say->joint : ":",
                           ta_unit_format(part, say->ns, TA_UNIT_NS_CHANGE), is_part ? " of " : "",
                           is_part ? ta_unit_format(whole, bars->whole, TA_UNIT_NS_CHANGE) : "",
                           what_is_made(bars));
}

/* "; text encode is gone: -20 ms", where that is much of the change. */
static const char *with_next(struct diff *diff, const struct diff_phase_bars *bars,
                             const char *text, const struct say *say, bool is_against)
{
    char ns[TA_UNIT_TEXT_MAX];
    if (!text || !say->text || !*say->text || fabs(say->ns) < ALSO * fabs(bars->whole))
        return text;
    return ta_arena_printf(&diff->arena, "%s; %s%s%s %s", text, is_against ? "against it " : "",
                           say->text, say->joint && !is_against ? say->joint : ":",
                           ta_unit_format(ns, say->ns, TA_UNIT_NS_CHANGE));
}

/* " with smaller images (1024×1024 → 512×512)", " with batches of 4 instead of 1": what the program
 * was asked for, which no one may take for a faster or slower program. */
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
    return ta_arena_printf(&diff->arena, " with %s%s%s", size ? size : "",
                           size && batch ? " and " : "", batch ? batch : "");
}

void diff_phases_say(struct diff *diff, const struct diff_phase_bars *bars)
{
    const struct says says = find_says(diff, bars);
    const char *task = task_of(diff, bars);
    diff->phases = (struct diff_phase_story){.task = task};
    if (!*says.at[0].text || fabs(says.at[0].ns) < MOST * fabs(bars->whole))
        return;
    const char *text = with_part(diff, bars, &says.at[0]);
    text = with_next(diff, bars, text, &says.at[1], false);
    diff->phases.text = with_next(diff, bars, text, &says.against, true);
    diff->phases.is_of_time = says.at[0].is_of_time && !task;
}
