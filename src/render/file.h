/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One product while it is written: a buffer before a descriptor, with a sticky error. */
#ifndef TA_RENDER_FILE_H
#define TA_RENDER_FILE_H

#include "traceanalyze/output.h"

struct ta_file {
    char *path;    /* for messages */
    int fd;        /* -1 once it is closed */
    int error;     /* errno of the first failure, or 0 */
    bool complete; /* closed without an error */
    bool foreign;  /* standard output: flushed at the end but not closed */
    char *buffer;
    size_t used;
    uint64_t flushed; /* bytes that went through the buffer, or past it */
};

/* Starts writing to an open descriptor; false when out of memory.  The path is taken over in
 * any case. */
bool ta_file_start(struct ta_file *file, int fd, bool foreign, char *path);
/* Gives up what was not closed. */
void ta_file_end(struct ta_file *file);

#endif
