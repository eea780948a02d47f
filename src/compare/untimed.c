/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison says first of runs whose length is not known, such as of logs and of
 * telemetry: whether memory ran out, how long an iteration takes, what became of offloaded weights,
 * what slows the devices. */
#include "compare/compare.h"
#include "report/unit.h"
#include "report/words.h"

#include <math.h>
#include <stdio.h>

/* Loops whose iterations differ by less have one speed; from this ratio on it is said in times. */
#define SAME_SPEED 1.01
#define TIMES_FROM 1.5
/* Loops whose times differ by less are as long: bars round to seconds. */
#define ROUNDED_NS 1e9

struct text {
    char *at;
    size_t size;
};

#define PUT(text, ...)                                                                             \
    snprintf((text)->at + strlen((text)->at), (text)->size - strlen((text)->at), __VA_ARGS__)

static const char *gap(const struct text *text)
{
    return text->at[0] ? "; " : "";
}

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
    char size[TA_UNIT_TEXT_MAX], pair[TA_UNIT_PAIR_MAX];
    if (isnan(base) && isnan(new))
        return;
    if (isnan(base))
        PUT(text, "Out of memory now: an allocation of %s fails",
            ta_unit_format(size, new, TA_UNIT_BYTES));
    else if (isnan(new))
        PUT(text, "No longer out of memory: an allocation of %s failed before",
            ta_unit_format(size, base, TA_UNIT_BYTES));
    else
        PUT(text, "Out of memory in both runs: an allocation of %s fails",
            base == new ? ta_unit_format(size, new, TA_UNIT_BYTES)
                        : ta_unit_format_pair(pair, base, new, TA_UNIT_BYTES));
}

/* "6.1 times faster", "slower by 3.10 %".  Elapsed times of bars have whole seconds. */
static void put_speed(const struct diff_loop *loop, struct text *text)
{
    char change[TA_UNIT_TEXT_MAX];
    const double base = loop->ns[TA_DIFF_BASE], new = loop->ns[TA_DIFF_NEW];
    const double ratio = fmax(base, new) / fmin(base, new);
    const double off = fabs(new - base) * fmin(loop->n[TA_DIFF_BASE], loop->n[TA_DIFF_NEW]);
    const char *direction = new > base ? "slower" : "faster";
    if (ratio < SAME_SPEED || off <= ROUNDED_NS)
        PUT(text, ", about the same speed");
    else if (ratio < TIMES_FROM)
        PUT(text, ", %s by %s", direction,
            ta_unit_format(change, fabs(new / base - 1), TA_UNIT_RATIO));
    else
        PUT(text, ", %.*f times %s", ratio < 10 ? 1 : 0, ratio, new > base ? "as long" : "faster");
}

static void put_offloaded(const int64_t bytes[TA_DIFF_SIDES], struct text *text)
{
    char size[TA_UNIT_TEXT_MAX], pair[TA_UNIT_PAIR_MAX];
    const int64_t base = bytes[TA_DIFF_BASE], new = bytes[TA_DIFF_NEW];
    if (base < 0 || new < 0 || base == new)
        return;
    if (new == 0)
        PUT(text, "; %s of its weights are no longer offloaded",
            ta_unit_format(size, (double)base, TA_UNIT_BYTES));
    else if (base == 0)
        PUT(text, "; %s of its weights are offloaded now",
            ta_unit_format(size, (double)new, TA_UNIT_BYTES));
    else
        PUT(text, "; %s of its weights are offloaded",
            ta_unit_format_pair(pair, (double)base, (double)new, TA_UNIT_BYTES));
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
    PUT(text, "; %s from iteration %.0f on it %s %s", new ? "now" : "before", loop->change_at[side],
        new ? "takes" : "took", after);
}

static void put_loop(struct diff *diff, const struct diff_loop *loop, struct text *text)
{
    enum { NAME_MOST = 60 };
    char pair[TA_UNIT_PAIR_MAX];
    if (loop->name.len == 0)
        return;
    ta_unit_format_pair(pair, loop->ns[TA_DIFF_BASE], loop->ns[TA_DIFF_NEW], TA_UNIT_NS);
    const struct ta_slice name = diff_brief(diff, loop->name, NAME_MOST);
    if (loop == &diff->prompts)
        PUT(text, "%s%s per %.*s", gap(text), pair, (int)name.len, name.ptr);
    else if (ta_slice_equal(name, TA_LIT("iterations")))
        PUT(text, "%s%s per iteration", gap(text), pair);
    else
        PUT(text, "%s%.*s: %s per iteration", gap(text), (int)name.len, name.ptr, pair);
    put_speed(loop, text);
    put_offloaded(loop->offloaded_bytes, text);
    put_drift(loop, text);
}

/* Of devices: what slows them in one of the runs, and their clock. */
static void put_devices(const struct diff *diff, struct text *text)
{
    /* A limit in a smaller part of the samples than this says little. */
    static const double least_share = 0.03, least_change = 0.02;
    char word[TA_WORD_TEXT_MAX], share[TA_UNIT_PAIR_MAX], clock[TA_UNIT_PAIR_MAX];
    const double base = diff->limit.share[TA_DIFF_BASE], new = diff->limit.share[TA_DIFF_NEW];
    const struct ta_slice limit = ta_word_text(diff->limit.name, word);
    const char *start = gap(text);
    if (fabs(new - base) >= least_share) {
        if (base > 0 && new > 0)
            PUT(text, "%sLimit on the devices, %.*s: %s of the busy samples", start, (int)limit.len,
                limit.ptr, ta_unit_format_pair(share, base, new, TA_UNIT_RATIO));
        else
            PUT(text, "%s%s: %.*s, %s of the busy samples%s", start,
                new > 0 ? "The devices are slowed now" : "The devices are no longer slowed",
                (int)limit.len, limit.ptr, ta_unit_format(share, fmax(base, new), TA_UNIT_RATIO),
                new > 0 ? "" : " before");
        start = "; ";
    }
    const double before = diff->clock[TA_DIFF_BASE], after = diff->clock[TA_DIFF_NEW];
    if (before > 0 && after > 0 && fabs(after / before - 1) >= least_change)
        PUT(text, "%sGPU clock %s in the mean", start,
            ta_unit_format_pair(clock, before, after, TA_UNIT_HERTZ));
}

bool diff_say_untimed(struct diff *diff, char *line, size_t size)
{
    struct text text = {line, size};
    line[0] = '\0';
    put_failures(diff, &text);
    put_loop(diff, &diff->loop, &text);
    put_loop(diff, &diff->prompts, &text);
    if (diff->loop.name.len == 0 && diff->prompts.name.len == 0)
        put_devices(diff, &text);
    return line[0];
}
