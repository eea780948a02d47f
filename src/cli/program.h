/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call of the program, as main() of each way to start it has it. */
#ifndef TA_CLI_PROGRAM_H
#define TA_CLI_PROGRAM_H

#include "traceanalyze/run.h"

/* Does what the command line says, and returns the exit code.  With a team every one of its
 * processes calls this with the same command line; without, `team` is NULL.  Once per process. */
int ta_program_run(int argc, char **argv, struct ta_team *team);

#endif
