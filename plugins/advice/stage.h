/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules tell by the name of a stage. */
#ifndef TA_ADVICE_STAGE_H
#define TA_ADVICE_STAGE_H

#include <traceanalyze/rule.h>

/* Whether the stage turns prompts into embeddings.  "load model → text encode" is the time between
 * two events, of which neither says what was done. */
static inline bool is_text_encoding(struct ta_slice name)
{
    static const char *const words[] = {"text_enc", "text enc",      "text-enc",     "textenc",
                                        "prompt_e", "encode_prompt", "encode prompt"};
    char text[256];
    const size_t n = name.len < sizeof text - 1 ? name.len : sizeof text - 1;
    if (n)
        memcpy(text, name.ptr, n);
    text[n] = '\0';
    if (strstr(text, "→"))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(text, words[i]))
            return true;
    return strcasestr(text, "encode") && strcasestr(text, "text");
}

#endif
