/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain Python objects, constants and containers, as a pickle holds them.
 *
 * The reader knows the opcodes that make constants and containers and those that remember and
 * recall them (protocols 0 to 5).  Every opcode that could name, load or call anything refuses the
 * whole file, and nothing is ever executed.  Objects may be shared, as keys and frames of stacks
 * are, but no object contains itself, and none is nested deeper than the limit "pickle-depth".
 * A JSON document gives the same objects.
 *
 * Offsets are in the decompressed stream; they are 0 in objects from JSON. */
#ifndef TA_PARSE_PICKLE_PICKLE_H
#define TA_PARSE_PICKLE_PICKLE_H

#include "traceanalyze/input.h"

enum ta_object_kind {
    TA_OBJECT_NONE,
    TA_OBJECT_BOOL,
    TA_OBJECT_INT,
    TA_OBJECT_FLOAT,
    TA_OBJECT_TEXT, /* valid UTF-8 */
    TA_OBJECT_BYTES,
    TA_OBJECT_LIST,
    TA_OBJECT_TUPLE,
    TA_OBJECT_SET,
    TA_OBJECT_DICT
};

/* The objects of one file. */
struct ta_objects;

/* One of them.  Equal ids are the same object; ids are below ta_objects_count(). */
typedef uint32_t ta_object;
#define TA_NO_OBJECT UINT32_MAX

/* Reads a pickle, or a JSON document (an object or array), as a whole: all or nothing.  NULL after
 * ta_fail(): TA_ERR_INPUT names what is wrong and the byte offset.  Bytes after the end of a pickle
 * are accounted for as trailing-text, text that is no UTF-8 as text-encoding. */
struct ta_objects *ta_objects_read(struct ta_ctx *ctx, struct ta_reader *reader);
void ta_objects_free(struct ta_objects *objects);

/* Whether a file begins like a pickle of protocol 0 or 1, which have no magic bytes, that would
 * load and call something.  Pickles of plain data look like any text; these can be recognized. */
bool ta_pickle_calls(struct ta_slice head);

/* What the file is: its outermost object. */
ta_object ta_objects_root(const struct ta_objects *objects);
/* Number of distinct objects. */
size_t ta_objects_count(const struct ta_objects *objects);
/* Bytes that follow the end of the pickle. */
uint64_t ta_objects_unread(const struct ta_objects *objects);

/* All of them take TA_NO_OBJECT, which is none of the kinds but TA_OBJECT_NONE. */
enum ta_object_kind ta_object_kind(const struct ta_objects *objects, ta_object object);
uint64_t ta_object_offset(const struct ta_objects *objects, ta_object object);
/* The value of an integer that fits, also of a float that is whole: false for all else. */
bool ta_object_signed(const struct ta_objects *objects, ta_object object, int64_t *value);
bool ta_object_unsigned(const struct ta_objects *objects, ta_object object, uint64_t *value);
/* The value of a bool; false for all else. */
bool ta_object_is_true(const struct ta_objects *objects, ta_object object);
/* The value of a float or an integer; NAN for all else. */
double ta_object_double(const struct ta_objects *objects, ta_object object);
/* The bytes of a text; a NULL address for all else.  They live as long as the objects. */
struct ta_slice ta_object_text(const struct ta_objects *objects, ta_object object);
/* Number of items; of a dict two per entry, key and value in turn; 0 of what holds none. */
size_t ta_object_size(const struct ta_objects *objects, ta_object object);
ta_object ta_object_item(const struct ta_objects *objects, ta_object object, size_t index);

#endif
