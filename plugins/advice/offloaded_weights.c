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

enum { LOAD_MODEL = BAR_REFS, LOAD_LOADED, LOAD_OFFLOADED, LOAD_SHARE, LOAD_EXTENT };

static const struct ta_ref reads[] = {
    BAR_READS,
    [LOAD_MODEL] = {"models.loads", "model"},
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

/* "WAN21 runs with 22.7 GiB of its 26.6 GiB of weights offloaded to host memory". */
static const char *what_is_where(const struct ta_refs *in, struct ta_advice *advice, size_t load)
{
    const struct ta_place loaded = ta_place_at(in, LOAD_LOADED, load);
    const double offloaded = ta_ref_number(in, LOAD_OFFLOADED, load, NAN);
    const char *model = ta_place_text(advice, in, &loaded, LOAD_MODEL);
    model = model[0] ? model : "A model";
    if (isnan(offloaded))
        return ta_advice_printf(advice,
                                "%s has %s of its weights on the GPU and the others offloaded to "
                                "host memory",
                                model, ta_advice_number(advice, loaded.value, TA_UNIT_BYTES));
    if (loaded.value <= 0)
        return ta_advice_printf(advice,
                                "%s runs with all of its %s of weights offloaded to host "
                                "memory",
                                model, ta_advice_number(advice, offloaded, TA_UNIT_BYTES));
    return ta_advice_printf(advice, "%s runs with %s of its %s of weights offloaded to host memory",
                            model, ta_advice_number(advice, offloaded, TA_UNIT_BYTES),
                            ta_advice_number(advice, offloaded + loaded.value, TA_UNIT_BYTES));
}

static const char *what_it_costs(struct ta_advice *advice, const struct loop *loop, bool is_slower)
{
    if (loop->n <= 0)
        return "";
    const char *mean = ta_advice_number(advice, loop->ns / loop->n, TA_UNIT_NS);
    if (is_slower)
        return ta_advice_printf(
            advice, " and copied in every iteration: %s each, %s with all weights on the GPU", mean,
            ta_advice_number(advice, loop->fast_ns / loop->n_fast, TA_UNIT_NS));
    return ta_advice_printf(advice, " and copied in every iteration, which takes %s", mean);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double share = ta_ctx_option(ctx, SHARE);
    const size_t load = worst_load(in, share);
    if (load == SIZE_MAX)
        return TA_OK;
    const struct loop loop = loop_of(in, ta_ref_text(in, LOAD_MODEL, load));
    const double saving = loop.n_fast > 0 ? loop.ns - loop.n * loop.fast_ns / loop.n_fast : -1;
    const bool is_slower = saving > 0;
    if (loop.n_fast > 0 && !is_slower)
        return TA_OK; /* it runs as fast with them in host memory */
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, LOAD_LOADED, load),
                                           ta_ref_evidence(in, LOAD_OFFLOADED, load)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "offloaded-weights",
                  .rule = "offloaded_weights",
                  .title = ta_advice_printf(advice, "%s%s", what_is_where(in, advice, load),
                                            what_it_costs(advice, &loop, is_slower)),
                  .advice =
                      "Make the weights fit: a quantized checkpoint (fp8, GGUF), a smaller model, "
                      "or more free device memory (other processes, the text encoder and VAE on "
                      "the device, fewer frames or pixels, decoding in tiles). Where they cannot "
                      "fit, swap as few blocks as the memory allows and keep them in pinned "
                      "memory, so that copies overlap with compute.",
                  .severity = loop.n > 0 ? TA_HIGH : TA_LOW,
                  .evidence = evidence,
                  .n_evidence = isnan(ta_ref_number(in, LOAD_OFFLOADED, load, NAN)) ? 1 : 2,
                  .saving_low_ns = is_slower ? 0 : TA_MISSING,
                  .saving_high_ns = is_slower ? ta_whole(saving) : TA_MISSING,
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
