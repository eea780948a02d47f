/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what is found of denoising in traces from kernels alone: a line of JSON for each. */
#include "trace_fixture.h"

#include "model/program/kernels/denoising.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static const char *const phases[] = {"text", "image", "denoise", "decode"};

static void print_call(const struct ta_trace *trace, const struct ta_denoising_call *call)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_activity *at = ta_trace_activities(trace).at;
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (size_t i = call->first; i < call->end; i++) {
        start = ta_min_i64(start, spans.ts[at[i].span]);
        end = ta_max_i64(end, spans.ts[at[i].span] + spans.dur[at[i].span]);
    }
    printf("{\"phase\": \"%s\", \"image\": %zu, \"block\": %zu, \"step\": %zd, \"kind\": %" PRIu32
           ", \"layers\": %zu, \"activities\": %zu, \"start\": %" PRId64 ", \"end\": %" PRId64 "}",
           phases[call->phase], call->image, call->block, (ssize_t)call->step, call->kind,
           call->layers, call->end - call->first, start - ta_trace_origin(trace),
           end - ta_trace_origin(trace));
}

static void print(const char *path, const struct ta_trace *trace)
{
    struct ta_denoising found;
    const clock_t begun = clock();
    if (!ta_denoising_find(trace, &found))
        abort();
    const double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    printf("{\"file\": \"%s\", \"seconds\": %.4f, \"steps\": %zu, \"forwards\": %zu, \"images\": "
           "%zu, \"blocks\": %zu, \"per_step\": %zu, \"layers\": %zu, \"kinds\": %zu, "
           "\"confidence\": %.3f, \"calls\": [",
           path, seconds, found.n_steps, found.n_forwards, found.n_images, found.n_blocks,
           found.forwards_per_step, found.layers, found.n_kinds, found.confidence);
    for (size_t i = 0; i < found.n_calls; i++) {
        fputs(i ? ", " : "", stdout);
        print_call(trace, &found.calls[i]);
    }
    puts("]}");
    ta_denoising_free(&found);
}

/* All bytes of a file; the caller frees them. */
static char *bytes_of(const char *path, size_t *size)
{
    char *bytes = NULL;
    FILE *file = fopen(path, "rb");
    FILE *memory = open_memstream(&bytes, size);
    char block[65536];
    size_t n;
    if (!file || !memory)
        abort();
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        fwrite(block, 1, n, memory);
    fclose(file);
    fclose(memory);
    return bytes;
}

int main(int argc, char **argv)
{
    fixture_open(&fixture);
    for (int i = 1; i < argc; i++) {
        size_t size;
        char *bytes = bytes_of(argv[i], &size);
        struct reading reading;
        fixture_read(&fixture, bytes, size, &reading);
        if (reading.trace)
            print(argv[i], reading.trace);
        else
            printf("{\"file\": \"%s\", \"refused\": true}\n", argv[i]);
        reading_free(&reading);
        free(bytes);
    }
    fixture_close(&fixture);
    return 0;
}
