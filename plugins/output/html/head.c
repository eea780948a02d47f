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

/* " 'sha256-…'" of an inline style sheet or script, as the policy wants it. */
static void put_hash(const struct page *page, const char *source, size_t size)
{
    guint8 digest[32];
    gsize digest_size = sizeof digest;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, (const guchar *)source, (gssize)size);
    g_checksum_get_digest(checksum, digest, &digest_size);
    g_checksum_free(checksum);
    char *base64 = g_base64_encode(digest, digest_size);
    ta_puts(page->out, " 'sha256-");
    ta_puts(page->out, base64);
    ta_puts(page->out, "'");
    g_free(base64);
}

static void put_policy(const struct page *page, const char *chart_css)
{
    ta_puts(page->out, "<meta http-equiv=\"Content-Security-Policy\" content=\""
                       "default-src 'none'; script-src");
    put_hash(page, ta_embed_html_report_js, ta_embed_html_report_js_size);
    ta_puts(page->out, "; style-src");
    put_hash(page, ta_embed_html_report_css, ta_embed_html_report_css_size);
    put_hash(page, chart_css, strlen(chart_css));
    ta_puts(page->out, "; img-src data:; base-uri 'none'; form-action 'none'\">\n");
}

static bool theme_is_fixed(const struct page *page)
{
    const char *theme = page->options->theme;
    return theme && (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0);
}

static void put_meta(const struct page *page, const char *chart_css)
{
    struct ta_file *out = page->out;
    ta_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"");
    if (theme_is_fixed(page))
        ta_putf(out, " data-theme=\"%s\"", page->options->theme);
    ta_puts(out, ">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"generator\" content=\"traceanalyze ");
    html_text(page, page->options->version);
    ta_puts(out, "\">\n");
    put_policy(page, chart_css);
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
    const char *chart_css = ta_chart_css(&arena);
    if (!chart_css) {
        ta_arena_free(&arena);
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot make the style of the charts");
    }
    put_meta(page, chart_css);
    ta_puts(out, "<style>");
    ta_put(out, (struct ta_slice){ta_embed_html_report_css, ta_embed_html_report_css_size});
    ta_puts(out, "</style>\n<style>");
    ta_puts(out, chart_css);
    ta_puts(out, "</style>\n<script>");
    ta_put(out, (struct ta_slice){ta_embed_html_report_js, ta_embed_html_report_js_size});
    ta_puts(out, "</script>\n</head>\n");
    ta_arena_free(&arena);
    return TA_OK;
}
