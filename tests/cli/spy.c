/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library to preload: writes the path of every file that is opened for writing, made, renamed
 * or removed to the file $TA_SPY_LOG, a line each. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system call itself: open() is one of those that are watched. */
static void note(int folder, const char *path)
{
    char line[2 * PATH_MAX] = "", link[64];
    const char *log = getenv("TA_SPY_LOG");
    if (!log || strcmp(path, "/dev/null") == 0)
        return;
    if (path[0] != '/' && folder != AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        if (readlink(link, line, PATH_MAX) < 0)
            return;
        strcat(line, "/");
    }
    strncat(line, path, PATH_MAX - 1);
    strcat(line, "\n");
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || write(fd, line, strlen(line)) < 0)
        abort();
    close(fd);
}

static void note_open(int folder, const char *path, int flags)
{
    if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC))
        note(folder, path);
}

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;              \
        va_end(args);                                                                              \
        note_open(AT_FDCWD, path, flags);                                                          \
        return NEXT(#name, int (*)(const char *, int, ...))(path, flags, mode);                    \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;              \
        va_end(args);                                                                              \
        note_open(folder, path, flags);                                                            \
        return NEXT(#name, int (*)(int, const char *, int, ...))(folder, path, flags, mode);       \
    }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                                                \
    FILE *name(const char *path, const char *mode)                                                 \
    {                                                                                              \
        if (strpbrk(mode, "wa+"))                                                                  \
            note(AT_FDCWD, path);                                                                  \
        return NEXT(#name, FILE * (*)(const char *, const char *))(path, mode);                    \
    }
FOPEN(fopen)
FOPEN(fopen64)

#define MAKE_TEMP(name)                                                                            \
    int name(char *path)                                                                           \
    {                                                                                              \
        note(AT_FDCWD, path);                                                                      \
        return NEXT(#name, int (*)(char *))(path);                                                 \
    }
MAKE_TEMP(mkstemp)
MAKE_TEMP(mkstemp64)

int mkdir(const char *path, mode_t mode)
{
    note(AT_FDCWD, path);
    return NEXT("mkdir", int (*)(const char *, mode_t))(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    note(folder, path);
    return NEXT("mkdirat", int (*)(int, const char *, mode_t))(folder, path, mode);
}

int unlink(const char *path)
{
    note(AT_FDCWD, path);
    return NEXT("unlink", int (*)(const char *))(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    note(folder, path);
    return NEXT("unlinkat", int (*)(int, const char *, int))(folder, path, flags);
}

int rename(const char *from, const char *to)
{
    note(AT_FDCWD, from);
    note(AT_FDCWD, to);
    return NEXT("rename", int (*)(const char *, const char *))(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    note(from_folder, from);
    note(to_folder, to);
    return NEXT("renameat", int (*)(int, const char *, int, const char *))(from_folder, from,
                                                                           to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    note(from_folder, from);
    note(to_folder, to);
    return NEXT("renameat2", int (*)(int, const char *, int, const char *, unsigned))(
        from_folder, from, to_folder, to, flags);
}
