/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions that begin and end. */
#include "console.h"

#include <stdlib.h>

void console_add_session(struct console *c, struct ta_slice id, int64_t dur_ns)
{
    struct ta_session session = ta_unknown_session();
    session.id = inferix_intern(&c->in, id);
    session.dur_ns = dur_ns;
    INFERIX_ADD(&c->in, session, &session);
    c->in.kept++;
}

void console_close_session(struct console *c)
{
    if (c->open)
        console_add_session(c, (struct ta_slice){c->session, c->session_len}, TA_MISSING);
    c->open = false;
}

static bool name_session(struct console *c, struct ta_slice id)
{
    char *copy = malloc(id.len + 1);
    if (!copy) {
        c->in.status = ta_fail(c->in.ctx, TA_ERR_NOMEM, "Cannot hold the name of a session");
        return false;
    }
    memcpy(copy, id.ptr, id.len);
    free(c->session);
    c->session = copy;
    c->session_len = id.len;
    return true;
}

static bool is_session(const struct console *c, struct ta_slice id)
{
    return c->session && ta_slice_equal(id, (struct ta_slice){c->session, c->session_len});
}

void console_take_session(struct console *c)
{
    struct ta_slice text = c->line, id;
    while (console_behind(&text, SESSION)) {
        const struct ta_slice rest = text;
        if (console_before(&text, "' ended (duration: ", &id)) {
            if (!is_session(c, id))
                console_close_session(c);
            c->open = false;
            if (name_session(c, id))
                console_add_session(c, id, ta_text_decimal(console_number_at(text), 9));
            continue;
        }
        text = rest;
        if (console_before(&text, "' started", &id)) {
            console_close_session(c);
            c->open = name_session(c, id);
        }
    }
    text = c->line;
    if (!c->open && console_behind(&text, METRICS) && console_before(&text, ") ===", &id) &&
        !is_session(c, id) && name_session(c, id))
        c->open = true;
}
