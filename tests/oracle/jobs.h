/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders through ta_ingest(): workers, threads that read ahead, whatever it plans. */
#ifndef TA_ORACLE_JOBS_H
#define TA_ORACLE_JOBS_H

#include "matrix.h"

/* Reads all files of a folder with 1, 2 and 8 threads, every scanner and block size, and compares
 * each trace with what the slow reader makes of its file, or the plainest configuration. */
void jobs_check(struct oracle *o, const char *folder, const size_t *blocks);

#endif
