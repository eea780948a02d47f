/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which image each call of a marked generation is for, and of how many prompts and requests images
 * are.
 *
 * An image begins with its prompt, or where the program marks a request.  What is denoised and
 * decoded again without either is the next block of a video, or another image of the same prompt,
 * by what the denoiser makes. */
#include "model/named.h"
#include "model/program/generation_marks.h"
#include "model/program/steps.h"

#include <stdlib.h>

/* ---- what is made ---------------------------------------------------------------------------- */

enum { CONV_3D = 1, CONV_2D };

static uint8_t convolution(struct ta_slice name)
{
    if (!ta_slice_starts(name, "aten::"))
        return 0;
    return ta_slice_equal(name, TA_LIT("aten::conv3d")) ||
                   ta_slice_equal(name, TA_LIT("aten::slow_conv3d"))
               ? CONV_3D
           : ta_slice_equal(name, TA_LIT("aten::conv2d")) ? CONV_2D
                                                          : 0;
}

static enum ta_generation_makes makes_of(const struct generation_finding *f, ta_row row)
{
    return generation_makes_by_name(ta_trace_text(f->trace, f->spans.name[row]));
}

/* By the denoiser's name, else by others, else by convolutions in space and time. */
static enum ta_generation_makes find_makes(struct generation_finding *f)
{
    enum ta_generation_makes makes = TA_GENERATION_MAKES_UNKNOWN;
    for (size_t i = 0; i < f->calls.n; i++)
        if (f->calls.at[i].phase == TA_GENERATION_DENOISE) {
            makes = makes_of(f, f->calls.at[i].mark);
            break;
        }
    for (size_t i = 0; makes == TA_GENERATION_MAKES_UNKNOWN && i < f->calls.n; i++)
        if (f->calls.at[i].mark != TA_NO_ROW)
            makes = makes_of(f, f->calls.at[i].mark);
    int64_t counts[UINT8_MAX + 1] = {0};
    if (makes != TA_GENERATION_MAKES_UNKNOWN)
        return makes;
    f->failed |= !ta_count_named(f->trace, convolution, counts);
    return counts[CONV_3D]   ? TA_GENERATION_VIDEOS
           : counts[CONV_2D] ? TA_GENERATION_IMAGES
                             : TA_GENERATION_MAKES_UNKNOWN;
}

/* ---- images ---------------------------------------------------------------------------------- */

/* What a program marks as one image or request, by start: another may begin there. */
struct borders {
    const struct ta_program_steps *steps;
    size_t request, step; /* how many had begun */
};

/* Whether one began since the time that was asked for before. */
static bool begins_one(const struct generation_finding *f, struct borders *b, int64_t time)
{
    const size_t before = b->request + b->step;
    const bool steps_count = b->steps->by == TA_STEPS_BY_ENGINE;
    while (b->request < b->steps->n_requests && f->spans.ts[b->steps->requests[b->request]] <= time)
        b->request++;
    while (steps_count && b->step < b->steps->n && b->steps->at[b->step].start <= time)
        b->step++;
    return b->request + b->step > before;
}

/* The end of the calls of one phase and image from `first` on, before `until`. */
static size_t run_end(const struct generation_finding *f, size_t first, size_t until)
{
    size_t end = first + 1;
    while (end < until && f->calls.at[end].phase == f->calls.at[first].phase &&
           f->calls.at[end].image == f->calls.at[first].image)
        end++;
    return end;
}

/* A decode that comes once the next prompt is encoded is of the image before, which was denoised
 * and not decoded; where several images were, and as many decodes follow each other, or a multiple,
 * each has its part.  What comes after a decode is of its image.  An image that goes on to be
 * denoised when one of several was decoded had its steps between steps of others. */
static void give_decodes(struct generation_finding *f, size_t first, size_t until)
{
    size_t denoised = f->calls.at[first].image, decoded = denoised, left = 0; /* images */
    for (size_t i = first, end; i < until; i = end) {
        struct ta_generation_call *calls = &f->calls.at[i];
        end = run_end(f, i, until);
        const size_t n = end - i, waiting = denoised - decoded, image = calls->image;
        if (calls->phase == TA_GENERATION_DENOISE) {
            if (left > 0 && image + 1 == denoised)
                f->found->n_at_once = 0;
            denoised = image + 1;
        }
        if (calls->phase == TA_GENERATION_VAE_DECODE && waiting && n % waiting == 0) {
            for (size_t k = 0; k < n; k++)
                calls[k].image = decoded + k / (n / waiting);
            decoded = denoised;
        } else if (calls->phase == TA_GENERATION_VAE_DECODE && waiting) {
            left = n < waiting ? waiting - n : 0;
            decoded = denoised;
        } else if ((calls->phase == TA_GENERATION_POST ||
                    calls->phase == TA_GENERATION_VAE_DECODE) &&
                   decoded && image >= denoised) {
            for (size_t k = 0; k < n; k++)
                calls[k].image = decoded - 1;
        }
    }
}

/* Where an image begins. */
struct walk {
    struct borders borders;
    bool is_denoised, is_decoded, makes_known;
    size_t open;     /* images that were denoised and are not decoded */
    int64_t request; /* of the last call that is of one */
};

/* Whether denoising after a decode is of another image of the same prompt. */
static bool begins_without_prompt(struct generation_finding *f, struct walk *w)
{
    if (!w->makes_known)
        f->found->makes = find_makes(f);
    w->makes_known = true;
    return f->found->makes == TA_GENERATION_IMAGES;
}

static bool begins_image(struct generation_finding *f, struct walk *w, size_t i)
{
    const struct ta_generation_call *call = &f->calls.at[i];
    const int64_t request = generation_request_at(f, i);
    const bool is_other =
        request != TA_MISSING && w->request != TA_MISSING && request != w->request;
    const bool is_end =
        call->phase == TA_GENERATION_VAE_DECODE || call->phase == TA_GENERATION_POST;
    const bool begins =
        (f->found->n_at_once == 1 && begins_one(f, &w->borders, call->time.host_start)) ||
        (is_other && !is_end);
    if (request != TA_MISSING && !is_end)
        w->request = request;
    if (!w->is_denoised)
        return false;
    return call->phase == TA_GENERATION_TEXT_ENCODE || (begins && !is_end) ||
           (call->phase == TA_GENERATION_DENOISE && w->is_decoded && w->open == 0 &&
            begins_without_prompt(f, w));
}

/* The images of calls that are denoised one after the other; returns the number of the next one. */
static size_t number_images(struct generation_finding *f, struct walk *w, size_t first, size_t end,
                            size_t image)
{
    const size_t before = image;
    w->is_denoised = w->is_decoded = false;
    w->open = 0;
    w->request = TA_MISSING;
    for (size_t i = first; i < end; i++) {
        struct ta_generation_call *call = &f->calls.at[i];
        if (begins_image(f, w, i)) {
            image++;
            w->is_denoised = w->is_decoded = false;
        }
        w->open += call->phase == TA_GENERATION_DENOISE && !w->is_denoised;
        w->is_denoised |= call->phase == TA_GENERATION_DENOISE;
        if (call->phase == TA_GENERATION_VAE_DECODE) {
            w->is_decoded |= w->is_denoised;
            w->open -= w->open > 0;
        }
        call->image = image;
    }
    if (image > before)
        give_decodes(f, first, end);
    return image + 1;
}

/* ---- prompts and requests -------------------------------------------------------------------- */

/* How often the name that comes most often does, in calls of encoders. */
static size_t most_alike(const struct generation_finding *f, size_t first, size_t end)
{
    size_t most = 0;
    for (size_t i = first; i < end; i++) {
        size_t n = 0;
        for (size_t k = first; k < end; k++)
            n += f->spans.name[f->calls.at[k].mark] == f->spans.name[f->calls.at[i].mark];
        most = n > most ? n : most;
    }
    return most;
}

/* The prompts that are encoded in [first, end), whose images are `n`; 0: not known.  A pipeline
 * encodes a prompt once; an encoder may be called for what is not wished as well. */
static size_t prompts_in(const struct generation_finding *f, size_t first, size_t end, size_t n)
{
    enum { CALLS_MOST = 256 };
    if (end - first > CALLS_MOST)
        return 0;
    const size_t alike = most_alike(f, first, end);
    if (alike < 2 || n < 2)
        return 1;
    return f->calls.at[first].by == TA_GENERATION_BY_RANGE && n % alike == 0 ? alike : 0;
}

/* Of calls that are denoised one after the other, whose images end before `images`. */
static size_t count_prompts(const struct generation_finding *f, size_t first, size_t until,
                            size_t images)
{
    size_t prompts = 0, run = SIZE_MAX, run_to = 0;
    for (size_t i = first; i <= until; i++) {
        const struct ta_generation_call *call = i < until ? &f->calls.at[i] : NULL;
        const bool encodes = call && call->phase == TA_GENERATION_TEXT_ENCODE;
        if (call && call->phase == TA_GENERATION_DENOISE && run == SIZE_MAX)
            return 0;
        if (call && !encodes)
            continue;
        if (encodes && (run == SIZE_MAX || call->image == f->calls.at[run].image)) {
            run = run == SIZE_MAX ? i : run;
            run_to = i + 1;
            continue;
        }
        if (run == SIZE_MAX)
            return 0;
        const size_t n = (call ? call->image : images) - f->calls.at[run].image;
        const size_t some = prompts_in(f, run, run_to, n);
        if (some == 0)
            return 0;
        prompts += some;
        run = i;
        run_to = i + 1;
    }
    return prompts;
}

static int by_number(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Numbers of requests that passes of the denoiser are of; else what the program marks. */
static bool count_requests(struct generation_finding *f, const struct ta_program_steps *steps)
{
    int64_t *numbers = calloc(f->calls.n + 1, sizeof *numbers);
    if (!numbers)
        return false;
    size_t n = 0, passes = 0, requests = 0;
    for (size_t i = 0; i < f->calls.n; i++)
        if (f->calls.at[i].phase == TA_GENERATION_DENOISE) {
            const int64_t number = generation_request_at(f, i);
            passes++;
            if (number != TA_MISSING)
                numbers[n++] = number;
        }
    if (n)
        qsort(numbers, n, sizeof *numbers, by_number);
    for (size_t i = 0; n == passes && i < n; i++)
        requests += i == 0 || numbers[i] != numbers[i - 1];
    free(numbers);
    f->found->n_requests = requests ? requests : steps->n_requests;
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool generation_find_images(struct generation_finding *f, size_t *between)
{
    struct walk w = {.borders = {.steps = ta_marked_steps(f->trace)}};
    if (!w.borders.steps || !generation_find_turns(f, between))
        return false;
    size_t images = 0;
    bool are_known = true;
    for (size_t first = 0, end; first < f->calls.n; first = end) {
        const size_t turn = f->calls.at[first].image;
        for (end = first + 1; end < f->calls.n && f->calls.at[end].image == turn;)
            end++;
        images = number_images(f, &w, first, end, images);
        const size_t prompts = count_prompts(f, first, end, images);
        are_known &= prompts > 0;
        f->found->n_prompts += prompts;
    }
    f->found->n_images = images;
    if (!are_known)
        f->found->n_prompts = 0;
    return count_requests(f, w.borders.steps) && !f->failed;
}
