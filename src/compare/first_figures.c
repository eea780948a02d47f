/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a comparison's first screen, before and after: the time that the verdict is about,
 * and of the figures on the first screens of both runs those that changed by more than noise.  The
 * numbers are in diff.metrics. */
#include "compare/compare.h"
#include "report/report.h"
#include "report/unit.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A change by less is none; nor is one of a share by less than a point. */
#define LEAST_CHANGE 0.02
#define LEAST_POINTS 0.01

#define FIGURE(id)                                                                                 \
    {                                                                                              \
        id, "Figure", TA_UNIT_NONE, TA_NEUTRAL,                                                    \
            .doc = "Figure of the first screen, before and after"                                  \
    }

enum { TIME, FIRST, FIGURES = 5 }; /* in one line of a page */

static const struct ta_scalar_def scalars[FIGURES] = {
    [TIME] = {"diff_time", "Time", TA_UNIT_NONE, TA_NEUTRAL,
              .doc = "Time that the verdict compares, before and after: of an image, a video, a "
                     "step or the run"},
    [FIRST] = FIGURE("diff_figure_1"),
    FIGURE("diff_figure_2"),
    FIGURE("diff_figure_3"),
    FIGURE("diff_figure_4"),
};

/* "21 → 33.1 /s": the unit of both is said once. */
static const char *pair_of(struct diff *diff, const double value[TA_DIFF_SIDES], enum ta_unit unit)
{
    struct diff_two two;
    diff_two(&two, value[TA_DIFF_BASE], value[TA_DIFF_NEW], unit);
    char *before = strrchr(two.before, ' ');
    const char *after = strrchr(two.after, ' ');
    if (before && after && strcmp(before, after) == 0)
        *before = '\0';
    return ta_arena_printf(&diff->arena, "%s → %s", two.before, two.after);
}

static void put(struct diff *diff, struct ta_section_builder *out, size_t place, const char *title,
                const double value[TA_DIFF_SIDES], enum ta_unit unit)
{
    const char *pair = pair_of(diff, value, unit);
    ta_word_scalar(out, &scalars[place], ta_text(ta_slice_of(pair ? pair : "")), title, NULL);
    if (ta_report_kind(diff->out) == TA_REPORT_DIFF)
        ta_report_add_figure(diff->out, scalars[place].id);
}

/* The one with this id that has not been told; NULL where there is none. */
static struct diff_figure *find(struct diff *diff, const char *id)
{
    for (size_t i = 0; i < diff->n_figures; i++)
        if (strcmp(diff->figures[i].id, id) == 0 && !diff->figures[i].is_told)
            return &diff->figures[i];
    return NULL;
}

static bool has_changed(const struct diff_figure *figure)
{
    const double before = figure->value[TA_DIFF_BASE], after = figure->value[TA_DIFF_NEW];
    const double change = fabs(after - before);
    if (figure->is_noise || change < LEAST_CHANGE * fmax(fabs(before), fabs(after)))
        return false;
    return figure->unit != TA_UNIT_RATIO || change >= LEAST_POINTS;
}

/* Whether it has the same numbers, such as the time that the verdict compares. */
static bool is_again(const struct diff_figure *figure, const double told[TA_DIFF_SIDES],
                     enum ta_unit unit)
{
    bool is_same = figure->unit == unit;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        is_same &= fabs(figure->value[side] - told[side]) <= LEAST_CHANGE * fabs(told[side]);
    return is_same;
}

static bool says_news(const struct diff *diff, const struct diff_figure *figure)
{
    if (!has_changed(figure) || (diff->told_of && is_again(figure, diff->told_ns, TA_UNIT_NS)))
        return false;
    for (size_t i = 0; i < diff->n_figures; i++)
        if (diff->figures[i].is_told &&
            is_again(figure, diff->figures[i].value, diff->figures[i].unit))
            return false;
    return true;
}

/* The figures of the first screen of a run. */
static void put_figures_of(struct diff *diff, struct ta_section_builder *out, int side,
                           size_t *place)
{
    const struct ta_verdict *verdict = ta_report_verdict(diff->shown[side]);
    for (size_t i = 0; i < verdict->n_figures && *place < FIGURES; i++) {
        struct diff_figure *figure = find(diff, verdict->figures[i]);
        if (!figure || !says_news(diff, figure))
            continue;
        figure->is_told = true;
        put(diff, out, (*place)++, figure->title, figure->value, figure->unit);
    }
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    size_t place = FIRST;
    if (diff->is_alien)
        return true;
    if (diff->told_of)
        put(diff, out, TIME, diff->told_of, diff->told_ns, TA_UNIT_NS);
    put_figures_of(diff, out, TA_DIFF_NEW, &place);
    put_figures_of(diff, out, TA_DIFF_BASE, &place);
    if (ta_report_kind(diff->out) == TA_REPORT_DIFF && diff->is_doubtful)
        ta_report_add_figure(diff->out, "diff_comparable");
    return true;
}

const struct diff_part diff_of_first_figures = {
    .declares = {.name = "diff.first_figures", TA_SCALARS(scalars)}, .section = "diff", .add = add};
