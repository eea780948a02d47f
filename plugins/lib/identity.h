/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was run with what, in a few words: the line below the title of every output. */
#ifndef TA_LIB_IDENTITY_H
#define TA_LIB_IDENTITY_H

#include <traceanalyze/table.h>

enum { TA_IDENTITY_PARTS = 12, TA_IDENTITY_TEXT_MAX = 2048 };

/* "1 image 1024×1024 × 4 steps", "4 ranks, sequence parallel", "NVIDIA H200", "CUDA 12.9",
 * "recorded with Python stacks", "2026-01-15": what is not known is left out. */
struct ta_identity {
    const char *parts[TA_IDENTITY_PARTS];
    size_t n;
    size_t used; /* of the text */
    char text[TA_IDENTITY_TEXT_MAX];
};

void ta_identity_say(struct ta_identity *identity, const struct ta_report *report);

/* All parts in one line, " · " between them. */
const char *ta_identity_line(const struct ta_identity *identity, char line[TA_IDENTITY_TEXT_MAX]);

#endif
