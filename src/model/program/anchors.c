/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/anchors.h"

#include "base/hash.h"
#include "base/vec.h"
#include "model/program/forwards.h"

#include <stdlib.h>

/* A call of the denoiser: beats [from, to), from the first strong one to after the last, and
 * [begin, end) with weak ones before and after. */
struct forward {
    size_t from, to, begin, end;
    size_t attention, image, block;
    uint32_t kind;
    bool ends_image, ends_step;
};

struct work {
    struct ta_beats beats;
    struct ta_forwards found;
    struct forward *at;
    size_t n;
    TA_VEC(struct ta_anchor_call) calls;
    TA_VEC(struct ta_anchor_step) steps;
    struct ta_anchors *out;
    bool failed;
};

static bool attends(const struct ta_beat *beat)
{
    return beat->kind == TA_KERNEL_ATTENTION || beat->kind == TA_KERNEL_SOFTMAX;
}

/* ---- images ---------------------------------------------------------------------------------- */

/* So many strong beats between two calls are the work of another model. */
enum { OTHER_MODEL = 12 };

static size_t strong_between(const struct work *w, size_t i)
{
    return i + 1 < w->n ? w->found.at[i + 1].from - w->found.at[i].to : SIZE_MAX;
}

static void list_forwards(struct work *w)
{
    const struct ta_beats *b = &w->beats;
    size_t image = 0;
    for (size_t i = 0; i < w->n; i++) {
        struct forward *f = &w->at[i];
        f->from = b->strong[w->found.at[i].from];
        f->to = (size_t)b->strong[w->found.at[i].to - 1] + 1;
        f->image = image;
        f->ends_image = strong_between(w, i) >= OTHER_MODEL;
        image += f->ends_image;
        for (size_t k = f->from; k < f->to; k++)
            f->attention += attends(&b->at[k]);
    }
    w->out->n_images = image;
}

/* ---- where calls begin and end --------------------------------------------------------------- */

/* How many beats before two calls are alike. */
static size_t alike_before(const struct work *w, size_t i, size_t k)
{
    const struct ta_beat *at = w->beats.at;
    size_t n = 0;
    const size_t a = w->at[i].from, b = w->at[k].from;
    while (n < a && n < b && !at[a - n - 1].strong && !at[b - n - 1].strong &&
           at[a - n - 1].symbol == at[b - n - 1].symbol)
        n++;
    return n;
}

enum { COMPARED = 8 };

static int by_size(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* Weak beats with which every call begins: what is the same before the first, which no scheduler
 * goes before, and later ones. */
static size_t usual_beginning(const struct work *w)
{
    size_t lengths[COMPARED], n = 0;
    for (size_t i = 1; i < w->n && n < COMPARED; i++)
        lengths[n++] = alike_before(w, 0, i);
    qsort(lengths, n, sizeof *lengths, by_size);
    return lengths[n / 2];
}

static bool is_copy(const struct work *w, size_t i)
{
    return w->beats.at[i].symbol == w->beats.n_symbols - 1;
}

static void find_borders(struct work *w)
{
    const size_t before = usual_beginning(w);
    for (size_t i = 0; i < w->n; i++) {
        struct forward *f = &w->at[i];
        size_t n = i ? alike_before(w, 0, i) : before;
        n = n < before ? n : before;
        f->begin = f->from - n;
        /* Inputs that are copied to where a recorded graph expects them. */
        const size_t least = i ? w->at[i - 1].end : 0;
        while (f->begin > least && is_copy(w, f->begin - 1))
            f->begin--;
        f->end = f->to;
        while (f->end < w->beats.n && !w->beats.at[f->end].strong && !is_copy(w, f->end) &&
               w->beats.at[f->end].kind == TA_KERNEL_COPY)
            f->end++;
    }
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Calls that launch the same strong kernels are of a kind.  Where many are the same as another to
 * the beat, in order, those are the kinds, and what differs in few beats has lost or gained them:
 * hardly several times at the same place.  Else a kind is what differs in so many beats and so many
 * of a hundred, and in no symbol by more. */
enum {
    KINDS_MOST = 16,
    DIFFERENT = 3,
    PERCENT = 10,
    OF_SYMBOL = 15,
    RARER = 3,
    SURELY = 3,
    STRANGE_MOST = 4
};
#define LEAST_SAME 0.25

struct kinds {
    uint32_t *counts[KINDS_MOST]; /* of each symbol */
    size_t sizes[KINDS_MOST], members[KINDS_MOST];
    int64_t times[KINDS_MOST];
    size_t n;
};

/* Calls that are the same. */
struct same {
    uint64_t hash;
    size_t call, n; /* the first of them, and how many */
};

static void count_symbols(const struct work *w, const struct forward *f, uint32_t *counts)
{
    memset(counts, 0, w->beats.n_symbols * sizeof *counts);
    for (size_t k = f->from; k < f->to; k++)
        counts[w->beats.at[k].symbol] += w->beats.at[k].strong;
}

/* In how many beats a call differs from a kind; SIZE_MAX where one symbol is too often in one of
 * them.  What the kind has not at all may be of another program. */
static size_t difference(const struct work *w, const uint32_t *a, const uint32_t *b)
{
    size_t sum = 0;
    for (size_t s = 0; s < w->beats.n_symbols; s++) {
        const size_t most = a[s] > b[s] ? a[s] : b[s];
        const size_t more = most - (a[s] > b[s] ? b[s] : a[s]);
        if (b[s] ? 100 * more > 200 + OF_SYMBOL * most : more > STRANGE_MOST)
            return SIZE_MAX;
        sum += more;
    }
    return sum;
}

static bool add_kind(struct work *w, struct kinds *kinds, const struct forward *f,
                     const uint32_t *counts)
{
    uint32_t *kept = malloc(w->beats.n_symbols * sizeof *kept);
    w->failed |= !kept;
    if (!kept)
        return false;
    memcpy(kept, counts, w->beats.n_symbols * sizeof *kept);
    kinds->counts[kinds->n] = kept;
    kinds->sizes[kinds->n++] = f->to - f->from;
    return true;
}

/* The kind that differs least; `n` without one that is near. */
static size_t nearest(const struct work *w, const struct kinds *kinds, const struct forward *f,
                      const uint32_t *counts, size_t most)
{
    size_t best = kinds->n, least = most + 1;
    (void)f;
    for (size_t k = 0; k < kinds->n; k++) {
        const size_t differ = difference(w, counts, kinds->counts[k]);
        if (differ < least) {
            least = differ;
            best = k;
        }
    }
    return best;
}

static int by_hash(const void *left, const void *right)
{
    const struct same *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

/* Most frequent first, then by place. */
static int by_number(const void *left, const void *right)
{
    const struct same *a = left, *b = right;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

/* Groups of calls that are the same, frequent ones first; returns their number. */
static size_t find_same(const struct work *w, struct same *same)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        same[i] = (struct same){0, i, 1};
        for (size_t k = w->at[i].from; k < w->at[i].to; k++)
            if (w->beats.at[k].strong)
                same[i].hash = ta_hash_mix(same[i].hash + w->beats.at[k].symbol + 1);
    }
    qsort(same, w->n, sizeof *same, by_hash);
    for (size_t i = 0, end; i < w->n; i = end) {
        for (end = i; end < w->n && same[end].hash == same[i].hash;)
            end++;
        same[n] = same[i];
        same[n++].n = end - i;
    }
    qsort(same, n, sizeof *same, by_number);
    return n;
}

/* Kinds of calls that are the same to the beat, if those are most. */
static void start_kinds(struct work *w, struct kinds *kinds, uint32_t *counts)
{
    struct same *same = malloc(w->n * sizeof *same);
    w->failed |= !same;
    const size_t n = same ? find_same(w, same) : 0;
    size_t several = 0;
    for (size_t i = 0; i < n; i++)
        several += same[i].n > 1 ? same[i].n : 0;
    for (size_t i = 0; i < n && same[i].n > 1 && kinds->n < KINDS_MOST; i++) {
        if ((double)several < LEAST_SAME * (double)w->n)
            break;
        const struct forward *f = &w->at[same[i].call];
        count_symbols(w, f, counts);
        const size_t near = nearest(w, kinds, f, counts, DIFFERENT);
        if (near < kinds->n && (same[i].n < SURELY || kinds->members[near] >= RARER * same[i].n))
            continue;
        if (!add_kind(w, kinds, f, counts))
            break;
        kinds->members[kinds->n - 1] = same[i].n;
    }
    memset(kinds->members, 0, sizeof kinds->members);
    free(same);
}

static void find_kinds(struct work *w, struct kinds *kinds)
{
    uint32_t *counts = malloc(w->beats.n_symbols * sizeof *counts);
    w->failed |= !counts;
    if (counts)
        start_kinds(w, kinds, counts);
    for (size_t i = 0; i < w->n && !w->failed; i++) {
        struct forward *f = &w->at[i];
        count_symbols(w, f, counts);
        size_t kind = nearest(w, kinds, f, counts, DIFFERENT + (f->to - f->from) * PERCENT / 100);
        if (kind == kinds->n && (kinds->n == KINDS_MOST || !add_kind(w, kinds, f, counts)))
            kind = kinds->n - 1;
        f->kind = (uint32_t)kind;
        kinds->members[kind]++;
        kinds->times[kind] += ta_beat_end(&w->beats, f->to - 1) - ta_beat_start(&w->beats, f->from);
    }
    free(counts);
}

static void free_kinds(struct kinds *kinds)
{
    for (size_t k = 0; k < kinds->n; k++)
        free(kinds->counts[k]);
    *kinds = (struct kinds){0};
}

/* Numbers kinds by the time of a call, longest first. */
static void order_kinds(struct work *w, const struct kinds *kinds)
{
    uint32_t rank[KINDS_MOST] = {0};
    for (size_t a = 0; a < kinds->n; a++)
        for (size_t b = 0; b < kinds->n; b++) {
            const int64_t left = kinds->times[a] / ta_max_i64(1, (int64_t)kinds->members[a]);
            const int64_t right = kinds->times[b] / ta_max_i64(1, (int64_t)kinds->members[b]);
            rank[a] += right > left || (right == left && b < a);
        }
    for (size_t i = 0; i < w->n; i++)
        w->at[i].kind = rank[w->at[i].kind];
    w->out->n_kinds = kinds->n;
}

static void name_kinds(struct work *w)
{
    struct kinds kinds = {0};
    find_kinds(w, &kinds);
    if (!w->failed)
        order_kinds(w, &kinds);
    free_kinds(&kinds);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Between two calls of one step next to nothing runs, between two steps a scheduler. */
enum { FORWARDS_MOST = 4, NOTHING = 2 };

static bool is_within_step(const struct work *w, size_t i)
{
    if (w->at[i].ends_image)
        return false;
    size_t n = 0;
    for (size_t k = w->at[i].end; k < w->at[i + 1].begin; k++) {
        if (w->beats.at[k].kind == TA_KERNEL_RANDOM)
            return false;
        n += !is_copy(w, k);
    }
    return n <= NOTHING;
}

/* How many calls most steps have, if calls go together like that; else 1. */
static size_t calls_of_most(const struct work *w)
{
    size_t sizes[FORWARDS_MOST + 1] = {0}, steps = 0, size = 0, best = 1;
    for (size_t i = 0; i < w->n; i++) {
        size++;
        if (is_within_step(w, i))
            continue;
        if (size > FORWARDS_MOST)
            return 1;
        sizes[size]++;
        steps++;
        size = 0;
    }
    for (size_t m = 2; m <= FORWARDS_MOST; m++)
        if (2 * sizes[m] >= steps)
            best = m;
    return best;
}

/* Whether the calls of an image, [first, end), make steps of so many each, but for a few beats that
 * were lost or are strange. */
static bool is_uniform(const struct work *w, size_t first, size_t end, size_t usual)
{
    size_t wrong = 0;
    for (size_t i = first; i < end; i++)
        wrong += is_within_step(w, i) != ((i - first + 1) % usual != 0);
    return (end - first) % usual == 0 && 5 * wrong <= end - first;
}

static void end_steps(struct work *w, size_t first, size_t end, size_t usual)
{
    const bool uniform = is_uniform(w, first, end, usual);
    size_t size = 0;
    for (size_t i = first; i < end; i++) {
        size++;
        w->at[i].ends_step = size == usual || i + 1 == end || (!uniform && !is_within_step(w, i));
        if (!w->at[i].ends_step)
            continue;
        if (size != usual)
            w->out->forwards_per_step = 0;
        size = 0;
    }
}

static void find_steps(struct work *w)
{
    const size_t usual = calls_of_most(w);
    w->out->forwards_per_step = usual;
    for (size_t i = 0, end; i < w->n; i = end) {
        for (end = i; end < w->n && !w->at[end].ends_image;)
            end++;
        end += end < w->n;
        end_steps(w, i, end, usual);
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Images that follow each other without an encoder between are blocks of one video, if ... */

/* ---- evidence -------------------------------------------------------------------------------- */

/* Whether a run of convolutions lies in the strong beats [from, to). */
static const struct ta_stretch *wall_in(const struct work *w, size_t from, size_t to)
{
    for (size_t i = 0; i < w->found.n_walls; i++)
        if (w->found.walls[i].from >= from && w->found.walls[i].to <= to &&
            w->found.walls[i].from < w->found.walls[i].to)
            return &w->found.walls[i];
    return NULL;
}

static size_t strong_after(const struct work *w, size_t i)
{
    return i + 1 < w->n ? w->found.at[i + 1].from : w->beats.n_strong;
}

static bool is_decoded(const struct work *w)
{
    size_t decoded = 0, several = 0, calls = 0;
    for (size_t i = 0; i < w->n; i++) {
        calls++;
        if (!w->at[i].ends_image)
            continue;
        if (wall_in(w, w->found.at[i].to, strong_after(w, i))) {
            decoded++;
            several += calls > 1;
        }
        calls = 0;
    }
    return several > 0 && 2 * several >= decoded && 2 * decoded >= w->out->n_images;
}

enum { NEAR = 8 };

static bool embeds_time(const struct work *w, const struct forward *f)
{
    const struct ta_beat *at = w->beats.at;
    size_t power = SIZE_MAX;
    const size_t first = f->begin > NEAR ? f->begin - NEAR : 0;
    for (size_t i = first; i < f->to && !attends(&at[i]); i++) {
        if (at[i].signs & TA_BEAT_POWER)
            power = i;
        if (at[i].signs & TA_BEAT_SINE && power != SIZE_MAX && i - power <= NEAR)
            return true;
    }
    return false;
}

static bool all_embed_time(const struct work *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += embeds_time(w, &w->at[i]);
    return 10 * n >= 9 * w->n;
}

/* Beats with a sign in calls and between calls of one image. */
static size_t count_signs(const struct work *w, uint8_t sign)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const size_t end = w->at[i].ends_image ? w->at[i].end : w->at[i + 1].from;
        for (size_t k = w->at[i].begin; k < end; k++)
            n += (w->beats.at[k].signs & sign) != 0;
    }
    return n;
}

static bool is_diffusion(const struct work *w)
{
    return 2 * count_signs(w, TA_BEAT_TRAINS) < w->n && 2 * count_signs(w, TA_BEAT_SERVES) < w->n &&
           (is_decoded(w) || all_embed_time(w));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void add_call(struct work *w, enum ta_anchor_phase phase, size_t from, size_t to,
                     size_t image)
{
    const struct ta_anchor_call call = {.phase = phase,
                                        .first = w->beats.at[from].activity,
                                        .end = (size_t)w->beats.at[to - 1].activity + 1,
                                        .image = image,
                                        .step = SIZE_MAX};
    w->failed |= !ta_vec_push(&w->calls, call);
}

/* What encodes: strong beats [from, to) with attention. */
static void add_encoders(struct work *w, size_t from, size_t to, size_t image)
{
    size_t attention = 0;
    for (size_t i = from; i < to; i++)
        attention += attends(&w->beats.at[w->beats.strong[i]]);
    if (attention < 2)
        return;
    size_t first = w->beats.strong[from];
    const size_t least = from ? (size_t)w->beats.strong[from - 1] + 1 : 0;
    for (size_t i = first; i-- > least;)
        if (w->beats.at[i].signs & TA_BEAT_LOOKUP)
            first = i;
    const bool sees = w->beats.at[w->beats.strong[from]].kind == TA_KERNEL_CONV;
    add_call(w, sees ? TA_ANCHOR_IMAGE : TA_ANCHOR_TEXT, first, (size_t)w->beats.strong[to - 1] + 1,
             image);
}

/* What lies in the strong beats [from, to) before the first call of an image and after the last of
 * the one before, if it is decoded: `decodes`. */
static void add_others(struct work *w, size_t from, size_t to, size_t image, bool decodes)
{
    for (size_t i = from; i < to;) {
        const struct ta_stretch *wall = wall_in(w, i, to);
        const size_t until = wall ? wall->from : to;
        if (decodes && wall) {
            /* Strong beats between the last call and the decoder's convolutions are its own. */
            add_call(w, TA_ANCHOR_DECODE, w->beats.strong[i], w->beats.strong[wall->to - 1] + 1,
                     image - 1);
            decodes = false;
        } else {
            if (until > i)
                add_encoders(w, i, until, image);
            if (wall)
                add_call(w, TA_ANCHOR_IMAGE, w->beats.strong[wall->from],
                         w->beats.strong[wall->to - 1] + 1, image);
        }
        i = wall ? wall->to : to;
    }
}

static void add_forward(struct work *w, size_t i, bool begins_step)
{
    const struct forward *f = &w->at[i];
    add_call(w, TA_ANCHOR_DENOISE, f->begin, f->end, f->image);
    if (w->failed)
        return;
    if (begins_step)
        w->failed |=
            !ta_vec_push(&w->steps, (struct ta_anchor_step){w->calls.n - 1, 0, f->image, f->block});
    if (w->failed)
        return;
    struct ta_anchor_call *call = &w->calls.at[w->calls.n - 1];
    call->kind = f->kind;
    call->block = f->block;
    call->layers = f->attention;
    call->step = w->steps.n - 1;
    w->steps.at[w->steps.n - 1].n_calls++;
}

static void list_calls(struct work *w)
{
    add_others(w, 0, w->found.at[0].from, 0, false);
    for (size_t i = 0; i < w->n && !w->failed; i++) {
        add_forward(w, i, i == 0 || w->at[i - 1].ends_step);
        if (w->at[i].ends_image)
            add_others(w, w->found.at[i].to, strong_after(w, i), w->at[i].image + 1, true);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void look(struct work *w)
{
    w->n = w->found.n;
    w->at = calloc(w->n + 1, sizeof *w->at);
    w->failed |= !w->at;
    if (w->failed || w->n < 2)
        return;
    list_forwards(w);
    find_borders(w);
    if (!is_diffusion(w))
        return;
    name_kinds(w);
    find_steps(w);
    if (w->failed)
        return;
    list_calls(w);
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i].kind == 0)
            w->out->layers =
                w->at[i].attention > w->out->layers ? w->at[i].attention : w->out->layers;
    w->out->n_forwards = w->n;
    w->out->confidence = w->found.confidence;
}

bool ta_anchors_find(const struct ta_trace *trace, struct ta_anchors *anchors)
{
    struct work w = {.out = anchors};
    *anchors = (struct ta_anchors){0};
    w.failed = !ta_beats_read(trace, &w.beats) || !ta_forwards_find(&w.beats, &w.found);
    if (!w.failed)
        look(&w);
    anchors->calls = w.calls.at;
    anchors->n_calls = w.calls.n;
    anchors->steps = w.steps.at;
    anchors->n_steps = w.steps.n;
    free(w.at);
    ta_beats_free(&w.beats);
    ta_forwards_free(&w.found);
    if (w.failed || w.calls.n == 0) {
        ta_anchors_free(anchors);
    }
    return !w.failed;
}

void ta_anchors_free(struct ta_anchors *anchors)
{
    free(anchors->calls);
    free(anchors->steps);
    *anchors = (struct ta_anchors){0};
}
