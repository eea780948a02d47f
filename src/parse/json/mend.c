/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where reading a document goes on after damage. */
#include "parse/json/mend.h"

#include "parse/json/record.h"

enum { DEPTH_MAX = 64, KEY_MAX = 128 };

/* Bytes that may be looked at again: this many times the size of the document, and some. */
enum { TIMES = 8, SPARE = 4 << 20 };

void mend_init(struct mend *mend, size_t n_bytes)
{
    mend->left = TIMES * n_bytes + SPARE;
}

/* Takes what was looked at from the budget. */
static void spend(struct mend *mend, const char *from, const char *to)
{
    const size_t n = (size_t)(to - from);
    mend->left -= n < mend->left ? n : mend->left;
}

/* Where a search that begins at `start` ends at the latest. */
static const char *last_place(const struct mend *mend, const struct scan *scan, const char *start)
{
    return (size_t)(scan->end - start) < mend->left ? scan->end : start + mend->left;
}

/* Whether an item may begin at the cursor, which is in an object, or in an array whose items begin
 * as `model` does. */
static bool is_item(struct scan scan, char close, char model)
{
    struct ta_token key;
    if (close == '}')
        return *scan.p == '"' && scan_string(&scan, &key) == SCAN_OK &&
               scan_colon(&scan) == SCAN_OK;
    return strchr("\"{[", model) ? *scan.p == model : !strchr("\"{[]}:,", *scan.p);
}

/* ---- by lines ------------------------------------------------------------------------------ */

static bool is_indent(char c)
{
    return c == ' ' || c == '\t';
}

/* Bytes between the start of the line and `p`; SIZE_MAX when they are not all blank, or there is no
 * line before. */
static size_t indent_before(const char *text, const char *p)
{
    const char *start = p;
    while (start > text && is_indent(start[-1]))
        start--;
    return start > text && start[-1] == '\n' ? (size_t)(p - start) : SIZE_MAX;
}

/* The first byte of the next line that is not blank; NULL without one. */
static const char *next_line(const char *p, const char *end, size_t *indent)
{
    p = memchr(p, '\n', (size_t)(end - p));
    if (!p)
        return NULL;
    const char *start = ++p;
    while (p < end && is_indent(*p))
        p++;
    *indent = (size_t)(p - start);
    return p < end ? p : NULL;
}

/* Whether only a bracket is in the line, and a comma perhaps. */
static bool is_closing_line(const char *p, const char *end)
{
    if (*p != '}' && *p != ']')
        return false;
    for (p++; p < end && *p != '\n'; p++)
        if (*p != ',' && *p != '\r' && !is_indent(*p))
            return false;
    return true;
}

static bool go_by_lines(struct mend *mend, struct scan *scan, const struct mend_item *item)
{
    const char *const end = last_place(mend, scan, item->start);
    const size_t own = indent_before(item->text, item->start);
    struct scan here = *scan;
    size_t indent;
    bool found = false, left = own == SIZE_MAX; /* what the item is in */
    here.p = item->start;
    while (!found && !left && (here.p = next_line(here.p, end, &indent)) != NULL) {
        if (indent == own) {
            found = is_item(here, item->close, *item->start);
        } else if (indent < own) {
            left = is_closing_line(here.p, end) || is_item(here, '}', '"');
            found = left && *here.p == item->close;
        }
    }
    spend(mend, item->start, here.p ? here.p : end);
    if (found)
        scan->p = here.p;
    return found;
}

/* ---- by brackets --------------------------------------------------------------------------- */

/* A look at structure alone: open brackets, a bit each, 1 for an object. */
struct look {
    const char *p, *end;
    uint64_t open;
    int depth;
};

/* A string; false when a line ends in it, which no writer lets happen: a quote is wrong. */
static bool pass_string(struct look *look)
{
    for (look->p++; look->p < look->end && *look->p != '"'; look->p++) {
        if (*look->p == '\n')
            return false;
        look->p += *look->p == '\\' && look->end - look->p > 1;
    }
    look->p += look->p < look->end;
    return true;
}

/* One bracket; false when it does not fit. */
static bool pass_bracket(struct look *look, char c)
{
    const bool opens = c == '{' || c == '[';
    if (opens ? look->depth == DEPTH_MAX : look->depth == 0 || (look->open & 1) != (c == '}'))
        return false;
    look->open = opens ? look->open << 1 | (c == '{') : look->open >> 1;
    look->depth += opens ? 1 : -1;
    look->p++;
    return true;
}

/* Whether an item begins after the comma at `comma`; moves the cursor there. */
static bool try_behind(struct scan *scan, const char *comma, const struct mend_item *item)
{
    struct scan behind = *scan;
    behind.p = comma + 1;
    if (scan_space(&behind) != SCAN_OK || !is_item(behind, item->close, *item->start))
        return false;
    scan->p = behind.p;
    return true;
}

static bool look_for_end(struct scan *scan, struct look *look, const struct mend_item *item)
{
    while (look->p < look->end) {
        const char c = *look->p;
        if (look->depth == 0 && c == item->close) {
            scan->p = look->p;
            return true;
        }
        if (look->depth == 0 && c == ',' && try_behind(scan, look->p, item))
            return true;
        const bool is_bracket = c == '{' || c == '}' || c == '[' || c == ']';
        if (is_bracket ? !pass_bracket(look, c) : c == '"' && !pass_string(look))
            return false;
        look->p += !is_bracket && c != '"';
    }
    return false;
}

static bool go_by_brackets(struct mend *mend, struct scan *scan, const struct mend_item *item)
{
    struct look look = {.p = item->start, .end = last_place(mend, scan, item->start)};
    const bool found = look_for_end(scan, &look, item);
    spend(mend, item->start, look.p);
    return found;
}

/* ---- by likeness --------------------------------------------------------------------------- */

static bool has_key(json_t *object, const struct ta_token *key)
{
    char name[KEY_MAX];
    if (!key->plain || key->len >= sizeof name)
        return false;
    memcpy(name, key->ptr, key->len);
    name[key->len] = '\0';
    return json_object_get(object, name) != NULL;
}

static bool is_first_key(json_t *object, const struct ta_token *key)
{
    const char *first = json_object_iter_key(json_object_iter(object));
    return first && ta_slice_equal((struct ta_slice){key->ptr, key->len}, ta_slice_of(first));
}

/* Whether the object at the cursor is whole and like another; moves to its end or its fault. */
static bool is_like(struct scan *scan, json_t *like)
{
    struct ta_token key, value;
    scan->p++;
    for (bool first = true; record_scan_key(scan, first, &key) == SCAN_OK; first = false) {
        if (key.type == TA_TOKEN_ABSENT)
            return !first;
        if ((first && !is_first_key(like, &key)) || !has_key(like, &key) ||
            scan_value(scan, &value) != SCAN_OK)
            return false;
    }
    return false;
}

static bool go_by_likeness(struct mend *mend, struct scan *scan, const struct mend_item *item)
{
    const char *from = item->start, *brace = item->start;
    while (item->like && mend->left > 0 && brace < scan->end &&
           (brace = memchr(brace + 1, '{', (size_t)(scan->end - brace) - 1)) != NULL) {
        struct scan here = *scan;
        here.p = brace;
        if (is_like(&here, item->like)) {
            scan->p = brace;
            return true;
        }
        spend(mend, from, here.p);
        from = brace;
    }
    return false;
}

bool mend_go_on(struct mend *mend, struct scan *scan, const struct mend_item *item)
{
    return go_by_lines(mend, scan, item) || go_by_brackets(mend, scan, item) ||
           go_by_likeness(mend, scan, item);
}
