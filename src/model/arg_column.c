/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/arg_column.h"

#include "model/column.h"

/* Gives all values eight bytes. */
static bool widen(struct ta_store *store, struct arg_column *a)
{
    int64_t *wide = a->max ? ta_store_resize(store, NULL, a->max, sizeof *wide) : NULL;
    if (a->max && !wide)
        return false;
    for (size_t i = 0; i < a->n; i++)
        wide[i] = a->narrow[i];
    ta_store_free(store, a->narrow);
    a->narrow = NULL;
    a->wide = wide;
    a->is_wide = true;
    return true;
}

/* Makes the column one of such texts; none of its values decides while it is empty. */
static bool be_of(struct ta_store *store, struct arg_column *a, enum arg_texts texts)
{
    if (a->texts == texts || a->texts == ARG_SOME_TEXTS)
        return true;
    if (a->n > 0 || texts == ARG_SOME_TEXTS) {
        /* Keeps for each value whether it is a text. */
        bool *is_text = a->max ? ta_store_resize(store, NULL, a->max, sizeof *is_text) : NULL;
        if (a->max && !is_text)
            return false;
        for (size_t i = 0; i < a->n; i++)
            is_text[i] = a->texts == ARG_ALL_TEXTS;
        a->is_text = is_text;
        a->texts = ARG_SOME_TEXTS;
        return true;
    }
    a->texts = texts;
    return true;
}

bool arg_column_prepare(struct ta_store *store, struct arg_column *a, bool is_wide, bool is_text,
                        double share)
{
    if ((is_wide && !a->is_wide && !widen(store, a)) ||
        !be_of(store, a, is_text ? ARG_ALL_TEXTS : ARG_NO_TEXTS))
        return false;
    const struct column_ref columns[] = {COLUMN(a->row),
                                         a->is_wide ? (struct column_ref)COLUMN(a->wide)
                                                    : (struct column_ref)COLUMN(a->narrow),
                                         COLUMN(a->is_text)};
    return columns_grow(store, columns, a->texts == ARG_SOME_TEXTS ? 3 : 2, a->n, &a->max, share);
}

bool arg_columns_agree(struct ta_store *store, struct arg_column *a, struct ta_store *other,
                       struct arg_column *b)
{
    return (a->is_wide || !b->is_wide || widen(store, a)) &&
           (b->is_wide || !a->is_wide || widen(other, b)) && be_of(store, a, b->texts) &&
           be_of(other, b, a->texts);
}

void arg_column_share_rows(struct ta_store *store, struct arg_column *a,
                           const struct arg_column *of)
{
    ta_store_free(store, a->row);
    ta_store_free(store, a->places);
    a->row = of->row;
    a->places = of->places;
    a->shares_rows = true;
}

bool arg_column_own_rows(struct ta_store *store, struct arg_column *a)
{
    if (!a->shares_rows)
        return true;
    ta_row *row = ta_store_resize(store, NULL, a->max + 1, sizeof *row);
    if (!row)
        return false;
    memcpy(row, a->row, a->n * sizeof *row);
    a->row = row;
    a->places = NULL;
    a->shares_rows = false;
    return true;
}

void arg_column_index(struct ta_store *store, struct arg_column *a, size_t n_rows)
{
    enum { SET_MOST = 4 };
    const size_t n_words = ta_row_set_words(n_rows);
    ta_store_free(store, a->places);
    a->places = NULL;
    if (n_words * sizeof *a->places > SET_MOST * a->n * arg_column_size(a))
        return;
    a->places = ta_store_resize(store, NULL, n_words, sizeof *a->places);
    if (!a->places)
        return;
    memset(a->places, 0, n_words * sizeof *a->places);
    for (size_t i = 0; i < a->n; i++)
        ta_row_set_add(a->places, a->row[i]);
    ta_row_set_sum(a->places, n_words);
}

void arg_column_free(struct ta_store *store, struct arg_column *a)
{
    if (!a->shares_rows) {
        ta_store_free(store, a->row);
        ta_store_free(store, a->places);
    }
    ta_store_free(store, a->narrow);
    ta_store_free(store, a->wide);
    ta_store_free(store, a->is_text);
}

void arg_column_clear(struct ta_store *store, struct arg_column *a)
{
    arg_column_free(store, a);
    *a = (struct arg_column){.key = a->key};
}
