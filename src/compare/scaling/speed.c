/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed-up and efficiency, and what a unit of work costs: scaling.runs.
 *
 * S = (work of the run / time) over (work of the base / time), E = S / (N / N₀).  With equal work
 * that is T₀/T_N (strong scaling), with equal work for each rank E is T₀/T_N (weak). */
#include "compare/scaling/runs.h"

#include "report/report.h"
#include "stat/resample.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdlib.h>

/* Recorded FLOPs this close to "the same" or to "as many times more as there are ranks" are just
 * that: what every rank does again, such as a text encoder, is no work of the run. */
#define WORK_TOLERANCE 0.25

enum { ROUNDS = 2000 };

/* ---- what is compared --------------------------------------------------------------------- */

static bool all_have(const struct scaling *scaling, enum scaling_basis basis)
{
    for (size_t i = 0; i < scaling->n; i++)
        if (!(scaling->runs[i].series[basis].time > 0))
            return false;
    return true;
}

static bool all_have_flop(const struct scaling *scaling)
{
    for (size_t i = 0; i < scaling->n; i++)
        if (!(scaling->runs[i].flop > 0))
            return false;
    return true;
}

static double work_of(const struct scaling *scaling, const struct scaling_run *run)
{
    const struct scaling_run *base = scaling->runs;
    if (scaling->kind != TA_SCALING_AUTO)
        return scaling->kind == TA_SCALING_WEAK ? run->size : 1;
    if (scaling->basis == SCALING_FRAMES)
        return run->fps * run->series[SCALING_FRAMES].time /
               (base->fps * base->series[SCALING_FRAMES].time);
    if (scaling->basis != SCALING_STEPS || !all_have_flop(scaling))
        return 1;
    const double ratio = run->flop / base->flop;
    if (fabs(ratio - 1) <= WORK_TOLERANCE)
        return 1;
    return fabs(ratio / run->size - 1) <= WORK_TOLERANCE ? run->size : ratio;
}

static const char *source_of_work(const struct scaling *scaling)
{
    if (scaling->kind != TA_SCALING_AUTO)
        return "given";
    if (scaling->basis == SCALING_FRAMES)
        return "frames";
    return scaling->basis == SCALING_STEPS && all_have_flop(scaling) ? "flop" : "assumed";
}

/* ---- speed-ups ---------------------------------------------------------------------------- */

/* The interval is of the times alone: both runs resampled in blocks of neighbors. */
static bool find_speedup(const struct scaling *scaling, struct scaling_run *run)
{
    const struct scaling_series *base = &scaling->runs->series[scaling->basis];
    const struct scaling_series *own = &run->series[scaling->basis];
    const double value = run->work * base->time / own->time;
    run->speedup = (struct ta_estimate){value, (double)NAN, (double)NAN};
    if (run == scaling->runs || own->n < 2 || base->n < 2)
        return true;
    const struct ta_bootstrap how = {.rounds = ROUNDS,
                                     .seed = ta_seed(TA_LIT("scaling"), ta_slice_of(run->title)),
                                     .confidence = 0.95};
    ta_statistic *statistic =
        scaling->basis == SCALING_FRAMES ? ta_statistic_mean : ta_statistic_median;
    struct ta_estimate ratio;
    if (!ta_bootstrap_ratio(own->at, own->n, base->at, base->n, statistic, NULL, &how, &ratio))
        return false;
    run->speedup.low = ratio.low * run->work;
    run->speedup.high = ratio.high * run->work;
    return true;
}

static int by_world(const void *left, const void *right)
{
    const struct scaling_run *a = left, *b = right;
    const int titles = strcmp(a->title, b->title);
    if (a->world != b->world)
        return a->world < b->world ? -1 : 1;
    return titles ? titles : (a->report > b->report) - (a->report < b->report);
}

static size_t count_sizes(const struct scaling *scaling)
{
    size_t sizes = 0;
    for (size_t i = 0; i < scaling->n; i++)
        sizes += i == 0 || scaling->runs[i].world != scaling->runs[i - 1].world;
    return sizes;
}

/* ---- cost --------------------------------------------------------------------------------- */

double scaling_latency(const struct scaling *scaling, const struct scaling_run *run)
{
    return run->series[scaling->basis].time;
}

/* What a unit of work costs in ns of GPUs; work of the base is the unit, of frames a frame. */
static double gpu_time(const struct scaling *scaling, const struct scaling_run *run)
{
    if (scaling->basis == SCALING_FRAMES)
        return (double)run->world / run->fps * 1e9;
    return (double)run->world * scaling_latency(scaling, run) / run->work;
}

/* The same in joules; NaN when not recorded. */
static double energy(const struct scaling *scaling, const struct scaling_run *run)
{
    return scaling->basis == SCALING_FRAMES && run->ranks == run->world ? run->joules / run->frames
                                                                        : (double)NAN;
}

static bool is_beaten(const struct scaling *scaling, const struct scaling_run *run)
{
    const double time = scaling_latency(scaling, run), cost = gpu_time(scaling, run);
    for (size_t i = 0; i < scaling->n; i++) {
        const struct scaling_run *other = &scaling->runs[i];
        const double a = scaling_latency(scaling, other), b = gpu_time(scaling, other);
        if (a <= time && b <= cost && (a < time || b < cost))
            return true;
    }
    return false;
}

bool scaling_compare(struct scaling *scaling)
{
    bool done = true;
    qsort(scaling->runs, scaling->n, sizeof *scaling->runs, by_world);
    while (scaling->basis < SCALING_TIME && !all_have(scaling, scaling->basis))
        scaling->basis++;
    scaling->work = source_of_work(scaling);
    scaling->sizes = count_sizes(scaling);
    for (size_t i = 0; done && i < scaling->n; i++) {
        struct scaling_run *run = &scaling->runs[i];
        run->size = (double)run->world / (double)scaling->runs->world;
        run->work = work_of(scaling, run);
        done = find_speedup(scaling, run);
        run->is_pareto = !is_beaten(scaling, run);
    }
    return done;
}

/* ---- the table ---------------------------------------------------------------------------- */

enum {
    RUN,
    WORLD_SIZE,
    RANKS,
    BASIS,
    SAMPLES,
    TIME,
    WORK,
    WORK_SOURCE,
    BASE_WORLD_SIZE,
    SPEEDUP,
    SPEEDUP_LOW,
    SPEEDUP_HIGH,
    EFFICIENCY,
    SERIAL,
    GPU,
    ENERGY_J,
    PARETO
};

static const struct ta_column scaling_run_table_columns[] = {
    [RUN] = {"run", "Run", TA_TEXT, .doc = "Title of the run"},
    [WORLD_SIZE] = {"world_size", "World size", TA_COUNT, .doc = "Ranks of the run"},
    [RANKS] = {"ranks", "Recorded ranks", TA_COUNT, .doc = "Ranks of the run that were read"},
    [BASIS] = {"basis", "Basis", TA_WORD,
               .doc = "What is timed: blocks of frames (mean), steps of the slowest rank (median), "
                      "or the run"},
    [SAMPLES] = {"samples", "Samples", TA_COUNT,
                 .doc = "Steps or blocks from which the time is computed"},
    [TIME] = {"time_ns", "Time", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Time of a step, a block or the run"},
    [WORK] = {"work", "Relative work", TA_NUMBER,
              .doc = "Work done in this time, relative to the smallest world size"},
    [WORK_SOURCE] = {"work_source", "Work source", TA_WORD,
                     .doc = "How the work is known: frames, recorded FLOPs, --strong or --weak "
                            "(given), or assumed to be equal"},
    [BASE_WORLD_SIZE] = {"base_world_size", "Compared with", TA_COUNT,
                         .doc = "World size that the run is compared with: the smallest"},
    [SPEEDUP] = {"speedup", "Speed-up", TA_NUMBER, .better = TA_HIGHER,
                 .doc = "Work over time, relative to the smallest world size"},
    [SPEEDUP_LOW] = {"speedup_low", "Speed-up low", TA_NUMBER, .better = TA_HIGHER,
                     .doc = "Lower end of the 95 % confidence interval over steps or blocks "
                            "(bootstrap); another run may differ by more"},
    [SPEEDUP_HIGH] = {"speedup_high", "Speed-up high", TA_NUMBER, .better = TA_HIGHER,
                      .doc = "Upper end of the 95 % confidence interval"},
    [EFFICIENCY] = {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
                    .doc = "Speed-up divided by the factor by which the number of ranks grows"},
    [SERIAL] = {"serial", "Serial fraction", TA_RATIO, .better = TA_LOWER,
                .doc = "(1/S − 1/p)/(1 − 1/p) for p times as many ranks (Karp-Flatt metric): "
                       "overhead if it rises with the world size, serial work if it is constant"},
    [GPU] = {"gpu_ns", "GPU time", TA_NS_MEAN, .better = TA_LOWER,
             .doc = "GPU time per frame: world size times time over work; without frames, per unit "
                    "of work that the smallest world size does in a step or run"},
    [ENERGY_J] = {"energy_j", "Energy", TA_TYPE_NUMBER, TA_UNIT_JOULE, .better = TA_LOWER,
                  .doc = "Recorded energy of all devices per frame"},
    [PARETO] =
        {"pareto", "Pareto-optimal", TA_FLAG,
         .doc =
             "Whether no other run is better in time or GPU time without being worse in the other"},
};

const struct ta_table_def scaling_run_table = {
    "scaling.runs", "Runs by world size", TA_COLUMNS(scaling_run_table_columns),
    .doc =
        "One row per run, by world size. Times are of what all runs have: blocks of frames (mean), "
        "otherwise steps (median over the steps of the slowest rank; the first step is left out if "
        "it takes more than twice the median of the others), otherwise the run. The confidence "
        "interval is a bootstrap over steps or blocks of both runs (2,000 rounds, blocks of "
        "neighbors if they are correlated).\n\nWork is relative to the smallest world size: by "
        "frames; by FLOPs, where values within 25 % of 1 or p count as 1 or p; 1 or p by "
        "`--strong` or `--weak`; otherwise 1. `serial` is the metric of Karp and Flatt (1990).",
    .brief = &(const struct ta_brief){
        .place = 140,
        .rows = 16,
        .rows_are = "the smallest",
        .first = {&scaling_run_table_columns[RUN], &scaling_run_table_columns[WORLD_SIZE],
                  &scaling_run_table_columns[TIME], &scaling_run_table_columns[SPEEDUP],
                  &scaling_run_table_columns[EFFICIENCY], &scaling_run_table_columns[SERIAL],
                  &scaling_run_table_columns[GPU]}}};

void scaling_add_runs(struct scaling *scaling, struct ta_section_builder *out)
{
    static const char *const bases[SCALING_BASES] = {"blocks", "steps", "run"};
    const struct scaling_run *base = scaling->runs;
    for (size_t i = 0; i < scaling->n; i++) {
        const struct scaling_run *run = &scaling->runs[i];
        const struct ta_estimate *s = &run->speedup;
        TA_ROW(out, scaling_run_table, [RUN] = ta_text(ta_slice_of(run->title)),
               [WORLD_SIZE] = ta_int(run->world), [RANKS] = ta_int(run->ranks),
               [BASIS] = ta_text(ta_slice_of(bases[scaling->basis])),
               [SAMPLES] = ta_int((int64_t)run->series[scaling->basis].n),
               [TIME] = ta_num(scaling_latency(scaling, run)), [WORK] = ta_num(run->work),
               [WORK_SOURCE] = ta_text(ta_slice_of(scaling->work)),
               [BASE_WORLD_SIZE] = ta_int(base->world), [SPEEDUP] = ta_num(s->value),
               [SPEEDUP_LOW] = ta_num(s->low), [SPEEDUP_HIGH] = ta_num(s->high),
               [EFFICIENCY] = ta_num(s->value / run->size),
               [SERIAL] = ta_num(ta_karp_flatt(run->size, s->value)),
               [GPU] = ta_num(gpu_time(scaling, run)), [ENERGY_J] = ta_num(energy(scaling, run)),
               [PARETO] = ta_bool(run->is_pareto));
    }
}
