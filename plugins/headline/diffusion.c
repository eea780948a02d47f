/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long an image or a block of a video takes, and which phases take it: the denoising steps
 * first. Of several ranks the one whose images take longest speaks. */
#include <traceanalyze/headline.h>

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
    PHASE_RANK,
    PHASE,
    TIME,
    SHARE,
    IDLE,
    WINDOW
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
    [PHASE_RANK] = {"phases.by_rank", "rank"},
    [PHASE] = {"phases.by_rank", "phase"},
    [TIME] = {"phases.by_rank", "time_ns"},
    [SHARE] = {"phases.by_rank", "share"},
    [IDLE] = {"phases.by_rank", "gpu_idle_ns"},
    [WINDOW] = {.scalar = "program_window_ns"},
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
#define MUCH_IDLE 0.5

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

/* "image", "image of 1024×1024", "batch of 4 images of 1024×1024", "block". */
static void say_what(struct ta_line *line, const struct ta_refs *in, size_t row, bool has_blocks)
{
    const double batch = ta_ref_number(in, BATCH, row, 1), width = ta_ref_number(in, WIDTH, row, 0);
    const char *one = ta_ref_number(in, FRAMES, row, 1) > 1 ? "video" : "image";
    if (has_blocks)
        ta_say_on(line, "block");
    else if (batch > 1)
        ta_say_on(line, "batch of %.0f %ss", batch, one);
    else
        ta_say_on(line, "%s", one);
    if (width > 0)
        ta_say_on(line, " of %.0f×%.0f", width, ta_ref_number(in, HEIGHT, row, 0));
}

/* "1.20 s per image of 1024×1024 (0.84/s)", "47.6 ms per block", "13.0 s": returns the time that
 * all phases are parts of, of how many images or blocks. */
static double say_rate(struct ta_line *line, const struct ta_refs *in, size_t row)
{
    const double images = ta_ref_number(in, IMAGES, row, 1),
                 blocks = ta_ref_number(in, BLOCKS, row, 1);
    const double image = ta_ref_number(in, IMAGE_NS, row, NAN);
    const bool has_blocks = blocks > images;
    const double n = isnan(image) ? 1 : has_blocks ? blocks : images;
    const double time = isnan(image) ? ta_ref_scalar(in, WINDOW, 0) : image * images / n;
    char length[TA_UNIT_TEXT_MAX];
    ta_unit_format(length, time, TA_UNIT_NS);
    if (isnan(image))
        ta_say(line, "Of %s,", length);
    else {
        const double batch = has_blocks ? 1 : ta_ref_number(in, BATCH, row, 1);
        ta_say(line, "%s per ", length);
        say_what(line, in, row, has_blocks);
        ta_say_on(line, " (%.3g/s):", batch * 1e9 / time);
    }
    return n;
}

/* "4 denoising steps of 244 ms are 83.4 %" of a time in which `n` images or blocks are made. */
static void say_steps(struct ta_line *line, const struct ta_refs *in, size_t row, size_t phase,
                      double n, bool is_first)
{
    char share[TA_UNIT_TEXT_MAX], period[TA_UNIT_TEXT_MAX];
    const double steps = ta_ref_number(in, STEPS, row, 0) / n;
    const double step = ta_ref_number(in, PERIOD, row, NAN);
    ta_unit_format(share, ta_ref_number(in, SHARE, phase, 0), TA_UNIT_RATIO);
    ta_unit_format(period, step, TA_UNIT_NS);
    if (isnan(step) || steps != floor(steps))
        ta_say_on(line, " denoising%s %s", is_first ? " is" : "", share);
    else
        ta_say_on(line, " %.0f denoising steps of %s%s %s", steps, period, is_first ? " are" : "",
                  share);
}

/* "text encoding 122 ms (the GPU is idle for 86.7 ms of it)", with its share where it comes first.
 */
static void say_phase(struct ta_line *line, const struct ta_refs *in, size_t phase,
                      const char *name, double n, bool is_first)
{
    char time[TA_UNIT_TEXT_MAX], text[TA_UNIT_TEXT_MAX];
    const double ns = ta_ref_number(in, TIME, phase, 0), rest = ta_ref_number(in, IDLE, phase, 0);
    ta_unit_format(time, ns / n, TA_UNIT_NS);
    if (is_first)
        ta_say_on(line, " %s is %s (%s", name,
                  ta_unit_format(text, ta_ref_number(in, SHARE, phase, 0), TA_UNIT_RATIO), time);
    else
        ta_say_on(line, " %s %s", name, time);
    if (rest > MUCH_IDLE * ns)
        ta_say_on(line, "%sthe GPU is idle for %s of it", is_first ? "; " : " (",
                  ta_unit_format(text, rest / n, TA_UNIT_NS));
    if (is_first || rest > MUCH_IDLE * ns)
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

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    if (ta_ref_rows(in, RANK) == 0)
        return;
    bool differ;
    const size_t row = slowest(in, &differ);
    const double rank = ta_ref_number(in, RANK, row, 0);
    size_t phases[TA_LENGTH(names)];
    const size_t n_phases = largest_phases(in, rank, phases);
    if (n_phases == 0)
        return;
    const double n = say_rate(line, in, row);
    for (size_t i = 0; i < n_phases; i++) {
        const char *const name = name_of(in, phases[i]);
        ta_say_on(line, i ? "," : "");
        if (name)
            say_phase(line, in, phases[i], name, n, i == 0);
        else
            say_steps(line, in, row, phases[i], n, i == 0);
    }
    if (differ)
        ta_say_on(line, ", on rank %.0f, the slowest", rank);
    ta_say_on(line, ".");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_DEVICES, .place = 0, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, diffusion, &ops, .title = "Diffusion",
          .summary = "Time of an image or block, and of its phases", .version = "1");
