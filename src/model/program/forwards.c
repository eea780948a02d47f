/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/forwards.h"

#include "base/hash.h"
#include "base/vec.h"
#include "model/program/levels.h"

#include <stdlib.h>

enum {
    WINDOW_MOST = 1 << 18, /* strong beats in which levels are looked for */
    SIDE = 5,              /* strong beats of a seam on each side */
    SIDE_LEAST = 4,        /* of which so many must be there */
    RESYNC = 4,            /* beats that may be missing or strange in a row */
    AGAIN = 3,             /* and how many must agree after them */
    AGAIN_LAID = 2,        /* likewise where a call is known to begin or end */
    BASES_MOST = 24,
    LEVELS_TRIED = 8,
    MODELS_MOST = 8, /* kinds of calls that others are laid over */
    LEAST_ATTENTION = 4
};

struct seam {
    uint32_t before[SIDE], after[SIDE];
};

struct begin {
    size_t at;
    bool is_seam; /* another call ends there */
};

struct search {
    const struct ta_beats *beats;
    struct ta_forwards *out;
    TA_VEC(struct ta_stretch) walls;
    TA_VEC(struct begin) begins;
    TA_VEC(struct ta_stretch) calls;
    struct ta_stretch models[MODELS_MOST];
    size_t n_models;
    struct seam seam;
    int64_t time;     /* of the calls found so far */
    bool is_embedded; /* calls begin where they embed a time step */
    uint32_t *counts; /* of symbols, all 0 between uses */
    bool failed;
};

static const struct ta_beat *strong(const struct search *s, size_t i)
{
    return &s->beats->at[s->beats->strong[i]];
}

static uint32_t symbol(const struct search *s, size_t i)
{
    return strong(s, i)->symbol;
}

/* ---- walls ----------------------------------------------------------------------------------- */

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

static bool attends(const struct ta_beat *beat)
{
    return beat->kind == TA_KERNEL_ATTENTION || beat->kind == TA_KERNEL_SOFTMAX;
}

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

static void find_walls(struct search *s)
{
    struct run run = {0};
    for (size_t i = 0; i < s->beats->n_strong; i++) {
        const struct ta_beat *beat = strong(s, i);
        if (beat->kind == TA_KERNEL_CONV) {
            add_convolution(s, &run, i);
            continue;
        }
        run.products += beat->kind == TA_KERNEL_GEMM;
        run.attention += attends(beat);
        run.debt += attends(beat) ? WALL_EACH : 0;
        if (run.n && (run.products > WALL_PRODUCTS || run.debt > WALL_ATTENTION * WALL_EACH))
            end_run(s, &run);
        run.debt = run.n ? run.debt : 0;
    }
    end_run(s, &run);
}

/* Whether most of one lies between; calls may cut through a run of convolutions. */
static bool has_wall(const struct search *s, size_t from, size_t to)
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

static int64_t time_of(const struct search *s, size_t from, size_t to)
{
    int64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += ta_beat_dur(s->beats, s->beats->strong[i]);
    return sum;
}

/* What lies between two walls and takes longest. */
static struct ta_stretch longest_stretch(const struct search *s)
{
    struct ta_stretch best = {0, 0};
    int64_t most = -1;
    for (size_t w = 0, from = 0; w <= s->walls.n; w++) {
        const size_t to = w < s->walls.n ? s->walls.at[w].from : s->beats->n_strong;
        const int64_t time = time_of(s, from, to);
        if (time > most) {
            most = time;
            best = (struct ta_stretch){from, to};
        }
        from = w < s->walls.n ? s->walls.at[w].to : 0;
    }
    return best;
}

/* ---- in step --------------------------------------------------------------------------------- */

/* Two places in the sequence that move together, forward or back; `a` and `b` are where both have
 * come, and neither passes its limit. */
struct pair {
    size_t a, b, a_limit, b_limit;
    bool back;
    size_t again; /* beats that must agree after others; 0: AGAIN */
};

static bool has_left(const struct pair *p, size_t a, size_t b)
{
    return p->back ? p->a >= p->a_limit + a && p->b >= p->b_limit + b
                   : p->a + a <= p->a_limit && p->b + b <= p->b_limit;
}

/* Whether `n` beats agree after `da` and `db`. */
static bool agrees(const struct search *s, const struct pair *p, size_t da, size_t db, size_t n)
{
    if (!has_left(p, da + n, db + n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (p->back ? symbol(s, p->a - da - i - 1) != symbol(s, p->b - db - i - 1)
                    : symbol(s, p->a + da + i) != symbol(s, p->b + db + i))
            return false;
    return true;
}

static void move(struct pair *p, size_t a, size_t b)
{
    p->a = p->back ? p->a - a : p->a + a;
    p->b = p->back ? p->b - b : p->b + b;
}

static bool step_over(const struct search *s, struct pair *p)
{
    for (size_t sum = 1; sum <= 2 * RESYNC; sum++)
        for (size_t da = sum > RESYNC ? sum - RESYNC : 0; da <= sum && da <= RESYNC; da++)
            if (agrees(s, p, da, sum - da, p->again ? p->again : AGAIN)) {
                move(p, da, sum - da);
                return true;
            }
    return false;
}

static void walk(const struct search *s, struct pair *p)
{
    while (agrees(s, p, 0, 0, 1) || step_over(s, p))
        move(p, 1, 1);
}

/* ---- seams ----------------------------------------------------------------------------------- */

/* Longest common subsequence of a side of the seam and what is there, one beat more. */
static int common(const struct search *s, const uint32_t *side, size_t from, size_t to)
{
    int row[SIDE + 1] = {0};
    for (size_t i = from; i < to; i++) {
        const uint32_t here = symbol(s, i);
        int diagonal = 0;
        for (int k = 1; k <= SIDE; k++) {
            const int above = row[k];
            row[k] = here == side[k - 1] ? diagonal + 1 : row[k] > row[k - 1] ? row[k] : row[k - 1];
            diagonal = above;
        }
    }
    return row[SIDE];
}

/* 0 where the seam is not. */
static int likeness(const struct search *s, const struct seam *seam, size_t at, bool heads)
{
    const bool begins = symbol(s, at) == seam->after[0];
    const bool ends = at > 0 && symbol(s, at - 1) == seam->before[SIDE - 1];
    if (heads ? !begins : !begins && !ends)
        return 0;
    const size_t n = s->beats->n_strong;
    const int before = common(s, seam->before, at > SIDE ? at - SIDE - 1 : 0, at);
    if (before < SIDE_LEAST && !heads)
        return 0;
    const int after = common(s, seam->after, at, at + SIDE + 1 < n ? at + SIDE + 1 : n);
    return after < SIDE_LEAST ? 0 : 2 * (before + after) + begins + ends;
}

/* Whether what is before a head ends a call, full or short. */
static bool ends_call(const struct search *s, const struct seam *seam, size_t at)
{
    return at > 0 && (symbol(s, at - 1) == seam->before[SIDE - 1] ||
                      common(s, seam->before, at > SIDE ? at - SIDE - 1 : 0, at) > SIDE / 2);
}

/* Lists where the seam is; with `heads` where its second half is, whatever is before. */
static void find_seams(struct search *s, const struct seam *seam, bool heads)
{
    int best = 0;
    size_t at = 0;
    s->begins.n = 0;
    for (size_t i = 0; i <= s->beats->n_strong; i++) {
        const int like = i < s->beats->n_strong ? likeness(s, seam, i, heads) : 0;
        if (best && (i > at + SIDE || i == s->beats->n_strong)) {
            const struct begin begin = {at, !heads || ends_call(s, seam, at)};
            s->failed |= !ta_vec_push(&s->begins, begin);
            best = 0;
        }
        if (like > best) {
            best = like;
            at = i;
        }
    }
}

static struct seam seam_at(const struct search *s, size_t at)
{
    struct seam seam;
    for (size_t k = 0; k < SIDE; k++) {
        seam.before[k] = symbol(s, at - SIDE + k);
        seam.after[k] = symbol(s, at + k);
    }
    return seam;
}

static bool fits(const struct search *s, size_t at)
{
    return at >= SIDE && at + SIDE <= s->beats->n_strong;
}

/* Of the places the one whose seam most of the others have. */
static size_t most_common(const struct search *s, const size_t *places, size_t n)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const struct seam seam = seam_at(s, places[i]);
        size_t same = 0;
        for (size_t k = 0; k < n; k++) {
            const struct seam other = seam_at(s, places[k]);
            same += memcmp(&seam, &other, sizeof seam) == 0;
        }
        if (same > most) {
            most = same;
            best = i;
        }
    }
    return places[best];
}

/* Weak beats before a strong one. */
static size_t weak_before(const struct search *s, size_t i)
{
    return i ? s->beats->strong[i] - s->beats->strong[i - 1] - 1 : 0;
}

/* The strong beat in (from, to] before which most weak ones are: a scheduler. */
static size_t most_weak(const struct search *s, size_t from, size_t to)
{
    size_t best = to;
    for (size_t i = from + 1; i <= to; i++)
        if (weak_before(s, i) > weak_before(s, best))
            best = i;
    return best;
}

/* The places seem to begin a few beats too early where what is before the first call ends like one,
 * and too late where something was lost.  They begin where most weak beats are before them. */
static int beats_too_early(const struct search *s, const size_t *places, size_t n)
{
    enum { EARLY_MOST = 3, LATE_MOST = 8 };
    int best = 0;
    size_t most = 0;
    for (int later = 0; later >= -LATE_MOST; later = later > 0 && later < EARLY_MOST ? later + 1
                                                     : later == EARLY_MOST           ? -1
                                                     : later == 0                    ? 1
                                                                                     : later - 1) {
        size_t weak = 0;
        for (size_t i = 0; i < n; i++) {
            if (later < 0 && places[i] < (size_t)-later)
                continue; /* before the first beat */
            const size_t at = (size_t)((ssize_t)places[i] + later);
            weak += fits(s, at) ? weak_before(s, at) : 0;
        }
        if (later < 0 ? weak > 2 * most + 1 : weak > most) {
            most = weak;
            best = later;
        }
    }
    return best;
}

static int by_size(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* The earliest start that some of the bases agree on.  Only a few go further back, where several
 * images are alike from their encoders on. */
static size_t usual_start(size_t *starts, size_t n)
{
    enum { SOME = 5 };
    qsort(starts, n, sizeof *starts, by_size);
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        while (i + same < n && starts[i + same] <= starts[i] + 2)
            same++;
        if (same * SOME >= n)
            return starts[i];
    }
    return starts[0];
}

/* Where the first call of the stretch begins, as `first`, and a place like that between two calls.
 * False where bases are not alike before. */
static bool find_seam(const struct search *s, struct ta_stretch window,
                      const struct ta_level *level, struct begin *first, size_t *at)
{
    const size_t n = level->count < BASES_MOST ? level->count : BASES_MOST;
    size_t start, places[BASES_MOST], found = 0;
    for (size_t i = 1; i < n; i++) {
        struct pair p = {level->base[0], level->base[i], window.from, window.from, true};
        walk(s, &p);
        places[i - 1] = p.a;
    }
    start = usual_start(places, n - 1);
    for (size_t i = 1; i < n; i++) {
        struct pair p = {level->base[0], level->base[i], start, window.from, true};
        walk(s, &p);
        if (p.a <= start + 1 && fits(s, p.b))
            places[found++] = p.b;
    }
    if (found == 0)
        return false;
    int later = beats_too_early(s, places, found);
    if (later < 0 && start < window.from + (size_t)-later)
        later = 0;
    for (size_t i = 0; i < found; i++)
        places[i] = (size_t)((ssize_t)places[i] + later);
    *first = (struct begin){(size_t)((ssize_t)start + later), false};
    *at = most_common(s, places, found);
    return fits(s, *at);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static size_t attention_of(const struct search *s, struct ta_stretch call)
{
    size_t n = 0;
    for (size_t i = call.from; i < call.to; i++)
        n += attends(strong(s, i));
    return n;
}

/* Whether two calls agree from their beginnings to their ends. */
static bool covers(const struct search *s, struct ta_stretch call, struct ta_stretch model)
{
    struct pair p = {call.from, model.from, call.to, model.to, false};
    walk(s, &p);
    return p.b + 2 >= model.to && p.a + 2 >= call.to;
}

/* Kinds of calls between two seams, the most frequent of each length first. */
static void find_models(struct search *s)
{
    s->n_models = 0;
    for (size_t i = 0; i + 1 < s->begins.n && s->n_models < MODELS_MOST; i++) {
        const struct ta_stretch call = {s->begins.at[i].at, s->begins.at[i + 1].at};
        if (!s->begins.at[i + 1].is_seam || has_wall(s, call.from, call.to))
            continue;
        bool known = false;
        for (size_t m = 0; m < s->n_models && !known; m++)
            known = covers(s, call, s->models[m]);
        if (!known)
            s->models[s->n_models++] = call;
    }
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
        walk(s, &p);
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
        walk(s, &p);
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
static bool is_head(const struct search *s, size_t at)
{
    const size_t n = s->beats->n_strong;
    return common(s, s->seam.after, at, at + SIDE + 1 < n ? at + SIDE + 1 : n) > SIDE / 2;
}

/* Where a call ends that is like none to the end: after the most that it has in common with one.
 */
static size_t partial_end(const struct search *s, size_t from, size_t to)
{
    size_t best = 0, most = 0;
    for (size_t m = 0; m < s->n_models; m++) {
        const struct ta_stretch model = s->models[m];
        struct pair p = {from, model.from, to, model.to, false, AGAIN_LAID};
        walk(s, &p);
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
    while (between.from < between.to && (s->calls.n == n || is_head(s, between.from)) &&
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
        if (!is_head(s, s->calls.at[i].from))
            return false;
    return true;
}

/* What lies between two beginnings: a call; or, with a lost seam, several; or the last of an image,
 * what decodes and encodes, and the first of the next. */
static void add_between(struct search *s, struct begin begin, struct begin next)
{
    const size_t n = s->calls.n, length = next.at - begin.at;
    const bool wall = has_wall(s, begin.at, next.at);
    const struct ta_stretch between = {begin.at, next.at};
    const struct ta_stretch left = lay_models(
        s, between, next.is_seam, wall || !next.is_seam ? SIZE_MAX : length - length / 16);
    const bool both = left.from > between.from && left.to < between.to && begin_like_calls(s, n);
    if (wall || !next.is_seam || both ||
        (left.from > between.from && left.to - left.from <= SIDE)) {
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

static void list_calls(struct search *s, struct begin first)
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

/* A scheduler may have products of its own, which its first step lacks: so many strong beats at the
 * end, after so many weak ones, are not of the call. */
enum { SCHEDULER_STRONG = 6, SCHEDULER_WEAK = 3 };

/* The weak beats before a strong one, as one number. */
static uint64_t weak_hash(const struct search *s, size_t i)
{
    uint64_t hash = 0;
    for (size_t k = weak_before(s, i); k > 0; k--)
        hash = ta_hash_mix(hash + s->beats->at[s->beats->strong[i] - k].symbol + 1);
    return hash;
}

/* Whether the same weak beats come before an earlier strong one of the call. */
static bool is_of_model(const struct search *s, struct ta_stretch call, size_t at)
{
    const uint64_t hash = weak_hash(s, at);
    for (size_t i = call.from + 1; i < at; i++)
        if (weak_before(s, i) == weak_before(s, at) && weak_hash(s, i) == hash)
            return true;
    return false;
}

static void trim_call(struct search *s, struct ta_stretch *call)
{
    for (size_t m = 0; m < s->n_models; m++) {
        const struct ta_stretch model = s->models[m];
        struct pair p = {call->from, model.from, call->to, model.to, false};
        walk(s, &p);
        if (p.b + 2 < model.to || call->to > p.a + SCHEDULER_STRONG)
            continue;
        size_t end = p.a + (model.to - p.b);
        while (end < call->to &&
               (weak_before(s, end) < SCHEDULER_WEAK || is_of_model(s, *call, end)))
            end++;
        call->to = end < call->to ? end : call->to;
    }
}

/* How often a call embeds a time step; with attention between, it is several calls. */
static size_t embeddings_of(const struct search *s, struct ta_stretch call)
{
    size_t n = 0;
    bool attended = true;
    for (size_t i = call.from; i < call.to; i++) {
        const struct ta_beat *beat = strong(s, i);
        n += beat->signs & TA_BEAT_SINE && attended;
        attended = beat->signs & TA_BEAT_SINE ? false : attended || attends(beat);
    }
    return n;
}

/* Whether two calls have nine of ten strong beats in common, in whatever order. */
static bool resembles(struct search *s, struct ta_stretch call, struct ta_stretch model)
{
    size_t same = 0;
    for (size_t i = call.from; i < call.to; i++)
        s->counts[symbol(s, i)]++;
    for (size_t i = model.from; i < model.to; i++)
        if (s->counts[symbol(s, i)]) {
            s->counts[symbol(s, i)]--;
            same++;
        }
    for (size_t i = call.from; i < call.to; i++)
        s->counts[symbol(s, i)] = 0;
    const size_t a = call.to - call.from, b = model.to - model.from;
    return 10 * same >= 9 * (a > b ? a : b);
}

/* Where calls begin is sure, what was lost in them matters less. */
static bool is_like(struct search *s, struct ta_stretch call, struct ta_stretch model)
{
    return covers(s, call, model) || (s->is_embedded && resembles(s, call, model));
}

/* Part of the calls that are like another one. */
static double regularity(struct search *s)
{
    size_t alike = 0, attention = 0, several = 0;
    for (size_t i = 0; i < s->calls.n; i++) {
        several += embeddings_of(s, s->calls.at[i]) > 1;
        bool known = false;
        for (size_t m = 0; m < s->n_models && !known; m++)
            known = s->models[m].from != s->calls.at[i].from &&
                    is_like(s, s->calls.at[i], s->models[m]);
        alike += known;
        const size_t n = attention_of(s, s->calls.at[i]);
        attention = n > attention ? n : attention;
    }
    for (size_t m = 0; m < s->n_models; m++) { /* themselves, where another is like them */
        size_t same = 0;
        for (size_t i = 0; i < s->calls.n && same < 2; i++)
            same += is_like(s, s->calls.at[i], s->models[m]);
        alike += same == 2;
    }
    return s->calls.n < 2 || attention < LEAST_ATTENTION || 2 * several > s->calls.n
               ? 0
               : (double)alike / (double)s->calls.n;
}

#define REGULAR 0.6

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

/* The time of the calls from the beginnings that were found; 0 where they are not alike. */
static int64_t time_of_calls(struct search *s, struct begin first)
{
    int64_t time = 0;
    list_calls(s, first);
    const double regular = s->failed ? 0 : regularity(s);
    for (size_t i = 0; i < s->calls.n; i++)
        trim_call(s, &s->calls.at[i]);
    for (size_t i = 0; i < s->calls.n && regular >= REGULAR; i++)
        if (attention_of(s, s->calls.at[i]))
            time += time_of(s, s->calls.at[i].from, s->calls.at[i].to);
    return time;
}

/* The time of the calls that this seam gives; 0 where they are not alike.  Where calls begin as
 * nothing else does, and about as often as the level comes, it counts in full: short calls, which
 * end otherwise than others, are found too. */
static int64_t try_seam(struct search *s, struct ta_stretch window, const struct ta_level *level,
                        struct begin first, size_t at)
{
    const struct seam seam = s->seam = seam_at(s, at);
    find_seams(s, &seam, false);
    if (seams_in(s, window) > SEAMS_MOST * level->count)
        return 0;
    find_seams(s, &seam, true);
    const bool distinct = 10 * seams_in(s, window) <= 13 * level->count + 20;
    if (!distinct)
        find_seams(s, &seam, false);
    const int64_t time = time_of_calls(s, first);
    return distinct ? time : time / 5 * 4;
}

/* A finer level must explain so much more. */
#define BETTER 1.1

static bool keep_calls(struct search *s)
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

/* Keeps the calls of a level if they explain `better` times as much as those before. */
static void try_level(struct search *s, struct ta_stretch window, const struct ta_level *level,
                      double better)
{
    struct begin first;
    size_t at;
    if (!find_seam(s, window, level, &first, &at))
        return;
    const int64_t time = try_seam(s, window, level, first, at);
    const bool keeps = (double)time > better * (double)s->time;
    if (keeps) {
        s->time = time;
        s->out->confidence = (double)level->support / (double)(level->support + 1);
        s->failed |= !keep_calls(s);
    }
    /* A recording that begins in the middle of a call: the seam is where the scheduler runs. */
    const size_t weak = most_weak(s, level->base[0], level->base[1]);
    if (first.at >= window.from + 2 || 2 * weak_before(s, at) >= weak_before(s, weak) ||
        !fits(s, weak) || !keeps)
        return;
    const int64_t other = try_seam(s, window, level, (struct begin){weak, true}, weak);
    if (other >= time) {
        s->time = other;
        s->failed |= !keep_calls(s);
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

static void try_window(struct search *s, struct ta_stretch window)
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

/* ---- embeddings ------------------------------------------------------------------------------ */

/* A call embeds the time step once, before any attention: a sine after a power, so many beats at
 * most. */
enum { EMBEDS_WITHIN = 8, EMBEDDINGS_LEAST = 2 };

static bool embeds_time(const struct search *s, size_t i)
{
    const size_t at = s->beats->strong[i];
    if (!(s->beats->at[at].signs & TA_BEAT_SINE))
        return false;
    for (size_t k = 0; k <= EMBEDS_WITHIN && k <= at; k++)
        if (s->beats->at[at - k].signs & TA_BEAT_POWER)
            return true;
    return false;
}

/* The first sine of each embedding; between two of them there is another product or attention. */
static size_t list_embeddings(const struct search *s, uint32_t *places)
{
    size_t n = 0;
    bool other = true;
    for (size_t i = 0; i < s->beats->n_strong; i++) {
        const bool sine = strong(s, i)->signs & TA_BEAT_SINE;
        if (sine && other && embeds_time(s, i))
            places[n++] = (uint32_t)i;
        other = !sine && (other || strong(s, i)->kind == TA_KERNEL_GEMM || attends(strong(s, i)));
    }
    return n;
}

/* How many strong beats are alike before two places, without attention. */
static size_t alike_before(const struct search *s, size_t a, size_t b)
{
    enum { HEAD_MOST = 12 };
    size_t n = 0;
    while (n < HEAD_MOST && n < a && n < b && symbol(s, a - n - 1) == symbol(s, b - n - 1) &&
           !attends(strong(s, a - n - 1)))
        n++;
    return n;
}

/* How many strong beats a call has before its embedding: most calls have them in common with the
 * first one, which no other call is before. */
static size_t before_embedding(const struct search *s, const uint32_t *places, size_t n)
{
    size_t lengths[BASES_MOST], bases[BASES_MOST], found = 0, fit = 0;
    for (size_t i = 1; i < n && found < BASES_MOST; i++)
        lengths[found++] = alike_before(s, places[0], places[i]);
    qsort(lengths, found, sizeof *lengths, by_size);
    const size_t length = lengths[(found - 1) / 2];
    for (size_t i = 1; i < n && fit < BASES_MOST; i++)
        if (places[i] >= length)
            bases[fit++] = places[i] - length;
    const int later = beats_too_early(s, bases, fit);
    return later > 0 && (size_t)later <= length ? length - (size_t)later : length;
}

/* Beginnings of calls by embeddings; false where they are too near to the ends of the trace. */
static bool begin_by_embeddings(struct search *s, const uint32_t *places, size_t n)
{
    const size_t before = before_embedding(s, places, n);
    size_t bases[BASES_MOST], found = 0;
    for (size_t i = 1; i < n && found < BASES_MOST; i++)
        if (places[i] >= before && fits(s, places[i] - before))
            bases[found++] = places[i] - before;
    if (found == 0)
        return false;
    s->seam = seam_at(s, most_common(s, bases, found));
    s->begins.n = 0;
    for (size_t i = 0; i < n && !s->failed; i++) {
        const size_t at = places[i] > before ? places[i] - before : 0;
        const struct begin begin = {at, i > 0 && ends_call(s, &s->seam, at)};
        s->failed |= !ta_vec_push(&s->begins, begin);
    }
    return !s->failed;
}

/* Calls by the embeddings of their time steps. */
static bool try_embeddings(struct search *s)
{
    uint32_t *places = malloc((s->beats->n_strong + 1) * sizeof *places);
    s->failed |= !places;
    const size_t n = places ? list_embeddings(s, places) : 0;
    s->is_embedded = true;
    if (n >= EMBEDDINGS_LEAST && begin_by_embeddings(s, places, n)) {
        s->time = time_of_calls(s, s->begins.at[0]);
        if (s->time > 0)
            s->failed |= !keep_calls(s);
        s->out->confidence = (double)n / (double)(n + 1);
    }
    s->is_embedded = false;
    free(places);
    return s->out->n > 0;
}

/* Embeddings are believed where the calls that they begin hold so much of the attention. */
enum { EMBEDDED_PART = 3 };

static bool holds_attention(const struct search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->out->n; i++)
        n += attention_of(s, s->out->at[i]);
    return EMBEDDED_PART * n >= s->beats->attention;
}

static void find_calls(struct search *s)
{
    if (try_embeddings(s) && holds_attention(s))
        return;
    if (!s->failed)
        try_window(s, longest_stretch(s));
    if (!s->failed && s->out->n == 0)
        try_window(s, (struct ta_stretch){0, s->beats->n_strong});
}

/* ---- all ------------------------------------------------------------------------------------- */

/* What is left of walls without calls: calls without attention look like walls. */
static void clip_walls(struct search *s)
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

bool ta_forwards_find(const struct ta_beats *beats, struct ta_forwards *forwards)
{
    struct search s = {.beats = beats, .out = forwards};
    *forwards = (struct ta_forwards){0};
    s.counts = calloc(beats->n_symbols + 1, sizeof *s.counts);
    s.failed = !s.counts;
    if (!s.failed)
        find_walls(&s);
    if (!s.failed)
        find_calls(&s);
    if (s.walls.n > 0)
        clip_walls(&s);
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
