/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal text to integers. */
#ifndef TA_BASE_NUMBER_H
#define TA_BASE_NUMBER_H

#include "traceanalyze/document.h"

/* Decimal text × 10^shift → int64, halves away from zero, exactly: never through a double.
 * shift 3 turns µs into ns.  Accepts the number grammar of JSON. */
enum ta_decimal ta_decimal_parse(struct ta_slice text, int shift, int64_t *value);

#endif
