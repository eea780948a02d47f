/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares the ranks out to threads; a file is only ever touched by one of them at a time. */
#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include "rng.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_PATH = 4096, MAX_JOBS = 64, DEVICES_PER_HOST = 8, BLOCK_TOKENS = 4680 };

bool output_make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "traceanalyze-generate: %s: %s\n", path, strerror(errno));
    return false;
}

static bool open_rank(struct output *output, int rank, const struct output_options *options)
{
    char path[MAX_PATH];
    const int length = snprintf(path, sizeof path, "%s/wan-t2v-rank%d.pt.trace.json%s",
                                options->folder, rank, options->gzip_level != 0 ? ".gz" : "");
    if (length < 0 || length >= MAX_PATH) {
        fputs("traceanalyze-generate: the folder name is too long\n", stderr);
        return false;
    }
    struct rng rng;
    rng_seed(&rng, options->seed, UINT64_C(1) << 32 | (uint32_t)rank);
    struct kineto *kineto = &output->ranks[rank];
    kineto->texts = &output->texts;
    kineto->rank = rank;
    kineto->device = rank % DEVICES_PER_HOST;
    kineto->devices = options->ranks < DEVICES_PER_HOST ? options->ranks : DEVICES_PER_HOST;
    kineto->host_devices = DEVICES_PER_HOST;
    kineto->clock.ahead = rank * options->clock_skew;
    if (kineto_open(kineto, path, options->gzip_level, rng_next(&rng)))
        return true;
    fprintf(stderr, "traceanalyze-generate: %s: %s\n", path, strerror(kineto->sink.error));
    return false;
}

/* All ranks are in the default group and share one block of latents. */
static bool make_texts(struct output *output, const struct output_options *options)
{
    const struct split split = {BLOCK_TOKENS, options->ranks, 1, 1, 1, 1};
    struct process_group groups[DIM_COUNT] = {
        [DIM_WORLD] = {.name = "0", .description = "default_pg"},
        [DIM_SEQUENCE] = {.name = "1", .description = "sequence_parallel"},
    };
    output->all_ranks = calloc((size_t)options->ranks, sizeof *output->all_ranks);
    if (output->all_ranks == NULL)
        return false;
    for (int i = 0; i < options->ranks; i++)
        output->all_ranks[i] = i;
    for (int i = DIM_WORLD; i <= DIM_SEQUENCE; i++) {
        groups[i].ranks = output->all_ranks;
        groups[i].size = options->ranks;
    }
    return texts_make(&output->texts, options->layout, &split) &&
           texts_set_groups(&output->texts, groups, 0);
}

bool output_open(struct output *output, const struct output_options *options)
{
    const int jobs = options->jobs < options->ranks ? options->jobs : options->ranks;
    *output = (struct output){
        .ranks = calloc((size_t)options->ranks, sizeof *output->ranks),
        .jobs = jobs < MAX_JOBS ? jobs : MAX_JOBS,
    };
    if (output->ranks == NULL || !make_texts(output, options)) {
        fputs("traceanalyze-generate: out of memory\n", stderr);
        return false;
    }
    output->rank_count = options->ranks;
    for (int rank = 0; rank < options->ranks; rank++) {
        if (!open_rank(output, rank, options))
            return false;
    }
    return true;
}

/* One thread's share: every jobs-th rank, beginning at first. */
struct share {
    struct output *output;
    struct timeline *timeline;
    int first;
};

static void *write_share(void *argument)
{
    const struct share *share = argument;
    for (int rank = share->first; rank < share->output->rank_count; rank += share->output->jobs) {
        struct batch *batch = &share->timeline->ranks[rank].batch;
        kineto_write(&share->output->ranks[rank], batch);
        batch->count = 0;
    }
    return NULL;
}

void output_write(struct output *output, struct timeline *timeline)
{
    struct share shares[MAX_JOBS] = {{output, timeline, 0}};
    pthread_t threads[MAX_JOBS];
    bool started[MAX_JOBS] = {false};
    for (int i = 1; i < output->jobs; i++) {
        shares[i] = (struct share){output, timeline, i};
        started[i] = pthread_create(&threads[i], NULL, write_share, &shares[i]) == 0;
    }
    write_share(&shares[0]);
    for (int i = 1; i < output->jobs; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        else
            write_share(&shares[i]);
    }
}

uint64_t output_size(const struct output *output)
{
    return output->ranks[0].sink.bytes + output->ranks[0].sink.used;
}

bool output_healthy(const struct output *output)
{
    for (int rank = 0; rank < output->rank_count; rank++) {
        if (output->ranks[rank].sink.error != 0)
            return false;
    }
    return true;
}

bool output_close(struct output *output, const struct timeline *timeline)
{
    int64_t end = timeline->window_start;
    for (int rank = 0; rank < timeline->rank_count; rank++) {
        const int64_t rank_end = timeline_end(&timeline->ranks[rank]);
        end = rank_end > end ? rank_end : end;
    }
    bool complete = true;
    for (int rank = 0; rank < output->rank_count; rank++) {
        struct kineto *kineto = &output->ranks[rank];
        if (kineto_close(kineto, timeline->window_start, end + 90000))
            continue;
        complete = false;
        fprintf(stderr, "traceanalyze-generate: rank %d: %s\n", rank, strerror(kineto->sink.error));
    }
    texts_free(&output->texts);
    free(output->all_ranks);
    free(output->ranks);
    return complete;
}
