/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON document as a jansson tree: the scanner of scan.h reads it, not jansson, so that numbers
 * keep their text and damage costs what is damaged and no more. */
#include "traceanalyze/document.h"

#include "base/quality.h"
#include "parse/json/tree.h"
#include "read/reader.h"
#include "traceanalyze/input.h"

#include <inttypes.h>
#include <stdlib.h>

#define LARGEST (UINT64_C(256) << 20)

enum { BLOCK = 64 * 1024 };

/* ---- bytes --------------------------------------------------------------------------------- */

/* All bytes with TA_PADDING zeros after them, or NULL after ta_fail(). */
static char *read_all(struct ta_ctx *ctx, struct ta_reader *reader, size_t *n)
{
    size_t max = BLOCK;
    char *bytes = malloc(max + TA_PADDING);
    *n = 0;
    while (bytes) {
        const size_t got = ta_reader_read(reader, bytes + *n, max - *n);
        *n += got;
        if (got == 0 || *n > LARGEST)
            break;
        if (*n < max)
            continue;
        max += max / 2;
        char *grown = realloc(bytes, max + TA_PADDING);
        if (!grown)
            free(bytes);
        bytes = grown;
    }
    if (!bytes) {
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a document: bytes=%zu", max);
    } else if (*n > LARGEST) {
        ta_fail(ctx, TA_ERR_INPUT, "The document is larger than %" PRIu64 " MiB", LARGEST >> 20);
        free(bytes);
        bytes = NULL;
    } else {
        memset(bytes + *n, 0, TA_PADDING);
    }
    return bytes;
}

/* ---- the document -------------------------------------------------------------------------- */

static void account_rest(struct tree *t)
{
    const enum scan_result result = scan_space(&t->scan);
    tree_account_notes(t);
    if (result == SCAN_MORE && t->scan.p == t->scan.end)
        return;
    const uint64_t at = tree_offset(t, t->scan.p);
    ta_quality_add_severity(t->quality, TA_Q_TRAILING_TEXT, TA_QUALITY_LOSS, at, TA_NO_OFFSET,
                            "What follows the document was not read, from byte offset %" PRIu64,
                            at);
}

/* Whether members follow although the root was closed: a closing bracket too many. */
static bool goes_on(struct tree *t)
{
    struct tree behind = *t;
    behind.scan.notes = 0;
    if (scan_separator(&behind.scan, false, '}') != SCAN_OK || !tree_is_member(&behind))
        return false;
    tree_account_damage(t, t->scan.p, t->scan.p);
    return true;
}

/* Gives the tree, or says why there is none. */
static json_t *judge(struct ta_ctx *ctx, struct tree *t, json_t *root, bool whole)
{
    const bool holds_any = json_object_size(root) || json_array_size(root);
    if (t->cut == TREE_NOMEM) {
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a document: values=%zu", t->n_values);
    } else if (whole && (holds_any || !t->damaged)) {
        account_rest(t);
        return root;
    } else if (!whole && holds_any) {
        const uint64_t at = tree_offset(t, t->scan.p);
        if (t->cut == TREE_SHORT)
            ta_quality_add(t->quality, TA_Q_TRUNCATED, at,
                           "The document ends in the middle, at byte offset %" PRIu64,
                           tree_offset(t, t->scan.end));
        else if (t->cut == TREE_BROKEN)
            ta_quality_add(t->quality, TA_Q_SYNTAX, at,
                           "Broken JSON at byte offset %" PRIu64 "; what lies beyond was not read",
                           at);
        else
            ta_quality_add(t->quality, TA_Q_LIMIT, at,
                           "More than %d values; what lies beyond byte offset %" PRIu64
                           " was not read",
                           TREE_VALUES_MAX, at);
        return root;
    } else {
        ta_fail(ctx, TA_ERR_INPUT,
                "The JSON text %s before the first whole value, at byte offset %" PRIu64,
                t->cut == TREE_SHORT ? "ends" : "is broken",
                t->damaged ? t->damage_at : tree_offset(t, t->scan.p));
    }
    json_decref(root);
    return NULL;
}

static json_t *read_document(struct ta_ctx *ctx, struct tree *t)
{
    const enum scan_result result = scan_space(&t->scan);
    tree_account_notes(t);
    if (result != SCAN_OK || (*t->scan.p != '{' && *t->scan.p != '[')) {
        ta_fail(ctx, TA_ERR_INPUT, "No JSON document: no { or [ at byte offset %" PRIu64,
                tree_offset(t, t->scan.p));
        return NULL;
    }
    bool whole;
    json_t *root = tree_read_value(t, &whole);
    while (whole && json_is_object(root) && goes_on(t))
        whole = tree_read_members(t, root, false);
    return judge(ctx, t, root, whole);
}

json_t *ta_document_read(struct ta_ctx *ctx, struct ta_reader *reader, struct ta_builder *builder)
{
    size_t n;
    char *bytes = read_all(ctx, reader, &n);
    if (!bytes)
        return NULL;
    const uint64_t depth = ta_ctx_limit(ctx, TA_LIMIT_DEPTH);
    uint64_t stack[TREE_DEPTH_MAX / 64 + 1];
    struct tree t = {.quality = ta_reader_quality(reader),
                     .start = bytes,
                     .most_depth = depth < TREE_DEPTH_MAX ? (size_t)depth : TREE_DEPTH_MAX,
                     .scan = {.p = bytes,
                              .end = bytes + n,
                              .stack = stack,
                              .stack_limit = TREE_DEPTH_MAX,
                              .string_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_STRING),
                              .number_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_NUMBER)}};
    mend_init(&t.mend, n);
    json_t *root = read_document(ctx, &t);
    if (root && builder) {
        ta_builder_count(builder, 0, 0, t.n_lost);
        ta_builder_skipped(builder, t.n_skipped);
    }
    if (t.cut != TREE_WHOLE)
        ta_reader_leave(reader, n - tree_offset(&t, t.scan.p));
    free(t.text);
    free(bytes);
    return root;
}
