/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the trace, or the report, in a web page. */
#include "read/page.h"

#include <strings.h>

/* The text before the object: a word, and a sign with blanks around it. */
struct introduction {
    const char *word;
    char sign;
};

static const struct introduction introductions[] = {
    [TA_PAGE_TRACE] = {"json_data", '='}, /* the variable that VizTracer assigns the trace to */
    [TA_PAGE_REPORT] = {"id=\"traceanalyze-report\"", '>'}, /* plugins/output/html/data.c */
};

enum { SPACES_MOST = 16 };

static bool starts_with(struct ta_slice text, const char *start)
{
    const size_t n = strlen(start);
    return text.len >= n && strncasecmp(text.ptr, start, n) == 0;
}

static bool holds(struct ta_slice text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

enum ta_page_kind ta_page_is(struct ta_slice head)
{
    while (head.len && memchr(" \t\r\n", head.ptr[0], 4)) {
        head.ptr++;
        head.len--;
    }
    if (!starts_with(head, "<!doctype html") && !starts_with(head, "<html"))
        return TA_PAGE_NONE;
    if (holds(head, "<meta name=\"generator\" content=\"traceanalyze "))
        return TA_PAGE_REPORT;
    return holds(head, "trace_viewer") || holds(head, "viztracer") ||
                   holds(head, introductions[TA_PAGE_TRACE].word)
               ? TA_PAGE_TRACE
               : TA_PAGE_NONE;
}

static const char *skip_spaces(const char *at, const char *end)
{
    for (int i = 0; i < SPACES_MOST && at < end && memchr(" \t\r\n", *at, 4); i++)
        at++;
    return at;
}

const char *ta_page_find(enum ta_page_kind kind, struct ta_slice bytes, size_t *keep)
{
    const struct introduction *before = &introductions[kind];
    const size_t n = strlen(before->word), most = n + 2 * SPACES_MOST;
    const char *at = bytes.ptr, *end = ta_slice_end(bytes);
    while ((at = memmem(at, (size_t)(end - at), before->word, n)) != NULL) {
        at += n;
        const char *sign = skip_spaces(at, end);
        const char *brace = sign < end && *sign == before->sign ? skip_spaces(sign + 1, end) : end;
        if (brace < end && *brace == '{')
            return brace;
    }
    *keep = bytes.len < most ? bytes.len : most;
    return NULL;
}

size_t ta_page_take(struct ta_page *page, const char *bytes, size_t n)
{
    if (!page->active)
        return n;
    for (size_t i = 0; i < n && !page->done; i++) {
        const char c = bytes[i];
        if (page->escaped) {
            page->escaped = false;
        } else if (page->in_string) {
            page->escaped = c == '\\';
            page->in_string = c != '"';
        } else if (c == '"') {
            page->in_string = true;
        } else if (c == '{' || c == '[') {
            page->depth++;
        } else if ((c == '}' || c == ']') && --page->depth == 0) {
            page->done = true;
            return i + 1;
        }
    }
    return page->done ? 0 : n;
}
