/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules on figures of dumps, and the plain ones on those of traces: what each fires on, and
 * that it keeps silent at its threshold, on missing values, and where its figure says nothing. */
#include "recommend/recommend.h"
#include "report/tables.h"

#include "analyze/analyze.h"
#include "base/context.h"
#include "plugin/registry.h"
#include "report/report.h"
#include "report/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COLUMNS_MAX = 12 };

struct run {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_registry *registry;
    struct ta_report *report;
};

/* "" is missing, what reads as a number is one, all else is text. */
static struct ta_cell cell_of(const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (!*text)
        return ta_null();
    if (*end)
        return ta_text(ta_slice_of(text));
    return strchr(text, '.') ? ta_num(number) : ta_int((int64_t)number);
}

/* Columns of a table of values have their unit beside them, the others one that fits. */
static enum ta_unit unit_of(const char *key)
{
    static const char *const ends[][2] = {
        {"_ns", "n"}, {"share", "r"}, {"ratio", "r"}, {"_bytes", "b"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t length = strlen(key), end = strlen(ends[i][0]);
        if (length >= end && strcmp(key + length - end, ends[i][0]) == 0)
            return *ends[i][1] == 'n'   ? TA_UNIT_NS
                   : *ends[i][1] == 'r' ? TA_UNIT_RATIO
                                        : TA_UNIT_BYTES;
    }
    return TA_UNIT_NONE;
}

static bool is_text(const char *key)
{
    static const char *const keys[] = {"unit",  "signal",  "metric", "basis",  "stage", "share_of",
                                       "layer", "model",   "type",   "cache",  "what",  "table",
                                       "label", "section", "bound",  "largest"};
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        found |= strcmp(key, keys[i]) == 0;
    return found;
}

/* Splits a line at its commas, in place. */
static size_t split(char *line, char *parts[COLUMNS_MAX])
{
    size_t n = 0;
    while (line) {
        assert_true(n < COLUMNS_MAX);
        parts[n++] = strsep(&line, ",");
    }
    return n;
}

/* Adds the table whose first line is its id, whose second has the keys and whose others are rows;
 * an empty line ends it.  Returns what follows. */
static char *add_table(struct run *run, char *text)
{
    char *parts[COLUMNS_MAX];
    const char *id = strsep(&text, "\n");
    const size_t n = split(strsep(&text, "\n"), parts);
    struct ta_arena *arena = ta_report_arena(run->report);
    struct ta_column *columns = ta_arena_alloc(arena, n * sizeof *columns);
    assert_non_null(columns);
    for (size_t i = 0; i < n; i++) {
        char *key = ta_arena_alloc(arena, strlen(parts[i]) + 1);
        assert_non_null(key);
        strcpy(key, parts[i]);
        columns[i] = (struct ta_column){.key = key,
                                        .title = key,
                                        .type = is_text(key) ? TA_TYPE_STRING : TA_TYPE_NUMBER,
                                        .unit = unit_of(key),
                                        .doc = ""};
    }
    struct ta_table_builder *table = ta_add_table(
        ta_report_open_section(run->report, "diffusion", "Diffusion"), id, id, columns, n);
    while (text && *text && *text != '\n') {
        struct ta_cell cells[COLUMNS_MAX];
        assert_int_equal(split(strsep(&text, "\n"), parts), n);
        for (size_t i = 0; i < n; i++)
            cells[i] = cell_of(parts[i]);
        ta_add_row(table, cells);
    }
    return text && *text == '\n' ? text + 1 : text;
}

static void open_run(struct run *run, const char *tables, const char *setting)
{
    memset(run, 0, sizeof *run);
    ta_shared_init(&run->shared);
    ta_ctx_init(&run->ctx, &run->shared);
    run->registry = ta_registry_new(&run->ctx);
    assert_non_null(run->registry);
    if (setting)
        assert_int_equal(ta_registry_set(&run->ctx, run->registry, TA_SET_OPTION, setting, "test"),
                         TA_OK);
    run->report = ta_report_new();
    assert_non_null(run->report);
    ta_sections_prepare(run->report);
    char *copy = strdup(tables), *rest = copy;
    while (rest && *rest)
        rest = add_table(run, rest);
    free(copy);
    assert_int_equal(ta_recommend(&run->ctx, run->registry, run->report), TA_OK);
    assert_int_equal(ta_report_freeze(run->report), TA_OK);
}

static void close_run(struct run *run)
{
    ta_report_free(run->report);
    ta_registry_free(run->registry);
}

/* The findings in their order: "a b ". */
static void findings_of(const struct run *run, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t s = 0; s < ta_report_section_count(run->report); s++) {
        const struct ta_section *section = ta_report_section(run->report, s);
        for (size_t i = 0; i < section->n_items; i++)
            if (section->items[i].kind == TA_ITEM_FINDING)
                n += (size_t)snprintf(text + n, size - n, "%s ", section->items[i].finding->id);
    }
}

#define STAGES(rows) "stages.over_ranks\nstage,mean_total_ns,share,share_of\n" rows "\n"
#define LATE(rows)                                                                                 \
    "ranks.late\nwhat,table,encloses,ranks,rank,value_ns,median_ns,excess_ns,excess,deviations,"   \
    "loss_ns\n" rows "\n"
#define LAYERS(rows) "layers.by_name\nrank,layer,total_ns,share\n" rows "\n"
#define STEPS(rows) "diffusion.by_rank\nrank,steps_per_pass,step_p50_ns\n" rows "\n"
#define BLOCKS(rows) "diffusion.by_rank\nrank,blocks,block_p50_ns\n" rows "\n"
#define VALUES(rows) "throughput.values\nrank,metric,basis,value,unit\n" rows "\n"
#define DEVICES(rows) "telemetry.by_rank\nrank,device,signal,mean,max,unit\n" rows "\n"
#define MEMORY(rows)                                                                               \
    "memory.by_rank\nrank,device,peak_allocated_bytes,peak_reserved_bytes,total_bytes,"            \
    "unused_bytes,ooms,retries\n" rows "\n"
#define FAILURES(rows)                                                                             \
    "memory.failures\nrank,device,wanted_bytes,device_free_bytes,allocated_bytes,reserved_"        \
    "bytes\n" rows "\n"
#define GPU(rows)                                                                                  \
    "gpu_time.by_rank\nrank,device,window_ns,busy_ns,idle_ns,comm_exposed_ns,"                     \
    "memcpy_exposed_ns\n" rows "\ngpu_time.program\nrank,device,window_ns,busy_ns,idle_ns,comm_"   \
    "exposed_ns,memcpy_exposed_ns\n" rows "\n"
#define IDLE(rows) "gpu_idle.by_owner\nrank,device,owner,total_ns,later_ns\n" rows "\n"
#define COPIES(rows)                                                                               \
    "copies.bandwidth\nrank,path,direction,memory,bandwidth,link,exposed_ns\n" rows "\n"
#define WAITS(rows)                                                                                \
    "copies.blocking\nrank,path,direction,memory,call,bytes,host_ns,exposed_ns,idle_ns\n" rows "\n"
#define SCALING(rows)                                                                              \
    "scaling.by_world_size\nworld_size,base_world_size,speedup,efficiency\n" rows "\n"
#define LABELS(rows) "memory.snapshots\nrank,index,label,device,allocated_bytes\n" rows "\n"
#define CALLED(rows) "stages.over_ranks\nstage,calls,mean_total_ns,share,share_of\n" rows "\n"
#define GIB(n) #n "000000000"
#define CACHES(rows) "caches.by_name\nrank,cache,hits,misses,hit_ratio\n" rows "\n"

static const struct {
    const char *tables, *findings, *setting;
} cases[] = {
    {"models.parameters\nrank,model,type,parameters\n0,a,vae,1000000000\n", "", NULL},
    {"models.parameters\nrank,model,type,parameters\n0,a,vae,1000000001\n", "model-size ", NULL},
    {STEPS("0,30,1000\n"), "", NULL},
    {STEPS("0,4,1000\n1,31,1000\n"), "diffusion-steps ", NULL},
    {STEPS("0,31,\n"), "diffusion-steps ", NULL},
    {STEPS("0,,1000\n"), "", NULL},
    {STEPS("0,31,1000\n"), "", "diffusion_steps.steps=31"},
    {"diffusion.by_rank\nrank,frames_per_block,step_mean_ns\n0,8,200000000\n", "", NULL},
    {"diffusion.by_rank\nrank,frames_per_block,step_mean_ns\n0,8.5,1\n", "", NULL},
    {"diffusion.by_rank\nrank,frames_per_block,step_mean_ns\n0,8.5,1\n"
     "\nstreaming.by_rank\nrank,frames\n0,20\n",
     "block-size ", NULL},
    {"diffusion.by_rank\nrank,frames_per_block,step_mean_ns\n0,3,200000001\n", "step-time ", NULL},
    {VALUES("0,fps,blocks,10,per_s\n0,bps,blocks,2,per_s\n"), "", NULL},
    {VALUES("0,fps,blocks,9.9,per_s\n0,bps,blocks,1.9,per_s\n"), "frame-rate ", NULL},
    {VALUES("0,fps,as_reported,1.0,per_s\n0,bps,wall,1.0,per_s\n"), "", NULL},
    {VALUES("0,fps,blocks,,per_s\n"), "", NULL},
    {VALUES("0,first_block_ns,wall,300,ns\n") BLOCKS("0,5,100\n"), "", NULL},
    {VALUES("0,first_block_ns,wall,301,ns\n") BLOCKS("0,5,100\n"), "first-block ", NULL},
    {VALUES("1,first_block_ns,wall,301,ns\n") BLOCKS("0,5,100\n"), "", NULL},
    {VALUES("0,first_block_ns,wall,301,ns\n") BLOCKS("0,1,100\n"), "", NULL},
    {STAGES("a,30,0.3,\nb,70,,\n"), "", NULL},
    {STAGES("a,35,0.35,session\nb,20,0.2,session\n"), "stage-share ", NULL},
    {STAGES("a,60,0.6,session\n"), "", NULL},
    {STAGES("a,60,0.6,sum\nb,40,0.4,sum\n"), "", NULL},
    {STAGES("a,80,0.8,sum\nb,20,0.2,sum\n"), "stage-share ", NULL},
    {STAGES("a,60,0.6,parent\nb,20,0.2,session\n"), "", NULL},
    {STAGES("a,20,1.0,scope\nb,70,0.2,scope\n"), "", NULL},
    {LATE("step,t,,4,2,105,100,5,0.05,50,90\n"), "", NULL},
    {LATE("step,t,,4,2,120,100,20,0.2,3.9,90\n"), "", NULL},
    {LATE("step,t,,4,2,120,100,20,0.2,4.1,90\n"), "late-rank ", NULL},
    {LATE("step,t,,2,1,120,100,20,0.2,,90\n"), "late-rank ", NULL},
    {LATE("step,t,,4,2,120,100,20,0.2,9,90\n"), "", "late_rank.excess=0.2"},
    {LAYERS("0,a,40,0.4\n0,b,35,0.35\n0,c,25,0.25\n"), "", NULL},
    {LAYERS("0,a,60,0.6\n0,b,20,0.2\n0,c,20,0.2\n"), "layer-share ", NULL},
    {LAYERS("0,a,60,0.6\n0,b,40,0.4\n"), "layer-share ", NULL},
    {LAYERS("0,a,52,0.52\n0,b,48,0.48\n"), "", NULL},
    {LAYERS("0,a,34,0.34\n0,b,33,0.33\n0,c,33,0.33\n"), "", NULL},
    /* Offloading: what is in use before and after the step that is to free it. */
    {LABELS("0,0,start,," GIB(9) "\n0,1,after_offload,," GIB(9) "\n"), "offloading ", NULL},
    {LABELS("0,0,start,," GIB(9) "\n0,1,after_offload,," GIB(2) "\n"), "", NULL},
    {LABELS("0,0,start,," GIB(9) "\n0,1,before_offload,," GIB(9) "\n"), "", NULL},
    {LABELS("0,0,start,,9000\n0,1,after_offload,,9000\n"), "", NULL},
    {LABELS("0,0,start,0," GIB(9) "\n0,1,unload,1," GIB(9) "\n"), "", NULL},
    {LABELS("0,0,after_offload,," GIB(9) "\n"), "", NULL},
    /* Snapshots of one step: a jump that stays, one that goes, steady growth, noise. */
    {LABELS(
         "0,0,c_0,," GIB(8) "\n0,1,c_1,," GIB(8) "\n0,2,c_2,," GIB(23) "\n0,3,c_3,," GIB(23) "\n"),
     "memory-growth ", NULL},
    {LABELS("0,0,c_0,," GIB(8) "\n0,1,c_1,," GIB(23) "\n0,2,c_2,," GIB(8) "\n"), "", NULL},
    {LABELS("0,0,c_0,," GIB(8) "\n0,1,c_1,," GIB(8) "\n0,2,c_2,," GIB(23) "\n"), "", NULL},
    {LABELS(
         "0,0,c_0,," GIB(8) "\n0,1,c_1,," GIB(9) "\n0,2,c_2,," GIB(10) "\n0,3,c_3,," GIB(11) "\n"),
     "memory-growth ", NULL},
    {LABELS("0,0,c_0,," GIB(20) "\n0,1,c_1,," GIB(21) "\n0,2,c_2,," GIB(20) "\n0,3,c_3,," GIB(
         21) "\n"),
     "", NULL},
    {LABELS("0,0,start,," GIB(1) "\n0,1,load,," GIB(8) "\n0,2,sample,," GIB(20) "\n0,3,end,," GIB(
         20) "\n"),
     "", NULL},
    {LABELS("0,0,c_0,," GIB(8) "\n1,0,c_1,," GIB(23) "\n2,0,c_2,," GIB(23) "\n"), "", NULL},
    {CALLED("text_encoding,1,16,0.16,session\nvae,1,20,0.2,session\n"), "text-encoding ", NULL},
    {CALLED("text_encoding,1,15,0.15,session\nvae,1,20,0.2,session\n"), "", NULL},
    {CALLED("text_encoder_a,1,8,0.08,sum\ntext_encoder_b,1,8,0.08,sum\nvae,1,84,0.2,sum\n"),
     "text-encoding ", NULL},
    {CALLED("text_encoding,3,1,0.01,session\nvae,1,20,0.2,session\n"), "text-encoding ", NULL},
    {CALLED("text_encoding,3,1,0.01,session\nvae,3,20,0.2,session\n"), "", NULL},
    {CALLED("text_encoding,3,1,0.01,session\nvae,3,20,0.2,session\nload,1,9,0.1,session\n"), "",
     NULL},
    {CALLED("text_encoding,9,100,1.0,sum\n"), "", NULL},
    {"sections.without_tokens\nrank,section,calls,total_ns\n0,inference,1,8000000000\n",
     "tokens-recorded ", NULL},
    {"sections.without_tokens\nrank,section,calls,total_ns\n0,model_loading,1,8000000000\n", "",
     NULL},
    {"sections.without_tokens\nrank,section,calls,total_ns\n0,prefill_batch,1,8000000000\n\n"
     "sections.tokens\nrank,section,tokens\n0,decode,9\n",
     "", NULL},
    {DEVICES("0,0,gpu_utilization,0.5,1.0,ratio\n0,0,gpu_temperature,60,85,celsius\n"), "", NULL},
    {DEVICES("0,0,gpu_utilization,0.49,1.0,ratio\n"), "gpu-utilization ", NULL},
    {DEVICES("0,0,cpu_utilization,0.1,1.0,ratio\n0,0,gpu_utilization,,,ratio\n"), "", NULL},
    /* A device that is not in use beside one that is; the only one. */
    {DEVICES("0,0,gpu_utilization,0.9,1.0,ratio\n0,1,gpu_utilization,0,0,ratio\n"), "", NULL},
    {DEVICES("0,0,gpu_utilization,0,0,ratio\n"), "gpu-utilization ", NULL},
    {DEVICES("0,0,gpu_temperature,60,86,celsius\n"), "temperature ", NULL},
    /* A severe risk, then what saves time, then other risks. */
    {VALUES("0,first_block_ns,wall,301,ns\n") BLOCKS("0,5,100\n")
         DEVICES("0,0,gpu_temperature,60,86,celsius\n"),
     "first-block temperature ", NULL},
    {VALUES("0,first_block_ns,wall,301,ns\n") BLOCKS("0,5,100\n")
         DEVICES("0,0,gpu_temperature,60,100,celsius\n"),
     "temperature first-block ", NULL},
    {DEVICES("0,0,gpu_temperature,60,86,celsius\n"), "", "temperature.limit=86"},
    {DEVICES("0,0,gpu_memory_used,1,90,bytes\n0,0,gpu_memory_total,1,100,bytes\n"), "", NULL},
    {DEVICES("0,0,gpu_memory_used,1,91,bytes\n0,0,gpu_memory_total,1,100,bytes\n"), "gpu-memory ",
     NULL},
    {DEVICES("0,0,gpu_memory_used,1,91,bytes\n0,1,gpu_memory_total,1,100,bytes\n"), "", NULL},
    {DEVICES("0,1,gpu_memory_used,1,50,bytes\n0,0,gpu_memory_used,1,91,bytes\n"
             "0,0,gpu_memory_total,1,1000,bytes\n0,1,gpu_memory_total,1,51,bytes\n"),
     "gpu-memory ", NULL},
    {MEMORY("0,0,,91,100,,,\n"), "gpu-memory ", NULL},
    {MEMORY("0,0,,91,,,,\n"), "", NULL},
    {MEMORY("0,0,91,80,100,,,\n"), "gpu-memory ", NULL},
    {MEMORY("0,0,,2684354560,,536870912,,\n"), "", NULL},
    {MEMORY("0,0,,2684354560,,536870913,,\n"), "fragmentation ", NULL},
    {MEMORY("0,0,,4194304,,2097152,,\n"), "", NULL},
    {MEMORY("0,0,,91,,,0,0\n"), "", NULL},
    {MEMORY("0,0,,91,,,0,1\n"), "allocation-retries ", NULL},
    {MEMORY("0,0,,91,,,0,1\n"), "", "allocation_retries.count=1"},
    {MEMORY("0,0,,91,,,2,0\n"), "failed-allocations ", NULL},
    {MEMORY("0,0,,91,,,2,0\n") FAILURES("0,0,900,300,100,640\n"), "failed-allocations ", NULL},
    {FAILURES("0,0,900,300,100,640\n"), "failed-allocations ", NULL},
    {FAILURES("0,0,900,300,100,640\n"), "", "failed_allocations.count=1"},
    {FAILURES("0,,900,,,\n"), "failed-allocations ", NULL},
    {"streaming.by_rank\nrank,drop_ratio\n0,0.05\n", "", NULL},
    {"streaming.by_rank\nrank,drop_ratio\n0,0.051\n", "frame-drops ", NULL},
    {SCALING("1,,,\n4,1,2.8,0.7\n"), "", NULL},
    {SCALING("1,,,\n4,1,2.76,0.69\n"), "scaling ", NULL},
    {SCALING("1,,,\n4,1,2.76,0.69\n"), "", "scaling.efficiency=50%"},
    {SCALING("1,,,\n4,,,\n"), "", NULL},
    {GPU("0,0,100000000,90000000,10000000,5000000,5000000\n"), "", NULL},
    {GPU("0,0,100000000,80000000,20000000,0,0\n") IDLE("0,0,host untraced,20000000,0\n"),
     "gpu-idle ", NULL},
    {GPU("0,0,100000000,80000000,20000000,0,0\n") IDLE("0,0,host untraced,20000000,0\n"), "",
     "gpu_idle.threshold=20%"},
    {GPU("0,0,100000000,80000000,20000000,0,0\n") IDLE("0,0,host untraced,10000000,0\n"), "", NULL},
    {GPU("0,0,100000000,80000000,20000000,0,0\n") IDLE("1,0,host untraced,20000000,0\n"), "", NULL},
    {GPU("0,0,100000000,90000000,10000000,11000000,0\n"), "exposed-comm ", NULL},
    {GPU("0,0,100000000,90000000,10000000,11000000,0\n"), "", "exposed_comm.enabled=false"},
    {GPU("0,0,100000000,90000000,10000000,0,6000000\n"), "exposed-copies ", NULL},
    {GPU("0,0,100000000,90000000,10000000,0,6000000\n")
         COPIES("0,HtoD pinned,HtoD,pinned,9,9,6000000\n"),
     "exposed-copies ", NULL},
    {GPU("0,0,100000000,90000000,10000000,0,5000000\n")
         COPIES("0,HtoD pinned,HtoD,pinned,9,9,5000000\n"),
     "", NULL},
    {GPU("0,0,100000000,90000000,10000000,0,6000000\n"), "", "copies.exposed=10%"},
    /* What the host waits for is of the other rule alone. */
    {GPU("0,0,100000000,90000000,10000000,0,6000000\n")
         WAITS("0,HtoD pageable,HtoD,pageable,c,1,9000000,6000000,0\n"),
     "pageable-copy ", NULL},
    {GPU("0,0,1000000000,990000000,10000000,0,0\n")
         WAITS("0,HtoD pageable,HtoD,pageable,c,1,9000000,4000000,6000000\n")
             IDLE("0,0,pageable copy,6000000,0\n"),
     "", NULL},
    {GPU("0,0,1000000000,990000000,10000000,0,0\n")
         WAITS("0,HtoD pageable,HtoD,pageable,c,1,9000000,4000000,7000000\n")
             IDLE("0,0,pageable copy,7000000,0\n"),
     "pageable-copy ", NULL},
    {GPU("0,0,1000000000,990000000,10000000,0,0\n")
         WAITS("1,HtoD pageable,HtoD,pageable,c,1,9000000,90000000,0\n"),
     "", NULL},
    {GPU("0,0,1000000000,990000000,10000000,0,0\n")
         WAITS("0,DtoH,DtoH,unknown,c,1,9000000,90000000,0\n"),
     "blocking-copy ", NULL},
    {GPU("0,0,0,0,0,0,0\n") WAITS("0,HtoD pageable,HtoD,pageable,c,1,9000000,9000000,9000000\n"),
     "", NULL},
    {CACHES("0,c,2,8,0.2\n"), "", NULL},
    {CACHES("0,c,1,9,0.1\n"), "cache-hits ", NULL},
    {CACHES("0,c,0,10,0.0\n"), "cache-hits ", NULL},
    {CACHES("0,c,1,8,0.11\n"), "", NULL},
    {CACHES("0,c,100,,\n"), "", NULL},
};

static void test_fires_beyond_its_threshold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        char found[256];
        open_run(&run, cases[i].tables, cases[i].setting);
        findings_of(&run, found, sizeof found);
        if (strcmp(found, cases[i].findings) != 0)
            fail_msg("case %zu, %s: found \"%s\" instead of \"%s\"", i, cases[i].tables, found,
                     cases[i].findings);
        close_run(&run);
    }
}

static void test_saving_of_steps(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, STEPS("0,50,1000\n"), NULL);
    const struct ta_finding *finding = ta_report_finding(run.report, "diffusion-steps");
    assert_non_null(finding);
    assert_int_equal(finding->saving_low_ns, 20 * 1000);
    assert_int_equal(finding->saving_high_ns, 30 * 1000);
    assert_int_equal(finding->n_evidence, 2);
    assert_string_equal(finding->evidence[0].column, "steps_per_pass");
    assert_int_equal(finding->evidence[0].value.i, 50);
    close_run(&run);
}

static void test_saving_of_first_block(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, VALUES("0,first_block_ns,wall,500,ns\n") BLOCKS("0,5,100\n"), NULL);
    const struct ta_finding *finding = ta_report_finding(run.report, "first-block");
    assert_non_null(finding);
    assert_int_equal(finding->saving_low_ns, 200);
    assert_int_equal(finding->saving_high_ns, 400);
    assert_int_equal(finding->evidence[0].unit, TA_UNIT_NS); /* that of the row */
    close_run(&run);
}

/* As many blocks per second as the rule asks for: six of 1 s have to take 500 ms each. */
static void test_goal_of_blocks(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, VALUES("0,bps,blocks,1,per_s\n") BLOCKS("0,6,100\n"), NULL);
    const struct ta_finding *finding = ta_report_finding(run.report, "block-rate");
    assert_non_null(finding);
    assert_int_equal(finding->needed_ns, 3000000000);
    assert_int_equal(finding->steps_ns, 6000000000);
    assert_string_equal(finding->why, "The goal is 2 blocks/s: one every 500 ms.");
    close_run(&run);
}

/* What the unit beside a value says stands in the title; advice goes by the name of the stage. */
static void test_texts(void **state)
{
    (void)state;
    struct run run;
    open_run(&run,
             DEVICES("0,3,gpu_temperature,60,97,celsius\n")
                 STAGES("save_video,60,0.6,session\nb,40,0.4,session\n"),
             NULL);
    const struct ta_finding *heat = ta_report_finding(run.report, "temperature");
    const struct ta_finding *stage = ta_report_finding(run.report, "stage-share");
    assert_non_null(heat);
    assert_non_null(stage);
    assert_string_equal(heat->title,
                        "A GPU reaches 97 °C, where GPUs lower their clock (device 3)");
    assert_string_equal(heat->threshold, "largest temperature > 85 °C");
    assert_string_equal(stage->title, "save_video takes 60.0 % of the session (60 ns)");
    assert_non_null(strstr(stage->advice, "encoder"));
    close_run(&run);
}

/* What the device had left and the allocator held unused would have been enough, or not. */
static void test_why_an_allocation_failed(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, FAILURES("0,1,900,300,100,700\n"), NULL);
    const struct ta_finding *finding = ta_report_finding(run.report, "failed-allocations");
    assert_non_null(finding);
    assert_string_equal(
        finding->title,
        "GPU memory ran out: an allocation of 900 B failed with 300 B free on the GPU and 600 B "
        "held unused by the allocator (device 1)");
    assert_non_null(strstr(finding->advice, "expandable_segments"));
    close_run(&run);
    open_run(&run, FAILURES("0,1,900,300,100,699\n"), NULL);
    finding = ta_report_finding(run.report, "failed-allocations");
    assert_null(strstr(finding->advice, "expandable_segments"));
    close_run(&run);
    open_run(&run, FAILURES("0,1,900,300,,\n0,1,901,300,,\n"), NULL);
    finding = ta_report_finding(run.report, "failed-allocations");
    assert_string_equal(
        finding->title,
        "GPU memory ran out: 2 allocations failed, the largest of 901 B (device 1)");
    close_run(&run);
}

static void test_counted_failures(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, MEMORY("0,,,91,,,1,1\n"), NULL);
    assert_string_equal(ta_report_finding(run.report, "failed-allocations")->title,
                        "GPU memory ran out: 1 allocation failed");
    assert_string_equal(ta_report_finding(run.report, "allocation-retries")->title,
                        "GPU memory was full 1 time");
    close_run(&run);
    open_run(&run, MEMORY("0,,,91,,,3,2\n"), NULL);
    assert_string_equal(ta_report_finding(run.report, "failed-allocations")->title,
                        "GPU memory ran out: 3 allocations failed");
    assert_string_equal(ta_report_finding(run.report, "allocation-retries")->title,
                        "GPU memory was full 2 times");
    close_run(&run);
}

static void test_where_an_allocation_failed(void **state)
{
    (void)state;
    struct run run;
    open_run(&run,
             "memory.failures\nrank,device,site,wanted_bytes\n"
             "0,,decode (/home/me/app/vae.py:31),900\n",
             NULL);
    assert_string_equal(
        ta_report_finding(run.report, "failed-allocations")->title,
        "GPU memory ran out: an allocation of 900 B in app/vae.py:31 (decode) failed");
    close_run(&run);
    open_run(&run, "memory.failures\nrank,device,site,wanted_bytes\n0,,(no frames),900\n", NULL);
    assert_string_equal(ta_report_finding(run.report, "failed-allocations")->title,
                        "GPU memory ran out: an allocation of 900 B failed");
    close_run(&run);
}

/* Two peaks may be of two moments, so their difference is a bound. */
static void test_unused_memory_is_a_bound(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, MEMORY("0,,9663676416,12884901888,,3221225472,,\n"), NULL);
    const struct ta_finding *finding = ta_report_finding(run.report, "fragmentation");
    assert_non_null(finding);
    assert_string_equal(finding->title, "At the peak the allocator holds up to 3.00 GiB more than "
                                        "tensors use (12.0 GiB against 9.00 GiB)");
    assert_string_equal(finding->evidence[0].column, "unused_bytes");
    close_run(&run);
}

#define BUDGET(rest)                                                                               \
    "steps.host_budget\n"                                                                          \
    "rank,kind,bound,host_ns,device_ns,run_ahead_ns,launches,largest,largest_share\n"              \
    "0,0,device,80000000,100000000,50000000,700," rest "\n"

/* A share that is not known is not 0 %. */
static void test_largest_call_of_a_step(void **state)
{
    (void)state;
    static const struct {
        const char *tables, *begin;
    } given[] = {
        {BUDGET("aten::mm,0.4"), "aten::mm takes 40.0 % of the host's time. The host runs ahead"},
        {BUDGET(",0.4"), "40.0 % of the host's time is in no recorded call. The host runs ahead"},
        {BUDGET(","), "The host runs ahead"},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct run run;
        open_run(&run, given[i].tables, NULL);
        const struct ta_finding *finding = ta_report_finding(run.report, "host-near-bound");
        assert_non_null(finding);
        assert_memory_equal(finding->why, given[i].begin, strlen(given[i].begin));
        close_run(&run);
    }
}

/* A large model alone is no bottleneck. */
static void test_information_is_no_verdict(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, "models.parameters\nrank,model,type,parameters\n0,a,vae,2000000000\n", NULL);
    assert_non_null(ta_report_finding(run.report, "model-size"));
    assert_null(ta_report_verdict(run.report)->bottleneck);
    close_run(&run);
    open_run(&run, STEPS("0,50,1000\n"), NULL);
    assert_string_equal(ta_report_verdict(run.report)->bottleneck, "diffusion-steps");
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fires_beyond_its_threshold),
        cmocka_unit_test(test_saving_of_steps),
        cmocka_unit_test(test_saving_of_first_block),
        cmocka_unit_test(test_goal_of_blocks),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_why_an_allocation_failed),
        cmocka_unit_test(test_counted_failures),
        cmocka_unit_test(test_where_an_allocation_failed),
        cmocka_unit_test(test_unused_memory_is_a_bound),
        cmocka_unit_test(test_largest_call_of_a_step),
        cmocka_unit_test(test_information_is_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
