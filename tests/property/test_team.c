/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that share the files of a run make the report of one process, byte for byte, however
 * many they are.  Threads stand in for them here. */
#include "pipeline.h"
#include "report_fixture.h"
#include "analyze/summary/text.h"
#include "ingest/team.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

enum { MEMBERS_MOST = 9 };

/* Messages of a team: one at a time from each to each, and a place where all meet. */
struct hall {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ta_text post[MEMBERS_MOST][MEMBERS_MOST]; /* from, to */
    bool is_full[MEMBERS_MOST][MEMBERS_MOST];
    size_t n_here, count;
    int code;
    size_t speaker;
    uint64_t seen;
    bool differ;
};

struct member {
    struct ta_team team;
    struct ta_shared shared;
    struct ta_ctx ctx;
    const char *const *inputs;
    size_t n_inputs;
    struct ta_report *report;
    enum ta_status status;
    pthread_t thread;
};

static int agree(struct ta_team *team, int code, uint64_t seen)
{
    struct hall *hall = team->user;
    pthread_mutex_lock(&hall->lock);
    if (code && (!hall->code || team->index < hall->speaker)) {
        hall->code = code;
        hall->speaker = team->index;
    }
    hall->differ |= hall->n_here > 0 && hall->seen != seen;
    hall->seen = seen;
    hall->n_here++;
    pthread_cond_broadcast(&hall->changed);
    while (hall->n_here < hall->count)
        pthread_cond_wait(&hall->changed, &hall->lock);
    team->speaker = hall->code ? hall->speaker : 0;
    const int all = hall->code ? hall->code : hall->differ ? 3 : 0;
    pthread_mutex_unlock(&hall->lock);
    return all;
}

static enum ta_status post(struct ta_ctx *ctx, struct ta_team *team, size_t to,
                           struct ta_slice bytes)
{
    struct hall *hall = team->user;
    (void)ctx;
    pthread_mutex_lock(&hall->lock);
    while (hall->is_full[team->index][to]) /* a message after the other */
        pthread_cond_wait(&hall->changed, &hall->lock);
    ta_text_put(&hall->post[team->index][to], bytes);
    hall->is_full[team->index][to] = true;
    pthread_cond_broadcast(&hall->changed);
    pthread_mutex_unlock(&hall->lock);
    return TA_OK;
}

static enum ta_status fetch(struct ta_ctx *ctx, struct ta_team *team, size_t from, char **bytes,
                            size_t *n)
{
    struct hall *hall = team->user;
    (void)ctx;
    pthread_mutex_lock(&hall->lock);
    while (!hall->is_full[from][team->index])
        pthread_cond_wait(&hall->changed, &hall->lock);
    *bytes = hall->post[from][team->index].bytes.at;
    *n = hall->post[from][team->index].bytes.n;
    hall->post[from][team->index] = (struct ta_text){0};
    hall->is_full[from][team->index] = false;
    pthread_cond_broadcast(&hall->changed);
    pthread_mutex_unlock(&hall->lock);
    return TA_OK;
}

static void *take_part(void *argument)
{
    struct member *member = argument;
    const struct ta_run_options options = {.inputs = member->inputs,
                                           .n_inputs = member->n_inputs,
                                           .jobs = 2,
                                           .world_size = TA_MISSING,
                                           .title = "a title",
                                           .version = "1.2.3",
                                           .team = &member->team};
    member->status = ta_pipeline_run(&member->ctx, fixture.registry, &options, &member->report);
    if (!member->team.has_agreed)
        ta_team_agree(&member->team, 2, 0);
    return NULL;
}

/* Runs a team; the last member gets other inputs when `others` is not NULL. */
static void run_team(struct hall *hall, struct member *members, size_t count,
                     const char *const *inputs, size_t n_inputs, const char *const *others)
{
    *hall = (struct hall){.count = count};
    pthread_mutex_init(&hall->lock, NULL);
    pthread_cond_init(&hall->changed, NULL);
    for (size_t i = 0; i < count; i++) {
        struct member *member = &members[i];
        *member = (struct member){
            .team = {.index = i,
                     .count = count,
                     .agree = agree,
                     .send = post,
                     .receive = fetch,
                     .user = hall},
            .inputs = others && i + 1 == count ? others : inputs,
            .n_inputs = n_inputs,
        };
        ta_shared_init(&member->shared);
        ta_ctx_init(&member->ctx, &member->shared);
        assert_int_equal(pthread_create(&member->thread, NULL, take_part, member), 0);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(members[i].thread, NULL);
    pthread_mutex_destroy(&hall->lock);
    pthread_cond_destroy(&hall->changed);
}

static struct hall hall;
static struct member members[MEMBERS_MOST];

static void check(const char *const *inputs, size_t n)
{
    static const size_t counts[] = {1, 2, 3, 4, 7, 8, 9};
    size_t size, again;
    char *expected = report_bytes(inputs, n, 1, &size);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run_team(&hall, members, counts[i], inputs, n, NULL);
        for (size_t m = 0; m < counts[i]; m++) {
            if (members[m].status != TA_OK)
                fail_msg("member %zu of %zu: %s", m, counts[i], ta_ctx_causes(&members[m].ctx));
            assert_int_equal(members[m].report != NULL, m == 0);
            assert_int_equal(members[m].team.state, TA_TEAM_DONE);
        }
        char *bytes = fixture_render(&fixture, members[0].report, "json", &again);
        ta_report_free(members[0].report);
        assert_same_bytes(expected, size, bytes, again);
    }
    free(expected);
}

/* Traces of many ranks, cut, twice there, packed, and what is no trace. */
static void made_folder(void **state)
{
    (void)state;
    char root[64], path[256];
    fixture_folder(root);
    for (size_t i = 0; i < 14; i++) {
        struct text text = {0};
        size_t size = 0;
        fixture_trace_text(&text, i % 13, 60 + 50 * i, i % 2 ? 1 : 2, (int64_t)(i % 13));
        unsigned char *gz = i % 3 == 0 ? fixture_gzip(text.at, text.n, &size) : NULL;
        if (i == 6)
            gz[size / 2] ^= 0x55;
        snprintf(path, sizeof path, "%s/rank%zu.json%s", root, i, gz ? ".gz" : "");
        fixture_write(path, gz ? (char *)gz : text.at, gz ? size : i == 4 ? text.n / 2 : text.n);
        free(gz);
        text_free(&text);
    }
    snprintf(path, sizeof path, "%s/rank50.json", root);
    fixture_write(path, "no trace", 8);
    check((const char *const[]){root}, 1);
    fixture_remove(root);
}

static void dumps(void **state)
{
    (void)state;
    check((const char *const[]){TA_SAMPLES "/inferix-4ranks", TA_SAMPLES "/diffulex"}, 2);
}

/* Fewer files than processes, and none that can be used. */
static void idle_members(void **state)
{
    (void)state;
    char root[64], path[256];
    fixture_folder(root);
    snprintf(path, sizeof path, "%s/rank0.json", root);
    static const char one[] = "[{\"ph\":\"i\",\"name\":\"x\",\"ts\":1,\"pid\":1,\"tid\":1}]";
    fixture_write(path, one, sizeof one - 1);
    check((const char *const[]){root}, 1);
    fixture_write(path, "nothing", 7);
    run_team(&hall, members, 3, (const char *const[]){root}, 1, NULL);
    assert_int_equal(members[0].status, TA_ERR_INPUT);
    assert_non_null(strstr(ta_ctx_causes(&members[0].ctx), "No usable trace"));
    assert_int_equal(members[1].status, TA_OK);
    fixture_remove(root);
}

/* Nobody waits for one that cannot go on, and one of them says why. */
static void members_that_differ(void **state)
{
    (void)state;
    char root[64], other[64], path[256];
    fixture_folder(root);
    fixture_folder(other);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/rank%zu.json", i ? other : root, i);
        fixture_write(path, "[]", 2);
    }
    run_team(&hall, members, 5, (const char *const[]){root}, 1, (const char *const[]){other});
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(members[i].status, TA_ERR_INPUT);
        assert_int_equal(members[i].team.state, TA_TEAM_DONE);
        assert_int_equal(ta_team_speaks(&members[i].team), i == 0);
    }
    assert_non_null(strstr(ta_ctx_causes(&members[0].ctx), "do not find the same files"));
    run_team(&hall, members, 5, (const char *const[]){root}, 1, (const char *const[]){"/nowhere"});
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(members[i].status, TA_ERR_INPUT);
        assert_int_equal(ta_team_speaks(&members[i].team), i == 4);
    }
    assert_non_null(strstr(ta_ctx_causes(&members[4].ctx), "/nowhere"));
    fixture_remove(root);
    fixture_remove(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(made_folder), cmocka_unit_test(dumps),
                                       cmocka_unit_test(idle_members),
                                       cmocka_unit_test(members_that_differ)};
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
