/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a report that was written before: they are refused, or are a report that comes back
 * the same from report.json and that every output can show. */
#include "support.h"

#include "traceanalyze/output.h"
#include "report/report.h"
#include "ingest/inputs/saved.h"

#include <unistd.h>

static struct ta_report *read_report(struct fuzz_run *run, const void *data, size_t size)
{
    char path[32];
    struct ta_report *report = NULL;
    const int fd = fuzz_file(data, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const enum ta_status status = ta_saved_read(&run->ctx, run->registry, path, &report);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_INPUT);
    close(fd);
    return report;
}

static void check_comes_back(struct fuzz_run *run, const struct ta_report *report)
{
    size_t n, m;
    char *bytes = fuzz_render(run, "json", report, &n);
    struct ta_report *again = read_report(run, bytes, n);
    FUZZ_CHECK(again);
    char *copy = fuzz_render(run, "json", again, &m);
    FUZZ_CHECK(n == m && memcmp(bytes, copy, n) == 0);
    ta_report_free(again);
    free(copy);
    free(bytes);
}

/* The first byte chooses the output. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const outputs[] = {"html", "csv", "md", "text"};
    if (size < 1)
        return 0;
    struct fuzz_run *run = fuzz_begin();
    struct ta_report *report = read_report(run, data + 1, size - 1);
    if (report) {
        size_t n;
        check_comes_back(run, report);
        free(fuzz_render(run, outputs[data[0] % 4], report, &n));
        ta_report_free(report);
    }
    return 0;
}
