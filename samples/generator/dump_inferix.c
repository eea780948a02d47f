/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placeholder. */
#include "dumps.h"

bool dump_inferix(const char *folder, uint64_t seed)
{
    (void)folder;
    (void)seed;
    return false;
}
