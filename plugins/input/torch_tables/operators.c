/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that key_averages().table() prints.  Its columns are where the dashes of the ruler
 * above the heads are; they count characters, not bytes. */
#include "torch_tables.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS_MAX = 40 };

enum field {
    NAME,
    CALLS,
    SELF_CPU,
    CPU,
    SELF_DEVICE,
    DEVICE,
    SELF_CPU_MEM,
    SELF_DEVICE_MEM,
    SHAPES,
    FIELDS,
    OTHER = FIELDS
};

struct column {
    size_t start, end; /* characters */
    enum field field;
};

struct table {
    struct text_reading *r;
    struct column columns[COLUMNS_MAX];
    size_t n_columns;
    bool has_head, has_name;
    struct ta_operator_sum *at; /* all rows of the file */
    size_t n, max;
    bool any_device;
    char total[64]; /* "operators 384.472ms" */
};

/* ---- the ruler ------------------------------------------------------------------------------ */

/* Groups of dashes between blanks; 0 for any other line. */
static size_t parse_ruler(struct ta_slice line, struct column *columns)
{
    size_t n = 0;
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] != '-' && line.ptr[i] != ' ')
            return 0;
        if (line.ptr[i] != '-')
            continue;
        if (i == 0 || line.ptr[i - 1] != '-') {
            if (n == COLUMNS_MAX)
                return 0;
            columns[n++] = (struct column){.start = i, .field = OTHER};
        }
        columns[n - 1].end = i + 1;
    }
    return n >= 3 ? n : 0;
}

/* The cell of a column; bytes that continue a character take no place. */
static struct ta_slice cell_of(struct ta_slice line, const struct column *column)
{
    size_t place = 0, first = line.len, last = line.len;
    for (size_t i = 0; i < line.len; i++) {
        if (((unsigned char)line.ptr[i] & 0xc0) == 0x80)
            continue;
        if (place == column->start)
            first = i;
        if (place == column->end)
            last = i;
        place++;
    }
    if (first > last)
        first = last;
    return ta_text_trim(ta_slice_part(line, first, last));
}

static bool is_on(struct ta_slice head, const char *start, const char *end)
{
    const size_t n = strlen(start), m = strlen(end);
    return head.len > n + m && memcmp(head.ptr, start, n) == 0 &&
           memcmp(ta_slice_end(head) - m, end, m) == 0;
}

/* Devices have names of their own: "Self CUDA", "XPU total", "Self NPU Mem". */
static enum field field_of(struct ta_slice head)
{
    static const char *const exact[FIELDS] = {
        [NAME] = "Name",     [CALLS] = "# of Calls",          [SELF_CPU] = "Self CPU",
        [CPU] = "CPU total", [SELF_CPU_MEM] = "Self CPU Mem", [SHAPES] = "Input Shapes",
    };
    for (int field = 0; field < FIELDS; field++)
        if (exact[field] && ta_slice_equal(head, ta_slice_of(exact[field])))
            return (enum field)field;
    if (tt_holds(head, "CPU") || is_on(head, "", " %"))
        return OTHER;
    if (is_on(head, "Self ", " Mem"))
        return SELF_DEVICE_MEM;
    if (is_on(head, "Self ", ""))
        return SELF_DEVICE;
    return is_on(head, "", " total") ? DEVICE : OTHER;
}

/* The line below a ruler. */
static void parse_heads(struct table *t, struct ta_slice line)
{
    bool has_calls = false;
    t->has_name = false;
    for (size_t i = 0; i < t->n_columns; i++) {
        struct column *column = &t->columns[i];
        column->field = field_of(cell_of(line, column));
        t->has_name |= column->field == NAME;
        has_calls |= column->field == CALLS;
    }
    t->has_head = t->has_name && has_calls;
}

int tt_sniff_operators(struct ta_slice head)
{
    struct column columns[COLUMNS_MAX];
    if (!tt_holds(head, "# of Calls") || !tt_holds(head, "Self CPU"))
        return 0;
    while (head.len)
        if (parse_ruler(ta_text_line(&head), columns))
            return 85;
    return 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool grow(struct table *t)
{
    if (t->n < t->max)
        return true;
    const size_t max = t->max ? 2 * t->max : 64;
    struct ta_operator_sum *grown = reallocarray(t->at, max, sizeof *grown);
    if (!grown) {
        t->r->status = ta_fail(t->r->ctx, TA_ERR_NOMEM, "Cannot hold the operators of a file");
        return false;
    }
    t->at = grown;
    t->max = max;
    return true;
}

static bool is_some(int64_t value)
{
    return value != TA_MISSING && value != 0;
}

static void take_row(struct table *t, struct ta_slice line)
{
    struct text_reading *r = t->r;
    struct ta_slice cells[FIELDS + 1];
    for (size_t i = 0; i <= FIELDS; i++)
        cells[i] = TA_LIT("");
    for (size_t i = 0; i < t->n_columns; i++)
        cells[t->columns[i].field] = cell_of(line, &t->columns[i]);
    const struct ta_operator_sum row = {
        .rank = TA_MISSING,
        .name = ta_builder_string(r->builder, cells[NAME]),
        .shapes = cells[SHAPES].len > 2 ? ta_builder_string(r->builder, cells[SHAPES])
                                        : TA_STR_ABSENT, /* "[]" */
        .calls = ta_text_integer(cells[CALLS]),
        .self_cpu_ns = tt_time(cells[SELF_CPU]),
        .cpu_ns = tt_time(cells[CPU]),
        .self_device_ns = tt_time(cells[SELF_DEVICE]),
        .device_ns = tt_time(cells[DEVICE]),
        .self_cpu_bytes = tt_bytes(cells[SELF_CPU_MEM]),
        .self_device_bytes = tt_bytes(cells[SELF_DEVICE_MEM]),
    };
    if (cells[NAME].len == 0 || row.calls == TA_MISSING) {
        tt_drop(r, "No row of a table of operators");
        return;
    }
    if (!grow(t))
        return;
    r->kept++;
    t->any_device |= is_some(row.self_device_ns) || is_some(row.device_ns);
    t->at[t->n++] = row;
}

/* Where no operator has device time there was no device. */
static void add_rows(struct table *t)
{
    struct text_reading *r = t->r;
    for (size_t i = 0; i < t->n && r->status == TA_OK; i++) {
        if (!t->any_device)
            t->at[i].self_device_ns = t->at[i].device_ns = TA_MISSING;
        r->status = ta_builder_add_operator_sum(r->ctx, r->builder, &t->at[i]);
    }
}

/* "Self CPU time total: 384.472ms", by which copies of the table find each other. */
static void take_total(struct table *t, struct ta_slice line)
{
    static const char label[] = "Self CPU time total:";
    const size_t n = sizeof label - 1;
    if (line.len <= n || memcmp(line.ptr, label, n) != 0)
        return;
    const struct ta_slice total = ta_text_trim(ta_slice_from(line, n));
    const int64_t ns = tt_time(total);
    if (ns != TA_MISSING && ns > 0 && total.len < 40)
        snprintf(t->total, sizeof t->total, "operators %.*s", (int)total.len, total.ptr);
}

/* A table is ruler, heads, ruler, rows, ruler; what stands between tables is not ours. */
void tt_read_operators(struct text_reading *r)
{
    struct table t = {.r = r};
    struct column columns[COLUMNS_MAX];
    enum { OUTSIDE, HEADS, RULER, ROWS } at = OUTSIDE;
    while (tt_next(r)) {
        const struct ta_slice line = r->lines->line;
        const size_t n = parse_ruler(line, columns);
        if (n && at == ROWS) {
            at = OUTSIDE;
        } else if (n && at == RULER) {
            at = ROWS;
        } else if (n) {
            memcpy(t.columns, columns, sizeof columns);
            t.n_columns = n;
            at = HEADS;
        } else if (at == HEADS) {
            parse_heads(&t, line);
            at = t.has_head ? RULER : OUTSIDE;
        } else if (at == ROWS && ta_text_trim(line).len) {
            take_row(&t, line);
        } else if (at == OUTSIDE) {
            take_total(&t, line);
        }
    }
    add_rows(&t);
    free(t.at);
    /* Diffulex saves the rows as JSON and CSV beside the text. */
    if (t.total[0])
        ta_builder_set_copy(r->builder, ta_slice_of(t.total), TA_EXACT_TEXT);
}
