/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of one argument on spans.
 *
 * Most arguments are small numbers, or ids of texts, and the values of one key are one or the
 * other. So values take four bytes until one does not fit, and which of them are texts is kept for
 * each only where a key has both. */
#ifndef TA_MODEL_ARG_COLUMN_H
#define TA_MODEL_ARG_COLUMN_H

#include "base/store.h"
#include "traceanalyze/model.h"

enum arg_texts { ARG_NO_TEXTS, ARG_ALL_TEXTS, ARG_SOME_TEXTS };

struct arg_column {
    struct ta_slice key;
    size_t n, max;
    ta_row *row;
    int32_t *narrow; /* the values, */
    int64_t *wide;   /* or these if is_wide */
    bool is_wide;
    enum arg_texts texts;
    bool *is_text;              /* with ARG_SOME_TEXTS */
    struct ta_row_word *places; /* of the rows, once they are in order; NULL when they are few */
    bool shares_rows;           /* `row` and `places` are the ones of a column before */
};

/* Makes room for one more value, and for it to be of this width and kind; `share` as for
 * columns_grow().  False without memory. */
TA_MUST_CHECK bool arg_column_prepare(struct ta_store *store, struct arg_column *a, bool is_wide,
                                      bool is_text, double share);

/* Makes two columns alike in width and kind, so that values of one can be appended to the other. */
TA_MUST_CHECK bool arg_columns_agree(struct ta_store *store, struct arg_column *a,
                                     struct ta_store *other, struct arg_column *b);

/* Takes the rows and places of a column with the same rows instead of its own.  That one must not
 * be cleared before this one. */
void arg_column_share_rows(struct ta_store *store, struct arg_column *a,
                           const struct arg_column *of);

/* Takes a copy of the rows of another column as its own, so that values can be added to it alone.
 * False without memory. */
TA_MUST_CHECK bool arg_column_own_rows(struct ta_store *store, struct arg_column *a);

/* Makes the places of rows that are in order, of `n_rows` rows in all, unless they would take much
 * more than the values.  Without memory there are none. */
void arg_column_index(struct ta_store *store, struct arg_column *a, size_t n_rows);

void arg_column_free(struct ta_store *store, struct arg_column *a);

/* As if no event had had the argument. */
void arg_column_clear(struct ta_store *store, struct arg_column *a);

/* Bytes of a value, with its row if that is no other column's. */
static inline size_t arg_column_size(const struct arg_column *a)
{
    return (a->shares_rows ? 0 : sizeof *a->row) +
           (a->is_wide ? sizeof *a->wide : sizeof *a->narrow) +
           (a->texts == ARG_SOME_TEXTS ? sizeof *a->is_text : 0);
}

static inline struct ta_args arg_column_view(const struct arg_column *a)
{
    return (struct ta_args){.n = a->n,
                            .row = a->row,
                            .narrow = a->is_wide ? NULL : a->narrow,
                            .wide = a->is_wide ? a->wide : NULL,
                            .is_text = a->texts == ARG_SOME_TEXTS ? a->is_text : NULL,
                            .all_text = a->texts == ARG_ALL_TEXTS,
                            .places = a->places};
}

static inline int64_t arg_column_value(const struct arg_column *a, size_t i)
{
    return a->is_wide ? a->wide[i] : a->narrow[i];
}

static inline bool arg_column_is_text(const struct arg_column *a, size_t i)
{
    return a->texts == ARG_SOME_TEXTS ? a->is_text[i] : a->texts == ARG_ALL_TEXTS;
}

/* Of a value that the column has the width for. */
static inline void arg_column_set(struct arg_column *a, size_t i, int64_t value)
{
    if (a->is_wide)
        a->wide[i] = value;
    else
        a->narrow[i] = (int32_t)value;
}

TA_MUST_CHECK static inline bool arg_column_add(struct ta_store *store, struct arg_column *a,
                                                ta_row row, int64_t value, bool is_text,
                                                double share)
{
    const bool is_wide = value != (int32_t)value;
    if ((a->n >= a->max || (is_wide && !a->is_wide) ||
         (a->texts != ARG_SOME_TEXTS && (a->texts == ARG_ALL_TEXTS) != is_text)) &&
        !arg_column_prepare(store, a, is_wide, is_text, share))
        return false;
    a->row[a->n] = row;
    arg_column_set(a, a->n, value);
    if (a->texts == ARG_SOME_TEXTS)
        a->is_text[a->n] = is_text;
    a->n++;
    return true;
}

#endif
