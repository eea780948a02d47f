/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of the outermost object of a JSON document that has only begun, for sniff() of inputs
 * that are recognized by them. */
#ifndef TA_LIB_OUTER_KEYS_H
#define TA_LIB_OUTER_KEYS_H

#include <traceanalyze/input.h>

#include <limits.h>
#include <string.h>

struct ta_outer_probe {
    const char *at, *end;
};

/* Moves past the string whose opening quote is here; its text is `*key`. */
static inline void ta_outer_skip_string(struct ta_outer_probe *p, struct ta_slice *key)
{
    key->ptr = ++p->at;
    const char *quote = memchr(p->at, '"', (size_t)(p->end - p->at));
    const char *end = quote ? quote : p->end;
    if (memchr(p->at, '\\', (size_t)(end - p->at)))
        for (end = p->at; end < p->end && *end != '"';)
            end += *end == '\\' && p->end - end > 1 ? 2 : 1;
    key->len = (size_t)(end - key->ptr);
    p->at = end + (end < p->end);
}

/* Moves to the next character that opens, closes or parts something. */
static inline void ta_outer_skip_others(struct ta_outer_probe *p)
{
    static const bool stops[UCHAR_MAX + 1] = {
        ['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true, [','] = true};
    while (p->at < p->end && !stops[(unsigned char)*p->at])
        p->at++;
}

/* Which keys of the NULL-terminated list the outermost object has, as far as one can see: bit i
 * for keys[i]. */
static inline unsigned ta_outer_keys(const struct ta_probe *probe, const char *const *keys)
{
    struct ta_outer_probe p = {probe->head.ptr, ta_slice_end(probe->head)};
    unsigned found = 0;
    int depth = 0;
    bool expects_key = false;
    static const char trace[] = "\"traceEvents\""; /* a trace, whatever else it has */
    if (probe->head.len && memmem(p.at, probe->head.len, trace, sizeof trace - 1))
        return 0;
    for (; p.at < p.end && *p.at != '{'; p.at++)
        if (!memchr(" \t\r\n", *p.at, 4))
            return 0;
    while (p.at < p.end) {
        struct ta_slice key;
        const char c = *p.at;
        if (c == '"') {
            ta_outer_skip_string(&p, &key);
            for (unsigned i = 0; expects_key && keys[i]; i++)
                found |= ta_slice_equal(key, ta_slice_of(keys[i])) ? 1u << i : 0;
            expects_key = false;
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth == 1 && (c == '{' || c == ','))
            expects_key = true;
        p.at++;
        ta_outer_skip_others(&p);
    }
    return found;
}

#endif
