/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spread of figures between runs, from file to file. */
#include "compare/noise.h"

#include "base/context.h"
#include "base/quality.h"
#include "read/reader.h"
#include "traceanalyze/arena.h"
#include "traceanalyze/document.h"

#include <math.h>
#include <stdlib.h>

/* Runs on a side from which on their spread is worth keeping. */
enum { RUNS_LEAST = 3 };

struct known {
    const char *id;
    struct ta_log_spread spread;
};

struct ta_noise {
    struct ta_arena arena;
    struct known *at;
    size_t n;
};

/* ---- reading ------------------------------------------------------------------------------- */

static enum ta_status read_figure(struct ta_ctx *ctx, const json_t *figure, struct ta_noise *noise)
{
    const struct ta_slice id = ta_document_text(json_object_get(figure, "id"));
    struct known *known = &noise->at[noise->n];
    known->spread.sd = ta_document_double(json_object_get(figure, "spread"));
    known->spread.df = ta_document_double(json_object_get(figure, "degrees"));
    if (id.len == 0 || !(known->spread.sd >= 0) || !(known->spread.df >= 1))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Figure %zu has no \"id\", \"spread\" of 0 or more and \"degrees\" of 1 or "
                       "more",
                       noise->n + 1);
    known->id = ta_arena_copy(&noise->arena, id);
    if (!known->id)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the noise floor");
    noise->n++;
    return TA_OK;
}

static enum ta_status read_document(struct ta_ctx *ctx, const json_t *document,
                                    struct ta_noise *noise)
{
    const struct ta_slice schema = ta_document_text(json_object_get(document, "schema"));
    const json_t *figures = json_object_get(document, "figures");
    const size_t n = json_array_size(figures);
    if (!ta_slice_equal(schema, TA_LIT("traceanalyze.baseline/1")) || !json_is_array(figures))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Not a file that --save-baseline writes: no \"schema\": "
                       "\"traceanalyze.baseline/1\" with \"figures\"");
    noise->at = ta_arena_alloc(&noise->arena, (n + 1) * sizeof *noise->at);
    if (!noise->at)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the noise floor");
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < n; i++)
        status = read_figure(ctx, json_array_get(figures, i), noise);
    return status;
}

static enum ta_status read_file(struct ta_ctx *ctx, const char *path, struct ta_noise *noise)
{
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(ctx, path, -1, &quality);
    json_t *document = reader ? ta_document_read(ctx, reader, NULL) : NULL;
    enum ta_status status = document ? TA_OK : ctx->status;
    if (status == TA_OK && ta_quality_reaches(&quality, TA_QUALITY_NOTICE))
        status = ta_fail(ctx, TA_ERR_USAGE, "The file is damaged");
    if (status == TA_OK)
        status = read_document(ctx, document, noise);
    json_decref(document);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    return status;
}

enum ta_status ta_noise_read(struct ta_ctx *ctx, const char *path, struct ta_noise **noise)
{
    struct ta_noise *made = calloc(1, sizeof *made);
    if (!made)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the noise floor");
    enum ta_status status = read_file(ctx, path, made);
    if (status != TA_OK) {
        ta_noise_free(made);
        return ta_cause(ctx, status == TA_ERR_INPUT ? TA_ERR_USAGE : status,
                        "Unusable noise floor \"%s\"", path);
    }
    *noise = made;
    return TA_OK;
}

void ta_noise_free(struct ta_noise *noise)
{
    if (!noise)
        return;
    ta_arena_free(&noise->arena);
    free(noise);
}

bool ta_noise_find(const struct ta_noise *noise, const char *figure, struct ta_log_spread *spread)
{
    for (size_t i = 0; i < noise->n; i++)
        if (strcmp(noise->at[i].id, figure) == 0 && noise->at[i].spread.sd > 0) {
            *spread = noise->at[i].spread;
            return true;
        }
    return false;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Where spreads stand: of figures, and of the times of names. */
static const struct source {
    const char *table, *prefix, *id; /* the id of a figure is prefix and the text of a column */
    const char *unit;                /* NULL: it stands in the row */
    const char *base, *new;
} sources[] = {
    {"diff.metrics", "", "metric", NULL, "base", "new"},
    {"diff.stages", TA_NOISE_OF_STAGE, "name", "ns", "base_total_ns", "new_total_ns"},
    {"diff.kernels", TA_NOISE_OF_KERNEL, "name", "ns", "base_total_ns", "new_total_ns"},
    {"diff.copies", TA_NOISE_OF_COPY, "name", "ns", "base_total_ns", "new_total_ns"},
    {"diff.ops", TA_NOISE_OF_OP, "name", "ns", "base_total_ns", "new_total_ns"},
};

/* A spread worth keeping. */
struct kept {
    const struct ta_report *diff;
    size_t source, row; /* of the next one to look at */
    const struct source *at;
    const struct ta_table *table;
    size_t k; /* the row of this one */
    struct ta_log_spread spread;
};

/* Runs on the side of a comparison that has them; of names all have them that have a spread. */
static double runs_of(const struct ta_report *diff, const char *column)
{
    const struct ta_table *metrics = ta_report_table(diff, "diff.metrics");
    return metrics && metrics->n_rows ? ta_row_number(metrics, 0, column, 0) : 0;
}

/* The spread that the runs of a row have; false when they are too few. */
static bool spread_of(struct kept *kept)
{
    const bool own = kept->at->unit == NULL;
    const double base = own ? ta_row_number(kept->table, kept->k, "base_runs", 0)
                            : runs_of(kept->diff, "base_runs");
    const double new =
        own ? ta_row_number(kept->table, kept->k, "new_runs", 0) : runs_of(kept->diff, "new_runs");
    kept->spread.sd = ta_row_number(kept->table, kept->k, "spread", (double)NAN);
    kept->spread.df = (base > 1 ? base - 1 : 0) + (new > 1 ? new - 1 : 0);
    return (base >= RUNS_LEAST || new >= RUNS_LEAST) && kept->spread.sd > 0;
}

/* The next one; false behind the last. */
static bool next_spread(struct kept *kept)
{
    for (; kept->source < sizeof sources / sizeof *sources; kept->source++, kept->row = 0) {
        kept->at = &sources[kept->source];
        kept->table = ta_report_table(kept->diff, kept->at->table);
        while (kept->table && kept->row < kept->table->n_rows) {
            kept->k = kept->row++;
            if (spread_of(kept))
                return true;
        }
    }
    return false;
}

size_t ta_noise_count(const struct ta_report *diff)
{
    struct kept kept = {.diff = diff};
    size_t n = 0;
    while (next_spread(&kept))
        n++;
    return n;
}

static void put_number(struct ta_file *out, const char *key, double value)
{
    const struct ta_cell cell = ta_num(value);
    ta_putf(out, ", \"%s\": ", key);
    ta_put_json_cell(out, &cell, false);
}

/* The text of "PREFIX" and "NAME" as one JSON string: the name is of the input. */
static bool put_id(struct ta_file *out, const char *prefix, struct ta_slice name)
{
    struct ta_arena arena = {0};
    const char *id = ta_arena_printf(&arena, "%s%.*s", prefix, (int)name.len, name.ptr);
    if (id)
        ta_put_json(out, ta_slice_of(id), false);
    ta_arena_free(&arena);
    return id != NULL;
}

static bool put_figure(struct ta_file *out, const struct kept *kept)
{
    const struct source *at = kept->at;
    ta_puts(out, "  {\"id\": ");
    const bool done = put_id(out, at->prefix, ta_row_text(kept->table, kept->k, at->id));
    ta_puts(out, ", \"unit\": ");
    ta_put_json(out, at->unit ? ta_slice_of(at->unit) : ta_row_text(kept->table, kept->k, "unit"),
                false);
    put_number(out, "base", ta_row_number(kept->table, kept->k, at->base, (double)NAN));
    put_number(out, "new", ta_row_number(kept->table, kept->k, at->new, (double)NAN));
    put_number(out, "spread", kept->spread.sd);
    put_number(out, "degrees", kept->spread.df);
    ta_putc(out, '}');
    return done;
}

bool ta_noise_put(struct ta_file *out, const struct ta_report *diff, const char *version)
{
    struct kept kept = {.diff = diff};
    bool is_first = true, done = true;
    ta_puts(out,
            "{" TA_NOISE_SCHEMA ",\n \"generator\": {\"name\": \"traceanalyze\", \"version\": ");
    ta_put_json(out, ta_slice_of(version), false);
    ta_puts(out, "},\n \"title\": ");
    ta_put_json(out, ta_slice_of(ta_report_run(diff)->title), false);
    ta_puts(out, ",\n \"figures\": [");
    while (done && next_spread(&kept)) {
        ta_puts(out, is_first ? "\n" : ",\n");
        done = put_figure(out, &kept);
        is_first = false;
    }
    ta_puts(out, "]}\n");
    return done;
}
