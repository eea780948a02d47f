/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON text on its way into a tree: what document.c, which has the bytes, shares with tree.c,
 * which reads the values in them.
 *
 * A syntax error costs the innermost element of an array that it lies in, since what is left of a
 * record may be wrong as well; outside of arrays it costs the innermost member of an object. */
#ifndef TA_PARSE_TREE_H
#define TA_PARSE_TREE_H

#include "parse/json/mend.h"

enum {
    TREE_DEPTH_MAX = 1000, /* of calls, here and when jansson frees a tree */
    TREE_VALUES_MAX = 1 << 24
};

/* Why reading ended before the document did. */
enum tree_cut { TREE_WHOLE, TREE_SHORT, TREE_BROKEN, TREE_LIMIT, TREE_NOMEM };

struct tree {
    struct ta_quality *quality;
    struct scan scan;
    const char *start;
    size_t depth, most_depth, arrays, n_values;
    struct mend mend;
    uint64_t n_lost;    /* elements that damage took, those within others not counted */
    uint64_t n_skipped; /* bytes of them and around them */
    bool damaged;
    uint64_t damage_at; /* the first */
    char *text;         /* decoded, freed by the caller */
    size_t text_max;
    enum tree_cut cut;
};

static inline uint64_t tree_offset(const struct tree *tree, const char *place)
{
    return (uint64_t)(place - tree->start);
}

/* Accounts for what the scan repaired. */
void tree_account_notes(struct tree *tree);

/* Accounts for damage at `error` that cost the bytes from `lost` to the cursor. */
void tree_account_damage(struct tree *tree, const char *lost, const char *error);

/* A value at its first byte, for the caller to free; NULL when none of it can be used. */
json_t *tree_read_value(struct tree *tree, bool *whole);

/* Whether the cursor is on a member. */
bool tree_is_member(const struct tree *tree);

/* Members of an object up to its closing brace, after the opening one if they are the `first`, or
 * else after another member; false when the brace was not found. */
bool tree_read_members(struct tree *tree, json_t *object, bool first);

#endif
