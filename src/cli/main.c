/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze`, one process. */
#include "cli/program.h"

int main(int argc, char **argv)
{
    return ta_program_run(argc, argv, NULL);
}
