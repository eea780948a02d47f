/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How tables are drawn, as JSON: with it a report that is read again has its charts.  Members that
 * say nothing are left out. */
#include "report/fields.h"

#include <inttypes.h>

static void put_one(const struct writer *w, const struct ta_chart *chart)
{
    fields_put(w, "{", &shape_chart, chart);
    for (size_t i = 0; i < TA_CHART_LABELS && chart->label[i]; i++) {
        ta_puts(w->out, i ? ", " : ", \"label\": [");
        put_text(w, chart->label[i]);
    }
    if (chart->label[0])
        ta_putc(w->out, ']');
    fields_put(w, ", ", &shape_chart_x, chart);
    ta_puts(w->out, ", \"y\": [");
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && chart->y[i].column; i++) {
        fields_put(w, i ? ", {" : "{", &shape_series, &chart->y[i]);
        ta_putc(w->out, '}');
    }
    ta_putc(w->out, ']');
    fields_put(w, ", ", &shape_chart_rest, chart);
    if (chart->whole > 0)
        ta_putf(w->out, ", \"whole\": %" PRId64, chart->whole);
    if (chart->top)
        ta_putf(w->out, ", \"top\": %u", (unsigned)chart->top);
    if (chart->roof.level || chart->roof.slope) {
        fields_put(w, ", \"roof\": {", &shape_roof, &chart->roof);
        ta_putc(w->out, '}');
    }
    if (!chart->kinds)
        return;
    ta_puts(w->out, ", \"kinds\": [");
    for (const struct ta_kind *kind = chart->kinds; kind->value; kind++) {
        fields_put(w, kind == chart->kinds ? "{" : ", {", &shape_kind, kind);
        ta_putc(w->out, '}');
    }
    ta_putc(w->out, ']');
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
