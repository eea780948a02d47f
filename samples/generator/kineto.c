/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function per kind of event; key order and spaces follow libkineto's output_json.cpp. */
#include "kineto.h"

#include "timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FIRST_PID = 3120,
    WATCHDOG_OFFSET = 68, /* thread id of NCCL's watchdog after the main thread's */
    PROCESS_SORT_GPU = 5000000,
};

static const int64_t memory_reserved = INT64_C(71940702208);

static int host_pid(const struct kineto *kineto)
{
    return FIRST_PID + kineto->rank;
}

static int device_of(const struct kineto *kineto)
{
    return kineto->device;
}

static void put(struct kineto *kineto, const char *text)
{
    sink_text(&kineto->sink, text);
}

/* ---- parts of an event --------------------------------------------------------------------- */

static void put_number(struct kineto *kineto, const char *before, const char *key, int64_t value)
{
    put(kineto, before);
    put(kineto, key);
    sink_integer(&kineto->sink, value);
}

/* What the clock of this host shows at a true time. */
static int64_t shown(const struct kineto *kineto, int64_t ns)
{
    const struct clock_error *clock = &kineto->clock;
    return ns + clock->ahead + (ns - clock->origin) / 1000 * clock->ppb / 1000000;
}

static void put_time(struct kineto *kineto, const char *before, int64_t ns)
{
    put(kineto, before);
    put(kineto, "\"ts\": ");
    sink_fixed(&kineto->sink, shown(kineto, ns), 3);
}

static void open_event(struct kineto *kineto)
{
    const struct punctuation *p = kineto->texts->punctuation;
    if (kineto->events++ != 0)
        put(kineto, p->event_next);
    put(kineto, p->event_open);
}

static void put_track(struct kineto *kineto, int pid, int tid)
{
    const struct punctuation *p = kineto->texts->punctuation;
    put_number(kineto, p->key, "\"pid\": ", pid);
    put_number(kineto, p->key, "\"tid\": ", tid);
}

static void put_optional(struct kineto *kineto, const char *args)
{
    if (*args == '\0')
        return;
    put(kineto, kineto->texts->punctuation->arg);
    put(kineto, args);
}

/* Phase, category and name; number < 0 is not written. */
static void put_name(struct kineto *kineto, const char *category, const char *name, int number)
{
    const struct punctuation *p = kineto->texts->punctuation;
    open_event(kineto);
    put(kineto, "\"ph\": \"X\"");
    put(kineto, p->key);
    put(kineto, "\"cat\": \"");
    put(kineto, category);
    put(kineto, "\"");
    put(kineto, p->key);
    put(kineto, "\"name\": \"");
    put(kineto, name);
    if (number >= 0)
        sink_integer(&kineto->sink, number);
    put(kineto, "\"");
}

static void put_interval(struct kineto *kineto, const struct event *event)
{
    const struct punctuation *p = kineto->texts->punctuation;
    put_time(kineto, p->line, event->start);
    put(kineto, p->key);
    put(kineto, "\"dur\": ");
    const int64_t end = event->start + event->duration;
    sink_fixed(&kineto->sink, shown(kineto, end) - shown(kineto, event->start), 3);
}

static void open_args(struct kineto *kineto)
{
    const struct punctuation *p = kineto->texts->punctuation;
    put(kineto, p->line);
    put(kineto, "\"args\": ");
    put(kineto, p->args_open);
}

static void close_event(struct kineto *kineto, bool args)
{
    const struct punctuation *p = kineto->texts->punctuation;
    if (args)
        put(kineto, p->args_close);
    put(kineto, p->event_close);
}

/* A flow end binds to the enclosing slice, which is the device activity. */
static void put_flow(struct kineto *kineto, bool end, uint32_t id, int pid, int tid, int64_t ns)
{
    const struct punctuation *p = kineto->texts->punctuation;
    open_event(kineto);
    put(kineto, end ? "\"ph\": \"f\"" : "\"ph\": \"s\"");
    put_number(kineto, p->key, "\"id\": ", id);
    put_track(kineto, pid, tid);
    put_time(kineto, p->key, ns);
    put(kineto, p->line);
    put(kineto, "\"cat\": \"ac2g\"");
    put(kineto, p->key);
    put(kineto, "\"name\": \"ac2g\"");
    if (end) {
        put(kineto, p->key);
        put(kineto, "\"bp\": \"e\"");
    }
    close_event(kineto, false);
}

/* ---- host events --------------------------------------------------------------------------- */

static int host_thread(const struct kineto *kineto, const struct event *event)
{
    return host_pid(kineto) + (event->track == THREAD_WATCHDOG ? WATCHDOG_OFFSET : 0);
}

/* The arguments that every recorded function has; details, if any, stand before Ev Idx. */
static void put_function_args(struct kineto *kineto, const struct event *event, const char *details)
{
    const struct punctuation *p = kineto->texts->punctuation;
    open_args(kineto);
    put_number(kineto, "", "\"External id\": ", event->external_id);
    put(kineto, p->arg_tight);
    put(kineto, "\"Record function id\": 0");
    if (event->sequence >= 0) {
        put_number(kineto, p->arg, "\"Sequence number\": ", event->sequence);
        put(kineto, p->arg);
        put(kineto, "\"Fwd thread id\": 0");
    }
    if (details != NULL)
        put_optional(kineto, details);
    if (event->kind == EVENT_COMMS_OP && (kineto->texts->lacking & FIELD_SEQUENCE) == 0)
        put_number(kineto, p->arg, "\"Seq\": ", event->value);
    put_number(kineto, p->arg, "\"Ev Idx\": ", event->index);
    close_event(kineto, true);
}

static void put_function(struct kineto *kineto, const struct event *event, const char *category,
                         const char *name, const char *details)
{
    put_name(kineto, category, name, event->number);
    put_track(kineto, host_pid(kineto), host_pid(kineto));
    put_interval(kineto, event);
    put_function_args(kineto, event, details);
}

static void put_call(struct kineto *kineto, const struct event *event)
{
    const struct punctuation *p = kineto->texts->punctuation;
    const struct api_desc *api = &api_table[event->detail];
    const int thread = host_thread(kineto, event);
    put_name(kineto, api->driver ? "cuda_driver" : "cuda_runtime", api->name, -1);
    put_track(kineto, host_pid(kineto), thread);
    put_interval(kineto, event);
    open_args(kineto);
    if (event->external_id != 0) {
        put_number(kineto, "", "\"External id\": ", event->external_id);
        put(kineto, p->arg_wide);
    }
    put_number(kineto, "", "\"cbid\": ", api->cbid);
    put_number(kineto, p->arg, "\"correlation\": ", event->correlation);
    close_event(kineto, true);
    if (api->starts_device_work)
        put_flow(kineto, false, event->correlation, host_pid(kineto), thread, event->start);
}

/* Device type 1 is CUDA.  The caching allocator gives equal sizes the same address again. */
static void put_memory(struct kineto *kineto, const struct event *event)
{
    const struct punctuation *p = kineto->texts->punctuation;
    const int64_t size = event->value < 0 ? -event->value : event->value;
    const int64_t address = INT64_C(139725623001088) + size * 8;
    open_event(kineto);
    put(kineto, "\"ph\": \"i\"");
    put(kineto, p->key);
    put(kineto, "\"cat\": \"cpu_instant_event\"");
    put(kineto, p->key);
    put(kineto, "\"s\": \"t\"");
    put(kineto, p->key);
    put(kineto, "\"name\": \"[memory]\"");
    put_number(kineto, p->line, "\"pid\": ", host_pid(kineto));
    put_number(kineto, p->key, "\"tid\": ", host_pid(kineto));
    put_time(kineto, p->line, event->start);
    open_args(kineto);
    put_number(kineto, "", "\"Total Reserved\": ", memory_reserved);
    put_number(kineto, p->arg, "\"Total Allocated\": ", event->total);
    put_number(kineto, p->arg, "\"Bytes\": ", event->value);
    put_number(kineto, p->arg, "\"Device Id\": ", device_of(kineto));
    put_number(kineto, p->arg, "\"Device Type\": ", 1);
    put_number(kineto, p->arg, "\"Addr\": ", address);
    put_number(kineto, p->arg, "\"Ev Idx\": ", event->index);
    close_event(kineto, true);
}

static void put_overhead(struct kineto *kineto, const struct event *event)
{
    put_name(kineto, "overhead", event->name, -1);
    put_track(kineto, -1, 0);
    put_interval(kineto, event);
    close_event(kineto, false);
}

/* ---- device events ------------------------------------------------------------------------- */

static void put_activity(struct kineto *kineto, const struct event *event, const char *category,
                         const char *name)
{
    put_name(kineto, category, name, event->number);
    put_track(kineto, device_of(kineto), event->track);
    put_interval(kineto, event);
    open_args(kineto);
    put_number(kineto, "", "\"External id\": ", event->external_id);
}

static void put_device_args(struct kineto *kineto, const struct event *event, bool queued)
{
    const struct punctuation *p = kineto->texts->punctuation;
    put(kineto, p->arg_wide);
    if (queued) {
        put(kineto, "\"queued\": 0");
        put(kineto, p->arg);
    }
    put_number(kineto, "", "\"device\": ", device_of(kineto));
    put(kineto, p->arg);
    put(kineto, "\"context\": 1");
    put_number(kineto, p->arg_wide, "\"stream\": ", event->track);
    put_number(kineto, p->arg, "\"correlation\": ", event->correlation);
    put(kineto, p->arg_wide);
}

static void close_activity(struct kineto *kineto, const struct event *event)
{
    close_event(kineto, true);
    put_flow(kineto, true, event->correlation, device_of(kineto), event->track, event->start);
}

static void put_kernel(struct kineto *kineto, const struct event *event)
{
    put_activity(kineto, event, "kernel", kernel_table[event->detail].name);
    put_device_args(kineto, event, true);
    put(kineto, kineto->texts->kernel_args[event->detail]);
    close_activity(kineto, event);
}

static void put_collective(struct kineto *kineto, const struct event *event)
{
    const struct punctuation *p = kineto->texts->punctuation;
    const enum kernel kernel = collective_table[event->detail].kernel;
    put_activity(kineto, event, "kernel", kernel_table[kernel].name);
    put_device_args(kineto, event, true);
    put(kineto, kineto->texts->kernel_args[kernel]);
    put_optional(kineto, kineto->texts->collective_args[event->detail]);
    if ((kineto->texts->lacking & FIELD_SEQUENCE) == 0)
        put_number(kineto, p->arg, "\"Seq\": ", event->value);
    close_activity(kineto, event);
}

/* Bytes per ns are GB/s. */
static void put_copy(struct kineto *kineto, const struct event *event)
{
    const struct punctuation *p = kineto->texts->punctuation;
    put_activity(kineto, event, "gpu_memcpy", copy_table[event->detail].name);
    put_device_args(kineto, event, false);
    put_number(kineto, "", "\"bytes\": ", event->value);
    put(kineto, p->arg);
    put(kineto, "\"memory bandwidth (GB/s)\": ");
    sink_fixed(&kineto->sink, event->value * 1000000 / event->duration, 6);
    close_activity(kineto, event);
}

static void put_gpu_range(struct kineto *kineto, const struct event *event)
{
    put_activity(kineto, event, "gpu_user_annotation", event->name);
    close_event(kineto, true);
}

static void put_event(struct kineto *kineto, const struct event *event)
{
    switch ((enum event_kind)event->kind) {
    case EVENT_OP:
        put_function(kineto, event, "cpu_op", op_table[event->detail].levels[event->level].name,
                     kineto->texts->op_args[event->detail][event->level]);
        break;
    case EVENT_RANGE:
        put_function(kineto, event, "user_annotation", event->name, NULL);
        break;
    case EVENT_COMMS_OP:
        put_function(kineto, event, "cpu_op", "record_param_comms",
                     kineto->texts->collective_args[event->detail]);
        break;
    case EVENT_GPU_RANGE:
        put_gpu_range(kineto, event);
        break;
    case EVENT_CALL:
        put_call(kineto, event);
        break;
    case EVENT_KERNEL:
        put_kernel(kineto, event);
        break;
    case EVENT_COLLECTIVE:
        put_collective(kineto, event);
        break;
    case EVENT_COPY:
        put_copy(kineto, event);
        break;
    case EVENT_MEMORY:
        put_memory(kineto, event);
        break;
    case EVENT_OVERHEAD:
        put_overhead(kineto, event);
        break;
    }
}

/* ---- the file ------------------------------------------------------------------------------ */

bool kineto_open(struct kineto *kineto, const char *path, int gzip_level, uint64_t trace_id)
{
    if (!sink_open(&kineto->sink, path, gzip_level))
        return false;
    char *head = texts_file_head(kineto->texts, kineto->rank, kineto->devices, trace_id);
    if (head == NULL)
        kineto->sink.error = ENOMEM;
    else
        put(kineto, head);
    free(head);
    return kineto->sink.error == 0;
}

void kineto_write(struct kineto *kineto, const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        put_event(kineto, &batch->events[i]);
}

/* A metadata event up to its value. */
static void open_metadata(struct kineto *kineto, const char *name, int pid, int tid, int64_t ns)
{
    const struct punctuation *p = kineto->texts->punctuation;
    open_event(kineto);
    put(kineto, "\"name\": \"");
    put(kineto, name);
    put(kineto, "\"");
    put(kineto, p->key);
    put(kineto, "\"ph\": \"M\"");
    put_time(kineto, p->key, ns);
    put_track(kineto, pid, tid);
    open_args(kineto);
}

static void put_label(struct kineto *kineto, const char *name, int pid, int tid, int64_t ns,
                      const char *key, const char *text, int number)
{
    open_metadata(kineto, name, pid, tid, ns);
    put(kineto, key);
    put(kineto, text);
    if (number >= 0)
        sink_integer(&kineto->sink, number);
    put(kineto, "\"");
    close_event(kineto, true);
}

static void put_sort_index(struct kineto *kineto, const char *name, int pid, int tid, int64_t ns,
                           int index)
{
    open_metadata(kineto, name, pid, tid, ns);
    put_number(kineto, "", "\"sort_index\": ", index);
    close_event(kineto, true);
}

static void put_process(struct kineto *kineto, int pid, int64_t ns, bool device)
{
    put_label(kineto, "process_name", pid, 0, ns, "\"name\": \"", "python3", -1);
    put_label(kineto, "process_labels", pid, 0, ns, "\"labels\": \"", device ? "GPU " : "CPU",
              device ? pid : -1);
    put_sort_index(kineto, "process_sort_index", pid, 0, ns, device ? PROCESS_SORT_GPU + pid : pid);
}

static void put_names(struct kineto *kineto, int64_t ns)
{
    const int pid = host_pid(kineto);
    char name[64];
    put_process(kineto, pid, ns, false);
    for (int device = 0; device < kineto->host_devices; device++)
        put_process(kineto, device, ns, true);
    for (int i = 0; i < STREAM_COUNT; i++) {
        const int stream = stream_number[i];
        snprintf(name, sizeof name, "stream %d ", stream);
        put_label(kineto, "thread_name", device_of(kineto), stream, ns, "\"name\": \"", name, -1);
        put_sort_index(kineto, "thread_sort_index", device_of(kineto), stream, ns, stream);
    }
    for (int i = 0; i < 2; i++) {
        const int thread = pid + i * WATCHDOG_OFFSET;
        snprintf(name, sizeof name, "thread %d (%s)", thread,
                 i == 0 ? "python3" : "pt_nccl_watchdg");
        put_label(kineto, "thread_name", pid, thread, ns, "\"name\": \"", name, -1);
        put_sort_index(kineto, "thread_sort_index", pid, thread, ns, thread);
    }
}

static void put_marker(struct kineto *kineto, const char *name, const char *pid, const char *tid,
                       int64_t ns)
{
    const struct punctuation *p = kineto->texts->punctuation;
    open_event(kineto);
    put(kineto, "\"name\": \"");
    put(kineto, name);
    put(kineto, "\"");
    put(kineto, p->key);
    put(kineto, "\"ph\": \"i\"");
    put(kineto, p->key);
    put(kineto, "\"s\": \"g\"");
    put(kineto, p->line);
    put(kineto, "\"pid\": \"");
    put(kineto, pid);
    put(kineto, "\"");
    put(kineto, p->key);
    put(kineto, "\"tid\": \"");
    put(kineto, tid);
    put(kineto, "\"");
    put_time(kineto, p->key, ns);
    close_event(kineto, false);
}

/* The row "Spans" covers the whole recording; it is no work of the program. */
static void put_window(struct kineto *kineto, int64_t start, int64_t end)
{
    const struct punctuation *p = kineto->texts->punctuation;
    open_event(kineto);
    put(kineto, "\"ph\": \"X\"");
    put(kineto, p->key);
    put(kineto, "\"cat\": \"Trace\"");
    put_time(kineto, p->key, start);
    put(kineto, p->key);
    put(kineto, "\"dur\": ");
    sink_fixed(&kineto->sink, end - start, 3);
    put(kineto, p->line);
    put(kineto, "\"pid\": \"Spans\"");
    put(kineto, p->key);
    put(kineto, "\"tid\": \"PyTorch Profiler\"");
    put(kineto, p->line);
    put(kineto, "\"name\": \"PyTorch Profiler (0)\"");
    open_args(kineto);
    put(kineto, "\"Op count\": 0");
    close_event(kineto, true);
    put_marker(kineto, "Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler",
               start);
    put_marker(kineto, "Record Window End", "", "", end + 1500000);
}

bool kineto_close(struct kineto *kineto, int64_t start, int64_t end)
{
    const struct punctuation *p = kineto->texts->punctuation;
    if (kineto->sink.file != NULL) {
        put_names(kineto, start);
        put_window(kineto, start, end);
        put(kineto, p->file_close[0]);
        put(kineto, "\"traceName\": \"/tmp/wan-t2v-rank");
        sink_integer(&kineto->sink, kineto->rank);
        put(kineto, ".json\"");
        put(kineto, p->file_close[1]);
    }
    return sink_close(&kineto->sink);
}
