/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interned strings: equal texts have one id, ids count up in the order of first sight. */
#ifndef TA_MODEL_STRINGS_H
#define TA_MODEL_STRINGS_H

#include "base/vec.h"
#include "traceanalyze/base.h"

/* A string that was interned lately, found by its ends. */
struct recent_string {
    uint64_t head, tail; /* its first and last bytes, see ends_of() */
    const char *text;
    uint32_t length;
    ta_str id; /* 0: empty */
};

struct ta_strings {
    struct ta_arena arena;
    TA_VEC(struct ta_slice) texts; /* texts.at[0] means "absent" */
    struct string_slot *slots;
    size_t mask;
    size_t limit;  /* distinct texts at most */
    uint64_t seed; /* of the hashes */
    struct recent_string *recent;
    unsigned recent_shift; /* of a mixed word, to a place among them */
};

bool ta_strings_init(struct ta_strings *strings, size_t limit);
void ta_strings_free(struct ta_strings *strings);

enum ta_intern { TA_INTERN_OK, TA_INTERN_FULL, TA_INTERN_NOMEM };

enum ta_intern ta_strings_intern(struct ta_strings *strings, struct ta_slice text, ta_str *id);

static inline struct ta_slice ta_strings_text(const struct ta_strings *strings, ta_str id)
{
    return strings->texts.at[id];
}

#endif
