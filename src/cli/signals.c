/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals of the process.  The handlers call async-signal-safe functions only. */
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "traceanalyze/run.h"

/* A handler has no other way to what it works on. */
static struct ta_run *volatile run;
static const int *json_log; /* whether messages are JSON */

/* How long a run that was asked to stop may take: a thread can be stuck in a read from a pipe or
 * a network that never ends. */
enum { PATIENCE_S = 1 };

enum { FAULT_STACK = 64 * 1024 };

static void abandon(void)
{
    if (run)
        ta_run_abandon(run);
}

static void end_at_once(int number)
{
    abandon();
    _exit(TA_EXIT_SIGNAL + number);
}

static void stop(int number)
{
    if (!run || !ta_run_cancel(run, number))
        end_at_once(number);
    alarm(PATIENCE_S);
}

static void out_of_patience(int number)
{
    end_at_once(run ? ta_run_canceled(run) : number);
}

/* A reader of our output went away: end as quietly as the signal does, but leave nothing. */
static void broken_pipe(int number)
{
    abandon();
    /* SA_RESETHAND has restored the default; it acts when this handler returns. */
    raise(number);
}

/* A failed assertion, a defect, or a library that takes memory for granted: those for fonts and
 * drawing do.  A core file would hold data of the user.  Nothing may be called here that needs
 * memory or a lock, so the message is made already. */
static void crashed(int number)
{
    static const char text[] = "traceanalyze: error TA-E071: Ended by a fault, perhaps for want of "
                               "memory (if not, this is a defect of traceanalyze)\n",
                      json[] = "{\"level\":\"error\",\"code\":\"TA-E071\",\"message\":\"Ended by a "
                               "fault, perhaps for want of memory (if not, this is a defect of "
                               "traceanalyze)\"}\n";
    const ssize_t written = *json_log ? write(STDERR_FILENO, json, sizeof json - 1)
                                      : write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    (void)number;
    abandon();
    _exit(TA_EXIT_INTERNAL);
}

static void set(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Sets a handler unless the parent, like nohup, wants the signal ignored. */
static void set_unless_ignored(int number, void (*handler)(int))
{
    struct sigaction old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return;
    /* Without SA_RESTART: a read that waits for a pipe gives up. */
    set(number, handler, 0);
}

/* Faults are handled on a stack of their own: a full one is among their causes.  A sanitizer that
 * has its own handlers keeps them. */
static void install_faults(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    static char memory[FAULT_STACK];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct sigaction old;
        if (sigaction(faults[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            set(faults[i], crashed, (int)SA_RESETHAND | SA_ONSTACK);
    }
}

void ta_signals_install(struct ta_run *canceled, const int *json)
{
    run = canceled;
    json_log = json;
    set_unless_ignored(SIGINT, stop);
    set_unless_ignored(SIGTERM, stop);
    set_unless_ignored(SIGHUP, stop);
    set(SIGALRM, out_of_patience, 0);
    set(SIGPIPE, broken_pipe, (int)SA_RESETHAND);
    set(SIGABRT, crashed, (int)SA_RESETHAND);
    install_faults();
    /* Writing beyond the file size limit then fails with EFBIG. */
    set(SIGXFSZ, SIG_IGN, 0);
}

void ta_signals_release(void)
{
    run = NULL;
}

void ta_standard_files_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            /* The lowest free number is fd; the mode is the one that nobody wants here. */
            int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            (void)opened;
        }
}
