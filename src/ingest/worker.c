/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One file to partials. */
#include "ingest/worker.h"

#include "base/quality.h"
#include "ingest/split.h"
#include "ingest/summary_files.h"
#include "model/lost.h"
#include "normalize/file_ranks.h"
#include "normalize/normalize.h"
#include "read/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which plugin ---------------------------------------------------------------------------- */

/* Refuses what we have written ourselves, as lies in a folder that was analyzed before. */
static bool refuse_product(struct ta_worker *w, struct ta_ingested *file,
                           const struct ta_probe *probe)
{
    const bool in_folder = file->source->is_below;
    const char *product = ta_describe_product(probe->head, in_folder);
    if (!product)
        return false;
    file->is_product = in_folder;
    file->refusal = ta_arena_printf(w->arena, "Not a trace but %s", product);
    return true;
}

/* At most this sure is a plugin that has seen nothing but syntax (struct ta_input_ops), or a mark
 * of a line that a log may have. */
enum { SYNTAX_ALONE = 45 };

/* The plugin that is surest, or NULL with the file refused. */
static const struct ta_entry *choose_input(struct ta_worker *w, struct ta_ingested *file,
                                           const struct ta_probe *probe)
{
    const struct ta_registry *registry = w->job->registry;
    if (refuse_product(w, file, probe))
        return NULL;
    if (w->job->options->input)
        return ta_registry_find(registry, TA_KIND_input, w->job->options->input);
    const struct ta_entry *best = NULL, *rival = NULL;
    int surest = 0;
    for (size_t i = 0; i < ta_registry_count(registry, TA_KIND_input); i++) {
        const struct ta_entry *entry = ta_registry_at(registry, TA_KIND_input, i);
        const int score = entry->plugin.input->sniff(probe);
        if (score > surest) {
            best = entry;
            rival = NULL;
            surest = score;
        } else if (score == surest && best) {
            rival = entry;
        }
    }
    if (rival) {
        file->refusal = ta_arena_printf(
            w->arena, "It could be read as \"%s\" or as \"%s\"; choose one with --input",
            best->plugin.id, rival->plugin.id);
        return NULL;
    }
    if (!best && probe->head.len == 0 && ta_quality_reaches(&file->quality, TA_QUALITY_LOSS)) {
        file->refusal = "Nothing in it could be unpacked"; /* the finding says why */
        return NULL;
    }
    /* Pickles are all alike to who has seen their first bytes. */
    const bool is_pickle = probe->head.len && probe->head.ptr[0] == (char)0x80;
    const char *other = NULL;
    if (!best)
        other = ta_describe(probe->head);
    else if (surest <= SYNTAX_ALONE || is_pickle)
        other = ta_describe_format(probe->head);
    if (other)
        file->refusal = ta_arena_printf(w->arena, "Not a trace but %s", other);
    file->is_other = other && probe->head.len > 0;
    file->is_document = file->is_other && best;
    return other ? NULL : best;
}

/* ---- rows to partials ------------------------------------------------------------------------ */

/* A list that ends with NULL; NULL without memory. */
static const char **copy_names(struct ta_arena *arena, const char *const *names, size_t n)
{
    const char **copy = ta_arena_alloc(arena, (n + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = ta_arena_copy(arena, ta_slice_of(names[i]));
    return copy;
}

static void copy_facts(struct ta_worker *w, struct ta_ingested *file,
                       const struct ta_builder *builder)
{
    file->kept = builder->kept;
    file->repaired = builder->repaired;
    file->dropped = builder->dropped;
    file->bytes_skipped = builder->bytes_skipped;
    file->events = builder->events;
    file->first_ts = builder->first_ts;
    file->last_ts = builder->last_ts;
    file->rank = builder->rank;
    file->world_size = builder->world_size;
    file->vendor = builder->vendor;
    file->truncated |= builder->truncated;
    file->devices = copy_names(w->arena, builder->devices.at, builder->devices.n);
    file->products = copy_names(w->arena, builder->products.at, builder->products.n);
}

/* What is needed of a dump when all files are read. */
static bool copy_dump_facts(struct ta_worker *w, struct ta_ingested *file,
                            const struct ta_builder *builder, const struct ta_trace *trace)
{
    const struct ta_dump *dump = &trace->dump;
    const bool holds_any = ta_dump_holds_any(dump);
    file->base_ns = trace->view.base_ns;
    file->origin = trace->view.origin;
    file->is_dump = !builder->events && (holds_any || dump->set || builder->kept);
    file->set = dump->set ? ta_arena_copy(w->arena, ta_slice_of(dump->set)) : NULL;
    if (!file->is_dump)
        return file->set || !dump->set;
    file->truncated |= ta_quality_count(&file->quality, TA_Q_TRUNCATED) > 0;
    file->is_console = dump->set && dump->exactness == TA_EXACT_CONSOLE;
    file->row_ranks = ta_dump_ranks(dump, w->arena, &file->n_row_ranks, &file->all_rows);
    return file->row_ranks && (file->set || !dump->set);
}

/* What a trace takes in memory, with the buffers that columns are reordered through. */
static uint64_t memory_of(const struct ta_trace *trace)
{
    const struct span_columns *c = &trace->spans;
    uint64_t row = sizeof *c->ts + sizeof *c->dur + sizeof *c->self + sizeof *c->name +
                   sizeof *c->cat + sizeof *c->track + sizeof *c->parent + sizeof *c->depth +
                   sizeof *c->work;
    uint64_t bytes = (row + 2 * sizeof(ta_row)) * c->n;
    for (size_t i = 0; i < trace->n_args; i++)
        bytes += trace->args[i].n * arg_column_size(&trace->args[i]);
    bytes += trace->activities.n * sizeof *trace->activities.at;
    bytes += trace->strings.texts.n * 2 * sizeof *trace->strings.texts.at;
    row = 2 * sizeof(int64_t) + 3 * sizeof(ta_str); /* at most, of the other tables */
    return bytes + row * (trace->counters.n + trace->instants.n + trace->flows.n + trace->asyncs.n);
}

/* What the timeline of a trace is packed from, and where it goes. */
struct packing {
    const struct ta_job *job;
    const struct ta_trace *trace;
    struct ta_ingested *file;
    int64_t rank; /* TA_MISSING: the one of the file */
    size_t n;     /* traces that are in the file */
};

static enum ta_status pack_timeline(struct ta_ctx *ctx, void *user)
{
    const struct packing *p = user;
    const int64_t share =
        p->n > 1 ? ta_timeline_share(p->job->n_files * p->n) : p->job->timeline_share;
    struct ta_timeline_part *part = ta_timeline_pack(ctx, p->job->pool, p->trace, p->trace, share);
    if (!part)
        return ctx->status;
    part->file.rank = p->rank;
    if (ta_vec_push(&p->file->timelines, part))
        return TA_OK;
    ta_timeline_part_free(part);
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the timeline");
}

static enum ta_status map_trace(struct ta_worker *w, struct ta_ingested *file,
                                const struct ta_trace *trace, int64_t rank, size_t n)
{
    struct packing packing = {w->job, trace, file, rank, n};
    const struct ta_beside beside = {pack_timeline, &packing};
    return ta_partial_set_map(&w->ctx, trace, w->partials, w->job->pool ? &beside : NULL);
}

/* A dump waits for all files.  One with the history of an allocator, which is no copy of anything,
 * need not, and a summary has no room for it. */
static enum ta_status keep_dump(struct ta_worker *w, struct ta_ingested *file,
                                struct ta_trace *trace)
{
    file->dump = trace;
    file->is_mapped =
        (w->job->options->summaries || w->job->options->team) && trace->dump.allocator;
    return file->is_mapped ? ta_partial_set_map(&w->ctx, trace, w->partials, NULL) : TA_OK;
}

static enum ta_status take_captures(struct ta_worker *w, struct ta_ingested *file,
                                    const struct ta_trace *trace)
{
    file->captures = calloc(1, sizeof *file->captures);
    if (file->captures && ta_captures_take(file->captures, trace, file->source->shown)) {
        file->captures->rank = file->rank;
        if (file->rank != TA_MISSING ||
            ta_rank_in_path(file->source->shown, w->job->options->rank_regex,
                            &file->captures->rank))
            return TA_OK;
    }
    return ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the captures of graphs");
}

/* Says of a trace which file it is of. */
static void show_file(const struct ta_worker *w, const struct ta_ingested *file,
                      struct ta_trace *trace)
{
    trace->view.rank = (int64_t)(file - w->job->files);
    trace->view.file.number = trace->view.rank;
    trace->view.file.path = file->source->shown;
    trace->view.file.format = file->format;
    trace->view.file.bytes = file->bytes;
    trace->view.file.raw_bytes = file->raw_bytes;
}

/* Which files know the operators of how many kernels. */
static bool copy_replayed(struct ta_worker *w, struct ta_ingested *file,
                          const struct ta_trace *trace)
{
    const size_t n = trace->replayed.n, all = file->n_replayed + n;
    struct ta_replayed_file *replayed =
        n ? ta_arena_alloc(w->arena, all * sizeof *replayed) : file->replayed;
    if (n && replayed && file->n_replayed) /* of another rank of the file */
        memcpy(replayed, file->replayed, file->n_replayed * sizeof *replayed);
    file->replayed = replayed;
    for (size_t i = 0; file->replayed && i < n; i++) {
        const struct ta_replayed *graph = &trace->replayed.at[i];
        file->replayed[file->n_replayed++] = (struct ta_replayed_file){
            graph->file ? ta_arena_copy(w->arena, ta_slice_of(graph->file)) : NULL, graph->kernels,
            graph->mapped, graph->reason};
    }
    return file->n_replayed == all;
}

/* Launches of graphs that have an activity; TA_MISSING without memory. */
static int64_t count_recorded_replays(const struct ta_trace *trace)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    struct ta_row_word *counted = calloc(ta_row_set_words(spans.n), sizeof *counted);
    ta_row before = TA_NO_ROW;
    int64_t n = 0;
    for (size_t i = 0; counted && i < activities.n; i++) {
        const ta_row launch = activities.at[i].launch;
        if (launch == before || launch == TA_NO_ROW || ta_row_set_has(counted, launch))
            continue;
        const struct ta_slice name = ta_trace_text(trace, spans.name[launch]);
        n += name.len && memmem(name.ptr, name.len, "GraphLaunch", 11);
        ta_row_set_add(counted, launch);
        before = launch;
    }
    free(counted);
    return counted ? n : TA_MISSING;
}

/* Traces that lost none pay little for it. */
static bool note_lost_replays(struct ta_ingested *file, const struct ta_trace *trace,
                              const struct ta_traits *traits)
{
    const int64_t n = traits->graph_launches ? count_recorded_replays(trace) : 0;
    if (n >= traits->graph_launches)
        return true;
    const struct ta_lost *lost = n == TA_MISSING ? NULL : ta_trace_lost(trace);
    if (lost && lost->lost_graphs)
        ta_quality_add_many(&file->quality, TA_Q_REPLAYS_LOST, (uint64_t)lost->lost_graphs,
                            TA_NO_OFFSET, TA_NO_OFFSET,
                            "%" PRId64 " of %" PRId64 " graph replays have no kernels, %.3g %% of "
                            "all kernels that were launched",
                            lost->lost_graphs, lost->graphs,
                            100.0 * (double)lost->lost_kernels / (double)lost->kernels);
    return lost != NULL;
}

/* ---- a file of several ranks ----------------------------------------------------------------- */

/* What reading found out about one of them becomes known of the file. */
static void add_facts(struct ta_ingested *file, struct ta_builder *builder, struct ta_builder *part,
                      const struct ta_trace *trace, const struct ta_traits *traits)
{
    builder->kept += part->kept - part->events; /* what normalizing took away */
    builder->dropped += part->dropped;
    for (size_t i = 0; i < part->devices.n; i++)
        ta_builder_add_device(builder, ta_slice_of(part->devices.at[i]));
    file->traits.captures += traits->captures;
    file->traits.instantiations += traits->instantiations;
    file->traits.graph_launches += traits->graph_launches;
    file->traits.launches += traits->launches;
    file->traits.activities += traits->activities;
    if (!builder->vendor)
        builder->vendor = part->vendor;
    if (builder->world_size == TA_MISSING)
        builder->world_size = part->world_size;
    if (file->base_ns == TA_MISSING)
        file->base_ns = trace->view.base_ns;
    if (trace->view.file.events &&
        (file->origin == TA_MISSING || trace->view.origin < file->origin))
        file->origin = trace->view.origin;
}

static enum ta_status analyze_part(struct ta_worker *w, struct ta_ingested *file,
                                   struct ta_builder *builder, size_t i,
                                   const struct ta_division *division)
{
    const struct ta_rank_rows *part = &builder->parts.at[i];
    struct ta_trace *trace = NULL;
    if (!ta_builder_take_part(builder, i, division))
        return ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the events of a rank");
    enum ta_status status = ta_normalize(&w->ctx, part->builder, &trace);
    ta_times_lap(&w->ctx.times, TA_STAGE_NORMALIZE);
    if (status != TA_OK)
        return status;
    show_file(w, file, trace);
    trace->view.rank = TA_RANK_NAMED + part->rank;
    trace->view.file.is_counted = i > 0;
    w->memory = (uint64_t)ta_max_i64((int64_t)w->memory, (int64_t)memory_of(trace));
    struct ta_traits traits;
    if (!ta_traits_find(trace, &traits) || !copy_replayed(w, file, trace) ||
        !note_lost_replays(file, trace, &traits))
        status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the facts of a file");
    else
        status = map_trace(w, file, trace, part->rank, builder->parts.n);
    if (status == TA_OK)
        add_facts(file, builder, part->builder, trace, &traits);
    ta_trace_free(trace);
    ta_times_lap(&w->ctx.times, TA_STAGE_ANALYZE);
    return status;
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The ranks of the parts, ascending and once each. */
static bool list_ranks(struct ta_worker *w, struct ta_ingested *file,
                       const struct ta_builder *builder)
{
    const size_t n = builder->parts.n;
    int64_t *ranks = ta_arena_alloc(w->arena, n * sizeof *ranks);
    if (!ranks)
        return false;
    for (size_t i = 0; i < n; i++)
        ranks[i] = builder->parts.at[i].rank;
    qsort(ranks, n, sizeof *ranks, by_value);
    file->n_row_ranks = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || ranks[i] != ranks[i - 1])
            ranks[file->n_row_ranks++] = ranks[i];
    file->row_ranks = ranks;
    file->all_rows = true;
    return true;
}

/* Each rank becomes a trace of its own, one after the other. */
static enum ta_status analyze_parts(struct ta_worker *w, struct ta_ingested *file,
                                    struct ta_builder *builder, const struct ta_division *division)
{
    const uint64_t all = memory_of(builder->trace);
    enum ta_status status = TA_OK;
    file->base_ns = builder->trace->view.base_ns;
    file->origin = TA_MISSING;
    builder->rank = TA_MISSING;
    for (size_t i = 0; status == TA_OK && i < builder->parts.n; i++)
        status = analyze_part(w, file, builder, i, division);
    w->memory += all;
    copy_facts(w, file, builder);
    if (file->origin == TA_MISSING)
        file->origin = 0;
    if (status == TA_OK && !list_ranks(w, file, builder))
        status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the facts of a file");
    return status;
}

/* ---- a file of one rank ---------------------------------------------------------------------- */

static enum ta_status analyze_whole(struct ta_worker *w, struct ta_ingested *file,
                                    struct ta_builder *builder)
{
    struct ta_trace *trace = NULL;
    enum ta_status status = ta_normalize(&w->ctx, builder, &trace);
    ta_times_lap(&w->ctx.times, TA_STAGE_NORMALIZE);
    copy_facts(w, file, builder);
    if (status != TA_OK)
        return status;
    show_file(w, file, trace);
    w->memory = memory_of(trace);
    if (!ta_traits_find(trace, &file->traits) || !copy_dump_facts(w, file, builder, trace) ||
        !copy_replayed(w, file, trace) || !note_lost_replays(file, trace, &file->traits))
        status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot hold the facts of a file");
    else if (w->job->takes_captures)
        status = take_captures(w, file, trace);
    else if (file->is_dump)
        status = keep_dump(w, file, trace);
    else
        status = map_trace(w, file, trace, TA_MISSING, 1);
    if (!file->dump)
        ta_trace_free(trace);
    ta_times_lap(&w->ctx.times, TA_STAGE_ANALYZE);
    return status;
}

/* Whether the kernels of a trace are in a table of its folder, too, as Ascend's profiler writes
 * them: that has the numbers of devices and cores, and is read in place of the trace's. */
static bool has_table(const struct ta_worker *w, const struct ta_ingested *file)
{
    static const char view[] = "trace_view.json", table[] = "kernel_details.csv";
    const struct ta_slice shown = ta_slice_of(file->source->shown);
    if (!ta_slice_ends(shown, view))
        return false;
    const size_t folder = shown.len - (sizeof view - 1);
    for (size_t i = 0; i < w->job->n_files; i++) {
        const char *other = w->job->files[i].source->shown;
        if (strncmp(other, shown.ptr, folder) == 0 && strcmp(other + folder, table) == 0)
            return true;
    }
    return false;
}

static enum ta_status analyze(struct ta_worker *w, struct ta_ingested *file,
                              struct ta_builder *builder)
{
    builder->kernels_elsewhere = has_table(w, file);
    struct ta_file_ranks ranks = {.of_track = NULL};
    const struct ta_plan *plan = w->job->reading;
    builder->n_passing = w->job->pool ? plan->n_passing_drawn : plan->n_passing;
    builder->captures = w->job->captures;
    builder->path = file->source->shown;
    builder->path_rank = TA_MISSING;
    const bool found =
        (!builder->captures ||
         ta_rank_in_path(builder->path, w->job->options->rank_regex, &builder->path_rank)) &&
        (w->job->takes_captures || ta_find_file_ranks(builder, &ranks));
    enum ta_status status = TA_OK;
    if (!found)
        status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot tell the ranks of a file apart");
    else if (builder->parts.n && !w->job->takes_captures)
        status = analyze_parts(w, file, builder, &ranks.division);
    else
        status = analyze_whole(w, file, builder);
    ta_file_ranks_free(&ranks);
    return status;
}

/* ---- bytes to rows --------------------------------------------------------------------------- */

static void note_bytes(struct ta_ingested *file, uint64_t bytes, uint64_t raw_bytes, bool early)
{
    file->bytes = bytes > file->source->size ? bytes : file->source->size;
    file->raw_bytes = raw_bytes;
    file->truncated = early;
}

/* Reads with this thread alone, or with one that inflates ahead. */
static enum ta_status read_whole(struct ta_worker *w, struct ta_ingested *file,
                                 struct ta_reader *reader, const struct ta_entry *input)
{
    const struct ta_plan *plan = w->job->reading;
    struct ta_builder builder;
    enum ta_status status = TA_ERR_NOMEM;
    if (ta_builder_init(&builder, &file->quality, plan->needs, plan->keys, plan->n_keys,
                        (size_t)ta_ctx_limit(&w->ctx, TA_LIMIT_NAMES))) {
        builder.trace->store.space = &w->ctx.shared->space;
        builder.trace->step_marker = w->ctx.shared->step_marker;
        builder.sampled = plan->sampled;
        builder.share = ta_reader_share(reader);
        status = input->plugin.input->read(&w->ctx, reader, &builder);
    } else {
        ta_fail(&w->ctx, status, "Cannot allocate a trace");
    }
    ta_times_lap(&w->ctx.times, TA_STAGE_READ);
    /* The stream ends early then, and what was read must not pass for the whole. */
    if (status == TA_OK && ta_ctx_canceled(&w->ctx))
        status = ta_fail(&w->ctx, TA_ERR_CANCELED, "The run was canceled");
    note_bytes(file, ta_reader_bytes(reader), ta_reader_raw_bytes(reader),
               ta_reader_ended_early(reader));
    file->truncated |= ta_reader_left(reader) > 0;
    ta_builder_skipped(&builder, ta_reader_left(reader));
    if (status == TA_OK) {
        file->format = input->plugin.id;
        status = analyze(w, file, &builder);
    } else if (status == TA_ERR_INPUT) {
        copy_facts(w, file, &builder);
        file->refusal = ta_arena_printf(w->arena, "%s", ta_ctx_causes(&w->ctx));
        file->is_document = ta_slice_starts(ta_slice_of(file->refusal), "JSON, but not a trace");
        file->is_other = file->is_document;
        status = TA_OK;
    }
    ta_builder_free(&builder);
    return status;
}

/* A trace whose events are also in other files is read as one without any, to its end. */
static enum ta_status pass_over(struct ta_worker *w, struct ta_ingested *file,
                                struct ta_reader *reader, const struct ta_entry *input)
{
    const struct ta_plan *plan = w->job->reading;
    char block[4096];
    struct ta_builder builder;
    enum ta_status status = TA_OK;
    while (ta_reader_read(reader, block, sizeof block))
        ;
    note_bytes(file, ta_reader_bytes(reader), ta_reader_raw_bytes(reader),
               ta_reader_ended_early(reader));
    ta_quality_add(&file->quality, TA_Q_DUPLICATE_CONTENT, TA_NO_OFFSET,
                   "Its events are those of %s; they count once", file->source->combines);
    file->format = input->plugin.id;
    if (ta_builder_init(&builder, &file->quality, plan->needs, plan->keys, plan->n_keys,
                        (size_t)ta_ctx_limit(&w->ctx, TA_LIMIT_NAMES)))
        status = analyze(w, file, &builder);
    else
        status = ta_fail(&w->ctx, TA_ERR_NOMEM, "Cannot allocate a trace");
    ta_builder_free(&builder);
    return status;
}

/* Reads with all helpers.  False, with TA_OK, when the file has to be read in one go. */
static bool read_split(struct ta_worker *w, struct ta_ingested *file, const struct ta_entry *input,
                       enum ta_status *status)
{
    struct ta_split split;
    struct ta_quality quality; /* of the stream, until threads take it over */
    ta_quality_init(&quality);
    struct ta_reader *source = ta_reader_open(&w->ctx, file->source->path, -1, &quality);
    const bool done = source && ta_split_read(&w->ctx, source, input->plugin.input, w->job->reading,
                                              &split, status);
    /* Its beginning is read twice; the progress shall not know. */
    if (source && !done)
        atomic_fetch_sub_explicit(&w->ctx.shared->read, ta_reader_bytes(source),
                                  memory_order_relaxed);
    ta_reader_close(source);
    ta_quality_free(&quality);
    if (!done)
        return *status != TA_OK;
    ta_times_lap(&w->ctx.times, TA_STAGE_READ);
    note_bytes(file, split.bytes, split.raw_bytes, split.early);
    file->format = input->plugin.id;
    ta_quality_merge(&file->quality, &split.quality);
    split.builder.quality = &file->quality;
    *status = analyze(w, file, &split.builder);
    ta_builder_free(&split.builder);
    ta_quality_free(&split.quality);
    return true;
}

/* Whether threads take turns at a file.  A single helper does more for a packed one when it
 * inflates ahead: parsing takes hardly longer than that, and nothing has to be put together. */
static bool takes_turns(const struct ta_ingested *file, const struct ta_reader *reader,
                        const struct ta_entry *input, size_t helpers)
{
    return helpers > (ta_reader_is_packed(reader) ? 1 : 0) && file->source->path &&
           input->plugin.input->reads_parts;
}

static enum ta_status read_rows(struct ta_worker *w, struct ta_ingested *file,
                                struct ta_reader *reader, const struct ta_entry *input,
                                size_t wanted)
{
    const size_t helpers = ta_planner_take(w->job->planner, wanted);
    enum ta_status status = TA_OK;
    w->ctx.helpers = helpers;
    bool done = false;
    if (takes_turns(file, reader, input, helpers))
        done = read_split(w, file, input, &status);
    if (done) /* what the reader took to tell what kind of file it is was read again */
        atomic_fetch_sub_explicit(&w->ctx.shared->read, ta_reader_bytes(reader),
                                  memory_order_relaxed);
    else if (helpers)
        ta_reader_read_ahead(reader); /* if the file is packed */
    if (!done)
        status = read_whole(w, file, reader, input);
    w->ctx.helpers = 0;
    ta_planner_give(w->job->planner, helpers);
    return status;
}

static enum ta_status read_source(struct ta_worker *w, struct ta_ingested *file, size_t helpers)
{
    const struct ta_source *source = file->source;
    ta_times_start(&w->ctx.times);
    struct ta_reader *reader = ta_reader_open(
        &w->ctx, source->path, source->path ? -1 : dup(STDIN_FILENO), &file->quality);
    if (!reader && w->ctx.status != TA_ERR_INPUT)
        return w->ctx.status;
    if (!reader) {
        file->refusal = ta_arena_printf(w->arena, "%s", ta_ctx_causes(&w->ctx));
        return TA_OK;
    }
    enum ta_status status = TA_OK;
    const struct ta_probe probe = ta_reader_probe(reader);
    const struct ta_entry *input = choose_input(w, file, &probe);
    if (input && source->combines)
        status = pass_over(w, file, reader, input);
    else if (input)
        status = read_rows(w, file, reader, input, helpers);
    ta_reader_close(reader);
    ta_times_lap(&w->ctx.times, TA_STAGE_READ);
    return status == TA_OK ? status
                           : ta_cause(&w->ctx, status, "Cannot read \"%s\"", source->shown);
}

enum ta_status ta_worker_read(struct ta_worker *w, struct ta_ingested *file, size_t helpers)
{
    enum ta_status status = TA_OK;
    w->memory = 0;
    if (file->source->summary)
        status = ta_summary_file_read(w, file);
    else if (!file->refusal)
        status = read_source(w, file, helpers);
    if (status == TA_OK && w->job->options->summaries)
        status = ta_summary_file_write(w, file);
    return status;
}
