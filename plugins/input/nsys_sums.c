/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries that `nsys stats` and rocprof write as CSV: one row per kernel, copy or call, with its
 * sums.  Spreadsheets save them with a byte order mark, CRLF or semicolons. */
#include "lib/nsys.h"
#include "lib/rows.h"
#include "parse/text/csv.h"

#include <traceanalyze/dump.h>
#include <traceanalyze/plugin.h>

#include <ctype.h>

static const ta_csv_name device_columns[NSYS_COLUMNS] = NSYS_DEVICE;
static const ta_csv_name host_columns[NSYS_COLUMNS] = NSYS_HOST;

/* `rocprof --stats`, and kernel_stats.csv, hip_api_stats.csv, domain_stats.csv of rocprofv3. */
static const ta_csv_name rocprof_columns[NSYS_COLUMNS] = {
    [NSYS_TOTAL] = "TotalDurationNs",
    [NSYS_CALLS] = "Calls",
    [NSYS_NAME] = "Name",
};

enum { ON_DEVICE, ON_HOST, ROCPROF, SHAPES };

static const struct ta_csv_shape shapes[SHAPES] = {
    [ON_DEVICE] = {device_columns, NSYS_COLUMNS, NSYS_COLUMNS, NSYS_OTHERS},
    [ON_HOST] = {host_columns, NSYS_COLUMNS, NSYS_COLUMNS, NSYS_OTHERS},
    [ROCPROF] = {rocprof_columns, NSYS_COLUMNS, NSYS_COLUMNS,
                 "AverageNs|Percentage|MinNs|MaxNs|StdDev"},
};

static bool holds(struct ta_slice text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

static int sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    if (head.len == 0 || head.ptr[0] == '{' || head.ptr[0] == '[' ||
        !(holds(head, "Total Time") || holds(head, "TotalDurationNs")))
        return 0;
    return ta_csv_recognize(head, shapes, SHAPES) == SIZE_MAX ? 0 : 88;
}

/* Whether rocprof names a call of the host: "hipLaunchKernel", "hsa_queue_create", "roctxMark". */
static bool is_call(struct ta_slice name)
{
    const bool is_hip = ta_slice_starts(name, "hip") && name.len > 3 &&
                        isupper((unsigned char)name.ptr[3]) &&
                        !memchr(name.ptr, '(', name.len) && !memchr(name.ptr, '<', name.len);
    return is_hip || ta_slice_starts(name, "__hip") || ta_slice_starts(name, "hsa_") ||
           ta_slice_starts(name, "roctx");
}

/* Whether a name is a domain, whose row sums up all of another table: "KERNEL_DISPATCH". */
static bool is_domain(struct ta_slice name)
{
    static const char *const domains[] = {
        "KERNEL_DISPATCH", "MEMORY_COPY", "MEMORY_ALLOCATION", "SCRATCH_MEMORY", "HIP_API",
        "HIP_RUNTIME_API", "HIP_RUNTIME_API_EXT", "HIP_COMPILER_API", "HIP_COMPILER_API_EXT",
        "HSA_API", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
        "MARKER_API", "MARKER_CORE_API", "MARKER_CORE_RANGE_API", "RCCL_API", "ROCDECODE_API",
        "ROCJPEG_API"};
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        if (ta_slice_equal(name, ta_slice_of(domains[i])))
            return true;
    return false;
}

static enum ta_status read_sums(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct ta_csv *csv = ta_csv_new(ctx, reader, shapes, SHAPES);
    if (!csv)
        return ta_ctx_status(ctx);
    enum ta_status status = TA_OK;
    while (status == TA_OK && ta_csv_next(csv)) {
        const struct ta_slice name = ta_csv_text(csv, NSYS_NAME);
        const int shift = nsys_shift(csv->headers[ta_csv_column(csv, NSYS_TOTAL)]);
        const int64_t total = ta_csv_decimal(csv, NSYS_TOTAL, shift);
        const int64_t calls = ta_csv_integer(csv, NSYS_CALLS);
        if (name.len == 0 || total == TA_MISSING || calls == TA_MISSING) {
            ta_csv_drop(csv, "A row without a name, a time or a count");
            continue;
        }
        if (csv->shape == ROCPROF && is_domain(name)) {
            status = ta_rows_figure(ctx, builder, TA_MISSING, ta_builder_string(builder, name),
                                    "rocprof", (double)total, TA_UNIT_NS);
            continue;
        }
        struct ta_operator_sum row = ta_unknown_operator_sum();
        row.name = ta_builder_string(builder, name);
        row.calls = calls;
        if (csv->shape == ON_HOST || (csv->shape == ROCPROF && is_call(name)))
            row.cpu_ns = total;
        else
            row.self_device_ns = row.device_ns = total;
        status = ta_builder_add_operator_sum(ctx, builder, &row);
    }
    return ta_csv_close(ctx, csv, builder, status);
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_sums};

TA_PLUGIN(input, nsys_sums, &ops, .title = "Sums of nsys or rocprof",
          .summary = "Sums per kernel, copy or call as `nsys stats --format csv` and `rocprof "
                     "--stats` write them",
          .version = "2");
