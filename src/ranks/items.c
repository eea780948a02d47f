/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time by what was done in it.  Sums of one stretch live next to the names; the list of touched
 * ones spares clearing the others. */
#include "ranks/map.h"

#include "traceanalyze/model.h"

enum { NAME_MOST = 512 }; /* bytes of a name that are kept */

static uint32_t number_by_key(struct items *items, uint64_t key, enum ta_coll_item_kind kind,
                              ta_str name, ta_str within)
{
    uint64_t *slot = ta_map_at(&items->numbers, key, UINT64_MAX);
    if (slot && *slot != UINT64_MAX)
        return (uint32_t)*slot;
    if (!slot || !ta_vec_grow((void **)&items->at, &items->max, items->n, sizeof *items->at)) {
        items->failed = true;
        return TA_COLL_NONE;
    }
    *slot = items->n;
    items->at[items->n] = (struct item){kind, name, within, 0, TA_COLL_NONE};
    return (uint32_t)items->n++;
}

static uint32_t number_of(struct items *items, enum ta_coll_item_kind kind, ta_str name,
                          ta_str within)
{
    const uint64_t key =
        (uint64_t)kind << 62 | (uint64_t)(name & INT32_MAX) << 31 | (uint64_t)(within & INT32_MAX);
    const size_t place = (name * 7 + within * 31) % ITEMS_RECENT;
    if (items->recent[place].key != key || key == 0) {
        items->recent[place].number = number_by_key(items, key, kind, name, within);
        items->recent[place].key = items->recent[place].number == TA_COLL_NONE ? 0 : key;
    }
    return items->recent[place].number;
}

uint32_t items_add(struct items *items, enum ta_coll_item_kind kind, ta_str name, ta_str within,
                   int64_t ns)
{
    const uint32_t number = number_of(items, kind, name, within);
    if (number == TA_COLL_NONE)
        return number;
    if (items->at[number].ns == 0 && ns > 0) {
        if (!ta_vec_grow((void **)&items->touched, &items->max_touched, items->n_touched,
                         sizeof *items->touched)) {
            items->failed = true;
            return TA_COLL_NONE;
        }
        items->touched[items->n_touched++] = number;
    }
    items->at[number].ns += ns;
    return number;
}

static int longest_first(const void *left, const void *right, void *user)
{
    const struct items *items = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (items->at[a].ns != items->at[b].ns)
        return items->at[a].ns > items->at[b].ns ? -1 : 1;
    return (a > b) - (a < b);
}

static uint32_t kept_number(struct items *items, uint32_t item)
{
    struct item *of = &items->at[item];
    if (of->number != TA_COLL_NONE)
        return of->number;
    if (!ta_vec_grow((void **)&items->kept, &items->max_kept, items->n_kept, sizeof *items->kept)) {
        items->failed = true;
        return 0;
    }
    items->kept[items->n_kept] = item;
    return of->number = (uint32_t)items->n_kept++;
}

/* Moves the numbers of the items that are worth a record to the front, the longest first, and
 * returns how many there are: of hundreds that were touched a few. */
static size_t pick(struct items *items, int64_t whole)
{
    uint32_t *touched = items->touched;
    size_t n = 0;
    for (size_t i = 0; i < items->n_touched; i++) {
        const uint32_t number = touched[i];
        if (items->at[number].ns <= whole / 100)
            continue;
        touched[i] = touched[n];
        touched[n++] = number;
    }
    if (n)
        qsort_r(touched, n, sizeof *touched, longest_first, items);
    return n < TA_COLL_ITEMS_KEPT ? n : TA_COLL_ITEMS_KEPT;
}

void items_flush(struct items *items, int64_t whole, struct ta_pack *pack)
{
    const size_t n = pick(items, whole);
    ta_pack_int(pack, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        ta_pack_int(pack, kept_number(items, items->touched[i]));
        ta_pack_int(pack, items->at[items->touched[i]].ns);
    }
    for (size_t i = 0; i < items->n_touched; i++)
        items->at[items->touched[i]].ns = 0;
    items->n_touched = 0;
}

static void put_name(const struct items *items, struct ta_pack *pack, ta_str name)
{
    const struct ta_slice text =
        name == TA_STR_ABSENT ? TA_LIT("") : ta_host_place(ta_trace_text(items->trace, name));
    ta_pack_text(pack, ta_slice_head(text, NAME_MOST));
}

void items_put(const struct items *items, struct ta_pack *pack)
{
    ta_pack_int(pack, (int64_t)items->n_kept);
    for (size_t i = 0; i < items->n_kept; i++) {
        const struct item *item = &items->at[items->kept[i]];
        ta_pack_int(pack, item->kind);
        if (item->kind == TA_COLL_ITEM_GAP)
            ta_pack_int(pack, item->name);
        else
            put_name(items, pack, item->name);
        put_name(items, pack, item->within);
    }
}

void items_free(struct items *items)
{
    ta_map_free(&items->numbers);
    free(items->at);
    free(items->touched);
    free(items->kept);
}
