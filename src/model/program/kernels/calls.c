/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls that beginnings give: those between two of them, and those that have one seam only. */
#include "model/program/kernels/search.h"

bool calls_cover(const struct search *s, struct ta_stretch call, struct ta_stretch model)
{
    struct pair p = {call.from, model.from, call.to, model.to, false};
    pair_walk(s, &p);
    return p.b + 2 >= model.to && p.a + 2 >= call.to;
}

/* Kinds of calls between two seams, the most frequent of each length first, and how many are of
 * each. */
static void find_models(struct search *s)
{
    s->n_models = 0;
    for (size_t i = 0; i + 1 < s->begins.n; i++) {
        const struct ta_stretch call = {s->begins.at[i].at, s->begins.at[i + 1].at};
        if (!s->begins.at[i + 1].is_seam || walls_between(s, call.from, call.to))
            continue;
        size_t m = 0;
        while (m < s->n_models && !calls_cover(s, call, s->models[m]))
            m++;
        if (m == s->n_models && m < MODELS_MOST) {
            s->models[s->n_models++] = call;
            s->members[m] = 0;
        }
        if (m < s->n_models)
            s->members[m]++;
    }
}

/* Whether what lies between two seams is what often does, and no layer. */
static bool is_usual(const struct search *s, struct ta_stretch between)
{
    enum { OFTEN = 4, LONG = 40 };
    for (size_t m = 0; m < s->n_models && between.to - between.from >= LONG; m++)
        if (OFTEN * s->members[m] >= s->begins.n && calls_cover(s, between, s->models[m]))
            return true;
    return false;
}

/* What may be missing where a call and a model are laid over each other. */
static size_t missing(struct ta_stretch model)
{
    const size_t tenth = (model.to - model.from) / 10;
    return tenth < 2 ? 2 : tenth < SIDE ? tenth : SIDE;
}

/* The end of a call that begins at `from`, by the longest model that fits and is shorter than
 * `shorter`; 0 where none does. */
static size_t end_of(const struct search *s, size_t from, size_t to, size_t shorter)
{
    size_t best = 0;
    for (size_t m = 0; m < s->n_models; m++) {
        const struct ta_stretch model = s->models[m];
        struct pair p = {from, model.from, to, model.to, false, AGAIN_LAID};
        if (model.to - model.from >= shorter)
            continue;
        pair_walk(s, &p);
        const size_t end = p.a + (model.to - p.b);
        if (p.b + missing(model) >= model.to && end <= to + 2 && end > best)
            best = end < to ? end : to;
    }
    return best;
}

/* Likewise where a call begins that ends at `to`; SIZE_MAX where no model fits. */
static size_t begin_of(const struct search *s, size_t from, size_t to, size_t shorter)
{
    size_t best = SIZE_MAX;
    for (size_t m = 0; m < s->n_models; m++) {
        const struct ta_stretch model = s->models[m];
        struct pair p = {to, model.to, from, model.from, true, AGAIN_LAID};
        if (model.to - model.from >= shorter)
            continue;
        pair_walk(s, &p);
        const size_t more = p.b - model.from;
        if (more <= missing(model) && p.a + 2 >= from + more &&
            (best == SIZE_MAX || p.a < best + more))
            best = p.a > from + more ? p.a - more : from;
    }
    return best;
}

static void add_call(struct search *s, size_t from, size_t to)
{
    if (from < to)
        s->failed |= !ta_vec_push(&s->calls, (struct ta_stretch){from, to});
}

static int by_from(const void *left, const void *right)
{
    const struct ta_stretch *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Whether something begins there as calls do, but for what was lost. */
bool calls_begin(const struct search *s, size_t at)
{
    const size_t n = s->beats->n_strong;
    return seam_common(s, s->seam.after, at, at + SIDE + 1 < n ? at + SIDE + 1 : n) > SIDE / 2;
}

/* Where a call ends that is like none to the end: after the most that it has in common with one.
 */
static size_t partial_end(const struct search *s, size_t from, size_t to)
{
    size_t best = 0, most = 0;
    for (size_t m = 0; m < s->n_models; m++) {
        const struct ta_stretch model = s->models[m];
        struct pair p = {from, model.from, to, model.to, false, AGAIN_LAID};
        pair_walk(s, &p);
        const size_t done = p.b - model.from;
        if (5 * done >= 3 * (model.to - model.from) && done > most) {
            most = done;
            best = p.a;
        }
    }
    return best;
}

/* Lays models over what lies between, from the left and, where a call ends there, from the right,
 * as often as they fit.  Returns what is left between. */
static struct ta_stretch lay_models(struct search *s, struct ta_stretch between, bool from_right,
                                    size_t shorter)
{
    const size_t n = s->calls.n;
    size_t begin, end;
    while (between.from < between.to && (s->calls.n == n || calls_begin(s, between.from)) &&
           (end = end_of(s, between.from, between.to, shorter)) > between.from) {
        add_call(s, between.from, end);
        between.from = end;
    }
    if (s->calls.n == n && shorter == SIZE_MAX &&
        (end = partial_end(s, between.from, between.to))) {
        add_call(s, between.from, end);
        between.from = end;
    }
    while (from_right && between.from < between.to &&
           (begin = begin_of(s, between.from, between.to, shorter)) < between.to) {
        add_call(s, begin, between.to);
        between.to = begin;
    }
    return between;
}

/* Whether the calls from the n-th on begin as calls do, where that is known. */
static bool begin_like_calls(const struct search *s, size_t n)
{
    for (size_t i = n; i < s->calls.n && s->is_embedded; i++)
        if (!calls_begin(s, s->calls.at[i].from))
            return false;
    return true;
}

/* What lies between two beginnings: a call; or, with a lost seam, several; or the last of an image,
 * what decodes and encodes, and the first of the next. */
static void add_between(struct search *s, struct begin begin, struct begin next)
{
    const size_t n = s->calls.n, length = next.at - begin.at;
    const bool wall = walls_between(s, begin.at, next.at);
    const struct ta_stretch between = {begin.at, next.at};
    const struct ta_stretch left = lay_models(
        s, between, next.is_seam, wall || !next.is_seam ? SIZE_MAX : length - length / 16);
    const bool usual = next.is_seam && !wall && is_usual(s, between);
    const bool both =
        left.from > between.from && left.to < between.to && begin_like_calls(s, n) && !usual;
    if (wall || !next.is_seam || both ||
        (!usual && left.from > between.from && left.to - left.from <= SIDE)) {
        if (s->calls.n > n && !wall && left.to - left.from <= SIDE && next.is_seam && !both)
            s->calls.at[s->calls.n - 1].to = next.at;
        if (!s->failed)
            qsort(s->calls.at + n, s->calls.n - n, sizeof *s->calls.at, by_from);
        return;
    }
    s->calls.n = n;
    add_call(s, begin.at, next.at);
}

static int by_place(const void *left, const void *right)
{
    const struct begin *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

/* The beginning of the first call, where nothing is a seam however much it looks like one. */
static void add_first(struct search *s, struct begin first)
{
    for (size_t i = 0; i < s->begins.n; i++) {
        const size_t at = s->begins.at[i].at;
        if (at < first.at ? first.at - at <= SIDE : at - first.at <= SIDE) {
            s->begins.at[i] = first;
            return;
        }
    }
    s->failed |= !ta_vec_push(&s->begins, first);
    if (!s->failed)
        qsort(s->begins.at, s->begins.n, sizeof *s->begins.at, by_place);
}

void calls_list(struct search *s, struct begin first)
{
    s->calls.n = 0;
    if (!first.is_seam)
        add_first(s, first);
    if (s->failed)
        return;
    find_models(s);
    if (s->begins.n == 0)
        return;
    if (s->begins.at[0].is_seam) {
        size_t to = s->begins.at[0].at, from;
        while (to > 0 && (from = begin_of(s, 0, to, SIZE_MAX)) < to) {
            add_call(s, from, to);
            to = from;
        }
        if (!s->failed && s->calls.n > 1)
            qsort(s->calls.at, s->calls.n, sizeof *s->calls.at, by_from);
    }
    for (size_t i = 0; i + 1 < s->begins.n; i++)
        add_between(s, s->begins.at[i], s->begins.at[i + 1]);
    const size_t last = s->begins.at[s->begins.n - 1].at;
    lay_models(s, (struct ta_stretch){last, s->beats->n_strong}, false, SIZE_MAX);
}
