/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases, blocks and steps of a program that generates images or videos, as lanes of their own.
 *
 * Each lies where the devices work on it, from the first start to the last end of what was launched
 * in it, above its kernels; where nothing was launched, where the host is in it.
 */
#include "analyze/timeline/program.h"

#include "analyze/timeline/labels.h"
#include "base/vec.h"
#include "model/program/generation.h"
#include "model/program/steps.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_ROOM = 64 };

/* Lanes of one kind, top down. */
enum level { PHASES, BLOCKS, STEPS, LEVELS };

static const char *const categories[LEVELS] = {"phase", "block", "step"};

struct part_of_run {
    enum level level;
    int64_t start, end;
    uint32_t label;
};

struct program {
    const struct ta_trace *trace;
    const struct ta_generation *found;
    struct ta_timeline_part *part;
    struct ta_timeline_pool *pool;
    TA_VEC(struct part_of_run) parts;
    struct ta_map labels; /* level and name → label of the part */
};

/* ---- what there is ------------------------------------------------------------------------- */

static bool find_label(struct program *p, enum level level, struct ta_slice name, uint32_t *label)
{
    struct ta_part_label added = {.kind = TA_SLICE_PHASE, .shapes = TA_STR_ABSENT};
    for (int i = 0; i < TA_TIMELINE_ARGS; i++)
        added.args[i] = TA_STR_ABSENT;
    if (!ta_labels_intern(p->pool, name, &added.name) ||
        !ta_labels_intern(p->pool, ta_slice_of(categories[level]), &added.category))
        return false;
    const uint64_t *at =
        ta_map_at(&p->labels, (uint64_t)added.category << 32 | added.name, p->part->n_labels);
    if (!at)
        return false;
    *label = (uint32_t)*at;
    return *at < p->part->n_labels || ta_labels_add(p->part, added);
}

/* False without memory; what has no time is left out. */
static bool add_part(struct program *p, enum level level, struct ta_slice name,
                     struct ta_interval when)
{
    struct part_of_run part = {.level = level, .start = when.start, .end = when.end};
    return when.start == TA_MISSING ||
           (find_label(p, level, name, &part.label) && ta_vec_push(&p->parts, part));
}

/* "denoise", and where there are several images "denoise · image 2". */
static struct ta_slice name_of(const struct program *p, const char *what, size_t image,
                               char text[NAME_ROOM])
{
    const struct ta_generation *found = p->found;
    const char *kind = found->n_blocks > found->n_images ? "video" : "image";
    if (found->n_images < 2)
        return ta_slice_of(what);
    const int n = snprintf(text, NAME_ROOM, "%s · %s %zu", what, kind, image + 1);
    return (struct ta_slice){text, (size_t)n};
}

static bool add_phases(struct program *p)
{
    char text[NAME_ROOM];
    bool done = true;
    for (size_t i = 0; done && i < p->found->n_stages; i++) {
        const struct ta_generation_stage *stage = &p->found->stages[i];
        const char *what = ta_generation_phase_names[stage->phase];
        done = add_part(p, PHASES, name_of(p, what, stage->image, text),
                        ta_generation_span(&stage->time));
    }
    return done;
}

static bool is_of_block(const struct ta_generation_step *a, const struct ta_generation_step *b)
{
    return a->image == b->image && a->block == b->block;
}

/* From the first step of each block to the end of its last; none where images have one each. */
static bool add_blocks(struct program *p)
{
    const struct ta_generation *found = p->found;
    bool done = true;
    for (size_t first = 0, end; found->n_blocks > found->n_images && first < found->n_steps;
         first = end) {
        const struct ta_generation_step *step = &found->steps[first];
        struct ta_interval block = ta_generation_span(&step->time);
        for (end = first + 1; end < found->n_steps && is_of_block(step, &found->steps[end]); end++)
            block.end = ta_max_i64(block.end, ta_generation_span(&found->steps[end].time).end);
        char what[32], text[NAME_ROOM];
        snprintf(what, sizeof what, "block %zu", step->block + 1);
        done = done && add_part(p, BLOCKS, name_of(p, what, step->image, text), block);
    }
    return done;
}

static bool add_steps(struct program *p)
{
    char text[TA_STEP_NAME_ROOM];
    bool done = true;
    for (size_t i = 0; done && i < p->found->n_steps; i++) {
        const struct ta_generation_step *step = &p->found->steps[i];
        done = add_part(p, STEPS, ta_denoising_step_name(step->number, text),
                        ta_generation_span(&step->time));
    }
    return done;
}

/* ---- lanes --------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const struct part_of_run *a = left, *b = right;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->label > b->label) - (a->label < b->label);
}

/* Writes the parts that have no lane yet and fit after each other, and moves the others to the
 * front; gives how many are left. */
static size_t write_lane(struct part_of_run *parts, size_t n, int64_t origin, unsigned char *bytes,
                         struct ta_timeline_lane *lane)
{
    size_t left = 0;
    int64_t now = origin;
    *lane = (struct ta_timeline_lane){.bytes = bytes};
    for (size_t i = 0; i < n; i++) {
        const struct part_of_run part = parts[i];
        if (part.start < now) {
            parts[left++] = part;
            continue;
        }
        lane->size += ta_varint_write(bytes + lane->size, (uint64_t)(part.start - now));
        lane->size += ta_varint_write(bytes + lane->size, (uint64_t)(part.end - part.start));
        lane->size += ta_varint_write(bytes + lane->size, part.label);
        lane->n++;
        now = part.end;
    }
    return left;
}

/* Gap, duration and label take this at most. */
enum { PART_ROOM = 30 };

/* False without memory. */
static bool write_lanes(struct program *p)
{
    struct ta_arena *arena = &p->part->arena;
    const size_t n = p->parts.n;
    struct ta_timeline_lane *lanes = ta_arena_alloc(arena, (n + 1) * sizeof *lanes);
    unsigned char *bytes = ta_arena_alloc(arena, n * PART_ROOM + 1);
    struct ta_timeline_track *track = &p->part->file.program;
    if (!lanes || !bytes)
        return false;
    *track = (struct ta_timeline_track){.process = "",
                                        .thread = "Phases and steps",
                                        .pid = "",
                                        .tid = "program",
                                        .device = TA_MISSING,
                                        .lanes = lanes};
    if (n)
        qsort(p->parts.at, n, sizeof *p->parts.at, by_place);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && p->parts.at[end].level == p->parts.at[first].level;)
            end++;
        for (size_t left = end - first; left;) {
            struct ta_timeline_lane *lane = &lanes[track->n_lanes++];
            left = write_lane(&p->parts.at[first], left, ta_trace_origin(p->trace), bytes, lane);
            bytes += lane->size;
        }
    }
    return true;
}

bool ta_timeline_pack_program(struct ta_timeline_part *part, struct ta_timeline_pool *pool,
                              const struct ta_trace *trace)
{
    struct program p = {
        .trace = trace, .found = ta_program_generation(trace), .part = part, .pool = pool};
    const bool done =
        p.found && add_phases(&p) && add_blocks(&p) && add_steps(&p) && write_lanes(&p);
    free(p.parts.at);
    ta_map_free(&p.labels);
    return done && !p.labels.failed;
}
