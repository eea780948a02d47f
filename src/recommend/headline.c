/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first line of a report, from what headline plugins say. */
#include "recommend/recommend.h"
#include "report/report.h"
#include "report/short_name.h"
#include "traceanalyze/headline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct ta_line {
    struct ta_arena *arena; /* of the report */
    char text[1024];
    size_t n;
    bool covers_finding;
    const char *figures[TA_FIGURES_MOST];
    size_t n_figures;
};

/* ---- sentences ----------------------------------------------------------------------------- */

static void add(struct ta_line *line, const char *format, va_list args) TA_PRINTF(2, 0);

static void add(struct ta_line *line, const char *format, va_list args)
{
    const int n = vsnprintf(line->text + line->n, sizeof line->text - line->n, format, args);
    if (n > 0)
        line->n =
            line->n + (size_t)n < sizeof line->text ? line->n + (size_t)n : sizeof line->text - 1;
}

void ta_say(struct ta_line *line, const char *format, ...)
{
    va_list args;
    if (line->n && line->n + 1 < sizeof line->text)
        line->text[line->n++] = ' ';
    va_start(args, format);
    add(line, format, args);
    va_end(args);
}

void ta_say_on(struct ta_line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(line, format, args);
    va_end(args);
}

bool ta_line_is_empty(const struct ta_line *line)
{
    return line->n == 0;
}

struct ta_slice ta_line_name(struct ta_line *line, struct ta_slice name, size_t most)
{
    return ta_short_name(line->arena, name, most);
}

void ta_line_covers_finding(struct ta_line *line)
{
    line->covers_finding = true;
}

void ta_line_add_figure(struct ta_line *line, const char *id)
{
    if (line->n_figures < TA_FIGURES_MOST)
        line->figures[line->n_figures++] = id;
}

/* ---- the line ------------------------------------------------------------------------------ */

static int by_place(const void *left, const void *right)
{
    const struct ta_entry *a = *(const struct ta_entry *const *)left;
    const struct ta_entry *b = *(const struct ta_entry *const *)right;
    const struct ta_headline_ops *x = a->plugin.headline, *y = b->plugin.headline;
    if (x->level != y->level)
        return (x->level > y->level) - (x->level < y->level);
    if (x->place != y->place)
        return (x->place > y->place) - (x->place < y->place);
    return strcmp(a->plugin.id, b->plugin.id);
}

static void say_one(const struct ta_entry *entry, const struct ta_report *report,
                    const struct ta_finding *worst, struct ta_line *line)
{
    const struct ta_headline_ops *ops = entry->plugin.headline;
    struct ta_refs in;
    if (ops->alone && line->n)
        return;
    ta_refs_open(&in, report, ops->reads, ops->n_reads);
    ops->say(line, &in, worst);
}

enum ta_status ta_headline_set(struct ta_ctx *ctx, const struct ta_registry *registry,
                               struct ta_report *report, const struct ta_finding *worst)
{
    const size_t n = ta_registry_count(registry, TA_KIND_headline);
    const struct ta_entry **entries = calloc(n + 1, sizeof *entries);
    struct ta_line line = {.arena = ta_report_arena(report)};
    if (!entries)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the headline");
    for (size_t i = 0; i < n; i++)
        entries[i] = ta_registry_at(registry, TA_KIND_headline, i);
    qsort(entries, n, sizeof *entries, by_place);
    enum ta_headline_level level = TA_HEADLINE_RECORDING;
    size_t added = n;
    while (added > 0 && entries[added - 1]->plugin.headline->level == TA_HEADLINE_ADDED)
        added--;
    for (size_t i = 0; i < added && (!line.n || entries[i]->plugin.headline->level == level); i++) {
        level = entries[i]->plugin.headline->level;
        say_one(entries[i], report, worst, &line);
    }
    if (worst && !line.covers_finding)
        ta_say(&line, "%s.", worst->title);
    for (size_t i = added; i < n; i++)
        say_one(entries[i], report, worst, &line);
    ta_report_set_verdict(report, line.text, worst ? worst->id : NULL);
    for (size_t i = 0; i < line.n_figures; i++)
        ta_report_add_figure(report, line.figures[i]);
    free(entries);
    return TA_OK;
}
