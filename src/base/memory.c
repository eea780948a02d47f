/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of the machine, of the control group, and of the process. */
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads a small file as a string; "" when there is none. */
static void read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    const size_t n = file ? fread(text, 1, size - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
}

/* A limit as a number of bytes; "max" and no file at all are none. */
static uint64_t limit_in(const char *folder, const char *name)
{
    char path[4200], text[64], *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    read_text(path, text, sizeof text);
    const uint64_t limit = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : limit;
}

/* The least limit of a folder and of those above it up to `root`. */
static uint64_t limit_of(const char *root, const char *group, size_t length, const char *name)
{
    char folder[4096];
    const size_t shortest = strlen(root);
    const int n = snprintf(folder, sizeof folder, "%s%.*s", root, (int)length, group);
    if (n < 0 || (size_t)n >= sizeof folder)
        return UINT64_MAX;
    uint64_t least = UINT64_MAX;
    for (;;) {
        const uint64_t limit = limit_in(folder, name);
        least = limit < least ? limit : least;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < shortest)
            return least;
        *slash = '\0';
    }
}

uint64_t ta_memory_of_groups(const char *root, const char *groups)
{
    uint64_t least = UINT64_MAX;
    char first[4096];
    snprintf(first, sizeof first, "%s/memory", root);
    while (*groups) {
        const size_t length = strcspn(groups, "\n");
        const char *controllers = memchr(groups, ':', length);
        const char *path =
            controllers ? memchr(controllers + 1, ':', length - (size_t)(controllers + 1 - groups))
                        : NULL;
        if (path) { /* "0::/group" of version 2, "7:memory:/group" of version 1 */
            const struct ta_slice names = {controllers + 1, (size_t)(path - controllers - 1)};
            const size_t rest = length - (size_t)(path + 1 - groups);
            uint64_t limit = UINT64_MAX;
            if (names.len == 0)
                limit = limit_of(root, path + 1, rest, "memory.max");
            else if (memmem(names.ptr, names.len, "memory", 6))
                limit = limit_of(first, path + 1, rest, "memory.limit_in_bytes");
            least = limit < least ? limit : least;
        }
        groups += length + (groups[length] == '\n');
    }
    return least;
}

uint64_t ta_memory_preset(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    char groups[8192];
    read_text("/proc/self/cgroup", groups, sizeof groups);
    const uint64_t group = ta_memory_of_groups("/sys/fs/cgroup", groups);
    const uint64_t least = group < machine ? group : machine;
    const uint64_t preset = least == UINT64_MAX ? least : least / 4 * 3;
    const uint64_t space = ta_memory_space();
    return space / 2 < preset && space != UINT64_MAX ? space / 2 : preset;
}

uint64_t ta_memory_space(void)
{
    uint64_t least = UINT64_MAX;
    static const enum __rlimit_resource kinds[] = {RLIMIT_AS, RLIMIT_DATA};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rlimit limit;
        if (getrlimit(kinds[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
            limit.rlim_cur < least)
            least = limit.rlim_cur;
    }
    return least;
}

uint64_t ta_memory_used(void)
{
    char text[128];
    uint64_t pages = 0, of_files = 0;
    read_text("/proc/self/statm", text, sizeof text);
    if (sscanf(text, "%*u %" SCNu64 " %" SCNu64, &pages, &of_files) != 2 || pages < of_files)
        return 0;
    return (pages - of_files) * (uint64_t)sysconf(_SC_PAGESIZE);
}
