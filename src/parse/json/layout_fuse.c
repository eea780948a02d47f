/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fusing gaps of the learned layout around values that hardly change.
 *
 *     , "cat": "cpu_op", "name": "aten::mm"
 *     ▔▔▔▔▔▔▔▔▔        ▔▔▔▔▔▔▔▔▔▔               two gaps around a value …
 *     ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔               … and what becomes of them
 *
 * Some records are watched: the first ones, and then a few now and again. Scanning takes a note of
 * each gap and value in them (struct step). How often a value came after a gap that followed the
 * same one before is counted by a hash, without the values. When one came OFTEN times, and that is
 * a fair share, the text from this gap to the end of the next one becomes a gap of its own, which
 * is put before the plain one where that was found. Its text comes from the record in hand, so a
 * collision of hashes could at worst fuse a value that is not worth it. */
#include "base/hash.h"
#include "parse/json/layout.h"

enum {
    OFTEN = 12,
    SHARE = 10,      /* one in so many */
    LONGEST = 64,    /* values; */
    FUSED_MAX = 512, /* the rest of all gaps is for plain ones */
};

void layout_watch(struct layout *layout)
{
    layout->fusing.n_steps = 0;
    layout->fusing.left--;
}

void layout_note(struct layout *layout, struct gap **next, const struct gap *gap, const char *start,
                 const struct ta_token *value)
{
    struct fusing *f = &layout->fusing;
    if (f->n_steps < STEPS_MAX)
        f->step[f->n_steps++] =
            (struct step){next, gap, start, value ? *value : (struct ta_token){0}};
}

/* Counts one more of these, and returns how many there were; a place is given up only to a key
 * that comes more often. */
static uint32_t *count(struct fusing *f, uint64_t key)
{
    const size_t at = (key >> 32) % TALLIES;
    if (f->tally[at].key != key) {
        if (f->tally[at].count > 1) {
            f->tally[at].count--;
            return NULL;
        }
        f->tally[at].key = key;
        f->tally[at].count = 0;
    }
    f->tally[at].count++;
    return &f->tally[at].count;
}

/* Whether the value of a step came often after this gap in this list. */
static bool is_usual(struct layout *layout, const struct step *step)
{
    struct fusing *f = &layout->fusing;
    /* Places instead of addresses, so that the same file is read in the same way. */
    const char *const base = (const char *)layout->gaps;
    const uint64_t list = (uint64_t)((const char *)step->next - base),
                   gap = (uint64_t)((const char *)step->gap - base);
    const uint64_t place = ta_hash_mix(list << 32 | gap);
    uint32_t *const all = count(f, place);
    uint32_t *const these = count(f, ta_hash_bytes(step->value.ptr, step->value.len, place));
    if (!all || !these || *these < OFTEN)
        return false;
    const bool usual = *these >= *all / SHARE;
    *these = 0; /* should it be pushed out of the list, it has to prove itself again */
    if (*all > 4096)
        *all /= 2;
    return usual;
}

/* The number of a text that is known, as ta_token.known. */
static uint8_t known_as(struct fusing *f, const struct ta_token *token)
{
    if ((token->type != TA_TOKEN_STRING && token->type != TA_TOKEN_NUMBER) || !token->plain ||
        token->len > KNOWN_TEXT)
        return 0;
    for (size_t i = 0; i < f->n_known; i++)
        if (f->known[i].length == token->len &&
            memcmp(f->known[i].text, token->ptr, token->len) == 0)
            return (uint8_t)(i + 1);
    if (f->n_known == KNOWN_MAX)
        return 0;
    memcpy(f->known[f->n_known].text, token->ptr, token->len);
    f->known[f->n_known].length = (uint8_t)token->len;
    return (uint8_t)++f->n_known;
}

static bool add_piece(struct gap *fused, const struct piece *piece, size_t shift)
{
    if (fused->n_pieces == GAP_PIECES)
        return false;
    struct piece *const added = &fused->piece[fused->n_pieces++];
    *added = *piece;
    added->at = (uint8_t)(piece->at + shift);
    return true;
}

/* The gap of a step, its value, and the gap of the next step as one.  False when they cannot be. */
static bool join(struct fusing *f, const struct step *step, struct gap *fused)
{
    const struct gap *a = step[0].gap, *b = step[1].gap;
    const size_t shift = (size_t)(step[1].start - step[0].start);
    if ((a->fields & b->fields) || (a->nested & b->nested) || (a->opens && b->opens) ||
        (a->closes && b->closes) || shift + b->length > GAP_BYTES)
        return false;
    *fused = *a;
    if (a->is_wanted) {
        struct ta_token value = step->value;
        value.known = known_as(f, &value);
        const struct piece piece = {layout_rest(&value), a->token,
                                    (uint8_t)(value.ptr - step->start)};
        if (!add_piece(fused, &piece, 0))
            return false;
    }
    for (size_t i = 0; i < b->n_pieces; i++)
        if (!add_piece(fused, &b->piece[i], shift))
            return false;
    fused->nested |= b->nested;
    fused->fields |= b->fields;
    fused->token = b->token;
    fused->is_wanted = b->is_wanted;
    fused->is_object = b->is_object;
    fused->ends = b->ends;
    fused->width = b->width;
    fused->to = b->to;
    if (b->opens)
        fused->opens = (uint8_t)(b->opens + shift);
    if (b->closes)
        fused->closes = (uint8_t)(b->closes + shift);
    return true;
}

static void fuse(struct layout *layout, const struct step *step)
{
    struct gap made;
    if (layout->fusing.n_fused == FUSED_MAX || !join(&layout->fusing, step, &made))
        return;
    const size_t length = (size_t)(step[1].start - step[0].start) + step[1].gap->length;
    struct gap *gap = layout_find_slowly(layout, step->start, length, made.from);
    if (!gap) {
        gap = layout_add(layout, &made, step->start, length);
        if (!gap)
            return;
        layout->fusing.n_fused++;
        memcpy(gap->next, step[1].gap->next, sizeof gap->next);
    }
    layout_put_first(step->next, gap);
}

void layout_fuse(struct layout *layout)
{
    struct fusing *f = &layout->fusing;
    for (size_t i = 0; i + 1 < f->n_steps; i++) {
        const struct step *step = &f->step[i];
        if (step->value.type != TA_TOKEN_ABSENT && step->value.len <= LONGEST &&
            step[0].gap != layout->passing && step[1].gap != layout->passing &&
            is_usual(layout, step))
            fuse(layout, step);
    }
}
