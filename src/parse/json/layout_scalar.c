/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout scanned without vectors, 8 bytes at a time. */
#define TA_SCALAR
#define LAYOUT_SCAN layout_scan_scalar
#include "parse/json/layout_scan.h"
