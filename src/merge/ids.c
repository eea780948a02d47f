/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers for ids.  Those that profilers count up keep their digits after the position of their
 * trace, so that people still find them; all others, such as addresses, are numbered in the order
 * of first sight. */
#include "merge/ids.h"

enum { SMALL_DIGITS = 10 };

/* Ids of a trace have room below this, and the odd ones of all after that. */
#define SMALL INT64_C(10000000000)
#define ODD_FROM INT64_C(9000000000000000)
#define ODD_MOST ((INT64_C(1) << 53) - ODD_FROM)

void merge_ids_free(struct merge_ids *ids)
{
    if (!ids->has_odd)
        return;
    ids->n_odd += (int64_t)ids->odd.texts.n - 1;
    ta_strings_free(&ids->odd);
    ids->has_odd = false;
}

void merge_ids_next(struct merge_ids *ids, int64_t position)
{
    merge_ids_free(ids);
    ids->position = position;
}

bool merge_is_number(struct ta_slice text, size_t most, int64_t *number)
{
    if (text.len == 0 || text.len > most || (text.ptr[0] == '0' && text.len > 1))
        return false;
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        *number = *number * 10 + (text.ptr[i] - '0');
    }
    return true;
}

static bool number_odd(struct merge_ids *ids, struct ta_slice text, int64_t *number)
{
    ta_str id;
    if (!ids->has_odd) {
        ids->has_odd = ta_strings_init(&ids->odd, ids->limit);
        ids->failed |= !ids->has_odd;
    }
    const enum ta_intern result =
        ids->has_odd ? ta_strings_intern(&ids->odd, text, &id) : TA_INTERN_NOMEM;
    ids->failed |= result == TA_INTERN_NOMEM;
    if (result == TA_INTERN_OK)
        *number = ids->n_odd + id;
    const bool fits = result == TA_INTERN_OK && *number < ODD_MOST;
    ids->is_full |= !fits;
    *number += ODD_FROM;
    return fits;
}

bool merge_ids_number(struct merge_ids *ids, struct ta_slice text, int64_t *number)
{
    *number = 0;
    if (text.len == 0)
        return false;
    if (!merge_is_number(text, SMALL_DIGITS, number))
        return number_odd(ids, text, number);
    *number += ids->position * SMALL;
    return true;
}
