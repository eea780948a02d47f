/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times are per unit of work where the runs did different amounts of it: in a longer run everything
 * takes longer. */
#include "compare/cause.h"

#include <math.h>

const struct ta_slice diff_compute = {"compute", 7}, diff_all_ranks = {"all ranks", 9};

struct ta_slice diff_bar_name(struct diff *diff, const struct diff_bar *bar)
{
    if (bar->name.len)
        return bar->name;
    const char *text =
        ta_arena_printf(&diff->arena, "other %.*s", (int)bar->kind.len, bar->kind.ptr);
    return ta_slice_of(text ? text : "other");
}

static double change_of(const struct diff *diff, const int64_t ns[TA_DIFF_SIDES])
{
    return diff_per_unit(diff, TA_DIFF_NEW, ns[TA_DIFF_NEW]) -
           diff_per_unit(diff, TA_DIFF_BASE, ns[TA_DIFF_BASE]);
}

static struct diff_cause cause_of(struct diff *diff, struct ta_slice name, struct ta_slice kind,
                                  const int64_t ns[TA_DIFF_SIDES])
{
    return (struct diff_cause){.name = name,
                               .kind = kind,
                               .ns = {diff_per_unit(diff, TA_DIFF_BASE, ns[TA_DIFF_BASE]),
                                      diff_per_unit(diff, TA_DIFF_NEW, ns[TA_DIFF_NEW])}};
}

static void note(struct diff *diff, struct ta_slice name, struct ta_slice kind,
                 const int64_t ns[TA_DIFF_SIDES])
{
    diff->cause = cause_of(diff, name, kind, ns);
}

/* ---- of a window --------------------------------------------------------------------------- */

/* Kernels that together changed most of the window are the cause where the term that changed most
 * by itself is none of them, and much less: another device, or another clock. */
static void prefer_kernels(struct diff *diff, const struct diff_bar *bars, size_t n, double whole,
                           double largest)
{
    int64_t ns[TA_DIFF_SIDES] = {0, 0};
    size_t kernels = 0;
    for (size_t i = 0; i < n; i++) {
        if (!ta_slice_equal(bars[i].kind, diff_compute))
            continue;
        kernels++;
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            ns[side] += bars[i].ns[side];
    }
    const double change = change_of(diff, ns);
    if ((change > 0) != (whole > 0) || fabs(change) < fabs(whole) / 2 || fabs(change) < 2 * largest)
        return;
    const char *name = ta_arena_printf(&diff->arena, "%zu compute kernels", kernels);
    note(diff, ta_slice_of(name), diff_compute, ns);
}

/* Idle time has many causes, which change together: all of it is the cause, and the one that
 * changed most is its part. */
static void prefer_idle(struct diff *diff, const struct diff_bar *bars, size_t n)
{
    const struct diff_cause part = diff->cause;
    int64_t ns[TA_DIFF_SIDES] = {0, 0};
    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            ns[side] += ta_slice_equal(bars[i].kind, part.kind) ? bars[i].ns[side] : 0;
    const double all = change_of(diff, ns);
    const double own = part.ns[TA_DIFF_NEW] - part.ns[TA_DIFF_BASE];
    if ((all > 0) != (own > 0) || fabs(all) < fabs(own))
        return;
    note(diff, part.name, part.kind, ns);
    diff->cause.part = part.name;
    diff->cause.part_ns[TA_DIFF_BASE] = part.ns[TA_DIFF_BASE];
    diff->cause.part_ns[TA_DIFF_NEW] = part.ns[TA_DIFF_NEW];
}

/* Kernels that both sides call as often, and of which each takes as much longer as the others: what
 * changed is none of them, but the device or its clock. */
static bool find_clock(struct diff *diff, const struct diff_bar *bars, size_t n, double whole)
{
    int64_t ns[TA_DIFF_SIDES] = {0, 0}, all = 0;
    size_t kernels = 0;
    double apart = 0;
    for (size_t i = 0; i < n; i++) {
        if (!ta_slice_equal(bars[i].kind, diff_compute))
            continue;
        all += bars[i].ns[TA_DIFF_BASE];
        if (bars[i].calls[TA_DIFF_BASE] != bars[i].calls[TA_DIFF_NEW])
            continue;
        kernels++;
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            ns[side] += bars[i].ns[side];
    }
    if (kernels < 4 || ns[TA_DIFF_BASE] < all / 10 * 9)
        return false;
    const double ratio = (double)ns[TA_DIFF_NEW] / (double)ns[TA_DIFF_BASE];
    for (size_t i = 0; i < n; i++)
        if (ta_slice_equal(bars[i].kind, diff_compute) &&
            bars[i].calls[TA_DIFF_BASE] == bars[i].calls[TA_DIFF_NEW])
            apart +=
                fabs((double)bars[i].ns[TA_DIFF_NEW] - ratio * (double)bars[i].ns[TA_DIFF_BASE]);
    const double change = change_of(diff, ns);
    if (fabs(ratio - 1) < 0.02 || apart > 0.25 * fabs(ratio - 1) * (double)ns[TA_DIFF_BASE] ||
        (change > 0) != (whole > 0) || fabs(change) < 0.7 * fabs(whole))
        return false;
    const char *name = ta_arena_printf(&diff->arena, "all %zu kernels", kernels);
    note(diff, ta_slice_of(name), diff_compute, ns);
    diff->cause.is_clock = true;
    return true;
}

/* Of stages the one that changed most after the cause, where it is a quarter of the change: what
 * models have in common made them slower, or faster. */
static void add_stage(struct diff *diff, const struct diff_bar *bars, size_t n,
                      const struct diff_bar *most, double whole)
{
    const struct diff_bar *next = NULL;
    double largest = fabs(whole) / 4;
    if (most->ns[TA_DIFF_BASE] == 0 || most->ns[TA_DIFF_NEW] == 0)
        return; /* it came or went */
    for (size_t i = 0; i < n; i++) {
        const double change = change_of(diff, bars[i].ns);
        if (&bars[i] == most || bars[i].ns[TA_DIFF_BASE] == 0 || bars[i].ns[TA_DIFF_NEW] == 0 ||
            !ta_slice_equal(bars[i].kind, most->kind) || !bars[i].name.len ||
            (change > 0) != (whole > 0) || fabs(change) < largest)
            continue;
        largest = fabs(change);
        next = &bars[i];
    }
    if (!next)
        return;
    diff->cause.also = next->name;
    diff->cause.as_often = most->calls[TA_DIFF_BASE] == most->calls[TA_DIFF_NEW] &&
                           next->calls[TA_DIFF_BASE] == next->calls[TA_DIFF_NEW] && !diff->unit;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        diff->cause.also_ns[side] = diff_per_unit(diff, side, next->ns[side]);
}

static void find_shift(struct diff *diff, const struct diff_bar *bars, size_t n)
{
    const struct diff_bar *most = NULL;
    for (size_t i = 0; i < n; i++)
        if (bars[i].name.len &&
            (!most || fabs(change_of(diff, bars[i].ns)) > fabs(change_of(diff, most->ns))))
            most = &bars[i];
    if (most)
        diff->shift = cause_of(diff, most->name, most->kind, most->ns);
}

/* The term that changed most in the direction of the whole. */
void diff_find_cause(struct diff *diff, const struct diff_bar *bars, size_t n)
{
    find_shift(diff, bars, n);
    const double whole = change_of(diff, diff->window_ns);
    const struct diff_bar *most = NULL;
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        const double change = change_of(diff, bars[i].ns);
        if ((change > 0) != (whole > 0) || fabs(change) <= largest)
            continue;
        largest = fabs(change);
        most = &bars[i];
    }
    if (!most || find_clock(diff, bars, n, whole))
        return;
    note(diff, diff_bar_name(diff, most), most->kind, most->ns);
    if (ta_slice_equal(most->kind, TA_LIT("stage"))) {
        memcpy(diff->cause.calls, most->calls, sizeof most->calls);
        add_stage(diff, bars, n, most, whole);
    }
    if (ta_slice_equal(most->kind, TA_LIT("idle")))
        prefer_idle(diff, bars, n);
    if (!ta_slice_equal(most->kind, diff_compute))
        prefer_kernels(diff, bars, n, whole, largest);
}

/* ---- of hosts ------------------------------------------------------------------------------ */

/* Time of an operator without what runs inside, of one side; 0 where it is not. */
static int64_t own_time(const struct diff_pair *pair, int side)
{
    return pair->item[side] ? pair->item[side]->self_ns : 0;
}

/* All of its time; for names that replaced one another, the time of all of them. */
static int64_t whole_time(const struct diff *diff, const struct diff_pair *pair, int side)
{
    if (pair->set)
        return diff->sets[pair->set - 1].ns[side];
    return pair->item[side] ? pair->item[side]->total_ns : 0;
}

void diff_find_host_cause(struct diff *diff, bool is_slower)
{
    const struct diff_pair *most = NULL;
    double largest = 0;
    for (size_t i = 0; i < diff->ops.n; i++) {
        const struct diff_pair *pair = &diff->ops.at[i];
        const double change = change_of(
            diff, (const int64_t[]){own_time(pair, TA_DIFF_BASE), own_time(pair, TA_DIFF_NEW)});
        if ((change > 0) != is_slower || fabs(change) <= largest)
            continue;
        largest = fabs(change);
        most = pair;
    }
    if (!most)
        return;
    const int side = most->item[TA_DIFF_BASE] ? TA_DIFF_BASE : TA_DIFF_NEW;
    note(diff, diff_name_of(&diff->op_names, side, most->item[side]->name), diff_all_ranks,
         (const int64_t[]){whole_time(diff, most, TA_DIFF_BASE),
                           whole_time(diff, most, TA_DIFF_NEW)});
}
