/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.over_ranks, phases.alone, phases.uneven: phases of a diffusion on all ranks, on one clock.
 *
 * A rank is alone in a phase while others neither compute nor work on the host for another phase:
 * they wait in a collective, for data of it, or are done.  Ranks that all decode, each a part or a
 * video of its own, compute meanwhile; a range around the decode that all ranks enter, with one of
 * them at work, does not make the others work.
 *
 * Of each trace come its phases, and the stretches in which its devices compute nothing: all of
 * them from a 256th of the window on, so that they are few. */
#include "covered.h"
#include "model/program/generation.h"
#include "model/program/window.h"
#include "ranks/ranks.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum { PARTIAL_STAGES, PARTIAL_FREE, PARTIAL_RUNS };

enum { OF_RANK, OF_PHASE, OF_START, OF_END, OF_COMPUTE, OF_HOST, OF_FIELDS };
static const struct ta_field stage_fields[OF_FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},         [OF_PHASE] = {"phase", TA_FIELD_INT},
    [OF_START] = {"start_ns", TA_FIELD_INT},     [OF_END] = {"end_ns", TA_FIELD_INT},
    [OF_COMPUTE] = {"compute_ns", TA_FIELD_MAX}, /* of its devices, within */
    [OF_HOST] = {"by_host", TA_FIELD_MAX},       /* 1: it launched nothing */
};

enum { FREE_RANK, FREE_START, FREE_END, FREE_FIELDS };
static const struct ta_field free_fields[FREE_FIELDS] = {
    [FREE_RANK] = {"rank", TA_FIELD_RANK},
    [FREE_START] = {"start_ns", TA_FIELD_INT},
    [FREE_END] = {"end_ns", TA_FIELD_INT},
};

enum { RUN_RANK, RUN_START, RUN_END, RUN_DENOISES, RUN_FIELDS };
static const struct ta_field run_fields[RUN_FIELDS] = {
    [RUN_RANK] = {"rank", TA_FIELD_RANK},
    [RUN_START] = {"start_ns", TA_FIELD_MIN},
    [RUN_END] = {"end_ns", TA_FIELD_MAX},
    [RUN_DENOISES] = {"denoises", TA_FIELD_MAX}, /* what others do is of a diffusion, then */
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_STAGES] = {"stages", stage_fields, OF_FIELDS},
    [PARTIAL_FREE] = {"free", free_fields, FREE_FIELDS},
    [PARTIAL_RUNS] = {"runs", run_fields, RUN_FIELDS},
    {0},
};

/* Rows may come from a saved summary. */
static const struct ta_bound bounds[] = {{PARTIAL_STAGES, OF_PHASE, TA_GENERATION_PHASES},
                                         TA_BOUNDS_END};

/* ---- tables -------------------------------------------------------------------------------- */

enum { ALONE_PHASE, ALONE_RANK, ALONE_TIMES, ALONE_TIME, ALONE_SHARE, ALONE_RANKS, ALONE_WAITING };
static const struct ta_column alone_columns[] = {
    [ALONE_PHASE] = {"phase", "Phase", TA_TEXT, .doc = "Phase of the program"},
    [ALONE_RANK] = TA_RANK_COLUMN_OF("Rank that is in the phase"),
    [ALONE_TIMES] = {"times", "Occurrences", TA_COUNT,
                     .doc = "How many times other ranks waited while this rank was in the phase"},
    [ALONE_TIME] = {"time_ns", "Time", TA_NS, .better = TA_LOWER,
                    .doc = "Time that the phase took on this rank, those times together"},
    [ALONE_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                     .doc = "That time divided by the longest window of any rank"},
    [ALONE_RANKS] = {"at_work", "At work", TA_COUNT,
                     .doc = "Most ranks that were in the phase at once, including this one"},
    [ALONE_WAITING] = {"waiting", "Waiting", TA_COUNT, .better = TA_LOWER,
                       .doc = "Fewest ranks that waited: ranks that compute less than a tenth of "
                              "that time and do no host work for a phase of their own"},
};

static const struct ta_table_def alone = {
    "phases.alone",
    "Phases on some ranks while others wait",
    TA_COLUMNS(alone_columns),
    .doc = "One row per phase and rank that is in it while other ranks wait. Times are on the "
           "common clock; ranks whose clocks could not be aligned are left out.",
    .not_of_ranks = true,
    .joining = TA_JOIN_NOT,
    .brief = &(const struct ta_brief){.place = 255, .rows = 4}};

enum {
    OVER_PHASE,
    OVER_RANKS,
    OVER_OF,
    OVER_SHORTEST,
    OVER_MEDIAN,
    OVER_LONGEST,
    OVER_RANK,
    OVER_EXCESS
};
static const struct ta_column over_columns[] = {
    [OVER_PHASE] = {"phase", "Phase", TA_TEXT, .doc = "Phase of the program"},
    [OVER_RANKS] = {"ranks", "Ranks at work", TA_COUNT,
                    .doc = "Ranks that work in the phase: at least a tenth as much as the rank "
                           "with the most work"},
    [OVER_OF] = {"of", "Ranks known", TA_COUNT, .doc = "Ranks whose phases are known"},
    [OVER_SHORTEST] = {"shortest_ns", "Shortest", TA_NS, .better = TA_LOWER,
                       .doc = "Work of the rank with the least: compute time of its devices in the "
                              "phase; for a host phase, its duration"},
    [OVER_MEDIAN] = {"median_ns", "Median", TA_NS_MEAN, .better = TA_LOWER,
                     .doc = "Median work of the ranks that work in the phase"},
    [OVER_LONGEST] = {"longest_ns", "Longest", TA_NS, .better = TA_LOWER,
                      .doc = "Work of the rank with the most"},
    [OVER_RANK] = {"rank", "Rank", TA_INTEGER, .doc = "Rank with the most work"},
    [OVER_EXCESS] = {"excess", "Extra time", TA_TYPE_NUMBER, TA_UNIT_RATIO, .better = TA_LOWER,
                     .doc = "Longest minus median, divided by the median"},
};

static const struct ta_table_def over = {"phases.over_ranks",
                                         "Phases compared between ranks",
                                         TA_COLUMNS(over_columns),
                                         .tier = TA_TIER_DETAIL,
                                         .doc = "One row per phase of a run with several ranks.",
                                         .not_of_ranks = true,
                                         .joining = TA_JOIN_NOT,
                                         .brief =
                                             &(const struct ta_brief){.place = 255, .rows = 6}};

enum {
    UNEVEN_PHASE,
    UNEVEN_RANK,
    UNEVEN_TIME,
    UNEVEN_OTHERS,
    UNEVEN_EXTRA,
    UNEVEN_SHARE,
    UNEVEN_WAITING,
    UNEVEN_RANKS
};
static const struct ta_column uneven_columns[] = {
    [UNEVEN_PHASE] = {"phase", "Phase", TA_TEXT, .doc = "Phase of the program"},
    [UNEVEN_RANK] = TA_RANK_COLUMN_OF("Rank with most work in the phase"),
    [UNEVEN_TIME] =
        {"time_ns", "Work", TA_NS, .better = TA_LOWER,
         .doc = "Compute time of the rank's devices in the phase; for a host phase, its duration"},
    [UNEVEN_OTHERS] = {"others_ns", "Other ranks", TA_NS_MEAN, .better = TA_LOWER,
                       .doc = "Median work of the other ranks that work in the phase"},
    [UNEVEN_EXTRA] = {"extra_ns", "Extra work", TA_NS, .better = TA_LOWER,
                      .doc = "Work of this rank minus the median of the others"},
    [UNEVEN_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                      .doc = "Extra work divided by the longest window of any rank"},
    [UNEVEN_WAITING] = {"waiting", "Waiting", TA_COUNT, .better = TA_LOWER,
                        .doc = "Ranks that compute nothing for at least half of the extra work, "
                               "which is the end of the phase"},
    [UNEVEN_RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks that work in the phase"},
};

static const struct ta_table_def uneven = {
    "phases.uneven",
    "Phases that take longer on one rank",
    TA_COLUMNS(uneven_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per phase in which one rank works longer than the others by at least 1 % of "
           "the run, without a similar excess in other phases: a rank that is slow in all phases "
           "is reported as a late rank instead.",
    .not_of_ranks = true,
    .joining = TA_JOIN_NOT,
    .brief = &(const struct ta_brief){.place = 255, .rows = 4}};

/* ---- map ----------------------------------------------------------------------------------- */

enum { STRETCHES_MOST = 256 };

/* When devices work at anything but communication; whether there is any. */
static bool find_work(const struct ta_trace *trace, struct ta_intervals *work)
{
    const struct ta_trace_view *view = ta_trace_view(trace);
    bool communicates = false;
    for (size_t i = 0; i < view->activities.n; i++) {
        const struct ta_activity *a = &view->activities.at[i];
        if (a->kernel != TA_NO_KERNEL &&
            view->kernels.at[a->kernel].facts.class == TA_KERNEL_COMM) {
            communicates = true;
            continue;
        }
        const int64_t start = view->spans.ts[a->span];
        ta_intervals_add(work, start, start + view->spans.dur[a->span]);
    }
    ta_intervals_unite(work);
    return communicates;
}

/* On the clock of the machine, where the trace says it. */
static int64_t dated(const struct ta_trace *trace, int64_t time)
{
    const int64_t zero = ta_trace_base_ns(trace);
    return zero == TA_MISSING ? time : ta_add_sat(zero, time);
}

static void add_stages(const struct ta_trace *trace, const struct ta_generation *found,
                       const struct ta_intervals *work, struct ta_partial *out)
{
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct ta_generation_time *time = &found->stages[i].time;
        const bool by_host = time->gpu_start == TA_MISSING;
        const struct ta_interval span = ta_generation_span(time);
        int64_t *row = TA_PARTIAL_ROW(
            out, ta_key_int(ta_trace_rank(trace)), ta_key_int(found->stages[i].phase),
            ta_key_int(dated(trace, span.start)), ta_key_int(dated(trace, span.end)));
        ta_most(&row[OF_COMPUTE], ta_intervals_within(work, span.start, span.end));
        ta_most(&row[OF_HOST], by_host);
    }
}

static void add_free(const struct ta_trace *trace, int64_t start, int64_t end, int64_t least,
                     struct ta_partial *out)
{
    if (end - start >= least && end > start)
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(dated(trace, start)),
                       ta_key_int(dated(trace, end)));
}

static void add_stretches(const struct ta_trace *trace, const struct ta_program_window *window,
                          const struct ta_intervals *work, struct ta_partial *out)
{
    const int64_t least = (window->end - window->start) / STRETCHES_MOST;
    int64_t from = window->start;
    for (size_t i = 0; i < work->n; i++) {
        add_free(trace, from, work->at[i].start, least, out);
        from = work->at[i].end;
    }
    add_free(trace, from, window->end, least, out);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    const struct ta_program_window *window = ta_program_window(trace);
    if (!found || !window)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    struct ta_intervals work = {0};
    const bool communicates = find_work(trace, &work);
    /* Of ranks in whose traces nothing shows a phase it counts when they have nothing to do. */
    const bool denoises = found->by != TA_GENERATION_BY_NOTHING;
    const struct ta_generation *shown = denoises || !found->aside ? found : found->aside;
    if (!work.failed && (communicates || shown->n_stages)) {
        int64_t *row = TA_PARTIAL_ROW(out[PARTIAL_RUNS], ta_key_int(ta_trace_rank(trace)));
        ta_least(&row[RUN_START], dated(trace, window->start));
        ta_most(&row[RUN_END], dated(trace, window->end));
        ta_most(&row[RUN_DENOISES], denoises);
        add_stages(trace, shown, &work, out[PARTIAL_STAGES]);
        add_stretches(trace, window, &work, out[PARTIAL_FREE]);
    }
    const bool failed = work.failed;
    ta_intervals_free(&work);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace") : TA_OK;
}

/* ---- ranks on one clock ---------------------------------------------------------------------- */

/* A rank, and its rows of the partials. */
struct rank {
    int64_t rank, start, end;
    const struct ta_rank_clock *clock; /* NULL: not comparable */
    size_t first_stage, n_stages, first_free, n_free;
};

struct run {
    const struct ta_partial *stages, *free;
    struct rank *at;
    int64_t *waiting; /* by stage: how many other ranks wait meanwhile */
    size_t n, n_clocked;
    int64_t window;
    bool denoises;
};

static int64_t on_clock(const struct rank *rank, int64_t time)
{
    return ta_rank_clock_time(rank->clock, time);
}

/* Rows of a rank, which are next to each other; `from` is where they may begin. */
static size_t rows_of(const struct ta_partial *of, int64_t rank, size_t *from)
{
    size_t n = 0;
    while (*from < ta_partial_rows(of) && ta_partial_at(of, *from)[0] < rank)
        (*from)++;
    while (*from + n < ta_partial_rows(of) && ta_partial_at(of, *from + n)[0] == rank)
        n++;
    return n;
}

/* False without memory. */
static bool read_run(const struct ta_partial *const *merged, const struct ta_ranks *ranks,
                     struct run *run)
{
    const struct ta_partial *runs = merged[PARTIAL_RUNS];
    int64_t axis = TA_MISSING;
    size_t stage = 0, stretch = 0;
    *run = (struct run){.stages = merged[PARTIAL_STAGES],
                        .free = merged[PARTIAL_FREE],
                        .at = calloc(ta_partial_rows(runs) + 1, sizeof *run->at)};
    if (!run->at)
        return false;
    for (size_t i = 0; i < ta_partial_rows(runs); i++) {
        const int64_t *row = ta_partial_at(runs, i);
        struct rank *rank = &run->at[run->n++];
        *rank = (struct rank){.rank = row[RUN_RANK], .start = row[RUN_START], .end = row[RUN_END]};
        const struct ta_rank_member *member =
            ta_ranks_clock(ranks->members, ranks->n_members, rank->rank, &axis);
        rank->clock = member ? &member->clock : NULL;
        run->n_clocked += member != NULL;
        run->denoises |= row[RUN_DENOISES] > 0;
        rank->n_stages = rows_of(run->stages, rank->rank, &stage);
        rank->first_stage = stage;
        rank->n_free = rows_of(run->free, rank->rank, &stretch);
        rank->first_free = stretch;
        run->window = ta_max_i64(run->window, rank->end - rank->start);
    }
    return true;
}

static int64_t overlap(int64_t start, int64_t end, int64_t from, int64_t to)
{
    return ta_max_i64(0, ta_min_i64(end, to) - ta_max_i64(start, from));
}

/* What of [start, end), on the clock of the run, a rank computes nothing; after its end, too. */
static int64_t free_time(const struct run *run, const struct rank *rank, int64_t start, int64_t end)
{
    int64_t ns = overlap(start, end, on_clock(rank, rank->end), INT64_MAX);
    for (size_t i = 0; i < rank->n_free; i++) {
        const int64_t *row = ta_partial_at(run->free, rank->first_free + i);
        ns += overlap(start, end, on_clock(rank, row[FREE_START]), on_clock(rank, row[FREE_END]));
    }
    return ns;
}

/* What of [start, end) a rank is in a phase of its host. */
static int64_t host_time(const struct run *run, const struct rank *rank, int64_t start, int64_t end)
{
    int64_t ns = 0;
    for (size_t i = 0; i < rank->n_stages; i++) {
        const int64_t *row = ta_partial_at(run->stages, rank->first_stage + i);
        if (row[OF_HOST])
            ns += overlap(start, end, on_clock(rank, row[OF_START]), on_clock(rank, row[OF_END]));
    }
    return ns;
}

/* ---- alone ----------------------------------------------------------------------------------- */

/* Of another rank while one is in a phase: less work than this share is none. */
#define LITTLE 0.1
/* And of the phase itself the devices compute more, or the host is in it alone. */
#define AT_WORK 0.3

static bool does_work(const int64_t *stage)
{
    return stage[OF_HOST] ||
           (double)stage[OF_COMPUTE] >= AT_WORK * (double)(stage[OF_END] - stage[OF_START]);
}

static bool is_in(const struct run *run, const struct rank *rank, int64_t phase, int64_t start,
                  int64_t end)
{
    for (size_t i = 0; i < rank->n_stages; i++) {
        const int64_t *row = ta_partial_at(run->stages, rank->first_stage + i);
        if (row[OF_PHASE] == phase && does_work(row) &&
            (double)overlap(start, end, on_clock(rank, row[OF_START]),
                            on_clock(rank, row[OF_END])) > LITTLE * (double)(end - start))
            return true;
    }
    return false;
}

/* Whether a rank neither computes nor works on its host in [start, end) of a stage of another. */
static bool waits(const struct run *run, const struct rank *rank, int64_t phase, int64_t start,
                  int64_t end)
{
    const double length = (double)(end - start);
    return (double)free_time(run, rank, start, end) >= (1 - LITTLE) * length &&
           !is_in(run, rank, phase, start, end) &&
           (double)host_time(run, rank, start, end) <= LITTLE * length;
}

/* Ranks that are in the phase during a stage of a rank, itself among them. */
static int64_t count_at_work(const struct run *run, const struct rank *own, const int64_t *stage)
{
    const int64_t start = on_clock(own, stage[OF_START]), end = on_clock(own, stage[OF_END]);
    int64_t n = 1;
    for (size_t i = 0; i < run->n; i++)
        n += &run->at[i] != own && run->at[i].clock &&
             is_in(run, &run->at[i], stage[OF_PHASE], start, end);
    return n;
}

/* Stages during which others may wait. */
static bool list_windows(const struct run *run, struct windows *windows)
{
    windows->at = calloc(ta_partial_rows(run->stages) + 1, sizeof *windows->at);
    for (size_t i = 0; windows->at && i < run->n; i++)
        for (size_t s = 0; run->at[i].clock && s < run->at[i].n_stages; s++) {
            const size_t of = run->at[i].first_stage + s;
            const int64_t *stage = ta_partial_at(run->stages, of);
            if (does_work(stage) && stage[OF_END] > stage[OF_START])
                windows->at[windows->n++] =
                    (struct window){.start = on_clock(&run->at[i], stage[OF_START]),
                                    .end = on_clock(&run->at[i], stage[OF_END]),
                                    .of = of};
        }
    return windows->at && windows_order(windows);
}

/* When a rank computes nothing, as free_time() has it. */
static void add_free_stretches(const struct run *run, const struct rank *rank,
                               struct stretches *stretches)
{
    stretches->starts[stretches->n] = on_clock(rank, rank->end);
    stretches->ends[stretches->n++] = INT64_MAX;
    for (size_t i = 0; i < rank->n_free; i++) {
        const int64_t *row = ta_partial_at(run->free, rank->first_free + i);
        const int64_t start = on_clock(rank, row[FREE_START]);
        const int64_t end = on_clock(rank, row[FREE_END]);
        if (end <= start)
            continue;
        stretches->starts[stretches->n] = start;
        stretches->ends[stretches->n++] = end;
    }
}

static bool may_wait(const struct window *window)
{
    return (double)window->covered >= (1 - LITTLE) * (double)(window->end - window->start);
}

/* Without windows that all ranks together are not free for: most, where all work at once. */
static bool drop_windows(const struct run *run, struct stretches *stretches,
                         struct windows *windows)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++)
        if (run->at[i].clock)
            add_free_stretches(run, &run->at[i], stretches);
    windows_cover(windows, stretches);
    for (size_t i = 0; i < windows->n; i++)
        if (may_wait(&windows->at[i]))
            windows->at[n++] = windows->at[i];
    windows->n = n;
    free(windows->by_end);
    return windows_order(windows);
}

/* How many ranks wait during each stage, at run->waiting[]. */
static void count_waiting(struct run *run, struct stretches *stretches, struct windows *windows)
{
    for (size_t i = 0; i < run->n; i++) {
        const struct rank *rank = &run->at[i];
        if (!rank->clock)
            continue;
        stretches->n = 0;
        add_free_stretches(run, rank, stretches);
        windows_cover(windows, stretches);
        for (size_t w = 0; w < windows->n; w++) {
            const struct window *window = &windows->at[w];
            const bool is_own = window->of - rank->first_stage < rank->n_stages;
            if (may_wait(window) && !is_own &&
                waits(run, rank, ta_partial_at(run->stages, window->of)[OF_PHASE], window->start,
                      window->end))
                run->waiting[window->of]++;
        }
    }
}

static bool find_waiting(struct run *run)
{
    const size_t n = ta_partial_rows(run->free) + run->n + 1;
    struct windows windows = {0};
    struct stretches stretches = {.starts = calloc(n, sizeof *stretches.starts),
                                  .ends = calloc(n, sizeof *stretches.ends)};
    run->waiting = calloc(ta_partial_rows(run->stages) + 1, sizeof *run->waiting);
    const bool done = run->waiting && stretches.starts && stretches.ends &&
                      list_windows(run, &windows) && drop_windows(run, &stretches, &windows);
    if (done && windows.n)
        count_waiting(run, &stretches, &windows);
    free(stretches.starts);
    free(stretches.ends);
    windows_free(&windows);
    return done;
}

static void add_alone(const struct run *run, const struct rank *rank, int64_t phase,
                      struct ta_section_builder *out)
{
    int64_t times = 0, time = 0, at_work = 0, waiting = 0;
    for (size_t i = 0; i < rank->n_stages; i++) {
        const int64_t *stage = ta_partial_at(run->stages, rank->first_stage + i);
        const int64_t others = run->waiting[rank->first_stage + i];
        if (stage[OF_PHASE] != phase || others == 0)
            continue;
        time += stage[OF_END] - stage[OF_START];
        at_work = ta_max_i64(at_work, count_at_work(run, rank, stage));
        waiting = times++ ? ta_min_i64(waiting, others) : others;
    }
    if (times)
        TA_ROW(out, alone, [ALONE_PHASE] = ta_string(ta_generation_phase_names[phase]),
               [ALONE_RANK] = ta_int(rank->rank), [ALONE_TIMES] = ta_int(times),
               [ALONE_TIME] = ta_int(time), [ALONE_SHARE] = ta_share(time, run->window),
               [ALONE_RANKS] = ta_int(at_work), [ALONE_WAITING] = ta_int(waiting));
}

/* ---- over ranks ------------------------------------------------------------------------------ */

static int64_t work_of(const struct run *run, const struct rank *rank, int64_t phase)
{
    int64_t work = 0;
    for (size_t s = 0; s < rank->n_stages; s++) {
        const int64_t *stage = ta_partial_at(run->stages, rank->first_stage + s);
        if (stage[OF_PHASE] == phase && does_work(stage))
            work += stage[OF_HOST] ? stage[OF_END] - stage[OF_START] : stage[OF_COMPUTE];
    }
    return work;
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void add_over(const struct run *run, int64_t phase, int64_t *works,
                     struct ta_section_builder *out)
{
    int64_t longest = 0, longest_rank = TA_MISSING;
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++) {
        const int64_t work = work_of(run, &run->at[i], phase);
        if (work > longest) {
            longest = work;
            longest_rank = run->at[i].rank;
        }
        works[n++] = work;
    }
    if (longest == 0)
        return;
    qsort(works, n, sizeof *works, by_value);
    while ((double)*works < LITTLE * (double)longest) {
        works++;
        n--;
    }
    const double median = ((double)works[(n - 1) / 2] + (double)works[n / 2]) / 2;
    TA_ROW(out, over, [OVER_PHASE] = ta_string(ta_generation_phase_names[phase]),
           [OVER_RANKS] = ta_int((int64_t)n), [OVER_OF] = ta_int((int64_t)run->n),
           [OVER_SHORTEST] = ta_int(works[0]), [OVER_MEDIAN] = ta_num(median),
           [OVER_LONGEST] = ta_int(longest), [OVER_RANK] = ta_int(longest_rank),
           [OVER_EXCESS] = ta_num((double)longest / median - 1));
}

/* ---- uneven ---------------------------------------------------------------------------------- */

#define EXTRA_LEAST 0.01 /* of the longest window */
#define EXTRA_MANY 0.05  /* of what the others work */

/* The median of the other ranks that work in a phase, how many these are; NAN without. */
static double median_of_others(const struct run *run, const struct rank *own, int64_t phase,
                               int64_t *works, size_t *n)
{
    const int64_t most = work_of(run, own, phase);
    *n = 0;
    for (size_t i = 0; i < run->n; i++) {
        const int64_t work = work_of(run, &run->at[i], phase);
        if (&run->at[i] != own && (double)work >= LITTLE * (double)most)
            works[(*n)++] = work;
    }
    if (*n == 0)
        return NAN;
    qsort(works, *n, sizeof *works, by_value);
    return ((double)works[(*n - 1) / 2] + (double)works[*n / 2]) / 2;
}

/* What a rank works longer than the others in a phase, relative to them; 0 where they are not. */
static double excess_of(const struct run *run, const struct rank *rank, int64_t phase,
                        int64_t *works)
{
    size_t n;
    const double median = median_of_others(run, rank, phase, works, &n);
    return median > 0 ? (double)work_of(run, rank, phase) / median - 1 : 0;
}

/* Whether a rank has half of the excess in another phase that takes time: then it is slow. */
static bool is_slow_elsewhere(const struct run *run, const struct rank *rank, int64_t phase,
                              double excess, int64_t *works)
{
    for (int64_t other = 0; other < TA_GENERATION_PHASES; other++)
        if (other != phase &&
            (double)work_of(run, rank, other) >= EXTRA_LEAST * (double)run->window &&
            excess_of(run, rank, other, works) > excess / 2)
            return true;
    return false;
}

/* How many ranks compute nothing in the last part of each stage of a rank in a phase. */
static int64_t waiting_at_end(const struct run *run, const struct rank *own, int64_t phase,
                              double part)
{
    int64_t waiting = 0;
    for (size_t i = 0; own->clock && i < run->n; i++) {
        int64_t all = 0, free = 0;
        if (&run->at[i] == own || !run->at[i].clock)
            continue;
        for (size_t s = 0; s < own->n_stages; s++) {
            const int64_t *stage = ta_partial_at(run->stages, own->first_stage + s);
            const int64_t length = ta_whole(part * (double)(stage[OF_END] - stage[OF_START]));
            const int64_t end = on_clock(own, stage[OF_END]);
            if (stage[OF_PHASE] != phase || !does_work(stage))
                continue;
            all += length;
            free += free_time(run, &run->at[i], end - length, end);
        }
        waiting += all > 0 && 2 * free >= all;
    }
    return waiting;
}

static void add_uneven(const struct run *run, int64_t phase, int64_t *works,
                       struct ta_section_builder *out)
{
    const struct rank *longest = NULL;
    for (size_t i = 0; i < run->n; i++)
        if (!longest || work_of(run, &run->at[i], phase) > work_of(run, longest, phase))
            longest = &run->at[i];
    size_t n;
    const double others = median_of_others(run, longest, phase, works, &n);
    const int64_t work = work_of(run, longest, phase);
    const double extra = (double)work - others;
    if (isnan(others) || others <= 0 || extra < EXTRA_LEAST * (double)run->window ||
        extra < EXTRA_MANY * others ||
        is_slow_elsewhere(run, longest, phase, extra / others, works))
        return;
    TA_ROW(out, uneven, [UNEVEN_PHASE] = ta_string(ta_generation_phase_names[phase]),
           [UNEVEN_RANK] = ta_int(longest->rank), [UNEVEN_TIME] = ta_int(work),
           [UNEVEN_OTHERS] = ta_num(others), [UNEVEN_EXTRA] = ta_int(ta_whole(extra)),
           [UNEVEN_SHARE] = ta_share(ta_whole(extra), run->window),
           [UNEVEN_WAITING] = ta_int(waiting_at_end(run, longest, phase, extra / (double)work)),
           [UNEVEN_RANKS] = ta_int((int64_t)n + 1));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    struct run run;
    int64_t *works = NULL;
    const bool done = read_run(merged, in->ranks, &run) && find_waiting(&run) &&
                      (works = calloc(run.n + 1, sizeof *works));
    for (int64_t phase = 0; done && run.n > 1 && run.denoises && phase < TA_GENERATION_PHASES;
         phase++) {
        add_over(&run, phase, works, out);
        add_uneven(&run, phase, works, out);
        for (size_t i = 0; i < run.n && run.n_clocked > 1; i++)
            if (run.at[i].clock)
                add_alone(&run, &run.at[i], phase, out);
    }
    free(works);
    free(run.at);
    free(run.waiting);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare phases of ranks");
}

static const struct ta_table_def *const tables[] = {&alone, &uneven, &over, NULL};

static const struct ta_analysis_ops ops = {.section = "phases",
                                           .place = 3,
                                           .bounds = bounds,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .needs_ranks = true,
                                           .tables = tables};

TA_PLUGIN(analysis, phases_alone, &ops, .title = "Phases of all ranks",
          .summary =
              "Phases of a diffusion on all ranks, and what one rank does while others wait: "
              "phases.over_ranks, phases.alone, phases.uneven",
          .version = "1");
