/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables made from the rows of dumps: figures by their definitions, what is missing stays missing,
 * ranks, several files of one rank. */
#include "model/allocator.h"
#include "report/tables.h"
#include "traceanalyze/dump.h"

#include "model/dump.h"
#include "normalize/normalize.h"
#include "report/report.h"
#include "trace_fixture.h"
#include "traceanalyze/analysis.h"

#include <math.h>

enum { FILES_MOST = 4 };

#define MS INT64_C(1000000)
#define MIB (INT64_C(1) << 20)
#define NONE TA_MISSING

/* ---- dumps in few words -------------------------------------------------------------------- */

/* Files that are filled by hand, and the report on them. */
struct run {
    struct ta_builder builders[FILES_MOST];
    struct ta_quality quality[FILES_MOST];
    size_t n;
    struct ta_report *report;
};

static struct ta_builder *open_file(struct run *run)
{
    assert_true(run->n < FILES_MOST);
    struct ta_builder *builder = &run->builders[run->n];
    ta_quality_init(&run->quality[run->n]);
    assert_true(ta_builder_init(builder, &run->quality[run->n], 0, fixture.plan.keys,
                                fixture.plan.n_keys, 1000));
    run->n++;
    return builder;
}

static ta_str str(struct ta_builder *b, const char *text)
{
    return text ? ta_builder_string(b, ta_slice_of(text)) : TA_STR_ABSENT;
}

#define ADD(builder, kind, row)                                                                    \
    do {                                                                                           \
        const __auto_type added = (row);                                                           \
        assert_int_equal(ta_builder_add_##kind(&fixture.ctx, (builder), &added), TA_OK);           \
    } while (0)

/* Ranks are the numbers of the files. */
static void analyze(struct run *run)
{
    struct reading readings[FILES_MOST] = {0};
    for (size_t i = 0; i < run->n; i++) {
        assert_int_equal(ta_normalize(&fixture.ctx, &run->builders[i], &readings[i].trace), TA_OK);
        readings[i].trace->view.file.path = "folder/name.pickle";
        readings[i].trace->view.file.format = "dump";
    }
    run->report = fixture_report(&fixture, readings, run->n);
    for (size_t i = 0; i < run->n; i++) {
        ta_trace_free(readings[i].trace);
        ta_builder_free(&run->builders[i]);
        ta_quality_free(&run->quality[i]);
    }
}

static void close_run(struct run *run)
{
    ta_report_free(run->report);
}

/* ---- tables -------------------------------------------------------------------------------- */

static const struct ta_table *table_of(const struct run *run, const char *id)
{
    const struct ta_table *table = ta_report_table(run->report, id);
    if (!table)
        fail_msg("no table %s", id);
    return table;
}

static const struct ta_cell *cell(const struct ta_table *table, size_t row, const char *column)
{
    const size_t at = ta_table_column(table, column);
    if (at == SIZE_MAX || row >= table->n_rows)
        fail_msg("%s has no row %zu or no column %s", table->id, row, column);
    return ta_table_cell(table, row, at);
}

/* The first row whose text column reads so. */
static size_t row_of(const struct ta_table *table, const char *column, const char *text)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ta_cell *found = cell(table, i, column);
        if (found->kind == TA_CELL_TEXT && ta_slice_equal(found->text, ta_slice_of(text)))
            return i;
    }
    fail_msg("%s has no %s %s", table->id, column, text);
    return 0;
}

static void assert_cell(const struct ta_table *table, size_t row, const char *column,
                        double expected)
{
    const double value = ta_cell_number(cell(table, row, column), NAN);
    if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%s, row %zu, %s: %.17g instead of %.17g", table->id, row, column, value,
                 expected);
}

static void assert_missing(const struct ta_table *table, size_t row, const char *column)
{
    if (cell(table, row, column)->kind != TA_CELL_NULL)
        fail_msg("%s, row %zu: %s is not null", table->id, row, column);
}

static void assert_text(const struct ta_table *table, size_t row, const char *column,
                        const char *expected)
{
    const struct ta_cell *found = cell(table, row, column);
    if (found->kind != TA_CELL_TEXT || !ta_slice_equal(found->text, ta_slice_of(expected)))
        fail_msg("%s, row %zu: %s is not \"%s\"", table->id, row, column, expected);
}

/* ---- stages -------------------------------------------------------------------------------- */

static struct ta_timed_stage sums(struct ta_builder *b, const char *name, int64_t calls,
                                  int64_t total)
{
    return (struct ta_timed_stage){.rank = NONE,
                                   .name = str(b, name),
                                   .calls = calls,
                                   .total_ns = total,
                                   .min_ns = total / calls,
                                   .max_ns = total / calls + 2,
                                   .last_ns = NONE,
                                   .median_ns = NONE,
                                   .device_ns = NONE,
                                   .step = NONE};
}

static struct ta_timed_stage call(struct ta_builder *b, const char *name, int64_t dur)
{
    struct ta_timed_stage stage = sums(b, name, 1, dur);
    stage.min_ns = stage.max_ns = dur;
    stage.is_call = true;
    return stage;
}

static struct ta_session session(struct ta_builder *b, int64_t start, int64_t dur)
{
    return (struct ta_session){.rank = NONE,
                               .id = str(b, "s"),
                               .start_ns = start,
                               .end_ns = start == NONE ? NONE : start + dur,
                               .dur_ns = dur};
}

static void test_stages_keep_sums_and_calls_apart(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, stage, sums(b, "load", 2, 7));
    ADD(b, stage, sums(b, "backwards", 1, -5 * MS)); /* the clock was set */
    ADD(b, stage, sums(b, "mixed", 1, 2 * MS));      /* sums and a call: not every call is known */
    ADD(b, stage, call(b, "mixed", MS));
    for (int64_t i = 1; i <= 4; i++)
        ADD(b, stage, call(b, "step", i * MS));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "stages.by_name");
    assert_int_equal(t->n_rows, 4);
    const size_t load = row_of(t, "stage", "load"), step = row_of(t, "stage", "step");
    assert_cell(t, load, "calls", 2);
    assert_cell(t, load, "total_ns", 7);
    assert_cell(t, load, "mean_ns", 3.5);
    assert_cell(t, load, "min_ns", 3);
    assert_cell(t, load, "max_ns", 5);
    assert_missing(t, load, "p50_ns");
    assert_missing(t, load, "device_ns");
    assert_cell(t, row_of(t, "stage", "mixed"), "calls", 2);
    assert_missing(t, row_of(t, "stage", "mixed"), "p50_ns");
    assert_cell(t, step, "calls", 4);
    assert_cell(t, step, "total_ns", 10.0 * MS);
    assert_cell(t, step, "p50_ns", 2.5 * MS);
    assert_cell(t, step, "p95_ns", 3.85 * MS);
    assert_cell(t, row_of(t, "stage", "backwards"), "total_ns", -5.0 * MS);
    assert_missing(t, row_of(t, "stage", "backwards"), "share");
    close_run(&run);
}

/* run_inference holds save_video: it has no share; that of the other is of the session. */
static void test_a_parent_has_no_share(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, session, session(b, 0, 1000 * MS));
    ADD(b, stage, sums(b, "save_video", 1, 50 * MS));
    ADD(b, stage, sums(b, "run_inference", 1, 900 * MS));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "stages.by_name");
    assert_missing(t, row_of(t, "stage", "run_inference"), "share");
    assert_cell(t, row_of(t, "stage", "save_video"), "share", 0.05);
    assert_text(t, row_of(t, "stage", "save_video"), "share_of", "session");
    close_run(&run);
}

/* No name says so, but 900 + 300 ms do not fit into 1 s, and the first is the longer. */
static void test_a_parent_is_proven_by_the_figures(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, session, session(b, 0, 1000 * MS));
    ADD(b, stage, sums(b, "generate", 1, 900 * MS));
    ADD(b, stage, sums(b, "decode", 1, 200 * MS));
    ADD(b, stage, sums(b, "encode", 1, 100 * MS));
    struct ta_builder *other = open_file(&run); /* here they do fit */
    ADD(other, session, session(other, 0, 2000 * MS));
    ADD(other, stage, sums(other, "generate", 1, 900 * MS));
    ADD(other, stage, sums(other, "decode", 1, 200 * MS));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "stages.by_name");
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct ta_cell *name = cell(t, i, "stage");
        const bool first = cell(t, i, "rank")->i == 0;
        if (!ta_slice_equal(name->text, TA_LIT("generate")))
            continue;
        if (first)
            assert_missing(t, i, "share");
        else
            assert_cell(t, i, "share", 0.45);
    }
    assert_cell(t, row_of(t, "stage", "encode"), "share", 0.1);
    close_run(&run);
}

/* Stages of a scope are shares of its total, whatever else the rank ran. */
static void test_scopes_have_their_own_total(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, session, session(b, 0, 5000 * MS));
    for (int i = 0; i < 2; i++) {
        struct ta_timed_stage stage = call(b, "engine/run", 30 * MS);
        stage.rank = TA_NO_RANK;
        ADD(b, stage, stage);
        stage = call(b, "engine/total", 40 * MS);
        stage.rank = TA_NO_RANK;
        ADD(b, stage, stage);
    }
    struct ta_timed_stage named = call(b, "block/forward", 10 * MS);
    named.rank = 3;
    ADD(b, stage, named);
    analyze(&run);
    const struct ta_table *t = table_of(&run, "stages.by_name");
    const size_t engine = row_of(t, "stage", "engine/run");
    assert_missing(t, engine, "rank");
    assert_cell(t, engine, "share", 0.75);
    assert_text(t, engine, "share_of", "scope");
    assert_missing(t, row_of(t, "stage", "engine/total"), "share");
    assert_cell(t, row_of(t, "stage", "block/forward"), "rank", 3);
    assert_text(t, row_of(t, "stage", "block/forward"), "share_of", "sum");
    const struct ta_table *loops = table_of(&run, "iterations.by_name");
    assert_text(loops, 0, "loop", "engine");
    assert_cell(loops, 0, "per_s", 25);
    close_run(&run);
}

/* What runs inside model_runner_run is a part of it: all shares add up to that of the engine. */
static void test_a_runner_encloses_a_scope(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    static const struct {
        const char *name;
        int64_t rank, ns;
    } rows[] = {{"engine/schedule", TA_NO_RANK, 10}, {"engine/model_runner_run", TA_NO_RANK, 80},
                {"engine/total", TA_NO_RANK, 100},   {"multi_block/forward", 0, 60},
                {"multi_block/sampler", 0, 15},      {"multi_block/total", 0, 75}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ta_timed_stage stage = call(b, rows[i].name, rows[i].ns * MS);
        stage.rank = rows[i].rank;
        ADD(b, stage, stage);
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "stages.by_name");
    const size_t forward = row_of(t, "stage", "multi_block/forward");
    const size_t runner = row_of(t, "stage", "engine/model_runner_run");
    assert_missing(t, runner, "share");
    assert_text(t, runner, "inside", "engine/total");
    assert_cell(t, forward, "share", 0.8 * 0.8);
    assert_text(t, forward, "share_of", "outer scope");
    assert_text(t, forward, "inside", "multi_block/total");
    assert_text(t, row_of(t, "stage", "multi_block/total"), "inside", "engine/model_runner_run");
    assert_cell(t, row_of(t, "stage", "engine/schedule"), "share", 0.1);
    t = table_of(&run, "stages.over_ranks");
    assert_text(t, row_of(t, "stage", "multi_block/forward"), "source", "multi_block");
    close_run(&run);
}

/* transformer_forward runs inside the chunks and is counted alone; the chunks are one family. */
static void test_chunks_enclose_and_are_one(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, session, session(b, 0, 1000 * MS));
    ADD(b, stage, sums(b, "transformer_forward", 20, 300 * MS));
    ADD(b, stage, sums(b, "sampling_chunk_0", 1, 200 * MS));
    ADD(b, stage, sums(b, "sampling_chunk_1", 1, 200 * MS));
    ADD(b, stage, sums(b, "vae_decode", 2, 500 * MS)); /* more than the chunks: not inside them */
    ADD(b, stage, sums(b, "vae_decode_full_chunk_1", 1, 50 * MS));
    ADD(b, stage, sums(b, "text_encoder_1", 1, 10 * MS));
    ADD(b, stage, sums(b, "text_encoder_2", 1, 20 * MS));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "stages.by_name");
    assert_missing(t, row_of(t, "stage", "sampling_chunk_0"), "share");
    assert_cell(t, row_of(t, "stage", "transformer_forward"), "share", 0.3);
    assert_text(t, row_of(t, "stage", "transformer_forward"), "inside", "sampling_chunk_N");
    assert_cell(t, row_of(t, "stage", "vae_decode"), "share", 0.5);
    assert_cell(t, row_of(t, "stage", "vae_decode_full_chunk_1"), "share", 0.05);
    t = table_of(&run, "stages.over_ranks");
    const size_t chunks = row_of(t, "stage", "sampling_chunk_N");
    assert_cell(t, chunks, "members", 2);
    assert_cell(t, chunks, "calls", 2);
    assert_cell(t, chunks, "mean_total_ns", 400.0 * MS);
    assert_cell(t, chunks, "share", 0.1); /* what the transformer leaves */
    assert_cell(t, row_of(t, "stage", "vae_decode_full_chunk_1"), "members", 1);
    assert_cell(t, row_of(t, "stage", "text_encoder_2"), "members", 1);
    close_run(&run);
}

/* Three ranks alike and one behind them, in every figure. */
static void test_the_late_rank(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    static const int64_t decode[] = {100, 102, 150, 101};
    for (int i = 0; i < 4; i++) {
        struct ta_builder *b = open_file(&run);
        ADD(b, stage, sums(b, "decode", 1, decode[i] * MS));
        if (i == 1)
            ADD(b, stage, sums(b, "save", 1, 7 * MS)); /* on one rank only */
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "ranks.late");
    assert_int_equal(t->n_rows, 1);
    assert_text(t, 0, "what", "decode");
    assert_cell(t, 0, "ranks", 4);
    assert_cell(t, 0, "rank", 2);
    assert_cell(t, 0, "median_ns", 101.0 * MS);
    assert_cell(t, 0, "excess_ns", 49.0 * MS);
    assert_cell(t, 0, "excess", 49.0 / 101);
    assert_cell(t, 0, "deviations", 49 / 1.4826);
    close_run(&run);
}

/* ---- requests ------------------------------------------------------------------------------ */

/* Two requests: 1 token after 30 ms and 8 more in 80 ms and 4 passes; 3 tokens in the first pass
 * that decodes.  Reading the prompt is a pass without tokens, and does not count in TPF. */
static void test_requests(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    const struct ta_request requests[] = {{.rank = NONE,
                                           .id = str(b, "a"),
                                           .steps = 6,
                                           .decode_steps = 5,
                                           .tokens = 9,
                                           .decode_tokens = 9,
                                           .first_token_ns = 30 * MS,
                                           .dur_ns = 110 * MS,
                                           .decode_ns = 100 * MS},
                                          {.rank = NONE,
                                           .id = str(b, "b"),
                                           .steps = 2,
                                           .decode_steps = 1,
                                           .tokens = 3,
                                           .decode_tokens = 3,
                                           .first_token_ns = 50 * MS,
                                           .dur_ns = 50 * MS,
                                           .decode_ns = 20 * MS}};
    for (size_t i = 0; i < 2; i++)
        ADD(b, request, requests[i]);
    analyze(&run);
    const struct ta_table *t = table_of(&run, "requests.by_rank");
    assert_cell(t, 0, "tokens", 12);
    assert_cell(t, 0, "ttft_mean_ns", 40.0 * MS);
    assert_cell(t, 0, "tpot_mean_ns", 5.0 * MS); /* 80 ms over 8 tokens, and 0 */
    assert_cell(t, 0, "tpf", 12.0 / 6);
    assert_cell(t, 0, "decode_tokens_per_s", 100);
    close_run(&run);
}

/* ---- diffusion and throughput -------------------------------------------------------------- */

static struct ta_diffusion_step step(int64_t number, int64_t dur)
{
    return (struct ta_diffusion_step){.rank = NONE,
                                      .step = number,
                                      .timestep = number == 1 ? (double)NAN : 0.5,
                                      .block_size = 3,
                                      .dur_ns = dur,
                                      .guidance_scale = -0.0,
                                      .end_ns = NONE};
}

static struct ta_diffusion_block block(int64_t number, int64_t frames, int64_t dur, int64_t end)
{
    return (struct ta_diffusion_block){.rank = NONE,
                                       .block = number,
                                       .frames = frames,
                                       .dur_ns = dur,
                                       .memory_bytes = NONE,
                                       .end_ns = end};
}

static struct ta_figure figure(struct ta_builder *b, const char *group, const char *name,
                               double value, enum ta_unit unit)
{
    return (struct ta_figure){.rank = NONE,
                              .name = str(b, name),
                              .group = str(b, group),
                              .value = value,
                              .unit = (int)unit};
}

static size_t value_row(const struct ta_table *t, const char *metric, const char *basis)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (ta_slice_equal(cell(t, i, "metric")->text, ta_slice_of(metric)) &&
            ta_slice_equal(cell(t, i, "basis")->text, ta_slice_of(basis)))
            return i;
    return SIZE_MAX;
}

/* A slash in the only name of its kind is part of the name. */
static void test_a_lone_slash_is_no_scope(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, session, session(b, 0, 1000 * MS));
    ADD(b, stage, call(b, "loading/caching", 100 * MS));
    ADD(b, stage, call(b, "decode", 300 * MS));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "stages.by_name");
    const size_t lone = row_of(t, "stage", "loading/caching");
    assert_cell(t, lone, "share", 0.1);
    assert_text(t, lone, "share_of", "session");
    close_run(&run);
}

static void add_tag(struct ta_builder *b, const char *key, const char *value)
{
    const struct ta_tag tag = {.rank = NONE, .key = str(b, key), .value = str(b, value)};
    ADD(b, tag, tag);
}

/* The rate of the run, at the given size of ulysses_size: 4 ranks, 3 frames in 300 ms each, of
 * which rank 3 needs 600. */
static void check_run(const char *size, double fps, double wall)
{
    struct run run = {.n = 0};
    for (int i = 0; i < 4; i++) {
        struct ta_builder *b = open_file(&run);
        ADD(b, session, session(b, 0, (i == 3 ? 1200 : 600) * MS));
        ADD(b, diffusion_block, block(0, 3, (i == 3 ? 600 : 300) * MS, NONE));
        if (size)
            add_tag(b, "ulysses_size", size);
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "throughput.values");
    size_t rows = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (cell(t, i, "rank")->kind != TA_CELL_NULL)
            continue;
        rows++;
        if (ta_slice_equal(cell(t, i, "metric")->text, TA_LIT("bps")))
            continue;
        const bool blocks = ta_slice_equal(cell(t, i, "basis")->text, TA_LIT("blocks"));
        assert_cell(t, i, "value", blocks ? fps : wall);
        assert_int_equal(cell(t, i, "note")->kind, TA_CELL_TEXT);
    }
    assert_int_equal(rows, 4);
    close_run(&run);
}

static void test_throughput_of_the_run(void **state)
{
    (void)state;
    check_run(NULL, 10 + 10 + 10 + 5, 12 / 1.2);
    check_run("1", 10 + 10 + 10 + 5, 12 / 1.2);
    check_run("2", 10 + 5, 6 / 1.2);
    check_run("4", 5, 3 / 1.2);
    check_run("0", 35, 12 / 1.2); /* no number of ranks */
}

static void test_throughput_by_basis(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, session, session(b, 5000 * MS, 1000 * MS));
    for (int64_t i = 0; i < 8; i++)
        ADD(b, diffusion_step, step(i % 4, 50 * MS));
    ADD(b, diffusion_block, block(0, 3, 300 * MS, 5350 * MS));
    ADD(b, diffusion_block, block(1, 3, 200 * MS, 5550 * MS));
    ADD(b, figure, figure(b, "block", "fps", 12, TA_UNIT_PER_S));
    ADD(b, figure, figure(b, "diffusion", "fps", 60, TA_UNIT_PER_S));
    ADD(b, figure, figure(b, "diffusion", "total_steps", 8, TA_UNIT_COUNT));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "throughput.values");
    assert_cell(t, value_row(t, "fps", "blocks"), "value", 12);
    assert_cell(t, value_row(t, "bps", "blocks"), "value", 4);
    assert_cell(t, value_row(t, "fps", "steady"), "value", 15);
    assert_cell(t, value_row(t, "fps", "wall"), "value", 6);
    assert_cell(t, value_row(t, "steps_per_s", "steps"), "value", 20);
    assert_cell(t, value_row(t, "first_block_ns", "wall"), "value", 350.0 * MS);
    assert_text(t, value_row(t, "first_block_ns", "wall"), "unit", "ns");
    const size_t reported = value_row(t, "fps", "as_reported");
    assert_cell(t, reported, "value", 60);
    assert_text(t, reported, "note", "counts frames once per step: ×5");
    assert_missing(t, value_row(t, "fps", "as_reported (block)"), "note");
    assert_int_equal(value_row(t, "total_steps", "as_reported"), SIZE_MAX);
    const struct ta_table *ranks = table_of(&run, "diffusion.by_rank");
    assert_cell(ranks, 0, "passes", 2);
    assert_cell(ranks, 0, "steps_per_pass", 4);
    assert_cell(ranks, 0, "frames", 6);
    assert_cell(ranks, 0, "block_mean_ns", 250.0 * MS);
    const struct ta_table *steps = table_of(&run, "diffusion.steps");
    assert_cell(steps, 5, "index", 5);
    assert_cell(steps, 5, "step", 1);
    assert_missing(steps, 5, "timestep");
    assert_cell(steps, 5, "guidance_scale", 0);
    assert_missing(table_of(&run, "diffusion.blocks"), 0, "memory_bytes");
    static const char line[] =
        "The video is made at 15 frames/s, below the 16 frames/s of real time.";
    assert_int_equal(strncmp(ta_report_verdict(run.report)->headline, line, sizeof line - 1), 0);
    close_run(&run);
}

/* Ten blocks of 100 ms in a session of 1.7 s, and who holds them. */
static void test_denoising_is_a_stage(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t ms;
        bool is_there;      /* a stage made of the blocks */
        const char *inside; /* the recorded stage around it */
        double share;       /* of the recorded stage; NAN: none */
    } cases[] = {
        {"checkpoint_loading", 500, true, NULL, 500.0 / 1700},
        {"checkpoint_loading", 1100, true, NULL, 1100.0 / 1700}, /* begun before the session */
        {"diffusion_sampling", 1020, false, NULL, 1020.0 / 1700},
        {"denoising", 300, true, NULL, 300.0 / 1700}, /* too short for the blocks */
        {"generate_video", 1200, true, "generate_video", NAN},
        {"run_inference", 1600, true, "run_inference", NAN},
        {"work", 1200, true, "work", NAN}, /* one after the other they would not fit */
        {"work", 400, true, NULL, 400.0 / 1700},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct run run = {.n = 0};
        struct ta_builder *b = open_file(&run);
        print_message("%s %d\n", cases[c].name, (int)cases[c].ms);
        ADD(b, session, session(b, 0, 1700 * MS));
        ADD(b, stage, sums(b, cases[c].name, 1, cases[c].ms * MS));
        for (int i = 0; i < 10; i++)
            ADD(b, diffusion_block, block(i, 3, 100 * MS, NONE));
        analyze(&run);
        const struct ta_table *t = table_of(&run, "stages.by_name");
        assert_int_equal(t->n_rows, 1);
        if (isnan(cases[c].share))
            assert_missing(t, 0, "share");
        else
            assert_cell(t, 0, "share", cases[c].share);
        t = ta_report_table(run.report, "stages.derived");
        assert_int_equal(t && t->n_rows, cases[c].is_there);
        if (cases[c].is_there) {
            assert_cell(t, 0, "share", 1000.0 / 1700);
            assert_cell(t, 0, "calls", 10);
            assert_text(t, 0, "made_of", "blocks");
            if (cases[c].inside)
                assert_text(t, 0, "inside", cases[c].inside);
            else
                assert_missing(t, 0, "inside");
        }
        close_run(&run);
    }
}

/* What lasts longer than the session, or is cut off, is no stage of it; and without a session and
 * other stages it would be all of nothing. */
static void test_denoising_is_no_stage(void **state)
{
    (void)state;
    enum { LONG, CUT, ALONE, CASES };
    for (int c = 0; c < CASES; c++) {
        struct run run = {.n = 0};
        struct ta_builder *b = open_file(&run);
        struct ta_session row = session(b, 1000 * MS, c == LONG ? 90 * MS : 500 * MS);
        row.is_cut = c == CUT;
        if (c != ALONE)
            ADD(b, session, row);
        ADD(b, diffusion_block, block(0, 3, 100 * MS, 1300 * MS));
        analyze(&run);
        assert_null(ta_report_table(run.report, "stages.derived"));
        const struct ta_table *t = table_of(&run, "throughput.values");
        assert_int_equal(value_row(t, "fps", "wall") == SIZE_MAX, c != LONG);
        assert_int_equal(value_row(t, "fps", "until_cut") != SIZE_MAX, c == CUT);
        if (c == CUT)
            assert_cell(t, value_row(t, "fps", "until_cut"), "value", 10);
        close_run(&run);
    }
}

/* Steps of a pass, from the numbers of their records. */
static void test_steps_of_a_pass(void **state)
{
    (void)state;
    enum { RECORDS = 12 };
    static const double no_timestep[RECORDS] = {NAN};
    static const double pairs[RECORDS] = {1, 1, 0.5, 0.5, 0, 0, 1, 1, 0.5, 0.5, 0, 0};
    static const struct {
        const char *what;
        int64_t numbers[RECORDS];
        const double *timesteps;
        int blocks;
        int steps, passes, per_pass, records;
    } cases[] = {
        {"up", {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, no_timestep, 2, 12, 2, 6, 1},
        {"down", {5, 4, 3, 2, 1, 0, 5, 4, 3, 2, 1, 0}, no_timestep, 2, 12, 2, 6, 1},
        {"timesteps down",
         {999, 749, 499, 249, 999, 749, 499, 249, 999, 749, 499, 249},
         no_timestep,
         3,
         12,
         3,
         4,
         1},
        {"pairs up", {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}, no_timestep, 2, 6, 2, 3, 2},
        {"pairs down", {2, 2, 1, 1, 0, 0, 2, 2, 1, 1, 0, 0}, no_timestep, 2, 6, 2, 3, 2},
        {"guidance in some steps",
         {0, 0, 1, 1, 2, 3, 0, 0, 1, 1, 2, 3},
         no_timestep,
         2,
         8,
         2,
         4,
         2},
        {"calls are counted", {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, pairs, 2, 6, 2, 3, 2},
        {"one step", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, no_timestep, 12, 12, 12, 1, 1},
        {"one step of two calls", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, pairs, 6, 6, 6, 1, 2},
        {"one step, then more", {0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2}, no_timestep, 0, 12, 4, 4, 1},
        {"two passes of two", {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, no_timestep, 6, 12, 6, 2, 1},
        {"without numbers",
         {0, NONE, 2, NONE, 4, 5, 0, 1, NONE, 3, 4, 5},
         no_timestep,
         0,
         12,
         2,
         6,
         1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct run run = {.n = 0};
        struct ta_builder *b = open_file(&run);
        for (int i = 0; i < RECORDS; i++) {
            struct ta_diffusion_step row = step(cases[c].numbers[i], 10 * MS);
            row.timestep = cases[c].timesteps == no_timestep ? (double)NAN : cases[c].timesteps[i];
            ADD(b, diffusion_step, row);
        }
        for (int i = 0; i < cases[c].blocks; i++)
            ADD(b, diffusion_block, block(i, 3, 60 * MS, NONE));
        analyze(&run);
        print_message("%s\n", cases[c].what);
        const struct ta_table *t = table_of(&run, "diffusion.by_rank");
        assert_cell(t, 0, "steps", cases[c].steps);
        assert_cell(t, 0, "passes", cases[c].passes);
        assert_cell(t, 0, "steps_per_pass", cases[c].per_pass);
        if (cases[c].records > 1)
            assert_cell(t, 0, "records_per_step", cases[c].records);
        else
            assert_missing(t, 0, "records_per_step");
        assert_cell(t, 0, "step_mean_ns", 10.0 * MS * RECORDS / cases[c].steps);
        t = table_of(&run, "throughput.values");
        assert_cell(t, value_row(t, "steps_per_s", "steps"), "value", cases[c].steps / 0.12);
        t = table_of(&run, "iterations.by_name");
        assert_cell(t, 0, "count", cases[c].steps);
        close_run(&run);
    }
}

/* A block without frames makes the sum of frames unknown, not smaller. */
static void test_throughput_is_missing_not_wrong(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, session, session(b, NONE, 0));
    ADD(b, diffusion_block, block(0, 3, 300 * MS, NONE));
    ADD(b, diffusion_block, block(1, NONE, 200 * MS, NONE));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "throughput.values");
    assert_int_equal(value_row(t, "fps", "blocks"), SIZE_MAX);
    assert_int_equal(value_row(t, "fps", "wall"), SIZE_MAX);
    assert_int_equal(value_row(t, "first_block_ns", "wall"), SIZE_MAX);
    assert_cell(t, value_row(t, "bps", "blocks"), "value", 4);
    close_run(&run);
}

static void test_tokens_are_sums_over_sums(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    const struct ta_section_tokens rows[] = {{NONE, str(b, "a"), 100, 1000 * MS},
                                             {NONE, str(b, "a"), 300, 1000 * MS},
                                             {NONE, str(b, "b"), 0, 9000 * MS},
                                             {NONE, str(b, "c"), 50, 2000 * MS}};
    for (size_t i = 0; i < 4; i++)
        ADD(b, section_tokens, rows[i]);
    analyze(&run);
    const struct ta_table *t = table_of(&run, "sections.tokens");
    assert_int_equal(t->n_rows, 2);
    assert_cell(t, row_of(t, "section", "a"), "tokens_per_s", 200);
    const struct ta_table *values = table_of(&run, "throughput.values");
    assert_cell(values, value_row(values, "tokens_per_s", "sections"), "value", 112.5);
    close_run(&run);
}

/* ---- memory -------------------------------------------------------------------------------- */

static struct ta_memory_mark mark(struct ta_builder *b, const char *label, int64_t time,
                                  int64_t allocated, int64_t reserved, int64_t most)
{
    return (struct ta_memory_mark){.rank = NONE,
                                   .label = str(b, label),
                                   .device = NONE,
                                   .time_ns = time,
                                   .allocated_bytes = allocated,
                                   .reserved_bytes = reserved,
                                   .max_allocated_bytes = most,
                                   .max_reserved_bytes = NONE,
                                   .total_bytes = NONE,
                                   .ooms = NONE,
                                   .retries = NONE};
}

static void test_memory_at_labels(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, memory_mark, mark(b, "start", 900 * MS, 10 * MIB, 20 * MIB, 30 * MIB));
    ADD(b, memory_mark, mark(b, "end", 950 * MS, 24 * MIB, 32 * MIB, NONE));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "memory.snapshots");
    assert_cell(t, 1, "index", 1);
    assert_cell(t, 1, "time_ns", 50.0 * MS);
    assert_text(t, 1, "label", "end");
    assert_missing(t, 1, "device");
    assert_cell(t, 1, "gap_bytes", 8.0 * MIB);
    assert_cell(t, 1, "gap_share", 0.25);
    assert_missing(t, 1, "max_allocated_bytes");
    const struct ta_table *ranks = table_of(&run, "memory.by_rank");
    assert_cell(ranks, 0, "peak_allocated_bytes", 30.0 * MIB);
    assert_cell(ranks, 0, "peak_reserved_bytes", 32.0 * MIB);
    assert_text(ranks, 0, "peak_source", "profiler");
    assert_text(ranks, 0, "reserved_source", "snapshot");
    assert_cell(ranks, 0, "unused_bytes", 2.0 * MIB); /* not the 8 of a moment at which less was in
                                                         use than at the peak */
    assert_cell(ranks, 0, "gap_share", 0.25);
    assert_missing(ranks, 0, "total_bytes");
    close_run(&run);
}

/* What is held is known at snapshots only, and the peak was between two of them. */
static void test_a_peak_between_snapshots(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, memory_mark, mark(b, "start", 900 * MS, 10 * MIB, 22 * MIB, 20 * MIB));
    ADD(b, memory_mark, mark(b, "end", 950 * MS, 12 * MIB, 16 * MIB, 24 * MIB));
    analyze(&run);
    const struct ta_table *ranks = table_of(&run, "memory.by_rank");
    assert_cell(ranks, 0, "peak_allocated_bytes", 24.0 * MIB);
    assert_cell(ranks, 0, "peak_reserved_bytes", 22.0 * MIB);
    assert_text(ranks, 0, "reserved_source", "snapshot");
    assert_missing(ranks, 0, "unused_bytes");
    close_run(&run);
}

/* The history knows more than the state at its end: 10 MiB are left of 30. */
static void test_the_peak_of_a_history(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    struct ta_alloc_segment segments[] = {
        {.device = 1, .total = 20 * MIB, .first = 0, .n = 1, .frames = UINT32_MAX}};
    struct ta_alloc_block blocks[] = {{.size = 10 * MIB,
                                       .requested = 10 * MIB,
                                       .state = TA_BLOCK_ALLOCATED,
                                       .frames = UINT32_MAX}};
    struct ta_alloc_event events[] = {
        {.action = TA_ALLOC_SEGMENT_ALLOC, .size = 40 * MIB}, /* beside the 20 of the state */
        {.action = TA_ALLOC_ALLOC, .size = 20 * MIB},
        {.action = TA_ALLOC_FREE_REQUESTED, .size = 20 * MIB},
        {.action = TA_ALLOC_SEGMENT_FREE, .size = 40 * MIB}};
    for (size_t i = 0; i < 4; i++) {
        events[i].device = 1;
        events[i].time_ns = NONE;
        events[i].frames = UINT32_MAX;
    }
    const struct ta_allocator allocator = {.segments = segments,
                                           .n_segments = 1,
                                           .blocks = blocks,
                                           .n_blocks = 1,
                                           .events = events,
                                           .n_events = 4};
    assert_int_equal(ta_builder_set_allocator(&fixture.ctx, b, &allocator), TA_OK);
    struct ta_memory_mark mark = {.rank = NONE,
                                  .label = str(b, "end"),
                                  .device = 1,
                                  .time_ns = NONE,
                                  .allocated_bytes = 25 * MIB,
                                  .reserved_bytes = 25 * MIB,
                                  .max_allocated_bytes = NONE,
                                  .max_reserved_bytes = 50 * MIB,
                                  .total_bytes = NONE,
                                  .ooms = NONE,
                                  .retries = NONE};
    ADD(b, memory_mark, mark);
    analyze(&run);
    const struct ta_table *t = table_of(&run, "memory.by_rank");
    assert_cell(t, 0, "peak_allocated_bytes", 30.0 * MIB);
    assert_text(t, 0, "peak_source", "history");
    assert_cell(t, 0, "peak_reserved_bytes", 60.0 * MIB);
    assert_cell(t, 0, "gap_share", 0.5); /* 30 of the 60 */
    t = table_of(&run, "memory.snapshots");
    const size_t row = row_of(t, "label", "name");
    assert_cell(t, row, "allocated_bytes", 10.0 * MIB);
    assert_cell(t, row, "max_allocated_bytes", 30.0 * MIB);
    close_run(&run);
}

/* The state of two devices, and torch's summary of one of them, which is no snapshot of its own. */
static void test_allocator_states(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    struct ta_alloc_segment segments[] = {
        {.device = 1, .total = 100, .first = 0, .n = 2, .frames = UINT32_MAX},
        {.device = 0, .total = 50, .first = 2, .n = 1, .frames = UINT32_MAX}};
    struct ta_alloc_block blocks[] = {
        {.size = 60, .state = TA_BLOCK_ALLOCATED, .frames = UINT32_MAX},
        {.size = 40, .state = TA_BLOCK_PENDING_FREE, .frames = UINT32_MAX},
        {.size = 50, .state = TA_BLOCK_INACTIVE, .frames = UINT32_MAX}};
    const struct ta_allocator allocator = {
        .segments = segments, .n_segments = 2, .blocks = blocks, .n_blocks = 3};
    assert_int_equal(ta_builder_set_allocator(&fixture.ctx, b, &allocator), TA_OK);
    struct ta_memory_mark summary = mark(b, "memory summary", NONE, 59, 99, 80);
    summary.device = 1;
    summary.ooms = 2;
    ADD(b, memory_mark, summary);
    analyze(&run);
    const struct ta_table *t = table_of(&run, "memory.snapshots");
    assert_int_equal(t->n_rows, 2);
    assert_cell(t, 0, "device", 0);
    assert_cell(t, 0, "allocated_bytes", 0);
    assert_cell(t, 0, "reserved_bytes", 50);
    assert_text(t, 1, "label", "name");
    assert_cell(t, 1, "allocated_bytes", 60);
    assert_cell(t, 1, "reserved_bytes", 100);
    const struct ta_table *ranks = table_of(&run, "memory.by_rank");
    assert_cell(ranks, 1, "peak_allocated_bytes", 80);
    assert_cell(ranks, 1, "ooms", 2);
    close_run(&run);
}

/* ---- telemetry ----------------------------------------------------------------------------- */

static struct ta_sample sample(int64_t device, enum ta_signal signal, int64_t time, double value)
{
    return (struct ta_sample){
        .rank = NONE, .device = device, .signal = signal, .time_ns = time, .value = value};
}

/* Devices win over their sum; 0 W and NaN are no samples; a stamp that comes again in another file
 * counts once, one that comes twice in a file twice. */
static void test_samples_count_once(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    for (int copy = 0; copy < 2; copy++) {
        for (int64_t i = 0; i < 3; i++) {
            struct ta_sample power =
                sample(0, TA_SIGNAL_GPU_POWER, i * 500 * MS, 100.0 * (double)i);
            power.rank = 7;
            ADD(b, sample, power);
            power.device = NONE;
            ADD(b, sample, power);
        }
        struct ta_sample other = sample(NONE, TA_SIGNAL_CPU_UTILIZATION, 0, 0.0);
        other.rank = 7;
        ADD(b, sample, other);
        ADD(b, sample, other);
        other.value = NAN;
        ADD(b, sample, other);
        b = copy ? b : open_file(&run);
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "telemetry.by_rank");
    assert_int_equal(t->n_rows, 2);
    const size_t power = row_of(t, "signal", "gpu_power");
    const size_t cpu = row_of(t, "signal", "cpu_utilization");
    assert_cell(t, power, "rank", 7);
    assert_cell(t, power, "device", 0);
    assert_cell(t, power, "samples", 2);
    assert_cell(t, power, "mean", 150);
    assert_cell(t, power, "p95", 195);
    assert_text(t, power, "unit", "watt");
    assert_cell(t, cpu, "samples", 2);
    close_run(&run);
}

/* Files of one rank make one series by time, whatever their order: the second begins with what the
 * first has, and says it backwards. */
static void test_files_make_one_series(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *first = open_file(&run), *second = open_file(&run);
    for (int64_t i = 0; i < 6; i++) {
        struct ta_sample power =
            sample(0, TA_SIGNAL_GPU_POWER, i * 1000 * MS, 100.0 + 10.0 * (double)i);
        power.rank = 3;
        if (i < 3)
            ADD(first, sample, power);
        power.time_ns = (5 - i) * 1000 * MS;
        power.value = 150.0 - 10.0 * (double)i;
        ADD(second, sample, power);
        power.device = 1; /* only here */
        ADD(second, sample, power);
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "telemetry.by_rank");
    assert_int_equal(t->n_rows, 2);
    assert_cell(t, 0, "samples", 6);
    assert_cell(t, 0, "min", 100);
    assert_cell(t, 0, "max", 150);
    assert_cell(t, 0, "mean", 125);
    const struct ta_table *energy = table_of(&run, "energy.by_rank");
    assert_cell(energy, 0, "energy_j", 625);
    assert_cell(energy, 0, "span_ns", 5000.0 * MS);
    assert_cell(energy, 1, "energy_j", 625);
    close_run(&run);
}

/* Six samples in 6 s, half a second apart but for one hole of 4 s. */
static void test_holes_between_samples(void **state)
{
    static const int64_t times[] = {0, 500, 1000, 1500, 5500, 6010};
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    for (size_t i = 0; i < 6; i++)
        ADD(b, sample, sample(0, TA_SIGNAL_GPU_POWER, times[i] * MS, 100));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "telemetry.sampling");
    assert_int_equal(t->n_rows, 1);
    assert_text(t, 0, "signal", "gpu_power");
    assert_cell(t, 0, "samples", 6);
    assert_cell(t, 0, "span_ns", 6010.0 * MS);
    assert_cell(t, 0, "interval_ns", 500.0 * MS);
    assert_cell(t, 0, "deviation_ns", 0);
    assert_cell(t, 0, "holes", 1);
    assert_cell(t, 0, "hole_ns", 4000.0 * MS);
    close_run(&run);
}

static void test_absent_devices_are_no_zeros(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *without = open_file(&run), *idle = open_file(&run);
    for (int64_t i = 0; i < 4; i++) {
        ADD(without, sample, sample(NONE, TA_SIGNAL_GPU_UTILIZATION, i * MS, 0));
        ADD(without, sample, sample(NONE, TA_SIGNAL_GPU_MEMORY_USED, i * MS, 0));
        ADD(without, sample, sample(NONE, TA_SIGNAL_CPU_UTILIZATION, i * MS, 0));
        ADD(idle, sample, sample(1, TA_SIGNAL_GPU_UTILIZATION, i * MS, 0));
        ADD(idle, sample, sample(1, TA_SIGNAL_GPU_TEMPERATURE, i * MS, 30));
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "telemetry.by_rank");
    assert_int_equal(t->n_rows, 3); /* an idle device is one, a host without any has none */
    assert_cell(t, row_of(t, "signal", "gpu_utilization"), "device", 1);
    assert_cell(t, row_of(t, "signal", "gpu_utilization"), "mean", 0);
    assert_cell(t, row_of(t, "signal", "cpu_utilization"), "rank", 0);
    close_run(&run);
}

/* 100 W for 1 s, 100 to 200 W in the next, and a hole of 10 s that does not count. */
static void test_energy_is_an_integral(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    static const double watts[] = {100, 100, 200, 500};
    static const int64_t seconds[] = {0, 1, 2, 12};
    for (int i = 0; i < 4; i++) {
        struct ta_sample power = sample(2, TA_SIGNAL_GPU_POWER, seconds[i] * 1000 * MS, watts[i]);
        power.relative = true;
        ADD(b, sample, power);
    }
    ADD(b, diffusion_block, block(0, 5, 300 * MS, NONE));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "energy.by_rank");
    assert_cell(t, 0, "energy_j", 250);
    assert_cell(t, 0, "energy_wh", 250.0 / 3600);
    assert_cell(t, 0, "covered_ns", 2000.0 * MS);
    assert_cell(t, 0, "span_ns", 12000.0 * MS);
    assert_cell(t, 0, "mean_w", 125);
    assert_cell(t, 0, "frame_j", 50);
    const struct ta_table *line = table_of(&run, "telemetry.timeline");
    assert_int_equal(line->n_rows, 4);
    assert_cell(line, 3, "time_ns", 12000.0 * MS);
    assert_cell(line, 3, "gpu_power", 500);
    assert_missing(line, 3, "gpu_utilization");
    close_run(&run);
}

/* A session of 100 s of which the last 41 samples are kept, one a second, and ten blocks of 10 s
 * with 12 frames each: the energy is of 40 s, in which four blocks were made. */
static void test_energy_of_a_ring(void **state)
{
    (void)state;
    for (int first = 0; first <= 60; first += 60) {
        struct run run = {.n = 0};
        struct ta_builder *b = open_file(&run);
        ADD(b, session, session(b, 1000000 * MS, 100000 * MS));
        for (int i = 0; i < 10; i++)
            ADD(b, diffusion_block, block(i, 12, 10000 * MS, (1010000 + 10000 * i) * MS));
        for (int i = first; i <= 100; i++) {
            const struct ta_sample row = {.rank = NONE,
                                          .device = 0,
                                          .signal = TA_SIGNAL_GPU_POWER,
                                          .time_ns = (1000000 + 1000 * i) * MS,
                                          .value = 300};
            ADD(b, sample, row);
        }
        analyze(&run);
        const struct ta_table *t = table_of(&run, "energy.by_rank");
        assert_cell(t, 0, "energy_j", first ? 12000 : 30000);
        assert_cell(t, 0, "frame_j", 250);
        if (first)
            assert_cell(t, 0, "session_share", 0.4);
        else
            assert_missing(t, 0, "session_share");
        close_run(&run);
    }
}

/* A long series is drawn from means over equal spans; its figures are of all samples. */
static void test_long_series_are_thinned(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    for (int64_t i = 0; i < 6000; i++)
        ADD(b, sample, sample(0, TA_SIGNAL_GPU_POWER, i * MS, 1 + (double)(i % 2)));
    analyze(&run);
    const struct ta_table *line = table_of(&run, "telemetry.timeline");
    assert_in_range(line->n_rows, 500, 601);
    for (size_t i = 0; i < line->n_rows; i++)
        assert_cell(line, i, "gpu_power", 1.5);
    assert_cell(table_of(&run, "telemetry.by_rank"), 0, "samples", 6000);
    close_run(&run);
}

static double watts_at(int64_t i)
{
    return 100 + (double)(i * 7919 % 200001) / 1000; /* 100 to 300, all over */
}

/* Of very many samples only sums, a distribution and means are kept; the figures are those of all.
 * A second file has a part of them, and a few of its own. */
static void test_very_long_series(void **state)
{
    (void)state;
    enum { SAMPLES = 200000, STEP = 10 };
    for (int turn = 0; turn < 2; turn++) {
        struct run run = {.n = 0};
        struct ta_builder *files[2];
        files[turn] = open_file(&run);
        files[!turn] = open_file(&run);
        double sum = 0, joules = 0, most = 0;
        for (int64_t i = 0; i < SAMPLES; i++) {
            struct ta_sample power = sample(0, TA_SIGNAL_GPU_POWER, i * STEP * MS, watts_at(i));
            power.rank = 3;
            ADD(files[0], sample, power);
            if (i > 100 && i < 70000)
                ADD(files[1], sample, power); /* many as well, and fewer */
            power.signal = TA_SIGNAL_GPU_TEMPERATURE;
            if (i < 1000)
                ADD(files[0], sample, power); /* few: all are kept */
            sum += watts_at(i);
            most = fmax(most, watts_at(i));
            joules += i ? (watts_at(i - 1) + watts_at(i)) / 2 * STEP / 1e3 : 0;
        }
        analyze(&run);
        const struct ta_table *t = table_of(&run, "telemetry.by_rank");
        const size_t power = row_of(t, "signal", "gpu_power");
        assert_cell(t, power, "samples", SAMPLES);
        assert_cell(t, power, "mean", sum / SAMPLES);
        assert_cell(t, power, "max", most);
        const double p95 = ta_cell_number(cell(t, power, "p95"), NAN);
        assert_true(fabs(p95 - 290) < 0.005 * 290);
        assert_cell(t, row_of(t, "signal", "gpu_temperature"), "samples", 1000);
        const struct ta_table *energy = table_of(&run, "energy.by_rank");
        assert_cell(energy, 0, "energy_j", joules);
        assert_cell(energy, 0, "covered_ns", (double)((SAMPLES - 1) * STEP * MS));
        const struct ta_table *line = table_of(&run, "telemetry.timeline");
        assert_in_range(line->n_rows, 300, 601);
        for (size_t i = 1; i < line->n_rows; i++) {
            const double mean = ta_cell_number(cell(line, i, "gpu_power"), NAN);
            assert_true(isnan(mean) || fabs(mean - 200) < 20);
        }
        close_run(&run);
    }
}

/* ---- caches, models, and what was reported ------------------------------------------------- */

static void test_caches(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    const struct ta_cache_count counts[] = {{NONE, TA_STR_ABSENT, 3, 1, 9},
                                            {NONE, str(b, "hits only"), 5, NONE, NONE},
                                            {NONE, str(b, "unused"), 0, 0, 0},
                                            {NONE, str(b, "twice"), 4, 2, 1},
                                            {NONE, str(b, "twice"), 5, 1, 1}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ADD(b, cache, counts[i]);
    const char *const caches[] = {"x", "y", "x"};
    for (int64_t i = 0; i < 3; i++) {
        const struct ta_cache_hit hit = {NONE, str(b, caches[i]), TA_STR_ABSENT, i * MS, i};
        ADD(b, cache_hit, hit);
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "caches.by_name");
    assert_cell(t, row_of(t, "cache", "cache"), "hit_ratio", 0.75);
    assert_missing(t, row_of(t, "cache", "hits only"), "hit_ratio");
    assert_missing(t, row_of(t, "cache", "hits only"), "misses");
    assert_missing(t, row_of(t, "cache", "unused"), "hit_ratio");
    assert_cell(t, row_of(t, "cache", "twice"), "hits", 9);
    assert_cell(t, row_of(t, "cache", "twice"), "misses", 3);
    assert_cell(t, row_of(t, "cache", "twice"), "evictions", 2);
    const struct ta_table *hits = table_of(&run, "caches.hits");
    assert_cell(hits, 1, "hits_so_far", 1);
    assert_cell(hits, 2, "hits_so_far", 2);
    assert_missing(hits, 2, "details");
    close_run(&run);
}

static void test_models_and_layers(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    const struct ta_model_info models[] = {{NONE, str(b, "dit"), str(b, "diffusion"), NONE},
                                           {NONE, str(b, "dit"), TA_STR_ABSENT, 1400000000},
                                           {NONE, str(b, "vae"), TA_STR_ABSENT, 100}};
    for (size_t i = 0; i < 3; i++)
        ADD(b, model, models[i]);
    const struct ta_layer layers[] = {{NONE, str(b, "attention"), 2, 30, 10, 20, NONE},
                                      {NONE, str(b, "norm"), 1, 10, 10, 10, 5}};
    for (size_t i = 0; i < 2; i++)
        ADD(b, layer, layers[i]);
    analyze(&run);
    const struct ta_table *t = table_of(&run, "models.parameters");
    assert_int_equal(t->n_rows, 2);
    assert_cell(t, row_of(t, "model", "dit"), "parameters", 1.4e9);
    assert_text(t, row_of(t, "model", "dit"), "type", "diffusion");
    assert_missing(t, row_of(t, "model", "vae"), "type");
    const struct ta_table *by_layer = table_of(&run, "layers.by_name");
    assert_cell(by_layer, 0, "share", 0.75);
    assert_cell(by_layer, 0, "mean_ns", 15);
    assert_missing(by_layer, 0, "parameters");
    const struct ta_scalar *sum = ta_report_scalar(run.report, "parameters");
    assert_non_null(sum);
    assert_int_equal(sum->value.i, 1400000100);
    close_run(&run);
}

static void test_streaming(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    struct ta_builder *b = open_file(&run);
    ADD(b, figure, figure(b, "streaming", "total_frames_streamed", 90, TA_UNIT_COUNT));
    ADD(b, figure, figure(b, "streaming", "total_dropped_frames", 10, TA_UNIT_COUNT));
    ADD(b, figure, figure(b, "streaming", "drop_rate_ratio", 0.1, TA_UNIT_RATIO));
    ADD(b, figure, figure(b, "streaming", "avg_encoding_time_ns", 5e6, TA_UNIT_NS));
    struct ta_builder *other = open_file(&run); /* streamed nothing */
    ADD(other, figure, figure(other, "streaming", "total_frames_streamed", 0, TA_UNIT_COUNT));
    analyze(&run);
    const struct ta_table *t = table_of(&run, "streaming.by_rank");
    assert_int_equal(t->n_rows, 1);
    assert_cell(t, 0, "drop_ratio", 0.1);
    assert_cell(t, 0, "encode_mean_ns", 5e6);
    assert_missing(t, 0, "fps");
    assert_int_equal(table_of(&run, "figures.reported")->n_rows, 5);
    close_run(&run);
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* The metric of a table with one row per rank; the one with keys names them. */
static void test_ranks_are_compared(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    for (int64_t i = 0; i < 3; i++) {
        struct ta_builder *b = open_file(&run);
        ADD(b, stage, sums(b, "decode", 1, (10 - i) * MS));
        struct ta_memory_mark at = mark(b, "x", 0, MIB * (i + 1), MIB * 8, NONE);
        at.device = i; /* each rank has a device of its own */
        ADD(b, memory_mark, at);
        if (i == 1)
            ADD(b, stage, sums(b, "only here", 1, MS));
    }
    analyze(&run);
    const struct ta_table *t = table_of(&run, "ranks.metrics");
    const size_t stage = row_of(t, "metric", "stages.by_name.total_ns[decode]");
    assert_cell(t, stage, "ranks", 3);
    assert_cell(t, stage, "min", 8.0 * MS);
    assert_cell(t, stage, "max", 10.0 * MS);
    assert_cell(t, stage, "mean", 9.0 * MS);
    assert_cell(t, stage, "p50", 9.0 * MS);
    assert_cell(t, stage, "min_rank", 2);
    assert_cell(t, stage, "max_rank", 0);
    assert_text(t, stage, "unit", "ns");
    assert_int_equal(ta_table_unit(t, stage, ta_table_column(t, "mean")), TA_UNIT_NS);
    assert_int_equal(ta_table_unit(t, stage, ta_table_column(t, "spread")), TA_UNIT_RATIO);
    const size_t memory = row_of(t, "metric", "memory.by_rank.peak_allocated_bytes");
    assert_cell(t, memory, "max_rank", 2);
    for (size_t i = 0; i < t->n_rows; i++)
        assert_true(cell(t, i, "ranks")->i >= 2);
    close_run(&run);
}

/* ---- nothing ------------------------------------------------------------------------------- */

static void test_nothing_gives_no_sections(void **state)
{
    (void)state;
    struct run run = {.n = 0};
    open_file(&run);
    analyze(&run);
    static const char *const empty[] = {"stages",    "diffusion", "models", "memory",
                                        "telemetry", "caches",    "ranks",  "streaming"};
    for (size_t s = 0; s < ta_report_section_count(run.report); s++)
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
            assert_string_not_equal(ta_report_section(run.report, s)->id, empty[i]);
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages_keep_sums_and_calls_apart),
        cmocka_unit_test(test_a_parent_has_no_share),
        cmocka_unit_test(test_a_parent_is_proven_by_the_figures),
        cmocka_unit_test(test_scopes_have_their_own_total),
        cmocka_unit_test(test_a_lone_slash_is_no_scope),
        cmocka_unit_test(test_a_runner_encloses_a_scope),
        cmocka_unit_test(test_chunks_enclose_and_are_one),
        cmocka_unit_test(test_the_late_rank),
        cmocka_unit_test(test_throughput_of_the_run),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_throughput_by_basis),
        cmocka_unit_test(test_energy_of_a_ring),
        cmocka_unit_test(test_denoising_is_a_stage),
        cmocka_unit_test(test_denoising_is_no_stage),
        cmocka_unit_test(test_steps_of_a_pass),
        cmocka_unit_test(test_throughput_is_missing_not_wrong),
        cmocka_unit_test(test_tokens_are_sums_over_sums),
        cmocka_unit_test(test_memory_at_labels),
        cmocka_unit_test(test_a_peak_between_snapshots),
        cmocka_unit_test(test_the_peak_of_a_history),
        cmocka_unit_test(test_allocator_states),
        cmocka_unit_test(test_samples_count_once),
        cmocka_unit_test(test_files_make_one_series),
        cmocka_unit_test(test_holes_between_samples),
        cmocka_unit_test(test_absent_devices_are_no_zeros),
        cmocka_unit_test(test_energy_is_an_integral),
        cmocka_unit_test(test_long_series_are_thinned),
        cmocka_unit_test(test_very_long_series),
        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_models_and_layers),
        cmocka_unit_test(test_streaming),
        cmocka_unit_test(test_ranks_are_compared),
        cmocka_unit_test(test_nothing_gives_no_sections),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
