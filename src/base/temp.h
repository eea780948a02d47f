/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The temporary files of a run that exist right now, in a form that a signal handler may read.
 *
 * A handler may interrupt anything and can neither lock nor allocate.  So entries are claimed and
 * given up by one atomic store each, and none is freed before the run ends, only used again. */
#ifndef TA_BASE_TEMP_H
#define TA_BASE_TEMP_H

#include <stdatomic.h>

/* A dot, "traceanalyze-" and 16 hexadecimal digits: shorter than any limit on names, so a target
 * may use all the 255 bytes a file system gives. */
#define TA_TEMP_NAME_MAX 32

struct ta_temp {
    atomic_int state;
    int folder;
    char name[TA_TEMP_NAME_MAX];
};

enum { TA_TEMPS_EACH = 64 };

/* Zeroed memory is an empty list. */
struct ta_temps {
    struct ta_temp at[TA_TEMPS_EACH];
    _Atomic(struct ta_temps *) next;
};

/* Enters a name below the open folder before the file is made.  NULL when out of memory. */
struct ta_temp *ta_temp_enter(struct ta_temps *temps, int folder, const char *name);
/* The file is gone or has its final name; call before the folder is closed.  NULL is fine. */
void ta_temp_forget(struct ta_temp *temp);

/* A fresh random name. */
void ta_temp_name(char name[TA_TEMP_NAME_MAX]);

/* Removes the files; async-signal-safe, for a handler that ends the process. */
void ta_temps_remove(struct ta_temps *temps);

/* Frees the list, when all its files are gone or have their final names. */
void ta_temps_free(struct ta_temps *temps);

#endif
