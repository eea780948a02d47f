/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of PyTorch's allocator: all generations of keys, as pickles and as JSON, and damaged.
 */
#include "base/quality.h"
#include "model/allocator.h"
#include "trace_fixture.h"

#include "traceanalyze/dump.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

/* ---- JSON text as a pickle ----------------------------------------------------------------- */

static void put_text(struct text *out, const char *text, int protocol)
{
    const uint32_t n = (uint32_t)strlen(text);
    if (protocol == 0) {
        text_add(out, "V%s\n", text);
        return;
    }
    text_put(out, "X", 1);
    text_put(out, &n, 4);
    text_put(out, text, n);
}

static void put_value(struct text *out, const json_t *value, int protocol);

static void put_members(struct text *out, json_t *value, int protocol)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item) put_value(out, item, protocol);
        return;
    }
    json_object_foreach(value, key, item)
    {
        put_text(out, key, protocol);
        put_value(out, item, protocol);
    }
}

/* Containers are made whole in protocol 0, and filled as Python does it in the others. */
static void put_container(struct text *out, const json_t *value, int protocol)
{
    const bool is_list = json_is_array(value);
    if (protocol > 0)
        text_add(out, is_list ? "]" : "}");
    text_add(out, "(");
    put_members(out, (json_t *)(uintptr_t)value, protocol);
    if (protocol == 0)
        text_add(out, is_list ? "l" : "d");
    else
        text_add(out, is_list ? "e" : "u");
}

static void put_value(struct text *out, const json_t *value, int protocol)
{
    const int64_t number = json_integer_value(value);
    if (json_is_object(value) || json_is_array(value))
        put_container(out, value, protocol);
    else if (json_is_string(value))
        put_text(out, json_string_value(value), protocol);
    else if (json_is_real(value))
        text_add(out, "F%f\n", json_real_value(value));
    else if (json_is_integer(value) && protocol < 2)
        text_add(out, "L%" PRId64 "L\n", number);
    else if (json_is_integer(value)) {
        text_put(out, "\x8a\x08", 2);
        text_put(out, &number, 8);
    } else if (json_is_null(value))
        text_add(out, "N");
    else
        text_add(out, json_is_true(value) ? "I01\n" : "I00\n");
}

/* Single quotes stand for double ones in the texts of this test. */
static json_t *parse(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_error_t error;
    json_t *value = json_loads(copy, 0, &error);
    if (!value)
        fail_msg("%s at %d", error.text, error.position);
    free(copy);
    return value;
}

/* The bytes of a text in a form: protocols 0 to 2, and JSON after them. */
enum { JSON_FORM = 3, FORMS };

static void make_file(struct text *out, const char *text, int form)
{
    json_t *value = parse(text);
    if (form == JSON_FORM) {
        char *json = json_dumps(value, 0);
        text_add(out, "%s", json);
        free(json);
    } else {
        if (form == 2)
            text_put(out, "\x80\2", 2);
        put_value(out, value, form);
        text_add(out, ".");
    }
    json_decref(value);
}

/* ---- rows as text -------------------------------------------------------------------------- */

static void put_stack(struct text *out, const struct ta_trace *trace, uint32_t frames)
{
    const struct ta_allocator *a = ta_trace_allocator(trace);
    if (frames == UINT32_MAX) {
        text_add(out, " -\n");
        return;
    }
    assert_true(frames < a->n_stacks);
    for (uint32_t i = 0; i < a->stacks[frames].n; i++) {
        const struct ta_slice frame = ta_trace_text(trace, a->stacks[frames].at[i]);
        text_add(out, "%s%.*s", i ? "; " : " ", (int)frame.len, frame.ptr);
    }
    text_add(out, "\n");
}

static void put_segments(struct text *out, const struct ta_trace *trace)
{
    const struct ta_allocator *a = ta_trace_allocator(trace);
    for (size_t i = 0; i < a->n_segments; i++) {
        const struct ta_alloc_segment *s = &a->segments[i];
        text_add(out, "segment %" PRId64, s->device == TA_MISSING ? -1 : s->device);
        text_add(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, s->address,
                 s->total, s->allocated, s->active, s->requested);
        text_add(out, " stream %" PRIu64 "%s%s pool %" PRId64 ",%" PRId64, s->stream,
                 s->small ? " small" : "", s->expandable ? " expandable" : "", s->pool[0],
                 s->pool[1]);
        put_stack(out, trace, s->frames);
        for (size_t b = s->first; b < s->first + s->n; b++) {
            const struct ta_alloc_block *block = &a->blocks[b];
            text_add(out, "  %s %" PRIu64 " %" PRIu64 " %" PRIu64,
                     (const char *[]){"free", "used", "pending"}[block->state], block->address,
                     block->size, block->requested);
            put_stack(out, trace, block->frames);
        }
    }
}

static void put_events(struct text *out, const struct ta_trace *trace)
{
    const struct ta_allocator *a = ta_trace_allocator(trace);
    for (size_t i = 0; i < a->n_events; i++) {
        const struct ta_alloc_event *e = &a->events[i];
        text_add(out, "event %" PRId64 " %d %" PRIu64 " %" PRIu64, e->device, (int)e->action,
                 e->address, e->size);
        if (e->time_ns != TA_MISSING)
            text_add(out, " at %" PRId64, e->time_ns);
        put_stack(out, trace, e->frames);
    }
}

static void put_words(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_happening *h = ta_trace_happening_rows(trace, &n);
    for (; n; n--, h++) {
        const struct ta_slice name = ta_trace_text(trace, h->name);
        const struct ta_slice data = ta_trace_text(trace, h->data);
        text_add(out, "%.*s %.*s at %" PRId64 "\n", (int)name.len, name.ptr, (int)data.len,
                 data.ptr, h->time_ns);
    }
    const struct ta_tag *t = ta_trace_tag_rows(trace, &n);
    for (; n; n--, t++) {
        const struct ta_slice key = ta_trace_text(trace, t->key);
        const struct ta_slice value = ta_trace_text(trace, t->value);
        text_add(out, "%.*s=%.*s\n", (int)key.len, key.ptr, (int)value.len, value.ptr);
    }
}

static void show(struct text *out, const struct ta_trace *trace)
{
    assert_non_null(ta_trace_allocator(trace));
    text_add(out, "%s", "");
    put_segments(out, trace);
    put_events(out, trace);
    put_words(out, trace);
}

/* What a text is read as, in every form. */
static void assert_rows(const char *text, const char *expected)
{
    for (int form = 0; form < FORMS; form++) {
        struct text bytes = {0}, rows = {0};
        struct reading r;
        make_file(&bytes, text, form);
        fixture_read_as(&fixture, "torch_memory", bytes.at, bytes.n, &r);
        if (r.status != TA_OK)
            fail_msg("form %d: %s", form, ta_ctx_causes(&fixture.ctx));
        show(&rows, r.trace);
        assert_string_equal(rows.at, expected);
        assert_int_equal(r.rank, TA_MISSING);
        reading_free(&r);
        text_free(&bytes);
        text_free(&rows);
    }
}

/* ---- generations --------------------------------------------------------------------------- */

#define FRAMES                                                                                     \
    "[{'name':'at::empty','filename':'?\?','line':0},{'name':'f','filename':'/a/b.py',"            \
    "'line':7,'fx_node_name':'x'}]"
#define STACK "at::empty; f (/a/b.py:7)"

static void reads_a_current_snapshot(void **state)
{
    (void)state;
    assert_rows(
        "{'segments':[{'device':1,'address':140000000000000,'total_size':2097152,"
        "'allocated_size':1024,'active_size':1536,'requested_size':1300,'stream':9,"
        "'segment_type':'small','segment_pool_id':[0,3],'is_expandable':true,'frames':" FRAMES ","
        "'blocks':[{'address':140000000000000,'size':1024,'requested_size':1000,"
        "'state':'active_allocated','frames':" FRAMES "},"
        "{'address':140000000001024,'size':512,'requested_size':300,"
        "'state':'active_pending_free','frames':[]},"
        "{'address':140000000001536,'size':2095616,'requested_size':0,'state':'inactive',"
        "'frames':[]}]}],"
        "'device_traces':[[],[{'action':'segment_alloc','addr':140000000000000,'size':2097152,"
        "'stream':9,'time_us':1700000000000001,'frames':" FRAMES "},"
        "{'action':'alloc','addr':140000000000000,'size':1000,'stream':9,"
        "'time_us':1700000000000002,'compile_context':'N/A','user_metadata':'','pool_id':[0,3]},"
        "{'action':'oom','device_free':77,'size':5000,'stream':9,'time_us':1700000000000003},"
        "{'action':'annotate','addr':5,'stream':9,'time_us':1700000000000004},"
        "{'action':'snapshot','addr':0,'size':0,'stream':0,'time_us':1700000000000005}]],"
        "'external_annotations':[{'name':'step','stage':'START','device':1,"
        "'time_us':1700000000000001}],"
        "'allocator_settings':{'PYTORCH_CUDA_ALLOC_CONF':'','max_split_size':-1,"
        "'garbage_collection_threshold':0.5,'expandable_segments':true,"
        "'roundup_power2_divisions':{'1':0}},'host_segments':[],'host_traces':[]}",
        "segment 1 140000000000000 2097152 1024 1536 1300 stream 9 small expandable pool 0,3 " STACK
        "\n"
        "  used 140000000000000 1024 1000 " STACK "\n"
        "  pending 140000000001024 512 300 -\n"
        "  free 140000000001536 2095616 0 -\n"
        "event 1 3 140000000000000 2097152 at 1700000000000001000 " STACK "\n"
        "event 1 0 140000000000000 1000 at 1700000000000002000 -\n"
        "event 1 7 77 5000 at 1700000000000003000 -\n"
        "event 1 9 5 0 at 1700000000000004000 -\n"
        "event 1 8 0 0 at 1700000000000005000 -\n"
        "step START at 1700000000000001000\n"
        "max_split_size=-1\ngarbage_collection_threshold=0.5\nexpandable_segments=true\n");
}

/* Blocks have no address and keep their stacks in a history of their own; there are no times. */
static void reads_the_oldest_snapshots(void **state)
{
    (void)state;
    assert_rows("{'segments':[{'device':0,'address':4096,'total_size':3072,'stream':0,"
                "'segment_type':'large','segment_pool_id':[0,0],'blocks':["
                "{'size':1024,'state':'active_allocated','history':[{'addr':4096,'real_size':1000,"
                "'frames':" FRAMES "},{'addr':4096,'real_size':7}]},"
                "{'size':1024,'requested_size':900,'state':'active_awaiting_free'},"
                "{'size':1024,'state':'inactive'}]}],"
                "'device_traces':[[{'action':'free_completed','addr':4096,'size':12}]]}",
                "segment 0 4096 3072 1024 2048 1900 stream 0 pool 0,0 -\n"
                "  used 4096 1024 1000 " STACK "\n"
                "  pending 5120 1024 900 -\n"
                "  free 6144 1024 0 -\n"
                "event 0 2 4096 12 -\n");
}

static void reads_a_list_of_segments(void **state)
{
    (void)state;
    assert_rows("[{'device':0,'address':8,'total_size':1024,'allocated_size':1024,'active_size':"
                "1024,'requested_size':1,'stream':0,'segment_type':'small','blocks':["
                "{'address':8,'size':1024,'state':'active_allocated'}]},"
                "{'address':4096,'total_size':512,'blocks':[]}]",
                "segment 0 8 1024 1024 1024 1 stream 0 small pool 0,0 -\n"
                "  used 8 1024 1024 -\n"
                "segment -1 4096 512 0 0 0 stream 0 pool 0,0 -\n");
}

static void keeps_devices_apart(void **state)
{
    (void)state;
    assert_rows("{'segments':[{'device':1,'address':8,'total_size':512},"
                "{'device':0,'address':8,'total_size':1024}],'device_traces':["
                "[{'action':'segment_alloc','addr':8,'size':1024}],"
                "[{'action':'segment_map','addr':8,'size':512},"
                "{'action':'segment_unmap','addr':8,'size':512}],[]]}",
                "segment 1 8 512 0 0 0 stream 0 pool 0,0 -\n"
                "segment 0 8 1024 0 0 0 stream 0 pool 0,0 -\n"
                "event 0 3 8 1024 -\nevent 1 5 8 512 -\nevent 1 6 8 512 -\n");
}

/* Pinned host memory is summed up beside the state of the devices. */
static void reads_pinned_host_memory(void **state)
{
    (void)state;
    for (int form = 0; form < FORMS; form++) {
        struct text bytes = {0};
        struct reading r;
        size_t n;
        make_file(&bytes,
                  "{'segments':[{'total_size':512}],'host_segments':[{'total_size':4096,'blocks':["
                  "{'size':1024,'state':'active_allocated'},{'size':3072,'state':'inactive'}]}],"
                  "'host_traces':[[{'action':'alloc','addr':1,'size':100},"
                  "{'action':'alloc','addr':2,'size':3000000},"
                  "{'action':'free_completed','addr':1,'size':100}]]}",
                  form);
        fixture_read_as(&fixture, "torch_memory", bytes.at, bytes.n, &r);
        assert_int_equal(r.status, TA_OK);
        assert_int_equal(r.dropped, 0);
        const struct ta_figure *figures = ta_trace_figure_rows(r.trace, &n);
        assert_int_equal(n, 2);
        assert_true(figures[0].value == 4096);
        assert_true(figures[1].value == 1024);
        const struct ta_allocation_pattern *pattern = ta_trace_allocation_rows(r.trace, &n);
        assert_int_equal(n, 1);
        assert_int_equal(pattern->allocations, 2);
        assert_int_equal(pattern->deallocations, 1);
        assert_int_equal(pattern->bytes, 3000100);
        assert_int_equal(pattern->min_bytes, 100);
        assert_int_equal(pattern->max_bytes, 3000000);
        assert_true(pattern->small_ratio == 0.5);
        assert_int_equal(ta_trace_allocator(r.trace)->n_segments, 1);
        assert_int_equal(ta_trace_allocator(r.trace)->n_blocks, 0);
        assert_int_equal(ta_trace_allocator(r.trace)->n_events, 0);
        reading_free(&r);
        text_free(&bytes);
    }
}

/* ---- damage -------------------------------------------------------------------------------- */

struct outcome {
    const char *text;
    uint64_t kept, dropped;
};

static void drops_what_cannot_be_used(void **state)
{
    (void)state;
    static const struct outcome outcomes[] = {
        {"{'segments':[{'total_size':512}, 5, null, 'x', [], {}]}", 1, 5},
        {"{'segments':[{'total_size':512},{'total_size':-1},{'total_size':'512'},"
         "{'total_size':9e30}]}",
         1, 3},
        {"{'segments':[{'total_size':512,'blocks':[{'size':1,'state':'inactive'},{'size':2},"
         "{'state':'inactive'},{'size':1,'state':'lost'},{'size':null,'state':'inactive'},7]}]}",
         2, 5},
        {"{'segments':[{'total_size':512,'blocks':'none'}]}", 1, 0},
        {"{'segments':[],'device_traces':[[{'action':'alloc','size':1},{'action':'alloc'},"
         "{'size':1},{'action':3,'size':1},7],'x',null]}",
         1, 6},
        {"{'segments':[{'total_size':512}],'external_annotations':[{'name':'a'},{},1]}", 2, 2},
        {"{'segments':[{'total_size':512}],'external_annotations':5,'allocator_settings':[1],"
         "'device_traces':8}",
         1, 0},
        {"{'segments':[{'total_size':512}],'host_segments':[{'total_size':512}],"
         "'host_traces':[[]]}",
         2, 0},
        {"{'segments':[{'total_size':512}],'host_segments':[{}],'host_traces':[[5],6]}", 1, 3},
    };
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        for (int form = 0; form < FORMS; form++) {
            struct text bytes = {0};
            struct reading r;
            make_file(&bytes, outcomes[i].text, form);
            fixture_read_as(&fixture, "torch_memory", bytes.at, bytes.n, &r);
            assert_int_equal(r.status, TA_OK);
            assert_int_equal(r.kept, outcomes[i].kept);
            assert_int_equal(r.dropped, outcomes[i].dropped);
            assert_no_finding_but(&r.quality, TA_Q_BAD_RECORD);
            reading_free(&r);
            text_free(&bytes);
        }
}

static void names_the_place_of_what_is_dropped(void **state)
{
    (void)state;
    struct reading r;
    const char bytes[] = "(Vsegments\n((Vtotal_size\nK\1dK\5ld.";
    fixture_read_as(&fixture, "torch_memory", bytes, sizeof bytes - 1, &r);
    assert_int_equal(r.status, TA_OK);
    assert_finding(&r.quality, TA_Q_BAD_RECORD, 1, 28);
    reading_free(&r);
}

/* What a segment says wrongly of itself, its blocks tell. */
static void sizes_that_are_none_are_told(void **state)
{
    (void)state;
    struct text bytes = {0};
    struct reading r;
    make_file(&bytes,
              "{'segments':[{'total_size':9e30,'active_size':-3,'blocks':[{'size':7,"
              "'state':'active_allocated'}]}]}",
              0);
    fixture_read_as(&fixture, "torch_memory", bytes.at, bytes.n, &r);
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.dropped, 0);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_BAD_NUMBER), 2);
    assert_no_finding_but(&r.quality, TA_Q_BAD_NUMBER);
    reading_free(&r);
    text_free(&bytes);
}

/* One record that stands in many places would be many records. */
static void takes_a_record_once(void **state)
{
    (void)state;
    struct reading r;
    const char bytes[] = "(Vsegments\n((Vtotal_size\nK\1dq\1h\1h\1lVdevice_traces\n"
                         "(((Vaction\nVsnapshot\ndlq\2h\2ld.";
    fixture_read_as(&fixture, "torch_memory", bytes, sizeof bytes - 1, &r);
    assert_int_equal(r.status, TA_OK);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 3);
    assert_int_equal(ta_trace_allocator(r.trace)->n_segments, 1);
    assert_int_equal(ta_trace_allocator(r.trace)->n_events, 1);
    reading_free(&r);
}

static void refuses_other_objects(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } others[] = {
        {"{}", "neither a list \"segments\" nor"},
        {"{'segments':{}}", "neither a list \"segments\" nor"},
        {"{'segments':[1,2]}", "none of its 2 records"},
        {"[[],[]]", "none of its 2 records"},
        {"{'device_traces':[[{'action':'alloc'}]]}", "none of its 1 records"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (int form = 0; form < FORMS; form++) {
            struct text bytes = {0};
            struct reading r;
            make_file(&bytes, others[i].text, form);
            fixture_read_as(&fixture, "torch_memory", bytes.at, bytes.n, &r);
            assert_int_equal(r.status, TA_ERR_INPUT);
            assert_non_null(strstr(ta_ctx_causes(&fixture.ctx), others[i].words));
            reading_free(&r);
            text_free(&bytes);
        }
    struct reading r;
    fixture_read_as(&fixture, "torch_memory", "K\1.", 3, &r);
    assert_int_equal(r.status, TA_ERR_INPUT);
    assert_non_null(strstr(ta_ctx_causes(&fixture.ctx), "neither a dict nor a list"));
    reading_free(&r);
}

static void accepts_a_snapshot_of_nothing(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_as(&fixture, "torch_memory", "}(Vsegments\n]Vdevice_traces\n]u.", 32, &r);
    assert_int_equal(r.status, TA_OK);
    assert_finding(&r.quality, TA_Q_NO_EVENTS, 1, TA_NO_OFFSET);
    reading_free(&r);
}

/* ---- recognition --------------------------------------------------------------------------- */

static void recognizes_by_content(void **state)
{
    (void)state;
    static const char segment[] = "{'address':1,'total_size':512,'blocks':[]}";
    char list[128], dict[256];
    snprintf(list, sizeof list, "[%s]", segment);
    snprintf(dict, sizeof dict, "{'segments':[%s],'device_traces':[[]]}", segment);
    for (int form = 0; form < FORMS; form++) {
        struct text bytes = {0};
        make_file(&bytes, list, form);
        assert_true(fixture_sniff(&fixture, "torch_memory", bytes.at, bytes.n) >= 80);
        assert_true(fixture_sniff(&fixture, "chrome_json", bytes.at, bytes.n) < 80);
        text_free(&bytes);
        make_file(&bytes, dict, form);
        assert_true(fixture_sniff(&fixture, "torch_memory", bytes.at, bytes.n) >= 80);
        text_free(&bytes);
    }
    static const char *const others[] = {
        "",
        " ",
        "[]",
        "{}",
        "(",
        "]",
        "{\"traceEvents\": [{\"ph\": \"X\", \"args\": \"segments\"}]}",
        "[{\"ph\":\"X\",\"name\":\"total_size blocks address\"}]",
        "total_size,blocks,address\n",
        "\x80",
        "\x80\6",
        "\x80\1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(fixture_sniff(&fixture, "torch_memory", others[i], strlen(others[i])), 0);
    assert_int_equal(fixture_sniff(&fixture, "torch_memory", "\x80\5", 2), 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_a_current_snapshot),
        TEST(reads_the_oldest_snapshots),
        TEST(reads_a_list_of_segments),
        TEST(keeps_devices_apart),
        TEST(reads_pinned_host_memory),
        TEST(drops_what_cannot_be_used),
        TEST(names_the_place_of_what_is_dropped),
        TEST(sizes_that_are_none_are_told),
        TEST(takes_a_record_once),
        TEST(refuses_other_objects),
        TEST(accepts_a_snapshot_of_nothing),
        TEST(recognizes_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
