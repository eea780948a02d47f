/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What vllm-omni's diffusion benchmark writes: figures over all requests of a run, the mean time of
 * each stage of a request among them.  Times are seconds, but of stages whose name ends with "_ms";
 * 0 MB of memory means that nobody looked.
 *
 * Its dashboard has several runs in an array, [{"benchmark_params": {…}, "result": {…}}, …], each
 * with its settings.  Their figures and stages are told apart by the names of the runs. */
#include "lib/json_rows.h"
#include "lib/outer_keys.h"

#include <traceanalyze/plugin.h>

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 80 };

enum { THROUGHPUT, LATENCY, COMPLETED, DURATION };

static const char *const keys[] = {"throughput_qps", "latency_mean", "completed_requests",
                                   "duration", NULL};

static bool holds(struct ta_slice text, const char *what)
{
    return text.len && memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

static bool is_dashboard(struct ta_slice head)
{
    return ta_slice_starts(head, "[") && holds(head, "\"benchmark_params\"") &&
           holds(head, "\"result\"") && holds(head, "\"latency_mean\"");
}

static int sniff(const struct ta_probe *probe)
{
    if (is_dashboard(ta_text_trim(probe->head)))
        return 88;
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
                       "\"%s\" is not a number within range", key);
    return NAN;
}

static void take_figures(struct ta_json_rows *r, const json_t *root, const char *group)
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
            ta_json_rows_figure(r, figures[i].name, group, value, figures[i].unit);
    }
}

/* Means times requests: the total of a stage over the run; "run/stage" where it has a name. */
static void take_stages(struct ta_json_rows *r, const json_t *root, const char *run)
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
        char whole[2 * NAME_MOST];
        snprintf(whole, sizeof whole, "%s%s%.*s", run, run[0] ? "/" : "",
                 (int)ta_min_i64((int64_t)name.len, NAME_MOST), name.ptr);
        stage.name = ta_builder_string(r->builder, ta_slice_of(whole));
        stage.calls = requests;
        if (mean_ns == TA_MISSING || requests == TA_MISSING || requests == 0 ||
            __builtin_mul_overflow(mean_ns, requests, &stage.total_ns))
            ta_json_rows_drop(r, "A stage has no mean time, or the requests are not known");
        else
            TA_JSON_ROWS_ADD(r, stage, &stage);
    }
}

static void take_run(struct ta_json_rows *r, const json_t *root, const char *run)
{
    char group[NAME_MOST + 16];
    snprintf(group, sizeof group, "requests%s%s", run[0] ? ", " : "", run);
    take_figures(r, root, group);
    take_stages(r, root, run);
    const struct ta_slice model = ta_document_text(json_object_get(root, "model"));
    const struct ta_model_info row = {
        .rank = TA_MISSING, .name = ta_builder_string(r->builder, model), .parameters = TA_MISSING};
    if (model.len)
        TA_JSON_ROWS_ADD(r, model, &row);
    static const char *const words[] = {"backend", "dataset", "task"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ta_json_rows_tag(r, words[i], json_object_get(root, words[i]));
}

/* One of the runs of a dashboard.  What differs in their settings is a name, or else their
 * place. */
static void take_entry(struct ta_json_rows *r, const json_t *entry, size_t place, size_t n)
{
    static const char *const names[] = {"name", "test_name", "benchmark_name", "label", NULL};
    const json_t *settings = json_object_get(entry, "benchmark_params");
    const json_t *result = json_object_get(entry, "result");
    struct ta_slice name = {NULL, 0};
    for (size_t i = 0; names[i] && name.len == 0; i++)
        name = ta_document_text(json_object_get(settings, names[i]));
    if (!json_is_object(result)) {
        ta_json_rows_drop(r, "A run has no result");
        return;
    }
    char run[NAME_MOST];
    if (name.len)
        snprintf(run, sizeof run, "%.*s", (int)ta_min_i64((int64_t)name.len, NAME_MOST - 1),
                 name.ptr);
    else
        snprintf(run, sizeof run, "run %zu", place + 1);
    take_run(r, result, n > 1 ? run : "");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)settings, key, value)
    {
        if (n == 1)
            ta_json_rows_tag(r, key, value);
    }
}

static enum ta_status read_benchmark(struct ta_ctx *ctx, struct ta_reader *reader,
                                     struct ta_builder *builder)
{
    struct ta_json_rows r = {.ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader)};
    json_t *root = ta_document_read(ctx, reader, builder);
    if (!root)
        return ta_ctx_status(ctx);
    if (json_is_array(root)) {
        for (size_t i = 0; i < json_array_size(root); i++)
            take_entry(&r, json_array_get(root, i), i, json_array_size(root));
    } else {
        take_run(&r, root, "");
    }
    json_decref(root);
    return ta_json_rows_end(&r, "figure of the requests");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_benchmark};

TA_PLUGIN(input, vllm_omni_benchmark, &ops, .title = "vllm-omni benchmark",
          .summary = "vllm-omni's diffusion benchmark: requests, latency, mean times of stages",
          .version = "1");
