/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the page looks and what it can do: style sheets and script, in the page or in separate files,
 * and the policy that lets exactly them run.
 *
 * In the page they are allowed by their hashes; data can bring in neither code nor style nor a
 * request. Hosts that allow no style within a page show one whose style is a file of theirs. */
#include "html.h"
#include "render/chart/svg.h"
#include "render/sink.h"

#include <traceanalyze/base.h>

#include <glib.h>

#include "embedded_html.h"

/* The sheets and the script are written in parts, one idea each; a page has them as one text.  The
 * build strips them of comments and indentation (cmake/TaEmbed.cmake). */
static const char *const sheets[] = {
    ta_embed_html_base_css,   ta_embed_html_frame_css,    ta_embed_html_parts_css,
    ta_embed_html_tables_css, ta_embed_html_timeline_css, ta_embed_html_media_css,
};

#define LICENSE "/* SPDX-License-Identifier: GPL-3.0-or-later */\n"

/* The script is one function, so that its names stay its own. */
static const char *const scripts[] = {
    "(() => {\n",
    ta_embed_html_base_js,
    ta_embed_html_row_js,
    ta_embed_html_names_js,
    ta_embed_html_take_js,
    ta_embed_html_table_js,
    ta_embed_html_calls_js,
    ta_embed_html_tip_js,
    ta_embed_html_search_js,
    ta_embed_html_tree_js,
    ta_embed_html_timeline_data_js,
    ta_embed_html_timeline_draw_js,
    ta_embed_html_timeline_paint_js,
    ta_embed_html_timeline_slice_js,
    ta_embed_html_timeline_find_js,
    ta_embed_html_timeline_range_js,
    ta_embed_html_timeline_input_js,
    ta_embed_html_timeline_js,
    ta_embed_html_page_js,
    "})();\n",
};

/* The signature of our files. */
#define SIGNATURE "/* Made by traceanalyze. */\n"

/* All parts as one text; NULL when out of memory. */
static char *join_parts(struct ta_arena *arena, const char *const *parts, size_t n)
{
    size_t size = sizeof LICENSE;
    for (size_t i = 0; i < n; i++)
        size += strlen(parts[i]);
    char *text = ta_arena_alloc(arena, size);
    if (!text)
        return NULL;
    char *to = stpcpy(text, LICENSE);
    for (size_t i = 0; i < n; i++)
        to = stpcpy(to, parts[i]);
    return text;
}

/* " 'sha256-…'" of an inline element, as the policy wants it. */
static void put_hash(const struct page *page, const char *text)
{
    guint8 digest[32];
    gsize digest_size = sizeof digest;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, (const guchar *)text, (gssize)strlen(text));
    g_checksum_get_digest(checksum, digest, &digest_size);
    g_checksum_free(checksum);
    char *base64 = g_base64_encode(digest, digest_size);
    ta_putf(page->out, " 'sha256-%s'", base64);
    g_free(base64);
}

/* The texts of the elements. */
struct texts {
    const char *sheet, *chart_sheet, *script;
};

/* Writes "report.css" or "report.js"; both begin with the line that names the license. */
static enum ta_status write_beside(const struct page *page, const char *extension,
                                   const char *const texts[2])
{
    struct ta_file *out =
        ta_sink_open_report(page->ctx, page->sink, page->report, extension, LICENSE SIGNATURE);
    if (!out)
        return ta_cause(page->ctx, ta_ctx_status(page->ctx), "Cannot write the %s of the page",
                        extension);
    ta_puts(out, LICENSE SIGNATURE);
    for (size_t i = 0; i < 2 && texts[i]; i++)
        ta_puts(out, texts[i]);
    return ta_file_close(page->ctx, out);
}

static enum ta_status put_split(const struct page *page, const struct texts *texts)
{
    char name[32];
    const char *const style[] = {texts->sheet, texts->chart_sheet};
    const char *const script[] = {texts->script, NULL};
    ta_putf(page->out, "<link rel=\"stylesheet\" href=\"%s\">\n",
            ta_report_file_name(page->report, "css", name));
    ta_putf(page->out, "<script src=\"%s\"></script>\n",
            ta_report_file_name(page->report, "js", name));
    const enum ta_status status = write_beside(page, "css", style);
    return status ? status : write_beside(page, "js", script);
}

enum ta_status html_assets(const struct page *page)
{
    struct ta_arena arena = {0};
    const struct texts texts = {.sheet = join_parts(&arena, sheets, TA_LENGTH(sheets)),
                                .chart_sheet = ta_chart_css(&arena),
                                .script = join_parts(&arena, scripts, TA_LENGTH(scripts))};
    /* A page that is one file, or goes to standard output, has no other files. */
    const bool is_split = page->options->split_assets && !ta_sink_is_single(page->sink);
    enum ta_status status = TA_OK;
    if (!texts.sheet || !texts.chart_sheet || !texts.script) {
        status = ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot make the style and script of the page");
    } else {
        ta_puts(page->out, "<meta http-equiv=\"Content-Security-Policy\" content=\""
                           "default-src 'none'; script-src");
        if (is_split) {
            ta_puts(page->out, " 'self'; style-src 'self'");
        } else {
            put_hash(page, texts.script);
            ta_puts(page->out, "; style-src");
            put_hash(page, texts.sheet);
            put_hash(page, texts.chart_sheet);
        }
        ta_puts(page->out, "; img-src data:; base-uri 'none'; form-action 'none'\">\n");
        if (is_split)
            status = put_split(page, &texts);
        else
            ta_putf(page->out, "<style>%s</style>\n<style>%s</style>\n<script>%s</script>\n",
                    texts.sheet, texts.chart_sheet, texts.script);
    }
    ta_arena_free(&arena);
    return status;
}
