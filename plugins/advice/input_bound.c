/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input-bound: the device waits while data is loaded, for its first work as well. */
#include "lib/edges.h"
#include "lib/owners.h"
#include "lib/recorder.h"
#include "lib/reloads.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
                   "Share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    BEFORE,
    EDGE,
    EDGE_CAUSE,
    EDGE_TIME,
    SITE_EDGE,
    SITE_CAUSE,
    SITE,
    SITE_TIME,
    RECORDER,
    RELOADS = RECORDER + 3,
    OWNERS = RELOADS + RELOADS_READ
};

static const struct ta_ref reads[] = {
    [BEFORE] = {"gpu_time.program", "before_ns"},
    [EDGE] = {"gpu_idle.edges", "edge"},
    [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
    [EDGE_TIME] = {"gpu_idle.edges", "total_ns"},
    [SITE_EDGE] = {"gpu_idle.edge_sites", "edge"},
    [SITE_CAUSE] = {"gpu_idle.edge_sites", "cause"},
    [SITE] = {"gpu_idle.edge_sites", "site"},
    [SITE_TIME] = {"gpu_idle.edge_sites", "total_ns"},
    RECORDER_READS(RECORDER),
    RELOADS_READS(RELOADS),
    OWNERS_READS(OWNERS),
};

static const char *const owners[] = {"data loading"};
static const struct ta_owners_asked asked = {OWNERS, owners, TA_LENGTH(owners)};

static const struct ta_look before = {.cells = EDGE_TIME,
                                      .where = {{EDGE, "before"}, {EDGE_CAUSE, "data loading"}}};
static const struct ta_look before_sites = {
    .cells = SITE_TIME, .where = {{SITE_EDGE, "before"}, {SITE_CAUSE, "data loading"}}};

/* Time of a device at a place, or at all of them where it is NULL, within the run and, as the mean
 * of all devices, before its first work. */
static double time_at(const struct ta_refs *in, const struct ta_owned *owned, const char *place,
                      bool has_before)
{
    double sum = 0, before_first = 0;
    for (size_t row = 0; row < ta_ref_rows(in, OWNERS + OWNERS_SITE_TOTAL); row++)
        if (ta_owned_is_site(in, &asked, &owned->window, row) &&
            (!place || ta_ref_reads(in, OWNERS + OWNERS_SITE, row, place)))
            sum += ta_ref_number(in, OWNERS + OWNERS_SITE_TOTAL, row, 0);
    for (size_t row = 0; has_before && row < ta_ref_rows(in, SITE_TIME); row++)
        if (ta_look_takes(in, &before_sites, row) && (!place || ta_ref_reads(in, SITE, row, place)))
            before_first += ta_ref_number(in, SITE_TIME, row, 0);
    return sum + before_first / (double)ta_ref_rows(in, OWNERS + OWNERS_WINDOW);
}

/* The place with most of the time, in the function of the program that calls it. */
static const char *why(struct ta_advice *advice, const struct ta_owned_where *where, double share,
                       double ns)
{
    if (!*where->site || share < 0.1)
        return NULL;
    const bool is_in = *where->function && strcmp(where->function, where->site) != 0;
    const char *place = ta_advice_printf(advice, "%s%s%s", where->site, is_in ? " in " : "",
                                         is_in ? where->function : "");
    const char *all = ta_advice_number(advice, ns, TA_UNIT_NS);
    return share >= 0.9995 ? ta_advice_printf(advice, "%s takes all of the %s.", place, all)
                           : ta_advice_printf(advice, "%s takes %s of the %s (%s).", place,
                                              ta_advice_number(advice, share * ns, TA_UNIT_NS), all,
                                              ta_advice_number(advice, share, TA_UNIT_RATIO));
}

/* Whether the loader that is waited for has processes of its own. */
static bool has_workers(const struct ta_refs *in)
{
    static const char *const words[] = {"_MultiProcessingDataLoaderIter", NULL};
    for (size_t row = 0; row < ta_ref_rows(in, OWNERS + OWNERS_SITE_TOTAL); row++)
        if (ta_ref_reads(in, OWNERS + OWNERS_SITE_OWNER, row, "data loading") &&
            ta_slice_has_any(ta_ref_text(in, OWNERS + OWNERS_SITE, row), words))
            return true;
    for (size_t row = 0; row < ta_ref_rows(in, SITE_TIME); row++)
        if (ta_look_takes(in, &before_sites, row) &&
            ta_slice_has_any(ta_ref_text(in, SITE, row), words))
            return true;
    return false;
}

static bool is_of_images(const char *site, const char *function)
{
    static const char *const words[] = {"image",      "Image", "PIL/",   "cv2",
                                        "transforms", "zoom",  "resize", NULL};
    return ta_slice_has_any(ta_slice_of(site), words) ||
           ta_slice_has_any(ta_slice_of(function), words);
}

/* Of the time within the run and before its first work. */
static struct ta_recorded recorded_of(const struct ta_refs *in, const struct ta_owned *owned)
{
    static const struct ta_look all = {.cells = BEFORE};
    struct ta_recorded recorded = ta_recorder_of(in, RECORDER, "data loading", &owned->place, 1);
    struct ta_place data, edge;
    if (ta_look_same(in, &before, &owned->window, &data) &&
        ta_look_same(in, &all, &owned->window, &edge) && edge.value > 0) {
        const struct ta_recorded more =
            ta_recorder_of(in, RECORDER, "before the first work", &owned->window,
                           fmin(1, data.value / edge.value));
        recorded.ns += more.ns;
        recorded.most_ns += more.most_ns;
    }
    return recorded;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place site = {.table = NULL};
    const char *first =
        ta_look_worst(in, &before_sites, &site) ? ta_place_text(advice, in, &site, SITE) : "";
    /* Weights that are loaded first are host_edges.c's. */
    const bool has_before = site.table && !ta_edge_loads_weights(first);
    const struct ta_owned owned = ta_owned_worst(in, advice, &asked, &before, has_before);
    if (!owned.place.table || owned.share <= threshold ||
        ta_owned_reloads(in, RELOADS, OWNERS, &owned))
        return TA_OK;
    struct ta_owned_where where = ta_owned_where(in, advice, &asked, &owned.window);
    if (!*where.site)
        where.site = first;
    const double share =
        time_at(in, &owned, where.site, has_before) / time_at(in, &owned, NULL, has_before);
    /* Within a loader only what prepares the data has a place of its own. */
    const bool is_prepared = strstr(where.site, ".py(") && !strstr(where.site, "dataloader.py(") &&
                             !strstr(where.site, "torch/utils/data/");
    const struct ta_recorded recorded =
        has_before ? recorded_of(in, &owned)
                   : ta_recorder_of(in, RECORDER, "data loading", &owned.place, 1);
    const struct ta_evidence evidence[] = {ta_place_evidence(&owned.place),
                                           ta_place_evidence(&owned.run)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "input-bound",
            .rule = "input_bound",
            .title =
                ta_advice_printf(advice, "%s is too slow%s",
                                 is_prepared ? "Loading and pre-processing data" : "Loading data",
                                 ta_owned_cost(advice, &owned)),
            .why = why(advice, &where, share, owned.ns),
            .advice =
                is_prepared && is_of_images(where.site, where.function)
                    ? "Prepare batches in other processes (num_workers, persistent_workers, "
                      "prefetch_factor), or on the GPU (torchvision.transforms.v2; fast image "
                      "processors, use_fast=True in transformers)."
                : has_workers(in)
                    ? "The loader has workers already: give it more of them (num_workers), keep "
                      "them between epochs (persistent_workers=True) and prefetch more batches "
                      "(prefetch_factor)."
                    : "Load in other processes (num_workers, persistent_workers, prefetch_factor), "
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
