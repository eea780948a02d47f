/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The temporary files that exist right now, in a form that a signal handler may read. */
#ifndef TA_RENDER_TEMP_H
#define TA_RENDER_TEMP_H

#include <stdbool.h>

/* A dot, "traceanalyze-" and 16 hexadecimal digits: shorter than any limit on names, so a target
 * may use all the 255 bytes a file system gives. */
#define TA_TEMP_NAME_MAX 32

struct ta_temp;

/* Enters a name below the open folder before the file is made.  NULL when out of memory. */
struct ta_temp *ta_temp_enter(int folder, const char *name);
/* The file is gone or has its final name; call before the folder is closed.  NULL is fine. */
void ta_temp_forget(struct ta_temp *temp);

/* A fresh random name. */
void ta_temp_name(char name[TA_TEMP_NAME_MAX]);

#endif
