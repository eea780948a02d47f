/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison comes to, in one line:
 *
 *     Slower by 67.9 %: vae_decode 45 s → 428 s, offloading lost (one run each: noise unknown)
 *
 * The direction, what changed most, what came with it, and its confidence. */
#include "compare/cause.h"
#include "compare/figures.h"
#include "compare/swap.h"
#include "report/report.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>

enum { LINE = 512, CAUSE_MOST = 60, CAUSE_OF_TWO_MOST = 40, TIMES = 10 };

/* Without a confidence interval, a smaller change than this counts as none. */
#define SAME_SHARE 0.005
/* Steps vary more than windows: a median that changes by less says nothing against them. */
#define STEP_SHARE 0.01

/* Whether runs, or the noise of runs before, give a confidence interval for the change of the time.
 * Of runs that did different amounts of work they do not. */
static bool has_runs(const struct diff *diff)
{
    return diff->basis <= TA_BASIS_NOISE && !diff->unit && !isnan(diff->time_ratio.low);
}

/* "Slower by 67.9 %". */
static void put_direction(const struct diff *diff, double share, char line[LINE])
{
    char change[TA_UNIT_TEXT_MAX];
    const bool is_none = has_runs(diff) ? diff->change == TA_CHANGE_SAME : fabs(share) < SAME_SHARE;
    if (is_none || (diff->change == TA_CHANGE_SAME && !diff->unit)) {
        snprintf(line, LINE, "No change");
        return;
    }
    if (has_runs(diff) && diff->change == TA_CHANGE_INCONCLUSIVE) {
        snprintf(line, LINE, "Inconclusive, %s",
                 ta_unit_format(change, share, TA_UNIT_RATIO_CHANGE));
        return;
    }
    const char *per = diff->unit ? " per " : "", *unit = diff->unit ? diff->unit : "";
    if (share >= TIMES) /* thousands of percent are hard to read */
        snprintf(line, LINE, "Slower, %s times as long%s%s",
                 ta_unit_format(change, rint(1 + share), TA_UNIT_COUNT), per, unit);
    else
        snprintf(line, LINE, "%s by %s%s%s", share > 0 ? "Slower" : "Faster",
                 ta_unit_format(change, fabs(share), TA_UNIT_RATIO), per, unit);
}

/* The median step of both shown runs, where both have several of one kind. */
static bool read_steps(struct diff *diff, double ns[TA_DIFF_SIDES])
{
    if (diff->has_other_steps)
        return false;
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        struct ta_run_figures figures;
        if (diff_units(&diff->in[side], DIFF_STEPS) < 2 ||
            !ta_run_figures_read(&diff->arena, diff->registry, diff->shown[side], &figures))
            return false;
        size_t i = 0; /* of the figures of steps the median is the first */
        while (i < figures.n && !figures.at[i].of_steps)
            i++;
        if (i == figures.n || figures.at[i].value <= 0)
            return false;
        ns[side] = figures.at[i].value;
    }
    return true;
}

/* ", though a step takes less: 97.0 ms → 94.0 ms": where the window went one way and the steps in
 * it went the other. */
static void put_steps(struct diff *diff, double share, char *line)
{
    double ns[TA_DIFF_SIDES];
    char pair[TA_UNIT_PAIR_MAX];
    const bool is_none = strcmp(line, "No change") == 0;
    if (!read_steps(diff, ns))
        return;
    const double change = ns[TA_DIFF_NEW] / ns[TA_DIFF_BASE] - 1;
    if (fabs(change) < STEP_SHARE || (!is_none && (change > 0) == (share > 0)))
        return;
    const size_t n = strlen(line);
    ta_unit_format_pair(pair, ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS);
    snprintf(line + n, LINE - n, ", though the median step takes %s (%s)",
             change > 0 ? "longer" : "less", pair);
}

/* ", though the program's window is shorter: 413 ms → 400 ms": where first to last work of the
 * devices went one way, and the program on host and devices went the other. */
static void put_program(const struct diff *diff, double share, char *line)
{
    char pair[TA_UNIT_PAIR_MAX];
    double ns[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        ns[side] = ta_ref_scalar(&diff->in[side], TA_AS_PROGRAM_WINDOW, (double)NAN);
        if (diff->unit && ns[side] > 0)
            ns[side] = diff_per_unit(diff, side, ta_whole(ns[side]));
    }
    if (!(ns[TA_DIFF_BASE] > 0 && ns[TA_DIFF_NEW] > 0))
        return;
    const double change = ns[TA_DIFF_NEW] / ns[TA_DIFF_BASE] - 1;
    const bool is_none = fabs(share) < SAME_SHARE;
    if (fabs(change) < STEP_SHARE || (!is_none && (change > 0) == (share > 0)))
        return;
    const size_t n = strlen(line);
    ta_unit_format_pair(pair, ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS);
    if (is_none && strcmp(line, "No change") == 0) {
        char by[TA_UNIT_TEXT_MAX];
        snprintf(line, LINE,
                 "%s by %s before and after the work of the devices: the program's window%s%s %s; "
                 "no change from their first work to their last",
                 change > 0 ? "Slower" : "Faster", ta_unit_format(by, fabs(change), TA_UNIT_RATIO),
                 diff->unit ? " per " : "", diff->unit ? diff->unit : "", pair);
        return;
    }
    snprintf(line + n, LINE - n,
             " from the first work of the devices to the last, though the program's window%s%s is "
             "%s (%s)",
             diff->unit ? " per " : "", diff->unit ? diff->unit : "",
             change > 0 ? "longer" : "shorter", pair);
}

/* " with smaller images (1024×1024 → 512×512)". */
static void put_task(const struct diff *diff, char *line)
{
    const size_t n = strlen(line);
    snprintf(line + n, LINE - n, "%s", diff->phases.task);
}

/* Whether figures are of steps that ran as they do on and on: a capture did not run, and a warm-up
 * sets things up. */
static bool is_steady(const char *kind)
{
    return strcmp(kind, "graph capture") != 0 && strcmp(kind, "warm up") != 0;
}

/* Of what the two shown runs are where these are different kinds of recordings; false otherwise. */
static bool find_kinds(struct diff *diff, const char *kinds[TA_DIFF_SIDES])
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        kinds[side] = diff_recording_kind(diff, &diff->in[side], NULL);
    return kinds[TA_DIFF_BASE] && kinds[TA_DIFF_NEW] &&
           strcmp(kinds[TA_DIFF_BASE], kinds[TA_DIFF_NEW]) != 0;
}

/* "Not like with like (warm up against run): " in front, or ", run against iteration" after it. */
static void put_kinds(struct diff *diff, char line[LINE])
{
    const char *kinds[TA_DIFF_SIDES];
    char rest[LINE - 96]; /* kinds are short */
    const size_t n = strlen(line);
    if (!find_kinds(diff, kinds))
        return;
    if (is_steady(kinds[TA_DIFF_BASE]) && is_steady(kinds[TA_DIFF_NEW])) {
        snprintf(line + n, LINE - n, ", %s against %s", kinds[TA_DIFF_BASE], kinds[TA_DIFF_NEW]);
        return;
    }
    snprintf(rest, sizeof rest, "%s", line);
    snprintf(line, LINE, "Not like with like (%.32s against %.32s): %s", kinds[TA_DIFF_BASE],
             kinds[TA_DIFF_NEW], rest);
}

/* Several runs are compared by all of them, those that did different amounts of work by the unit.
 */
static double change_of(const struct diff *diff, int64_t base, int64_t new)
{
    const bool several = diff->sides[TA_DIFF_BASE].n > 1 || diff->sides[TA_DIFF_NEW].n > 1;
    if (several && !diff->unit && !isnan(diff->time_ratio.value))
        return diff->time_ratio.value - 1;
    double before = (double)base, after = (double)new;
    if (diff->unit) {
        before = diff_per_unit(diff, TA_DIFF_BASE, base);
        after = diff_per_unit(diff, TA_DIFF_NEW, new);
    }
    return (after - before) / before;
}

/* " (95 % CI +3.87 % … +11.3 %, 5 against 5 runs)": the confidence of the change. */
static void put_evidence(const struct diff *diff, char *line)
{
    const size_t n = strlen(line), before = diff->sides[TA_DIFF_BASE].n,
                 after = diff->sides[TA_DIFF_NEW].n;
    char level[TA_UNIT_TEXT_MAX], low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX];
    if (has_runs(diff))
        snprintf(line + n, LINE - n, " (%s CI %s … %s, %zu against %zu run%s%s)",
                 ta_unit_format_tick(level, diff->judging->confidence, 1, TA_UNIT_RATIO, true),
                 ta_unit_format(low, diff->time_ratio.low - 1, TA_UNIT_RATIO_CHANGE),
                 ta_unit_format(high, diff->time_ratio.high - 1, TA_UNIT_RATIO_CHANGE), before,
                 after, after == 1 ? "" : "s",
                 diff->basis == TA_BASIS_RUNS ? ""
                 : diff->judging->noise       ? " by the noise of those before"
                                              : " by the spread of one side");
    else if (diff->change == TA_CHANGE_INCONCLUSIVE && before == 1 && after == 1)
        snprintf(line + n, LINE - n, " (one run each: noise unknown)");
    else if (diff->change == TA_CHANGE_INCONCLUSIVE)
        snprintf(line + n, LINE - n, " (%zu against %zu run%s: noise unknown)", before, after,
                 after == 1 ? "" : "s");
}

/* A name as it fits the line; of "old → new (set 1)" both, without the number, which tables tell.
 */
static struct ta_slice brief_cause(struct diff *diff, struct ta_slice name, bool *is_pair)
{
    const struct ta_slice arrow = TA_LIT(" → "), set = TA_LIT(" (set ");
    const char *end = ta_slice_end(name);
    const char *middle = memmem(name.ptr, name.len, arrow.ptr, arrow.len);
    *is_pair = middle;
    if (!middle)
        return diff_brief(diff, name, CAUSE_MOST);
    const char *behind = middle + arrow.len;
    const char *number = memmem(behind, (size_t)(end - behind), set.ptr, set.len);
    if (number) /* names of a set are short */
        return (struct ta_slice){name.ptr, (size_t)(number - name.ptr)};
    const struct ta_slice old = diff_brief(
        diff, (struct ta_slice){name.ptr, (size_t)(middle - name.ptr)}, CAUSE_OF_TWO_MOST);
    const struct ta_slice new =
        diff_brief(diff, (struct ta_slice){behind, (size_t)(end - behind)}, CAUSE_OF_TWO_MOST);
    return ta_slice_of(
        ta_arena_printf(&diff->arena, "%.*s → %.*s", (int)old.len, old.ptr, (int)new.len, new.ptr));
}

/* " (each of 216 calls 402 ms → 522 ms)" of a stage that both runs call as often, unless offloading
 * says more. */
static void put_calls(const struct diff *diff, char *line)
{
    enum { FEW = 2 };
    const struct diff_cause *cause = &diff->cause;
    const double calls = (double)cause->calls[TA_DIFF_BASE];
    const size_t n = strlen(line);
    char pair[TA_UNIT_PAIR_MAX];
    if (diff->unit || diff->offload.sign || cause->calls[TA_DIFF_BASE] <= FEW ||
        cause->calls[TA_DIFF_BASE] != cause->calls[TA_DIFF_NEW])
        return;
    snprintf(line + n, LINE - n, " (each of %.0f calls %s)", calls,
             ta_unit_format_pair(pair, cause->ns[TA_DIFF_BASE] / calls,
                                 cause->ns[TA_DIFF_NEW] / calls, TA_UNIT_NS));
}

/* " and vae_decode 31.2 s → 44.9 s, each called as often". */
static void put_also(struct diff *diff, char *line)
{
    char pair[TA_UNIT_PAIR_MAX];
    const struct diff_cause *cause = &diff->cause;
    const size_t n = strlen(line);
    if (cause->also.len == 0)
        return;
    const struct ta_slice name = diff_brief(diff, cause->also, CAUSE_MOST);
    ta_unit_format_pair(pair, cause->also_ns[TA_DIFF_BASE], cause->also_ns[TA_DIFF_NEW],
                        TA_UNIT_NS);
    snprintf(line + n, LINE - n, " and %.*s %s%s", (int)name.len, name.ptr, pair,
             cause->as_often ? ", each called as often" : "");
}

/* ": vae_decode 45 s → 428 s". */
static void put_cause(struct diff *diff, char *line)
{
    char pair[TA_UNIT_PAIR_MAX];
    const struct diff_cause *cause = &diff->cause;
    if (cause->name.len == 0)
        return;
    bool is_pair;
    const struct ta_slice name = brief_cause(diff, cause->name, &is_pair);
    const size_t n = strlen(line);
    ta_unit_format_pair(pair, cause->ns[TA_DIFF_BASE], cause->ns[TA_DIFF_NEW], TA_UNIT_NS);
    if (cause->part.len) {
        char part[TA_UNIT_PAIR_MAX];
        ta_unit_format_pair(part, cause->part_ns[TA_DIFF_BASE], cause->part_ns[TA_DIFF_NEW],
                            TA_UNIT_NS);
        snprintf(line + n, LINE - n, ": the GPU's idle time %s (of it %.*s %s)", pair,
                 (int)cause->part.len, cause->part.ptr, part);
        return;
    }
    snprintf(line + n, LINE - n, ": %s%.*s%s %s%s",
             ta_slice_equal(cause->kind, TA_LIT("idle")) ? "idle time of the GPU, " : "",
             (int)name.len, name.ptr, is_pair ? "," : "", pair,
             ta_slice_equal(cause->kind, diff_all_ranks) ? " on all ranks" : "");
    put_calls(diff, line);
    put_also(diff, line);
}

/* ": attention flash_fwd → qk_int8: its kernels +5.00 µs a call, quantization +19.0 ms" where that
 * is most of the change; false else. */
static bool put_swap(struct diff *diff, double whole, char *line)
{
    struct diff_swap swap;
    const double ranks = fmax(1, (double)diff->ranks.n); /* kernels are summed over all */
    if (diff->is_other_work || !diff_find_swap(diff, &swap))
        return false;
    const double change = swap.ns[TA_DIFF_NEW] - swap.ns[TA_DIFF_BASE] + swap.company_ns;
    if ((change > 0) != (whole > 0) || fabs(change) / ranks < fabs(whole) / 2)
        return false;
    const char *text = diff_swap_text(diff, &swap);
    const size_t n = strlen(line);
    snprintf(line + n, LINE - n, ": %s%s", text ? text : "", ranks > 1 ? " on all ranks" : "");
    return true;
}

/* The kind of attention that takes the devices longest, and the time of all of it per unit. */
static struct ta_slice attention_of(const struct diff *diff, int side, double *ns)
{
    const struct ta_refs *in = &diff->in[side];
    struct ta_slice most = {.len = 0};
    double longest = 0, all = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_ATTENTION); i++) {
        const double time = ta_ref_number(in, TA_AS_ATTENTION_TIME, i, 0);
        all += time;
        if (time > longest) {
            longest = time;
            most = ta_ref_text(in, TA_AS_ATTENTION, i);
        }
    }
    *ns = diff_per_unit(diff, side, ta_whole(all));
    return most;
}

/* ": attention math → flash 2: its kernels 411 ms → 94.1 ms": another implementation whose kernels
 * are no pairs, such as GEMMs and softmax against one fused kernel; false where that is not most of
 * the change. */
static bool put_attention(const struct diff *diff, double whole, char *line)
{
    char pair[TA_UNIT_PAIR_MAX];
    double ns[TA_DIFF_SIDES];
    const struct ta_slice base = attention_of(diff, TA_DIFF_BASE, &ns[TA_DIFF_BASE]);
    const struct ta_slice new = attention_of(diff, TA_DIFF_NEW, &ns[TA_DIFF_NEW]);
    const double ranks = fmax(1, (double)diff->ranks.n); /* kernels are summed over all */
    const double change = ns[TA_DIFF_NEW] - ns[TA_DIFF_BASE];
    const size_t n = strlen(line);
    if (diff->is_other_work || base.len == 0 || new.len == 0 || ta_slice_equal(base, new) ||
        (change > 0) != (whole > 0) || fabs(change) / ranks < fabs(whole) / 2)
        return false;
    ta_unit_format_pair(pair, ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS);
    snprintf(line + n, LINE - n, ": attention %.*s → %.*s: its kernels %s%s", (int)base.len,
             base.ptr, (int)new.len, new.ptr, pair, ranks > 1 ? " on all ranks" : "");
    return true;
}

/* ", 21.9 % of the time in common": other models, or other work of one. */
static void put_shared(const struct diff *diff, char *line)
{
    char share[TA_UNIT_TEXT_MAX];
    const size_t n = strlen(line);
    snprintf(line + n, LINE - n, ", %s of the time in common",
             ta_unit_format(share, diff->shared, TA_UNIT_RATIO));
}

static void put_offloading(const struct diff *diff, char *line)
{
    const size_t n = strlen(line);
    if (diff->offload.sign)
        snprintf(line + n, LINE - n, ", offloading %s", diff->offload.sign < 0 ? "lost" : "gained");
}

/* ", recompilations 9 → 0". */
static void put_recompilations(const struct diff *diff, char *line)
{
    const double base = diff->recompilations[TA_DIFF_BASE], new = diff->recompilations[TA_DIFF_NEW];
    const size_t n = strlen(line);
    if (base != new)
        snprintf(line + n, LINE - n, ", recompilations %.0f → %.0f", base, new);
}

/* "; 12.8 GiB more in optimizers.py:82 (step) and 12.7 GiB in optimizers.py:84 (step)". */
static void put_site(struct diff *diff, char *line)
{
    const struct diff_part_of_peak *peak = &diff->peak;
    char size[TA_UNIT_TEXT_MAX];
    const int64_t change = peak->bytes[TA_DIFF_NEW] - peak->bytes[TA_DIFF_BASE];
    const size_t n = strlen(line);
    if (peak->site.len == 0)
        return;
    const struct ta_slice name = diff_brief(diff, peak->site, CAUSE_MOST);
    snprintf(line + n, LINE - n, "; %s %s in %.*s",
             ta_unit_format(size, fabs((double)change), TA_UNIT_BYTES),
             change > 0 ? "more" : "less", (int)name.len, name.ptr);
    if (peak->next.len == 0)
        return;
    const struct ta_slice next = diff_brief(diff, peak->next, CAUSE_MOST);
    const int64_t further = peak->next_bytes[TA_DIFF_NEW] - peak->next_bytes[TA_DIFF_BASE];
    const size_t end = strlen(line);
    snprintf(line + end, LINE - end, " and %s in %.*s",
             ta_unit_format(size, fabs((double)further), TA_UNIT_BYTES), (int)next.len, next.ptr);
}

/* What explains most of the change: of a diffusion its phases and steps, and why these take another
 * time; else the latter. */
static void put_reasons(struct diff *diff, double whole, char *line)
{
    const struct diff_phase_story *story = &diff->phases;
    /* Images of another size make other kernels do the same. */
    const char *phases = diff->is_other_work && !story->task ? NULL : story->text;
    size_t n = strlen(line);
    if (phases) {
        snprintf(line + n, LINE - n, ": %s", phases);
        n = strlen(line);
    }
    /* Stages are the phases once more. */
    if (phases && (!story->is_of_time || ta_slice_equal(diff->cause.kind, TA_LIT("stage"))))
        return;
    if (!put_swap(diff, whole, line) && !put_attention(diff, whole, line) && !story->task)
        put_cause(diff, line);
    if (phases && line[n] == ':')
        line[n] = ';';
}

/* Of runs that took no time, as far as is known, loops, devices or memory may say something. */
static const char *untimed(struct diff *diff, char line[LINE])
{
    char pair[TA_UNIT_PAIR_MAX];
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    if (diff_say_untimed(diff, line, LINE)) {
        put_recompilations(diff, line);
        put_evidence(diff, line);
        return line;
    }
    if (diff->is_alien)
        return "Not comparable: the runs have nothing in common";
    if (!ta_ref_exists(base, TA_AS_PEAK_ALLOCATED) || !ta_ref_exists(new, TA_AS_PEAK_ALLOCATED))
        return "Nothing says how long the runs took";
    const double before = ta_ref_scalar(base, TA_AS_PEAK_ALLOCATED, 0);
    const double after = ta_ref_scalar(new, TA_AS_PEAK_ALLOCATED, 0);
    snprintf(line, LINE, "%s memory at the peak: %s",
             after > before   ? "More"
             : after < before ? "Less"
                              : "As much",
             ta_unit_format_pair(pair, before, after, TA_UNIT_BYTES));
    put_site(diff, line);
    return line;
}

/* A report of a run keeps the verdict of its own, and has the line as a finding. */
static void say(struct diff *diff, struct ta_section_builder *out, const char *line,
                const char *finding)
{
    const char *text = line ? line : "";
    if (ta_report_kind(diff->out) == TA_REPORT_DIFF) {
        ta_report_set_verdict(diff->out, text, finding);
        return;
    }
    const char *title = ta_arena_printf(&diff->arena, "Against the baseline %s: %s",
                                        ta_report_run(diff->shown[TA_DIFF_BASE])->title, text);
    const struct ta_evidence evidence = {
        .table = "diff.metrics",
        .column = "delta",
        .row = ta_text(TA_LIT("run_time")),
        .value = ta_int(ta_run_time(diff->registry, diff->shown[TA_DIFF_NEW]) -
                        ta_run_time(diff->registry, diff->shown[TA_DIFF_BASE])),
        .unit = TA_UNIT_NS_CHANGE};
    ta_add_finding(
        out, &(struct ta_finding){.id = "against-baseline",
                                  .rule = "diff",
                                  .title = title ? title : text,
                                  .severity = diff->change == TA_CHANGE_SLOWER ? TA_HIGH : TA_INFO,
                                  .evidence = &evidence,
                                  .n_evidence = 1,
                                  .saving_low_ns = TA_MISSING,
                                  .saving_high_ns = TA_MISSING,
                                  .confidence = 1,
                                  .advice = "",
                                  .threshold = "with --baseline"});
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const bool known = diff->window_ns[TA_DIFF_BASE] != TA_MISSING;
    const int64_t base = known ? diff->window_ns[TA_DIFF_BASE]
                               : ta_run_time(diff->registry, diff->shown[TA_DIFF_BASE]);
    const int64_t new = known ? diff->window_ns[TA_DIFF_NEW]
                              : ta_run_time(diff->registry, diff->shown[TA_DIFF_NEW]);
    char line[LINE];
    if (base == TA_MISSING || new == TA_MISSING || base <= 0) {
        if (ta_report_kind(diff->out) == TA_REPORT_DIFF)
            ta_report_set_verdict(diff->out, untimed(diff, line), NULL);
        return true;
    }
    if (diff->is_alien) {
        const char *kinds[TA_DIFF_SIDES];
        ta_unit_format_pair(line, (double)base, (double)new, TA_UNIT_NS);
        say(diff, out,
            find_kinds(diff, kinds)
                ? ta_arena_printf(&diff->arena,
                                  "Not comparable: %s against %s, with nothing in common (%s)",
                                  kinds[TA_DIFF_BASE], kinds[TA_DIFF_NEW], line)
                : ta_arena_printf(&diff->arena,
                                  "Not comparable: the runs have nothing in common (%s)", line),
            NULL);
        return true;
    }
    put_direction(diff, change_of(diff, base, new), line);
    const bool is_none = strcmp(line, "No change") == 0;
    if (known)
        put_program(diff, change_of(diff, base, new), line);
    if (diff->phases.task)
        put_task(diff, line);
    else
        put_steps(diff, change_of(diff, base, new), line);
    if (!is_none && !known)
        diff_find_host_cause(diff, change_of(diff, base, new) > 0);
    if (diff->is_other_work && !diff->phases.task)
        put_shared(diff, line);
    const double whole =
        diff_per_unit(diff, TA_DIFF_NEW, new) - diff_per_unit(diff, TA_DIFF_BASE, base);
    if (!is_none)
        put_reasons(diff, whole, line);
    put_offloading(diff, line);
    put_recompilations(diff, line);
    put_kinds(diff, line);
    if (!is_none || has_runs(diff)) /* last: what a narrow terminal shows first is what changed */
        put_evidence(diff, line);
    say(diff, out, line,
        diff->offload.sign < 0   ? "offloading-lost"
        : diff->offload.sign > 0 ? "offloading-gained"
                                 : NULL);
    return true;
}

const struct diff_part diff_of_verdict = {
    .declares = {.name = "diff.verdict"}, .section = "findings", .add = add};
