/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a dump has a place in time becomes a span, and nothing else does. */
#include "ingest/dumps/dumps.h"

#include "kept_files.h"

static struct ta_builder *add(struct files *f)
{
    return add_file(f, "a", 0, NULL, TA_EXACT_FULL);
}

static void add_block(struct files *f, struct ta_builder *b, int64_t rank, int64_t number,
                      int64_t end_ns, int64_t dur_ns)
{
    const struct ta_diffusion_block row = {
        .rank = rank, .block = number, .dur_ns = dur_ns, .end_ns = end_ns};
    assert_int_equal(ta_builder_add_diffusion_block(&f->ctx, b, &row), TA_OK);
}

static void add_step(struct files *f, struct ta_builder *b, int64_t number, int64_t end_ns,
                     int64_t dur_ns)
{
    const struct ta_diffusion_step row = {
        .rank = TA_MISSING, .step = number, .dur_ns = dur_ns, .end_ns = end_ns};
    assert_int_equal(ta_builder_add_diffusion_step(&f->ctx, b, &row), TA_OK);
}

static void add_sample(struct files *f, struct ta_builder *b, int64_t time_ns)
{
    const struct ta_sample row = {.rank = TA_MISSING, .device = 0, .time_ns = time_ns};
    assert_int_equal(ta_builder_add_sample(&f->ctx, b, &row), TA_OK);
}

/* "track name start+duration; …" in the order of the trace. */
static void check(struct files *f, const char *expected, int64_t origin)
{
    struct text out = {0};
    struct ta_trace *events = NULL;
    assert_int_equal(ta_dump_events(&f->ctx, f->kept[0].trace, &events), TA_OK);
    assert_int_equal(events != NULL, *expected != '\0');
    const struct ta_spans spans = events ? ta_trace_spans(events) : (struct ta_spans){.n = 0};
    for (size_t i = 0; i < spans.n; i++) {
        const struct ta_track *track = &ta_trace_tracks(events).at[spans.track[i]];
        const struct ta_slice name = ta_trace_text(events, spans.name[i]);
        const struct ta_slice on = ta_trace_text(events, track->thread_name);
        text_add(&out, "%.*s %.*s %lld+%lld; ", (int)on.len, on.ptr, (int)name.len, name.ptr,
                 (long long)spans.ts[i], (long long)spans.dur[i]);
    }
    assert_string_equal(out.at ? out.at : "", expected);
    if (events) {
        assert_int_equal(ta_trace_origin(events), origin);
        assert_int_equal(ta_trace_base_ns(events), 0);
    }
    text_free(&out);
    ta_trace_free(events);
    end(f);
}

static void test_sessions_blocks_and_steps(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *b = add(&f);
    const struct ta_session session = {.rank = TA_MISSING,
                                       .id = ta_builder_string(b, TA_LIT("run")),
                                       .start_ns = 1000,
                                       .end_ns = 9000,
                                       .dur_ns = 8000};
    assert_int_equal(ta_builder_add_session(&f.ctx, b, &session), TA_OK);
    add_block(&f, b, TA_MISSING, 4, 5000, 3000);
    add_block(&f, b, TA_MISSING, TA_MISSING, 8000, 2000);
    add_step(&f, b, 0, 3000, 1000);
    check(&f,
          "Sessions run 1000+8000; Blocks block 4 2000+3000; Blocks block 6000+2000; "
          "Denoising steps step 0 2000+1000; ",
          1000);
}

/* Without an end, without a duration, of another rank, and before the clock began. */
static void test_leaves_out_what_has_no_place(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *b = add(&f);
    add_block(&f, b, TA_MISSING, 0, TA_MISSING, 10);
    add_block(&f, b, TA_MISSING, 1, 100, TA_MISSING);
    add_block(&f, b, 7, 2, 100, 10);
    add_block(&f, b, TA_MISSING, 3, 100, 200);
    add_block(&f, b, TA_MISSING, 4, 100, -5);
    check(&f, "", 0);
}

static void test_begins_with_the_first_sample(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *b = add(&f);
    add_step(&f, b, 1, 3000, 1000);
    add_sample(&f, b, 2500);
    add_sample(&f, b, 1500);
    check(&f, "Denoising steps step 1 2000+1000; ", 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sessions_blocks_and_steps),
        cmocka_unit_test(test_leaves_out_what_has_no_place),
        cmocka_unit_test(test_begins_with_the_first_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
