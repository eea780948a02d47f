/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffulex's files: sections in three forms, stage timing, operators, statistics, trajectories. */
#include "dump_text.h"

#include "model/trace.h"
#include "report/report.h"

#include <math.h>

static void assert_rows(const char *text, const char *expected)
{
    struct reading r;
    assert_dump(&fixture, "diffulex", text, expected, &r);
    reading_free(&r);
}

static int sureness(const char *text)
{
    return fixture_sniff(&fixture, "diffulex", text, strlen(text));
}

/* ---- sections ------------------------------------------------------------------------------- */

static const char sections_json[] =
    "{\"metrics\": [{\"name\": \"load\", \"metadata\": {\"model\": \"m1\"}, \"duration_sec\": "
    "0.50001, \"total_tokens\": 0, \"throughput_tokens_per_sec\": 0.0, \"gpu_utilization\": "
    "-10, \"memory_delta_mb\": 1.5, \"custom_metrics\": {\"n\": 8, \"ratio\": NaN, \"note\": \"a,b "
    "'c'\"}, \"backend_data\": {\"backend\": \"simple\", \"duration_sec\": 0.6, \"name\": "
    "\"load\"}}, {\"name\": \"run\", \"metadata\": {}, \"duration_sec\": 2.25, \"total_tokens\": "
    "100, \"throughput_tokens_per_sec\": 50.0, \"gpu_utilization\": 0, \"memory_delta_mb\": 0.0, "
    "\"custom_metrics\": {}, \"backend_data\": null}], \"summary\": {\"total_sections\": 2, "
    "\"avg_throughput_tokens_per_sec\": 36.25}}";

static const char sections_csv[] =
    "duration_sec,metadata_model,n,name,note,ratio,throughput_tokens_per_sec,total_tokens\r\n"
    "0.50001,m1,8,load,\"a,b 'c'\",nan,0.0,0\r\n"
    "2.25,,,run,,,50.0,100\r\n";

static const char sections_text[] =
    "noise before it\n"
    "================\nDiffulex Profiling Summary\n================\n\n"
    "Total Sections: 2\nTotal Duration: 2.75 seconds\nTotal Tokens: 100\n"
    "Average Throughput: 36.25 tokens/sec\n\nSection Details:\n\n"
    "Section: load\n  Duration: 0.5000 seconds\n  GPU Utilization: -10.00%\n"
    "  Memory Delta: 1.50 MB\n  Custom Metrics: {'n': 8, 'ratio': nan, 'note': \"a,b 'c'\"}\n"
    "  Metadata: {'model': 'm1'}\n  VizTracer Output: log/profiles/viztracer_load.json\n\n"
    "Section: run\n  Duration: 2.2500 seconds\n  Tokens: 100\n  Throughput: 50.00 tokens/sec\n\n"
    "================";

static void sections_of_json(void **state)
{
    (void)state;
    assert_rows(sections_json, "stage [load] ? 1 500010000 ? ?\n"
                               "stage [run] ? 1 2250000000 ? ?\n"
                               "tokens [load] ? 0 500010000\n"
                               "tokens [run] ? 100 2000000000\n"
                               "figure [load/gpu_utilization_change] [sections] -0.1 ratio\n"
                               "figure [load/host_memory_change_bytes] [sections] 1572864 bytes\n"
                               "figure [load/n] [custom] 8 none\n"
                               "figure [run/tokens_per_s] [sections] 50 per_s\n"
                               "figure [run/gpu_utilization_change] [sections] 0 ratio\n"
                               "figure [run/host_memory_change_bytes] [sections] 0 bytes\n"
                               "figure [tokens_per_s] [sections] 36.25 per_s\n"
                               "tag [load/note] [a,b 'c']\n"
                               "tag [load/model] [m1]\n"
                               "tag [load/backend] [simple]\n");
}

static void sections_of_csv(void **state)
{
    (void)state;
    assert_rows(sections_csv, "stage [load] ? 1 500010000 ? ?\n"
                              "stage [run] ? 1 2250000000 ? ?\n"
                              "tokens [load] ? 0 500010000\n"
                              "tokens [run] ? 100 2000000000\n"
                              "figure [load/n] [custom] 8 none\n"
                              "figure [run/tokens_per_s] [sections] 50 per_s\n"
                              "tag [load/model] [m1]\n"
                              "tag [load/note] [a,b 'c']\n");
}

static void sections_of_text(void **state)
{
    (void)state;
    assert_rows(sections_text, "stage [load] ? 1 500000000 ? ?\n"
                               "stage [run] ? 1 2250000000 ? ?\n"
                               "tokens [load] ? 0 500000000\n"
                               "tokens [run] ? 100 2000000000\n"
                               "figure [tokens_per_s] [sections] 36.25 per_s\n"
                               "figure [load/gpu_utilization_change] [sections] -0.1 ratio\n"
                               "figure [load/host_memory_change_bytes] [sections] 1572864 bytes\n"
                               "figure [load/n] [custom] 8 none\n"
                               "figure [run/tokens_per_s] [sections] 50 per_s\n"
                               "tag [load/output_file] [log/profiles/viztracer_load.json]\n"
                               "tag [load/note] [a,b 'c']\n"
                               "tag [load/model] [m1]\n");
}

/* Copies find each other by what they hold, since one revision writes the text under another name;
 * another run is another set. */
static void copies_are_one_set(void **state)
{
    (void)state;
    const char *const texts[] = {sections_text, sections_csv, sections_json};
    char set[3][64];
    for (int i = 0; i < 3; i++) {
        struct reading r;
        fixture_read_as(&fixture, "diffulex", texts[i], strlen(texts[i]), &r);
        assert_int_equal(r.trace->dump.exactness, TA_EXACT_TEXT + i);
        snprintf(set[i], sizeof set[i], "%s", r.trace->dump.set);
        reading_free(&r);
    }
    assert_string_equal(set[0], set[1]);
    assert_string_equal(set[1], set[2]);
    struct reading r;
    const char *other = "duration_sec,name,throughput_tokens_per_sec,total_tokens\n"
                        "0.5002,load,0,0\n2.25,run,0,0\n";
    fixture_read_as(&fixture, "diffulex", other, strlen(other), &r);
    assert_string_not_equal(r.trace->dump.set, set[0]);
    reading_free(&r);
}

/* Without a device every change of utilization is 0; tokens that nobody recorded are 0 as well, and
 * are kept to say so. */
static void zeros_are_not_recorded(void **state)
{
    (void)state;
    assert_rows("{\"metrics\": [{\"name\": \"a\", \"duration_sec\": 1, \"total_tokens\": 0, "
                "\"throughput_tokens_per_sec\": 0.0, \"gpu_utilization\": 0.0}], \"summary\": "
                "{\"total_sections\": 1, \"avg_throughput_tokens_per_sec\": 0.0}}",
                "stage [a] ? 1 1000000000 ? ?\ntokens [a] ? 0 1000000000\n");
}

static void damaged_sections(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "diffulex",
                "{\"metrics\": [5, {\"duration_sec\": 1}, {\"name\": \"a\", \"duration_sec\": "
                "\"soon\", \"custom_metrics\": [1], \"metadata\": 7, \"total_tokens\": 1e300}, "
                "{\"name\": \"b\", \"duration_sec\": NaN, \"throughput_tokens_per_sec\": "
                "Infinity}], \"summary\": 3}",
                "stage [a] ? 1 ? ? ?\nstage [b] ? 1 ? ? ?\n", &r);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 2);
    reading_free(&r);
    assert_dump(&fixture, "diffulex",
                "duration_sec,name,throughput_tokens_per_sec,total_tokens\n,,,\n1\ninf,x,y,z\n",
                "stage [x] ? 1 ? ? ?\n", &r);
    assert_int_equal(r.dropped, 2);
    reading_free(&r);
    assert_dump(&fixture, "diffulex",
                "Diffulex Profiling Summary\n  Duration: 5 seconds\nSection: a\nSection: b\n"
                "  Duration: 1.0 seconds\n  Custom Metrics: {'x': [1, {'y': 'z, '}], 'b\n"
                "  Metadata: {'k': None, 'l': True, 'm': 'it\\'s'}\n",
                "stage [b] ? 1 1000000000 ? ?\ntokens [b] ? 0 1000000000\n"
                "tag [b/x] [[1, {'y': 'z, '}]]\ntag [b/l] [True]\ntag [b/m] [it's]\n",
                &r);
    assert_int_equal(r.dropped, 1);
    reading_free(&r);
    assert_refused(&fixture, "diffulex", "{\"metrics\": [1, 2], \"total_sections\": 2}");
    assert_refused(&fixture, "diffulex", "{\"metrics\": 5, \"total_sections\": 2}");
    assert_refused(&fixture, "diffulex", "Diffulex Profiling Summary\nSection: a\n");
}

/* ---- stage timing --------------------------------------------------------------------------- */

static const char stages_csv[] = "scope,rank,pid,step,stage,cpu_ms,cuda_ms,device,exception\n"
                                 "engine,,77,0,total,12.5,,,\n"
                                 "multi_block,0,77,0,sampler,1.0000005,0.75,0,\n"
                                 "scope,rank,pid,step,stage,cpu_ms,cuda_ms,device,exception\n"
                                 "multi_block,1,78,0,sampler,2,nan,1,RuntimeError\n";

static void stages_name_their_ranks(void **state)
{
    (void)state;
    assert_rows(stages_csv, "stage [engine/total] none 1 12500000 ? 0\n"
                            "stage [multi_block/sampler] 0 1 1000001 750000 0\n"
                            "stage [multi_block/sampler] 1 1 2000000 ? 0 [RuntimeError]\n");
}

static void damaged_stages(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "diffulex",
                "scope,rank,step,stage,cpu_ms\nengine,x,one,total,5\nengine,-3,1,total,6\n"
                "engine,1,2,,7\nengine,1,2,total,\nengine,1,2,total,inf\nengine,1\n",
                "stage [engine/total] none 1 5000000 ? ?\n"
                "stage [engine/total] none 1 6000000 ? 1\n",
                &r);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 4);
    reading_free(&r);
    assert_refused(&fixture, "diffulex", "scope,rank,step,stage,cpu_ms\nengine,1,2,total,\n");
}

/* ---- operators ------------------------------------------------------------------------------ */

static void operators_of_json_and_csv(void **state)
{
    (void)state;
    const char *rows = "operator [aten::a] ? 3 1750 4000 ? ? -8 ? [[[1, 2]]]\n"
                       "operator [aten::b] ? 1 2000000 2000000 ? ? 0 ?\n";
    const char *json =
        "[{\"name\": \"aten::a\", \"count\": 3, \"self_cpu_time_total_us\": 1.75, "
        "\"cpu_time_total_us\": 4, \"self_cuda_time_total_us\": 0, \"cuda_time_total_us\": 0, "
        "\"self_cpu_memory_usage\": -8, \"self_cuda_memory_usage\": 0, \"input_shapes\": \"[[1, "
        "2]]\"}, {\"name\": \"aten::b\", \"count\": 1, \"self_cpu_time_total_us\": 2000, "
        "\"cpu_time_total_us\": 2000, \"self_cuda_time_total_us\": 0, \"cuda_time_total_us\": 0, "
        "\"self_cpu_memory_usage\": 0, \"self_cuda_memory_usage\": 0, \"input_shapes\": \"[]\"}]";
    const char *csv = "name,count,self_cpu_time_total_us,cpu_time_total_us,self_cuda_time_total_us,"
                      "cuda_time_total_us,self_cpu_memory_usage,self_cuda_memory_usage,"
                      "input_shapes\r\naten::a,3,1.75,4,0,0,-8,0,\"[[1, 2]]\"\r\n"
                      "aten::b,1,2000,2000,0,0,0,0,[]\r\n";
    struct reading r;
    assert_dump(&fixture, "diffulex", json, rows, &r);
    assert_string_equal(r.trace->dump.set, "operators 2.002ms"); /* 2.00175, as torch prints it */
    assert_int_equal(r.trace->dump.exactness, TA_EXACT_FULL);
    reading_free(&r);
    assert_dump(&fixture, "diffulex", csv, rows, &r);
    assert_string_equal(r.trace->dump.set, "operators 2.002ms");
    assert_int_equal(r.trace->dump.exactness, TA_EXACT_TABLE);
    reading_free(&r);
}

/* One operator with device time makes the zeros of the others figures. */
static void device_times_of_operators(void **state)
{
    (void)state;
    assert_rows("name,count,self_cpu_time_total_us,cpu_time_total_us,self_cuda_time_total_us\n"
                "k,1,0,1,2\nh,1,1,1,0\n",
                "operator [k] ? 1 0 1000 2000 ? ? ?\noperator [h] ? 1 1000 1000 0 ? ? ?\n");
}

static const char merged_csv[] =
    "profile_name,name,count,self_cuda_time_ms,cuda_time_ms,self_cpu_time_ms,cpu_time_ms,"
    "self_cuda_memory_usage,profile_file\n"
    "t.engine.rank12,diffulex.a,1,0.0,0.0,1.5,2.5,0,/x/t.engine.rank12.summary.json\n"
    "t.engine.rank12,aten::b,1,0.0,0.0,1,1,0,/x/t.engine.rank12.summary.json\n"
    "t.engine.rank12,diffulex.a,1,0.0,0.0,0,2.5,0,/x/t.engine.rank12.trace.json\n"
    "t.client,diffulex.c,2,0.0,0.0,0,7,0,/x/t.client.trace.json\n";

/* Rows of a trace count only where the summary of its profile is missing. */
static void merged_operators(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "diffulex", merged_csv,
                "operator [diffulex.a] 12 1 1500000 2500000 ? ? ? ?\n"
                "operator [aten::b] 12 1 1000000 1000000 ? ? ? ?\n"
                "operator [diffulex.c] ? 2 0 7000000 ? ? ? ?\n",
                &r);
    assert_int_equal(r.kept, 4);
    assert_string_equal(r.trace->dump.set, "");
    assert_int_equal(r.trace->dump.exactness, TA_EXACT_TEXT);
    reading_free(&r);
}

static const char merged_markdown[] =
    "# Torch Profile Summary\n\n## Annotated Stages\n\n"
    "| profile | event | count | self cuda ms | cuda ms | self cpu ms | cpu ms |\n"
    "|---|---:|---:|---:|---:|---:|---:|\n"
    "| t.rank1 | `diffulex.a` | 10 | 0.000 | 0.000 | 1.500 | 2.500 |\n\n## Top Operators\n\n"
    "| profile | event | count | self cuda ms | cuda ms | self cpu ms | cpu ms |\n"
    "|---|---:|---:|---:|---:|---:|---:|\n"
    "| t.rank1 | `diffulex.a` | 10 | 0.000 | 0.000 | 1.500 | 2.500 |\n"
    "| t.rank2 | `a|b` | 1 | 0.000 | 0.000 | 0.001 | 0.002 |\n";

static void merged_operators_of_markdown(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "diffulex", merged_markdown,
                "operator [diffulex.a] 1 10 1500000 2500000 ? ? ? ?\n"
                "operator [a|b] 2 1 1000 2000 ? ? ? ?\n",
                &r);
    assert_int_equal(r.trace->dump.exactness, TA_EXACT_CONSOLE);
    reading_free(&r);
}

/* ---- generation ----------------------------------------------------------------------------- */

static const char statistics_json[] =
    "{\"total_samples\": 2, \"total_tokens\": 300, \"total_nfe\": 40, \"total_time\": 1.5, "
    "\"ttft_s\": 0.25, \"tpf\": 7.5, \"decode_throughput_tok_s\": 250.5, \"avg_e2e_tps\": NaN, "
    "\"timestamp\": \"2026-01-02 03:04:05\"}";

static void statistics_of_a_benchmark(void **state)
{
    (void)state;
    assert_rows(statistics_json, "figure [samples] [generation] 2 count\n"
                                 "figure [tokens] [generation] 300 count\n"
                                 "figure [nfe] [generation] 40 count\n"
                                 "figure [total_time_ns] [generation] 1500000000 ns\n"
                                 "figure [ttft_ns] [generation] 250000000 ns\n"
                                 "figure [decode_tokens_per_s] [generation] 250.5 per_s\n"
                                 "figure [tpf] [generation] 7.5 none\n"
                                 "tag [timestamp] [2026-01-02 03:04:05]\n");
}

static const char trajectories_json[] =
    "[{\"req_id\": 4, \"trajectory\": [{\"step_id\": 0, \"step_time\": 0.5, \"is_prefill\": true, "
    "\"num_generated_tokens\": 0}, {\"step_id\": 1, \"step_time\": 0.25, \"is_prefill\": false, "
    "\"num_generated_tokens\": 6}, {\"step_id\": 2, \"step_time\": 0.125, \"is_prefill\": false, "
    "\"num_generated_tokens\": 2}, {\"step_id\": 3, \"step_time\": \"late\"}]}, {\"req_id\": 5, "
    "\"trajectory\": []}, {\"req_id\": 6}]";

static void requests_of_trajectories(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "diffulex", trajectories_json,
                "request [4] 3 8 750000000 875000000 2 8 375000000\n", &r);
    assert_int_equal(r.kept, 3);
    assert_int_equal(r.dropped, 2);
    reading_free(&r);
}

static double figure_of(const struct ta_table *table, const char *column)
{
    return ta_cell_number(ta_table_cell(table, 0, ta_table_column(table, column)), NAN);
}

/* TTFT 1 s and 3 s; TPOT of the first alone, 1 s over 8 − 1 tokens; 9 tokens in 4 steps. */
static void requests_become_figures(void **state)
{
    (void)state;
    static const char json[] =
        "[{\"req_id\": 1, \"trajectory\": [{\"step_time\": 1, \"is_prefill\": true, "
        "\"num_generated_tokens\": 1}, {\"step_time\": 0.5, \"num_generated_tokens\": 0}, "
        "{\"step_time\": 0.5, \"num_generated_tokens\": 7}]}, {\"req_id\": 2, \"trajectory\": "
        "[{\"step_time\": 3, \"is_prefill\": true, \"num_generated_tokens\": 1}]}]";
    struct reading r;
    fixture_read_as(&fixture, "diffulex", json, sizeof json - 1, &r);
    struct ta_report *report = fixture_report(&fixture, &r, 1);
    const struct ta_table *table = ta_report_table(report, "requests.by_rank");
    assert_non_null(table);
    assert_int_equal(table->n_rows, 1);
    assert_float_equal(figure_of(table, "requests"), 2, 0);
    assert_float_equal(figure_of(table, "tokens"), 9, 0);
    assert_float_equal(figure_of(table, "ttft_mean_ns"), 2e9, 0);
    assert_float_equal(figure_of(table, "tpot_mean_ns"), 142857143, 0);
    assert_float_equal(figure_of(table, "time_p50_ns"), 2.5e9, 0);
    assert_float_equal(figure_of(table, "tpf"), 3.5, 0); /* 7 tokens in 2 steps that decode */
    assert_float_equal(figure_of(table, "decode_tokens_per_s"), 7, 0);
    ta_report_free(report);
    reading_free(&r);
}

/* ---- recognizing ---------------------------------------------------------------------------- */

static const char *const all[] = {sections_json,   sections_csv,     sections_text,
                                  stages_csv,      merged_csv,       merged_markdown,
                                  statistics_json, trajectories_json};

static void files_are_recognized_by_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int score = sureness(all[i]);
        assert_in_range(score, 91, 95);
        assert_true(fixture_sniff(&fixture, "chrome_json", all[i], strlen(all[i])) < score);
    }
    assert_int_equal(sureness(""), 0);
    assert_int_equal(sureness("{\"traceEvents\": [], \"metrics\": [], \"total_sections\": 0}"), 0);
    assert_int_equal(sureness("{\"metrics\": [1]}"), 0);
    assert_int_equal(sureness("{\"metrics\": [{\"name\": \"a\"}]}"), 0);
    assert_int_equal(sureness("{\"metrics\": []}"), 60); /* a run without sections */
    assert_int_equal(sureness("\n{ \"metrics\" : [\n], \"summary\": {}}"), 80);
    assert_int_equal(sureness("{\"metrics\": [{\"name\": \"a\", \"duration_sec\": 1}]}"), 60);
    assert_int_equal(sureness("name,duration_sec\n"), 0);
    assert_int_equal(sureness("[{\"ph\": \"X\"}]"), 0);
    assert_int_equal(sureness("[]"), 0);
}

static void beginnings_do_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        read_all_beginnings(&fixture, "diffulex", all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_of_json),
        cmocka_unit_test(sections_of_csv),
        cmocka_unit_test(sections_of_text),
        cmocka_unit_test(copies_are_one_set),
        cmocka_unit_test(zeros_are_not_recorded),
        cmocka_unit_test(damaged_sections),
        cmocka_unit_test(stages_name_their_ranks),
        cmocka_unit_test(damaged_stages),
        cmocka_unit_test(operators_of_json_and_csv),
        cmocka_unit_test(device_times_of_operators),
        cmocka_unit_test(merged_operators),
        cmocka_unit_test(merged_operators_of_markdown),
        cmocka_unit_test(statistics_of_a_benchmark),
        cmocka_unit_test(requests_of_trajectories),
        cmocka_unit_test(requests_become_figures),
        cmocka_unit_test(files_are_recognized_by_content),
        cmocka_unit_test(beginnings_do_no_harm),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
