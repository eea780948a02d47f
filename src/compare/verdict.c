/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison comes to, in at most two sentences:
 *
 *     The run takes 640 s instead of 255 s: 151 % more time (one run each, so noise is unknown).
 *     Nearly all of the increase (383 s of 385 s) comes from vae_decode, which takes 428 s
 *     instead of 45 s, and models are no longer offloaded.
 *
 * The first has the direction and its confidence, the second what changed most (reasons.c). */
#include "compare/cause.h"
#include "compare/figures.h"
#include "report/report.h"
#include "report/sections.h"
#include "report/unit.h"
#include "report/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { KIND_MOST = 32 };

/* From these changes on percent are hard to read. */
#define TIMES 3.0
#define FRACTION (-0.9)

/* Steps vary more than windows: a median that changes by less says nothing against them. */
#define STEP_SHARE 0.01

/* The times that are compared, of what. */
struct compared {
    double ns[TA_DIFF_SIDES];
    double whole; /* the change of the shown runs */
    double share; /* the change, by all runs */
    bool is_none;
    bool is_window; /* of the devices */
};

/* A sentence that grows. */
struct text {
    char at[1024];
};

#define PUT(text, ...)                                                                             \
    snprintf((text)->at + strlen((text)->at), sizeof(text)->at - strlen((text)->at), __VA_ARGS__)

/* Whether runs, or the noise of runs before, give a confidence interval for the change of the time.
 * Of runs that did different amounts of work they do not. */
static bool has_runs(const struct diff *diff)
{
    return diff->basis <= TA_BASIS_NOISE && !diff->unit && !isnan(diff->time_ratio.low);
}

/* ---- the first sentence ---------------------------------------------------------------------- */

/* "image", "video", "step", "frame". */
static const char *unit_name(const struct diff *diff)
{
    const bool is_image = strcmp(diff->unit, "image") == 0;
    return is_image && diff->phases.made ? diff->phases.made : diff->unit;
}

/* What is compared: "the video", "an image", "a step", "the run". */
static void put_subject(const struct diff *diff, struct text *text)
{
    const struct diff_phase_story *story = &diff->phases;
    if (diff->unit)
        PUT(text, "%s %s", *unit_name(diff) == 'i' ? "an" : "a", unit_name(diff));
    else if (story->made && story->n_made == 1)
        PUT(text, "the %s", story->made);
    else if (story->made && story->n_made > 1)
        PUT(text, "making %lld %ss", (long long)story->n_made, story->made);
    else
        PUT(text, "the run");
}

/* "on 8 ranks instead of 4, with smaller images (…), ": what is not the program's doing. */
static void put_setting(const struct diff *diff, struct text *text)
{
    if (diff->on)
        PUT(text, "%s, ", diff->on);
    if (diff->phases.task)
        PUT(text, "with %s ", diff->phases.task);
}

/* "120 ms instead of 190 ms: 36.6 % less time". */
static void put_change(const struct diff *diff, const struct compared *compared, struct text *text)
{
    const double share = compared->share;
    char change[TA_UNIT_TEXT_MAX];
    PUT(text, " %s",
        diff_instead((struct diff *)diff, "takes", compared->ns[TA_DIFF_BASE],
                     compared->ns[TA_DIFF_NEW], TA_UNIT_NS));
    if (share >= TIMES && share < 9)
        PUT(text, ": %.1f times as long", 1 + share);
    else if (share >= TIMES)
        PUT(text, ": %s times as long", ta_unit_format(change, rint(1 + share), TA_UNIT_COUNT));
    else if (share <= FRACTION && share > -1)
        PUT(text, ": %s times as fast",
            ta_unit_format(change, rint(1 / (1 + share)), TA_UNIT_COUNT));
    else if (has_runs(diff) && diff->change == TA_CHANGE_INCONCLUSIVE)
        PUT(text, ": %s %s, which may be noise", ta_unit_format(change, fabs(share), TA_UNIT_RATIO),
            share > 0 ? "more time" : "less time");
    else
        PUT(text, ": %s %s", ta_unit_format(change, fabs(share), TA_UNIT_RATIO),
            share > 0 ? "more time" : "less time");
}

/* "Nothing changed: the run takes 190 ms in both", "the run takes as long as before (190.1 ms
 * instead of 190.4 ms)". */
static void put_same(const struct compared *compared, const char *what, bool is_shifted,
                     struct text *text)
{
    struct diff_two two;
    diff_two(&two, compared->ns[TA_DIFF_BASE], compared->ns[TA_DIFF_NEW], TA_UNIT_NS);
    if (strcmp(two.before, two.after) == 0 && is_shifted)
        PUT(text, "%s takes as long as before: %s", what, two.after);
    else if (strcmp(two.before, two.after) == 0)
        PUT(text, "nothing changed: %s takes %s in both", what, two.after);
    else
        PUT(text, "%s takes as long as before: %s instead of %s", what, two.after, two.before);
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

/* ", although the median step takes 94.0 ms instead of 97.0 ms": where the window went one way and
 * the steps in it went the other. */
static void put_steps(struct diff *diff, const struct compared *compared, struct text *text)
{
    double ns[TA_DIFF_SIDES];
    struct diff_two two;
    if (diff->phases.task || !read_steps(diff, ns))
        return;
    const double change = ns[TA_DIFF_NEW] / ns[TA_DIFF_BASE] - 1;
    if (fabs(change) < STEP_SHARE || (!compared->is_none && (change > 0) == (compared->share > 0)))
        return;
    diff_two(&two, ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS);
    PUT(text, ", although the median step takes %s instead of %s", two.after, two.before);
}

/* The program on host and devices, where it went another way than what the devices do from first to
 * last; false elsewhere. */
static bool read_program(const struct diff *diff, const struct compared *compared,
                         double ns[TA_DIFF_SIDES])
{
    for (int side = 0; side < TA_DIFF_SIDES && compared->is_window; side++) {
        ns[side] = ta_ref_scalar(&diff->in[side], TA_AS_PROGRAM_WINDOW, (double)NAN);
        if (diff->unit && ns[side] > 0)
            ns[side] = diff_per_unit(diff, side, ta_whole(ns[side]));
    }
    if (!compared->is_window || !(ns[TA_DIFF_BASE] > 0 && ns[TA_DIFF_NEW] > 0))
        return false;
    const double change = ns[TA_DIFF_NEW] / ns[TA_DIFF_BASE] - 1;
    const bool is_none = fabs(compared->share) < DIFF_SAME_SHARE;
    return fabs(change) >= STEP_SHARE && (is_none || (change > 0) != (compared->share > 0));
}

/* Says both, the program first. */
static void put_program(const struct diff *diff, const struct compared *compared,
                        const double ns[TA_DIFF_SIDES], struct text *text)
{
    const double change = ns[TA_DIFF_NEW] / ns[TA_DIFF_BASE] - 1;
    char by[TA_UNIT_TEXT_MAX];
    struct diff_two two;
    PUT(text, " %s: %s %s, although the GPU",
        diff_instead((struct diff *)diff, "takes", ns[TA_DIFF_BASE], ns[TA_DIFF_NEW], TA_UNIT_NS),
        ta_unit_format(by, fabs(change), TA_UNIT_RATIO), change > 0 ? "more time" : "less time");
    diff_two(&two, compared->ns[TA_DIFF_BASE], compared->ns[TA_DIFF_NEW], TA_UNIT_NS);
    if (compared->is_none)
        PUT(text, " takes %s from first to last work as before", two.after);
    else
        PUT(text, " takes %s from first to last work instead of %s", two.after, two.before);
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

/* "These are no two of a kind (warm up, run): " in front. */
static void put_kinds(struct diff *diff, struct text *text)
{
    const char *kinds[TA_DIFF_SIDES];
    if (find_kinds(diff, kinds) &&
        !(is_steady(kinds[TA_DIFF_BASE]) && is_steady(kinds[TA_DIFF_NEW])))
        PUT(text, "not like with like (%.*s against %.*s): ", KIND_MOST, kinds[TA_DIFF_BASE],
            KIND_MOST, kinds[TA_DIFF_NEW]);
}

/* ---- its confidence -------------------------------------------------------------------------- */

/* "3 runs each, 95 % interval +3.6 % … +5.2 %". */
static void put_evidence(const struct diff *diff, struct text *notes)
{
    const size_t before = diff->sides[TA_DIFF_BASE].n, after = diff->sides[TA_DIFF_NEW].n;
    char level[TA_UNIT_TEXT_MAX], low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX];
    if (before == 1 && after == 1)
        PUT(notes, "one run each");
    else if (before == after)
        PUT(notes, "%zu runs each", after);
    else
        PUT(notes, "%zu run%s against %zu", after, after == 1 ? "" : "s", before);
    if (has_runs(diff))
        PUT(notes, ", %s interval %s … %s%s",
            ta_unit_format_tick(level, diff->judging->confidence, 1, TA_UNIT_RATIO, true),
            ta_unit_format(low, diff->time_ratio.low - 1, TA_UNIT_RATIO_CHANGE),
            ta_unit_format(high, diff->time_ratio.high - 1, TA_UNIT_RATIO_CHANGE),
            diff->basis == TA_BASIS_RUNS ? ""
            : diff->judging->noise       ? " by the noise of earlier runs"
                                         : " by the spread of one side");
    else if (diff->change == TA_CHANGE_INCONCLUSIVE)
        PUT(notes, ", so noise is unknown");
}

/* Whether the second sentence has the other number of steps. */
static bool says_steps(const struct diff_phase_story *story)
{
    const struct diff_clause *const all[] = {&story->most, &story->next, &story->against};
    bool says = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        says |= all[i]->what && strstr(all[i]->what, story->steps);
    return says;
}

/* What makes the runs less alike, and the confidence of the change, in parentheses. */
static void put_notes(struct diff *diff, bool is_none, struct text *text)
{
    struct text notes = {""};
    const char *kinds[TA_DIFF_SIDES];
    char share[TA_UNIT_TEXT_MAX];
    if (has_runs(diff) || (!is_none && (diff->is_timed || diff->loop.name.len)))
        put_evidence(diff, &notes);
    if (find_kinds(diff, kinds) && is_steady(kinds[TA_DIFF_BASE]) && is_steady(kinds[TA_DIFF_NEW]))
        PUT(&notes, "%s%.*s against %.*s", notes.at[0] ? "; " : "", KIND_MOST, kinds[TA_DIFF_BASE],
            KIND_MOST, kinds[TA_DIFF_NEW]);
    if (diff->unit)
        PUT(&notes, "%s%lld %s%s instead of %lld", notes.at[0] ? "; " : "",
            (long long)diff->units[TA_DIFF_NEW], unit_name(diff),
            diff->units[TA_DIFF_NEW] == 1 ? "" : "s", (long long)diff->units[TA_DIFF_BASE]);
    if (diff->is_other_work && !diff->phases.task && !is_none)
        PUT(&notes, "%sonly %s of the time is in work that both runs have", notes.at[0] ? "; " : "",
            ta_unit_format(share, diff->shared, TA_UNIT_RATIO));
    if (diff->phases.steps && !is_none && !says_steps(&diff->phases))
        PUT(&notes, "%s%s", notes.at[0] ? "; " : "", diff->phases.steps);
    if (diff->recorded_text && !is_none)
        PUT(&notes, "%s%s", notes.at[0] ? "; " : "", diff->recorded_text);
    if (diff->apart && !is_none)
        PUT(&notes, "%sthe runs differ in %s", notes.at[0] ? "; " : "", diff->apart);
    if (notes.at[0])
        PUT(text, " (%s)", notes.at);
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

/* ---- the second ---------------------------------------------------------------------------- */

/* "models are no longer offloaded", "recompilations fell from 9 to 0", after what is said already.
 */
static void put_company(const struct diff *diff, struct text *text)
{
    const double base = diff->recompilations[TA_DIFF_BASE], new = diff->recompilations[TA_DIFF_NEW];
    if (diff->offload.sign)
        PUT(text, "%smodels are %s", text->at[0] ? ", and " : "",
            diff->offload.sign < 0 ? "no longer offloaded" : "offloaded now");
    if (base != new)
        PUT(text, "%srecompilations %s from %.0f to %.0f", text->at[0] ? ", and " : "",
            new < base ? "fell" : "rose", base, new);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Sentences with their full stops. */
static struct diff_said sentences(struct diff *diff, struct text *first, struct text *second)
{
    first->at[0] = (char)toupper((unsigned char)first->at[0]);
    second->at[0] = (char)toupper((unsigned char)second->at[0]);
    return (struct diff_said){
        .first = ta_arena_printf(&diff->arena, "%s.", first->at),
        .second = second->at[0] ? ta_arena_printf(&diff->arena, "%s.", second->at) : NULL};
}

/* What has nothing in common: "a warm up and a run have", "the baseline is of the format …". */
static const char *aliens(struct diff *diff)
{
    const char *kinds[TA_DIFF_SIDES];
    if (find_kinds(diff, kinds))
        return ta_arena_printf(&diff->arena, "a %s and a %s have", kinds[TA_DIFF_BASE],
                               kinds[TA_DIFF_NEW]);
    if (diff->formats[TA_DIFF_BASE]) {
        char before[TA_WORD_TEXT_MAX], after[TA_WORD_TEXT_MAX];
        const struct ta_slice base = ta_word_text(ta_slice_of(diff->formats[TA_DIFF_BASE]), before);
        const struct ta_slice new = ta_word_text(ta_slice_of(diff->formats[TA_DIFF_NEW]), after);
        return ta_arena_printf(&diff->arena, "files of two formats (%.*s, %.*s) have",
                               (int)base.len, base.ptr, (int)new.len, new.ptr);
    }
    return "they have";
}

static struct diff_said alien(struct diff *diff, int64_t base, int64_t new)
{
    struct diff_two two;
    const char *what = aliens(diff), *little = diff->shared > 0 ? "little" : "nothing";
    diff_two(&two, (double)base, (double)new, TA_UNIT_NS);
    if (base == TA_MISSING || new == TA_MISSING)
        return (struct diff_said){ta_arena_printf(&diff->arena,
                                                  "The runs cannot be compared: %s %s in common.",
                                                  what ? what : "they have", little),
                                  NULL};
    return (struct diff_said){
        ta_arena_printf(&diff->arena,
                        "The runs cannot be compared: %s %s in common (%s before, %s after).",
                        what ? what : "they have", little, two.before, two.after),
        NULL};
}

/* Of runs that took no time, as far as is known, loops, devices or memory may say something. */
static struct diff_said untimed(struct diff *diff)
{
    struct text first = {""}, second = {""};
    struct diff_said said;
    if (diff_say_untimed(diff, &said)) {
        PUT(&first, "%s", said.first);
        put_notes(diff, false, &first);
        PUT(&second, "%s", said.second ? said.second : "");
        put_company(diff, &second);
        return sentences(diff, &first, &second);
    }
    if (diff->is_alien)
        return alien(diff, TA_MISSING, TA_MISSING);
    if (!diff_say_memory(diff, &said))
        return (struct diff_said){"Nothing in the input says how long the runs took.", NULL};
    PUT(&first, "%s", said.first);
    PUT(&second, "%s", said.second ? said.second : "");
    return sentences(diff, &first, &second);
}

static void note_time(struct diff *diff, const struct compared *compared)
{
    const struct diff_phase_story *story = &diff->phases;
    const bool is_one = !diff->unit && story->made && story->n_made == 1;
    diff->told_of = diff->unit ? ta_arena_printf(&diff->arena, "Time per %s", unit_name(diff))
                    : is_one   ? ta_arena_printf(&diff->arena, "Time per %s", story->made)
                               : "Time of the run";
    memcpy(diff->told_ns, compared->ns, sizeof diff->told_ns);
}

static struct diff_said timed(struct diff *diff, const struct compared *compared)
{
    struct text first = {""}, second = {""}, subject = {""};
    double program[TA_DIFF_SIDES];
    const bool has_program = read_program(diff, compared, program);
    note_time(diff, compared);
    const char *shift = compared->is_none && compared->is_window && !has_program
                            ? diff_say_shift(diff, compared->ns[TA_DIFF_NEW])
                            : NULL;
    put_kinds(diff, &first);
    put_setting(diff, &first);
    put_subject(diff, &subject);
    if (compared->is_none && !has_program)
        put_same(compared, subject.at, shift != NULL, &first);
    else
        PUT(&first, "%s", subject.at);
    if (has_program)
        put_program(diff, compared, program, &first);
    else if (!compared->is_none)
        put_change(diff, compared, &first);
    put_steps(diff, compared, &first);
    put_notes(diff, compared->is_none && !has_program, &first);
    if (!compared->is_none && !has_program) { /* which is not about what the GPU did */
        const char *reasons = diff_say_reasons(diff, compared->whole);
        PUT(&second, "%s", reasons ? reasons : "");
    }
    if (shift)
        PUT(&second, "%s", shift);
    put_company(diff, &second);
    return sentences(diff, &first, &second);
}

/* The verdict of a run's own report, with the first sentence after it. */
static void add_to_verdict(struct diff *diff, const char *title)
{
    const struct ta_verdict *own = ta_report_verdict(diff->out);
    const char *both = own->headline && *own->headline
                           ? ta_arena_printf(&diff->arena, "%s %s.", own->headline, title)
                           : ta_arena_printf(&diff->arena, "%s.", title);
    const char *bottleneck =
        own->bottleneck ? ta_arena_copy(&diff->arena, ta_slice_of(own->bottleneck)) : NULL;
    if (both)
        ta_report_set_verdict(diff->out, both, bottleneck);
}

/* A report of a run keeps its own verdict, and has the sentences as a finding. */
static void say(struct diff *diff, struct ta_section_builder *out, const struct diff_said *said,
                const char *finding)
{
    const char *first = said->first ? said->first : "";
    if (ta_report_kind(diff->out) == TA_REPORT_DIFF) {
        const char *both =
            said->second ? ta_arena_printf(&diff->arena, "%s %s", first, said->second) : first;
        ta_report_set_verdict(diff->out, both ? both : "", finding);
        return;
    }
    const char *title = ta_arena_printf(
        &diff->arena, "Against the baseline %s: %c%.*s",
        ta_report_run(diff->shown[TA_DIFF_BASE])->title, tolower((unsigned char)*first),
        *first ? (int)strlen(first) - 2 : 0, *first ? first + 1 : "");
    if (title)
        add_to_verdict(diff, title);
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
                                  .title = title ? title : first,
                                  .severity = diff->change == TA_CHANGE_SLOWER ? TA_HIGH : TA_INFO,
                                  .evidence = &evidence,
                                  .n_evidence = 1,
                                  .saving_low_ns = TA_MISSING,
                                  .saving_high_ns = TA_MISSING,
                                  .confidence = 1,
                                  .why = said->second,
                                  .advice = "",
                                  .threshold = "with --baseline"});
}

/* The times of the runs, or of a unit of work; of several runs the means that their ratio is of. */
static struct compared compare(const struct diff *diff, int64_t base, int64_t new)
{
    const bool several = diff->sides[TA_DIFF_BASE].n > 1 || diff->sides[TA_DIFF_NEW].n > 1;
    struct compared compared = {.share = change_of(diff, base, new)};
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        const int64_t shown = side == TA_DIFF_BASE ? base : new;
        compared.ns[side] = several && !diff->unit && !isnan(diff->center_ns[side])
                                ? diff->center_ns[side]
                                : diff_per_unit(diff, side, shown);
    }
    compared.whole =
        diff_per_unit(diff, TA_DIFF_NEW, new) - diff_per_unit(diff, TA_DIFF_BASE, base);
    compared.is_none =
        has_runs(diff) ? diff->change == TA_CHANGE_SAME : fabs(compared.share) < DIFF_SAME_SHARE;
    compared.is_none |= diff->change == TA_CHANGE_SAME && !diff->unit;
    return compared;
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const bool known = diff->window_ns[TA_DIFF_BASE] != TA_MISSING;
    const int64_t base = known ? diff->window_ns[TA_DIFF_BASE]
                               : ta_run_time(diff->registry, diff->shown[TA_DIFF_BASE]);
    const int64_t new = known ? diff->window_ns[TA_DIFF_NEW]
                              : ta_run_time(diff->registry, diff->shown[TA_DIFF_NEW]);
    if (base == TA_MISSING || new == TA_MISSING || base <= 0) {
        const struct diff_said said = untimed(diff);
        if (ta_report_kind(diff->out) == TA_REPORT_DIFF)
            say(diff, out, &said, NULL);
        return true;
    }
    struct compared compared = compare(diff, base, new);
    compared.is_window = known;
    if (!compared.is_none && !known && !diff->is_alien)
        diff_find_host_cause(diff, compared.share > 0);
    const struct diff_said said = diff->is_alien ? alien(diff, base, new) : timed(diff, &compared);
    const int offload = diff->is_alien ? 0 : diff->offload.sign;
    say(diff, out, &said,
        offload < 0   ? "offloading-lost"
        : offload > 0 ? "offloading-gained"
                      : NULL);
    return true;
}

const struct diff_part diff_of_verdict = {
    .declares = {.name = "diff.verdict"}, .section = TA_SECTION_FINDINGS, .add = add};
