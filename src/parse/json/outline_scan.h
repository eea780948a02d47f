/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scanning a record by its outline (outline.h); part of layout_scan.h, which has the values. */
#ifndef TA_PARSE_OUTLINE_SCAN_H
#define TA_PARSE_OUTLINE_SCAN_H

#include "parse/json/layout_bucket.h"
#include "parse/json/outline.h"

/* ---- colons and braces ----------------------------------------------------------------------- */

/* Bit i: byte i is escaped by a backslash before it. */
__attribute__((noinline)) static uint64_t escaped_bits(uint64_t backslashes, bool *escaped)
{
    uint64_t bits = *escaped;
    backslashes &= ~bits;
    *escaped = false;
    while (backslashes) {
        const uint64_t bit = backslashes & -backslashes;
        *escaped = bit >> 63;
        bits |= bit << 1;
        backslashes &= ~(bit | bit << 1);
    }
    return bits;
}

/* Bit i: an odd number of bits is set up to there. */
static inline uint64_t odd_bits(uint64_t bits)
{
#ifdef __PCLMUL__
    const __m128i ones = _mm_set1_epi8((char)0xff);
    return (uint64_t)_mm_cvtsi128_si64(
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), ones, 0));
#else
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
#endif
}

/* Those in the next 64 bytes. */
static inline void find_places64(struct outline_places *found)
{
    const char *const p = found->end;
    uint64_t quotes = vector_equal64(p, TA_QUOTE);
    const uint64_t backslashes = vector_equal64(p, TA_BACKSLASH);
    if (__builtin_expect(backslashes || found->escaped, false))
        quotes &= ~escaped_bits(backslashes, &found->escaped);
    const uint64_t in_string = odd_bits(quotes) ^ found->in_string;
    found->in_string = -(in_string >> 63);
    uint64_t bits =
        (vector_equal64(p, TA_COLON) | vector_equal64(p, TA_CLOSING_BRACE)) & ~in_string;
    const uint32_t n = found->n + (uint32_t)__builtin_popcountll(bits);
    /* As many as there mostly are at once: how many cannot be guessed. */
    enum { MOSTLY = 4 };
    const size_t at = (size_t)(p - found->start);
    for (uint16_t *place = found->place + found->n; bits; place += MOSTLY)
        for (int i = 0; i < MOSTLY; i++, bits &= bits - 1)
            place[i] = (uint16_t)(at + (unsigned)__builtin_ctzll(bits | UINT64_C(1) << 63));
    found->n = n;
    found->end = p + 64;
}

/* Looks for more of them behind those that were used; false when the window ends. */
__attribute__((noinline)) static bool find_places(struct outline_places *found, const char *end)
{
    do {
        if (found->end >= end)
            return false;
        found->start = found->end;
        found->next = found->n = 0;
        for (int i = 0; i < OUTLINE_AHEAD && found->end < end; i += 64)
            find_places64(found);
    } while (found->n == 0);
    return true;
}

/* Goes on behind the record before when this one seems to follow, or anew.  Should the window have
 * been filled with something else since, the places are those of other bytes: no matter. */
static inline void begin_places(struct outline_places *found, const char *start, const char *end)
{
    const uintptr_t at = (uintptr_t)start;
    if (at >= (uintptr_t)found->start && at <= (uintptr_t)found->end &&
        (uintptr_t)found->end < (uintptr_t)end + 64) {
        while (found->next < found->n && found->start + found->place[found->next] < start)
            found->next++;
        if (found->next < found->n)
            return;
    }
    found->start = found->end = start;
    found->next = found->n = 0;
    found->in_string = 0;
    found->escaped = false;
}

/* ---- keys and separators --------------------------------------------------------------------- */

/* Whether no white space is left before or behind a key or brace: it may be another one then, which
 * has this one as a part. */
static inline bool is_whole(const struct outline_key *key, const char *start, const char *gap)
{
    return (gap == start || (unsigned char)gap[-1] > ' ') &&
           (key->room == ROOM_JOINT || (unsigned char)gap[key->length] > ' ');
}

/* The key whose colon this is, or the brace; NULL when the record is not for this.  Keys are looked
 * up by the six bytes before their colon: their ends, or all of them and some of the separator. */
static inline const struct outline_key *key_at(struct outline *outline,
                                               const struct record_keys *keys, const char *start,
                                               const char *place, struct outline_keys *known,
                                               bool is_careful)
{
    _Static_assert((OUTLINE_SLOTS & (OUTLINE_SLOTS - 1)) == 0 && OUTLINE_SLOTS <= 1 << 16, "bits");
    const size_t n = place - start < 6 ? (size_t)(place - start) : 6;
    const uint64_t hash = word_of(place - n, n) * UINT64_C(0x9e3779b97f4a7c15);
    const size_t brace = -(size_t)(*place == '}');
    struct outline_key **const slot = &known->slot[(hash >> 48 | brace) % OUTLINE_SLOTS];
    for (const struct outline_key *key = *slot; key; key = key->chain)
        if (key->to_place <= place - start &&
            vector_matches(place - key->to_place, key->text, key->length, key->mask) &&
            (!is_careful || is_whole(key, start, place - key->to_place)))
            return key;
    return outline_learn(outline, keys, start, place, slot);
}

/* ---- the members of a record ----------------------------------------------------------------- */

/* What was found by an outline: in the record, and beside it. */
struct outlined {
    unsigned fields, n_wanted;
    uint64_t nested;
    char *room[OUTLINE_ROOMS];                  /* where the next value goes */
    const char *edge[OUTLINE_EDGES];            /* of the nested object; NULL: there is none */
    struct ta_token joint[1 + OUTLINE_MEMBERS]; /* what stands behind braces: nothing */
    struct ta_token other[OUTLINE_MEMBERS];     /* values that nobody wants */
};

static inline void begin_members(struct outlined *found, struct ta_record *record)
{
    found->fields = found->n_wanted = 0;
    found->nested = 0;
    found->room[ROOM_RECORD] = (char *)record;
    found->room[ROOM_OTHER] = (char *)found->other;
    found->room[ROOM_JOINT] = (char *)&found->joint[1];
    found->edge[EDGE_OPENS] = NULL;
}

/* The token of the value behind a key. */
static inline struct ta_token *token_of(struct outlined *found, const struct outline_key *key)
{
    char *const token = found->room[key->room] + key->token;
    found->room[key->room] += key->step;
    return (struct ta_token *)(void *)token;
}

/* Where each value begins and what follows it; returns the end of the record, or NULL when it is
 * not for this.  What comes next cannot be guessed, so nothing branches by what it is. */
__attribute__((always_inline)) static inline const char *
find_members(struct outline *outline, const struct record_keys *keys, const char *start,
             const char *end, bool is_careful, struct outlined *found)
{
    struct outline_places *const places = &outline->places;
    struct outline_keys *known = &outline->keys[0][1];
    struct ta_token *last = &found->joint[0];
    last->ptr = start;
    for (size_t n = 0; n < OUTLINE_MEMBERS; n++) {
        if (__builtin_expect(places->next == places->n, false) && !find_places(places, end))
            return NULL;
        const char *const place = places->start + places->place[places->next++];
        const struct outline_key *const key =
            key_at(outline, keys, start, place, known, is_careful);
        if (__builtin_expect(!key, false))
            return NULL;
        const char *const gap = place - key->to_place, *const value = gap + key->length;
        last->len = (uint32_t)(gap - last->ptr);
        if (key->ends)
            return value;
        found->fields |= key->fields;
        found->nested |= key->nested;
        found->n_wanted += key->is_wanted;
        found->edge[key->edge] = value;
        known = key->then;
        last = token_of(found, key);
        last->ptr = value;
    }
    return NULL;
}

/* ---- their values ---------------------------------------------------------------------------- */

__attribute__((noinline)) static bool is_other_value(struct scan *scan, const char *p,
                                                     size_t length, struct ta_token *token)
{
    enum scan_result result;
    return take_other(p, scan, token, &result) == p + length && scan->notes == 0;
}

/* Whether a token's text is one value and nothing else; if it is wanted, it gets the rest of its
 * members. */
__attribute__((always_inline)) static inline bool is_value(struct scan *scan,
                                                           struct ta_token *token, bool is_wanted)
{
    const char *const p = token->ptr;
    const size_t length = token->len;
    const char *const end = take_plain(p, scan, is_wanted ? token : NULL);
    return __builtin_expect(end == p + length, true) ||
           (!end && is_other_value(scan, p, length, token));
}

/* The same of a plain string or number of at most 31 bytes.  Which of both it is cannot be guessed
 * if nobody wants it, so there is no branch; a bit stands for each byte. */
static inline bool is_short_value(const struct ta_token *token)
{
    const char *const p = token->ptr;
    if (token->len - 1 >= 31)
        return false;
    const uint32_t all = (UINT32_C(1) << token->len) - 1, last = all ^ all >> 1;
    const uint32_t quotes = vector_equal32(p, TA_QUOTE), specials = vector_specials32(p);
    const uint32_t is_string = quotes & 1, ends = last | 1;
    const uint32_t no_string =
        ((specials & all) ^ ends) | (~quotes & ends) | (uint32_t)(token->len == 1);

    const uint32_t digits = ~vector_no_digits32(p) & all, points = vector_equal32(p, TA_POINT);
    const uint32_t minus = *p == '-', starts_with_zero = p[minus] == '0';
    const uint32_t point = all & ~digits & ~minus; /* which may be missing */
    const uint32_t no_number = (point & (~points | (point - 1))) | (~digits & last) |
                               (~digits >> minus & 1) | (starts_with_zero & digits >> minus >> 1);
    return ((no_string & -is_string) | (no_number & (is_string - 1))) == 0;
}

/* All that stands between keys and separators are values. */
static inline bool are_values(struct scan *scan, struct ta_record *record, unsigned fields,
                              struct outlined *found)
{
    for (; fields; fields &= fields - 1)
        if (!is_value(scan, &record->field[__builtin_ctz(fields)], true))
            return false;
    for (uint64_t nested = found->nested; nested; nested &= nested - 1)
        if (!is_value(scan, &record->nested[__builtin_ctzll(nested)], true))
            return false;
    for (struct ta_token *other = found->other; (char *)other < found->room[ROOM_OTHER]; other++)
        if (!is_short_value(other) && !is_value(scan, other, false))
            return false;
    return true;
}

/* No key comes twice, and nothing stands where nothing may. */
static inline bool are_sound(const struct outlined *found)
{
    const int n = __builtin_popcount(found->fields) + __builtin_popcountll(found->nested);
    uint32_t between = 0;
    for (const struct ta_token *joint = found->joint; (char *)joint < found->room[ROOM_JOINT];
         joint++)
        between |= joint->len;
    return (unsigned)n == found->n_wanted && between == 0;
}

/* ---- the record ------------------------------------------------------------------------------ */

__attribute__((always_inline)) static inline enum scan_result
scan_members(struct outline *outline, const struct record_keys *keys, struct scan *scan,
             struct ta_record *record, bool is_careful)
{
    struct outlined found;
    begin_members(&found, record);
    begin_places(&outline->places, scan->p, scan->end);
    const char *const end = find_members(outline, keys, scan->p, scan->end, is_careful, &found);
    if (!end) /* what is wrong near the end of the window looks as if it went on there */
        return outline->places.end >= scan->end ? SCAN_MORE : SCAN_BAD;
    const uint8_t nested = keys->schema->nested;
    const char *const object = found.edge[EDGE_OPENS];
    const unsigned fields = object ? found.fields & ~(1u << nested) : found.fields;
    if (!are_sound(&found) || !are_values(scan, record, fields, &found))
        return SCAN_BAD;
    if (object)
        record->field[nested] = (struct ta_token){
            object - 1, (uint32_t)(found.edge[EDGE_CLOSES] - object + 1), TA_TOKEN_OBJECT, 1, 0, 0};
    scan->p = end;
    return has_values(record, found.fields, found.nested);
}

/* Takes note that a record was not as expected, or not all there: the window will move. */
__attribute__((noinline)) static void outline_fails(struct outline *outline,
                                                    enum scan_result result)
{
    outline->places.start = outline->places.end = NULL;
    outline->failures += result == SCAN_BAD;
    outline->careful = result == SCAN_BAD ? OUTLINE_CAREFUL : outline->careful;
}

/* The record at the cursor, if all of it is there and as expected; false otherwise, with its tokens
 * void. */
static inline bool scan_by_outline(struct outline *outline, const struct record_keys *keys,
                                   struct scan *scan, struct ta_record *record)
{
    const bool is_careful = outline->careful > 0;
    outline->careful -= is_careful;
    const enum scan_result result = *scan->p != '{' ? SCAN_BAD
                                    : is_careful ? scan_members(outline, keys, scan, record, true)
                                                 : scan_members(outline, keys, scan, record, false);
    if (result != SCAN_OK)
        outline_fails(outline, result);
    return result == SCAN_OK;
}

#endif
