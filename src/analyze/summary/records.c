/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of other profilers in a summary. */
#include "analyze/summary/records.h"

#include "model/builder.h"

/* ---- writing ------------------------------------------------------------------------------- */

static void put_field(struct ta_summary_out *out, struct ta_text *text,
                      const struct ta_trace *trace, const struct ta_record_field *field,
                      const void *row)
{
    const void *at = (const char *)row + field->offset;
    switch (field->type) {
    case TA_RECORD_INTEGER:
        ta_text_int(text, *(const int64_t *)at);
        break;
    case TA_RECORD_REAL:
        ta_text_real(text, *(const double *)at);
        break;
    case TA_RECORD_TEXT:
        if (*(const ta_str *)at == TA_STR_ABSENT)
            ta_text_int(text, TA_MISSING);
        else
            ta_summary_put_text(out, text, ta_trace_text(trace, *(const ta_str *)at));
        break;
    case TA_RECORD_BOOL:
        ta_text_bool(text, *(const bool *)at);
        break;
    case TA_RECORD_WORD:
        ta_text_int(text, *(const int *)at);
    }
}

static void put_table(struct ta_summary_out *out, struct ta_text *text,
                      const struct ta_trace *trace, enum ta_dump_table table)
{
    const struct ta_record_table *shape = &ta_record_tables[table];
    ta_text_key(text, shape->name);
    ta_text_puts(text, "{\"fields\":[");
    for (const struct ta_record_field *field = shape->fields; field->name; field++) {
        ta_text_comma(text);
        ta_text_string(text, ta_slice_of(field->name));
    }
    ta_text_puts(text, "],\"rows\":[");
    struct ta_dump_cursor cursor = ta_dump_first(&trace->dump, table);
    for (const void *row; (row = ta_dump_next(&cursor)) != NULL;) {
        ta_text_comma(text);
        ta_text_puts(text, "\n[");
        for (const struct ta_record_field *field = shape->fields; field->name; field++) {
            ta_text_comma(text);
            put_field(out, text, trace, field, row);
        }
        ta_text_putc(text, ']');
    }
    ta_text_puts(text, "]}");
}

void ta_summary_put_records(struct ta_summary_out *out, struct ta_text *text,
                            const struct ta_trace *trace)
{
    const struct ta_dump *dump = &trace->dump;
    ta_text_puts(text, "{\"file\":");
    ta_text_int(text, (int64_t)out->place_of[trace->view.rank]);
    ta_text_key(text, "origin_ns");
    ta_text_int(text, trace->view.origin);
    ta_text_key(text, "exactness");
    ta_text_int(text, dump->exactness);
    ta_text_key(text, "copied");
    ta_text_int(text, dump->copied);
    ta_text_key(text, "growing");
    ta_text_bool(text, dump->is_growing);
    ta_text_key(text, "allocator");
    ta_text_bool(text, ta_dump_has_allocator(dump));
    ta_text_key(text, "allocator_dated");
    ta_text_bool(text, ta_dump_allocator_is_dated(dump));
    ta_text_key(text, "tables");
    ta_text_putc(text, '{');
    for (int table = 0; table < TA_DUMP_COUNT; table++)
        if (dump->rows[table].n)
            put_table(out, text, trace, (enum ta_dump_table)table);
    ta_text_puts(text, "}}");
}

/* ---- reading ------------------------------------------------------------------------------- */

struct taking {
    struct ta_summary_in *in;
    struct ta_builder *builder; /* NULL: only checking */
};

static void take_field(struct taking *t, const struct ta_record_field *field, char *row)
{
    struct ta_pull *pull = &t->in->pull;
    void *at = row + field->offset;
    switch (field->type) {
    case TA_RECORD_INTEGER:
        *(int64_t *)at = ta_pull_int(pull);
        break;
    case TA_RECORD_REAL:
        *(double *)at = ta_pull_real(pull);
        break;
    case TA_RECORD_TEXT: {
        const bool is_absent = ta_pull_null(pull);
        const struct ta_slice text =
            is_absent ? (struct ta_slice){NULL, 0} : ta_summary_take_text(t->in);
        *(ta_str *)at =
            is_absent || !t->builder ? TA_STR_ABSENT : ta_builder_string(t->builder, text);
        break;
    }
    case TA_RECORD_BOOL:
        *(bool *)at = ta_pull_bool(pull);
        break;
    case TA_RECORD_WORD:
        *(int *)at = (int)ta_pull_within(pull, 0, field->below - 1, false);
    }
}

static void take_row(struct taking *t, enum ta_dump_table table)
{
    enum { LARGEST_ROW = 256 };
    _Alignas(max_align_t) char row[LARGEST_ROW] = {0};
    struct ta_pull *pull = &t->in->pull;
    if (!ta_pull_open(pull, '['))
        return;
    for (const struct ta_record_field *field = ta_record_tables[table].fields; field->name;
         field++) {
        if (!ta_pull_item(pull, ']')) {
            ta_pull_fail(pull, "a row is too short");
            return;
        }
        take_field(t, field, row);
    }
    if (ta_pull_item(pull, ']'))
        ta_pull_fail(pull, "a row is too long");
    else if (t->builder && ta_builder_add_row(t->in->ctx, t->builder, table, row) != TA_OK)
        ta_pull_fail(pull, "no memory for it");
}

static void check_fields(struct ta_pull *pull, const struct ta_record_field *fields)
{
    size_t n = 0;
    bool same = ta_pull_open(pull, '[');
    for (; same && ta_pull_item(pull, ']'); n++)
        same = fields[n].name && ta_slice_equal(ta_pull_string(pull), ta_slice_of(fields[n].name));
    if (!same || fields[n].name)
        ta_pull_fail(pull, "the fields of a table are not those of this version");
}

static void take_table(struct taking *t, enum ta_dump_table table)
{
    struct ta_pull *pull = &t->in->pull;
    struct ta_slice key;
    bool has_fields = false;
    if (!ta_pull_open(pull, '{'))
        return;
    while (ta_pull_member(pull, &key)) {
        if (ta_slice_equal(key, TA_LIT("fields"))) {
            check_fields(pull, ta_record_tables[table].fields);
            has_fields = true;
        } else if (ta_slice_equal(key, TA_LIT("rows")) && has_fields) {
            if (ta_pull_open(pull, '['))
                while (ta_pull_item(pull, ']'))
                    take_row(t, table);
        } else {
            ta_pull_skip(pull);
        }
    }
}

static void take_tables(struct taking *t)
{
    struct ta_slice key;
    if (!ta_pull_open(&t->in->pull, '{'))
        return;
    while (ta_pull_member(&t->in->pull, &key)) {
        int table = 0;
        while (table < TA_DUMP_COUNT &&
               !ta_slice_equal(key, ta_slice_of(ta_record_tables[table].name)))
            table++;
        if (table < TA_DUMP_COUNT)
            take_table(t, (enum ta_dump_table)table);
        else
            ta_pull_fail(&t->in->pull, "records of a kind that this version does not know");
    }
}

static void take_members(struct taking *t, struct ta_trace *trace)
{
    struct ta_pull *pull = &t->in->pull;
    struct ta_slice key;
    if (!ta_pull_open(pull, '{'))
        return;
    trace->view.rank = TA_MISSING;
    trace->dump.copied = UINT32_MAX;
    while (ta_pull_member(pull, &key)) {
        if (ta_slice_equal(key, TA_LIT("file"))) {
            const int64_t file = ta_pull_within(pull, 0, (int64_t)t->in->n_files - 1, false);
            trace->view.rank = pull->problem ? 0 : (int64_t)t->in->index_of[file];
        } else if (ta_slice_equal(key, TA_LIT("origin_ns"))) {
            trace->view.origin = ta_pull_int(pull);
        } else if (ta_slice_equal(key, TA_LIT("exactness"))) {
            trace->dump.exactness =
                (enum ta_exactness)ta_pull_within(pull, TA_EXACT_CONSOLE, TA_EXACT_FULL, false);
        } else if (ta_slice_equal(key, TA_LIT("copied"))) {
            trace->dump.copied = (uint32_t)ta_pull_within(pull, 0, UINT32_MAX, false);
        } else if (ta_slice_equal(key, TA_LIT("growing"))) {
            trace->dump.is_growing = ta_pull_bool(pull);
        } else if (ta_slice_equal(key, TA_LIT("allocator"))) {
            trace->dump.held_allocator = ta_pull_bool(pull);
        } else if (ta_slice_equal(key, TA_LIT("allocator_dated"))) {
            trace->dump.allocator_dated = ta_pull_bool(pull);
        } else if (ta_slice_equal(key, TA_LIT("tables"))) {
            take_tables(t);
        } else {
            ta_pull_skip(pull);
        }
    }
    if (trace->view.rank == TA_MISSING)
        ta_pull_fail(pull, "records do not say their file");
}

struct ta_trace *ta_summary_take_records(struct ta_summary_in *in, bool check_only)
{
    struct ta_quality quality;
    struct ta_builder builder;
    struct taking taking = {in, check_only ? NULL : &builder};
    struct ta_trace *trace = NULL;
    ta_quality_init(&quality);
    if (ta_builder_init(&builder, &quality, 0, NULL, 0, UINT32_MAX - 1))
        take_members(&taking, builder.trace);
    else
        ta_pull_fail(&in->pull, "no memory for it");
    if (builder.track_of.failed)
        ta_pull_fail(&in->pull, "no memory for it");
    if (!in->pull.problem && !check_only) {
        trace = builder.trace;
        builder.trace = NULL;
    }
    ta_builder_free(&builder);
    ta_quality_free(&quality);
    return trace;
}
