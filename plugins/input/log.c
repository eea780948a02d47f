/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Console logs, whose lines the plugins of kind log know. */
#include "parse/log/log.h"

#include <traceanalyze/plugin.h>

static const struct ta_input_ops ops = {.sniff = ta_log_sniff, .read = ta_log_read};

TA_PLUGIN(input, log, &ops, .title = "Console log",
          .summary = "Lines that programs print: tables, progress bars, errors, stages, requests",
          .version = "1");
