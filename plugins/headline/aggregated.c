/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a summary over ranks says of their sessions and devices. */
#include <traceanalyze/headline.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MIN, MAX, MEAN, METRIC, VALUE, GROUP, FIGURE, RANK };
static const struct ta_ref reads[] = {
    [MIN] = {"figures.aggregated", "min"},     [MAX] = {"figures.aggregated", "max"},
    [MEAN] = {"figures.aggregated", "mean"},   [METRIC] = {"figures.aggregated", "metric"},
    [VALUE] = {"figures.reported", "value"},   [GROUP] = {"figures.reported", "group"},
    [FIGURE] = {"figures.reported", "figure"}, [RANK] = {"figures.reported", "rank"},
};

static size_t row_of_metric(const struct ta_refs *in, const char *metric)
{
    for (size_t i = 0; i < ta_ref_rows(in, MIN); i++)
        if (ta_ref_reads(in, METRIC, i, metric))
            return i;
    return SIZE_MAX;
}

/* "12.5 s to 13.2 s", or one value where they read the same. */
static const char *range_of(const struct ta_refs *in, size_t row, enum ta_unit unit,
                            char words[2 * TA_UNIT_TEXT_MAX + 8])
{
    char low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX];
    ta_unit_format(low, ta_ref_number(in, MIN, row, NAN), unit);
    ta_unit_format(high, ta_ref_number(in, MAX, row, NAN), unit);
    if (strcmp(low, high) == 0)
        snprintf(words, TA_UNIT_TEXT_MAX, "%s", low);
    else
        snprintf(words, 2 * TA_UNIT_TEXT_MAX + 8, "%s to %s", low, high);
    return words;
}

/* The rank whose session is the longest, of `*n` sessions; TA_MISSING without any. */
static int64_t slowest_session(const struct ta_refs *in, size_t *n)
{
    int64_t rank = TA_MISSING;
    double longest = 0;
    *n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, VALUE); i++) {
        if (!ta_ref_reads(in, GROUP, i, "aggregate") || !ta_ref_reads(in, FIGURE, i, "duration_ns"))
            continue;
        ++*n;
        if (ta_ref_number(in, VALUE, i, NAN) > longest) {
            longest = ta_ref_number(in, VALUE, i, NAN);
            rank = ta_ref_integer(in, RANK, i);
        }
    }
    return rank;
}

static void say_sessions(struct ta_line *line, const struct ta_refs *in)
{
    char words[2 * TA_UNIT_TEXT_MAX + 8];
    size_t n;
    const size_t row = row_of_metric(in, "session_duration");
    const int64_t rank = slowest_session(in, &n);
    if (row == SIZE_MAX || n == 0)
        return;
    range_of(in, row, TA_UNIT_NS, words);
    if (n == 1)
        ta_say(line, "The session takes %s.", words);
    else if (ta_ref_number(in, MIN, row, NAN) < ta_ref_number(in, MAX, row, NAN))
        ta_say(line, "The sessions of %zu ranks take %s, that of rank %" PRId64 " the longest.", n,
               words, rank);
    else
        ta_say(line, "The sessions of %zu ranks take %s each.", n, words);
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    char words[2 * TA_UNIT_TEXT_MAX + 8], mean[TA_UNIT_TEXT_MAX];
    say_sessions(line, in);
    size_t row = row_of_metric(in, "gpu_utilization_ratio");
    if (row != SIZE_MAX)
        ta_say(line, "The GPUs are in use %s of the time (%s by rank).",
               ta_unit_format(mean, ta_ref_number(in, MEAN, row, NAN), TA_UNIT_RATIO),
               range_of(in, row, TA_UNIT_RATIO, words));
    row = row_of_metric(in, "gpu_memory_used_bytes");
    const size_t total = row_of_metric(in, "gpu_memory_total_bytes");
    if (row != SIZE_MAX && total != SIZE_MAX)
        ta_say(line, "Up to %s of %s of GPU memory is in use.",
               ta_unit_format(mean, ta_ref_number(in, MAX, row, NAN), TA_UNIT_BYTES),
               ta_unit_format(words, ta_ref_number(in, MAX, total, NAN), TA_UNIT_BYTES));
    else if (row != SIZE_MAX)
        ta_say(line, "Up to %s of GPU memory is in use.",
               ta_unit_format(mean, ta_ref_number(in, MAX, row, NAN), TA_UNIT_BYTES));
    row = row_of_metric(in, "cpu_usage_ratio");
    if (ta_line_is_empty(line) && row != SIZE_MAX)
        ta_say(line, "The processors of the host are in use %s of the time (%s by rank).",
               ta_unit_format(mean, ta_ref_number(in, MEAN, row, NAN), TA_UNIT_RATIO),
               range_of(in, row, TA_UNIT_RATIO, words));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_USE, .place = 0, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, aggregated, &ops, .title = "Sums over ranks",
          .summary = "What a summary over ranks says", .version = "1");
