/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of traceanalyze-generate: one table holds options, help and defaults. */
#define _POSIX_C_SOURCE 200809L
#include "cluster.h"
#include "dumps.h"
#include "options.h"
#include "output.h"
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AUTOMATIC = -2, MAX_RANKS = 256, DEFAULT_GZIP_LEVEL = 6 };

struct settings {
    struct workload workload;
    struct output_options output;
    uint64_t target_size; /* 0 = as many blocks as asked for */
    enum dumps dumps;     /* instead of traces */
};

/* ---- values -------------------------------------------------------------------------------- */

static bool set_ranks(void *context, const char *text)
{
    struct settings *settings = context;
    return parse_int(text, 1, MAX_RANKS, &settings->workload.ranks);
}

static bool set_blocks(void *context, const char *text)
{
    struct settings *settings = context;
    return parse_int(text, 1, INT_MAX, &settings->workload.blocks);
}

static bool set_steps(void *context, const char *text)
{
    struct settings *settings = context;
    return parse_int(text, 1, 1000, &settings->workload.steps);
}

static bool set_layers(void *context, const char *text)
{
    struct settings *settings = context;
    return parse_int(text, 1, 1000, &settings->workload.layers);
}

static bool set_seed(void *context, const char *text)
{
    struct settings *settings = context;
    int64_t seed;
    if (!parse_number(text, 0, INT64_MAX, &seed))
        return false;
    settings->workload.seed = (uint64_t)seed;
    return true;
}

static bool set_variant(void *context, const char *text)
{
    struct settings *settings = context;
    settings->workload.optimized = strcmp(text, "optimized") == 0;
    return settings->workload.optimized || strcmp(text, "baseline") == 0;
}

static bool set_plant(void *context, const char *text)
{
    struct settings *settings = context;
    for (int i = 0; i < PLANT_COUNT; i++) {
        if (strcmp(text, plant_names[i]) != 0)
            continue;
        settings->workload.plant = (enum plant)i;
        return true;
    }
    return false;
}

static bool set_late_rank(void *context, const char *text)
{
    struct settings *settings = context;
    if (strcmp(text, "none") != 0)
        return parse_int(text, 0, MAX_RANKS - 1, &settings->workload.late_rank);
    settings->workload.late_rank = -1;
    return true;
}

static bool set_clock_skew(void *context, const char *text)
{
    struct settings *settings = context;
    int64_t microseconds;
    if (!parse_number(text, -1000000, 1000000, &microseconds))
        return false;
    settings->output.clock_skew = microseconds * 1000;
    return true;
}

static bool set_layout(void *context, const char *text)
{
    struct settings *settings = context;
    for (int i = 0; i < LAYOUT_COUNT; i++) {
        if (strcmp(text, layout_names[i]) != 0)
            continue;
        settings->output.layout = (enum layout)i;
        return true;
    }
    return false;
}

static bool set_gzip(void *context, const char *text)
{
    struct settings *settings = context;
    (void)text;
    settings->output.gzip_level = DEFAULT_GZIP_LEVEL;
    return true;
}

static bool set_gzip_level(void *context, const char *text)
{
    struct settings *settings = context;
    return parse_int(text, 1, 9, &settings->output.gzip_level);
}

static bool set_plain(void *context, const char *text)
{
    struct settings *settings = context;
    (void)text;
    settings->output.gzip_level = 0;
    return true;
}

/* A number of bytes, or of thousands, millions or billions of them. */
static bool set_target_size(void *context, const char *text)
{
    struct settings *settings = context;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    uint64_t unit = 1;
    if (end == text || *text == '-' || errno != 0)
        return false;
    if (strchr("kKMG", *end) != NULL && *end != '\0') {
        unit = *end == 'G' ? 1000000000 : *end == 'M' ? 1000000 : 1000;
        end++;
    }
    end += *end == 'B';
    if (*end != '\0' || number == 0 || number > UINT64_MAX / unit)
        return false;
    settings->target_size = number * unit;
    return true;
}

static bool set_dumps(void *context, const char *text)
{
    struct settings *settings = context;
    for (int i = DUMPS_NONE + 1; i < DUMPS_COUNT; i++) {
        if (strcmp(text, dumps_names[i]) != 0)
            continue;
        settings->dumps = (enum dumps)i;
        return true;
    }
    return false;
}

static bool set_folder(void *context, const char *text)
{
    struct settings *settings = context;
    settings->output.folder = text;
    return *text != '\0';
}

static bool set_jobs(void *context, const char *text)
{
    struct settings *settings = context;
    return parse_int(text, 1, MAX_RANKS, &settings->output.jobs);
}

/* ---- options ------------------------------------------------------------------------------- */

/* clang-format off */
static const struct option_desc option_table[] = {
    { "output", "DIR", 'o', set_folder, "write into this folder, made if missing (.)" },
    { "ranks", "N", 0, set_ranks, "GPUs, one process and one file each (4)" },
    { "blocks", "N", 0, set_blocks, "video blocks to generate (4)" },
    { "steps", "N", 0, set_steps, "denoising steps per block (4)" },
    { "layers", "N", 0, set_layers, "transformer layers (10)" },
    { "seed", "N", 0, set_seed, "equal options and seed give equal bytes (1)" },
    { "variant", "NAME", 0, set_variant, "baseline or optimized (baseline)" },
    { "plant", "NAME", 0, set_plant,
      "one more fault: unfused-attention, fp32, thin-matrix, thin-vector,\n"
      "                             row-vector, casts, narrow, allocation, slow-dispatch, sync,\n"
      "                             value-read, pageable, slow-input, slow-link, lost-kernels,\n"
      "                             clock-shift or buffers (none)" },
    { "late-rank", "N", 0, set_late_rank,
      "rank with the slow host, or none (baseline: the third or last; optimized: none)" },
    { "clock-skew-us", "N", 0, set_clock_skew, "the clock of rank r is r * N µs ahead (0)" },
    { "layout", "NAME", 0, set_layout, "kineto, indent2 or oneline (kineto)" },
    { "gzip", NULL, 0, set_gzip, "compress, names end in .gz (default)" },
    { "gzip-level", "N", 0, set_gzip_level, "compress with level 1 to 9 (6); 3 is twice as fast" },
    { "plain", NULL, 0, set_plain, "do not compress" },
    { "target-size", "BYTES", 0, set_target_size,
      "repeat blocks until a rank has about so much JSON; k, M, G allowed" },
    { "dumps", "NAME", 0, set_dumps,
      "instead of traces, what inferix, framepack or diffulex saves; heeds --seed only" },
    { "jobs", "N", 'j', set_jobs, "threads that write (one per processor)" },
    { "help", NULL, 'h', NULL, "show this" },
};
/* clang-format on */

enum { OPTION_COUNT = sizeof option_table / sizeof option_table[0] };

static const char usage[] = "Usage: traceanalyze-generate [OPTION]...\n"
                            "       traceanalyze-generate cluster [OPTION]...\n"
                            "Writes the Kineto traces of a simulated block-wise text-to-video run; "
                            "with cluster, of a\n"
                            "large one in several process groups (traceanalyze-generate cluster "
                            "--help).\n";

/* What follows from other options. */
static bool complete_settings(struct settings *settings)
{
    struct workload *workload = &settings->workload;
    if (workload->late_rank == AUTOMATIC) {
        const int third = workload->ranks < 3 ? workload->ranks - 1 : 2;
        workload->late_rank = workload->optimized || workload->ranks == 1 ? -1 : third;
    }
    if (workload->late_rank >= workload->ranks) {
        fprintf(stderr, "traceanalyze-generate: --late-rank %d needs more --ranks\n",
                workload->late_rank);
        return false;
    }
    if (settings->target_size != 0)
        workload->blocks = INT_MAX;
    if (settings->output.jobs == 0) {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        settings->output.jobs = processors > 0 && processors < MAX_RANKS ? (int)processors : 1;
    }
    settings->output.ranks = workload->ranks;
    settings->output.seed = workload->seed;
    return true;
}

/* ---- the run ------------------------------------------------------------------------------- */

struct run {
    struct output output;
    uint64_t target_size;
    uint64_t size_before; /* at the end of the block before */
};

/* Stops where the size is nearest to the target, or when a disk is full. */
static bool receive(void *context, struct timeline *timeline, bool end_of_block)
{
    struct run *run = context;
    output_write(&run->output, timeline);
    if (!end_of_block)
        return true;
    const uint64_t size = output_size(&run->output);
    const uint64_t block = size - run->size_before;
    run->size_before = size;
    return output_healthy(&run->output) &&
           (run->target_size == 0 || size + block / 2 < run->target_size);
}

/* The truth that a straggler analysis has to find again. */
static void print_summary(const struct timeline *timeline)
{
    for (int i = 0; i < timeline->rank_count; i++) {
        const struct rank_clock *rank = &timeline->ranks[i];
        const int64_t span = timeline_end(rank) - timeline->window_start;
        printf("rank %d: %" PRId64 ".%03" PRId64 " ms, last at %" PRIu64 " of %" PRIu64
               " collectives\n",
               i, span / 1000000, span / 1000 % 1000, rank->last_arrivals,
               timeline->collective_count);
    }
}

static bool generate(const struct settings *settings)
{
    const struct workload *workload = &settings->workload;
    struct timeline timeline;
    if (!timeline_init(&timeline, workload->ranks, workload->seed, workload->late_rank)) {
        fputs("traceanalyze-generate: out of memory\n", stderr);
        return false;
    }
    struct run run = {.target_size = settings->target_size};
    const bool opened = output_open(&run.output, &settings->output);
    if (opened)
        workload_run(workload, &timeline, receive, &run);
    const bool complete = output_close(&run.output, &timeline) && opened;
    if (complete)
        print_summary(&timeline);
    timeline_free(&timeline);
    return complete;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .workload =
            {.ranks = 4, .blocks = 4, .steps = 4, .layers = 10, .late_rank = AUTOMATIC, .seed = 1},
        .output = {.folder = ".", .gzip_level = DEFAULT_GZIP_LEVEL},
    };
    if (argc > 1 && strcmp(argv[1], "cluster") == 0)
        return cluster_main(argc - 1, argv + 1);
    const enum answer answer =
        options_parse(option_table, OPTION_COUNT, usage, &settings, argc, argv);
    if (answer != ANSWER_RUN)
        return answer == ANSWER_DONE ? EXIT_SUCCESS : 2;
    if (!complete_settings(&settings))
        return 2;
    if (!output_make_folder(settings.output.folder))
        return EXIT_FAILURE;
    const bool complete =
        settings.dumps != DUMPS_NONE
            ? dumps_write(settings.dumps, settings.output.folder, settings.workload.seed)
            : generate(&settings);
    return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
