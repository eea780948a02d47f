/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's own figures next to ours, and why they differ. */
#include "throughput.h"

#include <math.h>
#include <stdio.h>

enum { NOTE_MAX = 64 };

/* A figure of the profiler next to ours of the same name. */
struct compared {
    struct ta_slice metric, group;
    double reported, ours; /* NAN: we have none */
    size_t n_files;        /* of the rank that report it, of which this is the first */
};

static bool is_word(struct ta_slice text, const char *word)
{
    return ta_slice_equal(text, ta_slice_of(word));
}

/* How the profiler came to another number. */
static const char *reason_of(const struct compared *c)
{
    const bool is_fps = is_word(c->metric, "fps");
    if (is_word(c->group, "diffusion"))
        return is_fps ? "counts frames once per step" : "counts steps, not blocks";
    if (is_word(c->group, "streaming"))
        return "frames sent, by the last ten batches";
    if (is_word(c->metric, "tokens_per_s"))
        return c->n_files > 1          ? "of the first of several files"
               : c->reported < c->ours ? "over the time of all sections"
                                       : "over other sections than ours";
    return "of other blocks than those recorded";
}

static double ours_of(const struct rank *rank, struct ta_slice metric)
{
    return is_word(metric, "fps")            ? rank->of[RATE_FPS_BLOCKS]
           : is_word(metric, "bps")          ? rank->of[RATE_BPS_BLOCKS]
           : is_word(metric, "tokens_per_s") ? rank->of[RATE_TOKENS]
                                             : NAN;
}

/* Which of the groups that report a metric has the plain basis "as_reported": the one that the
 * advice of the profilers rests on, else the first by name. */
static struct ta_slice main_group(const struct ta_partial *figures, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct ta_slice group = ta_partial_text(figures, ta_partial_at(figures, i), GROUP);
        if (ta_slice_equal(group, TA_LIT("diffusion")))
            return group;
    }
    return ta_partial_text(figures, ta_partial_at(figures, first), GROUP);
}

void throughput_add_metric(const struct rank *rank, const struct ta_partial *figures, size_t first,
                           size_t end, struct ta_section_builder *out)
{
    const struct ta_slice main = main_group(figures, first, end);
    for (size_t i = first, next; i < end; i = next) {
        next = ta_partial_group_end(figures, i, GROUP);
        const int64_t *row = ta_partial_at(figures, i);
        const struct ta_slice group = ta_partial_text(figures, row, GROUP);
        const struct ta_slice metric = ta_partial_text(figures, row, NAME);
        char basis[100] = "as_reported", name[40], note[NOTE_MAX];
        if (!ta_slice_equal(group, main))
            snprintf(basis, sizeof basis, "as_reported (%.*s)",
                     (int)(group.len < 60 ? group.len : 60), group.ptr);
        snprintf(name, sizeof name, "%.*s", (int)metric.len, metric.ptr);
        /* Why the number of the profiler is not ours, in a line short enough to be shown whole; ""
         * when it is. */
        const struct compared *c = &(struct compared){metric, group, ta_real_of(row[VALUE]),
                                                      ours_of(rank, metric), next - i};
        note[0] = '\0';
        if (is_word(c->metric, "first_block_ns"))
            snprintf(note, NOTE_MAX, "the block alone, not from the start");
        if (is_word(c->metric, "tpf"))
            snprintf(note, NOTE_MAX, "of the benchmark; requests.by_rank has ours, where recorded");
        if (isfinite(c->ours) && c->ours > 0 && fabs(c->reported - c->ours) > 1e-3 * c->ours)
            snprintf(note, NOTE_MAX, "%s: ×%.3g", reason_of(c), c->reported / c->ours);
        else if (is_word(c->group, "diffusion") && !isfinite(c->ours) &&
                 (is_word(c->metric, "fps") || is_word(c->metric, "bps")))
            snprintf(note, NOTE_MAX, "%s", reason_of(c));
        const bool known = row[UNIT] >= 0 && row[UNIT] < TA_UNIT_COUNT_OF_UNITS;
        throughput_add_value(out, rank->rank, name, basis, ta_real_of(row[VALUE]),
                             known ? (enum ta_unit)row[UNIT] : TA_UNIT_NONE, note);
    }
}
