/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a trace file that are the same for every event of a kind, made once per run. */
#ifndef GENERATOR_TEXT_H
#define GENERATOR_TEXT_H

#include "catalog.h"

#include <stdbool.h>
#include <stdint.h>

enum layout {
    LAYOUT_KINETO,  /* as torch writes it: one group of keys per line */
    LAYOUT_INDENT2, /* as json.dump(indent=2) writes it again */
    LAYOUT_ONELINE, /* as json.dump() writes it again: the file is one line */
    LAYOUT_COUNT,
};

extern const char *const layout_names[LAYOUT_COUNT];

/* The text between the parts of an event. */
struct punctuation {
    const char *event_open, *event_close, *event_next;
    const char *key, *line; /* before the next key, and where Kineto breaks */
    const char *args_open, *args_close;
    const char *arg, *arg_tight, *arg_wide; /* Kineto uses three different separators */
    const char *file_close[2];              /* around the value of traceName */
    int depth;                              /* nesting of an argument; 0 = keep Kineto's spaces */
    bool breaks;                            /* a new line per element */
};

/* How one block of latents is divided, which the shapes follow. */
struct split {
    int tokens;                 /* of a block */
    int sequence, ring, tensor; /* ranks that share tokens, keys and values, weights */
    int guidance, data;         /* groups whose latents are gathered */
};

/* The elements of a shape of catalog.h: a number, or "$" and a letter. */
int64_t split_elements(const struct split *split, const char *shape);

/* A process group of the rank that writes; size 0 = none. */
struct process_group {
    char name[16];
    const char *description;
    const int *ranks; /* borrowed */
    int size, next, previous;
};

/* Arguments of a collective that a trace may lack, as bits. */
enum collective_field {
    FIELD_NAME = 1,
    FIELD_ELEMENTS = 2,
    FIELD_SIZE = 4,
    FIELD_TYPE = 8,
    FIELD_SPLITS = 16,
    FIELD_GROUP = 32,
    FIELD_RANKS = 64,
    FIELD_SEQUENCE = 128,
};

/* Values are pairs "key": value without the braces. */
struct texts {
    const struct punctuation *punctuation;
    struct split split;
    struct process_group groups[DIM_COUNT];
    unsigned lacking; /* collective_field */
    char *op_args[OP_COUNT][OP_LEVELS];
    char *kernel_args[KERNEL_COUNT];
    char *collective_args[COLLECTIVE_COUNT];
};

/* False without memory; texts_free() is safe in either case. */
bool texts_make(struct texts *texts, enum layout layout, const struct split *split);
void texts_free(struct texts *texts);

/* Makes the arguments of collectives anew for these groups; false without memory. */
bool texts_set_groups(struct texts *texts, const struct process_group groups[DIM_COUNT],
                      unsigned lacking);

/* Everything up to the first event; the caller frees it.  NULL without memory. */
char *texts_file_head(const struct texts *texts, int rank, int devices, uint64_t trace_id);

#endif
