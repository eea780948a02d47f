/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory in use that rises between snapshots of the same step and does not come down again: at
 * once, or a little each time.
 *
 * Snapshots whose labels differ only in their numbers are of one step.  That the first of them is
 * above what came before says nothing, since models are loaded; that a later one is above the first
 * does. */
#include "memory.h"

enum { SHARE, LEAST };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
               "Rise over the first snapshot of a step above which the rule fires"},
    [LEAST] = {"least", TA_OPTION_NUMBER, 512.0 * 1024 * 1024, 0, 1e15, TA_OPTION_BYTES,
               "Rise in bytes below which the rule keeps silent"},
    TA_OPTIONS_END,
};

/* Share of a rise that has to remain: memory may fall a little again. */
#define STAYS 0.9
/* Share of a rise that makes it a jump. */
#define AT_ONCE 0.8
enum { SNAPSHOTS_MIN = 3 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether two labels are the same but for their numbers, of which they have any. */
static bool is_same_step(struct ta_slice a, struct ta_slice b)
{
    size_t i = 0, k = 0;
    bool has_number = false;
    while (i < a.len && k < b.len) {
        if (is_digit(a.ptr[i]) && is_digit(b.ptr[k])) {
            has_number = true;
            while (i < a.len && is_digit(a.ptr[i]))
                i++;
            while (k < b.len && is_digit(b.ptr[k]))
                k++;
        } else if (a.ptr[i++] != b.ptr[k++]) {
            return false;
        }
    }
    return i == a.len && k == b.len && (has_number || ta_slice_equal(a, b));
}

/* The snapshots of one step. */
struct rise {
    size_t n, first, last; /* number of them; rows */
    size_t from, at;       /* the rows between which the largest rise is */
    double jump, before;   /* that rise, and what it began at */
    double falls;          /* the largest fall from one to the next */
};

/* Whether all snapshots of the step since the jump are still that high, and there is one. */
static bool stays(const struct ta_refs *in, const struct rise *rise)
{
    const double level = rise->before + STAYS * rise->jump;
    for (size_t row = rise->at; row < ta_ref_rows(in, SNAPSHOT_BYTES); row++)
        if (snapshot_same_device(in, rise->first, row) &&
            is_same_step(ta_ref_text(in, SNAPSHOT_LABEL, rise->first),
                         ta_ref_text(in, SNAPSHOT_LABEL, row)) &&
            snapshot_bytes(in, row) < level)
            return false;
    return rise->at < rise->last;
}

static bool is_first_of_step(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (snapshot_same_device(in, i, row) && !isnan(snapshot_bytes(in, i)) &&
            is_same_step(ta_ref_text(in, SNAPSHOT_LABEL, i), ta_ref_text(in, SNAPSHOT_LABEL, row)))
            return false;
    return true;
}

struct limits {
    double share, least;
};

static bool is_large(double rise, double from, const struct limits *limits)
{
    return rise >= limits->least && rise > limits->share * from;
}

static void give(struct ta_advice *advice, const struct ta_refs *in, const struct rise *rise,
                 bool at_once, const struct limits *limits)
{
    const struct ta_place low = ta_place_at(in, SNAPSHOT_BYTES, at_once ? rise->from : rise->first);
    const struct ta_place high = ta_place_at(in, SNAPSHOT_BYTES, at_once ? rise->at : rise->last);
    const struct ta_evidence evidence[] = {ta_place_evidence(&high), ta_place_evidence(&low)};
    const char *from = ta_advice_number(advice, low.value, TA_UNIT_BYTES);
    const char *to = ta_advice_number(advice, high.value, TA_UNIT_BYTES);
    const char *label = ta_place_text(advice, in, &high, SNAPSHOT_LABEL);
    const char *owner = ta_place_owner(advice, in->report, &high);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "memory-growth",
            .rule = "memory_growth",
            .title = at_once ? ta_advice_printf(advice,
                                                "Memory in use jumps from %s to %s at %s and stays "
                                                "there%s",
                                                from, to, label, owner)
                             : ta_advice_printf(
                                   advice,
                                   "Memory in use grows by %s a pass, from %s to %s at "
                                   "%s%s",
                                   ta_advice_number(
                                       advice, (high.value - low.value) / (double)(rise->n - 1),
                                       TA_UNIT_BYTES),
                                   from, to, label, owner),
            .why = at_once ? "A model that was in host memory until then stays on the GPU, or "
                             "tensors of that pass are still referenced."
                           : "What a pass allocates stays referenced after it: tensors in a list, "
                             "latents or frames on the GPU, or the graphs that autograd keeps "
                             "outside torch.no_grad().",
            .advice = at_once ? "Move the model back before the next pass, or drop the references."
                              : "Move results to the host and drop what a pass no longer needs.",
            .details = "torch.cuda.memory._dump_snapshot() at that label names the call sites that "
                       "hold the memory.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "rise between snapshots of a step > %s",
                                          ta_advice_number(advice, limits->share, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct limits limits = {ta_ctx_option(ctx, SHARE), ta_ctx_option(ctx, LEAST)};
    struct rise worst = {.n = 0};
    double most = 0;
    bool at_once = false;
    enum { ROWS_MAX = 4096 }; /* more are compared with each other at length */
    for (size_t row = 0; row < ta_ref_rows(in, SNAPSHOT_BYTES) && row < ROWS_MAX; row++) {
        if (isnan(snapshot_bytes(in, row)) || !is_first_of_step(in, row))
            continue;
        struct rise rise = {.n = 1, .first = row, .last = row, .from = row, .at = row};
        for (size_t cells = row + 1; cells < ta_ref_rows(in, SNAPSHOT_BYTES); cells++) {
            if (!snapshot_same_device(in, row, cells) || isnan(snapshot_bytes(in, cells)) ||
                !is_same_step(ta_ref_text(in, SNAPSHOT_LABEL, row),
                              ta_ref_text(in, SNAPSHOT_LABEL, cells)))
                continue;
            const double before = snapshot_bytes(in, rise.last);
            const double more = snapshot_bytes(in, cells) - before;
            if (more > rise.jump) {
                rise.jump = more;
                rise.before = before;
                rise.from = rise.last;
                rise.at = cells;
            }
            rise.falls = fmax(rise.falls, -more);
            rise.last = cells;
            rise.n++;
        }
        const double grown = snapshot_bytes(in, rise.last) - snapshot_bytes(in, row);
        const bool jumps = is_large(rise.jump, rise.before, &limits) && stays(in, &rise);
        const bool grows = rise.falls < limits.least / 4 && rise.jump < AT_ONCE * grown &&
                           is_large(grown, snapshot_bytes(in, row), &limits);
        if (rise.n >= SNAPSHOTS_MIN && (jumps || grows) && (jumps ? rise.jump : grown) > most) {
            worst = rise;
            at_once = jumps && !grows;
            most = jumps ? rise.jump : grown;
        }
    }
    if (worst.n)
        give(advice, in, &worst, at_once, &limits);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, memory_growth, &ops, .title = "Memory that is not freed",
          .summary = "Fires when memory in use rises between snapshots of a step and stays",
          .version = "1", .options = options);
