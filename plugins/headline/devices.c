/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How busy the devices were, what bounds the run, and the worst finding. */
#include <traceanalyze/headline.h>

#include <math.h>
#include <stdio.h>

enum {
    CLASS,
    BOUND,
    SHARE,
    BUSY,
    WINDOW,
    GPU_WINDOW,
    PROGRAM,
    BUSY_NS,
    BEFORE,
    AFTER,
    DAMAGE,
    DAMAGE_SHARE,
    RECORDER
};
static const struct ta_ref reads[] = {[CLASS] = {"run.bound", "class"},
                                      [BOUND] = {"run.bound", "bound"},
                                      [SHARE] = {"run.bound", "share"},
                                      [BUSY] = {.scalar = "gpu_busy_share"},
                                      [WINDOW] = {.scalar = "program_window_ns"},
                                      [GPU_WINDOW] = {.scalar = "gpu_window_ns"},
                                      [PROGRAM] = {"gpu_time.program", "window_ns"},
                                      [BUSY_NS] = {"gpu_time.program", "busy_ns"},
                                      [BEFORE] = {"gpu_time.program", "before_ns"},
                                      [AFTER] = {"gpu_time.program", "after_ns"},
                                      [DAMAGE] = {"health.damage", "damage"},
                                      [DAMAGE_SHARE] = {"health.damage", "share"},
                                      [RECORDER] = {.scalar = "recorder_cost_ns"}};

/* Parts this close to each other both name the run. */
#define CLOSE 0.05

/* ", launch-bound (83 %, then compute 10 %)": the largest part of the windows and the next one. */
static void say_bound(struct ta_line *line, const struct ta_refs *in)
{
    const size_t n = ta_ref_rows(in, SHARE);
    if (n == 0)
        return;
    const struct ta_slice class = ta_ref_text(in, CLASS, 0);
    if (n == 1) {
        ta_say_on(line, ", %.*s", (int)class.len, class.ptr);
        return;
    }
    const struct ta_slice second_class = ta_ref_text(in, CLASS, 1);
    const struct ta_slice second = ta_ref_text(in, BOUND, 1);
    const double share = ta_ref_number(in, SHARE, 0, 0), runner_up = ta_ref_number(in, SHARE, 1, 0);
    char most[TA_UNIT_TEXT_MAX], next[TA_UNIT_TEXT_MAX];
    ta_unit_format(most, share, TA_UNIT_RATIO);
    ta_unit_format(next, runner_up, TA_UNIT_RATIO);
    if (share - runner_up < CLOSE)
        ta_say_on(line, ", %.*s (%s) and %.*s (%s)", (int)class.len, class.ptr, most,
                  (int)second_class.len, second_class.ptr, next);
    else
        ta_say_on(line, ", %.*s (%s, then %.*s %s)", (int)class.len, class.ptr, most,
                  (int)second.len, second.ptr, next);
}

/* Whether the devices did more than was recorded of them. */
static bool lacks_work(const struct ta_refs *in)
{
    enum { PERCENT = 2 };
    for (size_t i = 0; i < ta_ref_rows(in, DAMAGE); i++) {
        const struct ta_slice damage = ta_ref_text(in, DAMAGE, i);
        if (!ta_slice_equal(damage, TA_LIT("overlong")) &&
            !ta_slice_equal(damage, TA_LIT("out of order")) &&
            ta_ref_number(in, DAMAGE_SHARE, i, 0) * 100 > PERCENT)
            return true;
    }
    return false;
}

static double sum(const struct ta_refs *in, size_t ref)
{
    double total = 0;
    for (size_t i = 0; i < ta_ref_rows(in, ref); i++)
        total += ta_ref_number(in, ref, i, 0);
    return total;
}

/* " (98.8 % of the 121 ms from its first work to its last)": the window of the device, where the
 * program's is longer by more than one percent. */
static void say_device_window(struct ta_line *line, const struct ta_refs *in)
{
    const double program = sum(in, PROGRAM), edges = sum(in, BEFORE) + sum(in, AFTER);
    char length[TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX];
    const double longest = ta_ref_scalar(in, GPU_WINDOW, -1);
    if (longest < 0 || edges <= 0.01 * program || edges >= program)
        return;
    ta_unit_format(share, sum(in, BUSY_NS) / (program - edges), TA_UNIT_RATIO);
    ta_unit_format(length, longest, TA_UNIT_NS);
    ta_say_on(line, " (%s of the %s from its first work to its last)", share, length);
}

/* What recording costs the host, where this is much of the window, the devices wait for it, and
 * the finding does not say so. */
static void say_recorder(struct ta_line *line, const struct ta_refs *in,
                         const struct ta_finding *worst)
{
    const double much = 0.1, idle = 0.25; /* of the window */
    const double recorder = ta_ref_scalar(in, RECORDER, 0);
    char cost[TA_UNIT_TEXT_MAX];
    if ((worst && worst->recorder_ns > 0) ||
        recorder < much * ta_ref_scalar(in, WINDOW, INFINITY) ||
        1 - ta_ref_scalar(in, BUSY, 1) < idle)
        return;
    ta_unit_format(cost, recorder, TA_UNIT_NS);
    ta_say(line, "The recorder slows the host by about %s.", cost);
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const double busy = ta_ref_scalar(in, BUSY, -1);
    char length[TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX];
    if (busy < 0)
        return;
    ta_unit_format(length, ta_ref_scalar(in, WINDOW, -1), TA_UNIT_NS);
    ta_unit_format(share, busy, TA_UNIT_RATIO);
    ta_say(line, "GPU busy %s%s of %s", lacks_work(in) ? "at least " : "", share, length);
    say_device_window(line, in);
    say_bound(line, in);
    ta_say_on(line, ".");
    say_recorder(line, in, worst);
    ta_say(line, "%s.", worst ? worst->title : "No rule found anything worth changing");
    ta_line_covers_finding(line);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_DEVICES, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, devices, &ops, .title = "Devices",
          .summary = "How busy the devices were, and what bounds the run", .version = "1");
