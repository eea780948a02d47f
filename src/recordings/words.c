/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings by their names, and what kinds are called. */
#include "recordings/recordings.h"

#include "report/words.h"

const char *ta_recording_kind_name(enum ta_recording_kind kind)
{
    static const char *const names[] = {[TA_RECORDING_RUN] = "run",
                                        [TA_RECORDING_ITERATION] = "iteration",
                                        [TA_RECORDING_CYCLE] = "cycle",
                                        [TA_RECORDING_WARM_UP] = "warm_up",
                                        [TA_RECORDING_CAPTURE] = "graph_capture",
                                        [TA_RECORDING_HOST] = "host_process",
                                        [TA_RECORDING_REPEAT] = "repeat",
                                        [TA_RECORDING_DUMP] = "dump",
                                        [TA_RECORDING_COPY] = "copy",
                                        [TA_RECORDING_NONE] = "not_read"};
    return names[kind];
}

size_t ta_recording_find(const struct ta_recordings *recordings, const char *name)
{
    for (size_t i = 0; i < recordings->n_runs; i++)
        if (strcmp(recordings->runs[i].name, name) == 0)
            return recordings->runs[i].chosen;
    for (size_t i = 0; i < recordings->n; i++) {
        const struct ta_recording *recording = &recordings->at[i];
        const char *run = recordings->runs[recording->run].name;
        const size_t n = strlen(run);
        if ((recordings->n_runs == 1 && strcmp(recording->name, name) == 0) ||
            (strncmp(name, run, n) == 0 && name[n] == '/' &&
             strcmp(recording->name, name + n + 1) == 0))
            return i;
    }
    return SIZE_MAX;
}

enum ta_status ta_recordings_lack(struct ta_ctx *ctx, const struct ta_recordings *recordings,
                                  const char *name)
{
    struct ta_arena arena = {0};
    const char *list = "";
    for (size_t i = 0; list && i < recordings->n_runs; i++) {
        const struct ta_recorded_run *run = &recordings->runs[i];
        list = ta_arena_printf(&arena, "%s%s%s", list, *list ? ", " : "", run->name);
        for (size_t k = 0; list && run->n > 1 && k < run->n; k++)
            list = ta_arena_printf(
                &arena, "%s, %s%s%s", list, recordings->n_runs > 1 ? run->name : "",
                recordings->n_runs > 1 ? "/" : "", recordings->at[run->first + k].name);
    }
    ta_fail(ctx, TA_ERR_USAGE, "No run of the inputs has this name: --run=%s, there are %s", name,
            list ? list : "others");
    ta_arena_free(&arena);
    return TA_ERR_USAGE;
}

/* Whether it is neither a recording nor lost nor one of our own products. */
static bool is_something_else(const struct ta_recorded_file *recorded,
                              const struct ta_ingested *file)
{
    return recorded->kind == TA_RECORDING_NONE && !ta_ingested_is_missed(file) && !file->is_product;
}

bool ta_recordings_are_plain(const struct ta_recordings *recordings,
                             const struct ta_ingestion *ingestion)
{
    if (recordings->n != 1 || recordings->at[0].kind != TA_RECORDING_RUN)
        return false;
    for (size_t i = 0; i < recordings->n_files; i++)
        if (recordings->files[i].kind == TA_RECORDING_CAPTURE ||
            recordings->files[i].kind == TA_RECORDING_HOST ||
            recordings->files[i].kind == TA_RECORDING_REPEAT ||
            is_something_else(&recordings->files[i], &ingestion->files[i]))
            return false;
    return true;
}
