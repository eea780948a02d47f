/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of columns: plain memory while the run stays below its limit, and beyond it a mapped
 * temporary file, whose pages the kernel can write out and take back. */
#ifndef TA_BASE_STORE_H
#define TA_BASE_STORE_H

#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>

/* What all traces of a run may take together; shared by its threads. */
struct ta_space {
    uint64_t limit;     /* of the memory of the process that no file backs; 0: none */
    const char *folder; /* of the temporary files */
    pthread_mutex_t lock;
    atomic_uint_fast64_t held; /* bytes of large blocks in memory */
    bool failed;               /* a block found no room, and then: */
    uint64_t used, needed;     /* memory in use, bytes of the block */
    int error;                 /* errno of the temporary file */
};

#define TA_SPACE_INIT                                                                              \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Sets the limit and the folder, which must outlive the space; NULL is $TMPDIR, else /var/tmp. */
void ta_space_open(struct ta_space *space, uint64_t limit, const char *folder);

/* A block in the file. */
struct ta_store_block {
    void *at;
    size_t bytes; /* whole pages */
    uint64_t offset;
};

/* The blocks of one trace.  Zero-initialized it has no limit.  Threads may call what follows at the
 * same time, but for ta_store_close(); the lock of the space guards all else in here. */
struct ta_store {
    struct ta_space *space;
    bool has_file;
    int file;     /* has no name */
    uint64_t end; /* of what was taken of the file so far */
    TA_VEC(struct ta_store_block) spilled;
};

/* realloc() to `n` elements of `size` bytes; NULL without room, with the old block as it was.
 * `store` may be NULL here and below: plain memory. */
void *ta_store_resize(struct ta_store *store, void *at, size_t n, size_t size) TA_MUST_CHECK;
void ta_store_free(struct ta_store *store, void *at);

/* Whether so many bytes more are little compared with the limit, so that it does not matter whether
 * they are ever used. */
bool ta_store_has_plenty(const struct ta_store *store, size_t bytes);

/* Gives back what a block does not need for `bytes`; returns where it is then. */
void *ta_store_fit(struct ta_store *store, void *at, size_t bytes) TA_MUST_CHECK;

/* Ends the blocks that are in the file, and the file. */
void ta_store_close(struct ta_store *store);

#endif
