/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of step caches as dumps and logs have them: one by one, as hits with the number of their
 * step, or counted. */
#include "step_caches.h"

#include "lib/step_caches.h"

#include <traceanalyze/dump.h>

/* The number after "step: " in the details of a hit; TA_MISSING without one. */
static int64_t step_of(struct ta_slice details)
{
    static const char key[] = "step: ";
    const char *at = details.len ? memmem(details.ptr, details.len, key, sizeof key - 1) : NULL;
    int64_t step = TA_MISSING;
    if (!at || (at != details.ptr && at[-1] != ' '))
        return step;
    for (const char *c = at + sizeof key - 1; c < ta_slice_end(details); c++) {
        if (*c < '0' || *c > '9' || step > INT32_MAX)
            break;
        step = (step == TA_MISSING ? 0 : step) * 10 + (*c - '0');
    }
    return step;
}

/* Steps that are recorded one by one.  Where the number goes back the next image begins. */
static void take_steps(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_cache_step *steps = ta_trace_cache_step_rows(trace, &n);
    int64_t image = 0;
    for (size_t i = 0; i < n; i++) {
        const bool goes_on = i > 0 && steps[i].cache == steps[i - 1].cache &&
                             steps[i].rank == steps[i - 1].rank &&
                             steps[i].step > steps[i - 1].step;
        image += !goes_on;
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, steps[i].rank), ta_row_file(trace),
                                      ta_key_text(ta_trace_text(trace, steps[i].cache)),
                                      ta_key_int((int64_t)i));
        row[IMAGE] = image;
        row[STEP] = ta_add_sat(steps[i].step, 1);
        row[CLASS] = steps[i].is_cached ? CLASS_CACHED : CLASS_FULL;
        row[DIFFERENCE] = ta_real_cell(steps[i].difference);
    }
}

static void take_hits(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_cache_hit *hits = ta_trace_cache_hit_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_slice cache = ta_trace_text(trace, hits[i].cache);
        const int64_t step = step_of(ta_trace_text(trace, hits[i].details));
        if (step != TA_MISSING && ta_is_step_cache(cache))
            TA_PARTIAL_ROW(out, ta_row_rank(trace, hits[i].rank), ta_row_file(trace),
                           ta_key_text(cache), ta_key_int((int64_t)i))
        [HIT_STEP] = step;
    }
}

static void take_loops(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_iterations *loops = ta_trace_iterations_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, loops[i].rank), ta_row_file(trace));
        ta_sum(&row[LOOP_COUNT], loops[i].count);
        ta_sum(&row[LOOP_TOTAL], loops[i].total_ns);
        ta_least(&row[LOOP_LEAST], loops[i].min_ns);
        ta_most(&row[LOOP_MEDIAN], loops[i].median_ns);
    }
}

/* Whether a log has figures of what steps differ by under the name of the cache. */
static bool has_differences(const struct ta_trace *trace, struct ta_slice cache)
{
    size_t n;
    const struct ta_figure *figures = ta_trace_figure_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (ta_slice_starts(ta_trace_text(trace, figures[i].name), "residual_diff_") &&
            ta_slice_equal(ta_trace_text(trace, figures[i].group), cache))
            return true;
    return false;
}

static void take_counts(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_cache_count *counts = ta_trace_cache_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_slice cache = ta_trace_text(trace, counts[i].cache);
        if (ta_slice_has_word(cache, "pruned blocks") ||
            !(ta_is_step_cache(cache) || has_differences(trace, cache)))
            continue;
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, counts[i].rank), ta_key_text(cache));
        ta_sum(&row[HITS], counts[i].hits);
        ta_sum(&row[MISSES], counts[i].misses);
    }
}

void step_caches_of_dump(const struct ta_trace *trace, struct ta_partial *const *out)
{
    take_steps(trace, out[OF_STEPS]);
    take_hits(trace, out[OF_HITS]);
    take_loops(trace, out[OF_LOOPS]);
    take_counts(trace, out[OF_COUNTS]);
}
