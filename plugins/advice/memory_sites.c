/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of the program that hold most of the memory at its peak: all of an optimizer's file, or
 * lines of one function. */
#include "lib/sites.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.25, 0, 1, TA_OPTION_RATIO,
               "Memory at the peak that one place of the program holds, from which the rule fires"},
    TA_OPTIONS_END,
};

enum { RANK, DEVICE, LABEL, SITE, AT_PEAK, PEAK_SHARE };

static const struct ta_ref reads[] = {
    [RANK] = {"memory.sites", "rank"},
    [DEVICE] = {"memory.sites", "device"},
    [LABEL] = {"memory.sites", "label"},
    [SITE] = {"memory.sites", "site"},
    [AT_PEAK] = {"memory.sites", "peak_block_bytes"},
    [PEAK_SHARE] = {"memory.sites", "peak_share"},
};

/* What a title says a place is, and what to do. */
static const struct {
    const char *what, *advice;
} kinds[] = {
    [TA_SITE_OTHER] = {NULL, "Look at what that line keeps alive: tensors that are needed later "
                             "can be recomputed (checkpointing), offloaded, or made smaller (a "
                             "smaller batch, 16 bit), others freed (del, torch.no_grad())."},
    [TA_SITE_OPTIMIZER] = {"Optimizer state", "Use an 8-bit optimizer, shard its state (FSDP, "
                                              "ZeRO), or keep it in host memory."},
    [TA_SITE_KV_CACHE] = {"The KV cache", "Store the KV cache in 8 bit, make it shorter (fewer "
                                          "sequences or tokens at once), or share its heads "
                                          "between more GPUs."},
};

/* The lines of a title; others are counted. */
enum { LINES_MOST = 3 };

/* Lines that belong together, of one device and snapshot. */
struct place {
    size_t row; /* of the line that holds most */
    struct ta_site site;
    enum ta_site_kind kind;
    long lines[LINES_MOST];
    size_t n_lines, n_all;
    double bytes, share;
};

static bool is_of_place(const struct ta_refs *in, const struct place *place, size_t row)
{
    const double device = ta_ref_number(in, DEVICE, row, NAN);
    const double its_device = ta_ref_number(in, DEVICE, place->row, NAN);
    const struct ta_site site = ta_site_parse(ta_ref_text(in, SITE, row));
    if (ta_ref_integer(in, RANK, row) != ta_ref_integer(in, RANK, place->row) ||
        (device != its_device && !(isnan(device) && isnan(its_device))) ||
        !ta_slice_equal(ta_ref_text(in, LABEL, row), ta_ref_text(in, LABEL, place->row)))
        return false;
    return row == place->row || ta_site_is_near(&place->site, &site) ||
           (place->kind == TA_SITE_OPTIMIZER && ta_slice_equal(site.path, place->site.path));
}

/* A line with less of the memory than this part of its place's first is neither named nor counted.
 */
#define LINE_LEAST 0.1

static struct place gather(const struct ta_refs *in, size_t row)
{
    struct place place = {.row = row, .site = ta_site_parse(ta_ref_text(in, SITE, row))};
    const double least = LINE_LEAST * ta_ref_number(in, AT_PEAK, row, 0);
    place.kind = ta_site_kind(place.site.path);
    for (size_t i = 0; i < ta_ref_rows(in, SITE); i++) {
        if (!is_of_place(in, &place, i))
            continue;
        const double bytes = ta_ref_number(in, AT_PEAK, i, 0);
        if (bytes < least)
            continue;
        place.bytes += bytes;
        place.share += ta_ref_number(in, PEAK_SHARE, i, 0);
        if (place.n_lines < LINES_MOST)
            place.lines[place.n_lines++] = ta_site_parse(ta_ref_text(in, SITE, i)).line;
        place.n_all++;
    }
    return place;
}

/* No place is looked for whose largest line holds a smaller part of what is looked for: histories
 * may have many thousands of small ones. */
#define LEAD_LEAST 0.05

/* Rows are in the order of what they hold, so the first line of a place holds most of it. */
static struct place find_most(const struct ta_refs *in, double threshold)
{
    struct place most = {.share = 0};
    for (size_t row = 0; row < ta_ref_rows(in, SITE); row++) {
        if (!(ta_ref_number(in, PEAK_SHARE, row, 0) >= LEAD_LEAST * threshold) ||
            ta_site_parse(ta_ref_text(in, SITE, row)).path.len == 0)
            continue; /* from before the history, or without a frame */
        const struct place place = gather(in, row);
        if (place.share > most.share)
            most = place;
    }
    return most;
}

/* "optimizers.py:82 and :84" */
static const char *lines_of(struct ta_advice *advice, const struct place *place)
{
    const struct ta_slice path = ta_site_short_path(place->site.path);
    const char *text = ta_advice_printf(advice, "%.*s", (int)path.len, path.ptr);
    for (size_t i = 0; i < place->n_lines; i++)
        text = ta_advice_printf(advice, "%s%s:%ld", text,
                                i == 0                                                ? ""
                                : i + 1 < place->n_lines || place->n_all > LINES_MOST ? ", "
                                                                                      : " and ",
                                place->lines[i]);
    return place->n_all > LINES_MOST
               ? ta_advice_printf(advice, "%s and %zu more lines", text, place->n_all - LINES_MOST)
               : text;
}

static const char *title_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct place *place)
{
    const struct ta_place at = ta_place_at(in, AT_PEAK, place->row);
    const char *lines = lines_of(advice, place);
    const char *what = kinds[place->kind].what;
    const struct ta_slice function = place->site.function;
    return ta_advice_printf(
        advice, "%s holds %s of the %s peak (%s)%s",
        what ? what
             : ta_advice_printf(advice, "%.*s", (int)(function.len < 60 ? function.len : 60),
                                function.ptr),
        ta_advice_number(advice, place->bytes, TA_UNIT_BYTES),
        ta_advice_number(advice, place->bytes / place->share, TA_UNIT_BYTES), lines,
        ta_report_run(in->report)->n_ranks > 1 ? ta_place_owner(advice, in->report, &at) : "");
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, SHARE);
    const struct place most = find_most(in, threshold);
    if (!(most.share >= threshold) || most.bytes <= 0)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, AT_PEAK, most.row),
                                           ta_ref_evidence(in, PEAK_SHARE, most.row)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "memory-sites",
                  .rule = "memory_sites",
                  .title = title_of(in, advice, &most),
                  .advice = kinds[most.kind].advice,
                  .severity = TA_LOW,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.8,
                  .threshold = ta_advice_printf(advice, "memory of one place >= %s of the peak",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, memory_sites, &ops, .title = "Memory by call site",
          .summary = "Fires when one place of the program holds much of the memory at the peak",
          .version = "1", .options = options);
