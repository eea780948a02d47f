/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison says first of runs whose length is not known, such as of logs and of
 * telemetry: whether memory ran out, how long an iteration takes, what became of offloaded weights,
 * what slows the devices. */
#include "compare/compare.h"
#include "report/unit.h"
#include "report/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Loops whose iterations differ by less have one speed; from this ratio on it is said in times. */
#define SAME_SPEED 1.01
#define TIMES_FROM 1.5
/* Loops whose times differ by less are as long: bars round to seconds. */
#define ROUNDED_NS 1e9

struct text {
    char at[512];
};

#define PUT(text, ...)                                                                             \
    snprintf((text)->at + strlen((text)->at), sizeof(text)->at - strlen((text)->at), __VA_ARGS__)

/* ---- errors ---------------------------------------------------------------------------------- */

/* Bytes that a run wanted last and did not get; NaN without such an error.  What was done again in
 * another way, without an amount, is none. */
static double wanted(const struct ta_refs *in)
{
    double bytes = (double)NAN;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_FAILED); i++) {
        const double here = ta_ref_number(in, TA_AS_FAILED, i, (double)NAN);
        bytes = isnan(here) ? bytes : here;
    }
    return bytes;
}

static void put_failures(const struct diff *diff, struct text *text)
{
    const double base = wanted(&diff->in[TA_DIFF_BASE]), new = wanted(&diff->in[TA_DIFF_NEW]);
    char size[TA_UNIT_TEXT_MAX], before[TA_UNIT_TEXT_MAX];
    ta_unit_format(size, new, TA_UNIT_BYTES);
    ta_unit_format(before, base, TA_UNIT_BYTES);
    if (isnan(base) && isnan(new))
        return;
    if (isnan(base))
        PUT(text, "The program runs out of memory now: an allocation of %s fails", size);
    else if (isnan(new))
        PUT(text, "The program no longer runs out of memory: an allocation of %s failed before",
            before);
    else if (base == new)
        PUT(text, "Both runs are out of memory: an allocation of %s fails", size);
    else
        PUT(text, "Both runs are out of memory: an allocation of %s fails instead of one of %s",
            size, before);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* ": 6.1 times faster", ": 3.10 % more time". */
static void put_speed(double base, double new, struct text *text)
{
    char change[TA_UNIT_TEXT_MAX];
    const double ratio = fmax(base, new) / fmin(base, new);
    if (ratio < TIMES_FROM)
        PUT(text, ": %s %s", ta_unit_format(change, fabs(new / base - 1), TA_UNIT_RATIO),
            new > base ? "more time" : "less time");
    else
        PUT(text, ": %.*f times %s", ratio < 10 ? 1 : 0, ratio, new > base ? "as long" : "faster");
}

/* "an iteration of Wan22 takes 2.39 s instead of 14.6 s: 6.1 times faster".  Elapsed times of bars
 * have whole seconds. */
static void put_loop(struct diff *diff, const struct diff_loop *loop, struct text *text)
{
    enum { NAME_MOST = 60 };
    const double base = loop->ns[TA_DIFF_BASE], new = loop->ns[TA_DIFF_NEW];
    const double off = fabs(new - base) * fmin(loop->n[TA_DIFF_BASE], loop->n[TA_DIFF_NEW]);
    const bool is_same = fmax(base, new) / fmin(base, new) < SAME_SPEED || off <= ROUNDED_NS;
    char after[TA_UNIT_TEXT_MAX];
    const struct ta_slice name = diff_brief(diff, loop->name, NAME_MOST);
    if (loop == &diff->prompts)
        PUT(text, "a %.*s", (int)name.len, name.ptr);
    else if (ta_slice_equal(name, TA_LIT("iterations")))
        PUT(text, "an iteration");
    else
        PUT(text, "an iteration of %.*s", (int)name.len, name.ptr);
    if (is_same) {
        PUT(text, " takes as long as before (%s)", ta_unit_format(after, new, TA_UNIT_NS));
        return;
    }
    PUT(text, " %s", diff_instead(diff, "takes", base, new, TA_UNIT_NS));
    put_speed(base, new, text);
}

static const char *gap(const struct text *text)
{
    return text->at[0] ? ", and " : "";
}

static void put_offloaded(const int64_t bytes[TA_DIFF_SIDES], struct text *text)
{
    char size[TA_UNIT_TEXT_MAX], before[TA_UNIT_TEXT_MAX];
    const int64_t base = bytes[TA_DIFF_BASE], new = bytes[TA_DIFF_NEW];
    if (base < 0 || new < 0 || base == new)
        return;
    ta_unit_format(size, (double)new, TA_UNIT_BYTES);
    ta_unit_format(before, (double)base, TA_UNIT_BYTES);
    if (new == 0)
        PUT(text, "%s%s of its weights are no longer offloaded", gap(text), before);
    else if (base == 0)
        PUT(text, "%s%s of its weights are offloaded now", gap(text), size);
    else
        PUT(text, "%s%s of its weights are offloaded instead of %s", gap(text), size, before);
}

/* A change of speed within one of the runs alone. */
static void put_drift(const struct diff_loop *loop, struct text *text)
{
    const bool base = !isnan(loop->change_at[TA_DIFF_BASE]),
               new = !isnan(loop->change_at[TA_DIFF_NEW]);
    char after[TA_UNIT_TEXT_MAX];
    if (base == new)
        return;
    const int side = new ? TA_DIFF_NEW : TA_DIFF_BASE;
    ta_unit_format(after, loop->after_ns[side], TA_UNIT_NS);
    PUT(text, "%s%s %s from iteration %.0f on", gap(text), new ? "it now takes" : "before, it took",
        after, loop->change_at[side]);
}

static void note_time(struct diff *diff, const struct diff_loop *loop)
{
    const bool is_prompt = loop == &diff->prompts;
    const struct ta_slice name = is_prompt ? loop->name : TA_LIT("iteration");
    diff->told_of = ta_arena_printf(&diff->arena, "Time per %.*s", (int)name.len, name.ptr);
    memcpy(diff->told_ns, loop->ns, sizeof diff->told_ns);
}

/* Of prompts, which people wait for, before the iterations in them. */
static void put_loops(struct diff *diff, struct text *first, struct text *second)
{
    const bool has_loop = diff->loop.name.len > 0;
    if (diff->prompts.name.len || has_loop)
        note_time(diff, diff->prompts.name.len ? &diff->prompts : &diff->loop);
    if (diff->prompts.name.len) {
        struct text *prompts = first->at[0] ? second : first;
        put_loop(diff, &diff->prompts, prompts);
    }
    if (!has_loop)
        return;
    struct text *loop = first->at[0] ? second : first;
    PUT(loop, "%s", gap(loop));
    put_loop(diff, &diff->loop, loop);
    put_offloaded(diff->loop.offloaded_bytes, loop == first ? second : loop);
    put_drift(&diff->loop, second);
}

/* ---- devices --------------------------------------------------------------------------------- */

/* Of devices: what slows them in one of the runs, and their clock. */
static void put_devices(const struct diff *diff, struct text *first, struct text *second)
{
    /* A limit in a smaller part of the samples than this says little. */
    static const double least_share = 0.03, least_change = 0.02;
    char word[TA_WORD_TEXT_MAX], old[TA_UNIT_TEXT_MAX], now[TA_UNIT_TEXT_MAX];
    const double base = diff->limit.share[TA_DIFF_BASE], new = diff->limit.share[TA_DIFF_NEW];
    const struct ta_slice limit = ta_word_text(diff->limit.name, word);
    ta_unit_format(old, base, TA_UNIT_RATIO);
    ta_unit_format(now, new, TA_UNIT_RATIO);
    if (fabs(new - base) < least_share)
        ;
    else if (base > 0 && new > 0)
        PUT(first, "The devices are slowed (%.*s) in %s of the busy samples instead of %s",
            (int)limit.len, limit.ptr, now, old);
    else if (new > 0)
        PUT(first, "The devices are slowed now (%.*s, in %s of the busy samples)", (int)limit.len,
            limit.ptr, now);
    else
        PUT(first, "%.*s no longer slows the devices (before: in %s of the busy samples)",
            (int)limit.len, limit.ptr, old);
    const double before = diff->clock[TA_DIFF_BASE], after = diff->clock[TA_DIFF_NEW];
    if (before > 0 && after > 0 && fabs(after / before - 1) >= least_change)
        PUT(first->at[0] ? second : first, "the mean GPU clock is %s instead of %s",
            ta_unit_format(now, after, TA_UNIT_HERTZ), ta_unit_format(old, before, TA_UNIT_HERTZ));
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool keep(struct diff *diff, const struct text *first, const struct text *second,
                 struct diff_said *said)
{
    said->first = ta_arena_copy(&diff->arena, ta_slice_of(first->at));
    said->second = second->at[0] ? ta_arena_copy(&diff->arena, ta_slice_of(second->at)) : NULL;
    return said->first && first->at[0];
}

bool diff_say_untimed(struct diff *diff, struct diff_said *said)
{
    struct text first = {""}, second = {""};
    put_failures(diff, &first);
    put_loops(diff, &first, &second);
    if (diff->loop.name.len == 0 && diff->prompts.name.len == 0)
        put_devices(diff, &first, &second);
    return keep(diff, &first, &second, said);
}

/* "All of it comes from optimizers.py:82 (12.8 GiB) and optimizers.py:84 (12.7 GiB)". */
static void put_sites(struct diff *diff, double whole, struct text *text)
{
    enum { NAME_MOST = 60 };
    const struct diff_part_of_peak *peak = &diff->peak;
    const double first = (double)(peak->bytes[TA_DIFF_NEW] - peak->bytes[TA_DIFF_BASE]);
    const double second =
        peak->next.len ? (double)(peak->next_bytes[TA_DIFF_NEW] - peak->next_bytes[TA_DIFF_BASE])
                       : 0;
    const double both = fabs(first + second);
    char size[TA_UNIT_TEXT_MAX];
    if (peak->site.len == 0 || first == 0)
        return;
    const struct ta_slice name = diff_brief(diff, peak->site, NAME_MOST);
    PUT(text, "%s of it comes from %.*s (%s)",
        both > whole        ? "More than all"
        : both == whole     ? "All"
        : both >= whole / 2 ? "Most"
                            : "The largest part",
        (int)name.len, name.ptr, ta_unit_format(size, first, TA_UNIT_BYTES_CHANGE));
    if (second == 0)
        return;
    const struct ta_slice next = diff_brief(diff, peak->next, NAME_MOST);
    PUT(text, " and %.*s (%s)", (int)next.len, next.ptr,
        ta_unit_format(size, second, TA_UNIT_BYTES_CHANGE));
}

bool diff_say_memory(struct diff *diff, struct diff_said *said)
{
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    struct text first = {""}, second = {""};
    char old[TA_UNIT_TEXT_MAX], now[TA_UNIT_TEXT_MAX], by[TA_UNIT_TEXT_MAX];
    if (!ta_ref_exists(base, TA_AS_PEAK_ALLOCATED) || !ta_ref_exists(new, TA_AS_PEAK_ALLOCATED))
        return false;
    const double before = ta_ref_scalar(base, TA_AS_PEAK_ALLOCATED, 0);
    const double after = ta_ref_scalar(new, TA_AS_PEAK_ALLOCATED, 0);
    ta_unit_format(old, before, TA_UNIT_BYTES);
    ta_unit_format(now, after, TA_UNIT_BYTES);
    if (before == after)
        PUT(&first, "Nothing changed at the memory peak: it is %s in both", now);
    else
        PUT(&first, "The memory peak is %s instead of %s: %s %s", now, old,
            ta_unit_format(by, fabs(after - before), TA_UNIT_BYTES),
            after > before ? "more" : "less");
    if (before != after)
        put_sites(diff, fabs(after - before), &second);
    return keep(diff, &first, &second, said);
}
