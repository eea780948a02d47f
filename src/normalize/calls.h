/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runtime calls by correlation id.
 *
 * A profiler numbers the calls of a process one after the other.  So ids are kept in pages of
 * neighbors, and the page used last is nearly always the one used next: finding a call is then one
 * comparison and one load.  Ids in no order cost a hash per call, as in any map. */
#ifndef TA_NORMALIZE_CALLS_H
#define TA_NORMALIZE_CALLS_H

#include "base/store.h"
#include "traceanalyze/base.h"

/* Ids to a page.  A page takes 128 bytes, so ids far apart take no more than a few maps would. */
enum { TA_CALLS_PAGE = 32 };

struct ta_calls_page {
    ta_row call[TA_CALLS_PAGE]; /* TA_NO_ROW where there is none */
};

/* Zero-initialize but for `ts` and, if there is one, `store`. */
struct ta_calls {
    struct ta_store *store; /* of the pages */
    const int64_t *ts;      /* starts of the rows that are put in */
    TA_VEC(struct ta_calls_page) pages;
    struct ta_map page_of; /* id / TA_CALLS_PAGE → place in `pages` + 1 */
    uint64_t last;         /* id / TA_CALLS_PAGE of the page used last */
    size_t last_page;      /* its place + 1; 0 when there is no such page */
};

void ta_calls_free(struct ta_calls *calls);

/* Puts a call in.  Of several with one id the earliest stays, of those that start together the
 * first one put in.  False without memory. */
bool ta_calls_put(struct ta_calls *calls, int64_t id, ta_row row);

/* The call with an id, or TA_NO_ROW. */
ta_row ta_calls_find(struct ta_calls *calls, int64_t id);

#endif
