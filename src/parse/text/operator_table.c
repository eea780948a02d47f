/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of operators in a text, and which of them are of one recording: people print a
 * recording several times, in the order of the host's time and of the device's. */
#include "base/vec.h"
#include "parse/text/lines.h"
#include "parse/text/operator_row.h"
#include "parse/text/operator_table.h"
#include "traceanalyze/base.h"
#include "traceanalyze/document.h"
#include "traceanalyze/dump.h"
#include "traceanalyze/partial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
    size_t first, n;           /* rows */
    size_t recording;          /* index of the first table of its recording */
    int64_t cpu_ns, device_ns; /* totals */
    ta_str device;
};

struct ta_operator_tables {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    int64_t rank; /* of the rows */
    struct operator_columns columns;
    enum { OUTSIDE, HEADS, ROWS, BELOW } place; /* of the next line */
    struct ta_operator_sum *rows;
    size_t n_rows, max_rows;
    struct table *tables;
    size_t n_tables, max_tables;
    unsigned bad; /* lines in a row that are none */
    bool failed;
};

/* A table whose end is not to be seen ends after so many lines that are no rows. */
enum { BAD_MOST = 16 };

struct ta_operator_tables *ta_operator_tables_new(struct ta_ctx *ctx, struct ta_builder *builder,
                                                  int64_t rank)
{
    struct ta_operator_tables *t = calloc(1, sizeof *t);
    if (!t) {
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the operators of a file");
        return NULL;
    }
    t->ctx = ctx;
    t->builder = builder;
    t->rank = rank;
    return t;
}

void ta_operator_tables_free(struct ta_operator_tables *t)
{
    if (!t)
        return;
    free(t->rows);
    free(t->tables);
    free(t);
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Room for one more; false without memory. */
static bool grow(struct ta_operator_tables *t, void **at, size_t n, size_t *max, size_t size)
{
    const bool has_room = ta_vec_grow(at, max, n, size);
    t->failed |= !has_room;
    return has_room;
}

static void begin_table(struct ta_operator_tables *t)
{
    t->place = HEADS;
    if (!grow(t, (void **)&t->tables, t->n_tables, &t->max_tables, sizeof *t->tables))
        return;
    const struct ta_slice device = ta_slice_of(t->columns.device);
    t->tables[t->n_tables++] = (struct table){
        .first = t->n_rows,
        .cpu_ns = TA_MISSING,
        .device_ns = TA_MISSING,
        .device = device.len ? ta_builder_string(t->builder, device) : TA_STR_ABSENT,
    };
}

/* torch writes the overload of an operator after a point, as in "aten::add.Tensor". */
static void add_overload(struct ta_operator_tables *t, struct ta_operator_sum *row,
                         struct ta_slice name, struct ta_slice overload)
{
    char joined[1024];
    if (overload.len == 0 || name.len + overload.len + 1 > sizeof joined)
        return;
    memcpy(joined, name.ptr, name.len);
    joined[name.len] = '.';
    memcpy(joined + name.len + 1, overload.ptr, overload.len);
    row->name =
        ta_builder_string(t->builder, (struct ta_slice){joined, name.len + overload.len + 1});
}

static bool take_row(struct ta_operator_tables *t, struct ta_slice line)
{
    struct ta_slice cells[OPERATOR_COLUMNS_MAX];
    if (!operator_row_read(&t->columns, line, cells) || cells[0].len == 0)
        return false;
    struct ta_operator_sum row = ta_unknown_operator_sum();
    row.rank = t->rank;
    /* Times of several kinds of devices count as the device's. */
    for (size_t i = 1; i < t->columns.n; i++) {
        const struct ta_slice cell = cells[i];
        switch (t->columns.field[i]) {
        case OPERATOR_SELF_CPU:
            ta_sum(&row.self_cpu_ns, operator_time(cell));
            break;
        case OPERATOR_CPU:
            ta_sum(&row.cpu_ns, operator_time(cell));
            break;
        case OPERATOR_SELF_DEVICE:
            ta_sum(&row.self_device_ns, operator_time(cell));
            break;
        case OPERATOR_DEVICE:
            ta_sum(&row.device_ns, operator_time(cell));
            break;
        case OPERATOR_SELF_CPU_BYTES:
            ta_sum(&row.self_cpu_bytes, operator_bytes(cell));
            break;
        case OPERATOR_SELF_DEVICE_BYTES:
            ta_sum(&row.self_device_bytes, operator_bytes(cell));
            break;
        case OPERATOR_CALLS:
            row.calls = ta_text_integer(cell);
            break;
        case OPERATOR_FLOPS:
            row.flops = ta_text_decimal(cell, t->columns.flops_shift);
            break;
        case OPERATOR_SHAPES:
            if (cell.len > 2) /* "[]" */
                row.shapes = ta_builder_string(t->builder, cell);
            break;
        default:
            break;
        }
    }
    if (row.calls == TA_MISSING || row.calls < 0)
        return false;
    if (!grow(t, (void **)&t->rows, t->n_rows, &t->max_rows, sizeof *t->rows) || t->n_tables == 0)
        return true;
    row.name = ta_builder_string(t->builder, cells[0]);
    if (t->columns.field[1] == OPERATOR_OVERLOAD)
        add_overload(t, &row, cells[0], cells[1]);
    t->rows[t->n_rows++] = row;
    t->tables[t->n_tables - 1].n++;
    return true;
}

/* "Self CPU time total: 384.472ms"; before torch 1.6 without "Self". Then the total of a device
 * adds up what is nested, and says nothing. */
static bool take_total(struct ta_operator_tables *t, struct ta_slice line)
{
    static const char label[] = " time total:";
    const char *at = line.len ? memmem(line.ptr, line.len, label, sizeof label - 1) : NULL;
    if (!at || t->n_tables == 0)
        return false;
    const char *value = at + sizeof label - 1;
    const int64_t ns =
        operator_time(ta_text_trim((struct ta_slice){value, (size_t)(ta_slice_end(line) - value)}));
    const struct ta_slice whose = {line.ptr, (size_t)(at - line.ptr)};
    const bool on_cpu = whose.len >= 3 && memcmp(at - 3, "CPU", 3) == 0;
    struct table *table = &t->tables[t->n_tables - 1];
    if (ns <= 0) /* of devices that torch does not count */
        return true;
    if (on_cpu)
        table->cpu_ns = ns;
    else if (memmem(whose.ptr, whose.len, "Self ", 5))
        table->device_ns = ns;
    return true;
}

/* "...", where somebody left rows out. */
static bool is_left_out(struct ta_slice line)
{
    size_t dots = 0;
    for (size_t i = 0; i < line.len; i++) {
        if (!strchr(" \t#>|.", line.ptr[i]) || line.ptr[i] == '\0')
            return false;
        dots += line.ptr[i] == '.';
    }
    return dots > 1;
}

enum ta_operator_line ta_operator_tables_take(struct ta_operator_tables *t, struct ta_slice line)
{
    struct operator_columns columns;
    if (operator_columns_read(line, &columns)) {
        t->columns = columns;
        t->bad = 0;
        begin_table(t);
        return TA_OPERATOR_LINE_HEADS;
    }
    if (t->place == OUTSIDE)
        return TA_OPERATOR_LINE_OTHER;
    if (take_total(t, line)) {
        t->place = BELOW;
        return TA_OPERATOR_LINE_TOTAL;
    }
    if (t->place == BELOW)
        return TA_OPERATOR_LINE_OTHER;
    if (operator_line_is_ruler(&t->columns, line)) {
        if (t->place == ROWS && !t->columns.piped)
            t->place = BELOW;
        return TA_OPERATOR_LINE_PART;
    }
    if (take_row(t, line)) {
        t->place = ROWS;
        t->bad = 0;
        return TA_OPERATOR_LINE_ROW;
    }
    if (t->columns.has_source || is_left_out(line))
        return TA_OPERATOR_LINE_PART;
    if (ta_text_trim(line).len) {
        if (++t->bad == BAD_MOST)
            t->place = BELOW;
        return TA_OPERATOR_LINE_BAD;
    }
    if (t->place == ROWS) /* a blank line ends a table whose lower ruler is cut off */
        t->place = BELOW;
    return TA_OPERATOR_LINE_PART;
}

bool ta_operator_tables_is_open(const struct ta_operator_tables *t)
{
    return t->place == HEADS || t->place == ROWS;
}

int64_t ta_operator_tables_cpu_ns(const struct ta_operator_tables *t)
{
    return t->n_tables ? t->tables[t->n_tables - 1].cpu_ns : TA_MISSING;
}

/* ---- recordings ----------------------------------------------------------------------------- */

static bool same_row(const struct ta_operator_sum *a, const struct ta_operator_sum *b)
{
    return a->name == b->name && a->calls == b->calls && a->self_cpu_ns == b->self_cpu_ns &&
           a->cpu_ns == b->cpu_ns && a->self_device_ns == b->self_device_ns &&
           a->device_ns == b->device_ns;
}

static bool takes_time(const struct ta_operator_sum *row)
{
    return row->cpu_ns > 0 || row->device_ns > 0;
}

/* How many tables before it a table is compared with, and how many rows of both without totals. */
enum { TABLES_COMPARED = 16, ROWS_COMPARED = 16, ROWS_SEARCHED = 1024 };

/* Whether most rows that two tables without totals share a name in are equal. */
static bool same_rows(const struct ta_operator_tables *t, const struct table *a,
                      const struct table *b)
{
    size_t named = 0, equal = 0;
    for (size_t i = 0; i < b->n && i < ROWS_COMPARED; i++) {
        const struct ta_operator_sum *row = &t->rows[b->first + i];
        bool is_named = false, is_equal = false;
        for (size_t k = 0; takes_time(row) && k < a->n && k < ROWS_SEARCHED && !is_equal; k++) {
            is_named |= t->rows[a->first + k].name == row->name;
            is_equal = same_row(&t->rows[a->first + k], row);
        }
        named += is_named;
        equal += is_equal;
    }
    return named > 0 && 2 * equal > named;
}

static bool same_recording(const struct ta_operator_tables *t, const struct table *a,
                           const struct table *b)
{
    if (a->cpu_ns != b->cpu_ns || a->device_ns != b->device_ns)
        return false;
    return a->cpu_ns != TA_MISSING || a->device_ns != TA_MISSING || same_rows(t, a, b);
}

static bool is_some(int64_t value)
{
    return value != TA_MISSING && value != 0;
}

/* A name means an operator and its kernel, which takes no time of the host. */
static uint64_t key_of(const struct ta_operator_sum *row)
{
    return (uint64_t)row->name << 1 | (row->cpu_ns > 0 || row->self_cpu_ns > 0);
}

/* The rows of a table but those that an earlier one of the recording has; `seen` maps what is to
 * the table that had it first. */
static enum ta_status add_rows(struct ta_operator_tables *t, size_t table, struct ta_map *seen)
{
    enum ta_status status = TA_OK;
    const struct table *of = &t->tables[table];
    for (size_t i = of->first; i < of->first + of->n && status == TA_OK; i++) {
        const uint64_t *first = ta_map_at(seen, key_of(&t->rows[i]), table);
        if (!first)
            return ta_fail(t->ctx, TA_ERR_NOMEM, "Cannot hold the operators of a file");
        if (*first == table)
            status = ta_builder_add_operator_sum(t->ctx, t->builder, &t->rows[i]);
    }
    return status;
}

static enum ta_status add_recording(struct ta_operator_tables *t, size_t recording)
{
    struct ta_map seen = {0};
    enum ta_status status = TA_OK;
    for (size_t i = recording; i < t->n_tables && status == TA_OK; i++)
        if (t->tables[i].recording == recording)
            status = add_rows(t, i, &seen);
    ta_map_free(&seen);
    if (status != TA_OK)
        return status;
    struct ta_operator_sum total = ta_unknown_operator_sum();
    total.rank = t->rank;
    total.is_total = true;
    total.name = t->tables[recording].device;
    total.self_cpu_ns = t->tables[recording].cpu_ns;
    total.self_device_ns = t->tables[recording].device_ns;
    const bool known = total.name != TA_STR_ABSENT || total.self_cpu_ns != TA_MISSING;
    if (!known && t->n_tables == 1)
        return TA_OK;
    return ta_builder_add_operator_sum(t->ctx, t->builder, &total);
}

enum ta_status ta_operator_tables_add(struct ta_operator_tables *t)
{
    if (t->failed)
        return ta_fail(t->ctx, TA_ERR_NOMEM, "Cannot hold the operators of a file");
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < t->n_tables; i++) {
        size_t k = i > TABLES_COMPARED ? i - TABLES_COMPARED : 0;
        while (k < i &&
               !(t->tables[k].recording == k && same_recording(t, &t->tables[k], &t->tables[i])))
            k++;
        t->tables[i].recording = k;
    }
    bool any = false;
    for (size_t i = 0; i < t->n_rows; i++)
        any |= is_some(t->rows[i].self_device_ns) || is_some(t->rows[i].device_ns);
    for (size_t i = 0; !any && i < t->n_rows; i++)
        t->rows[i].self_device_ns = t->rows[i].device_ns = TA_MISSING;
    for (size_t i = 0; i < t->n_tables && status == TA_OK; i++)
        if (t->tables[i].recording == i && t->tables[i].n)
            status = add_recording(t, i);
    return status;
}

/* ---- copies --------------------------------------------------------------------------------- */

struct ta_slice ta_operator_set(char text[TA_OPERATOR_SET_SIZE], int64_t ns)
{
    const char *unit = ns >= 1000000000 ? "s" : ns >= 1000000 ? "ms" : "us";
    const int64_t thousandth = ns >= 1000000000 ? 1000000 : ns >= 1000000 ? 1000 : 1;
    const int64_t n = ns > INT64_MAX / 2 || ns < 0 ? 0 : (ns + thousandth / 2) / thousandth;
    snprintf(text, TA_OPERATOR_SET_SIZE, "operators %" PRId64 ".%03" PRId64 "%s", n / 1000,
             n % 1000, unit);
    return ta_slice_of(text);
}
