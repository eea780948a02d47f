/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of parts of a run as one report: ranks, accounts, tables, and what follows from them. */
#include "ingest/join/join.h"

#include "base/context.h"
#include "discover/discover.h"
#include "ingest/accounts.h"
#include "ingest/inputs/saved.h"
#include "recommend/recommend.h"
#include "report/report.h"
#include "report/sections.h"
#include "report/tables.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- order --------------------------------------------------------------------------------- */

static int64_t first_rank(const struct ta_report *report)
{
    const struct ta_run_info *run = ta_report_run(report);
    return run->n_ranks ? run->ranks[0] : TA_MISSING;
}

static int by_rank(const void *left, const void *right)
{
    const struct ta_joined *a = left, *b = right;
    const int64_t x = first_rank(a->report), y = first_rank(b->report);
    return x != y ? (x > y) - (x < y) : strcmp(a->shown, b->shown);
}

struct claim {
    int64_t rank;
    const char *shown;
};

static int by_claim(const void *left, const void *right)
{
    const struct claim *a = left, *b = right;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : strcmp(a->shown, b->shown);
}

/* The ranks of all parts, ascending; each is in one of them only. */
static enum ta_status list_ranks(struct ta_ctx *ctx, const struct ta_joined *parts, size_t n,
                                 struct ta_arena *arena, struct ta_run_info *run)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += ta_report_run(parts[i].report)->n_ranks;
    struct claim *claims = calloc(all + 1, sizeof *claims);
    int64_t *ranks = ta_arena_alloc(arena, (all + 1) * sizeof *ranks);
    enum ta_status status = TA_OK;
    if (!claims || !ranks)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the ranks of the reports: ranks=%zu", all);
    size_t at = 0;
    for (size_t i = 0; i < n && status == TA_OK; i++)
        for (size_t k = 0; k < ta_report_run(parts[i].report)->n_ranks; k++)
            claims[at++] = (struct claim){ta_report_run(parts[i].report)->ranks[k], parts[i].shown};
    if (at)
        qsort(claims, at, sizeof *claims, by_claim);
    for (size_t i = 0; i < at && status == TA_OK; i++) {
        ranks[i] = claims[i].rank;
        if (i && claims[i].rank == claims[i - 1].rank)
            status = ta_fail(ctx, TA_ERR_INPUT,
                             "Rank %" PRId64 " is in two reports, \"%s\" and \"%s\": reports that "
                             "are joined are of different ranks of one run",
                             claims[i].rank, claims[i - 1].shown, claims[i].shown);
    }
    free(claims);
    run->ranks = ranks;
    run->n_ranks = all;
    return status;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* Distinct devices of all parts. */
static const char *list_devices(const struct ta_joined *parts, size_t n, struct ta_arena *arena)
{
    const char *list = "";
    for (size_t i = 0; i < n && list; i++) {
        for (const char *at = ta_report_run(parts[i].report)->devices; *at && list;) {
            const char *end = strstr(at, ", ");
            const size_t length = end ? (size_t)(end - at) : strlen(at);
            list = ta_list_device(arena, list, (struct ta_slice){at, length});
            at += length + (end ? 2 : 0);
        }
    }
    return list;
}

/* The largest world size, unless the user says it; parts that differ are noted. */
static int64_t world_of(const struct ta_joined *parts, size_t n, int64_t given,
                        struct ta_quality *job)
{
    int64_t world = given;
    for (size_t i = 0; i < n; i++) {
        const int64_t mine = ta_report_run(parts[i].report)->world_size;
        if (mine != TA_MISSING && world != TA_MISSING && mine != world)
            ta_quality_add(job, TA_Q_WORLD_SIZE, TA_NO_OFFSET,
                           "World sizes differ: %" PRId64 ", but %" PRId64 " in \"%s\"", world,
                           mine, parts[i].shown);
        if (given == TA_MISSING && mine != TA_MISSING && (world == TA_MISSING || mine > world))
            world = mine;
    }
    return world;
}

static enum ta_status set_run(struct ta_ctx *ctx, const struct ta_run_options *options,
                              const struct ta_joined *parts, size_t n, struct ta_quality *job,
                              struct ta_report *out)
{
    struct ta_arena *arena = ta_report_arena(out);
    struct ta_run_info run = {.title = options->title ? options->title
                                                      : ta_default_title(options, arena),
                              .devices = list_devices(parts, n, arena),
                              .world_size = world_of(parts, n, options->world_size, job)};
    const enum ta_status status = list_ranks(ctx, parts, n, arena, &run);
    if (status != TA_OK || !run.devices)
        return status != TA_OK ? status : ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the devices");
    if (run.world_size != TA_MISSING)
        ta_check_missing_ranks(job, run.world_size, run.ranks, run.n_ranks, options->partial);
    ta_report_set_run(out, &run);
    int64_t newest = 0;
    for (size_t i = 0; i < n; i++)
        newest = ta_max_i64(newest, ta_report_input_date(parts[i].report));
    ta_report_set_input_date(out, newest);
    return TA_OK;
}

/* ---- accounts ------------------------------------------------------------------------------ */

static void copy_findings(const struct ta_quality_finding *from, size_t n, struct ta_arena *arena,
                          struct ta_quality_finding *to, size_t *n_to)
{
    for (size_t i = 0; i < n; i++) {
        if (from[i].code == TA_Q_RANK_MISSING)
            continue; /* of one part; the whole is checked anew */
        to[*n_to] = from[i];
        to[(*n_to)++].text = from[i].text ? ta_arena_copy(arena, ta_slice_of(from[i].text)) : NULL;
    }
}

static bool copy_file(const struct ta_file_account *from, struct ta_arena *arena,
                      struct ta_file_account *to)
{
    struct ta_quality_finding *findings =
        ta_arena_alloc(arena, (from->n_findings + 1) * sizeof *findings);
    if (!findings)
        return false;
    *to = *from;
    to->path = ta_arena_copy(arena, ta_slice_of(from->path));
    to->format = ta_arena_copy(arena, ta_slice_of(from->format));
    to->findings = findings;
    to->n_findings = 0;
    copy_findings(from->findings, from->n_findings, arena, findings, &to->n_findings);
    return to->path && to->format;
}

static bool set_accounts(const struct ta_joined *parts, size_t n, const struct ta_quality *job,
                         struct ta_report *out)
{
    struct ta_arena *arena = ta_report_arena(out);
    size_t n_files = 0, n_findings, most;
    const struct ta_quality_finding *own = ta_quality_findings(job, arena, &most);
    if (!own && most)
        return false;
    n_findings = most;
    for (size_t i = 0; i < n; i++) {
        n_files += ta_report_accounts(parts[i].report)->n_files;
        n_findings += ta_report_accounts(parts[i].report)->n_findings;
    }
    struct ta_file_account *files = ta_arena_alloc(arena, (n_files + 1) * sizeof *files);
    struct ta_quality_finding *findings =
        ta_arena_alloc(arena, (n_findings + 1) * sizeof *findings);
    if (!files || !findings)
        return false;
    struct ta_accounts accounts = {.files = files, .findings = findings};
    bool done = true;
    for (size_t i = 0; i < n && done; i++) {
        const struct ta_accounts *part = ta_report_accounts(parts[i].report);
        for (size_t f = 0; f < part->n_files && done; f++)
            done = copy_file(&part->files[f], arena, &files[accounts.n_files++]);
        copy_findings(part->findings, part->n_findings, arena, findings, &accounts.n_findings);
        struct ta_account_totals *to = &accounts.totals;
        const struct ta_account_totals *from = &part->totals;
        to->files_seen += from->files_seen;
        to->files_used += from->files_used;
        to->files_refused += from->files_refused;
        to->events_seen += from->events_seen;
        to->events_kept += from->events_kept;
        to->events_repaired += from->events_repaired;
        to->events_dropped += from->events_dropped;
        to->bytes_skipped += from->bytes_skipped;
    }
    for (size_t i = 0; i < most; i++)
        findings[accounts.n_findings++] = own[i];
    accounts.status = ta_accounts_status(&accounts);
    ta_report_set_accounts(out, &accounts);
    return done;
}

/* ---- together ------------------------------------------------------------------------------ */

/* What analyses make of tables alone, which may come from reports. */
static enum ta_status finish(struct ta_ctx *ctx, const struct ta_plan *plan, struct ta_report *out)
{
    struct ta_partial_set *none = ta_partial_set_new(plan);
    enum ta_status status = none ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot plan the analyses");
    for (size_t a = 0; a < plan->n && status == TA_OK; a++) {
        const struct ta_plugin *plugin = &plan->analyses[a]->plugin;
        if (!plugin->analysis->of_tables)
            continue;
        status = ta_partial_set_finish_one(ctx, none, a, &(struct ta_across){0}, out);
    }
    ta_partial_set_free(none);
    if (status == TA_OK && !ta_report_join_columns(out))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot join the tables of the report");
    return status;
}

static enum ta_status join(struct ta_ctx *ctx, const struct ta_registry *registry,
                           const struct ta_run_options *options, const struct ta_plan *plan,
                           const struct ta_joined *parts, size_t n, struct ta_quality *job,
                           struct ta_report *out)
{
    enum ta_status status = set_run(ctx, options, parts, n, job, out);
    if (status != TA_OK)
        return status;
    ta_sections_prepare(out);
    if (!set_accounts(parts, n, job, out) || !ta_join_tables(registry, parts, n, out))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the tables of all reports");
    status = finish(ctx, plan, out);
    if (status == TA_OK)
        status = ta_recommend(ctx, registry, out);
    if (status == TA_OK && ta_report_freeze(out) != TA_OK)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the report");
    return status;
}

/* The reports in any order: the outcome is the same.  TA_ERR_INPUT when two of them have the same
 * rank.  `job` is what was noticed about all inputs. */
static enum ta_status join_parts(struct ta_ctx *ctx, const struct ta_registry *registry,
                                 const struct ta_run_options *options, const struct ta_plan *plan,
                                 struct ta_joined *parts, size_t n, struct ta_quality *job,
                                 struct ta_report **report)
{
    struct ta_report *out = ta_report_new();
    if (!out)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    qsort(parts, n, sizeof *parts, by_rank);
    const enum ta_status status = join(ctx, registry, options, plan, parts, n, job, out);
    if (status == TA_OK)
        *report = out;
    else
        ta_report_free(out);
    return status;
}

/* ---- reports that were written before ------------------------------------------------------- */

/* Whether a page of a report holds less than the report did. */
static bool is_cut(const struct ta_report *report)
{
    for (const struct ta_table *table = ta_report_table_after(report, NULL); table;
         table = ta_report_table_after(report, table))
        if (table->n_left_out)
            return true;
    return false;
}

static enum ta_status read_reports(struct ta_ctx *ctx, const struct ta_registry *registry,
                                   const struct ta_inputs *inputs, struct ta_report **read,
                                   size_t *n)
{
    enum ta_status status = TA_OK;
    for (*n = 0; *n < inputs->reports.n && status == TA_OK; *n += status == TA_OK) {
        const char *path = inputs->reports.at[*n].path;
        status = ta_saved_read(ctx, registry, path, &read[*n]);
        if (status == TA_OK && is_cut(read[*n]))
            ta_log(ctx, TA_LOG_WARNING,
                   "%s has only the first rows of long tables; report.json has all", path);
    }
    return status;
}

enum ta_status ta_join_inputs(struct ta_ctx *ctx, const struct ta_registry *registry,
                              const struct ta_plan *plan, const struct ta_run_options *options,
                              struct ta_inputs *inputs, const struct ta_report *own,
                              struct ta_report **report)
{
    const size_t most = inputs->reports.n;
    struct ta_quality none; /* what was noticed about the files is in their report */
    ta_quality_init(&none);
    struct ta_report **read = calloc(most, sizeof *read);
    struct ta_joined *parts = calloc(most + 1, sizeof *parts);
    size_t n = 0;
    enum ta_status status = read && parts ? read_reports(ctx, registry, inputs, read, &n)
                                          : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the reports");
    for (size_t i = 0; i < n; i++)
        parts[i] = (struct ta_joined){read[i], inputs->reports.at[i].shown};
    if (own)
        parts[n] = (struct ta_joined){own, "the files that were read"};
    if (status == TA_OK && !own && n == 1 && !options->title) {
        *report = read[0];
        n = 0;
    } else if (status == TA_OK) {
        status = join_parts(ctx, registry, options, plan, parts, n + (own != NULL),
                            own ? &none : &inputs->job, report);
    }
    ta_quality_free(&none);
    for (size_t i = 0; i < n; i++)
        ta_report_free(read[i]);
    free(read);
    free(parts);
    return status;
}
