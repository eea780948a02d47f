/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host that waits for a device for much of its time, where only the host was recorded. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of the run, or of the samples, in waits for a device above which the rule "
               "fires"},
    TA_OPTIONS_END,
};

enum { RANK, CALL, PLACE, CALLS, TOTAL, SAMPLES, PART, BUSY };

static const struct ta_ref reads[] = {
    [RANK] = {"waits.by_place", "rank"},      [CALL] = {"waits.by_place", "call"},
    [PLACE] = {"waits.by_place", "place"},    [CALLS] = {"waits.by_place", "calls"},
    [TOTAL] = {"waits.by_place", "total_ns"}, [SAMPLES] = {"waits.by_place", "samples"},
    [PART] = {"waits.by_place", "share"},     [BUSY] = {"gpu_time.by_rank", "busy_ns"},
};

/* What a rank waits in all, and the call and the place with most of it; rows. */
struct waits {
    double share, time, samples;
    size_t call, place;
    double of_call, of_place; /* shares of the run */
};

/* The share of the rows of a rank that have the same text, or in all. */
static double sum_of(const struct ta_refs *in, size_t row, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, PART); i++)
        if (ta_ref_rank(in, RANK, i) == ta_ref_rank(in, RANK, row) &&
            (column == RANK ||
             ta_slice_equal(ta_ref_text(in, column, i), ta_ref_text(in, column, row))))
            sum += ta_ref_number(in, PART, i, 0);
    return sum;
}

static struct waits waits_of(const struct ta_refs *in)
{
    struct waits most = {.share = 0};
    size_t of = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, PART); row++) {
        const double share = sum_of(in, row, RANK);
        if (share > most.share) {
            most.share = share;
            of = row;
        }
    }
    for (size_t row = 0; of != SIZE_MAX && row < ta_ref_rows(in, PART); row++) {
        if (ta_ref_rank(in, RANK, row) != ta_ref_rank(in, RANK, of))
            continue;
        const double call = sum_of(in, row, CALL), place = sum_of(in, row, PLACE);
        most.time += ta_ref_number(in, TOTAL, row, 0);
        most.samples += ta_ref_number(in, SAMPLES, row, 0);
        if (call > most.of_call) {
            most.of_call = call;
            most.call = row;
        }
        if (place > most.of_place) {
            most.of_place = place;
            most.place = row;
        }
    }
    return most;
}

/* "pipeline.py:88 (decode) takes 71 % of these waits (1.3 s in 40 calls)." */
static const char *why(const struct ta_refs *in, struct ta_advice *advice,
                       const struct waits *waits)
{
    const struct ta_place place = ta_place_at(in, PART, waits->place);
    const char *name = ta_place_text(advice, in, &place, PLACE);
    double time = 0, calls = 0;
    for (size_t i = 0; i < ta_ref_rows(in, PART); i++)
        if (ta_ref_rank(in, RANK, i) == ta_ref_rank(in, RANK, waits->place) &&
            ta_slice_equal(ta_ref_text(in, PLACE, i), ta_ref_text(in, PLACE, waits->place))) {
            time += ta_ref_number(in, TOTAL, i, 0);
            calls += ta_ref_number(in, CALLS, i, 0);
        }
    if (!*name)
        return NULL;
    const char *in_calls = calls > 0 ? ta_advice_printf(advice, " (%s in %.0f call%s)",
                                                        ta_advice_number(advice, time, TA_UNIT_NS),
                                                        calls, calls == 1 ? "" : "s")
                                     : "";
    const double part = waits->of_place / waits->share;
    return part > 0.995
               ? ta_advice_printf(advice, "All of these waits are in %s%s.", name, in_calls)
               : ta_advice_printf(advice, "%s takes %s of these waits%s.", name,
                                  ta_advice_number(advice, part, TA_UNIT_RATIO), in_calls);
}

/* "Tensor.cpu", or "synchronize" of a frame in a file. */
static const char *function_of(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const struct ta_slice call = ta_ref_text(in, CALL, row);
    const struct ta_place place = ta_place_at(in, PART, row);
    const char *open = memchr(call.ptr, '(', call.len);
    return open && memmem(call.ptr, call.len, ".py:", 4)
               ? ta_advice_printf(advice, "%.*s", (int)(open - call.ptr - 1), call.ptr)
               : ta_place_text(advice, in, &place, CALL);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, SHARE);
    const struct waits waits = waits_of(in);
    /* A trace with device activities says what these waits cost. */
    if (ta_ref_rows(in, BUSY) > 0 || waits.share <= least)
        return TA_OK;
    const struct ta_place place = ta_place_at(in, waits.time > 0 ? TOTAL : PART, waits.call);
    const struct ta_evidence evidence = ta_place_evidence(&place);
    const char *call = function_of(in, advice, waits.call);
    const bool synchronizes = strstr(call, "ynchronize") != NULL;
    const char *what =
        waits.time > 0
            ? ta_advice_printf(advice, "%s of %s (%s)",
                               ta_advice_number(advice, fmin(1, waits.share), TA_UNIT_RATIO),
                               waits.samples > 0 ||
                                       ta_ref_cell(in, CALLS, waits.call)->kind != TA_CELL_INT
                                   ? "the time of all call stacks"
                                   : "the run",
                               ta_advice_number(advice, waits.time, TA_UNIT_NS))
            : ta_advice_printf(advice, "%s of the samples of all call stacks (%.0f)",
                               ta_advice_number(advice, fmin(1, waits.share), TA_UNIT_RATIO),
                               waits.samples);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "host-waits",
            .rule = "host_waits",
            .title = ta_advice_printf(advice, "%s the host wait for the GPU: %s%s",
                                      waits.of_call >= 0.5 * waits.share
                                          ? ta_advice_printf(advice, "%s makes", call)
                                          : "Synchronizing and reading values make",
                                      what, ta_place_owner(advice, in->report, &place)),
            .why = why(in, advice, &waits),
            .advice = ta_advice_printf(
                advice,
                "%s A torch trace with CUDA activities shows whether the GPU works meanwhile.",
                synchronizes
                    ? "Take the wait out of the loop, or wait once where the result is needed."
                    : "Keep the values on the GPU, or read them after the loop or a step "
                      "later."),
            .details = "Only the host was recorded. While the GPU works through its queue, a wait "
                       "costs nothing: its kernels take the time.",
            .severity = TA_MEDIUM,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.7,
            .threshold = ta_advice_printf(advice, "waits > %s of the run",
                                          ta_advice_number(advice, least, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, host_waits, &ops, .title = "Host waits by call site",
          .summary = "Fires when the host waits for a device much of the time, where only the host "
                     "was recorded",
          .version = "1", .options = options);
