/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters, asynchronous spans or instants, where nothing else was recorded. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { MIN, MAX, SAMPLES, COUNTER, COUNT, NAME, ASYNC_TOTAL, ASYNC_COUNT, ASYNC_NAME };
static const struct ta_ref reads[] = {
    [MIN] = {"counters.by_name", "min"},
    [MAX] = {"counters.by_name", "max"},
    [SAMPLES] = {"counters.by_name", "samples"},
    [COUNTER] = {"counters.by_name", "counter"},
    [COUNT] = {"instants.by_name", "count"},
    [NAME] = {"instants.by_name", "name"},
    [ASYNC_TOTAL] = {"asyncs.by_name", "total_ns"},
    [ASYNC_COUNT] = {"asyncs.by_name", "count"},
    [ASYNC_NAME] = {"asyncs.by_name", "name"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const size_t row = ta_ref_largest(in, SAMPLES), instant = ta_ref_largest(in, COUNT);
    const size_t span = ta_ref_largest(in, ASYNC_TOTAL);
    char low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX], n[TA_UNIT_TEXT_MAX];
    if (row != SIZE_MAX) {
        const struct ta_slice name = ta_line_name(line, ta_ref_text(in, COUNTER, row), NAME_MOST);
        ta_say(line, "Only counters were recorded: %.*s runs from %s to %s.", (int)name.len,
               name.ptr, ta_unit_format(low, ta_ref_number(in, MIN, row, NAN), TA_UNIT_NONE),
               ta_unit_format(high, ta_ref_number(in, MAX, row, NAN), TA_UNIT_NONE));
    } else if (span != SIZE_MAX) {
        const struct ta_slice name =
            ta_line_name(line, ta_ref_text(in, ASYNC_NAME, span), NAME_MOST);
        ta_say(line, "Only asynchronous spans were recorded: %.*s takes most, %s in %s of them.",
               (int)name.len, name.ptr,
               ta_unit_format(low, ta_ref_number(in, ASYNC_TOTAL, span, NAN), TA_UNIT_NS),
               ta_unit_format(n, ta_ref_number(in, ASYNC_COUNT, span, NAN), TA_UNIT_COUNT));
    } else if (instant != SIZE_MAX) {
        const struct ta_slice name = ta_line_name(line, ta_ref_text(in, NAME, instant), NAME_MOST);
        ta_say(line, "Only instants were recorded: %.*s %s times.", (int)name.len, name.ptr,
               ta_unit_format(n, ta_ref_number(in, COUNT, instant, NAN), TA_UNIT_COUNT));
    }
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 7, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, recorded, &ops, .title = "Counters",
          .summary = "Counters, asynchronous spans or instants, where nothing else was recorded",
          .version = "1");
