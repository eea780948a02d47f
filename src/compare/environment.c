/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.environment: what the runs were of, and whether they can be compared. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/columns.h"

#include <stdio.h>

static const struct ta_column columns[] = {
    {"key", "What", TA_WORD,
     .doc = "What was compared; tags of the session, versions and options of the profiler stand as "
            "they "
            "are"},
    {"base", "Before", TA_TEXT, .doc = "Its value in the baseline; none when nothing says it"},
    {"new", "After", TA_TEXT, .doc = "Its value in the other run; none when nothing says it"},
    {"status", "Status", TA_WORD, .doc = "same; differs; unknown: a run does not say it"},
    {"weight", "Weight", TA_WORD,
     .doc = "caution: times of runs that differ in it are of different work or machines; note: it "
            "says "
            "something about the recording"},
};

/* ---- what a report says ------------------------------------------------------------------------
 */

static const char *count_text(struct diff *diff, int64_t count)
{
    return count == TA_MISSING ? NULL : ta_arena_printf(&diff->arena, "%lld", (long long)count);
}

static const char *devices(struct diff *diff, const struct ta_report *report)
{
    (void)diff;
    const char *names = ta_report_run(report)->devices;
    return *names ? names : NULL;
}

static const char *ranks(struct diff *diff, const struct ta_report *report)
{
    return count_text(diff, (int64_t)ta_report_run(report)->n_ranks);
}

static const char *world_size(struct diff *diff, const struct ta_report *report)
{
    return count_text(diff, ta_report_run(report)->world_size);
}

/* The text of the row with most of something. */
static const char *most_of(struct diff *diff, const struct ta_report *report, const char *id,
                           const char *name, const char *amount)
{
    const struct ta_table *table = ta_report_table(report, id);
    size_t most = 0;
    for (size_t i = 1; table && i < table->n_rows; i++)
        if (ta_row_number(table, i, amount, 0) > ta_row_number(table, most, amount, 0))
            most = i;
    return table ? ta_arena_copy(&diff->arena, ta_row_text(table, most, name)) : NULL;
}

static const char *precision(struct diff *diff, const struct ta_report *report)
{
    return most_of(diff, report, "kernels.precision", "precision", "total_ns");
}

static const char *model(struct diff *diff, const struct ta_report *report)
{
    return most_of(diff, report, "models.parameters", "model", "parameters");
}

static const char *format(struct diff *diff, const struct ta_report *report)
{
    return most_of(diff, report, "run.files", "format", "raw_bytes");
}

static const char *steps(struct diff *diff, const struct ta_report *report)
{
    return count_text(diff, diff_units(report, DIFF_STEPS));
}

static const char *frames(struct diff *diff, const struct ta_report *report)
{
    return count_text(diff, diff_units(report, DIFF_FRAMES));
}

static const char *yes_or_no(bool yes)
{
    return yes ? "yes" : "no";
}

/* Bytes of the name of an operator in front of its shapes. */
enum { OP_MOST = 24 };

/* Input shapes of an operator where it takes the device longest. */
static const char *largest_shapes(struct diff *diff, const struct ta_report *report,
                                  struct ta_slice op)
{
    const struct ta_table *table = ta_report_table(report, "ops.by_shape");
    size_t most = SIZE_MAX;
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (ta_slice_equal(ta_row_text(table, i, "name"), op) &&
            (most == SIZE_MAX || ta_row_number(table, i, "device_self_ns", 0) >
                                     ta_row_number(table, most, "device_self_ns", 0)))
            most = i;
    if (most == SIZE_MAX)
        return NULL;
    const struct ta_slice shapes = ta_row_text(table, most, "shapes");
    op = diff_brief(diff, op, OP_MOST);
    return ta_arena_printf(&diff->arena, "%.*s %.*s", (int)op.len, op.ptr, (int)shapes.len,
                           shapes.ptr);
}

static bool has_shapes(const struct ta_table *table, struct ta_slice op)
{
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (ta_slice_equal(ta_row_text(table, i, "name"), op))
            return true;
    return false;
}

/* Of the operator of both runs that takes the device of the baseline longest: one that gave its
 * place to another, as another kind of attention does, says nothing about the work. */
static const char *shapes(struct diff *diff, const struct ta_report *report)
{
    const struct ta_table *base = ta_report_table(diff->shown[TA_DIFF_BASE], "ops.by_shape");
    const struct ta_table *new = ta_report_table(diff->shown[TA_DIFF_NEW], "ops.by_shape");
    double most = -1;
    struct ta_slice op = {NULL, 0};
    for (size_t i = 0; base && i < base->n_rows; i++) {
        const double ns = ta_row_number(base, i, "device_self_ns", 0);
        if (ns > most && has_shapes(new, ta_row_text(base, i, "name"))) {
            most = ns;
            op = ta_row_text(base, i, "name");
        }
    }
    return op.len ? largest_shapes(diff, report, op) : NULL;
}

/* The kind of attention that takes the device longest. */
static const char *attention(struct diff *diff, const struct ta_report *report)
{
    return most_of(diff, report, "attention.by_backend", "backend", "total_ns");
}

static const char *shapes_recorded(struct diff *diff, const struct ta_report *report)
{
    (void)diff;
    return yes_or_no(ta_report_table(report, "ops.by_shape") != NULL);
}

static const char *python_recorded(struct diff *diff, const struct ta_report *report)
{
    (void)diff;
    const struct ta_table *kinds = ta_report_table(report, "events.by_kind");
    for (size_t i = 0; kinds && i < kinds->n_rows; i++)
        if (ta_row_reads(kinds, i, "category", "python_function"))
            return yes_or_no(true);
    return yes_or_no(false);
}

/* Figures of a trace that is trusted less are hints, as are those of a comparison with it. */
static const char *trust(struct diff *diff, const struct ta_report *report)
{
    static const double enough = 0.5;
    const struct ta_scalar *score = ta_report_scalar(report, "trust_score");
    (void)diff;
    if (!score || score->value.kind == TA_CELL_NULL)
        return NULL;
    return ta_cell_number(&score->value, 1) < enough ? "hints only" : "trusted";
}

static const char *data_status(struct diff *diff, const struct ta_report *report)
{
    (void)diff;
    return ta_quality_status_name(ta_report_accounts(report)->status);
}

/* ---- the keys
 * ------------------------------------------------------------------------------------ */

static const struct {
    const char *key;
    const char *(*read)(struct diff *diff, const struct ta_report *report);
    bool is_caution;
} keys[] = {
    {"devices", devices, true},
    {"world_size", world_size, true},
    {"ranks", ranks, true},
    {"precision", precision, true},
    {"model", model, true},
    {"steps", steps, true},
    {"frames", frames, true},
    {"shapes", shapes, true},
    {"attention", attention, false},
    {"format", format, true},
    {"trust", trust, true},
    {"shapes_recorded", shapes_recorded, false},
    {"python_recorded", python_recorded, false},
    {"data_status", data_status, false},
};

/* What keeps the runs from being compared without a second thought, "devices, steps". */
struct doubts {
    char text[256];
    size_t n;
};

static void add_doubt(struct doubts *doubts, const char *key)
{
    const size_t length = strlen(doubts->text);
    snprintf(doubts->text + length, sizeof doubts->text - length, "%s%s", doubts->n ? ", " : "",
             key);
    doubts->n++;
}

static struct ta_cell text_or_null(const char *text)
{
    return text ? ta_text(ta_slice_of(text)) : ta_null();
}

static void add_keys(struct diff *diff, struct ta_table_builder *table, struct doubts *doubts)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *base = keys[i].read(diff, diff->shown[TA_DIFF_BASE]);
        const char *new = keys[i].read(diff, diff->shown[TA_DIFF_NEW]);
        const char *status = !base || !new ? "unknown" : strcmp(base, new) ? "differs" : "same";
        if (!base && !new)
            continue;
        if (keys[i].is_caution && strcmp(status, "same") != 0)
            add_doubt(doubts, keys[i].key);
        TA_CELLS(table, ta_text(ta_slice_of(keys[i].key)), text_or_null(base), text_or_null(new),
                 ta_text(ta_slice_of(status)),
                 ta_text(keys[i].is_caution ? TA_LIT("caution") : TA_LIT("note")));
    }
}

static size_t find_tag(const struct ta_table *table, struct ta_slice key)
{
    size_t i = 0;
    while (i < table->n_rows && !ta_slice_equal(ta_row_text(table, i, "key"), key))
        i++;
    return i;
}

/* Tags of a session, versions of libraries, options of the profiler; as the first rank has them:
 * others mostly have the same.  What one run alone says is not known of the other. */
static void add_tags(struct diff *diff, struct ta_table_builder *table, struct doubts *doubts)
{
    enum { NAMED_MOST = 8 };
    const struct ta_table *base = ta_report_table(diff->shown[TA_DIFF_BASE], "run.tags");
    const struct ta_table *new = ta_report_table(diff->shown[TA_DIFF_NEW], "run.tags");
    const double rank = base ? ta_row_number(base, 0, "rank", -1) : 0;
    for (size_t i = 0; base && new &&i < base->n_rows; i++) {
        const struct ta_slice key = ta_row_text(base, i, "key");
        const size_t k = find_tag(new, key);
        if (ta_row_number(base, i, "rank", -1) != rank || k == new->n_rows ||
            ta_slice_equal(ta_row_text(new, k, "value"), ta_row_text(base, i, "value")))
            continue;
        const char *name = ta_arena_copy(&diff->arena, key);
        if (name && doubts->n < NAMED_MOST)
            add_doubt(doubts, name);
        TA_CELLS(table, ta_text(key), ta_text(ta_row_text(base, i, "value")),
                 ta_text(ta_row_text(new, k, "value")), ta_text(TA_LIT("differs")),
                 ta_text(TA_LIT("caution")));
    }
}

/* Share of the time of a list that names of both sides take. */
static double shared_time(const struct diff_pairs *pairs)
{
    double shared = 0, all = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        const struct diff_item *const *item = pairs->at[i].item;
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            all += item[side] ? (double)item[side]->total_ns : 0;
        if ((item[0] && item[1]) || pairs->at[i].set)
            for (int side = 0; side < TA_DIFF_SIDES; side++)
                shared += item[side] ? (double)item[side]->total_ns : 0;
    }
    return all > 0 ? shared / all : -1;
}

/* Runs with less in common did different things. */
#define LEAST_SHARED 0.05
/* Runs with less are compared with caution. */
#define ENOUGH_SHARED 0.5

void diff_add_environment(struct diff *diff)
{
    struct ta_section_builder *section =
        ta_report_open_section(diff->out, "diff_runs", "Runs compared");
    struct ta_table_builder *table =
        ta_add_table(section, "diff.environment", "What the runs were of", columns,
                     sizeof columns / sizeof *columns);
    struct doubts doubts = {"", 0};
    add_keys(diff, table, &doubts);
    add_tags(diff, table, &doubts);
    double shared = shared_time(&diff->kernels);
    if (shared < 0)
        shared = shared_time(&diff->stages);
    if (shared < 0)
        shared = shared_time(&diff->ops);
    const bool no = shared >= 0 && shared < LEAST_SHARED;
    diff->shared = shared;
    diff->is_alien = no;
    diff->is_other_work = shared >= 0 && shared < ENOUGH_SHARED;
    if (shared < ENOUGH_SHARED)
        add_doubt(&doubts, shared < 0 ? "time in common" : "most of the time");
    const char *note =
        no         ? "The runs have no kernels, stages or operators in common"
        : doubts.n ? ta_arena_printf(&diff->arena, "Differ or are not known: %s", doubts.text)
                   : "What is known of both runs is the same";
    const char *verdict = no ? "no" : doubts.n ? "with caution" : "yes";
    const struct ta_scalar scalars[] = {
        {"diff_comparable", "Comparable", ta_text(ta_slice_of(verdict)), TA_UNIT_NONE, TA_NEUTRAL,
         note},
        {"diff_shared_time", "Time in common", shared < 0 ? ta_null() : ta_num(shared),
         TA_UNIT_RATIO, TA_HIGHER,
         "Share of the time of both runs in kernels, or else stages or operators, that are "
         "matched"},
    };
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        ta_add_scalar(section, &scalars[i]);
}
