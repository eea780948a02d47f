/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first line of a report, from what headline plugins say. */
#include "recommend/recommend.h"
#include "report/report.h"
#include "report/short_name.h"
#include "traceanalyze/headline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A verdict says no more than this; what else plugins say is in figures, findings and the
 * picture. */
enum { SENTENCES_MOST = 2 };

struct ta_line {
    struct ta_arena *arena; /* of the report */
    char text[1024];
    size_t n;
    size_t ends[SENTENCES_MOST], n_sentences; /* where the first of them end */
    bool covers_finding, has_advice;
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

static void mark_end(struct ta_line *line)
{
    if (line->n_sentences > 0 && line->n_sentences <= SENTENCES_MOST)
        line->ends[line->n_sentences - 1] = line->n;
}

void ta_say(struct ta_line *line, const char *format, ...)
{
    va_list args;
    if (line->n && line->n + 1 < sizeof line->text)
        line->text[line->n++] = ' ';
    line->n_sentences++;
    va_start(args, format);
    add(line, format, args);
    va_end(args);
    mark_end(line);
}

void ta_say_on(struct ta_line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(line, format, args);
    va_end(args);
    mark_end(line);
}

bool ta_line_is_empty(const struct ta_line *line)
{
    return line->n == 0;
}

struct ta_slice ta_line_name(struct ta_line *line, struct ta_slice name, size_t most)
{
    return ta_short_name(line->arena, name, most);
}

bool ta_line_has_advice(const struct ta_line *line)
{
    return line->has_advice;
}

void ta_line_covers_finding(struct ta_line *line)
{
    line->covers_finding |= line->n_sentences <= SENTENCES_MOST;
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

static void keep(struct ta_line *line, size_t sentences)
{
    if (line->n_sentences > sentences) {
        line->n = line->ends[sentences - 1];
        line->text[line->n] = '\0';
        line->n_sentences = sentences;
    }
}

/* The finding leads, and one sentence more says what run that is; a small finding follows.  How
 * busy devices were is said before a finding about their kernels: that plugin orders these itself.
 */
static void add_finding(struct ta_line *line, const struct ta_finding *worst,
                        enum ta_headline_level level)
{
    struct ta_line said = *line;
    if (!worst || line->covers_finding) {
        keep(line, SENTENCES_MOST);
        return;
    }
    keep(&said, SENTENCES_MOST - 1);
    const bool is_first =
        level > TA_HEADLINE_DEVICES && (worst->severity >= TA_MEDIUM || worst->saving_high_ns > 0);
    line->n = line->n_sentences = 0;
    if (said.n && !is_first)
        ta_say(line, "%s", said.text);
    ta_say(line, "%s.", worst->title);
    if (said.n && is_first)
        ta_say(line, "%s", said.text);
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
                               struct ta_report *report, const struct ta_finding *worst,
                               bool has_advice)
{
    const size_t n = ta_registry_count(registry, TA_KIND_headline);
    const struct ta_entry **entries = calloc(n + 1, sizeof *entries);
    struct ta_line line = {.arena = ta_report_arena(report), .has_advice = has_advice};
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
    add_finding(&line, worst, level);
    for (size_t i = added; i < n; i++)
        say_one(entries[i], report, worst, &line);
    ta_report_set_verdict(report, line.text, worst ? worst->id : NULL);
    for (size_t i = 0; i < line.n_figures; i++)
        ta_report_add_figure(report, line.figures[i]);
    free(entries);
    return TA_OK;
}
