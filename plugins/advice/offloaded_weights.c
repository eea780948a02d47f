/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights in the host's memory, which are copied to the device each time they are used: what that
 * costs shows where the same model also ran with all of its weights on the device. */
#include "lib/bars.h"

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
               "Share of the weights in host memory above which the rule fires"},
    TA_OPTIONS_END,
};

enum { LOAD_MODEL = BAR_REFS, LOAD_USABLE, LOAD_LOADED, LOAD_OFFLOADED, LOAD_SHARE, LOAD_EXTENT };

static const struct ta_ref reads[] = {
    BAR_READS,
    [LOAD_MODEL] = {"models.loads", "model"},
    [LOAD_USABLE] = {"models.loads", "usable_bytes"},
    [LOAD_LOADED] = {"models.loads", "loaded_bytes"},
    [LOAD_OFFLOADED] = {"models.loads", "offloaded_bytes"},
    [LOAD_SHARE] = {"models.loads", "offloaded_share"},
    [LOAD_EXTENT] = {"models.loads", "extent"},
};

/* Iterations of a model with weights in host memory, and those without. */
struct loop {
    double n, ns, n_fast, fast_ns;
};

static struct loop loop_of(const struct ta_refs *in, struct ta_slice model)
{
    struct loop loop = {0};
    for (size_t row = 0; row < ta_ref_rows(in, BAR_DONE); row++) {
        const double bytes = ta_ref_number(in, BAR_OFFLOADED, row, NAN);
        const double done = ta_ref_number(in, BAR_DONE, row, 0);
        const double mean = ta_ref_number(in, BAR_MEAN, row, NAN);
        if (!ta_slice_equal(ta_ref_text(in, BAR_MODEL, row), model) || isnan(mean))
            continue;
        if (bytes == 0) {
            loop.n_fast += done;
            loop.fast_ns += done * mean;
        } else {
            loop.n += done;
            loop.ns += done * mean;
        }
    }
    return loop;
}

/* The partial load whose model iterates longest; without loops the one with most in host memory. */
static size_t worst_load(const struct ta_refs *in, double share)
{
    size_t worst = SIZE_MAX;
    double longest = 0, most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, LOAD_MODEL); row++) {
        if (!ta_ref_reads(in, LOAD_EXTENT, row, "partial") ||
            ta_ref_number(in, LOAD_SHARE, row, 1) <= share)
            continue;
        const double ns = loop_of(in, ta_ref_text(in, LOAD_MODEL, row)).ns;
        const double bytes = ta_ref_number(in, LOAD_OFFLOADED, row, 0);
        if (worst == SIZE_MAX || ns > longest || (ns == longest && bytes > most)) {
            worst = row;
            longest = ns;
            most = bytes;
        }
    }
    return worst;
}

/* How fast weights come from host memory, tensor by tensor: mostly pageable, which the driver
 * stages in small pieces. */
#define QUICK_BYTES_PER_S 8e9
#define SLOW_BYTES_PER_S 2.7e9

/* "22.7 of the 26.6 GiB of WAN21's weights stay in host memory". */
static const char *what_is_where(const struct ta_refs *in, struct ta_advice *advice, size_t load)
{
    const struct ta_place loaded = ta_place_at(in, LOAD_LOADED, load);
    const double offloaded = ta_ref_number(in, LOAD_OFFLOADED, load, NAN);
    const struct ta_place name = {.table = ta_ref_table(in, LOAD_MODEL), .row = load};
    const char *model = ta_place_text(advice, in, &name, LOAD_MODEL);
    model = model[0] ? model : "The model";
    if (!loaded.table)
        return ta_advice_printf(
            advice, "%s has at most %s of its weights on the GPU", model,
            ta_advice_number(advice, ta_ref_number(in, LOAD_USABLE, load, 0), TA_UNIT_BYTES));
    if (isnan(offloaded))
        return ta_advice_printf(advice, "%s has only %s of its weights on the GPU", model,
                                ta_advice_number(advice, loaded.value, TA_UNIT_BYTES));
    if (loaded.value <= 0)
        return ta_advice_printf(advice, "%s has all %s of its weights offloaded to host memory",
                                model, ta_advice_number(advice, offloaded, TA_UNIT_BYTES));
    return ta_advice_printf(advice, "%s has %s of its %s of weights offloaded to host memory",
                            model, ta_advice_number(advice, offloaded, TA_UNIT_BYTES),
                            ta_advice_number(advice, offloaded + loaded.value, TA_UNIT_BYTES));
}

/* What it costs that weights come over the bus in every iteration: as measured against iterations
 * without, else the time that copying takes, within the time of the iterations. */
struct cost {
    double low, high;
    bool is_measured;
};

static struct cost cost_of(const struct loop *loop, double bytes)
{
    if (loop->n_fast > 0) {
        const double slower = loop->ns - loop->n * loop->fast_ns / loop->n_fast;
        return (struct cost){0.8 * slower, slower, true};
    }
    if (loop->n <= 0 || isnan(bytes))
        return (struct cost){NAN, NAN, false};
    return (struct cost){fmin(loop->n * bytes * 1e9 / QUICK_BYTES_PER_S, 0.9 * loop->ns),
                         fmin(loop->n * bytes * 1e9 / SLOW_BYTES_PER_S, 0.9 * loop->ns), false};
}

static const char *title_of(const struct ta_refs *in, struct ta_advice *advice, size_t load,
                            const struct loop *loop, const struct cost *cost)
{
    const char *where = what_is_where(in, advice, load);
    if (loop->n <= 0)
        return where;
    const char *mean = ta_advice_number(advice, loop->ns / loop->n, TA_UNIT_NS);
    const char *what = isnan(ta_ref_number(in, LOAD_OFFLOADED, load, NAN)) ? "the rest" : "them";
    if (cost->is_measured)
        return ta_advice_printf(
            advice, "%s and copies %s in every iteration: %s each, %s with all weights on the GPU",
            where, what, mean, ta_advice_number(advice, loop->fast_ns / loop->n_fast, TA_UNIT_NS));
    return ta_advice_printf(advice, "%s and copies %s in every iteration of %s", where, what, mean);
}

static const char *why_of(struct ta_advice *advice, const struct loop *loop, double bytes)
{
    if (loop->n <= 0 || isnan(bytes))
        return NULL;
    return ta_advice_printf(advice,
                            "Copying %s takes %s at 8 GB/s and %s at 2.7 GB/s, as pageable memory "
                            "does.",
                            ta_advice_number(advice, bytes, TA_UNIT_BYTES),
                            ta_advice_number(advice, bytes * 1e9 / QUICK_BYTES_PER_S, TA_UNIT_NS),
                            ta_advice_number(advice, bytes * 1e9 / SLOW_BYTES_PER_S, TA_UNIT_NS));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double share = ta_ctx_option(ctx, SHARE);
    const size_t load = worst_load(in, share);
    if (load == SIZE_MAX)
        return TA_OK;
    const double bytes = ta_ref_number(in, LOAD_OFFLOADED, load, NAN);
    const struct loop loop = loop_of(in, ta_ref_text(in, LOAD_MODEL, load));
    const struct cost cost = cost_of(&loop, bytes);
    if (cost.is_measured && !(cost.high > 0))
        return TA_OK; /* it runs as fast with them in host memory */
    const bool is_known = ta_place_at(in, LOAD_LOADED, load).table;
    const struct ta_evidence evidence[] = {
        ta_ref_evidence(in, is_known ? LOAD_LOADED : LOAD_USABLE, load),
        ta_ref_evidence(in, LOAD_OFFLOADED, load)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "offloaded-weights",
            .rule = "offloaded_weights",
            .title = title_of(in, advice, load, &loop, &cost),
            .why = why_of(advice, &loop, bytes),
            .advice =
                is_known
                    ? "Make the weights fit (an fp8 or GGUF checkpoint, fewer frames or pixels, no "
                      "other process on the GPU), or swap fewer blocks from pinned memory and "
                      "prefetch them on a side stream."
                    : "Preserve less memory (\"GPU Inference Preserved Memory\"), as little as "
                      "runs without failing, and close what else holds GPU memory.",
            .details = cost.is_measured
                           ? "The saving is the extra time of the slow iterations; they may differ "
                             "in other ways too, such as frames or pixels."
                       : loop.n > 0 ? "The saving is the time that the copies take at 8 and at 2.7 "
                                      "GB/s; copies that kernels overlap save nothing."
                                    : NULL,
            .severity = loop.n > 0 ? TA_HIGH : TA_LOW,
            .evidence = evidence,
            .n_evidence = isnan(bytes) ? 1 : 2,
            .saving_low_ns = isnan(cost.low) ? TA_MISSING : ta_whole(cost.low),
            .saving_high_ns = isnan(cost.high) ? TA_MISSING : ta_whole(cost.high),
            .confidence = loop.n > 0 ? 0.9 : 0.6,
            .threshold = ta_advice_printf(advice, "weights in host memory > %s of a model",
                                          ta_advice_number(advice, share, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, offloaded_weights, &ops, .title = "Weights in host memory",
          .summary = "Fires when a log says that weights of a model stay in host memory",
          .version = "1", .options = options);
