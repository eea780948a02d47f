/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spans of some names, of which there are few: steps, calls for memory, compiled regions.  Most
 * names are told apart once each, and most spans are not looked at. */
#ifndef TA_MODEL_NAMED_H
#define TA_MODEL_NAMED_H

#include "traceanalyze/model.h"

/* What is wanted of a name, not 0; 0 when its spans are not asked for. */
typedef uint8_t ta_name_kind(struct ta_slice name);

/* Reports each span whose name is wanted, of all categories, in the order of rows.  Asks about
 * each name that a span has once.  Linear in the spans when a wanted name is among the most
 * frequent ones, else in the spans of the others.  From any thread; false without memory. */
TA_MUST_CHECK bool ta_each_named(const struct ta_trace *trace, ta_name_kind *kind,
                                 void (*report)(void *user, ta_row row, uint8_t kind), void *user);

/* Adds the number of the spans of each wanted name to counts[], by what is wanted of the name.
 * Linear in the names.  From any thread; false without memory. */
TA_MUST_CHECK bool ta_count_named(const struct ta_trace *trace, ta_name_kind *kind,
                                  int64_t *counts);

#endif
