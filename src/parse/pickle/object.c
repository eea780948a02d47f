/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain Python objects: making them, and reading their values. */
#include "parse/pickle/object.h"

#include <math.h>

/* ---- making -------------------------------------------------------------------------------- */

struct ta_objects *objects_new(void)
{
    static const struct object constants[OBJECT_CONSTANTS] = {
        [OBJECT_NONE] = {.kind = TA_OBJECT_NONE},
        [OBJECT_FALSE] = {.kind = TA_OBJECT_BOOL, .value = 0},
        [OBJECT_TRUE] = {.kind = TA_OBJECT_BOOL, .value = 1},
        [OBJECT_EMPTY_TUPLE] = {.kind = TA_OBJECT_TUPLE},
    };
    struct ta_objects *objects = calloc(1, sizeof *objects);
    for (int i = 0; objects && i < OBJECT_CONSTANTS; i++)
        if (object_add(objects, &constants[i]) == TA_NO_OBJECT) {
            ta_objects_free(objects);
            return NULL;
        }
    return objects;
}

void ta_objects_free(struct ta_objects *objects)
{
    if (!objects)
        return;
    free(objects->all.at);
    free(objects->bytes);
    ta_arena_free(&objects->arena);
    free(objects);
}

ta_object object_add(struct ta_objects *objects, const struct object *object)
{
    if (objects->all.n == TA_NO_OBJECT || !ta_vec_push(&objects->all, *object))
        return TA_NO_OBJECT;
    return (ta_object)(objects->all.n - 1);
}

bool object_extend(struct ta_objects *objects, ta_object container, const ta_object *items,
                   size_t n)
{
    struct object *object = &objects->all.at[container];
    if (n == 0)
        return true;
    if (n > UINT32_MAX - object->n)
        return false;
    const uint32_t needed = object->n + (uint32_t)n;
    if (needed > object->max) {
        /* Exact at first, as most containers are filled by one opcode. */
        const uint64_t twice = (uint64_t)object->max * 2;
        const uint32_t max = twice > needed && twice <= UINT32_MAX ? (uint32_t)twice : needed;
        ta_object *grown = ta_arena_alloc(&objects->arena, (size_t)max * sizeof *grown);
        if (!grown)
            return false;
        if (object->n)
            memcpy(grown, object->items, object->n * sizeof *grown);
        object->items = grown;
        object->max = max;
    }
    memcpy(object->items + object->n, items, n * sizeof *items);
    object->n = needed;
    return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

static const struct object *find(const struct ta_objects *objects, ta_object object)
{
    return &objects->all.at[object < objects->all.n ? object : OBJECT_NONE];
}

ta_object ta_objects_root(const struct ta_objects *objects)
{
    return objects->root;
}

size_t ta_objects_count(const struct ta_objects *objects)
{
    return objects->all.n;
}

uint64_t ta_objects_unread(const struct ta_objects *objects)
{
    return objects->unread;
}

enum ta_object_kind ta_object_kind(const struct ta_objects *objects, ta_object object)
{
    return (enum ta_object_kind)find(objects, object)->kind;
}

uint64_t ta_object_offset(const struct ta_objects *objects, ta_object object)
{
    return find(objects, object)->offset;
}

bool ta_object_signed(const struct ta_objects *objects, ta_object object, int64_t *value)
{
    const struct object *o = find(objects, object);
    if (o->kind == TA_OBJECT_INT && o->integer == INTEGER_SIGNED) {
        *value = o->value;
        return true;
    }
    if (o->kind != TA_OBJECT_FLOAT || !(fabs(o->number) < 0x1p62) || o->number != floor(o->number))
        return false;
    *value = ta_whole(o->number);
    return true;
}

bool ta_object_unsigned(const struct ta_objects *objects, ta_object object, uint64_t *value)
{
    const struct object *o = find(objects, object);
    int64_t number;
    if (o->kind == TA_OBJECT_INT && o->integer == INTEGER_UNSIGNED) {
        *value = (uint64_t)o->value;
        return true;
    }
    if (!ta_object_signed(objects, object, &number) || number < 0)
        return false;
    *value = (uint64_t)number;
    return true;
}

bool ta_object_is_true(const struct ta_objects *objects, ta_object object)
{
    const struct object *o = find(objects, object);
    return o->kind == TA_OBJECT_BOOL && o->value;
}

double ta_object_double(const struct ta_objects *objects, ta_object object)
{
    const struct object *o = find(objects, object);
    if (o->kind == TA_OBJECT_FLOAT)
        return o->number;
    if (o->kind != TA_OBJECT_INT || o->integer == INTEGER_HUGE)
        return NAN;
    return o->integer == INTEGER_UNSIGNED ? (double)(uint64_t)o->value : (double)o->value;
}

struct ta_slice ta_object_text(const struct ta_objects *objects, ta_object object)
{
    const struct object *o = find(objects, object);
    return o->kind == TA_OBJECT_TEXT ? (struct ta_slice){o->text, o->n} : (struct ta_slice){0};
}

size_t ta_object_size(const struct ta_objects *objects, ta_object object)
{
    const struct object *o = find(objects, object);
    return is_container(o) ? o->n : 0;
}

ta_object ta_object_item(const struct ta_objects *objects, ta_object object, size_t index)
{
    const struct object *o = find(objects, object);
    return is_container(o) && index < o->n ? o->items[index] : TA_NO_OBJECT;
}
