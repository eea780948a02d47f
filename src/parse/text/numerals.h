/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as spreadsheets and localized programs write them: 19,0 and 285 118 634 and
 * 7,211,034,880.  Which of comma and point is the decimal one is decided once for a text, by the
 * numbers in it that can be read in one way only; "1,234" says nothing. */
#ifndef TA_PARSE_TEXT_NUMERALS_H
#define TA_PARSE_TEXT_NUMERALS_H

#include "traceanalyze/base.h"

struct ta_numerals {
    char point;             /* '.' or ',': begins the decimals; the other one separates thousands */
    uint32_t commas, points; /* numbers seen in which that one can only be the decimal one */
};

/* Looks at a cell, which may have a unit after a blank; no number says nothing. */
void ta_numerals_see(struct ta_numerals *numerals, struct ta_slice cell);
/* The more frequent one, else the usual one: the point, but where semicolons separate cells,
 * since programs write those where the comma is taken. */
void ta_numerals_decide(struct ta_numerals *numerals, char separator);
/* Looks at all cells of a text, of which the last line may be cut unless it is `whole`, and
 * decides. */
struct ta_numerals ta_numerals_of(struct ta_slice text, bool whole, char separator);

enum { TA_NUMERAL_BYTES = 64 };

/* The number of a cell as the C locale writes it; `*local` says whether that is something else
 * than the cell.  The cell itself when it is no number: nothing is guessed. */
struct ta_slice ta_numerals_plain(const struct ta_numerals *numerals, struct ta_slice cell,
                                  char copy[TA_NUMERAL_BYTES], bool *local);

#endif
