/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs were compared: the head of the report, its accounts, and diff.runs. */
#include "base/context.h"
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <stdlib.h>

/* ---- the head ----------------------------------------------------------------------------- */

/* "A", or "A and 4 more". */
static const char *title_of(struct ta_arena *arena, const struct ta_diff_side *side)
{
    const char *first = ta_report_run(side->runs[0])->title;
    return side->n == 1 ? first : ta_arena_printf(arena, "%s and %zu more", first, side->n - 1);
}

static int by_number(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Ranks of any run, each once; NULL without memory. */
static int64_t *unite_ranks(const struct ta_diff_side sides[TA_DIFF_SIDES], size_t *n)
{
    size_t most = 0, kept = 0;
    for (int s = 0; s < TA_DIFF_SIDES; s++)
        for (size_t i = 0; i < sides[s].n; i++)
            most += ta_report_run(sides[s].runs[i])->n_ranks;
    int64_t *ranks = calloc(most + 1, sizeof *ranks);
    *n = 0;
    for (int s = 0; ranks && s < TA_DIFF_SIDES; s++)
        for (size_t i = 0; i < sides[s].n; i++) {
            const struct ta_run_info *run = ta_report_run(sides[s].runs[i]);
            for (size_t k = 0; k < run->n_ranks; k++)
                ranks[(*n)++] = run->ranks[k];
        }
    if (!ranks)
        return NULL;
    qsort(ranks, *n, sizeof *ranks, by_number);
    for (size_t i = 0; i < *n; i++)
        if (kept == 0 || ranks[kept - 1] != ranks[i])
            ranks[kept++] = ranks[i];
    *n = kept;
    return ranks;
}

static bool describe_run(const struct ta_diff_side sides[TA_DIFF_SIDES], const char *title,
                         struct ta_report *report)
{
    struct ta_arena *arena = ta_report_arena(report);
    const char *base = title_of(arena, &sides[TA_DIFF_BASE]);
    const char *new = title_of(arena, &sides[TA_DIFF_NEW]);
    const char *before = ta_report_run(sides[TA_DIFF_BASE].runs[0])->devices;
    const char *after = ta_report_run(sides[TA_DIFF_NEW].runs[0])->devices;
    size_t n;
    int64_t *ranks = unite_ranks(sides, &n);
    if (!title)
        title = ta_arena_printf(arena, "%s → %s", base ? base : "", new ? new : "");
    const char *devices = strcmp(before, after) == 0
                              ? after
                              : ta_arena_printf(arena, "%s → %s", *before ? before : "unknown",
                                                *after ? after : "unknown");
    const bool done = ranks && title && devices;
    if (done)
        ta_report_set_run(report,
                          &(struct ta_run_info){
                              .title = title,
                              .ranks = ranks,
                              .n_ranks = n,
                              .world_size = ta_report_run(sides[TA_DIFF_NEW].runs[0])->world_size,
                              .devices = devices});
    free(ranks);
    return done;
}

/* ---- accounts ----------------------------------------------------------------------------- */

/* Where the accounts of all runs are put together. */
struct merge {
    struct ta_arena *arena;
    struct ta_accounts into;
    struct ta_file_account *files;
    struct ta_quality_finding *findings;
};

static const struct ta_quality_finding *
copy_findings(struct ta_arena *arena, const struct ta_quality_finding *from, size_t n)
{
    struct ta_quality_finding *findings = ta_arena_alloc(arena, n * sizeof *findings);
    for (size_t i = 0; findings && i < n; i++) {
        findings[i] = from[i];
        if (from[i].text)
            findings[i].text = ta_arena_copy(arena, ta_slice_of(from[i].text));
    }
    return findings;
}

static void merge_file(struct merge *merge, const struct ta_file_account *from, const char *title)
{
    struct ta_file_account *file = &merge->files[merge->into.n_files++];
    *file = *from;
    file->path = strcmp(title, from->path) == 0
                     ? ta_arena_copy(merge->arena, ta_slice_of(title))
                     : ta_arena_printf(merge->arena, "%s: %s", title, from->path);
    file->format = ta_arena_copy(merge->arena, ta_slice_of(from->format));
    file->findings = copy_findings(merge->arena, from->findings, from->n_findings);
}

static void merge_totals(struct ta_account_totals *into, const struct ta_account_totals *from)
{
    into->files_seen += from->files_seen;
    into->files_used += from->files_used;
    into->files_refused += from->files_refused;
    into->events_seen += from->events_seen;
    into->events_kept += from->events_kept;
    into->events_repaired += from->events_repaired;
    into->events_dropped += from->events_dropped;
    into->bytes_skipped += from->bytes_skipped;
}

static void merge_run(struct merge *merge, const struct ta_report *run)
{
    const struct ta_accounts *from = ta_report_accounts(run);
    const char *title = ta_report_run(run)->title;
    if (from->status > merge->into.status)
        merge->into.status = from->status;
    merge_totals(&merge->into.totals, &from->totals);
    for (size_t i = 0; i < from->n_files; i++)
        merge_file(merge, &from->files[i], title);
    const struct ta_quality_finding *findings =
        copy_findings(merge->arena, from->findings, from->n_findings);
    for (size_t i = 0; findings && i < from->n_findings; i++)
        merge->findings[merge->into.n_findings++] = findings[i];
}

static bool merge_accounts(const struct ta_diff_side sides[TA_DIFF_SIDES], struct ta_report *report)
{
    size_t files = 0, findings = 0;
    for (int s = 0; s < TA_DIFF_SIDES; s++)
        for (size_t i = 0; i < sides[s].n; i++) {
            files += ta_report_accounts(sides[s].runs[i])->n_files;
            findings += ta_report_accounts(sides[s].runs[i])->n_findings;
        }
    struct ta_arena *arena = ta_report_arena(report);
    struct merge merge = {.arena = arena,
                          .files = ta_arena_alloc(arena, (files + 1) * sizeof *merge.files),
                          .findings =
                              ta_arena_alloc(arena, (findings + 1) * sizeof *merge.findings)};
    if (!merge.files || !merge.findings)
        return false;
    for (int s = 0; s < TA_DIFF_SIDES; s++)
        for (size_t i = 0; i < sides[s].n; i++)
            merge_run(&merge, sides[s].runs[i]);
    merge.into.files = merge.files;
    merge.into.findings = merge.findings;
    ta_report_set_accounts(report, &merge.into);
    return !arena->failed;
}

bool diff_describe(const struct ta_diff_side sides[TA_DIFF_SIDES], const char *title,
                   struct ta_report *report)
{
    int64_t date_s = 0;
    for (int s = 0; s < TA_DIFF_SIDES; s++)
        for (size_t i = 0; i < sides[s].n; i++)
            date_s = ta_max_i64(date_s, ta_report_input_date(sides[s].runs[i]));
    ta_report_set_input_date(report, date_s);
    return describe_run(sides, title, report) && merge_accounts(sides, report);
}

/* ---- the table ---------------------------------------------------------------------------- */

enum { SIDE, INDEX, TITLE, SHOWN, RANKS, FILES, EVENTS, LENGTH, DEVICES };

static const struct ta_column runs_columns[] = {
    [SIDE] = {"side", "Side", TA_WORD, .doc = "base (the baseline) or new (the other run)"},
    [INDEX] = {"index", "Run", TA_INTEGER, .doc = "Number of the run, starting at 0"},
    [TITLE] = {"title", "Title", TA_TEXT, .doc = "Title of the run"},
    [SHOWN] =
        {"shown", "Shown run", TA_FLAG,
         .doc =
             "Whether tables show this run; if a side has several runs, the one of median length"},
    [RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks that were read"},
    [FILES] = {"files", "Files", TA_COUNT, .doc = "Files that were used"},
    [EVENTS] = {"events", "Events", TA_COUNT, .doc = "Events or records that were used"},
    [LENGTH] = {"length_ns", "Length", TA_NS, .better = TA_LOWER,
                .doc = "Longest window of a device; without devices, of the host or the stages"},
    [DEVICES] = {"devices", "Devices", TA_TEXT, .doc = "Names of the devices, each once"},
};

static const struct ta_table_def runs = {"diff.runs", "Runs compared", TA_COLUMNS(runs_columns)};

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    static const char *const names[TA_DIFF_SIDES] = {"base", "new"};
    for (int s = 0; s < TA_DIFF_SIDES; s++)
        for (size_t i = 0; i < diff->sides[s].n; i++) {
            const struct ta_report *report = diff->sides[s].runs[i];
            const struct ta_run_info *run = ta_report_run(report);
            const struct ta_account_totals *totals = &ta_report_accounts(report)->totals;
            TA_ROW(out, runs, [SIDE] = ta_text(ta_slice_of(names[s])), [INDEX] = ta_int((int64_t)i),
                   [TITLE] = ta_text(ta_slice_of(run->title)),
                   [SHOWN] = ta_bool(report == diff->shown[s]),
                   [RANKS] = ta_int((int64_t)run->n_ranks),
                   [FILES] = ta_int((int64_t)totals->files_used),
                   [EVENTS] = ta_int((int64_t)totals->events_kept),
                   [LENGTH] = ta_int(ta_run_time(diff->registry, report)),
                   [DEVICES] = *run->devices ? ta_text(ta_slice_of(run->devices)) : ta_null());
        }
    return true;
}

static const struct ta_table_def *const tables[] = {&runs, NULL};

const struct diff_part diff_of_runs = {
    .declares = {.name = "diff.runs", .tables = tables}, .section = "diff_runs", .add = add};
