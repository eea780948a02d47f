/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each opcode of a pickle does.
 *
 * The table at the end is the allowlist.  Opcodes that name, make or call something point to
 * forbid(), and what is not in the table is refused by the loop in parse.c. */
#include "parse/pickle/machine.h"

#include "traceanalyze/document.h"
#include "traceanalyze/quality.h"

#include <inttypes.h>
#include <math.h>

/* ---- the stack ----------------------------------------------------------------------------- */

/* Items above the last mark, which opcodes must not reach below. */
static size_t depth(const struct machine *m)
{
    return m->stack.n - (m->marks.n ? m->marks.at[m->marks.n - 1] : 0);
}

static bool needs(struct machine *m, size_t n)
{
    return depth(m) >= n || machine_refuse(m, "The stack is too short");
}

static bool push(struct machine *m, ta_object object)
{
    if (m->stack.n + m->marks.n >= m->limit)
        return machine_refuse(m, "The limit \"pickle-objects\" is reached");
    return ta_vec_push(&m->stack, object) || machine_no_memory(m);
}

static ta_object top(const struct machine *m, size_t below)
{
    return m->stack.at[m->stack.n - 1 - below];
}

static bool push_new(struct machine *m, struct object object)
{
    if (m->objects->all.n + m->memo.n >= m->limit)
        return machine_refuse(m, "The limit \"pickle-objects\" is reached");
    object.offset = (uint32_t)m->offset;
    const ta_object id = object_add(m->objects, &object);
    return id == TA_NO_OBJECT ? machine_no_memory(m) : push(m, id);
}

/* Takes the last mark away; *first is where the items above it start. */
static bool take_mark(struct machine *m, size_t *first)
{
    if (m->marks.n == 0)
        return machine_refuse(m, "There is no mark on the stack");
    *first = m->marks.at[--m->marks.n];
    return true;
}

static bool run_mark(struct machine *m)
{
    if (m->stack.n + m->marks.n >= m->limit)
        return machine_refuse(m, "The limit \"pickle-objects\" is reached");
    return ta_vec_push(&m->marks, m->stack.n) || machine_no_memory(m);
}

static bool run_pop(struct machine *m)
{
    size_t first = 0;
    if (m->marks.n && depth(m) == 0)
        return take_mark(m, &first);
    if (!needs(m, 1))
        return false;
    m->stack.n--;
    return true;
}

static bool run_pop_mark(struct machine *m)
{
    size_t first = 0;
    if (!take_mark(m, &first))
        return false;
    m->stack.n = first;
    return true;
}

static bool run_dup(struct machine *m)
{
    return needs(m, 1) && push(m, top(m, 0));
}

/* ---- the protocol -------------------------------------------------------------------------- */

static bool run_proto(struct machine *m)
{
    return m->number <= 5 ||
           machine_refuse(m, "Unknown protocol: version=%" PRIu64 ", expected 0 to 5", m->number);
}

/* Frames only say how much to read at a time.  One that reaches beyond the file means that the file
 * was cut; it is looked at in the end, so that what comes before is named first. */
static bool run_frame(struct machine *m)
{
    uint64_t end;
    if (__builtin_add_overflow(m->number, (uint64_t)m->at, &end))
        end = UINT64_MAX;
    if (end > m->frame_end) {
        m->frame_end = end;
        m->frame_offset = m->offset;
    }
    return true;
}

static bool run_stop(struct machine *m)
{
    if (m->frame_end > m->objects->n_bytes)
        return machine_refuse(m,
                              "The file is cut: the frame at byte offset %zu goes beyond its end",
                              m->frame_offset);
    if (!needs(m, 1))
        return false;
    m->stopped = true;
    m->objects->root = top(m, 0);
    return true;
}

/* ---- constants ----------------------------------------------------------------------------- */

static bool run_constant(struct machine *m)
{
    return push(m, m->opcode->detail);
}

static bool run_byte_int(struct machine *m) /* BININT1, BININT2 */
{
    return push_new(m, (struct object){.kind = TA_OBJECT_INT, .value = (int64_t)m->number});
}

static bool run_binint(struct machine *m)
{
    const int32_t value = (int32_t)(uint32_t)m->number;
    return push_new(m, (struct object){.kind = TA_OBJECT_INT, .value = value});
}

static bool run_int(struct machine *m)
{
    struct object object = {0};
    if (ta_slice_equal(m->bytes, TA_LIT("00")) || ta_slice_equal(m->bytes, TA_LIT("01")))
        return push(m, m->bytes.ptr[1] == '1' ? OBJECT_TRUE : OBJECT_FALSE);
    if (!integer_parse(m->bytes, &object))
        return machine_refuse(m, "Not an integer");
    return push_new(m, object);
}

static bool run_long(struct machine *m) /* LONG1, LONG4 */
{
    struct object object = {0};
    integer_decode(m->bytes, &object);
    return push_new(m, object);
}

static bool run_float(struct machine *m)
{
    const double value = ta_text_double(m->bytes);
    const bool has_none = ta_slice_equal(m->bytes, TA_LIT("nan")) ||
                          ta_slice_equal(m->bytes, TA_LIT("inf")) ||
                          ta_slice_equal(m->bytes, TA_LIT("-inf"));
    if (isnan(value) && !has_none)
        return machine_refuse(m, "Not a number");
    return push_new(m, (struct object){.kind = TA_OBJECT_FLOAT, .number = value});
}

static bool run_binfloat(struct machine *m)
{
    struct object object = {.kind = TA_OBJECT_FLOAT};
    memcpy(&object.number, &m->number, sizeof object.number);
    return push_new(m, object);
}

/* ---- texts --------------------------------------------------------------------------------- */

static bool push_bytes(struct machine *m, struct ta_slice bytes)
{
    bool repaired = false;
    if (m->opcode->detail == TA_OBJECT_TEXT)
        bytes = text_repair(&m->objects->arena, bytes, &repaired);
    if (!bytes.ptr)
        return machine_no_memory(m);
    if (bytes.len > UINT32_MAX)
        return machine_refuse(m, "A text is too long");
    if (repaired)
        ta_quality_add(m->quality, TA_Q_TEXT_ENCODING, m->offset,
                       "A text of the pickle is no valid UTF-8, at byte offset %zu", m->offset);
    return push_new(
        m, (struct object){.kind = m->opcode->detail, .n = (uint32_t)bytes.len, .text = bytes.ptr});
}

static bool run_sized(struct machine *m) /* BINUNICODE, BINSTRING, BINBYTES and their kin */
{
    return push_bytes(m, m->bytes);
}

static bool run_string(struct machine *m)
{
    struct ta_slice text;
    if (!text_unquote(&m->objects->arena, m->bytes, &text))
        return machine_refuse(m, "A text is not in quotes");
    return push_bytes(m, text);
}

static bool run_unicode(struct machine *m)
{
    struct ta_slice text;
    if (!text_unescape(&m->objects->arena, m->bytes, &text))
        return machine_refuse(m, "A text has a broken escape");
    return push_bytes(m, text);
}

/* ---- containers ---------------------------------------------------------------------------- */

static bool is_hashable(const struct machine *m, ta_object object)
{
    const uint8_t kind = m->objects->all.at[object].kind;
    return kind != TA_OBJECT_LIST && kind != TA_OBJECT_DICT;
}

/* Appends the items from `first` to the container below them, and takes them away. */
static bool extend(struct machine *m, ta_object container, size_t first)
{
    const ta_object *items = m->stack.at + first;
    const size_t n = m->stack.n - first;
    const uint8_t kind = m->objects->all.at[container].kind;
    if (kind == TA_OBJECT_DICT && n % 2)
        return machine_refuse(m, "A key has no value");
    for (size_t i = 0; i < n; i += kind == TA_OBJECT_DICT ? 2 : 1)
        if ((kind == TA_OBJECT_DICT || kind == TA_OBJECT_SET) && !is_hashable(m, items[i]))
            return machine_refuse(m, "A list or dict cannot be a key");
    if (!object_extend(m->objects, container, items, n))
        return machine_no_memory(m);
    m->stack.n = first;
    return true;
}

static bool run_empty(struct machine *m)
{
    return push_new(m, (struct object){.kind = m->opcode->detail});
}

/* A new container of the items from `first`. */
static bool collect(struct machine *m, size_t first)
{
    const size_t n = m->stack.n - first;
    if (m->opcode->detail == TA_OBJECT_TUPLE && n == 0)
        return push(m, OBJECT_EMPTY_TUPLE);
    if (!push_new(m, (struct object){.kind = m->opcode->detail}))
        return false;
    const ta_object container = top(m, 0);
    m->stack.n--;
    return extend(m, container, first) && push(m, container);
}

static bool run_collect(struct machine *m) /* LIST, TUPLE, DICT, FROZENSET */
{
    size_t first = 0;
    return take_mark(m, &first) && collect(m, first);
}

static bool run_tuple_of(struct machine *m) /* TUPLE1, TUPLE2, TUPLE3 */
{
    static const struct opcode tuple = {"TUPLE", ARGUMENT_NONE, TA_OBJECT_TUPLE, NULL};
    const size_t n = m->opcode->detail;
    if (!needs(m, n))
        return false;
    m->opcode = &tuple;
    return collect(m, m->stack.n - n);
}

/* Appends the items from `first` to what lies below them, which must be of the opcode's kind. */
static bool add_items(struct machine *m, size_t first)
{
    const size_t bottom = m->marks.n ? m->marks.at[m->marks.n - 1] : 0;
    if (first <= bottom)
        return machine_refuse(m, "The stack is too short");
    const ta_object container = m->stack.at[first - 1];
    if (m->objects->all.at[container].kind != m->opcode->detail)
        return machine_refuse(m, "Items are added to what cannot hold them");
    return extend(m, container, first);
}

static bool run_add_many(struct machine *m) /* APPENDS, SETITEMS, ADDITEMS */
{
    size_t first = 0;
    return take_mark(m, &first) && add_items(m, first);
}

static bool run_append(struct machine *m)
{
    return needs(m, 2) && add_items(m, m->stack.n - 1);
}

static bool run_setitem(struct machine *m)
{
    return needs(m, 3) && add_items(m, m->stack.n - 2);
}

/* ---- the memo ------------------------------------------------------------------------------ */

static bool remember(struct machine *m, uint64_t index)
{
    if (!needs(m, 1))
        return false;
    if (m->objects->all.n + m->memo.n >= m->limit)
        return machine_refuse(m, "The limit \"pickle-objects\" is reached");
    uint64_t *slot = ta_map_at(&m->memo, index, 0);
    if (!slot)
        return machine_no_memory(m);
    *slot = top(m, 0);
    return true;
}

static bool recall(struct machine *m, uint64_t index)
{
    const uint64_t *slot = ta_map_find(&m->memo, index);
    return slot ? push(m, (ta_object)*slot)
                : machine_refuse(m, "Nothing was remembered under %" PRIu64, index);
}

/* The index of GET and PUT, as text. */
static bool line_index(struct machine *m, uint64_t *index)
{
    struct object object = {0};
    if (!integer_parse(m->bytes, &object) || object.integer != INTEGER_SIGNED || object.value < 0)
        return machine_refuse(m, "Not an index");
    *index = (uint64_t)object.value;
    return true;
}

static bool run_put(struct machine *m)
{
    uint64_t index = 0;
    return line_index(m, &index) && remember(m, index);
}

static bool run_get(struct machine *m)
{
    uint64_t index = 0;
    return line_index(m, &index) && recall(m, index);
}

static bool run_binput(struct machine *m)
{
    return remember(m, m->number);
}

static bool run_binget(struct machine *m)
{
    return recall(m, m->number);
}

static bool run_memoize(struct machine *m)
{
    return remember(m, m->memo.n);
}

/* ---- what is refused ----------------------------------------------------------------------- */

enum { NAME_SIZE = 120 };

/* Appends a name as far as it can be printed; names in a hostile file are hostile too. */
static void put_name(char *name, struct ta_slice text)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < text.len && n + 1 < NAME_SIZE; i++)
        name[n++] = text.ptr[i] > ' ' && text.ptr[i] <= '~' ? text.ptr[i] : '?';
    name[n] = '\0';
}

/* The next line, or what there is of it. */
static struct ta_slice take_line(struct machine *m)
{
    const char *start = m->objects->bytes + m->at;
    const size_t left = m->objects->n_bytes - m->at;
    const char *end = memchr(start, '\n', left);
    const size_t n = end ? (size_t)(end - start) : left;
    m->at += end ? n + 1 : n;
    return (struct ta_slice){start, n};
}

enum { NAMED_NOWHERE, NAMED_IN_LINES, NAMED_ON_STACK };

static bool forbid(struct machine *m)
{
    struct ta_slice module = {0}, member = {0};
    char name[NAME_SIZE] = ""; /* "module.name" of what it would load */
    if (m->opcode->detail == NAMED_IN_LINES) {
        module = take_line(m);
        member = take_line(m);
    } else if (m->opcode->detail == NAMED_ON_STACK && m->stack.n >= 2) {
        module = ta_object_text(m->objects, top(m, 1));
        member = ta_object_text(m->objects, top(m, 0));
    }
    put_name(name, module);
    if (module.len || member.len)
        put_name(name, TA_LIT("."));
    put_name(name, member);
    if (*name)
        return machine_refuse(m, "The pickle would load \"%s\"; only plain data is read", name);
    return machine_refuse(m, "The pickle would make or call something; only plain data is read");
}

/* ---- the table ----------------------------------------------------------------------------- */

#define FORBIDDEN(name, named)                                                                     \
    {                                                                                              \
        name, ARGUMENT_NONE, named, forbid                                                         \
    }

const struct opcode pickle_opcodes[256] = {
    [0x80] = {"PROTO", ARGUMENT_1, 0, run_proto},
    [0x95] = {"FRAME", ARGUMENT_8, 0, run_frame},
    ['.'] = {"STOP", ARGUMENT_NONE, 0, run_stop},
    ['('] = {"MARK", ARGUMENT_NONE, 0, run_mark},
    ['0'] = {"POP", ARGUMENT_NONE, 0, run_pop},
    ['1'] = {"POP_MARK", ARGUMENT_NONE, 0, run_pop_mark},
    ['2'] = {"DUP", ARGUMENT_NONE, 0, run_dup},

    ['N'] = {"NONE", ARGUMENT_NONE, OBJECT_NONE, run_constant},
    [0x88] = {"NEWTRUE", ARGUMENT_NONE, OBJECT_TRUE, run_constant},
    [0x89] = {"NEWFALSE", ARGUMENT_NONE, OBJECT_FALSE, run_constant},
    ['I'] = {"INT", ARGUMENT_LINE, 0, run_int},
    ['L'] = {"LONG", ARGUMENT_LINE, 0, run_int},
    ['J'] = {"BININT", ARGUMENT_4, 0, run_binint},
    ['K'] = {"BININT1", ARGUMENT_1, 0, run_byte_int},
    ['M'] = {"BININT2", ARGUMENT_2, 0, run_byte_int},
    [0x8a] = {"LONG1", ARGUMENT_SIZED_1, 0, run_long},
    [0x8b] = {"LONG4", ARGUMENT_SIZED_4, 0, run_long},
    ['F'] = {"FLOAT", ARGUMENT_LINE, 0, run_float},
    ['G'] = {"BINFLOAT", ARGUMENT_DOUBLE, 0, run_binfloat},

    ['S'] = {"STRING", ARGUMENT_LINE, TA_OBJECT_TEXT, run_string},
    ['T'] = {"BINSTRING", ARGUMENT_SIZED_4, TA_OBJECT_TEXT, run_sized},
    ['U'] = {"SHORT_BINSTRING", ARGUMENT_SIZED_1, TA_OBJECT_TEXT, run_sized},
    ['V'] = {"UNICODE", ARGUMENT_LINE, TA_OBJECT_TEXT, run_unicode},
    ['X'] = {"BINUNICODE", ARGUMENT_SIZED_4, TA_OBJECT_TEXT, run_sized},
    [0x8c] = {"SHORT_BINUNICODE", ARGUMENT_SIZED_1, TA_OBJECT_TEXT, run_sized},
    [0x8d] = {"BINUNICODE8", ARGUMENT_SIZED_8, TA_OBJECT_TEXT, run_sized},
    ['B'] = {"BINBYTES", ARGUMENT_SIZED_4, TA_OBJECT_BYTES, run_sized},
    ['C'] = {"SHORT_BINBYTES", ARGUMENT_SIZED_1, TA_OBJECT_BYTES, run_sized},
    [0x8e] = {"BINBYTES8", ARGUMENT_SIZED_8, TA_OBJECT_BYTES, run_sized},
    [0x96] = {"BYTEARRAY8", ARGUMENT_SIZED_8, TA_OBJECT_BYTES, run_sized},

    [']'] = {"EMPTY_LIST", ARGUMENT_NONE, TA_OBJECT_LIST, run_empty},
    ['}'] = {"EMPTY_DICT", ARGUMENT_NONE, TA_OBJECT_DICT, run_empty},
    [0x8f] = {"EMPTY_SET", ARGUMENT_NONE, TA_OBJECT_SET, run_empty},
    [')'] = {"EMPTY_TUPLE", ARGUMENT_NONE, OBJECT_EMPTY_TUPLE, run_constant},
    ['l'] = {"LIST", ARGUMENT_NONE, TA_OBJECT_LIST, run_collect},
    ['t'] = {"TUPLE", ARGUMENT_NONE, TA_OBJECT_TUPLE, run_collect},
    ['d'] = {"DICT", ARGUMENT_NONE, TA_OBJECT_DICT, run_collect},
    [0x91] = {"FROZENSET", ARGUMENT_NONE, TA_OBJECT_SET, run_collect},
    [0x85] = {"TUPLE1", ARGUMENT_NONE, 1, run_tuple_of},
    [0x86] = {"TUPLE2", ARGUMENT_NONE, 2, run_tuple_of},
    [0x87] = {"TUPLE3", ARGUMENT_NONE, 3, run_tuple_of},
    ['a'] = {"APPEND", ARGUMENT_NONE, TA_OBJECT_LIST, run_append},
    ['e'] = {"APPENDS", ARGUMENT_NONE, TA_OBJECT_LIST, run_add_many},
    ['s'] = {"SETITEM", ARGUMENT_NONE, TA_OBJECT_DICT, run_setitem},
    ['u'] = {"SETITEMS", ARGUMENT_NONE, TA_OBJECT_DICT, run_add_many},
    [0x90] = {"ADDITEMS", ARGUMENT_NONE, TA_OBJECT_SET, run_add_many},

    ['p'] = {"PUT", ARGUMENT_LINE, 0, run_put},
    ['q'] = {"BINPUT", ARGUMENT_1, 0, run_binput},
    ['r'] = {"LONG_BINPUT", ARGUMENT_4, 0, run_binput},
    ['g'] = {"GET", ARGUMENT_LINE, 0, run_get},
    ['h'] = {"BINGET", ARGUMENT_1, 0, run_binget},
    ['j'] = {"LONG_BINGET", ARGUMENT_4, 0, run_binget},
    [0x94] = {"MEMOIZE", ARGUMENT_NONE, 0, run_memoize},

    ['c'] = FORBIDDEN("GLOBAL", NAMED_IN_LINES),
    [0x93] = FORBIDDEN("STACK_GLOBAL", NAMED_ON_STACK),
    ['i'] = FORBIDDEN("INST", NAMED_IN_LINES),
    ['o'] = FORBIDDEN("OBJ", NAMED_NOWHERE),
    [0x81] = FORBIDDEN("NEWOBJ", NAMED_NOWHERE),
    [0x92] = FORBIDDEN("NEWOBJ_EX", NAMED_NOWHERE),
    ['R'] = FORBIDDEN("REDUCE", NAMED_NOWHERE),
    ['b'] = FORBIDDEN("BUILD", NAMED_NOWHERE),
    [0x82] = FORBIDDEN("EXT1", NAMED_NOWHERE),
    [0x83] = FORBIDDEN("EXT2", NAMED_NOWHERE),
    [0x84] = FORBIDDEN("EXT4", NAMED_NOWHERE),
    ['P'] = FORBIDDEN("PERSID", NAMED_NOWHERE),
    ['Q'] = FORBIDDEN("BINPERSID", NAMED_NOWHERE),
    [0x97] = FORBIDDEN("NEXT_BUFFER", NAMED_NOWHERE),
    [0x98] = FORBIDDEN("READONLY_BUFFER", NAMED_NOWHERE),
};
