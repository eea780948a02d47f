/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout scanned with SSE2, 16 bytes at a time. */
#ifdef __SSE2__

#define LAYOUT_SCAN layout_scan_sse2
#include "parse/json/layout_scan.h"

#else

typedef int ta_not_for_this_processor;

#endif
