/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace files of all ranks, written side by side by a few threads. */
#ifndef GENERATOR_OUTPUT_H
#define GENERATOR_OUTPUT_H

#include "kineto.h"
#include "timeline.h"

#include <stdbool.h>
#include <stdint.h>

struct output {
    struct texts texts;
    int *all_ranks; /* of both process groups */
    struct kineto *ranks;
    int rank_count;
    int jobs; /* threads; the bytes do not depend on it */
};

struct output_options {
    const char *folder; /* must exist */
    enum layout layout;
    int gzip_level; /* 0 = plain */
    int ranks, jobs;
    int64_t clock_skew; /* the clock of rank r is r times so many ns ahead */
    uint64_t seed;
};

/* Unless it is there; false after a message. */
bool output_make_folder(const char *path);

/* False after a message on standard error; output_close() is due in either case. */
bool output_open(struct output *output, const struct output_options *options);

/* Writes and empties the batches of all ranks. */
void output_write(struct output *output, struct timeline *timeline);

/* Bytes of rank 0 before compression. */
uint64_t output_size(const struct output *output);

/* False when any output failed. */
bool output_healthy(const struct output *output);

/* Finishes all files; false after a message when one of them is not complete. */
bool output_close(struct output *output, const struct timeline *timeline);

#endif
