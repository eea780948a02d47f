/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one table of ranges that mark steps, and the numbers that their names hold. */
#include "model/program/marker.h"

#include "traceanalyze/model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const ta_phase_names[TA_PHASES_N] = {
    [TA_PHASE_NONE] = "",
    [TA_PHASE_PREFILL] = "prefill",
    [TA_PHASE_DECODE] = "decode",
    [TA_PHASE_MIXED] = "mixed",
};

/* Begins the name; of several that fit the first counts. */
static const struct {
    const char *start;
    enum ta_marker marks;
} names[] = {
    {TA_STEP_MARK, TA_MARKS_PROFILER},
    {"step[", TA_MARKS_ENGINE},               /* SGLang: step[DECODE bs=64], step[EXTEND …] */
    {"execute_diffusion_", TA_MARKS_REQUEST}, /* xDiT: execute_diffusion_1_256x256 */
    {"execute_", TA_MARKS_ENGINE}, /* vLLM: execute_context_1(888)_generation_0(0), execute_model */
    {"enumerate(DataLoader)#", TA_MARKS_LOADER},
    {"Optimizer.zero_grad#", TA_MARKS_ZERO_GRAD},
    {"Optimizer.step#", TA_MARKS_OPTIMIZER},

    {"DistributedDataParallel.", TA_MARKS_LIBRARY},
    {"FullyShardedDataParallel.", TA_MARKS_LIBRARY},
    {"FSDP::", TA_MARKS_LIBRARY},
    {"Torch-Compiled Region", TA_MARKS_LIBRARY},
    {"## Call CompiledFxGraph", TA_MARKS_LIBRARY},
    {"CompiledFunction", TA_MARKS_LIBRARY},
    {"TorchDynamo", TA_MARKS_LIBRARY},
    {"autograd::", TA_MARKS_LIBRARY},
    {"nccl:", TA_MARKS_LIBRARY},
    {"gloo:", TA_MARKS_LIBRARY},
    {"c10d::", TA_MARKS_LIBRARY},
    {"record_param_comms", TA_MARKS_LIBRARY},
    {"nn.Module: ", TA_MARKS_LIBRARY},

    {"PyTorch Profiler", TA_MARKS_RECORDER},
    {"torch/profiler/profiler.py(", TA_MARKS_RECORDER},
    {"torch/autograd/profiler.py(", TA_MARKS_RECORDER},
    {"<built-in method _enable_profiler", TA_MARKS_RECORDER},
    {"<built-in method _disable_profiler", TA_MARKS_RECORDER},
    {"<built-in method _prepare_profiler", TA_MARKS_RECORDER},
    {"<built-in function _enable_profiler", TA_MARKS_RECORDER},
    {"<built-in function _disable_profiler", TA_MARKS_RECORDER},
    {"<built-in function _prepare_profiler", TA_MARKS_RECORDER},
};

/* Capturing a graph, and what a program does before it serves, are no steps of it. */
static const char *const set_up[] = {"execute_dummy", "execute_capture", "execute_warm"};

/* That file of torch also opens and closes the ranges of the program (record_function). */
static bool is_of_program(struct ta_slice name)
{
    return ta_slice_starts(name, "torch/autograd/") &&
           (ta_slice_ends(name, ": __init__") || ta_slice_ends(name, ": __enter__") ||
            ta_slice_ends(name, ": __exit__"));
}

enum ta_marker ta_marker_of(struct ta_slice name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (name.len == 0 || name.ptr[0] != names[i].start[0] ||
            !ta_slice_starts(name, names[i].start))
            continue;
        if (names[i].marks == TA_MARKS_PROFILER && ta_host_step_number(name) == TA_MISSING)
            return TA_MARKS_NOTHING;
        if (names[i].marks == TA_MARKS_RECORDER && is_of_program(name))
            return TA_MARKS_LIBRARY;
        for (size_t k = 0; names[i].marks == TA_MARKS_ENGINE && k < sizeof set_up / sizeof *set_up;
             k++)
            if (ta_slice_starts(name, set_up[k]))
                return TA_MARKS_LIBRARY;
        return names[i].marks;
    }
    return ta_slice_ends(name, "(dynamo_timed)") ? TA_MARKS_LIBRARY : TA_MARKS_NOTHING;
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* The digits from `*at` on, up to nine of them; TA_MISSING without.  `*at` goes on to after them.
 */
static int64_t number_at(struct ta_slice name, size_t *at)
{
    int64_t number = 0;
    const size_t first = *at;
    for (; *at < name.len && isdigit((unsigned char)name.ptr[*at]); ++*at)
        if (*at - first < 9)
            number = number * 10 + (name.ptr[*at] - '0');
    return *at > first && *at - first <= 9 ? number : TA_MISSING;
}

/* After a word of the name, which begins it or follows no letter; SIZE_MAX without. */
static size_t after(struct ta_slice name, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= name.len; i++)
        if ((i == 0 || !isalpha((unsigned char)name.ptr[i - 1])) &&
            strncasecmp(ta_slice_at(name, i), word, n) == 0)
            return i + n;
    return SIZE_MAX;
}

/* The number after the first of some words that the name has. */
static int64_t number_after(struct ta_slice name, const char *const *words)
{
    for (; *words; words++) {
        size_t at = after(name, *words);
        const int64_t number = at == SIZE_MAX ? TA_MISSING : number_at(name, &at);
        if (number != TA_MISSING)
            return number;
    }
    return TA_MISSING;
}

/* "1024x768", wherever the name has it. */
static void read_size(struct ta_slice name, struct ta_marked_work *work)
{
    enum { LEAST = 16, MOST = 32768 }; /* pixels */
    for (size_t i = 0; i < name.len;) {
        if (!isdigit((unsigned char)name.ptr[i])) {
            i++;
            continue;
        }
        const bool begins = i == 0 || !isalnum((unsigned char)name.ptr[i - 1]);
        const int64_t width = number_at(name, &i);
        if (!begins || i >= name.len || name.ptr[i] != 'x')
            continue;
        size_t at = i + 1;
        const int64_t height = number_at(name, &at);
        const bool ends = at == name.len || !isalnum((unsigned char)name.ptr[at]);
        if (ends && width >= LEAST && width <= MOST && height >= LEAST && height <= MOST) {
            work->width = width;
            work->height = height;
            return;
        }
    }
}

/* Of vLLM: "context_1(888_788544)_generation_0(0)", "context_0(sq0sk0…)_generation_32(sq32sk…)":
 * requests, and in parentheses first the tokens that they have in the step. */
static bool read_part(struct ta_slice name, const char *word, int64_t *requests, int64_t *tokens)
{
    size_t at = after(name, word);
    if (at == SIZE_MAX || (*requests = number_at(name, &at)) == TA_MISSING)
        return false;
    *tokens = TA_MISSING;
    if (at < name.len && name.ptr[at] == '(') {
        at++;
        while (at < name.len && isalpha((unsigned char)name.ptr[at]))
            at++;
        *tokens = number_at(name, &at);
    }
    return true;
}

static enum ta_phase phase_of(int64_t reading, int64_t writing)
{
    if (reading > 0)
        return writing > 0 ? TA_PHASE_MIXED : TA_PHASE_PREFILL;
    return writing > 0 ? TA_PHASE_DECODE : TA_PHASE_NONE;
}

static bool read_vllm(struct ta_slice name, struct ta_marked_work *work)
{
    int64_t reading, writing, read, written = TA_MISSING;
    if (read_part(name, "context_", &reading, &read) &&
        read_part(name, "generation_", &writing, &written)) {
        /* Each request that is continued gets one token, if it does not say otherwise. */
        written = written == TA_MISSING ? writing : written;
        work->tokens = reading && read == TA_MISSING
                           ? TA_MISSING
                           : (reading ? read : 0) + (writing ? written : 0);
    } else if (!read_part(name, "new_", &reading, &read) ||
               !read_part(name, "cached_", &writing, &written)) {
        return false;
    } else if (reading == 0) {
        work->tokens = writing;
    }
    work->batch = reading + writing;
    work->phase = phase_of(reading, writing);
    return true;
}

/* "step[DECODE bs=64]", "step[EXTEND bs=15 toks=15360]". */
static enum ta_phase phase_of_sglang(struct ta_slice name)
{
    static const struct {
        const char *word;
        enum ta_phase phase;
    } words[] = {
        {"step[MIXED", TA_PHASE_MIXED},          {"step[DECODE", TA_PHASE_DECODE},
        {"step[TARGET_VERIFY", TA_PHASE_DECODE}, {"step[EXTEND", TA_PHASE_PREFILL},
        {"step[PREFILL", TA_PHASE_PREFILL},      {"step[SPLIT_PREFILL", TA_PHASE_PREFILL},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ta_slice_starts(name, words[i].word))
            return words[i].phase;
    return TA_PHASE_NONE;
}

struct ta_marked_work ta_marked_work_of(struct ta_slice name)
{
    static const char *const batches[] = {
        "bs=", "bs:", "batch=", "batch_size=", "batch size=", "batch: ", NULL};
    static const char *const tokens[] = {
        "toks=", "tokens=", "num_tokens=", "tokens:", "num_toks=", NULL};
    static const char *const diffusion[] = {"execute_diffusion_", NULL};
    struct ta_marked_work work = {TA_PHASE_NONE, TA_MISSING, TA_MISSING, TA_MISSING, TA_MISSING};
    const enum ta_marker marks = ta_marker_of(name);
    if (marks != TA_MARKS_NOTHING && marks != TA_MARKS_ENGINE && marks != TA_MARKS_REQUEST)
        return work;
    read_size(name, &work);
    if (marks == TA_MARKS_ENGINE && read_vllm(name, &work))
        return work;
    work.batch = number_after(name, marks == TA_MARKS_REQUEST ? diffusion : batches);
    work.tokens = number_after(name, tokens);
    work.phase = phase_of_sglang(name);
    if (work.phase == TA_PHASE_DECODE && work.tokens == TA_MISSING)
        work.tokens = work.batch; /* one for each sequence */
    return work;
}

/* ---- kinds --------------------------------------------------------------------------------- */

struct ta_slice ta_marker_kind(struct ta_slice name, char text[64])
{
    enum { ROOM = 64 };
    size_t n = 0;
    switch (ta_marker_of(name)) {
    case TA_MARKS_PROFILER:
        return TA_LIT("ProfilerStep");
    case TA_MARKS_REQUEST:
        return TA_LIT("execute_diffusion");
    case TA_MARKS_ENGINE:
        if (after(name, "context_") != SIZE_MAX && after(name, "generation_") != SIZE_MAX)
            return TA_LIT("execute_context_generation");
        if (ta_slice_starts(name, "step[")) {
            for (n = 0; n < name.len && n < ROOM - 2 && name.ptr[n] != ' ' && name.ptr[n] != ']';
                 n++)
                text[n] = name.ptr[n];
            text[n++] = ']';
            return (struct ta_slice){text, n};
        }
        break;
    default:
        break;
    }
    /* Numbers are which of the kind it is. */
    for (size_t i = 0; i < name.len && n < ROOM - 1; i++) {
        if (!isdigit((unsigned char)name.ptr[i]))
            text[n++] = name.ptr[i];
        else if (n == 0 || text[n - 1] != '#')
            text[n++] = '#';
    }
    while (n > 0 && strchr("# _-.:/", text[n - 1]))
        n--;
    return n ? (struct ta_slice){text, n} : name;
}
