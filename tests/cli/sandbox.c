/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a program that is killed as soon as it opens a socket or starts another program:
 *
 *     sandbox PROGRAM [ARGUMENT...]
 *
 * Threads are fine.  Ends with 77 where the kernel has no such filters. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum { CANNOT = 77 };

#ifdef ARCHITECTURE

#define FIELD(name) (uint32_t)(offsetof(struct seccomp_data, name))
#define LOW(argument) (FIELD(args) + 8 * (argument))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
/* Goes on behind the next `skip` statements unless the loaded word equals `value`. */
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, (skip))
#define KILL_ON(call) UNLESS(call, 1), RETURN(SECCOMP_RET_KILL_PROCESS)

/* The one execve() that is allowed is ours: its path lies at an address that another program
 * would have to hit by chance. */
static int confine(const char *path)
{
    const uint64_t ours = (uint64_t)(uintptr_t)path;
    struct sock_filter filter[] = {
        LOAD(FIELD(arch)),
        UNLESS(ARCHITECTURE, 1),
        BPF_STMT(BPF_JMP | BPF_JA, 1),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(FIELD(nr)),
        KILL_ON(SYS_socket),
        KILL_ON(SYS_socketpair),
        KILL_ON(SYS_connect),
        KILL_ON(SYS_ptrace),
        KILL_ON(SYS_execveat),
#ifdef SYS_fork
        KILL_ON(SYS_fork),
        KILL_ON(SYS_vfork),
#endif
        /* Its flags lie in memory: the library takes clone() instead. */
        UNLESS(SYS_clone3, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        UNLESS(SYS_clone, 4),
        LOAD(LOW(0)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        RETURN(SECCOMP_RET_ALLOW),
        UNLESS(SYS_execve, 5),
        LOAD(LOW(0)),
        UNLESS(ours, 2),
        LOAD(LOW(0) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(ours >> 32), 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        RETURN(SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

static int confine(const char *path)
{
    (void)path;
    errno = ENOSYS;
    return -1;
}

#endif

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: sandbox PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    if (confine(argv[1]) != 0) {
        fprintf(stderr, "no filter of system calls: %s\n", strerror(errno));
        return CANNOT;
    }
    execv(argv[1], argv + 1);
    fprintf(stderr, "cannot run %s: %s\n", argv[1], strerror(errno));
    return 2;
}
