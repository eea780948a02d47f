/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keyed rows that merge: the only place that knows how partial results combine. */
#include "analyze/partial.h"

#include "base/hash.h"
#include "base/vec.h"
#include "model/strings.h"
#include "stat/dist.h"

/* Rows live in chunks so that their addresses never change. */
enum { CHUNK_ROWS = 256 };

struct ta_partial {
    const struct ta_partial_def *def;
    size_t n_keys;
    struct ta_strings texts; /* with `slots`, from the first row on: many partials stay empty */
    TA_VEC(int64_t *) chunks;
    size_t n_rows;
    uint32_t *slots; /* row number + 1 by hash of the keys; NULL before the first row */
    size_t mask;
    TA_VEC(struct ta_dist *) dists; /* a cell of kind DIST holds an index + 1, or TA_MISSING */
    const int64_t **ordered;        /* rows by key, once settled */
    int64_t *scratch;               /* takes what finds no room */
    struct ta_dist scratch_dist;
    bool failed;
};

struct ta_partial *ta_partial_new(const struct ta_partial_def *def)
{
    struct ta_partial *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->def = def;
    while (p->n_keys < def->n_fields && ta_field_is_key(def->fields[p->n_keys].kind))
        p->n_keys++;
    p->scratch = calloc(def->n_fields, sizeof *p->scratch);
    if (!p->scratch) {
        ta_partial_free(p);
        return NULL;
    }
    return p;
}

void ta_partial_free(struct ta_partial *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->chunks.n; i++)
        free(p->chunks.at[i]);
    for (size_t i = 0; i < p->dists.n; i++) {
        ta_dist_free(p->dists.at[i]);
        free(p->dists.at[i]);
    }
    ta_dist_free(&p->scratch_dist);
    free(p->chunks.at);
    free(p->dists.at);
    free(p->slots);
    free(p->ordered);
    free(p->scratch);
    ta_strings_free(&p->texts);
    free(p);
}

bool ta_partial_has_rows(const struct ta_partial *p)
{
    return !p->failed;
}

bool ta_partial_ok(const struct ta_partial *p)
{
    for (size_t i = 0; i < p->dists.n; i++)
        if (p->dists.at[i]->failed)
            return false;
    return ta_partial_has_rows(p);
}

/* ---- rows -------------------------------------------------------------------------------- */

static int64_t *row_at(const struct ta_partial *p, size_t index)
{
    return p->chunks.at[index / CHUNK_ROWS] + index % CHUNK_ROWS * p->def->n_fields;
}

static uint64_t hash_keys(const struct ta_partial *p, const int64_t *cells)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < p->n_keys; i++)
        hash = ta_hash_mix(hash ^ (uint64_t)cells[i]) + i;
    return hash;
}

static bool open_table(struct ta_partial *p)
{
    if (!ta_strings_init(&p->texts, UINT32_MAX - 1))
        return false;
    p->mask = 63;
    p->slots = calloc(p->mask + 1, sizeof *p->slots);
    return p->slots;
}

static bool grow_slots(struct ta_partial *p)
{
    const size_t mask = p->mask * 2 + 1;
    uint32_t *slots = calloc(mask + 1, sizeof *slots);
    if (!slots)
        return false;
    for (size_t row = 0; row < p->n_rows; row++) {
        size_t at = hash_keys(p, row_at(p, row)) & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = (uint32_t)row + 1;
    }
    free(p->slots);
    p->slots = slots;
    p->mask = mask;
    return true;
}

static int64_t *new_row(struct ta_partial *p, const int64_t *keys)
{
    if (p->n_rows == p->chunks.n * CHUNK_ROWS) {
        int64_t *chunk = reallocarray(NULL, CHUNK_ROWS, p->def->n_fields * sizeof *chunk);
        if (!chunk || !ta_vec_push(&p->chunks, chunk)) {
            free(chunk);
            return NULL;
        }
    }
    if (p->n_rows * 2 > p->mask && !grow_slots(p))
        return NULL;
    int64_t *row = row_at(p, p->n_rows++);
    for (size_t i = 0; i < p->def->n_fields; i++)
        row[i] = i < p->n_keys ? keys[i] : TA_MISSING;
    return row;
}

/* The row with these key cells, texts already interned. */
static int64_t *find_row(struct ta_partial *p, const int64_t *keys)
{
    size_t at = hash_keys(p, keys) & p->mask;
    for (; p->slots[at]; at = (at + 1) & p->mask) {
        int64_t *row = row_at(p, p->slots[at] - 1);
        if (p->n_keys == 0 || memcmp(row, keys, p->n_keys * sizeof *keys) == 0)
            return row;
    }
    int64_t *row = new_row(p, keys);
    if (!row) {
        p->failed = true;
        return p->scratch;
    }
    at = hash_keys(p, keys) & p->mask; /* the table may have grown */
    while (p->slots[at])
        at = (at + 1) & p->mask;
    p->slots[at] = (uint32_t)p->n_rows;
    return row;
}

int64_t *ta_partial_row(struct ta_partial *p, const struct ta_key *keys)
{
    int64_t cells[TA_PARTIAL_KEYS_MAX] = {0};
    if (!p->slots && (p->failed || !open_table(p))) {
        p->failed = true;
        return p->scratch;
    }
    for (size_t i = 0; i < p->n_keys; i++) {
        cells[i] = keys[i].i;
        if (p->def->fields[i].kind == TA_FIELD_TEXT) {
            ta_str id = 0;
            if (ta_strings_intern(&p->texts, keys[i].text, &id) != TA_INTERN_OK)
                p->failed = true;
            cells[i] = id;
        }
    }
    return find_row(p, cells);
}

int64_t *ta_partial_cached(struct ta_partial *p, struct ta_map *cache, uint64_t id,
                           const struct ta_key *keys)
{
    uint64_t *slot = ta_map_at(cache, id, 0);
    if (!slot)
        return ta_partial_row(p, keys);
    if (*slot == 0)
        *slot = (uintptr_t)ta_partial_row(p, keys);
    return (int64_t *)(uintptr_t)*slot;
}

struct ta_dist *ta_partial_dist(struct ta_partial *p, int64_t *row, size_t field)
{
    if (row != p->scratch && row[field] != TA_MISSING)
        return p->dists.at[row[field] - 1];
    struct ta_dist *dist = row == p->scratch ? NULL : calloc(1, sizeof *dist);
    if (!dist || !ta_vec_push(&p->dists, dist)) {
        free(dist);
        p->failed = true;
        return &p->scratch_dist;
    }
    row[field] = (int64_t)p->dists.n;
    return dist;
}

/* ---- merging ----------------------------------------------------------------------------- */

void ta_partial_merge_value(enum ta_field_kind kind, int64_t *cell, int64_t value)
{
    if (kind == TA_FIELD_SUM)
        ta_sum(cell, value);
    else if (kind == TA_FIELD_MAX)
        ta_most(cell, value);
    else
        ta_least(cell, value); /* TA_FIELD_MIN, TA_FIELD_PLACE */
}

static void merge_cell(struct ta_partial *into, int64_t *row, const struct ta_partial *from,
                       const int64_t *other, size_t field, bool moves)
{
    const enum ta_field_kind kind = into->def->fields[field].kind;
    if (kind != TA_FIELD_DIST)
        ta_partial_merge_value(kind, &row[field], other[field]);
    else if (other[field] != TA_MISSING && moves)
        ta_dist_move(ta_partial_dist(into, row, field), from->dists.at[other[field] - 1]);
    else if (other[field] != TA_MISSING)
        ta_dist_merge(ta_partial_dist(into, row, field), from->dists.at[other[field] - 1]);
}

/* The rank that a value of kind TA_FIELD_RANK refers to. */
static int64_t resolve_rank(int64_t value, const int64_t *ranks, size_t n_ranks)
{
    if (value >= TA_RANK_NAMED)
        return value - TA_RANK_NAMED;
    return (uint64_t)value < n_ranks ? ranks[value] : value;
}

/* Adds one row of `from`, whose distributions move or are copied. */
static void merge_row(struct ta_partial *into, const struct ta_partial *from, const int64_t *other,
                      bool moves)
{
    struct ta_key keys[TA_PARTIAL_KEYS_MAX];
    for (size_t i = 0; i < into->n_keys; i++)
        keys[i] = into->def->fields[i].kind == TA_FIELD_TEXT
                      ? ta_key_text(ta_strings_text(&from->texts, (ta_str)other[i]))
                      : ta_key_int(other[i]);
    int64_t *row = ta_partial_row(into, keys);
    for (size_t i = into->n_keys; i < into->def->n_fields; i++)
        merge_cell(into, row, from, other, i, moves);
}

void ta_partial_merge(struct ta_partial *into, const struct ta_partial *from)
{
    for (size_t i = 0; i < from->n_rows; i++)
        merge_row(into, from, row_at(from, i), false);
    into->failed |= from->failed;
}

static void give_up_samples(struct ta_partial *p, const int64_t *row)
{
    for (size_t i = p->n_keys; i < p->def->n_fields; i++) {
        if (p->def->fields[i].kind != TA_FIELD_DIST || row[i] == TA_MISSING)
            continue;
        struct ta_dist *dist = p->dists.at[row[i] - 1];
        ta_dist_free(dist);
        *dist = (struct ta_dist){0};
    }
}

void ta_partial_drain(struct ta_partial *into, struct ta_partial *from)
{
    if (from->dists.n == 0) {
        ta_partial_merge(into, from);
        return;
    }
    for (size_t i = 0; i < from->n_rows; i++) {
        merge_row(into, from, row_at(from, i), false);
        give_up_samples(from, row_at(from, i));
    }
    into->failed |= from->failed;
}

bool ta_partial_has_rank(const struct ta_partial *p)
{
    for (size_t i = 0; i < p->n_keys; i++)
        if (p->def->fields[i].kind == TA_FIELD_RANK)
            return true;
    return false;
}

/* Replaces the ranks in the rows as they are.  False where rows became equal, or without memory:
 * then the table of slots is of no use any more. */
static bool replace_ranks(struct ta_partial *p, const int64_t *ranks, size_t n_ranks)
{
    for (size_t row = 0; row < p->n_rows; row++)
        for (size_t i = 0; i < p->n_keys; i++)
            if (p->def->fields[i].kind == TA_FIELD_RANK)
                row_at(p, row)[i] = resolve_rank(row_at(p, row)[i], ranks, n_ranks);
    if (p->slots) /* else there are no rows */
        memset(p->slots, 0, (p->mask + 1) * sizeof *p->slots);
    for (size_t row = 0; row < p->n_rows; row++) {
        const int64_t *cells = row_at(p, row);
        size_t at = hash_keys(p, cells) & p->mask;
        for (; p->slots[at]; at = (at + 1) & p->mask)
            if (memcmp(row_at(p, p->slots[at] - 1), cells, p->n_keys * sizeof *cells) == 0)
                return false;
        p->slots[at] = (uint32_t)row + 1;
    }
    return true;
}

bool ta_partial_resolve(struct ta_partial **partial, const int64_t *ranks, size_t n_ranks)
{
    struct ta_partial *p = *partial;
    if (replace_ranks(p, ranks, n_ranks))
        return true;
    struct ta_partial *merged = ta_partial_new(p->def);
    if (!merged)
        return false;
    for (size_t i = 0; i < p->n_rows; i++)
        merge_row(merged, p, row_at(p, i), true);
    merged->failed |= p->failed;
    ta_partial_free(p);
    *partial = merged;
    return true;
}

/* ---- reading ----------------------------------------------------------------------------- */

static int by_keys(const void *left, const void *right, void *user)
{
    const int64_t *a = *(const int64_t *const *)left, *b = *(const int64_t *const *)right;
    const struct ta_partial *p = user;
    for (size_t i = 0; i < p->n_keys; i++) {
        int order = (a[i] > b[i]) - (a[i] < b[i]);
        if (p->def->fields[i].kind == TA_FIELD_TEXT)
            order = ta_slice_compare(ta_strings_text(&p->texts, (ta_str)a[i]),
                                     ta_strings_text(&p->texts, (ta_str)b[i]));
        if (order)
            return order;
    }
    return 0;
}

void ta_partial_sort_samples(struct ta_partial *p)
{
    for (size_t i = 0; i < p->dists.n; i++)
        ta_dist_settle(p->dists.at[i]);
}

bool ta_partial_settle(struct ta_partial *p)
{
    free(p->ordered);
    p->ordered = reallocarray(NULL, p->n_rows + 1, sizeof *p->ordered);
    if (!p->ordered || !ta_partial_ok(p))
        return false;
    for (size_t i = 0; i < p->n_rows; i++)
        p->ordered[i] = row_at(p, i);
    qsort_r(p->ordered, p->n_rows, sizeof *p->ordered, by_keys, p);
    ta_partial_sort_samples(p);
    return ta_partial_ok(p);
}

const struct ta_partial_def *ta_partial_def_of(const struct ta_partial *p)
{
    return p->def;
}

size_t ta_partial_rows(const struct ta_partial *p)
{
    return p->n_rows;
}

const int64_t *ta_partial_at(const struct ta_partial *p, size_t index)
{
    return p->ordered[index];
}

size_t ta_partial_fold(const struct ta_partial *p, size_t index, int64_t width, int64_t *cells)
{
    const size_t last = p->n_keys - 1;
    const int64_t *first = ta_partial_at(p, index), group = first[last] / width;
    memcpy(cells, first, p->def->n_fields * sizeof *cells);
    cells[last] = group;
    for (size_t i = index + 1; i < p->n_rows; i++) {
        const int64_t *row = ta_partial_at(p, i);
        if (row[last] / width != group || memcmp(row, first, last * sizeof *row) != 0)
            return i;
        for (size_t field = p->n_keys; field < p->def->n_fields; field++)
            ta_partial_merge_value(p->def->fields[field].kind, &cells[field], row[field]);
    }
    return p->n_rows;
}

struct ta_slice ta_partial_text(const struct ta_partial *p, const int64_t *row, size_t field)
{
    return ta_strings_text(&p->texts, (ta_str)row[field]);
}

const struct ta_dist *ta_partial_dist_at(const struct ta_partial *p, const int64_t *row,
                                         size_t field)
{
    return row[field] == TA_MISSING ? NULL : p->dists.at[row[field] - 1];
}
