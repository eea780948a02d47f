/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge(split(x)) == x: traces mapped one by one and merged in any tree give the report that they
 * give when mapped together, byte by byte. */
#include "analyze/partial.h"
#include "report/report.h"
#include "trace_fixture.h"

#include <dirent.h>
#include <stdio.h>

enum { MADE = 8, SAMPLES = 4, MOST = MADE + SAMPLES };

struct split {
    struct ta_partial_set *whole;      /* all traces */
    struct ta_partial_set *part[MOST]; /* one each */
    size_t n;
};

static void map(struct split *split, struct ta_trace *trace)
{
    struct ta_partial_set *part = ta_partial_set_new(&fixture.plan);
    assert_non_null(part);
    trace->view.rank = (int64_t)split->n;
    trace->view.file.number = trace->view.rank;
    assert_int_equal(ta_partial_set_map(&fixture.ctx, trace, split->whole, NULL), TA_OK);
    assert_int_equal(ta_partial_set_map(&fixture.ctx, trace, part, NULL), TA_OK);
    split->part[split->n++] = part;
}

/* Traces that share names and differ in size; one is empty, one holds more kernels of one name
 * than are kept one by one when they come together. */
static void add_made(struct split *split)
{
    static const size_t sizes[MADE] = {40, 900, 3, 250, 250, 1500, 60, 700};
    for (size_t i = 0; i < MADE; i++) {
        struct text text = {0};
        struct reading r;
        if (i == 2)
            text_add(&text, "[]");
        else
            fixture_trace_text(&text, i < 5 ? i : 3, sizes[i], (int)i % 3, (int64_t)i);
        fixture_read(&fixture, text.at, text.n, &r);
        map(split, r.trace);
        reading_free(&r);
        text_free(&text);
    }
}

/* Two traces of 40 000 kernels: either one is exact, both together are not. */
static void add_large(struct split *split)
{
    for (int file = 0; file < 2; file++) {
        struct text text = {0};
        struct reading r;
        struct rng rng = {(uint64_t)file + 5};
        text_add(&text, "[");
        for (int i = 0; i < 40000; i++)
            text_add(&text,
                     "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":"
                     "%d,\"dur\":%d}",
                     i ? "," : "", i * 9, (int)rng_below(&rng, 100000));
        text_add(&text, "]");
        fixture_read(&fixture, text.at, text.n, &r);
        map(split, r.trace);
        reading_free(&r);
        text_free(&text);
    }
}

static void add_samples(struct split *split)
{
    for (int rank = 0; rank < SAMPLES; rank++) {
        char path[512];
        struct text file = {0};
        struct reading r;
        static char block[65536];
        snprintf(path, sizeof path, TA_SAMPLES "/video-4ranks/wan-t2v-rank%d.pt.trace.json.gz",
                 rank);
        FILE *in = fopen(path, "rb");
        if (!in)
            fail_msg("cannot read %s", path);
        for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
            text_put(&file, block, n);
        fclose(in);
        fixture_read(&fixture, file.at, file.n, &r);
        assert_int_equal(r.status, TA_OK);
        assert_int_equal(r.rank, rank);
        map(split, r.trace);
        reading_free(&r);
        text_free(&file);
    }
}

static char *report_of(struct ta_partial_set *set, size_t n, size_t *size)
{
    struct ta_report *report = fixture_finish(&fixture, set, n);
    char *bytes = fixture_render(&fixture, report, "json", size);
    ta_report_free(report);
    return bytes;
}

/* Parts are merged again and again, so they have to stay as they are. */
static void add(struct ta_partial_set *into, const struct ta_partial_set *from)
{
    for (size_t a = 0; a < fixture.plan.n; a++)
        for (size_t i = 0; ta_partial_set_table(from, a, i); i++)
            ta_partial_merge(ta_partial_set_table(into, a, i), ta_partial_set_table(from, a, i));
}

static struct ta_partial_set *merged(const struct ta_partial_set *a, const struct ta_partial_set *b)
{
    struct ta_partial_set *set = ta_partial_set_new(&fixture.plan);
    assert_non_null(set);
    add(set, a);
    add(set, b);
    return set;
}

/* Merges the parts in a random tree of random order. */
static struct ta_partial_set *merge_in_a_tree(const struct split *split, struct rng *rng)
{
    struct ta_partial_set *node[MOST];
    bool own[MOST] = {false};
    memcpy(node, split->part, sizeof node);
    for (size_t left = split->n; left > 1; left--) {
        const size_t a = rng_below(rng, left), last = left - 1;
        struct ta_partial_set *taken = node[a];
        const bool owned = own[a];
        node[a] = node[last];
        own[a] = own[last];
        const size_t b = rng_below(rng, last);
        struct ta_partial_set *set =
            rng_below(rng, 2) ? merged(taken, node[b]) : merged(node[b], taken);
        if (owned)
            ta_partial_set_free(taken);
        if (own[b])
            ta_partial_set_free(node[b]);
        node[b] = set;
        own[b] = true;
    }
    if (own[0])
        return node[0];
    struct ta_partial_set *nothing = ta_partial_set_new(&fixture.plan);
    struct ta_partial_set *copy = merged(node[0], nothing);
    ta_partial_set_free(nothing);
    return copy;
}

static void check(void (*fill)(struct split *split), int rounds)
{
    struct rng rng = {2024};
    struct split split = {.whole = ta_partial_set_new(&fixture.plan)};
    size_t size, again;
    fill(&split);
    char *expected = report_of(split.whole, split.n, &size);
    assert_true(size > 1000);
    for (int round = 0; round < rounds; round++) {
        char *bytes = report_of(merge_in_a_tree(&split, &rng), split.n, &again);
        if (again != size || memcmp(bytes, expected, size) != 0) {
            size_t at = 0;
            while (at < size && at < again && bytes[at] == expected[at])
                at++;
            at = at < 60 ? 0 : at - 60;
            fail_msg("round %d differs: …%.120s… not …%.120s…", round, bytes + at, expected + at);
        }
        free(bytes);
    }
    free(expected);
    for (size_t i = 0; i < split.n; i++)
        ta_partial_set_free(split.part[i]);
}

static void made_traces(void **state)
{
    (void)state;
    check(add_made, 200);
}

static void distributions_beyond_exact_samples(void **state)
{
    (void)state;
    check(add_large, 8);
}

static void samples(void **state)
{
    (void)state;
    check(add_samples, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_traces),
        cmocka_unit_test(distributions_beyond_exact_samples),
        cmocka_unit_test(samples),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
