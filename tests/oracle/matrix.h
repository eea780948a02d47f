/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One text through all variants of the reader, against the slow one. */
#ifndef TA_ORACLE_MATRIX_H
#define TA_ORACLE_MATRIX_H

#include "slow_reader.h"

struct oracle {
    struct fixture fixture;
    bool all;            /* every combination, however long it takes */
    const char *cpus[8]; /* of this machine and build but "auto"; the first is the plainest */
    size_t n_cpus;
    unsigned inputs, accepted, runs, differences;
};

/* What to read a text with. */
struct effort {
    const size_t *blocks; /* ends with 0, the reader's own, which comes along */
    bool gzip;            /* compressed as well: every inflater, with and without a thread */
    bool valid;           /* jansson takes it, so the slow reader must */
    bool large;           /* the slow reader has parts of it only, and `gzip` is not all pairs */
};

extern const size_t blocks_all[], blocks_some[], blocks_large[], blocks_none[];

void oracle_open(struct oracle *o, bool all);
void oracle_close(struct oracle *o);

/* Where to look when something differs: TA_ORACLE_ONLY=TEXT leaves out inputs without this text in
 * their names, TA_ORACLE_SAVE=FOLDER keeps the texts of those that differ. */

/* Compares all variants on an inflated text, and says where they differ. */
void oracle_check(struct oracle *o, const char *name, const char *text, size_t size,
                  const struct effort *effort);
void oracle_check_text(struct oracle *o, const char *name, const char *text, bool valid);
/* The same for a file, gzip or not, that is read from where it is.  False when it is not there. */
bool oracle_check_file(struct oracle *o, const char *name, const char *path,
                       const struct effort *effort);

/* Fails when anything differed; says what was done. */
void oracle_conclude(const struct oracle *o);

#endif
