/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposed communication: collectives that no computation covers.  What a finding about a straggler,
 * a slow link or a phase of one rank says already is left out; the rest is waiting for each other,
 * or transfer that nothing overlaps. */
#include "lib/degrees.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
                   "Exposed share of the run from which the rule fires"},
    TA_OPTIONS_END,
};

enum { STEPS_LEAST = 3, COLLECTIVES_LEAST = 30 }; /* from which it shows who is late */

enum {
    RANK,
    WINDOW,
    COMM,
    COMPUTE,
    EXPOSED,
    WAIT,
    TRANSFER,
    UNKNOWN,
    BEFORE,
    STEPS,
    LATE_RANK,
    IS_LATE,
    COST,
    LAST_ARRIVALS,
    COLLECTIVES,
    HOST_LATE,
    LINK_EXPOSED,
    LINK_LIMIT,
    PLACE_RANK,
    PLACE_OP,
    PLACE,
    PLACE_CAUSE,
    PLACE_CALLS,
    PLACE_EXPOSED,
    ALONE_RANK,
    ALONE,
    UNEVEN_RANK,
    UNEVEN,
    DEGREES
};

static const struct ta_ref reads[] = {
    [RANK] = {"gpu_time.by_rank", "rank"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [COMM] = {"gpu_time.by_rank", "comm_ns"},
    [COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [EXPOSED] = {"gpu_time.by_rank", "comm_exposed_ns"},
    [WAIT] = {"collectives.exposed", "wait_ns"},
    [TRANSFER] = {"collectives.exposed", "transfer_ns"},
    [UNKNOWN] = {"collectives.exposed", "unknown_ns"},
    [BEFORE] = {"collectives.exposed", "before_ns"},
    [STEPS] = {"steps.by_rank", "steps"},
    [LATE_RANK] = {"stragglers.by_rank", "rank"},
    [IS_LATE] = {"stragglers.by_rank", "is_late"},
    [COST] = {"stragglers.by_rank", "cost_ns"},
    [LAST_ARRIVALS] = {"stragglers.by_rank", "last_arrivals"},
    [COLLECTIVES] = {"stragglers.by_rank", "collectives"},
    [HOST_LATE] = {"stragglers.by_rank", "host_late_ns"},
    [LINK_EXPOSED] = {"collectives.link_use", "exposed_ns"},
    [LINK_LIMIT] = {"collectives.link_use", "limit"},
    [PLACE_RANK] = {"collectives.exposed_by_place", "rank"},
    [PLACE_OP] = {"collectives.exposed_by_place", "op"},
    [PLACE] = {"collectives.exposed_by_place", "place"},
    [PLACE_CAUSE] = {"collectives.exposed_by_place", "cause"},
    [PLACE_CALLS] = {"collectives.exposed_by_place", "calls"},
    [PLACE_EXPOSED] = {"collectives.exposed_by_place", "exposed_ns"},
    [ALONE_RANK] = {"phases.alone", "rank"},
    [ALONE] = {"phases.alone", "time_ns"},
    [UNEVEN_RANK] = {"phases.uneven", "rank"},
    [UNEVEN] = {"phases.uneven", "extra_ns"},
    DEGREES_READS(DEGREES),
};

#define LITTLE 0.02

/* Of the exposed time of a row, what began before the recording: no overlap saves it.  The first
 * collective always has a little. */
static double before_of(const struct ta_refs *in, size_t row)
{
    static const struct ta_look look = {.cells = BEFORE};
    const struct ta_place exposed = ta_place_at(in, EXPOSED, row);
    struct ta_place before;
    return exposed.table && ta_look_same(in, &look, &exposed, &before) &&
                   before.value > LITTLE * exposed.value
               ? before.value
               : 0;
}

/* What overlap could hide of a row. */
static double exposed_of(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, EXPOSED, row, 0) - before_of(in, row);
}

struct extremes {
    size_t most;   /* row with the largest exposed time */
    size_t silent; /* a row without communication, where others have some; else SIZE_MAX */
};

/* A rank of which no communication was recorded while others have some was not recorded whole: it
 * is no rank that waits for nobody. */
static struct extremes find_extremes(const struct ta_refs *in)
{
    struct extremes e = {SIZE_MAX, SIZE_MAX};
    for (size_t row = 0; row < ta_ref_rows(in, EXPOSED); row++) {
        if (ta_ref_number(in, COMM, row, 1) <= 0) {
            e.silent = e.silent == SIZE_MAX ? row : e.silent;
            continue;
        }
        if (e.most == SIZE_MAX || exposed_of(in, row) > exposed_of(in, e.most))
            e.most = row;
    }
    return e;
}

/* The part of the exposed time of a row that is waiting for the last rank; its table is NULL where
 * that is not known. */
static struct ta_place waiting(const struct ta_refs *in, const struct ta_place *exposed)
{
    static const struct ta_look look = {.cells = WAIT};
    struct ta_place wait = {0};
    if (!ta_look_same(in, &look, exposed, &wait) ||
        ta_ref_number(in, UNKNOWN, wait.row, 1) > wait.value)
        wait.table = NULL;
    return wait;
}

/* What other findings say of the exposed time: a late rank, for which the others wait, and links
 * that are far below what they can do. */
static double said_of_links(const struct ta_refs *in, double run)
{
    static const double least = 0.03; /* of the run, as in slow_link */
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, LINK_EXPOSED); row++)
        if (ta_ref_text(in, LINK_LIMIT, row).len)
            sum += ta_ref_number(in, LINK_EXPOSED, row, 0);
    return sum > least * run ? sum : 0;
}

/* The longest time of a table of phases whose row is of another rank. */
static double longest_of_others(const struct ta_refs *in, size_t ranks, size_t times, double rank,
                                double least)
{
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, times); row++)
        if (ta_ref_number(in, times, row, 0) > least && ta_ref_number(in, ranks, row, rank) != rank)
            most = fmax(most, ta_ref_number(in, times, row, 0));
    return most;
}

/* What a rank waits while others are in a phase that they alone are in, or longer in than it. */
static double said_of_phases(const struct ta_refs *in, double rank, double run)
{
    static const double least = 0.03; /* of the run, as in phase_alone and phase_uneven */
    return longest_of_others(in, ALONE_RANK, ALONE, rank, least * run) +
           longest_of_others(in, UNEVEN_RANK, UNEVEN, rank, least * run);
}

static bool has_straggler(const struct ta_refs *in, double run)
{
    static const double least = 0.01; /* of the run, as in straggler */
    for (size_t row = 0; row < ta_ref_rows(in, IS_LATE); row++) {
        const struct ta_cell *late = ta_ref_cell(in, IS_LATE, row);
        if (late->kind == TA_CELL_BOOL && late->b && ta_ref_number(in, COST, row, 0) > least * run)
            return true;
    }
    return false;
}

/* ---- waiting for each other ------------------------------------------------------------------ */

/* The rank that comes last to most of its collectives; SIZE_MAX where none to more than half. */
static size_t mostly_last(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, LAST_ARRIVALS); row++)
        if (ta_ref_number(in, LAST_ARRIVALS, row, 0) >
            ta_ref_number(in, COLLECTIVES, row, INFINITY) / 2)
            return row;
    return SIZE_MAX;
}

/* How much longer a rank computes than the others on average, over that. */
static double computes_longer(const struct ta_refs *in, double rank)
{
    double its = NAN, others = 0;
    size_t n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, RANK); row++) {
        const double compute = ta_ref_number(in, COMPUTE, row, 0);
        if (ta_ref_number(in, RANK, row, NAN) == rank)
            its = compute;
        else {
            others += compute;
            n++;
        }
    }
    return n && others > 0 ? its / (others / (double)n) - 1 : NAN;
}

/* Who makes the others wait, and why as far as it is known; SIZE_MAX for no rank more than others.
 */
struct late {
    size_t row;
    double rank, longer; /* NAN where its GPU does not clearly compute longer than the others */
};

static struct late late_of(const struct ta_refs *in, double waits)
{
    static const double clearly = 0.05;
    struct late late = {.row = mostly_last(in), .longer = NAN};
    late.rank = late.row == SIZE_MAX ? NAN : ta_ref_number(in, LATE_RANK, late.row, NAN);
    if (late.rank == waits)
        late.row = SIZE_MAX;
    const double longer = computes_longer(in, late.rank);
    late.longer = longer > clearly ? longer : NAN;
    return late;
}

/* "comes last to 3 of 3 collectives" */
static const char *comes_last(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    return ta_advice_printf(advice, "comes last to %.0f of %.0f collectives",
                            ta_ref_number(in, LAST_ARRIVALS, row, 0),
                            ta_ref_number(in, COLLECTIVES, row, 0));
}

/* "Rank 1 is slow: its GPU computes 50.0 % longer than rank 0, which waits for it in collectives
 * for 20.3 % of the run (12.0 ms)" */
static const char *waiting_title(const struct ta_refs *in, struct ta_advice *advice,
                                 const struct late *late, double rank, const char *time)
{
    const bool is_pair = ta_ref_rows(in, RANK) == 2;
    const char *whole =
        is_pair ? ta_advice_printf(advice, "rank %.0f, which waits for it in collectives for %s",
                                   rank, time)
                : ta_advice_printf(advice,
                                   "the others, which wait for it in collectives, rank %.0f for %s",
                                   rank, time);
    if (late->row == SIZE_MAX)
        return ta_advice_printf(advice,
                                "Ranks take turns in being late to collectives: rank %.0f waits %s",
                                rank, time);
    if (isnan(late->longer))
        return ta_advice_printf(advice, "Rank %.0f %s: rank %.0f waits for it for %s", late->rank,
                                comes_last(in, advice, late->row), rank, time);
    return ta_advice_printf(advice, "Rank %.0f is slow: its GPU computes %s longer than %s",
                            late->rank, ta_advice_number(advice, late->longer, TA_UNIT_RATIO),
                            whole);
}

static const char *why_waiting(const struct ta_refs *in, struct ta_advice *advice,
                               const struct late *late)
{
    if (late->row == SIZE_MAX)
        return "No rank comes last to most of the collectives.";
    if (isnan(late->longer))
        return ta_advice_printf(advice, "The GPU of rank %.0f computes no longer than the others.",
                                late->rank);
    return ta_advice_printf(advice, "Rank %.0f %s.", late->rank, comes_last(in, advice, late->row));
}

static double most_of(const struct ta_refs *in, size_t ref)
{
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, ref); row++)
        most = fmax(most, ta_ref_number(in, ref, row, 0));
    return most;
}

/* Whether enough was recorded to say who is late: several steps, or many collectives. */
static bool shows_who_is_late(const struct ta_refs *in)
{
    return ta_ref_rows(in, STEPS) ? most_of(in, STEPS) >= STEPS_LEAST
                                  : most_of(in, COLLECTIVES) >= COLLECTIVES_LEAST;
}

static const char *level_ranks(const struct ta_refs *in, struct ta_advice *advice,
                               const struct late *late)
{
    if (!shows_who_is_late(in))
        return "Record several steps: so few do not show whether it is always the same rank.";
    if (late->row == SIZE_MAX)
        return "Balance the ranks: equal sequence lengths, and no work of one rank alone "
               "(logging, loading, garbage collection) between collectives.";
    return isnan(late->longer)
               ? ta_advice_printf(advice,
                                  "Look at what the host of rank %.0f does before its collectives: "
                                  "work of this rank alone (logging, loading, saving), waits, "
                                  "copies, other processes on its cores.",
                                  late->rank)
               : ta_advice_printf(advice,
                                  "Give rank %.0f no more work than the others (sequence lengths, "
                                  "batch, tiles, experts); if the work is equal, compare clock and "
                                  "temperature of its GPU (`nvidia-smi dmon`).",
                                  late->rank);
}

/* ---- transfer that nothing overlaps ---------------------------------------------------------- */

/* Where a rank exposes most, and by which cause. */
struct places {
    size_t most; /* row, SIZE_MAX without; what has its operation and place: */
    double exposed, calls;
    double all, host, end, of_op; /* of the rank, by two causes, of the operation */
};

static bool is_of(const struct ta_refs *in, size_t ref, size_t row, size_t other)
{
    return ta_slice_equal(ta_ref_text(in, ref, row), ta_ref_text(in, ref, other));
}

static void add_alike(const struct ta_refs *in, double rank, size_t most, struct places *p)
{
    double exposed = 0, calls = 0;
    for (size_t row = 0; row < ta_ref_rows(in, PLACE_EXPOSED); row++)
        if (ta_ref_number(in, PLACE_RANK, row, NAN) == rank && is_of(in, PLACE_OP, row, most) &&
            is_of(in, PLACE, row, most)) {
            exposed += ta_ref_number(in, PLACE_EXPOSED, row, 0);
            calls += ta_ref_number(in, PLACE_CALLS, row, 0);
        }
    if (p->most == SIZE_MAX || exposed > p->exposed) {
        p->most = most;
        p->exposed = exposed;
        p->calls = calls;
    }
}

static struct places places_of(const struct ta_refs *in, double rank)
{
    struct places p = {.most = SIZE_MAX};
    for (size_t row = 0; row < ta_ref_rows(in, PLACE_EXPOSED); row++) {
        const double exposed = ta_ref_number(in, PLACE_EXPOSED, row, 0);
        if (ta_ref_number(in, PLACE_RANK, row, NAN) != rank)
            continue;
        p.all += exposed;
        p.host += ta_ref_reads(in, PLACE_CAUSE, row, "host") ? exposed : 0;
        p.end += ta_ref_reads(in, PLACE_CAUSE, row, "end") ? exposed : 0;
        add_alike(in, rank, row, &p);
    }
    for (size_t row = 0; p.most != SIZE_MAX && row < ta_ref_rows(in, PLACE_EXPOSED); row++)
        if (ta_ref_number(in, PLACE_RANK, row, NAN) == rank && is_of(in, PLACE_OP, row, p.most))
            p.of_op += ta_ref_number(in, PLACE_EXPOSED, row, 0);
    return p;
}

#define GRADIENT "autograd::engine::evaluate_function"
enum { MANY_CALLS = 100 }; /* a step has fewer buckets */
#define SHORT 1e6          /* ns: a bucket of 25 MiB takes about as long */
#define NEARLY_ALL 0.9
#define ALL 0.995

/* Whether gradients are reduced one by one: many short calls a step. */
static bool has_no_buckets(const struct ta_refs *in, const struct places *p)
{
    return p->most != SIZE_MAX && ta_slice_starts(ta_ref_text(in, PLACE, p->most), GRADIENT) &&
           p->calls >= MANY_CALLS * fmax(1, most_of(in, STEPS)) && p->exposed < SHORT * p->calls &&
           p->exposed > NEARLY_ALL * p->all;
}

static const char *op_of_row(const struct ta_refs *in, struct ta_advice *advice,
                             const struct places *p)
{
    const struct ta_place most = ta_place_at(in, PLACE_EXPOSED, p->most);
    return ta_place_text(advice, in, &most, PLACE_OP);
}

static const char *why_joinable(const struct ta_refs *in, struct ta_advice *advice,
                                const struct places *p)
{
    const double steps = most_of(in, STEPS);
    const char *each = ta_advice_number(advice, p->exposed / p->calls, TA_UNIT_NS);
    return steps > 1 ? ta_advice_printf(advice,
                                        "A step has %.0f of these calls, each exposed for %s on "
                                        "average.",
                                        p->calls / steps, each)
                     : ta_advice_printf(advice, "Each is exposed for %s on average.", each);
}

/* The operation that nearly all of the time is of. */
static const char *op_of(const struct ta_refs *in, struct ta_advice *advice, const struct places *p)
{
    if (p->most == SIZE_MAX || p->of_op < NEARLY_ALL * p->all)
        return "communication";
    const struct ta_place most = ta_place_at(in, PLACE_EXPOSED, p->most);
    const bool is_gradient = ta_slice_starts(ta_ref_text(in, PLACE, p->most), GRADIENT);
    return ta_advice_printf(advice, "%s%s", ta_place_text(advice, in, &most, PLACE_OP),
                            is_gradient ? " of the gradients" : "");
}

/* "allreduce in `Attention` takes 71 % of the exposed time (12 ms in 40 calls)"; without times
 * where another finding has a part of the exposed time. */
static const char *where(const struct ta_refs *in, struct ta_advice *advice, const struct places *p,
                         bool is_all)
{
    const struct ta_place most = ta_place_at(in, PLACE_EXPOSED, p->most);
    const struct ta_slice place = ta_ref_text(in, PLACE, p->most);
    const char *name = ta_place_text(advice, in, &most, PLACE);
    const size_t module = ta_slice_starts(place, "nn.Module: ") ? 11 : 0;
    const char *within = place.len == 0                     ? ""
                         : ta_slice_starts(place, GRADIENT) ? " in the backward pass"
                         : strlen(name) > module
                             ? ta_advice_printf(advice, " in `%s`", name + module)
                             : "";
    const char *op = ta_place_text(advice, in, &most, PLACE_OP);
    const char *calls = ta_advice_printf(advice, "%.0f call%s", p->calls, p->calls == 1 ? "" : "s");
    const double part = p->all > 0 ? p->exposed / p->all : 0;
    if (part >= ALL)
        return ta_advice_printf(advice, "The exposed time is all %s%s (%s)", op, within, calls);
    return is_all ? ta_advice_printf(advice, "%s%s takes %s of the exposed time (%s in %s)", op,
                                     within, ta_advice_number(advice, part, TA_UNIT_RATIO),
                                     ta_advice_number(advice, p->exposed, TA_UNIT_NS), calls)
                  : ta_advice_printf(advice, "%s%s takes %s of the exposed time", op, within,
                                     ta_advice_number(advice, part, TA_UNIT_RATIO));
}

static const char *overlap(const struct ta_refs *in, const struct places *p, bool is_of_host)
{
    if (has_no_buckets(in, p))
        return "Reduce gradients in few large buckets, as DistributedDataParallel does, or join "
               "the calls with flat buffers or `dist._coalescing_manager`.";
    if (is_of_host)
        return "Let the host run ahead: launch the collective and what does not need its result "
               "earlier (asynchronous call, `wait()` late), and remove waits before it.";
    const bool is_gradient =
        p->most != SIZE_MAX && ta_slice_starts(ta_ref_text(in, PLACE, p->most), GRADIENT);
    if (is_gradient)
        return "Start the reduction earlier in the backward pass: smaller buckets "
               "(`bucket_cap_mb`), "
               "`static_graph=True`; or send half as much (bf16 gradients).";
    if (p->most != SIZE_MAX && ta_slice_has_word(ta_ref_text(in, PLACE_OP, p->most), "all_to_all"))
        return "Exchange in parts: send the next heads while attention runs on the first (Ulysses "
               "in chunks), or send less, such as FP8.";
    return "Overlap communication with work that does not need the result (`async_op=True`, chunks "
           "on a "
           "stream of its own), send less, or divide over fewer ranks.";
}

/* ---- the rule -------------------------------------------------------------------------------- */

/* The exposed time of the rank that has most, and the parts that no other finding is about. */
struct share {
    struct ta_place exposed, wait; /* no table where waiting is not known */
    double rank, before, waiting, transfer, mean_wait;
    double hideable; /* of the transfer: what else there is to compute bounds it */
};

static struct share share_of(const struct ta_refs *in, struct extremes e, double run)
{
    struct share s = {.exposed = ta_place_at(in, EXPOSED, e.most),
                      .rank = ta_ref_number(in, RANK, e.most, 0),
                      .before = before_of(in, e.most)};
    s.wait = waiting(in, &s.exposed);
    const double all = exposed_of(in, e.most);
    const double phases = said_of_phases(in, s.rank, run);
    const double waits = s.wait.table ? fmin(s.wait.value, all) : 0;
    const double wait = fmax(0, waits - phases);
    const struct ta_place transfer = ta_place_beside(in, &s.wait, TRANSFER);
    /* A broadcast of what a rank alone has made may be long for that. */
    s.transfer = fmax(0, (transfer.table ? transfer.value : all - waits) - fmax(0, phases - waits) -
                             said_of_links(in, run));
    s.hideable = fmax(0, fmin(s.transfer, run - ta_ref_number(in, COMM, e.most, 0)));
    s.waiting = has_straggler(in, run) ? 0 : wait;
    s.mean_wait = ta_ref_rows(in, WAIT) ? ta_ref_sum(in, WAIT) / (double)ta_ref_rows(in, WAIT) : 0;
    s.mean_wait *= waits > 0 ? wait / waits : 1;
    return s;
}

/* Sentences, either of which may be empty. */
static const char *joined(struct ta_advice *advice, const char *first, const char *second)
{
    return *first && *second ? ta_advice_printf(advice, "%s %s", first, second)
           : *first          ? first
                             : second;
}

static const char *details_of(const struct ta_refs *in, struct ta_advice *advice,
                              const struct share *s, struct extremes e)
{
    const char *before =
        s->before > 0 ? ta_advice_printf(advice,
                                         "Another %s of rank %.0f began before the recording and "
                                         "is not counted.",
                                         ta_advice_number(advice, s->before, TA_UNIT_NS), s->rank)
                      : "";
    const char *silent =
        e.silent != SIZE_MAX
            ? ta_advice_printf(advice,
                               "The recording of rank %lld has no communication, unlike those of "
                               "the other ranks: its part is unknown.",
                               (long long)ta_ref_integer(in, RANK, e.silent))
            : "";
    const char *text = joined(advice, before, silent);
    return *text ? text : NULL;
}

static void advise_waiting(struct ta_advice *advice, const struct ta_refs *in,
                           const struct share *s, struct extremes e, double run, double threshold)
{
    const struct late late = late_of(in, s->rank);
    const struct ta_evidence evidence[] = {ta_place_evidence(&s->wait),
                                           ta_place_evidence(&s->exposed)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "exposed-comm",
                  .rule = "exposed_comm",
                  .title = waiting_title(
                      in, advice, &late, s->rank,
                      ta_advice_printf(advice, "%s of the run (%s)",
                                       ta_advice_number(advice, s->waiting / run, TA_UNIT_RATIO),
                                       ta_advice_number(advice, s->waiting, TA_UNIT_NS))),
                  .why = why_waiting(in, advice, &late),
                  .advice = level_ranks(in, advice, &late),
                  .details = details_of(in, advice, s, e),
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = TA_LENGTH(evidence),
                  /* Ranks that share the work evenly end when the average rank does. */
                  .gain = TA_GAIN_RANKS,
                  .saving_low_ns = ta_whole(s->mean_wait / 3),
                  .saving_high_ns = ta_whole(s->mean_wait),
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(advice, "exposed communication > %s of the run",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
}

/* What a title says of a transfer. */
struct transfer {
    const char *op, *share;
    const char *degrees; /* how the run is divided, which explains it; or NULL */
    bool is_joinable, is_of_host;
};

static const char *transfer_title(const struct ta_refs *in, struct ta_advice *advice,
                                  const struct places *p, const struct share *s,
                                  const struct transfer *t)
{
    if (t->is_joinable)
        return ta_advice_printf(
            advice, "Gradients are reduced one by one: %s calls of %s are exposed for %s",
            ta_advice_number(advice, p->calls, TA_UNIT_COUNT), op_of_row(in, advice, p), t->share);
    if (t->degrees)
        return ta_advice_printf(advice, "%s: %s is exposed for %s", t->degrees, t->op, t->share);
    if (!s->wait.table)
        return ta_advice_printf(advice, "%s waits in %s for %s, for data or for other ranks",
                                ta_ref_rows(in, RANK) > 1 ? "A GPU" : "The GPU", t->op, t->share);
    return ta_advice_printf(advice,
                            t->is_of_host
                                ? "The host launches too late to overlap %s: exposed for %s"
                                : "Nothing overlaps %s: exposed for %s",
                            t->op, t->share);
}

static void advise_transfer(struct ta_advice *advice, const struct ta_refs *in,
                            const struct share *s, struct extremes e, double run, double threshold)
{
    struct places p = places_of(in, s->rank);
    const bool is_rest = said_of_links(in, run) > 0; /* of collectives that have a finding */
    p.most = is_rest ? SIZE_MAX : p.most;
    const bool is_of_host = p.host > p.all / 2;
    const char *op = is_rest ? "other collectives" : op_of(in, advice, &p);
    const bool is_all = s->transfer > NEARLY_ALL * p.all;
    const struct ta_place transfer = ta_place_beside(in, &s->wait, TRANSFER);
    const struct ta_place *all = transfer.table ? &transfer : &s->exposed;
    const bool is_joinable = has_no_buckets(in, &p);
    const struct ta_evidence evidence[] = {ta_place_evidence(all),
                                           p.most == SIZE_MAX || is_joinable
                                               ? ta_place_evidence(all)
                                               : ta_ref_evidence(in, PLACE_EXPOSED, p.most)};
    const char *share = ta_advice_printf(
        advice, "%s of the run (%s%s)", ta_advice_number(advice, s->transfer / run, TA_UNIT_RATIO),
        ta_advice_number(advice, s->transfer, TA_UNIT_NS),
        ta_ref_rows(in, RANK) > 1 ? ta_advice_printf(advice, " of rank %.0f", s->rank) : "");
    const struct ta_degrees degrees = is_rest || is_joinable ? (struct ta_degrees){.what = NULL}
                                                             : ta_degrees_of(in, advice, DEGREES);
    const char *rest = details_of(in, advice, s, e);
    const char *details =
        joined(advice,
               is_joinable && !s->wait.table
                   ? "A part may be waiting for other ranks: their traces would show it."
                   : "",
               rest ? rest : "");
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "exposed-comm",
            .rule = "exposed_comm",
            .title = transfer_title(
                in, advice, &p, s,
                &(struct transfer){op, share, degrees.what, is_joinable, is_of_host}),
            .why = p.most == SIZE_MAX ? NULL
                   : is_joinable
                       ? why_joinable(in, advice, &p)
                       : ta_advice_printf(
                             advice, "%s, and %s.", where(in, advice, &p, is_all),
                             is_of_host ? "the host had not launched yet what is computed next"
                             : p.end > p.all / 2 ? "nothing is computed after it"
                                                 : "what is computed next needs the result"),
            .advice =
                degrees.what ? degrees.advice
                : s->wait.table || is_joinable || ta_ref_rows(in, RANK) > 1
                    ? overlap(in, &p, is_of_host)
                    : ta_advice_printf(
                          advice,
                          "Read the traces of the other ranks as well, in case one is late. %s",
                          overlap(in, &p, is_of_host)),
            .details = *details ? details : NULL,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            /* Where little is free to overlap; without the other ranks all may be waiting. */
            .saving_low_ns = degrees.what    ? ta_whole(degrees.least * s->hideable)
                             : s->wait.table ? ta_whole(s->hideable / 3)
                                             : 0,
            .saving_high_ns = ta_whole((degrees.what ? degrees.most : 1) * s->hideable),
            .confidence = s->wait.table ? 0.6 : 0.4,
            .threshold = ta_advice_printf(advice, "exposed communication > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const double run = ta_look_most(in, &windows, TA_MISSING);
    const struct extremes e = find_extremes(in);
    if (e.most == SIZE_MAX || run <= 0 || !ta_place_at(in, EXPOSED, e.most).table)
        return TA_OK;
    const struct share s = share_of(in, e, run);
    /* Of a rank alone the finding about links speaks for all collectives. */
    if ((s.waiting + s.transfer) / run <= threshold ||
        (!s.wait.table && ta_ref_rows(in, RANK) == 1 && said_of_links(in, run) > 0))
        return TA_OK;
    if (s.waiting > s.transfer)
        advise_waiting(advice, in, &s, e, run, threshold);
    else
        advise_transfer(advice, in, &s, e, run, threshold);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, exposed_comm, &ops, .title = "Exposed communication",
          .summary = "Fires when no computation overlaps collectives", .version = "2",
          .options = options);
