/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How plain Python objects lie in memory: one flat array, so that nothing recurses to free them. */
#ifndef TA_PICKLE_OBJECT_H
#define TA_PICKLE_OBJECT_H

#include "base/vec.h"
#include "parse/pickle/pickle.h"
#include "traceanalyze/base.h"

#include <jansson.h>

/* Offsets and counts are 32 bits wide. */
#define PICKLE_BYTES_MAX (UINT64_C(2) << 30)
#define JSON_BYTES_MAX (UINT64_C(256) << 20)

enum integer { INTEGER_SIGNED, INTEGER_UNSIGNED, INTEGER_HUGE };

struct object {
    uint8_t kind;    /* enum ta_object_kind */
    uint8_t integer; /* enum integer: what `value` holds; huge ones hold none */
    uint16_t height; /* of a container: levels of containers in it, itself included */
    uint32_t offset;
    uint32_t n, max; /* bytes; items, and room for them */
    union {
        int64_t value;
        double number;
        const char *text;
        ta_object *items;
    };
};

/* The first objects of each file: constants that need not be made again. */
enum { OBJECT_NONE, OBJECT_FALSE, OBJECT_TRUE, OBJECT_EMPTY_TUPLE, OBJECT_CONSTANTS };

struct ta_objects {
    TA_VEC(struct object) all;
    struct ta_arena arena; /* items, and texts that are not as in the file */
    char *bytes;           /* the file, with zeros after it */
    size_t n_bytes, unread;
    ta_object root;
};

struct ta_objects *objects_new(void);

static inline bool is_container(const struct object *object)
{
    return object->kind >= TA_OBJECT_LIST;
}

/* Adds an object; TA_NO_OBJECT without memory. */
ta_object object_add(struct ta_objects *objects, const struct object *object);
/* Appends items to a container; false without memory. */
bool object_extend(struct ta_objects *objects, ta_object container, const ta_object *items,
                   size_t n);

/* Decimal text of an integer, as Python writes it, an "L" after it included. */
bool integer_parse(struct ta_slice text, struct object *object);
/* Two's complement, little end first, any number of bytes. */
void integer_decode(struct ta_slice bytes, struct object *object);

/* Makes text valid UTF-8: bytes that are none become U+FFFD, and *repaired is set.  A NULL address
 * without memory. */
struct ta_slice text_repair(struct ta_arena *arena, struct ta_slice text, bool *repaired);
/* The value of a quoted byte string with escapes (opcode STRING); false when it is none. */
bool text_unquote(struct ta_arena *arena, struct ta_slice line, struct ta_slice *text);
/* The value of Latin-1 text with \uXXXX and \UXXXXXXXX (opcode UNICODE), as UTF-8. */
bool text_unescape(struct ta_arena *arena, struct ta_slice line, struct ta_slice *text);

/* Reads objects->bytes into the root. */
enum ta_status pickle_parse(struct ta_ctx *ctx, struct ta_objects *objects,
                            struct ta_quality *quality) TA_MUST_CHECK;
enum ta_status objects_from_json(struct ta_ctx *ctx, struct ta_objects *objects) TA_MUST_CHECK;

/* Refuses objects that contain themselves or are nested too deep. */
enum ta_status objects_check(struct ta_ctx *ctx, struct ta_objects *objects) TA_MUST_CHECK;

#endif
