/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What vllm-omni's diffusion benchmark writes: figures over all requests of a run, the mean time of
 * each stage of a request among them.  Times are seconds, but of stages whose name ends with "_ms";
 * 0 MB of memory means that nobody looked. */
#include "lib/json_rows.h"
#include "lib/outer_keys.h"

#include <traceanalyze/plugin.h>

#include <string.h>

enum { THROUGHPUT, LATENCY, COMPLETED, DURATION };

static const char *const keys[] = {"throughput_qps", "latency_mean", "completed_requests",
                                   "duration", NULL};

static int sniff(const struct ta_probe *probe)
{
    const unsigned found = ta_outer_keys(probe, keys);
    const unsigned needed = 1u << THROUGHPUT | 1u << LATENCY | 1u << COMPLETED;
    return (found & needed) == needed ? 90 : 0;
}

static const struct {
    const char *key, *name;
    enum ta_unit unit;
    enum { PLAIN, SECONDS, MIB } scale;
} figures[] = {
    {"duration", "duration_ns", TA_UNIT_NS, SECONDS},
    {"completed_requests", "completed_requests", TA_UNIT_COUNT, PLAIN},
    {"failed_requests", "failed_requests", TA_UNIT_COUNT, PLAIN},
    {"throughput_qps", "throughput_qps", TA_UNIT_PER_S, PLAIN},
    {"latency_mean", "latency_mean_ns", TA_UNIT_NS, SECONDS},
    {"latency_median", "latency_median_ns", TA_UNIT_NS, SECONDS},
    {"latency_p50", "latency_p50_ns", TA_UNIT_NS, SECONDS},
    {"latency_p95", "latency_p95_ns", TA_UNIT_NS, SECONDS},
    {"latency_p99", "latency_p99_ns", TA_UNIT_NS, SECONDS},
    {"slo_attainment_rate", "slo_attainment_rate", TA_UNIT_RATIO, PLAIN},
    {"peak_memory_mb_max", "peak_memory_max_bytes", TA_UNIT_BYTES, MIB},
    {"peak_memory_mb_mean", "peak_memory_mean_bytes", TA_UNIT_BYTES, MIB},
    {"peak_memory_mb_median", "peak_memory_median_bytes", TA_UNIT_BYTES, MIB},
};

static double real_of(struct ta_json_rows *r, const json_t *root, const char *key)
{
    const json_t *value = json_object_get(root, key);
    const double number = ta_document_double(value);
    if (isfinite(number) && number >= 0)
        return number;
    if (value && !json_is_null(value))
        ta_quality_add(r->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                       "\"%s\" is no number within range", key);
    return NAN;
}

static void take_figures(struct ta_json_rows *r, const json_t *root)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const char *key = figures[i].key;
        double value;
        if (figures[i].scale == PLAIN) {
            value = real_of(r, root, key);
        } else {
            const int64_t whole = figures[i].scale == SECONDS
                                      ? ta_json_rows_decimal(r, root, key, 9)
                                      : ta_json_rows_mib(r, root, key);
            const bool is_unknown = whole == TA_MISSING || (figures[i].scale == MIB && whole == 0);
            value = is_unknown ? (double)NAN : (double)whole;
        }
        if (!isnan(value))
            ta_json_rows_figure(r, figures[i].name, "requests", value, figures[i].unit);
    }
}

/* Means times requests: the total of a stage over the run. */
static void take_stages(struct ta_json_rows *r, const json_t *root)
{
    json_t *stages = ta_json_rows_part(r, root, "stage_durations_mean", JSON_OBJECT);
    const int64_t requests = ta_json_rows_decimal(r, root, "completed_requests", 0);
    const char *key;
    json_t *value;
    json_object_foreach(stages, key, value)
    {
        struct ta_slice name = ta_slice_of(key);
        const bool is_ms = name.len > 3 && memcmp(ta_slice_end(name) - 3, "_ms", 3) == 0;
        const int64_t mean_ns = ta_json_rows_decimal(r, stages, key, is_ms ? 6 : 9);
        if (is_ms)
            name = ta_slice_part(name, 0, name.len - 3);
        struct ta_timed_stage stage = ta_unknown_stage();
        stage.name = ta_builder_string(r->builder, name);
        stage.calls = requests;
        if (mean_ns == TA_MISSING || requests == TA_MISSING || requests == 0 ||
            __builtin_mul_overflow(mean_ns, requests, &stage.total_ns))
            ta_json_rows_drop(r, "A stage has no mean time, or the requests are not known");
        else
            TA_JSON_ROWS_ADD(r, stage, &stage);
    }
}

static enum ta_status read_benchmark(struct ta_ctx *ctx, struct ta_reader *reader,
                                     struct ta_builder *builder)
{
    struct ta_json_rows r = {.ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader)};
    json_t *root = ta_document_read(ctx, reader, builder);
    if (!root)
        return ta_ctx_status(ctx);
    take_figures(&r, root);
    take_stages(&r, root);
    const struct ta_slice model = ta_document_text(json_object_get(root, "model"));
    const struct ta_model_info row = {
        .rank = TA_MISSING, .name = ta_builder_string(builder, model), .parameters = TA_MISSING};
    if (model.len)
        TA_JSON_ROWS_ADD(&r, model, &row);
    static const char *const words[] = {"backend", "dataset", "task"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ta_json_rows_tag(&r, words[i], json_object_get(root, words[i]));
    json_decref(root);
    return ta_json_rows_end(&r, "figure of the requests");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_benchmark};

TA_PLUGIN(input, vllm_omni_benchmark, &ops, .title = "vllm-omni benchmark",
          .summary = "vllm-omni's diffusion benchmark: requests, latency, mean times of stages",
          .version = "1");
