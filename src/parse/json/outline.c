/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning the keys of records in which they come in no order. */
#include "parse/json/outline.h"

#include "parse/json/vector.h"

#include <stddef.h>
#include <stdlib.h>

static void forget_keys(struct outline *outline)
{
    memset(outline->keys, 0, sizeof outline->keys);
    outline->n = 0;
}

bool outline_init(struct outline *outline)
{
    outline->key = aligned_alloc(_Alignof(struct outline_key), OUTLINE_KEYS * sizeof *outline->key);
    forget_keys(outline);
    return outline->key != NULL;
}

void outline_free(struct outline *outline)
{
    free(outline->key);
}

/* Where the white space before `place` begins. */
static const char *before_space(const char *start, const char *place)
{
    while (place > start && scan_is_space(place[-1]))
        place--;
    return place;
}

/* The plain key before a colon, without its quotes. */
static bool find_name(const char *start, const char *colon, struct ta_token *name)
{
    const char *const end = before_space(start, colon);
    if (end - start < 2 || end[-1] != '"')
        return false;
    const char *first = end - 1;
    while (first > start && first[-1] != '"') {
        const unsigned char c = (unsigned char)*--first;
        if (c == '\\' || c < ' ' || c > '~')
            return false;
    }
    *name = (struct ta_token){first, (uint32_t)(end - 1 - first), TA_TOKEN_STRING, 1, 0, 0};
    return first > start;
}

/* Remembers a key or brace, whose text ends at `end`. */
static struct outline_key *add(struct outline *outline, const struct outline_key *made,
                               const char *start, const char *text, const char *end,
                               struct outline_key **slot)
{
    const size_t length = (size_t)(end - text);
    if (length > OUTLINE_TEXT || (text > start && scan_is_space(text[-1])))
        return NULL;
    outline->learned++;
    if (outline->n == OUTLINE_KEYS)
        forget_keys(outline); /* the writer may have changed */
    struct outline_key *const key = &outline->key[outline->n++];
    *key = *made;
    memcpy(key->text, text, length);
    key->mask = vector_mask(length);
    key->length = (uint8_t)length;
    size_t n = 0;
    for (const struct outline_key *other = *slot; other; other = other->chain)
        n++;
    outline->is_off |= n > OUTLINE_CHAIN;
    while (*slot && (*slot)->length > length)
        slot = &(*slot)->chain;
    key->chain = *slot;
    return *slot = key;
}

static struct outline_key *learn_brace(struct outline *outline, const char *start,
                                       const char *brace, struct outline_key **slot, bool is_nested)
{
    const char *const text = before_space(start, brace);
    const struct outline_key made = {.to_place = (uint8_t)(brace - text),
                                     .room = ROOM_JOINT,
                                     .step = sizeof(struct ta_token),
                                     .edge = EDGE_CLOSES,
                                     .then = &outline->keys[0][0],
                                     .ends = !is_nested};
    return add(outline, &made, start, text, brace + 1, slot);
}

/* What becomes of the value behind a key. */
static struct outline_key make_key(struct outline *outline, uint8_t at, bool is_nested, bool opens)
{
    struct outline_key made = {.room = ROOM_OTHER,
                               .step = sizeof(struct ta_token),
                               .then = &outline->keys[is_nested][0],
                               .is_wanted = at != NO_KEY};
    if (!made.is_wanted)
        return made;
    if (is_nested)
        made.nested = UINT64_C(1) << at;
    else
        made.fields = (uint16_t)(1 << at);
    if (opens) {
        made.room = ROOM_JOINT;
        made.edge = EDGE_OPENS;
        made.then = &outline->keys[1][1];
        return made;
    }
    const size_t token =
        is_nested ? offsetof(struct ta_record, nested[at]) : offsetof(struct ta_record, field[at]);
    made.token = (uint16_t)token;
    made.room = ROOM_RECORD;
    made.step = 0;
    return made;
}

struct outline_key *outline_learn(struct outline *outline, const struct record_keys *keys,
                                  const char *start, const char *place, struct outline_key **slot)
{
    const bool is_nested = slot >= outline->keys[1][0].slot;
    const bool is_first = slot >= outline->keys[is_nested][1].slot;
    if (*place == '}')
        return learn_brace(outline, start, place, slot, is_nested);
    struct ta_token name;
    if (*place != ':' || !find_name(start, place, &name)) /* places may be of other bytes */
        return NULL;
    const char *text = before_space(start, name.ptr - 1), *value = place + 1;
    const char begin = !is_first ? ',' : is_nested ? 0 : '{';
    if (begin && (text == start || *--text != begin))
        return NULL;
    while (scan_is_space(*value))
        value++;
    const uint8_t at = record_find_key(is_nested ? &keys->nested : &keys->fields, &name);
    const bool is_object = !is_nested && at == keys->schema->nested;
    if (*value == 0 || is_object != (*value == '{') ||
        (!is_nested && at == NO_KEY && record_is_array(keys, &name)))
        return NULL;
    struct outline_key made = make_key(outline, at, is_nested, is_object);
    made.to_place = (uint8_t)(place - text);
    return add(outline, &made, start, text, value + is_object, slot);
}

void outline_judge(struct outline *outline, uint32_t records)
{
    outline->is_off |= outline->failures > records / 2 || outline->learned > records;
    outline->failures = outline->learned = 0;
}
