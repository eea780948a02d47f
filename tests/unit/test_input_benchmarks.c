/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small files of servers and benchmarks: sglang's performance dump, vllm-omni's JSON and diffusers'
 * CSV; what is read of them, whole and damaged. */
#include "trace_fixture.h"

#include "traceanalyze/dump.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- rows as text ------------------------------------------------------------------------- */

static void put_numbers(struct text *out, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] == TA_MISSING)
            text_add(out, " ?");
        else
            text_add(out, " %" PRId64, values[i]);
    text_add(out, "\n");
}

static void put_name(struct text *out, const struct ta_trace *trace, const char *kind, ta_str name)
{
    const struct ta_slice text = name == TA_STR_ABSENT ? TA_LIT("?") : ta_trace_text(trace, name);
    text_add(out, "%s %.*s", kind, (int)text.len, text.ptr);
}

static void put_timed(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_session *session = ta_trace_session_rows(trace, &n);
    for (; n; n--, session++) {
        put_name(out, trace, "request", session->id);
        put_numbers(out, &session->dur_ns, 1);
    }
    const struct ta_timed_stage *stage = ta_trace_stage_rows(trace, &n);
    for (; n; n--, stage++) {
        put_name(out, trace, stage->is_call ? "call" : "stage", stage->name);
        put_numbers(out, (int64_t[]){stage->calls, stage->total_ns}, 2);
    }
    const struct ta_iterations *loop = ta_trace_iterations_rows(trace, &n);
    for (; n; n--, loop++) {
        put_name(out, trace, "loop", loop->name);
        put_numbers(out, (int64_t[]){loop->count, loop->total_ns}, 2);
    }
    const struct ta_diffusion_step *step = ta_trace_diffusion_step_rows(trace, &n);
    for (; n; n--, step++) {
        text_add(out, "step");
        put_numbers(out, (int64_t[]){step->step, step->dur_ns}, 2);
    }
}

static void put_rest(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_memory_mark *mark = ta_trace_memory_mark_rows(trace, &n);
    for (; n; n--, mark++) {
        put_name(out, trace, "memory", mark->label);
        put_numbers(out,
                    (int64_t[]){mark->allocated_bytes, mark->reserved_bytes,
                                mark->max_allocated_bytes, mark->max_reserved_bytes},
                    4);
    }
    const struct ta_model_info *model = ta_trace_model_rows(trace, &n);
    for (; n; n--, model++) {
        put_name(out, trace, "model", model->name);
        put_numbers(out, &model->parameters, 1);
    }
    const struct ta_figure *figure = ta_trace_figure_rows(trace, &n);
    for (; n; n--, figure++) {
        put_name(out, trace, "figure", figure->name);
        text_add(out, " %.12g\n", figure->value);
    }
    const struct ta_tag *tag = ta_trace_tag_rows(trace, &n);
    for (; n; n--, tag++) {
        put_name(out, trace, "tag", tag->key);
        put_name(out, trace, "", tag->value);
        text_add(out, "\n");
    }
}

static void assert_rows(const char *input, const char *bytes, const char *expected,
                        struct reading *r)
{
    struct text out = {NULL, 0, 0};
    fixture_read_as(&fixture, input, bytes, strlen(bytes), r);
    text_add(&out, "%s", r->status == TA_OK ? "" : "refused\n");
    if (r->trace) {
        put_timed(&out, r->trace);
        put_rest(&out, r->trace);
    }
    assert_string_equal(out.at, expected);
    free(out.at);
}

static int sniff(const char *input, const char *bytes)
{
    return fixture_sniff(&fixture, input, bytes, strlen(bytes));
}

/* ---- sglang ------------------------------------------------------------------------------- */

static const char request[] =
    "{\"timestamp\": \"2025-12-20T16:45:15+00:00\", \"request_id\": \"r1\", \"tag\": \"cli\",\n"
    " \"total_duration_ms\": 100.5, \"steps\": [{\"name\": \"TextEncodingStage\", "
    "\"duration_ms\": 40.0000005}, {\"name\": \"DenoisingStage\", \"duration_ms\": 50}],\n"
    " \"denoise_steps_ms\": [{\"step\": 0, \"duration_ms\": 45.5}, {\"step\": 1, \"duration_ms\": "
    "4.5}],\n"
    " \"memory_checkpoints\": {\"after decode\": {\"allocated_mb\": 1024.5, \"peak_reserved_mb\": "
    "2048}}, \"meta\": {\"prompt\": \"a cat\", \"steps\": 2}}";

static void test_request(void **state)
{
    (void)state;
    struct reading r;
    assert_int_equal(sniff("sglang_perf", request), 92);
    assert_int_equal(sniff("sglang_perf", "{\"total_duration_ms\": 1, \"steps\": []}"), 82);
    assert_int_equal(sniff("sglang_perf", "{\"steps\": [{\"total_duration_ms\": 1}]}"), 0);
    assert_rows("sglang_perf", request,
                "request r1 100500000\n"
                "call TextEncodingStage 1 40000001\n"
                "call DenoisingStage 1 50000000\n"
                "step 0 45500000\n"
                "step 1 4500000\n"
                "memory after decode 1074266112 ? ? 2147483648\n"
                "figure outside_stages_ns 10499999\n"
                "tag tag cli\n"
                "tag timestamp 2025-12-20T16:45:15+00:00\n"
                "tag prompt a cat\n"
                "tag steps 2\n",
                &r);
    assert_no_finding(&r.quality);
    reading_free(&r);
}

/* The first version has the steps as numbers. */
static void test_steps_in_a_list(void **state)
{
    (void)state;
    struct reading r;
    assert_rows("sglang_perf",
                "{\"total_duration_ms\": 100.5, \"steps\": [], \"denoise_steps_ms\": [45.5, 4.5]}",
                "request ? 100500000\nstep 0 45500000\nstep 1 4500000\n", &r);
    assert_no_finding(&r.quality);
    reading_free(&r);
}

static void test_damaged_request(void **state)
{
    (void)state;
    struct reading r;
    assert_rows("sglang_perf",
                "{\"total_duration_ms\": \"long\", \"steps\": [{\"name\": 5}, {\"duration_ms\": 1},"
                " 7, {\"name\": \"a\", \"duration_ms\": 1e30}, {\"name\": \"b\", \"duration_ms\": "
                "-1}, {\"name\": \"c\", \"duration_ms\": 2}], \"denoise_steps_ms\": {}, "
                "\"memory_checkpoints\": {\"x\": 4, \"y\": {\"allocated_mb\": NaN}}, \"meta\": []}",
                "call c 1 2000000\n", &r);
    assert_int_equal(r.kept, 1);
    assert_int_equal(r.dropped, 9);
    reading_free(&r);
    assert_rows("sglang_perf", "{\"total_duration_ms\": null, \"steps\": []}", "refused\n", &r);
    reading_free(&r);
}

/* A part that is cut away is not time outside of the stages. */
static void test_cut_request(void **state)
{
    (void)state;
    char cut[sizeof request];
    for (size_t n = 100; n < sizeof request - 1; n++) {
        struct reading r;
        memcpy(cut, request, n);
        fixture_read_as(&fixture, "sglang_perf", cut, n, &r);
        size_t figures = 0;
        const struct ta_figure *figure = r.trace ? ta_trace_figure_rows(r.trace, &figures) : NULL;
        if (figures)
            assert_true(figure->value > 10499998 && figure->value < 10500000);
        reading_free(&r);
    }
}

/* ---- vllm-omni ---------------------------------------------------------------------------- */

static void test_requests(void **state)
{
    (void)state;
    static const char benchmark[] =
        "{\"duration\": 40.5, \"completed_requests\": 4, \"failed_requests\": 0, "
        "\"throughput_qps\": 0.125, \"latency_mean\": 9.5, \"latency_p99\": 12, "
        "\"peak_memory_mb_max\": 0, \"peak_memory_mb_mean\": 2, \"stage_durations_mean\": "
        "{\"vae.decode\": 1.5, \"stage_0_gen_ms\": 250, \"none\": null}, \"backend\": \"omni\", "
        "\"model\": \"Qwen/Qwen-Image\"}";
    struct reading r;
    assert_int_equal(sniff("vllm_omni_benchmark", benchmark), 90);
    assert_int_equal(sniff("vllm_omni_benchmark", request), 0);
    assert_rows("vllm_omni_benchmark", benchmark,
                "stage vae.decode 4 6000000000\n"
                "stage stage_0_gen 4 1000000000\n"
                "model Qwen/Qwen-Image ?\n"
                "figure duration_ns 40500000000\n"
                "figure completed_requests 4\n"
                "figure failed_requests 0\n"
                "figure throughput_qps 0.125\n"
                "figure latency_mean_ns 9500000000\n"
                "figure latency_p99_ns 12000000000\n"
                "figure peak_memory_mean_bytes 2097152\n"
                "tag backend omni\n",
                &r);
    assert_int_equal(r.dropped, 1);
    reading_free(&r);
    assert_rows("vllm_omni_benchmark",
                "{\"throughput_qps\": -1, \"latency_mean\": 1e300, \"completed_requests\": "
                "4000000000000000000, \"stage_durations_mean\": {\"a\": 1e8}}",
                "figure completed_requests 4e+18\n", &r);
    reading_free(&r);
}

/* ---- diffusers ---------------------------------------------------------------------------- */

#define HEADER                                                                                     \
    "scenario,model_cls,num_params_B,flops_G,time_plain_s,mem_plain_GB,time_compile_s,"            \
    "mem_compile_GB,fullgraph,mode\n"

static void test_configurations(void **state)
{
    (void)state;
    static const char benchmark[] =
        HEADER "flux-bf16,FluxTransformer2DModel,11.901,59532.76,0.519,22.5,0.379,23,True,default\n"
               "flux-int8,FluxTransformer2DModel,11.901,,,11.25,,,,\n"
               "empty,FluxTransformer2DModel,,,,,,,,\n"
               "huge,Other,1e300,,1e300,1e300,0.5,nan,,\n";
    struct reading r;
    assert_int_equal(sniff("diffusers_benchmark", benchmark), 90);
    assert_int_equal(sniff("diffusers_benchmark", "scenario,mode\na,b\n"), 0);
    assert_rows("diffusers_benchmark", benchmark,
                "loop flux-bf16 1 519000000\n"
                "loop flux-bf16, compiled 1 379000000\n"
                "loop huge, compiled 1 500000000\n"
                "memory flux-bf16 ? ? 24159191040 ?\n"
                "memory flux-bf16, compiled ? ? 24696061952 ?\n"
                "memory flux-int8 ? ? 12079595520 ?\n"
                "model FluxTransformer2DModel 11901000000\n"
                "model Other ?\n"
                "figure flops 5.953276e+13\n"
                "tag flux-bf16, fullgraph True\n"
                "tag flux-bf16, mode default\n",

                &r);
    assert_int_equal(r.kept, 3);
    assert_int_equal(r.dropped, 1);
    reading_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),        cmocka_unit_test(test_steps_in_a_list),
        cmocka_unit_test(test_damaged_request),
        cmocka_unit_test(test_cut_request),    cmocka_unit_test(test_requests),
        cmocka_unit_test(test_configurations),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
