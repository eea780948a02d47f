/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of an MPI job as a team. */
#ifndef TA_MPI_PROCESSES_H
#define TA_MPI_PROCESSES_H

#include "traceanalyze/run.h"

/* Between MPI_Init() and MPI_Finalize(). */
void ta_processes_join(struct ta_team *team);

#endif
