/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stage that took most of the time, and what no stage was recorded for; where no stage says
 * anything, the time of a denoising step. */
#include <traceanalyze/headline.h>

#include "lib/sessions.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

enum {
    STEP_MEAN,
    SESSION_RANK,
    SESSION_KIND,
    MEMBERS,
    SHARE,
    MEAN_TOTAL,
    SHARE_OF,
    SOURCE,
    STAGE,
    CUT,
    LOOPS
};
static const struct ta_ref reads[] = {
    [STEP_MEAN] = {"diffusion.by_rank", "step_mean_ns"},
    [SESSION_RANK] = {"run.sessions", "rank"},
    [SESSION_KIND] = {"run.sessions", "kind"},
    [MEMBERS] = {"stages.over_ranks", "members"},
    [SHARE] = {"stages.over_ranks", "share"},
    [MEAN_TOTAL] = {"stages.over_ranks", "mean_total_ns"},
    [SHARE_OF] = {"stages.over_ranks", "share_of"},
    [SOURCE] = {"stages.over_ranks", "source"},
    [STAGE] = {"stages.over_ranks", "stage"},
    [CUT] = {.scalar = "fps_until_cut"},
    [LOOPS] = {"progress.bars", "elapsed_ns"},
};

/* What fits a sentence. */
enum { NAME_MOST = 80 };

/* Below this share a stage explains little. */
#define TELLING 0.2
/* Above this share none takes more. */
#define MOST_OF_IT 0.5
/* A lone stage of less than this share of what several parts take is not what to look at. */
#define RIVAL 0.5

/* The row with the largest value, SIZE_MAX without any; `lone`: of those that are not one stage in
 * several parts. */
static size_t largest(const struct ta_refs *in, size_t column, bool lone)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, MEMBERS); i++)
        if (!isnan(ta_ref_number(in, column, i, NAN)) &&
            !(lone && ta_ref_number(in, MEMBERS, i, NAN) > 1) &&
            (most == SIZE_MAX ||
             ta_ref_number(in, column, i, NAN) > ta_ref_number(in, column, most, NAN)))
            most = i;
    return most;
}

/* Reads as 100 %. */
#define ALL 0.9995

/* "vae_decode takes 66.1 % of the session (8.00 s of 12.1 s)." */
static void say_share(struct ta_line *line, const struct ta_refs *in, size_t row, const char *what)
{
    char words[SESSION_WORDS_MAX], total[TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX],
        whole[TA_UNIT_TEXT_MAX];
    const double ns = ta_ref_number(in, MEAN_TOTAL, row, NAN),
                 of = ta_ref_number(in, SHARE, row, NAN);
    ta_unit_format_compared(total, ns, ns / of, TA_UNIT_NS);
    ta_unit_format(share, of, TA_UNIT_RATIO);
    ta_unit_format_compared(whole, ns / of, ns, TA_UNIT_NS);
    const char *all = ta_share_words(in, SHARE_OF, row, SESSION_RANK, SESSION_KIND, words);
    if (ta_ref_reads(in, SHARE_OF, row, "sum") && of >= ALL)
        ta_say(line, "%s takes %s; no other stage was timed.", what, total);
    else if (ta_ref_reads(in, SHARE_OF, row, "sum"))
        ta_say(line, "%s takes %s of %s (%s).", what, share, all, total);
    else
        ta_say(line, "%s takes %s of %s (%s of %s).", what, share, all, total, whole);
}

/* Says it where it is more than any stage takes. */
static void say_unknown(struct ta_line *line, const struct ta_refs *in, double most)
{
    char share[TA_UNIT_TEXT_MAX], words[SESSION_WORDS_MAX];
    /* What of the session no stage was recorded for. */
    double sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, MEMBERS); i++) {
        const double part = ta_ref_number(in, SHARE, i, NAN);
        if (ta_ref_reads(in, SHARE_OF, i, "session") && !isnan(part))
            sum += part;
    }
    const double unknown = sum > 0 ? 1 - sum : 0;
    if (unknown > TELLING && unknown > most)
        ta_say(line, "No stage was recorded for %s of %s.",
               ta_unit_format(share, unknown, TA_UNIT_RATIO),
               ta_session_words(in, SESSION_RANK, SESSION_KIND, words));
}

static double loops_ns(const struct ta_refs *in)
{
    double sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, LOOPS); i++)
        sum += ta_ref_number(in, LOOPS, i, 0);
    return sum;
}

/* Returns the name that it says; empty when no stage is worth naming. */
static struct ta_slice say_stage(struct ta_line *line, const struct ta_refs *in)
{
    /* The stage with the largest share; without shares the one with the largest total. Batches and
     * chunks are the run itself, so they tell less than another part of about their size. */
    const size_t lone = largest(in, SHARE, true);
    size_t most = largest(in, SHARE, false);
    if (most == SIZE_MAX)
        most = largest(in, MEAN_TOTAL, false);
    else if (lone != SIZE_MAX && ta_ref_number(in, SHARE, lone, NAN) >= TELLING &&
             ta_ref_number(in, SHARE, lone, NAN) >= RIVAL * ta_ref_number(in, SHARE, most, NAN))
        most = lone;
    const double share = most == SIZE_MAX ? 0 : ta_ref_number(in, SHARE, most, NAN);
    /* Blocks and steps that are lost with the rest of a report may have taken more. */
    const bool is_cut = ta_ref_exists(in, CUT);
    if (most == SIZE_MAX || !(ta_ref_number(in, MEAN_TOTAL, most, NAN) > 0) || share < TELLING ||
        (is_cut && share < MOST_OF_IT)) {
        if (!is_cut)
            say_unknown(line, in, share);
        return (struct ta_slice){.len = 0};
    }
    char total[TA_UNIT_TEXT_MAX], what[NAME_MOST + 64];
    const struct ta_slice name = ta_line_name(line, ta_ref_text(in, STAGE, most), NAME_MOST);
    const double members = ta_ref_number(in, MEMBERS, most, NAN);
    if (members > 1)
        snprintf(what, sizeof what, "%.*s (%.0f stages)", (int)name.len, name.ptr, members);
    else
        snprintf(what, sizeof what, "%.*s", (int)name.len, name.ptr);
    if (ta_ref_reads(in, SOURCE, most, "blocks") || ta_ref_reads(in, SOURCE, most, "steps"))
        what[0] = (char)toupper((unsigned char)what[0]); /* a word, not a name */
    /* Where loops take the time, which are no stages, the only stage says little. */
    if (ta_ref_reads(in, SHARE_OF, most, "sum") && share >= 1 &&
        ta_ref_number(in, MEAN_TOTAL, most, NAN) < loops_ns(in))
        return (struct ta_slice){.len = 0};
    if (isnan(share)) {
        /* The iterations of a loop, of which a sentence before this one spoke. */
        if (!ta_line_is_empty(line) && ta_slice_ends(name, "/total"))
            return (struct ta_slice){.len = 0};
        ta_unit_format(total, ta_ref_number(in, MEAN_TOTAL, most, NAN), TA_UNIT_NS);
        ta_say(line, "%s takes most time: %s.", what, total);
        return name;
    }
    say_share(line, in, most, what);
    if (!is_cut)
        say_unknown(line, in, share);
    return name;
}

/* Whether a finding is of the stage that a sentence is about. */
static bool is_of_stage(const struct ta_finding *finding, struct ta_slice name)
{
    return name.len && strcmp(finding->rule, "stage_share") == 0 &&
           strncasecmp(finding->title, name.ptr, name.len) == 0 && finding->title[name.len] == ' ';
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const struct ta_slice stage = say_stage(line, in);
    if (stage.len == 0) {
        double slowest = NAN;
        for (size_t i = 0; i < ta_ref_rows(in, STEP_MEAN); i++)
            slowest = fmax(slowest, ta_ref_number(in, STEP_MEAN, i, NAN));
        char step[TA_UNIT_TEXT_MAX];
        if (!isnan(slowest))
            ta_say(line, "A denoising step takes %s.", ta_unit_format(step, slowest, TA_UNIT_NS));
    }
    if (worst && is_of_stage(worst, stage))
        ta_line_covers_finding(line);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_PROGRESS, .place = 2, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, stages, &ops, .title = "Stages",
          .summary = "The stage that took most of the time", .version = "1");
