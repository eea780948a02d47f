/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Confidence of a change: from runs, from the noise of earlier runs, or from steps within a run
 * (within.c). */
#include "compare/evidence.h"

#include "traceanalyze/stat.h"

#include <math.h>

enum {
    RUNS_LEAST = 3,  /* on each side */
    RANKED_LEAST = 4 /* below, the exact test has no p under 0.05 */
};

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
    static const char *const names[] = {
        [TA_CHANGE_SAME] = "same",       [TA_CHANGE_FASTER] = "faster",
        [TA_CHANGE_SLOWER] = "slower",   [TA_CHANGE_INCONCLUSIVE] = "inconclusive",
        [TA_CHANGE_NEUTRAL] = "changed", [TA_CHANGE_NEGLIGIBLE] = "negligible"};
    return names[change];
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* The spread to judge by where one side has too few runs: the other side's, or a stored one. Fewer
 * than three runs have no spread. */
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
    const bool is_near =
        fabs(new - base) <= TA_DEFAULT_FLOOR * fabs(base); /* what may be called the same */
    if (polarity == TA_NEUTRAL)
        return is_near ? TA_CHANGE_SAME : TA_CHANGE_NEUTRAL;
    if (base == new)
        return TA_CHANGE_SAME;
    if (!may_tell(judging, evidence->basis))
        return TA_CHANGE_INCONCLUSIVE;
    if (is_small(judging, base, new, unit))
        return is_near ? TA_CHANGE_SAME : TA_CHANGE_NEGLIGIBLE;
    const struct ta_estimate ratio = interval_of(base, new, evidence);
    if (ratio.low > 1 || ratio.high < 1)
        return (ratio.low > 1) == (polarity == TA_LOWER) ? TA_CHANGE_SLOWER : TA_CHANGE_FASTER;
    const bool is_narrow =
        ratio.low >= 1 / (1 + TA_DEFAULT_FLOOR) && ratio.high <= 1 + TA_DEFAULT_FLOOR;
    return is_near && (is_narrow || evidence->basis == TA_BASIS_NONE) ? TA_CHANGE_SAME
                                                                      : TA_CHANGE_INCONCLUSIVE;
}
