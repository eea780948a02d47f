/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard error: messages and the progress bar take turns on it. */
#ifndef TA_CLI_CONSOLE_H
#define TA_CLI_CONSOLE_H

#include "traceanalyze/base.h"

struct ta_cmdline;

/* Zero-initialize to start: errors alone are shown, one by one. */
struct ta_console {
    enum ta_log_level level; /* of the least important message that is shown */
    bool json;               /* messages are JSON */
    bool is_open;
    unsigned lines_left;   /* before the rest is only counted */
    size_t lines_left_out; /* counted so */
    bool progress, terminal, bar_shown;
    int64_t drawn_ns; /* when the bar was drawn last, monotonic */
    int tenth;        /* shown last where there is no terminal */
};

/* Starts to show messages and progress, as the options ask. */
void ta_console_open(struct ta_console *console, const struct ta_cmdline *args);

/* Shows "traceanalyze: warning [truncated]: message" or, with --log-format=json, an object with the
 * same parts.  `code` is a constant ("TA-E003", "truncated") or NULL.  Escapes the message and ends
 * the line; one call is one write, and needs no memory. */
void ta_console_say(struct ta_console *console, enum ta_log_level level, const char *code,
                    const char *message);

/* A ta_message; `console` is a struct ta_console. */
void ta_console_message(void *console, enum ta_log_level level, const char *code, const char *text);

/* A ta_progress; `console` is a struct ta_console. */
void ta_console_progress(void *console, uint64_t bytes_done, uint64_t bytes_all, size_t files_done,
                         size_t files_all);

/* Takes the bar away. */
void ta_console_clear(struct ta_console *console);

/* Ends progress and counting: says how many lines were left out and, when `reported`, that the
 * report has them. */
void ta_console_close(struct ta_console *console, bool reported);

#endif
