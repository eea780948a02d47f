/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long an image or a block of a video takes, which phases take it, and what bounds the longest:
 * "1.20 s per 1024×1024 image (0.837/s): 4 denoising steps of 244 ms are 83.4 %, bound by bf16
 * GEMMs (29.6 %) and attention (17.1 %); text encoding 122 ms (86.7 ms of it idle), VAE
 * decoding 49.9 ms." All shares are of the program's window.  Of several ranks the one whose images
 * take longest speaks.  Where a finding says what is wrong, that is said instead. */
#include "lib/kernel_words.h"
#include "lib/lead.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum {
    RANK,
    IMAGES,
    BLOCKS,
    STEPS,
    PERIOD,
    IMAGE_NS,
    BATCH,
    WIDTH,
    HEIGHT,
    FRAMES,
    AT_ONCE,
    PHASE_RANK,
    PHASE,
    TIME,
    SHARE,
    IDLE,
    WINDOW,
    KERNEL_RANK,
    KERNEL_PHASE,
    KERNEL_CLASS,
    KERNEL_NS,
    PRECISION_CLASS,
    PRECISION,
    PRECISION_SHARE,
    BOUND
};
static const struct ta_ref reads[] = {
    [RANK] = {"diffusion.loops", "rank"},
    [IMAGES] = {"diffusion.loops", "images"},
    [BLOCKS] = {"diffusion.loops", "blocks"},
    [STEPS] = {"diffusion.loops", "steps"},
    [PERIOD] = {"diffusion.loops", "step_period_ns"},
    [IMAGE_NS] = {"diffusion.loops", "image_ns"},
    [BATCH] = {"diffusion.loops", "batch"},
    [WIDTH] = {"diffusion.loops", "width"},
    [HEIGHT] = {"diffusion.loops", "height"},
    [FRAMES] = {"diffusion.loops", "frames"},
    [AT_ONCE] = {"diffusion.loops", "at_once"},
    [PHASE_RANK] = {"phases.by_rank", "rank"},
    [PHASE] = {"phases.by_rank", "phase"},
    [TIME] = {"phases.by_rank", "time_ns"},
    [SHARE] = {"phases.by_rank", "share"},
    [IDLE] = {"phases.by_rank", "gpu_idle_ns"},
    [WINDOW] = {.scalar = "program_window_ns"},
    [KERNEL_RANK] = {"phases.kernels", "rank"},
    [KERNEL_PHASE] = {"phases.kernels", "phase"},
    [KERNEL_CLASS] = {"phases.kernels", "class"},
    [KERNEL_NS] = {"phases.kernels", "total_ns"},
    [PRECISION_CLASS] = {"kernels.precision", "class"},
    [PRECISION] = {"kernels.precision", "precision"},
    [PRECISION_SHARE] = {"kernels.precision", "share"},
    [BOUND] = {"run.bound", "bound"},
};

/* Phases in a sentence; denoising, without a name, is said by its steps. */
static const struct {
    const char *phase, *name;
} names[] = {{"denoise", NULL},
             {"load", "loading"},
             {"text encode", "text encoding"},
             {"image encode", "image encoding"},
             {"VAE decode", "VAE decoding"},
             {"post-process", "post-processing"}};

/* Less of the window is left out; of idle time, less of a phase. */
#define SMALL 0.02
#define MUCH_IDLE 0.3
/* Phases that nothing was found for are said from here on. */
#define MUCH_UNKNOWN 0.1
/* Families of kernels with less of the window are left out; the largest two bound a phase of which
 * they take this much. */
#define FAMILY 0.05
#define MOST 0.5
#define NEARLY_ALL 0.9

/* The row of the rank that is slowest, and whether others differ from it. */
static size_t slowest(const struct ta_refs *in, bool *differ)
{
    const size_t ref = isnan(ta_ref_number(in, IMAGE_NS, 0, NAN)) ? PERIOD : IMAGE_NS;
    size_t most = 0;
    double least = INFINITY;
    for (size_t i = 0; i < ta_ref_rows(in, RANK); i++) {
        const double time = ta_ref_number(in, ref, i, 0);
        most = time > ta_ref_number(in, ref, most, 0) ? i : most;
        least = fmin(least, time);
    }
    *differ = ta_ref_number(in, ref, most, 0) > 1.05 * least;
    return most;
}

/* "1024×1024 image", "832×480 video of 81 frames", "batch of 4 1024×1024 images", "block". */
static void say_what(struct ta_line *line, const struct ta_refs *in, size_t row, bool has_blocks)
{
    const double batch = ta_ref_number(in, BATCH, row, 1), width = ta_ref_number(in, WIDTH, row, 0);
    const double frames = ta_ref_number(in, FRAMES, row, 1);
    if (has_blocks) {
        ta_say_on(line, "block");
        return;
    }
    if (batch > 1)
        ta_say_on(line, "batch of %.0f ", batch);
    if (width > 0)
        ta_say_on(line, "%.0f×%.0f ", width, ta_ref_number(in, HEIGHT, row, 0));
    ta_say_on(line, "%s%s", frames > 1 ? "video" : "image", batch > 1 ? "s" : "");
    if (frames > 1)
        ta_say_on(line, " of %.0f frames", frames);
}

/* "1.20 s per 1024×1024 image (0.84/s):", "47.6 ms per block (21.0/s):", or nothing where images
 * are not whole.  Returns of how many images or blocks times are said. */
static double say_rate(struct ta_line *line, const struct ta_refs *in, size_t row)
{
    const double images = ta_ref_number(in, IMAGES, row, 1),
                 blocks = ta_ref_number(in, BLOCKS, row, 1);
    const double image = ta_ref_number(in, IMAGE_NS, row, NAN);
    const bool has_blocks = blocks > images;
    if (isnan(image)) {
        ta_say(line, "%s", "");
        return 1;
    }
    const double n = has_blocks ? blocks : images, time = image * images / n;
    const double batch = has_blocks ? 1 : ta_ref_number(in, BATCH, row, 1);
    char length[TA_UNIT_TEXT_MAX];
    ta_say(line, "%s per ", ta_unit_format(length, time, TA_UNIT_NS));
    say_what(line, in, row, has_blocks);
    const double at_once = ta_ref_number(in, AT_ONCE, row, 1);
    ta_say_on(line, " (%.3g/s", batch * 1e9 / time);
    if (at_once > 1)
        ta_say_on(line, ", %.0f at a time in turns", at_once);
    ta_say_on(line, "): ");
    return n;
}

/* "83.4 %", and of what, where nothing before it says that. */
static void say_share(struct ta_line *line, const struct ta_refs *in, size_t phase, bool has_rate)
{
    char share[TA_UNIT_TEXT_MAX], window[TA_UNIT_TEXT_MAX];
    ta_say_on(line, "%s", ta_unit_format(share, ta_ref_number(in, SHARE, phase, 0), TA_UNIT_RATIO));
    if (!has_rate)
        ta_say_on(line, " of %s", ta_unit_format(window, ta_ref_scalar(in, WINDOW, 0), TA_UNIT_NS));
}

/* "86.7 ms of it idle": where that is much of a phase; returns whether it is. */
static bool say_idle(struct ta_line *line, const struct ta_refs *in, size_t phase, double n,
                     const char *before)
{
    char text[TA_UNIT_TEXT_MAX];
    const double ns = ta_ref_number(in, TIME, phase, 0), rest = ta_ref_number(in, IDLE, phase, 0);
    if (!(rest > MUCH_IDLE * ns))
        return false;
    if (rest > NEARLY_ALL * ns)
        ta_say_on(line, "%sidle", before);
    else
        ta_say_on(line, "%s%s of it idle", before, ta_unit_format(text, rest / n, TA_UNIT_NS));
    return true;
}

/* "4 denoising steps of 244 ms are " of a time in which `n` images or blocks are made; `uneven`
 * where these differ in steps. */
static void say_steps(struct ta_line *line, const struct ta_refs *in, size_t row, double n,
                      const char *uneven, const char *are)
{
    char period[TA_UNIT_TEXT_MAX];
    const double steps = ta_ref_number(in, STEPS, row, 0) / n;
    const double step = ta_ref_number(in, PERIOD, row, NAN);
    const bool in_turns = ta_ref_number(in, AT_ONCE, row, 0) != 1;
    if (isnan(step) || steps != floor(steps) || in_turns)
        ta_say_on(line, "%s", uneven);
    else
        ta_say_on(line, "%.0f denoising steps of %s%s", steps,
                  ta_unit_format(period, step, TA_UNIT_NS), are);
}

/* What of a class of kernel has inputs of the type of a row. */
static double share_of_type(const struct ta_refs *in, size_t row)
{
    double share = 0;
    for (size_t i = 0; i < ta_ref_rows(in, PRECISION); i++)
        if (ta_slice_equal(ta_ref_text(in, PRECISION, i), ta_ref_text(in, PRECISION, row)) &&
            ta_slice_equal(ta_ref_text(in, PRECISION_CLASS, i),
                           ta_ref_text(in, PRECISION_CLASS, row)))
            share += ta_ref_number(in, PRECISION_SHARE, i, 0);
    return share;
}

/* "bf16 ", where nearly all kernels of a class have inputs of this type. */
static void say_type(struct ta_line *line, const struct ta_refs *in, const char *class)
{
    for (size_t i = 0; i < ta_ref_rows(in, PRECISION); i++) {
        const struct ta_slice type = ta_ref_text(in, PRECISION, i);
        if (!ta_ref_reads(in, PRECISION_CLASS, i, class) ||
            ta_slice_equal(type, TA_LIT("unknown")) || share_of_type(in, i) < NEARLY_ALL)
            continue;
        ta_say_on(line, "%.*s ", (int)type.len, type.ptr);
        return;
    }
}

/* ", bound by bf16 GEMMs (29.6 %) and attention (17.1 %)": the one or two families of kernels that
 * take most of a phase. */
static void say_bound(struct ta_line *line, const struct ta_refs *in, double rank, size_t phase)
{
    const double window = ta_ref_number(in, TIME, phase, 0) / ta_ref_number(in, SHARE, phase, NAN);
    size_t rows[2], n = 0;
    double all = 0;
    for (size_t i = 0; i < ta_ref_rows(in, KERNEL_CLASS) && n < TA_LENGTH(rows); i++)
        if (ta_ref_number(in, KERNEL_RANK, i, -1) == rank &&
            ta_kernel_word_of(in, KERNEL_CLASS, i) &&
            ta_slice_equal(ta_ref_text(in, KERNEL_PHASE, i), ta_ref_text(in, PHASE, phase)) &&
            ta_ref_number(in, KERNEL_NS, i, 0) >= FAMILY * window) {
            all += ta_ref_number(in, KERNEL_NS, i, 0);
            rows[n++] = i;
        }
    if (all < MOST * ta_ref_number(in, TIME, phase, 0))
        return;
    for (size_t i = 0; i < n; i++) {
        char share[TA_UNIT_TEXT_MAX];
        const struct ta_kernel_word *family = ta_kernel_word_of(in, KERNEL_CLASS, rows[i]);
        ta_say_on(line, i ? " and " : ", bound by ");
        if (strcmp(family->class, "gemm") == 0)
            say_type(line, in, family->class);
        ta_say_on(line, "%s (%s)", family->name,
                  ta_unit_format(share, ta_ref_number(in, KERNEL_NS, rows[i], 0) / window,
                                 TA_UNIT_RATIO));
    }
}

/* The longest phase: "4 denoising steps of 244 ms are 83.4 %, bound by …", "text encoding is 62.8 %
 * (1.66 s, idle)". */
static void say_first(struct ta_line *line, const struct ta_refs *in, size_t row, size_t phase,
                      const char *name, double n, bool has_rate)
{
    char time[TA_UNIT_TEXT_MAX];
    if (name) /* the first word of the sentence where no rate is said */
        ta_say_on(line, "%c%s is ", has_rate ? name[0] : toupper(name[0]), name + 1);
    else
        say_steps(line, in, row, n, has_rate ? "denoising is " : "Denoising is ", " are ");
    say_share(line, in, phase, has_rate);
    if (name) {
        ta_say_on(line, " (%s",
                  ta_unit_format(time, ta_ref_number(in, TIME, phase, 0) / n, TA_UNIT_NS));
        say_idle(line, in, phase, n, ", ");
        ta_say_on(line, ")");
    }
    say_bound(line, in, ta_ref_number(in, RANK, row, 0), phase);
}

/* The others: "text encoding 122 ms (86.7 ms of it idle)", "4 denoising steps of 244 ms". */
static void say_other(struct ta_line *line, const struct ta_refs *in, size_t row, size_t phase,
                      const char *name, double n)
{
    char time[TA_UNIT_TEXT_MAX], uneven[TA_UNIT_TEXT_MAX + 16];
    ta_unit_format(time, ta_ref_number(in, TIME, phase, 0) / n, TA_UNIT_NS);
    snprintf(uneven, sizeof uneven, "denoising %s", time);
    if (name)
        ta_say_on(line, "%s %s", name, time);
    else
        say_steps(line, in, row, n, uneven, "");
    if (say_idle(line, in, phase, n, " ("))
        ta_say_on(line, ")");
}

static size_t find_phase(const struct ta_refs *in, double rank, const char *name)
{
    for (size_t i = 0; i < ta_ref_rows(in, PHASE); i++)
        if (ta_ref_number(in, PHASE_RANK, i, -1) == rank && ta_ref_reads(in, PHASE, i, name))
            return i;
    return SIZE_MAX;
}

/* The phases of a rank that are not small, the largest first; at most as many as have a name. */
static size_t largest_phases(const struct ta_refs *in, double rank, size_t *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < TA_LENGTH(names); i++) {
        const size_t row = find_phase(in, rank, names[i].phase);
        if (row == SIZE_MAX || ta_ref_number(in, SHARE, row, 0) < SMALL)
            continue;
        size_t at = n++;
        for (;
             at > 0 && ta_ref_number(in, SHARE, rows[at - 1], 0) < ta_ref_number(in, SHARE, row, 0);
             at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
    return n;
}

static const char *name_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(names); i++)
        if (ta_ref_reads(in, PHASE, row, names[i].phase))
            return names[i].name;
    return NULL;
}

/* What no phase was found for, where it is much. */
static void say_unknown(struct ta_line *line, const struct ta_refs *in, double rank)
{
    char share[TA_UNIT_TEXT_MAX];
    const size_t row = find_phase(in, rank, "unknown");
    if (row != SIZE_MAX && ta_ref_number(in, SHARE, row, 0) >= MUCH_UNKNOWN)
        ta_say_on(line, "; %s is in no phase",
                  ta_unit_format(share, ta_ref_number(in, SHARE, row, 0), TA_UNIT_RATIO));
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    if (ta_ref_rows(in, RANK) == 0)
        return;
    bool differ;
    const size_t row = slowest(in, &differ);
    const double rank = ta_ref_number(in, RANK, row, 0);
    size_t phases[TA_LENGTH(names)];
    const size_t n_phases = largest_phases(in, rank, phases);
    if (n_phases == 0 ||
        (ta_finding_suffices(in, BOUND, worst) && ta_ref_scalar(in, WINDOW, -1) >= 0))
        return;
    const double n = say_rate(line, in, row);
    const bool has_rate = !isnan(ta_ref_number(in, IMAGE_NS, row, NAN));
    say_first(line, in, row, phases[0], name_of(in, phases[0]), n, has_rate);
    for (size_t i = 1; i < n_phases; i++) {
        ta_say_on(line, i > 1 ? ", " : "; ");
        say_other(line, in, row, phases[i], name_of(in, phases[i]), n);
    }
    say_unknown(line, in, rank);
    if (differ)
        ta_say_on(line, ", on rank %.0f, the slowest", rank);
    ta_say_on(line, ".");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_DEVICES, .place = 0, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, diffusion, &ops, .title = "Diffusion",
          .summary = "Time of an image or block, and of its phases", .version = "1");
