/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates of a call: from options to an exit code. */
#include "cli/gating.h"

#include "base/log.h"
#include "cli/annotate.h"
#include "cli/cli.h"
#include "compare/noise.h"
#include "plugin/registry_impl.h"
#include "render/sink.h"

#include <stdlib.h>

/* ---- options ------------------------------------------------------------------------------ */

static enum ta_status read_gates(struct ta_cli *cli)
{
    const struct ta_texts *texts = &cli->args.fail_on;
    struct ta_gates *gates = &cli->gating.gates;
    enum ta_status status = TA_OK;
    gates->at = calloc(texts->n + 1, sizeof *gates->at);
    if (!gates->at)
        return ta_fail(&cli->ctx, TA_ERR_NOMEM, "Out of memory: gates=%zu", texts->n);
    for (size_t i = 0; status == TA_OK && i < texts->n; i++, gates->n++)
        status = ta_config_cause(&cli->ctx, &cli->config, texts->items[i],
                                 ta_gate_read(&cli->ctx, texts->items[i], &gates->at[i]));
    return status;
}

static enum ta_status read_effect(struct ta_cli *cli, double *ns)
{
    enum ta_option_unit unit;
    const char *text = cli->args.min_effect;
    if (ta_option_number(text, ns, &unit) && *ns >= 0 &&
        (unit == TA_OPTION_NS || (unit == TA_OPTION_PLAIN && *ns == 0)))
        return TA_OK;
    return ta_config_cause(&cli->ctx, &cli->config, text,
                           ta_fail(&cli->ctx, TA_ERR_USAGE,
                                   "Unusable value: --min-effect=%s, expected a time such as 50us",
                                   text));
}

static enum ta_status check_confidence(struct ta_cli *cli)
{
    const double level = cli->args.confidence;
    if (level >= 0.5 && level <= 0.9999)
        return TA_OK;
    return ta_fail(&cli->ctx, TA_ERR_USAGE,
                   "Unusable value: --confidence=%g, expected a level from 0.5 to 0.9999", level);
}

enum ta_status ta_gating_prepare(struct ta_cli *cli)
{
    struct ta_gating *gating = &cli->gating;
    const char *floor = cli->args.noise_floor;
    gating->judging = (struct ta_judging){.confidence = cli->args.confidence,
                                          .allow_single_run = cli->args.allow_single_run};
    gating->gates.mode = (enum ta_gate_mode)cli->args.gate;
    gating->gates.judging = &gating->judging;
    enum ta_status status = check_confidence(cli);
    if (status == TA_OK)
        status = read_gates(cli);
    if (status == TA_OK)
        status = read_effect(cli, &gating->judging.min_effect_ns);
    if (status == TA_OK && floor && strcmp(floor, "auto") != 0)
        status = ta_noise_read(&cli->ctx, floor, &gating->noise);
    gating->judging.noise = gating->noise;
    return status == TA_OK ? ta_annotate_begin(cli) : status;
}

void ta_gating_free(struct ta_gating *gating)
{
    ta_noise_free(gating->noise);
    free(gating->gates.at);
}

/* ---- the report --------------------------------------------------------------------------- */

enum ta_status ta_gating_judge(struct ta_cli *cli, struct ta_report *report)
{
    cli->gating.gates.incomplete = ta_cli_has_losses(report);
    return ta_gates_judge(&cli->ctx, cli->registry, &cli->gating.gates, report,
                          &cli->gating.outcome);
}

/* "regression>5%: Time of the run 86.7 s → 113 s (+30.1 %)" */
static void say_gate(struct ta_cli *cli, const struct ta_table *gates, size_t row)
{
    char outcome[TA_WORD_TEXT_MAX], base[TA_WORD_TEXT_MAX], new[TA_WORD_TEXT_MAX];
    char change[TA_WORD_TEXT_MAX];
    const struct ta_slice gate = ta_row_text(gates, row, "gate");
    const struct ta_slice what = ta_row_text(gates, row, "what");
    const struct ta_slice reason = ta_row_text(gates, row, "reason");
    const struct ta_slice word =
        ta_table_text(gates, row, ta_table_column(gates, "outcome"), outcome);
    const struct ta_slice before = ta_table_text(gates, row, ta_table_column(gates, "base"), base);
    const struct ta_slice after = ta_table_text(gates, row, ta_table_column(gates, "new"), new);
    const struct ta_slice by = ta_table_text(gates, row, ta_table_column(gates, "change"), change);
    ta_log(&cli->ctx, TA_LOG_WARNING, "Gate %.*s: %.*s%s%.*s%s%.*s%s%.*s%s%.*s%s%s%.*s",
           (int)gate.len, gate.ptr, (int)word.len, word.ptr, what.len ? ": " : "", (int)what.len,
           what.ptr, before.len ? " " : "", (int)before.len, before.ptr,
           after.len ? (before.len ? " → " : " ") : "", (int)after.len, after.ptr,
           by.len ? " (" : "", (int)by.len, by.ptr, by.len ? ")" : "", reason.len ? ". " : "",
           (int)reason.len, reason.ptr);
}

/* ---- files beside the products --------------------------------------------------------------- */

static enum ta_status write_baseline(struct ta_cli *cli, const struct ta_report *report,
                                     const struct ta_render_options *options, struct ta_sink *sink)
{
    if (ta_noise_count(report) == 0)
        return ta_fail(
            &cli->ctx, TA_ERR_USAGE,
            "Nothing to save with --save-baseline: it takes three runs on a side to know "
            "how far runs are apart");
    struct ta_file *out = ta_sink_open(&cli->ctx, sink, "baseline.json", TA_NOISE_SCHEMA);
    if (!out)
        return cli->ctx.status;
    const bool done = ta_noise_put(out, report, options->version);
    const enum ta_status status = ta_file_close(&cli->ctx, out);
    return done ? status : ta_fail(&cli->ctx, TA_ERR_NOMEM, "Cannot write the noise floor");
}

static enum ta_status write_output(struct ta_cli *cli, const char *id,
                                   const struct ta_report *report,
                                   const struct ta_render_options *options, struct ta_sink *sink)
{
    const struct ta_entry *output = ta_registry_find(cli->registry, TA_KIND_output, id);
    if (!output)
        return ta_fail(&cli->ctx, TA_ERR_USAGE, "No output plugin has the id %s", id);
    return ta_cli_write(cli, output, report, options, sink);
}

enum ta_status ta_gating_write(struct ta_cli *cli, const struct ta_report *report,
                               const struct ta_render_options *options, struct ta_extras *extras)
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
        struct ta_sink *sink = ta_sink_new(&cli->ctx, TA_SINK_FILE, files[i].path);
        if (!sink)
            return cli->ctx.status;
        extras->sinks[extras->n++] = sink;
        status = files[i].output ? write_output(cli, files[i].output, report, options, sink)
                                 : write_baseline(cli, report, options, sink);
    }
    return status;
}

void ta_extras_free(struct ta_extras *extras)
{
    for (size_t i = 0; i < extras->n; i++)
        ta_sink_free(extras->sinks[i]);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static enum ta_status add_summary(struct ta_cli *cli, const struct ta_report *report,
                                  const struct ta_render_options *options)
{
    struct ta_sink *sink = ta_sink_new(&cli->ctx, TA_SINK_APPEND, cli->args.summary_md);
    if (!sink)
        return cli->ctx.status;
    enum ta_status status = write_output(cli, "summary", report, options, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

enum ta_status ta_gating_conclude(struct ta_cli *cli, const struct ta_report *report,
                                  const struct ta_render_options *options)
{
    const struct ta_table *gates = ta_report_table(report, TA_GATES_TABLE);
    for (size_t i = 0; gates && i < gates->n_rows; i++)
        if (!ta_row_reads(gates, i, "outcome", "passed"))
            say_gate(cli, gates, i);
    const enum ta_status status = cli->args.summary_md ? add_summary(cli, report, options) : TA_OK;
    return status == TA_OK ? ta_annotate(cli, report) : status;
}
