/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that several files hold count once, and what is no copy stays. */
#include "base/quality.h"
#include "kept_files.h"
#include "model/allocator.h"

#include <math.h>
#include <stdio.h>

static void add_stage(struct files *f, struct ta_builder *b, int64_t rank, const char *name)
{
    const struct ta_timed_stage row = {.rank = rank,
                                       .name = ta_builder_string(b, ta_slice_of(name))};
    assert_int_equal(ta_builder_add_stage(&f->ctx, b, &row), TA_OK);
}

static void add_mark(struct files *f, struct ta_builder *b)
{
    const struct ta_memory_mark row = {.rank = TA_MISSING};
    assert_int_equal(ta_builder_add_memory_mark(&f->ctx, b, &row), TA_OK);
}

static void add_sample(struct files *f, struct ta_builder *b, int64_t device, enum ta_signal signal)
{
    const struct ta_sample row = {.rank = TA_MISSING, .device = device, .signal = signal};
    assert_int_equal(ta_builder_add_sample(&f->ctx, b, &row), TA_OK);
}

static void add_figure(struct files *f, struct ta_builder *b, const char *name)
{
    const struct ta_figure row = {.rank = TA_MISSING,
                                  .name = ta_builder_string(b, ta_slice_of(name))};
    assert_int_equal(ta_builder_add_figure(&f->ctx, b, &row), TA_OK);
}

static void drop(struct files *f)
{
    assert_true(ta_drop_copies(f->kept, f->n, &f->quality));
}

static void assert_rows(const struct files *f, size_t file, enum ta_dump_table table, size_t n)
{
    assert_int_equal(f->kept[file].trace->dump.rows[table].n, n);
}

static void assert_said(const struct files *f, uint64_t files, enum ta_quality_severity severity,
                        const char *text)
{
    const struct ta_quality_slot *slot = &f->quality.slots[TA_Q_DUPLICATE_CONTENT];
    assert_int_equal(slot->count, files);
    if (!files)
        return;
    assert_int_equal(slot->severity, severity);
    if (!strstr(slot->text, text))
        fail_msg("\"%s\" does not say \"%s\"", slot->text, text);
}

static void add_session(struct files *f, struct ta_builder *b, const char *id, int64_t dur_ns)
{
    const struct ta_session row = {.rank = TA_MISSING,
                                   .id = id ? ta_builder_string(b, ta_slice_of(id)) : TA_STR_ABSENT,
                                   .start_ns = TA_MISSING,
                                   .end_ns = TA_MISSING,
                                   .dur_ns = dur_ns};
    assert_int_equal(ta_builder_add_session(&f->ctx, b, &row), TA_OK);
}

/* ---- sets ---------------------------------------------------------------------------------- */

static void the_most_exact_counts(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *csv = add_file(&f, "a.csv", 0, "s", TA_EXACT_TABLE);
    struct ta_builder *json = add_file(&f, "a.json", 0, "s", TA_EXACT_FULL);
    struct ta_builder *text = add_file(&f, "a.txt", 0, "s", TA_EXACT_TEXT);
    add_stage(&f, csv, TA_MISSING, "x");
    add_stage(&f, csv, TA_MISSING, "y");
    add_stage(&f, json, TA_MISSING, "x");
    add_stage(&f, text, TA_MISSING, "x");
    add_mark(&f, text); /* which nothing more exact has */
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_stage, 0);
    assert_rows(&f, 1, TA_DUMP_stage, 1);
    assert_rows(&f, 2, TA_DUMP_stage, 0);
    assert_rows(&f, 2, TA_DUMP_memory_mark, 1);
    assert_said(&f, 2, TA_QUALITY_INFO,
                "\"a.csv\" repeats 2 records that \"a.json\" holds more exactly");
    end(&f);
}

static void the_first_of_equals_counts(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_mark(&f, add_file(&f, "a.json", 0, "s", TA_EXACT_FULL));
    add_mark(&f, add_file(&f, "b.json", 0, "s", TA_EXACT_FULL));
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_memory_mark, 1);
    assert_rows(&f, 1, TA_DUMP_memory_mark, 0);
    assert_said(&f, 1, TA_QUALITY_NOTICE, "\"b.json\" repeats 1 records that \"a.json\" holds as");
    end(&f);
}

/* A console has stages and runs of its own beside those that the report has as well. */
static void what_only_a_console_has_stays(void **state)
{
    (void)state;
    static const char name[] = "a name that is longer than what consoles show";
    const int64_t s = 1000000000;
    struct files f;
    begin(&f);
    struct ta_builder *console = add_file(&f, "log.txt", 0, "s", TA_EXACT_CONSOLE);
    struct ta_builder *report = add_file(&f, "report.json", 0, "s", TA_EXACT_FULL);
    add_stage(&f, console, TA_MISSING, "both");
    add_stage(&f, console, TA_MISSING, "VAE decoding");
    add_stage(&f, console, TA_MISSING, "a name that is longer th");
    add_stage(&f, report, TA_MISSING, "both");
    add_stage(&f, report, TA_MISSING, name);
    add_session(&f, console, "s", 12 * s);
    add_session(&f, console, "s", 12 * s + s / 20); /* another run, as long */
    add_session(&f, console, "s", 15 * s);
    add_session(&f, report, "s", 12 * s + s / 1000);
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_stage, 1);
    assert_rows(&f, 1, TA_DUMP_stage, 2);
    assert_rows(&f, 0, TA_DUMP_session, 2);
    assert_rows(&f, 1, TA_DUMP_session, 1);
    end(&f);
}

/* A pipeline without a session is a part of the session that a report tells of. */
static void a_pipeline_is_in_the_session(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *console = add_file(&f, "log.txt", 0, "s", TA_EXACT_CONSOLE);
    add_session(&f, console, NULL, 11500);
    add_session(&f, add_file(&f, "report.json", 0, "t", TA_EXACT_FULL), "t", 12100);
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_session, 0);
    assert_rows(&f, 1, TA_DUMP_session, 1);
    end(&f);
}

static struct ta_builder *add_run(struct files *f, const char *shown, int64_t start)
{
    struct ta_builder *b = add_file(f, shown, 0, "s", TA_EXACT_FULL);
    const struct ta_session row = {.rank = TA_MISSING, .start_ns = start};
    assert_int_equal(ta_builder_add_session(&f->ctx, b, &row), TA_OK);
    add_stage(f, b, TA_MISSING, "x");
    return b;
}

/* Two runs of one name stay; each is the copy of itself only. */
static void runs_of_one_name_are_no_copies(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_run(&f, "a.json", 1000);
    add_run(&f, "b.json", 2000);
    add_run(&f, "c.json", 2000);
    add_run(&f, "d.json", TA_MISSING);
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_stage, 1);
    assert_rows(&f, 1, TA_DUMP_stage, 1);
    assert_rows(&f, 2, TA_DUMP_stage, 0);
    assert_rows(&f, 3, TA_DUMP_stage, 0);
    end(&f);
}

static void other_sets_folders_and_ranks_are_no_copies(void **state)
{
    (void)state;
    static const struct {
        const char *shown, *set;
        int64_t rank;
    } others[] = {{"b.txt", "t", 0},  {"sub/b.txt", "s", 0}, {"b.txt", "s", 1},
                  {"b.txt", NULL, 0}, {"sub/b.txt", "", 0},  {"b.txt", "s", TA_MISSING}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct files f;
        begin(&f);
        add_mark(&f, add_file(&f, "a.json", 0, "s", TA_EXACT_FULL));
        add_mark(&f, add_file(&f, others[i].shown, others[i].rank, others[i].set, TA_EXACT_TEXT));
        drop(&f);
        assert_rows(&f, 0, TA_DUMP_memory_mark, 1);
        assert_rows(&f, 1, TA_DUMP_memory_mark, 1);
        assert_said(&f, 0, TA_QUALITY_INFO, "");
        end(&f);
    }
}

static void the_only_set_is_a_copy_of_all(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_mark(&f, add_file(&f, "a.txt", 0, "", TA_EXACT_TEXT));
    add_mark(&f, add_file(&f, "b.json", 0, "s", TA_EXACT_FULL));
    add_mark(&f, add_file(&f, "c.json", 0, "t", TA_EXACT_FULL));
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_memory_mark, 0);
    assert_rows(&f, 1, TA_DUMP_memory_mark, 1);
    assert_rows(&f, 2, TA_DUMP_memory_mark, 1);
    end(&f);
}

/* ---- ranks --------------------------------------------------------------------------------- */

static void folders_of_ranks_are_one(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *table = add_file(&f, "run/all.csv", TA_MISSING, "s", TA_EXACT_TABLE);
    add_stage(&f, table, 0, "x");
    add_stage(&f, table, 1, "x");
    add_stage(&f, table, 2, "x");
    add_stage(&f, table, TA_NO_RANK, "x");
    add_stage(&f, add_file(&f, "run/rank_0/a.json", 0, "s", TA_EXACT_FULL), TA_MISSING, "x");
    add_stage(&f, add_file(&f, "run/rank_1/a.json", 1, "s", TA_EXACT_FULL), TA_MISSING, "x");
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_stage, 2); /* of rank 2, and of none */
    size_t n;
    assert_int_equal(ta_trace_stage_rows(f.kept[0].trace, &n)[0].rank, 2);
    assert_int_equal(ta_trace_stage_rows(f.kept[0].trace, &n)[1].rank, TA_NO_RANK);
    assert_rows(&f, 1, TA_DUMP_stage, 1);
    assert_rows(&f, 2, TA_DUMP_stage, 1);
    end(&f);
}

static void a_console_stands_above(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct files f;
        begin(&f);
        add_mark(&f, add_file(&f, "console.txt", 0, "x", TA_EXACT_CONSOLE));
        f.kept[0].rank_known = known;
        add_mark(&f, add_file(&f, "reports/a.json", 3, "s", TA_EXACT_FULL));
        drop(&f);
        assert_rows(&f, 0, TA_DUMP_memory_mark, (size_t)known);
        assert_rows(&f, 1, TA_DUMP_memory_mark, 1);
        end(&f);
    }
}

static void a_console_below_is_another_run(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_mark(&f, add_file(&f, "a.json", 0, "s", TA_EXACT_FULL));
    add_mark(&f, add_file(&f, "sub/console.txt", 0, "s", TA_EXACT_CONSOLE));
    drop(&f);
    assert_rows(&f, 1, TA_DUMP_memory_mark, 1);
    end(&f);
}

/* ---- what is compared ---------------------------------------------------------------------- */

static void samples_per_device_win(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *report = add_file(&f, "report.json", 0, "s", TA_EXACT_FULL);
    struct ta_builder *raw = add_file(&f, "z_raw.json", 0, "s", TA_EXACT_FULL);
    add_sample(&f, report, TA_MISSING, TA_SIGNAL_GPU_POWER);
    add_sample(&f, report, TA_MISSING, TA_SIGNAL_GPU_POWER);
    add_sample(&f, report, TA_MISSING, TA_SIGNAL_TORCH_ALLOCATED);
    add_sample(&f, raw, 0, TA_SIGNAL_GPU_POWER);
    add_sample(&f, raw, TA_MISSING, TA_SIGNAL_CPU_UTILIZATION);
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_sample, 1); /* a signal that the raw samples lack */
    assert_rows(&f, 1, TA_DUMP_sample, 2);
    assert_said(&f, 1, TA_QUALITY_INFO, "2 records");
    end(&f);
}

static void figures_are_compared_by_name(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *json = add_file(&f, "a.json", 0, "s", TA_EXACT_FULL);
    struct ta_builder *text = add_file(&f, "a.txt", 0, "s", TA_EXACT_TEXT);
    add_figure(&f, json, "fps");
    add_figure(&f, text, "unlike");
    add_figure(&f, text, "fps");
    drop(&f);
    assert_rows(&f, 0, TA_DUMP_figure, 1);
    assert_rows(&f, 1, TA_DUMP_figure, 1);
    end(&f);
}

static void an_allocator_is_more_exact_than_a_summary(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *pickle = add_file(&f, "a.pickle", 0, NULL, TA_EXACT_FULL);
    const struct ta_allocator allocator = {0};
    assert_int_equal(ta_builder_set_allocator(&f.ctx, pickle, &allocator), TA_OK);
    add_mark(&f, add_file(&f, "a.txt", 0, "memory", TA_EXACT_CONSOLE));
    drop(&f);
    assert_non_null(ta_trace_allocator(f.kept[0].trace));
    assert_rows(&f, 1, TA_DUMP_memory_mark, 0);
    end(&f);
}

/* ---- any files ----------------------------------------------------------------------------- */

/* Of each (folder, rank, table) with sets of one name exactly one file keeps rows; and dropping
 * again drops nothing. */
static void one_copy_is_left(void **state)
{
    (void)state;
    struct rng rng = {11};
    for (int round = 0; round < 2000; round++) {
        struct files f;
        begin(&f);
        char names[FILES][8];
        for (size_t i = 0; i < FILES; i++) {
            snprintf(names[i], sizeof names[i], "%zu", i);
            struct ta_builder *b = add_file(&f, names[i], (int64_t)rng_below(&rng, 2), "s",
                                            (enum ta_exactness)rng_below(&rng, 4));
            if (rng_below(&rng, 2))
                add_mark(&f, b);
            add_stage(&f, b, (int64_t)rng_below(&rng, 2), "x");
        }
        bool had[2] = {false}, has[2] = {false};
        for (size_t i = 0; i < FILES; i++)
            had[f.kept[i].rank] |= f.kept[i].trace->dump.rows[TA_DUMP_memory_mark].n > 0;
        drop(&f);
        for (size_t i = 0; i < FILES; i++) {
            if (!f.kept[i].trace->dump.rows[TA_DUMP_memory_mark].n)
                continue;
            assert_false(has[f.kept[i].rank]);
            has[f.kept[i].rank] = true;
        }
        assert_memory_equal(had, has, sizeof had);
        const uint64_t said = ta_quality_count(&f.quality, TA_Q_DUPLICATE_CONTENT);
        drop(&f);
        assert_int_equal(ta_quality_count(&f.quality, TA_Q_DUPLICATE_CONTENT), said);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_exact_counts),
        cmocka_unit_test(the_first_of_equals_counts),
        cmocka_unit_test(runs_of_one_name_are_no_copies),
        cmocka_unit_test(what_only_a_console_has_stays),
        cmocka_unit_test(a_pipeline_is_in_the_session),
        cmocka_unit_test(other_sets_folders_and_ranks_are_no_copies),
        cmocka_unit_test(the_only_set_is_a_copy_of_all),
        cmocka_unit_test(folders_of_ranks_are_one),
        cmocka_unit_test(a_console_stands_above),
        cmocka_unit_test(a_console_below_is_another_run),
        cmocka_unit_test(samples_per_device_win),
        cmocka_unit_test(figures_are_compared_by_name),
        cmocka_unit_test(an_allocator_is_more_exact_than_a_summary),
        cmocka_unit_test(one_copy_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
