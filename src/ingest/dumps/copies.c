/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several copies of a set of records counts.
 *
 * What a file holds is broken down into holdings: rows of one table and rank; samples of one
 * signal, figures and tags of one name. Sorted by folder, rank, kind and set, holdings that are
 * copies of each other stand side by side, the most exact one first. */
#include "ingest/dumps/dumps.h"

#include "base/hash.h"
#include "base/quality.h"
#include "discover/discover.h"

#include <inttypes.h>
#include <stdlib.h>

struct holding {
    struct ta_slice folder;
    const char *set; /* NULL: the file is a set of its own */
    int64_t rank;
    size_t file;
    enum ta_dump_table table;
    uint64_t detail; /* which rows of the table, see detail_of() */
    enum ta_exactness exactness;
    bool per_device; /* the file has samples per device */
    bool rank_known;
    int64_t start;   /* of the session, TA_MISSING when the file does not say */
    const void *row; /* the first of them */
    size_t winner;   /* file that has the same more exactly; the own one: none */
};

typedef TA_VEC(struct holding) holdings;

/* ---- breaking files down --------------------------------------------------------------------- */

static uint64_t hash_of(const struct ta_trace *trace, ta_str id)
{
    const struct ta_slice text = ta_trace_text(trace, id);
    return ta_hash_bytes(text.ptr, text.len, 0);
}

/* What distinguishes rows of one table that are not copies of each other. It is equal in all files
 * but for the stages and sessions of consoles: these are looked for one by one in files that hold
 * the same more exactly, because they may have others. */
static uint64_t detail_of(const struct ta_trace *trace, enum ta_dump_table table, const void *row)
{
    const struct ta_figure *figure = row;
    const struct ta_tag *tag = row;
    const struct ta_session *session = row;
    if (table == TA_DUMP_stage && ta_dump_is_console(&trace->dump, table))
        return hash_of(trace, ((const struct ta_timed_stage *)row)->name);
    if (table == TA_DUMP_session && ta_dump_is_console(&trace->dump, table))
        return hash_of(trace, session->id) ^ ta_hash_mix((uint64_t)session->dur_ns);
    switch (table) {
    case TA_DUMP_sample:
        return (uint64_t)((const struct ta_sample *)row)->signal;
    case TA_DUMP_figure:
        return hash_of(trace, figure->name) ^ ta_hash_mix(hash_of(trace, figure->group));
    case TA_DUMP_tag:
        return hash_of(trace, tag->key);
    default:
        return 0;
    }
}

static int64_t rank_of(const struct ta_kept *file, const void *row)
{
    const int64_t rank = ta_dump_rank(row);
    return rank == TA_MISSING ? file->rank : rank < 0 ? TA_MISSING : rank;
}

static bool has_device_samples(const struct ta_dump *dump)
{
    struct ta_samples samples = ta_dump_samples(dump);
    while (ta_samples_next(&samples))
        if (samples.sample.device != TA_MISSING)
            return true;
    return false;
}

/* Which rows of a file they are. */
static int by_rows(const struct holding *a, const struct holding *b)
{
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    if (a->detail != b->detail)
        return a->detail < b->detail ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Whether the row belongs to a holding that was met a few rows ago; others are found by sorting. */
static bool met(const holdings *all, const struct holding *holding)
{
    enum { RECENT = 2 * TA_SIGNAL_COUNT };
    for (size_t i = all->n; i > 0 && all->n - i < RECENT; i--) {
        const struct holding *h = &all->at[i - 1];
        if (h->file != holding->file)
            return false;
        if (by_rows(h, holding) == 0)
            return true;
    }
    return false;
}

static void set_table(struct holding *holding, const struct ta_dump *dump, enum ta_dump_table table)
{
    const bool is_copy = ta_dump_is_copy(dump, table);
    holding->table = table;
    holding->set = is_copy ? dump->set : NULL;
    holding->exactness = is_copy ? dump->exactness : TA_EXACT_FULL;
}

static bool break_down(const struct ta_kept *files, size_t file, holdings *all)
{
    const struct ta_kept *kept = &files[file];
    const struct ta_dump *dump = &kept->trace->dump;
    struct holding holding = {.folder = ta_copy_folder(kept->shown),
                              .file = file,
                              .per_device = has_device_samples(dump),
                              .rank_known = kept->rank_known,
                              .start = ta_session_start(dump),
                              .winner = file};
    if (ta_dump_has_allocator(
            dump)) { /* memory of the moment, more exactly than any summary of it */
        holding.rank = kept->rank;
        set_table(&holding, dump, TA_DUMP_memory_mark);
        if (!ta_vec_push(all, holding))
            return false;
    }
    for (int table = 0; table < TA_DUMP_COUNT; table++) {
        struct ta_dump_cursor cursor = ta_dump_first(dump, (enum ta_dump_table)table);
        set_table(&holding, dump, (enum ta_dump_table)table);
        for (const void *row; (row = ta_dump_next(&cursor)) != NULL;) {
            holding.detail = detail_of(kept->trace, holding.table, row);
            holding.rank = rank_of(kept, row);
            holding.row = row;
            if (!met(all, &holding) && !ta_vec_push(all, holding))
                return false;
        }
    }
    return true;
}

/* ---- finding the most exact ------------------------------------------------------------------ */

/* Negative when `a` is the one to keep. */
static int by_exactness(const struct holding *a, const struct holding *b)
{
    if (a->exactness != b->exactness)
        return a->exactness > b->exactness ? -1 : 1;
    if (a->per_device != b->per_device)
        return a->per_device ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

static int by_place(const struct holding *a, const struct holding *b)
{
    const int order = ta_slice_compare(a->folder, b->folder);
    return order ? order : by_rows(a, b);
}

static int by_set(const struct holding *a, const struct holding *b)
{
    return !a->set || !b->set ? !a->set - !b->set : strcmp(a->set, b->set);
}

static int by_all(const void *left, const void *right)
{
    const struct holding *a = left, *b = right;
    int order = by_place(a, b);
    if (!order)
        order = by_set(a, b);
    return order ? order : by_exactness(a, b);
}

/* Runs may share the name of their session; only copies of one tell the same start. */
static bool is_other_run(const struct holding *a, const struct holding *b)
{
    return a->exactness == b->exactness && a->start != TA_MISSING && b->start != TA_MISSING &&
           a->start != b->start;
}

static void lose(struct holding *holding, const struct holding *winner)
{
    if (winner && winner->file != holding->file && by_exactness(winner, holding) < 0 &&
        !is_other_run(winner, holding))
        holding->winner = winner->file;
}

/* Holdings of one folder, rank and kind, by set: "" comes first and is a copy of all others, files
 * that are a set of their own come last. */
static void compare_sets(struct holding *at, size_t n)
{
    const struct holding *of_all = at->set && !*at->set ? at : NULL, *best = NULL;
    for (size_t i = 0; i < n && at[i].set; i++)
        if (!best || by_exactness(&at[i], best) < 0)
            best = &at[i];
    for (size_t i = 0, first = 0; i < n && at[i].set; i++) {
        if (by_set(&at[first], &at[i]) != 0)
            first = i;
        size_t same = first;
        while (same < i && is_other_run(&at[same], &at[i]))
            same++;
        lose(&at[i], &at[same]);
        lose(&at[i], *at[i].set ? of_all : best);
    }
}

/* ---- consoles -------------------------------------------------------------------------------- */

static bool is_console(const struct holding *holding)
{
    return holding->set && holding->exactness == TA_EXACT_CONSOLE;
}

/* What a console shows is in a file at its side or below. */
static bool is_beside(const struct holding *h, const struct holding *console)
{
    return h->table == console->table && !is_console(h) &&
           (h->rank == console->rank || !console->rank_known) &&
           ta_folder_is_below(h->folder, console->folder);
}

/* Consoles cut long names. */
static bool is_shown_as(struct ta_slice name, struct ta_slice shown)
{
    enum { LEAST_CUT = 20 };
    return ta_slice_equal(name, shown) || (shown.len >= LEAST_CUT && shown.len < name.len &&
                                           memcmp(name.ptr, shown.ptr, shown.len) == 0);
}

/* Whether a file has a stage of the name of a console's. */
static bool has_stage(const struct ta_kept *files, const struct holding *h,
                      const struct holding *console)
{
    const struct ta_trace *trace = files[h->file].trace;
    const struct ta_timed_stage *shown = console->row;
    const struct ta_slice name = ta_trace_text(files[console->file].trace, shown->name);
    struct ta_dump_cursor cursor = ta_dump_first(&trace->dump, TA_DUMP_stage);
    for (const struct ta_timed_stage *stage; (stage = ta_dump_next(&cursor)) != NULL;)
        if (is_shown_as(ta_trace_text(trace, stage->name), name))
            return true;
    return false;
}

/* Whether a session of a file may be the one that a console shows: durations are rounded there, and
 * without a name it is the pipeline in the session. */
static bool may_be_session(const struct ta_kept *files, const struct holding *h,
                           const struct holding *console)
{
    const int64_t rounding = INT64_C(100000000);
    const struct ta_session *file = h->row, *shown = console->row;
    if (file->dur_ns == TA_MISSING || shown->dur_ns == TA_MISSING)
        return true;
    if (shown->id == TA_STR_ABSENT)
        return shown->dur_ns <= ta_add_sat(file->dur_ns, rounding);
    const int64_t difference = ta_add_sat(shown->dur_ns, -file->dur_ns);
    return ta_slice_equal(ta_trace_text(files[h->file].trace, file->id),
                          ta_trace_text(files[console->file].trace, shown->id)) &&
           difference <= rounding && difference >= -rounding;
}

/* Each session of a file is one of the console at most: two that last as long are two runs. */
static bool is_taken(const holdings *all, size_t file, const struct holding *console)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct holding *h = &all->at[i];
        if (h != console && h->table == TA_DUMP_session && h->file == console->file &&
            h->rank == console->rank && h->winner == file)
            return true;
    }
    return false;
}

static void compare_console(const struct ta_kept *files, struct holding *console,
                            const holdings *all)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct holding *h = &all->at[i];
        if (!is_beside(h, console))
            continue;
        const bool same = console->table == TA_DUMP_stage     ? has_stage(files, h, console)
                          : console->table == TA_DUMP_session ? may_be_session(files, h, console) &&
                                                                    !is_taken(all, h->file, console)
                                                              : h->detail == console->detail;
        if (same) {
            console->winner = h->file;
            return;
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* ---- dropping -------------------------------------------------------------------------------- */

struct dropping {
    const struct ta_kept *file;
    const struct holding *lost; /* by rows */
    size_t n;
    enum ta_dump_table table;
};

static bool is_won(void *user, const void *row)
{
    const struct dropping *d = user;
    const struct holding wanted = {.table = d->table,
                                   .detail = detail_of(d->file->trace, d->table, row),
                                   .rank = rank_of(d->file, row)};
    size_t low = 0, high = d->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_rows(&d->lost[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low == d->n || by_rows(&d->lost[low], &wanted) != 0;
}

static int by_file(const void *left, const void *right)
{
    const struct holding *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return by_rows(a, b);
}

/* Drops what one file has lost. */
static void drop(struct ta_quality *quality, struct ta_kept *files, const struct holding *lost,
                 size_t n)
{
    struct ta_kept *file = &files[lost->file];
    struct dropping dropping = {.file = file, .lost = lost, .n = n};
    size_t rows = 0, winner = lost->winner;
    for (size_t i = 0; i < n; i++)
        winner = lost[i].winner < winner ? lost[i].winner : winner;
    for (int table = 0; table < TA_DUMP_COUNT; table++) {
        dropping.table = (enum ta_dump_table)table;
        rows += ta_dump_filter(&file->trace->dump, dropping.table, is_won, &dropping);
    }
    /* Two equally exact tables are worth a look; that texts for people repeat each other is usual,
     * and of samples more than exactness counts. */
    const struct ta_dump *other = &files[winner].trace->dump;
    const bool alike = ta_dump_is_copy(other, lost->table) && lost->exactness == other->exactness &&
                       lost->table != TA_DUMP_sample;
    ta_quality_add_severity(
        quality, TA_Q_DUPLICATE_CONTENT,
        alike && lost->exactness >= TA_EXACT_TABLE ? TA_QUALITY_NOTICE : TA_QUALITY_INFO,
        TA_NO_OFFSET, TA_NO_OFFSET,
        "\"%s\" repeats %zu records that \"%s\" holds %s; they count once", files[lost->file].shown,
        rows, files[winner].shown, alike ? "as well" : "more exactly");
}

bool ta_drop_copies(struct ta_kept *files, size_t n, struct ta_quality *quality)
{
    holdings all = {0};
    bool done = true;
    for (size_t i = 0; done && i < n; i++)
        done = break_down(files, i, &all);
    if (done && all.n) {
        qsort(all.at, all.n, sizeof *all.at, by_all);
        for (size_t first = 0, end; first < all.n; first = end) {
            for (end = first; end < all.n && by_place(&all.at[first], &all.at[end]) == 0; end++)
                ;
            compare_sets(&all.at[first], end - first);
        }
        for (size_t i = 0; i < all.n; i++)
            if (is_console(&all.at[i]) && all.at[i].winner == all.at[i].file)
                compare_console(files, &all.at[i], &all);
        size_t lost = 0;
        for (size_t i = 0; i < all.n; i++)
            if (all.at[i].winner != all.at[i].file)
                all.at[lost++] = all.at[i];
        qsort(all.at, lost, sizeof *all.at, by_file);
        for (size_t first = 0, end; first < lost; first = end) {
            for (end = first; end < lost && all.at[first].file == all.at[end].file; end++)
                ;
            drop(quality, files, &all.at[first], end - first);
        }
    }
    free(all.at);
    return done;
}
