/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text encoding that takes a large part of the time, or is done again for the same generation. */
#include "lib/sessions.h"
#include "stage.h"

#include <math.h>
#include <stdlib.h>
#include <traceanalyze/document.h>

enum { SHARE, CALLS };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.15, 0, 1, TA_OPTION_RATIO,
               "Share of the time above which the rule fires"},
    [CALLS] = {"calls", TA_OPTION_NUMBER, 2, 1, 1e6, TA_OPTION_PLAIN,
               "Calls of one stage for each generation above which it counts as repeated: a prompt "
               "and its negative make two"},
    TA_OPTIONS_END,
};

enum {
    STAGE,
    SOURCE,
    RANKS,
    STAGE_CALLS,
    MEMBERS,
    STAGE_SHARE,
    SHARE_OF,
    TOTAL,
    TAG,
    TAG_VALUE,
    SESSION_RANK,
    SESSION_KIND
};

static const struct ta_ref reads[] = {
    [STAGE] = {"stages.over_ranks", "stage"},
    [SOURCE] = {"stages.over_ranks", "source"},
    [RANKS] = {"stages.over_ranks", "ranks"},
    [STAGE_CALLS] = {"stages.over_ranks", "calls"},
    [MEMBERS] = {"stages.over_ranks", "members"},
    [STAGE_SHARE] = {"stages.over_ranks", "share"},
    [SHARE_OF] = {"stages.over_ranks", "share_of"},
    [TOTAL] = {"stages.over_ranks", "mean_total_ns"},
    [TAG] = {"run.tags", "key"},
    [TAG_VALUE] = {"run.tags", "value"},
    [SESSION_RANK] = {"run.sessions", "rank"},
    [SESSION_KIND] = {"run.sessions", "kind"},
};

/* A GPU takes well below a second for a prompt; what takes longer does something else as well. */
#define SLOW_NS 1e9

/* What the stages of text encoding of one program take together. */
struct encoding {
    struct ta_place largest; /* the total of the one that takes most; no table: there is none */
    double share, total;
    double call_ns;           /* of the largest */
    bool is_slow;             /* a call takes longer than encoding alone */
    struct ta_place repeated; /* the calls of the one that is called most */
};

static bool is_preparation(struct ta_slice name)
{
    static const char *const words[] = {"load", "init", "warm", "compil", "start", NULL};
    return ta_slice_has_any(name, words);
}

static void give(const struct ta_refs *in, struct ta_advice *advice, const struct encoding *found,
                 double generations, bool is_repeated, double limit)
{
    const struct ta_place *place = is_repeated ? &found->repeated : &found->largest;
    const struct ta_evidence evidence[] = {
        ta_ref_evidence(in, is_repeated ? STAGE_CALLS : STAGE_SHARE, place->row),
        ta_place_evidence(&found->largest)};
    char words[SESSION_WORDS_MAX];
    const char *whole =
        ta_share_words(in, SHARE_OF, found->largest.row, SESSION_RANK, SESSION_KIND, words);
    const char *total = ta_advice_number(advice, found->total, TA_UNIT_NS);
    const char *needs = "";
    if (found->is_slow)
        needs = ta_advice_printf(
            advice, "%s, where a GPU needs well below 1 s",
            found->call_ns >= found->total
                ? ""
                : ta_advice_printf(advice, " in calls of %s",
                                   ta_advice_number(advice, found->call_ns, TA_UNIT_NS)));
    const char *share =
        found->share > 0
            ? ta_advice_printf(advice, "%s of %s, %s",
                               ta_advice_number(advice, found->share, TA_UNIT_RATIO), whole, total)
            : total;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "text-encoding",
            .rule = "stage_text",
            .title =
                is_repeated
                    ? ta_advice_printf(advice, "%s runs %s times for %s generation%s (%s)%s",
                                       ta_place_text(advice, in, place, STAGE),
                                       ta_advice_number(advice, place->value, TA_UNIT_COUNT),
                                       ta_advice_number(advice, generations, TA_UNIT_COUNT),
                                       generations > 1 ? "s" : "", share,
                                       ta_place_owner(advice, in->report, place))
                    : ta_advice_printf(advice, "Text encoding takes %s of %s (%s%s)%s",
                                       ta_advice_number(advice, found->share, TA_UNIT_RATIO), whole,
                                       total, needs, ta_place_owner(advice, in->report, place)),
            .why =
                found->is_slow && !is_repeated
                    ? "The text encoder runs on the CPU, is copied to the GPU first, or is called "
                      "for the first time."
                    : NULL,
            .advice = is_repeated ? "Encode each prompt once and keep its embedding, which is the "
                                    "same for all chunks, blocks and steps of a generation."
                      : found->is_slow
                          ? "Time a second request: if its text encoding is as slow, keep the text "
                            "encoder on the GPU (without options such as "
                            "--text-encoder-cpu-offload), in 16 bit or 8 bit; else warm up first."
                          : "Keep embeddings of prompts that come again, and encode the "
                            "prompt and its negative as one batch, in 16 bit or 8 bit on "
                            "the GPU.",
            .severity = found->share > 2 * limit ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = is_repeated ? ta_whole(found->total / 2) : ta_whole(found->total / 3),
            .saving_high_ns = is_repeated
                                  ? ta_whole(found->total * (1 - generations / place->value))
                                  : ta_whole(found->total),
            .steps_ns = is_repeated ? 0 : TA_OUTSIDE_LOOP,
            .confidence = 0.5,
            .threshold = is_repeated
                             ? "calls of text encoding for each generation"
                             : ta_advice_printf(advice, "share of text encoding > %s",
                                                ta_advice_number(advice, limit, TA_UNIT_RATIO)),
        });
}

/* Inferix's report and console are of one program, and so is what is summed from their blocks. */
static bool is_of_same_program(const struct ta_refs *in, size_t row, size_t other)
{
    static const char *const joined[] = {"stages", "console", "blocks", "steps"};
    bool is_joined = false, other_is = false;
    for (size_t i = 0; i < TA_LENGTH(joined); i++) {
        is_joined |= ta_ref_reads(in, SOURCE, row, joined[i]);
        other_is |= ta_ref_reads(in, SOURCE, other, joined[i]);
    }
    return (is_joined && other_is) ||
           ta_slice_equal(ta_ref_text(in, SOURCE, row), ta_ref_text(in, SOURCE, other));
}

static bool is_encoding(const struct ta_refs *in, size_t row)
{
    return is_text_encoding(ta_ref_text(in, STAGE, row)) &&
           !isnan(ta_ref_number(in, TOTAL, row, NAN));
}

/* The text encoding that takes most of what its program does; SIZE_MAX for none. */
static size_t find_most(const struct ta_refs *in)
{
    size_t most = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, STAGE); row++)
        if (is_encoding(in, row) &&
            (most == SIZE_MAX ||
             ta_ref_number(in, STAGE_SHARE, row, 0) > ta_ref_number(in, STAGE_SHARE, most, 0)))
            most = row;
    return most;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct encoding found = {.share = 0};
    const size_t most = find_most(in);
    for (size_t row = 0; most != SIZE_MAX && row < ta_ref_rows(in, STAGE); row++) {
        const double total = ta_ref_number(in, TOTAL, row, NAN);
        const double share = ta_ref_number(in, STAGE_SHARE, row, NAN);
        const double calls = ta_ref_number(in, STAGE_CALLS, row, NAN);
        if (!is_encoding(in, row) || !is_of_same_program(in, row, most))
            continue;
        found.total += total;
        if (!isnan(share) && !ta_ref_reads(in, SHARE_OF, row, "parent"))
            found.share += share;
        if (!found.largest.table || total > found.largest.value) {
            found.largest = ta_place_at(in, TOTAL, row);
            found.call_ns = total * ta_ref_number(in, RANKS, row, 1) / fmax(1, calls);
            found.is_slow = calls >= 1 && found.call_ns >= SLOW_NS;
        }
        if (!isnan(calls) && (!found.repeated.table || calls > found.repeated.value))
            found.repeated = ta_place_at(in, STAGE_CALLS, row);
    }
    /* How many generations there were: none is without its own stages, so the one with the fewest
     * calls says at most how many. Prompts that a setting names count as well. */
    double fewest = INFINITY, prompts = 0;
    for (size_t row = 0; most != SIZE_MAX && row < ta_ref_rows(in, STAGE); row++) {
        const struct ta_slice name = ta_ref_text(in, STAGE, row);
        const double calls = ta_ref_number(in, STAGE_CALLS, row, NAN);
        const double members = ta_ref_number(in, MEMBERS, row, 1);
        if (!is_text_encoding(name) && !is_preparation(name) && calls > 0 &&
            is_of_same_program(in, row, most))
            fewest = fmin(fewest, ceil(calls / fmax(1, members)));
    }
    for (size_t row = 0; row < ta_ref_rows(in, TAG); row++)
        if (ta_ref_reads(in, TAG, row, "num_prompts")) {
            const double n = ta_text_double(ta_ref_text(in, TAG_VALUE, row));
            prompts = n > prompts ? n : prompts;
        }
    const double generations = isinf(fewest) ? 0 : fmax(fewest, prompts);
    const double limit = ta_ctx_option(ctx, SHARE);
    const bool is_repeated = found.repeated.table && generations > 0 &&
                             found.repeated.value > ta_ctx_option(ctx, CALLS) * generations;
    /* Alone, a share is of itself. */
    if (is_repeated || (found.largest.table && generations > 0 && found.share > limit))
        give(in, advice, &found, generations, is_repeated, limit);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, stage_text, &ops, .title = "Expensive text encoding",
          .summary = "Fires when text encoding is repeated or takes a large part of the time",
          .version = "2", .options = options);
