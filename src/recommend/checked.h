/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every rule looked for, and whether it found it: readers learn from it what is not wrong. */
#ifndef TA_CHECKED_H
#define TA_CHECKED_H

#include "plugin/registry.h"
#include "report/report.h"

/* Adds findings.rules.  `found` has the number of findings of each rule of the registry, in its
 * order. */
void ta_checked_list(const struct ta_registry *registry, const struct ta_report *report,
                     const size_t *found, struct ta_section_builder *out);

#endif
