/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces and reports from texts in memory. */
#include "trace_fixture.h"

#include "normalize/normalize.h"
#include "read/reader.h"
#include "recommend/recommend.h"
#include "render/sink.h"
#include "result/report.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- a run ---------------------------------------------------------------------------- */

void fixture_open(struct fixture *f)
{
    *f = (struct fixture){.registry = NULL};
    ta_shared_init(&f->shared);
    ta_ctx_init(&f->ctx, &f->shared);
    f->registry = ta_registry_new(&f->ctx);
    assert_non_null(f->registry);
    assert_int_equal(ta_plan_make(&f->ctx, f->registry, &f->plan), TA_OK);
}

void fixture_close(struct fixture *f)
{
    ta_plan_free(&f->plan);
    ta_registry_free(f->registry);
}

size_t fixture_chunk;

/* Tests are linked with --wrap=ta_reader_read, so that a reader can be made to stutter. */
size_t __real_ta_reader_read(struct ta_reader *reader, char *buffer, size_t max);
size_t __wrap_ta_reader_read(struct ta_reader *reader, char *buffer, size_t max);

size_t __wrap_ta_reader_read(struct ta_reader *reader, char *buffer, size_t max)
{
    return __real_ta_reader_read(reader, buffer,
                                 fixture_chunk && fixture_chunk < max ? fixture_chunk : max);
}

static void write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        const ssize_t n = write(fd, bytes, size);
        assert_true(n > 0);
        bytes += n;
        size -= (size_t)n;
    }
}

int fixture_memory(const void *bytes, size_t size)
{
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(fd >= 0);
    write_all(fd, bytes, size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

void fixture_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    if (!file)
        fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void fixture_folder(char *path)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, 64, "%.40s/ta-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
}

void fixture_remove(const char *path)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        char below[4096];
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (lstat(below, &st) == 0 && S_ISDIR(st.st_mode))
            fixture_remove(below);
        else
            unlink(below);
    }
    closedir(folder);
    rmdir(path);
}

/* ---- traces --------------------------------------------------------------------------- */

static void read_bytes(struct fixture *f, const char *id, const void *bytes, size_t size,
                       bool normalize, struct reading *r)
{
    *r = (struct reading){.trace = NULL};
    ta_quality_init(&r->quality);
    struct ta_reader *reader =
        ta_reader_open(&f->ctx, NULL, fixture_memory(bytes, size), &r->quality);
    assert_non_null(reader);
    struct ta_builder builder;
    assert_true(ta_builder_init(&builder, &r->quality, f->plan.needs, f->plan.keys, f->plan.n_keys,
                                (size_t)ta_ctx_limit(&f->ctx, TA_LIMIT_NAMES)));
    const struct ta_entry *input = ta_registry_find(f->registry, TA_KIND_input, id);
    assert_non_null(input);
    r->status = input->plugin.input->read(&f->ctx, reader, &builder);
    if (r->status != TA_OK && r->status != TA_ERR_INPUT)
        fail_msg("reading failed: %s", ta_ctx_causes(&f->ctx));
    if (r->status == TA_OK && normalize)
        assert_int_equal(ta_normalize(&f->ctx, &builder, &r->trace), TA_OK);
    r->early = ta_reader_ended_early(reader);
    r->truncated = builder.truncated;
    r->kept = builder.kept;
    r->repaired = builder.repaired;
    r->dropped = builder.dropped;
    r->skipped = builder.bytes_skipped;
    r->rank = builder.rank;
    r->world_size = builder.world_size;
    r->vendor = builder.vendor;
    if (r->trace) {
        r->trace->file.path = "memory.json";
        r->trace->file.format = id;
        r->trace->file.bytes = ta_reader_bytes(reader);
        r->trace->file.raw_bytes = ta_reader_raw_bytes(reader);
    }
    ta_builder_free(&builder);
    ta_reader_close(reader);
}

void fixture_read(struct fixture *f, const void *bytes, size_t size, struct reading *r)
{
    read_bytes(f, "chrome_json", bytes, size, true, r);
}

void fixture_scan(struct fixture *f, const void *bytes, size_t size, struct reading *r)
{
    read_bytes(f, "chrome_json", bytes, size, false, r);
}

void fixture_read_as(struct fixture *f, const char *input, const void *bytes, size_t size,
                     struct reading *r)
{
    read_bytes(f, input, bytes, size, true, r);
}

int fixture_sniff(struct fixture *f, const char *input, const void *bytes, size_t size)
{
    const struct ta_entry *entry = ta_registry_find(f->registry, TA_KIND_input, input);
    assert_non_null(entry);
    const bool whole = size <= TA_PROBE_SIZE;
    const struct ta_probe probe = {{bytes, whole ? size : TA_PROBE_SIZE}, whole};
    return entry->plugin.input->sniff(&probe);
}

void fixture_read_text(struct fixture *f, const char *text, struct reading *r)
{
    fixture_read(f, text, strlen(text), r);
}

void reading_free(struct reading *r)
{
    ta_trace_free(r->trace);
    ta_quality_free(&r->quality);
}

unsigned char *fixture_gzip(const void *bytes, size_t size, size_t *gz_size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    const size_t room = deflateBound(&z, size);
    unsigned char *out = malloc(room);
    assert_non_null(out);
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (unsigned)size;
    z.next_out = out;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *gz_size = z.total_out;
    deflateEnd(&z);
    return out;
}

/* ---- reports -------------------------------------------------------------------------- */

struct ta_report *fixture_finish(struct fixture *f, struct ta_partial_set *set, size_t n_ranks)
{
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    int64_t *ranks = ta_arena_alloc(ta_report_arena(report), (n_ranks + 1) * sizeof *ranks);
    assert_non_null(ranks);
    for (size_t i = 0; i < n_ranks; i++)
        ranks[i] = (int64_t)i;
    ta_sections_prepare(report);
    if (ta_finish(&f->ctx, set, ranks, n_ranks, report) != TA_OK ||
        ta_recommend(&f->ctx, f->registry, report) != TA_OK)
        fail_msg("no report: %s", ta_ctx_causes(&f->ctx));
    ta_report_set_run(report, &(struct ta_run_info){.title = "test",
                                                    .ranks = ranks,
                                                    .n_ranks = n_ranks,
                                                    .world_size = (int64_t)n_ranks,
                                                    .devices = ""});
    assert_int_equal(ta_report_freeze(report), TA_OK);
    ta_partial_set_free(set);
    return report;
}

struct ta_report *fixture_report(struct fixture *f, struct reading *readings, size_t n)
{
    struct ta_partial_set *set = ta_partial_set_new(&f->plan);
    assert_non_null(set);
    for (size_t i = 0; i < n; i++) {
        readings[i].trace->rank = (int64_t)i;
        if (ta_partial_set_map(&f->ctx, readings[i].trace, set) != TA_OK)
            fail_msg("cannot map: %s", ta_ctx_causes(&f->ctx));
    }
    return fixture_finish(f, set, n);
}

/* Standard output is a file in memory while the output writes. */
char *fixture_render(struct fixture *f, const struct ta_report *report, const char *output,
                     size_t *size)
{
    static const struct ta_render_options options = {
        .top = 10, .columns = 80, .theme = "auto", .version = "1.2.3"};
    const struct ta_entry *entry = ta_registry_find(f->registry, TA_KIND_output, output);
    assert_non_null(entry);
    fflush(stdout);
    const int memory = memfd_create("product", MFD_CLOEXEC), before = dup(STDOUT_FILENO);
    assert_true(memory >= 0 && before >= 0 && dup2(memory, STDOUT_FILENO) >= 0);
    struct ta_sink *sink = ta_sink_new(&f->ctx, TA_SINK_STDOUT, NULL);
    f->ctx.option_values = entry->option_values;
    enum ta_status status = entry->plugin.output->write(&f->ctx, report, &options, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&f->ctx, sink);
    ta_sink_free(sink);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    if (status != TA_OK)
        fail_msg("%s: %s", output, ta_ctx_causes(&f->ctx));
    const off_t end = lseek(memory, 0, SEEK_END);
    char *bytes = malloc((size_t)end + 1);
    assert_non_null(bytes);
    assert_int_equal(pread(memory, bytes, (size_t)end, 0), end);
    bytes[end] = '\0';
    close(memory);
    *size = (size_t)end;
    return bytes;
}

/* ---- findings ------------------------------------------------------------------------- */

void check_finding(const struct ta_quality *quality, enum ta_quality_code code, uint64_t count,
                   uint64_t offset, const char *file, int line)
{
    const struct ta_quality_slot *slot = &quality->slots[code];
    if (slot->count == count && (count == 0 || slot->first == offset))
        return;
    print_error("%s:%d: %s is %" PRIu64 " times first at %" PRIu64 ", expected %" PRIu64
                " times at %" PRIu64 "\n",
                file, line, ta_quality_name(code), slot->count, slot->count ? slot->first : 0,
                count, offset);
    fail();
}

void check_no_finding_but(const struct ta_quality *quality, const enum ta_quality_code *codes,
                          const char *file, int line)
{
    for (int code = 0; code < TA_Q_COUNT; code++) {
        bool expected = quality->slots[code].count == 0;
        for (size_t i = 0; codes[i] != TA_Q_COUNT; i++)
            expected |= (int)codes[i] == code;
        if (expected)
            continue;
        print_error("%s:%d: unexpected finding %s at %" PRIu64 ": %s\n", file, line,
                    ta_quality_name((enum ta_quality_code)code), quality->slots[code].first,
                    quality->slots[code].text ? quality->slots[code].text : "");
        fail();
    }
}

/* ---- texts and numbers ---------------------------------------------------------------- */

void text_put(struct text *text, const void *bytes, size_t size)
{
    if (text->n + size + 1 > text->max) {
        text->max = (text->n + size + 1) * 2;
        text->at = realloc(text->at, text->max);
        assert_non_null(text->at);
    }
    memcpy(text->at + text->n, bytes, size);
    text->n += size;
    text->at[text->n] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    char piece[4096];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof piece);
    text_put(text, piece, (size_t)n);
}

void text_free(struct text *text)
{
    free(text->at);
    *text = (struct text){0};
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t x = rng->state ? rng->state : UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
    return (rng_next(rng) >> 11) % n;
}

/* ---- traces from nothing -------------------------------------------------------------- */

/* What stands around the parts of an event. */
struct layout {
    const char *head, *between, *member, *end, *tail;
};

static const struct layout layouts[] = {
    {"{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"NVIDIA "
     "H200\"}\n  ],\n  \"traceEvents\": [\n  {\n    ",
     "\n  },\n  {\n    ", "\n    , ", "\n  }\n  ],\n",
     "  \"traceName\": \"trace.json\",\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": "
     "%" PRId64 ", \"world_size\": 8}\n}\n"},
    {"{\n    \"schemaVersion\": 1,\n    \"traceEvents\": [\n        {\n            ",
     "\n        },\n        {\n            ", ",\n            ", "\n        }\n    ],\n",
     "    \"distributedInfo\": {\n        \"rank\": %" PRId64
     ",\n        \"world_size\": 8\n    }\n}\n"},
    {"{\"schemaVersion\":1,\"traceEvents\":[{", "},{", ",", "}],",
     "\"distributedInfo\":{\"rank\":%" PRId64 ",\"world_size\":8}}"},
};

struct making {
    struct text *out;
    struct rng rng;
    const struct layout *layout;
    size_t made;
    int64_t now; /* µs × 1000 */
};

static void add_event(struct making *m, const char *phase, const char *category, const char *name,
                      const char *pid, unsigned tid, int64_t ts, int64_t dur, const char *args)
{
    const char *member = m->layout->member;
    text_add(m->out, "%s\"ph\": \"%s\"", m->made++ ? m->layout->between : "", phase);
    if (category)
        text_add(m->out, "%s\"cat\": \"%s\"", member, category);
    text_add(m->out, "%s\"name\": \"%s\"%s\"pid\": %s%s\"tid\": %u", member, name, member, pid,
             member, tid);
    text_add(m->out, "%s\"ts\": %" PRId64 ".%03d", member, ts / 1000, (int)(ts % 1000));
    if (dur >= 0)
        text_add(m->out, "%s\"dur\": %" PRId64 ".%03d", member, dur / 1000, (int)(dur % 1000));
    if (args)
        text_add(m->out, "%s\"args\": {%s}", member, args);
}

/* An operator that launches a kernel, a copy or a memory set. */
static void add_launch(struct making *m, unsigned correlation)
{
    static const char *const ops[] = {"aten::mm", "aten::add_", "aten::\\\"quoted\\\"",
                                      "attention \u00e9\u6f22", "aten::copy_"};
    static const struct {
        const char *category, *call, *name;
    } works[] = {
        {"kernel", "cudaLaunchKernel", "void gemm<float, {256}>(int*, [3])"},
        {"kernel", "cudaLaunchKernelExC", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(arg)"},
        {"kernel", "cuLaunchKernelEx", "elementwise\\\\kernel"},
        {"gpu_memcpy", "cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)"},
        {"gpu_memset", "cudaMemsetAsync", "Memset (Device)"},
    };
    const size_t work = rng_below(&m->rng, 5);
    const int64_t dur = 2000 + (int64_t)rng_below(&m->rng, 60000);
    char args[256];
    snprintf(args, sizeof args, "\"External id\": %u, \"Input Dims\": [[2, 3], []]", correlation);
    add_event(m, "X", "cpu_op", ops[rng_below(&m->rng, 5)], "4711", 4711, m->now, dur, args);
    snprintf(args, sizeof args, "\"cbid\": 211, \"correlation\": %u", correlation);
    add_event(m, "X", work == 2 ? "cuda_driver" : "cuda_runtime", works[work].call, "4711", 4711,
              m->now + 500, 700 + (int64_t)rng_below(&m->rng, 800), args);
    const int64_t start = m->now + 1000 + (int64_t)rng_below(&m->rng, 90000);
    const unsigned device = (unsigned)rng_below(&m->rng, 2);
    snprintf(args, sizeof args, "\"device\": %u, \"stream\": 7, \"correlation\": %u, \"bytes\": %u",
             device, correlation, (unsigned)rng_below(&m->rng, 1 << 20));
    add_event(m, "X", works[work].category, works[work].name, device ? "1" : "0",
              7 + (unsigned)rng_below(&m->rng, 2), start, 1000 + (int64_t)rng_below(&m->rng, 50000),
              args);
    m->now += dur - (rng_below(&m->rng, 8) == 0 ? 1500 : 0) + (int64_t)rng_below(&m->rng, 5000);
}

void fixture_trace_text(struct text *out, uint64_t seed, size_t n_events, int layout, int64_t rank)
{
    struct making m = {
        out, {seed * 2654435761u + 1}, &layouts[layout], 0, INT64_C(1700000000123456)};
    text_add(out, "%s", m.layout->head);
    add_event(&m, "M", NULL, "process_name", "4711", 0, m.now, -1, "\"name\": \"python\"");
    add_event(&m, "M", NULL, "thread_name", "4711", 4711, m.now, -1, "\"name\": \"main\"");
    for (unsigned step = 0, correlation = 1; m.made < n_events; step++) {
        const int64_t start = m.now;
        char name[64];
        for (unsigned i = 0; i < 4 && m.made + 1 < n_events; i++)
            add_launch(&m, correlation++);
        snprintf(name, sizeof name, "ProfilerStep#%u", step);
        add_event(&m, "X", "user_annotation", name, "4711", 4711, start, m.now - start, NULL);
        if (step % 3 == 0 && m.made < n_events)
            add_event(&m, "i", "marker", "tick", "4711", 12, m.now, -1, NULL);
    }
    text_add(out, "%s", m.layout->end);
    /* The format is one of the constants above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    text_add(out, m.layout->tail, rank);
#pragma GCC diagnostic pop
}

/* ---- oracles -------------------------------------------------------------------------- */

static bool is_host(const struct ta_trace *trace, ta_row row)
{
    return ta_class_is_host(ta_trace_categories(trace).at[ta_trace_spans(trace).cat[row]].class);
}

static bool is_open(const struct ta_spans *s, ta_row row, int64_t t)
{
    return s->ts[row] <= t && t < s->ts[row] + s->dur[row];
}

/* The last host span of a track in nesting order, below row `end`, that is open at `t`. */
static ta_row last_open(const struct ta_trace *trace, const struct ta_track *track, ta_row end,
                        int64_t t)
{
    const struct ta_spans s = ta_trace_spans(trace);
    for (ta_row row = end; row-- > track->first;)
        if (is_host(trace, row) && is_open(&s, row, t))
            return row;
    return TA_NO_ROW;
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Between two neighboring starts or ends nothing changes, so one look per piece is enough. */
static void oracle_track(const struct ta_trace *trace, const struct ta_track *track,
                         struct oracle_span *out)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const ta_row end = track->first + track->n;
    int64_t *cuts = malloc(2 * (track->n + 1) * sizeof *cuts);
    assert_non_null(cuts);
    size_t n = 0;
    for (ta_row row = track->first; row < end; row++) {
        cuts[n++] = s.ts[row];
        cuts[n++] = s.ts[row] + s.dur[row];
        if (!is_host(trace, row))
            continue;
        const ta_row parent = last_open(trace, track, row, s.ts[row]);
        out[row].parent = parent;
        out[row].depth = parent == TA_NO_ROW ? 0 : (uint16_t)(out[parent].depth + 1);
    }
    qsort(cuts, n, sizeof *cuts, by_value);
    for (size_t i = 1; i < n; i++) {
        const ta_row row = last_open(trace, track, end, cuts[i - 1]);
        if (row != TA_NO_ROW)
            out[row].self += cuts[i] - cuts[i - 1];
    }
    free(cuts);
}

struct oracle_span *oracle_nesting(const struct ta_trace *trace)
{
    const size_t n = ta_trace_spans(trace).n;
    struct oracle_span *out = calloc(n + 1, sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        out[i].parent = TA_NO_ROW;
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    for (size_t t = 0; t < tracks.n; t++)
        oracle_track(trace, &tracks.at[t], out);
    return out;
}

ta_row oracle_operator(const struct ta_trace *trace, ta_row call)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_track *track = &ta_trace_tracks(trace).at[s.track[call]];
    for (ta_row row = track->first + track->n; row-- > track->first;) {
        const struct ta_slice name = ta_trace_text(trace, s.name[row]);
        const bool step = name.len > 13 && memcmp(name.ptr, "ProfilerStep#", 13) == 0;
        if (ta_trace_categories(trace).at[s.cat[row]].class == TA_CLASS_OP && !step &&
            is_open(&s, row, s.ts[call]))
            return row;
    }
    return call;
}
