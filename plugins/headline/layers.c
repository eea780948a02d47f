/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layer that takes most time. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { TOTAL, SHARE, LAYER };
static const struct ta_ref reads[] = {
    [TOTAL] = {"layers.by_name", "total_ns"},
    [SHARE] = {"layers.by_name", "share"},
    [LAYER] = {"layers.by_name", "layer"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const size_t row = ta_ref_largest(in, TOTAL);
    char share[TA_UNIT_TEXT_MAX], total[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX)
        return;
    if (worst && strcmp(worst->id, "layer-share") == 0)
        ta_line_covers_finding(line);
    const struct ta_slice name = ta_line_name(line, ta_ref_text(in, LAYER, row), NAME_MOST);
    ta_unit_format(total, ta_ref_number(in, TOTAL, row, NAN), TA_UNIT_NS);
    if (isnan(ta_ref_number(in, SHARE, row, NAN)))
        ta_say(line, "The layer %.*s takes %s.", (int)name.len, name.ptr, total);
    else
        ta_say(line, "The layer %.*s takes %s of the time in the layers (%s).", (int)name.len,
               name.ptr, ta_unit_format(share, ta_ref_number(in, SHARE, row, NAN), TA_UNIT_RATIO),
               total);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_WORK, .place = 4, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, layers, &ops, .title = "Layers", .summary = "The layer that takes most time",
          .version = "1");
