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
    ta_text_int(text, (int64_t)out->place_of[trace->rank]);
    ta_text_key(text, "origin_ns");
    ta_text_int(text, trace->origin);
    ta_text_key(text, "exactness");
    ta_text_int(text, dump->exactness);
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
    struct ta_scan *scan = &t->in->scan;
    void *at = row + field->offset;
    switch (field->type) {
    case TA_RECORD_INTEGER:
        *(int64_t *)at = ta_scan_int(scan);
        break;
    case TA_RECORD_REAL:
        *(double *)at = ta_scan_real(scan);
        break;
    case TA_RECORD_TEXT: {
        const bool is_absent = ta_scan_null(scan);
        const struct ta_slice text =
            is_absent ? (struct ta_slice){NULL, 0} : ta_summary_take_text(t->in);
        *(ta_str *)at =
            is_absent || !t->builder ? TA_STR_ABSENT : ta_builder_string(t->builder, text);
        break;
    }
    case TA_RECORD_BOOL:
        *(bool *)at = ta_scan_bool(scan);
        break;
    case TA_RECORD_WORD:
        *(int *)at = (int)ta_scan_within(scan, 0, field->below - 1, false);
    }
}

static void take_row(struct taking *t, enum ta_dump_table table)
{
    enum { LARGEST_ROW = 256 };
    _Alignas(max_align_t) char row[LARGEST_ROW] = {0};
    struct ta_scan *scan = &t->in->scan;
    if (!ta_scan_open(scan, '['))
        return;
    for (const struct ta_record_field *field = ta_record_tables[table].fields; field->name;
         field++) {
        if (!ta_scan_item(scan, ']')) {
            ta_scan_fail(scan, "a row is too short");
            return;
        }
        take_field(t, field, row);
    }
    if (ta_scan_item(scan, ']'))
        ta_scan_fail(scan, "a row is too long");
    else if (t->builder && ta_builder_add_row(t->in->ctx, t->builder, table, row) != TA_OK)
        ta_scan_fail(scan, "no memory for it");
}

static void check_fields(struct ta_scan *scan, const struct ta_record_field *fields)
{
    size_t n = 0;
    bool same = ta_scan_open(scan, '[');
    for (; same && ta_scan_item(scan, ']'); n++)
        same = fields[n].name && ta_slice_equal(ta_scan_string(scan), ta_slice_of(fields[n].name));
    if (!same || fields[n].name)
        ta_scan_fail(scan, "the fields of a table are not those of this version");
}

static void take_table(struct taking *t, enum ta_dump_table table)
{
    struct ta_scan *scan = &t->in->scan;
    struct ta_slice key;
    bool has_fields = false;
    if (!ta_scan_open(scan, '{'))
        return;
    while (ta_scan_member(scan, &key)) {
        if (ta_slice_equal(key, TA_LIT("fields"))) {
            check_fields(scan, ta_record_tables[table].fields);
            has_fields = true;
        } else if (ta_slice_equal(key, TA_LIT("rows")) && has_fields) {
            if (ta_scan_open(scan, '['))
                while (ta_scan_item(scan, ']'))
                    take_row(t, table);
        } else {
            ta_scan_skip(scan);
        }
    }
}

static void take_tables(struct taking *t)
{
    struct ta_slice key;
    if (!ta_scan_open(&t->in->scan, '{'))
        return;
    while (ta_scan_member(&t->in->scan, &key)) {
        int table = 0;
        while (table < TA_DUMP_COUNT &&
               !ta_slice_equal(key, ta_slice_of(ta_record_tables[table].name)))
            table++;
        if (table < TA_DUMP_COUNT)
            take_table(t, (enum ta_dump_table)table);
        else
            ta_scan_fail(&t->in->scan, "records of a kind that this version does not know");
    }
}

static void take_members(struct taking *t, struct ta_trace *trace)
{
    struct ta_scan *scan = &t->in->scan;
    struct ta_slice key;
    if (!ta_scan_open(scan, '{'))
        return;
    trace->rank = TA_MISSING;
    while (ta_scan_member(scan, &key)) {
        if (ta_slice_equal(key, TA_LIT("file"))) {
            const int64_t file = ta_scan_within(scan, 0, (int64_t)t->in->n_files - 1, false);
            trace->rank = scan->problem ? 0 : (int64_t)t->in->index_of[file];
        } else if (ta_slice_equal(key, TA_LIT("origin_ns"))) {
            trace->origin = ta_scan_int(scan);
        } else if (ta_slice_equal(key, TA_LIT("exactness"))) {
            trace->dump.exactness =
                (enum ta_exactness)ta_scan_within(scan, TA_EXACT_CONSOLE, TA_EXACT_FULL, false);
        } else if (ta_slice_equal(key, TA_LIT("growing"))) {
            trace->dump.is_growing = ta_scan_bool(scan);
        } else if (ta_slice_equal(key, TA_LIT("allocator"))) {
            trace->dump.held_allocator = ta_scan_bool(scan);
        } else if (ta_slice_equal(key, TA_LIT("allocator_dated"))) {
            trace->dump.allocator_dated = ta_scan_bool(scan);
        } else if (ta_slice_equal(key, TA_LIT("tables"))) {
            take_tables(t);
        } else {
            ta_scan_skip(scan);
        }
    }
    if (trace->rank == TA_MISSING)
        ta_scan_fail(scan, "records do not say their file");
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
        ta_scan_fail(&in->scan, "no memory for it");
    if (builder.track_of.failed)
        ta_scan_fail(&in->scan, "no memory for it");
    if (!in->scan.problem && !check_only) {
        trace = builder.trace;
        builder.trace = NULL;
    }
    ta_builder_free(&builder);
    ta_quality_free(&quality);
    return trace;
}
