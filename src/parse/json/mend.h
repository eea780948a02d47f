/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where reading a document goes on after damage (document.c reads it).
 *
 * An item is an element of an array or a member of an object. Where every item has a line of its
 * own, as profilers write most documents, the indent shows where the next one begins, whatever the
 * damage. On one line the item ends where its brackets are closed and something follows that an
 * item may begin with. Where quotes or brackets are damaged this finds nothing, and an array of
 * objects goes on with the next object that looks like the one before. */
#ifndef TA_PARSE_MEND_H
#define TA_PARSE_MEND_H

#include "parse/json/scan.h"

#include <jansson.h>

/* What all searches in a document may look at, so that hostile damage costs no more than time in
 * proportion to its size. */
struct mend {
    size_t left; /* bytes */
};

void mend_init(struct mend *mend, size_t n_bytes);

/* An item that is broken. */
struct mend_item {
    const char *start;
    char close;       /* bracket that closes what it is in */
    const char *text; /* start of the document */
    json_t *like;     /* the item before, an object; or NULL */
};

/* Moves the cursor to the item after, or to the bracket that closes what the item is in.  False
 * when there is no such place; the cursor then stays. */
bool mend_go_on(struct mend *mend, struct scan *scan, const struct mend_item *item);

#endif
