/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runtime calls by correlation id. */
#include "normalize/calls.h"

#include "model/column.h"

void ta_calls_free(struct ta_calls *calls)
{
    ta_store_free(calls->store, calls->pages.at);
    ta_map_free(&calls->page_of);
}

/* Makes the page of an id the last one used, if it is there. */
static inline bool turn_to(struct ta_calls *calls, uint64_t page)
{
    if (page != calls->last || !calls->last_page) {
        const uint64_t *known = ta_map_find(&calls->page_of, page);
        calls->last = page;
        calls->last_page = known ? (size_t)*known : 0;
    }
    return calls->last_page != 0;
}

bool ta_calls_put(struct ta_calls *calls, int64_t id, ta_row row)
{
    const uint64_t page = (uint64_t)id / TA_CALLS_PAGE;
    if (!turn_to(calls, page)) {
        struct ta_calls_page empty;
        memset(&empty, 0xff, sizeof empty);
        if (!column_push(calls->store, &calls->pages, empty) ||
            !ta_map_at(&calls->page_of, page, calls->pages.n))
            return false;
        calls->last_page = calls->pages.n;
    }
    ta_row *call = &calls->pages.at[calls->last_page - 1].call[(uint64_t)id % TA_CALLS_PAGE];
    if (*call == TA_NO_ROW || calls->ts[row] < calls->ts[*call])
        *call = row;
    return true;
}

ta_row ta_calls_find(struct ta_calls *calls, int64_t id)
{
    if (!turn_to(calls, (uint64_t)id / TA_CALLS_PAGE))
        return TA_NO_ROW;
    return calls->pages.at[calls->last_page - 1].call[(uint64_t)id % TA_CALLS_PAGE];
}
