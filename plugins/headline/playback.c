/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether videos are made as fast as they play, and from when on they can be watched. */
#include <traceanalyze/headline.h>

#include <math.h>
#include <stdio.h>

enum { RANK, FRAMES, RATE, PLAYBACK, FACTOR, WAIT, READY };
static const struct ta_ref reads[] = {
    [RANK] = {"playback.by_video", "rank"},
    [FRAMES] = {"playback.by_video", "frames"},
    [RATE] = {"playback.by_video", "rate"},
    [PLAYBACK] = {"playback.by_video", "playback"},
    [FACTOR] = {"playback.by_video", "real_time_factor"},
    [WAIT] = {"playback.by_video", "wait_ns"},
    [READY] = {"playback.by_video", "ready"},
};

/* " on the slowest rank (2)", where there are others. */
static const char *rank_of(const struct ta_refs *in, size_t row, char text[48])
{
    text[0] = '\0';
    for (size_t i = 0; i < ta_ref_rows(in, RANK); i++)
        if (ta_ref_integer(in, RANK, i) != ta_ref_integer(in, RANK, row))
            snprintf(text, 48, " on the slowest rank (%.0f)", ta_ref_number(in, RANK, row, 0));
    return text;
}

/* From when on it plays is a figure. */
static void say_stream(struct ta_line *line, const struct ta_refs *in, size_t row,
                       const char *whose)
{
    char rate[TA_UNIT_TEXT_MAX], play[TA_UNIT_TEXT_MAX];
    ta_unit_format(rate, ta_ref_number(in, RATE, row, NAN), TA_UNIT_NONE);
    ta_unit_format(play, ta_ref_number(in, PLAYBACK, row, NAN), TA_UNIT_NONE);
    if (ta_ref_number(in, FACTOR, row, NAN) > 1)
        ta_say(line, "The video is made at %s frames/s%s, below the %s frames/s of real time.",
               rate, whose, play);
    else
        ta_say(line, "The video is made in real time: %s frames/s%s for %s played.", rate, whose,
               play);
}

/* Nothing of it can be shown before all of it is decoded. */
static void say_whole(struct ta_line *line, const struct ta_refs *in, size_t row, const char *whose)
{
    char rate[TA_UNIT_TEXT_MAX], play[TA_UNIT_TEXT_MAX], from[TA_UNIT_TEXT_MAX];
    const bool is_slow = ta_ref_number(in, FACTOR, row, NAN) > 1;
    ta_unit_format(rate, ta_ref_number(in, RATE, row, NAN), TA_UNIT_NONE);
    ta_unit_format(play, ta_ref_number(in, PLAYBACK, row, NAN), TA_UNIT_NONE);
    ta_unit_format(from, ta_ref_number(in, WAIT, row, NAN), TA_UNIT_NS);
    ta_say(line,
           "A video of %.0f frames can be watched after %s%s, when all of it is decoded: %s "
           "frames/s, %s the %s frames/s of real time.",
           ta_ref_number(in, FRAMES, row, 0), from, whose, rate, is_slow ? "below" : "above", play);
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const size_t slowest = ta_ref_largest(in, FACTOR);
    char whose[48];
    if (slowest == SIZE_MAX)
        return;
    rank_of(in, slowest, whose);
    if (ta_ref_reads(in, READY, slowest, "with the video"))
        say_whole(line, in, slowest, whose);
    else
        say_stream(line, in, slowest, whose);
    if (worst &&
        (strcmp(worst->rule, "frame_rate") == 0 || strcmp(worst->rule, "playback_start") == 0))
        ta_line_covers_finding(line);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_PROGRESS, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, playback, &ops, .title = "Playback",
          .summary = "Whether videos are made in real time, and from when on they play",
          .version = "1");
