/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/places.h"

#include <stdlib.h>

/* Runs differ in what encloses the first call: the earliest counts, so it is a key. */
static const struct ta_field fields[TA_PLACE_COLUMN_COUNT] = {
    [TA_PLACE_OP] = {"op", TA_FIELD_TEXT},
    [TA_PLACE_NAME] = {"name", TA_FIELD_TEXT},
    [TA_PLACE_WITHIN] = {"within", TA_FIELD_TEXT},
    [TA_PLACE_FIRST] = {"first_start_ns", TA_FIELD_MIN},
    [TA_PLACE_CALLS] = {"calls", TA_FIELD_SUM},
    [TA_PLACE_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

const struct ta_partial_def ta_place_partials[] = {{"pairs", fields, TA_PLACE_COLUMN_COUNT}, {0}};

/* ---- one trace ------------------------------------------------------------------------------- */

bool ta_places_open(struct ta_places *places, const struct ta_trace *trace, struct ta_partial *out)
{
    const struct ta_categories categories = ta_trace_categories(trace);
    const size_t n_names = ta_trace_string_count(trace);
    *places = (struct ta_places){.trace = trace,
                                 .spans = ta_trace_spans(trace),
                                 .out = out,
                                 .origin = ta_trace_origin(trace),
                                 .is_told = calloc(categories.n + 1, sizeof *places->is_told),
                                 .is_step = calloc(n_names + 1, sizeof *places->is_step),
                                 .last = calloc(n_names + 1, sizeof *places->last)};
    places->outward.parent = places->spans.parent;
    if (!places->is_told || !places->is_step || !places->last)
        return false;
    for (size_t i = 0; i < categories.n; i++) {
        const struct ta_category *category = &categories.at[i];
        places->is_told[i] =
            ta_class_is_op(category->class) ||
            ((category->class == TA_CLASS_HOST || category->class == TA_CLASS_CAPTURED_MODULE) &&
             ta_slice_equal(ta_trace_text(trace, category->name), TA_LIT("user_annotation")));
    }
    for (size_t id = 0; id < n_names; id++)
        places->is_step[id] = ta_host_is_step(ta_trace_text(trace, (ta_str)id));
    return true;
}

bool ta_places_close(struct ta_places *places)
{
    const bool done = places->is_told && places->is_step && places->last && !places->rows.failed;
    ta_map_free(&places->rows);
    ta_outward_free(&places->outward);
    free(places->last);
    free(places->is_told);
    free(places->is_step);
    return done;
}

/* ---- what is around a span ------------------------------------------------------------------- */

static bool is_told(void *user, ta_row row)
{
    return ta_place_is_told(user, row);
}

ta_row ta_place_caller(struct ta_places *places, ta_row row)
{
    return row == TA_NO_ROW
               ? TA_NO_ROW
               : ta_outward_find(&places->outward, places->spans.parent[row], is_told, places);
}

enum { WITHIN_MOST = 1024, DEPTH_MOST = 12 };

static struct ta_slice within(struct ta_places *places, ta_row row, char text[WITHIN_MOST])
{
    ta_row around[DEPTH_MOST];
    size_t n = 0, length = 0;
    while (n < DEPTH_MOST && (row = ta_place_caller(places, row)) != TA_NO_ROW)
        around[n++] = row;
    while (n-- > 0) {
        const struct ta_slice name = ta_trace_text(places->trace, places->spans.name[around[n]]);
        if (length + name.len + 1 >= WITHIN_MOST)
            break;
        if (length)
            text[length++] = ';';
        memcpy(text + length, name.ptr, name.len);
        length += name.len;
    }
    return (struct ta_slice){text, length};
}

/* What is around an operator is looked at the first time only. */
static int64_t *row_of(struct ta_places *places, ta_row op, ta_row ran)
{
    const ta_str *names = places->spans.name;
    const ta_str op_name = op == TA_NO_ROW ? TA_STR_ABSENT : names[op];
    struct ta_place_last *last = &places->last[names[ran]];
    if (last->row && last->op == op_name)
        return last->row;
    const uint64_t key = (uint64_t)op_name << 32 | names[ran];
    const uint64_t *known = ta_map_find(&places->rows, key);
    char text[WITHIN_MOST];
    int64_t *row =
        known ? (int64_t *)(uintptr_t)*known
              : ta_partial_cached(
                    places->out, &places->rows, key,
                    (const struct ta_key[]){
                        ta_key_text(op_name ? ta_trace_text(places->trace, op_name) : TA_LIT("")),
                        ta_key_text(ta_trace_text(places->trace, names[ran])),
                        ta_key_text(within(places, op, text))});
    *last = (struct ta_place_last){op_name, row};
    return row;
}

void ta_place_add(struct ta_places *places, ta_row op, ta_row ran)
{
    int64_t *row = row_of(places, op, ran);
    ta_least(&row[TA_PLACE_FIRST], places->spans.ts[ran] - places->origin);
    ta_sum(&row[TA_PLACE_CALLS], 1);
    ta_sum(&row[TA_PLACE_TOTAL], places->spans.dur[ran]);
}

/* ---- finish ---------------------------------------------------------------------------------- */

static bool is_same(const struct ta_partial *places, const int64_t *a, const int64_t *b)
{
    return ta_slice_equal(ta_partial_text(places, a, TA_PLACE_OP),
                          ta_partial_text(places, b, TA_PLACE_OP)) &&
           ta_slice_equal(ta_partial_text(places, a, TA_PLACE_NAME),
                          ta_partial_text(places, b, TA_PLACE_NAME));
}

static struct ta_cell text_or_null(struct ta_slice text)
{
    return text.len ? ta_text(text) : ta_null();
}

struct place {
    const int64_t *first; /* row of the earliest run */
    int64_t calls, total;
};

/* The place that begins at row i; *end is the first row after it. */
static struct place read_place(const struct ta_partial *places, size_t i, size_t *end)
{
    struct place place = {.first = ta_partial_at(places, i)};
    for (*end = i; *end < ta_partial_rows(places); ++*end) {
        const int64_t *row = ta_partial_at(places, *end);
        if (!is_same(places, place.first, row))
            break;
        place.calls = ta_add_sat(place.calls, row[TA_PLACE_CALLS]);
        place.total = ta_add_sat(place.total, row[TA_PLACE_TOTAL]);
        if (row[TA_PLACE_FIRST] < place.first[TA_PLACE_FIRST])
            place.first = row;
    }
    return place;
}

void ta_place_rows(const struct ta_partial *places, struct ta_section_builder *out,
                   const struct ta_table_def *def)
{
    struct ta_table_builder *rows = ta_rows(out, def);
    for (size_t i = 0, end; i < ta_partial_rows(places); i = end) {
        const struct place place = read_place(places, i, &end);
        ta_add_row(
            rows,
            (const struct ta_cell[TA_PLACE_COLUMN_COUNT]){
                [TA_PLACE_OP] = text_or_null(ta_partial_text(places, place.first, TA_PLACE_OP)),
                [TA_PLACE_NAME] = ta_text(ta_partial_text(places, place.first, TA_PLACE_NAME)),
                [TA_PLACE_WITHIN] =
                    text_or_null(ta_partial_text(places, place.first, TA_PLACE_WITHIN)),
                [TA_PLACE_FIRST] = ta_int(place.first[TA_PLACE_FIRST]),
                [TA_PLACE_CALLS] = ta_int(place.calls),
                [TA_PLACE_TOTAL] = ta_int(place.total)});
    }
}
