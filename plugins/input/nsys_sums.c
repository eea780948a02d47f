/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries that `nsys stats` writes as CSV: one row per kernel, copy or call, with its sums.
 * Spreadsheets save them with a byte order mark, CRLF or semicolons. */
#include "parse/text/csv.h"

#include <traceanalyze/dump.h>
#include <traceanalyze/plugin.h>

enum { TOTAL, CALLS, NAME, COLUMNS };

/* The unit of times is chosen with --timeunit; without one it is ns. */
#define UNITS(name) name " (ns)|" name " (us)|" name " (ms)|" name " (s)|" name

static const ta_csv_name device_columns[COLUMNS] = {
    [TOTAL] = UNITS("Total Time"),
    [CALLS] = "Instances|Count",
    [NAME] = "Name|Kernel Name|Operation",
};

static const ta_csv_name host_columns[COLUMNS] = {
    [TOTAL] = UNITS("Total Time"),
    [CALLS] = "Num Calls|Instances",
    [NAME] = "Name|Range",
};

static const char others[] =
    "Time (%)|Time(%)|Style|Category|" UNITS("Avg") "|" UNITS("Med") "|" UNITS("Min") "|" UNITS(
        "Max") "|" UNITS("StdDev") "|Average|Median|Minimum|Maximum";

enum { ON_DEVICE, ON_HOST, SHAPES };

static const struct ta_csv_shape shapes[SHAPES] = {
    [ON_DEVICE] = {device_columns, COLUMNS, COLUMNS, others},
    [ON_HOST] = {host_columns, COLUMNS, COLUMNS, others},
};

static int sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    if (head.len == 0 || head.ptr[0] == '{' || head.ptr[0] == '[' ||
        !memmem(head.ptr, head.len, "Total Time", strlen("Total Time")))
        return 0;
    return ta_csv_recognize(head, shapes, SHAPES) == SIZE_MAX ? 0 : 88;
}

static int shift_of(const struct ta_csv *csv)
{
    const struct ta_slice head = csv->headers[ta_csv_column(csv, TOTAL)];
    static const struct {
        const char *end;
        int shift;
    } units[] = {{"(us)", 3}, {"(ms)", 6}, {"(s)", 9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const struct ta_slice end = ta_slice_of(units[i].end);
        if (head.len > end.len && memcmp(ta_slice_end(head) - end.len, end.ptr, end.len) == 0)
            return units[i].shift;
    }
    return 0;
}

static enum ta_status read_sums(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct ta_csv *csv = ta_csv_new(ctx, reader, shapes, SHAPES);
    if (!csv)
        return ta_ctx_status(ctx);
    enum ta_status status = TA_OK;
    while (status == TA_OK && ta_csv_next(csv)) {
        const struct ta_slice name = ta_csv_text(csv, NAME);
        const int64_t total = ta_csv_decimal(csv, TOTAL, shift_of(csv));
        const int64_t calls = ta_csv_integer(csv, CALLS);
        if (name.len == 0 || total == TA_MISSING || calls == TA_MISSING) {
            ta_csv_drop(csv, "A row without a name, a time or a count");
            continue;
        }
        struct ta_operator_sum row = ta_unknown_operator_sum();
        row.name = ta_builder_string(builder, name);
        row.calls = calls;
        if (csv->shape == ON_HOST)
            row.cpu_ns = total;
        else
            row.self_device_ns = row.device_ns = total;
        status = ta_builder_add_operator_sum(ctx, builder, &row);
    }
    return ta_csv_close(ctx, csv, builder, status);
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_sums};

TA_PLUGIN(input, nsys_sums, &ops, .title = "nsys summary",
          .summary = "Sums per kernel, copy or call as `nsys stats --format csv` writes them",
          .version = "1");
