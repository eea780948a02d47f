/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders through ta_ingest(), each trace looked at where a worker hands it to the analyses. */
#include "jobs.h"

#include "compare.h"
#include "ingest/ingest.h"
#include "normalize/file_ranks.h"

#include <pthread.h>
#include <stdio.h>

/* What a file must give. */
struct expected {
    char *shown; /* its name below the folder */
    struct slow_reading slow;
    struct outcome plainest;
};

/* The wrapped call has no room for an argument of ours. */
static struct {
    pthread_mutex_t lock;
    const struct expected *files;
    size_t n;
    const char *config;
    unsigned seen, differences;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum ta_status __real_ta_partial_set_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                         struct ta_partial_set *set,
                                         const struct ta_beside *beside);
enum ta_status __wrap_ta_partial_set_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                         struct ta_partial_set *set,
                                         const struct ta_beside *beside);

bool __wrap_ta_find_file_ranks(struct ta_builder *builder, struct ta_file_ranks *ranks);

/* Events at random can look like those of several ranks, which would become a trace each.  What is
 * compared is the reading of the whole file. */
bool __wrap_ta_find_file_ranks(struct ta_builder *builder, struct ta_file_ranks *ranks)
{
    (void)builder;
    (void)ranks;
    return true;
}

static const struct expected *find_expected(const char *shown)
{
    for (size_t i = 0; i < watch.n; i++)
        if (strcmp(watch.files[i].shown, shown) == 0)
            return &watch.files[i];
    return NULL;
}

static void tell(const char *shown, const struct difference *d)
{
    if (watch.differences++ < 10)
        print_error("%s, %s:\n  %s\n", shown, watch.config, d->what);
}

enum ta_status __wrap_ta_partial_set_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                         struct ta_partial_set *set, const struct ta_beside *beside)
{
    const char *shown = ta_trace_file(trace).path;
    struct difference d = {.what = "a file that is not expected"};
    const struct expected *file = find_expected(shown);
    const struct outcome *right = !file                 ? NULL
                                  : file->slow.accepted ? &file->slow.outcome
                                                        : &file->plainest;
    const bool same = right && right->trace && trace_same(right->trace, trace, &d);
    pthread_mutex_lock(&watch.lock);
    watch.seen++;
    if (!same)
        tell(shown, &d);
    pthread_mutex_unlock(&watch.lock);
    return __real_ta_partial_set_map(ctx, trace, set, beside);
}

static void check_facts(const struct ta_ingested *file)
{
    const struct expected *e = find_expected(file->source->shown);
    assert_non_null(e);
    const struct outcome *right = &e->plainest;
    struct difference d = {.what = "its counts differ"};
    const bool counts = file->kept == right->kept && file->dropped == right->dropped &&
                        file->repaired == right->repaired &&
                        file->bytes_skipped == right->skipped &&
                        file->first_ts == right->first_ts && file->last_ts == right->last_ts &&
                        file->rank == right->rank && file->world_size == right->world_size &&
                        file->truncated == (right->truncated || right->early) &&
                        (file->refusal != NULL) == (right->status != TA_OK);
    if (!counts || !quality_same(&right->quality, &file->quality, true, &d))
        tell(e->shown, &d);
}

static void ingest(struct oracle *o, const struct ta_sources *sources, const struct config *config,
                   unsigned jobs)
{
    struct ta_ctx ctx;
    struct ta_ingestion ingestion;
    char text[160];
    const struct ta_run_options options = {.jobs = jobs, .world_size = TA_MISSING};
    config_text(config, text, 100);
    snprintf(text + strlen(text), 40, " jobs=%u", jobs);
    watch.config = text;
    watch.seen = 0;
    o->fixture.shared.cpu = config->cpu;
    o->fixture.shared.block = config->block;
    fixture_chunk = config->block;
    ta_ctx_init(&ctx, &o->fixture.shared);
    if (ta_ingest(&ctx, o->fixture.registry, &options, &o->fixture.plan, sources, &ingestion) !=
        TA_OK)
        fail_msg("%s: %s", text, ta_ctx_causes(&ctx));
    unsigned refused = 0;
    for (size_t i = 0; i < ingestion.n_files; i++) {
        check_facts(&ingestion.files[i]);
        refused += ingestion.files[i].refusal != NULL;
    }
    assert_int_equal(watch.seen + refused, ingestion.n_files);
    o->runs += (unsigned)ingestion.n_files;
    ta_ingestion_free(&ingestion);
    fixture_chunk = 0;
    o->fixture.shared.cpu = NULL;
    o->fixture.shared.block = 0;
}

static void expect(struct oracle *o, const char *folder, const char *shown, struct expected *e)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, shown);
    char *text = slow_inflate(path, &size);
    assert_non_null(text);
    *e = (struct expected){.shown = strdup(shown)};
    slow_read(&o->fixture, text, size, &e->slow);
    outcome_read(&o->fixture, path, &(struct config){.cpu = o->cpus[0]}, &e->plainest);
    o->inputs++;
    o->accepted += e->slow.accepted;
    free(text);
}

void jobs_check(struct oracle *o, const char *folder, const size_t *blocks)
{
    static const unsigned jobs[] = {1, 2, 8};
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_sources sources = {.quality = &quality};
    ta_ctx_init(&ctx, &o->fixture.shared);
    ta_quality_init(&quality);
    assert_int_equal(ta_discover(&ctx, &folder, 1, &sources), TA_OK);
    struct expected *files = calloc(sources.list.n, sizeof *files);
    assert_non_null(files);
    watch.files = files;
    watch.n = sources.list.n;
    watch.differences = 0;
    for (size_t i = 0; i < watch.n; i++)
        expect(o, folder, sources.list.at[i].shown, &files[i]);
    for (size_t c = 0; c < o->n_cpus; c++)
        for (const size_t *block = blocks;; block++) {
            for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++)
                ingest(o, &sources, &(struct config){.cpu = o->cpus[c], .block = *block}, jobs[j]);
            if (*block == 0)
                break;
        }
    o->differences += watch.differences;
    for (size_t i = 0; i < watch.n; i++) {
        slow_free(&files[i].slow);
        outcome_free(&files[i].plainest);
        free(files[i].shown);
    }
    free(files);
    ta_sources_free(&sources);
    ta_quality_free(&quality);
}
