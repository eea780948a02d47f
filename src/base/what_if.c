/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/what_if.h"

#include "base/suggest.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name, *alias;
    double least, most;
    bool is_whole;
} keys[TA_WHAT_IF_KEYS] = {
    [TA_WHAT_IF_STEPS] = {"steps", NULL, 1, 100000, true},
    [TA_WHAT_IF_BLOCK] = {"block", NULL, 1, 100000, true},
    [TA_WHAT_IF_FRAMES] = {"frames", NULL, 1, 1e9, true},
    [TA_WHAT_IF_GUIDANCE] = {"guidance", "cfg", 1, 8, true},
    [TA_WHAT_IF_CACHED] = {"cached", NULL, 0, 1, false},
};

/* The key whose name, or alias, is before a "="; TA_WHAT_IF_KEYS without one. */
static size_t key_of(const char *text)
{
    const size_t length = strcspn(text, "=");
    for (size_t k = 0; text[length] == '=' && k < TA_WHAT_IF_KEYS; k++)
        for (int i = 0; i < 2; i++) {
            const char *name = i ? keys[k].alias : keys[k].name;
            if (name && strlen(name) == length && strncmp(text, name, length) == 0)
                return k;
        }
    return TA_WHAT_IF_KEYS;
}

bool ta_what_if_is(const char *text)
{
    return key_of(text) < TA_WHAT_IF_KEYS;
}

static enum ta_status refuse_key(struct ta_ctx *ctx, const char *text)
{
    char word[32] = "", hint[TA_SUGGEST_TEXT_MAX];
    const size_t length = strcspn(text, "=");
    memcpy(word, text, length < sizeof word ? length : 0);
    struct ta_suggest close = {.word = word};
    for (size_t k = 0; k < TA_WHAT_IF_KEYS; k++)
        ta_suggest_offer(&close, keys[k].name);
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable plan: --plan=%s, expected KEY=N[,N...] with one of the keys steps, "
                   "block, frames, guidance, cached%s",
                   text, ta_suggest_text(&close, hint));
}

static enum ta_status refuse_value(struct ta_ctx *ctx, const char *text, size_t key)
{
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable plan: --plan=%s, expected %s from %g to %g, separated by commas", text,
                   keys[key].is_whole ? "whole numbers" : "numbers", keys[key].least,
                   keys[key].most);
}

enum ta_status ta_what_if_add(struct ta_ctx *ctx, struct ta_what_if *what_if, const char *text)
{
    const size_t key = key_of(text);
    if (key == TA_WHAT_IF_KEYS)
        return refuse_key(ctx, text);
    for (const char *at = strchr(text, '=') + 1;;) {
        char *end;
        const double value = *at >= '0' && *at <= '9' ? strtod(at, &end) : NAN;
        if (!(value >= keys[key].least && value <= keys[key].most) ||
            (keys[key].is_whole && floor(value) < value) || (*end != ',' && *end != '\0'))
            return refuse_value(ctx, text, key);
        if (what_if->of[key].n == TA_WHAT_IF_VALUES)
            return ta_fail(ctx, TA_ERR_USAGE, "Too many values: --plan=%s, %d at most", text,
                           TA_WHAT_IF_VALUES);
        what_if->of[key].at[what_if->of[key].n++] = value;
        if (*end == '\0')
            break;
        at = end + 1;
    }
    if (ta_what_if_ways(what_if) > TA_WHAT_IF_WAYS)
        return ta_fail(ctx, TA_ERR_USAGE, "Too many plans: --plan=%s makes %zu of them, %d at most",
                       text, ta_what_if_ways(what_if), TA_WHAT_IF_WAYS);
    return TA_OK;
}

size_t ta_what_if_ways(const struct ta_what_if *what_if)
{
    size_t ways = 1;
    bool any = false;
    for (size_t k = 0; k < TA_WHAT_IF_KEYS; k++) {
        any |= what_if->of[k].n > 0;
        ways *= what_if->of[k].n > 0 ? what_if->of[k].n : 1; /* at most 32 to the fifth */
    }
    return any ? ways : 0;
}

void ta_what_if_at(const struct ta_what_if *what_if, size_t way, double values[TA_WHAT_IF_KEYS])
{
    for (size_t k = TA_WHAT_IF_KEYS; k-- > 0;) {
        const size_t n = what_if->of[k].n;
        values[k] = n ? what_if->of[k].at[way % n] : NAN;
        way /= n ? n : 1;
    }
}
