/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which phase of a program a moment of the host is in. */
#include "memory_program.h"

#include <stdlib.h>

static int by_start(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end < b->end) - (a->end > b->end);
}

/* Takes what ends until `time` from the open ones, of which the last one began last, and adds what
 * of them lies between `from` and their ends. */
static int64_t close_until(struct stretch *open, size_t *n_open, int64_t from, int64_t time,
                           struct phases *out)
{
    while (*n_open > 0 && open[*n_open - 1].end <= time) {
        const struct stretch *last = &open[--*n_open];
        if (last->end > from) {
            out->at[out->n++] = (struct stretch){from, last->end, last->phase};
            from = last->end;
        }
    }
    return from;
}

/* Cuts stretches that overlap: where several are open, the one that began last counts. */
static bool flatten(struct stretch *all, size_t n, struct phases *out)
{
    struct stretch *open = calloc(n + 1, sizeof *open);
    out->at = calloc(2 * n + 1, sizeof *out->at);
    const bool done = open && out->at;
    int64_t from = INT64_MIN;
    size_t n_open = 0;
    if (done && n > 0)
        qsort(all, n, sizeof *all, by_start);
    for (size_t i = 0; done && i < n; i++) {
        from = close_until(open, &n_open, from, all[i].start, out);
        if (n_open > 0 && all[i].start > from)
            out->at[out->n++] = (struct stretch){from, all[i].start, open[n_open - 1].phase};
        from = all[i].start;
        open[n_open++] = all[i];
    }
    if (done)
        close_until(open, &n_open, from, INT64_MAX, out);
    free(open);
    return done;
}

bool memory_find_phases(const struct ta_trace *trace, struct phases *phases)
{
    const struct ta_generation *generation = ta_program_generation(trace);
    struct stretch *all = generation ? calloc(generation->n_stages + 1, sizeof *all) : NULL;
    *phases = (struct phases){.n = 0};
    if (!all)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < generation->n_stages; i++) {
        const struct ta_generation_stage *stage = &generation->stages[i];
        if (stage->time.host_start != TA_MISSING && stage->time.host_end > stage->time.host_start)
            all[n++] = (struct stretch){stage->time.host_start, stage->time.host_end,
                                        (int64_t)stage->phase};
    }
    const bool done = flatten(all, n, phases);
    free(all);
    return done;
}

int64_t memory_phase_at(const struct phases *phases, int64_t time)
{
    size_t low = 0, high = phases->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (phases->at[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low && time < phases->at[low - 1].end ? phases->at[low - 1].phase : NO_PHASE;
}

const char *memory_phase_name(int64_t phase)
{
    return phase >= 0 && phase < MEMORY_PHASES ? ta_generation_phase_names[phase] : "";
}
