/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of traceanalyze-generate cluster. */
#define _POSIX_C_SOURCE 200809L
#include "cluster.h"
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 64, DEFAULT_GZIP_LEVEL = 3, MAX_LACKING = 8 };

/* Ranks are checked when all options are known, so lists of them stay text until then. */
struct settings {
    struct cluster cluster;
    struct cluster_output output;
    const char *truth, *groups, *range, *missing, *duplicate, *lost_kernels;
    const char *lacking[MAX_LACKING];
    int lacking_count;
};

/* ---- values -------------------------------------------------------------------------------- */

static bool set_folder(void *context, const char *text)
{
    ((struct settings *)context)->output.folder = text;
    return *text != '\0';
}

static bool set_truth(void *context, const char *text)
{
    ((struct settings *)context)->truth = text;
    return *text != '\0';
}

static bool set_ranks(void *context, const char *text)
{
    return parse_int(text, 1, CLUSTER_MAX_RANKS, &((struct settings *)context)->cluster.ranks);
}

static bool set_ranks_per_host(void *context, const char *text)
{
    return parse_int(text, 1, 64, &((struct settings *)context)->cluster.ranks_per_host);
}

static bool set_groups(void *context, const char *text)
{
    ((struct settings *)context)->groups = text;
    return true;
}

static bool set_steps(void *context, const char *text)
{
    return parse_int(text, 1, 100000, &((struct settings *)context)->cluster.steps);
}

static bool set_layers(void *context, const char *text)
{
    return parse_int(text, 1, 1000, &((struct settings *)context)->cluster.layers);
}

static bool set_seed(void *context, const char *text)
{
    int64_t seed;
    if (!parse_number(text, 0, INT64_MAX, &seed))
        return false;
    ((struct settings *)context)->cluster.seed = (uint64_t)seed;
    return true;
}

static bool find_cause(const char *text, size_t length, enum cause *cause)
{
    for (int i = 0; i < CAUSE_COUNT; i++) {
        if (strlen(cause_names[i]) != length || strncmp(text, cause_names[i], length) != 0)
            continue;
        *cause = (enum cause)i;
        return true;
    }
    return false;
}

/* RANK:CAUSE:PERCENT or RANK:CAUSE:PERCENT:STEP */
static bool set_straggler(void *context, const char *text)
{
    struct cluster *cluster = &((struct settings *)context)->cluster;
    struct straggler straggler = {.cost = 0};
    int64_t rank, percent, step = 0;
    if (cluster->straggler_count == CLUSTER_MAX_FAULTS ||
        !parse_part(&text, 0, CLUSTER_MAX_RANKS - 1, ':', &rank))
        return false;
    const size_t length = strcspn(text, ":");
    if (!find_cause(text, length, &straggler.cause) || text[length] == '\0')
        return false;
    text += length + 1;
    if (!parse_part(&text, 1, 1000, '\0', &percent) &&
        (!parse_part(&text, 1, 1000, ':', &percent) || !parse_part(&text, 0, 100000, '\0', &step)))
        return false;
    straggler.rank = (int)rank;
    straggler.percent = (int)percent;
    straggler.from_step = (int)step;
    cluster->stragglers[cluster->straggler_count++] = straggler;
    return true;
}

/* RANK:PERCENT */
static bool set_slow_link(void *context, const char *text)
{
    struct cluster *cluster = &((struct settings *)context)->cluster;
    int64_t rank, percent;
    if (cluster->slow_link_count == CLUSTER_MAX_FAULTS ||
        !parse_part(&text, 0, CLUSTER_MAX_RANKS - 1, ':', &rank) ||
        !parse_part(&text, 101, 10000, '\0', &percent))
        return false;
    cluster->slow_links[cluster->slow_link_count++] = (struct slow_link){(int)rank, (int)percent};
    return true;
}

/* RANK:NUMBER */
static bool set_lost_collective(void *context, const char *text)
{
    struct cluster *cluster = &((struct settings *)context)->cluster;
    int64_t rank, number;
    if (cluster->lost_collective_count == CLUSTER_MAX_FAULTS ||
        !parse_part(&text, 0, CLUSTER_MAX_RANKS - 1, ':', &rank) ||
        !parse_part(&text, 1, UINT32_MAX, '\0', &number))
        return false;
    cluster->lost_collectives[cluster->lost_collective_count++] =
        (struct lost_collective){(int)rank, (uint32_t)number};
    return true;
}

static bool set_clock_offset(void *context, const char *text)
{
    int64_t microseconds;
    if (!parse_number(text, 0, 100000000, &microseconds))
        return false;
    ((struct settings *)context)->cluster.clock_ahead = microseconds * 1000;
    return true;
}

static bool set_clock_drift(void *context, const char *text)
{
    int64_t ppm;
    if (!parse_number(text, 0, 1000, &ppm))
        return false;
    ((struct settings *)context)->cluster.clock_ppb = ppm * 1000;
    return true;
}

static bool set_missing(void *context, const char *text)
{
    ((struct settings *)context)->missing = text;
    return true;
}

static bool set_duplicate(void *context, const char *text)
{
    ((struct settings *)context)->duplicate = text;
    return true;
}

static bool set_lost_kernels(void *context, const char *text)
{
    ((struct settings *)context)->lost_kernels = text;
    return true;
}

static bool set_lacking(void *context, const char *text)
{
    struct settings *settings = context;
    if (settings->lacking_count == MAX_LACKING)
        return false;
    settings->lacking[settings->lacking_count++] = text;
    return true;
}

static bool set_range(void *context, const char *text)
{
    ((struct settings *)context)->range = text;
    return true;
}

static bool set_layout(void *context, const char *text)
{
    for (int i = 0; i < LAYOUT_COUNT; i++) {
        if (strcmp(text, layout_names[i]) != 0)
            continue;
        ((struct settings *)context)->output.layout = (enum layout)i;
        return true;
    }
    return false;
}

static bool set_gzip_level(void *context, const char *text)
{
    return parse_int(text, 1, 9, &((struct settings *)context)->output.gzip_level);
}

static bool set_plain(void *context, const char *text)
{
    (void)text;
    ((struct settings *)context)->output.gzip_level = 0;
    return true;
}

static bool set_jobs(void *context, const char *text)
{
    return parse_int(text, 1, MAX_JOBS, &((struct settings *)context)->output.jobs);
}

/* ---- options ------------------------------------------------------------------------------- */

/* clang-format off */
static const struct option_desc option_table[] = {
    { "output", "DIR", 'o', set_folder, "write into this folder, made if missing (cluster)" },
    { "truth", "FILE", 0, set_truth,
      "write here what is wrong with the run and what it costs (DIR.truth.json)" },
    { "ranks", "N", 0, set_ranks, "GPUs, one process and one file each (8)" },
    { "ranks-per-host", "N", 0, set_ranks_per_host, "GPUs that share a clock and NVLink (8)" },
    { "groups", "SPEC", 0, set_groups,
      "sizes of tensor, sequence (Ulysses), ring and guidance groups, such as\n"
      "                             tp=2,sp=4,ring=2,cfg=2 (sp=8 at most); what is left is data\n"
      "                             parallel; several separated by / share the ranks evenly" },
    { "steps", "N", 0, set_steps, "denoising steps, one ProfilerStep each (10)" },
    { "layers", "N", 0, set_layers, "transformer layers; one is about 130 events (4)" },
    { "seed", "N", 0, set_seed, "equal options and seed give equal bytes (1)" },
    { "straggler", "SPEC", 0, set_straggler,
      "RANK:CAUSE:PERCENT[:STEP], may be repeated: late by so much of a step, from this step on;\n"
      "                             kernels, copy, host, sync, pseudo-fast, attention, throttle\n"
      "                             (kernels, in every other pair of steps) or pauses (host, in\n"
      "                             every third step)" },
    { "slow-link", "SPEC", 0, set_slow_link,
      "RANK:PERCENT, may be repeated: transfers that the rank takes part in take so much" },
    { "clock-offset-us", "N", 0, set_clock_offset,
      "the clocks of hosts are off by up to N µs (0)" },
    { "clock-drift-ppm", "N", 0, set_clock_drift, "and drift by up to N µs per second (0)" },
    { "lost-collective", "SPEC", 0, set_lost_collective,
      "RANK:N, may be repeated: the N-th collective of the rank is not recorded" },
    { "missing-ranks", "LIST", 0, set_missing, "ranks without a file, such as 3,8-15" },
    { "duplicate-ranks", "LIST", 0, set_duplicate, "ranks with two files" },
    { "lost-kernels", "LIST", 0, set_lost_kernels, "ranks that record 7 of 10 kernels" },
    { "lacking", "SPEC", 0, set_lacking,
      "FIELD[@LIST], may be repeated: arguments that collectives lack, on these ranks or on all;\n"
      "                             name, elements, size, type, splits, group, ranks, sequence or\n"
      "                             all" },
    { "rank-range", "A-B", 0, set_range,
      "write these ranks only; they are as they would be in all" },
    { "layout", "NAME", 0, set_layout, "kineto, indent2 or oneline (kineto)" },
    { "gzip-level", "N", 0, set_gzip_level, "compress with level 1 to 9 (3)" },
    { "plain", NULL, 0, set_plain, "do not compress" },
    { "jobs", "N", 'j', set_jobs, "threads that write (one per processor)" },
    { "help", NULL, 'h', NULL, "show this" },
};
/* clang-format on */

enum { OPTION_COUNT = sizeof option_table / sizeof option_table[0] };

static const char usage[] =
    "Usage: traceanalyze-generate cluster [OPTION]...\n"
    "Writes the Kineto traces of many ranks that denoise videos in several process groups, and\n"
    "beside their folder, as JSON, what is wrong with the run.\n";

/* ---- what needs all options ---------------------------------------------------------------- */

/* "3,8-15"; NULL is none. */
static bool mark_ranks(struct cluster *cluster, const char *text,
                       void (*mark)(struct rank_facts *facts, unsigned what), unsigned what)
{
    while (text != NULL && *text != '\0') {
        char *end;
        const long first = strtol(text, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (end == text || first < 0 || last < first || last >= cluster->ranks ||
            (*end != ',' && *end != '\0')) {
            fprintf(stderr, "traceanalyze-generate: not ranks below %d: '%s'\n", cluster->ranks,
                    text);
            return false;
        }
        for (long rank = first; rank <= last; rank++)
            mark(&cluster->facts[rank], what);
        text = end + (*end == ',');
    }
    return true;
}

static void mark_missing(struct rank_facts *facts, unsigned what)
{
    facts->missing = what != 0;
}

static void mark_duplicate(struct rank_facts *facts, unsigned what)
{
    facts->duplicate = what != 0;
}

static void mark_lost_kernels(struct rank_facts *facts, unsigned what)
{
    facts->lost_kernels = what != 0;
}

static void mark_lacking(struct rank_facts *facts, unsigned what)
{
    facts->lacking |= what;
}

static unsigned find_field(const char *text, size_t length)
{
    static const char *const names[] = {"name",   "elements", "size",  "type",
                                        "splits", "group",    "ranks", "sequence"};
    if (length == 3 && strncmp(text, "all", length) == 0)
        return 255;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == length && strncmp(text, names[i], length) == 0)
            return 1U << i;
    }
    return 0;
}

static bool mark_fields(struct cluster *cluster, const char *text)
{
    const size_t length = strcspn(text, "@");
    const unsigned field = find_field(text, length);
    if (field == 0) {
        fprintf(stderr, "traceanalyze-generate: --lacking cannot be '%s'\n", text);
        return false;
    }
    for (int rank = 0; text[length] == '\0' && rank < cluster->ranks; rank++)
        cluster->facts[rank].lacking |= field;
    return text[length] == '\0' || mark_ranks(cluster, text + length + 1, mark_lacking, field);
}

static bool mark_all(struct settings *settings)
{
    struct cluster *cluster = &settings->cluster;
    bool good = mark_ranks(cluster, settings->missing, mark_missing, 1) &&
                mark_ranks(cluster, settings->duplicate, mark_duplicate, 1) &&
                mark_ranks(cluster, settings->lost_kernels, mark_lost_kernels, 1);
    for (int i = 0; good && i < settings->lacking_count; i++)
        good = mark_fields(cluster, settings->lacking[i]);
    return good;
}

static bool check_ranks(const struct cluster *cluster)
{
    int largest = 0;
    for (int i = 0; i < cluster->straggler_count; i++)
        largest = cluster->stragglers[i].rank > largest ? cluster->stragglers[i].rank : largest;
    for (int i = 0; i < cluster->slow_link_count; i++)
        largest = cluster->slow_links[i].rank > largest ? cluster->slow_links[i].rank : largest;
    for (int i = 0; i < cluster->lost_collective_count; i++)
        largest = cluster->lost_collectives[i].rank > largest ? cluster->lost_collectives[i].rank
                                                              : largest;
    if (largest >= cluster->ranks)
        fprintf(stderr, "traceanalyze-generate: a fault is on rank %d of %d\n", largest,
                cluster->ranks);
    return largest < cluster->ranks;
}

static bool set_written_ranks(struct cluster *cluster, const char *text)
{
    int64_t first = 0, last = cluster->ranks - 1;
    const char *at = text;
    if (text != NULL &&
        (!parse_part(&at, 0, last, '-', &first) || !parse_part(&at, first, last, '\0', &last))) {
        fprintf(stderr, "traceanalyze-generate: --rank-range cannot be '%s'\n", text);
        return false;
    }
    cluster->first_rank = (int)first;
    cluster->last_rank = (int)last;
    return true;
}

static bool complete_settings(struct settings *settings)
{
    struct cluster *cluster = &settings->cluster;
    char groups[32];
    int sequence = 8;
    while (cluster->ranks % sequence != 0)
        sequence /= 2;
    snprintf(groups, sizeof groups, "sp=%d", sequence);
    if (settings->output.jobs == 0) {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        settings->output.jobs = processors > 0 && processors < MAX_JOBS ? (int)processors : 1;
    }
    cluster->facts = calloc((size_t)cluster->ranks, sizeof *cluster->facts);
    if (cluster->facts == NULL) {
        fputs("traceanalyze-generate: out of memory\n", stderr);
        return false;
    }
    return cluster_arrange(cluster, settings->groups != NULL ? settings->groups : groups) &&
           check_ranks(cluster) && mark_all(settings) &&
           set_written_ranks(cluster, settings->range);
}

/* ---- the run ------------------------------------------------------------------------------- */

/* Not inside the folder, where it would be read as input. */
static bool write_truth(const struct settings *settings, const struct plan *plan)
{
    const char *folder = settings->output.folder;
    char path[4096];
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    snprintf(path, sizeof path, "%.*s.truth.json", (int)length, folder);
    return cluster_write_truth(&settings->cluster, plan, settings->truth ? settings->truth : path);
}

static bool generate(struct settings *settings)
{
    struct cluster *cluster = &settings->cluster;
    const char *folder = settings->output.folder;
    struct plan plan;
    if (!output_make_folder(folder))
        return false;
    bool done = cluster_plan(cluster, &plan);
    if (!done)
        fputs("traceanalyze-generate: out of memory\n", stderr);
    done = done && cluster_write(cluster, &plan, &settings->output) && write_truth(settings, &plan);
    if (done)
        printf("%d ranks, %zu collectives, %" PRId64 ".%03" PRId64 " ms\n", cluster->ranks,
               plan.slots, (plan.end - plan.start) / 1000000,
               (plan.end - plan.start) / 1000 % 1000);
    plan_free(&plan);
    return done;
}

int cluster_main(int argc, char **argv)
{
    struct settings settings = {
        .cluster = {.ranks = 8, .ranks_per_host = 8, .steps = 10, .layers = 4, .seed = 1},
        .output = {.folder = "cluster", .gzip_level = DEFAULT_GZIP_LEVEL},
    };
    const enum answer answer =
        options_parse(option_table, OPTION_COUNT, usage, &settings, argc, argv);
    if (answer != ANSWER_RUN)
        return answer == ANSWER_DONE ? EXIT_SUCCESS : 2;
    const bool complete = complete_settings(&settings);
    const bool done = complete && generate(&settings);
    free(settings.cluster.facts);
    return done ? EXIT_SUCCESS : complete ? EXIT_FAILURE : 2;
}
