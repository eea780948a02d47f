/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules on bars of progress share: what they read of a bar, and what its loop is called. */
#ifndef TA_LIB_BARS_H
#define TA_LIB_BARS_H

#include <traceanalyze/rule.h>

#include <math.h>

enum {
    BAR_LOOP,
    BAR_MODEL,
    BAR_DONE,
    BAR_ELAPSED,
    BAR_MEAN,
    BAR_FIRST,
    BAR_REST,
    BAR_CHANGE,
    BAR_BEFORE,
    BAR_AFTER,
    BAR_OFFLOADED,
    BAR_REFS
};

#define BAR_READS                                                                                  \
    [BAR_LOOP] = {"progress.bars", "loop"}, [BAR_MODEL] = {"progress.bars", "model"},              \
    [BAR_DONE] = {"progress.bars", "done"}, [BAR_ELAPSED] = {"progress.bars", "elapsed_ns"},       \
    [BAR_MEAN] = {"progress.bars", "mean_ns"}, [BAR_FIRST] = {"progress.bars", "first_ns"},        \
    [BAR_REST] = {"progress.bars", "rest_ns"}, [BAR_CHANGE] = {"progress.bars", "change_at"},      \
    [BAR_BEFORE] = {"progress.bars", "before_ns"}, [BAR_AFTER] = {"progress.bars", "after_ns"},    \
    [BAR_OFFLOADED] = {"progress.bars", "offloaded_bytes"}

/* " of Denoising": the bar's own name, or the model that it runs; "" without. */
static inline const char *bar_of(struct ta_advice *advice, const struct ta_refs *in,
                                 const struct ta_place *bar)
{
    const char *name = ta_place_text(advice, in, bar, BAR_LOOP);
    if (!name[0])
        name = ta_place_text(advice, in, bar, BAR_MODEL);
    return name[0] ? ta_advice_printf(advice, " of %s", name) : "";
}

/* The bar that loses most, with what it and all of them lose; its row is SIZE_MAX where none
 * does. */
struct bar_loss {
    size_t row, n; /* n: bars that lose anything */
    double most, all;
};

static inline struct bar_loss bars_loss(struct ta_ctx *ctx, const struct ta_refs *in,
                                        double (*lost_ns)(struct ta_ctx *ctx,
                                                          const struct ta_refs *in, size_t row))
{
    struct bar_loss loss = {.row = SIZE_MAX};
    for (size_t row = 0; row < ta_ref_rows(in, BAR_DONE); row++) {
        const double lost = lost_ns(ctx, in, row);
        loss.n += lost > 0;
        loss.all += lost;
        if (lost > loss.most) {
            loss.most = lost;
            loss.row = row;
        }
    }
    return loss;
}

#endif
