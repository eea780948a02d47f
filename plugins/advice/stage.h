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

/* Whether the host does the work of the stage: the clock of a GPU does not matter to it. */
static inline bool is_host_stage(struct ta_slice name)
{
    static const char *const words[] = {"prepare", "preprocess", "postprocess", "schedul",
                                        "tokeniz", "dataload",   "data_load",   "save",
                                        "export",  "write",      NULL};
    return ta_slice_has_any(name, words);
}

#endif
