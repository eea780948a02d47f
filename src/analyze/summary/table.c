/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of partials in a summary.
 *
 * Ranks are not known before all files of a run are: a cell of kind rank holds the place of its
 * file in the summary, or −1 − r for a rank r that a row names itself.  Samples of a distribution
 * are in ascending order, each as its distance to the one before. */
#include "analyze/summary/table.h"

#include "stat/dist.h"

/* Cases and samples that one summary may claim, so that counts of all files fit 64 bits. */
#define COUNT_MOST (INT64_C(1) << 46)

/* "rank", "integer", "sum" …; constants. */
static const char *kind_name(enum ta_field_kind kind)
{
    static const char *const names[] = {
        [TA_FIELD_RANK] = "rank",   [TA_FIELD_FILE] = "file",   [TA_FIELD_INT] = "integer",
        [TA_FIELD_TEXT] = "text",   [TA_FIELD_SUM] = "sum",     [TA_FIELD_MIN] = "least",
        [TA_FIELD_MAX] = "largest", [TA_FIELD_PLACE] = "place", [TA_FIELD_DIST] = "distribution",
    };
    return names[kind];
}

/* ---- writing ------------------------------------------------------------------------------- */

void ta_summary_put_text(struct ta_summary_out *out, struct ta_text *text, struct ta_slice string)
{
    ta_str id = 0;
    if (ta_strings_intern(&out->texts, string, &id) != TA_INTERN_OK)
        text->failed = true;
    ta_text_int(text, (int64_t)id - 1);
}

static void put_rank(const struct ta_summary_out *out, struct ta_text *text, int64_t value)
{
    if (value == TA_MISSING)
        ta_text_int(text, TA_MISSING);
    else if (value >= TA_RANK_NAMED)
        ta_text_int(text, -1 - (value - TA_RANK_NAMED));
    else
        ta_text_int(text, (int64_t)out->place_of[value]);
}

static void put_samples(struct ta_text *text, const struct ta_dist *dist)
{
    ta_text_puts(text, "{\"samples\":[");
    for (size_t i = 0; i < dist->n_samples; i++) {
        if (i)
            ta_text_putc(text, ',');
        ta_text_int(text, ta_dist_sample(dist, i) - (i ? ta_dist_sample(dist, i - 1) : 0));
    }
    ta_text_puts(text, "]}");
}

/* Buckets that hold samples: how many come before each since the last one, and its count. */
static void put_buckets(struct ta_text *text, const struct ta_dist *dist)
{
    ta_text_puts(text, "{\"least\":");
    ta_text_int(text, dist->min);
    ta_text_key(text, "largest");
    ta_text_int(text, dist->max);
    ta_text_key(text, "sum");
    ta_text_wide(text, dist->sum);
    ta_text_key(text, "squares");
    ta_text_wide(text, dist->squares);
    ta_text_key(text, "buckets");
    ta_text_putc(text, '[');
    for (size_t i = 0, next = 0; i < TA_DIST_BUCKETS; i++) {
        if (!dist->buckets[i])
            continue;
        ta_text_comma(text);
        ta_text_int(text, (int64_t)(i - next));
        ta_text_putc(text, ',');
        ta_text_int(text, (int64_t)dist->buckets[i]);
        next = i + 1;
    }
    ta_text_puts(text, "]}");
}

static void put_cell(struct ta_summary_out *out, struct ta_text *text,
                     const struct ta_partial *table, const int64_t *row, size_t field)
{
    const int64_t value = row[field];
    switch (ta_partial_def_of(table)->fields[field].kind) {
    case TA_FIELD_RANK:
    case TA_FIELD_FILE:
        put_rank(out, text, value);
        return;
    case TA_FIELD_PLACE:
        ta_text_int(text, value == TA_MISSING
                              ? value
                              : ta_file_place((int64_t)out->place_of[ta_file_of_place(value)],
                                              (size_t)value));
        return;
    case TA_FIELD_TEXT:
        ta_summary_put_text(out, text, ta_partial_text(table, row, field));
        return;
    case TA_FIELD_DIST: {
        const struct ta_dist *dist = ta_partial_dist_at(table, row, field);
        if (!dist)
            ta_text_int(text, TA_MISSING);
        else if (dist->buckets)
            put_buckets(text, dist);
        else
            put_samples(text, dist);
        return;
    }
    case TA_FIELD_INT:
    case TA_FIELD_SUM:
    case TA_FIELD_MIN:
    case TA_FIELD_MAX:
        ta_text_int(text, value);
    }
}

bool ta_summary_put_table(struct ta_summary_out *out, struct ta_text *text,
                          struct ta_partial *table)
{
    const struct ta_partial_def *def = ta_partial_def_of(table);
    if (!ta_partial_settle(table))
        return false;
    ta_text_puts(text, "{\"fields\":[");
    for (size_t i = 0; i < def->n_fields; i++) {
        ta_text_puts(text, i ? ",[" : "[");
        ta_text_string(text, ta_slice_of(def->fields[i].name));
        ta_text_putc(text, ',');
        ta_text_string(text, ta_slice_of(kind_name(def->fields[i].kind)));
        ta_text_putc(text, ']');
    }
    ta_text_puts(text, "],\"rows\":[");
    for (size_t i = 0; i < ta_partial_rows(table); i++) {
        const int64_t *row = ta_partial_at(table, i);
        ta_text_puts(text, i ? ",\n[" : "\n[");
        for (size_t field = 0; field < def->n_fields; field++) {
            if (field)
                ta_text_putc(text, ',');
            put_cell(out, text, table, row, field);
        }
        ta_text_putc(text, ']');
    }
    ta_text_puts(text, "]}");
    return !text->failed;
}

/* ---- reading: distributions ---------------------------------------------------------------- */

static void take_samples(struct ta_summary_in *in, struct ta_dist *dist)
{
    int64_t value = 0;
    in->samples.n = 0;
    if (!ta_pull_open(&in->pull, '['))
        return;
    while (ta_pull_item(&in->pull, ']')) {
        const int64_t step = ta_pull_within(&in->pull, 0, INT64_MAX, false);
        if (in->samples.n == TA_DIST_EXACT || __builtin_add_overflow(value, step, &value)) {
            ta_pull_fail(&in->pull, "too many or too large samples");
            return;
        }
        dist->sum += (uint64_t)value;
        dist->squares += (unsigned __int128)(uint64_t)value * (uint64_t)value;
        if (!ta_vec_push(&in->samples, value))
            ta_pull_fail(&in->pull, "no memory for it");
    }
    dist->n = dist->n_samples = dist->n_summed = in->samples.n;
    dist->wide = in->samples.n ? in->samples.at : NULL;
    dist->min = in->samples.n ? in->samples.at[0] : 0;
    dist->max = value;
}

static bool clear_counts(struct ta_summary_in *in)
{
    if (!in->counts.at) {
        in->counts.at = calloc(TA_DIST_BUCKETS, sizeof *in->counts.at);
        in->counts.max = in->counts.at ? TA_DIST_BUCKETS : 0;
        return in->counts.at || ta_pull_fail(&in->pull, "no memory for it");
    }
    memset(in->counts.at, 0, TA_DIST_BUCKETS * sizeof *in->counts.at);
    return true;
}

static void take_buckets(struct ta_summary_in *in, struct ta_dist *dist)
{
    size_t next = 0;
    if (!clear_counts(in) || !ta_pull_open(&in->pull, '['))
        return;
    while (ta_pull_item(&in->pull, ']')) {
        next += (size_t)ta_pull_within(&in->pull, 0, TA_DIST_BUCKETS, false);
        if (next >= TA_DIST_BUCKETS || !ta_pull_item(&in->pull, ']')) {
            ta_pull_fail(&in->pull, "expected a bucket and its count");
            return;
        }
        const int64_t count = ta_pull_within(&in->pull, 1, COUNT_MOST, false);
        in->counts.at[next++] = (uint64_t)count;
        dist->n += (uint64_t)count;
    }
    dist->buckets = in->counts.at;
    if (dist->n > (uint64_t)COUNT_MOST || dist->n == 0)
        ta_pull_fail(&in->pull, "a distribution has too many samples, or none");
}

/* Makes a distribution from the members of the object; its memory belongs to `in`. */
static struct ta_dist take_dist(struct ta_summary_in *in)
{
    struct ta_dist dist = {0};
    struct ta_slice key;
    struct ta_pull *pull = &in->pull;
    bool known = false;
    if (!ta_pull_open(pull, '{'))
        return dist;
    while (ta_pull_member(pull, &key)) {
        known |= ta_slice_equal(key, TA_LIT("samples")) || ta_slice_equal(key, TA_LIT("buckets"));
        if (ta_slice_equal(key, TA_LIT("samples")))
            take_samples(in, &dist);
        else if (ta_slice_equal(key, TA_LIT("buckets")))
            take_buckets(in, &dist);
        else if (ta_slice_equal(key, TA_LIT("least")))
            dist.min = ta_pull_within(pull, 0, INT64_MAX, false);
        else if (ta_slice_equal(key, TA_LIT("largest")))
            dist.max = ta_pull_within(pull, dist.min, INT64_MAX, false);
        else if (ta_slice_equal(key, TA_LIT("sum")))
            dist.sum = ta_pull_wide(pull);
        else if (ta_slice_equal(key, TA_LIT("squares")))
            dist.squares = ta_pull_wide(pull);
        else
            ta_pull_skip(pull);
    }
    if (!known || (dist.buckets && dist.n_samples))
        ta_pull_fail(pull, "expected a distribution");
    return dist;
}

/* ---- reading: cells ------------------------------------------------------------------------ */

struct ta_slice ta_summary_take_text(struct ta_summary_in *in)
{
    const int64_t at = ta_pull_within(&in->pull, 0, (int64_t)in->n_texts - 1, false);
    return in->pull.problem ? (struct ta_slice){"", 0} : in->texts[at];
}

static int64_t take_file(struct ta_summary_in *in)
{
    const int64_t file = ta_pull_within(&in->pull, 0, (int64_t)in->n_files - 1, true);
    return in->pull.problem || file == TA_MISSING ? file : (int64_t)in->index_of[file];
}

static int64_t take_rank(struct ta_summary_in *in)
{
    const int64_t value =
        ta_pull_within(&in->pull, -1 - (int64_t)INT32_MAX, (int64_t)in->n_files - 1, true);
    if (in->pull.problem || value == TA_MISSING)
        return value;
    return value < 0 ? TA_RANK_NAMED + (-1 - value) : (int64_t)in->index_of[value];
}

static int64_t take_place(struct ta_summary_in *in)
{
    const int64_t most = ta_file_place((int64_t)in->n_files - 1, UINT32_MAX);
    const int64_t place = ta_pull_within(&in->pull, 0, most, true);
    if (in->pull.problem || place == TA_MISSING)
        return place;
    return ta_file_place((int64_t)in->index_of[ta_file_of_place(place)], (size_t)place);
}

static struct ta_key take_key(struct ta_summary_in *in, enum ta_field_kind kind, size_t at)
{
    switch (kind) {
    case TA_FIELD_RANK:
        return ta_key_int(take_rank(in));
    case TA_FIELD_FILE:
        return ta_key_int(take_file(in));
    case TA_FIELD_TEXT:
        return ta_key_text(ta_summary_take_text(in));
    default:
        return ta_key_int(in->below[at] ? ta_pull_within(&in->pull, 0, in->below[at] - 1, false)
                                        : ta_pull_int(&in->pull));
    }
}

/* A value; it is merged into the row unless that is NULL. */
static void take_value(struct ta_summary_in *in, enum ta_field_kind kind, struct ta_partial *into,
                       int64_t *row, size_t at)
{
    if (kind == TA_FIELD_DIST) {
        if (ta_pull_null(&in->pull))
            return;
        struct ta_dist dist = take_dist(in);
        if (into && !in->pull.problem)
            ta_dist_merge(ta_partial_dist(into, row, at), &dist);
        return;
    }
    const int64_t value = kind == TA_FIELD_PLACE ? take_place(in)
                          : in->below[at] ? ta_pull_within(&in->pull, 0, in->below[at] - 1, false)
                                          : ta_pull_int(&in->pull);
    if (into && !in->pull.problem)
        ta_partial_merge_value(kind, &row[at], value);
}

static void take_row(struct ta_summary_in *in, const struct ta_partial_def *def,
                     struct ta_partial *into)
{
    struct ta_key keys[TA_PARTIAL_KEYS_MAX];
    int64_t *row = NULL;
    bool has_row = false;
    if (!ta_pull_open(&in->pull, '['))
        return;
    for (size_t i = 0; i < def->n_fields; i++) {
        if (!ta_pull_item(&in->pull, ']')) {
            ta_pull_fail(&in->pull, "a row is too short");
            return;
        }
        const enum ta_field_kind kind = def->fields[i].kind;
        if (ta_field_is_key(kind)) {
            keys[i] = take_key(in, kind, i);
            continue;
        }
        if (into && !has_row && !in->pull.problem)
            row = ta_partial_row(into, keys);
        has_row = true;
        take_value(in, kind, row ? into : NULL, row, i);
    }
    if (ta_pull_item(&in->pull, ']'))
        ta_pull_fail(&in->pull, "a row is too long");
    if (into && !has_row && !in->pull.problem)
        ta_partial_row(into, keys);
}

static void check_fields(struct ta_summary_in *in, const struct ta_partial_def *def)
{
    struct ta_pull *pull = &in->pull;
    bool same = ta_pull_open(pull, '[');
    size_t n = 0;
    for (; same && ta_pull_item(pull, ']'); n++) {
        same = n < def->n_fields && ta_pull_open(pull, '[') && ta_pull_item(pull, ']') &&
               ta_slice_equal(ta_pull_string(pull), ta_slice_of(def->fields[n].name)) &&
               ta_pull_item(pull, ']') &&
               ta_slice_equal(ta_pull_string(pull), ta_slice_of(kind_name(def->fields[n].kind))) &&
               !ta_pull_item(pull, ']');
    }
    if (!same || n != def->n_fields)
        ta_pull_fail(pull, "the fields of a table are not those of this version");
}

static void set_bounds(struct ta_summary_in *in, const struct ta_bound *bound, size_t table)
{
    memset(in->below, 0, sizeof in->below);
    for (; bound && bound->below; bound++)
        if (bound->table == table)
            in->below[bound->field] = bound->below;
}

void ta_summary_take_table(struct ta_summary_in *in, const struct ta_analysis_ops *ops, size_t i,
                           struct ta_partial *into)
{
    const struct ta_partial_def *def = &ops->partials[i];
    struct ta_slice key;
    bool has_fields = false;
    set_bounds(in, ops->bounds, i);
    if (!ta_pull_open(&in->pull, '{'))
        return;
    while (ta_pull_member(&in->pull, &key)) {
        if (ta_slice_equal(key, TA_LIT("fields"))) {
            check_fields(in, def);
            has_fields = true;
        } else if (ta_slice_equal(key, TA_LIT("rows")) && has_fields) {
            if (ta_pull_open(&in->pull, '['))
                while (ta_pull_item(&in->pull, ']'))
                    take_row(in, def, into);
        } else {
            ta_pull_skip(&in->pull);
        }
    }
}
