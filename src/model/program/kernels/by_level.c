/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls by the levels of a loop: see forwards.h. */
#include "model/program/kernels/search.h"

#include "model/program/kernels/levels.h"

enum {
    WINDOW_MOST = 1 << 18, /* strong beats in which levels are looked for */
    LEVELS_TRIED = 8
};

/* So many seams for each time that the level comes: calls that guidance and a cache make different.
 * More are seams of layers, which a lost or strange beat led to. */
enum { SEAMS_MOST = 6 };

static size_t seams_in(const struct search *s, struct ta_stretch window)
{
    size_t n = 0;
    for (size_t i = 0; i < s->begins.n; i++)
        n += s->begins.at[i].at >= window.from && s->begins.at[i].at < window.to;
    return n;
}

/* The time of the calls that this seam gives; 0 where they are not alike.  Where calls begin as
 * nothing else does, and about as often as the level comes, it counts in full: short calls, which
 * end otherwise than others, are found too. */
static int64_t try_seam(struct search *s, struct ta_stretch window, const struct ta_level *level,
                        struct begin first, size_t at)
{
    const struct seam seam = s->seam = seam_at(s, at);
    seams_list(s, &seam, false);
    if (seams_in(s, window) > SEAMS_MOST * level->count)
        return 0;
    seams_list(s, &seam, true);
    const bool distinct = 10 * seams_in(s, window) <= 13 * level->count + 20;
    if (!distinct)
        seams_list(s, &seam, false);
    const int64_t time = calls_time(s, first);
    return distinct ? time : time / 10 * 9;
}

/* A finer level must explain so much more. */
#define BETTER 1.1

/* Keeps the calls of a level if they explain `better` times as much as those before. */
static void try_level(struct search *s, struct ta_stretch window, const struct ta_level *level,
                      double better)
{
    struct begin first;
    size_t at;
    if (!seam_find(s, window, level, &first, &at))
        return;
    const int64_t time = try_seam(s, window, level, first, at);
    const bool keeps = (double)time > better * (double)s->time;
    if (keeps) {
        s->time = time;
        s->out->confidence = (double)level->support / (double)(level->support + 1);
        s->failed |= !calls_keep(s);
    }
    /* A recording that begins in the middle of a call: the seam is where the scheduler runs. */
    const size_t weak = seam_most_weak(s, level->base[0], level->base[1]);
    if (first.at >= window.from + 2 ||
        2 * search_weak_before(s, at) >= search_weak_before(s, weak) || !seam_fits(s, weak) ||
        !keeps)
        return;
    const int64_t other = try_seam(s, window, level, (struct begin){weak, true}, weak);
    if (other >= time) {
        s->time = other;
        s->failed |= !calls_keep(s);
    }
}

static void try_levels(struct search *s, struct ta_stretch window, const struct ta_levels *levels)
{
    size_t most = 0, tried = 0;
    for (size_t i = 0; i < levels->n; i++)
        if (levels->at[i].coverage >= 0.5 && levels->at[i].support > most)
            most = levels->at[i].support;
    const size_t least = most / 5 > 4 ? most / 5 : 4;
    for (size_t i = 0; i < levels->n && tried < LEVELS_TRIED && !s->failed; i++) {
        const struct ta_level *level = &levels->at[i];
        if (level->coverage < 0.5 || level->support < least)
            continue;
        tried++;
        try_level(s, window, level, BETTER);
    }
}

void levels_try(struct search *s, struct ta_stretch window)
{
    struct ta_levels levels;
    if (window.to - window.from > WINDOW_MOST)
        window.to = window.from + WINDOW_MOST;
    if (window.to - window.from < 2)
        return;
    if (!ta_levels_find(s->beats, window.from, window.to, &levels)) {
        s->failed = true;
        return;
    }
    try_levels(s, window, &levels);
    ta_levels_free(&levels);
}
