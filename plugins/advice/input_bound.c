/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input-bound: the device waits while data is loaded. */
#include "lib/owners.h"
#include "lib/recorder.h"

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

enum { RECORDER, OWNERS = RECORDER + 3 };

static const struct ta_ref reads[] = {
    RECORDER_READS(RECORDER),
    OWNERS_READS(OWNERS),
};

static const char *const owners[] = {"data loading"};
static const struct ta_owners_asked asked = {OWNERS, owners, TA_LENGTH(owners)};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct ta_owned owned = ta_owned_worst(in, &asked, NULL, 0);
    if (!owned.place.table || owned.share <= threshold)
        return TA_OK;
    const struct ta_owned_where where = ta_owned_where(in, advice, &asked);
    const struct ta_recorded recorded =
        ta_recorder_of(in, RECORDER, "data loading", &owned.place, 1);
    const struct ta_evidence evidence[] = {ta_place_evidence(&owned.place),
                                           ta_place_evidence(&owned.window)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "input-bound",
                  .rule = "input_bound",
                  .title = ta_advice_printf(
                      advice, "Loading data is too slow: the GPU%s is idle %s of the run (%s)",
                      ta_owned_of(advice, &owned.place),
                      ta_advice_number(advice, owned.share, TA_UNIT_RATIO),
                      ta_advice_number(advice, owned.ns, TA_UNIT_NS)),
                  .why = ta_owned_sentence(advice, &where, owned.ns),
                  .advice =
                      "Load in other processes (num_workers, persistent_workers, prefetch_factor), "
                      "so that the next batch is ready while the GPU works.",
                  .details = "Copy batches from pinned memory with non_blocking=True.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = ta_whole(owned.ns * 0.7),
                  .saving_high_ns = ta_whole(owned.ns),
                  .recorder_ns = recorded.ns,
                  .recorder_most_ns = recorded.most_ns,
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(advice, "data loading > %s of the run",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, input_bound, &ops, .title = "Input-bound",
          .summary = "Fires when a device waits while data is loaded", .version = "1",
          .options = options);
