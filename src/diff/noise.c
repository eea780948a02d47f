/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spread of figures between runs, from file to file. */
#include "diff/noise.h"

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

static const struct ta_table *metrics_of(const struct ta_report *diff)
{
    return ta_report_table(diff, "diff.metrics");
}

/* The spread that the runs of a row have; false when they are too few. */
static bool spread_of(const struct ta_table *metrics, size_t row, struct ta_log_spread *spread)
{
    const double base = ta_row_number(metrics, row, "base_runs", 0);
    const double new = ta_row_number(metrics, row, "new_runs", 0);
    const bool has_runs = base >= RUNS_LEAST || new >= RUNS_LEAST;
    spread->sd = ta_row_number(metrics, row, "spread", (double)NAN);
    spread->df = (base > 1 ? base - 1 : 0) + (new > 1 ? new - 1 : 0);
    return has_runs && spread->sd > 0;
}

size_t ta_noise_count(const struct ta_report *diff)
{
    const struct ta_table *metrics = metrics_of(diff);
    struct ta_log_spread spread;
    size_t n = 0;
    for (size_t i = 0; metrics && i < metrics->n_rows; i++)
        n += spread_of(metrics, i, &spread);
    return n;
}

static void put_figure(struct ta_file *out, const struct ta_table *metrics, size_t row,
                       const struct ta_log_spread *spread)
{
    const struct ta_cell sd = ta_num(spread->sd), df = ta_num(spread->df);
    const struct ta_cell base = ta_num(ta_row_number(metrics, row, "base", (double)NAN));
    const struct ta_cell new = ta_num(ta_row_number(metrics, row, "new", (double)NAN));
    ta_puts(out, "  {\"id\": ");
    ta_put_json(out, ta_row_text(metrics, row, "metric"), false);
    ta_puts(out, ", \"unit\": ");
    ta_put_json(out, ta_row_text(metrics, row, "unit"), false);
    ta_puts(out, ", \"base\": ");
    ta_put_json_cell(out, &base, false);
    ta_puts(out, ", \"new\": ");
    ta_put_json_cell(out, &new, false);
    ta_puts(out, ", \"spread\": ");
    ta_put_json_cell(out, &sd, false);
    ta_puts(out, ", \"degrees\": ");
    ta_put_json_cell(out, &df, false);
    ta_putc(out, '}');
}

void ta_noise_put(struct ta_file *out, const struct ta_report *diff, const char *version)
{
    const struct ta_table *metrics = metrics_of(diff);
    struct ta_log_spread spread;
    bool is_first = true;
    ta_puts(out,
            "{" TA_NOISE_SCHEMA ",\n \"generator\": {\"name\": \"traceanalyze\", \"version\": ");
    ta_put_json(out, ta_slice_of(version), false);
    ta_puts(out, "},\n \"title\": ");
    ta_put_json(out, ta_slice_of(ta_report_run(diff)->title), false);
    ta_puts(out, ",\n \"figures\": [");
    for (size_t i = 0; metrics && i < metrics->n_rows; i++)
        if (spread_of(metrics, i, &spread)) {
            ta_puts(out, is_first ? "\n" : ",\n");
            put_figure(out, metrics, i, &spread);
            is_first = false;
        }
    ta_puts(out, "]}\n");
}
