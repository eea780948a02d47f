/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log and the progress bar on standard error. */
#include "cli/console.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/args.h"
#include "traceanalyze/unit.h"

/* A damaged run of a thousand ranks must not bury the terminal. */
enum { LINES_MAX = 20, BAR_CELLS = 24 };

#define REDRAW_NS INT64_C(100000000)

static void erase_bar(struct ta_console *console)
{
    if (console->bar_shown)
        fputs("\r\033[K", stderr);
    console->bar_shown = false;
}

/* Takes one line of the log.  The lock of the stream is held, as in ta_console_progress(). */
static ssize_t take_line(void *user, const char *line, size_t length)
{
    struct ta_console *console = user;
    if (console->lines_left == 0) {
        console->lines_left_out++;
        return (ssize_t)length;
    }
    console->lines_left--;
    erase_bar(console);
    fwrite(line, 1, length, stderr);
    return (ssize_t)length;
}

static bool wants_progress(const struct ta_cmdline *args, bool terminal)
{
    const char *ci = getenv("CI");
    if (args->progress != TA_WHEN_AUTO)
        return args->progress == TA_WHEN_ALWAYS;
    return terminal && !args->quiet && !args->json_log && !(ci && *ci);
}

void ta_console_open(struct ta_console *console, const struct ta_cmdline *args,
                     struct ta_shared *shared)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    *console = (struct ta_console){
        .lines_left = args->verbose ? UINT32_MAX : LINES_MAX,
        .terminal = terminal,
        .progress = wants_progress(args, terminal),
    };
    shared->json_log = args->json_log;
    shared->level = args->quiet          ? TA_LOG_ERROR
                    : args->verbose == 0 ? TA_LOG_WARNING
                    : args->verbose == 1 ? TA_LOG_INFO
                                         : TA_LOG_DEBUG;
    shared->log = stderr;
    console->log = fopencookie(console, "w", (cookie_io_functions_t){.write = take_line});
    if (!console->log)
        return;
    /* Unbuffered, a line of ta_log_line() arrives as one write. */
    setvbuf(console->log, NULL, _IONBF, 0);
    shared->log = console->log;
}

/* ---- progress ------------------------------------------------------------------------------ */

static void draw(struct ta_console *console, double share, const char *amount, size_t files_done,
                 size_t files_all)
{
    char bar[BAR_CELLS + 1];
    size_t filled = ta_whole_size(share * BAR_CELLS);
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', filled);
    bar[BAR_CELLS] = '\0';
    if (console->terminal)
        fprintf(stderr, "\rReading [%s] %3.0f %%  %s, %zu of %zu files\033[K", bar, share * 100,
                amount, files_done, files_all);
    else
        fprintf(stderr, "traceanalyze: read %.0f %%: %s, %zu of %zu files\n", share * 100, amount,
                files_done, files_all);
    fflush(stderr);
    console->bar_shown = console->terminal;
}

/* Whether it is time to draw again: ten times a second, or without a terminal ten times. */
static bool is_due(struct ta_console *console, double share)
{
    if (!console->terminal) {
        int tenth = ta_whole_int(share * 10);
        bool due = tenth > console->tenth;
        console->tenth = tenth;
        return due;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    if (now_ns - console->drawn_ns < REDRAW_NS)
        return false;
    console->drawn_ns = now_ns;
    return true;
}

void ta_console_progress(void *user, uint64_t bytes_done, uint64_t bytes_all, size_t files_done,
                         size_t files_all)
{
    struct ta_console *console = user;
    if (!console->progress || !console->log)
        return;
    double share = bytes_all ? (double)bytes_done / (double)bytes_all : 0;
    if (share > 1)
        share = 1;
    flockfile(console->log);
    if (is_due(console, share)) {
        char amount[TA_UNIT_TEXT_MAX];
        ta_unit_format(amount, (double)bytes_done, TA_UNIT_BYTES);
        draw(console, share, amount, files_done, files_all);
    }
    funlockfile(console->log);
}

void ta_console_clear(struct ta_console *console)
{
    if (!console->log)
        return;
    flockfile(console->log);
    erase_bar(console);
    funlockfile(console->log);
}

void ta_console_close(struct ta_console *console, struct ta_shared *shared, bool reported)
{
    ta_console_clear(console);
    if (console->log)
        fclose(console->log);
    console->log = NULL;
    shared->log = stderr;
    if (console->lines_left_out) {
        char text[64];
        snprintf(text, sizeof text, "and %zu more%s", console->lines_left_out,
                 reported ? " in the report" : "");
        ta_log_line(shared, TA_LOG_WARNING, NULL, text);
    }
}
