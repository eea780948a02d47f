/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads traces and prints the busy time of each rank and the findings: embed INPUT... */
#include <inttypes.h>
#include <stdio.h>
#include <traceanalyze/run.h>

enum { RANK, DEVICE, BUSY };
static const struct ta_ref refs[] = {
    {"gpu_time.by_rank", "rank", NULL},
    {"gpu_time.by_rank", "device", NULL},
    {"gpu_time.by_rank", "busy_ns", NULL},
};

static void print_report(const struct ta_report *report)
{
    struct ta_refs in;
    ta_refs_open(&in, report, refs, TA_LENGTH(refs));
    for (size_t row = 0; row < ta_ref_rows(&in, RANK); row++)
        printf("rank %" PRId64 ", device %" PRId64 ": busy %.3f ms\n",
               ta_ref_integer(&in, RANK, row), ta_ref_integer(&in, DEVICE, row),
               ta_ref_number(&in, BUSY, row, 0) / 1e6);
    for (size_t i = 0; i < ta_report_section_count(report); i++) {
        const struct ta_section *section = ta_report_section(report, i);
        for (size_t k = 0; k < section->n_items; k++)
            if (section->items[k].kind == TA_ITEM_FINDING)
                printf("%s: %s\n", section->items[k].finding->id, section->items[k].finding->title);
    }
}

int main(int argc, char **argv)
{
    struct ta_run *run = ta_run_new();
    enum ta_status status = run ? ta_run_set(run, "jobs", "2") : TA_ERR_NOMEM;
    for (int i = 1; status == TA_OK && i < argc; i++)
        status = ta_run_add(run, argv[i]);
    if (status == TA_OK)
        status = ta_run_execute(run, TA_RUN_REPORT);
    if (status == TA_OK)
        print_report(ta_run_report(run));
    else
        fprintf(stderr, "%s\n", run ? ta_run_error(run) : "Out of memory");
    ta_run_free(run);
    return status == TA_OK ? 0 : 1;
}
