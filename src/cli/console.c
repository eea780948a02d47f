/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages and the progress bar on standard error. */
#include "cli/console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/visible.h"
#include "cli/args.h"
#include "traceanalyze/report.h"

/* A damaged run of a thousand ranks must not bury the terminal. */
enum { LINES_MAX = 20, BAR_CELLS = 24 };

/* Longest line; a message is cut so that its visible form and the frame around it fit. */
enum { LINE_BYTES = 8192, FRAME_BYTES = 160, MESSAGE_BYTES = LINE_BYTES - FRAME_BYTES };

#define REDRAW_NS INT64_C(100000000)

static void erase_bar(struct ta_console *console)
{
    if (console->bar_shown)
        fputs("\r\033[K", stderr);
    console->bar_shown = false;
}

/* ---- messages ------------------------------------------------------------------------------ */

static const char *level_name(enum ta_log_level level)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    return names[level];
}

/* Puts a backslash before quotes and backslashes: all that JSON asks of text without control
 * characters.  Cuts at the last character that fits. */
static void quote(char *out, size_t max, const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        bool escaped = *text == '"' || *text == '\\';
        /* Room for an escape, the rest of a character of four bytes, and the NUL. */
        if (n + 6 > max && ((unsigned char)*text & 0xc0) != 0x80)
            break;
        if (escaped)
            out[n++] = '\\';
        out[n++] = *text;
    }
    out[n] = '\0';
}

/* One write, below the bar; of an open console only so many lines. */
static void put_line(struct ta_console *console, const char *line, size_t length)
{
    flockfile(stderr);
    if (console->is_open && console->lines_left == 0) {
        console->lines_left_out++;
    } else {
        console->lines_left -= console->is_open;
        erase_bar(console);
        fwrite(line, 1, length, stderr);
    }
    funlockfile(stderr);
}

void ta_console_message(void *user, enum ta_log_level level, const char *code, const char *text)
{
    struct ta_console *console = user;
    char line[LINE_BYTES];
    int length;
    if (level > console->level)
        return;
    if (console->json) {
        char quoted[MESSAGE_BYTES];
        quote(quoted, sizeof quoted, text);
        length = snprintf(line, sizeof line, "{\"level\":\"%s\",%s%s%s\"message\":\"%s\"}\n",
                          level_name(level), code ? "\"code\":\"" : "", code ? code : "",
                          code ? "\"," : "", quoted);
    } else if (code && level == TA_LOG_ERROR) {
        length = snprintf(line, sizeof line, "traceanalyze: error %s: %s\n", code, text);
    } else if (code) {
        length = snprintf(line, sizeof line, "traceanalyze: %s [%s]: %s\n", level_name(level), code,
                          text);
    } else {
        length = snprintf(line, sizeof line, "traceanalyze: %s: %s\n", level_name(level), text);
    }
    if (length > 0)
        put_line(console, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void ta_console_say(struct ta_console *console, enum ta_log_level level, const char *code,
                    const char *message)
{
    char text[MESSAGE_BYTES];
    ta_visible(text, sizeof text, ta_slice_of(message));
    ta_console_message(console, level, code, text);
}

static bool wants_progress(const struct ta_cmdline *args, bool terminal)
{
    const char *ci = getenv("CI");
    if (args->progress != TA_WHEN_AUTO)
        return args->progress == TA_WHEN_ALWAYS;
    return terminal && !args->quiet && !args->json_log && !(ci && *ci);
}

void ta_console_open(struct ta_console *console, const struct ta_cmdline *args)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    *console = (struct ta_console){
        .level = args->quiet          ? TA_LOG_ERROR
                 : args->verbose == 0 ? TA_LOG_WARNING
                 : args->verbose == 1 ? TA_LOG_INFO
                                      : TA_LOG_DEBUG,
        .json = args->json_log,
        .is_open = true,
        .lines_left = args->verbose ? UINT32_MAX : LINES_MAX,
        .terminal = terminal,
        .progress = wants_progress(args, terminal),
    };
}

/* ---- progress ------------------------------------------------------------------------------ */

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
    if (!console->progress || !console->is_open)
        return;
    double share = bytes_all ? (double)bytes_done / (double)bytes_all : 0;
    if (share > 1)
        share = 1;
    flockfile(stderr);
    if (is_due(console, share)) {
        char amount[TA_UNIT_TEXT_MAX];
        ta_unit_format(amount, (double)bytes_done, TA_UNIT_BYTES);
        char bar[BAR_CELLS + 1];
        size_t filled = ta_whole_size(share * BAR_CELLS);
        memset(bar, '.', BAR_CELLS);
        memset(bar, '#', filled);
        bar[BAR_CELLS] = '\0';
        if (console->terminal)
            fprintf(stderr, "\rReading [%s] %3.0f %%  %s, %zu of %zu files\033[K", bar, share * 100,
                    amount, files_done, files_all);
        else
            fprintf(stderr, "traceanalyze: read %.0f %%: %s, %zu of %zu files\n", share * 100,
                    amount, files_done, files_all);
        fflush(stderr);
        console->bar_shown = console->terminal;
    }
    funlockfile(stderr);
}

void ta_console_clear(struct ta_console *console)
{
    flockfile(stderr);
    erase_bar(console);
    funlockfile(stderr);
}

void ta_console_close(struct ta_console *console, bool reported)
{
    ta_console_clear(console);
    console->is_open = false;
    if (console->lines_left_out) {
        char text[64];
        snprintf(text, sizeof text, "and %zu more%s", console->lines_left_out,
                 reported ? " in the report" : "");
        ta_console_say(console, TA_LOG_WARNING, NULL, text);
    }
}
