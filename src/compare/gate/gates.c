/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All gates against a report, and the table of what became of them. */
#include "compare/gate/gates.h"

#include "base/context.h"
#include "compare/gate/judge.h"
#include "plugin/builtin.h"
#include "report/report.h"
#include "traceanalyze/output.h"
#include "traceanalyze/table.h"

#include <math.h>

static const struct ta_column results_columns[] = {
    [TA_GATES_TEXT] = {"gate", "Gate", TA_TEXT, .doc = "The expression as given"},
    [TA_GATES_OUTCOME] = {"outcome", "Outcome", TA_WORD,
                          .doc = "passed; failed (exit code 1, or 4 for incomplete data); "
                                 "inconclusive (beyond the limit but not certain, or nothing to "
                                 "judge by); absent (the input has no such figure)"},
    [TA_GATES_WHAT] = {"what", "Metric", TA_TEXT,
                       .doc = "Figure, name or finding that the gate checks; if several match, the "
                              "one with the worst outcome, then furthest beyond the limit"},
    [TA_GATES_BASE] = {"base", "Before", TA_NUMBER, .doc = "Value in the baseline"},
    [TA_GATES_NEW] = {"new", "After", TA_NUMBER, .doc = "Value in the checked run"},
    [TA_GATES_CHANGE] = {"change", "Change", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE,
                         .doc = "Change relative to the baseline, as the limit is stated"},
    [TA_GATES_CHANGE_LOW] =
        {"change_low", "CI low", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE,
         .doc = "Lower end of the change's confidence interval; empty if there are too few runs"},
    [TA_GATES_CHANGE_HIGH] =
        {"change_high", "CI high", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE,
         .doc = "Upper end of the change's confidence interval; empty if there are too few runs"},
    [TA_GATES_REASON] = {"reason", "Why", TA_SENTENCE,
                         .doc = "Why the gate could not be decided; empty if it could"},
    [TA_GATES_UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW,
                       .doc = "Unit of the values"},
};

static const struct ta_digest digest = {
    .part = TA_DIGEST_OUTCOME,
    .title = "Gates",
    .columns = {&results_columns[TA_GATES_TEXT], &results_columns[TA_GATES_OUTCOME],
                &results_columns[TA_GATES_WHAT], &results_columns[TA_GATES_BASE],
                &results_columns[TA_GATES_NEW], &results_columns[TA_GATES_CHANGE],
                &results_columns[TA_GATES_REASON]}};

static const struct ta_table_def results = {
    "gates.results", "Gates", TA_COLUMNS(results_columns),
    .brief =
        &(const struct ta_brief){
            .place = 10,
            .rows = 20,
            .first = {&results_columns[TA_GATES_OUTCOME], &results_columns[TA_GATES_WHAT],
                      &results_columns[TA_GATES_BASE], &results_columns[TA_GATES_NEW],
                      &results_columns[TA_GATES_CHANGE]},
            .together = {&results_columns[TA_GATES_CHANGE_LOW],
                         &results_columns[TA_GATES_CHANGE_HIGH]},
            .whole_names = true},
    .digest = &digest};
static const struct ta_table_def *const tables[] = {&results, NULL};

const struct ta_part ta_gates_part = {.name = "gates", .tables = tables};

static const char *outcome_name(enum gate_outcome outcome)
{
    static const char *const names[] = {[GATE_PASSED] = "passed",
                                        [GATE_FAILED] = "failed",
                                        [GATE_INCONCLUSIVE] = "inconclusive",
                                        [GATE_ABSENT] = "absent"};
    return names[outcome];
}

static const struct verdict nothing = {
    .outcome = GATE_ABSENT,
    .base = (double)NAN,
    .new = (double)NAN,
    .change = (double)NAN,
    .low = (double)NAN,
    .high = (double)NAN,
    .beyond = -(double)INFINITY,
};

/* ---- gates on the whole --------------------------------------------------------------------- */

/* The worst finding. */
static void judge_findings(const struct gate_job *job, const struct ta_gate *gate,
                           struct verdict *verdict)
{
    verdict->outcome = GATE_PASSED;
    for (size_t s = 0; s < ta_report_section_count(job->report); s++) {
        const struct ta_section *section = ta_report_section(job->report, s);
        for (size_t i = 0; i < section->n_items; i++) {
            if (section->items[i].kind != TA_ITEM_FINDING)
                continue;
            const struct ta_finding *finding = section->items[i].finding;
            if (!ta_gate_trips(gate, finding->severity) ||
                verdict->beyond >= (double)finding->severity)
                continue;
            verdict->outcome = GATE_FAILED;
            verdict->beyond = (double)finding->severity;
            verdict->what = finding->title;
        }
    }
}

/* Some gate before could not tell; or no figure that says how long the run takes could. */
static void judge_inconclusive(const struct gate_job *job, struct verdict *verdict)
{
    const bool is = job->inconclusive || gate_is_any_inconclusive(job);
    verdict->outcome = is ? GATE_INCONCLUSIVE : GATE_PASSED;
    verdict->reason = is ? "Not enough evidence either way" : NULL;
}

static enum ta_status judge(const struct gate_job *job, const struct ta_gate *gate,
                            struct verdict *verdict)
{
    *verdict = nothing;
    switch (gate->kind) {
    case TA_GATE_REGRESSION:
        return gate_judge_regression(job, gate, verdict);
    case TA_GATE_FIGURE:
        return gate_judge_figure(job, gate, verdict);
    case TA_GATE_NAMES:
        return gate_judge_names(job, gate, verdict);
    case TA_GATE_FINDING:
        judge_findings(job, gate, verdict);
        break;
    case TA_GATE_INCONCLUSIVE:
        judge_inconclusive(job, verdict);
        break;
    case TA_GATE_INCOMPLETE:
        verdict->outcome = job->gates->incomplete ? GATE_FAILED : GATE_PASSED;
        verdict->reason = job->gates->incomplete ? "Data was lost, or ranks are missing" : NULL;
        break;
    }
    return TA_OK;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void add_row(struct ta_section_builder *out, const struct ta_gate *gate,
                    const struct verdict *verdict)
{
    TA_ROW(
        out, results, [TA_GATES_TEXT] = ta_text(ta_slice_of(gate->text)),
        [TA_GATES_OUTCOME] = ta_text(ta_slice_of(outcome_name(verdict->outcome))),
        [TA_GATES_WHAT] = verdict->what ? ta_text(ta_slice_of(verdict->what)) : ta_null(),
        [TA_GATES_BASE] = ta_num(verdict->base), [TA_GATES_NEW] = ta_num(verdict->new),
        [TA_GATES_CHANGE] = ta_num(verdict->change), [TA_GATES_CHANGE_LOW] = ta_num(verdict->low),
        [TA_GATES_CHANGE_HIGH] = ta_num(verdict->high),
        [TA_GATES_REASON] = verdict->reason ? ta_text(ta_slice_of(verdict->reason)) : ta_null(),
        [TA_GATES_UNIT] = ta_text(ta_slice_of(ta_unit_name(verdict->unit))));
}

static void note(const struct ta_gate *gate, const struct verdict *verdict, struct gate_job *job,
                 struct ta_gates_outcome *outcome)
{
    const bool failed = verdict->outcome == GATE_FAILED;
    outcome->failed |= failed && gate->kind != TA_GATE_INCOMPLETE;
    outcome->incomplete |= failed && gate->kind == TA_GATE_INCOMPLETE;
    if (gate->kind == TA_GATE_INCONCLUSIVE)
        outcome->inconclusive |= verdict->outcome == GATE_INCONCLUSIVE;
    else
        job->inconclusive |=
            verdict->outcome == GATE_INCONCLUSIVE || verdict->outcome == GATE_ABSENT;
}

/* Findings of one kind, or all others. */
static enum ta_status judge_those(struct gate_job *job, bool inconclusive, struct verdict *verdicts,
                                  struct ta_gates_outcome *outcome)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < job->gates->n; i++) {
        const struct ta_gate *gate = &job->gates->at[i];
        if ((gate->kind == TA_GATE_INCONCLUSIVE) != inconclusive)
            continue;
        status = judge(job, gate, &verdicts[i]);
        note(gate, &verdicts[i], job, outcome);
    }
    return status;
}

enum ta_status ta_gates_judge(struct ta_ctx *ctx, const struct ta_registry *registry,
                              const struct ta_gates *gates, struct ta_report *report,
                              struct ta_gates_outcome *outcome)
{
    struct ta_arena *arena = ta_report_arena(report);
    struct gate_job job = {
        .ctx = ctx, .registry = registry, .gates = gates, .report = report, .arena = arena};
    *outcome = (struct ta_gates_outcome){false};
    if (gates->n == 0)
        return TA_OK;
    struct verdict *verdicts = ta_arena_alloc(arena, gates->n * sizeof *verdicts);
    if (!verdicts)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the gates");
    enum ta_status status = judge_those(&job, false, verdicts, outcome);
    if (status == TA_OK) /* last: it is about the others */
        status = judge_those(&job, true, verdicts, outcome);
    if (status != TA_OK)
        return status;
    struct ta_section_builder *out = ta_report_open_section(report, "gates", "Gates");
    ta_declare_tables(out, tables);
    for (size_t i = 0; i < gates->n; i++)
        add_row(out, &gates->at[i], &verdicts[i]);
    ta_close_tables(out);
    if (ta_report_freeze(report) != TA_OK)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the gates");
    outcome->table = ta_report_table(report, results.id);
    return TA_OK;
}
