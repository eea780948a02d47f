/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two builders become one: the parts of a file that several threads have read. */
#ifndef TA_MODEL_APPEND_H
#define TA_MODEL_APPEND_H

#include "model/builder.h"

/* Whether ta_builder_append() gives what one builder would have made: not when both together may
 * reach a limit on names, categories or rows, since what is pooled then depends on the order of
 * single events. */
bool ta_builder_fits(const struct ta_builder *into, const struct ta_builder *from);

/* Adds everything that `from` has, as if `into` had been given the same calls after its own.  Both
 * were made with the same needs and keys.  The columns of `from` are freed one by one; nothing but
 * ta_builder_free() may be done with it afterwards.  Accounts are left to the caller.  False
 * without memory, with both good for nothing but ta_builder_free(). */
bool ta_builder_append(struct ta_builder *into, struct ta_builder *from) TA_MUST_CHECK;

#endif
