/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard output, and what the terminal there can do. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- standard output ---------------------------------------------------------------------- */

enum ta_status ta_stdout_open(struct ta_ctx *ctx, struct ta_stdout *out)
{
    out->sink = ta_sink_new(ctx, TA_SINK_STDOUT, NULL);
    out->file = out->sink ? ta_sink_open(ctx, out->sink, "stdout", "") : NULL;
    if (out->file)
        return TA_OK;
    ta_sink_free(out->sink);
    return ta_ctx_status(ctx);
}

enum ta_status ta_stdout_close(struct ta_ctx *ctx, struct ta_stdout *out)
{
    enum ta_status status = ta_file_close(ctx, out->file);
    if (status == TA_OK)
        status = ta_sink_commit(ctx, out->sink);
    ta_sink_free(out->sink);
    return status;
}

enum ta_status ta_cli_write_stdout(struct ta_cli *cli, const char *output)
{
    struct ta_sink *sink = ta_sink_new(cli->ctx, TA_SINK_STDOUT, NULL);
    if (!sink)
        return ta_ctx_status(cli->ctx);
    enum ta_status status = ta_run_render(cli->run, output, sink);
    if (status == TA_OK)
        status = ta_sink_commit(cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

/* ---- the terminal ------------------------------------------------------------------------- */

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

enum ta_status ta_cli_set_terminal(struct ta_cli *cli)
{
    char columns[16];
    snprintf(columns, sizeof columns, "%" PRIu32, terminal_columns());
    enum ta_status status = ta_run_set(cli->run, "columns", columns);
    if (status == TA_OK)
        status = ta_run_set(cli->run, "color", wants_color(&cli->args) ? "always" : "never");
    return status == TA_OK
               ? ta_run_set(cli->run, "text-detail", cli->args.verbose ? "full" : "short")
               : status;
}
