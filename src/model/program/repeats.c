/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges that repeat: a program's own loop.
 *
 * Siblings in the nesting are grouped by name.  Where groups of equal size alternate (forward,
 * backward, optimizer), a step lasts from one start of the first of them to the next; where one
 * name repeats alone, each of its ranges is a step.  They hold at least half of the time of their
 * siblings; else the loop may be within the longest of these. */
#include "model/program/steps.h"

#include "model/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* Names of the ranges of a level; the ranges of a loop are among the first. */
enum { GROUPS_MOST = 64, DEPTH_MOST = 8 };

struct group {
    struct ta_slice label;
    int64_t total;
    size_t n;
    bool repeats_once; /* a part of a network, which is no step however often it comes */
};

struct level {
    const struct ta_trace *trace;
    const struct marked_range *ranges;
    size_t *at; /* the siblings: places among the ranges */
    uint8_t *group;
    size_t n;
    struct group groups[GROUPS_MOST];
    char texts[GROUPS_MOST][64];
    size_t n_groups;
    int64_t total;
};

static bool holds_any(struct ta_slice name, const char *const *words)
{
    for (; *words; words++) {
        const size_t n = strlen(*words);
        for (size_t i = 0; i + n <= name.len; i++)
            if (strncasecmp(ta_slice_at(name, i), *words, n) == 0)
                return true;
    }
    return false;
}

static bool is_part_of_network(struct ta_slice name)
{
    static const char *const words[] = {"layer",  "block", "attention", "attn",  "mlp",
                                        "norm",   "conv",  "linear",    "embed", "module",
                                        "expert", "::",    NULL};
    return holds_any(name, words);
}

/* "step 3/28" and "step 4/28" are of one group; "stage_1" and "stage_2" are not. */
static bool is_numbered(struct ta_slice name)
{
    static const char *const words[] = {"step",  "iter",   "batch", "denois", "epoch",
                                        "req",   "sample", "frame", "image",  "prompt",
                                        "chunk", "token",  NULL};
    for (size_t i = 0; i < name.len; i++)
        if (isdigit((unsigned char)name.ptr[i]))
            return holds_any(name, words);
    return false;
}

static uint8_t group_of(struct level *level, struct ta_slice name)
{
    char text[64];
    const struct ta_slice label = is_numbered(name) ? ta_marker_kind(name, text) : name;
    for (size_t g = 0; g < level->n_groups; g++)
        if (ta_slice_equal(level->groups[g].label, label))
            return (uint8_t)g;
    if (level->n_groups == GROUPS_MOST)
        return GROUPS_MOST;
    struct group *group = &level->groups[level->n_groups];
    *group = (struct group){.label = label, .repeats_once = is_part_of_network(label)};
    if (label.ptr == text)
        group->label.ptr = memcpy(level->texts[level->n_groups], text, label.len);
    return (uint8_t)level->n_groups++;
}

/* The siblings among the ranges [from, to), all of one track. */
static void list_siblings(struct level *level, size_t from, size_t to)
{
    level->n = level->n_groups = 0;
    level->total = 0;
    int64_t until = INT64_MIN;
    for (size_t i = from; i < to; i++) {
        const struct marked_range *range = &level->ranges[i];
        if (range->start < until)
            continue;
        until = range->end;
        const uint8_t g = group_of(level, ta_trace_text(level->trace, range->name));
        level->at[level->n] = i;
        level->group[level->n++] = g;
        level->total += range->end - range->start;
        if (g < GROUPS_MOST) {
            level->groups[g].n++;
            level->groups[g].total += range->end - range->start;
        }
    }
}

/* The group that repeats and takes longest; GROUPS_MOST without one. */
static size_t longest_group(const struct level *level)
{
    size_t best = GROUPS_MOST;
    for (size_t g = 0; g < level->n_groups; g++) {
        const struct group *group = &level->groups[g];
        if (group->n >= 2 && !group->repeats_once &&
            (best == GROUPS_MOST || group->total > level->groups[best].total))
            best = g;
    }
    return best;
}

/* Whether the siblings of the chosen groups come in the same order again and again; `n` is how many
 * groups those are, `first` the one that comes first. */
static bool alternate(const struct level *level, const bool *chosen, size_t n, size_t *first)
{
    uint8_t order[GROUPS_MOST];
    size_t k = 0;
    for (size_t i = 0; i < level->n; i++) {
        const uint8_t g = level->group[i];
        if (g == GROUPS_MOST || !chosen[g])
            continue;
        for (size_t before = 0; k < n && before < k; before++)
            if (order[before] == g)
                return false;
        if (k < n)
            order[k] = g;
        else if (order[k % n] != g)
            return false;
        k++;
    }
    *first = order[0];
    return k > 0;
}

/* Each sibling of the group `begins` is a step: its range, or up to the next where `to_next`; the
 * last one up to the end of the last chosen sibling. */
static bool add_steps(struct level *level, const bool *chosen, size_t begins, bool to_next,
                      struct ta_program_steps *steps)
{
    steps->at = calloc(level->groups[begins].n, sizeof *steps->at);
    if (!steps->at)
        return false;
    for (size_t i = 0; i < level->n; i++) {
        const uint8_t g = level->group[i];
        const struct marked_range *range = &level->ranges[level->at[i]];
        if (g == begins) {
            if (to_next && steps->n)
                steps->at[steps->n - 1].end = range->start;
            steps->at[steps->n++] = (struct ta_program_step){
                .start = range->start, .end = range->end, .mark = range->row};
        } else if (g < GROUPS_MOST && chosen[g] && to_next && steps->n) {
            steps->at[steps->n - 1].end = range->end;
        }
    }
    steps->by = TA_STEPS_BY_RANGE;
    return true;
}

/* Steps among the siblings; `steps` stays empty where nothing repeats. */
static bool find_loop(struct level *level, struct ta_program_steps *steps)
{
    const size_t longest = longest_group(level);
    if (longest == GROUPS_MOST)
        return true;
    bool chosen[GROUPS_MOST] = {false};
    size_t n = 0, first = longest;
    int64_t total = 0;
    for (size_t g = 0; g < level->n_groups; g++) {
        chosen[g] =
            level->groups[g].n == level->groups[longest].n && !level->groups[g].repeats_once;
        n += chosen[g];
        total += chosen[g] ? level->groups[g].total : 0;
    }
    if (!alternate(level, chosen, n, &first)) {
        memset(chosen, 0, sizeof chosen);
        chosen[longest] = true;
        n = 1;
        first = longest;
        total = level->groups[longest].total;
    }
    if (total < level->total - total)
        return true;
    return add_steps(level, chosen, first, n > 1, steps);
}

/* The sibling that holds at least half of their time; SIZE_MAX without one. */
static size_t longest_sibling(const struct level *level)
{
    for (size_t i = 0; i < level->n; i++) {
        const struct marked_range *range = &level->ranges[level->at[i]];
        if (range->end - range->start >= level->total - (range->end - range->start))
            return level->at[i];
    }
    return SIZE_MAX;
}

/* The track whose outermost ranges last longest: its ranges are [*from, *to). */
static void longest_track(const struct marked_range *ranges, size_t n, size_t *from, size_t *to)
{
    int64_t best = -1;
    for (size_t first = 0, end; first < n; first = end) {
        int64_t total = 0, until = INT64_MIN;
        for (end = first; end < n && ranges[end].track == ranges[first].track; end++) {
            total += ta_max_i64(0, ranges[end].end - ta_max_i64(ranges[end].start, until));
            until = ta_max_i64(until, ranges[end].end);
        }
        if (total > best) {
            best = total;
            *from = first;
            *to = end;
        }
    }
}

/* What several threads do at the same time has no order of steps. */
static bool is_of_other_thread(const struct marked_range *ranges, size_t n, size_t from, size_t to,
                               ta_str name)
{
    for (size_t i = 0; i < n; i++)
        if ((i < from || i >= to) && ranges[i].name == name)
            return true;
    return false;
}

bool repeats_find(const struct ta_trace *trace, const struct marked_range *ranges, size_t n,
                  struct ta_program_steps *steps)
{
    size_t from = 0, to = 0;
    longest_track(ranges, n, &from, &to);
    const size_t first = from, end = to;
    struct level *level = calloc(1, sizeof *level);
    if (level) {
        level->trace = trace;
        level->ranges = ranges;
        level->at = calloc(to - from + 1, sizeof *level->at);
        level->group = calloc(to - from + 1, sizeof *level->group);
    }
    bool done = level && level->at && level->group;
    for (int depth = 0; done && depth < DEPTH_MOST && steps->n == 0; depth++) {
        list_siblings(level, from, to);
        done = find_loop(level, steps);
        const size_t longest = longest_sibling(level);
        if (longest == SIZE_MAX)
            break;
        from = longest + 1;
        for (to = from; to < end && ranges[to].start < ranges[longest].end;)
            to++;
    }
    if (done && steps->n &&
        is_of_other_thread(ranges, n, first, end, ta_trace_spans(trace).name[steps->at[0].mark])) {
        free(steps->at);
        steps->at = NULL;
        steps->n = 0;
        steps->by = TA_STEPS_BY_NOTHING;
    }
    if (level) {
        free(level->at);
        free(level->group);
    }
    free(level);
    return done;
}
