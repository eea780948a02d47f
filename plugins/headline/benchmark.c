/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the requests of a benchmark took, and how many a second were answered. */
#include <traceanalyze/headline.h>

#include <math.h>
#include <string.h>

enum { FIGURE, GROUP, VALUE };
static const struct ta_ref reads[] = {
    [FIGURE] = {"figures.reported", "figure"},
    [GROUP] = {"figures.reported", "group"},
    [VALUE] = {"figures.reported", "value"},
};

static double figure(const struct ta_refs *in, const char *name)
{
    for (size_t row = 0; row < ta_ref_rows(in, FIGURE); row++)
        if (ta_ref_reads(in, FIGURE, row, name))
            return ta_ref_number(in, VALUE, row, NAN);
    return NAN;
}

/* "A request takes 12.1 s in qwen_1024, 4.05 s in qwen_512." of a benchmark of several runs; false
 * of one. */
static bool say_runs(struct ta_line *line, const struct ta_refs *in)
{
    enum { MOST_NAMED = 3, NAME_MOST = 40 };
    size_t runs = 0, named = 0;
    for (size_t row = 0; row < ta_ref_rows(in, FIGURE); row++)
        runs += ta_ref_reads(in, FIGURE, row, "latency_mean_ns");
    if (runs < 2)
        return false;
    ta_say(line, "A request takes");
    for (size_t row = 0; row < ta_ref_rows(in, FIGURE) && named < MOST_NAMED; row++) {
        const struct ta_slice group = ta_ref_text(in, GROUP, row);
        const size_t common = strlen("requests, ");
        if (!ta_ref_reads(in, FIGURE, row, "latency_mean_ns") || group.len < common)
            continue;
        char time[TA_UNIT_TEXT_MAX];
        const struct ta_slice name = ta_line_name(line, ta_slice_from(group, common), NAME_MOST);
        ta_say_on(line, "%s %s in %.*s", named ? "," : "",
                  ta_unit_format(time, ta_ref_number(in, VALUE, row, NAN), TA_UNIT_NS),
                  (int)name.len, name.ptr);
        named++;
    }
    if (runs > named)
        ta_say_on(line, " (%zu runs in all)", runs);
    ta_say_on(line, ".");
    return true;
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    if (say_runs(line, in))
        return;
    const double mean = figure(in, "latency_mean_ns"), rate = figure(in, "throughput_qps");
    const double n = figure(in, "completed_requests"), failed = figure(in, "failed_requests");
    char time[TA_UNIT_TEXT_MAX], per_s[TA_UNIT_TEXT_MAX], count[TA_UNIT_TEXT_MAX];
    if (!(n > 0) || isnan(mean) || isnan(rate))
        return;
    ta_unit_format(count, n, TA_UNIT_COUNT);
    ta_unit_format(time, mean, TA_UNIT_NS);
    ta_unit_format(per_s, rate, TA_UNIT_NONE);
    ta_say(line, "A request takes %s (mean of %s); %s requests are answered per second", time,
           count, per_s);
    if (failed > 0)
        ta_say_on(line, ", and %s failed", ta_unit_format(count, failed, TA_UNIT_COUNT));
    ta_say_on(line, ".");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_PROGRESS, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, benchmark, &ops, .title = "Benchmark",
          .summary = "Time of a request, and requests per second, of a benchmark", .version = "1");
