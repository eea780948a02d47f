/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large models are, where nothing was timed. */
#include <traceanalyze/headline.h>

enum { ALL, PARAMETERS, MODEL };
static const struct ta_ref reads[] = {
    [ALL] = {.scalar = "parameters"},
    [PARAMETERS] = {"models.parameters", "parameters"},
    [MODEL] = {"models.parameters", "model"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const size_t row = ta_ref_largest(in, PARAMETERS);
    const double n = ta_ref_scalar(in, ALL, 0);
    if (row == SIZE_MAX || !(n > 0))
        return;
    const struct ta_slice name = ta_line_name(line, ta_ref_text(in, MODEL, row), NAME_MOST);
    ta_say(line, "The models have %.3g %s parameters, most of them in %.*s; no time was recorded.",
           n >= 1e9 ? n / 1e9 : n / 1e6, n >= 1e9 ? "billion" : "million", (int)name.len, name.ptr);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 6, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, models, &ops, .title = "Models",
          .summary = "Size of models, where nothing was timed", .version = "1");
