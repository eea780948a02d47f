/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long requests wait for their first token, and for the next ones. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { REQUESTS, TTFT_MEAN, TPOT_MEAN };
static const struct ta_ref reads[] = {
    [REQUESTS] = {"requests.by_rank", "requests"},
    [TTFT_MEAN] = {"requests.by_rank", "ttft_mean_ns"},
    [TPOT_MEAN] = {"requests.by_rank", "tpot_mean_ns"},
};

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const size_t row = ta_ref_largest(in, TTFT_MEAN);
    char first[TA_UNIT_TEXT_MAX], next[TA_UNIT_TEXT_MAX], n[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX)
        return;
    ta_unit_format(n, ta_ref_number(in, REQUESTS, row, NAN), TA_UNIT_COUNT);
    ta_unit_format(first, ta_ref_number(in, TTFT_MEAN, row, NAN), TA_UNIT_NS);
    ta_unit_format(next, ta_ref_number(in, TPOT_MEAN, row, NAN), TA_UNIT_NS);
    if (isnan(ta_ref_number(in, TPOT_MEAN, row, NAN)))
        ta_say(line, "The first tokens of %s requests come after %s (mean).", n, first);
    else
        ta_say(line, "The first tokens of %s requests come after %s, then one each %s (means).", n,
               first, next);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_WORK, .place = 2, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, requests, &ops, .title = "Requests",
          .summary = "Times to the first token and per token", .version = "1");
