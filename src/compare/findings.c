/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.findings: which findings of the runs came, went and stayed.  What came is a finding of the
 * comparison as well, with what to do about it; what went says so. */
#include "compare/compare.h"
#include "report/report.h"
#include "report/sections.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdlib.h>

enum { FINDING, STATUS, BASE, NEW, DELTA, TITLE, SEVERITY };

static const struct ta_column findings_columns[] = {
    [FINDING] = {"finding", "Finding", TA_ID, .role = TA_KEY,
                 .doc = "Id of the finding in the report of its run"},
    [STATUS] = {"status", "Status", TA_WORD, .role = TA_NOTE,
                .doc = "new: only the other run has it; solved: only the baseline has it; larger "
                       "or smaller: its saving changed by a fifth or more; same"},
    [BASE] = {"base_saving_ns", "Saving before", TA_NS, .better = TA_LOWER,
              .doc = "Mean of the least and the most that acting on it would have saved in the "
                     "baseline; empty if unknown"},
    [NEW] = {"new_saving_ns", "Saving after", TA_NS, .better = TA_LOWER,
             .doc = "The same of the other run"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "Saving after minus saving before; a missing finding counts as 0"},
    [TITLE] = {"title", "Title", TA_SENTENCE, .role = TA_NOTE,
               .doc = "What it says, in the other run if both have it"},
    [SEVERITY] = {"severity", "Severity", TA_WORD, .detail = true,
                  .doc = "Severity in the other run, or in the baseline if that has it alone"},
};

static const struct ta_table_def findings = {
    "diff.findings", "Findings that came, went and stayed", TA_COLUMNS(findings_columns),
    .doc = "Findings of the shown run of both sides, the largest change of the saving first. "
           "Left out if the runs did different work.",
    .brief = &(const struct ta_brief){.place = 90,
                                      .rows = 6,
                                      .first = {&findings_columns[STATUS], &findings_columns[BASE],
                                                &findings_columns[NEW], &findings_columns[DELTA]},
                                      .remark = &findings_columns[TITLE],
                                      .hidden = {&findings_columns[STATUS], {"same"}}}};

/* Changes of a saving below this share are none; findings below that share of the run are no news.
 */
#define LEAST_CHANGE 0.2
#define LEAST_OF_RUN 0.01
/* Of a run that takes longer by more than this, what came made it slower. */
#define SLOWER 1.005

enum { SHOWN_MOST = 3 };

struct pair {
    const struct ta_finding *of[TA_DIFF_SIDES]; /* NULL: this side does not have it */
    int64_t ns[TA_DIFF_SIDES];                  /* mean saving; 0 without */
    bool is_known[TA_DIFF_SIDES];
};

struct pairs {
    struct pair *at;
    size_t n;
};

static int64_t change_of(const struct pair *pair)
{
    return pair->ns[TA_DIFF_NEW] - pair->ns[TA_DIFF_BASE];
}

static const struct ta_finding *shown_of(const struct pair *pair)
{
    return pair->of[TA_DIFF_NEW] ? pair->of[TA_DIFF_NEW] : pair->of[TA_DIFF_BASE];
}

static int by_change(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    const int64_t x = llabs(change_of(a)), y = llabs(change_of(b));
    return x != y ? (x < y) - (x > y) : strcmp(shown_of(a)->id, shown_of(b)->id);
}

static size_t count(const struct ta_report *report)
{
    struct ta_walk walk = {0};
    size_t n = 0;
    while (ta_report_next(report, TA_ITEM_FINDING, &walk))
        n++;
    return n;
}

static void put_side(struct pair *pair, int side, const struct ta_finding *finding)
{
    pair->of[side] = finding;
    pair->is_known[side] =
        finding->saving_low_ns != TA_MISSING && finding->saving_high_ns != TA_MISSING;
    if (pair->is_known[side])
        pair->ns[side] = finding->saving_low_ns / 2 + finding->saving_high_ns / 2;
}

/* Of one id on both sides, each with the other. */
static bool make_pairs(struct diff *diff, struct pairs *pairs)
{
    const size_t most = count(diff->shown[TA_DIFF_BASE]) + count(diff->shown[TA_DIFF_NEW]);
    *pairs = (struct pairs){.at = ta_arena_alloc(&diff->arena, (most + 1) * sizeof *pairs->at)};
    if (!pairs->at)
        return false;
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        struct ta_walk walk = {0};
        const struct ta_item *item;
        while ((item = ta_report_next(diff->shown[side], TA_ITEM_FINDING, &walk)) != NULL) {
            size_t i = 0;
            while (i < pairs->n && (pairs->at[i].of[side] ||
                                    strcmp(shown_of(&pairs->at[i])->id, item->finding->id) != 0))
                i++;
            if (i == pairs->n)
                pairs->at[pairs->n++] = (struct pair){0};
            put_side(&pairs->at[i], side, item->finding);
        }
    }
    qsort(pairs->at, pairs->n, sizeof *pairs->at, by_change);
    return true;
}

static const char *status_of(const struct pair *pair)
{
    const double before = (double)pair->ns[TA_DIFF_BASE], after = (double)pair->ns[TA_DIFF_NEW];
    if (!pair->of[TA_DIFF_BASE])
        return "new";
    if (!pair->of[TA_DIFF_NEW])
        return "solved";
    if (!pair->is_known[TA_DIFF_BASE] || !pair->is_known[TA_DIFF_NEW] ||
        fabs(after - before) < LEAST_CHANGE * fmax(before, after))
        return "same";
    return after > before ? "larger" : "smaller";
}

static void add_row(struct ta_section_builder *out, const struct pair *pair)
{
    const struct ta_finding *shown = shown_of(pair);
    struct ta_cell saving[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        saving[side] = pair->is_known[side] ? ta_int(pair->ns[side]) : ta_null();
    TA_ROW(out, findings, [FINDING] = ta_string(shown->id), [STATUS] = ta_string(status_of(pair)),
           [TITLE] = ta_string(shown->title), [BASE] = saving[TA_DIFF_BASE],
           [NEW] = saving[TA_DIFF_NEW], [DELTA] = ta_int(change_of(pair)),
           [SEVERITY] = ta_string(ta_severity_name(shown->severity)));
}

/* ---- news ------------------------------------------------------------------------------------ */

enum news { NO_NEWS, CAME, GREW, WENT };

/* New over base; NaN where nothing says how long the runs took. */
static double ratio_of(const struct diff *diff)
{
    const struct diff_loop *loop = diff->prompts.name.len ? &diff->prompts : &diff->loop;
    const int64_t before = ta_run_time(diff->registry, diff->shown[TA_DIFF_BASE]);
    const int64_t after = ta_run_time(diff->registry, diff->shown[TA_DIFF_NEW]);
    if (before != TA_MISSING && after != TA_MISSING && before > 0)
        return (double)after / (double)before;
    return loop->name.len ? loop->ns[TA_DIFF_NEW] / loop->ns[TA_DIFF_BASE] : (double)NAN;
}

static bool is_slower(const struct diff *diff)
{
    return ratio_of(diff) > SLOWER;
}

static bool is_no_slower(const struct diff *diff)
{
    return ratio_of(diff) <= SLOWER;
}

/* Whether it grew no more than calls that all became slower, which is a finding of its own. */
static bool grew_with_all(const struct diff *diff, const struct pair *pair)
{
    static const double about = 1.1;
    return (double)pair->ns[TA_DIFF_NEW] <= about * diff->slowed * (double)pair->ns[TA_DIFF_BASE];
}

/* Whether it changed, by more than a detail of the run.  Without a saving only what is severe is
 * news: most of the others are about the recording. */
static enum news news_of(const struct diff *diff, const struct pair *pair)
{
    const struct ta_finding *shown = shown_of(pair);
    const int side = pair->of[TA_DIFF_NEW] ? TA_DIFF_NEW : TA_DIFF_BASE;
    const int64_t run = ta_run_time(diff->registry, diff->shown[side]);
    const bool is_large = run == TA_MISSING || !pair->is_known[side]
                              ? shown->severity >= TA_HIGH
                              : (double)llabs(change_of(pair)) >= LEAST_OF_RUN * (double)run;
    /* Another recording has other findings about itself. */
    if (!is_large || shown->severity < TA_LOW ||
        (diff->has_other_recording && !pair->is_known[side]))
        return NO_NEWS;
    if (!pair->of[TA_DIFF_NEW]) /* of a slower run it may only be a smaller share */
        return is_slower(diff) ? NO_NEWS : WENT;
    if (!pair->of[TA_DIFF_BASE])
        return CAME;
    return strcmp(status_of(pair), "larger") == 0 && !grew_with_all(diff, pair) ? GREW : NO_NEWS;
}

/* "Acting on it would have saved 15.0 ms to 29.5 ms." */
static const char *saved(struct diff *diff, const struct ta_finding *finding)
{
    struct diff_two two;
    if (finding->saving_low_ns == TA_MISSING || finding->saving_high_ns == TA_MISSING)
        return NULL;
    diff_two(&two, (double)finding->saving_low_ns, (double)finding->saving_high_ns, TA_UNIT_NS);
    if (finding->saving_low_ns == 0)
        return ta_arena_printf(&diff->arena, "Acting on it would have saved up to %s.", two.after);
    return ta_arena_printf(&diff->arena, "Acting on it would have saved %s to %s.", two.before,
                           two.after);
}

/* What went is a finding of the baseline, whose shares are of another run than what came.
 */
static const char *title_of(struct diff *diff, bool went, const char *word, const char *title)
{
    static const char of_run[] = " of the run";
    const char *at = went ? strstr(title, of_run) : NULL;
    const char *text = at ? ta_arena_printf(&diff->arena, "%s: %.*s of the baseline%s", word,
                                            (int)(at - title), title, at + sizeof of_run - 1)
                          : ta_arena_printf(&diff->arena, "%s: %s", word, title);
    return text ? text : title;
}

/* "New: Python launches kernels too slowly", with what to do about it; "Solved: …".  Of a run that
 * is no slower what came is what to do next, and nothing that got worse. */
static void add_news(struct diff *diff, struct ta_section_builder *out, const struct pair *pair,
                     enum news news)
{
    const struct ta_finding *shown = shown_of(pair);
    const bool is_fine = is_no_slower(diff);
    const char *const words[] = {
        [CAME] = is_fine ? "Next" : "New", [GREW] = "Larger", [WENT] = "Solved"};
    struct ta_finding own = *shown;
    const struct ta_evidence evidence = {.table = "diff.findings",
                                         .column = "delta_ns",
                                         .row = ta_string(shown->id),
                                         .value = ta_int(change_of(pair)),
                                         .unit = TA_UNIT_NS_CHANGE};
    own.title = title_of(diff, news == WENT, words[news], shown->title);
    own.evidence = &evidence;
    own.n_evidence = 1;
    if (is_fine && own.severity > TA_MEDIUM)
        own.severity = TA_MEDIUM;
    if (news == WENT) {
        own.severity = TA_INFO;
        own.why = saved(diff, shown);
        own.details = NULL;
        own.advice = "";
        own.saving_low_ns = own.saving_high_ns = TA_MISSING;
        own.saving_low_share = own.saving_high_share = 0;
    }
    ta_add_finding(out, &own);
}

static void add_all_news(struct diff *diff, const struct pairs *pairs)
{
    struct ta_section_builder *out = ta_report_open_section(diff->out, TA_SECTION_FINDINGS, "");
    /* Of runs that were recorded differently others may be about the recording. */
    const size_t told = (size_t)(diff->offload.sign != 0) + (size_t)(diff->slowed > 0);
    size_t left = diff->is_recorders ? 0 : SHOWN_MOST - told;
    for (size_t i = 0; i < pairs->n && left; i++) {
        const enum news news = news_of(diff, &pairs->at[i]);
        if (news == NO_NEWS)
            continue;
        add_news(diff, out, &pairs->at[i], news);
        left--;
    }
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    struct pairs pairs;
    if (diff->is_alien || diff->is_other_work)
        return true;
    if (!make_pairs(diff, &pairs))
        return false;
    for (size_t i = 0; i < pairs.n; i++)
        add_row(out, &pairs.at[i]);
    if (ta_report_kind(diff->out) == TA_REPORT_DIFF) /* a report has its own findings */
        add_all_news(diff, &pairs);
    return true;
}

static const struct ta_table_def *const tables[] = {&findings, NULL};

const struct diff_part diff_of_findings = {
    .declares = {.name = "diff.findings", .tables = tables}, .section = "diff", .add = add};
