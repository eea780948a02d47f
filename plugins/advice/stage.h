/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules tell by the name of a stage. */
#ifndef TA_ADVICE_STAGE_H
#define TA_ADVICE_STAGE_H

#include "lib/stage_roles.h"

#include <traceanalyze/rule.h>

/* Whether the stage turns prompts into embeddings. */
static inline bool is_text_encoding(struct ta_slice name)
{
    return stage_role(name) == STAGE_TEXT;
}

#endif
