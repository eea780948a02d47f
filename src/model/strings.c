/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interned strings. */
#include "model/strings.h"

#include "base/hash.h"

struct string_slot {
    uint32_t hash;
    ta_str id; /* 0: empty */
};

/* Slots of a fresh table: most hold few texts.  Those that came lately are remembered in as many
 * places as there are slots, as long as these stay in the cache. */
enum { FEW_SLOTS = 64, RECENT_MOST = 1024 };

/* Forgets the texts that came lately, to remember as many as go with the slots. */
static bool renew_recent(struct ta_strings *strings)
{
    const size_t slots = strings->mask + 1, n = slots < RECENT_MOST ? slots : RECENT_MOST;
    const unsigned shift = 64 - (unsigned)__builtin_ctzll(n);
    if (strings->recent && shift == strings->recent_shift)
        return true;
    struct recent_string *recent = calloc(n, sizeof *recent);
    if (!recent)
        return false;
    free(strings->recent);
    strings->recent = recent;
    strings->recent_shift = shift;
    return true;
}

bool ta_strings_init(struct ta_strings *strings, size_t limit)
{
    *strings = (struct ta_strings){.mask = FEW_SLOTS - 1, .limit = limit};
    strings->slots = calloc(strings->mask + 1, sizeof *strings->slots);
    /* Where memory lies differs from run to run; no id and no order depends on it. */
    strings->seed = ta_hash_mix((uintptr_t)strings->slots);
    return strings->slots && renew_recent(strings) &&
           ta_vec_push(&strings->texts, (struct ta_slice){"", 0});
}

void ta_strings_free(struct ta_strings *strings)
{
    ta_arena_free(&strings->arena);
    free(strings->texts.at);
    free(strings->slots);
    free(strings->recent);
}

static bool grow(struct ta_strings *strings)
{
    const size_t size = (strings->mask + 1) * 2;
    struct string_slot *slots = calloc(size, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i <= strings->mask; i++) {
        if (!strings->slots[i].id)
            continue;
        size_t at = strings->slots[i].hash & (size - 1);
        while (slots[at].id)
            at = (at + 1) & (size - 1);
        slots[at] = strings->slots[i];
    }
    free(strings->slots);
    strings->slots = slots;
    strings->mask = size - 1;
    return renew_recent(strings);
}

/* ---- strings that come again and again ------------------------------------------------------ */

static inline uint64_t word_at(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

static inline uint64_t half_at(const char *text)
{
    uint32_t half;
    memcpy(&half, text, sizeof half);
    return half;
}

/* The first and the last bytes, which are all of up to 16. */
static inline void ends_of(struct ta_slice text, uint64_t *head, uint64_t *tail)
{
    const char *const p = text.ptr;
    if (text.len >= 8) {
        *head = word_at(p);
        *tail = word_at(p + text.len - 8);
    } else if (text.len >= 4) {
        *head = half_at(p);
        *tail = half_at(p + text.len - 4);
    } else {
        *head = *tail = 0;
        for (size_t i = 0; i < text.len; i++)
            *head = *head << 8 | (unsigned char)p[i];
    }
}

/* What lies between the ends; words overlap at the end. */
static inline bool same_middle(const char *a, const char *b, size_t length)
{
    uint64_t differ = 0;
    for (size_t i = 8; i + 16 < length; i += 16)
        differ |= (word_at(a + i) ^ word_at(b + i)) | (word_at(a + i + 8) ^ word_at(b + i + 8));
    if (length > 24)
        differ |= (word_at(a + length - 24) ^ word_at(b + length - 24)) |
                  (word_at(a + length - 16) ^ word_at(b + length - 16));
    else if (length > 16)
        differ |= word_at(a + 8) ^ word_at(b + 8);
    return differ == 0;
}

/* Where a text is kept, by its ends, and what is in the middle of a long one: shapes of a kind
 * begin and end alike. */
static inline size_t place_of(const struct ta_strings *strings, struct ta_slice text, uint64_t head,
                              uint64_t tail)
{
    const uint64_t middle = text.len >= 16 ? word_at(ta_slice_at(text, text.len / 2)) : 0;
    const uint64_t mixed =
        (head ^ tail << 1 ^ middle << 2 ^ text.len) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed >> strings->recent_shift;
}

static inline bool is_of(const struct recent_string *recent, struct ta_slice text, uint64_t head,
                         uint64_t tail)
{
    return recent->head == head && recent->tail == tail && recent->length == text.len &&
           recent->id && same_middle(recent->text, text.ptr, text.len);
}

static enum ta_intern intern(struct ta_strings *strings, struct ta_slice text, ta_str *id)
{
    const uint32_t hash = (uint32_t)ta_hash_bytes(text.ptr, text.len, strings->seed);
    size_t at = hash & strings->mask;
    for (; strings->slots[at].id; at = (at + 1) & strings->mask) {
        const struct string_slot slot = strings->slots[at];
        if (slot.hash == hash && ta_slice_equal(strings->texts.at[slot.id], text)) {
            *id = slot.id;
            return TA_INTERN_OK;
        }
    }
    if (strings->texts.n > strings->limit)
        return TA_INTERN_FULL;
    const char *copy = ta_arena_copy(&strings->arena, text);
    if (!copy || !ta_vec_push(&strings->texts, (struct ta_slice){copy, text.len}))
        return TA_INTERN_NOMEM;
    *id = (ta_str)(strings->texts.n - 1);
    strings->slots[at] = (struct string_slot){hash, *id};
    if (strings->texts.n * 2 > strings->mask && !grow(strings))
        return TA_INTERN_NOMEM;
    return TA_INTERN_OK;
}

/* For a text that is not at its place: where two share one, the other is next to it. */
static __attribute__((noinline)) enum ta_intern
intern_slowly(struct ta_strings *strings, struct ta_slice text, size_t place, ta_str *id)
{
    uint64_t head, tail;
    ends_of(text, &head, &tail);
    if (is_of(&strings->recent[place ^ 1], text, head, tail)) {
        *id = strings->recent[place ^ 1].id;
        return TA_INTERN_OK;
    }
    const enum ta_intern done = intern(strings, text, id);
    if (done == TA_INTERN_OK && text.len <= UINT32_MAX) {
        place = place_of(strings, text, head, tail); /* the table may have grown */
        strings->recent[place ^ 1] = strings->recent[place];
        strings->recent[place] =
            (struct recent_string){head, tail, strings->texts.at[*id].ptr, (uint32_t)text.len, *id};
    }
    return done;
}

enum ta_intern ta_strings_intern(struct ta_strings *strings, struct ta_slice text, ta_str *id)
{
    uint64_t head, tail;
    ends_of(text, &head, &tail);
    const size_t place = place_of(strings, text, head, tail);
    const struct recent_string *recent = &strings->recent[place];
    if (!is_of(recent, text, head, tail))
        return intern_slowly(strings, text, place, id);
    *id = recent->id;
    return TA_INTERN_OK;
}
