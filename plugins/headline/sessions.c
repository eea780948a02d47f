/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The length of the session, where nothing in it was timed. */
#include "lib/sessions.h"

#include <traceanalyze/headline.h>

#include <math.h>

enum { DUR, KIND };
static const struct ta_ref reads[] = {
    [DUR] = {"run.sessions", "dur_ns"},
    [KIND] = {"run.sessions", "kind"},
};

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const size_t row = ta_ref_largest(in, DUR);
    char time[TA_UNIT_TEXT_MAX];
    if (row != SIZE_MAX)
        ta_say(line, "The %s takes %s; nothing in it was timed.", ta_session_word(in, KIND),
               ta_unit_format(time, ta_ref_number(in, DUR, row, NAN), TA_UNIT_NS));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 9, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, sessions, &ops, .title = "Sessions",
          .summary = "Length of the session, where nothing was timed", .version = "1");
