/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports that were written before. */
#include "ingest/inputs/saved.h"

#include "base/context.h"
#include "base/quality.h"
#include "plugin/registry.h"
#include "read/reader.h"
#include "report/decode.h"
#include "traceanalyze/document.h"
#include "traceanalyze/input.h"

#include <sys/stat.h>

static bool take(struct ta_slice *text, const char *token)
{
    const size_t n = strlen(token);
    while (text->len && memchr(" \t\r\n", *text->ptr, 4))
        *text = ta_slice_from(*text, 1);
    if (text->len < n || memcmp(text->ptr, token, n) != 0)
        return false;
    *text = ta_slice_from(*text, n);
    return true;
}

/* The schema is the first member of what we write. */
bool ta_saved_is_head(struct ta_slice head)
{
    return take(&head, "{") && take(&head, "\"schema\"") && take(&head, ":") &&
           take(&head, "\"traceanalyze.report/");
}

/* The first thing that was mended or lost: a program wrote this file, so nothing should be. */
static enum ta_status check_whole(struct ta_ctx *ctx, const struct ta_quality *quality)
{
    if (!ta_quality_reaches(quality, TA_QUALITY_NOTICE))
        return TA_OK;
    struct ta_arena arena = {0};
    size_t n;
    const struct ta_quality_finding *findings = ta_quality_findings(quality, &arena, &n);
    enum ta_status status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold what is wrong with the report");
    for (size_t i = 0; findings && i < n && status != TA_ERR_INPUT; i++)
        if (findings[i].severity >= TA_QUALITY_NOTICE)
            status = ta_fail(ctx, TA_ERR_INPUT, "The report is damaged: %s",
                             findings[i].text ? findings[i].text
                                              : ta_quality_info(findings[i].code)->doc);
    ta_arena_free(&arena);
    return status;
}

static bool reads_dumps(const void *registry, const char *format)
{
    const struct ta_entry *entry = ta_registry_find(registry, TA_KIND_input, format);
    return entry && !entry->plugin.input->reads_traces;
}

static const struct ta_table_def *find_table(const void *registry, const char *id)
{
    return ta_registry_table(registry, id, NULL);
}

static enum ta_status read_report(struct ta_ctx *ctx, const struct ta_registry *registry,
                                  struct ta_reader *reader, const struct ta_quality *quality,
                                  struct ta_report **report)
{
    json_t *document = ta_document_read(ctx, reader, NULL);
    if (!document)
        return ctx->status;
    enum ta_status status = check_whole(ctx, quality);
    if (status == TA_OK)
        status = ta_report_decode(
            ctx, document, &(const struct ta_declarations){find_table, reads_dumps, registry},
            report);
    json_decref(document);
    return status;
}

enum ta_status ta_saved_read(struct ta_ctx *ctx, const struct ta_registry *registry,
                             const char *path, struct ta_report **report)
{
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(ctx, path, -1, &quality);
    enum ta_status status =
        reader ? read_report(ctx, registry, reader, &quality, report) : ctx->status;
    struct stat st;
    if (status == TA_OK && stat(path, &st) == 0)
        ta_report_set_input_date(*report, st.st_mtime);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    if (status != TA_OK)
        ta_cause(ctx, status, "Cannot read the report \"%s\"", path);
    return status;
}
