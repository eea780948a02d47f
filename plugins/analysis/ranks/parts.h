/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks that belong together. */
#ifndef TA_RANKS_PARTS_H
#define TA_RANKS_PARTS_H

#include "figures.h"

struct part {
    const char *kind, *label;
    const int64_t *ranks; /* ascending */
    size_t n;
};

/* Parts of one kind follow each other. */
struct parts {
    struct part *at;
    size_t n, max;
    struct ta_arena arena;
};

/* Texts and ranks stay the caller's; false without memory, as below. */
bool parts_add(struct parts *parts, const char *kind, const char *label, const int64_t *ranks,
               size_t n) TA_MUST_CHECK;
/* ranks.parts and parts.metrics. */
bool parts_report(const struct figures *figures, const struct ta_refs *in, struct parts *parts,
                  struct ta_section_builder *out) TA_MUST_CHECK;
void parts_free(struct parts *parts);

#endif
