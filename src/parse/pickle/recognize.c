/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pickles of protocols 0 and 1, which no magic bytes announce, by what their opcodes do. */
#include "parse/pickle/machine.h"

#include <ctype.h>

enum { MARKS = 32 };

/* The opcodes from the start on, as far as one can tell without running them. */
struct walk {
    struct ta_slice left;
    size_t height, marks[MARKS], n_marks;
    bool loads;                           /* something by its name */
    enum { WALKING, CALLS, OTHER } state; /* OTHER: no such pickle */
};

static bool take_line(struct walk *w, struct ta_slice *line)
{
    const char *end = memchr(w->left.ptr, '\n', w->left.len);
    if (!end)
        return false;
    *line = (struct ta_slice){w->left.ptr, (size_t)(end - w->left.ptr)};
    w->left = (struct ta_slice){end + 1, w->left.len - line->len - 1};
    return true;
}

/* Words of letters, digits and underscores with dots between them. */
static bool take_name(struct walk *w)
{
    struct ta_slice line = {0};
    if (!take_line(w, &line) || line.len == 0 || isdigit((unsigned char)line.ptr[0]))
        return false;
    for (size_t i = 0; i < line.len; i++)
        if (!isalnum((unsigned char)line.ptr[i]) && line.ptr[i] != '_' && line.ptr[i] != '.')
            return false;
    return true;
}

/* The line of an opcode: a text in quotes, any text, or a number. */
static bool take_text(struct walk *w, unsigned char opcode)
{
    struct ta_slice line = {0};
    if (!take_line(w, &line))
        return false;
    if (opcode == 'V')
        return true;
    if (opcode == 'S')
        return line.len >= 2 && memchr("'\"", line.ptr[0], 2) &&
               line.ptr[line.len - 1] == line.ptr[0];
    static const char digits[] = "0123456789+-.eEL";
    for (size_t i = 0; i < line.len; i++)
        if (!memchr(digits, line.ptr[i], sizeof digits - 1))
            return false;
    return line.len > 0;
}

static bool skip(struct walk *w, uint64_t n)
{
    if (n > w->left.len)
        return false;
    w->left = ta_slice_from(w->left, (size_t)n);
    return true;
}

static bool skip_sized(struct walk *w, size_t width)
{
    uint64_t n = 0;
    if (width > w->left.len)
        return false;
    for (size_t i = width; i-- > 0;)
        n = n << 8 | (unsigned char)w->left.ptr[i];
    return skip(w, width) && skip(w, n);
}

static bool skip_argument(struct walk *w, unsigned char opcode)
{
    switch (pickle_opcodes[opcode].argument) {
    case ARGUMENT_1:
        return skip(w, 1);
    case ARGUMENT_2:
        return skip(w, 2);
    case ARGUMENT_4:
        return skip(w, 4);
    case ARGUMENT_8:
    case ARGUMENT_DOUBLE:
        return skip(w, 8);
    case ARGUMENT_LINE:
        return take_text(w, opcode);
    case ARGUMENT_SIZED_1:
        return skip_sized(w, 1);
    case ARGUMENT_SIZED_4:
        return skip_sized(w, 4);
    case ARGUMENT_SIZED_8:
        return skip_sized(w, 8);
    case ARGUMENT_NONE:
        break;
    }
    return true;
}

/* Takes so many objects from the stack and puts others there. */
static bool move(struct walk *w, size_t taken, size_t put)
{
    const size_t floor = w->n_marks ? w->marks[w->n_marks - 1] : 0;
    if (w->height < floor + taken)
        return false;
    w->height += put - taken;
    return true;
}

/* Takes what lies above the last mark, and the mark. */
static bool unwind(struct walk *w, size_t put)
{
    if (w->n_marks == 0)
        return false;
    w->height = w->marks[--w->n_marks] + put;
    return true;
}

static bool calls(struct walk *w, bool is_ready)
{
    w->state = CALLS;
    return w->loads && is_ready;
}

static bool step(struct walk *w, unsigned char opcode)
{
    switch (opcode) {
    case 'c':
        w->loads = take_name(w) && take_name(w);
        return w->loads && move(w, 0, 1);
    case 'i':
        w->loads = take_name(w) && take_name(w);
        return calls(w, unwind(w, 1));
    case 'o':
        return calls(w, unwind(w, 1));
    case 'R':
    case 'b':
        return calls(w, move(w, 2, 1));
    case '.':
        return calls(w, w->n_marks == 0 && w->height == 1);
    case '(':
        if (w->n_marks == MARKS)
            return false;
        w->marks[w->n_marks++] = w->height;
        return true;
    case 'l':
    case 't':
    case 'd':
        return unwind(w, 1);
    case 'e':
    case 'u':
        return unwind(w, 0) && move(w, 1, 1);
    case '1':
        return unwind(w, 0);
    case '0':
        return move(w, 1, 0);
    case '2':
        return move(w, 1, 2);
    case 'a':
        return move(w, 2, 1);
    case 's':
        return move(w, 3, 1);
    case 0x85:
    case 0x86:
    case 0x87:
        return move(w, opcode - 0x84u, 1);
    case 'p':
    case 'q':
    case 'r':
        return move(w, 1, 1);
    default:
        return move(w, 0, 1);
    }
}

bool ta_pickle_calls(struct ta_slice head)
{
    struct walk w = {.left = head};
    while (w.state == WALKING) {
        const unsigned char opcode = w.left.len ? (unsigned char)w.left.ptr[0] : 0;
        if (!pickle_opcodes[opcode].run || !skip(&w, 1) || !skip_argument(&w, opcode) ||
            !step(&w, opcode))
            w.state = OTHER;
    }
    return w.state == CALLS;
}
