/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/counter_list.h"

void counter_list_free(struct counter_list *all)
{
    free(all->list.at);
    ta_map_free(&all->by_counter);
    ta_map_free(&all->by_series);
    *all = (struct counter_list){.next = 0};
}

static size_t after(const struct counter_list *all, size_t place)
{
    return place + 1 < all->list.n ? place + 1 : 0;
}

uint32_t counter_list_at(struct counter_list *all, uint32_t track, ta_str name, ta_str series)
{
    enum { NEAR = 4 };
    for (size_t i = 0, near = all->next; i < NEAR && i < all->list.n; i++) {
        const struct ta_counter_series *it = &all->list.at[near];
        const size_t next = after(all, near);
        if (it->track == track && it->name == name && it->series == series) {
            all->next = next;
            return (uint32_t)near;
        }
        near = next;
    }
    const uint64_t counter = (uint64_t)track << 32 | name;
    const uint64_t *number = ta_map_at(&all->by_counter, counter, all->by_counter.n);
    const uint64_t *place =
        number ? ta_map_at(&all->by_series, *number << 32 | series, all->list.n) : NULL;
    if (!place || *place >= UINT32_MAX)
        return UINT32_MAX;
    if (*place == all->list.n &&
        !ta_vec_push(&all->list, ((struct ta_counter_series){track, name, series, 0, 0})))
        return UINT32_MAX;
    all->next = after(all, *place);
    return (uint32_t)*place;
}
