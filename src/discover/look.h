/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look at files before the run reads them. */
#ifndef TA_LOOK_H
#define TA_LOOK_H

#include "discover/discover.h"

#include "read/reader.h"

/* A failure that comes and goes must not make one file two. */
enum { TA_LOOK_TRIES = 2 };

/* The length of the content modulo 2^32, without inflating it.  False when it is not known. */
bool ta_look_length(const struct ta_source *source, uint32_t *length);

/* A reader for a look; NULL when the file cannot be read, with *failed set without memory. */
struct ta_reader *ta_look_open(struct ta_ctx *ctx, const char *path, struct ta_quality *ignored,
                               bool *failed);
/* Closes it, which may be NULL, and counts nothing of it as progress. */
void ta_look_close(struct ta_reader *reader, struct ta_quality *ignored);

/* Whether reading for a look ended early, as it does when it fails. */
bool ta_look_ended_early(const struct ta_quality *ignored);

#endif
