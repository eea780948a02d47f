/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this plugin share: the allocator that grows while a snapshot is read. */
#ifndef TA_TORCH_MEMORY_SNAPSHOT_H
#define TA_TORCH_MEMORY_SNAPSHOT_H

#include "model/allocator.h"
#include "parse/pickle/pickle.h"

#include <traceanalyze/base.h>
#include <traceanalyze/dump.h>
#include <traceanalyze/input.h>

/* An array that grows. */
#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, max;                                                                             \
    }

/* A new element at the end, zeroed; NULL without memory, which `failed` remembers. */
#define LIST_ADD(s, list)                                                                          \
    (snapshot_grow((s), (void **)&(list)->at, &(list)->max, (list)->n, sizeof *(list)->at)         \
         ? &(list)->at[(list)->n++]                                                                \
         : NULL)

struct snapshot {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    const struct ta_objects *objects;
    LIST(struct ta_alloc_segment) segments;
    LIST(struct ta_alloc_block) blocks;
    LIST(struct ta_alloc_event) events;
    LIST(struct ta_frames) stacks;
    struct ta_arena arena;  /* frames of stacks */
    struct ta_map stack_of; /* by object */
    struct ta_map frame_of; /* text, by object */
    unsigned char *seen;    /* by object: it was a record already */
    uint64_t divisions[TA_ALLOC_DIVISIONS];
    uint64_t kept, dropped;
    bool failed;
};

bool snapshot_grow(struct snapshot *s, void **at, size_t *max, size_t n, size_t size);

/* No memory has more bytes than this: 4 PiB. */
#define SIZE_LARGEST (UINT64_C(1) << 52)

/* The values of some keys of a dict, TA_NO_OBJECT for those it lacks; of a key that is there twice
 * the last. */
void snapshot_fields(const struct snapshot *s, ta_object dict, const char *const *names, size_t n,
                     ta_object *values);

/* A size in bytes; false when it is no number that can be one. */
bool snapshot_size(const struct snapshot *s, ta_object object, uint64_t *size);
/* An integer, `otherwise` for all else. */
int64_t snapshot_integer(const struct snapshot *s, ta_object object, int64_t otherwise);
uint64_t snapshot_address(const struct snapshot *s, ta_object object);

/* Whether an object is a dict that has not been a record before; if not, it is accounted for. */
bool snapshot_record(struct snapshot *s, ta_object object, const char *what);
/* Accounts for a record that cannot be used. */
void snapshot_drop(struct snapshot *s, ta_object object, const char *what, const char *why);

/* The stack of a list of frames: an index into `stacks`, or UINT32_MAX. */
uint32_t snapshot_stack(struct snapshot *s, ta_object frames);

void snapshot_read_segments(struct snapshot *s, ta_object segments);
void snapshot_read_history(struct snapshot *s, ta_object traces);
/* Ranges that the program marked, and the settings of the allocator. */
enum ta_status snapshot_read_annotations(struct snapshot *s, ta_object annotations) TA_MUST_CHECK;
enum ta_status snapshot_read_settings(struct snapshot *s, ta_object settings) TA_MUST_CHECK;

#endif
