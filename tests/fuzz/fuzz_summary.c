/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a saved summary: the whole pipeline to a report, which either is one or was refused.
 */
#include "support.h"

#include "pipeline.h"
#include "report/report.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_run *run = fuzz_begin();
    const int file = fuzz_file(data, size);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const char *const inputs[] = {path};
    const struct ta_run_options options = {
        .inputs = inputs, .n_inputs = 1, .jobs = 1, .world_size = TA_MISSING};
    struct ta_report *report;
    const enum ta_status status = ta_pipeline_run(&run->ctx, run->registry, &options, &report);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_INPUT);
    if (status == TA_OK)
        ta_report_free(report);
    close(file);
    return 0;
}
