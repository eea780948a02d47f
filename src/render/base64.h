/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes as base64. */
#ifndef TA_RENDER_BASE64_H
#define TA_RENDER_BASE64_H

#include "traceanalyze/output.h"

/* Bytes as base64, with its padding; threads that are free help with many. */
enum ta_status ta_put_base64(struct ta_ctx *ctx, struct ta_file *out, const void *bytes,
                             size_t n) TA_MUST_CHECK;

#endif
