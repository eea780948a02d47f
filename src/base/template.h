/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts with {names} in them that someone fills in. */
#ifndef TA_BASE_TEMPLATE_H
#define TA_BASE_TEMPLATE_H

#include "traceanalyze/base.h"

struct ta_piece {
    struct ta_slice text; /* as it is, or the name without its braces */
    bool is_name;
};

/* Takes the next piece off `rest`; false at the end.  A name is of a-z, 0-9 and _; "{{" is a brace,
 * and so is one that no name follows. */
bool ta_template_next(const char **rest, struct ta_piece *piece);

#endif
