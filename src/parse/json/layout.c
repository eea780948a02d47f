/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned layout: learning gaps, and judging whether that pays. */
#include "parse/json/layout.h"

#include "parse/json/cpu.h"
#include "parse/json/layout_bucket.h"
#include "parse/json/vector.h"

#include <stddef.h>
#include <stdlib.h>

/* The layout rests for so many records when more than two gaps of each were new. */
enum { NEW_GAPS = 2, REST = 16384 };
/* No order is expected for so long when so many gaps of each record were not where they were
 * before; meanwhile it is unknown whether there is one. */
enum { STRAY_GAPS = 2, UNORDERED = 16 };

/* Records to watch for what can be fused, at first and each time the layout is judged. */
enum { WATCHED_FIRST = 8192, WATCHED = 64 };

static void no_followers(const struct layout *layout, struct gap *gap)
{
    for (int i = 0; i < GAPS_AFTER; i++)
        gap->begins[i] = layout->no_gap;
    for (int kind = 0; kind < GAP_KINDS; kind++)
        for (int i = 0; i < GAPS_AFTER; i++)
            gap->next[kind][i] = layout->no_gap;
}

static void forget_all(struct layout *layout)
{
    layout->n = layout->fusing.n_fused = 0;
    layout->first = layout->opening;
    memset(layout->bucket, 0, sizeof layout->bucket);
    no_followers(layout, layout->opening);
    no_followers(layout, layout->no_gap); /* which may seem to be the first of a record */
}

bool layout_init(struct layout *layout, const char *cpu, size_t number_limit)
{
    enum { SPECIAL_GAPS = 3, LONGEST_NUMBER = 32 };
    *layout = (struct layout){.scan = number_limit < LONGEST_NUMBER ? NULL : ta_cpu_scanner(cpu),
                              .fusing.left = WATCHED_FIRST};
    layout->gaps =
        aligned_alloc(_Alignof(struct gap), (GAPS_MAX + SPECIAL_GAPS) * sizeof *layout->gaps);
    if (!layout->gaps)
        return false; /* layout_free() all the same */
    layout->no_gap = &layout->gaps[GAPS_MAX];
    layout->passing = layout->no_gap + 1;
    layout->opening = layout->no_gap + 2;
    *layout->no_gap = (struct gap){
        .text = "\x01", .mask = 1, .length = 1, .turns = true, .ends = true, .is_wrong = true};
    *layout->opening = (struct gap){.to = OUTSIDE};
    forget_all(layout);
    return true;
}

void layout_free(struct layout *layout)
{
    free(layout->gaps);
}

/* ---- one gap --------------------------------------------------------------------------------- */

/* The offset of the cursor in the gap plus one; 0 when the gap is too long to be remembered. */
static uint8_t place_in(const struct scan *scan, const char *start)
{
    const ptrdiff_t at = scan->p - start;
    return at < GAP_BYTES ? (uint8_t)(at + 1) : 0;
}

/* Where the value after a gap goes, and which bit says that it is there.  False when the gap has
 * one for that key already. */
static bool place_value(struct gap *gap, uint8_t at)
{
    gap->is_wanted = at != NO_KEY;
    if (!gap->is_wanted)
        return true;
    if (gap->to == IN_NESTED) {
        gap->token = (uint16_t)(offsetof(struct ta_record, nested) + at * sizeof(struct ta_token));
        gap->nested = UINT64_C(1) << at;
        return true;
    }
    const uint16_t bit = (uint16_t)(1 << at);
    gap->token = (uint16_t)(offsetof(struct ta_record, field) + at * sizeof(struct ta_token));
    if (gap->fields & bit)
        return false;
    gap->fields |= bit;
    return true;
}

/* Tokenizes from the end of a value to the start of the next one, or to the end of the record.
 * SCAN_BAD also where only record_scan() knows what to do. */
static enum scan_result tokenize(const struct record_keys *keys, struct scan *scan, struct gap *gap)
{
    const char *const start = scan->p;
    bool first = gap->from == OUTSIDE;
    scan->p += first; /* the opening brace of the record */
    for (;;) {
        struct ta_token key;
        enum scan_result result = record_scan_key(scan, first, &key);
        if (result != SCAN_OK)
            return result;
        first = false;
        if (key.type == TA_TOKEN_ABSENT) {
            scan->p++;
            gap->ends = gap->to != IN_NESTED;
            if (gap->ends)
                return SCAN_OK;
            gap->to = IN_RECORD;
            gap->closes = place_in(scan, start);
            if (!gap->closes)
                return SCAN_BAD;
            continue;
        }
        const uint8_t at =
            record_find_key(gap->to == IN_NESTED ? &keys->nested : &keys->fields, &key);
        if (gap->to == IN_RECORD && at == keys->schema->nested && *scan->p == '{') {
            if (gap->opens || gap->closes || !(gap->opens = place_in(scan, start)))
                return SCAN_BAD;
            gap->to = IN_NESTED;
            gap->fields |= (uint16_t)(1 << at);
            first = true;
            scan->p++;
            continue;
        }
        if (gap->to == IN_RECORD && at == NO_KEY && record_is_array(keys, &key))
            return SCAN_BAD;
        return place_value(gap, at) ? SCAN_OK : SCAN_BAD;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

void layout_judge(struct layout *layout)
{
    if (layout->misses > layout->records * NEW_GAPS)
        layout->off = REST;
    if (layout->unordered)
        layout->unordered--;
    else if (layout->searches >= layout->records * STRAY_GAPS)
        layout->unordered = UNORDERED;
    if (layout->unordered && layout->fusing.n_fused)
        forget_all(layout); /* fused gaps would only stand in the way */
    layout->fusing.left = layout->unordered ? 0 : WATCHED;
    layout->records = layout->searches = layout->misses = 0;
}

struct gap *layout_find_slowly(struct layout *layout, const char *text, size_t length, uint8_t from)
{
    for (struct gap *gap = layout->gaps; gap < layout->gaps + layout->n; gap++)
        if (gap->from == from && gap->length == length && memcmp(gap->text, text, length) == 0)
            return gap;
    return NULL;
}

struct gap *layout_add(struct layout *layout, const struct gap *made, const char *text,
                       size_t length)
{
    if (layout->n == GAPS_MAX)
        return NULL;
    struct gap *gap = &layout->gaps[layout->n++];
    *gap = *made;
    no_followers(layout, gap);
    memset(gap->text, 0, sizeof gap->text);
    memcpy(gap->text, text, length);
    gap->length = (uint8_t)length;
    gap->mask = vector_mask(length);
    gap->turns = gap->opens || gap->closes || gap->ends || gap->n_pieces;
    gap->kind = gap->from == OUTSIDE ? layout->fusing.n_kinds++ % GAP_KINDS : 0;
    struct gap **bucket = layout_bucket(layout, layout_keys(gap->text));
    gap->chain = *bucket;
    *bucket = gap;
    return gap;
}

void layout_put_first(struct gap **next, struct gap *gap)
{
    int i = 0;
    while (i < GAPS_AFTER - 1 && next[i] != gap)
        i++;
    for (; i > 0 && !layout_is_longer(next[i - 1], gap); i--)
        next[i] = next[i - 1];
    next[i] = gap;
}

/* Tokenizes a gap that is not known. */
static struct gap *learn(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                         uint8_t from, struct gap **next, enum scan_result *why)
{
    const char *const start = scan->p;
    struct gap found = {.from = from, .to = from == IN_NESTED ? IN_NESTED : IN_RECORD};
    no_followers(layout, &found);
    *why = tokenize(keys, scan, &found);
    if (*why != SCAN_OK)
        return NULL;
    found.is_object = found.is_wanted && found.to == IN_RECORD &&
                      found.token == offsetof(struct ta_record, field) +
                                         keys->schema->nested * sizeof(struct ta_token);
    const size_t length = (size_t)(scan->p - start);
    /* What was repaired is noted once per record, so any note may stand for this gap as well. */
    if (length > GAP_BYTES || length == 0 || scan->notes) {
        found.turns = found.opens || found.closes || found.ends;
        *layout->passing = found;
        return layout->passing;
    }
    *why = SCAN_BAD; /* `next` is void when there was no room */
    /* Keys that do not belong to it may have kept it from being found. */
    struct gap *gap = layout_find_slowly(layout, start, length, from);
    if (!gap)
        gap = layout_add(layout, &found, start, length);
    if (!gap)
        forget_all(layout); /* the writer may have changed */
    else
        layout_put_first(next, gap);
    return gap;
}

void layout_lengthen(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                     uint8_t from, struct gap **next)
{
    enum scan_result ignored; /* the record goes to the grammar */
    layout->misses++;
    learn(layout, keys, scan, from, next, &ignored);
}

struct gap *layout_find(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                        uint8_t from, struct gap **next, enum scan_result *why)
{
    struct gap *const gap = layout_known(layout, scan->p, from);
    layout->searches++;
    if (gap) {
        scan->p += gap->length;
        if (!layout->unordered)
            layout_put_first(next, gap);
        return gap;
    }
    layout->misses++;
    return learn(layout, keys, scan, from, next, why);
}
