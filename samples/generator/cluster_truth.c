/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was planted in a cluster, for tests of what should find it. */
#include "cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- lists --------------------------------------------------------------------------------- */

static const char *comma(int i)
{
    return i == 0 ? "" : ", ";
}

static void put_parts(FILE *out, const struct cluster *cluster)
{
    fputs("  \"parts\": [", out);
    for (int i = 0; i < cluster->part_count; i++) {
        const struct part *part = &cluster->parts[i];
        fprintf(out, "%s\n    {\"first_rank\": %d, \"ranks\": %d", i == 0 ? "" : ",", part->first,
                part->ranks);
        for (int dimension = DIM_WORLD + 1; dimension < DIM_COUNT; dimension++)
            fprintf(out, ", \"%s\": %d", dimension_names[dimension], part->size[dimension]);
        fputs("}", out);
    }
    fputs("\n  ],\n", out);
}

static void put_hosts(FILE *out, const struct cluster *cluster)
{
    const int hosts = (cluster->ranks + cluster->ranks_per_host - 1) / cluster->ranks_per_host;
    fprintf(out, "  \"clock_origin_ns\": %" PRId64 ",\n  \"hosts\": [", TIMELINE_ORIGIN);
    for (int host = 0; host < hosts; host++) {
        const struct clock_error clock = cluster_clock(cluster, host);
        fprintf(out, "%s\n    {\"ahead_ns\": %" PRId64 ", \"drift_ppb\": %" PRId64 "}",
                host == 0 ? "" : ",", clock.ahead, clock.ppb);
    }
    fputs("\n  ],\n", out);
}

static void put_stragglers(FILE *out, const struct cluster *cluster)
{
    fputs("  \"stragglers\": [", out);
    for (int i = 0; i < cluster->straggler_count; i++) {
        const struct straggler *straggler = &cluster->stragglers[i];
        fprintf(out,
                "%s\n    {\"rank\": %d, \"cause\": \"%s\", \"percent\": %d, \"from_step\": %d, "
                "\"cost_ns\": %" PRId64 "}",
                i == 0 ? "" : ",", straggler->rank, cause_names[straggler->cause],
                straggler->percent, straggler->from_step, straggler->cost);
    }
    fprintf(out, "%s],\n", cluster->straggler_count > 0 ? "\n  " : "");
}

static void put_links(FILE *out, const struct cluster *cluster)
{
    fputs("  \"slow_links\": [", out);
    for (int i = 0; i < cluster->slow_link_count; i++)
        fprintf(out, "%s{\"rank\": %d, \"percent\": %d}", comma(i), cluster->slow_links[i].rank,
                cluster->slow_links[i].percent);
    fputs("],\n  \"lost_collectives\": [", out);
    for (int i = 0; i < cluster->lost_collective_count; i++)
        fprintf(out, "%s{\"rank\": %d, \"number\": %" PRIu32 "}", comma(i),
                cluster->lost_collectives[i].rank, cluster->lost_collectives[i].number);
    fputs("],\n", out);
}

static bool is_missing(const struct rank_facts *facts)
{
    return facts->missing;
}

static bool is_duplicate(const struct rank_facts *facts)
{
    return facts->duplicate;
}

static bool has_lost_kernels(const struct rank_facts *facts)
{
    return facts->lost_kernels;
}

static bool lacks_fields(const struct rank_facts *facts)
{
    return facts->lacking != 0;
}

static void put_ranks(FILE *out, const struct cluster *cluster, const char *key,
                      bool (*holds)(const struct rank_facts *facts))
{
    int count = 0;
    fprintf(out, "  \"%s\": [", key);
    for (int rank = 0; rank < cluster->ranks; rank++) {
        if (holds(&cluster->facts[rank]))
            fprintf(out, "%s%d", comma(count++), rank);
    }
    fputs("],\n", out);
}

/* ---- what it did --------------------------------------------------------------------------- */

static void put_steps(FILE *out, const struct cluster *cluster, const struct plan *plan)
{
    fprintf(out, "  \"sound_step_ns\": %" PRId64 ",\n  \"step_end_ns\": [", cluster->step_ns);
    for (int step = 0; step < cluster->steps; step++)
        fprintf(out, "%s%" PRId64, comma(step), plan->step_end[step] - plan->start);
    fputs("],\n", out);
}

static void put_waits(FILE *out, const struct plan *plan)
{
    fputs("  \"ranks\": [", out);
    for (int rank = 0; rank < plan->ranks; rank++)
        fprintf(out,
                "%s\n    {\"collectives\": %" PRIu64 ", \"last_arrivals\": %" PRIu64
                ", \"waited_ns\": %" PRId64 "}",
                rank == 0 ? "" : ",", plan->joined[rank], plan->last[rank], plan->waited[rank]);
    fputs("\n  ]\n}\n", out);
}

bool cluster_write_truth(const struct cluster *cluster, const struct plan *plan, const char *path)
{
    FILE *out = fopen(path, "wb");
    bool done = out != NULL;
    if (done) {
        fprintf(out,
                "{\n  \"seed\": %" PRIu64 ",\n  \"world_size\": %d,\n  \"ranks_per_host\": %d,\n"
                "  \"steps\": %d,\n  \"layers\": %d,\n",
                cluster->seed, cluster->ranks, cluster->ranks_per_host, cluster->steps,
                cluster->layers);
        put_parts(out, cluster);
        put_hosts(out, cluster);
        put_stragglers(out, cluster);
        put_links(out, cluster);
        put_ranks(out, cluster, "missing_ranks", is_missing);
        put_ranks(out, cluster, "duplicate_ranks", is_duplicate);
        put_ranks(out, cluster, "lost_kernels", has_lost_kernels);
        put_ranks(out, cluster, "lacking_fields", lacks_fields);
        put_steps(out, cluster, plan);
        put_waits(out, plan);
        done = !ferror(out);
        done = fclose(out) == 0 && done;
    }
    if (!done)
        fprintf(stderr, "traceanalyze-generate: %s: %s\n", path, strerror(errno));
    return done;
}
