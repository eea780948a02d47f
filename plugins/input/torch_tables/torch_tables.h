/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of torch's printed texts share. */
#ifndef TA_INPUT_TORCH_TABLES_H
#define TA_INPUT_TORCH_TABLES_H

#include <traceanalyze/document.h>
#include <traceanalyze/dump.h>

struct text_reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    struct ta_lines *lines;
    uint64_t line; /* from 1 */
    uint64_t kept, dropped;
    enum ta_status status;
};

/* The next line, unless something failed. */
bool tt_next(struct text_reading *r);
/* Accounts for a line that is no record. */
void tt_drop(struct text_reading *r, const char *why);

/* How sure it is that a text holds such a file. */
int tt_sniff_operators(struct ta_slice head);
int tt_sniff_memory(struct ta_slice head);
int tt_sniff_stacks(const struct ta_probe *probe);

void tt_read_operators(struct text_reading *r);
void tt_read_memory(struct text_reading *r);
void tt_read_stacks(struct text_reading *r);

bool tt_holds(struct ta_slice text, const char *what);

/* A number with its unit, "-4.50 Kb", "915 MiB", as bytes; TA_MISSING for all else. */
int64_t tt_bytes(struct ta_slice text);

#endif
