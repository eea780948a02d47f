/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of the page: who wrote it, what it may do, how it looks.
 *
 * The policy lets exactly the embedded style sheets and script run, by their hashes; data can
 * bring in neither code nor style nor a request. */
#include "html.h"

#include <traceanalyze/arena.h>
#include <traceanalyze/svg.h>

#include <glib.h>

#include "embedded_html.h"

/* The sheets and the script are written in parts, each for itself an idea; a page has them as one
 * text without indentation and without the comments that begin a line. */
struct part {
    const char *text;
    const size_t *size;
};

static const struct part sheets[] = {
    {ta_embed_html_base_css, &ta_embed_html_base_css_size},
    {ta_embed_html_frame_css, &ta_embed_html_frame_css_size},
    {ta_embed_html_parts_css, &ta_embed_html_parts_css_size},
    {ta_embed_html_tables_css, &ta_embed_html_tables_css_size},
    {ta_embed_html_timeline_css, &ta_embed_html_timeline_css_size},
    {ta_embed_html_media_css, &ta_embed_html_media_css_size},
};

#define LICENSE "/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
/* The script is one function, so that its names stay its own. */
static const char script_begin[] = "(() => {\n", script_end[] = "})();\n";
static const size_t script_begin_size = sizeof script_begin - 1;
static const size_t script_end_size = sizeof script_end - 1;

static const struct part scripts[] = {
    {script_begin, &script_begin_size},
    {ta_embed_html_base_js, &ta_embed_html_base_js_size},
    {ta_embed_html_table_js, &ta_embed_html_table_js_size},
    {ta_embed_html_tip_js, &ta_embed_html_tip_js_size},
    {ta_embed_html_search_js, &ta_embed_html_search_js_size},
    {ta_embed_html_tree_js, &ta_embed_html_tree_js_size},
    {ta_embed_html_timeline_data_js, &ta_embed_html_timeline_data_js_size},
    {ta_embed_html_timeline_draw_js, &ta_embed_html_timeline_draw_js_size},
    {ta_embed_html_timeline_js, &ta_embed_html_timeline_js_size},
    {ta_embed_html_page_js, &ta_embed_html_page_js_size},
    {script_end, &script_end_size},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* What follows the white space and comments at the start of a line. */
static const char *skip_indent(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\n");
        const char *end = strncmp(at, "/*", 2) == 0 ? strstr(at, "*/") : NULL;
        if (!end)
            return at;
        at = end + 2;
    }
}

/* All parts as one text; NULL when out of memory. */
static char *join_parts(struct ta_arena *arena, const struct part *parts, size_t n)
{
    size_t size = sizeof LICENSE;
    for (size_t i = 0; i < n; i++)
        size += *parts[i].size + 1;
    char *text = ta_arena_alloc(arena, size);
    char *to = text ? stpcpy(text, LICENSE) : NULL;
    for (size_t i = 0; to && i < n; i++)
        for (const char *at = skip_indent(parts[i].text); *at; at = skip_indent(at)) {
            const size_t line = strcspn(at, "\n");
            to = mempcpy(to, at, line);
            *to++ = '\n';
            at += line;
        }
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
    ta_puts(page->out, " 'sha256-");
    ta_puts(page->out, base64);
    ta_puts(page->out, "'");
    g_free(base64);
}

/* The texts of the elements. */
struct texts {
    const char *sheet, *chart_sheet, *script;
};

static void put_policy(const struct page *page, const struct texts *texts)
{
    ta_puts(page->out, "<meta http-equiv=\"Content-Security-Policy\" content=\""
                       "default-src 'none'; script-src");
    put_hash(page, texts->script);
    ta_puts(page->out, "; style-src");
    put_hash(page, texts->sheet);
    put_hash(page, texts->chart_sheet);
    ta_puts(page->out, "; img-src data:; base-uri 'none'; form-action 'none'\">\n");
}

static bool theme_is_fixed(const struct page *page)
{
    const char *theme = page->options->theme;
    return theme && (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0);
}

static void put_meta(const struct page *page, const struct texts *texts)
{
    struct ta_file *out = page->out;
    ta_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"");
    if (theme_is_fixed(page))
        ta_putf(out, " data-theme=\"%s\"", page->options->theme);
    ta_puts(out, ">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"generator\" content=\"traceanalyze ");
    html_text(page, page->options->version);
    ta_puts(out, "\">\n");
    put_policy(page, texts);
    ta_puts(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n"
                 "<title>");
    html_text(page, ta_report_run(page->report)->title);
    ta_puts(out, " · traceanalyze</title>\n"
                 "<link rel=\"icon\" href=\"data:image/svg+xml,"
                 "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E"
                 "%3Cpath fill='%234a6fdc' d='M2 3h11v4H2zM7 8h11v4H7zM4 13h8v4H4z'/%3E"
                 "%3C/svg%3E\">\n");
}

enum ta_status html_head(const struct page *page)
{
    struct ta_file *out = page->out;
    struct ta_arena arena = {0};
    const struct texts texts = {.sheet = join_parts(&arena, sheets, LENGTH(sheets)),
                                .chart_sheet = ta_chart_css(&arena),
                                .script = join_parts(&arena, scripts, LENGTH(scripts))};
    if (!texts.sheet || !texts.chart_sheet || !texts.script) {
        ta_arena_free(&arena);
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot make the style and script of the page");
    }
    put_meta(page, &texts);
    ta_puts(out, "<style>");
    ta_puts(out, texts.sheet);
    ta_puts(out, "</style>\n<style>");
    ta_puts(out, texts.chart_sheet);
    ta_puts(out, "</style>\n<script>");
    ta_puts(out, texts.script);
    ta_puts(out, "</script>\n</head>\n");
    ta_arena_free(&arena);
    return TA_OK;
}
