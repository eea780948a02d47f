/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned layout: learning gaps, and judging whether that pays. */
#include "parse/layout.h"

#include "parse/cpu.h"

#include <stdlib.h>

/* The layout is judged after so many gaps that were not expected, and rests for so many records
 * when there were more than two of them in a record. */
enum { JUDGED_AFTER = 4096, MISSES_PER_RECORD = 2, REST = 16384 };

static void no_followers(const struct layout *layout, struct gap *gap)
{
    for (int i = 0; i < GAPS_AFTER; i++)
        gap->next[i] = layout->no_gap;
}

static void forget_all(struct layout *layout)
{
    layout->n = 0;
    no_followers(layout, layout->opening);
}

bool layout_init(struct layout *layout, const char *cpu, size_t number_limit)
{
    enum { SPECIAL_GAPS = 3, LONGEST_NUMBER = 32 };
    *layout = (struct layout){.scan = number_limit < LONGEST_NUMBER ? NULL : ta_cpu_scanner(cpu)};
    layout->gaps =
        aligned_alloc(_Alignof(struct gap), (GAPS_MAX + SPECIAL_GAPS) * sizeof *layout->gaps);
    if (!layout->gaps)
        return false;
    layout->no_gap = &layout->gaps[GAPS_MAX];
    layout->passing = layout->no_gap + 1;
    layout->opening = layout->no_gap + 2;
    *layout->no_gap = (struct gap){.text = "\x01", .mask = 1, .turns = true};
    *layout->opening = (struct gap){.slot = NO_KEY};
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

/* Tokenizes from the end of a value to the start of the next one, or to the end of the record.
 * SCAN_BAD also where only record_scan() knows what to do. */
static enum scan_result tokenize(const struct record_keys *keys, struct scan *scan, bool first,
                                 struct gap *gap)
{
    const char *const start = scan->p;
    scan->p += first; /* the opening brace of the record */
    for (;;) {
        struct ta_token key;
        enum scan_result result = record_scan_key(scan, first, &key);
        if (result != SCAN_OK)
            return result;
        first = false;
        if (key.type == TA_TOKEN_ABSENT) {
            scan->p++;
            gap->ends = !gap->nested;
            if (gap->ends)
                return SCAN_OK;
            gap->nested = false;
            gap->closes = place_in(scan, start);
            if (!gap->closes)
                return SCAN_BAD;
            continue;
        }
        const uint8_t at = record_find_key(gap->nested ? &keys->nested : &keys->fields, &key);
        if (!gap->nested && at == keys->schema->nested && *scan->p == '{') {
            if (gap->opens || gap->closes || !(gap->opens = place_in(scan, start)))
                return SCAN_BAD;
            gap->nested = first = true;
            scan->p++;
            continue;
        }
        if (!gap->nested && at == NO_KEY && record_is_array(keys, &key))
            return SCAN_BAD;
        gap->slot = at == NO_KEY || !gap->nested ? at : (uint8_t)(TA_RECORD_FIELDS + at);
        return SCAN_OK;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void judge(struct layout *layout)
{
    if (++layout->misses < JUDGED_AFTER)
        return;
    if (layout->misses / MISSES_PER_RECORD > layout->records)
        layout->off = REST;
    layout->records = layout->misses = 0;
}

/* The gap with this text and these surroundings; made when it is new.  NULL when there was no room:
 * then all are forgotten, since the writer may have changed. */
static struct gap *remember(struct layout *layout, const struct gap *gap)
{
    for (struct gap *known = layout->gaps; known < layout->gaps + layout->n; known++)
        if (known->mask == gap->mask && known->from_nested == gap->from_nested &&
            memcmp(known->text, gap->text, gap->length) == 0)
            return known;
    if (layout->n == GAPS_MAX) {
        forget_all(layout);
        return NULL;
    }
    struct gap *made = &layout->gaps[layout->n++];
    *made = *gap;
    return made;
}

static struct gap *put_first(struct gap *before, size_t from, struct gap *gap)
{
    memmove(before->next + 1, before->next, from * sizeof(struct gap *));
    return before->next[0] = gap;
}

/* One that followed before the last two. */
static struct gap *find_older(const struct layout *layout, struct scan *scan, struct gap *before)
{
    for (size_t i = 2; i < GAPS_AFTER && before->next[i] != layout->no_gap; i++) {
        struct gap *gap = before->next[i];
        if (memcmp(scan->p, gap->text, gap->length) != 0)
            continue;
        scan->p += gap->length;
        return put_first(before, i, gap);
    }
    return NULL;
}

/* Tokenizes a gap that did not follow lately. */
static struct gap *learn(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                         struct gap *before, enum scan_result *why)
{
    const char *const start = scan->p;
    struct gap found = {.slot = NO_KEY, .from_nested = before->nested, .nested = before->nested};
    no_followers(layout, &found);
    *why = tokenize(keys, scan, before == layout->opening, &found);
    if (*why != SCAN_OK)
        return NULL;
    found.turns = found.opens || found.closes || found.ends;
    const size_t length = (size_t)(scan->p - start);
    /* What was repaired is noted once per record, so any note may stand for this gap as well. */
    if (length > GAP_BYTES || length == 0 || scan->notes) {
        *layout->passing = found;
        return layout->passing;
    }
    memcpy(found.text, start, length);
    found.length = (uint8_t)length;
    found.mask = UINT64_MAX >> (64 - length);
    struct gap *gap = remember(layout, &found);
    *why = SCAN_BAD; /* `before` is void when there was no room */
    return gap ? put_first(before, GAPS_AFTER - 1, gap) : NULL;
}

struct gap *layout_find(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                        struct gap *before, enum scan_result *why)
{
    struct gap *const gap = find_older(layout, scan, before);
    if (gap)
        return gap;
    judge(layout);
    return learn(layout, keys, scan, before, why);
}
