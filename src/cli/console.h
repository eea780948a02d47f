/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard error: the log and the progress bar take turns on it. */
#ifndef TA_CLI_CONSOLE_H
#define TA_CLI_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ta_cmdline;
struct ta_shared;

/* Zero-initialize to start. */
struct ta_console {
    FILE *log;             /* stream whose writes go to standard error below the bar */
    unsigned lines_left;   /* of the log, before the rest is only counted */
    size_t lines_left_out; /* counted so */
    bool progress, terminal, bar_shown;
    int64_t drawn_ns; /* when the bar was drawn last, monotonic */
    int tenth;        /* shown last where there is no terminal */
};

/* Directs the log of the run through the console, as the options ask. */
void ta_console_open(struct ta_console *console, const struct ta_cmdline *args,
                     struct ta_shared *shared);

/* A ta_progress; `console` is a struct ta_console. */
void ta_console_progress(void *console, uint64_t bytes_done, uint64_t bytes_all, size_t files_done,
                         size_t files_all);

/* Takes the bar away. */
void ta_console_clear(struct ta_console *console);

/* Ends the detour: the log goes to standard error directly.  Says how many lines were left out
 * and, when `reported`, that the report has them. */
void ta_console_close(struct ta_console *console, struct ta_shared *shared, bool reported);

#endif
