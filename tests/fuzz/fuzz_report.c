/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the traces of two ranks: the whole pipeline, then report.json, which must be JSON
 * whose accounts add up, and one more output. */
#include "support.h"

#include "pipeline.h"
#include "report/report.h"

#include <jansson.h>
#include <unistd.h>

static json_int_t total(const json_t *report, const char *name)
{
    const json_t *totals = json_object_get(json_object_get(report, "data_quality"), "totals");
    const json_t *value = json_object_get(totals, name);
    FUZZ_CHECK(json_is_integer(value));
    return json_integer_value(value);
}

static void check_json(const char *bytes, size_t size)
{
    json_error_t error;
    json_t *report = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!report)
        fprintf(stderr, "line %d: %s\n", error.line, error.text);
    FUZZ_CHECK(report);
    FUZZ_CHECK(total(report, "events_seen") ==
               total(report, "events_kept") + total(report, "events_dropped"));
    FUZZ_CHECK(total(report, "files_seen") ==
               total(report, "files_used") + total(report, "files_refused"));
    json_decref(report);
}

/* Nothing that acts on a terminal or a spreadsheet, whatever the output. */
static void check_text(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK((unsigned char)bytes[i] >= 0x20 || bytes[i] == '\n' || bytes[i] == '\r');
}

static void check_products(struct fuzz_run *run, const struct ta_report *report, unsigned which)
{
    static const char *const others[] = {"html", "csv", "md", "text"};
    size_t size;
    char *bytes = fuzz_render(run, "json", report, &size);
    check_json(bytes, size);
    free(bytes);
    bytes = fuzz_render(run, others[which % 4], report, &size);
    check_text(bytes, size);
    free(bytes);
}

static void analyze(struct fuzz_run *run, int first, int second, unsigned which)
{
    char paths[2][32];
    snprintf(paths[0], sizeof paths[0], "/proc/self/fd/%d", first);
    snprintf(paths[1], sizeof paths[1], "/proc/self/fd/%d", second);
    const char *const inputs[] = {paths[0], paths[1]};
    const struct ta_run_options options = {
        .inputs = inputs, .n_inputs = 2, .jobs = 1, .world_size = TA_MISSING};
    struct ta_report *report;
    const enum ta_status status = ta_pipeline_run(&run->ctx, run->registry, &options, &report);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_INPUT);
    if (status != TA_OK)
        return;
    check_products(run, report, which);
    ta_report_free(report);
}

/* The first byte chooses the output, the next two the place where the second file begins. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct fuzz_run *run = fuzz_begin();
    const unsigned which = data[0];
    size_t cut = (size_t)data[1] << 8 | data[2];
    data += 3;
    size -= 3;
    cut = cut < size ? cut : size;
    const int first = fuzz_file(data, cut), second = fuzz_file(data + cut, size - cut);
    analyze(run, first, second, which);
    close(first);
    close(second);
    return 0;
}
