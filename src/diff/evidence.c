/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure a change is: runs, the noise of runs before, or steps within a run. */
#include "diff/evidence.h"

#include "traceanalyze/stat.h"
#include "traceanalyze/stat_resample.h"

#include <math.h>
#include <stdlib.h>

enum {
    RUNS_LEAST = 3,      /* on each side */
    RANKED_LEAST = 4,    /* below, the exact test has no p under 0.05 */
    STEPS_LEAST = 6,     /* for an interval within a run */
    ROUNDS_MOST = 10000, /* of the bootstrap, as for all gates */
    ROUNDS_LEAST = 400
};

/* Values drawn in all rounds together, about: keeps long runs within a second. */
#define DRAWN_MOST 4e7

#define POWER 0.8

static const struct ta_evidence_of_change nothing = {
    .basis = TA_BASIS_NONE,
    .ratio = {(double)NAN, (double)NAN, (double)NAN},
    .p = (double)NAN,
    .p_rank = (double)NAN,
    .q = (double)NAN,
    .spread = (double)NAN,
    .detectable = (double)NAN,
};

const char *ta_basis_name(enum ta_basis basis)
{
    static const char *const names[] = {[TA_BASIS_RUNS] = "runs",
                                        [TA_BASIS_NOISE] = "noise",
                                        [TA_BASIS_WITHIN] = "within_run",
                                        [TA_BASIS_NONE] = "none"};
    return names[basis];
}

const char *ta_change_name(enum ta_change change)
{
    static const char *const names[] = {[TA_CHANGE_SAME] = "same",
                                        [TA_CHANGE_FASTER] = "faster",
                                        [TA_CHANGE_SLOWER] = "slower",
                                        [TA_CHANGE_INCONCLUSIVE] = "inconclusive"};
    return names[change];
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* The spread to judge by where one side has too few runs: that of the other side, or a stored one.
 * That of fewer than three runs is none. */
static bool find_spread(const struct ta_judging *judging, const char *figure, struct ta_values base,
                        struct ta_values new, struct ta_log_spread *spread)
{
    if (judging->noise && ta_noise_find(judging->noise, figure, spread))
        return true;
    if (base.n < RUNS_LEAST && new.n < RUNS_LEAST)
        return false;
    ta_log_spread_of(base.at, base.n, new.at, new.n, spread);
    return spread->sd > 0;
}

static void use(struct ta_evidence_of_change *evidence, enum ta_basis basis,
                const struct ta_welch *welch)
{
    evidence->ratio = welch->ratio;
    if (isnan(welch->ratio.low))
        return;
    evidence->basis = basis;
    evidence->p = welch->p;
}

/* Runs of which each side repeats its value exactly, as counts and bytes do: no test can judge
 * that, and none is needed. */
static void use_exact(struct ta_evidence_of_change *evidence)
{
    const double ratio = evidence->ratio.value;
    if (!isnan(evidence->ratio.low) || isnan(ratio) || evidence->spread != 0)
        return;
    evidence->basis = TA_BASIS_RUNS;
    evidence->ratio = (struct ta_estimate){ratio, ratio, ratio};
}

bool ta_evidence_of_runs(const struct ta_judging *judging, const char *figure,
                         struct ta_values base, struct ta_values new,
                         struct ta_evidence_of_change *evidence)
{
    *evidence = nothing;
    struct ta_log_spread spread;
    struct ta_welch welch;
    struct ta_rank_test ranks;
    ta_log_spread_of(base.at, base.n, new.at, new.n, &spread);
    evidence->spread = spread.sd;
    if (base.n >= RUNS_LEAST && new.n >= RUNS_LEAST) {
        ta_welch_ratio(base.at, base.n, new.at, new.n, judging->confidence, &welch);
        use(evidence, TA_BASIS_RUNS, &welch);
        use_exact(evidence);
    } else if (find_spread(judging, figure, base, new, &spread)) {
        ta_spread_ratio(base.at, base.n, new.at, new.n, &spread, judging->confidence, &welch);
        evidence->spread = spread.sd;
        use(evidence, TA_BASIS_NOISE, &welch);
    } else {
        ta_spread_ratio(base.at, base.n, new.at, new.n, &spread, judging->confidence, &welch);
        evidence->ratio.value = welch.ratio.value;
    }
    evidence->detectable =
        ta_detectable(evidence->spread, base.n, new.n, 1 - judging->confidence, POWER);
    if (base.n < RANKED_LEAST || new.n < RANKED_LEAST)
        return true;
    if (!ta_mann_whitney(base.at, base.n, new.at, new.n, &ranks))
        return false;
    evidence->p_rank = ranks.p;
    return true;
}

/* ---- steps within a run --------------------------------------------------------------------- */

/* What the bootstrap draws are numbers of steps: those of the base from 0, those of the new run
 * behind them. */
struct drawn {
    const struct ta_durations *base, *new;
    double *values; /* room for all durations of the longer one */
};

static double median_of_drawn(double *steps, size_t n, const void *user)
{
    const struct drawn *drawn = user;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t step = (size_t)steps[i];
        const bool is_base = step < drawn->base->n;
        const struct ta_durations *series = is_base ? drawn->base : drawn->new;
        step -= is_base ? 0 : drawn->base->n;
        for (size_t rank = 0; rank < series->ranks; rank++) {
            const double value = series->at[step * series->ranks + rank];
            if (!isnan(value))
                drawn->values[count++] = value;
        }
    }
    return ta_statistic_median(drawn->values, count, NULL);
}

/* The step as its ranks have it on average: what tells whether neighbors depend on each other. */
static size_t block_length(const struct ta_durations *series, double *scratch)
{
    for (size_t i = 0; i < series->n; i++) {
        double sum = 0;
        size_t n = 0;
        for (size_t rank = 0; rank < series->ranks; rank++) {
            const double value = series->at[i * series->ranks + rank];
            if (!isnan(value)) {
                sum += value;
                n++;
            }
        }
        scratch[i] = sum / (double)n;
    }
    return ta_block_length(scratch, series->n);
}

static size_t rounds_for(const struct ta_durations *base, const struct ta_durations *new)
{
    const double each = (double)(base->n * base->ranks + new->n *new->ranks);
    const double rounds = DRAWN_MOST / each;
    if (rounds > ROUNDS_MOST)
        return ROUNDS_MOST;
    return rounds < ROUNDS_LEAST ? ROUNDS_LEAST : (size_t)rounds;
}

static bool resample(const struct ta_judging *judging, const char *figure,
                     const struct ta_durations *base, const struct ta_durations *new, double *steps,
                     double *values, struct ta_estimate *ratio)
{
    const struct drawn drawn = {base, new, values};
    const size_t before = block_length(base, values), after = block_length(new, values);
    for (size_t i = 0; i < base->n + new->n; i++)
        steps[i] = (double)i;
    const struct ta_bootstrap how = {
        .rounds = rounds_for(base, new),
        .seed = ta_seed(TA_LIT("diff"), ta_slice_of(figure)),
        .block = before > after ? before : after,
        .confidence = judging->confidence,
        .percentile = true,
    };
    return ta_bootstrap_ratio(steps, base->n, steps + base->n, new->n, median_of_drawn, &drawn,
                              &how, ratio);
}

bool ta_evidence_within_runs(const struct ta_judging *judging, const char *figure,
                             const struct ta_durations *base, const struct ta_durations *new,
                             struct ta_evidence_of_change *evidence)
{
    if (base->n < STEPS_LEAST || new->n < STEPS_LEAST)
        return true;
    const size_t most =
        base->n * base->ranks > new->n *new->ranks ? base->n * base->ranks : new->n *new->ranks;
    double *steps = reallocarray(NULL, base->n + new->n, sizeof *steps);
    double *values = reallocarray(NULL, most, sizeof *values);
    struct ta_estimate ratio;
    const bool done =
        steps && values && resample(judging, figure, base, new, steps, values, &ratio);
    free(steps);
    free(values);
    if (done && !isnan(ratio.low)) {
        evidence->basis = TA_BASIS_WITHIN;
        evidence->ratio = ratio;
    }
    return done;
}

/* ---- verdicts ------------------------------------------------------------------------------- */

static bool may_tell(const struct ta_judging *judging, enum ta_basis basis)
{
    return basis < TA_BASIS_WITHIN || judging->allow_single_run;
}

static bool is_small(const struct ta_judging *judging, double base, double new, enum ta_unit unit)
{
    return unit == TA_UNIT_NS && fabs(new - base) < judging->min_effect_ns;
}

/* The interval, or where one run may tell without any the estimate ± the default floor. */
static struct ta_estimate interval_of(double base, double new,
                                      const struct ta_evidence_of_change *evidence)
{
    if (evidence->basis != TA_BASIS_NONE)
        return evidence->ratio;
    const double ratio = new / base;
    return (struct ta_estimate){ratio, ratio / (1 + TA_DEFAULT_FLOOR),
                                ratio * (1 + TA_DEFAULT_FLOOR)};
}

bool ta_change_is_sure(const struct ta_judging *judging, double base, double new, enum ta_unit unit,
                       const struct ta_evidence_of_change *evidence)
{
    if (!may_tell(judging, evidence->basis) || is_small(judging, base, new, unit))
        return false;
    const struct ta_estimate ratio = interval_of(base, new, evidence);
    return ratio.low > 1 || ratio.high < 1;
}

enum ta_change ta_judge_change(const struct ta_judging *judging, double base, double new,
                               enum ta_unit unit, enum ta_polarity polarity,
                               const struct ta_evidence_of_change *evidence)
{
    if (base == new || polarity == TA_NEUTRAL)
        return TA_CHANGE_SAME;
    if (!may_tell(judging, evidence->basis))
        return TA_CHANGE_INCONCLUSIVE;
    if (is_small(judging, base, new, unit))
        return TA_CHANGE_SAME;
    const struct ta_estimate ratio = interval_of(base, new, evidence);
    if (ratio.low > 1 || ratio.high < 1)
        return (ratio.low > 1) == (polarity == TA_LOWER) ? TA_CHANGE_SLOWER : TA_CHANGE_FASTER;
    const bool is_narrow =
        ratio.low >= 1 / (1 + TA_DEFAULT_FLOOR) && ratio.high <= 1 + TA_DEFAULT_FLOOR;
    return is_narrow || evidence->basis == TA_BASIS_NONE ? TA_CHANGE_SAME : TA_CHANGE_INCONCLUSIVE;
}
