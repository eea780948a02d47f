/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze chart`: charts of a run as files. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "cli/place.h"
#include "render/chart/files.h"
#include "report/report.h"
#include "traceanalyze/timeline_scene.h"

/* Width without --size; the height is what the chart needs. */
#define DEFAULT_WIDTH 720

/* The timeline has no table. */
static const struct ta_chart timeline_chart = {.id = TA_TIMELINE_SCENE_ID,
                                               .title = TA_TIMELINE_SCENE_TITLE,
                                               .caption = "How busy streams and threads were."};

/* A chart, the table that it draws, and whether it was asked for. */
struct pick {
    const struct ta_table *table; /* or */
    const struct ta_timeline *timeline;
    const struct ta_chart *chart;
    bool chosen;
};

struct picks {
    struct pick *items;
    size_t n;
};

enum { PNG, SVG, PDF, FORMATS };
static const struct ta_format formats_known[FORMATS] = {
    [PNG] = {.name = "png", .extension = "png", .by_default = true},
    [SVG] = {.name = "svg", .extension = "svg"},
    [PDF] = {.name = "pdf", .extension = "pdf"},
};

const struct ta_format *ta_cli_chart_formats_known(size_t *n)
{
    *n = FORMATS;
    return formats_known;
}

struct ta_format *ta_cli_chart_formats(struct ta_cli *cli, size_t *n)
{
    struct ta_format *formats = malloc(sizeof formats_known);
    *n = FORMATS;
    if (formats)
        memcpy(formats, formats_known, sizeof formats_known);
    else
        ta_fail(&cli->ctx, TA_ERR_NOMEM, "Out of memory: formats");
    return formats;
}

/* ---- which charts -------------------------------------------------------------------------- */

/* Calls for every table of the report; counts only while `picks->items` is NULL. */
static void add_charts(struct picks *picks, const struct ta_table *table)
{
    for (const struct ta_chart *chart = table->chart; chart; chart = chart->next) {
        if (picks->items)
            picks->items[picks->n] = (struct pick){.table = table, .chart = chart};
        picks->n++;
    }
}

static void walk_tables(const struct ta_report *report, struct picks *picks)
{
    picks->n = 0;
    for (size_t i = 0; i < ta_report_section_count(report); i++) {
        const struct ta_section *section = ta_report_section(report, i);
        for (size_t k = 0; k < section->n_items; k++)
            if (section->items[k].kind == TA_ITEM_TABLE)
                add_charts(picks, section->items[k].table);
    }
    const struct ta_timeline *timeline = ta_report_timeline(report);
    if (ta_timeline_has_scene(timeline)) {
        if (picks->items)
            picks->items[picks->n] = (struct pick){.timeline = timeline, .chart = &timeline_chart};
        picks->n++;
    }
}

static enum ta_status list_charts(struct ta_ctx *ctx, const struct ta_report *report,
                                  struct picks *picks)
{
    walk_tables(report, picks);
    picks->items = calloc(picks->n + 1, sizeof *picks->items);
    if (!picks->items)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: charts=%zu", picks->n);
    walk_tables(report, picks);
    return TA_OK;
}

static enum ta_status choose_one(struct ta_ctx *ctx, struct picks *picks, const char *id)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = id};
    for (size_t i = 0; i < picks->n; i++) {
        if (strcmp(picks->items[i].chart->id, id) == 0) {
            picks->items[i].chosen = true;
            return TA_OK;
        }
        ta_suggest_offer(&close, picks->items[i].chart->id);
    }
    return ta_fail(ctx, TA_ERR_USAGE, "These inputs have no chart %s%s (--list shows all)", id,
                   ta_suggest_text(&close, hint));
}

/* Marks the charts of "ID,ID" or "all". */
static enum ta_status choose_charts(struct ta_ctx *ctx, struct picks *picks, const char *ids)
{
    if (strcmp(ids, "all") == 0) {
        for (size_t i = 0; i < picks->n; i++)
            picks->items[i].chosen = true;
        return picks->n ? TA_OK : ta_fail(ctx, TA_ERR_INPUT, "These inputs have no chart");
    }
    char *copy = strdup(ids), *rest = copy;
    if (!copy)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: charts");
    enum ta_status status = TA_OK;
    for (char *id; status == TA_OK && (id = strsep(&rest, ","));)
        status = choose_one(ctx, picks, id);
    free(copy);
    return status;
}

static enum ta_status print_list(struct ta_ctx *ctx, const struct picks *picks)
{
    struct ta_stdout out;
    size_t width = 0;
    for (size_t i = 0; i < picks->n; i++) {
        size_t columns = ta_terminal_width(ta_slice_of(picks->items[i].chart->id));
        width = columns > width ? columns : width;
    }
    enum ta_status status = ta_stdout_open(ctx, &out);
    if (status != TA_OK)
        return status;
    for (size_t i = 0; i < picks->n; i++) {
        const struct ta_chart *chart = picks->items[i].chart;
        ta_put_terminal(out.file, ta_slice_of(chart->id), width, 1);
        ta_puts(out.file, "  ");
        ta_put_terminal(out.file, ta_slice_of(chart->title), 0, 0);
        ta_puts(out.file, "\n");
    }
    return ta_stdout_close(ctx, &out);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Lays a chart out so that the whole picture, title and caption included, has the size asked
 * for.  NULL after ta_fail(). */
static struct ta_scene *build(struct ta_cli *cli, const struct pick *pick)
{
    const struct ta_extent *size = &cli->args.size;
    double width = size->width > 0 ? size->width : DEFAULT_WIDTH;
    struct ta_chart_frame frame = ta_chart_frame(pick->chart->title, pick->chart->caption, width);
    double height = size->height > 0 ? size->height - frame.height : 0;
    if (size->height > 0 && height <= 0) {
        ta_fail(&cli->ctx, TA_ERR_USAGE,
                "Too low for chart %s: --size=%gx%g, title and caption "
                "alone take %g",
                pick->chart->id, size->width, size->height, frame.height);
        return NULL;
    }
    struct ta_scene *scene =
        pick->timeline ? ta_timeline_scene(pick->timeline, width - frame.width)
                       : ta_scene_build(pick->table, pick->chart, width - frame.width, height);
    if (!scene)
        ta_fail(&cli->ctx, TA_ERR_NOMEM, "Out of memory: chart=%s", pick->chart->id);
    return scene;
}

static enum ta_status write_chart(struct ta_cli *cli, const struct pick *pick,
                                  const struct ta_format *formats, struct ta_sink *sink)
{
    const struct ta_lap start = ta_lap_now();
    struct ta_scene *scene = build(cli, pick);
    if (!scene)
        return cli->ctx.status;
    enum ta_status status = TA_OK;
    bool dark = cli->args.theme == TA_THEME_DARK;
    for (int i = 0; status == TA_OK && i < FORMATS; i++) {
        char name[256];
        if (!formats[i].chosen)
            continue;
        snprintf(name, sizeof name, "%s.%s", pick->chart->id, formats[i].extension);
        status =
            ta_chart_write(&cli->ctx, sink, scene, formats[i].name, cli->args.scale, dark, name);
    }
    ta_scene_free(scene);
    ta_timing_add(&cli->timing, "charts", start);
    return status;
}

static enum ta_status write_charts(struct ta_cli *cli, const struct picks *picks,
                                   const struct ta_format *formats, const struct ta_place *place)
{
    struct ta_sink *sink = ta_sink_new(&cli->ctx, place->kind, place->path);
    if (!sink)
        return cli->ctx.status;
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < picks->n; i++)
        if (picks->items[i].chosen)
            status = write_chart(cli, &picks->items[i], formats, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

/* ---- the command --------------------------------------------------------------------------- */

static enum ta_status work(struct ta_cli *cli, const struct ta_report *report,
                           const struct ta_format *formats, const struct ta_place *place)
{
    struct picks picks = {0};
    enum ta_status status = list_charts(&cli->ctx, report, &picks);
    if (status == TA_OK && cli->args.list) {
        status = print_list(&cli->ctx, &picks);
    } else if (status == TA_OK) {
        status = choose_charts(&cli->ctx, &picks, cli->args.operands.items[0]);
        if (status == TA_OK)
            status = write_charts(cli, &picks, formats, place);
    }
    free(picks.items);
    return status;
}

/* Packing it takes time, and only this chart needs it. */
static bool wants_timeline(const struct ta_cli *cli)
{
    const char *ids = cli->args.operands.items[0];
    return cli->args.list || strcmp(ids, "all") == 0 || strstr(ids, TA_TIMELINE_SCENE_ID);
}

/* The report of the inputs, or their comparison. */
static enum ta_status read_report(struct ta_cli *cli, size_t before_inputs,
                                  struct ta_report **report)
{
    const struct ta_texts *operands = &cli->args.operands;
    cli->takes_reports = true;
    if (cli->args.vs) {
        cli->gating.judging = (struct ta_judging){.confidence = cli->args.confidence};
        return ta_cli_compare(cli, before_inputs, report);
    }
    cli->wants_timeline = wants_timeline(cli);
    return ta_cli_run(cli, operands->items + before_inputs, operands->n - before_inputs, NULL,
                      report);
}

enum ta_status ta_cmd_chart(struct ta_cli *cli)
{
    const struct ta_texts *operands = &cli->args.operands;
    size_t before_inputs = cli->args.list ? 0 : 1;
    if (operands->n <= before_inputs)
        return ta_fail(
            &cli->ctx, TA_ERR_USAGE,
            "Nothing to draw: 'chart' needs the id of a chart, or all, and then INPUT...; "
            "given is only %s",
            operands->items[0]);
    struct ta_place place;
    struct ta_format formats[FORMATS];
    memcpy(formats, formats_known, sizeof formats);
    bool single = strcmp(operands->items[0], "all") != 0 && !strchr(operands->items[0], ',');
    enum ta_status status =
        ta_cli_choose_place(cli, "traceanalyze-charts", single, formats, FORMATS, &place);
    if (status == TA_OK)
        status = ta_cli_load_plugins(cli);
    struct ta_report *report;
    if (status == TA_OK)
        status = read_report(cli, before_inputs, &report);
    if (status != TA_OK)
        return status;
    status = work(cli, report, formats, &place);
    ta_cli_note_losses(cli, report);
    ta_cli_warn(cli, report);
    ta_report_free(report);
    return status;
}
