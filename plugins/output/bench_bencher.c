/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bmf.json: figures in the metric format of Bencher, {"benchmark": {"measure": {"value",
 * "lower_value", "upper_value"}}}, in its units: ns for latency, operations per second for
 * throughput.  Measures of other units are made when they are first sent. */
#include "bench.h"

#include <traceanalyze/plugin.h>

#define SIGNATURE "\"traceanalyze/"

static const char *measure_of(const struct bench_figure *figure)
{
    switch (figure->unit) {
    case TA_UNIT_NS:
        return "latency";
    case TA_UNIT_PER_S:
        return "throughput";
    case TA_UNIT_NONE:
        return "value";
    default:
        return ta_unit_name(figure->unit);
    }
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)options;
    struct bench_figures all = bench_figures(report);
    struct bench_figure figure;
    bool is_first = true;
    struct ta_file *out = ta_sink_open(ctx, sink, "bmf.json", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the figures for Bencher");
    ta_putc(out, '{');
    while (bench_next(&all, &figure)) {
        ta_puts(out, is_first ? "\n  " : ",\n  ");
        bench_put_name(out, figure.id);
        ta_puts(out, ": {\"");
        for (const char *c = measure_of(&figure); *c; c++) /* measures are named in kebab case */
            ta_putc(out, *c == '_' ? '-' : *c);
        ta_puts(out, "\": {\"value\": ");
        bench_put_number(out, figure.value);
        if (!isnan(figure.spread)) {
            ta_puts(out, ", \"lower_value\": ");
            bench_put_number(out, figure.value / (1 + figure.spread));
            ta_puts(out, ", \"upper_value\": ");
            bench_put_number(out, figure.value * (1 + figure.spread));
        }
        ta_puts(out, "}}");
        is_first = false;
    }
    ta_puts(out, "\n}\n");
    return ta_file_close(ctx, out);
}

static const struct ta_output_ops ops = {
    .extension = "bmf.json", .write = write, TA_READS(bench_reads)};

TA_PLUGIN(output, bench_bencher, &ops, .title = "Benchmark figures for Bencher", .version = "1",
          .summary = "bmf.json: figures in the metric format of Bencher");
