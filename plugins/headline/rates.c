/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast the run was: frames before tokens, ours before the profiler's. */
#include <traceanalyze/headline.h>

#include "lib/sessions.h"

#include <math.h>
#include <stdio.h>

enum { SESSION_RANK, SESSION_KIND, VALUES_RANK, VALUE, METRIC, BASIS, GROUP, FIGURE, PLAYED };
static const struct ta_ref reads[] = {
    [SESSION_RANK] = {"run.sessions", "rank"},     [SESSION_KIND] = {"run.sessions", "kind"},
    [VALUES_RANK] = {"throughput.values", "rank"}, [VALUE] = {"throughput.values", "value"},
    [METRIC] = {"throughput.values", "metric"},    [BASIS] = {"throughput.values", "basis"},
    [GROUP] = {"figures.reported", "group"},       [FIGURE] = {"figures.reported", "figure"},
    [PLAYED] = {"playback.by_video", "rate"},
};

/* Whether a log says the rate rather than a profiler. */
static bool is_of_log(const struct ta_refs *in, const char *metric)
{
    for (size_t i = 0; i < ta_ref_rows(in, GROUP); i++)
        if ((ta_ref_reads(in, GROUP, i, "log") || ta_ref_reads(in, GROUP, i, "serving")) &&
            ta_ref_reads(in, FIGURE, i, metric))
            return true;
    return false;
}

/* The most useful rate: of frames before tokens, ours before the profiler's; none where the
 * sentence about playback has said how fast videos are made. */
static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    if (ta_ref_rows(in, PLAYED) > 0)
        return;
    char words[SESSION_WORDS_MAX], over_session[48];
    snprintf(over_session, sizeof over_session, "over %s",
             ta_session_words(in, SESSION_RANK, SESSION_KIND, words));
    const struct {
        const char *metric, *basis, *what, *how;
    } rates[] = {
        {"fps", "wall", "frames", over_session},
        {"fps", "until_cut", "frames", "up to where the report is cut"},
        {"fps", "blocks", "frames", "over the time of the blocks"},
        {"tokens_per_s", "sections", "tokens", "over the sections that generate them"},
        {"fps", "as_reported (block)", "frames", "as the profiler reports for its blocks"},
        {"fps", "as_reported", "frames", "as the profiler reports"},
        {"tokens_per_s", "as_reported", "tokens", "as the profiler reports"},
        {"e2e_tokens_per_s", "as_reported", "tokens", "end to end, as the profiler reports"},
        {"bps", "wall", "blocks", over_session},
    };
    for (size_t r = 0; r < TA_LENGTH(rates); r++) {
        double slowest = NAN, of_run = NAN;
        size_t n = 0;
        for (size_t i = 0; i < ta_ref_rows(in, VALUES_RANK); i++) {
            if (!ta_ref_reads(in, METRIC, i, rates[r].metric) ||
                !ta_ref_reads(in, BASIS, i, rates[r].basis))
                continue;
            if (isnan(ta_ref_number(in, VALUES_RANK, i, NAN))) {
                of_run = ta_ref_number(in, VALUE, i, NAN);
                continue;
            }
            slowest = fmin(slowest, ta_ref_number(in, VALUE, i, NAN));
            n++;
        }
        if (isnan(slowest) && isnan(of_run))
            continue;
        const double rate = isnan(of_run) ? slowest : of_run;
        const bool is_log =
            strcmp(rates[r].basis, "as_reported") == 0 && is_of_log(in, rates[r].metric);
        const char *how = is_log ? "as the log says" : rates[r].how;
        char all[TA_UNIT_TEXT_MAX], one[TA_UNIT_TEXT_MAX];
        ta_unit_format(all, rate, TA_UNIT_NONE);
        ta_unit_format(one, slowest, TA_UNIT_NONE);
        if (rate > slowest)
            ta_say(line, "%s %s per second %s by %zu ranks, %s on the slowest.", all, rates[r].what,
                   how, n, one);
        else
            ta_say(line, "%s %s per second %s%s.", all, rates[r].what, how,
                   n > 1 ? ", on the slowest rank" : "");
        return;
    }
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_PROGRESS, .place = 3, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, rates, &ops, .title = "Rates", .summary = "Frames, tokens or blocks per second",
          .version = "1");
