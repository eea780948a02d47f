/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/damage.h"

#include "model/trace.h"

#include <stdlib.h>

const struct ta_damage *ta_trace_damage(const struct ta_trace *trace)
{
    return &trace->damage;
}

void ta_damage_add_unknown(struct ta_damage *damage, int64_t from, int64_t to)
{
    ta_intervals_add(&damage->unknown, from, to);
}

void ta_damage_add_disordered(struct ta_damage *damage, int64_t from, int64_t to)
{
    damage->n_disordered++;
    ta_intervals_add(&damage->disordered, from, to);
}

static int by_time(const void *left, const void *right)
{
    const struct ta_untimed *a = left, *b = right;
    return (a->time > b->time) - (a->time < b->time);
}

static void add_up(struct ta_untimed *at, size_t n)
{
    if (n)
        qsort(at, n, sizeof *at, by_time);
    for (size_t i = 1; i < n; i++)
        at[i].calls += at[i - 1].calls;
}

bool ta_damage_settle(struct ta_damage *damage)
{
    add_up(damage->begins.at, damage->begins.n);
    add_up(damage->ends.at, damage->ends.n);
    ta_intervals_unite(&damage->unknown);
    ta_intervals_unite(&damage->disordered);
    return !damage->unknown.failed && !damage->disordered.failed;
}

void ta_damage_free(struct ta_damage *damage)
{
    free(damage->begins.at);
    free(damage->ends.at);
    ta_intervals_free(&damage->unknown);
    ta_intervals_free(&damage->disordered);
}

/* Calls at points before `time`, or at it. */
static int64_t calls_up_to(const struct ta_untimed *at, size_t n, int64_t time)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (at[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? at[low - 1].calls : 0;
}

int64_t ta_damage_calls(const struct ta_damage *damage, int64_t from, int64_t to)
{
    return calls_up_to(damage->begins.at, damage->begins.n, to - 1) -
           calls_up_to(damage->ends.at, damage->ends.n, from);
}
