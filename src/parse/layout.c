/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned layout. */
#include "parse/layout.h"

#include <stdlib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The layout is judged after so many gaps, and rests for so many records when it did badly. */
enum { JUDGED_AFTER = 16384, REST = 16384, MISS_SHARE = 5 };

bool layout_init(struct layout *layout)
{
    *layout = (struct layout){.first = NO_GAP};
    layout->gaps = malloc(GAPS_MAX * sizeof *layout->gaps);
    return layout->gaps != NULL;
}

void layout_free(struct layout *layout)
{
    free(layout->gaps);
}

/* ---- comparing and scanning in chunks of 16 bytes ------------------------------------------ */

#ifdef __SSE2__

/* Whether the text at `p` is this gap.  At least GAP_BYTES can be read. */
static inline bool matches(const struct gap *gap, const char *p)
{
    for (unsigned i = 0;; i++) {
        const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        const __m128i known = _mm_loadu_si128((const __m128i *)(const void *)(gap->text + 16 * i));
        const unsigned equal = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, known));
        if (i + 1 == gap->chunks)
            return (equal & gap->last_mask) == gap->last_mask;
        if (equal != 0xffff)
            return false;
    }
}

/* The first byte that is a quote, a backslash, a control or not ASCII. */
static inline const char *skip_plain(const char *p, const char *end)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);
    for (; end - p >= 16; p += 16) {
        const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* As signed bytes controls and all of 0x80…0xff are below the space. */
        const __m128i special =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(text, quote), _mm_cmpeq_epi8(text, backslash)),
                         _mm_cmplt_epi8(text, space));
        const unsigned found = (unsigned)_mm_movemask_epi8(special);
        if (found)
            return p + __builtin_ctz(found);
    }
    return end;
}

#else

static inline bool matches(const struct gap *gap, const char *p)
{
    return memcmp(p, gap->text, gap->length) == 0;
}

static inline const char *skip_plain(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

#endif

/* ---- values ---------------------------------------------------------------------------------- */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The end of a plain number, or NULL when the grammar has to look at it. */
static inline const char *plain_number(const char *p, const char *end)
{
    p += *p == '-';
    if (end - p < 64 || !is_digit(*p) || (*p == '0' && is_digit(p[1])))
        return NULL;
    const char *stop = end - 2;
    while (p < stop && is_digit(*p))
        p++;
    if (*p == '.') {
        if (!is_digit(p[1]))
            return NULL;
        for (p++; p < stop && is_digit(*p); p++)
            ;
    }
    return *p == ',' || *p == '}' || *p == '\n' || *p == ' ' || *p == '\r' ? p : NULL;
}

/* A value at the cursor; what is plain is done here, all else by the grammar. */
static inline enum scan_result scan_any(struct scan *scan, struct ta_token *token)
{
    const char *const p = scan->p;
    if (*p == '"') {
        const char *quote = skip_plain(p + 1, scan->end);
        const size_t length = (size_t)(quote - p - 1);
        if (quote < scan->end && *quote == '"' && length <= scan->string_limit) {
            *token = (struct ta_token){p + 1, (uint32_t)length, TA_TOKEN_STRING, 1};
            scan->p = quote + 1;
            return SCAN_OK;
        }
    } else if (is_digit(*p) || *p == '-') {
        const char *end = plain_number(p, scan->end);
        if (end && (size_t)(end - p) <= scan->number_limit) {
            *token = (struct ta_token){p, (uint32_t)(end - p), TA_TOKEN_NUMBER, 1};
            scan->p = end;
            return SCAN_OK;
        }
    }
    return scan_value(scan, token);
}

/* ---- learning a gap ----------------------------------------------------------------------------
 */

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
    gap->nested = gap->from_nested;
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

/* The number of a gap with this text and these surroundings; made when it is new. */
static uint16_t remember(struct layout *layout, const struct gap *gap)
{
    for (uint16_t i = 0; i < layout->n; i++) {
        const struct gap *known = &layout->gaps[i];
        if (known->length == gap->length && known->from_nested == gap->from_nested &&
            memcmp(known->text, gap->text, gap->length) == 0)
            return i;
    }
    if (layout->n == GAPS_MAX) /* start again: the writer may have changed */
        layout->n = 0, layout->first = NO_GAP;
    layout->gaps[layout->n] = *gap;
    return layout->n++;
}

/* Tokenizes the gap at the cursor and remembers it if it fits; NO_GAP when it does not, with what
 * it leads to in *gap all the same. */
static enum scan_result learn(struct layout *layout, const struct record_keys *keys,
                              struct scan *scan, bool first, struct gap *gap, uint16_t *number)
{
    const char *const start = scan->p;
    enum scan_result result = tokenize(keys, scan, first, gap);
    if (result != SCAN_OK)
        return result;
    const size_t length = (size_t)(scan->p - start);
    *number = NO_GAP;
    /* What was repaired is noted once per record, so any note may stand for this gap as well. */
    if (length > GAP_BYTES || length == 0 || scan->notes)
        return SCAN_OK;
    memset(gap->text, 0, sizeof gap->text);
    memcpy(gap->text, start, length);
    gap->length = (uint8_t)length;
    gap->chunks = (uint8_t)((length + 15) / 16);
    gap->last_mask = (uint16_t)((1u << (length - (size_t)(gap->chunks - 1) * 16)) - 1);
    gap->next[0] = gap->next[1] = NO_GAP;
    const uint16_t before = layout->n;
    *number = remember(layout, gap);
    return layout->n < before ? SCAN_BAD : SCAN_OK; /* numbers seen so far are void */
}

/* ---- the record --------------------------------------------------------------------------------
 */

static void judge(struct layout *layout)
{
    if (layout->hits + layout->misses < JUDGED_AFTER)
        return;
    if (layout->misses > (layout->hits + layout->misses) / MISS_SHARE)
        layout->off = REST;
    layout->hits = layout->misses = 0;
}

/* Tries the two gaps that followed last time; the found one moves to the front. */
static inline uint16_t predict(const struct layout *layout, uint16_t *next, const char *p)
{
    if (next[0] != NO_GAP && matches(&layout->gaps[next[0]], p))
        return next[0];
    if (next[1] != NO_GAP && matches(&layout->gaps[next[1]], p)) {
        const uint16_t found = next[1];
        next[1] = next[0];
        next[0] = found;
        return found;
    }
    return NO_GAP;
}

static inline struct ta_token *slot_of(struct ta_record *record, uint8_t slot)
{
    return slot < TA_RECORD_FIELDS ? &record->field[slot]
                                   : &record->nested[slot - TA_RECORD_FIELDS];
}

enum scan_result layout_scan(struct layout *layout, const struct record_keys *keys,
                             struct scan *scan, struct ta_record *record)
{
    const uint8_t nested = keys->schema->nested;
    uint16_t opening[2] = {layout->first, NO_GAP}, *next = opening;
    uint16_t nowhere[2];
    bool in_nested = false;
    memset(record->field, 0, keys->fields.n * sizeof *record->field);
    memset(record->nested, 0, keys->nested.n * sizeof *record->nested);
    for (;;) {
        const char *const start = scan->p;
        struct gap unknown;
        const struct gap *gap = &unknown;
        uint16_t number = scan->end - start >= GAP_BYTES ? predict(layout, next, start) : NO_GAP;
        if (number != NO_GAP) {
            gap = &layout->gaps[number];
            scan->p += gap->length;
            layout->hits++;
        } else {
            unknown = (struct gap){.slot = NO_KEY, .from_nested = in_nested};
            layout->misses++;
            enum scan_result result = learn(layout, keys, scan, next == opening, &unknown, &number);
            if (result != SCAN_OK)
                return result;
            next[1] = next[0];
            next[0] = number;
        }
        if (next == opening)
            layout->first = next[0];
        if (gap->opens) {
            if (record->field[nested].type != TA_TOKEN_ABSENT)
                return SCAN_BAD;
            record->field[nested] =
                (struct ta_token){start + gap->opens - 1, 0, TA_TOKEN_OBJECT, 1};
        }
        if (gap->closes) {
            struct ta_token *object = &record->field[nested];
            object->len = (uint32_t)(start + gap->closes - 1 - object->ptr);
        }
        if (gap->ends) {
            judge(layout);
            return SCAN_OK;
        }
        if (scan->p >= scan->end)
            return SCAN_MORE;
        in_nested = gap->nested;
        struct ta_token ignored, *slot = &ignored;
        if (gap->slot != NO_KEY)
            slot = slot_of(record, gap->slot);
        /* A key that comes again, or an object behind a gap that led to a scalar before, such as
         * "args": null: its members would be missed. */
        if ((gap->slot != NO_KEY && slot->type != TA_TOKEN_ABSENT) ||
            (gap->slot == nested && *scan->p == '{'))
            return SCAN_BAD;
        enum scan_result result = scan_any(scan, slot);
        if (result != SCAN_OK)
            return result == SCAN_MORE ? SCAN_MORE : SCAN_BAD;
        nowhere[0] = nowhere[1] = NO_GAP;
        next = number == NO_GAP ? nowhere : layout->gaps[number].next;
    }
}
