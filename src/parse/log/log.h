/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of logs, which shows each line to the log plugins that may know it. */
#ifndef TA_PARSE_LOG_LOG_H
#define TA_PARSE_LOG_LOG_H

#include "traceanalyze/log.h"

/* What the input plugin of logs is made of (struct ta_input_ops). */
int ta_log_sniff(const struct ta_probe *probe);
enum ta_status ta_log_read(struct ta_ctx *ctx, struct ta_reader *reader,
                           struct ta_builder *builder);

#endif
