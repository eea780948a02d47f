/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed-up and efficiency of world sizes: what counts together, what is compared, and where nothing
 * can be said. */
#include "trace_fixture.h"

#include "report/report.h"

#include <stdio.h>

enum { SESSIONS_MOST = 8 };

/* A session: its tags, and how long a block of three frames takes. */
struct session {
    const char *tags;
    int block_ms, frames, steps;
};

static void write_session(struct text *json, const struct session *s)
{
    text_add(json, "{\"session_info\":{\"id\":\"a\",\"tags\":{%s}},\"events\":[", s->tags);
    for (int i = 0; i < s->steps; i++)
        text_add(json,
                 "{\"name\":\"diffusion_step\",\"timestamp\":1.0,\"data\":{\"step\":%d,"
                 "\"block_size\":%d,\"computation_time_ms\":5.0}},",
                 i, s->frames);
    text_add(json,
             "{\"name\":\"block_computation\",\"timestamp\":2.0,\"data\":{\"block_index\":0,"
             "\"block_size\":%d,\"computation_time_ms\":%d}}]}",
             s->frames, s->block_ms);
}

/* The rows as "world/base: speed-up, efficiency", in their order. */
static void assert_scaling(const struct session *sessions, size_t n, const char *wanted)
{
    struct fixture f;
    struct reading readings[SESSIONS_MOST] = {0};
    char rows[512] = "";
    size_t length = 0;
    fixture_open(&f);
    for (size_t i = 0; i < n; i++) {
        struct text json = {0};
        write_session(&json, &sessions[i]);
        fixture_read_as(&f, "inferix_report", json.at, json.n, &readings[i]);
        assert_int_equal(readings[i].status, TA_OK);
        text_free(&json);
    }
    struct ta_report *report = fixture_report(&f, readings, n);
    const struct ta_table *table = ta_report_table(report, "scaling.by_world_size");
    for (size_t row = 0; table && row < table->n_rows; row++) {
        double values[4];
        static const char *const keys[] = {"world_size", "base_world_size", "speedup",
                                           "efficiency"};
        for (size_t i = 0; i < 4; i++)
            values[i] =
                ta_cell_number(ta_table_cell(table, row, ta_table_column(table, keys[i])), 0);
        length += (size_t)snprintf(rows + length, sizeof rows - length, "%g/%g: %g, %g; ",
                                   values[0], values[1], values[2], values[3]);
    }
    assert_string_equal(rows, wanted);
    ta_report_free(report);
    for (size_t i = 0; i < n; i++)
        reading_free(&readings[i]);
    fixture_close(&f);
}

#define TAGS(rank, world, ulysses, ring)                                                           \
    "\"rank\":" #rank ",\"world_size\":" #world ",\"ulysses_size\":" #ulysses                      \
    ",\"ring_size\":" #ring ",\"model\":\"m\""

static void test_ranks_of_one_block_count_once(void **state)
{
    (void)state;
    const struct session sessions[] = {{TAGS(0, 1, 1, 1), 300, 3, 2},
                                       {TAGS(0, 4, 2, 2), 100, 3, 2},
                                       {TAGS(1, 4, 2, 2), 100, 3, 2}};
    assert_scaling(sessions, 3, "1/0: 0, 0; 4/1: 3, 0.75; ");
}

static void test_ranks_of_their_own_blocks_add_up(void **state)
{
    (void)state;
    const struct session sessions[] = {{TAGS(0, 1, 1, 1), 300, 3, 2},
                                       {TAGS(0, 2, 1, 1), 300, 3, 2},
                                       {TAGS(1, 2, 1, 1), 300, 3, 2}};
    assert_scaling(sessions, 3, "1/0: 0, 0; 2/1: 2, 1; ");
}

/* Nothing to compare with, other work, or not known how the ranks share it. */
static void test_silent_without_a_comparison(void **state)
{
    (void)state;
    const struct session alone[] = {{TAGS(0, 2, 2, 1), 100, 3, 2}, {TAGS(1, 2, 2, 1), 100, 3, 2}};
    assert_scaling(alone, 2, "");
    const struct session unlike[] = {{TAGS(0, 1, 1, 1), 300, 3, 2}, {TAGS(0, 2, 2, 1), 90, 3, 4}};
    assert_scaling(unlike, 2, "1/0: 0, 0; 2/0: 0, 0; ");
    const struct session smaller[] = {{TAGS(0, 1, 1, 1), 300, 3, 2}, {TAGS(0, 2, 2, 1), 90, 1, 2}};
    assert_scaling(smaller, 2, "1/0: 0, 0; 2/0: 0, 0; ");
    const struct session unknown[] = {{TAGS(0, 1, 1, 1), 300, 3, 2},
                                      {"\"rank\":0,\"world_size\":2,\"model\":\"m\"", 90, 3, 2},
                                      {TAGS(0, 4, 3, 1), 90, 3, 2},
                                      {"\"world_size\":\"x\"", 90, 3, 2},
                                      {"\"world_size\":null", 90, 3, 2}};
    assert_scaling(unknown, 5, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_of_one_block_count_once),
        cmocka_unit_test(test_ranks_of_their_own_blocks_add_up),
        cmocka_unit_test(test_silent_without_a_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
