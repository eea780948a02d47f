/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stage of a generation does, by its name: each program has names of its own for the same
 * part of the work. */
#ifndef TA_LIB_STAGE_ROLES_H
#define TA_LIB_STAGE_ROLES_H

#include <traceanalyze/base.h>

enum stage_role {
    STAGE_DENOISE,
    STAGE_DECODE,
    STAGE_TEXT,
    STAGE_SAVE,
    STAGE_LOAD,
    STAGE_ROLES,
    STAGE_UNKNOWN = STAGE_ROLES
};

enum stage_role stage_role(struct ta_slice name);

/* What stages of the role are called together; not of STAGE_UNKNOWN. */
const char *stage_role_name(enum stage_role role);

#endif
