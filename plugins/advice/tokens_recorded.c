/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of Diffulex that generate tokens and stored none.
 *
 * A recorded 0 is what a section has whose tokens were never recorded, so a run of which no section
 * has any was either not asked to record them, or asked in the way that stores nothing: inside its
 * section record_throughput() divides by a duration that is still 0. */
#include <traceanalyze/rule.h>

enum { LEAST };

static const struct ta_option options[] = {
    [LEAST] = {"least", TA_OPTION_NUMBER, 1e6, 0, 1e18, TA_OPTION_NS,
               "Time in such sections below which the rule keeps silent"},
    TA_OPTIONS_END,
};

enum { TOKENS, SECTION, CALLS, TOTAL };

static const struct ta_ref reads[] = {
    [TOKENS] = {"sections.tokens", NULL},
    [SECTION] = {"sections.without_tokens", "section"},
    [CALLS] = {"sections.without_tokens", "calls"},
    [TOTAL] = {"sections.without_tokens", "total_ns"},
};

/* Whether a section is about tokens, by its name. */
static bool generates(struct ta_slice name)
{
    static const char *const words[] = {"infer", "generat", "decod",   "batch",
                                        "sampl", "prompt",  "request", NULL};
    return ta_slice_has_any(name, words);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const size_t n_rows = ta_ref_rows(in, SECTION);
    size_t row = 0; /* the longest comes first */
    while (row < n_rows && !generates(ta_ref_text(in, SECTION, row)))
        row++;
    if (row == n_rows || ta_ref_rows(in, TOKENS))
        return TA_OK;
    const struct ta_place total = ta_place_at(in, TOTAL, row);
    const struct ta_place calls = ta_place_at(in, CALLS, row);
    if (!total.table || total.value < ta_ctx_option(ctx, LEAST) || !calls.table)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&total), ta_place_evidence(&calls)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "tokens-recorded",
                  .rule = "tokens_recorded",
                  .title = ta_advice_printf(
                      advice, "No section stored its tokens, so tokens per second are unknown%s",
                      ta_place_owner(advice, in->report, &total)),
                  .why = "Inside its section record_throughput(tokens) stores nothing, because "
                         "the duration of the section is not known yet; after it the call is "
                         "ignored.",
                  .advice = "Time the generation and pass the duration, still inside the section: "
                            "record_throughput(tokens, duration).",
                  .severity = TA_LOW,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.7,
                  .threshold = "tokens of all sections = 0",
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, tokens_recorded, &ops, .title = "Tokens that were not stored",
          .summary = "Fires when sections that generate tokens stored none", .version = "1",
          .options = options);
