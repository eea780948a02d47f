/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in cells: what the readers of FramePack's printed tables share. */
#ifndef FRAMEPACK_TEXT_H
#define FRAMEPACK_TEXT_H

#include <traceanalyze/document.h>
#include <traceanalyze/dump.h>

enum { CELLS = 32 };

/* Cells of a row, the last `n` of them: what is before belongs to the first. */
struct cells {
    size_t n;
    struct ta_slice at[CELLS];
};

/* Splits at two blanks or more, or with `least` 1 at any, from the right: at most `most` cells, of
 * which the first takes what is left. */
struct cells split_from_right(struct ta_slice line, unsigned least, size_t most);

bool starts_with(struct ta_slice text, const char *prefix);
bool contains(struct ta_slice text, const char *what);
/* At least `least` times the same character and nothing else but blanks. */
bool is_rule(struct ta_slice line, char character, size_t least);

/* "1.710s", "24.658ms", "267.833us"; TA_MISSING for all else. */
int64_t time_of(struct ta_slice cell);

#endif
