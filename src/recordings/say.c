/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What files were taken for, in one line. */
#include "recordings/take.h"

#include <stdio.h>
#include <string.h>

struct saying {
    const struct ta_recordings *recordings;
    const struct ta_ingestion *ingestion;
    size_t run;   /* SIZE_MAX: of all */
    size_t shown; /* the recording that the report is of; SIZE_MAX: of each run the chosen one */
    struct ta_arena arena;
    const char *line;
};

static void say(struct saying *s, const char *text)
{
    s->line =
        text ? ta_arena_printf(&s->arena, "%s%s%s", s->line, *s->line ? "; " : "", text) : NULL;
}

/* Whether a file is of the run and of this kind. */
static bool is_meant(const struct saying *s, size_t i, enum ta_recording_kind kind)
{
    const struct ta_recorded_file *file = &s->recordings->files[i];
    const struct ta_ingested *facts = &s->ingestion->files[i];
    if (file->kind != kind)
        return false;
    if (kind == TA_RECORDING_NONE) /* what is missed is said to be */
        return (s->run == SIZE_MAX || s->recordings->n_runs == 1) &&
               !ta_ingested_is_missed(facts) && !facts->is_product;
    return s->run == SIZE_MAX ||
           (file->recording != SIZE_MAX && s->recordings->at[file->recording].run == s->run);
}

/* "a, b and 3 more" of one kind; NULL without any.  Without the folders they are `short_names`. */
static const char *list_files(struct saying *s, enum ta_recording_kind kind, bool short_names,
                              size_t *n)
{
    enum { NAMED_MOST = 3 };
    const char *list = NULL;
    *n = 0;
    for (size_t i = 0; i < s->recordings->n_files; i++) {
        if (!is_meant(s, i, kind))
            continue;
        const char *path = s->ingestion->files[i].source->shown;
        const char *folder = short_names ? strrchr(path, '/') : NULL;
        const char *shown = folder ? folder + 1 : path;
        if (++*n <= NAMED_MOST)
            list = ta_arena_printf(&s->arena, "%s%s%s", list ? list : "", list ? ", " : "", shown);
    }
    return *n > NAMED_MOST ? ta_arena_printf(&s->arena, "%s and %zu more", list, *n - NAMED_MOST)
                           : list;
}

/* "the", or how many of them. */
static const char *part_of(struct saying *s, const struct ta_mapped_kernels *kernels)
{
    return kernels->mapped >= kernels->all
               ? "the"
               : ta_arena_printf(&s->arena, "%.3g %% of the",
                                 100.0 * (double)kernels->mapped / (double)kernels->all);
}

static void say_captures(struct saying *s)
{
    size_t n, n_counted = 0;
    const char *list = list_files(s, TA_RECORDING_CAPTURE, false, &n);
    const char *many = n > 1 ? "s" : "";
    for (size_t i = 0; i < s->recordings->n_files; i++)
        n_counted += is_meant(s, i, TA_RECORDING_CAPTURE) && s->recordings->files[i].counts;
    const struct ta_mapped_kernels kernels =
        ta_recordings_mapped(s->recordings, s->ingestion, s->run, NULL);
    if (list && n_counted)
        say(s, ta_arena_printf(&s->arena,
                               "%s: graph capture%s without a recording that replays %s, so the "
                               "figures are of capturing",
                               list, many, n > 1 ? "them" : "it"));
    else if (list && kernels.mapped)
        say(s, ta_arena_printf(&s->arena,
                               "%s: graph capture%s that name%s %s kernels of the replayed graphs",
                               list_files(s, TA_RECORDING_CAPTURE, true, &n), many,
                               n > 1 ? "" : "s", part_of(s, &kernels)));
    else if (list && kernels.all)
        say(s, ta_arena_printf(&s->arena,
                               "%s: graph capture%s, set aside: no replayed kernel can be matched "
                               "with %s%s%s%s",
                               list, many, n > 1 ? "them" : "it", kernels.reason ? " (" : "",
                               kernels.reason ? kernels.reason : "", kernels.reason ? ")" : ""));
    else if (list)
        say(s, ta_arena_printf(&s->arena, "%s: graph capture%s, set aside", list, many));
}

static void say_hosts(struct saying *s)
{
    size_t n;
    const char *list = list_files(s, TA_RECORDING_HOST, false, &n);
    if (list)
        say(s, ta_arena_printf(&s->arena,
                               "%s: no device work, which other files have, so not taken for "
                               "%s",
                               list, n > 1 ? "ranks" : "a rank"));
}

/* "iteration_0, iteration_1 and iteration_2; warm-up left out". */
static const char *list_recordings(struct saying *s, const struct ta_recorded_run *run, size_t n)
{
    enum { NAMED_MOST = 6 };
    const size_t n_warm = run->n - n;
    const char *list = "";
    size_t named = 0;
    for (size_t k = 0; list && k < run->n && named < NAMED_MOST; k++) {
        const struct ta_recording *at = &s->recordings->at[run->first + k];
        if (at->kind != TA_RECORDING_WARM_UP)
            list = ta_arena_printf(&s->arena, "%s%s%s", list, named++ ? ", " : "", at->name);
    }
    if (list && n > named)
        list = ta_arena_printf(&s->arena, "%s and %zu more", list, n - named);
    return !list || !n_warm ? list
           : n_warm == 1    ? ta_arena_printf(&s->arena, "%s; warm-up left out", list)
                            : ta_arena_printf(&s->arena, "%s; %zu warm-ups left out", list, n_warm);
}

/* "The figures are of iteration_2, the last of 3 recordings of one program (iteration_0,
 * iteration_1, iteration_2; warm-up left out)". */
static void say_recordings(struct saying *s, const struct ta_recorded_run *run)
{
    const struct ta_recording *at = s->recordings->at;
    const size_t shown = s->shown == SIZE_MAX ? run->chosen : s->shown;
    size_t n = 0, last = 0;
    if (run->n == 1)
        return;
    for (size_t k = run->first; k < run->first + run->n; k++)
        if (at[k].kind != TA_RECORDING_WARM_UP) {
            n++;
            last = k;
        }
    const char *list = list_recordings(s, run, n);
    const bool is_only = n == 1; /* that is no warm-up */
    const char *which = at[shown].kind == TA_RECORDING_WARM_UP ? "a warm-up next to"
                        : shown != run->chosen || is_only      ? "one of"
                        : shown != last                        ? "the last whole one of"
                                                               : "the last of";
    const bool has_others = s->recordings->n_runs > 1;
    say(s, list ? ta_arena_printf(&s->arena,
                                  "%s%she figures are of %s, %s %zu recordings of one program (%s)",
                                  has_others ? run->name : "", has_others ? ": t" : "T",
                                  at[shown].name, which, is_only ? run->n : n, list)
                : NULL);
}

static void say_others(struct saying *s)
{
    size_t n;
    const char *list = list_files(s, TA_RECORDING_NONE, false, &n);
    if (list)
        say(s, ta_arena_printf(&s->arena, "%s: not read (no recording%s)", list, n > 1 ? "s" : ""));
}

bool ta_recordings_say(const struct ta_recordings *recordings, const struct ta_ingestion *ingestion,
                       size_t run, size_t shown, struct ta_quality *job)
{
    struct saying s = {
        .recordings = recordings, .ingestion = ingestion, .run = run, .shown = shown, .line = ""};
    for (size_t i = 0; s.line && i < recordings->n_runs; i++)
        if (run == SIZE_MAX || run == i)
            say_recordings(&s, &recordings->runs[i]);
    if (s.line)
        say_captures(&s);
    if (s.line)
        say_hosts(&s);
    if (s.line)
        say_others(&s);
    const bool done = s.line && !s.arena.failed;
    if (done && *s.line)
        ta_quality_add(job, TA_Q_RECORDINGS, TA_NO_OFFSET, "%s", s.line);
    ta_arena_free(&s.arena);
    return done;
}
