/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table recordings.files: what each file was taken for, and why. */
#include "recordings/take.h"

#include "plugin/builtin.h"
#include "report/report.h"
#include "traceanalyze/table.h"

enum { FILE_PATH, KIND, RUN, RECORDING, RANK, COUNTS, START, WINDOW, WHY };

static const struct ta_column recording_files_columns[] = {
    [FILE_PATH] = {"file", "File", TA_TEXT, .role = TA_KEY,
                   .doc = "Path of the file below the input"},
    [KIND] = {"kind", "Kind", TA_WORD, .role = TA_NOTE, .read_as = TA_AS_FILE_KIND,
              .doc = "run, iteration, cycle, warm_up; graph_capture, host_process or repeat (used "
                     "only for another recording, not for times); dump (of another profiler); copy "
                     "(same content as other files); not_read"},
    [RUN] = {"run", "Run", TA_TEXT, .role = TA_NOTE, .doc = "Name of the run, as --run takes it"},
    [RECORDING] = {"recording", "Recording", TA_TEXT, .role = TA_NOTE,
                   .read_as = TA_AS_FILE_RECORDING,
                   .doc = "Name of the recording, as --run takes it"},
    [RANK] = {"rank", "Rank", TA_INTEGER, .role = TA_NOTE,
              .doc = "Rank of the file; empty if it does not count"},
    [COUNTS] = {"counts", "Counted", TA_FLAG, .role = TA_NOTE, .read_as = TA_AS_FILE_COUNTS,
                .doc = "Whether the figures of the recording include this file"},
    [START] = {"start_ns", "Start", TA_NS, .role = TA_NOTE,
               .doc = "Start of the file, since the first dated event of all files"},
    [WINDOW] = {"window_ns", "Window", TA_NS, .role = TA_NOTE,
                .doc = "From the first event of the file to its last"},
    [WHY] = {"why", "Why", TA_SENTENCE, .role = TA_NOTE,
             .doc = "Why the file is not simply a rank of the run"},
};

static const struct ta_table_def recording_files = {
    "recordings.files",
    "Recorded files",
    TA_COLUMNS(recording_files_columns),
    .doc = "What each file was classified as before anything was computed, if it is not simply a "
           "rank of the only run.",
    .tier = TA_TIER_DETAIL,
    .joining = TA_JOIN_NOT,
    .not_of_ranks = true};

static const struct ta_table_def *const tables[] = {&recording_files, NULL};
static const struct ta_part made = {.name = "recordings", .tables = tables};
const struct ta_part *const ta_recordings_parts[] = {&made, NULL};

/* The first date of all recordings, or TA_MISSING. */
static int64_t first_start(const struct ta_recordings *recordings)
{
    int64_t first = TA_MISSING;
    for (size_t i = 0; i < recordings->n; i++) {
        const int64_t start = recordings->at[i].start_ns;
        if (start != TA_MISSING && (first == TA_MISSING || start < first))
            first = start;
    }
    return first;
}

void ta_recordings_list(const struct ta_recordings *recordings,
                        const struct ta_ingestion *ingestion, size_t run, struct ta_report *report)
{
    struct ta_section_builder *out = ta_report_open_section(report, "run", "Files and events");
    const int64_t first = first_start(recordings);
    ta_declare_tables(out, tables);
    for (size_t i = 0; i < recordings->n_files; i++) {
        const struct ta_recorded_file *file = &recordings->files[i];
        const struct ta_ingested *facts = &ingestion->files[i];
        const struct ta_recording *recording =
            file->recording == SIZE_MAX ? NULL : &recordings->at[file->recording];
        const int64_t start = file->start_ns;
        if (run != SIZE_MAX && recordings->n_runs > 1 && (!recording || recording->run != run))
            continue;
        TA_ROW(out, recording_files, [FILE_PATH] = ta_string(facts->source->shown),
               [KIND] = ta_string(ta_recording_kind_name(file->kind)),
               [RUN] = recording ? ta_string(recordings->runs[recording->run].name) : ta_null(),
               [RECORDING] = recording ? ta_string(recording->name) : ta_null(),
               [RANK] = ta_int(file->counts ? facts->final_rank : TA_MISSING),
               [COUNTS] = ta_bool(file->counts),
               [START] =
                   ta_int(start == TA_MISSING || first == TA_MISSING ? TA_MISSING : start - first),
               [WINDOW] = ta_int(facts->first_ts == TA_MISSING ? TA_MISSING
                                                               : facts->last_ts - facts->first_ts),
               [WHY] = ta_string(file->why));
    }
    ta_close_tables(out);
}
