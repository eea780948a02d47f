/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exit codes as --help and the manual explain them. */
#include "cli/exit_code.h"

const struct ta_exit_text ta_exit_texts[] = {
    {"0", "success; warnings are possible"},
    {"1", "a gate of --fail-on failed"},
    {"2", "wrong option, argument, configuration or plugin"},
    {"3", "no usable input: missing, empty, corrupt, or of unknown format"},
    {"4", "--strict or --fail-on incomplete was given, and data was lost"},
    {"5", "a file could not be written; files of earlier runs are unchanged"},
    {"6", "--fail-on inconclusive was given, and there is too little evidence either way"},
    {"70", "internal error, or out of memory"},
    {"128+N", "ended by signal N"},
    {NULL, NULL},
};
