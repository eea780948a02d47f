/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folders that products go to, held open, and which of them this run has made. */
#ifndef TA_RENDER_FOLDER_H
#define TA_RENDER_FOLDER_H

#include "traceanalyze/base.h"

struct ta_folder {
    int fd;
    char *path;
    const char *name; /* below the base: "tables", or "" for the base itself */
    struct ta_folder *next;
};

/* Zero-initialize to start; ta_folders_end() to end. */
struct ta_folders {
    struct ta_folder *open;
    struct ta_made_folder *made;
};

/* Fails where a folder cannot be written to, or could not be made, as far as that can be told
 * beforehand: so that nobody waits for a run that has nowhere to go. */
enum ta_status ta_folder_check(struct ta_ctx *ctx, const char *path) TA_MUST_CHECK;

/* Opens the base; with `make` it and what is missing above it are made.  NULL after
 * ta_fail().  The same base is opened once. */
struct ta_folder *ta_folder_base(struct ta_ctx *ctx, struct ta_folders *folders, const char *path,
                                 bool make);

/* A folder in the base, made when missing; a link there is refused.  NULL after ta_fail(). */
struct ta_folder *ta_folder_below(struct ta_ctx *ctx, struct ta_folders *folders,
                                  struct ta_folder *base, const char *name);

/* Makes renames in all folders durable; false with errno set. */
bool ta_folders_sync(const struct ta_folders *folders);

/* Closes all; unless `keep`, folders that were made and are empty are removed. */
void ta_folders_end(struct ta_folders *folders, bool keep);

#endif
