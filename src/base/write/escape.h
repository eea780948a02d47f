/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the writers of all contexts begin with: text as characters that can be shown. */
#ifndef TA_WRITE_ESCAPE_H
#define TA_WRITE_ESCAPE_H

#include "base/utf8.h"
#include "base/visible.h"

struct ta_file;

#define TA_REPLACEMENT TA_LIT("\xef\xbf\xbd") /* U+FFFD */

/* Takes one character off the front for a file: what ta_visible_step() shows, but U+FFFD for
 * bytes that are not UTF-8. */
static inline struct ta_slice ta_next_visible(struct ta_slice *text, char step[TA_VISIBLE_STEP_MAX])
{
    if (ta_utf8_length(text->ptr, text->len) == 0) {
        *text = ta_slice_from(*text, 1);
        return TA_REPLACEMENT;
    }
    return (struct ta_slice){step, ta_visible_step(text, step)};
}

/* A code span of Markdown that cannot end a table cell. */
void ta_put_markdown(struct ta_file *out, struct ta_slice text);

#endif
