/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.phases, diff.loop: what changed of a program that generates images or videos by diffusion,
 * phase by phase.
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
 * of the shares w and means m of full and shortened passes.  Images of another size change the
 * mean, too: what the tokens or pixels explain is the size effect (sizes.h), at most the rest of
 * the rate effect. */
#include "compare/phases.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off */

enum {
    PHASE, BASE, NEW, DELTA, CHANGE, COUNT_EFFECT, MIX_EFFECT, SIZE_EFFECT, RATE_EFFECT, BASE_N,
    NEW_N
};

/* clang-format on */

static const struct ta_column phases_columns[] = {
    [PHASE] = {"phase", "Phase", TA_TEXT,
               .doc =
                   "Phase of the diffusion; outside the phases: the rest of the window; overlap of "
                   "phases: subtracts the time that two phases share"},
    [BASE] = {"base_ns", "Before", TA_NS, .better = TA_LOWER,
              .doc = "Time in the baseline's window"},
    [NEW] = {"new_ns", "After", TA_NS, .better = TA_LOWER, .doc = "Time in the other run's window"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "After minus before; the rows add up to the change of the program's window"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
                .doc = "Change divided by the time before"},
    [COUNT_EFFECT] =
        {"count_effect_ns", "Count effect", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
         .doc =
             "Part of the change due to more or fewer denoising steps, or calls of another model"},
    [MIX_EFFECT] = {"mix_effect_ns", "Cached-pass effect", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                    .better = TA_LOWER,
                    .doc = "Part of the change due to more or fewer denoiser passes that do less "
                           "work than the others, as with a step cache"},
    [SIZE_EFFECT] =
        {"size_effect_ns", "Size effect", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
         .doc =
             "Part of the change due to images or videos of another size or number: linear layers "
             "grow with the tokens, attention with their square, the VAE with the pixels"},
    [RATE_EFFECT] = {"rate_effect_ns", "Speed effect", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                     .better = TA_LOWER,
                     .doc = "Rest of the change: steps or calls that take longer or shorter"},
    [BASE_N] = {"base_calls", "Calls before", TA_COUNT,
                .doc = "Denoising steps, or calls, in the baseline"},
    [NEW_N] = {"new_calls", "Calls after", TA_COUNT,
               .doc = "Denoising steps, or calls, in the other run"},
};

static const struct ta_table_def phases = {
    "diff.phases", "What changed by phase", TA_COLUMNS(phases_columns),
    .doc = "What changed in each phase, on the rank with the longest window of each run.",
    .brief = &(const struct ta_brief){.place = 15,
                                      .rows = 8,
                                      .first = {&phases_columns[BASE], &phases_columns[NEW],
                                                &phases_columns[DELTA], &phases_columns[CHANGE],
                                                &phases_columns[BASE_N], &phases_columns[NEW_N]}}};

enum { LOOP_WHAT, LOOP_BASE, LOOP_NEW };

static const struct ta_column loop_columns[] = {
    [LOOP_WHAT] =
        {"what", "Loop level", TA_WORD,
         .doc = "images, blocks, steps, forwards (denoiser passes), full_forwards (not shortened "
                "by a cache), forwards_per_step, layers; width, height and frames of an image or "
                "video, batch (generated together), samples (per denoiser pass)"},
    [LOOP_BASE] = {"base", "Before", TA_COUNT, .doc = "Number in the baseline; empty if unknown"},
    [LOOP_NEW] = {"new", "After", TA_COUNT, .doc = "Number in the other run; empty if unknown"},
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
    "diff.loop",
    "Denoising loop compared",
    TA_COLUMNS(loop_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "How the denoising loops of both runs nest and what they generate, on the rank with the "
           "longest window.",
    .brief = &(const struct ta_brief){
        .place = 16, .rows = 12, .applies = is_other_loop, TA_READS(loop_counts)}};

/* ---- a side ---------------------------------------------------------------------------------- */

const struct ta_slice diff_denoising = {"denoise", 7};
static const struct ta_slice unknown = {"unknown", 7}, outside = {"outside the phases", 18},
                             overlap = {"overlap of phases, subtracted", 29};

bool diff_phase_is_rest(struct ta_slice name)
{
    return ta_slice_equal(name, outside) || ta_slice_equal(name, overlap);
}

/* Of the ranks with phases the one whose window is longest; false without any. */
static bool find_rank(const struct ta_refs *in, struct diff_phases_side *side)
{
    *side = (struct diff_phases_side){.rank = TA_MISSING};
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

static void read_loop(const struct ta_refs *in, struct diff_phases_side *side)
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

static void read_passes(const struct ta_refs *in, struct diff_phases_side *side)
{
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_MODEL_CALL); i++) {
        if (ta_ref_rank(in, TA_AS_MODEL_CALL, i) != side->rank ||
            !ta_slice_equal(ta_ref_text(in, TA_AS_MODEL_CALL, i), diff_denoising))
            continue;
        const bool is_short = ta_ref_number(in, TA_AS_MODEL_CALL_KIND, i, 0) > 0;
        const double host = ta_ref_number(in, TA_AS_MODEL_CALL_HOST, i, 0);
        side->passes.n[is_short]++;
        side->passes.ns[is_short] += ta_ref_number(in, TA_AS_MODEL_CALL_GPU, i, host);
    }
}

static void read_phases(const struct ta_refs *in, struct diff_phases_side *side)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_PHASE) && side->n + 1 < PHASES_MOST; i++) {
        const struct ta_slice name = ta_ref_text(in, TA_AS_PHASE, i);
        if (ta_ref_rank(in, TA_AS_PHASE, i) != side->rank)
            continue;
        struct diff_phase *phase = &side->phases[side->n++];
        *phase = (struct diff_phase){.name = ta_slice_equal(name, unknown) ? outside : name,
                                     .n = diff_amount(in, TA_AS_PHASE_CALLS, i),
                                     .ns = diff_amount(in, TA_AS_PHASE_TIME, i)};
        if (ta_slice_equal(name, diff_denoising) && side->steps > 0)
            phase->n = side->steps;
        sum = ta_add_sat(sum, phase->ns);
    }
    if (sum != side->window)
        side->phases[side->n++] = (struct diff_phase){.name = overlap, .ns = side->window - sum};
}

static bool read_side(const struct ta_refs *in, struct diff_phases_side *side)
{
    if (!find_rank(in, side))
        return false;
    side->size = diff_size_read(in, side->rank);
    read_loop(in, side);
    read_passes(in, side);
    read_phases(in, side);
    return true;
}

/* ---- both ------------------------------------------------------------------------------------ */

static struct diff_phase_bar *bar_of(struct diff_phase_bars *bars, struct ta_slice name)
{
    for (size_t i = 0; i < bars->n; i++)
        if (ta_slice_equal(bars->at[i].name, name))
            return &bars->at[i];
    bars->at[bars->n] = (struct diff_phase_bar){.name = name};
    return &bars->at[bars->n++];
}

/* Of the mean of a pass, what the mix of full and shortened ones changes. */
static double mix_of_passes(const struct diff_passes *base, const struct diff_passes *new)
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

/* What each phase follows. */
enum follows { FOLLOWS_NOTHING, FOLLOWS_BATCH, FOLLOWS_PIXELS, FOLLOWS_TOKENS };

static enum follows follows_of(struct ta_slice name)
{
    static const struct {
        const char *name;
        enum follows follows;
    } all[] = {{"text encode", FOLLOWS_BATCH},
               {"image encode", FOLLOWS_PIXELS},
               {"denoise", FOLLOWS_TOKENS},
               {"VAE decode", FOLLOWS_PIXELS},
               {"post-process", FOLLOWS_PIXELS}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (ta_slice_equal(name, ta_slice_of(all[i].name)))
            return all[i].follows;
    return FOLLOWS_NOTHING;
}

/* How many times as long a call takes, as far as sizes explain it. */
static double expected_ratio(const struct diff_phase_bars *bars, struct ta_slice name)
{
    const struct diff_size sizes[TA_DIFF_SIDES] = {bars->sides[TA_DIFF_BASE].size,
                                                   bars->sides[TA_DIFF_NEW].size};
    const enum follows follows = follows_of(name);
    double ratio = 1;
    if (follows == FOLLOWS_NOTHING)
        return 1;
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        const double batch = (double)diff_size_batch(sizes, side) / bars->batch[side];
        ratio = side == TA_DIFF_NEW ? ratio * batch : ratio / batch;
    }
    if (!diff_sizes_differ(sizes) || follows == FOLLOWS_BATCH)
        return ratio;
    return ratio * (follows == FOLLOWS_TOKENS ? diff_size_work(sizes) : diff_size_pixels(sizes));
}

/* Of a change of times per call what sizes explain: no more than all of it, and nothing of one that
 * goes the other way. */
static double size_effect(double expected, double change)
{
    if (change < 0)
        return fmin(0, fmax(expected, change));
    return fmax(0, fmin(expected, change));
}

static double mix_effect(const struct diff_phase_bars *bars, const struct diff_phase_bar *bar,
                         double n)
{
    const struct diff_phases_side *base = &bars->sides[TA_DIFF_BASE],
                                  *new = &bars->sides[TA_DIFF_NEW];
    if (!ta_slice_equal(bar->name, diff_denoising) || base->steps <= 0 || new->steps <= 0)
        return 0;
    const double forwards = ((double)base->forwards / (double)base->steps +
                             (double)new->forwards / (double)new->steps) /
                            2;
    return mix_of_passes(&base->passes, &new->passes) * forwards * n;
}

static void find_effects(const struct diff_phase_bars *bars, struct diff_phase_bar *bar)
{
    double n[TA_DIFF_SIDES], ns[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        n[side] = (double)bar->n[side] * bars->batch[side] / bars->images[side];
        ns[side] = (double)bar->ns[side] / bars->images[side];
    }
    bar->change = ns[TA_DIFF_NEW] - ns[TA_DIFF_BASE];
    if (!(n[TA_DIFF_BASE] > 0 && n[TA_DIFF_NEW] > 0)) {
        bar->count = diff_phase_is_rest(bar->name) ? 0 : bar->change;
        bar->rate = bar->change - bar->count;
        return;
    }
    const double base = ns[TA_DIFF_BASE] / n[TA_DIFF_BASE];
    const double new = ns[TA_DIFF_NEW] / n[TA_DIFF_NEW];
    const double calls = (n[TA_DIFF_BASE] + n[TA_DIFF_NEW]) / 2;
    bar->count = (n[TA_DIFF_NEW] - n[TA_DIFF_BASE]) * (base + new) / 2;
    bar->mix = mix_effect(bars, bar, calls);
    bar->rate = bar->change - bar->count - bar->mix;
    bar->size = size_effect((expected_ratio(bars, bar->name) - 1) * base * calls, bar->rate);
    bar->rate -= bar->size;
}

static int by_change(const void *left, const void *right)
{
    const struct diff_phase_bar *a = left, *b = right;
    const double x = fabs(a->change), y = fabs(b->change);
    return x != y ? (x < y) - (x > y) : ta_slice_compare(a->name, b->name);
}

static void make_bars(struct diff_phase_bars *bars)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < bars->sides[side].n; i++) {
            const struct diff_phase *phase = &bars->sides[side].phases[i];
            struct diff_phase_bar *bar = bar_of(bars, phase->name);
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

static void add_bar(struct ta_section_builder *out, const struct diff_phase_bars *bars,
                    const struct diff_phase_bar *of)
{
    struct diff_phase_bars whole = *bars; /* of the runs, whatever an image has of it */
    struct diff_phase_bar bar = {
        .name = of->name, .n = {of->n[0], of->n[1]}, .ns = {of->ns[0], of->ns[1]}};
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        whole.images[side] = whole.batch[side] = 1;
    find_effects(&whole, &bar);
    const int64_t change = bar.ns[TA_DIFF_NEW] - bar.ns[TA_DIFF_BASE];
    const int64_t count = ta_whole(rint(bar.count)), mix = ta_whole(rint(bar.mix)),
                  size = ta_whole(rint(bar.size));
    TA_ROW(out, phases, [PHASE] = ta_text(bar.name), [BASE] = ta_int(bar.ns[TA_DIFF_BASE]),
           [NEW] = ta_int(bar.ns[TA_DIFF_NEW]), [DELTA] = ta_int(change),
           [CHANGE] = bar.ns[TA_DIFF_BASE] > 0 ? ta_share(change, bar.ns[TA_DIFF_BASE]) : ta_null(),
           [COUNT_EFFECT] = ta_int(count), [MIX_EFFECT] = ta_int(mix), [SIZE_EFFECT] = ta_int(size),
           [RATE_EFFECT] = ta_int(change - count - mix - size),
           [BASE_N] = count_of(bar.n[TA_DIFF_BASE]), [NEW_N] = count_of(bar.n[TA_DIFF_NEW]));
}

static void add_count(struct ta_section_builder *out, const char *what, int64_t base, int64_t new)
{
    if (base != TA_MISSING || new != TA_MISSING)
        TA_ROW(out, loop, [LOOP_WHAT] = ta_string(what), [LOOP_BASE] = ta_int(base),
               [LOOP_NEW] = ta_int(new));
}

static void add_loop(struct ta_section_builder *out, const struct diff_phases_side *base,
                     const struct diff_phases_side *new)
{
    add_count(out, "images", base->images, new->images);
    add_count(out, "width", base->size.width, new->size.width);
    add_count(out, "height", base->size.height, new->size.height);
    add_count(out, "frames", base->size.frames, new->size.frames);
    add_count(out, "batch", base->size.batch, new->size.batch);
    add_count(out, "samples", base->size.samples, new->size.samples);
    add_count(out, "blocks", base->blocks, new->blocks);
    add_count(out, "steps", base->steps, new->steps);
    add_count(out, "forwards", base->forwards, new->forwards);
    add_count(out, "full_forwards", base->full, new->full);
    add_count(out, "forwards_per_step", base->per_step, new->per_step);
    add_count(out, "layers", base->layers, new->layers);
}

/* What effects are of: an image, where both runs make whole images and other numbers of them. */
static void find_images(struct diff_phase_bars *bars)
{
    const struct diff_phases_side *sides = bars->sides;
    const struct diff_size sizes[TA_DIFF_SIDES] = {sides[TA_DIFF_BASE].size,
                                                   sides[TA_DIFF_NEW].size};
    double images[TA_DIFF_SIDES], batch[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        if (!sides[side].is_whole || sides[side].images <= 0)
            return;
        batch[side] = (double)diff_size_batch(sizes, side);
        images[side] = (double)sides[side].images * batch[side];
    }
    const bool is_other_batch = batch[TA_DIFF_BASE] != batch[TA_DIFF_NEW];
    if (!is_other_batch && images[TA_DIFF_BASE] == images[TA_DIFF_NEW])
        return;
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        bars->images[side] = images[side];
        bars->batch[side] = batch[side];
    }
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    struct diff_phases_side sides[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_side(&diff->in[side], &sides[side]))
            return true;
    struct diff_phase_bars *bars = ta_arena_alloc(&diff->arena, sizeof *bars);
    if (!bars)
        return false;
    *bars = (struct diff_phase_bars){.sides = sides, .images = {1, 1}, .batch = {1, 1}};
    find_images(bars);
    make_bars(bars);
    for (size_t i = 0; i < bars->n; i++)
        add_bar(out, bars, &bars->at[i]);
    add_loop(out, &sides[TA_DIFF_BASE], &sides[TA_DIFF_NEW]);
    diff_phases_say(diff, bars);
    return true;
}

static const struct ta_table_def *const tables[] = {&phases, &loop, NULL};

const struct diff_part diff_of_phases = {
    .declares = {.name = "diff.phases", .tables = tables}, .section = "diff", .add = add};
