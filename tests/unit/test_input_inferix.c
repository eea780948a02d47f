/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read of Inferix's files: reports, raw dumps, summaries, extracts and consoles, whole and
 * damaged. */
#include "base/quality.h"
#include "trace_fixture.h"

#include "model/trace.h"
#include "traceanalyze/dump.h"
#include "traceanalyze/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MIB INT64_C(1048576)

/* ---- rows as text ------------------------------------------------------------------------- */

static void put_integer(struct text *out, int64_t value)
{
    if (value == TA_MISSING)
        text_add(out, " ?");
    else
        text_add(out, " %" PRId64, value);
}

static void put_real(struct text *out, double value)
{
    if (isnan(value))
        text_add(out, " ?");
    else
        text_add(out, " %.12g", value);
}

static void put_text(struct text *out, const struct ta_trace *trace, ta_str id)
{
    const struct ta_slice text = id == TA_STR_ABSENT ? TA_LIT("?") : ta_trace_text(trace, id);
    text_add(out, " %.*s", (int)text.len, text.ptr);
}

/* Begins each row with the kind of its table; a rank is always that of the file. */
#define EACH(kind, type)                                                                           \
    size_t n;                                                                                      \
    const type *row = ta_trace_##kind##_rows(trace, &n);                                           \
    for (; n; n--, row++)

static void put_sessions(struct text *out, const struct ta_trace *trace)
{
    EACH(session, struct ta_session)
    {
        text_add(out, "session");
        put_text(out, trace, row->id);
        put_integer(out, row->start_ns);
        put_integer(out, row->end_ns);
        put_integer(out, row->dur_ns);
        text_add(out, "\n");
    }
}

static void put_tags(struct text *out, const struct ta_trace *trace)
{
    EACH(tag, struct ta_tag)
    {
        text_add(out, "tag");
        put_text(out, trace, row->key);
        put_text(out, trace, row->value);
        text_add(out, "\n");
    }
}

static void put_stages(struct text *out, const struct ta_trace *trace)
{
    EACH(stage, struct ta_timed_stage)
    {
        text_add(out, row->is_call ? "call" : "stage");
        put_text(out, trace, row->name);
        put_integer(out, row->calls);
        put_integer(out, row->total_ns);
        put_integer(out, row->min_ns);
        put_integer(out, row->max_ns);
        text_add(out, "\n");
    }
}

static void put_steps(struct text *out, const struct ta_trace *trace)
{
    EACH(diffusion_step, struct ta_diffusion_step)
    {
        text_add(out, "step");
        put_integer(out, row->step);
        put_real(out, row->timestep);
        put_integer(out, row->block_size);
        put_integer(out, row->dur_ns);
        put_real(out, row->guidance_scale);
        put_integer(out, row->end_ns);
        text_add(out, "\n");
    }
}

static void put_blocks(struct text *out, const struct ta_trace *trace)
{
    EACH(diffusion_block, struct ta_diffusion_block)
    {
        text_add(out, "block");
        put_integer(out, row->block);
        put_integer(out, row->frames);
        put_integer(out, row->dur_ns);
        put_integer(out, row->memory_bytes);
        put_integer(out, row->end_ns);
        text_add(out, "\n");
    }
}

static void put_marks(struct text *out, const struct ta_trace *trace)
{
    EACH(memory_mark, struct ta_memory_mark)
    {
        text_add(out, "memory");
        put_text(out, trace, row->label);
        put_integer(out, row->allocated_bytes);
        put_integer(out, row->max_allocated_bytes);
        text_add(out, "\n");
    }
}

static void put_models(struct text *out, const struct ta_trace *trace)
{
    EACH(model, struct ta_model_info)
    {
        text_add(out, "model");
        put_text(out, trace, row->name);
        put_text(out, trace, row->type);
        put_integer(out, row->parameters);
        text_add(out, "\n");
    }
}

static void put_layers(struct text *out, const struct ta_trace *trace)
{
    EACH(layer, struct ta_layer)
    {
        text_add(out, "layer");
        put_text(out, trace, row->name);
        put_integer(out, row->calls);
        put_integer(out, row->total_ns);
        put_integer(out, row->min_ns);
        put_integer(out, row->max_ns);
        put_integer(out, row->parameters);
        text_add(out, "\n");
    }
}

static void put_caches(struct text *out, const struct ta_trace *trace)
{
    EACH(cache, struct ta_cache_count)
    {
        text_add(out, "cache");
        put_text(out, trace, row->cache);
        put_integer(out, row->hits);
        put_integer(out, row->misses);
        put_integer(out, row->evictions);
        text_add(out, "\n");
    }
}

static void put_allocations(struct text *out, const struct ta_trace *trace)
{
    EACH(allocation, struct ta_allocation_pattern)
    {
        text_add(out, "allocator");
        put_text(out, trace, row->allocator);
        put_integer(out, row->allocations);
        put_integer(out, row->deallocations);
        put_integer(out, row->bytes);
        put_integer(out, row->min_bytes);
        put_integer(out, row->max_bytes);
        put_real(out, row->small_ratio);
        text_add(out, "\n");
    }
}

static void put_others(struct text *out, const struct ta_trace *trace)
{
    EACH(happening, struct ta_happening)
    {
        text_add(out, "happening");
        put_text(out, trace, row->name);
        put_text(out, trace, row->data);
        put_integer(out, row->time_ns);
        text_add(out, "\n");
    }
}

static void put_advice(struct text *out, const struct ta_trace *trace)
{
    EACH(advice, struct ta_given_advice)
    {
        text_add(out, "advice");
        put_text(out, trace, row->category);
        put_text(out, trace, row->priority);
        put_text(out, trace, row->issue);
        put_text(out, trace, row->suggestion);
        text_add(out, "\n");
    }
}

static void put_samples(struct text *out, const struct ta_trace *trace)
{
    static const char *const names[TA_SIGNAL_COUNT] = {
        "gpu_utilization", "gpu_memory_activity", "gpu_memory_used", "gpu_memory_total",
        "gpu_temperature", "gpu_power",           "gpu_clock",       "gpu_memory_clock",
        "torch_allocated", "torch_reserved",      "cpu_utilization", "cpu_memory_used",
        "cpu_memory_total"};
    struct ta_samples samples = ta_trace_samples(trace);
    while (ta_samples_next(&samples)) {
        assert_false(samples.sample.relative);
        text_add(out, "%s", names[samples.sample.signal]);
        put_integer(out, samples.sample.device);
        put_integer(out, samples.sample.time_ns);
        put_real(out, samples.sample.value);
        text_add(out, "\n");
    }
}

static void put_figures(struct text *out, const struct ta_trace *trace)
{
    EACH(figure, struct ta_figure)
    {
        text_add(out, "figure");
        put_text(out, trace, row->group);
        put_text(out, trace, row->name);
        put_real(out, row->value);
        text_add(out, " %s%s", ta_unit_name((enum ta_unit)row->unit),
                 row->rank == TA_MISSING   ? ""
                 : row->rank == TA_NO_RANK ? " of none"
                                           : " of a rank");
        text_add(out, "\n");
    }
}

/* All rows but figures. */
static char *rows_of(const struct ta_trace *trace)
{
    struct text out = {0};
    put_sessions(&out, trace);
    put_tags(&out, trace);
    put_stages(&out, trace);
    put_steps(&out, trace);
    put_blocks(&out, trace);
    put_marks(&out, trace);
    put_models(&out, trace);
    put_layers(&out, trace);
    put_caches(&out, trace);
    put_allocations(&out, trace);
    put_others(&out, trace);
    put_advice(&out, trace);
    put_samples(&out, trace);
    text_add(&out, "%s", "");
    return out.at;
}

static char *figures_of(const struct ta_trace *trace)
{
    struct text out = {0};
    put_figures(&out, trace);
    text_add(&out, "%s", "");
    return out.at;
}

static struct reading read_text(const char *input, const char *text)
{
    struct reading r;
    fixture_read_as(&fixture, input, text, strlen(text), &r);
    return r;
}

static void check_text(char *got, const char *expected)
{
    assert_string_equal(got, expected);
    free(got);
}

/* The rows of a text that is read without any loss. */
static void check_rows(const char *input, const char *text, const char *rows)
{
    struct reading r = read_text(input, text);
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.dropped, 0);
    check_text(rows_of(r.trace), rows);
    reading_free(&r);
}

static void check_refused(const char *input, const char *text)
{
    struct reading r = read_text(input, text);
    assert_int_equal(r.status, TA_ERR_INPUT);
    assert_null(r.trace);
    reading_free(&r);
}

/* ---- recognizing -------------------------------------------------------------------------- */

static const char *const inputs[] = {"inferix_report",    "inferix_raw",    "inferix_flat",
                                     "inferix_aggregate", "inferix_stream", "log"};

enum { DOCUMENTS = 5 }; /* of them */

static void check_sniff(const char *input, const char *text, int score)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        const int got = fixture_sniff(&fixture, inputs[i], text, strlen(text));
        if (got != (strcmp(inputs[i], input) == 0 ? score : 0))
            fail_msg("%s is %d sure of %s", inputs[i], got, text);
    }
}

/* A log, and no document. */
static void check_log_sniff(const char *text)
{
    check_sniff("", text, 0);
    assert_int_equal(fixture_sniff(&fixture, "log", text, strlen(text)), 45);
}

static void test_recognizes(void **state)
{
    (void)state;
    check_sniff("inferix_report", "{\"session_info\": {}, \"events\": []}", 95);
    check_sniff("inferix_report", " \n{\"session_info\":{\"id\":\"a\"},\"gpu_metrics\":{}}", 95);
    check_sniff("inferix_report", "{\"session_info\": {\"tags\": {\"x\": \"", 60);
    check_sniff("inferix_report", "{\"block_analysis\": {}, \"cache_analysis\": {}, \"ev", 85);
    check_sniff("inferix_raw", "{\"session_id\": \"a\", \"gpu_data\": [{\"timestamp\": 1", 95);
    check_sniff("inferix_raw", "{\"cpu_data\": [], \"gpu_data\": []}", 95);
    check_sniff("inferix_flat", "{\"profiling_enabled\": true, \"gpu\": {}}", 95);
    check_sniff("inferix_flat", "{\"profiling_enabled\": false}", 80);
    check_sniff("inferix_aggregate", "{\"total_reports\": 1, \"aggregated_gpu_metrics\": {}}", 95);
    check_sniff("inferix_stream", "{\"block_level\": {}, \"segment_level\": {}}", 95);
    check_log_sniff("x=== Profiling Metrics (a) ===\n");
    check_log_sniff("Profiling session 'a' started\n");
    check_log_sniff("Profiling results:\n  - Total time: 1.00 ms\n");
    check_log_sniff("Time Elapsed: [0:00:01] From [a (b)] To [c (d)]\n");
}

/* Keys count at the outermost object only, and one is not enough for what others have too. */
static void test_recognizes_no_more(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "{}",
        "[]",
        "[{\"session_info\": {}, \"gpu_metrics\": {}}]",
        "{\"x\": {\"session_info\": 1, \"gpu_data\": 2, \"profiling_enabled\": 3}}",
        "{\"x\": \"session_info\", \"y\": \"\\\"gpu_data\\\": []\"}",
        "{\"traceEvents\": [{\"name\": \"session_info\", \"ph\": \"X\"}], \"events\": 1}",
        "{\"metrics\": [], \"summary\": {}, \"events\": []}",
        "{\"gpu\": {}, \"cpu\": {}, \"timestamp\": 1}",
        "{\"session_id\": \"a\", \"saved_at\": 1}",
        "{\"overall\": {}, \"system_info\": {}}",
        "Profiling session\nGPU: Memory 1MB",
        "{\"x\": \"\\",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_sniff("none", texts[i], 0);
}

/* ---- reports ------------------------------------------------------------------------------ */

#define INFO                                                                                       \
    "\"session_info\": {\"id\": \"s\", \"start_time\": 1000.25, \"end_time\": 1002.5, "            \
    "\"duration\": 2.25, \"tags\": {\"rank\": \"3\", \"world_size\": 4, \"mode\": null, "          \
    "\"seed\": 7}}"

static void test_report_session(void **state)
{
    (void)state;
    struct reading r = read_text("inferix_report", "{" INFO ", \"events\": []}");
    assert_int_equal(r.rank, 3);
    assert_int_equal(r.world_size, 4);
    assert_int_equal(r.kept, 1);
    check_text(rows_of(r.trace), "session s 1000250000000 1002500000000 2250000000\n"
                                 "tag rank 3\ntag world_size 4\ntag seed 7\n");
    reading_free(&r);
    r = read_text("inferix_report", "{\"session_info\": {\"tags\": {\"rank\": \"first\"}}}");
    assert_int_equal(r.rank, TA_MISSING);
    assert_int_equal(r.world_size, TA_MISSING);
    reading_free(&r);
}

static void test_report_stages(void **state)
{
    (void)state;
    check_rows("inferix_report",
               "{\"stage_analysis\": {\"total_stages\": 1, \"stages\": {\"a/b \\u4f60\": "
               "{\"total_time\": 0.0030000005, \"call_count\": 2, \"min_time\": 0.001, "
               "\"max_time\": \"0.002\", \"percentage_of_total\": 60}}}}",
               "stage a/b 你 2 3000001 1000000 2000000\n");
}

#define STEP(n, rest)                                                                              \
    "{\"name\": \"diffusion_step\", \"timestamp\": 1001.5, \"data\": {\"step\": " n                \
    ", \"block_size\": 3, " rest "}}"

static void test_report_events(void **state)
{
    (void)state;
    struct reading
        r =
            read_text(
                "inferix_report", "{\"events\": ["
                /* clang-format off */
        STEP("0", "\"timestep\": 1.0, \"computation_time_ms\": 20.5, \"guidance_scale\": 5.0") ","
        STEP("\"1\"", "\"timestep\": NaN, \"computation_time_ms\": \"tensor(0.5)\", "
                      "\"guidance_scale\": null") ","
                                                /* clang-format on */
                                                "{\"name\": \"block_computation\", \"timestamp\": "
                                                "1001.75, \"data\": {\"block_index\": 0, "
                                                "\"block_size\": 3, \"computation_time_ms\": "
                                                "130.0, \"memory_usage_mb\": 1.5}},"
                                                "{\"name\": \"block_computation\", \"data\": "
                                                "{\"block_index\": 1, \"block_size\": 3, "
                                                "\"computation_time_ms\": 128, "
                                                "\"memory_usage_mb\": Infinity}},"
                                                "{\"name\": \"model_parameters\", \"data\": "
                                                "{\"model_name\": \"m\", "
                                                "\"parameters_count\": 1418996800, \"model_type\": "
                                                "\"vae\"}},"
                                                "{\"name\": \"layer_computation\", \"data\": "
                                                "{\"layer_name\": \"l\", "
                                                "\"computation_time_ms\": 2, \"parameters_count\": "
                                                "5}},"
                                                "{\"name\": \"layer_computation\", \"data\": "
                                                "{\"layer_name\": \"l\", "
                                                "\"computation_time_ms\": 1, \"parameters_count\": "
                                                "null}},"
                                                "{\"name\": \"cache_event\", \"data\": "
                                                "{\"event_type\": \"hit\"}},"
                                                "{\"name\": \"cache_event\", \"data\": "
                                                "{\"event_type\": \"hits\"}},"
                                                "{\"name\": \"cache_event\", \"data\": "
                                                "{\"event_type\": \"misses\"}},"
                                                "{\"name\": \"cache_event\", \"data\": "
                                                "{\"event_type\": \"evictions\"}},"
                                                "{\"name\": \"done\", \"timestamp\": 1002, "
                                                "\"data\": {}},"
                                                "{\"name\": \"saved\", \"timestamp\": 1003, "
                                                "\"data\": {\"a\": [1, null]}}]}");
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.kept, 13);
    assert_int_equal(r.dropped, 0);
    check_text(rows_of(r.trace), "step 0 1 3 20500000 5 1001500000000\n"
                                 "step 1 ? 3 ? ? 1001500000000\n"
                                 "block 0 3 130000000 1572864 1001750000000\n"
                                 "block 1 3 128000000 ? ?\n"
                                 "memory block 0 ? 1572864\n"
                                 "model m vae 1418996800\n"
                                 "layer l 2 3000000 1000000 2000000 5\n"
                                 "cache cache 2 1 1\n"
                                 "happening done ? 1002000000000\n"
                                 "happening saved {\"a\":[1,null]} 1003000000000\n");
    /* A tensor, NaN and an infinity; the number of a step that is a text. */
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_BAD_NUMBER), 3);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_STRING_NUMBER), 1);
    reading_free(&r);
}

/* Without events their copies and sums stand in; with them they do not count twice. */
#define COPIES                                                                                     \
    "\"diffusion_analysis\": {\"steps\": [{\"step\": 4, \"computation_time_ms\": 2}]},"            \
    "\"block_analysis\": {\"blocks\": [{\"block_index\": 5, \"computation_time_ms\": 3}]},"        \
    "\"model_analysis\": {\"models\": {\"m\": {\"parameters_count\": 9}}},"                        \
    "\"computation_analysis\": {\"layer_performance\": {\"l\": {\"call_count\": 2, "               \
    "\"total_time_ms\": 3, \"min_time_ms\": 1, \"max_time_ms\": 2}}}"

static void test_report_copies(void **state)
{
    (void)state;
    check_rows("inferix_report", "{" COPIES "}",
               "step 4 ? ? 2000000 ? ?\nblock 5 ? 3000000 ? ?\nmodel m ? 9\n"
               "layer l 2 3000000 1000000 2000000 ?\n");
    check_rows(
        "inferix_report",
        "{\"events\": [" STEP(
            "0", "\"computation_time_ms\": 1") ","
                                               "{\"name\": \"block_computation\", \"data\": {}},"
                                               "{\"name\": \"model_parameters\", \"data\": "
                                               "{\"model_name\": \"n\"}},"
                                               "{\"name\": \"layer_computation\", \"data\": "
                                               "{\"layer_name\": \"k\", "
                                               "\"computation_time_ms\": 7}}], " COPIES "}",
        "step 0 ? 3 1000000 ? 1001500000000\nblock ? ? ? ? ?\nmodel n ? ?\n"
        "layer k 1 7000000 7000000 7000000 ?\n");
}

#define GPU(time, used, total, use, heat, power)                                                   \
    "{\"timestamp\": " time ", \"memory_used_mb\": " used ", \"memory_total_mb\": " total          \
    ", \"utilization\": " use ", \"temperature\": " heat ", \"power\": " power "}"
#define CPU(time, use)                                                                             \
    "{\"timestamp\": " time ", \"cpu_usage\": " use                                                \
    ", \"memory_used_mb\": 2, \"memory_total_mb\": 4}"

/* Left out: samples before the session, a power and a temperature of 0, the start-up of the CPU
 * counter.  A use of 0 is a value. */
static void test_report_samples(void **state)
{
    (void)state;
    struct reading r = read_text(
        "inferix_report",
        "{" INFO
        ", \"gpu_metrics\": {\"timeline\": [" GPU("999", "1", "2", "50", "60", "70") "," GPU(
            "1001", "1", "2", "50", "60",
            "70") "," GPU("1002", "1", "2", "0", "0",
                          "0") "]},"
                               "\"cpu_metrics\": {\"timeline\": [" CPU("1000.5", "0.0") "," CPU(
                                   "1001.5", "0.0") "]}}");
    assert_int_equal(r.kept, 5);
    assert_int_equal(r.dropped, 1);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_OTHER_SESSION), 1);
    char *rows = rows_of(r.trace);
    assert_string_equal(strstr(rows, "gpu_util"), "gpu_utilization ? 1001000000000 0.5\n"
                                                  "gpu_memory_used ? 1001000000000 1048576\n"
                                                  "gpu_memory_total ? 1001000000000 2097152\n"
                                                  "gpu_temperature ? 1001000000000 60\n"
                                                  "gpu_power ? 1001000000000 70\n"
                                                  "gpu_utilization ? 1002000000000 0\n"
                                                  "gpu_memory_used ? 1002000000000 1048576\n"
                                                  "gpu_memory_total ? 1002000000000 2097152\n"
                                                  "cpu_memory_used ? 1000500000000 2097152\n"
                                                  "cpu_memory_total ? 1000500000000 4194304\n"
                                                  "cpu_utilization ? 1001500000000 0\n"
                                                  "cpu_memory_used ? 1001500000000 2097152\n"
                                                  "cpu_memory_total ? 1001500000000 4194304\n");
    free(rows);
    reading_free(&r);
}

/* A device that is missing leaves zeros, which are neither samples nor figures. */
static void test_report_without_device(void **state)
{
    (void)state;
    struct reading r = read_text(
        "inferix_report",
        "{\"summary\": {\"gpu\": {\"avg_gpu_utilization\": 0.0}, \"cpu\": {\"peak_cpu_usage\": "
        "40}}, \"gpu_metrics\": {\"timeline\": [" GPU(
            "1", "0", "0", "0", "0",
            "0") "], "
                 "\"memory_analysis\": {\"total_memory_mb\": 0, \"peak_usage_mb\": 0}, "
                 "\"utilization_analysis\": {\"avg_utilization\": 0.0}}}");
    assert_int_equal(r.status, TA_OK);
    check_text(rows_of(r.trace), "");
    check_text(figures_of(r.trace), "figure cpu peak_cpu_usage_ratio 0.4 ratio\n");
    reading_free(&r);
}

static void test_report_figures(void **state)
{
    (void)state;
    struct reading r = read_text(
        "inferix_report",
        "{" INFO ", \"summary\": {\"gpu\": {\"peak_memory_usage_mb\": 2, "
        "\"peak_memory_utilization\": 50}},"
        "\"gpu_metrics\": {\"memory_analysis\": {\"total_memory_mb\": 4}, \"power_analysis\": "
        "{\"peak_power_watts\": 300.5, \"total_energy_wh\": 2}, \"temperature_analysis\": "
        "{\"peak_temperature\": 70, \"thermal_throttling_risk\": false}},"
        "\"stage_analysis\": {\"total_stages\": 1, \"total_time\": 2, \"stages\": {\"s\": "
        "{\"percentage_of_total\": 100.0}}, \"bottlenecks\": [{\"stage\": \"s\"}]},"
        "\"diffusion_analysis\": {\"total_steps\": 4, \"steps\": [{}], \"fps\": 12.5, \"bps\": 4, "
        "\"avg_computation_time_ms\": 1.5, \"avg_timestep\": NaN, \"avg_block_size\": 3.0},"
        "\"model_analysis\": {\"total_parameters\": 5, \"total_parameters_readable\": \"5\"},"
        "\"cache_analysis\": {\"cache_efficiency\": {\"hit_rate\": 0.25}},"
        "\"memory_analysis\": {\"allocation_patterns\": {\"cuda\": {\"total_allocations\": 2, "
        "\"total_deallocations\": 1, \"total_bytes_allocated\": 12, "
        "\"max_allocation_size_bytes\": 8, \"min_allocation_size_bytes\": 4}}, "
        "\"fragmentation_analysis\": {\"small_allocation_ratio\": 0.5}},"
        "\"computation_analysis\": {\"bottlenecks\": [{\"layer\": \"l\", \"percentage\": 55}]},"
        "\"streaming_analysis\": {\"total_streaming_events\": 1, \"current_fps\": 0.0, "
        "\"avg_encoding_time_ms\": 5.0, \"drop_rate_percent\": 2.5}}");
    assert_int_equal(r.status, TA_OK);
    check_text(figures_of(r.trace), "figure stage s/share_ratio 1 ratio\n"
                                    "figure stage total_stages 1 count\n"
                                    "figure stage total_time_ns 2000000000 ns\n"
                                    "figure diffusion total_steps 4 count\n"
                                    "figure diffusion fps 12.5 per_s\n"
                                    "figure diffusion bps 4 per_s\n"
                                    "figure diffusion avg_computation_time_ns 1500000 ns\n"
                                    "figure diffusion avg_block_size 3 count\n"
                                    "figure model total_parameters 5 count\n"
                                    "figure layer l/share_ratio 0.55 ratio\n"
                                    "figure allocation small_allocation_ratio 0.5 ratio\n"
                                    "figure cache hit_rate 0.25 ratio\n"
                                    "figure streaming total_streaming_events 1 count\n"
                                    "figure streaming avg_encoding_time_ns 5000000 ns\n"
                                    "figure streaming drop_rate_ratio 0.025 ratio\n"
                                    "figure gpu peak_memory_usage_bytes 2097152 bytes\n"
                                    "figure gpu peak_memory_utilization_ratio 0.5 ratio\n"
                                    "figure gpu_memory total_memory_bytes 4194304 bytes\n"
                                    "figure gpu_temperature peak_temperature 70 celsius\n"
                                    "figure gpu_power peak_power_watts 300.5 watt\n"
                                    "figure gpu_power total_energy_joules 7200 joule\n");
    char *rows = rows_of(r.trace);
    assert_non_null(strstr(rows, "allocator cuda 2 1 12 4 8 0.5\n"));
    free(rows);
    reading_free(&r);
}

static void test_report_advice(void **state)
{
    (void)state;
    struct reading r =
        read_text("inferix_report", "{\"recommendations\": [{\"category\": \"c\", \"priority\": "
                                    "\"High\", \"issue\": \"i\", \"suggestion\": \"s\"}, {}, 7]}");
    check_text(rows_of(r.trace), "advice c High i s\n");
    assert_int_equal(r.kept, 1);
    assert_int_equal(r.dropped, 2);
    reading_free(&r);
}

/* Values of any type anywhere cost what they are and no more. */
static void test_report_wrong_types(void **state)
{
    (void)state;
    struct reading r = read_text(
        "inferix_report",
        "{\"session_info\": {\"id\": 5, \"start_time\": [], \"duration\": {}, \"tags\": []},"
        "\"summary\": 1, \"gpu_metrics\": [], \"cpu_metrics\": {\"timeline\": {}},"
        "\"stage_analysis\": {\"stages\": {\"a\": 1, \"b\": {\"call_count\": 1e300}}},"
        "\"events\": [1, null, {}, {\"name\": null}, {\"name\": \"diffusion_step\", "
        "\"data\": [1]}, {\"name\": \"cache_event\"}, {\"name\": 5, \"timestamp\": -1e300}],"
        "\"recommendations\": \"none\", \"streaming_analysis\": [1], \"cache_analysis\": null,"
        "\"memory_analysis\": {\"allocation_patterns\": {\"x\": null}},"
        "\"model_analysis\": {\"models\": {\"m\": 1}}, \"diffusion_analysis\": true}");
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.dropped, 5);
    check_text(rows_of(r.trace), "session 5 ? ? ?\nstage b ? ? ? ?\nstep ? ? ? ? ? ?\n"
                                 "model m ? ?\nallocator x ? ? ? ? ? ?\nhappening 5 ? ?\n");
    assert_true(ta_quality_count(&r.quality, TA_Q_NOT_AN_EVENT) > 5);
    reading_free(&r);
}

/* What is whole before the cut is used, whichever byte is the last one. */
static void test_report_cut(void **state)
{
    (void)state;
    const char *const text =
        "{" INFO
        ", \"stage_analysis\": {\"stages\": {\"a\": {\"total_time\": 1}}}, \"events\": [" STEP(
            "0", "\"computation_time_ms\": 1") "," STEP("1", "\"computation_time_ms\": 2") "]}";
    for (size_t cut = 0; cut < strlen(text); cut++) {
        struct reading r;
        fixture_read_as(&fixture, "inferix_report", text, cut, &r);
        size_t n = 0;
        if (r.trace)
            ta_trace_diffusion_step_rows(r.trace, &n);
        const size_t end_of_first =
            (size_t)(strstr(strstr(text, "diffusion_step"), "}},") - text) + 2;
        assert_true(cut < end_of_first ? n == 0 : n >= 1);
        reading_free(&r);
    }
}

static void test_report_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "{}", "[]", "[{\"session_info\": {}}]", "{\"", "nul", "{\"events\": [{}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_refused("inferix_report", texts[i]);
}

/* ---- raw dumps ---------------------------------------------------------------------------- */

#define DEVICE(id, rest) "\"gpu_" id "\": {\"device_id\": " id ", " rest "}"
#define SAMPLE(time, metrics) "{\"timestamp\": " time ", \"metrics\": {" metrics "}}"

static void test_raw(void **state)
{
    (void)state;
    check_rows(
        "inferix_raw",
        "{\"session_id\": \"s\", \"gpu_data\": ["
        /* clang-format off */
        SAMPLE("5.5", "\"gpu_devices\": {" DEVICE("0",
            "\"memory_used_mb\": 1, \"memory_total_mb\": 4, \"utilization_percent\": 50, "
            "\"memory_util_percent\": 25, \"temperature_celsius\": 0, \"power_watts\": 70.5, "
            "\"graphics_clock_mhz\": 1980, \"memory_clock_mhz\": 2619, \"device_name\": \"H\", "
            "\"torch_memory_allocated_mb\": 2, \"torch_memory_reserved_mb\": 3") ","
            DEVICE("1", "\"power_watts\": 0, \"utilization_percent\": \"75\"") "}, "
            "\"total_gpu_memory_used_mb\": 9, \"total_gpu_memory_total_mb\": 9") ","
        SAMPLE("6", "\"gpu_devices\": {}, \"total_gpu_memory_used_mb\": 2, "
            "\"total_gpu_memory_total_mb\": 8, \"max_gpu_utilization\": 0, "
            "\"max_gpu_temperature\": 61, \"total_gpu_power_watts\": 0") ","
        SAMPLE("7", "\"gpu_devices\": {}, \"total_gpu_memory_used_mb\": 0, "
            "\"total_gpu_memory_total_mb\": 0, \"max_gpu_utilization\": 0")
        "], \"cpu_data\": ["
        SAMPLE("5.75", "\"cpu_usage_percent\": 0.0, \"cpu_per_core_percent\": [1, 2], "
            "\"memory_used_mb\": 1, \"memory_total_mb\": 2") ","
        SAMPLE("6.75", "\"cpu_usage_percent\": 0.0, \"memory_used_mb\": 1")
        /* clang-format on */
        "], \"saved_at\": 9}",
        "gpu_utilization 0 5500000000 0.5\n"
        "gpu_memory_activity 0 5500000000 0.25\n"
        "gpu_memory_used 0 5500000000 1048576\n"
        "gpu_memory_total 0 5500000000 4194304\n"
        "gpu_temperature 0 5500000000 0\n"
        "gpu_power 0 5500000000 70.5\n"
        "gpu_clock 0 5500000000 1980000000\n"
        "gpu_memory_clock 0 5500000000 2619000000\n"
        "torch_allocated 0 5500000000 2097152\n"
        "torch_reserved 0 5500000000 3145728\n"
        "gpu_utilization 1 5500000000 0.75\n"
        "gpu_memory_used ? 6000000000 2097152\n"
        "gpu_memory_total ? 6000000000 8388608\n"
        "gpu_utilization ? 6000000000 0\n"
        "gpu_temperature ? 6000000000 61\n"
        "cpu_memory_used ? 5750000000 1048576\n"
        "cpu_memory_total ? 5750000000 2097152\n"
        "cpu_utilization ? 6750000000 0\n"
        "cpu_memory_used ? 6750000000 1048576\n");
}

/* The arrays may come in any order, and one may be missing. */
static void test_raw_order(void **state)
{
    (void)state;
    check_rows(
        "inferix_raw",
        "{\"cpu_data\": [" SAMPLE("2", "\"cpu_usage_percent\": 5") "], \"gpu_data\": [" SAMPLE(
            "1", "\"gpu_devices\": {" DEVICE("0", "\"power_watts\": 1") "}") "]}",
        "cpu_utilization ? 2000000000 0.05\ngpu_power 0 1000000000 1\n");
    check_rows("inferix_raw", "{\"cpu_data\": [" SAMPLE("2", "\"cpu_usage_percent\": 5") "]}",
               "cpu_utilization ? 2000000000 0.05\n");
}

static void test_raw_damaged(void **state)
{
    (void)state;
    struct reading r = read_text(
        "inferix_raw",
        "{\"gpu_data\": [7, {}, " SAMPLE(
            "\"x\"",
            "") ", {\"timestamp\": 1}, "
                "{\"timestamp\": 1, \"metrics\": null}, " SAMPLE(
                    "1",
                    "\"gpu_devices\": 5, "
                    "\"cpu_usage_percent\": "
                    "NaN") "," SAMPLE("1e300",
                                      "\"cpu_usage_percent\": 1") "," SAMPLE("2",
                                                                             "\"gpu_devices\": "
                                                                             "{\"gpu_7\": "
                                                                             "{\"power_watts\": "
                                                                             "3}, \"x\": "
                                                                             "{\"power_watts\": "
                                                                             "4}, \"y\": 5}"));
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 6);
    assert_true(r.truncated);
    check_text(rows_of(r.trace), "gpu_power 7 2000000000 3\ngpu_power ? 2000000000 4\n");
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_BAD_TS), 3);
    reading_free(&r);
    check_refused("inferix_raw", "{\"gpu_data\": [1]}");
    check_refused("inferix_raw", "{\"gpu_data\": [");
    check_refused("inferix_raw", "{\"session_id\": 5}");
}

static void test_raw_empty(void **state)
{
    (void)state;
    struct reading r = read_text("inferix_raw", "{\"gpu_data\": [], \"cpu_data\": []}");
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_NO_EVENTS), 1);
    reading_free(&r);
}

/* More than one member or window can hold, and in small pieces. */
static void test_raw_streams(void **state)
{
    (void)state;
    enum { SAMPLES = 20000 };
    struct text text = {0};
    for (int part = 0; part < 2; part++) {
        text_add(&text, part ? "], \"cpu_data\": [" : "{\"session_id\": \"s\", \"gpu_data\": [");
        for (int i = 0; i < SAMPLES; i++)
            text_add(&text,
                     "%s{\n  \"timestamp\": %d.5,\n  \"metrics\": {\n    \"%s\": %d,\n"
                     "    \"total_gpu_memory_total_mb\": 4\n  }\n}",
                     i ? ",\n" : "", i, part ? "cpu_usage_percent" : "max_gpu_utilization",
                     i % 100);
    }
    text_add(&text, "]}");
    for (size_t chunk = 0; chunk <= 4096; chunk += 4096) {
        fixture_chunk = chunk;
        struct reading r;
        fixture_read_as(&fixture, "inferix_raw", text.at, text.n, &r);
        fixture_chunk = 0;
        assert_int_equal(r.kept, 2 * SAMPLES);
        assert_no_finding(&r.quality);
        assert_int_equal(ta_trace_samples(r.trace).left,
                         4 * SAMPLES - 1); /* total and use of each but the first CPU's */
        reading_free(&r);
    }
    text_free(&text);
}

/* ---- summaries and extracts --------------------------------------------------------------- */

static void test_flat(void **state)
{
    (void)state;
    const char *const text =
        "{\"profiling_enabled\": true, \"timestamp\": 5.5, \"gpu\": {\"memory_used_mb\": 1, "
        "\"memory_total_mb\": 2, \"utilization_percent\": 67, \"temperature_celsius\": 69}, "
        "\"cpu\": {\"usage_percent\": 50, \"memory_used_mb\": 1, \"memory_total_mb\": 2}, "
        "\"session_id\": \"s\", \"duration\": 0.5, \"tags\": {\"rank\": 2, \"world_size\": 8}}";
    struct reading r = read_text("inferix_flat", text);
    assert_int_equal(r.rank, 2);
    assert_int_equal(r.world_size, 8);
    assert_no_finding(&r.quality);
    check_text(rows_of(r.trace), "session s ? ? 500000000\ntag rank 2\ntag world_size 8\n"
                                 "gpu_utilization ? 5500000000 0.67\n"
                                 "gpu_memory_used ? 5500000000 1048576\n"
                                 "gpu_memory_total ? 5500000000 2097152\n"
                                 "gpu_temperature ? 5500000000 69\n"
                                 "cpu_utilization ? 5500000000 0.5\n"
                                 "cpu_memory_used ? 5500000000 1048576\n"
                                 "cpu_memory_total ? 5500000000 2097152\n");
    reading_free(&r);
    r = read_text("inferix_flat", "{\"profiling_enabled\": false}");
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_NO_EVENTS), 1);
    reading_free(&r);
    check_refused("inferix_flat", "{\"profiling_enabled\": true, \"gpu\": 5}");
    check_refused("inferix_flat", "{\"profiling_enabled\": true, \"gpu\": {\"memory_used_mb\": 0, "
                                  "\"memory_total_mb\": 0}}");
}

static void test_aggregate(void **state)
{
    (void)state;
    struct reading r = read_text(
        "inferix_aggregate",
        "{\"total_reports\": 2, \"rank_count\": 2, \"aggregated_gpu_metrics\": "
        "{\"memory_used_mb_max\": 2, \"utilization_percent_avg\": 80.5, "
        "\"temperature_celsius_sum\": 137, \"x\": null}, \"aggregated_cpu_metrics\": "
        "{\"usage_percent_min\": 50}, \"reports_summary\": [{\"rank\": 1, \"duration\": 0.5}, "
        "{\"rank\": \"unknown\", \"duration\": 0}, 5]}");
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.dropped, 1);
    assert_int_equal(r.rank, TA_MISSING);
    check_text(rows_of(r.trace), "");
    check_text(figures_of(r.trace),
               "figure aggregate gpu/memory_used_bytes_max 2097152 bytes of none\n"
               "figure aggregate gpu/utilization_ratio_avg 0.805 ratio of none\n"
               "figure aggregate gpu/temperature_celsius_sum 137 celsius of none\n"
               "figure aggregate cpu/usage_ratio_min 0.5 ratio of none\n"
               "figure aggregate duration_ns 500000000 ns of a rank\n");
    reading_free(&r);
    r = read_text("inferix_aggregate", "{\"total_reports\": 1, \"aggregated_gpu_metrics\": {}}");
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_NO_EVENTS), 1);
    reading_free(&r);
    check_refused("inferix_aggregate", "{\"aggregated_gpu_metrics\": {\"a\": \"b\"}}");
}

static void test_extract(void **state)
{
    (void)state;
    struct reading r = read_text(
        "inferix_stream", "{\"block_level\": {\"total_steps\": 40, \"fps\": 123.5, "
                          "\"avg_step_time_ms\": 0, \"block_fps\": 30.5, \"peak_memory_mb\": 2, "
                          "\"avg_block_time_ms\": 97.25}, \"segment_level\": {}, \"overall\": "
                          "{\"peak_temperature_c\": 0, \"avg_gpu_utilization\": 50}}");
    assert_no_finding(&r.quality);
    check_text(figures_of(r.trace), "figure diffusion total_steps 40 count\n"
                                    "figure diffusion fps 123.5 per_s\n"
                                    "figure block fps 30.5 per_s\n"
                                    "figure block peak_memory_usage_bytes 2097152 bytes\n"
                                    "figure block avg_computation_time_ns 97250000 ns\n"
                                    "figure overall avg_gpu_utilization_ratio 0.5 ratio\n");
    reading_free(&r);
    r = read_text("inferix_stream", "{\"block_level\": {\"fps\": 0}, \"segment_level\": {}}");
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_NO_EVENTS), 1);
    reading_free(&r);
}

/* ---- consoles ----------------------------------------------------------------------------- */

/* Lines of two threads on one, a sign of a wrong code page, the start-up of the CPU counter. */
static void test_console_live(void **state)
{
    (void)state;
    check_rows("log",
               "=== Profiling Metrics (a (b)) ===Profiling session 'a (b)' started\r\n\n"
               "GPU: Memory 1MB / 2MB (50.0%), Util 86.0%, Temp 63.5\xc3\x82\xc2\xb0"
               "CCPU: 0.0%, Memory 3MB / 4MB (75.0%)\n"
               "GPU: Memory 1MB / 2MB (50.0%), Util 0.0%, Temp 0.0\n"
               "GPU: Memory 0MB / 0MB (0.0%), Util 0.0%, Temp 0.0\xc2\xb0"
               "C\n"
               "CPU: 50.6%, Memory 3MB / 4MB (75.0%)\n"
               "Profiling session 'a (b)' ended (duration: 1.64s)\n",
               "session a (b) ? ? 1640000000\n"
               "gpu_memory_used ? ? 1048576\n"
               "gpu_memory_total ? ? 2097152\n"
               "gpu_utilization ? ? 0.86\n"
               "gpu_temperature ? ? 63.5\n"
               "cpu_memory_used ? ? 3145728\n"
               "cpu_memory_total ? ? 4194304\n"
               "gpu_memory_used ? ? 1048576\n"
               "gpu_memory_total ? ? 2097152\n"
               "gpu_utilization ? ? 0\n"
               "cpu_utilization ? ? 0.506\n"
               "cpu_memory_used ? ? 3145728\n"
               "cpu_memory_total ? ? 4194304\n");
}

static void test_console_sessions(void **state)
{
    (void)state;
    check_rows("log",
               "Profiling session 'one' started\nProfiling session 'one' ended (duration: 2s)\n"
               "Profiling session 'two' startedProfiling session 'three' started\n",
               "session one ? ? 2000000000\nsession two ? ? ?\nsession three ? ? ?\n");
    check_rows("log", "=== Profiling Metrics (x) ===\n=== Profiling Metrics (x) ===\n",
               "session x ? ? ?\n");
}

#define STARTED(id) "Profiling session '" id "' started\n"
#define ENDED(id, s) "Profiling session '" id "' ended (duration: " s "s)\n"
#define PIPELINE_OF(ms) "Profiling results:\n  - Total time: " ms " ms\n"

/* A session and the pipeline in it are one run, in whatever order their lines stand. */
static void test_console_runs(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *sessions;
    } cases[] = {
        {STARTED("a") PIPELINE_OF("11500.00") ENDED("a", "12.10"), "session a ? ? 12100000000\n"},
        /* without the start, behind the end, without the end */
        {PIPELINE_OF("11500.00") ENDED("a", "12.10"), "session a ? ? 12100000000\n"},
        {STARTED("a") ENDED("a", "12.10") PIPELINE_OF("11500.00"), "session a ? ? 12100000000\n"},
        {STARTED("a") PIPELINE_OF("11500.00"), "session a ? ? 11500000000\n"},
        /* two prompts in one session; two runs, one after the other */
        {STARTED("a") PIPELINE_OF("5000") PIPELINE_OF("6000") ENDED("a", "12.10"),
         "session a ? ? 12100000000\n"},
        {STARTED("a") PIPELINE_OF("5000") ENDED("a", "6.00") STARTED("a") PIPELINE_OF("7000")
             ENDED("a", "8.00"),
         "session a ? ? 6000000000\nsession a ? ? 8000000000\n"},
        {STARTED("a") ENDED("a", "6.00") STARTED("a") ENDED("a", "8.00") PIPELINE_OF("5000")
             PIPELINE_OF("7000"),
         "session a ? ? 6000000000\nsession a ? ? 8000000000\n"},
        {PIPELINE_OF("5000") PIPELINE_OF("7000"),
         "session ? ? ? 5000000000\nsession ? ? ? 7000000000\n"},
        /* a run without the profiler before and after one with it; one too long for the session */
        {PIPELINE_OF("5000") STARTED("a") PIPELINE_OF("7000") ENDED("a", "8.00")
             PIPELINE_OF("6000"),
         "session ? ? ? 5000000000\nsession a ? ? 8000000000\nsession ? ? ? 6000000000\n"},
        {STARTED("a") ENDED("a", "2.00") PIPELINE_OF("5000"),
         "session a ? ? 2000000000\nsession ? ? ? 5000000000\n"},
        /* a session in another one */
        {STARTED("a") STARTED("b") PIPELINE_OF("5000") ENDED("b", "6.00") ENDED("a", "8.00"),
         "session a ? ? 8000000000\n"},
        /* ranks whose lines do not say whose they are: as many as ran a pipeline */
        {STARTED("a") STARTED("a") PIPELINE_OF("5000") PIPELINE_OF("5100") ENDED("a", "6.00")
             ENDED("a", "6.10"),
         "session a ? ? 6100000000\nsession a ? ? 6000000000\n"},
        {STARTED("a") STARTED("a") PIPELINE_OF("5000") ENDED("a", "6.00") ENDED("a", "6.10"),
         "session a ? ? 6000000000\n"},
        {STARTED("a") STARTED("a") ENDED("a", "6.00") ENDED("a", "6.10"),
         "session a ? ? 6100000000\n"},
        /* readings of another thread come first, and after the end */
        {"=== Profiling Metrics (a) ===\n" STARTED("a")
             ENDED("a", "6.00") "=== Profiling Metrics (a) ===\n",
         "session a ? ? 6000000000\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s", cases[i].lines);
        check_rows("log", cases[i].lines, cases[i].sessions);
    }
}

/* Launchers say whose a line is; lines of ranks stand between each other. */
static void test_console_ranks(void **state)
{
    (void)state;
    static const char *const marks[][2] = {{"[rank0]: ", "[rank1]: "},
                                           {"[default0]:", "[default1]:"},
                                           {"[1,0]<stdout>:", "[1,1]<stdout>:"},
                                           {"[Rank 0] ", "[Rank 1] "},
                                           {"[0] ", "[1] "},
                                           {"0: ", "1: "}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        static const struct {
            int rank;
            const char *line;
        } lines[] = {
            {0, "Profiling session 'a' started\n"},
            {1, "Profiling session 'a' started\n"},
            {1, "CPU: 0.0%, Memory 3MB / 4MB (75.0%)\n"},
            {0, "Profiling results:\n"},
            {1, "Profiling results:\n"},
            {0, "  - VAE decoding time: 5000.00 ms (50%)\n"},
            {1, "  - Total time: 11.00 ms\n"},
            {0, "    - Block 2 generation time: 1.00 ms (1% of diffusion)\n"},
            {1, "Profiling session 'a' ended (duration: 7.00s)\n"},
            {0, "Profiling session 'a' ended (duration: 6.00s)\n"},
        };
        struct text text = {0};
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
            text_add(&text, "%s%s", marks[i][lines[k].rank], lines[k].line);
        struct reading r = read_text("log", text.at);
        size_t n;
        const struct ta_session *sessions = ta_trace_session_rows(r.trace, &n);
        assert_int_equal(n, 2);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(sessions[k].rank, k);
            assert_int_equal(sessions[k].dur_ns, (int64_t)(6 + k) * 1000000000);
        }
        assert_int_equal(ta_trace_stage_rows(r.trace, &n)->rank, 0);
        assert_int_equal(n, 1);
        assert_int_equal(ta_trace_diffusion_block_rows(r.trace, &n)->rank, 0);
        assert_int_equal(n, 1);
        struct ta_samples samples = ta_trace_samples(r.trace);
        assert_true(ta_samples_next(&samples));
        assert_int_equal(samples.sample.rank, 1);
        reading_free(&r);
        text_free(&text);
    }
}

static void test_console_figures(void **state)
{
    (void)state;
    struct reading r = read_text(
        "log",
        "\xf0\x9f\x93\x8a Diffusion Analysis:\n   - Total Steps: 28\n"
        "   - FPS (Frames Per Second): 69.47\n   - BPS (Blocks Per Second): 23.16\n"
        "   - Average Block Size: 3.0 frames\n   - Mood: 5\n"
        "?? Block Analysis:\n   - Total Blocks: 7\n   - Block FPS: 14.52\n"
        "   - Block BPS: 4.84\n   - Peak Memory Usage: 2 MB\nTotal Blocks: x\n"
        "=== Aggregation Summary ===\nTotal reports processed: 8\nRanks: 8\n"
        "GPU Memory - Min: 1.0MB, Max: 2.0MB, Avg: 1.5MB\nGPU Utilization - Min: 50%\n"
        "Memory Usage - Max: 3MB\n"
        "Extracting streaming metrics...\nThroughput: 0.00 FPS\n- Generation: 0.0 ms per step\n"
        "- Block Computation: 97.2 ms per block\n");
    assert_no_finding(&r.quality);
    check_text(figures_of(r.trace),
               "figure diffusion total_steps 28 count\n"
               "figure diffusion fps 69.47 per_s\n"
               "figure diffusion bps 23.16 per_s\n"
               "figure diffusion avg_block_size 3 count\n"
               "figure block total_blocks 7 count\n"
               "figure block fps 14.52 per_s\n"
               "figure block bps 4.84 per_s\n"
               "figure block peak_memory_usage_bytes 2097152 bytes\n"
               "figure aggregate total_reports 8 count of none\n"
               "figure aggregate rank_count 8 count of none\n"
               "figure aggregate gpu/memory_used_bytes_min 1048576 bytes of none\n"
               "figure aggregate gpu/memory_used_bytes_max 2097152 bytes of none\n"
               "figure aggregate gpu/memory_used_bytes_avg 1572864 bytes of none\n"
               "figure aggregate gpu/utilization_ratio_min 0.5 ratio of none\n"
               "figure aggregate cpu/memory_used_bytes_max 3145728 bytes of none\n"
               "figure block avg_computation_time_ns 97200000 ns\n");
    reading_free(&r);
}

static void test_console_pipeline(void **state)
{
    (void)state;
    struct reading r =
        read_text("log", "Profiling results:\n  - Initialization/caching time: 69.83 ms (10.95%)\n"
                         "  - Diffusion generation time: 398.69 ms (62.54%)\n"
                         "    - Block 0 generation time: 70.73 ms (17.74% of diffusion)\n"
                         "    - Block x generation time: 1 ms\n    - Lunch time: noon\n"
                         "  - VAE decoding time: 168.93 ms (26.50%)\n  - Total time: 637.44 ms\n");
    check_text(rows_of(r.trace), "session ? ? ? 637440000\n"
                                 "call Initialization/caching 1 69830000 69830000 69830000\n"
                                 "call Diffusion generation 1 398690000 398690000 398690000\n"
                                 "call VAE decoding 1 168930000 168930000 168930000\n"
                                 "block 0 ? 70730000 ? ?\nblock ? ? 1000000 ? ?\n");
    check_text(figures_of(r.trace), "figure stage Initialization/caching/share_ratio 0.1095 ratio\n"
                                    "figure stage Diffusion generation/share_ratio 0.6254 ratio\n"
                                    "figure stage VAE decoding/share_ratio 0.265 ratio\n"
                                    "figure pipeline total_time_ns 637440000 ns\n");
    reading_free(&r);
}

static void test_console_timer(void **state)
{
    (void)state;
    struct reading r = read_text(
        "log",
        "Time Elapsed: [0:00:00.210351] From [load (x) (2026-11-21 00:36:14)] To [text (t)]\n"
        "Time Elapsed: [1 day, 1:02:03.5] From [a (2026-11-21 00:36:14.1)] To [b (2026-11-21 "
        "00:36:15)]\n"
        "Time Elapsed: [-1 day, 23:59:59] From [a (2026-11-21 00:36:14.1)] To [b (2026-11-21 "
        "00:36:15)]\n"
        "Time Elapsed: [0:61:00] From [a (2026-11-21 00:36:14.1)] To [b (2026-11-21 00:36:15)]\n"
        "Time Elapsed: [99999999999999999999 days, 0:00:00] From [a (2026-11-21 00:36:14.1)] To [b "
        "(2026-11-21 00:36:15)]\n"
        "Time Elapsed: [0:00:01] From [a (2026-11-21 00:36:14.1)]\n");
    check_text(rows_of(r.trace), "call load (x) → text 1 210351000 210351000 210351000\n"
                                 "call a → b 1 90123500000000 90123500000000 90123500000000\n");
    assert_int_equal(r.dropped, 3);
    reading_free(&r);
}

/* Consoles of different figures are no copies of each other. */
static void check_set(const char *text, const char *set)
{
    struct reading r = read_text("log", text);
    assert_string_equal(r.trace->dump.set, set);
    assert_int_equal(r.trace->dump.exactness, TA_EXACT_CONSOLE);
    reading_free(&r);
}

static void test_console_set(void **state)
{
    (void)state;
    check_set("Profiling session 'a' started\nProfiling session 'b' started\n", "b");
    check_set("x\nTime Elapsed: [0:00:01] From [a (1)] To [b (2)]\n",
              "Time Elapsed: [0:00:01] From [a (1)] To [b (2)]");
    check_set("Profiling results:\n- A time: 1 ms\n- B time: 2 ms\n", "- A time: 1 ms");
    check_set("=== Aggregation Summary ===\nRanks: 8\n", "aggregate");
}

static void test_console_refused(void **state)
{
    (void)state;
    check_refused("log", "");
    check_refused("log", "GPU: Memory xMB / yMB\nProfiling session 'a\nCPU: %\n");
}

/* ---- any bytes ---------------------------------------------------------------------------- */

/* Flipped, cut and doubled bytes: read or refused, and the accounts add up. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{" INFO ", \"events\": [" STEP("0", "\"computation_time_ms\": 1") "], " COPIES "}",
        "{\"gpu_data\": [" SAMPLE(
            "1",
            "\"gpu_devices\": {" DEVICE(
                "0", "\"power_watts\": 1") "}") "], \"cpu_data\": [" SAMPLE("2",
                                                                            "\"cpu_usage_percent\":"
                                                                            " 5") "]}",
        "{\"profiling_enabled\": true, \"timestamp\": 1, \"cpu\": {\"usage_percent\": 5}}",
        "{\"aggregated_gpu_metrics\": {\"memory_used_mb_max\": 2}}",
        "{\"block_level\": {\"fps\": 1}, \"segment_level\": {\"a\": 1}}",
        ("=== Profiling Metrics (s) ===\nTime Elapsed: [0:00:01] From [a (b)] To [c (d)]\n"
         "Profiling results:\n- A time: 1 ms (2%)\n"),
    };
    struct rng rng = {42};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int round = 0; round < 300; round++) {
            char bytes[2048];
            size_t n = strlen(texts[i]);
            assert_true(n < sizeof bytes);
            memcpy(bytes, texts[i], n);
            n = rng_damage(&rng, bytes, n);
            struct reading r;
            fixture_read_as(&fixture, inputs[i], bytes, n, &r);
            assert_true(r.status == TA_OK || r.status == TA_ERR_INPUT);
            for (size_t p = 0; p < sizeof inputs / sizeof *inputs; p++)
                fixture_sniff(&fixture, inputs[p], bytes, n);
            reading_free(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recognizes),
        cmocka_unit_test(test_recognizes_no_more),
        cmocka_unit_test(test_report_session),
        cmocka_unit_test(test_report_stages),
        cmocka_unit_test(test_report_events),
        cmocka_unit_test(test_report_copies),
        cmocka_unit_test(test_report_samples),
        cmocka_unit_test(test_report_without_device),
        cmocka_unit_test(test_report_figures),
        cmocka_unit_test(test_report_advice),
        cmocka_unit_test(test_report_wrong_types),
        cmocka_unit_test(test_report_cut),
        cmocka_unit_test(test_report_refused),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_raw_order),
        cmocka_unit_test(test_raw_damaged),
        cmocka_unit_test(test_raw_empty),
        cmocka_unit_test(test_raw_streams),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_aggregate),
        cmocka_unit_test(test_extract),
        cmocka_unit_test(test_console_live),
        cmocka_unit_test(test_console_sessions),
        cmocka_unit_test(test_console_runs),
        cmocka_unit_test(test_console_ranks),
        cmocka_unit_test(test_console_figures),
        cmocka_unit_test(test_console_pipeline),
        cmocka_unit_test(test_console_timer),
        cmocka_unit_test(test_console_set),
        cmocka_unit_test(test_console_refused),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
