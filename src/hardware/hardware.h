/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The peaks of devices that a run knows: the entries of devices.yaml, overridden by the entries of
 * --hardware. */
#ifndef TA_HARDWARE_HARDWARE_H
#define TA_HARDWARE_HARDWARE_H

#include "base/vec.h"
#include "traceanalyze/base.h"
#include "traceanalyze/model.h"

enum { TA_WORDS_MAX = 8 };

/* Words that the name of a device has, or has not. */
struct ta_words {
    const char *at[TA_WORDS_MAX];
    size_t n;
};

/* An entry of the list: peaks, and which devices they are of. */
struct ta_hardware_entry {
    struct ta_hardware hardware;
    struct ta_words match, unless;
    int64_t multiprocessors;        /* 0: any number */
    int64_t capability;             /* 10 × major + minor; 0: not told */
    double memory_gib;              /* of the whole device; 0: not told */
    double least_bytes, most_bytes; /* of memory; 0: any size */
};

struct ta_hardware_list {
    struct ta_arena arena;
    TA_VEC(struct ta_hardware_entry) entries; /* the first that fits is taken */
    size_t forced;                            /* index of the one for all devices, or SIZE_MAX */
};

/* Reads the built-in list and what `choice` asks for: NULL or "auto" nothing more, the name of an
 * entry that this one is taken for all devices, else a file with entries that come first.
 * TA_ERR_USAGE for what is neither, or for a file that says something else.  The list must be
 * freed in any case. */
enum ta_status ta_hardware_load(struct ta_ctx *ctx, const char *choice,
                                struct ta_hardware_list *list) TA_MUST_CHECK;
void ta_hardware_free(struct ta_hardware_list *list);

/* Adds the entries of a text (hardware/read.c); `name` is the file's name for messages. */
enum ta_status ta_hardware_read(struct ta_ctx *ctx, const char *name, struct ta_slice text,
                                struct ta_hardware_list *list) TA_MUST_CHECK;

/* ta_ctx_hardware() of a list. */
const struct ta_hardware *ta_hardware_find(const struct ta_hardware_list *list,
                                           const struct ta_device *device, const char **why);

/* "fp32", "fp32_matrix", "bf16"; a constant. */
const char *ta_peak_name(enum ta_peak peak);

#endif
