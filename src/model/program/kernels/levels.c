/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/kernels/levels.h"

#include "base/hash.h"

#include <stdlib.h>

enum {
    GRAM = 3,        /* beats in a row, at most */
    LEAST_BEATS = 6, /* strong ones in a period, on average */
    LEAST_SUPPORT = 3,
    /* Symbols of a count that may support each other, and that may be the base: of rare ones, where
     * many come by chance, more. */
    RARE = 8,
    TRIED = 48,
    TRIED_RARE = 512,
    BASES = 4,
    BASES_RARE = 64
};
#define LEAST_ALTERNATION 0.85

struct place {
    uint64_t symbol;
    uint32_t at;
};

/* A symbol that comes often enough: its places are [first, first + n). */
struct symbol {
    size_t first, n;
    uint32_t begin, span;
    bool used; /* of a level */
};

struct finding {
    const struct ta_beats *beats;
    size_t from, n;
    struct place *places;
    size_t n_places;
    uint32_t *at; /* of the places, when they are in order */
    struct symbol *symbols;
    size_t n_symbols;
};

static int by_symbol(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->symbol != b->symbol)
        return a->symbol < b->symbol ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* By count, wide ones first, then by place, so that nothing depends on hashes. */
static int by_count(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    if (a->span != b->span)
        return a->span > b->span ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void list_places(struct finding *f)
{
    for (size_t i = 0; i < f->n; i++) {
        uint64_t symbol = 0;
        for (size_t k = 0; k < GRAM && i + k < f->n; k++) {
            const uint32_t beat = f->beats->strong[f->from + i + k];
            symbol = ta_hash_mix(symbol + f->beats->at[beat].symbol + 1);
            f->places[f->n_places++] = (struct place){symbol, (uint32_t)(f->from + i)};
        }
    }
    qsort(f->places, f->n_places, sizeof *f->places, by_symbol);
}

static void list_symbols(struct finding *f)
{
    const size_t most = f->n / LEAST_BEATS;
    for (size_t i = 0, end; i < f->n_places; i = end) {
        for (end = i; end < f->n_places && f->places[end].symbol == f->places[i].symbol; end++)
            f->at[end] = f->places[end].at;
        if (end - i >= 2 && end - i <= most)
            f->symbols[f->n_symbols++] =
                (struct symbol){i, end - i, f->at[i], f->at[end - 1] - f->at[i], false};
    }
    qsort(f->symbols, f->n_symbols, sizeof *f->symbols, by_count);
}

/* Between how many neighbors of `base` exactly one of `other` lies, as a part of all. */
static double alternation(const struct finding *f, const struct symbol *base,
                          const struct symbol *other)
{
    const uint32_t *const b = &f->at[base->first], *const o = &f->at[other->first];
    size_t k = 0, once = 0;
    for (size_t i = 0; i + 1 < base->n; i++) {
        while (k < other->n && o[k] < b[i])
            k++;
        size_t inside = 0;
        while (k < other->n && o[k] < b[i + 1]) {
            inside++;
            k++;
        }
        once += inside == 1;
    }
    return (double)once / (double)(base->n - 1);
}

/* Symbols that come a few times often come in turns by chance.  Of the symbols of a level the
 * distances are the same. */
enum { DRIFT = 4 };

static bool keeps_distance(const struct finding *f, const struct symbol *base,
                           const struct symbol *other)
{
    const uint32_t *const b = &f->at[base->first], *const o = &f->at[other->first];
    for (size_t i = 0; i + 1 < base->n && i + 1 < other->n; i++) {
        const int64_t drift = (int64_t)(b[i + 1] - b[i]) - (int64_t)(o[i + 1] - o[i]);
        if (drift > DRIFT || drift < -DRIFT)
            return false;
    }
    return true;
}

static bool supports(const struct finding *f, const struct symbol *base, const struct symbol *other)
{
    return alternation(f, base, other) >= LEAST_ALTERNATION &&
           (base->n > RARE || keeps_distance(f, base, other));
}

static int64_t time_of(const struct finding *f, size_t from, size_t to)
{
    int64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += ta_beat_dur(f->beats, f->beats->strong[i]);
    return sum;
}

/* Symbols of about one count: [first, end), of which those before `same` have just that count. */
struct counted {
    size_t first, same, end;
};

static size_t tried(const struct finding *f, struct counted c)
{
    const size_t most = f->symbols[c.first].n <= RARE ? TRIED_RARE : TRIED;
    return c.end - c.first < most ? c.end : c.first + most;
}

static size_t support_of(struct finding *f, struct counted c, const struct symbol *base, bool use)
{
    size_t n = 0;
    for (size_t k = c.first; k < tried(f, c); k++) {
        struct symbol *other = &f->symbols[k];
        const bool is_one = !other->used && (other == base || supports(f, base, other));
        n += is_one;
        other->used |= use && is_one;
    }
    return n;
}

/* The level that most of the symbols have that are of none yet. */
static bool find_level(struct finding *f, struct counted c, struct ta_level *level)
{
    const struct symbol *best = NULL;
    size_t most = 0, n = 0;
    const size_t bases = f->symbols[c.first].n <= RARE ? BASES_RARE : BASES;
    for (size_t i = c.first; i < c.same && i < tried(f, c) && n < bases; i++) {
        if (f->symbols[i].used)
            continue;
        n++;
        const size_t support = support_of(f, c, &f->symbols[i], false);
        if (support > most) {
            most = support;
            best = &f->symbols[i];
        }
    }
    if (most < LEAST_SUPPORT)
        return false;
    support_of(f, c, best, true);
    *level = (struct ta_level){.count = best->n, .support = most, .base = &f->at[best->first]};
    return true;
}

static double coverage_of(const struct finding *f, const struct ta_level *level, int64_t all)
{
    const size_t first = level->base[0], last = level->base[level->count - 1];
    const size_t period = (last - first) / (level->count - 1);
    const size_t since = first > f->from + period ? first - period : f->from;
    const size_t until = last + period < f->from + f->n ? last + period : f->from + f->n;
    return (double)time_of(f, since, until) / (double)ta_max_i64(all, 1);
}

static void unuse(struct finding *f, struct counted c)
{
    for (size_t k = c.first; k < tried(f, c); k++)
        f->symbols[k].used = false;
}

/* Of one count there may be several: of encoders, and of what they encode for. */
enum { LEVELS_EACH = 3 };

static void find_levels(struct finding *f, struct ta_levels *levels)
{
    const int64_t all = time_of(f, f->from, f->from + f->n);
    for (struct counted c = {0}; c.first < f->n_symbols; c.first = c.same) {
        const size_t count = f->symbols[c.first].n;
        const size_t largest = count < 12 ? count : count + (count * 4 + 99) / 100;
        while (c.same < f->n_symbols && f->symbols[c.same].n == count)
            c.same++;
        for (c.end = c.same; c.end < f->n_symbols && f->symbols[c.end].n <= largest;)
            c.end++;
        unuse(f, c);
        for (int i = 0; i < LEVELS_EACH && levels->n < TA_LEVELS_MOST; i++) {
            struct ta_level *level = &levels->at[levels->n];
            if (!find_level(f, c, level))
                break;
            level->coverage = coverage_of(f, level, all);
            levels->n++;
        }
    }
}

bool ta_levels_find(const struct ta_beats *beats, size_t from, size_t to, struct ta_levels *levels)
{
    struct finding f = {.beats = beats, .from = from, .n = to - from};
    *levels = (struct ta_levels){0};
    f.places = malloc((f.n * GRAM + 1) * sizeof *f.places);
    f.at = malloc((f.n * GRAM + 1) * sizeof *f.at);
    f.symbols = malloc((f.n * GRAM / 2 + 1) * sizeof *f.symbols);
    const bool done = f.places && f.at && f.symbols;
    if (done) {
        list_places(&f);
        list_symbols(&f);
        find_levels(&f, levels);
        levels->places = f.at;
        f.at = NULL;
    }
    free(f.places);
    free(f.at);
    free(f.symbols);
    return done;
}

void ta_levels_free(struct ta_levels *levels)
{
    free(levels->places);
    *levels = (struct ta_levels){0};
}
