/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates of a call: from options to an exit code. */
#include "cli/gating.h"

#include "cli/annotate.h"
#include "cli/cli.h"

#include <stdlib.h>

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

enum ta_status ta_gating_conclude(struct ta_cli *cli, const struct ta_report *report)
{
    const struct ta_table *gates = ta_report_table(report, TA_GATES_TABLE);
    for (size_t i = 0; gates && i < gates->n_rows; i++)
        if (!ta_row_reads(gates, i, "outcome", "passed")) {
            /* "regression>5%: Time of the run 86.7 s → 113 s (+30.1 %)" */
            char outcome[TA_WORD_TEXT_MAX], base[TA_WORD_TEXT_MAX], new[TA_WORD_TEXT_MAX];
            char change[TA_WORD_TEXT_MAX];
            const struct ta_slice gate = ta_row_text(gates, i, "gate");
            const struct ta_slice what = ta_row_text(gates, i, "what");
            const struct ta_slice reason = ta_row_text(gates, i, "reason");
            const struct ta_slice word =
                ta_table_text(gates, i, ta_table_column(gates, "outcome"), outcome);
            const struct ta_slice before =
                ta_table_text(gates, i, ta_table_column(gates, "base"), base);
            const struct ta_slice after =
                ta_table_text(gates, i, ta_table_column(gates, "new"), new);
            const struct ta_slice by =
                ta_table_text(gates, i, ta_table_column(gates, "change"), change);
            ta_log(cli->ctx, TA_LOG_WARNING, "Gate %.*s: %.*s%s%.*s%s%.*s%s%.*s%s%.*s%s%s%.*s",
                   (int)gate.len, gate.ptr, (int)word.len, word.ptr, what.len ? ": " : "",
                   (int)what.len, what.ptr, before.len ? " " : "", (int)before.len, before.ptr,
                   after.len ? (before.len ? " → " : " ") : "", (int)after.len, after.ptr,
                   by.len ? " (" : "", (int)by.len, by.ptr, by.len ? ")" : "",
                   reason.len ? ". " : "", (int)reason.len, reason.ptr);
        }
    const enum ta_status status = cli->args.summary_md ? add_summary(cli) : TA_OK;
    return status == TA_OK ? ta_annotate(cli, report) : status;
}
