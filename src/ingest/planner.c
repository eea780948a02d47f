/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads for files.
 *
 * Workers take files from the largest to the smallest, one each at a time, which keeps all of them
 * busy while there are many files of about one size.  Two kinds of threads are left over: those
 * beyond the number of files, and those that would wait for a single file much larger than the
 * rest.  Both help: by reading parts of a file, or by inflating ahead of the one that parses.
 * Costs are taken as the bytes on disk. */
#include "ingest/planner.h"

size_t ta_planner_most(uint64_t content, bool is_packed, uint64_t part_bytes)
{
    const uint64_t parts = content / (part_bytes ? part_bytes : TA_PART_BYTES);
    const uint64_t most = is_packed && parts > TA_PACKED_MOST ? TA_PACKED_MOST : parts;
    return most < 1 ? 1 : (size_t)most;
}

/* Helpers that a file can use. */
static size_t most_helpers(const struct ta_planned *file)
{
    return file->most > 1 ? file->most - 1 : file->is_packed;
}

/* How long reading takes, in bytes per thread, when `parts` of the threads read one file and the
 * others the rest, which waits when there are none. */
static uint64_t duration(uint64_t bytes, uint64_t rest, size_t n_threads, size_t parts)
{
    const uint64_t one = bytes / parts;
    if (parts == n_threads)
        return one + rest;
    const uint64_t others = rest / (n_threads - parts);
    return one > others ? one : others;
}

/* The number of parts for a file that is done soonest, the smaller one of equals. */
static size_t best_parts(const struct ta_planned *file, uint64_t rest, size_t n_threads)
{
    size_t best = 1;
    for (size_t parts = 2; parts <= file->most && parts <= n_threads; parts++)
        if (duration(file->bytes, rest, n_threads, parts) <
            duration(file->bytes, rest, n_threads, best))
            best = parts;
    return best;
}

/* Gives the largest files, as long as they stand out, their parts.  Returns the threads left;
 * *first becomes the number of these files. */
static size_t split_largest(struct ta_planned *files, size_t n_files, size_t n_threads,
                            size_t *first)
{
    uint64_t rest = 0;
    for (size_t i = 0; i < n_files; i++)
        rest += files[i].bytes;
    for (*first = 0; *first < n_files && n_threads > 1; ++*first) {
        struct ta_planned *file = &files[*first];
        rest -= file->bytes;
        const size_t parts = best_parts(file, rest, n_threads);
        if (parts == 1)
            break;
        file->helpers = parts - 1;
        n_threads -= parts;
    }
    return n_threads;
}

/* Gives what is left over to the files that the workers begin with. */
static void help_first(struct ta_planned *files, size_t n_files, size_t spare)
{
    for (bool more = true; spare && more;) {
        more = false;
        for (size_t i = 0; i < n_files && spare; i++) {
            if (files[i].helpers >= most_helpers(&files[i]))
                continue;
            files[i].helpers++;
            spare--;
            more = true;
        }
    }
}

void ta_planner_init(struct ta_planner *planner, size_t n_threads, struct ta_planned *files,
                     size_t n_files)
{
    size_t n_split = 0;
    for (size_t i = 0; i < n_files; i++)
        files[i].helpers = 0;
    const size_t left = split_largest(files, n_files, n_threads, &n_split);
    size_t workers = n_split + (left < n_files - n_split ? left : n_files - n_split);
    if (workers == 0)
        workers = 1;
    size_t helpers = 0;
    for (size_t i = 0; i < n_split; i++)
        helpers += files[i].helpers;
    help_first(files, workers < n_files ? workers : n_files, n_threads - workers - helpers);
    /* Those that come later want what they can use, and get what is free then. */
    for (size_t i = workers; i < n_files; i++)
        files[i].helpers = most_helpers(&files[i]);
    planner->n_workers = workers;
    atomic_init(&planner->spare, n_threads - workers);
}

size_t ta_planner_take(struct ta_planner *planner, size_t wanted)
{
    size_t spare = atomic_load(&planner->spare), taken;
    do {
        taken = wanted < spare ? wanted : spare;
    } while (taken && !atomic_compare_exchange_weak(&planner->spare, &spare, spare - taken));
    return taken;
}

void ta_planner_give(struct ta_planner *planner, size_t helpers)
{
    atomic_fetch_add(&planner->spare, helpers);
}
