/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules tell by the name of a stage. */
#ifndef TA_ADVICE_STAGE_H
#define TA_ADVICE_STAGE_H

#include <traceanalyze/rule.h>

/* Whether the stage turns prompts into embeddings.  "load model → text encode" is the time between
 * two events, of which neither says what was done. */
static inline bool is_text_encoding(struct ta_slice name)
{
    static const char *const words[] = {"text_enc", "text enc",      "text-enc",      "textenc",
                                        "prompt_e", "encode_prompt", "encode prompt", NULL};
    if (ta_slice_has_word(name, "→"))
        return false;
    return ta_slice_has_any(name, words) ||
           (ta_slice_has_word(name, "encode") && ta_slice_has_word(name, "text"));
}

#endif
