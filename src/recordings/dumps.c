/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run a dump of another profiler is of: by its name, then by its folder. */
#include "recordings/traces.h"

static const struct ta_file_name none = {.rank = TA_MISSING};

/* A run without traces has one recording, of all that was read. */
static bool make_run(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    r->runs[0] = (struct ta_recorded_run){.name = "run", .first = 0, .n = 1, .chosen = 0};
    r->at[0] = (struct ta_recording){.kind = TA_RECORDING_RUN,
                                     .name = "run",
                                     .number = TA_MISSING,
                                     .start_ns = TA_MISSING,
                                     .end_ns = TA_MISSING,
                                     .is_chosen = true};
    r->n_runs = r->n = 1;
    return true;
}

/* How many bytes of a name the family of a run begins with, whole words only; 0 when it does not.
 */
static size_t shared_name(const char *family, const char *name)
{
    const size_t n = strlen(family);
    if (n == 0 || strncmp(family, name, n) != 0)
        return 0;
    return name[n] == '\0' || strchr("-_./", name[n]) ? n : 0;
}

static struct ta_slice folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (struct ta_slice){path, slash ? (size_t)(slash - path) : 0};
}

/* The run whose name a dump has; else the only one with traces in its folder; SIZE_MAX when there
 * is no such run. */
static size_t run_of(const struct deciding *d, const char *shown, const char *family)
{
    size_t run = SIZE_MAX, longest = 0;
    bool several = false;
    for (size_t i = 0; i < d->n; i++) {
        const size_t n = shared_name(d->traces[i].name.family, family);
        if (n > longest) {
            longest = n;
            run = d->traces[i].run;
        }
    }
    for (size_t i = 0; i < d->n && !longest; i++) {
        const char *other = d->ingestion->files[d->traces[i].file].source->shown;
        if (!ta_slice_equal(folder_of(other), folder_of(shown)))
            continue;
        several |= run != SIZE_MAX && run != d->traces[i].run;
        run = d->traces[i].run;
    }
    return several ? SIZE_MAX : run;
}

bool place_dumps(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    bool done = r->n_runs || make_run(d);
    for (size_t i = 0; done && i < r->n_files; i++) {
        struct ta_recorded_file *file = &r->files[i];
        const char *shown = d->ingestion->files[i].source->shown;
        struct ta_file_name name = none;
        if (file->kind != TA_RECORDING_DUMP)
            continue;
        done = ta_file_name_read(&r->arena, shown, &name);
        const size_t run = r->n_runs == 1 ? 0 : done ? run_of(d, shown, name.family) : SIZE_MAX;
        if (run == SIZE_MAX) {
            file->why = "Neither its name nor its folder says which of the runs it is of";
            continue;
        }
        file->recording = r->runs[run].chosen;
        file->counts = true;
        file->why = "";
        r->at[file->recording].n_files++;
    }
    return done;
}
