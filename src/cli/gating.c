/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a call with gates writes and says. */
#include "cli/gating.h"

#include "cli/annotate.h"
#include "cli/cli.h"

#include <stdio.h>

/* ---- files that are written with the products ----------------------------------------------- */

enum ta_status ta_gating_write(struct ta_cli *cli, struct ta_extras *extras)
{
    const struct ta_cmdline *args = &cli->args;
    const struct {
        const char *path, *output; /* NULL: the baseline */
    } files[TA_EXTRAS_MAX] = {{args->junit, "junit"},
                              {args->bench_json, "bench_github"},
                              {args->bmf_json, "bench_bencher"},
                              {args->save_baseline, NULL}};
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < TA_EXTRAS_MAX; i++) {
        if (!files[i].path)
            continue;
        struct ta_sink *sink = ta_sink_new(cli->ctx, TA_SINK_FILE, files[i].path);
        if (!sink)
            return ta_ctx_status(cli->ctx);
        extras->sinks[extras->n++] = sink;
        status = files[i].output ? ta_run_render(cli->run, files[i].output, sink)
                                 : ta_run_save_baseline(cli->run, sink);
    }
    return status;
}

void ta_extras_free(struct ta_extras *extras)
{
    for (size_t i = 0; i < extras->n; i++)
        ta_sink_free(extras->sinks[i]);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static enum ta_status add_summary(struct ta_cli *cli)
{
    struct ta_sink *sink = ta_sink_new(cli->ctx, TA_SINK_APPEND, cli->args.summary_md);
    if (!sink)
        return ta_ctx_status(cli->ctx);
    enum ta_status status = ta_run_render(cli->run, "summary", sink);
    if (status == TA_OK)
        status = ta_sink_commit(cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

/* "regression>5%: Time of the run 86.7 s → 113 s (+30.1 %)" */
static void say_gate(struct ta_cli *cli, const struct ta_table *gates, size_t row)
{
    static const struct {
        size_t column;
        const char *before, *after;
    } parts[] = {{TA_GATES_TEXT, "", ": "},  {TA_GATES_OUTCOME, "", ""},
                 {TA_GATES_WHAT, ": ", ""},  {TA_GATES_BASE, " ", " →"},
                 {TA_GATES_NEW, " ", ""},    {TA_GATES_CHANGE, " (", ")"},
                 {TA_GATES_REASON, ". ", ""}};
    char line[1024] = "Gate ", buffer[TA_WORD_TEXT_MAX];
    size_t n = strlen(line);
    for (size_t i = 0; i < TA_LENGTH(parts) && n < sizeof line; i++) {
        const struct ta_slice text = ta_table_text(gates, row, parts[i].column, buffer);
        if (text.len)
            n += (size_t)snprintf(line + n, sizeof line - n, "%s%.*s%s", parts[i].before,
                                  (int)text.len, text.ptr, parts[i].after);
    }
    ta_log(cli->ctx, TA_LOG_WARNING, "%s", line);
}

enum ta_status ta_gating_conclude(struct ta_cli *cli)
{
    const struct ta_table *gates = ta_run_gates(cli->run)->table;
    for (size_t i = 0; gates && i < gates->n_rows; i++)
        if (!ta_gate_is(gates, i, "passed"))
            say_gate(cli, gates, i);
    const enum ta_status status = cli->args.summary_md ? add_summary(cli) : TA_OK;
    return status == TA_OK ? ta_annotate(cli) : status;
}
