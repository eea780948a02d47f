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

enum ta_intern ta_strings_intern(struct ta_strings *strings, struct ta_slice text, ta_str *id)
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
