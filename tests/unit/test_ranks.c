/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rank a trace belongs to, and every contradiction about it. */
#include "discover/discover.h"

#include "trace_fixture.h"

#include <stdio.h>

static struct ta_shared shared;
static struct ta_ctx ctx;

struct deciding {
    struct ta_quality quality;
    struct ta_rank_claim claims[8];
    size_t n;
    int64_t world_size;
    enum ta_status status;
};

#define NONE TA_MISSING

static struct ta_rank_claim claim(const char *shown, int64_t content, int64_t world_size)
{
    return (struct ta_rank_claim){.shown = shown, .content = content, .world_size = world_size};
}

static void decide(struct deciding *d, const char *pattern, int64_t world_size,
                   const struct ta_rank_claim *claims, size_t n)
{
    *d = (struct deciding){.n = n, .world_size = world_size};
    ta_quality_init(&d->quality);
    memcpy(d->claims, claims, n * sizeof *claims);
    d->status = ta_decide_ranks(&ctx, &d->quality, pattern, false, &d->world_size, d->claims, n);
}

#define DECIDE(d, pattern, world_size, ...)                                                        \
    decide((d), (pattern), (world_size), (const struct ta_rank_claim[]){__VA_ARGS__},              \
           sizeof((const struct ta_rank_claim[]){__VA_ARGS__}) / sizeof(struct ta_rank_claim))

static void assert_decided(const struct deciding *d, size_t i, int64_t rank,
                           enum ta_rank_source source)
{
    assert_int_equal(d->status, TA_OK);
    assert_int_equal(d->claims[i].rank, rank);
    assert_int_equal(d->claims[i].source, source);
}

static void assert_said(const struct deciding *d, enum ta_quality_code code, uint64_t count,
                        const char *text)
{
    assert_finding(&d->quality, code, count, TA_NO_OFFSET);
    if (!strstr(d->quality.slots[code].text, text))
        fail_msg("\"%s\" does not say \"%s\"", d->quality.slots[code].text, text);
}

static void end(struct deciding *d)
{
    ta_quality_free(&d->quality);
}

static void content_is_believed(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, claim("rank0.json", 0, 2), claim("rank1.json", 1, 2));
    assert_decided(&d, 0, 0, TA_RANK_CONTENT);
    assert_decided(&d, 1, 1, TA_RANK_CONTENT);
    assert_int_equal(d.world_size, 2);
    assert_no_finding(&d.quality);
    end(&d);
    DECIDE(&d, NULL, NONE, claim("rank7.json", 0, 2), claim("b.json", 1, 2));
    assert_decided(&d, 0, 0, TA_RANK_CONTENT);
    assert_said(&d, TA_Q_RANK_CONFLICT, 1, "\"rank7.json\" says that it is rank 0");
    assert_no_finding_but(&d.quality, TA_Q_RANK_CONFLICT);
    end(&d);
}

static void names_are_believed_next(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t rank;
    } names[] = {
        {"rank3.json", 3},       {"a/rank_12.pt.trace.json.gz", 12},
        {"rank-4", 4},           {"rank/5/trace.json", 5},
        {"run[rank[6].json", 6}, {"trace_rank007.json", 7},
        {"ranks.json", 0},       {"Rank3.json", 0},
        {"rank x3.json", 0},     {"rank99999999999999999999.json", 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct deciding d;
        DECIDE(&d, NULL, NONE, claim(names[i].name, NONE, NONE));
        assert_decided(&d, 0, names[i].rank, names[i].rank ? TA_RANK_NAME : TA_RANK_POSITION);
        assert_no_finding(&d.quality); /* of one file nobody doubts it */
        assert_true(d.world_size == NONE);
        end(&d);
    }
}

static void places_in_groups_make_a_rank(void **state)
{
    (void)state;
    struct deciding d; /* two stages of two: ranks of a stage follow each other */
    DECIDE(&d, NULL, NONE, claim("1764.5-TP-0-PP-0.trace.json", NONE, NONE),
           claim("1764.5-TP-0-PP-1.trace.json", NONE, NONE),
           claim("1764.5-TP-1-PP-0.trace.json", NONE, NONE),
           claim("1764.5-TP-1-PP-1.trace.json", NONE, NONE));
    const int64_t stages[] = {0, 2, 1, 3};
    for (size_t i = 0; i < 4; i++)
        assert_decided(&d, i, stages[i], TA_RANK_NAME);
    end(&d);
    /* Data parallelism of attention divides the tensor group; the rank is the place in that. */
    DECIDE(&d, NULL, NONE, claim("TP-2-DP-1-EP-2.json", NONE, NONE),
           claim("TP-3-DP-1-EP-3.json", NONE, NONE));
    assert_decided(&d, 0, 2, TA_RANK_NAME);
    assert_decided(&d, 1, 3, TA_RANK_NAME);
    end(&d);
    /* Replicas each have a first place. */
    DECIDE(&d, NULL, NONE, claim("TP-0-DP-0.json", NONE, NONE), claim("TP-0-DP-1.json", NONE, NONE),
           claim("TP-1-DP-0.json", NONE, NONE), claim("TP-1-DP-1.json", NONE, NONE));
    const int64_t replicas[] = {0, 2, 1, 3};
    for (size_t i = 0; i < 4; i++)
        assert_decided(&d, i, replicas[i], TA_RANK_NAME);
    end(&d);
    /* Content is believed before, and a word of which TP- is a part is none. */
    DECIDE(&d, NULL, NONE, claim("TP-1-DECODE.json", 9, 16), claim("HTTP-7.json", NONE, NONE));
    assert_decided(&d, 0, 9, TA_RANK_CONTENT);
    assert_decided(&d, 1, 1, TA_RANK_POSITION);
    end(&d);
}

static void positions_are_the_last_resort(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, claim("a.json", NONE, NONE), claim("b-rank5.json", NONE, NONE),
           claim("c.json", NONE, NONE));
    assert_decided(&d, 0, 0, TA_RANK_POSITION);
    assert_decided(&d, 1, 5, TA_RANK_NAME);
    assert_decided(&d, 2, 2, TA_RANK_POSITION);
    assert_said(&d, TA_Q_RANK_POSITION, 2, "\"a.json\" does not say its rank; it counts as rank 0");
    assert_said(&d, TA_Q_RANK_FROM_NAME, 1, "rank 5 is taken from its name");
    assert_no_finding_but(&d.quality, TA_Q_RANK_POSITION, TA_Q_RANK_FROM_NAME);
    end(&d);
}

static void the_option_is_believed_first(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, "node([0-9]+)", NONE, claim("rank1-node4.json", 0, NONE),
           claim("rank2.json", NONE, NONE));
    assert_decided(&d, 0, 4, TA_RANK_OPTION);
    assert_decided(&d, 1, 2, TA_RANK_NAME); /* where it does not match, the others count */
    assert_no_finding_but(&d.quality, TA_Q_RANK_FROM_NAME);
    end(&d);
}

static void unusable_patterns(void **state)
{
    (void)state;
    static const char *const patterns[] = {"rank[0-9]+", "rank([0-9]+", "", "(", "[z-a]([0-9])"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct deciding d;
        DECIDE(&d, patterns[i], NONE, claim("rank1.json", 1, NONE));
        assert_int_equal(d.status, TA_ERR_USAGE);
        assert_non_null(strstr(ta_ctx_causes(&ctx), "--rank-regex"));
        end(&d);
    }
}

static void a_rank_claimed_twice(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, claim("a.json", 1, NONE), claim("b.json", 0, NONE),
           claim("c.json", 1, NONE), claim("d.json", 1, NONE));
    assert_said(&d, TA_Q_RANK_DUPLICATE, 2, "rank 1: \"a.json\" and \"c.json\"; both are used");
    for (size_t i = 0; i < 4; i++)
        assert_decided(&d, i, i == 1 ? 0 : 1, TA_RANK_CONTENT);
    end(&d);
}

static void missing_ranks_are_named(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, claim("a", 1, 10), claim("b", 2, 10), claim("c", 7, 10));
    assert_said(&d, TA_Q_RANK_MISSING, 1,
                "7 of 10 ranks have no trace: rank 0, 3\u20136, 8\u20139");
    assert_int_equal(d.quality.slots[TA_Q_RANK_MISSING].severity, TA_QUALITY_NOTICE);
    end(&d);
    DECIDE(&d, NULL, NONE, claim("a", 0, 4));
    assert_said(&d, TA_Q_RANK_MISSING, 1, "3 of 4 ranks have no trace: rank 1\u20133");
    assert_int_equal(d.quality.slots[TA_Q_RANK_MISSING].severity, TA_QUALITY_INFO);
    end(&d);
    DECIDE(&d, NULL, 3, claim("a", 0, NONE), claim("b", 1, NONE));
    assert_said(&d, TA_Q_RANK_MISSING, 1, "1 of 3 ranks have no trace: rank 2");
    end(&d);
}

/* A rank beyond the world hides none of the missing ones. */
static void ranks_beyond_the_world(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, claim("a", 0, 4), claim("b", 9, 4), claim("c", 4, 4));
    assert_said(&d, TA_Q_RANK_BEYOND_WORLD, 2, "\"c\" is rank 4, beyond the world size of 4");
    assert_said(&d, TA_Q_RANK_MISSING, 1, "3 of 4 ranks have no trace: rank 1\u20133");
    end(&d);
}

/* With very many ranks the text stays short and the number right. */
static void many_missing_ranks(void **state)
{
    (void)state;
    enum { N = 100 };
    struct ta_quality quality;
    struct ta_rank_claim claims[N];
    char names[N][16];
    ta_quality_init(&quality);
    for (int64_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "%03d", (int)i);
        claims[i] = claim(names[i], i * 1000000, INT64_C(1000000000000));
    }
    int64_t world_size = NONE;
    assert_int_equal(ta_decide_ranks(&ctx, &quality, NULL, false, &world_size, claims, N), TA_OK);
    const char *text = quality.slots[TA_Q_RANK_MISSING].text;
    assert_non_null(strstr(text, "999999999900 of 1000000000000 ranks"));
    assert_true(strlen(text) < 300);
    ta_quality_free(&quality);
}

static void world_sizes_that_differ(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, claim("a", 0, NONE), claim("b", 1, 2), claim("c", 2, 4),
           claim("d", 3, 2));
    assert_said(&d, TA_Q_WORLD_SIZE, 1, "World sizes differ: 2 in \"b\", 4 in \"c\"");
    assert_int_equal(d.world_size, 4);
    assert_no_finding_but(&d.quality, TA_Q_WORLD_SIZE);
    end(&d);
}

/* The user's word counts more than that of the files, and the contradiction is said. */
static void a_world_size_that_was_given(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, 1, claim("a", 0, 2), claim("b", 1, 2));
    assert_int_equal(d.world_size, 1);
    assert_said(&d, TA_Q_WORLD_SIZE, 2, "World sizes differ: 1 by --world-size, 2 in \"a\"");
    assert_said(&d, TA_Q_RANK_BEYOND_WORLD, 1, "\"b\" is rank 1, beyond the world size of 1");
    assert_no_finding_but(&d.quality, TA_Q_WORLD_SIZE, TA_Q_RANK_BEYOND_WORLD);
    end(&d);
    DECIDE(&d, NULL, 2, claim("a", 0, 2), claim("b", 1, NONE));
    assert_int_equal(d.world_size, 2);
    assert_no_finding(&d.quality);
    end(&d);
}

static void keep_message(void *user, enum ta_log_level level, const char *code, const char *text)
{
    (void)level, (void)code;
    snprintf(user, 1024, "%s", text);
}

/* A pattern that finds nothing is most likely a mistake; one that finds something may be meant
 * so. */
static void a_pattern_that_finds_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        bool said;
    } cases[] = {{"node([0-9]+)", true}, {"ran(k)", true}, {"rank(1)", false}, {NULL, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024] = "";
        struct deciding d;
        shared.message = keep_message;
        shared.message_user = text;
        DECIDE(&d, cases[i].pattern, NONE, claim("rank0.json", 0, 2), claim("rank1.json", 1, 2));
        shared.message = NULL;
        if (cases[i].said)
            assert_non_null(strstr(text, cases[i].pattern));
        else
            assert_string_equal(text, "");
        end(&d);
    }
}

static void vendors_that_differ(void **state)
{
    (void)state;
    struct deciding d;
    struct ta_rank_claim claims[] = {claim("a", 0, NONE), claim("b", 1, NONE), claim("c", 2, NONE)};
    claims[0].vendor = NULL;
    claims[1].vendor = "CUDA";
    claims[2].vendor = "ROCm";
    decide(&d, NULL, NONE, claims, 3);
    assert_said(&d, TA_Q_MIXED_VENDORS, 1, "CUDA in \"b\", ROCm in \"c\"");
    assert_no_finding_but(&d.quality, TA_Q_MIXED_VENDORS);
    end(&d);
}

/* ---- dumps --------------------------------------------------------------------------------- */

static struct ta_rank_claim dump(const char *shown, const char *set, int64_t content)
{
    return (struct ta_rank_claim){
        .shown = shown, .content = content, .world_size = NONE, .is_dump = true, .set = set};
}

/* A process writes many dumps: without a rank they are of one, and nothing is said of it. */
static void dumps_without_a_rank_are_one(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, dump("a.csv", NULL, NONE), dump("b.json", "", NONE),
           claim("c.json", NONE, NONE), dump("rank_3/d.json", NULL, NONE),
           dump("x-rank2-memory-1.pickle", NULL, NONE), dump("e.rank4.csv", NULL, 5));
    assert_decided(&d, 0, 0, TA_RANK_DEFAULT);
    assert_decided(&d, 1, 0, TA_RANK_DEFAULT);
    assert_decided(&d, 2, 0, TA_RANK_POSITION); /* of the traces alone */
    assert_decided(&d, 3, 3, TA_RANK_NAME);
    assert_decided(&d, 4, 2, TA_RANK_NAME);
    assert_decided(&d, 5, 5, TA_RANK_CONTENT);
    assert_said(&d, TA_Q_RANK_CONFLICT, 1, "e.rank4.csv");
    assert_no_finding_but(&d.quality, TA_Q_RANK_CONFLICT);
    end(&d);
}

static void files_of_different_kinds_join(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, claim("rank0.json", 0, NONE), dump("rank0.pickle", NULL, NONE),
           claim("rank1.json", 1, NONE), dump("rank1.pickle", NULL, NONE));
    assert_no_finding(&d.quality);
    end(&d);
    DECIDE(&d, NULL, NONE, claim("a", 0, NONE), dump("b", NULL, 0), claim("c", 0, NONE));
    assert_said(&d, TA_Q_RANK_DUPLICATE, 1, "\"a\" and \"c\"");
    end(&d);
}

static void files_of_a_set_share_a_rank(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, NULL, NONE, dump("raw.json", "s", NONE), dump("report.json", "s", 3),
           dump("sub/raw.json", "s", NONE), dump("raw2.json", "t", NONE),
           dump("rank_1/t.json", "t", 1), dump("rank_2/t.json", "t", 2));
    assert_decided(&d, 0, 3, TA_RANK_CONTENT);
    assert_decided(&d, 2, 0, TA_RANK_DEFAULT); /* another folder */
    assert_decided(&d, 3, 0, TA_RANK_DEFAULT); /* of which of two? */
    end(&d);
}

/* The sections of a process have a trace each, which the dump of the process names. */
static void traces_that_a_dump_names_are_of_its_rank(void **state)
{
    (void)state;
    static const char *products[] = {"a.json", "c.json", "rank7.json", NULL};
    static const char *others[] = {"b.json", "d.json", NULL};
    struct deciding d;
    struct ta_rank_claim claims[] = {
        claim("a.json", NONE, NONE),     claim("b.json", NONE, NONE),
        claim("c.json", NONE, NONE),     claim("d.json", 5, NONE),
        claim("rank7.json", NONE, NONE), claim("sub/a.json", NONE, NONE),
        dump("run.json", "s", 3),        dump("run.txt", "s", NONE)};
    claims[6].products = claims[7].products = products;
    decide(&d, NULL, NONE, claims, 8);
    assert_decided(&d, 0, 3, TA_RANK_PRODUCT);
    assert_decided(&d, 1, 1, TA_RANK_POSITION);
    assert_decided(&d, 2, 3, TA_RANK_PRODUCT);
    assert_decided(&d, 3, 5, TA_RANK_CONTENT);
    assert_decided(&d, 4, 7, TA_RANK_NAME);
    assert_decided(&d, 5, 5, TA_RANK_POSITION); /* another folder */
    assert_said(&d, TA_Q_RANK_POSITION, 2, "b.json");
    assert_said(&d, TA_Q_RANK_DUPLICATE, 1, "\"d.json\" and \"sub/a.json\""); /* not a and c */
    end(&d);
    claims[7] = dump("other.json", "t", 4); /* dumps of two ranks that both name c: whose is it? */
    claims[7].products = products;
    claims[6].products = products;
    decide(&d, NULL, NONE, claims, 8);
    assert_decided(&d, 2, 2, TA_RANK_POSITION);
    end(&d);
    claims[7].products = others;
    decide(&d, NULL, NONE, claims, 8);
    assert_decided(&d, 1, 4, TA_RANK_PRODUCT);
    assert_decided(&d, 2, 3, TA_RANK_PRODUCT);
    end(&d);
    decide(&d, "(5)$", NONE, claims, 8); /* finds nothing */
    assert_decided(&d, 0, 3, TA_RANK_PRODUCT);
    end(&d);
}

static void a_console_has_the_only_rank_below(void **state)
{
    (void)state;
    for (int64_t other = 3; other < 5; other++) {
        struct deciding d;
        struct ta_rank_claim claims[] = {dump("console.txt", "", NONE), dump("a/x.json", "s", 3),
                                         dump("b/rank_9/x.json", "s", other)};
        claims[0].is_console = true;
        decide(&d, NULL, NONE, claims, 3);
        assert_decided(&d, 0, other == 3 ? 3 : 0, other == 3 ? TA_RANK_CONTENT : TA_RANK_DEFAULT);
        end(&d);
    }
}

static void tables_of_several_ranks(void **state)
{
    (void)state;
    static const int64_t ranks[] = {0, 1, 3};
    struct deciding d;
    struct ta_rank_claim claims[] = {dump("several.csv", NULL, NONE), dump("one.csv", NULL, NONE),
                                     dump("some.csv", NULL, NONE)};
    for (size_t i = 0; i < 3; i++)
        claims[i].row_ranks = ranks + i;
    claims[0].n_row_ranks = 3;
    claims[1].n_row_ranks = claims[2].n_row_ranks = 1;
    claims[0].all_rows = claims[1].all_rows = true;
    decide(&d, NULL, 4, claims, 3);
    assert_decided(&d, 0, NONE, TA_RANK_CONTENT);
    assert_decided(&d, 1, 1, TA_RANK_CONTENT);
    assert_decided(&d, 2, 0, TA_RANK_DEFAULT);
    /* Ranks of rows are not missing. */
    assert_said(&d, TA_Q_RANK_MISSING, 1, "1 of 4 ranks have no trace: rank 2");
    end(&d);
}

static void the_option_counts_for_dumps(void **state)
{
    (void)state;
    struct deciding d;
    DECIDE(&d, "gpu([0-9]+)", NONE, dump("gpu6/rank_1/a.json", NULL, 2));
    assert_decided(&d, 0, 6, TA_RANK_OPTION);
    end(&d);
}

static void folders_of_copies(void **state)
{
    (void)state;
    static const char *const folders[][2] = {
        {"a.json", ""},
        {"rank_0/a.json", ""},
        {"x/rank_12/a.json", "x"},
        {"x/rank-1/a", "x"},
        {"x/rank1/a", "x"},
        {"x/rank/a", "x/rank"},
        {"x/ranks4/a", "x/ranks4"},
        {"x/3/a", "x/3"},
        {"rank_0/y/a", "rank_0/y"},
        {"x/frank_1/a", "x/frank_1"},
        {"_1/a", "_1"},
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const struct ta_slice folder = ta_copy_folder(folders[i][0]);
        if (!ta_slice_equal(folder, ta_slice_of(folders[i][1])))
            fail_msg("%s: %.*s", folders[i][0], (int)folder.len, folder.ptr);
    }
    assert_true(ta_folder_is_below(TA_LIT("a/b"), TA_LIT("a")));
    assert_true(ta_folder_is_below(TA_LIT("a"), TA_LIT("a")));
    assert_true(ta_folder_is_below(TA_LIT("a"), TA_LIT("")));
    assert_false(ta_folder_is_below(TA_LIT("ab"), TA_LIT("a")));
    assert_false(ta_folder_is_below(TA_LIT("a"), TA_LIT("a/b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_believed),
        cmocka_unit_test(names_are_believed_next),
        cmocka_unit_test(places_in_groups_make_a_rank),
        cmocka_unit_test(positions_are_the_last_resort),
        cmocka_unit_test(the_option_is_believed_first),
        cmocka_unit_test(unusable_patterns),
        cmocka_unit_test(a_rank_claimed_twice),
        cmocka_unit_test(missing_ranks_are_named),
        cmocka_unit_test(ranks_beyond_the_world),
        cmocka_unit_test(many_missing_ranks),
        cmocka_unit_test(world_sizes_that_differ),
        cmocka_unit_test(a_world_size_that_was_given),
        cmocka_unit_test(a_pattern_that_finds_nothing),
        cmocka_unit_test(vendors_that_differ),
        cmocka_unit_test(dumps_without_a_rank_are_one),
        cmocka_unit_test(files_of_different_kinds_join),
        cmocka_unit_test(files_of_a_set_share_a_rank),
        cmocka_unit_test(traces_that_a_dump_names_are_of_its_rank),
        cmocka_unit_test(a_console_has_the_only_rank_below),
        cmocka_unit_test(tables_of_several_ranks),
        cmocka_unit_test(the_option_counts_for_dumps),
        cmocka_unit_test(folders_of_copies),
    };
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
