/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TA_BLOCK_SIZES_H
#define TA_BLOCK_SIZES_H

#include "model/allocator.h"

#include <traceanalyze/dump.h>

/* Finds `block_bytes` of all entries of the histories; false without memory. */
bool ta_block_sizes_find(struct ta_allocator *allocator);

#endif
