/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole vectors of one byte. */
#include "parse/json/vector.h"

#define EIGHT(c) c, c, c, c, c, c, c, c
#define EACH(c)                                                                                    \
    {                                                                                              \
        EIGHT(c), EIGHT(c), EIGHT(c), EIGHT(c)                                                     \
    }

const struct vector_constants vector_constants = {
    .zero = EACH('0'),
    .nine = EACH(9),
    .quote = EACH('"'),
    .backslash = EACH('\\'),
    .space = EACH(' '),
    .newline = EACH('\n'),
    .cr = EACH('\r'),
    .tab = EACH('\t'),
    .comma = EACH(','),
    .open = EACH('['),
    .close = EACH(']'),
    .brace = EACH('{'),
    /* Anywhere else 0xff, which no byte finds: those with a high bit find 0. */
    .spaces = {' ',  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '\t', '\n',
               0xff, 0xff, '\r', 0xff, 0xff, ' ',  0xff, 0xff, 0xff, 0xff, 0xff,
               0xff, 0xff, 0xff, '\t', '\n', 0xff, 0xff, '\r', 0xff, 0xff},
};
