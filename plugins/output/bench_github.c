/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench.json: figures for github-action-benchmark, tool customSmallerIsBetter, which takes a list
 * of {"name", "unit", "value", "range", "extra"}.  One file has one direction, so rates are left
 * out.
 */
#include "bench.h"

#include <traceanalyze/plugin.h>

/* How every entry begins. */
#define SIGNATURE "{\"name\": \"traceanalyze/"

/* What people read: the service shows values as they are. */
static double readable(const struct bench_figure *figure, const char **unit)
{
    static const struct {
        const char *symbol;
        double divisor;
    } shown[TA_UNIT_COUNT_OF_UNITS] = {
        [TA_UNIT_NS] = {"ms", 1e6},
        [TA_UNIT_BYTES] = {"MiB", 0x1p20},
        [TA_UNIT_RATIO] = {"%", 0.01},
        [TA_UNIT_PER_S] = {"1/s", 1},
        [TA_UNIT_BYTES_PER_S] = {"GB/s", 1e9},
        [TA_UNIT_CELSIUS] = {"°C", 1},
        [TA_UNIT_WATT] = {"W", 1},
        [TA_UNIT_JOULE] = {"J", 1},
        [TA_UNIT_FLOP] = {"GFLOP", 1e9},
        [TA_UNIT_FLOP_PER_S] = {"GFLOP/s", 1e9},
        [TA_UNIT_HERTZ] = {"MHz", 1e6},
    };
    const bool known = shown[figure->unit].symbol;
    *unit = known ? shown[figure->unit].symbol : "";
    return known ? figure->value / shown[figure->unit].divisor : figure->value;
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)options;
    struct bench_figures all = bench_figures(report);
    struct bench_figure figure;
    bool is_first = true;
    struct ta_file *out = ta_sink_open(ctx, sink, "bench.json", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the figures for benchmarks");
    ta_putc(out, '[');
    while (bench_next(&all, &figure)) {
        if (!figure.less_is_better)
            continue;
        ta_puts(out, is_first ? "\n  " : ",\n  ");
        const char *unit;
        const double value = readable(&figure, &unit);
        ta_puts(out, "{\"name\": ");
        bench_put_name(out, figure.id);
        ta_puts(out, ", \"unit\": ");
        ta_put_json(out, ta_slice_of(unit), false);
        ta_puts(out, ", \"value\": ");
        bench_put_number(out, value);
        if (!isnan(figure.spread))
            ta_putf(out, ", \"range\": \"± %.3g\"", fabs(value) * figure.spread);
        ta_putc(out, '}');
        is_first = false;
    }
    ta_puts(out, "\n]\n");
    return ta_file_close(ctx, out);
}

static const struct ta_output_ops ops = {
    .extension = "bench.json", .write = write, TA_READS(bench_reads)};

TA_PLUGIN(output, bench_github, &ops, .title = "Benchmark figures for GitHub", .version = "1",
          .summary = "bench.json: figures of which less is better, for github-action-benchmark");
