/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two builders become one: the parts of a file that several threads have read. */
#ifndef TA_MODEL_APPEND_H
#define TA_MODEL_APPEND_H

#include "model/builder.h"

/* From ids of a builder to the ids of the one that its rows are added to. */
struct ta_renaming {
    TA_VEC(ta_str) names;
    TA_VEC(ta_cat) cats;
    TA_VEC(uint32_t) tracks;
};

/* Zero-initialized it knows no id yet. */
void ta_renaming_free(struct ta_renaming *ids);

/* Whether ta_builder_append() gives what one builder would have made: not when both together may
 * reach a limit on names, categories or rows, since what is pooled then depends on the order of
 * single events. */
bool ta_builder_fits(const struct ta_builder *into, const struct ta_builder *from,
                     const struct ta_renaming *ids);

/* Adds everything that `from` has, as if `into` had been given the same calls after its own, and
 * lets it forget all but names, tracks and categories: it can be filled again, and added again with
 * the same renaming.  Both were made with the same needs and keys.  Accounts are left to the
 * caller.  False without memory, with both good for nothing but ta_builder_free(). */
bool ta_builder_append(struct ta_builder *into, struct ta_builder *from,
                       struct ta_renaming *ids) TA_MUST_CHECK;

#endif
