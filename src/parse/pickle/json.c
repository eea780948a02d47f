/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same objects from a JSON document, as Python's json module writes them. */
#include "parse/pickle/object.h"

#include "traceanalyze/base.h"

static bool convert(struct ta_objects *objects, const json_t *value, ta_object *id);

static bool convert_array(struct ta_objects *objects, const json_t *array, ta_object id)
{
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item)
    {
        ta_object child;
        if (!convert(objects, item, &child) || !object_extend(objects, id, &child, 1))
            return false;
    }
    return true;
}

static bool convert_object(struct ta_objects *objects, const json_t *object, ta_object id)
{
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const struct ta_slice key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const char *copy = ta_arena_copy(&objects->arena, key);
        ta_object pair[2];
        if (!copy)
            return false;
        pair[0] = object_add(
            objects,
            &(struct object){.kind = TA_OBJECT_TEXT, .n = (uint32_t)key.len, .text = copy});
        if (pair[0] == TA_NO_OBJECT || !convert(objects, json_object_iter_value(at), &pair[1]) ||
            !object_extend(objects, id, pair, 2))
            return false;
    }
    return true;
}

static bool make(struct ta_objects *objects, const json_t *value, struct object *object)
{
    const struct ta_slice text = {json_string_value(value), json_string_length(value)};
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        object->value = json_integer_value(value);
        return true;
    case JSON_REAL:
        object->number = json_real_value(value);
        return true;
    case JSON_STRING:
        object->n = (uint32_t)text.len;
        object->text = ta_arena_copy(&objects->arena, text);
        return object->text != NULL;
    default:
        return true;
    }
}

/* jansson has bounded how deep this goes. */
static bool convert(struct ta_objects *objects, const json_t *value, ta_object *id)
{
    static const uint8_t kinds[] = {
        [JSON_OBJECT] = TA_OBJECT_DICT, [JSON_ARRAY] = TA_OBJECT_LIST,
        [JSON_STRING] = TA_OBJECT_TEXT, [JSON_INTEGER] = TA_OBJECT_INT,
        [JSON_REAL] = TA_OBJECT_FLOAT,
    };
    if (json_is_null(value) || json_is_boolean(value)) {
        *id = json_is_null(value) ? OBJECT_NONE : json_is_true(value) ? OBJECT_TRUE : OBJECT_FALSE;
        return true;
    }
    struct object object = {.kind = kinds[json_typeof(value)]};
    if (!make(objects, value, &object))
        return false;
    *id = object_add(objects, &object);
    if (*id == TA_NO_OBJECT)
        return false;
    if (json_is_array(value))
        return convert_array(objects, value, *id);
    return !json_is_object(value) || convert_object(objects, value, *id);
}

enum ta_status objects_from_json(struct ta_ctx *ctx, struct ta_objects *objects)
{
    if (objects->n_bytes > JSON_BYTES_MAX)
        return ta_fail(ctx, TA_ERR_INPUT, "A JSON document of more than 256 MiB");
    json_error_t error;
    json_t *document = json_loadb(objects->bytes, objects->n_bytes, JSON_ALLOW_NUL, &error);
    if (!document)
        return ta_fail(ctx, TA_ERR_INPUT, "No valid JSON: %s, at byte offset %d", error.text,
                       error.position);
    const bool done = convert(objects, document, &objects->root);
    json_decref(document);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a JSON document");
}
