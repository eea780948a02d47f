/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze-mpi`: several processes that share one run. */
#include "cli/program.h"
#include "cli/mpi/processes.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct ta_team team;
    int level;
    /* Threads read files, but only this one calls MPI. */
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        level < MPI_THREAD_FUNNELED) {
        fputs("traceanalyze-mpi: error: this MPI does not go with threads\n", stderr);
        return 2;
    }
    ta_processes_join(&team);
    const int code = ta_program_run(argc, argv, &team);
    if (code && team.state == TA_TEAM_WORKING)
        MPI_Abort(MPI_COMM_WORLD, code); /* the others wait for this process */
    MPI_Finalize();
    return code;
}
