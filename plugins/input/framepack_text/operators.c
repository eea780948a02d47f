/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operator table that torch prints: right-aligned columns, two blanks apart, whose names and
 * number depend on the version, the device and the options. */
#include "framepack_text.h"

#include <strings.h>

enum field {
    OTHER,
    NAME,
    SELF_CPU,
    CPU,
    SELF_DEVICE,
    DEVICE,
    SELF_CPU_MEM,
    SELF_DEVICE_MEM,
    CALLS,
    SHAPES,
    SOURCE
};

static bool is(struct ta_slice cell, const char *text)
{
    return ta_slice_equal(cell, ta_slice_of(text));
}

static bool ends_with(struct ta_slice cell, const char *suffix)
{
    const size_t n = strlen(suffix);
    return cell.len >= n && memcmp(ta_slice_end(cell) - n, suffix, n) == 0;
}

/* Columns of a device are named after it: CUDA, XPU, NPU … */
static enum field field_of(struct ta_slice cell)
{
    static const struct {
        const char *text;
        enum field field;
    } known[] = {{"Name", NAME},           {"Self CPU", SELF_CPU},
                 {"CPU total", CPU},       {"Self CPU Mem", SELF_CPU_MEM},
                 {"# of Calls", CALLS},    {"Number of Calls", CALLS},
                 {"Input Shapes", SHAPES}, {"Source Location", SOURCE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(cell, known[i].text))
            return known[i].field;
    const bool self = starts_with(cell, "Self ");
    if (contains(cell, "%") || contains(cell, "CPU") || contains(cell, "avg"))
        return OTHER;
    if (ends_with(cell, " Mem"))
        return self ? SELF_DEVICE_MEM : OTHER;
    if (ends_with(cell, " total"))
        return DEVICE;
    return self ? SELF_DEVICE : OTHER;
}

bool operator_header(struct ta_slice line, struct operator_table *table)
{
    const struct cells cells = split_from_right(line, 2, CELLS);
    *table = (struct operator_table){.n = cells.n};
    bool has_calls = false, has_cpu = false;
    for (size_t i = 0; i < cells.n; i++) {
        table->field[i] = (unsigned char)field_of(cells.at[i]);
        has_calls = has_calls || table->field[i] == CALLS;
        has_cpu = has_cpu || table->field[i] == CPU || table->field[i] == SELF_CPU;
        table->has_source = table->has_source || table->field[i] == SOURCE;
    }
    return has_calls && has_cpu && table->field[0] == NAME;
}

/* "16.00 Kb", "-292 b"; later versions write KB and B. */
static int64_t memory_of(struct ta_slice cell)
{
    static const char *const units[] = {"b", "Kb", "Mb", "Gb", "Tb"};
    const struct cells parts = split_from_right(cell, 1, 2);
    if (parts.n != 2)
        return TA_MISSING;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (parts.at[1].len != strlen(units[i]) ||
            strncasecmp(parts.at[1].ptr, units[i], parts.at[1].len) != 0)
            continue;
        int64_t bytes = i ? ta_text_mib(parts.at[0]) : ta_text_decimal(parts.at[0], 0);
        if (i == 1 && bytes != TA_MISSING)
            return (bytes + (bytes < 0 ? -512 : 512)) / 1024;
        for (; i > 2 && bytes != TA_MISSING; i--)
            if (__builtin_mul_overflow(bytes, 1024, &bytes))
                return TA_MISSING;
        return bytes;
    }
    return TA_MISSING;
}

static void take_cell(struct ta_builder *builder, enum field field, struct ta_slice cell,
                      struct ta_operator_sum *row)
{
    switch (field) {
    case NAME:
        row->name = ta_builder_string(builder, cell);
        break;
    case SELF_CPU:
        row->self_cpu_ns = time_of(cell);
        break;
    case CPU:
        row->cpu_ns = time_of(cell);
        break;
    case SELF_DEVICE:
        row->self_device_ns = time_of(cell);
        break;
    case DEVICE:
        row->device_ns = time_of(cell);
        break;
    case SELF_CPU_MEM:
        row->self_cpu_bytes = memory_of(cell);
        break;
    case SELF_DEVICE_MEM:
        row->self_device_bytes = memory_of(cell);
        break;
    case CALLS:
        row->calls = ta_text_integer(cell);
        break;
    case SHAPES:
        row->shapes = ta_builder_string(builder, cell);
        break;
    case OTHER:
    case SOURCE:
        break;
    }
}

bool operator_row(struct ta_builder *builder, const struct operator_table *table,
                  struct ta_slice line, struct ta_operator_sum *row)
{
    const struct cells cells = split_from_right(line, 2, table->n);
    if (cells.n != table->n)
        return false;
    *row = ta_unknown_operator_sum();
    for (size_t i = 0; i < cells.n; i++)
        take_cell(builder, (enum field)table->field[i], cells.at[i], row);
    return row->calls != TA_MISSING && row->calls >= 0;
}
