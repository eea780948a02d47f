/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands that make a report share: formats, place, products and the summary. */
#include "cli/annotate.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

/* --json means a format and a place; both may also be given, but not otherwise. */
static enum ta_status expand_json(struct ta_cli *cli)
{
    struct ta_cmdline *args = &cli->args;
    if (!args->json)
        return TA_OK;
    if (TA_ARGS_IS_GIVEN(args, format) && strcmp(args->format, "json") != 0)
        return ta_fail(cli->ctx, TA_ERR_USAGE, "--json does not go with --format=%s", args->format);
    args->format = "json";
    if (!TA_ARGS_IS_GIVEN(args, out))
        args->out = "-";
    return TA_OK;
}

static const struct ta_entry *output_at(const struct ta_cli *cli, size_t i)
{
    return ta_registry_at(cli->registry, TA_KIND_output, i);
}

/* A row for every registered output. */
struct ta_format *ta_cli_report_formats(struct ta_cli *cli, size_t *count)
{
    const size_t n = ta_registry_count(cli->registry, TA_KIND_output);
    struct ta_format *formats = calloc(n + 1, sizeof *formats);
    *count = n;
    if (!formats) {
        ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: outputs");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const struct ta_plugin *plugin = &output_at(cli, i)->plugin;
        formats[i] = (struct ta_format){.name = plugin->id,
                                        .extension = plugin->output->extension,
                                        .by_default = plugin->output->by_default};
    }
    return formats;
}

static enum ta_status render(struct ta_cli *cli, const struct ta_products *products,
                             struct ta_sink *sink)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < products->n; i++)
        if (products->formats[i].chosen)
            status = ta_run_render(cli->run, products->formats[i].name, sink);
    return status;
}

/* NULL after a failure. */
static struct ta_sink *open_folder(struct ta_cli *cli, const char *path, const char *name)
{
    const size_t size = strlen(path) + strlen(name) + 2;
    char *joined = malloc(size);
    if (!joined) {
        ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: run=%s", name);
        return NULL;
    }
    snprintf(joined, size, "%s/%s", path, name);
    struct ta_sink *sink = ta_sink_new(cli->ctx, TA_SINK_FOLDER, joined);
    free(joined);
    return sink;
}

/* The reports of several runs, each in a folder of its own: PATH/RUN. */
static enum ta_status render_runs(struct ta_cli *cli, const struct ta_products *products,
                                  struct ta_sink **sinks)
{
    enum ta_status status = TA_OK;
    const char *name;
    for (size_t i = 0; status == TA_OK && (name = ta_run_show(cli->run, i)); i++) {
        sinks[i] = open_folder(cli, products->place.path, name);
        status = sinks[i] ? render(cli, products, sinks[i]) : ta_ctx_status(cli->ctx);
    }
    ta_run_show(cli->run, SIZE_MAX);
    return status;
}

/* Writes all chosen formats; they appear together or not at all. */
static enum ta_status write_products(struct ta_cli *cli, const struct ta_products *products)
{
    const struct ta_place *place = &products->place;
    size_t n_runs = 0;
    while (place->kind == TA_SINK_FOLDER && ta_run_show(cli->run, n_runs))
        n_runs++;
    struct ta_sink **sinks = calloc(n_runs + 1 + TA_EXTRAS_MAX, sizeof(struct ta_sink *));
    if (!sinks)
        return ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: runs=%zu", n_runs);
    sinks[n_runs] = ta_sink_new(cli->ctx, place->kind, place->path);
    enum ta_status status = sinks[n_runs] ? TA_OK : ta_ctx_status(cli->ctx);
    if (status == TA_OK && n_runs)
        status = render_runs(cli, products, sinks);
    if (status == TA_OK)
        status = render(cli, products, sinks[n_runs]);
    struct ta_extras extras = {.n = 0};
    if (status == TA_OK)
        status = ta_gating_write(cli, &extras);
    for (size_t i = 0; i < extras.n; i++)
        sinks[n_runs + 1 + i] = extras.sinks[i];
    if (status == TA_OK)
        status = ta_sinks_commit(cli->ctx, sinks, n_runs + 1 + extras.n);
    ta_extras_free(&extras);
    for (size_t i = 0; i <= n_runs; i++)
        ta_sink_free(sinks[i]);
    free(sinks);
    return status;
}

/* The last line of the summary: where the report is. */
static enum ta_status say_where(struct ta_cli *cli, const struct ta_place *place)
{
    struct ta_stdout out;
    enum ta_status status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    ta_puts(out.file, "\nReport written to ");
    ta_put_terminal(out.file, ta_slice_of(place->path), 0, 0);
    ta_puts(out.file, cli->args.verbose ? "\n" : "; -v prints its tables here\n");
    return ta_stdout_close(cli->ctx, &out);
}

/* The summary for people.  The products are in place by then: a closed terminal costs nothing. */
static enum ta_status write_summary(struct ta_cli *cli, const struct ta_place *place)
{
    const struct ta_entry *text = ta_registry_find(cli->registry, TA_KIND_output, "text");
    if (cli->args.quiet || place->kind == TA_SINK_STDOUT || !text)
        return TA_OK;
    enum ta_status status = ta_cli_write_stdout(cli, "text");
    return status == TA_OK ? say_where(cli, place) : status;
}

/* Some outputs need more of the traces: the run is told before it reads them. */
static enum ta_status announce(struct ta_cli *cli, const struct ta_products *products)
{
    size_t length = 1;
    for (size_t i = 0; i < products->n; i++)
        length += strlen(products->formats[i].name) + 1;
    char *list = calloc(length, 1), *end = list;
    if (!list)
        return ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: outputs");
    for (size_t i = 0; i < products->n; i++)
        if (products->formats[i].chosen)
            end = stpcpy(stpcpy(end, end == list ? "" : ","), products->formats[i].name);
    const enum ta_status status = ta_run_set(cli->run, "format", list);
    free(list);
    return status;
}

enum ta_status ta_cli_prepare_products(struct ta_cli *cli, enum ta_run_task task,
                                       const char *folder, struct ta_products *products)
{
    *products = (struct ta_products){0};
    enum ta_status status = expand_json(cli);
    if (status == TA_OK)
        status = ta_cli_load_plugins(cli);
    if (status == TA_OK)
        status = ta_run_check(cli->run, task);
    if (status == TA_OK)
        status = ta_annotate_begin(cli);
    if (status != TA_OK)
        return status;
    products->formats = ta_cli_report_formats(cli, &products->n);
    if (!products->formats)
        return ta_ctx_status(cli->ctx);
    status =
        ta_cli_choose_place(cli, folder, true, products->formats, products->n, &products->place);
    return status == TA_OK ? announce(cli, products) : status;
}

enum ta_status ta_cli_produce(struct ta_cli *cli, const struct ta_products *products)
{
    const struct ta_report *report = ta_run_report(cli->run);
    enum ta_status status = ta_cli_set_terminal(cli);
    if (status == TA_OK)
        status = write_products(cli, products);
    if (status != TA_OK)
        return status;
    cli->reported = true;
    ta_cli_note_losses(cli, report);
    ta_cli_warn(cli, report);
    status = write_summary(cli, &products->place);
    return status == TA_OK ? ta_gating_conclude(cli) : status;
}
