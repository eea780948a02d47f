/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from input made safe for terminals and logs: what could act on them becomes visible. */
#ifndef TA_BASE_VISIBLE_H
#define TA_BASE_VISIBLE_H

#include "traceanalyze/base.h"

/* Longest visible form of one character, "\u202e" or four bytes of UTF-8. */
#define TA_VISIBLE_STEP_MAX 6

/* Takes one character off the front of *text (which must not be empty) and writes what may be shown
 * for it: itself, or an escape for control characters (C0, DEL, C1: \x1b, \u009b), bytes that are
 * not UTF-8 (\xff) and bidirectional controls (\u202e). Newline and tab count as control
 * characters: our own are written without this. Returns the bytes written. */
size_t ta_visible_step(struct ta_slice *text, char out[TA_VISIBLE_STEP_MAX]);

/* Writes the visible form of the whole text and a NUL, cut at a character that does not fit into
 * `max` bytes.  Returns the length. */
size_t ta_visible(char *out, size_t max, struct ta_slice text);

#endif
