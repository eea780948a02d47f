/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the events of libyaml to a tree.  Aliases are refused where they stand and nesting is
 * counted, so the tree is never larger than the text and never deeper than the limit. */
#include "base/yaml/yaml.h"

#include "base/context.h"

#include <yaml.h>

/* A map is searched for each new key; no depth needs more, whatever the limit says. */
enum { KEYS_MAX = 1000, DEPTH_MAX = 1000 };

/* An open list or map. */
struct level {
    struct ta_yaml *node;
    size_t n;                   /* values so far */
    const struct ta_yaml **end; /* where the next value is hung */
    struct ta_yaml *key;        /* of a map: waits for its value */
};

struct build {
    struct ta_ctx *ctx;
    struct ta_arena *arena;
    const char *name;
    struct level *levels;
    size_t depth, max_depth;
    const struct ta_yaml *root;
    bool ended; /* the document is complete */
};

/* ---- messages ------------------------------------------------------------------------------ */

static enum ta_status refuse(const struct build *build, yaml_mark_t mark, const char *what)
{
    return ta_fail(build->ctx, TA_ERR_USAGE, "%s:%zu:%zu: %s", build->name, mark.line + 1,
                   mark.column + 1, what);
}

static enum ta_status no_memory(const struct build *build)
{
    return ta_fail(build->ctx, TA_ERR_NOMEM, "Out of memory: configuration %s", build->name);
}

/* What libyaml found wrong.  Bytes that are no UTF-8 have an offset only. */
static enum ta_status syntax_error(const struct build *build, const yaml_parser_t *parser,
                                   struct ta_slice bytes)
{
    const char *problem = parser->problem ? parser->problem : "unreadable";
    yaml_mark_t mark = parser->problem_mark;
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(build);
    if (parser->error == YAML_READER_ERROR) {
        mark = (yaml_mark_t){0};
        for (size_t i = 0; i < parser->problem_offset && i < bytes.len; i++) {
            mark.column++;
            if (bytes.ptr[i] == '\n') {
                mark.line++;
                mark.column = 0;
            }
        }
    }
    return ta_fail(build->ctx, TA_ERR_USAGE, "%s:%zu:%zu: No YAML: %s", build->name, mark.line + 1,
                   mark.column + 1, problem);
}

/* ---- the tree ------------------------------------------------------------------------------ */

static struct ta_yaml *new_node(struct build *build, enum ta_yaml_kind kind, yaml_mark_t mark)
{
    struct ta_yaml *node = ta_arena_alloc(build->arena, sizeof *node);
    if (node)
        *node = (struct ta_yaml){.kind = kind,
                                 .line = (uint32_t)mark.line + 1,
                                 .column = (uint32_t)mark.column + 1,
                                 .text = ""};
    return node;
}

static const struct ta_yaml *find_key(const struct ta_yaml *map, const char *text)
{
    for (const struct ta_yaml *value = map->contents; value; value = value->next)
        if (strcmp(value->key->text, text) == 0)
            return value->key;
    return NULL;
}

static enum ta_status take_key(struct build *build, struct level *level, struct ta_yaml *key,
                               yaml_mark_t mark)
{
    if (key->kind == TA_YAML_LIST || key->kind == TA_YAML_MAP)
        return refuse(build, mark, "A key must be a word");
    if (level->n == KEYS_MAX)
        return refuse(build, mark, "Too many keys");
    const struct ta_yaml *first = find_key(level->node, key->text);
    if (first)
        return ta_fail(build->ctx, TA_ERR_USAGE,
                       "%s:%zu:%zu: The key %s stands twice, first in line %u", build->name,
                       mark.line + 1, mark.column + 1, key->text, first->line);
    level->key = key;
    return TA_OK;
}

/* Hangs a value where it belongs. */
static enum ta_status take(struct build *build, struct ta_yaml *node, yaml_mark_t mark)
{
    struct level *level = build->depth ? &build->levels[build->depth - 1] : NULL;
    if (!node)
        return no_memory(build);
    if (!level) {
        build->root = node;
        return TA_OK;
    }
    if (level->node->kind == TA_YAML_MAP && !level->key)
        return take_key(build, level, node, mark);
    node->key = level->key;
    level->key = NULL;
    *level->end = node;
    level->end = &node->next;
    level->n++;
    return TA_OK;
}

static enum ta_status open_level(struct build *build, enum ta_yaml_kind kind, yaml_mark_t mark)
{
    struct ta_yaml *node = new_node(build, kind, mark);
    enum ta_status status = take(build, node, mark);
    if (status != TA_OK)
        return status;
    if (build->depth == build->max_depth)
        return refuse(build, mark, "Nested deeper than the limit config-depth");
    build->levels[build->depth++] = (struct level){.node = node, .end = &node->contents};
    return TA_OK;
}

static enum ta_status take_scalar(struct build *build, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const struct level *level = build->depth ? &build->levels[build->depth - 1] : NULL;
    if (memchr(text, '\0', length))
        return refuse(build, event->start_mark, "A text must not hold NUL");
    if (plain && strcmp(text, "<<") == 0 && level && level->node->kind == TA_YAML_MAP &&
        !level->key)
        return refuse(build, event->start_mark, "Merge keys are not accepted");
    struct ta_yaml *node =
        new_node(build, plain ? ta_yaml_resolve(text) : TA_YAML_TEXT, event->start_mark);
    if (node)
        node->text = ta_arena_copy(build->arena, (struct ta_slice){text, length});
    return node && node->text ? take(build, node, event->start_mark) : no_memory(build);
}

/* ---- events -------------------------------------------------------------------------------- */

/* Anchor and tag of an event; both NULL where it can have none. */
static void marks_of(const yaml_event_t *event, const yaml_char_t **anchor, const yaml_char_t **tag)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        *anchor = event->data.scalar.anchor;
        *tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        *anchor = event->data.sequence_start.anchor;
        *tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        *anchor = event->data.mapping_start.anchor;
        *tag = event->data.mapping_start.tag;
        break;
    default:
        *anchor = *tag = NULL;
    }
}

static enum ta_status take_event(struct build *build, const yaml_event_t *event)
{
    const yaml_char_t *anchor, *tag;
    marks_of(event, &anchor, &tag);
    if (anchor)
        return refuse(build, event->start_mark, "Anchors are not accepted");
    if (tag)
        return refuse(build, event->start_mark, "Tags are not accepted");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (build->ended)
            return refuse(build, event->start_mark, "A second document");
        if (event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end)
            return refuse(build, event->start_mark, "Tags are not accepted");
        return TA_OK;
    case YAML_DOCUMENT_END_EVENT:
        build->ended = true;
        return TA_OK;
    case YAML_ALIAS_EVENT:
        return refuse(build, event->start_mark, "Aliases are not accepted");
    case YAML_SCALAR_EVENT:
        return take_scalar(build, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(build, TA_YAML_LIST, event->start_mark);
    case YAML_MAPPING_START_EVENT:
        return open_level(build, TA_YAML_MAP, event->start_mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        build->depth--;
        return TA_OK;
    default:
        return TA_OK;
    }
}

static enum ta_status take_all(struct build *build, yaml_parser_t *parser, struct ta_slice bytes)
{
    enum ta_status status = TA_OK;
    for (bool more = true; more && status == TA_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return syntax_error(build, parser, bytes);
        more = event.type != YAML_STREAM_END_EVENT;
        status = take_event(build, &event);
        yaml_event_delete(&event);
    }
    return status;
}

enum ta_status ta_yaml_parse(struct ta_ctx *ctx, struct ta_arena *arena, const char *name,
                             struct ta_slice bytes, const struct ta_yaml **root)
{
    yaml_parser_t parser;
    struct build build = {.ctx = ctx,
                          .arena = arena,
                          .name = name,
                          .max_depth = (size_t)ta_ctx_limit(ctx, TA_LIMIT_CONFIG_DEPTH)};
    if (build.max_depth > DEPTH_MAX)
        build.max_depth = DEPTH_MAX;
    build.levels = ta_arena_alloc(arena, build.max_depth * sizeof *build.levels);
    if (!build.levels || !yaml_parser_initialize(&parser))
        return no_memory(&build);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes.ptr, bytes.len);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    enum ta_status status = take_all(&build, &parser, bytes);
    yaml_parser_delete(&parser);
    if (status == TA_OK && !build.root)
        build.root = new_node(&build, TA_YAML_NULL, (yaml_mark_t){0});
    if (status == TA_OK && !build.root)
        status = no_memory(&build);
    if (status == TA_OK)
        *root = build.root;
    return status;
}
