/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates on figures: of a comparison by diff.metrics, of one run by its figures. */
#include "compare/gate/judge.h"

#include "base/suggest.h"
#include "plugin/builtin.h"

#include <math.h>
#include <stdio.h>

enum {
    METRIC,
    TITLE,
    BASE,
    NEW,
    VERDICT,
    RATIO,
    CI_LOW,
    CI_HIGH,
    P_VALUE,
    EVIDENCE,
    POLARITY,
    ROLE
};

static const struct ta_ref reads[] = {
    [METRIC] = {"diff.metrics", "metric"},     [TITLE] = {"diff.metrics", "title"},
    [BASE] = {"diff.metrics", "base"},         [NEW] = {"diff.metrics", "new"},
    [VERDICT] = {"diff.metrics", "verdict"},   [RATIO] = {"diff.metrics", "ratio"},
    [CI_LOW] = {"diff.metrics", "ci_low"},     [CI_HIGH] = {"diff.metrics", "ci_high"},
    [P_VALUE] = {"diff.metrics", "p_value"},   [EVIDENCE] = {"diff.metrics", "evidence"},
    [POLARITY] = {"diff.metrics", "polarity"}, [ROLE] = {"diff.metrics", "role"},
};

const struct ta_part ta_gate_figures_part = {"figures of gates", NULL, TA_READS(reads)};

/* The figures that a comparison lists, or of a report on one run its own. */
struct shelf {
    struct ta_refs in;
    bool is_diff;
    struct ta_run_figures figures; /* of one run */
};

static struct shelf open_shelf(const struct gate_job *job)
{
    struct shelf shelf = {.figures = {NULL, 0}};
    ta_refs_open(&shelf.in, job->report, reads, TA_LENGTH(reads));
    shelf.is_diff = ta_ref_table(&shelf.in, METRIC);
    return shelf;
}

static size_t shelf_count(const struct shelf *shelf)
{
    return shelf->is_diff ? ta_ref_rows(&shelf->in, METRIC) : shelf->figures.n;
}

static struct ta_slice shelf_id(const struct shelf *shelf, size_t i)
{
    return shelf->is_diff ? ta_ref_text(&shelf->in, METRIC, i)
                          : ta_slice_of(shelf->figures.at[i].id);
}

/* The unit of a figure of a comparison. */
static enum ta_unit unit_of(const struct ta_refs *in, size_t row)
{
    return ta_table_unit(ta_ref_table(in, NEW), row, ta_ref_column(in, NEW));
}

static size_t find_id(const struct shelf *shelf, struct ta_slice id)
{
    for (size_t i = 0; i < shelf_count(shelf); i++)
        if (ta_slice_equal(shelf_id(shelf, i), id))
            return i;
    return SIZE_MAX;
}

static bool has_metric(const struct ta_figures *figures, struct ta_slice metric)
{
    for (const char *const *m = figures->metrics; m && *m; m++)
        if (ta_slice_equal(metric, ta_slice_of(*m)))
            return true;
    return false;
}

/* The first figure of a metric, on whatever basis. */
static size_t find_first(const struct shelf *shelf, struct ta_slice metric)
{
    for (size_t i = 0; i < shelf_count(shelf); i++) {
        const struct ta_slice id = shelf_id(shelf, i);
        if (id.len > metric.len && id.ptr[metric.len] == '@' &&
            memcmp(id.ptr, metric.ptr, metric.len) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* By its id, as a rate on the first basis that there is, or as gates may call it, too. */
static size_t find_figure(const struct gate_job *job, const struct shelf *shelf,
                          struct ta_slice metric)
{
    size_t at = find_id(shelf, metric);
    for (size_t t = 0; at == SIZE_MAX && t < ta_registry_table_count(job->registry); t++) {
        const struct ta_figures *figures = ta_registry_table_at(job->registry, t)->figures;
        for (const char *const *basis = figures ? figures->bases : NULL;
             at == SIZE_MAX && basis && *basis; basis++) {
            const char *id =
                ta_arena_printf(job->arena, "%.*s@%s", (int)metric.len, metric.ptr, *basis);
            at = id ? find_id(shelf, ta_slice_of(id)) : SIZE_MAX;
        }
        if (at == SIZE_MAX && figures && !figures->bases && has_metric(figures, metric))
            at = find_first(shelf, metric);
    }
    for (size_t i = 0; at == SIZE_MAX && i < ta_registry_scalar_count(job->registry); i++) {
        const struct ta_scalar_def *def = ta_registry_scalar_at(job->registry, i);
        if (def->gate && ta_slice_equal(metric, ta_slice_of(def->gate)))
            at = find_id(shelf, ta_slice_of(def->id));
    }
    return at;
}

/* A figure that a gate asks for, while it is looked for among names. */
struct asked {
    struct ta_slice metric; /* without a basis */
    struct ta_suggest suggestion;
    bool is_known;
};

static void offer(struct asked *asked, const char *name)
{
    asked->is_known |= ta_slice_equal(asked->metric, ta_slice_of(name));
    ta_suggest_offer(&asked->suggestion, name);
}

/* Names of figures that an input may have: a gate on one is no mistake where it is not there. */
static void offer_known(const struct ta_registry *registry, struct asked *asked)
{
    size_t n;
    const char *const *own = ta_run_figure_names(&n);
    for (size_t i = 0; i < n; i++)
        offer(asked, own[i]);
    for (size_t i = 0; i < ta_registry_scalar_count(registry); i++) {
        const struct ta_scalar_def *def = ta_registry_scalar_at(registry, i);
        offer(asked, def->id);
        if (def->gate)
            offer(asked, def->gate);
    }
    for (size_t i = 0; i < ta_registry_table_count(registry); i++) {
        const struct ta_figures *figures = ta_registry_table_at(registry, i)->figures;
        for (const char *const *m = figures ? figures->metrics : NULL; m && *m; m++)
            offer(asked, *m);
    }
}

/* Whether the bases of a metric are names of the input, such as loops have. */
static bool is_of_names(const struct ta_registry *registry, struct ta_slice metric)
{
    for (size_t i = 0; i < ta_registry_table_count(registry); i++) {
        const struct ta_figures *figures = ta_registry_table_at(registry, i)->figures;
        if (figures && !figures->bases && has_metric(figures, metric))
            return true;
    }
    return false;
}

/* Nothing is wrong with a gate on a figure that the input does not have, as long as some other
 * input may; but the name of a loop is a slip where the input has others. */
static enum ta_status check_known(const struct gate_job *job, const struct shelf *shelf,
                                  const struct ta_gate *gate)
{
    char word[64], text[TA_SUGGEST_TEXT_MAX];
    const char *basis = memchr(gate->metric.ptr, '@', gate->metric.len);
    struct asked asked = {.metric = gate->metric, .suggestion = {.word = word}};
    if (basis)
        asked.metric.len = (size_t)(basis - gate->metric.ptr);
    snprintf(word, sizeof word, "%.*s", (int)gate->metric.len, gate->metric.ptr);
    offer_known(job->registry, &asked);
    if (asked.is_known && !(basis && find_first(shelf, asked.metric) != SIZE_MAX &&
                            is_of_names(job->registry, asked.metric)))
        return TA_OK;
    offer(&asked, "regression");
    for (size_t i = 0; i < shelf_count(shelf); i++) {
        const char *id = ta_arena_copy(job->arena, shelf_id(shelf, i));
        if (id)
            offer(&asked, id);
    }
    return ta_gate_refuse(job->ctx, gate->text, gate->metric.ptr, "no figure is called \"%s\"%s",
                          word, ta_suggest_text(&asked.suggestion, text));
}

/* ---- rows of a comparison ------------------------------------------------------------------- */

static enum ta_basis basis_of(const struct ta_refs *in, size_t row)
{
    for (int basis = TA_BASIS_RUNS; basis < TA_BASIS_NONE; basis++)
        if (ta_ref_reads(in, EVIDENCE, row, ta_basis_name((enum ta_basis)basis)))
            return (enum ta_basis)basis;
    return TA_BASIS_NONE;
}

static struct gate_change change_of(const struct ta_refs *in, size_t row)
{
    const double none = (double)NAN;
    return (struct gate_change){
        .base = ta_ref_number(in, BASE, row, none),
        .new = ta_ref_number(in, NEW, row, none),
        .unit = unit_of(in, row),
        .rises = ta_ref_reads(in, POLARITY, row, ta_polarity_name(TA_HIGHER)),
        .evidence = {.basis = basis_of(in, row),
                     .ratio = {ta_ref_number(in, RATIO, row, none),
                               ta_ref_number(in, CI_LOW, row, none),
                               ta_ref_number(in, CI_HIGH, row, none)},
                     .p = ta_ref_number(in, P_VALUE, row, none),
                     .q = none},
    };
}

static struct verdict judge_row(const struct gate_job *job, const struct ta_gate *gate,
                                const struct ta_refs *in, size_t row, bool worse)
{
    struct gate_change change = change_of(in, row);
    change.worse = worse;
    struct verdict verdict = worse || gate_is_relative(gate, change.unit)
                                 ? gate_judge_change(job, gate, &change)
                                 : gate_judge_value(gate, change.new, change.unit);
    verdict.what = ta_arena_copy(job->arena, ta_ref_text(in, TITLE, row));
    return verdict;
}

/* ---- the two gates -------------------------------------------------------------------------- */

enum ta_status gate_judge_figure(const struct gate_job *job, const struct ta_gate *gate,
                                 struct verdict *verdict)
{
    struct shelf shelf = open_shelf(job);
    if (!shelf.is_diff &&
        !ta_run_figures_read(job->arena, job->registry, job->report, &shelf.figures))
        return ta_fail(job->ctx, TA_ERR_NOMEM, "Cannot hold the figures of the report");
    const size_t at = find_figure(job, &shelf, gate->metric);
    if (at == SIZE_MAX) {
        verdict->reason = "The input does not have this figure";
        return check_known(job, &shelf, gate);
    }
    const enum ta_unit unit = shelf.is_diff ? unit_of(&shelf.in, at) : shelf.figures.at[at].unit;
    const enum ta_status status = gate_check_limit(job, gate, unit);
    if (status != TA_OK)
        return status;
    if (shelf.is_diff) {
        *verdict = judge_row(job, gate, &shelf.in, at, false);
        return TA_OK;
    }
    *verdict = gate_judge_value(gate, shelf.figures.at[at].value, unit);
    verdict->what = shelf.figures.at[at].title;
    return TA_OK;
}

enum ta_status gate_judge_regression(const struct gate_job *job, const struct ta_gate *gate,
                                     struct verdict *verdict)
{
    const struct shelf shelf = open_shelf(job);
    if (!shelf.is_diff && ta_report_kind(job->report) != TA_REPORT_DIFF)
        return ta_gate_refuse(job->ctx, gate->text, gate->metric.ptr,
                              "a regression is one against a baseline: use diff, or --baseline");
    for (size_t i = 0; i < ta_ref_rows(&shelf.in, ROLE); i++)
        if (ta_ref_reads(&shelf.in, ROLE, i, "key")) {
            const struct verdict one = judge_row(job, gate, &shelf.in, i, true);
            gate_take_worse(verdict, &one);
        }
    if (!verdict->what)
        verdict->reason = "Nothing says how long the runs took";
    return TA_OK;
}

bool gate_has_baseline(const struct gate_job *job)
{
    return open_shelf(job).is_diff;
}

bool gate_is_any_inconclusive(const struct gate_job *job)
{
    const struct shelf shelf = open_shelf(job);
    for (size_t i = 0; i < ta_ref_rows(&shelf.in, ROLE); i++)
        if (ta_ref_reads(&shelf.in, ROLE, i, "key") &&
            ta_ref_reads(&shelf.in, VERDICT, i, ta_change_name(TA_CHANGE_INCONCLUSIVE)))
            return true;
    return false;
}
