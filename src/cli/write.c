/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports to outputs: settings by options and surroundings, and standard output. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "render/sink.h"
#include "report/report.h"

/* ---- standard output ---------------------------------------------------------------------- */

enum ta_status ta_stdout_open(struct ta_ctx *ctx, struct ta_stdout *out)
{
    out->sink = ta_sink_new(ctx, TA_SINK_STDOUT, NULL);
    out->file = out->sink ? ta_sink_open(ctx, out->sink, "stdout", "") : NULL;
    if (out->file)
        return TA_OK;
    ta_sink_free(out->sink);
    return ctx->status;
}

enum ta_status ta_stdout_close(struct ta_ctx *ctx, struct ta_stdout *out)
{
    enum ta_status status = ta_file_close(ctx, out->file);
    if (status == TA_OK)
        status = ta_sink_commit(ctx, out->sink);
    ta_sink_free(out->sink);
    return status;
}

enum ta_status ta_cli_write(struct ta_cli *cli, const struct ta_entry *output,
                            const struct ta_report *report, const struct ta_render_options *options,
                            struct ta_sink *sink)
{
    const struct ta_lap start = ta_lap_now();
    cli->ctx.option_values = output->option_values;
    enum ta_status status = output->plugin.output->write(&cli->ctx, report, options, sink);
    cli->ctx.option_values = NULL;
    ta_timing_add(&cli->timing, output->plugin.id, start);
    return status;
}

enum ta_status ta_cli_write_stdout(struct ta_cli *cli, const struct ta_entry *output,
                                   const struct ta_report *report,
                                   const struct ta_render_options *options)
{
    struct ta_sink *sink = ta_sink_new(&cli->ctx, TA_SINK_STDOUT, NULL);
    if (!sink)
        return cli->ctx.status;
    enum ta_status status = ta_cli_write(cli, output, report, options, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

/* ---- settings of the outputs -------------------------------------------------------------- */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* --color, then NO_COLOR, CLICOLOR_FORCE, then what standard output is. */
static bool wants_color(const struct ta_cmdline *args)
{
    const char *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
    if (args->color != TA_WHEN_AUTO)
        return args->color == TA_WHEN_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static uint32_t terminal_columns(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long n = columns ? strtol(columns, NULL, 10) : 0;
    if (n <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    return n >= 20 && n <= 10000 ? (uint32_t)n : 80;
}

static enum ta_status product_date(struct ta_cli *cli, const struct ta_report *report,
                                   int64_t *date_s)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    if (!epoch || !*epoch) {
        *date_s = ta_report_input_date(report);
        return TA_OK;
    }
    char *end;
    errno = 0;
    long long seconds = strtoll(epoch, &end, 10);
    /* The last second of the year 9999: later ones do not fit the dates of HTML and PDF. */
    if (*end || errno || seconds < 0 || seconds > INT64_C(253402300799))
        return ta_fail(&cli->ctx, TA_ERR_USAGE,
                       "Unusable SOURCE_DATE_EPOCH: %s, expected seconds since 1970", epoch);
    *date_s = seconds;
    return TA_OK;
}

enum ta_status ta_cli_render_options(struct ta_cli *cli, const struct ta_report *report,
                                     struct ta_render_options *options)
{
    static const char *const themes[] = {"auto", "light", "dark"};
    int64_t date_s = 0;
    enum ta_status status = product_date(cli, report, &date_s);
    if (status != TA_OK)
        return status;
    *options = (struct ta_render_options){
        .top = (uint32_t)cli->args.top,
        .columns = terminal_columns(),
        .color = wants_color(&cli->args),
        .letter = cli->args.letter,
        .theme = themes[cli->args.theme],
        .date_s = date_s,
        .version = TA_VERSION,
        .timeline = (enum ta_timeline_mode)cli->args.timeline,
        .max_html_size = cli->max_html_size,
        .split_assets = cli->args.assets,
    };
    return TA_OK;
}
