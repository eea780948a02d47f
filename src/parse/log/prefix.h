/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What loggers and launchers put in front of a line. */
#ifndef TA_PARSE_LOG_PREFIX_H
#define TA_PARSE_LOG_PREFIX_H

#include "traceanalyze/log.h"

/* Sets the text, the rank and the time of a line from its `whole`.  Known are
 *
 *     2025-09-30 21:14:00,123 INFO name: text        logging, with parts in any order
 *     2025-09-30 21:14:00,123 - name - INFO - text
 *     2025-09-30 21:14:00.123 | INFO     | name:function:12 - text    loguru
 *     INFO 09-30 21:14:00 [worker.py:123] text        vLLM
 *     [09-30 21:14:00 TP0] text                       SGLang
 *     (Worker_TP0 pid=123) text                       vLLM, Ray
 *     V0930 21:14:00.123000 4711 torch/x.py:12] text  glog and TORCH_LOGS
 *     [rank0]: text, [rank0]:[...] text               torchrun and c10d
 *     3: text                                         srun --label
 *     server-1  | text                                docker compose
 *     2025-09-30T21:14:00.123456789Z stdout F text    containers of Kubernetes
 *     Sep 30 21:14:00 host python[4711]: text         syslog and journalctl
 *     > text                                          quoted in a message
 *
 * A time without its year dates nothing. */
void ta_log_strip_prefix(struct ta_log_line *line);

/* What the clock of a prefix leaves out. */
enum ta_log_clock_kind {
    TA_CLOCK_NONE,
    TA_CLOCK_DAILY,  /* "21:14:00": since midnight */
    TA_CLOCK_YEARLY, /* "09-30 21:14:00": since the first of January of a leap year */
    TA_CLOCK_FULL    /* since 1970 */
};

/* The clock of a line in ns, and how much it says; `*line` gets its text and rank as above.  Lines
 * without any are told by their first characters, which is cheap. */
enum ta_log_clock_kind ta_log_clock_of(struct ta_log_line *line, int64_t *ns);

#endif
