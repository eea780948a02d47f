/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "loop_line.h"

#include "model/program/generation.h"
#include "partials.h"

#include <stdio.h>

/* "2 blocks × " if there are several. */
static int add_count(char *line, size_t room, int at, int64_t n, const char *one, const char *many)
{
    return at + snprintf(line + at, room - (size_t)at, "%s%lld %s", at ? " × " : "", (long long)n,
                         n == 1 ? one : many);
}

/* What is made.  Blocks that may be images are called "block or image". */
struct thing {
    const char *one, *many;
};

static struct thing thing_of(const int64_t *row, const struct made *made)
{
    if (row[RUN_MAKES] == TA_GENERATION_IMAGES)
        return (struct thing){"image", "images"};
    if (row[RUN_MAKES] == TA_GENERATION_VIDEOS || row[RUN_BLOCKS] > row[RUN_IMAGES] ||
        made->frames > 1)
        return (struct thing){"video", "videos"};
    return (struct thing){"image", "images"};
}

/* "2 requests × 3 prompts × " if there are several images of each. */
static int add_askers(char *line, size_t room, const int64_t *row, int64_t *images)
{
    const int64_t requests = row[RUN_REQUESTS], prompts = row[RUN_PROMPTS];
    int at = 0;
    if (requests > 0 && requests < *images && *images % requests == 0) {
        at = add_count(line, room, at, requests, "request", "requests");
        *images /= requests;
    }
    const int64_t of = at ? requests : 1;
    if (prompts > 0 && prompts % of == 0 && prompts / of < *images &&
        *images % (prompts / of) == 0 && (at == 0 || prompts > of)) {
        at = add_count(line, room, at, prompts / of, "prompt", "prompts");
        *images /= prompts / of;
    }
    return at;
}

/* "2 images 1024×1024", "1 video 832×480 of 81 frames", "1 batch of 4 images", "4 images (2 at a
 * time)". */
static int add_images(char *line, size_t room, const int64_t *row, const struct made *made)
{
    int64_t n = row[RUN_IMAGES];
    const struct thing thing = thing_of(row, made);
    int at = add_askers(line, room, row, &n);
    if (made->batch > 1)
        at += snprintf(line + at, room - (size_t)at, "%s%lld batch%s of %lld %s", at ? " × " : "",
                       (long long)n, n == 1 ? "" : "es", (long long)made->batch, thing.many);
    else
        at = add_count(line, room, at, n, thing.one, thing.many);
    if (made->width != TA_MISSING)
        at += snprintf(line + at, room - (size_t)at, " %lld×%lld", (long long)made->width,
                       (long long)made->height);
    if (made->frames > 1)
        at += snprintf(line + at, room - (size_t)at, " of %lld frames", (long long)made->frames);
    if (row[RUN_AT_ONCE] > 1)
        at += snprintf(line + at, room - (size_t)at, " (%lld at a time, in turns)",
                       (long long)row[RUN_AT_ONCE]);
    if (row[RUN_AT_ONCE] == 0)
        at += snprintf(line + at, room - (size_t)at, " (in turns)");
    return at;
}

/* How guidance is computed, written after the passes of a step. */
static const char *guidance_of(const struct made *made)
{
    return ta_slice_equal(made->guidance, TA_LIT("batched"))      ? " (guidance in one batch)"
           : ta_slice_equal(made->guidance, TA_LIT("sequential")) ? " (guidance one by one)"
                                                                  : "";
}

void generation_loop_line(char *line, size_t room, const int64_t *row, const struct made *made)
{
    const int64_t images = row[RUN_IMAGES], blocks = row[RUN_BLOCKS], steps = row[RUN_STEPS];
    int at = add_images(line, room, row, made);
    const bool has_blocks = images > 0 && blocks > images;
    if (has_blocks && blocks % images == 0)
        at = row[RUN_MAKES] == TA_GENERATION_VIDEOS
                 ? add_count(line, room, at, blocks / images, "block", "blocks")
                 : add_count(line, room, at, blocks / images, "block or image", "blocks or images");
    const int64_t of = has_blocks && blocks % images ? images : blocks;
    if (of > 0 && steps % of == 0 && row[RUN_AT_ONCE] > 0)
        at = add_count(line, room, at, steps / of, "step", "steps");
    else
        at += snprintf(line + at, room - (size_t)at, " · %lld steps in all", (long long)steps);
    if (row[RUN_PER_STEP] > 0) {
        at = add_count(line, room, at, row[RUN_PER_STEP], "forward", "forwards");
        at += snprintf(line + at, room - (size_t)at, "%s", guidance_of(made));
    }
    if (row[RUN_LAYERS] > 0)
        add_count(line, room, at, row[RUN_LAYERS], "layer", "layers");
}
