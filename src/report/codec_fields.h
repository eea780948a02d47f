/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of JSON objects, of which codec.c makes a report. */
#ifndef TA_REPORT_CODEC_FIELDS_H
#define TA_REPORT_CODEC_FIELDS_H

#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"

struct writer {
    struct ta_file *out;
    bool in_script;  /* the text will stand inside <script> */
    size_t max_rows; /* of each table; 0 is all */
};

static inline void put_text(const struct writer *w, const char *text)
{
    if (text)
        ta_put_json(w->out, ta_slice_of(text), w->in_script);
    else
        ta_puts(w->out, "null");
}

/* `lead` holds the separator before the key. */
static inline void put_key(const struct writer *w, const char *lead, const char *key)
{
    ta_puts(w->out, lead);
    ta_putc(w->out, '"');
    ta_puts(w->out, key);
    ta_puts(w->out, "\": ");
}

static inline void put_text_field(const struct writer *w, const char *lead, const char *key,
                                  const char *text)
{
    put_key(w, lead, key);
    put_text(w, text);
}

/* What a table is drawn as, and the charts after it (codec_chart.c); NULL is null. */
void codec_put_chart(const struct writer *w, const struct ta_chart *chart);

#endif
