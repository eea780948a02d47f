/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks that a thread shares out among itself and its helpers. */
#ifndef TA_BASE_SHARE_H
#define TA_BASE_SHARE_H

#include "base/context.h"
#include "traceanalyze/share.h"

/* ta_share_tasks() for any stage: what helpers spend counts for it. */
enum ta_status ta_share_out(struct ta_ctx *ctx, enum ta_stage stage, size_t n, ta_task *task,
                            void *user) TA_MUST_CHECK;

#endif
