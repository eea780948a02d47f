/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One text through all variants of the reader. */
#include "matrix.h"

#include "compare.h"
#include "inputs.h"
#include "read/inflate.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { SHOWN_MAX = 20 };

/* Blocks end inside every kind of token, and at and beside the sizes of registers. */
const size_t blocks_all[] = {1, 2, 3, 7, 16, 61, 64, 255, 4096, 65537, 0};
const size_t blocks_some[] = {1, 7, 61, 255, 0};
const size_t blocks_large[] = {4096, 65537, 0};
const size_t blocks_none[] = {0};

static const char *const inflaters[] = {"isal", "zlib"};

/* What is read, and what of it is known. */
struct subject {
    struct oracle *o;
    const char *name, *text;
    size_t size;
    bool whole; /* the slow reader has read all of it */
    struct slow_reading slow;
    struct outcome reference;
};

/* ---- telling --------------------------------------------------------------------------------- */

/* The event that a difference lies in, or the number of events when it is none. */
static size_t event_of(const struct subject *s, const struct difference *d)
{
    const struct slow_reading *slow = &s->slow;
    if (!slow->accepted || !slow->outcome.trace)
        return slow->events.n;
    if (d->span != TA_NO_ROW)
        return slow_event_of(slow, d->span);
    for (size_t i = 0; d->ts != TA_MISSING && i < slow->events.n; i++)
        if (slow->events.at[i].ts == d->ts)
            return i;
    return slow->events.n;
}

/* Keeps the text for who looks into it. */
static void save(const struct subject *s)
{
    const char *folder = getenv("TA_ORACLE_SAVE");
    char path[512];
    if (!folder)
        return;
    const int n = snprintf(path, sizeof path, "%s/", folder);
    snprintf(path + n, sizeof path - (size_t)n, "%s.json", s->name);
    for (char *p = path + n; *p; p++)
        *p = *p == '/' || *p == ' ' ? '-' : *p;
    fixture_write(path, s->text, s->size);
}

static void tell(struct subject *s, const char *config, const struct difference *d)
{
    if (s->o->differences++ >= SHOWN_MAX)
        return;
    print_error("%s, %s:\n  %s\n", s->name, config, d->what);
    const size_t event = event_of(s, d);
    if (event < s->slow.events.n) {
        const struct slow_event *e = &s->slow.events.at[event];
        const size_t length = (size_t)(e->end - e->offset);
        print_error("  event %zu at byte offset %" PRIu64 ": %.*s\n", event, e->offset,
                    (int)(length < 400 ? length : 400), s->text + e->offset);
    }
    save(s);
}

static void check_config(struct subject *s, const char *path, const struct config *config,
                         bool told)
{
    struct outcome out;
    struct difference d;
    char text[128];
    outcome_read(&s->o->fixture, path, config, &out);
    s->o->runs++;
    if (!outcome_same(&s->reference, &out, told, &d))
        tell(s, config_text(config, text, sizeof text), &d);
    outcome_free(&out);
}

/* ---- the matrix ----------------------------------------------------------------------------- */

static void check_plain(struct subject *s, const char *path, const struct effort *effort)
{
    for (size_t c = 0; c < s->o->n_cpus; c++) {
        for (const size_t *block = effort->blocks;; block++) {
            const bool again = c == 0 && *block == 0; /* the reference itself */
            if (!again)
                check_config(s, path, &(struct config){.cpu = s->o->cpus[c], .block = *block},
                             true);
            if (*block == 0)
                break;
        }
    }
}

/* Handing blocks from thread to thread costs more than reading them: at most so many. */
static bool is_fit(const struct subject *s, size_t block, bool ahead)
{
    enum { HANDED_MAX = 4096 };
    return s->o->all || !ahead || block == 0 || s->size / block <= HANDED_MAX;
}

static void check_gzip(struct subject *s, const char *path, const struct effort *effort)
{
    for (size_t i = 0; i < sizeof inflaters / sizeof *inflaters; i++) {
        if (!ta_inflater_find(inflaters[i]))
            continue;
        for (const size_t *block = effort->blocks;; block++) {
            for (int ahead = 0; ahead < 2; ahead++) {
                const struct config config = {"auto", *block, inflaters[i], ahead};
                /* What is said of a damaged stream has a place in the file. */
                if (is_fit(s, *block, ahead) && (!effort->large || (size_t)ahead == i))
                    check_config(s, path, &config, false);
            }
            if (*block == 0)
                break;
        }
    }
}

/* Whether this input is wanted. */
static bool is_wanted(const char *name)
{
    const char *only = getenv("TA_ORACLE_ONLY");
    return !only || strstr(name, only);
}

static void path_of(int fd, char *path, size_t max)
{
    snprintf(path, max, "/proc/self/fd/%d", fd);
}

/* The slow reader, the plainest configuration, and whether they agree. */
static void begin(struct subject *s, const char *path, const struct effort *effort)
{
    struct oracle *o = s->o;
    struct difference d;
    const struct config plainest = {.cpu = o->cpus[0]};
    (effort->large ? slow_split : slow_read)(&o->fixture, s->text, s->size, &s->slow);
    outcome_read(&o->fixture, path, &plainest, &s->reference);
    o->inputs++;
    o->runs++;
    o->accepted += s->slow.accepted;
    if (s->slow.accepted && !effort->large &&
        !outcome_same(&s->slow.outcome, &s->reference, false, &d))
        tell(s, "plainest, against the slow reader", &d);
    if (effort->valid && !s->slow.accepted)
        tell(s, "slow reader",
             &(struct difference){"jansson refuses it behind the last event", TA_NO_ROW,
                                  TA_MISSING});
}

static void end(struct subject *s)
{
    slow_free(&s->slow);
    outcome_free(&s->reference);
}

void oracle_check(struct oracle *o, const char *name, const char *text, size_t size,
                  const struct effort *effort)
{
    struct subject s = {.o = o, .name = name, .text = text, .size = size};
    char path[64];
    if (!is_wanted(name))
        return;
    const int plain = fixture_memory(text, size);
    path_of(plain, path, sizeof path);
    begin(&s, path, effort);
    check_plain(&s, path, effort);
    if (effort->gzip) {
        size_t gz_size;
        unsigned char *gz = fixture_gzip(text, size, &gz_size);
        const int packed = fixture_memory(gz, gz_size);
        path_of(packed, path, sizeof path);
        check_gzip(&s, path, effort);
        close(packed);
        free(gz);
    }
    close(plain);
    end(&s);
}

void oracle_check_text(struct oracle *o, const char *name, const char *text, bool valid)
{
    oracle_check(o, name, text, strlen(text),
                 &(struct effort){.blocks = blocks_all, .valid = valid});
}

/* Parts of it are read in more ways than the whole. */
static void check_parts(struct subject *s)
{
    static const size_t runs[] = {1500, 20000, 1000000};
    static const size_t *const blocks[] = {blocks_all, blocks_some, blocks_none};
    for (size_t i = 0; s->slow.accepted && i < (s->whole ? 2u : 3u); i++) {
        struct text part = {0};
        char name[256];
        make_cutout(&part, s->text, s->size, &s->slow, runs[i]);
        snprintf(name, sizeof name, "%s, parts of %zu", s->name, runs[i]);
        if (part.n)
            oracle_check(
                s->o, name, part.at, part.n,
                &(struct effort){.blocks = blocks[i], .gzip = i == 0 || s->o->all, .valid = true});
        text_free(&part);
    }
}

bool oracle_check_file(struct oracle *o, const char *name, const char *path,
                       const struct effort *effort)
{
    struct subject s = {.o = o, .name = name};
    char *text = slow_inflate(path, &s.size);
    if (!text)
        return false;
    s.text = text;
    const size_t length = strlen(path);
    const bool is_gzip = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    s.whole = !effort->large;
    begin(&s, path, effort);
    if (is_gzip)
        check_gzip(&s, path, effort);
    char memory[64];
    const int plain = fixture_memory(text, s.size);
    path_of(plain, memory, sizeof memory);
    check_plain(&s, memory, effort);
    close(plain);
    check_parts(&s);
    end(&s);
    free(text);
    return true;
}

/* ---- life ----------------------------------------------------------------------------------- */

void oracle_open(struct oracle *o, bool all)
{
    static const char *const cpus[] = {"none", "scalar", "sse2", "avx2"};
    static struct ta_slice keys[ORACLE_KEYS];
    *o = (struct oracle){.all = all};
    fixture_open(&o->fixture);
    memcpy(keys, oracle_keys, sizeof keys);
    free(o->fixture.plan.keys);
    o->fixture.plan.keys = keys;
    o->fixture.plan.n_keys = ORACLE_KEYS;
    o->fixture.plan.n_passing = 0; /* all are compared */
    o->fixture.plan.needs |= TA_NEED_FLOWS | TA_NEED_COUNTERS | TA_NEED_INSTANTS | TA_NEED_ASYNCS;
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        if (config_exists(&o->fixture, cpus[i]))
            o->cpus[o->n_cpus++] = cpus[i];
    assert_true(o->n_cpus > 0);
}

void oracle_close(struct oracle *o)
{
    o->fixture.plan.keys = NULL;
    fixture_close(&o->fixture);
}

void oracle_conclude(const struct oracle *o)
{
    print_message("%u inputs, %u of them valid JSON, %u readings, %u differences\n", o->inputs,
                  o->accepted, o->runs, o->differences);
    if (o->differences)
        fail_msg("%u differences", o->differences);
}
