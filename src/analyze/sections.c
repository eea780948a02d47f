/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections of a report and their order. */
#include "analyze/analyze.h"

#include "report/report.h"

static const struct {
    const char *id, *title;
} sections[] = {
    {"findings", "Findings"},
    {"gates", "Gates"},
    {"overview", "Overview"},
    {"gpu_time", "GPU time"},
    {"phases", "Phases and denoising"},
    {"steps", "Steps"},
    {"stages", "Stages"},
    {"diffusion", "Diffusion and throughput"},
    {"models", "Models"},
    {"operators", "Operators"},
    {"kernels", "Kernels"},
    {"launches", "Launch and idle"},
    {"critical_path", "Critical path"},
    {"collectives", "Collectives and late ranks"},
    {"copies", "Copies"},
    {"call_tree", "Call tree"},
    {"memory", "Memory"},
    {"telemetry", "Device telemetry"},
    {"caches", "Caches"},
    {"streaming", "Streaming"},
    {"ranks", "Ranks"},
    {"reported", "As the profiler reported"},
    {"health", "Trace health"},
    {"run", "Files and events"},
};

const char *ta_section_id(size_t index)
{
    return index < TA_LENGTH(sections) ? sections[index].id : NULL;
}

const char *ta_section_title(size_t index)
{
    return index < TA_LENGTH(sections) ? sections[index].title : NULL;
}

void ta_sections_prepare(struct ta_report *report)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        ta_report_open_section(report, sections[i].id, sections[i].title);
}
