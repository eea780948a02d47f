/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running the rules and ranking what they find. */
#include "recommend/recommend.h"

#include "analyze/analyze.h"
#include "base/context.h"
#include "base/template.h"
#include "base/vec.h"
#include "recommend/checked.h"
#include "recommend/data_rule.h"
#include "recommend/found.h"
#include "recommend/rule.h"
#include "recommend/stories.h"
#include "report/report.h"
#include "report/sections.h"
#include "traceanalyze/output.h"
#include "traceanalyze/rule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much of the kernel time of devices lies on the critical path: what is saved elsewhere does
 * not shorten the run. */
struct ta_path_part {
    double share; /* 0…1; 1 where the path is not known */
    double ns;    /* of a rank on average; INFINITY where the path is not known */
};

struct ta_advice {
    struct ta_arena *arena; /* of the report */
    const struct ta_report *report;
    const struct ta_refs *in; /* its readings */
    TA_VEC(struct ta_found) findings;
    bool failed;
    const char *unfounded;       /* id of a finding without evidence: a bug of its rule */
    const struct ta_entry *rule; /* the running one */
    size_t *found;               /* findings of each rule, in the order of the registry */
    double trust;                /* in the traces, 0…1 */
    double window;               /* of the program or the run, in ns; 0 where it is not known */
    struct ta_path_part kernels; /* on the critical path */
    bool of_devices;             /* the window is of recorded devices, not of logs or dumps */
    bool one_device;             /* of which nobody needs the number */
    const char *recorded;        /* "Python stacks and memory": what could be left out; or "" */
};

/* ---- words of the user in place of the rule's ---------------------------------------------- */

static struct ta_slice field_of(const struct ta_finding *finding, struct ta_slice name,
                                char number[TA_UNIT_TEXT_MAX])
{
    if (ta_slice_equal(name, TA_LIT("title")))
        return ta_slice_of(finding->title);
    if (ta_slice_equal(name, TA_LIT("advice")))
        return ta_slice_of(finding->advice);
    if (ta_slice_equal(name, TA_LIT("threshold")))
        return ta_slice_of(finding->threshold);
    return ta_cell_text(&finding->evidence->value, finding->evidence->unit, number);
}

static const char *fill_in(struct ta_advice *advice, const struct ta_finding *finding,
                           const char *text)
{
    struct ta_piece piece;
    char number[TA_UNIT_TEXT_MAX];
    const char *filled = "";
    while (ta_template_next(&text, &piece)) {
        const struct ta_slice part =
            piece.is_name ? field_of(finding, piece.text, number) : piece.text;
        filled = ta_advice_printf(advice, "%s%.*s", filled, (int)part.len, part.ptr);
    }
    return filled;
}

static void reword(struct ta_advice *advice, struct ta_finding *finding)
{
    const struct ta_finding own = *finding;
    const struct ta_said *words = advice->rule->words;
    for (int severity = TA_INFO; words[TA_RULE_SEVERITY].text && severity <= TA_CRITICAL;
         severity++)
        if (strcmp(ta_severity_name((enum ta_severity)severity), words[TA_RULE_SEVERITY].text) == 0)
            finding->severity = (enum ta_severity)severity;
    if (advice->rule->data)
        return; /* it has filled in its texts itself */
    if (words[TA_RULE_TITLE].text)
        finding->title = fill_in(advice, &own, words[TA_RULE_TITLE].text);
    if (words[TA_RULE_ADVICE].text)
        finding->advice = fill_in(advice, &own, words[TA_RULE_ADVICE].text);
}

/* ---- findings ------------------------------------------------------------------------------ */

/* What the kernels save as time of the run: of the least the part that is on the critical path on
 * average, of the most what is there at all. */
static void bound_by_path(const struct ta_advice *advice, struct ta_finding *finding)
{
    if (finding->saving_high_ns == TA_MISSING || finding->gain != TA_GAIN_DEVICE)
        return;
    finding->saving_low_ns = ta_whole((double)finding->saving_low_ns * advice->kernels.share);
    finding->saving_high_ns = ta_whole(fmin((double)finding->saving_high_ns, advice->kernels.ns));
}

/* What one rank saves as time of the run: no more than the others let it be shorter. */
static struct ta_rank_bound bound_by_ranks(struct ta_advice *advice, struct ta_finding *finding)
{
    if (finding->saving_high_ns == TA_MISSING || finding->gain != TA_GAIN_RUN)
        return (struct ta_rank_bound){.rank = TA_MISSING};
    const double high = (double)finding->saving_high_ns;
    const struct ta_rank_bound bound = ta_rank_bound(advice->in, advice->report, finding, high);
    advice->failed |= bound.failed;
    if (bound.most_ns < high) {
        finding->saving_high_ns = ta_whole(bound.most_ns);
        finding->saving_low_ns =
            ta_whole((double)finding->saving_low_ns * bound.most_ns / fmax(1, high));
    }
    return bound;
}

/* No saving is longer than the run it is of.  Logs and dumps of a folder may be of several runs:
 * one that is longer than the known run is of another. */
static void state_as_of_run(const struct ta_advice *advice, struct ta_finding *finding)
{
    if (finding->saving_high_ns == TA_MISSING || advice->window <= 0)
        return;
    const int64_t run = ta_whole(advice->window);
    if (!advice->of_devices && finding->saving_high_ns > run)
        return;
    finding->saving_high_ns = ta_min_i64(finding->saving_high_ns, run);
    finding->saving_low_ns = ta_min_i64(finding->saving_low_ns, finding->saving_high_ns);
    finding->saving_low_share = (double)finding->saving_low_ns / advice->window;
    finding->saving_high_share = fmin(1, (double)finding->saving_high_ns / advice->window);
}

/* Below this share of a saving the cost of recording does not matter. */
#define RECORDER_LEAST 0.05

/* From this share on there is nothing to save but the recorder. */
#define RECORDER_ALL 0.9

/* Nobody acts on what saves less of the run, or no more than that at all. */
#define TRIVIAL 0.005
#define TRIVIAL_NS 3e4

/* What is believed less is not said. */
#define CONFIDENCE_LEAST 0.05

/* The least expected saving of a severity, as a share of the window of the devices.  Findings are
 * ranked by the same measure, so none is more severe than one listed before it.
 * Shares of a recording that is shorter than any step say nothing of a run: so it has to be some
 * time as well. */
static const struct {
    double share, least_ns;
} high = {0.075, 1e5}, medium = {0.02, 1e4};

static enum ta_severity grade(const struct ta_advice *advice, const struct ta_finding *finding)
{
    if (finding->saving_high_ns == TA_MISSING || advice->window <= 0 ||
        finding->severity == TA_INFO)
        return finding->severity;
    const double time = ta_finding_worth(finding), share = time / advice->window;
    return share >= high.share && time >= high.least_ns       ? TA_HIGH
           : share >= medium.share && time >= medium.least_ns ? TA_MEDIUM
                                                              : TA_LOW;
}

/* "at least 156 ms", "12.1 ms to 48.4 ms": what recording costs is known to a factor of two. */
static const char *explained(struct ta_advice *advice, double least, double most, double all)
{
    const char *from = ta_advice_number(advice, least, TA_UNIT_NS);
    return most < all ? ta_advice_printf(advice, "%s to %s", from,
                                         ta_advice_number(advice, most, TA_UNIT_NS))
                      : ta_advice_printf(advice, "at least %s", from);
}

/* A finding that recording explains in part says so first and promises the rest alone: the most is
 * of what the least that recording costs leaves, the least of what the most that it costs leaves.
 * What every recording costs is a guess, and may be little. */
static void set_recorder_apart(struct ta_advice *advice, struct ta_finding *finding)
{
    if (finding->saving_high_ns == TA_MISSING || finding->recorder_ns <= 0 ||
        (double)finding->recorder_ns < RECORDER_LEAST * (double)finding->saving_high_ns)
        return;
    const double all = (double)finding->saving_high_ns;
    const double recorder = fmin((double)finding->recorder_ns, all);
    const double most = fmin(fmax(recorder, (double)finding->recorder_most_ns), all);
    const bool is_chosen = *advice->recorded;
    const double low = (double)finding->saving_low_ns;
    finding->saving_low_ns =
        ta_whole(is_chosen ? low * (all - most) / all : fmax(0, low - recorder / 2));
    if (!is_chosen)
        return;
    if (recorder >= RECORDER_ALL * all) {
        finding->title =
            ta_advice_printf(advice, "%s, which profiling itself causes", finding->title);
        finding->advice = ta_advice_printf(advice, "Record without %s.", advice->recorded);
        finding->saving_low_ns = finding->saving_high_ns = TA_MISSING;
        finding->severity = TA_INFO;
        return;
    }
    finding->title = ta_advice_printf(advice, "%s; profiling itself causes %s of it",
                                      finding->title, explained(advice, recorder / 2, most, all));
    finding->advice =
        ta_advice_printf(advice, "Record without %s first. %s", advice->recorded, finding->advice);
    finding->saving_high_ns = ta_whole(all - recorder / 2);
    finding->confidence *= 1 - recorder / all;
}

void ta_advise(struct ta_advice *advice, const struct ta_finding *finding)
{
    if (finding->n_evidence == 0) {
        advice->unfounded = finding->id;
        return;
    }
    struct ta_evidence *evidence =
        ta_arena_alloc(advice->arena, finding->n_evidence * sizeof *evidence);
    struct ta_finding copy = *finding;
    if (!evidence) {
        advice->failed = true;
        return;
    }
    copy.n_evidence = 0;
    for (size_t i = 0; i < finding->n_evidence; i++)
        if (finding->evidence[i].table)
            evidence[copy.n_evidence++] = finding->evidence[i];
    copy.evidence = evidence;
    bound_by_path(advice, &copy);
    const struct ta_rank_bound ranks = bound_by_ranks(advice, &copy);
    set_recorder_apart(advice, &copy);
    state_as_of_run(advice, &copy);
    if (!copy.about_input) {
        copy.confidence *= advice->trust;
        if (advice->trust < TA_TRUST_LEAST)
            copy.severity = TA_INFO; /* a hint */
    }
    copy.confidence = round(copy.confidence * 100) / 100; /* no false precision */
    if (!copy.about_input && copy.confidence < CONFIDENCE_LEAST)
        return; /* not even a hint */
    const bool is_asked_for = advice->rule->data || advice->rule->words[TA_RULE_SEVERITY].text;
    if (copy.saving_high_ns != TA_MISSING && advice->window > 0 &&
        ((double)copy.saving_high_ns < TRIVIAL * advice->window ||
         (!is_asked_for && (double)copy.saving_high_ns <= TRIVIAL_NS)))
        return;
    copy.severity = grade(advice, &copy);
    reword(advice, &copy);
    if (!ta_vec_push(&advice->findings, ((struct ta_found){copy, ranks})))
        advice->failed = true;
}

void ta_advice_fail(struct ta_advice *advice)
{
    advice->failed = true;
}

bool ta_advice_has_one_device(const struct ta_advice *advice)
{
    return advice->one_device;
}

struct ta_arena *ta_advice_arena(struct ta_advice *advice)
{
    return advice->arena;
}

const char *ta_advice_printf(struct ta_advice *advice, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : ta_arena_alloc(advice->arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    else
        advice->failed = true;
    va_end(again);
    va_end(args);
    return text ? text : "";
}

/* First come findings that limit the trust in all others, then severe risks that have no time to
 * save, such as a device that overheats, then what would save time. */
static int place_of(const struct ta_finding *finding)
{
    const bool is_risk = finding->saving_high_ns == TA_MISSING && finding->severity >= TA_HIGH;
    return finding->about_input ? 0 : is_risk ? 1 : 2;
}

static int by_worth(const void *left, const void *right)
{
    const struct ta_finding *a = &((const struct ta_found *)left)->finding;
    const struct ta_finding *b = &((const struct ta_found *)right)->finding;
    const double x = ta_finding_worth(a), y = ta_finding_worth(b);
    if (place_of(a) != place_of(b))
        return place_of(a) - place_of(b);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    if (a->confidence != b->confidence)
        return a->confidence > b->confidence ? -1 : 1;
    return strcmp(a->id, b->id);
}

/* Of an input that is no run nothing is advised but what to do about that. */
static void leave_out_others(struct ta_advice *advice)
{
    bool only = false;
    size_t kept = 0;
    for (size_t i = 0; i < advice->findings.n; i++)
        only |= advice->findings.at[i].finding.is_only;
    for (size_t i = 0; only && i < advice->findings.n; i++)
        if (advice->findings.at[i].finding.about_input)
            advice->findings.at[kept++] = advice->findings.at[i];
    advice->findings.n = only ? kept : advice->findings.n;
}

/* Findings that are one story. */
static void join_stories(struct ta_advice *advice)
{
    const size_t n = advice->findings.n;
    advice->findings.n = ta_stories_join(advice, advice->in, advice->findings.at, n);
    for (size_t i = 0; advice->findings.n < n && i < advice->findings.n; i++)
        state_as_of_run(advice, &advice->findings.at[i].finding);
}

/* Savings together. */
struct together {
    double low, high;           /* of findings on their own */
    double low_left, high_left; /* what savings of denoising steps leave of these */
    double steps;               /* time of the steps */
    size_t n;
};

static void add_saving(struct together *all, const struct ta_finding *finding)
{
    const double least = (double)ta_max_i64(finding->saving_low_ns, 0);
    const double most = (double)finding->saving_high_ns, steps = (double)finding->steps_ns;
    all->n++;
    if (steps <= 0) {
        all->low += least;
        all->high += most;
        return;
    }
    all->steps = fmax(all->steps, steps);
    all->low_left *= fmax(0, 1 - least / steps);
    all->high_left *= fmax(0, 1 - most / steps);
}

static double low_of(const struct together *all)
{
    return all->low + all->steps * (1 - all->low_left);
}

static double high_of(const struct together *all)
{
    return all->high + all->steps * (1 - all->high_left);
}

static double most_or_least(const struct together *all, bool by_most)
{
    return by_most ? high_of(all) : low_of(all);
}

/* What a finding saves of the time that a goal is about: of denoising steps all of it, of other
 * parts of the run at least what the rest of the run has no room for. */
static struct ta_finding toward(const struct ta_advice *advice, size_t goal, size_t other)
{
    struct ta_finding finding = advice->findings.at[other].finding;
    const int64_t time = advice->findings.at[goal].finding.steps_ns;
    const int64_t rest = ta_max_i64(ta_whole(advice->window) - time, 0);
    if (finding.saving_high_ns == TA_MISSING || time <= 0)
        return finding;
    if (finding.steps_ns == TA_OUTSIDE_LOOP)
        finding.saving_high_ns = TA_MISSING;
    else if (finding.steps_ns == 0 && advice->window > 0)
        finding.saving_low_ns = ta_max_i64(finding.saving_low_ns - rest, 0);
    finding.saving_high_ns = ta_min_i64(finding.saving_high_ns, time);
    finding.saving_low_ns = ta_min_i64(finding.saving_low_ns, finding.saving_high_ns);
    return finding;
}

/* The finding that adds most to those that are taken; SIZE_MAX where none is left. */
static size_t next_saving(const struct ta_advice *advice, size_t goal, const bool *taken,
                          const struct together *all, bool by_most)
{
    size_t found = SIZE_MAX;
    double best = -1;
    for (size_t i = 0; i < advice->findings.n; i++) {
        const struct ta_finding other = toward(advice, goal, i);
        struct together with = *all;
        if (i == goal || taken[i] || other.saving_high_ns == TA_MISSING ||
            other.saving_high_ns <= 0)
            continue;
        add_saving(&with, &other);
        if (most_or_least(&with, by_most) > best) {
            best = most_or_least(&with, by_most);
            found = i;
        }
    }
    return found;
}

/* The fewest findings that reach the goal together, by what they save at least or at most; all of
 * them where they do not.  Says whether they do. */
static bool reach(const struct ta_advice *advice, size_t goal, bool by_most, bool *taken,
                  struct together *all)
{
    const double needed = (double)advice->findings.at[goal].finding.needed_ns;
    memset(taken, 0, advice->findings.n * sizeof *taken);
    *all = (struct together){.low_left = 1, .high_left = 1};
    while (most_or_least(all, by_most) < needed) {
        const size_t next = next_saving(advice, goal, taken, all, by_most);
        if (next == SIZE_MAX)
            return false;
        const struct ta_finding cut = toward(advice, goal, next);
        taken[next] = true;
        add_saving(all, &cut);
    }
    return true;
}

/* "5.10 s to 7.00 s", "up to 7.00 s". */
static const char *range_of(struct ta_advice *advice, const struct together *all)
{
    const char *most = ta_advice_number(advice, high_of(all), TA_UNIT_NS);
    return low_of(all) > 0
               ? ta_advice_printf(advice, "%s to %s",
                                  ta_advice_number(advice, low_of(all), TA_UNIT_NS), most)
               : ta_advice_printf(advice, "up to %s", most);
}

/* ": 2 findings save that, 5.10 s to 7.00 s together", "; the finding about blocks saves at most
 * 2.62 s". */
static const char *toward_goal(struct ta_advice *advice, const struct together *all, bool is_sure,
                               bool may_be)
{
    const bool is_one = all->n == 1;
    const char *n = is_one ? "one finding" : ta_advice_printf(advice, "%zu findings", all->n);
    if (!may_be)
        return ta_advice_printf(
            advice, "; the %s about blocks save%s at most %s%s", n, is_one ? "s" : "",
            ta_advice_number(advice, high_of(all), TA_UNIT_NS), is_one ? "" : " together");
    return ta_advice_printf(advice, ": %s%s %s that, %s%s", n, is_sure ? "" : " may",
                            is_one && is_sure ? "saves" : "save", range_of(advice, all),
                            is_one ? "" : " together");
}

/* What a run has to save to reach a goal, and what the other findings bring of it: savings do not
 * add up, so together they are an upper bound. */
static void say_goal(struct ta_advice *advice, size_t goal, bool *taken)
{
    struct ta_finding *finding = &advice->findings.at[goal].finding;
    const double needed = (double)finding->needed_ns;
    struct together all;
    const bool is_sure = reach(advice, goal, false, taken, &all);
    const bool may_be = is_sure || reach(advice, goal, true, taken, &all);
    if (all.n == 0)
        return;
    finding->why = ta_advice_printf(
        advice, "%s%sTo reach that goal, the blocks have to take %s less%s.",
        finding->why ? finding->why : "", finding->why ? " " : "",
        ta_advice_number(advice, needed, TA_UNIT_NS), toward_goal(advice, &all, is_sure, may_be));
    for (size_t i = 0; may_be && i < advice->findings.n; i++)
        if (taken[i])
            ta_finding_add_detail(advice, finding,
                                  ta_advice_printf(advice, "Toward the goal: %s",
                                                   advice->findings.at[i].finding.title));
}

/* False without memory. */
static bool tell_goal(struct ta_advice *advice, size_t goal)
{
    bool *taken = calloc(advice->findings.n, sizeof *taken);
    if (taken)
        say_goal(advice, goal, taken);
    free(taken);
    return taken != NULL;
}

/* False without memory. */
static bool tell_goals(struct ta_advice *advice)
{
    for (size_t i = 0; i < advice->findings.n; i++)
        if (advice->findings.at[i].finding.needed_ns > 0 && !tell_goal(advice, i))
            return false;
    return true;
}

/* What further findings have to add to the largest saving, for their sum to say more than it. */
#define SUM_LEAST 1.1

/* Nothing of a run can be saved as a whole: savings that add up to this share of it are of the same
 * time in part. */
#define SUM_MOST 0.95

/* A sum of so many times what is certain says nothing. */
#define SUM_WIDE 2.5

/* What is certain where their sum is not: what one of them saves at least. */
static const char *at_least(struct ta_advice *advice, const struct ta_finding *sum, size_t surest)
{
    const char *share = ta_advice_number(advice, sum->saving_low_share, TA_UNIT_RATIO);
    return ta_advice_printf(
        advice,
        "Savings overlap: finding %zu alone saves at least %s%s, and the others may add less than "
        "they say.",
        surest + 1, ta_advice_number(advice, (double)sum->saving_low_ns, TA_UNIT_NS),
        sum->saving_low_share > 0 ? ta_advice_printf(advice, " (%s of the run)", share) : "");
}

/* What all findings save together; NULL where that is about what one of them saves.  They may be
 * about the same time: at least it is what the surest one saves, at most they add up. */
static const char *all_together(struct ta_advice *advice)
{
    struct ta_finding sum = {.saving_low_ns = 0};
    struct together all = {.low_left = 1, .high_left = 1};
    char saving[TA_SAVING_TEXT_MAX];
    double largest = 0;
    size_t surest = 0;
    for (size_t i = 0; i < advice->findings.n; i++) {
        const struct ta_finding *finding = &advice->findings.at[i].finding;
        if (finding->saving_high_ns == TA_MISSING || finding->saving_high_ns <= 0)
            continue;
        add_saving(&all, finding);
        largest = fmax(largest, (double)finding->saving_high_ns);
        surest = finding->saving_low_ns > sum.saving_low_ns ? i : surest;
        sum.saving_low_ns = ta_max_i64(sum.saving_low_ns, finding->saving_low_ns);
    }
    sum.saving_high_ns = ta_whole(high_of(&all));
    state_as_of_run(advice, &sum);
    if (largest <= 0 || (double)sum.saving_high_ns < SUM_LEAST * largest)
        return NULL;
    if ((advice->of_devices && sum.saving_high_share >= SUM_MOST) ||
        (double)sum.saving_high_ns > SUM_WIDE * (double)sum.saving_low_ns)
        return sum.saving_low_ns > 0 ? at_least(advice, &sum, surest) : NULL;
    return ta_advice_printf(advice, "All findings together save %s; savings may overlap.",
                            ta_saving_text(&sum, saving));
}

static enum ta_status run_rules(struct ta_ctx *ctx, const struct ta_registry *registry,
                                const struct ta_report *report, struct ta_advice *advice)
{
    const size_t n = ta_registry_count(registry, TA_KIND_advice);
    advice->found = ta_arena_alloc(advice->arena, (n + 1) * sizeof *advice->found);
    if (!advice->found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot count the findings");
    for (size_t i = 0; i < n; i++) {
        const struct ta_entry *entry = ta_registry_at(registry, TA_KIND_advice, i);
        const size_t before = advice->findings.n;
        if (entry->off)
            continue;
        ctx->option_values = entry->option_values;
        advice->rule = entry;
        struct ta_refs in;
        if (!entry->data)
            ta_refs_open(&in, report, entry->plugin.advice->reads, entry->plugin.advice->n_reads);
        enum ta_status status = entry->data ? ta_data_rule_run(ctx, registry, entry, report, advice)
                                            : entry->plugin.advice->advise(ctx, &in, advice);
        if (status != TA_OK)
            return ta_cause(ctx, status, "Rule \"%s\" failed", entry->plugin.id);
        if (advice->unfounded)
            return ta_fail(ctx, TA_ERR_INTERNAL, "Rule \"%s\" gave no evidence: finding=%s",
                           entry->plugin.id, advice->unfounded);
        advice->found[i] = advice->findings.n - before;
    }
    if (advice->failed)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the findings");
    return TA_OK;
}

static struct ta_path_part kernels_on_path(const struct ta_refs *in)
{
    double on_path = 0, all = 0;
    size_t ranks = 0;
    for (size_t row = 0; row < ta_ref_rows(in, TA_AS_PATH_TIME); row++)
        if (ta_ref_reads(in, TA_AS_PATH_CLASS, row, "compute")) {
            on_path += ta_ref_number(in, TA_AS_PATH_TIME, row, 0);
            ranks++;
        }
    for (size_t row = 0; row < ta_ref_rows(in, TA_AS_DEVICE_COMPUTE); row++)
        all += ta_ref_number(in, TA_AS_DEVICE_COMPUTE, row, 0);
    if (all <= 0 || ta_ref_rows(in, TA_AS_PATH_TIME) == 0)
        return (struct ta_path_part){.share = 1, .ns = INFINITY};
    return (struct ta_path_part){.share = fmin(1, on_path / all),
                                 .ns = ranks ? on_path / (double)ranks : 0};
}

/* The window of the program; of a run without devices its length; 0 where that is not known. */
static double run_time(const struct ta_refs *in, const struct ta_registry *registry,
                       const struct ta_report *report)
{
    const int64_t time = ta_run_time(registry, report);
    return ta_ref_scalar(in, TA_AS_PROGRAM_WINDOW, time == TA_MISSING ? 0 : (double)time);
}

/* Below this share of what recording costs in all, leaving the options out changes little. */
#define OPTIONS_LEAST 0.3

/* "Python stacks, shapes of inputs and memory": what was recorded on some rank and could have been
 * left out; "" where that is a small part of what recording costs. */
static const char *recorded_options(struct ta_advice *advice, const struct ta_refs *in)
{
    struct ta_slice parts[8];
    double all = 0, options = 0;
    size_t n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, TA_AS_RECORDED_OPTION) && n < 8; row++) {
        const struct ta_cell *cell = ta_ref_cell(in, TA_AS_RECORDED_OPTION, row);
        const struct ta_slice part = ta_ref_text(in, TA_AS_RECORDED_PART, row);
        const double cost = ta_ref_number(in, TA_AS_RECORDED_COST, row, 0);
        bool is_new = cell->kind == TA_CELL_BOOL && cell->b;
        all += cost;
        options += is_new ? cost : 0;
        for (size_t i = 0; i < n; i++)
            is_new &= !ta_slice_equal(part, parts[i]);
        if (is_new)
            parts[n++] = part;
    }
    const char *list = "";
    for (size_t i = 0; i < n && options >= OPTIONS_LEAST * all; i++)
        list = ta_advice_printf(advice, "%s%s%.*s", list,
                                i == 0      ? ""
                                : i + 1 < n ? ", "
                                            : " and ",
                                (int)parts[i].len, parts[i].ptr);
    return list;
}

enum ta_status ta_recommend(struct ta_ctx *ctx, const struct ta_registry *registry,
                            struct ta_report *report)
{
    struct ta_refs in;
    ta_readings_open(&in, registry, report);
    struct ta_advice advice = {.arena = ta_report_arena(report),
                               .report = report,
                               .in = &in,
                               .trust = ta_ref_scalar(&in, TA_AS_TRUST, 1),
                               .window = run_time(&in, registry, report),
                               .kernels = kernels_on_path(&in),
                               .of_devices = ta_ref_rows(&in, TA_AS_DEVICE_WINDOW) > 0,
                               .one_device = ta_ref_rows(&in, TA_AS_DEVICE_WINDOW) == 1};
    advice.recorded = recorded_options(&advice, &in);
    enum ta_status status = run_rules(ctx, registry, report, &advice);
    if (status == TA_OK) {
        leave_out_others(&advice);
        join_stories(&advice);
        const struct ta_found *at = advice.findings.at;
        if (advice.findings.n)
            qsort(advice.findings.at, advice.findings.n, sizeof *at, by_worth);
        if (!tell_goals(&advice))
            status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot look for what reaches a goal");
    }
    if (status == TA_OK) {
        const struct ta_found *at = advice.findings.at;
        struct ta_section_builder *section =
            ta_report_open_section(report, TA_SECTION_FINDINGS, "Findings");
        bool has_advice = false;
        for (size_t i = 0; i < advice.findings.n; i++) {
            ta_add_finding(section, &at[i].finding);
            has_advice |= at[i].finding.advice && *at[i].finding.advice;
        }
        ta_checked_list(registry, report, advice.found, section);
        const char *summary = all_together(&advice);
        if (summary)
            ta_section_set_summary(section, summary);
        const bool is_bottleneck = advice.findings.n && at[0].finding.severity > TA_INFO;
        status = ta_headline_set(ctx, registry, report, is_bottleneck ? &at[0].finding : NULL,
                                 has_advice);
    }
    free(advice.findings.at);
    return status;
}
