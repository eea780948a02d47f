/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout scanned with AVX2, 32 bytes at a time. */
#ifdef __AVX2__

#define LAYOUT_SCAN layout_scan_avx2
#include "parse/json/layout_scan.h"

#else

typedef int ta_not_for_this_processor;

#endif
