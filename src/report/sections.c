/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chapters of a report, its sections, and the order of both. */
#include "report/sections.h"

#include "report/report.h"

static const struct {
    const char *id, *title;
} chapters[TA_CHAPTERS] = {
    [TA_CHAPTER_FINDINGS] = {"findings", "Findings"},
    [TA_CHAPTER_TIMELINE] = {"timeline", "Timeline"},
    [TA_CHAPTER_TIME] = {"time", "Where the time goes"},
    [TA_CHAPTER_IDLE] = {"idle", "Why the GPU is idle"},
    [TA_CHAPTER_STEPS] = {"steps", "Steps and phases"},
    [TA_CHAPTER_MEMORY] = {"memory", "Memory and device"},
    [TA_CHAPTER_RANKS] = {"ranks", "Ranks and communication"},
    [TA_CHAPTER_CALL_TREE] = {"call_tree", "Call tree"},
    [TA_CHAPTER_MORE] = {"more", "More"},
    [TA_CHAPTER_APPENDIX] = {"appendix", "Appendix"},
};

/* In the order of the chapters, sections of comparisons among them. */
static const struct {
    const char *id, *title;
    enum ta_chapter chapter;
} sections[] = {
    {TA_SECTION_FINDINGS, "Findings", TA_CHAPTER_FINDINGS},
    {"gates", "Gates", TA_CHAPTER_FINDINGS},
    {"overview", "Overview", TA_CHAPTER_FINDINGS},
    {"diff", "What changed", TA_CHAPTER_FINDINGS},
    {"scaling", "Scaling", TA_CHAPTER_FINDINGS},
    {"diff_runs", "Runs compared", TA_CHAPTER_FINDINGS},
    {"gpu_time", "GPU time", TA_CHAPTER_TIME},
    {"kernels", "Kernels", TA_CHAPTER_TIME},
    {"operators", "Operators", TA_CHAPTER_TIME},
    {"models", "Models", TA_CHAPTER_TIME},
    {"copies", "Copies", TA_CHAPTER_TIME},
    {"diff_stages", "Stages compared", TA_CHAPTER_TIME},
    {"diff_kernels", "Kernels compared", TA_CHAPTER_TIME},
    {"diff_ops", "Operators compared", TA_CHAPTER_TIME},
    {"launches", "Launch and idle", TA_CHAPTER_IDLE},
    {"critical_path", "Critical path", TA_CHAPTER_IDLE},
    {"phases", "Phases and denoising", TA_CHAPTER_STEPS},
    {"steps", "Steps", TA_CHAPTER_STEPS},
    {"stages", "Stages", TA_CHAPTER_STEPS},
    {"diffusion", "Diffusion and throughput", TA_CHAPTER_STEPS},
    {"caches", "Caches", TA_CHAPTER_STEPS},
    {"streaming", "Streaming", TA_CHAPTER_STEPS},
    {"memory", "Memory", TA_CHAPTER_MEMORY},
    {"telemetry", "Device telemetry", TA_CHAPTER_MEMORY},
    {"diff_memory", "Memory compared", TA_CHAPTER_MEMORY},
    {"ranks", "Ranks", TA_CHAPTER_RANKS},
    {"collectives", "Collectives and late ranks", TA_CHAPTER_RANKS},
    {"call_tree", "Call tree", TA_CHAPTER_CALL_TREE},
    {"reported", "As the profiler reported", TA_CHAPTER_APPENDIX},
    {"health", "Trace health", TA_CHAPTER_APPENDIX},
    {"run", "Files and events", TA_CHAPTER_APPENDIX},
};

const char *ta_chapter_id(enum ta_chapter chapter)
{
    return chapters[chapter].id;
}

const char *ta_chapter_title(enum ta_chapter chapter)
{
    return chapters[chapter].title;
}

const char *ta_section_id(size_t index)
{
    return index < TA_LENGTH(sections) ? sections[index].id : NULL;
}

const char *ta_section_title(size_t index)
{
    return index < TA_LENGTH(sections) ? sections[index].title : NULL;
}

enum ta_chapter ta_section_chapter(const char *id)
{
    for (size_t i = 0; i < TA_LENGTH(sections); i++)
        if (strcmp(sections[i].id, id) == 0)
            return sections[i].chapter;
    return TA_CHAPTER_MORE;
}

void ta_sections_prepare(struct ta_report *report)
{
    for (size_t i = 0; i < TA_LENGTH(sections); i++)
        ta_report_open_section(report, sections[i].id, sections[i].title);
}
