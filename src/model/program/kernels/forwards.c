/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/kernels/search.h"

int64_t search_time(const struct search *s, size_t from, size_t to)
{
    int64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += ta_beat_dur(s->beats, s->beats->strong[i]);
    return sum;
}

size_t search_attention(const struct search *s, struct ta_stretch call)
{
    size_t n = 0;
    for (size_t i = call.from; i < call.to; i++)
        n += beat_attends(search_beat(s, i));
    return n;
}

#define REGULAR 0.6

int64_t calls_time(struct search *s, struct begin first)
{
    int64_t time = 0;
    calls_list(s, first);
    const double regular = s->failed ? 0 : calls_regularity(s);
    for (size_t i = 0; i < s->calls.n; i++)
        calls_trim(s, &s->calls.at[i]);
    for (size_t i = 0; i < s->calls.n && regular >= REGULAR; i++)
        if (search_attention(s, s->calls.at[i]))
            time += search_time(s, s->calls.at[i].from, s->calls.at[i].to);
    return time;
}

bool calls_keep(struct search *s)
{
    struct ta_stretch *kept = calloc(s->calls.n + 1, sizeof *kept);
    if (!kept)
        return false;
    memcpy(kept, s->calls.at, s->calls.n * sizeof *kept);
    free(s->out->at);
    s->out->at = kept;
    s->out->n = s->calls.n;
    return true;
}

/* Embeddings are believed where the calls that they begin hold so much of the attention. */
enum { EMBEDDED_PART = 3 };

static bool holds_attention(const struct search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->out->n; i++)
        n += search_attention(s, s->out->at[i]);
    return EMBEDDED_PART * n >= s->beats->attention;
}

static void find_calls(struct search *s)
{
    if (embeddings_try(s) && holds_attention(s))
        return;
    if (!s->failed)
        levels_try(s, walls_longest_stretch(s));
    if (!s->failed && s->out->n == 0)
        levels_try(s, (struct ta_stretch){0, s->beats->n_strong});
}

bool ta_forwards_find(const struct ta_beats *beats, struct ta_forwards *forwards)
{
    struct search s = {.beats = beats, .out = forwards};
    *forwards = (struct ta_forwards){0};
    s.counts = calloc(beats->n_symbols + 1, sizeof *s.counts);
    s.failed = !s.counts;
    if (!s.failed)
        walls_find(&s);
    if (!s.failed)
        find_calls(&s);
    if (s.walls.n > 0)
        walls_clip(&s);
    forwards->walls = s.walls.at;
    forwards->n_walls = s.walls.n;
    free(s.calls.at);
    free(s.begins.at);
    free(s.counts);
    if (s.failed)
        ta_forwards_free(forwards);
    return !s.failed;
}

void ta_forwards_free(struct ta_forwards *forwards)
{
    free(forwards->walls);
    free(forwards->at);
    *forwards = (struct ta_forwards){0};
}
