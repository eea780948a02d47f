/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of convolutions: decoders and encoders of images. */
#include "model/program/kernels/search.h"

/* A decoder has more convolutions in a row than a denoiser made of convolutions and attention, and
 * they are a good part of its strong beats.  Few calls of attention may be among them: one is lost
 * again with every ten convolutions. */
enum {
    WALL_CONVOLUTIONS = 20,
    WALL_PART = 5,
    WALL_PRODUCTS = 10,
    WALL_ATTENTION = 3,
    WALL_EACH = 10
};

struct run {
    size_t first, last, end; /* its convolutions; the end of what surely is of it */
    size_t n, products, attention, debt;
};

static void add_convolution(const struct search *s, struct run *run, size_t i)
{
    const uint32_t *const at = s->beats->strong;
    run->first = run->n ? run->first : i;
    /* Of kernels that follow each other one does the work of another. */
    run->n += run->n == 0 || at[i] != at[run->last] + 1;
    /* A lone one after products may begin the next call. */
    run->end = run->products < 2 || run->attention || run->n < 2 ? i + 1 : run->last + 1;
    run->last = i;
    run->debt = run->debt ? run->debt - 1 : 0;
    run->products = run->attention = 0;
}

static void end_run(struct search *s, struct run *run)
{
    if (run->n >= WALL_CONVOLUTIONS && run->n * WALL_PART >= run->end - run->first)
        s->failed |= !ta_vec_push(&s->walls, (struct ta_stretch){run->first, run->end});
    *run = (struct run){0};
}

void walls_find(struct search *s)
{
    struct run run = {0};
    for (size_t i = 0; i < s->beats->n_strong; i++) {
        const struct ta_beat *beat = search_beat(s, i);
        if (beat->kind == TA_KERNEL_CONV) {
            add_convolution(s, &run, i);
            continue;
        }
        run.products += beat->kind == TA_KERNEL_GEMM;
        run.attention += beat_attends(beat);
        run.debt += beat_attends(beat) ? WALL_EACH : 0;
        if (run.n && (run.products > WALL_PRODUCTS || run.debt > WALL_ATTENTION * WALL_EACH))
            end_run(s, &run);
        run.debt = run.n ? run.debt : 0;
    }
    end_run(s, &run);
}

bool walls_between(const struct search *s, size_t from, size_t to)
{
    size_t low = 0, high = s->walls.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->walls.at[middle].to <= from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->walls.n && s->walls.at[low].from < to; low++) {
        const struct ta_stretch wall = s->walls.at[low];
        const size_t first = wall.from > from ? wall.from : from;
        const size_t end = wall.to < to ? wall.to : to;
        if (5 * (end - first) >= 3 * (wall.to - wall.from))
            return true;
    }
    return false;
}

struct ta_stretch walls_longest_stretch(const struct search *s)
{
    struct ta_stretch best = {0, 0};
    int64_t most = -1;
    for (size_t w = 0, from = 0; w <= s->walls.n; w++) {
        const size_t to = w < s->walls.n ? s->walls.at[w].from : s->beats->n_strong;
        const int64_t time = search_time(s, from, to);
        if (time > most) {
            most = time;
            best = (struct ta_stretch){from, to};
        }
        from = w < s->walls.n ? s->walls.at[w].to : 0;
    }
    return best;
}

void walls_clip(struct search *s)
{
    const size_t n = s->walls.n;
    size_t i = 0;
    for (size_t w = 0; w < n && !s->failed; w++) {
        const struct ta_stretch wall = s->walls.at[w];
        size_t from = wall.from;
        while (i < s->out->n && s->out->at[i].to <= from)
            i++;
        for (; i < s->out->n && s->out->at[i].from < wall.to; i++) {
            if (s->out->at[i].from >= from + WALL_CONVOLUTIONS)
                s->failed |= !ta_vec_push(&s->walls, (struct ta_stretch){from, s->out->at[i].from});
            from = s->out->at[i].to;
        }
        if (!s->failed && wall.to >= from + WALL_CONVOLUTIONS)
            s->failed |= !ta_vec_push(&s->walls, (struct ta_stretch){from, wall.to});
        i -= i > 0;
    }
    memmove(s->walls.at, s->walls.at + n, (s->walls.n - n) * sizeof *s->walls.at);
    s->walls.n -= n;
}
