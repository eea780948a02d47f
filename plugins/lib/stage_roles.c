/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roles of stages, by words in their names. */
#include "lib/stage_roles.h"

/* The first row of which all words are in the name counts.  "load model → text encode" is the time
 * between two events, of which neither says what was done; "diffusers_init" and what moves weights
 * are parts of programs, not of generations. */
static const struct {
    const char *word, *and_word;
    enum stage_role role;
} words[] = {
    {"→", "", STAGE_UNKNOWN},
    {"offload", "", STAGE_UNKNOWN},
    {"text_enc", "", STAGE_TEXT},
    {"text enc", "", STAGE_TEXT},
    {"text-enc", "", STAGE_TEXT},
    {"textenc", "", STAGE_TEXT},
    {"prompt_e", "", STAGE_TEXT},
    {"encode_prompt", "", STAGE_TEXT},
    {"encode prompt", "", STAGE_TEXT},
    {"encode", "text", STAGE_TEXT},
    {"init", "", STAGE_UNKNOWN},
    {"save", "", STAGE_SAVE},
    {"export", "", STAGE_SAVE},
    {"write", "video", STAGE_SAVE},
    {"load", "", STAGE_LOAD},
    {"vae", "decod", STAGE_DECODE},
    {"decodingstage", "", STAGE_DECODE}, /* a decode of language models is none */
    {"diffusion", "", STAGE_DENOISE},
    {"denois", "", STAGE_DENOISE},
    {"diffuse", "", STAGE_DENOISE},
    {"sampling", "", STAGE_DENOISE},
};

enum stage_role stage_role(struct ta_slice name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ta_slice_has_word(name, words[i].word) && ta_slice_has_word(name, words[i].and_word))
            return words[i].role;
    return STAGE_UNKNOWN;
}

const char *stage_role_name(enum stage_role role)
{
    static const char *const names[STAGE_ROLES] = {
        [STAGE_DENOISE] = "denoising",  [STAGE_DECODE] = "VAE decoding",
        [STAGE_TEXT] = "text encoding", [STAGE_SAVE] = "saving",
        [STAGE_LOAD] = "loading",
    };
    return names[role];
}
