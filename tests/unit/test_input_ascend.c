/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of an Ascend profiler folder: kernels, times per step, sums per operator, the note. */
#include "dump_text.h"

#include "model/trace.h"

static const char steps[] =
    "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
    "Bubble,Preparing\r\n"
    "0,0,2411.692,295.955,0.0,295.955,58.353,2766.0,0.0,39.478\r\n"
    "0,,1.5,,2,3,4,,,1\r\n"
    "0,2,N/A,,,,,,,\r\n";

static void times_per_step(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "ascend", steps,
                "stage [device/computing] ? 1 2411692 2411692 0\n"
                "stage [device/communication_not_overlapped] ? 1 295955 295955 0\n"
                "stage [device/free] ? 1 58353 58353 0\n"
                "stage [device/total] ? 1 2766000 2766000 0\n"
                "stage [device/computing] ? 1 1500 1500 ?\n"
                "stage [device/free] ? 1 4000 4000 ?\n"
                "figure [communication_ns] [device steps] 298955 ns\n"
                "figure [communication_overlapped_ns] [device steps] 2000 ns\n"
                "figure [bubble_ns] [device steps] 0 ns\n"
                "figure [preparing_ns] [device steps] 40478 ns\n",
                &r);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 1);
    reading_free(&r);
}

static const char sums[] = "OP Type,Core Type,Count,Total Time(us),Ratio(%)\r\n"
                           "MatMulV3,AI_CORE,18,4080.373,50.86\r\n"
                           "hcom_allReduce_,HCCL,many,893.1,1\r\n"
                           ",HCCL,1,1,1\r\n";

static void sums_per_operator(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "ascend", sums,
                "operator [MatMulV3] ? 18 ? ? 4080373 4080373 ? ?\n"
                "operator [hcom_allReduce_] ? ? ? ? 893100 893100 ? ?\n",
                &r);
    assert_int_equal(r.dropped, 1);
    reading_free(&r);
}

static const char kernels[] =
    "Device_id,Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes\r\n"
    "1,0,matmul,MatMulV3,AI_CORE,1786700000000028.250\t,188.29,\"\"\"1,2\"\"\"\r\n"
    "1,0,hcom_allReduce__231_0,hcom_,HCCL,1786700000000001.500\t,21.338,N/A\r\n"
    "1,0,late,x,AI_CORE,99999999999999999999999,1,\r\n"
    "1,0,unknown,x,AI_CORE,N/A,1,\r\n";

/* The start is text followed by a tab; kernels are activities of their device. */
static void kernels_are_device_activities(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_as(&fixture, "ascend", kernels, strlen(kernels), &r);
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 2);
    const struct ta_spans spans = ta_trace_spans(r.trace);
    assert_int_equal(spans.n, 2);
    const struct ta_activities activities = ta_trace_activities(r.trace);
    assert_int_equal(activities.n, 2);
    assert_int_equal(activities.at[0].device, 1);
    const ta_row first = activities.at[0].span, second = activities.at[1].span;
    assert_int_equal(spans.ts[first] + spans.ts[second], INT64_C(2 * 1786700000000001500) + 26750);
    assert_int_equal(spans.dur[first] + spans.dur[second], 188290 + 21338);
    reading_free(&r);
}

static const char note[] = "{\"config\": {\"common_config\": {\"activities\": [\"CPU\", \"NPU\"]}, "
                           "\"experimental_config\": {\"_profiler_level\": \"Level0\"}}, "
                           "\"rank_id\": 5, \"start_info\": {\"freq\": 100.0}}";

static void the_note_knows_the_rank(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "ascend", note,
                "tag [activities] [[\"CPU\",\"NPU\"]]\ntag [profiler_level] [Level0]\n", &r);
    assert_int_equal(r.rank, 5);
    reading_free(&r);
    assert_dump(&fixture, "ascend", "{\"rank_id\": -1, \"start_info\": 3}", "", &r);
    assert_int_equal(r.rank, TA_MISSING);
    reading_free(&r);
}

static void files_are_recognized(void **state)
{
    (void)state;
    const char *const texts[] = {steps, sums, kernels, note};
    for (size_t i = 0; i < 4; i++) {
        assert_in_range(fixture_sniff(&fixture, "ascend", texts[i], strlen(texts[i])), 91, 94);
        read_all_beginnings(&fixture, "ascend", texts[i]);
    }
    assert_int_equal(fixture_sniff(&fixture, "ascend", "Step,Free\n", 10), 0);
    assert_int_equal(fixture_sniff(&fixture, "ascend", "{\"rank_id\": 1}", 14), 0);
    assert_refused(&fixture, "ascend", "OP Type,Count,Total Time(us)\na,1,x\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_per_step),
        cmocka_unit_test(sums_per_operator),
        cmocka_unit_test(kernels_are_device_activities),
        cmocka_unit_test(the_note_knows_the_rank),
        cmocka_unit_test(files_are_recognized),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
