/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two builders as one: what was added to the second stands behind what was added to the first,
 * under the first one's ids. */
#include "model/append.h"

#include "base/context.h"
#include "traceanalyze/analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct ta_shared shared;
static struct ta_ctx ctx;
static struct ta_quality quality;
static const struct ta_slice keys[] = {{"correlation", 11}, {"what", 4}};

static void make(struct ta_builder *b, size_t names)
{
    assert_true(ta_builder_init(b, &quality, ~0u, keys, 2, names));
}

static ta_str text(struct ta_builder *b, const char *of)
{
    return ta_builder_string(b, ta_slice_of(of));
}

static void add(struct ta_builder *b, char phase, const char *name, const char *cat,
                const char *tid, int64_t ts)
{
    const struct ta_event_arg args[] = {{.key = 0, .value = ts * 2},
                                        {.key = 1, .is_text = true, .value = text(b, name)}};
    const struct ta_event event = {.phase = phase,
                                   .has_ts = true,
                                   .has_dur = true,
                                   .ts_ns = ts,
                                   .dur_ns = 5,
                                   .name = text(b, name),
                                   .category = text(b, cat),
                                   .pid = text(b, "1"),
                                   .tid = text(b, tid),
                                   .id = ta_slice_of(tid),
                                   .offset = (uint64_t)ts,
                                   .args = args,
                                   .n_args = 2};
    assert_int_equal(ta_builder_add(&ctx, b, &event), TA_OK);
    ta_builder_count(b, 1, 0, 0);
    if (phase == 'C')
        assert_int_equal(ta_builder_counter(&ctx, b, &event, text(b, "series"), 1.5), TA_OK);
}

static const struct ta_renaming unknown;

static bool add_all(struct ta_builder *into, struct ta_builder *from)
{
    struct ta_renaming ids = unknown;
    const bool done = ta_builder_append(into, from, &ids);
    ta_renaming_free(&ids);
    return done;
}

static const char *name_of(const struct ta_builder *b, ta_str id)
{
    static char copies[4][32];
    static int at;
    const struct ta_slice slice = ta_trace_text(b->trace, id);
    snprintf(copies[at = (at + 1) % 4], 32, "%.*s", (int)slice.len, slice.ptr);
    return copies[at];
}

/* The second has names, tracks and categories in another order, and some of its own. */
static void rows_and_ids(void **state)
{
    (void)state;
    struct ta_builder a, b;
    make(&a, 100);
    make(&b, 100);
    add(&a, 'X', "one", "kernel", "7", 10);
    add(&a, 'X', "two", "cpu_op", "8", 20);
    add(&b, 'X', "three", "cpu_op", "9", 30);
    add(&b, 'X', "one", "kernel", "8", 40);
    add(&b, 'X', "two", "other", "7", 50);
    assert_true(ta_builder_fits(&a, &b, &unknown));
    assert_true(add_all(&a, &b));
    static const struct {
        const char *name, *cat, *tid;
    } rows[] = {{"one", "kernel", "7"},
                {"two", "cpu_op", "8"},
                {"three", "cpu_op", "9"},
                {"one", "kernel", "8"},
                {"two", "other", "7"}};
    const struct ta_trace *t = a.trace;
    assert_int_equal(t->spans.n, 5);
    assert_int_equal(t->tracks.n, 3);
    assert_int_equal(t->categories.n, 3);
    assert_int_equal(t->args[0].n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(name_of(&a, t->spans.name[i]), rows[i].name);
        assert_string_equal(name_of(&a, t->categories.at[t->spans.cat[i]].name), rows[i].cat);
        assert_string_equal(name_of(&a, t->tracks.at[t->spans.track[i]].tid), rows[i].tid);
        assert_int_equal(t->spans.ts[i], 10 * (i + 1));
        assert_int_equal(t->args[0].row[i], i);
        assert_int_equal(arg_column_value(&t->args[0], i), 20 * (i + 1));
        assert_string_equal(name_of(&a, (ta_str)arg_column_value(&t->args[1], i)), rows[i].name);
    }
    assert_int_equal(t->categories.at[2].class, TA_CLASS_HOST);
    assert_int_equal(
        kinds_sum(&a.kinds, 0, 0) + kinds_sum(&a.kinds, 1, 0) + kinds_sum(&a.kinds, 2, 0), 5);
    assert_int_equal(a.kept, 5);
    assert_int_equal(a.events, 5);
    assert_int_equal(a.first_ts, 10);
    assert_int_equal(a.last_ts, 50);
    assert_int_equal(b.trace->spans.n, 0);
    ta_builder_free(&a);
    ta_builder_free(&b);
}

/* More can be added behind, also to what the builder keeps at hand. */
static void adding_goes_on(void **state)
{
    (void)state;
    struct ta_builder a, b;
    make(&a, 100);
    make(&b, 100);
    add(&a, 'X', "one", "kernel", "7", 10);
    add(&b, 'X', "two", "cpu_op", "8", 20);
    assert_true(add_all(&a, &b));
    add(&a, 'X', "two", "cpu_op", "8", 30);
    add(&a, 'X', "one", "kernel", "7", 40);
    assert_int_equal(a.trace->spans.n, 4);
    assert_int_equal(a.trace->spans.track[1], a.trace->spans.track[2]);
    assert_int_equal(a.trace->spans.track[0], a.trace->spans.track[3]);
    assert_int_equal(a.trace->spans.cat[1], a.trace->spans.cat[2]);
    ta_builder_free(&a);
    ta_builder_free(&b);
}

/* A builder is filled and added again and again, beside another one: ids stay those of one reading,
 * and what was said before is not said again. */
static void in_turn(void **state)
{
    (void)state;
    static const char *const tids[] = {"7", "8", "9"};
    struct ta_builder all, one, from[2];
    struct ta_renaming ids[2] = {unknown, unknown};
    make(&all, 100);
    make(&one, 100);
    for (int i = 0; i < 2; i++)
        make(&from[i], 100);
    for (int i = 0; i < 12; i++) {
        char name[16];
        struct ta_builder *const to[] = {&one, &from[i % 2]};
        snprintf(name, sizeof name, "n%d", i / 3);
        for (int k = 0; k < 2; k++) {
            add(to[k], 'X', name, name, tids[i % 3], i);
            if (i == 1 || i == 4) {
                const ta_str pid = text(to[k], "1"), tid = text(to[k], tids[1]);
                const ta_str named = text(to[k], name);
                assert_int_equal(ta_builder_name_thread(&ctx, to[k], pid, tid, named), TA_OK);
                assert_int_equal(ta_builder_name_process(&ctx, to[k], pid, named), TA_OK);
                ta_builder_set(to[k], TA_SAYS_RANK, i);
            }
        }
        assert_true(ta_builder_fits(&all, &from[i % 2], &ids[i % 2]));
        assert_true(ta_builder_append(&all, &from[i % 2], &ids[i % 2]));
    }
    const struct ta_trace *a = all.trace, *b = one.trace;
    assert_int_equal(a->strings.texts.n, b->strings.texts.n);
    for (size_t i = 0; i < a->strings.texts.n; i++)
        assert_true(ta_slice_equal(a->strings.texts.at[i], b->strings.texts.at[i]));
    assert_int_equal(a->spans.n, 12);
    assert_memory_equal(a->spans.name, b->spans.name, 12 * sizeof *a->spans.name);
    assert_memory_equal(a->spans.cat, b->spans.cat, 12 * sizeof *a->spans.cat);
    assert_memory_equal(a->spans.track, b->spans.track, 12 * sizeof *a->spans.track);
    assert_memory_equal(a->args[0].row, b->args[0].row, 12 * sizeof *a->args[0].row);
    assert_int_equal(a->tracks.n, b->tracks.n);
    for (size_t i = 0; i < a->tracks.n; i++)
        assert_int_equal(a->tracks.at[i].thread_name, b->tracks.at[i].thread_name);
    assert_int_equal(all.kept, 12);
    assert_int_equal(all.rank, 4);
    assert_int_equal(all.first_ts, 1); /* whether 0 is a time is not known yet */
    assert_int_equal(all.zero.spans, one.zero.spans);
    assert_int_equal(all.last_ts, 11);
    for (size_t i = 0; i < a->categories.n; i++)
        for (size_t phase = 0; phase < sizeof TA_PHASES; phase++)
            assert_int_equal(kinds_sum(&all.kinds, (ta_cat)i, phase),
                             kinds_sum(&one.kinds, (ta_cat)i, phase));
    for (int i = 0; i < 2; i++) {
        ta_builder_free(&from[i]);
        ta_renaming_free(&ids[i]);
    }
    ta_builder_free(&all);
    ta_builder_free(&one);
}

static void begins_and_ends(void **state)
{
    (void)state;
    struct ta_builder a, b;
    make(&a, 100);
    make(&b, 100);
    add(&a, 'X', "x", "c", "7", 5);
    add(&a, 'B', "one", "c", "7", 10);
    add(&a, 'b', "async", "c", "7", 11);
    add(&b, 'B', "two", "c", "8", 20);
    add(&b, 'E', "two", "c", "8", 30);
    add(&b, 'e', "async", "c", "7", 31);
    add(&b, 'b', "async", "c", "7", 32);
    assert_true(add_all(&a, &b));
    assert_int_equal(a.edges.n, 3);
    assert_int_equal(a.edges.at[0].row, 1);
    assert_int_equal(a.edges.at[1].row, 2);
    assert_int_equal(a.edges.at[2].row, TA_NO_ROW);
    assert_string_equal(name_of(&a, a.edges.at[1].name), "two");
    assert_int_equal(a.async_edges.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(a.edges.at[i].order, i);
        assert_int_equal(a.async_edges.at[i].order, i);
        assert_string_equal(name_of(&a, a.async_edges.at[i].id), "7");
        assert_int_equal(a.async_edges.at[i].row, i == 1 ? TA_NO_ROW : 0);
    }
    ta_builder_free(&a);
    ta_builder_free(&b);
}

static void the_other_tables(void **state)
{
    (void)state;
    struct ta_builder a, b;
    make(&a, 100);
    make(&b, 100);
    add(&a, 'i', "instant", "c", "7", 1);
    add(&b, 'C', "count", "c", "7", 3);
    for (int i = 0; i < 2; i++) {
        struct ta_builder *to = i ? &b : &a;
        add(to, 's', "flow", "c", i ? "8" : "7", 2 + i);
        add(to, 'C', "count", "c", i ? "8" : "7", 4 + i);
        add(to, 'i', "moment", "d", i ? "8" : "7", 6 + i);
    }
    assert_true(add_all(&a, &b));
    const struct ta_trace *t = a.trace;
    assert_int_equal(t->instants.n, 3);
    assert_string_equal(name_of(&a, t->instants.name[2]), "moment");
    assert_string_equal(name_of(&a, t->categories.at[t->instants.cat[2]].name), "d");
    assert_int_equal(t->flows.n, 2);
    assert_string_equal(name_of(&a, t->flows.id[1]), "8");
    assert_int_equal(t->flows.phase[1], 's');
    assert_int_equal(t->counters.n, 3);
    const uint32_t places[] = {0, 0, 1}; /* the first of the second one is that of the first one */
    assert_memory_equal(t->counters.place, places, sizeof places);
    assert_int_equal(t->counters.series.list.n, 2);
    const struct ta_counter_series *series = &t->counters.series.list.at[1];
    assert_string_equal(name_of(&a, series->series), "series");
    assert_string_equal(name_of(&a, t->tracks.at[series->track].tid), "8");
    assert_int_equal(t->spans.n, 0);
    ta_builder_free(&a);
    ta_builder_free(&b);
}

/* Of facts the last word counts; what the second does not say stays. */
static void facts(void **state)
{
    (void)state;
    struct ta_builder a, b;
    make(&a, 100);
    make(&b, 100);
    ta_builder_set(&a, TA_SAYS_RANK, 1);
    ta_builder_set(&a, TA_SAYS_WORLD_SIZE, 8);
    ta_builder_set(&b, TA_SAYS_RANK, 2);
    ta_builder_set(&b, TA_SAYS_BASE_NS, 17);
    ta_builder_set(&b, TA_SAYS_CUT, 1);
    ta_builder_skipped(&a, 3);
    ta_builder_skipped(&b, 4);
    ta_builder_add_device(&a, TA_LIT("first"));
    ta_builder_add_device(&b, TA_LIT("second"));
    const ta_str pid = text(&a, "1"), other = text(&b, "0"), same = text(&b, "1");
    assert_int_equal(ta_builder_name_process(&ctx, &a, pid, text(&a, "old")), TA_OK);
    assert_int_equal(ta_builder_name_thread(&ctx, &a, pid, pid, text(&a, "kept")), TA_OK);
    assert_int_equal(ta_builder_name_process(&ctx, &b, same, text(&b, "new")), TA_OK);
    assert_int_equal(ta_builder_name_thread(&ctx, &b, same, other, text(&b, "t")), TA_OK);
    assert_true(add_all(&a, &b));
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.world_size, 8);
    assert_int_equal(a.trace->view.base_ns, 17);
    assert_true(a.truncated);
    assert_int_equal(a.bytes_skipped, 7);
    assert_int_equal(a.first_ts, TA_MISSING);
    assert_int_equal(a.devices.n, 2);
    assert_string_equal(a.devices.at[1], "second");
    assert_string_equal(name_of(&a, (ta_str)*ta_map_find(&a.process_names, pid)), "new");
    assert_string_equal(name_of(&a, a.trace->tracks.at[0].thread_name), "kept");
    assert_string_equal(name_of(&a, a.trace->tracks.at[1].thread_name), "t");
    ta_builder_free(&a);
    ta_builder_free(&b);
}

/* Limits may be reached by both together, so these do not fit. */
static void limits(void **state)
{
    (void)state;
    struct ta_builder a, b;
    make(&a, 16);
    make(&b, 16);
    char name[16];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "a%d", i);
        text(&a, name);
        snprintf(name, sizeof name, "b%d", i);
        text(&b, name);
    }
    assert_true(ta_builder_fits(&a, &b, &unknown));
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "c%d", i);
        text(&b, name);
    }
    assert_true(ta_builder_fits(&a, &b, &unknown));
    text(&b, "one more");
    assert_false(ta_builder_fits(&a, &b, &unknown));
    ta_builder_free(&a);
    ta_builder_free(&b);
}

static int open_context(void **state)
{
    (void)state;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    ta_quality_init(&quality);
    return 0;
}

static int close_context(void **state)
{
    (void)state;
    ta_quality_free(&quality);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_ids),     cmocka_unit_test(adding_goes_on),
        cmocka_unit_test(in_turn),          cmocka_unit_test(begins_and_ends),
        cmocka_unit_test(the_other_tables), cmocka_unit_test(facts),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
