/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One product while it is written: a buffer before a descriptor, with a sticky error.  A draft has
 * no descriptor but a buffer that grows. */
#ifndef TA_WRITE_FILE_H
#define TA_WRITE_FILE_H

#include "traceanalyze/output.h"

struct ta_deflater;

struct ta_file {
    char *path;    /* for messages */
    int fd;        /* -1 once it is closed for good, and of a draft */
    int error;     /* errno of the first failure, or 0 */
    bool complete; /* closed without an error */
    bool foreign;  /* standard output: flushed at the end but not closed */
    bool settles;  /* ta_file_settle() follows: closing only starts to bring it to the disk */
    bool is_draft;
    char *buffer;
    size_t used, room;
    uint64_t flushed;         /* bytes that went through the buffer, or past it */
    struct ta_deflater *gzip; /* what packs them, or NULL */
};

/* ta_fail() for the path of an output with the text of errno. */
enum ta_status ta_fail_path(struct ta_ctx *ctx, const char *what, const char *path);

/* Starts writing to an open descriptor; false when out of memory.  The path is taken over in
 * any case. */
bool ta_file_start(struct ta_file *file, int fd, bool foreign, char *path);
/* Starts a part of a file, which has memory alone. */
void ta_file_start_draft(struct ta_file *draft);
/* Puts what a draft holds, and how it failed if it did; the draft has ended. */
void ta_file_take(struct ta_file *file, struct ta_file *draft);

/* From here on, which is the start of the file, everything goes through gzip; the helpers of `ctx`,
 * which must outlive the file, pack. `comment` goes into the header, as the signature of such
 * files. Without memory the file has failed. */
void ta_file_pack(struct ta_ctx *ctx, struct ta_file *file, const char *comment);

/* Whether ta_file_patch() can work: of a file that is not packed, and no pipe. */
bool ta_file_can_patch(const struct ta_file *file);
/* Writes over bytes that were put before. */
void ta_file_patch(struct ta_file *file, uint64_t offset, struct ta_slice bytes);

/* Waits until a file with `settles` that was closed is on the disk; one without is there. */
enum ta_status ta_file_settle(struct ta_ctx *ctx, struct ta_file *file) TA_MUST_CHECK;

/* Gives up what was not closed. */
void ta_file_end(struct ta_file *file);

/* Bytes written so far. */
uint64_t ta_file_bytes(const struct ta_file *file);

#endif
