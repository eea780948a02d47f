/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of reading a pickle: its position, the stack, its marks, and what is remembered. */
#ifndef TA_PICKLE_MACHINE_H
#define TA_PICKLE_MACHINE_H

#include "parse/pickle/object.h"
#include "traceanalyze/base.h"

/* What follows the byte of an opcode. */
enum argument {
    ARGUMENT_NONE,
    ARGUMENT_1, /* an unsigned number of so many bytes, little end first */
    ARGUMENT_2,
    ARGUMENT_4,
    ARGUMENT_8,
    ARGUMENT_DOUBLE,  /* eight bytes, big end first */
    ARGUMENT_LINE,    /* up to the end of the line */
    ARGUMENT_SIZED_1, /* a number of so many bytes, and as many bytes as it says */
    ARGUMENT_SIZED_4,
    ARGUMENT_SIZED_8
};

struct machine;

struct opcode {
    const char *name;
    enum argument argument;
    uint8_t detail; /* what distinguishes opcodes with the same function */
    bool (*run)(struct machine *m);
};

struct machine {
    struct ta_ctx *ctx;
    struct ta_quality *quality;
    struct ta_objects *objects;
    TA_VEC(ta_object) stack;
    TA_VEC(size_t) marks; /* heights of the stack */
    struct ta_map memo;   /* sparse: indices are chosen by the file */
    uint64_t limit;       /* of objects, of what is remembered, and of the stack */
    size_t at;            /* of the next byte */
    uint64_t frame_end;   /* furthest that a frame reaches */
    size_t frame_offset;  /* of that frame */
    enum ta_status status;
    bool stopped;
    /* The opcode that runs. */
    const struct opcode *opcode;
    size_t offset;
    uint64_t number;       /* its argument, when that is a number, */
    struct ta_slice bytes; /* or bytes */
};

/* By byte; unknown ones have no name. */
extern const struct opcode pickle_opcodes[256];

/* Ends reading with a message; false, for `return`. */
bool machine_refuse(struct machine *m, const char *format, ...) TA_PRINTF(2, 3);
bool machine_no_memory(struct machine *m);

#endif
