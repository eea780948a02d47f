/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making contexts, and reading the chain of causes. */
#ifndef TA_BASE_CONTEXT_H
#define TA_BASE_CONTEXT_H

#include "base/limits.h"
#include "base/price.h"
#include "base/stopwatch.h"
#include "base/store.h"
#include "base/temp.h"
#include "traceanalyze/base.h"

#include <stdatomic.h>

struct ta_hardware_list;
struct ta_plugin;
struct ta_part;
struct ta_what_if;

/* Shared by all contexts of a run; must outlive them. */
struct ta_shared {
    uint64_t limits[TA_LIMIT_COUNT];
    atomic_int canceled;       /* number of the signal, or 0 */
    atomic_uint_fast64_t read; /* bytes taken from input files so far, for progress */
    enum ta_log_level level;
    ta_message *message; /* takes what is logged up to that level; NULL: nobody does */
    void *message_user;
    const char *inflater; /* name of one, NULL: the fastest of this build */
    const char *cpu;      /* "auto", "avx2", "sse2", "scalar": what the scanner uses; NULL: auto */
    size_t block;         /* bytes asked for at a time when reading, 0: as many as is best */
    uint64_t part_bytes;  /* content of a file per thread for it (planner.h), 0: as is best */

    const struct ta_hardware_list *hardware; /* peaks of devices; NULL: none */
    const char *hardware_choice;             /* --hardware, or NULL */
    const struct ta_log_formats *log_formats; /* who knows lines of logs; NULL: nobody */
    struct ta_price price;   /* --price */
    const char *step_marker; /* --step-marker, or NULL: an expression that the run has checked */

    const struct ta_what_if *what_if; /* --plan; NULL: nothing is predicted */

    struct ta_space space; /* what the columns of the run may take */
    struct ta_temps temps; /* files that are not complete yet, for a handler of signals */

    /* The heap belongs to the program.  These tell it that many files are read, and that much was
     * freed that nobody asks for again; NULL: it need not know. */
    void (*files_read)(void);
    void (*memory_freed)(void);
};

struct ta_ctx {
    struct ta_shared *shared;
    const double *option_values; /* of the running plugin, in table order */
    struct ta_part *part;        /* what is read of a stream (read/relay.h), NULL: all of it */
    struct ta_times times;       /* what this thread spent */
    size_t helpers;              /* threads that are free to help this one (base/share.h) */
    enum ta_status status;
    char buffer[4096]; /* reserved up front, so that "out of memory" can be said */
};

/* Fills in the default limits and no log. */
void ta_shared_init(struct ta_shared *shared);
/* Frees what it holds, once nothing of the run is left. */
void ta_shared_end(struct ta_shared *shared);
void ta_ctx_init(struct ta_ctx *ctx, struct ta_shared *shared);

/* The chain, outermost cause first, separated by ": "; "" when nothing failed. */
const char *ta_ctx_causes(const struct ta_ctx *ctx);
/* Copies the chain of a worker's context into another. */
void ta_ctx_adopt(struct ta_ctx *ctx, const struct ta_ctx *from);

#endif
