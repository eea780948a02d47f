/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.phases, diff.loop: what changed of a program that generates images or videos by diffusion,
 * phase by phase, and what of it the first line says.
 *
 * The window of the program is the sum of its phases and of the rest, on both sides, so that the
 * changes add up to the change of the window.  A phase changes by how often it happens, n, and
 * by the time that each takes, m, as in waterfall.c:
 *
 *     count effect  (n' - n) (m + m') / 2        rate effect  (m' - m) (n + n') / 2
 *
 * Of denoising n are steps.  Passes of the denoiser that a cache shortens change the mean although
 * neither kind of pass became any faster: that part of the rate effect is the mix effect,
 *
 *     (n + n') / 2 · forwards per step · Σ (w' - w) (m + m') / 2
 *
 * of the shares w and means m of full and shortened passes. */
#include "compare/compare.h"
#include "report/report.h"
#include "report/unit.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */

enum { PHASE, BASE, NEW, DELTA, CHANGE, COUNT_EFFECT, MIX_EFFECT, RATE_EFFECT, BASE_N, NEW_N };

/* clang-format on */

static const struct ta_column phases_columns[] = {
    [PHASE] = {"phase", "Phase", TA_TEXT,
               .doc = "Phase of the diffusion; unknown: the rest of the window; at once: less what "
                      "two phases have at once"},
    [BASE] = {"base_ns", "Before", TA_NS, .better = TA_LOWER,
              .doc = "Time in the window of the baseline"},
    [NEW] = {"new_ns", "After", TA_NS, .better = TA_LOWER,
             .doc = "Time in the window of the other run"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "After minus before; the rows add up to the change of the program's window"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
                .doc = "Change over before"},
    [COUNT_EFFECT] = {"count_effect_ns", "By calls", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                      .better = TA_LOWER,
                      .doc = "Part of the change that comes from more or fewer denoising steps, or "
                             "calls of another model"},
    [MIX_EFFECT] = {"mix_effect_ns", "By shortened passes", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                    .better = TA_LOWER,
                    .doc = "Part of it that comes from more or fewer passes of the denoiser that "
                           "do less than the others, as with a step cache"},
    [RATE_EFFECT] = {"rate_effect_ns", "By time per call", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                     .better = TA_LOWER,
                     .doc = "The rest of it: steps or calls that take longer or shorter"},
    [BASE_N] = {"base_calls", "Calls before", TA_COUNT, .doc = "Denoising steps, or calls, before"},
    [NEW_N] = {"new_calls", "Calls after", TA_COUNT, .doc = "Denoising steps, or calls, after"},
};

static const struct ta_table_def phases = {
    "diff.phases", "What changed by phase", TA_COLUMNS(phases_columns),
    .doc = "Of the rank with the longest window of each run.",
    .brief = &(const struct ta_brief){.place = 15,
                                      .rows = 8,
                                      .first = {&phases_columns[BASE], &phases_columns[NEW],
                                                &phases_columns[DELTA], &phases_columns[CHANGE],
                                                &phases_columns[BASE_N], &phases_columns[NEW_N]}}};

enum { LOOP_WHAT, LOOP_BASE, LOOP_NEW };

static const struct ta_column loop_columns[] = {
    [LOOP_WHAT] = {"what", "What", TA_WORD,
                   .doc = "images, blocks, steps, forwards (passes of the denoiser), full_forwards "
                          "(that nothing shortened), forwards_per_step, layers"},
    [LOOP_BASE] = {"base", "Before", TA_COUNT, .doc = "How many before; null where not known"},
    [LOOP_NEW] = {"new", "After", TA_COUNT, .doc = "How many after"},
};

static const struct ta_ref loop_counts[] = {{.table = "diff.loop", .column = "base"},
                                            {.table = "diff.loop", .column = "new"}};

static bool is_other_loop(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, 0); row++)
        if (ta_ref_number(in, 0, row, -1) != ta_ref_number(in, 1, row, -1))
            return true;
    return false;
}

static const struct ta_table_def loop = {
    "diff.loop", "Denoising loop compared", TA_COLUMNS(loop_columns),
    .doc = "How the denoising loops of both runs nest, on the rank with the longest window.",
    .brief = &(const struct ta_brief){
        .place = 16, .rows = 8, .applies = is_other_loop, TA_READS(loop_counts)}};

/* ---- a side ---------------------------------------------------------------------------------- */

enum { PHASES_MOST = 16 };

struct phase {
    struct ta_slice name;
    int64_t n, ns; /* n: steps of denoising, calls of others; 0: not known */
};

/* Passes of the denoiser: full ones, and shortened ones. */
struct passes {
    double n[2], ns[2];
};

struct side {
    int64_t rank, window;
    struct phase phases[PHASES_MOST];
    size_t n;
    int64_t images, blocks, steps, forwards, per_step, layers, full; /* TA_MISSING: not known */
    bool is_whole; /* each image is denoised and decoded */
    struct passes passes;
};

static const struct ta_slice denoise = {"denoise", 7}, unknown = {"unknown", 7},
                             at_once = {"at once", 7};

/* Rows of the window that are no phase. */
static bool is_rest(struct ta_slice name)
{
    return ta_slice_equal(name, unknown) || ta_slice_equal(name, at_once);
}

/* Of the ranks with phases the one whose window is longest; false without any. */
static bool find_rank(const struct ta_refs *in, struct side *side)
{
    *side = (struct side){.rank = TA_MISSING};
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_RANK_WINDOW); i++) {
        const int64_t rank = ta_ref_rank(in, TA_AS_RANK_WINDOW, i);
        const int64_t window = ta_ref_integer(in, TA_AS_RANK_WINDOW, i);
        bool has_phases = false;
        for (size_t p = 0; p < ta_ref_rows(in, TA_AS_PHASE) && !has_phases; p++)
            has_phases = ta_ref_rank(in, TA_AS_PHASE, p) == rank;
        if (has_phases && window != TA_MISSING && window > side->window) {
            side->rank = rank;
            side->window = window;
        }
    }
    return side->window > 0;
}

static void read_loop(const struct ta_refs *in, struct side *side)
{
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_LOOP_STEPS); i++) {
        if (ta_ref_rank(in, TA_AS_LOOP_STEPS, i) != side->rank)
            continue;
        side->images = ta_ref_integer(in, TA_AS_LOOP_IMAGES, i);
        side->blocks = ta_ref_integer(in, TA_AS_LOOP_BLOCKS, i);
        side->steps = ta_ref_integer(in, TA_AS_LOOP_STEPS, i);
        side->forwards = ta_ref_integer(in, TA_AS_LOOP_FORWARDS, i);
        side->per_step = ta_ref_integer(in, TA_AS_LOOP_PER_STEP, i);
        side->layers = ta_ref_integer(in, TA_AS_LOOP_LAYERS, i);
        side->full = ta_ref_integer(in, TA_AS_LOOP_FULL, i);
        side->is_whole = ta_ref_number(in, TA_AS_LOOP_IMAGE_TIME, i, 0) > 0;
        return;
    }
}

static void read_passes(const struct ta_refs *in, struct side *side)
{
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_MODEL_CALL); i++) {
        if (ta_ref_rank(in, TA_AS_MODEL_CALL, i) != side->rank ||
            !ta_slice_equal(ta_ref_text(in, TA_AS_MODEL_CALL, i), denoise))
            continue;
        const bool is_short = ta_ref_number(in, TA_AS_MODEL_CALL_KIND, i, 0) > 0;
        const double host = ta_ref_number(in, TA_AS_MODEL_CALL_HOST, i, 0);
        side->passes.n[is_short]++;
        side->passes.ns[is_short] += ta_ref_number(in, TA_AS_MODEL_CALL_GPU, i, host);
    }
}

static void read_phases(const struct ta_refs *in, struct side *side)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_PHASE) && side->n + 1 < PHASES_MOST; i++) {
        const struct ta_slice name = ta_ref_text(in, TA_AS_PHASE, i);
        if (ta_ref_rank(in, TA_AS_PHASE, i) != side->rank)
            continue;
        struct phase *phase = &side->phases[side->n++];
        *phase = (struct phase){.name = name,
                                .n = diff_amount(in, TA_AS_PHASE_CALLS, i),
                                .ns = diff_amount(in, TA_AS_PHASE_TIME, i)};
        if (ta_slice_equal(name, denoise) && side->steps > 0)
            phase->n = side->steps;
        sum = ta_add_sat(sum, phase->ns);
    }
    if (sum != side->window)
        side->phases[side->n++] = (struct phase){.name = at_once, .ns = side->window - sum};
}

static bool read_side(const struct ta_refs *in, struct side *side)
{
    if (!find_rank(in, side))
        return false;
    read_loop(in, side);
    read_passes(in, side);
    read_phases(in, side);
    return true;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* A phase of both sides; n is 0 where a side has none of it. */
struct bar {
    struct ta_slice name;
    int64_t n[TA_DIFF_SIDES], ns[TA_DIFF_SIDES];
    double count, mix, rate; /* effects, of the whole run or of an image; their sum: */
    double change;
};

struct bars {
    struct bar at[2 * PHASES_MOST];
    size_t n;
    const struct side *sides;
    double images[TA_DIFF_SIDES]; /* 1 where the runs have as many */
    double whole;                 /* the change of the window, or of an image's part of it */
};

static struct bar *bar_of(struct bars *bars, struct ta_slice name)
{
    for (size_t i = 0; i < bars->n; i++)
        if (ta_slice_equal(bars->at[i].name, name))
            return &bars->at[i];
    bars->at[bars->n] = (struct bar){.name = name};
    return &bars->at[bars->n++];
}

/* Of the mean of a pass, what the mix of full and shortened ones changes. */
static double mix_of_passes(const struct passes *base, const struct passes *new)
{
    double mix = 0;
    const double all = base->n[0] + base->n[1], now = new->n[0] + new->n[1];
    if (all == 0 || now == 0)
        return 0;
    for (int kind = 0; kind < 2; kind++) {
        const double before = base->n[kind] > 0 ? base->ns[kind] / base->n[kind] : (double)NAN;
        const double after = new->n[kind] > 0 ? new->ns[kind] / new->n[kind] : (double)NAN;
        /* Of a kind of one side alone nothing became longer. */
        const double m = isnan(before) ? after : before, mm = isnan(after) ? before : after;
        if (!isnan(m))
            mix += (new->n[kind] / now - base->n[kind] / all) * (m + mm) / 2;
    }
    return mix;
}

static void find_effects(const struct bars *bars, struct bar *bar)
{
    double n[TA_DIFF_SIDES], ns[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        n[side] = (double)bar->n[side] / bars->images[side];
        ns[side] = (double)bar->ns[side] / bars->images[side];
    }
    const double more = n[TA_DIFF_NEW] - n[TA_DIFF_BASE];
    bar->change = ns[TA_DIFF_NEW] - ns[TA_DIFF_BASE];
    if (n[TA_DIFF_BASE] > 0 && n[TA_DIFF_NEW] > 0)
        bar->count =
            more * (ns[TA_DIFF_BASE] / n[TA_DIFF_BASE] + ns[TA_DIFF_NEW] / n[TA_DIFF_NEW]) / 2;
    else if (!is_rest(bar->name))
        bar->count = bar->change;
    bar->rate = bar->change - bar->count;
    if (!ta_slice_equal(bar->name, denoise))
        return;
    const struct side *base = &bars->sides[TA_DIFF_BASE], *new = &bars->sides[TA_DIFF_NEW];
    if (base->steps <= 0 || new->steps <= 0)
        return;
    const double forwards = ((double)base->forwards / (double)base->steps +
                             (double)new->forwards / (double)new->steps) /
                            2;
    bar->mix = mix_of_passes(&base->passes, &new->passes) * forwards *
               (n[TA_DIFF_BASE] + n[TA_DIFF_NEW]) / 2;
    bar->rate -= bar->mix;
}

static int by_change(const void *left, const void *right)
{
    const struct bar *a = left, *b = right;
    const double x = fabs(a->change), y = fabs(b->change);
    return x != y ? (x < y) - (x > y) : ta_slice_compare(a->name, b->name);
}

static void make_bars(struct bars *bars)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < bars->sides[side].n; i++) {
            const struct phase *phase = &bars->sides[side].phases[i];
            struct bar *bar = bar_of(bars, phase->name);
            bar->n[side] += phase->n;
            bar->ns[side] += phase->ns;
        }
    for (size_t i = 0; i < bars->n; i++)
        find_effects(bars, &bars->at[i]);
    qsort(bars->at, bars->n, sizeof *bars->at, by_change);
    bars->whole = (double)bars->sides[TA_DIFF_NEW].window / bars->images[TA_DIFF_NEW] -
                  (double)bars->sides[TA_DIFF_BASE].window / bars->images[TA_DIFF_BASE];
}

/* ---- tables ---------------------------------------------------------------------------------- */

static struct ta_cell count_of(int64_t n)
{
    return n > 0 ? ta_int(n) : ta_null();
}

static void add_bar(struct ta_section_builder *out, const struct bars *bars, const struct bar *of)
{
    struct bars whole = *bars; /* of the runs, whatever an image has of it */
    struct bar bar = {.name = of->name, .n = {of->n[0], of->n[1]}, .ns = {of->ns[0], of->ns[1]}};
    whole.images[TA_DIFF_BASE] = whole.images[TA_DIFF_NEW] = 1;
    find_effects(&whole, &bar);
    const int64_t change = bar.ns[TA_DIFF_NEW] - bar.ns[TA_DIFF_BASE];
    const int64_t count = ta_whole(rint(bar.count)), mix = ta_whole(rint(bar.mix));
    TA_ROW(out, phases, [PHASE] = ta_text(bar.name), [BASE] = ta_int(bar.ns[TA_DIFF_BASE]),
           [NEW] = ta_int(bar.ns[TA_DIFF_NEW]), [DELTA] = ta_int(change),
           [CHANGE] = bar.ns[TA_DIFF_BASE] > 0 ? ta_share(change, bar.ns[TA_DIFF_BASE]) : ta_null(),
           [COUNT_EFFECT] = ta_int(count), [MIX_EFFECT] = ta_int(mix),
           [RATE_EFFECT] = ta_int(change - count - mix), [BASE_N] = count_of(bar.n[TA_DIFF_BASE]),
           [NEW_N] = count_of(bar.n[TA_DIFF_NEW]));
}

static void add_count(struct ta_section_builder *out, const char *what, int64_t base, int64_t new)
{
    if (base != TA_MISSING || new != TA_MISSING)
        TA_ROW(out, loop, [LOOP_WHAT] = ta_string(what), [LOOP_BASE] = ta_int(base),
               [LOOP_NEW] = ta_int(new));
}

static void add_loop(struct ta_section_builder *out, const struct side *base,
                     const struct side *new)
{
    add_count(out, "images", base->images, new->images);
    add_count(out, "blocks", base->blocks, new->blocks);
    add_count(out, "steps", base->steps, new->steps);
    add_count(out, "forwards", base->forwards, new->forwards);
    add_count(out, "full_forwards", base->full, new->full);
    add_count(out, "forwards_per_step", base->per_step, new->per_step);
    add_count(out, "layers", base->layers, new->layers);
}

/* ---- what the first line says ---------------------------------------------------------------- */

/* The least of the change that what is said explains, and a second thing. */
#define MOST 0.5
#define ALSO 0.2

/* Steps of an image, or of all where images have different numbers of them. */
static int64_t steps_of(const struct side *side)
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

static double mean_of(const struct bar *bar, int side)
{
    return (double)bar->ns[side] / (double)bar->n[side];
}

/* Guidance that came, went, or became a part of the batch. */
static bool has_other_passes(const struct bars *bars)
{
    const int64_t before = bars->sides[TA_DIFF_BASE].per_step;
    const int64_t after = bars->sides[TA_DIFF_NEW].per_step;
    return before > 0 && after > 0 && before != after;
}

static const char *of_step_time(struct diff *diff, const struct bars *bars, const struct bar *bar)
{
    const struct side *base = &bars->sides[TA_DIFF_BASE], *new = &bars->sides[TA_DIFF_NEW];
    const char *change = instead(diff, mean_of(bar, TA_DIFF_BASE), mean_of(bar, TA_DIFF_NEW));
    const char *each = steps_of(base) == steps_of(new)
                           ? ta_arena_printf(&diff->arena, "each of the %lld denoising steps",
                                             (long long)steps_of(new))
                           : "each denoising step";
    if (has_other_passes(bars))
        return ta_arena_printf(&diff->arena, "%s runs the denoiser %s instead of %s, and takes %s",
                               each, times(diff, new->per_step), times(diff, base->per_step),
                               change);
    return ta_arena_printf(&diff->arena, "%s takes %s", each, change);
}

static const char *of_steps(struct diff *diff, const struct bars *bars)
{
    const int64_t before = steps_of(&bars->sides[TA_DIFF_BASE]);
    const int64_t after = steps_of(&bars->sides[TA_DIFF_NEW]);
    return ta_arena_printf(&diff->arena, "%lld denoising step%s instead of %lld", (long long)after,
                           after == 1 ? "" : "s", (long long)before);
}

/* "20 of 28 passes of the denoiser are full ones, 28 of 28 before: a step cache". */
static const char *of_mix(struct diff *diff, const struct bars *bars)
{
    const struct side *base = &bars->sides[TA_DIFF_BASE], *new = &bars->sides[TA_DIFF_NEW];
    return ta_arena_printf(
        &diff->arena, "%.0f of %lld passes of the denoiser are shortened, as by a step cache, %s",
        new->passes.n[1], (long long)new->forwards,
        base->passes.n[1] > 0 ? ta_arena_printf(&diff->arena, "%.0f of %lld before",
                                                base->passes.n[1], (long long)base->forwards)
                              : "none before");
}

static const char *of_phase(struct diff *diff, const struct bar *bar)
{
    char ns[TA_UNIT_TEXT_MAX];
    const int64_t *n = bar->n;
    const int length = (int)bar->name.len;
    const char *name = bar->name.ptr;
    if (bar->ns[TA_DIFF_BASE] == 0)
        return ta_arena_printf(&diff->arena, "%.*s takes %s, and was not there before", length,
                               name, ta_unit_format(ns, (double)bar->ns[TA_DIFF_NEW], TA_UNIT_NS));
    if (bar->ns[TA_DIFF_NEW] == 0)
        return ta_arena_printf(&diff->arena, "%.*s, which took %s, is gone", length, name,
                               ta_unit_format(ns, (double)bar->ns[TA_DIFF_BASE], TA_UNIT_NS));
    if (n[TA_DIFF_BASE] != n[TA_DIFF_NEW] && fabs(bar->count) > fabs(bar->rate))
        return ta_arena_printf(&diff->arena, "%.*s calls its model %s instead of %s", length, name,
                               times(diff, n[TA_DIFF_NEW]), times(diff, n[TA_DIFF_BASE]));
    return ta_arena_printf(
        &diff->arena, "%.*s takes %s", length, name,
        instead(diff, (double)bar->ns[TA_DIFF_BASE], (double)bar->ns[TA_DIFF_NEW]));
}

/* Something that may be said, with what it explains. */
struct say {
    const char *text;
    double ns;
    bool is_of_time;
};

static void offer(struct say says[2], struct say say, double whole)
{
    if ((say.ns > 0) != (whole > 0) || !say.text)
        return;
    if (fabs(say.ns) > fabs(says[0].ns)) {
        says[1] = says[0];
        says[0] = say;
    } else if (fabs(say.ns) > fabs(says[1].ns)) {
        says[1] = say;
    }
}

/* The two that explain most. */
static void find_says(struct diff *diff, const struct bars *bars, struct say says[2])
{
    for (size_t i = 0; i < bars->n; i++) {
        const struct bar *bar = &bars->at[i];
        const bool is_both = bar->n[TA_DIFF_BASE] > 0 && bar->n[TA_DIFF_NEW] > 0;
        if (is_rest(bar->name))
            offer(says, (struct say){"", bar->change, true}, bars->whole);
        else if (!ta_slice_equal(bar->name, denoise) || !is_both)
            offer(says, (struct say){of_phase(diff, bar), bar->change, is_both}, bars->whole);
        else {
            offer(says, (struct say){of_steps(diff, bars), bar->count, false}, bars->whole);
            offer(says, (struct say){of_mix(diff, bars), bar->mix, false}, bars->whole);
            offer(says,
                  (struct say){of_step_time(diff, bars, bar), bar->rate, !has_other_passes(bars)},
                  bars->whole);
        }
    }
}

/* ": -560 ms of -600 ms an image". */
static const char *with_part(struct diff *diff, const struct bars *bars, const struct say *say)
{
    char part[TA_UNIT_TEXT_MAX], whole[TA_UNIT_TEXT_MAX];
    const bool is_image = bars->sides[TA_DIFF_BASE].is_whole && bars->sides[TA_DIFF_NEW].is_whole &&
                          (bars->images[TA_DIFF_BASE] > 1 || bars->sides[TA_DIFF_BASE].images == 1);
    const bool is_video = bars->sides[TA_DIFF_NEW].blocks > bars->sides[TA_DIFF_NEW].images;
    return ta_arena_printf(&diff->arena, "%s: %s of %s%s", say->text,
                           ta_unit_format(part, say->ns, TA_UNIT_NS_CHANGE),
                           ta_unit_format(whole, bars->whole, TA_UNIT_NS_CHANGE),
                           !is_image  ? ""
                           : is_video ? " a video"
                                      : " an image");
}

static void note(struct diff *diff, const struct bars *bars)
{
    struct say says[2] = {{"", 0, true}, {"", 0, true}};
    find_says(diff, bars, says);
    if (!*says[0].text || fabs(says[0].ns) < MOST * fabs(bars->whole))
        return;
    const char *text = with_part(diff, bars, &says[0]);
    if (text && *says[1].text && fabs(says[1].ns) >= ALSO * fabs(bars->whole)) {
        char ns[TA_UNIT_TEXT_MAX];
        text = ta_arena_printf(&diff->arena, "%s; %s: %s", text, says[1].text,
                               ta_unit_format(ns, says[1].ns, TA_UNIT_NS_CHANGE));
    }
    diff->phases = (struct diff_phase_story){.text = text, .is_of_time = says[0].is_of_time};
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    struct side sides[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_side(&diff->in[side], &sides[side]))
            return true;
    struct bars *bars = ta_arena_alloc(&diff->arena, sizeof *bars);
    if (!bars)
        return false;
    const bool by_image = sides[0].is_whole && sides[1].is_whole && sides[0].images > 0 &&
                          sides[1].images > 0 && sides[0].images != sides[1].images;
    *bars = (struct bars){
        .sides = sides,
        .images = {by_image ? (double)sides[0].images : 1, by_image ? (double)sides[1].images : 1}};
    make_bars(bars);
    for (size_t i = 0; i < bars->n; i++)
        add_bar(out, bars, &bars->at[i]);
    add_loop(out, &sides[TA_DIFF_BASE], &sides[TA_DIFF_NEW]);
    note(diff, bars);
    return true;
}

static const struct ta_table_def *const tables[] = {&phases, &loop, NULL};

const struct diff_part diff_of_phases = {
    .declares = {.name = "diff.phases", .tables = tables}, .section = "diff", .add = add};
