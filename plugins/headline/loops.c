/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop that takes most time. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { PER_S, COUNT, MEAN, TOTAL, LOOP };
static const struct ta_ref reads[] = {
    [PER_S] = {"iterations.by_name", "per_s"},  [COUNT] = {"iterations.by_name", "count"},
    [MEAN] = {"iterations.by_name", "mean_ns"}, [TOTAL] = {"iterations.by_name", "total_ns"},
    [LOOP] = {"iterations.by_name", "loop"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const size_t row = ta_ref_largest(in, TOTAL);
    char rate[TA_UNIT_TEXT_MAX], n[TA_UNIT_TEXT_MAX], mean[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX || isnan(ta_ref_number(in, PER_S, row, NAN)))
        return;
    const struct ta_slice name = ta_line_name(line, ta_ref_text(in, LOOP, row), NAME_MOST);
    const bool is_named = !ta_slice_equal(name, TA_LIT("iterations"));
    if (is_named && ta_ref_number(in, COUNT, row, 0) <= 1) {
        ta_say(line, "%.*s takes %s.", (int)name.len, name.ptr,
               ta_unit_format(mean, ta_ref_number(in, MEAN, row, NAN), TA_UNIT_NS));
        return;
    }
    ta_say(line, "The loop%s%.*s runs %s iterations per second: %s of %s each.",
           is_named ? " " : "", is_named ? (int)name.len : 0, name.ptr,
           ta_unit_format(rate, ta_ref_number(in, PER_S, row, NAN), TA_UNIT_NONE),
           ta_unit_format(n, ta_ref_number(in, COUNT, row, NAN), TA_UNIT_COUNT),
           ta_unit_format(mean, ta_ref_number(in, MEAN, row, NAN), TA_UNIT_NS));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_WORK, .place = 3, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, loops, &ops, .title = "Loops", .summary = "The loop that takes most time",
          .version = "1");
