/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An expression is compiled while it is read: parts that follow each other in it do so in the
 * code, and jumps are relative, so a repeat copies the code of what it repeats. */
#include "base/regex.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the code -------------------------------------------------------------------------------- */

enum operation {
    TAKE,   /* a byte of a set */
    SPLIT,  /* go on at both places; the way over `next` counts before that over `other` */
    JUMP,   /* go on at `next` */
    OPEN,   /* the first group begins here */
    CLOSE,  /* and ends here */
    ASSERT, /* go on where `assertion` holds */
    MATCH
};

enum assertion { TEXT_START, TEXT_END, WORD_START, WORD_END, WORD_EDGE, NO_WORD_EDGE };

struct instruction {
    uint8_t operation, assertion;
    int16_t next, other; /* relative to this instruction */
    int16_t set;         /* number of a set of bytes */
};

struct set {
    uint64_t bits[4];
};

/* A way to match that is being followed. */
struct way {
    size_t start;
    struct ta_regex_part group;
    int pc;
};

struct ways {
    struct way at[TA_REGEX_MOST + 1];
    size_t n;
};

struct ta_regex {
    struct instruction code[TA_REGEX_MOST + 1];
    int n;
    struct set sets[TA_REGEX_LONGEST]; /* one for each byte of the expression at most */
    int n_sets;
    size_t n_groups;
    /* Of a search: */
    const char *text;
    struct ways ways[2];
    uint64_t seen[TA_REGEX_MOST + 1]; /* the turn at which an instruction was last come to */
    uint64_t turn;
    bool found;
    struct way best;
    size_t best_end;
};

/* ---- reading an expression ------------------------------------------------------------------- */

struct reading {
    struct ta_regex *regex;
    const char *text, *p;
    const char *why; /* the first that is wrong, and where */
    const char *wrong_at;
    int depth;
};

static bool refuse(struct reading *r, const char *at, const char *why)
{
    if (!r->why) {
        r->why = why;
        r->wrong_at = at;
    }
    return false;
}

static bool has_room(struct reading *r, int n)
{
    return r->regex->n + n <= TA_REGEX_MOST
               ? true
               : refuse(r, r->p,
                        "with its repeats written out it has more than 512 parts: use + or * "
                        "instead of {m,n}, or repeat less");
}

static bool put(struct reading *r, struct instruction instruction)
{
    if (!has_room(r, 1))
        return false;
    r->regex->code[r->regex->n++] = instruction;
    return true;
}

/* Makes room before the code from `from` on. */
static bool insert(struct reading *r, int from, struct instruction instruction)
{
    struct instruction *const code = r->regex->code;
    if (!has_room(r, 1))
        return false;
    memmove(&code[from + 1], &code[from], (size_t)(r->regex->n++ - from) * sizeof *code);
    code[from] = instruction;
    return true;
}

static struct instruction split(int next, int other)
{
    return (struct instruction){.operation = SPLIT, .next = (int16_t)next, .other = (int16_t)other};
}

static struct set *new_set(struct ta_regex *regex)
{
    return &regex->sets[regex->n_sets++];
}

static void add_byte(struct set *set, unsigned byte)
{
    set->bits[byte / 64] |= UINT64_C(1) << byte % 64;
}

static bool has_byte(const struct set *set, unsigned char byte)
{
    return set->bits[byte / 64] >> byte % 64 & 1;
}

static void add_range(struct set *set, unsigned first, unsigned last)
{
    for (unsigned byte = first; byte <= last; byte++)
        add_byte(set, byte);
}

static void invert(struct set *set)
{
    for (int i = 0; i < 4; i++)
        set->bits[i] = ~set->bits[i];
}

static bool put_set(struct reading *r)
{
    return put(r, (struct instruction){.operation = TAKE, .set = (int16_t)(r->regex->n_sets - 1)});
}

static bool put_byte(struct reading *r, char byte)
{
    add_byte(new_set(r->regex), (unsigned char)byte);
    return put_set(r);
}

/* ---- sets in brackets ------------------------------------------------------------------------ */

/* As in the C locale. */
static const struct {
    const char *name;
    const char *ranges; /* first and last byte of each */
} classes[] = {
    {"alnum", "09AZaz"},   {"alpha", "AZaz"},   {"blank", "\t\t  "}, {"cntrl", "\001\037\177\177"},
    {"digit", "09"},       {"graph", "!~"},     {"lower", "az"},     {"print", " ~"},
    {"punct", "!/:@[`{~"}, {"space", "\t\r  "}, {"upper", "AZ"},     {"xdigit", "09AFaf"},
};

static void add_ranges(struct set *set, const char *ranges)
{
    for (; *ranges; ranges += 2)
        add_range(set, (unsigned char)ranges[0], (unsigned char)ranges[1]);
}

/* The class between [: and :]. */
static bool add_class(struct reading *r, struct set *set)
{
    const char *const name = r->p + 2, *const end = strstr(name, ":]");
    for (size_t i = 0; end && i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == (size_t)(end - name) &&
            memcmp(classes[i].name, name, (size_t)(end - name)) == 0) {
            add_ranges(set, classes[i].ranges);
            r->p = end + 2;
            return true;
        }
    return refuse(r, r->p,
                  "no such class of characters: there are [:digit:], [:alnum:] and others");
}

/* One byte in brackets: itself, or between [. and .] or [= and =]. */
static bool read_member(struct reading *r, unsigned char *byte)
{
    const char kind = r->p[0] == '[' ? r->p[1] : '\0';
    if (kind == '.' || kind == '=') {
        if (!r->p[2] || r->p[3] != kind || r->p[4] != ']')
            return refuse(r, r->p, "a collating element that is more than one character");
        *byte = (unsigned char)r->p[2];
        r->p += 5;
        return true;
    }
    if (!*r->p)
        return refuse(r, r->p, "a bracket is not closed");
    *byte = (unsigned char)*r->p++;
    return true;
}

static bool read_range(struct reading *r, struct set *set)
{
    const char *const start = r->p;
    unsigned char first, last;
    if (!read_member(r, &first))
        return false;
    last = first;
    if (r->p[0] == '-' && r->p[1] && r->p[1] != ']') {
        r->p++;
        if (!read_member(r, &last))
            return false;
    }
    if (last < first)
        return refuse(r, start, "a range whose end comes before its start");
    add_range(set, first, last);
    return true;
}

static bool read_bracket(struct reading *r)
{
    struct set *set = new_set(r->regex);
    const bool is_inverted = *++r->p == '^';
    r->p += is_inverted;
    for (const char *first = r->p; r->p == first || *r->p != ']';) {
        const bool is_class = r->p[0] == '[' && r->p[1] == ':';
        if (!(is_class ? add_class(r, set) : read_range(r, set)))
            return false;
    }
    r->p++;
    if (is_inverted)
        invert(set);
    return put_set(r);
}

/* ---- repeats --------------------------------------------------------------------------------- */

enum { UNBOUNDED = -1, REPEATS_MOST = 255 /* as POSIX asks for */ };

/* A number in braces, or −1 where there is none. */
static int read_count(struct reading *r)
{
    if (!isdigit((unsigned char)*r->p))
        return -1;
    int n = 0;
    for (; isdigit((unsigned char)*r->p); r->p++)
        n = n > REPEATS_MOST ? n : n * 10 + (*r->p - '0');
    return n;
}

/* {m}, {m,}, {,n} or {m,n}. */
static bool read_braces(struct reading *r, int *least, int *most)
{
    const char *const start = r->p++;
    *least = *most = read_count(r);
    if (*r->p == ',') {
        r->p++;
        *most = read_count(r);
    } else if (*least < 0) {
        return refuse(r, start, "a repeat without a number");
    }
    if (*r->p++ != '}') {
        r->p--;
        return refuse(r, start, "a repeat in braces is {m}, {m,}, {,n} or {m,n}; a brace is \\{");
    }
    *least = *least < 0 ? 0 : *least;
    if (*least > REPEATS_MOST || *most > REPEATS_MOST)
        return refuse(r, start, "a repeat of more than 255 times: use + or *");
    return *most == UNBOUNDED || *least <= *most ||
           refuse(r, start, "a repeat whose most is less than its least");
}

/* Appends a copy of code. */
static bool put_copy(struct reading *r, const struct instruction *code, int n)
{
    if (!has_room(r, n))
        return false;
    memcpy(&r->regex->code[r->regex->n], code, (size_t)n * sizeof *code);
    r->regex->n += n;
    return true;
}

/* Repeats the code from `from` on. */
static bool repeat(struct reading *r, int from, int least, int most)
{
    struct instruction body[TA_REGEX_MOST];
    const int n = r->regex->n - from;
    bool done = true;
    if (n == 0)
        return true;
    memcpy(body, &r->regex->code[from], (size_t)n * sizeof *body);
    r->regex->n = from;
    for (int i = 0; done && i < least; i++)
        done = put_copy(r, body, n);
    if (most == UNBOUNDED && least > 0)
        return done && put(r, split(-n, 1));
    if (most == UNBOUNDED)
        return put(r, split(1, n + 2)) && put_copy(r, body, n) &&
               put(r, (struct instruction){.operation = JUMP, .next = (int16_t)(-n - 1)});
    for (int left = most - least; done && left > 0; left--)
        done =
            has_room(r, left * (n + 1)) && put(r, split(1, left * (n + 1))) && put_copy(r, body, n);
    return done;
}

/* The repeats after the part that begins at `from`. */
static bool read_repeats(struct reading *r, int from)
{
    for (;;) {
        int least = *r->p == '+', most = *r->p == '?' ? 1 : UNBOUNDED;
        if (*r->p == '{') {
            if (!read_braces(r, &least, &most))
                return false;
        } else if (*r->p && strchr("*+?", *r->p)) {
            r->p++;
        } else {
            return true;
        }
        if (!repeat(r, from, least, most))
            return false;
    }
}

/* ---- the parts of an expression -------------------------------------------------------------- */

static bool read_alternatives(struct reading *r);

static bool read_group(struct reading *r)
{
    const char *const start = r->p++;
    const bool is_first = r->regex->n_groups++ == 0;
    if (++r->depth > TA_REGEX_DEPTH)
        return refuse(r, start, "more than 32 groups within one another");
    if ((is_first && !put(r, (struct instruction){.operation = OPEN})) || !read_alternatives(r))
        return false;
    r->depth--;
    if (*r->p != ')')
        return refuse(r, start, "a group is not closed");
    r->p++;
    return !is_first || put(r, (struct instruction){.operation = CLOSE});
}

static bool put_assertion(struct reading *r, enum assertion assertion)
{
    r->p++;
    if (*r->p && strchr("*+?{", *r->p))
        return refuse(r, r->p, "a repeat of a place, which has no length");
    return put(r, (struct instruction){.operation = ASSERT, .assertion = (uint8_t)assertion});
}

/* Bytes of words are letters, digits and the underscore. */
static bool put_kind(struct reading *r, const char *ranges, bool is_inverted)
{
    struct set *set = new_set(r->regex);
    add_ranges(set, ranges);
    if (is_inverted)
        invert(set);
    r->p++;
    return put_set(r);
}

static bool read_escape(struct reading *r)
{
    static const char words[] = "09AZaz__", spaces[] = "\t\r  ";
    const char c = *++r->p;
    switch (c) {
    case '\0':
        return refuse(r, r->p - 1, "a backslash at the end");
    case 'w':
    case 'W':
        return put_kind(r, words, c == 'W');
    case 's':
    case 'S':
        return put_kind(r, spaces, c == 'S');
    case '<':
        return put_assertion(r, WORD_START);
    case '>':
        return put_assertion(r, WORD_END);
    case 'b':
        return put_assertion(r, WORD_EDGE);
    case 'B':
        return put_assertion(r, NO_WORD_EDGE);
    case '`':
        return put_assertion(r, TEXT_START);
    case '\'':
        return put_assertion(r, TEXT_END);
    default:
        break;
    }
    if (c >= '1' && c <= '9')
        return refuse(r, r->p - 1,
                      "a back-reference, whose search takes time without bound: write "
                      "out what it stands for");
    if (isalnum((unsigned char)c))
        return refuse(r, r->p - 1,
                      c == 'd' ? "\\d is not of POSIX: write [0-9]"
                               : "an escape that POSIX does not define");
    return put_byte(r, *r->p++);
}

/* Something, without what repeats it. */
static bool read_atom(struct reading *r)
{
    switch (*r->p) {
    case '(':
        return read_group(r);
    case '[':
        return read_bracket(r);
    case '\\':
        return read_escape(r);
    case '^':
        return put_assertion(r, TEXT_START);
    case '$':
        return put_assertion(r, TEXT_END);
    case '.':
        add_range(new_set(r->regex), 1, UINT8_MAX);
        r->p++;
        return put_set(r);
    case '*':
    case '+':
    case '?':
    case '{':
        return refuse(r, r->p, "a repeat of nothing");
    default:
        return put_byte(r, *r->p++);
    }
}

/* Whether an alternative ends here: a ) without its ( is a character. */
static bool ends(const struct reading *r)
{
    return *r->p == '\0' || *r->p == '|' || (*r->p == ')' && r->depth > 0);
}

static bool read_alternative(struct reading *r)
{
    while (!ends(r)) {
        const int from = r->regex->n;
        if (!read_atom(r) || !read_repeats(r, from))
            return false;
    }
    return true;
}

/* Each alternative but the last: a split before it, and a jump after it over the others. */
static bool read_alternatives(struct reading *r)
{
    int from = r->regex->n, jumps = -1; /* jumps: the last one, which leads to that before it */
    while (read_alternative(r)) {
        struct instruction *const code = r->regex->code;
        if (*r->p != '|') {
            for (int at = jumps; at >= 0;) {
                const int before = code[at].other;
                code[at].next = (int16_t)(r->regex->n - at);
                code[at].other = 0;
                at = before;
            }
            return true;
        }
        r->p++;
        if (!insert(r, from, split(1, r->regex->n - from + 2)) ||
            !put(r, (struct instruction){.operation = JUMP, .other = (int16_t)jumps}))
            return false;
        jumps = r->regex->n - 1;
        from = r->regex->n;
    }
    return false;
}

static bool read_all(struct reading *r)
{
    if (strlen(r->text) > TA_REGEX_LONGEST)
        return refuse(r, r->text + TA_REGEX_LONGEST, "it is longer than 1024 bytes");
    if (!read_alternatives(r))
        return false;
    r->regex->code[r->regex->n++] = (struct instruction){.operation = MATCH};
    return r->regex->n_groups > 0 || refuse(r, r->text, "it has no group in parentheses");
}

struct ta_regex *ta_regex_new(const char *text, struct ta_regex_error *error)
{
    struct ta_regex *regex = calloc(1, sizeof *regex);
    struct reading r = {.regex = regex, .text = text, .p = text};
    if (regex && read_all(&r))
        return regex;
    error->text[0] = '\0';
    if (regex)
        snprintf(error->text, sizeof error->text, "%s (byte %zu)", r.why,
                 (size_t)(r.wrong_at - text) + 1);
    free(regex);
    return NULL;
}

void ta_regex_free(struct ta_regex *regex)
{
    free(regex);
}

/* ---- searching ------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool holds(const struct ta_regex *regex, enum assertion assertion, size_t at)
{
    const bool before = at > 0 && is_word(regex->text[at - 1]), behind = is_word(regex->text[at]);
    switch (assertion) {
    case TEXT_START:
        return at == 0;
    case TEXT_END:
        return regex->text[at] == '\0';
    case WORD_START:
        return !before && behind;
    case WORD_END:
        return before && !behind;
    case WORD_EDGE:
        return before != behind;
    default:
        return before == behind;
    }
}

static void take_match(struct ta_regex *regex, const struct way *way, size_t at)
{
    const struct way *best = &regex->best;
    if (regex->found &&
        (way->start > best->start || (way->start == best->start && at <= regex->best_end)))
        return;
    regex->found = true;
    regex->best = *way;
    regex->best_end = at;
}

/* Follows a way up to where it takes a byte or has matched, at a place of the text.  Each
 * instruction is come to once at a place, by the way that counts first, so this is as deep as there
 * are instructions at most. */
static void follow(struct ta_regex *regex, struct ways *ways, struct way way, size_t at)
{
    while (regex->seen[way.pc] != regex->turn) {
        const struct instruction *const i = &regex->code[way.pc];
        regex->seen[way.pc] = regex->turn;
        switch (i->operation) {
        case TAKE:
            ways->at[ways->n++] = way;
            return;
        case MATCH:
            take_match(regex, &way, at);
            return;
        case SPLIT: {
            struct way first = way;
            first.pc += i->next;
            follow(regex, ways, first, at);
            way.pc += i->other;
            break;
        }
        case JUMP:
            way.pc += i->next;
            break;
        case OPEN:
            way.group = (struct ta_regex_part){at, SIZE_MAX};
            way.pc++;
            break;
        case CLOSE:
            way.group.end = at;
            way.pc++;
            break;
        default:
            if (!holds(regex, (enum assertion)i->assertion, at))
                return;
            way.pc++;
        }
    }
}

bool ta_regex_search(struct ta_regex *regex, const char *text, struct ta_regex_part *group)
{
    struct ways *now = &regex->ways[0], *next = &regex->ways[1];
    regex->text = text;
    regex->found = false;
    now->n = 0;
    regex->turn++;
    for (size_t at = 0;; at++) {
        if (!regex->found) /* ways that begin earlier count first */
            follow(regex, now, (struct way){at, {SIZE_MAX, SIZE_MAX}, 0}, at);
        if (text[at] == '\0' || (regex->found && now->n == 0))
            break;
        regex->turn++;
        next->n = 0;
        for (size_t k = 0; k < now->n; k++) {
            struct way way = now->at[k];
            const struct set *set = &regex->sets[regex->code[way.pc].set];
            if (!has_byte(set, (unsigned char)text[at]) ||
                (regex->found && way.start > regex->best.start))
                continue;
            way.pc++;
            follow(regex, next, way, at + 1);
        }
        struct ways *const swap = now;
        now = next;
        next = swap;
    }
    if (regex->found)
        *group = regex->best.group.end == SIZE_MAX ? (struct ta_regex_part){SIZE_MAX, SIZE_MAX}
                                                   : regex->best.group;
    return regex->found;
}
