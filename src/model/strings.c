/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interned strings. */
#include "model/strings.h"

#include "base/hash.h"

struct string_slot {
    uint32_t hash;
    ta_str id; /* 0: empty */
};

bool ta_strings_init(struct ta_strings *strings, size_t limit)
{
    *strings = (struct ta_strings){.mask = 1023, .limit = limit};
    strings->slots = calloc(strings->mask + 1, sizeof *strings->slots);
    /* Where memory lies differs from run to run; no id and no order depends on it. */
    strings->seed = ta_hash_mix((uintptr_t)strings->slots);
    return strings->slots && ta_vec_push(&strings->texts, (struct ta_slice){"", 0});
}

void ta_strings_free(struct ta_strings *strings)
{
    ta_arena_free(&strings->arena);
    free(strings->texts.at);
    free(strings->slots);
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
    return true;
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

enum ta_intern ta_strings_intern(struct ta_strings *strings, struct ta_slice text, ta_str *id)
{
    uint64_t head, tail;
    ends_of(text, &head, &tail);
    const uint64_t mixed = (head ^ tail << 1 ^ text.len) * UINT64_C(0x9e3779b97f4a7c15);
    struct recent_string *recent = &strings->recent[mixed >> 56];
    if (recent->head == head && recent->tail == tail && recent->length == text.len && recent->id &&
        same_middle(recent->text, text.ptr, text.len)) {
        *id = recent->id;
        return TA_INTERN_OK;
    }
    const enum ta_intern done = intern(strings, text, id);
    if (done == TA_INTERN_OK && text.len <= UINT32_MAX)
        *recent =
            (struct recent_string){head, tail, strings->texts.at[*id].ptr, (uint32_t)text.len, *id};
    return done;
}
