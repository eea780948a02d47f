/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recompilations and graph breaks of a log, where it has nothing else. */
#include <traceanalyze/headline.h>

enum { NAME };
static const struct ta_ref reads[] = {
    [NAME] = {"run.happenings", "name"},
};

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    size_t recompilations = 0, breaks = 0;
    for (size_t row = 0; row < ta_ref_rows(in, NAME); row++) {
        recompilations += ta_ref_reads(in, NAME, row, "recompilation");
        breaks += ta_ref_reads(in, NAME, row, "graph break");
    }
    if (recompilations && breaks)
        ta_say(line, "The log has %zu recompilation%s and %zu graph break%s of torch.compile.",
               recompilations, recompilations > 1 ? "s" : "", breaks, breaks > 1 ? "s" : "");
    else if (recompilations || breaks)
        ta_say(line, "The log has %zu %s%s of torch.compile.", recompilations + breaks,
               breaks ? "graph break" : "recompilation", recompilations + breaks > 1 ? "s" : "");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 4, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, recompilations, &ops, .title = "Recompilations",
          .summary = "How many recompilations and graph breaks of torch.compile a log has",
          .version = "1");
