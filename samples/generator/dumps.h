/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the profilers of three video and text generators write, of simulated runs. */
#ifndef GENERATOR_DUMPS_H
#define GENERATOR_DUMPS_H

#include <stdbool.h>
#include <stdint.h>

enum dumps {
    DUMPS_NONE,
    DUMPS_INFERIX,
    DUMPS_FRAMEPACK,
    DUMPS_DIFFULEX,
    DUMPS_COUNT,
};

extern const char *const dumps_names[DUMPS_COUNT];

/* Into a folder that exists; false after a message on standard error. */
bool dumps_write(enum dumps dumps, const char *folder, uint64_t seed);

/* Makes a folder below another one and puts its path into 4096 bytes. */
bool dumps_folder(char *path, const char *folder, const char *name);

bool dump_inferix(const char *folder, uint64_t seed);
bool dump_framepack(const char *folder, uint64_t seed);
bool dump_diffulex(const char *folder, uint64_t seed);

#endif
