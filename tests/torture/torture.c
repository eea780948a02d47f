/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library to preload that makes one call of a kind fail, to see what a program makes of it:
 *
 *     TA_FAIL       alloc, open, read, write, fsync, close, rename, mkdir or mmap
 *     TA_FAIL_AT    number of the call that fails, counted from 1 over all threads; 0: none
 *     TA_FAIL_ON    set: every later call of the kind fails as well
 *     TA_FAIL_ERRNO what it fails with (a number); alloc always fails with ENOMEM
 *     TA_FAIL_SHORT set: every read and write moves one byte at most, and none fails
 *     TA_FAIL_COUNT file that gets the number of calls when the program ends
 *     TA_FAIL_TRACE set: the place of the call that fails goes to standard error
 *
 * Calls before main() and calls on standard error are left alone, and so is memory that fontconfig
 * asks for itself: where it gets none for an entry of its cache it returns with its mutex locked
 * (2.14), and waits for it for ever. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- which call fails ------------------------------------------------------------------------ */

enum kind { NONE, ALLOC, OPEN, READ, WRITE, FSYNC, CLOSE, RENAME, MKDIR, MMAP, KINDS };

static const char *const names[KINDS] = {"",      "alloc", "open",   "read",  "write",
                                         "fsync", "close", "rename", "mkdir", "mmap"};

static enum kind kind;
static bool from_then_on, one_byte, traced;
static int reason = ENOMEM;
static unsigned long failing;
static atomic_ulong calls;
static char count_path[PATH_MAX];

static void show_place(void)
{
    void *frames[24];
    const int n = backtrace(frames, 24);
    backtrace_symbols_fd(frames, n, STDERR_FILENO);
}

static bool is_of_fontconfig(const void *caller)
{
    Dl_info place;
    return dladdr(caller, &place) && place.dli_fname && strstr(place.dli_fname, "libfontconfig");
}

static bool fails(enum kind of)
{
    if (of != kind)
        return false;
    const unsigned long call = atomic_fetch_add(&calls, 1) + 1;
    if (failing == 0 || (from_then_on ? call < failing : call != failing))
        return false;
    if (traced && call == failing)
        show_place();
    errno = reason;
    return true;
}

static unsigned long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *chosen = getenv("TA_FAIL"), *path = getenv("TA_FAIL_COUNT");
    void *frame[1];
    backtrace(frame, 1); /* loads what it needs now */
    snprintf(count_path, sizeof count_path, "%s", path ? path : "");
    from_then_on = getenv("TA_FAIL_ON");
    one_byte = getenv("TA_FAIL_SHORT");
    traced = getenv("TA_FAIL_TRACE");
    failing = number("TA_FAIL_AT");
    if (number("TA_FAIL_ERRNO"))
        reason = (int)number("TA_FAIL_ERRNO");
    for (int i = 1; chosen && i < KINDS; i++)
        if (strcmp(chosen, names[i]) == 0)
            kind = (enum kind)i;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%lu\n", atomic_load(&calls));
    kind = NONE;
    if (!*count_path)
        return;
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, count_path, flags, 0666);
    if (fd >= 0) {
        syscall(SYS_write, fd, text, (size_t)n);
        syscall(SYS_close, fd);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Those of the C library, or of the sanitizer where it stands in for them. */
#define REAL(type, name, parameters)                                                               \
    extern type __libc_##name parameters;                                                          \
    extern type __interceptor_##name parameters __attribute__((weak));
REAL(void *, malloc, (size_t size))
REAL(void *, calloc, (size_t n, size_t size))
REAL(void *, realloc, (void *old, size_t size))
REAL(void *, memalign, (size_t unit, size_t size))

#define CALL(name, ...)                                                                            \
    (__interceptor_##name ? __interceptor_##name(__VA_ARGS__) : __libc_##name(__VA_ARGS__))

/* A macro, as the caller is that of the function it stands in. */
#define NO_MEMORY() (fails(ALLOC) && !is_of_fontconfig(__builtin_return_address(0)))

void *malloc(size_t size)
{
    return NO_MEMORY() ? NULL : CALL(malloc, size);
}

void *calloc(size_t n, size_t size)
{
    return NO_MEMORY() ? NULL : CALL(calloc, n, size);
}

void *realloc(void *old, size_t size)
{
    return NO_MEMORY() ? NULL : CALL(realloc, old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return NO_MEMORY() ? NULL : CALL(realloc, old, bytes);
}

void *memalign(size_t unit, size_t size)
{
    return NO_MEMORY() ? NULL : CALL(memalign, unit, size);
}

void *aligned_alloc(size_t unit, size_t size)
{
    return NO_MEMORY() ? NULL : CALL(memalign, unit, size);
}

int posix_memalign(void **memory, size_t unit, size_t size)
{
    if (NO_MEMORY())
        return ENOMEM;
    *memory = CALL(memalign, unit, size);
    return *memory ? 0 : ENOMEM;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What a system call gave, in the form of the library. */
static long result(long value)
{
    return value;
}

static bool is_ours(int fd)
{
    return fd == STDERR_FILENO;
}

#define OPENS(name, before, folder)                                                                \
    int name(before const char *path, int flags, ...)                                              \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;              \
        va_end(args);                                                                              \
        return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);             \
    }
#define NOTHING
#define FOLDER int at,
OPENS(open, NOTHING, AT_FDCWD)
OPENS(open64, NOTHING, AT_FDCWD)
OPENS(openat, FOLDER, at)
OPENS(openat64, FOLDER, at)

static size_t length(size_t n)
{
    return one_byte && n > 1 ? 1 : n;
}

ssize_t read(int fd, void *bytes, size_t n)
{
    return fails(READ) ? -1 : result(syscall(SYS_read, fd, bytes, length(n)));
}

static ssize_t pread_at(int fd, void *bytes, size_t n, off_t offset)
{
    return fails(READ) ? -1 : result(syscall(SYS_pread64, fd, bytes, length(n), offset));
}

ssize_t pread(int fd, void *bytes, size_t n, off_t offset)
{
    return pread_at(fd, bytes, n, offset);
}

ssize_t pread64(int fd, void *bytes, size_t n, off_t offset)
{
    return pread_at(fd, bytes, n, offset);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (is_ours(fd))
        return syscall(SYS_write, fd, bytes, n);
    return fails(WRITE) ? -1 : syscall(SYS_write, fd, bytes, length(n));
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    if (!is_ours(fd) && fails(WRITE))
        return -1;
    return syscall(SYS_writev, fd, parts, n);
}

int fsync(int fd)
{
    return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

/* A file whose close() fails is closed all the same. */
int close(int fd)
{
    const int closed = (int)syscall(SYS_close, fd);
    return fails(CLOSE) ? -1 : closed;
}

int rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return fails(RENAME) ? -1
                         : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return fails(MKDIR) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    return fails(MKDIR) ? -1 : (int)syscall(SYS_mkdirat, folder, path, mode);
}

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(MMAP))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map(at, size, protection, flags, fd, offset);
}
