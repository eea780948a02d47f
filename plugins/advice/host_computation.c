/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host computes what a GPU could: a text encoder on the CPU, noise that is made there, images
 * that are resized. */
#include "lib/edges.h"
#include "lib/owners.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in which a GPU idles while the host computes, from which the "
                   "rule fires"},
    TA_OPTIONS_END,
};

enum {
    BEFORE,
    EDGE,
    EDGE_CAUSE,
    EDGE_TIME,
    EDGE_SITE_EDGE,
    EDGE_SITE_CAUSE,
    EDGE_SITE,
    EDGE_SITE_TIME,
    OWNERS
};

static const struct ta_ref reads[] = {
    [BEFORE] = {"gpu_time.program", "before_ns"},
    [EDGE] = {"gpu_idle.edges", "edge"},
    [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
    [EDGE_TIME] = {"gpu_idle.edges", "total_ns"},
    [EDGE_SITE_EDGE] = {"gpu_idle.edge_sites", "edge"},
    [EDGE_SITE_CAUSE] = {"gpu_idle.edge_sites", "cause"},
    [EDGE_SITE] = {"gpu_idle.edge_sites", "site"},
    [EDGE_SITE_TIME] = {"gpu_idle.edge_sites", "total_ns"},
    OWNERS_READS(OWNERS),
};

static const char *const owners[] = {"host computation"};
static const struct ta_owners_asked asked = {OWNERS, owners, TA_LENGTH(owners)};

enum { KIND_IMAGES = 1, KIND_ARRAYS };

/* What is computed, by a word in the name of the place, and what to do. */
static const struct {
    const char *words[12];
    const char *advice, *details;
} kinds[] = {
    {{"normal_", "uniform_", "randn", "rand", "random_", "bernoulli", "randperm", "exponential_"},
     "Make random numbers on the GPU: device=\"cuda\", and a torch.Generator(\"cuda\") for the "
     "seed.",
     "A GPU generator gives other numbers for the same seed."},
    [KIND_IMAGES] = {{"PIL", "Imaging", "cv2", "skimage", "imageio", "transforms", "upsample",
                      "interpolate", "resize"},
                     "Resize and normalize on the GPU (torchvision.transforms.v2), or prepare the "
                     "next input in "
                     "another process while the GPU works.",
                     NULL},
    [KIND_ARRAYS] = {{"numpy", "scipy", "librosa"},
                     "Do this on the GPU with torch, or prepare the next input in another process "
                     "while the GPU "
                     "works.",
                     NULL},
    {{"copy_", "_to_copy", "aten::to", "contiguous", "clone", "cat", "stack"},
     "Move tensors to the GPU first and cast or copy them there; convert weights once when they "
     "are loaded.",
     NULL},
    {{"mm", "linear", "matmul", "einsum", "convolution", "conv", "attention", "softmax",
      "layer_norm", "gelu", "silu", "mkldnn"},
     "Run this part of the model on the GPU (.to(\"cuda\"), at least while it is needed), or "
     "compute it once and keep the result.",
     "A text encoder computes the same for the same prompt: keep its embeddings. One that does not "
     "fit next to the model can run first and be moved away, or be quantized."},
};

static const char general[] =
    "Let the GPU compute this (tensors made with device=\"cuda\"), or compute it once and keep the "
    "result.";

static bool holds(const char *name, const char *word)
{
    return *name && strstr(name, word) != NULL;
}

static size_t kind_of(const char *site)
{
    for (size_t i = 0; i < TA_LENGTH(kinds); i++)
        for (size_t k = 0; k < TA_LENGTH(kinds[i].words) && kinds[i].words[k]; k++)
            if (holds(site, kinds[i].words[k]))
                return i;
    return SIZE_MAX;
}

static bool encodes_text(const char *function)
{
    static const char *const words[] = {"encode_prompt", "text_encoder", "TextEncoder", "prompt",
                                        "encode_text"};
    for (size_t i = 0; i < TA_LENGTH(words); i++)
        if (holds(function, words[i]))
            return true;
    return false;
}

/* What the rule is about: computation within the run and after it, and of the time before the first
 * work either that as well, or, where `has_python`, also the Python around it. */
static const struct ta_look edges[] = {
    {.cells = EDGE_TIME, .where = {{EDGE, "before"}, {EDGE_CAUSE, "host computation"}}},
    {.cells = EDGE_TIME, .where = {{EDGE, "after"}, {EDGE_CAUSE, "host computation"}}},
    {.cells = EDGE_TIME, .where = {{EDGE, "before"}, {EDGE_CAUSE, "python"}}},
    {.cells = EDGE_TIME, .where = {{EDGE, "before"}, {EDGE_CAUSE, "operator dispatch"}}},
};
enum { OF_COMPUTATION = 2 };

static bool takes_edge(const struct ta_refs *in, size_t row, bool has_python)
{
    return ta_ref_reads(in, EDGE_SITE_CAUSE, row, "host computation") ||
           (has_python && ta_ref_reads(in, EDGE_SITE_EDGE, row, "before") &&
            (ta_ref_reads(in, EDGE_SITE_CAUSE, row, "python") ||
             ta_ref_reads(in, EDGE_SITE_CAUSE, row, "operator dispatch")));
}

/* Time of a device within the run and, as the mean of all devices, at its edges: of the operator
 * `site`, or of all where it is NULL. */
static double sum_of(const struct ta_refs *in, const struct ta_owned *owned,
                     const struct ta_slice *site, bool has_python)
{
    double sum = 0, at_edges = 0;
    for (size_t row = 0; row < ta_ref_rows(in, OWNERS + OWNERS_SITE_TOTAL); row++)
        if (ta_owned_is_site(in, &asked, &owned->window, row) &&
            (!site || ta_slice_equal(ta_ref_text(in, OWNERS + OWNERS_SITE, row), *site)))
            sum += ta_ref_number(in, OWNERS + OWNERS_SITE_TOTAL, row, 0);
    for (size_t row = 0; row < ta_ref_rows(in, EDGE_SITE_TIME); row++)
        if (takes_edge(in, row, has_python) &&
            (!site || ta_slice_equal(ta_ref_text(in, EDGE_SITE, row), *site)))
            at_edges += ta_ref_number(in, EDGE_SITE_TIME, row, 0);
    return sum + at_edges / (double)ta_ref_rows(in, OWNERS + OWNERS_WINDOW);
}

/* Whether the time before the first work of the device is one phase, of computation. */
static bool is_phase(const struct ta_refs *in, const struct ta_owned *owned)
{
    static const struct ta_look before = {.cells = BEFORE};
    struct ta_place all, computing;
    return owned->place.table && ta_look_same(in, &before, &owned->window, &all) &&
           ta_look_same(in, &edges[0], &owned->window, &computing) &&
           ta_edge_computes(computing.value, all.value);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look at_edges = {.cells = EDGE_SITE_TIME,
                                            .where = {{EDGE_SITE_CAUSE, "host computation"}}};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_owned owned = ta_owned_worst(in, advice, &asked, edges, OF_COMPUTATION);
    const struct ta_owned phase = ta_owned_worst(in, advice, &asked, edges, TA_LENGTH(edges));
    const bool has_python = is_phase(in, &owned) && is_phase(in, &phase);
    if (has_python)
        owned = phase;
    if (!owned.place.table || owned.share <= threshold)
        return TA_OK;
    struct ta_owned_where where = ta_owned_where(in, advice, &asked, &owned.window);
    struct ta_place site;
    if (!*where.site && ta_look_worst(in, &at_edges, &site))
        where.site = ta_place_text(advice, in, &site, EDGE_SITE);
    const struct ta_slice name = ta_slice_of(where.site);
    const double share =
        sum_of(in, &owned, &name, has_python) / sum_of(in, &owned, NULL, has_python);
    /* The function is named where it holds nearly all of the operator's time. */
    const bool is_in = *where.function && strcmp(where.function, where.site) != 0 &&
                       where.site_share >= 0.85 * share;
    const size_t kind = kind_of(where.site);
    const bool is_input = kind == KIND_IMAGES || kind == KIND_ARRAYS;
    const bool is_text = encodes_text(where.function) && kind == TA_LENGTH(kinds) - 1;
    const struct ta_evidence evidence[] = {ta_place_evidence(&owned.place),
                                           ta_place_evidence(&owned.run)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "host-computation",
            .rule = "host_computation",
            .title = ta_advice_printf(advice, "%s on the CPU%s",
                                      is_text                  ? "The text encoder runs"
                                      : has_python && is_input ? "The host prepares input"
                                      : share >= 0.5
                                          ? ta_advice_printf(advice, "%s computes", where.site)
                                          : "The host computes",
                                      ta_owned_cost(advice, &owned)),
            .why = ta_advice_printf(advice, "%s%s%s causes %s of the %s of idle time (%s)%s%s.",
                                    where.site, is_in ? " in " : "", is_in ? where.function : "",
                                    ta_advice_number(advice, share * owned.ns, TA_UNIT_NS),
                                    ta_advice_number(advice, owned.ns, TA_UNIT_NS),
                                    ta_advice_number(advice, share, TA_UNIT_RATIO),
                                    share >= 0.5 ? "" : ", the largest part",
                                    has_python ? "" : " and launches nothing"),
            .advice = is_text
                          ? "Move the text encoder to the GPU (at least while it is needed), or "
                            "encode each prompt once and keep the embedding."
                      : kind == SIZE_MAX ? general
                                         : kinds[kind].advice,
            .details = kind == SIZE_MAX ? NULL : kinds[kind].details,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            /* The GPU still has to do it, in a small part of the time. */
            .saving_low_ns = ta_whole(0.6 * owned.ns),
            .saving_high_ns = ta_whole(owned.ns),
            .confidence = 0.8,
            .threshold = ta_advice_printf(advice, "idle time of one such cause > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, host_computation, &ops, .title = "Computation on the CPU",
          .summary = "Fires when a device waits while the host computes in operators, on arrays or "
                     "images",
          .version = "1", .options = options);
