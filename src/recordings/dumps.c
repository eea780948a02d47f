/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run a dump of another profiler is of: by its name, then by its folder. */
#include "ingest/dumps/dumps.h"
#include "recordings/traces.h"

static const struct ta_file_name none = {.rank = TA_MISSING};

/* ---- runs of exports ----------------------------------------------------------------------- */

/* A file of a profiler that exports all that it recorded so far. */
struct export
{
    size_t file;
    const char *family;
    size_t run; /* place of the first export of the run */
};

static const struct ta_trace *dump_of(const struct deciding *d, const struct export *export)
{
    return d->ingestion->files[export->file].dump;
}

/* Forms of one export have one name; later exports of one run begin with the stages of earlier
 * ones. */
static bool are_one_run(const struct deciding *d, const struct export *a, const struct export *b)
{
    return strcmp(a->family, b->family) == 0 || ta_exports_repeat(dump_of(d, a), dump_of(d, b));
}

static bool list_exports(struct deciding *d, struct export *exports, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < d->ingestion->n_files; i++) {
        struct ta_file_name name;
        if (!ta_is_export(d->ingestion->files[i].dump))
            continue;
        if (!ta_file_name_read(&d->recordings->arena, d->ingestion->files[i].source->shown,
                               TA_MISSING, &name))
            return false;
        exports[*n] = (struct export){i, name.family, *n};
        ++*n;
    }
    for (size_t i = 0; i < *n; i++)
        for (size_t k = 0; k < i; k++) {
            if (exports[k].run == exports[i].run || !are_one_run(d, &exports[k], &exports[i]))
                continue;
            const size_t from = exports[i].run, into = exports[k].run;
            for (size_t j = 0; j <= i; j++)
                if (exports[j].run == from)
                    exports[j].run = into;
        }
    return true;
}

static void add_run(struct deciding *d, const char *name)
{
    struct ta_recordings *r = d->recordings;
    r->at[r->n] = (struct ta_recording){.kind = TA_RECORDING_RUN,
                                        .name = name,
                                        .run = r->n_runs,
                                        .number = TA_MISSING,
                                        .start_ns = TA_MISSING,
                                        .end_ns = TA_MISSING,
                                        .is_chosen = true};
    r->runs[r->n_runs++] =
        (struct ta_recorded_run){.name = name, .first = r->n, .n = 1, .chosen = r->n};
    r->n++;
}

/* Gives runs of exports their numbers and names, after their last files. */
static bool make_runs_of(struct deciding *d, struct export *exports, size_t n)
{
    struct ta_recordings *r = d->recordings;
    for (size_t i = 0; i < n; i++) {
        const char *last = NULL;
        for (size_t k = i; k < n; k++)
            if (exports[k].run == i)
                last = exports[k].family;
        if (exports[i].run != i)
            continue;
        const char *name = clean_run_name(&r->arena, last, strlen(last));
        name = name ? unique_run_name(d, name, r->n_runs) : NULL;
        if (!name)
            return false;
        add_run(d, name);
        for (size_t k = i; k < n; k++)
            if (exports[k].run == i)
                r->files[exports[k].file].recording = r->n - 1;
    }
    return true;
}

/* Runs of inputs without traces: one for exports that do not hold each other, else one in all. */
static bool make_runs(struct deciding *d)
{
    struct ta_recordings *r = d->recordings;
    const size_t most = d->ingestion->n_files + 1;
    struct export *exports = ta_arena_alloc(&r->arena, most * sizeof *exports);
    r->runs = ta_arena_alloc(&r->arena, most * sizeof *r->runs);
    r->at = ta_arena_alloc(&r->arena, most * sizeof *r->at);
    size_t n = 0, n_runs = 0;
    if (!exports || !r->runs || !r->at)
        return false;
    if (!d->ingestion->is_one && !d->is_given && !list_exports(d, exports, &n))
        return false;
    for (size_t i = 0; i < n; i++)
        n_runs += exports[i].run == i;
    if (n_runs > 1)
        return make_runs_of(d, exports, n);
    add_run(d, "run");
    return true;
}

/* ---- places -------------------------------------------------------------------------------- */

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
    bool done = r->n_runs || make_runs(d);
    for (size_t i = 0; done && i < r->n_files; i++) {
        struct ta_recorded_file *file = &r->files[i];
        const char *shown = d->ingestion->files[i].source->shown;
        struct ta_file_name name = none;
        if (file->kind != TA_RECORDING_DUMP)
            continue;
        done = ta_file_name_read(&r->arena, shown, TA_MISSING, &name);
        const size_t run = r->n_runs == 1                ? 0
                           : file->recording != SIZE_MAX ? r->at[file->recording].run
                           : done                        ? run_of(d, shown, name.family)
                                                         : SIZE_MAX;
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
