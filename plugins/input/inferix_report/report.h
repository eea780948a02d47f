/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a session report. */
#ifndef INFERIX_REPORT_H
#define INFERIX_REPORT_H

#include "lib/inferix.h"

/* Steps, blocks, models, layers, lookups of caches and whatever else happened. */
void inferix_report_events(struct inferix *in, json_t *document);
/* Samples since the start of the session, which may be TA_MISSING, and what the report made of
 * them. */
void inferix_report_telemetry(struct inferix *in, json_t *document, int64_t start_ns);

#endif
