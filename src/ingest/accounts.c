/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what became of the files to the accounts of a report. */
#include "ingest/accounts.h"

#include "base/context.h"
#include "base/quality.h"
#include "plugin/registry.h"
#include "report/report.h"

#include "traceanalyze/input.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- refusals ------------------------------------------------------------------------------ */

static const char *reason_of(const struct ta_ingested *file)
{
    return file->refusal ? file->refusal : "not read";
}

/* What was lost of a file, as sentences; "" for nothing. */
static const char *losses_of(const struct ta_ingested *file, struct ta_arena *arena)
{
    size_t n;
    const struct ta_quality_finding *findings = ta_quality_findings(&file->quality, arena, &n);
    const char *text = "";
    for (size_t i = 0; text && findings && i < n; i++)
        if (findings[i].code != TA_Q_REFUSED && findings[i].severity >= TA_QUALITY_LOSS &&
            findings[i].text)
            text = ta_arena_printf(arena, "%s. %s", text, findings[i].text);
    return text;
}

/* "a.txt", "b.txt", "c.txt" and 5 more: the files that are refused for the reason of the first. */
static const char *names_of(const struct ta_ingestion *ingestion, size_t first,
                            struct ta_arena *arena)
{
    enum { SHOWN = 3 };
    const char *text = "";
    size_t n = 0;
    for (size_t i = first; text && i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (strcmp(reason_of(file), reason_of(&ingestion->files[first])) == 0 && n++ < SHOWN)
            text =
                ta_arena_printf(arena, "%s%s\"%s\"", text, n > 1 ? ", " : "", file->source->shown);
    }
    return text && n > SHOWN ? ta_arena_printf(arena, "%s and %zu more", text, n - SHOWN) : text;
}

/* One line for a run of which nothing was usable: operands, then each reason with its files. */
static enum ta_status nothing_usable(struct ta_ctx *ctx, const struct ta_run_options *options,
                                     const struct ta_ingestion *ingestion)
{
    enum { REASONS_MAX = 8 };
    struct ta_arena arena = {0};
    const char *text = "";
    size_t reasons = 0;
    for (size_t i = 0; text && i < ingestion->n_files; i++) {
        size_t same = 0;
        while (strcmp(reason_of(&ingestion->files[same]), reason_of(&ingestion->files[i])) != 0)
            same++;
        if (same < i || reasons++ >= REASONS_MAX)
            continue;
        const char *names = names_of(ingestion, i, &arena);
        const char *losses = losses_of(&ingestion->files[i], &arena);
        text = names && losses ? ta_arena_printf(&arena, "%s%s%s: %s%s", text, *text ? "; " : "",
                                                 names, reason_of(&ingestion->files[i]), losses)
                               : NULL;
    }
    ta_fail(ctx, TA_ERR_INPUT, "No usable trace in \"%s\": %s%s", options->inputs[0],
            text && *text ? text : "it holds no file that could be one",
            reasons > REASONS_MAX ? "; and more" : "");
    ta_arena_free(&arena);
    return TA_ERR_INPUT;
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* Whether anything of the file counts. */
static bool has_rank(const struct ta_ingested *file)
{
    return !file->refusal && !file->source->combines && file->part == TA_PART_ALL;
}

/* Files that nobody would take for a trace are skipped, all others are missed aloud. */
void ta_account_refusals(struct ta_ingestion *ingestion, struct ta_quality *job)
{
    for (size_t i = 0; i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        if (!file->refusal)
            continue;
        const bool duplicate =
            file->source->path && strstr(file->refusal, "Its content is") == file->refusal;
        if (duplicate)
            ta_quality_add(&file->quality, TA_Q_DUPLICATE_CONTENT, TA_NO_OFFSET, "%s",
                           file->refusal);
        else if (ta_ingested_is_missed(file))
            ta_quality_add(&file->quality, TA_Q_REFUSED, TA_NO_OFFSET, "%s", file->refusal);
        else
            ta_quality_add(job, TA_Q_SKIPPED_FILE, TA_NO_OFFSET, "Not read: \"%s\": %s",
                           file->source->shown, file->refusal);
    }
}

enum ta_status ta_account_ranks(struct ta_ctx *ctx, const struct ta_run_options *options,
                                struct ta_ingestion *ingestion, struct ta_quality *job,
                                int64_t *ranks, int64_t *world_size)
{
    struct ta_rank_claim *claims = calloc(ingestion->n_files + 1, sizeof *claims);
    if (!claims)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot decide the ranks: files=%zu", ingestion->n_files);
    size_t n = 0;
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (!has_rank(file))
            continue;
        claims[n++] = (struct ta_rank_claim){
            .shown = file->source->shown,
            .content = file->rank,
            .world_size = file->world_size,
            .vendor = file->vendor,
            /* Events of a set are listed with the trace of their rank. */
            .is_dump = file->is_dump || file->set,
            .is_console = file->is_console,
            .set = file->set,
            .products = file->products,
            .row_ranks = file->row_ranks,
            .n_row_ranks = file->n_row_ranks,
            .all_rows = file->all_rows,
        };
    }
    *world_size = options->world_size;
    const enum ta_status status =
        n ? ta_decide_ranks(ctx, job, options->rank_regex, options->partial, world_size, claims, n)
          : nothing_usable(ctx, options, ingestion);
    for (size_t i = 0, claim = 0; status == TA_OK && i < ingestion->n_files; i++) {
        struct ta_ingested *file = &ingestion->files[i];
        if (has_rank(file)) {
            file->final_rank = claims[claim].rank;
            file->rank_source = claims[claim++].source;
        }
        ranks[i] = file->final_rank;
    }
    free(claims);
    return status;
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

const char *ta_list_device(struct ta_arena *arena, const char *list, struct ta_slice name)
{
    for (const char *at = list; (at = memmem(at, strlen(at), name.ptr, name.len)); at++)
        if ((at == list || (at - list >= 2 && memcmp(at - 2, ", ", 2) == 0)) &&
            (at[name.len] == '\0' || at[name.len] == ','))
            return list;
    return ta_arena_printf(arena, "%s%s%.*s", list, *list ? ", " : "", (int)name.len, name.ptr);
}

/* Distinct device names of all files, "NVIDIA H200, AMD MI300X"; without any "AMD GPU" where the
 * runtime is ROCm. */
static const char *list_devices(struct ta_arena *arena, const struct ta_ingestion *ingestion)
{
    const char *text = "";
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        const char **name = file->part == TA_PART_ALL ? file->devices : NULL;
        for (; name && *name && text; name++)
            text = ta_list_device(arena, text, ta_slice_of(*name));
    }
    for (size_t i = 0; text && !*text && i < ingestion->n_files; i++)
        if (ingestion->files[i].vendor && strcmp(ingestion->files[i].vendor, "ROCm") == 0)
            text = "AMD GPU";
    return text ? text : "";
}

/* "b" of "a/b/". */
static struct ta_slice base_name(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return (struct ta_slice){path + start, end - start};
}

const char *ta_default_title(const struct ta_run_options *options, struct ta_arena *arena)
{
    const char *input = options->inputs[0];
    if (strcmp(input, "-") == 0)
        return "standard input";
    struct ta_slice name = base_name(input);
    /* "." and ".." are folders as well, and have names. */
    char real[PATH_MAX];
    if ((ta_slice_equal(name, TA_LIT(".")) || ta_slice_equal(name, TA_LIT(".."))) &&
        realpath(input, real))
        name = base_name(real);
    const char *title = ta_arena_copy(arena, name);
    return title && *title && strcmp(title, "/") != 0 ? title : "traces";
}

/* The ranks of all files and of rows that name their own, ascending. */
static int64_t *list_ranks(const struct ta_ingestion *ingestion, struct ta_arena *arena, size_t *n)
{
    size_t most = ingestion->n_files, listed = 0;
    for (size_t i = 0; i < ingestion->n_files; i++)
        most += ingestion->files[i].n_row_ranks;
    int64_t *ranks = ta_arena_alloc(arena, (most + 1) * sizeof *ranks);
    *n = 0;
    if (!ranks)
        return NULL;
    for (size_t i = 0; i < ingestion->n_files; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (file->part != TA_PART_ALL)
            continue;
        if (file->final_rank != TA_MISSING)
            ranks[listed++] = file->final_rank;
        for (size_t r = 0; r < file->n_row_ranks; r++)
            ranks[listed++] = file->row_ranks[r];
    }
    qsort(ranks, listed, sizeof *ranks, by_value);
    for (size_t i = 0; i < listed; i++)
        if (i == 0 || ranks[i] != ranks[*n - 1])
            ranks[(*n)++] = ranks[i];
    return ranks;
}

/* Whether a file is a trace, or not read at all. */
static bool is_trace(const struct ta_registry *registry, const struct ta_ingested *file)
{
    if (file->refusal || !file->format)
        return true;
    const struct ta_entry *entry = ta_registry_find(registry, TA_KIND_input, file->format);
    return entry && entry->plugin.input->reads_traces;
}

static void set_run(const struct ta_registry *registry, const struct ta_run_options *options,
                    const struct ta_ingestion *ingestion, struct ta_report *report,
                    int64_t world_size)
{
    struct ta_arena *arena = ta_report_arena(report);
    size_t n;
    const int64_t *ranks = list_ranks(ingestion, arena, &n);
    if (!ranks)
        return;
    int64_t newest = 0;
    bool has_dumps = false;
    for (size_t i = 0; i < ingestion->n_files; i++) {
        newest = ta_max_i64(newest, ingestion->files[i].source->mtime_s);
        has_dumps |= !is_trace(registry, &ingestion->files[i]);
    }
    ta_report_set_run(report, &(struct ta_run_info){.title = options->title
                                                                 ? options->title
                                                                 : ta_default_title(options, arena),
                                                    .ranks = ranks,
                                                    .n_ranks = n,
                                                    .world_size = world_size,
                                                    .devices = list_devices(arena, ingestion),
                                                    .has_dumps = has_dumps});
    ta_report_set_input_date(report, newest);
}

/* ---- accounts ------------------------------------------------------------------------------ */

static enum ta_file_state state_of(const struct ta_ingested *file)
{
    if (file->refusal)
        return TA_FILE_REFUSED;
    if (file->truncated)
        return TA_FILE_TRUNCATED;
    return ta_quality_reaches(&file->quality, TA_QUALITY_NOTICE) ? TA_FILE_REPAIRED : TA_FILE_OK;
}

static struct ta_file_account account_file(const struct ta_ingested *file, struct ta_arena *arena)
{
    struct ta_file_account account = {
        .path = ta_arena_copy(arena, ta_slice_of(file->source->shown)),
        .format =
            file->format && !file->refusal ? ta_arena_copy(arena, ta_slice_of(file->format)) : "",
        .state = state_of(file),
        .is_dump = file->is_dump,
        .rank = file->part == TA_PART_ALL ? file->final_rank : TA_MISSING,
        .rank_source = file->rank_source,
        .bytes = file->bytes,
        .raw_bytes = file->raw_bytes,
        .events_seen = file->kept + file->dropped,
        .events_kept = file->kept,
        .events_repaired = file->repaired,
        .events_dropped = file->dropped,
        .bytes_skipped = file->bytes_skipped,
        .first_ts_ns = file->first_ts,
        .last_ts_ns = file->last_ts,
    };
    account.findings = ta_quality_findings(&file->quality, arena, &account.n_findings);
    return account;
}

enum ta_quality_status ta_accounts_status(const struct ta_accounts *accounts)
{
    enum ta_quality_severity worst = TA_QUALITY_INFO;
    for (size_t i = 0; i < accounts->n_findings; i++)
        worst = accounts->findings[i].severity > worst ? accounts->findings[i].severity : worst;
    for (size_t i = 0; i < accounts->n_files; i++)
        for (size_t f = 0; f < accounts->files[i].n_findings; f++)
            if (accounts->files[i].findings[f].severity > worst)
                worst = accounts->files[i].findings[f].severity;
    return worst >= TA_QUALITY_LOSS     ? TA_QUALITY_LOSSY
           : worst == TA_QUALITY_NOTICE ? TA_QUALITY_REPAIRED
                                        : TA_QUALITY_CLEAN;
}

enum ta_status ta_account(struct ta_ctx *ctx, const struct ta_registry *registry,
                          const struct ta_run_options *options,
                          const struct ta_ingestion *ingestion, struct ta_quality *job,
                          struct ta_report *report, int64_t world_size)
{
    struct ta_arena *arena = ta_report_arena(report);
    const size_t n = ingestion->n_files;
    struct ta_file_account *files = ta_arena_alloc(arena, (n + 1) * sizeof *files);
    if (!files)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the accounts: files=%zu", n);
    struct ta_accounts accounts = {.files = files};
    for (size_t i = 0; i < n; i++) {
        const struct ta_ingested *file = &ingestion->files[i];
        if (file->part == TA_PART_NONE)
            continue; /* another report says what became of it */
        if (file->refusal && !ta_ingested_is_missed(file))
            continue; /* skipped, and said so among the findings of the job */
        struct ta_file_account *account = &files[accounts.n_files++];
        *account = account_file(file, arena);
        struct ta_account_totals *totals = &accounts.totals;
        const bool refused = account->state == TA_FILE_REFUSED;
        totals->files_seen++;
        totals->files_used += !refused;
        totals->files_refused += refused;
        totals->events_seen += account->events_seen;
        totals->events_kept += account->events_kept;
        totals->events_repaired += account->events_repaired;
        totals->events_dropped += account->events_dropped;
        totals->bytes_skipped += account->bytes_skipped;
    }
    accounts.findings = ta_quality_findings(job, arena, &accounts.n_findings);
    accounts.status = ta_accounts_status(&accounts);
    ta_report_set_accounts(report, &accounts);
    set_run(registry, options, ingestion, report, world_size);
    return TA_OK;
}
