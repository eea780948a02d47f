/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many denoising steps a cache answered, after the pace of the run. */
#include "lib/step_caches.h"

#include <traceanalyze/headline.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CACHE, STEPS, CACHED, ACHIEVED, POSSIBLE };
static const struct ta_ref reads[] = {
    [CACHE] = {"caches.speedup", "cache"},       [STEPS] = {"caches.speedup", "steps"},
    [CACHED] = {"caches.speedup", "cached"},     [ACHIEVED] = {"caches.speedup", "achieved"},
    [POSSIBLE] = {"caches.speedup", "possible"},
};

/* What fits a sentence. */
enum { NAME_MOST = 40 };

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const size_t row = ta_ref_largest(in, CACHED);
    const double steps = row == SIZE_MAX ? NAN : ta_ref_number(in, STEPS, row, NAN);
    const double cached = row == SIZE_MAX ? 0 : ta_ref_number(in, CACHED, row, 0);
    if (ta_line_is_empty(line) || isnan(steps) || !(cached > 0) ||
        (worst && strncmp(worst->id, "step-cache", strlen("step-cache")) == 0))
        return;
    const struct ta_slice name = ta_line_name(line, ta_ref_text(in, CACHE, row), NAME_MOST);
    const double achieved = ta_ref_number(in, ACHIEVED, row, NAN);
    ta_say(line, "%s%.*s answers %.0f of %.0f steps",
           ta_is_step_cache(name) ? "" : "The step cache of ", (int)name.len, name.ptr, cached,
           steps);
    if (achieved > 1.02)
        ta_say_on(line, ": %.2f times as fast as without.", achieved);
    else if (isnan(achieved))
        ta_say_on(line, ": at most %.2f times as fast as without.",
                  ta_ref_number(in, POSSIBLE, row, 1));
    else
        ta_say_on(line, ", which makes them no faster.");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_PROGRESS, .place = 9, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, step_caches, &ops, .title = "Step caches",
          .summary = "How many denoising steps a cache answered", .version = "1");
