/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace files of a cluster: each thread takes the next rank, makes it and writes it. */
#define _POSIX_C_SOURCE 200809L
#include "cluster.h"

#include "rng.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 4096, MAX_JOBS = 64, TAIL_NS = 90000 };

struct work {
    const struct cluster *cluster;
    const struct plan *plan;
    const struct cluster_output *output;
    atomic_int next;
    atomic_bool failed;
};

/* Of one thread; rank lists of all groups follow one another in `members`. */
struct writer {
    struct work *work;
    struct texts texts[CLUSTER_MAX_PARTS];
    int *members;
};

/* ---- one rank ------------------------------------------------------------------------------ */

static bool set_groups(struct writer *writer, struct texts *texts, int rank)
{
    const struct cluster *cluster = writer->work->cluster;
    const struct part *part = cluster_part(cluster, rank);
    struct process_group groups[DIM_COUNT] = {{.size = 0}};
    int *at = writer->members;
    for (enum dimension i = 0; i < DIM_COUNT; i++) {
        struct process_group *group = &groups[i];
        if (i != DIM_WORLD && part->size[i] == 1)
            continue;
        group->size = cluster_group(cluster, i, rank, at);
        group->ranks = at;
        group->description = dimension_names[i];
        snprintf(group->name, sizeof group->name, "%d", cluster_group_number(cluster, i, rank));
        const int position = i == DIM_WORLD ? rank : part_position(part, i, rank);
        group->next = at[(position + 1) % group->size];
        group->previous = at[(position + group->size - 1) % group->size];
        at += group->size;
    }
    return texts_set_groups(texts, groups, cluster->facts[rank].lacking);
}

static void receive(void *context, const struct batch *batch)
{
    kineto_write(context, batch);
}

static bool write_file(struct writer *writer, int rank, const char *suffix)
{
    const struct work *work = writer->work;
    const struct cluster *cluster = work->cluster;
    const int host = rank / cluster->ranks_per_host, device = rank % cluster->ranks_per_host;
    char path[MAX_PATH];
    const int length =
        snprintf(path, sizeof path, "%s/node%03d-rank%d%s.pt.trace.json%s", work->output->folder,
                 host, rank, suffix, work->output->gzip_level != 0 ? ".gz" : "");
    if (length < 0 || length >= MAX_PATH) {
        fputs("traceanalyze-generate: the folder name is too long\n", stderr);
        return false;
    }
    struct rng rng;
    rng_seed(&rng, cluster->seed, UINT64_C(1) << 32 | (uint32_t)rank);
    struct kineto kineto = {.texts = &writer->texts[cluster_part(cluster, rank) - cluster->parts],
                            .rank = rank,
                            .device = device,
                            .devices = cluster->ranks_per_host,
                            .host_devices = cluster->ranks_per_host,
                            .clock = cluster_clock(cluster, host)};
    bool done = kineto_open(&kineto, path, work->output->gzip_level, rng_next(&rng));
    done = done && cluster_record(cluster, work->plan, rank, receive, &kineto);
    done = kineto_close(&kineto, work->plan->start, work->plan->end + TAIL_NS) && done;
    if (!done)
        fprintf(stderr, "traceanalyze-generate: %s: %s\n", path, strerror(kineto.sink.error));
    return done;
}

static bool write_rank(struct writer *writer, int rank)
{
    const struct cluster *cluster = writer->work->cluster;
    struct texts *texts = &writer->texts[cluster_part(cluster, rank) - cluster->parts];
    if (!set_groups(writer, texts, rank)) {
        fputs("traceanalyze-generate: out of memory\n", stderr);
        return false;
    }
    return write_file(writer, rank, "") &&
           (!cluster->facts[rank].duplicate || write_file(writer, rank, "-again"));
}

/* ---- threads ------------------------------------------------------------------------------- */

static bool open_writer(struct writer *writer)
{
    const struct cluster *cluster = writer->work->cluster;
    writer->members = calloc((size_t)cluster->ranks * DIM_COUNT, sizeof *writer->members);
    bool done = writer->members != NULL;
    for (int i = 0; i < cluster->part_count; i++)
        done &=
            texts_make(&writer->texts[i], writer->work->output->layout, &cluster->parts[i].split);
    return done;
}

static void *write_ranks(void *argument)
{
    struct work *work = argument;
    struct writer writer = {.work = work};
    bool done = open_writer(&writer);
    while (done && !atomic_load(&work->failed)) {
        const int rank = atomic_fetch_add(&work->next, 1);
        if (rank > work->cluster->last_rank)
            break;
        done = work->cluster->facts[rank].missing || write_rank(&writer, rank);
    }
    if (!done)
        atomic_store(&work->failed, true);
    for (int i = 0; i < work->cluster->part_count; i++)
        texts_free(&writer.texts[i]);
    free(writer.members);
    return NULL;
}

bool cluster_write(const struct cluster *cluster, const struct plan *plan,
                   const struct cluster_output *output)
{
    struct work work = {.cluster = cluster, .plan = plan, .output = output};
    pthread_t threads[MAX_JOBS];
    bool started[MAX_JOBS] = {false};
    atomic_init(&work.next, cluster->first_rank);
    atomic_init(&work.failed, false);
    for (int i = 1; i < output->jobs && i < MAX_JOBS; i++)
        started[i] = pthread_create(&threads[i], NULL, write_ranks, &work) == 0;
    write_ranks(&work);
    for (int i = 1; i < MAX_JOBS; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
    }
    return !atomic_load(&work.failed);
}
