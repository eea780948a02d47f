/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One file read by several threads gives what it gives read in one go: every column, every account
 * and every byte offset, wherever it is cut, packed or not, and whatever is wrong with it. */
#include "ingest/split.h"
#include "pipeline.h"
#include "read/reader.h"
#include "report/report.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* ---- traces that are hard to cut ------------------------------------------------------------- */

static const char *pick(struct rng *rng, const char *const *from, size_t n)
{
    return from[rng_below(rng, n)];
}

#define PICK(rng, ...)                                                                             \
    pick((rng), (const char *const[]){__VA_ARGS__},                                                \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Texts and values that look like events, or like the ends of some. */
static void add_args(struct text *out, struct rng *rng)
{
    static const char *const likes[] = {
        "\"like\": {\"ph\": \"X\", \"name\": \"inner\", \"ts\": 5, \"dur\": 1}",
        "\"likes\": [{\"ph\":\"X\",\"name\":\"inner\",\"ts\":5},{\"ph\":\"B\",\"ts\":1}]",
        "\"text\": \"{\\\"ph\\\":\\\"X\\\",\\\"ts\\\":1}, {\"",
        "\"text\": \"},{\"",
        "\"{\": \":\"",
        "\"deep\": {\"a\": {\"b\": [{\"c\": {}}]}}",
        "\"correlation\": 17",
        "\"correlation\": \"seventeen\"",
        "\"device\": 1",
        "\"stream\": null",
        "\"traceEvents\": 1",
        "\"bad\": NaN",
        "\"odd\": \"\\q \xff\"",
    };
    const size_t n = rng_below(rng, 4);
    text_add(out, "{");
    for (size_t i = 0; i < n; i++)
        text_add(out, "%s%s", i ? ", " : "", likes[rng_below(rng, sizeof likes / sizeof *likes)]);
    if (rng_below(rng, 60) == 0) { /* an event that is large */
        text_add(out, "%s\"long\": \"", n ? "," : "");
        for (size_t i = rng_below(rng, 3000); i; i--)
            text_add(out, "{,");
        text_add(out, "\"");
    }
    text_add(out, "}");
}

static void add_event(struct text *out, struct rng *rng, int i)
{
    const int ts = i * 10 + (int)rng_below(rng, 40);
    const char *gap = PICK(rng, " ", "", "\n  ");
    const char *pid = PICK(rng, "1", "2", "\"Spans\"", "\"1\"");
    const int tid = (int)rng_below(rng, 3);
    switch (rng_below(rng, 12)) {
    case 0:
        text_add(out, "{\"ph\":%s\"B\",\"name\": \"b%d\",\"pid\":%s,\"tid\":%d,\"ts\":%d}", gap,
                 (int)rng_below(rng, 3), pid, tid, ts);
        break;
    case 1:
        text_add(out, "{\"ph\":\"E\",%s\"pid\":%s,\"tid\":%d,\"ts\":%d}", gap, pid, tid, ts);
        break;
    case 2:
        text_add(out, "{\"ph\":\"%s\",\"cat\":\"async\",\"id\":%d,\"name\":\"s\",\"ts\":%d}",
                 PICK(rng, "b", "e"), (int)rng_below(rng, 4), ts);
        break;
    case 3:
        text_add(out, "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%s,\"tid\":%d,\"args\":{\"name\":%s}}",
                 PICK(rng, "thread_name", "process_name"), pid, tid,
                 PICK(rng, "\"main\"", "\"x{y\"", "null", "\"w\""));
        break;
    case 4:
        text_add(out, "{\"ph\":\"C\",\"name\":\"mem\",\"pid\":%s,\"ts\":%d,\"args\":{\"a\":%d}}",
                 pid, ts, i);
        break;
    case 5:
        text_add(out, "{\"ph\":\"%s\",\"cat\":\"ac2g\",\"id\":%d,\"name\":\"f\",\"ts\":%d}",
                 PICK(rng, "s", "f", "i"), i / 2, ts);
        break;
    case 6:
        text_add(out, "%s",
                 PICK(rng, "{}", "{\"name\":\"no phase\"}", "{\"ph\":\"?\",\"ts\":1}",
                      "{\"ph\":\"X\",\"name\":\"no time\"}",
                      "{\"ph\":\"X\",\"ts\":\"7\",\"dur\":-1}"));
        break;
    default:
        text_add(out,
                 "{%s\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"n%d\", \"pid\": %s, \"tid\": %d,%s"
                 "\"ts\": %d.%d, \"dur\": %d, \"args\": ",
                 gap, PICK(rng, "kernel", "cpu_op", "cuda_runtime", "x"),
                 (int)rng_below(rng, 40) + i / 50, pid, tid, gap, ts, (int)rng_below(rng, 999),
                 (int)rng_below(rng, 100));
        add_args(out, rng);
        text_add(out, "}");
    }
}

static void add_events(struct text *out, struct rng *rng, int n, bool odd)
{
    const char *between = PICK(rng, ",", ",\n", ",\n    ", ", ", " ,\r\n\t");
    for (int i = 0; i < n; i++) {
        if (i)
            text_add(out, "%s",
                     odd && rng_below(rng, 30) == 0
                         ? PICK(rng, "", ",,", ", /* c */ ", ",\n\n\n  ", ", 17,",
                                ",[{\"ph\":\"X\",\"ts\":3}],", ",\"{\",")
                         : between);
        add_event(out, rng, i);
    }
}

static void add_members(struct text *out, struct rng *rng)
{
    static const char *const members[] = {
        "\"distributedInfo\": {\"rank\": 3, \"world_size\": 8}",
        "\"distributedInfo\": {\"rank\": 5}",
        "\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\"}, {\"name\": \"B\"}]",
        "\"baseTimeNanoseconds\": 17",
        "\"record_shapes\": 1, \"cuda_driver_version\": 12090",
        "\"nccl_version\": \"2.27.3\"",
        "\"other\": [{\"ph\": \"X\", \"name\": \"outside\", \"ts\": 1}, {\"ph\": \"X\"}]",
        "\"frames\": {\"1\": {\"name\": \"f\"}, \"2\": {\"ph\": \"X\", \"ts\": 2}}",
    };
    for (size_t n = rng_below(rng, 4); n; n--)
        text_add(out, "%s, ", members[rng_below(rng, sizeof members / sizeof *members)]);
}

static void add_document(struct text *out, struct rng *rng, int n, bool odd)
{
    switch (rng_below(rng, odd ? 6 : 2)) {
    case 0:
        text_add(out, "[");
        add_events(out, rng, n, odd);
        text_add(out, "]\n");
        break;
    case 2: /* one per line */
        for (int i = 0; i < n; i++) {
            add_event(out, rng, i);
            text_add(out, "\n");
        }
        break;
    case 3: /* an array of arrays */
        text_add(out, "[[");
        add_events(out, rng, n / 2, odd);
        text_add(out, "],[");
        add_events(out, rng, n / 2, odd);
        text_add(out, "]]");
        break;
    default:
        text_add(out, "{");
        add_members(out, rng);
        text_add(out, "\"traceEvents\": [\n");
        add_events(out, rng, n, odd);
        text_add(out, "], ");
        add_members(out, rng);
        if (odd && rng_below(rng, 10) == 0)
            text_add(out, "\"ph\": \"X\", ");
        text_add(out, "\"traceName\": \"t\"}");
    }
}

static void damage(struct text *text, struct rng *rng)
{
    for (size_t n = rng_below(rng, 6); n; n--) {
        const size_t at = rng_below(rng, text->n);
        switch (rng_below(rng, 4)) {
        case 0:
            text->at[at] = (char)rng_below(rng, 256);
            break;
        case 1:
            text->at[at] = *PICK(rng, "\"", "{", "}", "[", "]", "\\", ",");
            break;
        case 2: { /* a hole */
            const size_t left = text->n - at, gone = rng_below(rng, left < 200 ? left : 200);
            memmove(text->at + at, text->at + at + gone, left - gone);
            text->n -= gone;
            break;
        }
        default:
            if (rng_below(rng, 4) == 0)
                text->n = at + 1;
        }
    }
}

/* What kind of trace comes from a seed. */
enum kind { CLEAN, ODD, DAMAGED, KINDS };

static void make_trace(struct text *out, struct rng *rng, enum kind kind)
{
    *out = (struct text){0};
    const int n = 5 + (int)rng_below(rng, 300);
    add_document(out, rng, n, kind != CLEAN);
    if (kind != CLEAN && rng_below(rng, 4) == 0)
        add_document(out, rng, n / 2, true);
    if (kind == DAMAGED)
        damage(out, rng);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void same_bytes(const char *what, const void *a, const void *b, size_t n, size_t size)
{
    if (n && memcmp(a, b, n * size) != 0)
        fail_msg("%s differs", what);
}

#define SAME(what) assert_int_equal(a->what, b->what)
#define SAME_COLUMN(table, column)                                                                 \
    same_bytes(#table "." #column, a->table.column, b->table.column, a->table.n,                   \
               sizeof *a->table.column)

static void same_names(const struct ta_trace *a, const struct ta_trace *b)
{
    SAME(strings.texts.n);
    for (size_t i = 0; i < a->strings.texts.n; i++)
        assert_true(ta_slice_equal(a->strings.texts.at[i], b->strings.texts.at[i]));
    SAME(tracks.n);
    for (size_t i = 0; i < a->tracks.n; i++) {
        SAME(tracks.at[i].pid);
        SAME(tracks.at[i].tid);
        SAME(tracks.at[i].thread_name);
    }
    SAME(categories.n);
    for (size_t i = 0; i < a->categories.n; i++) {
        SAME(categories.at[i].name);
        SAME(categories.at[i].class);
    }
}

static void same_columns(const struct ta_trace *a, const struct ta_trace *b)
{
    SAME(spans.n);
    SAME_COLUMN(spans, ts);
    SAME_COLUMN(spans, dur);
    SAME_COLUMN(spans, name);
    SAME_COLUMN(spans, cat);
    SAME_COLUMN(spans, track);
    for (size_t i = 0; i < a->n_args; i++) {
        SAME(args[i].n);
        SAME_COLUMN(args[i], row);
        for (size_t k = 0; k < a->args[i].n; k++) {
            assert_int_equal(arg_column_value(&a->args[i], k), arg_column_value(&b->args[i], k));
            assert_int_equal(arg_column_is_text(&a->args[i], k),
                             arg_column_is_text(&b->args[i], k));
        }
    }
    SAME(counters.n);
    SAME_COLUMN(counters, ts);
    SAME_COLUMN(counters, value);
    SAME(counters.series.list.n);
    for (size_t i = 0; i < a->counters.series.list.n; i++) {
        SAME(counters.series.list.at[i].track);
        SAME(counters.series.list.at[i].name);
        SAME(counters.series.list.at[i].series);
        SAME(counters.series.list.at[i].first);
        SAME(counters.series.list.at[i].n);
    }
    SAME(instants.n);
    SAME_COLUMN(instants, ts);
    SAME_COLUMN(instants, name);
    SAME_COLUMN(instants, cat);
    SAME_COLUMN(instants, track);
    SAME(flows.n);
    SAME_COLUMN(flows, ts);
    SAME_COLUMN(flows, name);
    SAME_COLUMN(flows, id);
    SAME_COLUMN(flows, track);
    SAME_COLUMN(flows, phase);
    SAME(view.base_ns);
}

static void same_edges(const struct pair_edge *a, const struct pair_edge *b, size_t n)
{
    for (size_t i = 0; i < n; i++, a++, b++) {
        SAME(ts);
        SAME(offset);
        SAME(order);
        SAME(track);
        SAME(row);
        SAME(name);
        SAME(id);
        SAME(cat);
    }
}

/* Of each process, and the place of its first record. */
static void same_kinds(const struct kinds *a, const struct kinds *b, size_t n_categories)
{
    assert_int_equal(a->list.n, b->list.n);
    for (size_t i = 0; i < a->list.n; i++) {
        const struct kinds_of_process *x = &a->list.at[i], *y = &b->list.at[i];
        assert_int_equal(x->pid, y->pid);
        assert_memory_equal(&x->before, &y->before, sizeof x->before);
        for (size_t cat = 0; cat < n_categories; cat++)
            for (size_t phase = 0; phase < sizeof TA_PHASES; phase++)
                assert_int_equal(cat < x->n ? x->counts[cat][phase] : 0,
                                 cat < y->n ? y->counts[cat][phase] : 0);
    }
}

static void same_builders(const struct ta_builder *a, const struct ta_builder *b)
{
    same_names(a->trace, b->trace);
    same_columns(a->trace, b->trace);
    SAME(trace->dump.rows[TA_DUMP_tag].n);
    same_bytes("tags", a->trace->dump.rows[TA_DUMP_tag].at, b->trace->dump.rows[TA_DUMP_tag].at,
               a->trace->dump.rows[TA_DUMP_tag].n, sizeof(struct ta_tag));
    SAME(edges.n);
    same_edges(a->edges.at, b->edges.at, a->edges.n);
    SAME(async_edges.n);
    same_edges(a->async_edges.at, b->async_edges.at, a->async_edges.n);
    same_kinds(&a->kinds, &b->kinds, a->trace->categories.n);
    SAME(devices.n);
    for (size_t i = 0; i < a->devices.n; i++)
        assert_string_equal(a->devices.at[i], b->devices.at[i]);
    for (ta_str pid = 0; pid < a->trace->strings.texts.n; pid++) {
        const uint64_t *x = ta_map_find(&a->process_names, pid);
        const uint64_t *y = ta_map_find(&b->process_names, pid);
        assert_int_equal(x ? *x : UINT64_MAX, y ? *y : UINT64_MAX);
    }
    SAME(kept);
    SAME(repaired);
    SAME(dropped);
    SAME(bytes_skipped);
    SAME(events);
    SAME(timed);
    SAME(zero.spans);
    SAME(zero.others);
    SAME(zero.first);
    SAME(zero.last);
    SAME(first_ts);
    SAME(last_ts);
    SAME(rank);
    SAME(world_size);
    SAME(truncated);
}

static void same_quality(const struct ta_quality *x, const struct ta_quality *y)
{
    for (int code = 0; code < TA_Q_COUNT; code++) {
        const struct ta_quality_slot *a = &x->slots[code], *b = &y->slots[code];
        if (a->count != b->count)
            fail_msg("%s: %" PRIu64 " times, not %" PRIu64,
                     ta_quality_name((enum ta_quality_code)code), b->count, a->count);
        if (!a->count)
            continue;
        SAME(first);
        SAME(last);
        SAME(file_offset);
        SAME(severity);
        assert_string_equal(a->text ? a->text : "", b->text ? b->text : "");
    }
}

/* ---- reading both ways ---------------------------------------------------------------------- */

static const struct ta_input_ops *input(void)
{
    const struct ta_entry *entry = ta_registry_find(fixture.registry, TA_KIND_input, "chrome_json");
    assert_non_null(entry);
    return entry->plugin.input;
}

/* Waits up to 0.1 ms, so that threads overtake each other where they never would. */
static void dawdle(void)
{
    static atomic_uint_fast64_t calls;
    struct rng rng = {atomic_fetch_add(&calls, 1) * 7919 + 1};
    const struct timespec wait = {.tv_nsec = (long)rng_below(&rng, 100000)};
    rng_next(&rng);
    if (rng_below(&rng, 3) == 0)
        nanosleep(&wait, NULL);
}

static enum ta_status read_slowly(struct ta_ctx *ctx, struct ta_reader *reader,
                                  struct ta_builder *builder)
{
    dawdle();
    const enum ta_status status = input()->read(ctx, reader, builder);
    dawdle();
    return status;
}

/* What became of the parts of many traces. */
struct tally {
    size_t parts, passed, again;
};

/* A file in one go. */
struct whole {
    struct ta_builder builder;
    struct ta_quality quality;
    enum ta_status status;
    uint64_t bytes, raw_bytes;
    bool early;
};

static void read_whole(const void *file, size_t size, struct whole *w)
{
    ta_quality_init(&w->quality);
    struct ta_reader *reader =
        ta_reader_open(&fixture.ctx, NULL, fixture_memory(file, size), &w->quality);
    assert_non_null(reader);
    assert_true(ta_builder_init(&w->builder, &w->quality, fixture.plan.needs, fixture.plan.keys,
                                fixture.plan.n_keys, 1 << 20));
    w->status = input()->read(&fixture.ctx, reader, &w->builder);
    w->bytes = ta_reader_bytes(reader);
    w->raw_bytes = ta_reader_raw_bytes(reader);
    w->early = ta_reader_ended_early(reader);
    ta_reader_close(reader);
}

static void free_whole(struct whole *w)
{
    ta_builder_free(&w->builder);
    ta_quality_free(&w->quality);
}

static void same_split(const struct whole *w, struct ta_split *split)
{
    assert_int_equal(w->status, TA_OK);
    same_builders(&w->builder, &split->builder);
    same_quality(&w->quality, &split->quality);
    assert_int_equal(w->bytes, split->bytes);
    assert_int_equal(w->raw_bytes, split->raw_bytes);
    assert_int_equal(w->early, split->early);
    ta_builder_free(&split->builder);
    ta_quality_free(&split->quality);
}

/* Reads with `n` threads and compares. */
static void check_split(const void *file, size_t size, const struct whole *w, size_t n,
                        struct tally *tally)
{
    const struct ta_input_ops ops = {.read = read_slowly};
    struct ta_quality quality;
    struct ta_split split;
    enum ta_status status;
    ta_quality_init(&quality);
    struct ta_reader *source =
        ta_reader_open(&fixture.ctx, NULL, fixture_memory(file, size), &quality);
    assert_non_null(source);
    fixture.ctx.helpers = n - 1;
    const bool done = ta_split_read(&fixture.ctx, source, &ops, &fixture.plan, &split, &status);
    fixture.ctx.helpers = 0;
    assert_int_equal(status, TA_OK);
    /* What opening found is accounted for once, by who opened the file before. */
    if (done)
        ta_quality_merge(&split.quality, &quality);
    tally->parts += split.n_parts;
    tally->passed += split.n_passed;
    tally->again += !done;
    if (done)
        same_split(w, &split);
    ta_reader_close(source);
    ta_quality_free(&quality);
}

static void set_block(struct rng *rng)
{
    static const size_t blocks[] = {0, 1, 7, 32, 150, 150, 256, 256, 500, 2048};
    fixture.shared.block = blocks[rng_below(rng, sizeof blocks / sizeof *blocks)];
}

static void check_file(const void *file, size_t size, struct rng *rng, int rounds,
                       struct tally *tally)
{
    for (int round = 0; round < rounds; round++) {
        struct whole w;
        set_block(rng);
        read_whole(file, size, &w);
        check_split(file, size, &w, 1 + rng_below(rng, 4), tally);
        free_whole(&w);
    }
    fixture.shared.block = 0;
}

static void tell(const char *what, const struct tally *tally)
{
    print_message("%s: %zu parts were read, %zu in vain, %zu files again\n", what, tally->parts,
                  tally->passed, tally->again);
}

static struct tally check_many(const char *what, enum kind kind, int traces)
{
    struct tally tally = {0};
    for (int seed = 1; seed <= traces; seed++) {
        struct rng rng = {(uint64_t)seed * 7919 + kind};
        struct text text;
        make_trace(&text, &rng, kind);
        check_file(text.at, text.n, &rng, 4, &tally);
        text_free(&text);
    }
    tell(what, &tally);
    return tally;
}

/* At most places the guess is right, and at some it is not: inside of arguments that look like
 * events. */
static void clean_traces(void **state)
{
    (void)state;
    const struct tally tally = check_many("clean", CLEAN, 60);
    assert_true(tally.parts > 500 && tally.passed > 10 && tally.passed < tally.parts / 2);
    assert_int_equal(tally.again, 0);
}

static void odd_traces(void **state)
{
    (void)state;
    const struct tally tally = check_many("odd", ODD, 60);
    assert_true(tally.parts > 500 && tally.passed > 30);
}

static void damaged_traces(void **state)
{
    (void)state;
    const struct tally tally = check_many("damaged", DAMAGED, 120);
    assert_true(tally.parts > 500 && tally.passed > 30);
}

/* Members of a few thousand bytes, now and then with padding or bytes between that are none. */
static void pack(const struct text *text, struct rng *rng, bool is_damaged, struct text *packed)
{
    static const char zeros[16];
    for (size_t at = 0; at < text->n;) {
        const size_t left = text->n - at, most = 1 + rng_below(rng, 20000);
        const size_t n = most < left ? most : left;
        size_t gz_size;
        unsigned char *gz = fixture_gzip(text->at + at, n, &gz_size);
        text_put(packed, gz, gz_size);
        free(gz);
        at += n;
        if (rng_below(rng, 4) == 0)
            text_put(packed, zeros, 1 + rng_below(rng, sizeof zeros));
        if (is_damaged && rng_below(rng, 40) == 0)
            text_add(packed, "junk");
    }
    if (!is_damaged)
        return;
    if (rng_below(rng, 3) == 0)
        packed->n = 1 + rng_below(rng, packed->n);
    else
        packed->at[rng_below(rng, packed->n)] ^= (char)(1 + rng_below(rng, 255));
}

static void check_packed(const char *what, enum kind kind, bool is_damaged, int files)
{
    static const char *const inflaters[] = {NULL, "zlib"};
    struct tally tally = {0};
    for (int seed = 1; seed <= files; seed++) {
        struct rng rng = {(uint64_t)seed * 104729 + kind};
        struct text text, packed = {0};
        make_trace(&text, &rng, kind);
        pack(&text, &rng, is_damaged, &packed);
        fixture.shared.inflater = inflaters[rng_below(&rng, 2)];
        check_file(packed.at, packed.n, &rng, 4, &tally);
        text_free(&text);
        text_free(&packed);
    }
    fixture.shared.inflater = NULL;
    tell(what, &tally);
    assert_true(tally.parts > 300);
}

static void packed_traces(void **state)
{
    (void)state;
    check_packed("packed", CLEAN, false, 40);
    check_packed("packed, damaged before", DAMAGED, false, 40);
    check_packed("packed, damaged", CLEAN, true, 80);
}

/* A limit on what is read of a file is reached at the same byte. */
static void a_limit_on_the_whole(void **state)
{
    (void)state;
    struct tally tally = {0};
    struct rng rng = {3};
    struct text text;
    make_trace(&text, &rng, CLEAN);
    for (int i = 0; i < 30; i++) {
        fixture.shared.limits[TA_LIMIT_EXPANDED] = 1 + rng_below(&rng, text.n + 10);
        check_file(text.at, text.n, &rng, 1, &tally);
    }
    fixture.shared.limits[TA_LIMIT_EXPANDED] = ta_limit_default(TA_LIMIT_EXPANDED);
    text_free(&text);
}

static void check_text(const struct text *text, struct tally *tally)
{
    struct whole w;
    for (size_t block = 50; block < 500; block += 50) {
        fixture.shared.block = block;
        read_whole(text->at, text->n, &w);
        check_split(text->at, text->n, &w, 3, tally);
        free_whole(&w);
    }
    fixture.shared.block = 0;
}

/* Every cut lies in arguments that look like an event. */
static void nothing_but_wrong_guesses(void **state)
{
    (void)state;
    struct text text = {0};
    struct tally tally = {0};
    text_add(&text, "{\"traceEvents\": [\n");
    for (int i = 0; i < 300; i++)
        text_add(&text,
                 "{\"args\": {\"like\": {\"ph\": \"X\", \"ts\": 1}}, \"name\": "
                 "\"n%d\", \"ts\": %d, \"dur\": 1, \"ph\": \"X\", \"like\": {\"ph\": 1}}%s\n",
                 i, i, i < 299 ? "," : "");
    text_add(&text, "]}");
    for (int i = 0; i < 50 && tally.passed < 10; i++)
        check_text(&text, &tally);
    tell("wrong", &tally);
    assert_int_equal(tally.again, 0);
    assert_true(tally.passed >= 10);
    text_free(&text);
}

/* The mark among the members makes a reader go back to the start of its document, if the window
 * still has it; a part does not know and leaves the file to one reader. */
static void the_mark_among_the_members(void **state)
{
    (void)state;
    struct text text = {0};
    struct tally tally = {0};
    text_add(&text, "{\"traceEvents\": [\n");
    for (int i = 0; i < 100; i++)
        text_add(&text, "{\"ph\": \"X\", \"name\": \"n\", \"ts\": %d, \"dur\": 1}%s\n", i,
                 i < 99 ? "," : "");
    text_add(&text, "], \"ph\": \"X\"}");
    check_text(&text, &tally);
    assert_true(tally.again > 0);
    text_free(&text);
}

/* Whether a trace holds nothing but metadata only the whole can tell. */
static void metadata_alone(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct text text = {0};
        struct tally tally = {0};
        text_add(&text, "[");
        for (int i = 0; i < 200; i++)
            text_add(&text,
                     "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"args\": "
                     "{\"name\": \"p%d\"}},",
                     i % 7, i);
        text_add(&text, "{\"ph\": \"%s\", \"name\": \"n\", \"ts\": 1, \"dur\": 1}]",
                 with ? "X" : "M");
        check_text(&text, &tally);
        assert_int_equal(tally.again, with ? 0 : 9);
        text_free(&text);
    }
}

/* ---- the whole run -------------------------------------------------------------------------- */

static char *report_of(const char *path, unsigned jobs, size_t *size)
{
    const char *const inputs[] = {path};
    const struct ta_run_options options = {
        .inputs = inputs, .n_inputs = 1, .jobs = jobs, .world_size = TA_MISSING, .title = "t"};
    struct ta_report *report = NULL;
    if (ta_pipeline_run(&fixture.ctx, fixture.registry, &options, &report) != TA_OK)
        fail_msg("%s", ta_ctx_causes(&fixture.ctx));
    char *bytes = fixture_render(&fixture, report, "json", size);
    ta_report_free(report);
    return bytes;
}

/* The report of one large file is the same to the byte with any number of threads. */
static void check_reports(const char *name, const void *file, size_t n)
{
    char root[64], path[96];
    fixture_folder(root);
    snprintf(path, sizeof path, "%s/%s", root, name);
    fixture_write(path, file, n);
    size_t size, again;
    char *expected = report_of(path, 1, &size);
    fixture.shared.part_bytes = 10000;
    fixture.shared.block = 2500;
    for (unsigned jobs = 2; jobs <= 9; jobs++) {
        atomic_store(&fixture.shared.read, 0);
        char *bytes = report_of(path, jobs, &again);
        assert_int_equal(again, size);
        assert_memory_equal(bytes, expected, size);
        assert_int_equal(atomic_load(&fixture.shared.read), n);
        free(bytes);
    }
    fixture.shared.part_bytes = 0;
    fixture.shared.block = 0;
    free(expected);
    fixture_remove(root);
}

static void reports(void **state)
{
    (void)state;
    struct text text = {0};
    size_t size;
    fixture_trace_text(&text, 11, 4000, 0, 4);
    unsigned char *gz = fixture_gzip(text.at, text.n, &size);
    check_reports("rank4.json", text.at, text.n);
    check_reports("rank4.json.gz", gz, size);
    free(gz);
    text_free(&text);
}

static int open_fixture(void **state)
{
    fixture_set_up(state);
    fixture.plan.needs = ~0u; /* all tables */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_traces),
        cmocka_unit_test(odd_traces),
        cmocka_unit_test(damaged_traces),
        cmocka_unit_test(packed_traces),
        cmocka_unit_test(a_limit_on_the_whole),
        cmocka_unit_test(nothing_but_wrong_guesses),
        cmocka_unit_test(the_mark_among_the_members),
        cmocka_unit_test(metadata_alone),
        cmocka_unit_test(reports),
    };
    return cmocka_run_group_tests(tests, open_fixture, fixture_tear_down);
}
