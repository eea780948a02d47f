/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace inside a web page: VizTracer writes its viewer with the trace as one object of JSON,
 * assigned to a variable.  Only the object is read; nothing of the page is interpreted. */
#ifndef TA_READ_PAGE_H
#define TA_READ_PAGE_H

#include "traceanalyze/base.h"

/* Where in the object the reading is. */
struct ta_page {
    bool active; /* the stream is that of an object in a page */
    bool done;   /* its last brace was read */
    bool in_string, escaped;
    uint64_t depth;
};

/* Whether the first bytes are those of such a page. */
bool ta_page_is(struct ta_slice head);

/* The first byte of the object, NULL when there is none in these bytes.  Then *keep is how many of
 * the last bytes may be the beginning of what introduces it. */
const char *ta_page_find(struct ta_slice bytes, size_t *keep);

/* How many of these bytes, which follow those before, are of the object. */
size_t ta_page_take(struct ta_page *page, const char *bytes, size_t n);

#endif
