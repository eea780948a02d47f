/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which dumps there are, and their folders. */
#define _POSIX_C_SOURCE 200809L
#include "dumps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_PATH = 4096 };

const char *const dumps_names[DUMPS_COUNT] = {
    [DUMPS_NONE] = "none",
    [DUMPS_INFERIX] = "inferix",
    [DUMPS_FRAMEPACK] = "framepack",
    [DUMPS_DIFFULEX] = "diffulex",
};

bool dumps_write(enum dumps dumps, const char *folder, uint64_t seed)
{
    static bool (*const writers[DUMPS_COUNT])(const char *, uint64_t) = {
        [DUMPS_INFERIX] = dump_inferix,
        [DUMPS_FRAMEPACK] = dump_framepack,
        [DUMPS_DIFFULEX] = dump_diffulex,
    };
    return writers[dumps](folder, seed);
}

bool dumps_folder(char *path, const char *folder, const char *name)
{
    const int length = snprintf(path, MAX_PATH, "%s/%s", folder, name);
    if (length > 0 && length < MAX_PATH && (mkdir(path, 0777) == 0 || errno == EEXIST))
        return true;
    fprintf(stderr, "traceanalyze-generate: %s/%s: %s\n", folder, name,
            length < MAX_PATH ? strerror(errno) : "the name is too long");
    return false;
}
