/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finding of runs that take longer although they call the same things as often: their speed fell,
 * or each call does more.  Where all of them became slower alike, the machine or a setting of the
 * whole program did it; where one alone did, what that one depends on. */
#include "compare/cause.h"
#include "compare/window.h"
#include "report/report.h"
#include "report/sections.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>

/* A run that takes longer by less is not worth a search. */
#define LEAST_SLOWER 0.02
/* Part of the change that calls of equal number have to explain. */
#define LEAST_EXPLAINED 0.5
/* Terms of this part of the window have to be slower for all to be. */
#define MAIN_SHARE 0.05
/* Of the slow-down of all, what each of them shows at least. */
#define LEAST_ALIKE 0.3

enum { NAME_MOST = 40, NAMED_MOST = 2 };

/* Terms that are called as often as before. */
struct equal {
    const struct diff_bar *named[NAMED_MOST]; /* those that changed most */
    size_t n_main;                            /* of those that take much of the window */
    double ns[TA_DIFF_SIDES];
    double least, most; /* how many times as long main ones take */
};

static bool is_work(const struct diff_bar *bar)
{
    return ta_slice_equal(bar->kind, diff_compute) || ta_slice_equal(bar->kind, TA_LIT("stage")) ||
           ta_slice_equal(bar->kind, TA_LIT("host"));
}

static double ratio_of(const struct diff_bar *bar)
{
    return (double)bar->ns[TA_DIFF_NEW] / (double)bar->ns[TA_DIFF_BASE];
}

/* What replaced something else is not the same work. */
static bool is_equal(const struct diff_bar *bar)
{
    return is_work(bar) && bar->name.len && bar->calls[TA_DIFF_BASE] > 0 &&
           bar->calls[TA_DIFF_BASE] == bar->calls[TA_DIFF_NEW] && bar->ns[TA_DIFF_BASE] > 0 &&
           !memmem(bar->name.ptr, bar->name.len, " → ", strlen(" → "));
}

static struct equal find_equal(const struct diff *diff)
{
    struct equal equal = {.least = INFINITY};
    size_t n_named = 0;
    for (size_t i = 0; i < diff->n_bars; i++) {
        const struct diff_bar *bar = &diff->bars[i];
        if (!is_equal(bar))
            continue;
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            equal.ns[side] += (double)bar->ns[side];
        if (n_named < NAMED_MOST && bar->ns[TA_DIFF_NEW] > bar->ns[TA_DIFF_BASE])
            equal.named[n_named++] = bar; /* they come by the size of their change */
        if ((double)bar->ns[TA_DIFF_BASE] < MAIN_SHARE * (double)diff->window_ns[TA_DIFF_BASE])
            continue;
        equal.n_main++;
        equal.least = fmin(equal.least, ratio_of(bar));
        equal.most = fmax(equal.most, ratio_of(bar));
    }
    return equal;
}

static bool is_alike(const struct equal *equal)
{
    const double all = equal->ns[TA_DIFF_NEW] / equal->ns[TA_DIFF_BASE];
    return equal->n_main > 1 && equal->least - 1 >= LEAST_ALIKE * (all - 1);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* "transformer_forward 1.30 times, vae_decode 1.44 times". */
static const char *names_of(struct diff *diff, const struct equal *equal)
{
    const char *text = "";
    for (size_t i = 0; i < NAMED_MOST && equal->named[i] && text; i++) {
        const struct ta_slice name = diff_brief(diff, equal->named[i]->name, NAME_MOST);
        text = ta_arena_printf(&diff->arena, "%s%s%.*s %.2f times", text, i ? ", " : "",
                               (int)name.len, name.ptr, ratio_of(equal->named[i]));
    }
    return text;
}

/* "1.20 to 1.31 times". */
static const char *times_of(struct diff *diff, const struct equal *equal)
{
    if (equal->most - equal->least < 0.005)
        return ta_arena_printf(&diff->arena, "%.2f times", equal->most);
    return ta_arena_printf(&diff->arena, "%.2f to %.2f times", equal->least, equal->most);
}

static const char *title_of(struct diff *diff, const struct equal *equal, bool alike)
{
    const struct diff_bar *most = equal->named[0];
    const struct ta_slice name = diff_brief(diff, most->name, NAME_MOST);
    const double calls = (double)most->calls[TA_DIFF_BASE];
    struct diff_two two;
    if (alike && equal->n_main > NAMED_MOST)
        return ta_arena_printf(
            &diff->arena, "The same calls take longer: %zu %s %s, all alike", equal->n_main,
            ta_slice_equal(most->kind, diff_compute) ? "kernels" : "names", times_of(diff, equal));
    if (alike)
        return ta_arena_printf(&diff->arena, "The same calls take longer: %s",
                               names_of(diff, equal));
    diff_two(&two, (double)most->ns[TA_DIFF_BASE] / calls, (double)most->ns[TA_DIFF_NEW] / calls,
             TA_UNIT_NS);
    return ta_arena_printf(&diff->arena,
                           "The same calls take longer: %.*s %.2f times (%s instead of %s each)",
                           (int)name.len, name.ptr, ratio_of(most), two.after, two.before);
}

static const char *why_of(struct diff *diff, const struct equal *equal, double change)
{
    char text[TA_UNIT_TEXT_MAX], calls[TA_UNIT_TEXT_MAX];
    const struct diff_bar *most = equal->named[0];
    const struct ta_slice name = diff_brief(diff, most->name, NAME_MOST);
    return ta_arena_printf(
        &diff->arena,
        "They are called as often as before (%.*s %s times): their speed fell, or each "
        "call does more. That costs %s.",
        (int)name.len, name.ptr,
        ta_unit_format(calls, (double)most->calls[TA_DIFF_BASE], TA_UNIT_COUNT),
        ta_unit_format(text, change, TA_UNIT_NS));
}

static const char *monitor_of(const struct diff *diff)
{
    const char *devices = ta_report_run(diff->shown[TA_DIFF_NEW])->devices;
    return strstr(devices, "AMD")      ? "amd-smi"
           : strstr(devices, "NVIDIA") ? "nvidia-smi"
                                       : "nvidia-smi or amd-smi";
}

/* What all of a program depends on. */
static const char *advice_for_all(struct diff *diff)
{
    const double *clock = diff->clock;
    char before[TA_UNIT_TEXT_MAX], after[TA_UNIT_TEXT_MAX];
    const bool known = clock[TA_DIFF_BASE] > 0 && clock[TA_DIFF_NEW] > 0;
    if (known && clock[TA_DIFF_NEW] < (1 - LEAST_SLOWER) * clock[TA_DIFF_BASE])
        return ta_arena_printf(&diff->arena,
                               "The mean GPU clock fell from %s to %s: check power limit, "
                               "temperature and other jobs on the GPU.",
                               ta_unit_format(before, clock[TA_DIFF_BASE], TA_UNIT_HERTZ),
                               ta_unit_format(after, clock[TA_DIFF_NEW], TA_UNIT_HERTZ));
    if (known)
        return "The GPU clocks did not fall, so compare input sizes, data type, attention backend "
               "and offloading of both runs.";
    return ta_arena_printf(
        &diff->arena,
        "Compare the settings of both runs first: input sizes, data type, attention backend, "
        "offloading. If they are equal, the GPU was slower: compare its clocks and power limit "
        "(%s) and other jobs on it.",
        monitor_of(diff));
}

/* What one kind of work depends on. */
static const char *advice_for_one(const struct diff_bar *most)
{
    static const char *const kernels[DIFF_FAMILIES] = {
        [DIFF_FAMILY_GEMM] = "Compare matrix sizes, data type and the version of the GEMM library.",
        [DIFF_FAMILY_ATTENTION] = "Compare sequence lengths, data type and attention backend.",
        [DIFF_FAMILY_CONV] = "Compare image sizes, data type, channels_last and cudnn.benchmark.",
        [DIFF_FAMILY_FUSIBLE] = "Compare tensor sizes, data type and memory layout.",
        [DIFF_FAMILY_FUSED] = "Compare tensor sizes and what torch.compile generated.",
        [DIFF_FAMILY_OTHER] = "Compare input sizes and data type.",
    };
    if (ta_slice_equal(most->kind, diff_compute))
        return kernels[diff_family_of(most->name).id];
    if (ta_slice_equal(most->kind, TA_LIT("host")))
        return "Compare library versions, CPU frequency and other load on the host.";
    return "Compare its input sizes, data type and offloading in both runs; traces of one call "
           "each say which kernels became slower.";
}

static const char *advice_of(struct diff *diff, const struct equal *equal, bool alike)
{
    const char *advice = alike ? advice_for_all(diff) : advice_for_one(equal->named[0]);
    if (!diff->settings)
        return advice ? advice : "";
    return ta_arena_printf(&diff->arena, "The runs differ in %s: check that first. %s",
                           diff->settings, advice ? advice : "");
}

/* ---- the finding ----------------------------------------------------------------------------- */

/* Work of another size or on another machine is slower for a reason that the verdict has. */
static bool is_comparable(const struct diff *diff)
{
    return ta_report_kind(diff->out) == TA_REPORT_DIFF && !diff->is_alien && !diff->is_other_work &&
           !diff->unit && !diff->on && !diff->phases.task && !diff->has_other_shapes &&
           !diff->offload.sign;
}

static bool is_slower(const struct diff *diff, double whole)
{
    return whole >= LEAST_SLOWER * (double)diff->window_ns[TA_DIFF_BASE] &&
           (diff->basis > TA_BASIS_NOISE || diff->change == TA_CHANGE_SLOWER);
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    if (diff->n_bars == 0 || !is_comparable(diff))
        return true;
    const double whole = (double)(diff->window_ns[TA_DIFF_NEW] - diff->window_ns[TA_DIFF_BASE]);
    const struct equal equal = find_equal(diff);
    const double change = equal.ns[TA_DIFF_NEW] - equal.ns[TA_DIFF_BASE];
    if (!is_slower(diff, whole) || !equal.named[0] || change < LEAST_EXPLAINED * whole)
        return true;
    const bool alike = is_alike(&equal);
    const struct diff_bar *most = equal.named[0];
    const int64_t own = most->ns[TA_DIFF_NEW] - most->ns[TA_DIFF_BASE];
    if (!alike && (double)own < LEAST_EXPLAINED * whole)
        return true; /* many became a little slower, each in its way */
    diff->slowed = alike ? equal.most : ratio_of(most);
    const struct ta_evidence evidence = {.table = "diff.waterfall",
                                         .column = "delta_ns",
                                         .row = ta_text(most->name),
                                         .value = ta_int(own),
                                         .unit = TA_UNIT_NS_CHANGE};
    const int64_t gain = ta_whole(fmin(alike ? change : (double)own, whole));
    const double window = (double)diff->window_ns[TA_DIFF_NEW];
    const char *title = title_of(diff, &equal, alike);
    ta_add_finding(out, &(struct ta_finding){
                            .id = "slower-at-equal-calls",
                            .rule = "diff",
                            .title = title ? title : "",
                            .why = why_of(diff, &equal, (double)gain),
                            .advice = advice_of(diff, &equal, alike),
                            .severity = whole >= 0.1 * window ? TA_HIGH : TA_MEDIUM,
                            .evidence = &evidence,
                            .n_evidence = 1,
                            .saving_low_ns = gain / 2,
                            .saving_high_ns = gain,
                            .saving_low_share = (double)(gain / 2) / window,
                            .saving_high_share = (double)gain / window,
                            .confidence = diff->basis <= TA_BASIS_NOISE ? 0.8 : 0.6,
                            .threshold = "work that both runs call equally often takes longer by "
                                         "half of the change or more"});
    return true;
}

const struct diff_part diff_of_slower = {
    .declares = {.name = "diff.slower"}, .section = TA_SECTION_FINDINGS, .add = add};
