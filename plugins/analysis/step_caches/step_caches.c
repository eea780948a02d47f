/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caches.steps and caches.speedup: denoising steps that a cache answered, and what that gains.
 *
 * A step that a cache answers takes part of the time of a full one: the blocks that it keeps, what
 * lies outside the blocks, and the check.  With h the share of cached steps and r their time over
 * the time of a full step, N steps are 1 / (1 − h (1 − r)) times as fast as N full ones. */
#include "step_caches.h"

#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct ta_field step_fields[STEP_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [FILE_KEY] = {"file", TA_FIELD_FILE},
    [CACHE] = {"cache", TA_FIELD_TEXT},
    [ORDER] = {"order", TA_FIELD_INT},
    [PASS] = {"pass", TA_FIELD_MAX},
    [IMAGE] = {"image", TA_FIELD_MAX},
    [STEP] = {"step", TA_FIELD_MAX},
    [CLASS] = {"class", TA_FIELD_MAX},
    [DUR] = {"dur_ns", TA_FIELD_MAX},
    [BUSY] = {"busy_ns", TA_FIELD_MAX},
    [KERNELS] = {"kernels", TA_FIELD_MAX},
    [KEPT] = {"kept", TA_FIELD_MAX},
    [DIFFERENCE] = {"difference", TA_FIELD_MAX},
};

static const struct ta_field hit_fields[HIT_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},    [FILE_KEY] = {"file", TA_FIELD_FILE},
    [CACHE] = {"cache", TA_FIELD_TEXT},  [ORDER] = {"order", TA_FIELD_INT},
    [HIT_STEP] = {"step", TA_FIELD_MAX},
};

static const struct ta_field loop_fields[LOOP_FIELDS] = {
    [LOOP_RANK] = {"rank", TA_FIELD_RANK},   [LOOP_FILE] = {"file", TA_FIELD_FILE},
    [LOOP_COUNT] = {"count", TA_FIELD_SUM},  [LOOP_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [LOOP_LEAST] = {"min_ns", TA_FIELD_MIN}, [LOOP_MEDIAN] = {"median_ns", TA_FIELD_MAX},
};

static const struct ta_field count_fields[COUNT_FIELDS] = {
    [COUNT_RANK] = {"rank", TA_FIELD_RANK},
    [COUNT_CACHE] = {"cache", TA_FIELD_TEXT},
    [HITS] = {"hits", TA_FIELD_SUM},
    [MISSES] = {"misses", TA_FIELD_SUM},
};

static const struct ta_field check_fields[CHECK_FIELDS] = {
    [CHECK_RANK] = {"rank", TA_FIELD_RANK},     [CHECK_CACHE] = {"cache", TA_FIELD_TEXT},
    [CHECK_METHOD] = {"method", TA_FIELD_TEXT}, [CHECK_CALLS] = {"calls", TA_FIELD_SUM},
    [CHECK_NS] = {"ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [OF_STEPS] = {"steps", step_fields, STEP_FIELDS},
    [OF_HITS] = {"hits", hit_fields, HIT_FIELDS},
    [OF_LOOPS] = {"loops", loop_fields, LOOP_FIELDS},
    [OF_COUNTS] = {"counts", count_fields, COUNT_FIELDS},
    [OF_CHECKS] = {"checks", check_fields, CHECK_FIELDS},
    {0}};

static const char *const class_words[CLASSES] = {
    [CLASS_FULL] = "full",
    [CLASS_PARTIAL] = "partial",
    [CLASS_CACHED] = "cached",
};

/* ---- tables ---------------------------------------------------------------------------------- */

enum {
    S_RANK,
    S_CACHE,
    S_PASS,
    S_IMAGE,
    S_STEP,
    S_CLASS,
    S_WORK,
    S_DUR,
    S_BUSY,
    S_KERNELS,
    S_DIFFERENCE,
    S_LINE
};
static const struct ta_column steps_table_columns[] = {
    [S_RANK] = TA_RANK_COLUMN,
    [S_CACHE] = {"cache", "Cache", TA_TEXT,
                 .doc = "Name of the cache, or of the model whose steps it answers"},
    [S_PASS] = {"pass", "Pass", TA_INTEGER, .role = TA_IN_SERIES,
                .doc = "Number of the model call within the step, starting at 1; empty if a step "
                       "has only one"},
    [S_IMAGE] =
        {"image", "Image", TA_INTEGER, .role = TA_IN_SERIES,
         .doc = "Number of the image, video or section that the step belongs to, starting at 1"},
    [S_STEP] = {"step", "Step", TA_INTEGER, .role = TA_IN_SERIES,
                .doc = "Number of the step within its image, starting at 1"},
    [S_CLASS] = {"class", "Class", TA_WORD,
                 .doc = "full: all blocks of the model run; partial: more than half of a full "
                        "step's work runs; cached: at most half"},
    [S_WORK] = {"work", "Computed share", TA_RATIO,
                .doc = "Kernels of the step divided by the kernels of a full step; 0 or 1 if only "
                       "the cache's decision is recorded"},
    [S_DUR] = {"dur_ns", "Duration", TA_NS, .better = TA_LOWER,
               .doc = "From its first device work to the first of the next step; for the last step "
                      "of an image, to its last work"},
    [S_BUSY] = {"busy_ns", "GPU busy", TA_NS, .better = TA_LOWER,
                .doc = "Time in which a device works for the step"},
    [S_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels launched by the model call"},
    [S_DIFFERENCE] = {"difference", "Difference", TA_NUMBER,
                      .doc = "Difference from the previous step, as the cache measures it"},
    [S_LINE] = {"line", "Line", TA_TEXT, .doc = "Name of its line in the chart"},
};

static const struct ta_chart_def steps_chart = {
    .id = "cache",
    .title = "Steps answered by the cache",
    .caption = "Share of a full step that each denoising step computes: bright cells are full "
               "steps, dark cells came from the cache.",
    .kind = TA_CHART_HEAT,
    .label = {&steps_table_columns[S_LINE]},
    .x = &steps_table_columns[S_STEP],
    .y = {{&steps_table_columns[S_WORK], "Work", TA_INK_HEAT_7}},
};

/* Drawn where some step was measured. */
static const struct ta_chart_def difference_chart = {
    .id = "cache-differences",
    .title = "Difference between steps",
    .caption = "Difference of each denoising step from the previous one, as the cache measures it; "
               "steps with small differences come from the cache.",
    .kind = TA_CHART_LINES,
    .x = &steps_table_columns[S_STEP],
    .y = {{&steps_table_columns[S_DIFFERENCE], "Difference", TA_INK_SERIES_1}},
    .group = &steps_table_columns[S_LINE],
};

static const struct ta_table_def steps_table = {
    "caches.steps",
    "Cached steps",
    TA_COLUMNS(steps_table_columns),
    .doc = "One row per denoising step, and per model call in it, of runs with a step cache that "
           "answered some steps or reports its decisions. Charts `cache`, and `cache-differences` "
           "if the differences are recorded.",
    .tier = TA_TIER_POINTS,
    .chart = {&steps_chart},
    .not_of_ranks = true};

enum {
    C_RANK,
    C_CACHE,
    C_PASS,
    C_METHOD,
    C_STEPS,
    C_FULL,
    C_PARTIAL,
    C_CACHED,
    C_HIT_RATIO,
    C_FULL_NS,
    C_CACHED_NS,
    C_LEAST,
    C_COST,
    C_TIME,
    C_ACHIEVED,
    C_POSSIBLE,
    C_KEPT,
    C_LEAK,
    C_IDLE,
    C_CHECKS,
    C_CHECK_NS
};
static const struct ta_column speedup_table_columns[] = {
    [C_RANK] = TA_RANK_COLUMN,
    [C_CACHE] = {"cache", "Cache", TA_TEXT,
                 .doc = "Name of the cache, or of the model whose steps it answers"},
    [C_PASS] = {"pass", "Pass", TA_INTEGER, .role = TA_KEY,
                .doc = "Number of the model call within the step, starting at 1, for guidance in "
                       "two calls; empty if a step has only one"},
    [C_METHOD] = {"method", "Method", TA_TEXT,
                  .doc = "Kind of cache; empty if none of its functions is recorded"},
    [C_STEPS] = {"steps", "Steps", TA_COUNT,
                 .doc = "Denoising steps; empty if only hits are recorded"},
    [C_FULL] = {"full", "Full", TA_COUNT, .better = TA_LOWER,
                .doc = "Steps in which the whole model ran"},
    [C_PARTIAL] = {"partial", "Partial", TA_COUNT,
                   .doc = "Steps in which more than half of a full step ran, but not all"},
    [C_CACHED] = {"cached", "Cached", TA_COUNT, .better = TA_HIGHER,
                  .doc = "Steps that the cache answered"},
    [C_HIT_RATIO] = {"hit_ratio", "Hit ratio", TA_RATIO, .better = TA_HIGHER, .weight = 0.6,
                     .doc = "Steps that the cache answered divided by all steps"},
    [C_FULL_NS] = {"full_ns", "Full step", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Median time of a full step"},
    [C_CACHED_NS] =
        {"cached_ns", "Cached step", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Mean time of a cached step; for loops of which only a summary exists, the "
                "shortest iteration, or empty if that takes at least half of the median"},
    [C_LEAST] = {"least_ns", "Shortest", TA_NS, .better = TA_LOWER,
                 .doc = "Time of the shortest step"},
    [C_COST] = {"cost_ratio", "Cost", TA_RATIO, .better = TA_LOWER,
                .doc = "Time of a cached step divided by the time of a full step"},
    [C_TIME] = {"time_ns", "Time", TA_NS, .better = TA_LOWER, .doc = "Total time of all steps"},
    [C_ACHIEVED] = {"achieved", "Speed-up", TA_NUMBER, .better = TA_HIGHER,
                    .doc = "Achieved speed-up: number of steps × time of a full step, over the "
                           "time of all steps"},
    [C_POSSIBLE] =
        {"possible", "Possible speed-up", TA_NUMBER, .better = TA_HIGHER,
         .doc =
             "Speed-up with the same hits if cached steps ran only the blocks that they keep, "
             "without gaps: 1 / (1 − h (1 − r)), where h is the hit ratio and r the share of kept "
             "blocks (0 if unknown), plus up to 5 % of a full step for work outside the blocks"},
    [C_KEPT] = {"kept", "Kept blocks", TA_RATIO,
                .doc =
                    "Blocks that a cached step still runs, divided by the blocks of a full step, "
                    "counted by their attention calls; empty if these are not recorded"},
    [C_LEAK] = {"leak_ns", "Beyond blocks", TA_NS, .better = TA_LOWER,
                .doc = "Time of cached steps outside the blocks that they keep"},
    [C_IDLE] = {"idle_ns", "Idle", TA_NS, .better = TA_LOWER,
                .doc = "Part of that time in which no device works"},
    [C_CHECKS] = {"checks", "Checks", TA_COUNT,
                  .doc =
                      "Calls of the function that decides whether to use the cache, if recorded"},
    [C_CHECK_NS] = {"check_ns", "Checking", TA_NS, .better = TA_LOWER,
                    .doc = "Time that the decisions take: devices idle while the host decides, "
                           "plus device work of the decisions"},
};

static const struct ta_table_def speedup_table = {
    "caches.speedup",
    "Step caches",
    TA_COLUMNS(speedup_table_columns),
    .doc = "One row per rank, step cache and pass: how many denoising steps it answered, how long "
           "these take compared with a full step, and how much faster the loop becomes. In traces, "
           "steps are classified by the kernels that they launch; in logs and dumps, by what the "
           "cache says.",
    .rank_words = "Step cache",
    .brief = &(const struct ta_brief){
        .place = 379,
        .rows = 6,
        .first = {&speedup_table_columns[C_CACHE], &speedup_table_columns[C_STEPS],
                  &speedup_table_columns[C_CACHED], &speedup_table_columns[C_ACHIEVED],
                  &speedup_table_columns[C_POSSIBLE]}}};

/* ---- what is known of a cache ---------------------------------------------------------------- */

struct step {
    int64_t image, number, class, dur, busy, kernels;
    double kept, difference;
};

/* Embedding, last layer and scheduler run in cached steps, too: up to this of a full step is no
 * leak. */
#define OUTSIDE_MOST 0.05

/* A cache of a rank, of one pass. */
struct cache {
    int64_t rank, pass;
    struct ta_slice name, method;
    TA_VEC(struct step) steps;
    int64_t n, of[CLASSES]; /* steps; n is TA_MISSING where only hits are known */
    double full_ns, cached_ns, least_ns, time_ns, kept, leak_ns, idle_ns; /* NAN: not known */
    double outside; /* of a full step: what cached ones need beyond the blocks that they keep */
    int64_t checks, check_ns;
};

struct caches {
    TA_VEC(struct cache) list;
    bool has_ranks, has_names; /* several */
    bool failed;
};

static struct cache *cache_of(struct caches *all, int64_t rank, struct ta_slice name, int64_t pass)
{
    for (size_t i = all->list.n; i-- > 0;) /* rows are ordered: mostly it is the last one */
        if (all->list.at[i].rank == rank && all->list.at[i].pass == pass &&
            ta_slice_equal(all->list.at[i].name, name))
            return &all->list.at[i];
    const struct cache cache = {.rank = rank,
                                .pass = pass,
                                .name = name,
                                .full_ns = NAN,
                                .cached_ns = NAN,
                                .least_ns = NAN,
                                .time_ns = NAN,
                                .kept = NAN,
                                .leak_ns = NAN,
                                .idle_ns = NAN,
                                .checks = TA_MISSING,
                                .check_ns = TA_MISSING};
    if (!ta_vec_push(&all->list, cache)) {
        all->failed = true;
        return NULL;
    }
    return &all->list.at[all->list.n - 1];
}

static void add_step(struct caches *all, struct cache *cache, struct step step)
{
    all->failed |= !ta_vec_push(&cache->steps, step);
    cache->n++;
    cache->of[step.class]++;
}

/* ---- steps one by one ------------------------------------------------------------------------ */

static void take_steps(struct caches *all, const struct ta_partial *steps)
{
    for (size_t i = 0; i < ta_partial_rows(steps) && !all->failed; i++) {
        const int64_t *row = ta_partial_at(steps, i);
        struct cache *cache =
            cache_of(all, row[RANK], ta_partial_text(steps, row, CACHE), row[PASS]);
        if (cache)
            add_step(all, cache,
                     (struct step){.image = row[IMAGE],
                                   .number = row[STEP],
                                   .class = row[CLASS],
                                   .dur = row[DUR],
                                   .busy = row[BUSY],
                                   .kernels = row[KERNELS],
                                   .kept = ta_real_of(row[KEPT]),
                                   .difference = ta_real_of(row[DIFFERENCE])});
    }
}

static int by_number(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_full(const struct cache *cache, double *work)
{
    size_t n = 0;
    for (size_t i = 0; i < cache->steps.n; i++)
        if (cache->steps.at[i].class == CLASS_FULL && cache->steps.at[i].dur != TA_MISSING)
            work[n++] = (double)cache->steps.at[i].dur;
    if (n == 0)
        return NAN;
    qsort(work, n, sizeof *work, by_number);
    return n % 2 ? work[n / 2] : (work[n / 2 - 1] + work[n / 2]) / 2;
}

/* What full and cached steps take, where each has its time. */
static void time_steps(struct caches *all, struct cache *cache)
{
    double *work = calloc(cache->steps.n + 1, sizeof *work);
    double sum = 0, cached = 0, kept = 0, idle = 0, busy = 0;
    size_t n_kept = 0;
    all->failed |= !work;
    if (!work)
        return;
    cache->full_ns = median_full(cache, work);
    free(work);
    for (size_t i = 0; i < cache->steps.n; i++) {
        const struct step *step = &cache->steps.at[i];
        if (step->dur == TA_MISSING)
            return; /* its full_ns is NAN too, or the sums would lack this one */
        sum += (double)step->dur;
        cache->least_ns = fmin(cache->least_ns, (double)step->dur);
        if (step->class != CLASS_CACHED)
            continue;
        cached += (double)step->dur;
        busy += (double)step->busy;
        idle += step->busy == TA_MISSING ? 0 : (double)step->dur - (double)step->busy;
        kept += isnan(step->kept) ? 0 : step->kept;
        n_kept += isnan(step->kept) ? 0 : 1;
    }
    const double n = (double)cache->of[CLASS_CACHED];
    cache->time_ns = sum;
    if (n <= 0)
        return;
    cache->cached_ns = cached / n;
    cache->idle_ns = idle;
    if ((int64_t)n_kept == cache->of[CLASS_CACHED] && cache->full_ns > 0) {
        cache->kept = kept / n;
        cache->leak_ns = fmax(0, cached - kept * cache->full_ns);
        cache->outside = fmin(OUTSIDE_MOST, fmax(0, busy / n / cache->full_ns - cache->kept));
    }
}

/* ---- hits, and loops that are summed up ------------------------------------------------------ */

/* The iterations of the rank, where it has one loop. */
static const int64_t *loop_of(const struct ta_partial *loops, int64_t rank)
{
    const int64_t *found = NULL;
    for (size_t i = 0; i < ta_partial_rows(loops); i++) {
        const int64_t *row = ta_partial_at(loops, i);
        if (row[LOOP_RANK] != rank)
            continue;
        if (found)
            return NULL;
        found = row;
    }
    return found;
}

/* The hits from `first` to `end` are of one cache of one rank: where they and the length of the
 * loop say so, which steps these are.  Images have equally many steps, and each begins where the
 * number of the step goes back. */
static void place_hits(struct caches *all, struct cache *cache, const struct ta_partial *hits,
                       size_t first, size_t end, int64_t n)
{
    int64_t images = 1, most = 0, least = 0;
    for (size_t i = first; i < end; i++) {
        const int64_t step = ta_partial_at(hits, i)[HIT_STEP];
        images += i > first && step <= ta_partial_at(hits, i - 1)[HIT_STEP];
        most = step > most ? step : most;
        least = step < least ? step : least;
    }
    /* Programs count from 0, unless a number says otherwise. */
    const int64_t each = n / images, from = most >= each ? 1 : 0;
    if (n % images || least < 0 || most >= each + from || n > 1 << 20)
        return;
    int64_t image = 1, at = from;
    for (size_t i = first; i <= end; i++) {
        const int64_t step = i < end ? ta_partial_at(hits, i)[HIT_STEP] : -1;
        if (step < at) /* of the next image, or the end */
            for (; at < each + from; at++)
                add_step(all, cache,
                         (struct step){image, at - from + 1, CLASS_FULL, TA_MISSING, TA_MISSING,
                                       TA_MISSING, NAN, NAN});
        if (i == end)
            break;
        if (at == each + from) {
            image++;
            at = from;
        }
        for (; at <= step; at++)
            add_step(all, cache,
                     (struct step){image, at - from + 1, at == step ? CLASS_CACHED : CLASS_FULL,
                                   TA_MISSING, TA_MISSING, TA_MISSING, NAN, NAN});
    }
}

/* Where most iterations are full, or some are far shorter, the sums say what both kinds take. */
static void time_loop(struct cache *cache, const int64_t *loop)
{
    const double least = (double)loop[LOOP_LEAST], median = (double)loop[LOOP_MEDIAN];
    const double n = (double)cache->n, cached = (double)cache->of[CLASS_CACHED];
    const double total = (double)loop[LOOP_TOTAL];
    if (loop[LOOP_LEAST] <= 0 || loop[LOOP_MEDIAN] <= 0 || loop[LOOP_TOTAL] <= 0 || cached >= n)
        return;
    const bool is_apart = 2 * least < median;
    if (!is_apart && 2 * cached >= n)
        return;
    cache->full_ns = is_apart ? (total - cached * least) / (n - cached) : median;
    cache->cached_ns = is_apart ? least : (double)NAN;
    cache->least_ns = least;
    cache->time_ns = total;
}

static void take_hits(struct caches *all, const struct ta_partial *hits,
                      const struct ta_partial *loops)
{
    for (size_t i = 0, end; i < ta_partial_rows(hits) && !all->failed; i = end) {
        const int64_t *row = ta_partial_at(hits, i);
        end = ta_partial_group_end(hits, i, CACHE);
        const int64_t *loop = loop_of(loops, row[RANK]);
        const int64_t n = loop ? loop[LOOP_COUNT] : TA_MISSING, n_hits = (int64_t)(end - i);
        if (n < n_hits)
            continue;
        struct cache *cache =
            cache_of(all, row[RANK], ta_partial_text(hits, row, CACHE), TA_MISSING);
        if (!cache || cache->n)
            continue; /* another file has it */
        place_hits(all, cache, hits, i, end, n);
        cache->n = n;
        cache->of[CLASS_CACHED] = n_hits;
        cache->of[CLASS_FULL] = n - n_hits;
        if (n_hits)
            time_loop(cache, loop);
    }
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Counters are of the whole run; lists of steps may have been cleared in between. */
static void take_counts(struct caches *all, const struct ta_partial *counts)
{
    for (size_t i = 0; i < ta_partial_rows(counts) && !all->failed; i++) {
        const int64_t *row = ta_partial_at(counts, i);
        struct cache *cache =
            cache_of(all, row[COUNT_RANK], ta_partial_text(counts, row, COUNT_CACHE), TA_MISSING);
        if (!cache || row[HITS] < 0)
            continue;
        const bool is_listed = cache->n > 0 && cache->of[CLASS_CACHED] == row[HITS];
        if (is_listed)
            continue;
        cache->of[CLASS_CACHED] = row[HITS];
        cache->of[CLASS_FULL] = row[MISSES];
        cache->n = row[MISSES] < 0 ? TA_MISSING : ta_add_sat(row[HITS], row[MISSES]);
    }
}

/* What its functions say, of the model whose steps it answers. */
static void take_checks(struct caches *all, const struct ta_partial *checks)
{
    for (size_t i = 0; i < ta_partial_rows(checks); i++) {
        const int64_t *row = ta_partial_at(checks, i);
        for (size_t c = 0; c < all->list.n; c++) {
            struct cache *cache = &all->list.at[c];
            if (cache->rank != row[CHECK_RANK] ||
                !ta_slice_equal(cache->name, ta_partial_text(checks, row, CHECK_CACHE)))
                continue;
            cache->method = ta_partial_text(checks, row, CHECK_METHOD);
            if (cache->pass != TA_MISSING && cache->pass > 1)
                continue; /* calls are not told apart by passes: they stand with the first */
            cache->checks = row[CHECK_CALLS];
            cache->check_ns = row[CHECK_NS];
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* "image 2, pass 1"; of a run of several ranks or caches these as well. */
static const char *line_of(const struct caches *all, const struct cache *cache, int64_t image,
                           char text[160])
{
    size_t n = 0;
    text[0] = '\0';
    if (all->has_ranks)
        n += (size_t)snprintf(text + n, 160 - n, "rank %lld, ", (long long)cache->rank);
    if (all->has_names)
        n += (size_t)snprintf(text + n, 160 - n, "%.*s, ",
                              (int)ta_min_i64((int64_t)cache->name.len, 60), cache->name.ptr);
    n += (size_t)snprintf(text + n, 160 - n, "image %lld", (long long)image);
    if (cache->pass != TA_MISSING)
        snprintf(text + n, 160 - n, ", pass %lld", (long long)cache->pass);
    return text;
}

static void look_around(struct caches *all)
{
    for (size_t i = 1; i < all->list.n; i++) {
        all->has_ranks |= all->list.at[i].rank != all->list.at[0].rank;
        all->has_names |= !ta_slice_equal(all->list.at[i].name, all->list.at[0].name);
    }
}

static double kernels_full(const struct cache *cache)
{
    double most = 0;
    for (size_t i = 0; i < cache->steps.n; i++)
        if (cache->steps.at[i].class == CLASS_FULL)
            most = fmax(most, (double)cache->steps.at[i].kernels);
    return most;
}

static struct ta_cell number(double value)
{
    return isnan(value) ? ta_null() : ta_num(value);
}

static struct ta_cell whole(double value)
{
    return isnan(value) ? ta_null() : ta_int(ta_whole(value));
}

static void add_steps(const struct caches *all, const struct cache *cache,
                      struct ta_section_builder *out)
{
    static const double work_of[CLASSES] = {1, 0.5, 0};
    const double full = kernels_full(cache);
    for (size_t i = 0; i < cache->steps.n; i++) {
        const struct step *step = &cache->steps.at[i];
        char text[160];
        const bool is_counted = full > 0 && step->kernels != TA_MISSING;
        TA_ROW(
            out,
            steps_table, [S_RANK] = ta_int(cache->rank), [S_CACHE] = ta_text_or_null(cache->name),
            [S_PASS] = ta_int(cache->pass), [S_IMAGE] = ta_int(step->image),
            [S_STEP] = ta_int(step->number), [S_CLASS] = ta_string(class_words[step->class]),
            [S_WORK] =
                ta_num(is_counted ? fmin(1, (double)step->kernels / full) : work_of[step->class]),
            [S_DUR] = ta_int(step->dur), [S_BUSY] = ta_int(step->busy),
            [S_KERNELS] = ta_int(step->kernels), [S_DIFFERENCE] = number(step->difference),
            [S_LINE] = ta_string(line_of(all, cache, step->image, text)));
    }
}

static bool has_differences(const struct cache *cache)
{
    for (size_t i = 0; i < cache->steps.n; i++)
        if (!isnan(cache->steps.at[i].difference))
            return true;
    return false;
}

static void add_cache(const struct cache *cache, struct ta_section_builder *out)
{
    const bool is_counted = cache->n != TA_MISSING && cache->n > 0;
    const double n = is_counted ? (double)cache->n : NAN;
    const double hits = (double)cache->of[CLASS_CACHED] / n;
    const double kept = isnan(cache->kept) ? 0 : cache->kept;
    const double left = 1 - hits * (1 - kept - cache->outside);
    TA_ROW(out,
           speedup_table, [C_RANK] = ta_int(cache->rank), [C_CACHE] = ta_text_or_null(cache->name),
           [C_PASS] = ta_int(cache->pass), [C_METHOD] = ta_text_or_null(cache->method),
           [C_STEPS] = is_counted ? ta_int(cache->n) : ta_null(),
           [C_FULL] = is_counted ? ta_int(cache->of[CLASS_FULL]) : ta_null(),
           [C_PARTIAL] = is_counted ? ta_int(cache->of[CLASS_PARTIAL]) : ta_null(),
           [C_CACHED] = ta_int(cache->of[CLASS_CACHED]), [C_HIT_RATIO] = number(hits),
           [C_FULL_NS] = number(cache->full_ns), [C_CACHED_NS] = number(cache->cached_ns),
           [C_LEAST] = whole(cache->least_ns), [C_COST] = number(cache->cached_ns / cache->full_ns),
           [C_TIME] = whole(cache->time_ns),
           [C_ACHIEVED] = number(n * cache->full_ns / cache->time_ns),
           [C_POSSIBLE] = left > 0 ? ta_num(1 / left) : ta_null(), [C_KEPT] = number(cache->kept),
           [C_LEAK] = whole(cache->leak_ns), [C_IDLE] = whole(cache->idle_ns),
           [C_CHECKS] = ta_int(cache->checks), [C_CHECK_NS] = ta_int(cache->check_ns));
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    step_caches_of_dump(trace, out);
    return step_caches_of_trace(trace, out)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of a trace");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    struct caches all = {0};
    take_steps(&all, merged[OF_STEPS]);
    for (size_t i = 0; i < all.list.n; i++)
        time_steps(&all, &all.list.at[i]);
    take_hits(&all, merged[OF_HITS], merged[OF_LOOPS]);
    take_counts(&all, merged[OF_COUNTS]);
    take_checks(&all, merged[OF_CHECKS]);
    look_around(&all);
    bool is_measured = false;
    for (size_t i = 0; i < all.list.n && !all.failed; i++) {
        add_cache(&all.list.at[i], out);
        add_steps(&all, &all.list.at[i], out);
        is_measured |= has_differences(&all.list.at[i]);
    }
    if (is_measured)
        ta_draw(out, &steps_table, &difference_chart);
    for (size_t i = 0; i < all.list.n; i++)
        free(all.list.at[i].steps.at);
    free(all.list.at);
    return all.failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of the caches") : TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{OF_STEPS, CLASS, CLASSES}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&speedup_table, &steps_table, NULL};

static const char *const needs_args[] = {"grid", NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs_args = needs_args,
                                           .section = "caches",
                                           .place = -1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, step_caches, &ops, .title = "Step caches",
          .summary =
              "Denoising steps answered by a cache, and the speed-up: caches.speedup, caches.steps",
          .version = "1");
