/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How tables are drawn, as JSON: with it a report that is read again has its charts.  Members that
 * say nothing are left out. */
#include "report/codec_fields.h"

#include <inttypes.h>

static void put_optional(const struct writer *w, const char *key, const char *text)
{
    if (text)
        put_text_field(w, ", ", key, text);
}

static void put_kinds(const struct writer *w, const struct ta_kind *kind)
{
    if (!kind)
        return;
    ta_puts(w->out, ", \"kinds\": [");
    for (const char *lead = "{"; kind->value; kind++, lead = ", {") {
        put_text_field(w, lead, "value", kind->value);
        put_text_field(w, ", ", "label", kind->label);
        put_text_field(w, ", ", "ink", ta_ink_name(kind->ink));
        ta_putc(w->out, '}');
    }
    ta_putc(w->out, ']');
}

static void put_one(const struct writer *w, const struct ta_chart *chart)
{
    put_text_field(w, "{", "id", chart->id);
    put_text_field(w, ", ", "title", chart->title);
    put_text_field(w, ", ", "kind", ta_chart_kind_name(chart->kind));
    put_optional(w, "caption", chart->caption);

    if (!(!chart->label[0])) {
        ta_puts(w->out, ", \"label\": [");
        put_text(w, chart->label[0]);
        if (chart->label[1]) {
            ta_puts(w->out, ", ");
            put_text(w, chart->label[1]);
        }
        ta_putc(w->out, ']');
    }

    put_optional(w, "x", chart->x);

    const struct ta_series *series = chart->y;

    ta_puts(w->out, ", \"y\": [");
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && series[i].column; i++) {
        put_text_field(w, i ? ", {" : "{", "column", series[i].column);
        put_text_field(w, ", ", "label", series[i].label);
        put_text_field(w, ", ", "ink", ta_ink_name(series[i].ink));
        ta_putc(w->out, '}');
    }
    ta_putc(w->out, ']');

    put_optional(w, "group", chart->group);
    put_optional(w, "size", chart->size);
    if (chart->log_x)
        ta_puts(w->out, ", \"log_x\": true");
    if (chart->log_y)
        ta_puts(w->out, ", \"log_y\": true");
    if (chart->whole > 0)
        ta_putf(w->out, ", \"whole\": %" PRId64, chart->whole);
    if (chart->top)
        ta_putf(w->out, ", \"top\": %u", (unsigned)chart->top);

    const struct ta_roof *roof = &chart->roof;

    if (!(!roof->level && !roof->slope)) {
        put_text_field(w, ", \"roof\": {", "level", roof->level);
        put_text_field(w, ", ", "slope", roof->slope);
        put_text_field(w, ", ", "name", roof->name);
        ta_putc(w->out, '}');
    }

    put_kinds(w, chart->kinds);
}

void codec_put_chart(const struct writer *w, const struct ta_chart *chart)
{
    size_t n = 0;
    if (!chart)
        ta_puts(w->out, "null");
    for (; chart; chart = chart->next, n++) {
        if (n)
            ta_puts(w->out, ",\n       \"next\": ");
        put_one(w, chart);
    }
    while (n--)
        ta_putc(w->out, '}');
}
