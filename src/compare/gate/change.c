/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A change, or a value, against a limit. */
#include "compare/gate/judge.h"

#include <math.h>

bool gate_is_relative(const struct ta_gate *gate, enum ta_unit unit)
{
    return gate->scale == TA_GATE_PERCENT && unit != TA_UNIT_RATIO;
}

/* What to write instead of a bare number, or NULL where that is right. */
static const char *wanted_suffix(enum ta_unit unit)
{
    switch (unit) {
    case TA_UNIT_NS:
        return "ns, us, ms, s or min";
    case TA_UNIT_BYTES:
        return "B, KiB, MiB or GiB";
    default:
        return NULL;
    }
}

enum ta_status gate_check_limit(const struct gate_job *job, const struct ta_gate *gate,
                                enum ta_unit unit)
{
    const bool is_diff = ta_report_kind(job->report) == TA_REPORT_DIFF || gate_has_baseline(job);
    const char *text = gate->text, *wanted = wanted_suffix(unit);
    if (gate_is_relative(gate, unit) && !is_diff)
        return ta_gate_refuse(job->ctx, text, text + strlen(text),
                              "a percentage of it is a change against a baseline: use diff, or "
                              "--baseline");
    if (gate->scale == TA_GATE_PLAIN && wanted)
        return ta_gate_refuse(job->ctx, text, text + strlen(text), "expected a unit: %s", wanted);
    if (gate->scale == TA_GATE_UNIT && gate->unit != unit)
        return ta_gate_refuse(job->ctx, text, text + strlen(text),
                              "the unit does not suit the figure, which is in %s",
                              wanted ? wanted : ta_unit_name(unit));
    return TA_OK;
}

struct verdict gate_judge_value(const struct ta_gate *gate, double value, enum ta_unit unit)
{
    return (struct verdict){
        .outcome = ta_gate_trips(gate, value) ? GATE_FAILED : GATE_PASSED,
        .base = (double)NAN,
        .new = value,
        .change = (double)NAN,
        .low = (double)NAN,
        .high = (double)NAN,
        .beyond = gate->operator>= TA_GATE_BELOW ? -value : value,
        .unit = unit,
    };
}

/* ---- changes ------------------------------------------------------------------------------- */

/* A relative change as the gate sees it: for the worse, or as it is. */
static double seen(const struct gate_change *change, double value)
{
    return change->worse && change->rises ? -value : value;
}

/* Whether the end of the interval that is nearer to no change is beyond the limit, too. */
static bool is_whole_beyond(const struct ta_gate *gate, const struct gate_change *change)
{
    const double a = seen(change, change->evidence.ratio.low - 1);
    const double b = seen(change, change->evidence.ratio.high - 1);
    return ta_gate_trips(gate, gate->operator>= TA_GATE_BELOW ? fmax(a, b) : fmin(a, b));
}

static bool may_tell(const struct ta_judging *judging, const struct gate_change *change)
{
    return change->is_exact || judging->allow_single_run ||
           change->evidence.basis < TA_BASIS_WITHIN || change->base == change->new;
}

static void judge_beyond(const struct gate_job *job, const struct ta_gate *gate,
                         const struct gate_change *change, struct verdict *verdict)
{
    const struct ta_judging *judging = job->gates->judging;
    const bool sure = change->is_exact || ta_change_is_sure(judging, change->base, change->new,
                                                            change->unit, &change->evidence);
    const bool has_interval = !change->is_exact && change->evidence.basis != TA_BASIS_NONE;
    if (change->unit == TA_UNIT_NS && fabs(change->new - change->base) < judging->min_effect_ns) {
        verdict->outcome = GATE_PASSED;
        verdict->reason = "Beyond the limit, but below the least effect (--min-effect)";
    } else if (!sure || change->evidence.q > 1 - judging->confidence) {
        verdict->outcome = GATE_INCONCLUSIVE;
        verdict->reason = "Beyond the limit, but no change at all explains it as well";
    } else if (job->gates->mode == TA_MODE_STRICT && has_interval &&
               !is_whole_beyond(gate, change)) {
        verdict->outcome = GATE_INCONCLUSIVE;
        verdict->reason = "Beyond the limit, but its interval is not as a whole";
    } else {
        verdict->outcome = GATE_FAILED;
    }
}

struct verdict gate_judge_change(const struct gate_job *job, const struct ta_gate *gate,
                                 const struct gate_change *change)
{
    const struct ta_evidence_of_change *evidence = &change->evidence;
    const bool by_runs = evidence->basis <= TA_BASIS_NOISE && !change->is_exact;
    const double ratio = by_runs ? evidence->ratio.value : change->new / change->base;
    const double point = seen(change, ratio - 1);
    struct verdict verdict = {
        .outcome = GATE_PASSED,
        .base = change->base,
        .new = change->new,
        .change = ratio - 1,
        .low = change->is_exact ? (double)NAN : evidence->ratio.low - 1,
        .high = change->is_exact ? (double)NAN : evidence->ratio.high - 1,
        .beyond = gate->operator>= TA_GATE_BELOW ? -point : point,
        .unit = change->unit,
    };
    if (!(change->base > 0)) {
        verdict.outcome = change->base == change->new ? GATE_PASSED : GATE_ABSENT;
        verdict.reason = "No share of a baseline of 0";
    } else if (job->gates->mode == TA_MODE_POINT) {
        verdict.outcome = ta_gate_trips(gate, point) ? GATE_FAILED : GATE_PASSED;
    } else if (!may_tell(job->gates->judging, change)) {
        verdict.outcome = GATE_INCONCLUSIVE;
        verdict.reason = "Fewer than three runs on a side, and no noise floor "
                         "(--allow-single-run judges all the same)";
    } else if (ta_gate_trips(gate, point)) {
        judge_beyond(job, gate, change, &verdict);
    }
    return verdict;
}

void gate_take_worse(struct verdict *worst, const struct verdict *verdict)
{
    static const int rank[] = {
        [GATE_ABSENT] = 0, [GATE_PASSED] = 1, [GATE_INCONCLUSIVE] = 2, [GATE_FAILED] = 3};
    const int was = rank[worst->outcome], is = rank[verdict->outcome];
    const bool first = !worst->what;
    if (first || is > was || (is == was && verdict->beyond > worst->beyond))
        *worst = *verdict;
}
