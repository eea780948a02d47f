/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exit codes of the program, in one place. */
#ifndef TA_CLI_EXIT_CODE_H
#define TA_CLI_EXIT_CODE_H

#include "traceanalyze/base.h"

enum {
    TA_EXIT_OK = 0,
    TA_EXIT_GATE = 1, /* a gate of --fail-on tripped */
    TA_EXIT_USAGE = 2,
    TA_EXIT_INPUT = 3,
    TA_EXIT_INCOMPLETE = 4, /* --strict, or --fail-on incomplete */
    TA_EXIT_OUTPUT = 5,
    TA_EXIT_INCONCLUSIVE = 6, /* --fail-on inconclusive */
    TA_EXIT_INTERNAL = 70,
    TA_EXIT_SIGNAL = 128 /* + number of the signal */
};

/* `signal` is the signal that caused TA_ERR_CANCELED. */
static inline int ta_exit_code(enum ta_status status, int signal)
{
    static const int codes[TA_STATUS_COUNT] = {
        [TA_OK] = TA_EXIT_OK,
        [TA_ERR_USAGE] = TA_EXIT_USAGE,
        [TA_ERR_INPUT] = TA_EXIT_INPUT,
        [TA_ERR_OUTPUT] = TA_EXIT_OUTPUT,
        [TA_ERR_PLUGIN] = TA_EXIT_USAGE,
        [TA_ERR_NOMEM] = TA_EXIT_INTERNAL,
        [TA_ERR_INTERNAL] = TA_EXIT_INTERNAL,
    };
    return status == TA_ERR_CANCELED ? TA_EXIT_SIGNAL + signal : codes[status];
}

/* What each code means, for people. */
struct ta_exit_text {
    const char *code, *text;
};

/* Ends with a row of NULL. */
extern const struct ta_exit_text ta_exit_texts[];

#endif
