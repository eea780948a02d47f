/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze chart`: charts of a run as files. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "cli/place.h"
#include "traceanalyze/chart.h"

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
        ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: formats");
    return formats;
}

/* ---- which charts -------------------------------------------------------------------------- */

/* Numbers of the charts that were asked for. */
struct picks {
    size_t *items;
    size_t n;
};

static enum ta_status add_pick(struct ta_cli *cli, struct picks *picks, size_t number)
{
    size_t *grown = reallocarray(picks->items, picks->n + 1, sizeof *grown);
    if (!grown)
        return ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: charts=%zu", picks->n);
    for (size_t i = 0; i < picks->n; i++)
        if (grown[i] == number) {
            picks->items = grown;
            return TA_OK;
        }
    grown[picks->n++] = number;
    picks->items = grown;
    return TA_OK;
}

static enum ta_status choose_one(struct ta_cli *cli, struct picks *picks, const char *id)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = id};
    const struct ta_chart *chart;
    for (size_t i = 0; (chart = ta_run_chart(cli->run, i)); i++) {
        if (strcmp(chart->id, id) == 0)
            return add_pick(cli, picks, i);
        ta_suggest_offer(&close, chart->id);
    }
    return ta_fail(cli->ctx, TA_ERR_USAGE, "These inputs have no chart %s%s (--list shows all)", id,
                   ta_suggest_text(&close, hint));
}

/* The charts of "ID,ID" or "all". */
static enum ta_status choose_charts(struct ta_cli *cli, struct picks *picks, const char *ids)
{
    enum ta_status status = TA_OK;
    if (strcmp(ids, "all") == 0) {
        for (size_t i = 0; status == TA_OK && ta_run_chart(cli->run, i); i++)
            if (ta_run_chart_says(cli->run, i))
                status = add_pick(cli, picks, i);
        return status == TA_OK && picks->n == 0
                   ? ta_fail(cli->ctx, TA_ERR_INPUT, "These inputs have no chart")
                   : status;
    }
    char *copy = strdup(ids), *rest = copy;
    if (!copy)
        return ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: charts");
    for (char *id; status == TA_OK && (id = strsep(&rest, ","));)
        status = choose_one(cli, picks, id);
    free(copy);
    return status;
}

static int by_number(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static enum ta_status print_list(struct ta_cli *cli)
{
    struct ta_stdout out;
    size_t width = 0;
    const struct ta_chart *chart;
    for (size_t i = 0; (chart = ta_run_chart(cli->run, i)); i++) {
        if (!ta_run_chart_says(cli->run, i))
            continue;
        size_t columns = ta_terminal_width(ta_slice_of(chart->id));
        width = columns > width ? columns : width;
    }
    enum ta_status status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    for (size_t i = 0; (chart = ta_run_chart(cli->run, i)); i++) {
        if (!ta_run_chart_says(cli->run, i))
            continue;
        ta_put_terminal(out.file, ta_slice_of(chart->id), width, 1);
        ta_puts(out.file, "  ");
        ta_put_terminal(out.file, ta_slice_of(chart->title), 0, 0);
        ta_puts(out.file, "\n");
    }
    return ta_stdout_close(cli->ctx, &out);
}

/* ---- writing ------------------------------------------------------------------------------- */

static enum ta_status write_charts(struct ta_cli *cli, const struct picks *picks,
                                   const struct ta_format *formats, const struct ta_place *place)
{
    struct ta_sink *sink = ta_sink_new(cli->ctx, place->kind, place->path);
    if (!sink)
        return ta_ctx_status(cli->ctx);
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < picks->n; i++)
        for (int format = 0; status == TA_OK && format < FORMATS; format++)
            if (formats[format].chosen)
                status = ta_run_draw(cli->run, picks->items[i], formats[format].name, sink);
    if (status == TA_OK)
        status = ta_sink_commit(cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

/* ---- the command --------------------------------------------------------------------------- */

static enum ta_status work(struct ta_cli *cli, const struct ta_format *formats,
                           const struct ta_place *place)
{
    struct picks picks = {0};
    if (cli->args.list)
        return print_list(cli);
    enum ta_status status = choose_charts(cli, &picks, cli->args.operands.items[0]);
    if (status == TA_OK) {
        qsort(picks.items, picks.n, sizeof *picks.items, by_number);
        status = write_charts(cli, &picks, formats, place);
    }
    free(picks.items);
    return status;
}

/* Makes the report of the inputs, or their comparison. */
static enum ta_status read_inputs(struct ta_cli *cli, size_t before_inputs)
{
    const char *charts = cli->args.list ? "all" : cli->args.operands.items[0];
    enum ta_status status = ta_run_set(cli->run, "charts", charts);
    if (status == TA_OK && cli->args.vs)
        status = ta_run_set(cli->run, "min-effect", "0");
    if (status == TA_OK && cli->args.vs)
        return ta_cli_compare(cli, before_inputs);
    if (status == TA_OK)
        status = ta_cli_add_inputs(cli, before_inputs, cli->args.operands.n);
    return status == TA_OK ? ta_cli_execute(cli, TA_RUN_REPORT) : status;
}

enum ta_status ta_cmd_chart(struct ta_cli *cli)
{
    const struct ta_texts *operands = &cli->args.operands;
    size_t before_inputs = cli->args.list ? 0 : 1;
    if (operands->n <= before_inputs)
        return ta_fail(
            cli->ctx, TA_ERR_USAGE,
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
    if (status == TA_OK)
        status = read_inputs(cli, before_inputs);
    if (status != TA_OK)
        return status;
    status = work(cli, formats, &place);
    ta_cli_note_losses(cli, ta_run_report(cli->run));
    ta_cli_warn(cli, ta_run_report(cli->run));
    return status;
}
