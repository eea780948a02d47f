/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of the page: who wrote it, and what it is about. */
#include "html.h"

static bool theme_is_fixed(const struct page *page)
{
    const char *theme = page->options->theme;
    return theme && (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0);
}

enum ta_status html_head(const struct page *page)
{
    struct ta_file *out = page->out;
    ta_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"");
    if (theme_is_fixed(page))
        ta_putf(out, " data-theme=\"%s\"", page->options->theme);
    ta_puts(out, ">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    html_text(page, ta_report_run(page->report)->title);
    ta_puts(out, " · traceanalyze</title>\n"
                 "<meta name=\"generator\" content=\"traceanalyze ");
    html_text(page, page->options->version);
    ta_puts(out, "\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n");
    const enum ta_status status = html_assets(page);
    ta_puts(out, "<link rel=\"icon\" href=\"data:image/svg+xml,"
                 "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E"
                 "%3Cpath fill='%234a6fdc' d='M2 3h11v4H2zM7 8h11v4H7zM4 13h8v4H4z'/%3E"
                 "%3C/svg%3E\">\n"
                 "</head>\n");
    return status;
}
