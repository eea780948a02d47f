/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An object of JSON inside a web page: VizTracer writes its viewer with the trace assigned to a
 * variable, this program its report with report.json in a script.  Only the object is read; nothing
 * of the page is interpreted. */
#ifndef TA_READ_PAGE_H
#define TA_READ_PAGE_H

#include "traceanalyze/base.h"

/* Where in the object the reading is. */
struct ta_page {
    bool active; /* the stream is an object in a page */
    bool done;   /* its last brace was read */
    bool in_string, escaped;
    uint64_t depth;
};

enum ta_page_kind { TA_PAGE_NONE, TA_PAGE_TRACE, TA_PAGE_REPORT };

/* Which such page the first bytes are of. */
enum ta_page_kind ta_page_is(struct ta_slice head);

/* The first byte of the object, NULL when there is none in these bytes.  Then *keep is how many of
 * the last bytes may be the beginning of what introduces it. */
const char *ta_page_find(enum ta_page_kind kind, struct ta_slice bytes, size_t *keep);

/* How many of these bytes, which follow those before, are of the object. */
size_t ta_page_take(struct ta_page *page, const char *bytes, size_t n);

#endif
