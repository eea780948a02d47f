/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function that is innermost for most of the time of call stacks, or in most of their samples.
 */
#include <traceanalyze/headline.h>

#include <math.h>

enum { TOTAL, STACK, SAMPLES, WAITS };
static const struct ta_ref reads[] = {
    [TOTAL] = {"stacks.folded", "total_ns"},
    [STACK] = {"stacks.folded", "stack"},
    [SAMPLES] = {"stacks.folded", "samples"},
    [WAITS] = {"waits.by_place", "share"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

/* A frame that takes less than one part in so many of the time is not worth a sentence. */
enum { KEPT = 128 };

struct frame {
    struct ta_slice name;
    double weight;
};

/* Candidates for the heaviest frame, without memory that could be lacking: Misra and Gries,
 * "Finding repeated elements", Science of Computer Programming 2 (1982), with weights.  Each frame
 * of more than one part in KEPT + 1 of all weights is among them. */
struct candidates {
    struct frame at[KEPT];
    size_t n;
};

static struct frame *find(struct candidates *candidates, struct ta_slice name)
{
    for (size_t i = 0; i < candidates->n; i++)
        if (ta_slice_equal(candidates->at[i].name, name))
            return &candidates->at[i];
    return NULL;
}

/* Takes as much off all of them as one more frame weighs, or as the lightest does. */
static double lighten(struct candidates *candidates, double weight)
{
    double least = weight;
    size_t kept = 0;
    for (size_t i = 0; i < candidates->n; i++)
        least = fmin(least, candidates->at[i].weight);
    for (size_t i = 0; i < candidates->n; i++) {
        candidates->at[i].weight -= least;
        if (candidates->at[i].weight > 0)
            candidates->at[kept++] = candidates->at[i];
    }
    candidates->n = kept;
    return weight - least;
}

static void offer(struct candidates *candidates, struct ta_slice name, double weight)
{
    struct frame *known = find(candidates, name);
    if (known) {
        known->weight += weight;
        return;
    }
    if (candidates->n == KEPT)
        weight = lighten(candidates, weight);
    if (weight > 0 && candidates->n < KEPT)
        candidates->at[candidates->n++] = (struct frame){name, weight};
}

/* The innermost frame of "outer;…;inner", and the time or the samples of its stack. */
static struct frame innermost(const struct ta_refs *in, size_t row, size_t weight)
{
    const struct ta_slice stack = ta_ref_text(in, STACK, row);
    size_t start = stack.len;
    while (start > 0 && stack.ptr[start - 1] != ';')
        start--;
    return (struct frame){ta_slice_from(stack, start),
                          fmax(0, ta_ref_number(in, weight, row, NAN))};
}

/* The frame that is innermost for most of all weights, the first by name of equal ones; its weight
 * is 0 without one that is worth a sentence. */
static struct frame heaviest(const struct ta_refs *in, size_t weight, double *all)
{
    struct candidates candidates = {.n = 0};
    struct frame most = {.weight = 0};
    for (size_t row = 0; row < ta_ref_rows(in, TOTAL); row++) {
        const struct frame frame = innermost(in, row, weight);
        *all += frame.weight;
        offer(&candidates, frame.name, frame.weight);
    }
    for (size_t i = 0; i < candidates.n; i++)
        candidates.at[i].weight = 0;
    for (size_t row = 0; row < ta_ref_rows(in, TOTAL); row++) {
        const struct frame frame = innermost(in, row, weight);
        struct frame *candidate = find(&candidates, frame.name);
        if (candidate)
            candidate->weight += frame.weight;
    }
    for (size_t i = 0; i < candidates.n; i++) {
        const struct frame *frame = &candidates.at[i];
        if (frame->weight > most.weight ||
            (frame->weight == most.weight && ta_slice_compare(frame->name, most.name) < 0))
            most = *frame;
    }
    return most;
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    char share[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX];
    double all = 0;
    /* Of files of both kinds those with times say more. */
    struct frame most = heaviest(in, TOTAL, &all);
    const bool is_timed = most.weight > 0;
    if (!is_timed)
        most = heaviest(in, SAMPLES, &all);
    if (!(most.weight > 0))
        return;
    const struct ta_slice name = ta_line_name(line, most.name, NAME_MOST);
    ta_unit_format(share, most.weight / all, TA_UNIT_RATIO);
    /* The finding about waits for a device is not repeated, nor is a wait called work. */
    double waits = 0;
    for (size_t i = 0; i < ta_ref_rows(in, WAITS) && worst; i++)
        waits += strcmp(worst->id, "host-waits") ? 0 : ta_ref_number(in, WAITS, i, 0);
    if (most.weight / all <= 1.001 * waits)
        return;
    if (is_timed)
        ta_say(line, "%.*s itself takes %s of the time of all call stacks (%s).", (int)name.len,
               name.ptr, share, ta_unit_format(time, most.weight, TA_UNIT_NS));
    else
        ta_say(line, "%.*s itself is in %s of the samples of all call stacks (%.0f of %.0f).",
               (int)name.len, name.ptr, share, most.weight, all);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_WORK, .place = 5, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, stacks, &ops, .title = "Call stacks",
          .summary = "The function that takes most time, or most samples, itself", .version = "1");
