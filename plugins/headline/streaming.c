/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many frames are streamed, and how many are dropped. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { FPS, DROPPED, FRAMES, DROP_RATIO };
static const struct ta_ref reads[] = {
    [FPS] = {"streaming.by_rank", "fps"},
    [DROPPED] = {"streaming.by_rank", "dropped"},
    [FRAMES] = {"streaming.by_rank", "frames"},
    [DROP_RATIO] = {"streaming.by_rank", "drop_ratio"},
};

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const size_t row = ta_ref_largest(in, DROP_RATIO), slow = ta_ref_largest(in, FPS);
    char text[TA_UNIT_TEXT_MAX], sent[TA_UNIT_TEXT_MAX], lost[TA_UNIT_TEXT_MAX];
    if (slow != SIZE_MAX)
        ta_say(line, "%s frames per second are streamed, as the profiler reports.",
               ta_unit_format(text, ta_ref_number(in, FPS, slow, NAN), TA_UNIT_NONE));
    if (row != SIZE_MAX)
        ta_say(line, "%s of %s streamed frames were dropped (%s).",
               ta_unit_format(lost, ta_ref_number(in, DROPPED, row, NAN), TA_UNIT_COUNT),
               ta_unit_format(
                   sent, ta_ref_number(in, FRAMES, row, NAN) + ta_ref_number(in, DROPPED, row, NAN),
                   TA_UNIT_COUNT),
               ta_unit_format(text, ta_ref_number(in, DROP_RATIO, row, NAN), TA_UNIT_RATIO));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 2, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, streaming, &ops, .title = "Streaming", .summary = "Frames streamed and dropped",
          .version = "1");
