/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spread of figures between runs, from file to file. */
#include "compare/noise.h"

#include "base/context.h"
#include "base/quality.h"
#include "plugin/builtin.h"
#include "read/reader.h"
#include "traceanalyze/base.h"
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

enum { METRIC, METRIC_UNIT, METRIC_BASE, METRIC_NEW, METRIC_BASE_RUNS, METRIC_NEW_RUNS };

#define NAMES_READ(first, id)                                                                      \
    [(first)] = {id, "name"}, [(first) + 1] = {id, "base_total_ns"},                               \
    [(first) + 2] = {id, "new_total_ns"}, [(first) + 3] = {id, "spread"}

enum {
    METRIC_SPREAD = METRIC_NEW_RUNS + 1,
    STAGE,
    KERNEL = STAGE + 4,
    COPY = KERNEL + 4,
    OP = COPY + 4
};

static const struct ta_ref reads[] = {
    [METRIC] = {"diff.metrics", "metric"},
    [METRIC_UNIT] = {"diff.metrics", "unit"},
    [METRIC_BASE] = {"diff.metrics", "base"},
    [METRIC_NEW] = {"diff.metrics", "new"},
    [METRIC_BASE_RUNS] = {"diff.metrics", "base_runs"},
    [METRIC_NEW_RUNS] = {"diff.metrics", "new_runs"},
    [METRIC_SPREAD] = {"diff.metrics", "spread"},
    NAMES_READ(STAGE, "diff.stages"),
    NAMES_READ(KERNEL, "diff.kernels"),
    NAMES_READ(COPY, "diff.copies"),
    NAMES_READ(OP, "diff.ops"),
};

const struct ta_part ta_noise_part = {"noise", NULL, TA_READS(reads)};

/* Where spreads are listed: of figures, and of the times of names. */
static const struct source {
    const char *prefix; /* the id of a figure is prefix and the text of a column */
    size_t id, base, new, spread;
    bool is_of_names; /* their unit is ns, and all runs have them */
} sources[] = {
    {"", METRIC, METRIC_BASE, METRIC_NEW, METRIC_SPREAD, false},
    {TA_NOISE_OF_STAGE, STAGE, STAGE + 1, STAGE + 2, STAGE + 3, true},
    {TA_NOISE_OF_KERNEL, KERNEL, KERNEL + 1, KERNEL + 2, KERNEL + 3, true},
    {TA_NOISE_OF_COPY, COPY, COPY + 1, COPY + 2, COPY + 3, true},
    {TA_NOISE_OF_OP, OP, OP + 1, OP + 2, OP + 3, true},
};

/* A spread worth keeping. */
struct kept {
    struct ta_refs in;
    size_t source, row; /* of the next one to look at */
    const struct source *at;
    size_t k; /* the row of this one */
    struct ta_log_spread spread;
};

/* The spread that the runs of a row have; false when they are too few.  Of names all runs have them
 * that have a spread. */
static bool spread_of(struct kept *kept)
{
    const struct ta_refs *in = &kept->in;
    const size_t row = kept->at->is_of_names ? 0 : kept->k;
    const bool has_runs = row < ta_ref_rows(in, METRIC);
    const double base = has_runs ? ta_ref_number(in, METRIC_BASE_RUNS, row, 0) : 0;
    const double new = has_runs ? ta_ref_number(in, METRIC_NEW_RUNS, row, 0) : 0;
    kept->spread.sd = ta_ref_number(in, kept->at->spread, kept->k, (double)NAN);
    kept->spread.df = (base > 1 ? base - 1 : 0) + (new > 1 ? new - 1 : 0);
    return (base >= RUNS_LEAST || new >= RUNS_LEAST) && kept->spread.sd > 0;
}

/* The next one; false after the last. */
static bool next_spread(struct kept *kept)
{
    for (; kept->source < TA_LENGTH(sources); kept->source++, kept->row = 0) {
        kept->at = &sources[kept->source];
        while (kept->row < ta_ref_rows(&kept->in, kept->at->id)) {
            kept->k = kept->row++;
            if (spread_of(kept))
                return true;
        }
    }
    return false;
}

size_t ta_noise_count(const struct ta_report *diff)
{
    struct kept kept = {.source = 0};
    size_t n = 0;
    ta_refs_open(&kept.in, diff, reads, TA_LENGTH(reads));
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
    const bool done = put_id(out, at->prefix, ta_ref_text(&kept->in, at->id, kept->k));
    ta_puts(out, ", \"unit\": ");
    ta_put_json(out, at->is_of_names ? TA_LIT("ns") : ta_ref_text(&kept->in, METRIC_UNIT, kept->k),
                false);
    put_number(out, "base", ta_ref_number(&kept->in, at->base, kept->k, (double)NAN));
    put_number(out, "new", ta_ref_number(&kept->in, at->new, kept->k, (double)NAN));
    put_number(out, "spread", kept->spread.sd);
    put_number(out, "degrees", kept->spread.df);
    ta_putc(out, '}');
    return done;
}

bool ta_noise_put(struct ta_file *out, const struct ta_report *diff, const char *version)
{
    struct kept kept = {.source = 0};
    ta_refs_open(&kept.in, diff, reads, TA_LENGTH(reads));
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
