/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the trace in a web page. */
#include "read/page.h"

#include <strings.h>

/* The variable that VizTracer assigns the trace to. */
static const char variable[] = "json_data";
enum {
    VARIABLE = sizeof variable - 1,
    SPACES_MOST = 16,
    INTRODUCTION = VARIABLE + 2 * SPACES_MOST
};

static bool starts_with(struct ta_slice text, const char *start)
{
    const size_t n = strlen(start);
    return text.len >= n && strncasecmp(text.ptr, start, n) == 0;
}

static bool holds(struct ta_slice text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

bool ta_page_is(struct ta_slice head)
{
    while (head.len && memchr(" \t\r\n", head.ptr[0], 4)) {
        head.ptr++;
        head.len--;
    }
    return (starts_with(head, "<!doctype html") || starts_with(head, "<html")) &&
           (holds(head, "trace_viewer") || holds(head, "viztracer") || holds(head, variable));
}

static const char *skip_spaces(const char *at, const char *end)
{
    for (int i = 0; i < SPACES_MOST && at < end && memchr(" \t\r\n", *at, 4); i++)
        at++;
    return at;
}

const char *ta_page_find(struct ta_slice bytes, size_t *keep)
{
    const char *at = bytes.ptr, *end = bytes.ptr + bytes.len;
    while ((at = memmem(at, (size_t)(end - at), variable, VARIABLE)) != NULL) {
        at += VARIABLE;
        const char *sign = skip_spaces(at, end);
        const char *brace = sign < end && *sign == '=' ? skip_spaces(sign + 1, end) : end;
        if (brace < end && *brace == '{')
            return brace;
    }
    *keep = bytes.len < INTRODUCTION ? bytes.len : INTRODUCTION;
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
