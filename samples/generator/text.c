/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fills in shapes and lays constant JSON out; all of it is written once in Kineto's layout. */
#define _POSIX_C_SOURCE 200809L
#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const layout_names[LAYOUT_COUNT] = {"kineto", "indent2", "oneline"};

static const struct punctuation punctuations[LAYOUT_COUNT] = {
    [LAYOUT_KINETO] = {.event_open = "{\n    ",
                       .event_close = "\n  }",
                       .event_next = ",\n  ",
                       .key = ", ",
                       .line = ",\n    ",
                       .args_open = "{\n      ",
                       .args_close = "\n    }",
                       .arg = ", ",
                       .arg_tight = ",",
                       .arg_wide = ",      ",
                       .file_close = {"\n  ],\n  ", "\n}\n"}},
    [LAYOUT_INDENT2] = {.event_open = "{\n      ",
                        .event_close = "\n    }",
                        .event_next = ",\n    ",
                        .key = ",\n      ",
                        .line = ",\n      ",
                        .args_open = "{\n        ",
                        .args_close = "\n      }",
                        .arg = ",\n        ",
                        .arg_tight = ",\n        ",
                        .arg_wide = ",\n        ",
                        .file_close = {"\n  ],\n  ", "\n}"},
                        .depth = 4,
                        .breaks = true},
    [LAYOUT_ONELINE] = {.event_open = "{",
                        .event_close = "}",
                        .event_next = ", ",
                        .key = ", ",
                        .line = ", ",
                        .args_open = "{",
                        .args_close = "}",
                        .arg = ", ",
                        .arg_tight = ", ",
                        .arg_wide = ", ",
                        .file_close = {"], ", "}"},
                        .depth = 1},
};

/* ---- shapes -------------------------------------------------------------------------------- */

enum { HIDDEN = 1536, HEAD_COUNT = 12, VALUES_PER_TOKEN = 16 };

/* The number that "$letter" in catalog.c means. */
static int64_t shape_value(char letter, const struct split *split)
{
    const int64_t sharers = (int64_t)split->sequence * split->ring;
    const int64_t tokens = split->tokens / sharers;
    const int64_t latents = (int64_t)split->tokens * VALUES_PER_TOKEN / sharers;
    const int64_t parts = (int64_t)split->sequence * split->tensor;
    switch (letter) {
    case 'T': /* tokens on one rank */
        return tokens;
    case 'S': /* tokens inside attention */
        return split->tokens / split->ring;
    case 'H': /* heads on one rank inside attention */
        return parts < HEAD_COUNT ? HEAD_COUNT / parts : 1;
    case 'Q': /* elements of q, k and v of one rank */
        return 3 * tokens * HIDDEN / split->tensor;
    case 'O': /* elements of the attention output of one rank */
        return tokens * HIDDEN / split->tensor;
    case 'K': /* elements of k and v that are passed on */
        return 2 * tokens * HIDDEN / split->tensor;
    case 'A': /* elements of the activations of one rank */
        return tokens * HIDDEN;
    case 'L': /* elements of the latents of one rank, of all */
    case 'N':
        return latents;
    case 'M':
        return latents * sharers;
    case 'P':
        return latents * split->guidance;
    case 'D':
        return latents * split->data;
    default:
        return 0;
    }
}

int64_t split_elements(const struct split *split, const char *shape)
{
    return shape[0] == '$' ? shape_value(shape[1], split) : strtoll(shape, NULL, 10);
}

static void put_shaped(FILE *out, const char *text, const struct split *split)
{
    for (; *text != '\0'; text++) {
        if (*text == '$')
            fprintf(out, "%" PRId64, shape_value(*++text, split));
        else
            fputc(*text, out);
    }
}

/* ---- layout -------------------------------------------------------------------------------- */

static const char *put_string(FILE *out, const char *at)
{
    fputc(*at++, out);
    for (; *at != '"'; at++) {
        if (*at == '\\')
            fputc(*at++, out);
        fputc(*at, out);
    }
    fputc('"', out);
    return at;
}

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static void put_break(FILE *out, const struct punctuation *punctuation, int depth)
{
    if (punctuation->breaks)
        fprintf(out, "\n%*s", 2 * depth, "");
}

/* depth is the nesting of the first byte, which may be in the middle of an object. */
static void put_laid_out(FILE *out, const struct punctuation *punctuation, const char *json,
                         int depth)
{
    if (punctuation->depth == 0) {
        fputs(json, out);
        return;
    }
    for (const char *at = skip_space(json); *at != '\0'; at = skip_space(at + 1)) {
        if (*at == '"') {
            at = put_string(out, at);
        } else if (strchr("[{", *at) != NULL) {
            fputc(*at, out);
            if (strchr("]}", *skip_space(at + 1)) == NULL || *skip_space(at + 1) == '\0')
                put_break(out, punctuation, ++depth);
            else
                fputc(*++at, out);
        } else if (strchr("]}", *at) != NULL) {
            put_break(out, punctuation, --depth);
            fputc(*at, out);
        } else {
            fputc(*at, out);
            if (*at == ':' || (*at == ',' && !punctuation->breaks))
                fputc(' ', out);
            else if (*at == ',')
                put_break(out, punctuation, depth);
        }
    }
}

/* A text under construction: written as for Kineto, laid out when finished. */
struct draft {
    FILE *out;
    char *text;
    size_t size;
};

static bool draft_begin(struct draft *draft)
{
    *draft = (struct draft){.out = NULL};
    draft->out = open_memstream(&draft->text, &draft->size);
    return draft->out != NULL;
}

/* Returns the finished text, owned by the caller, or NULL. */
static char *draft_end(struct draft *draft, const struct punctuation *punctuation, int depth)
{
    struct draft laid_out;
    const bool written = !ferror(draft->out);
    if (fclose(draft->out) != 0 || !written || !draft_begin(&laid_out)) {
        free(draft->text);
        return NULL;
    }
    put_laid_out(laid_out.out, punctuation, draft->text, depth);
    free(draft->text);
    const bool complete = !ferror(laid_out.out);
    if (fclose(laid_out.out) == 0 && complete)
        return laid_out.text;
    free(laid_out.text);
    return NULL;
}

/* ---- arguments ----------------------------------------------------------------------------- */

static char *make_op_args(const struct texts *texts, const struct op_desc *op, int level)
{
    struct draft draft;
    if (!draft_begin(&draft))
        return NULL;
    if (op->triton)
        fputs("\"kernel_backend\": \"triton\", \"stream\": 7, ", draft.out);
    fprintf(draft.out, "\"Input type\": %s, \"Input Dims\": ", op->levels[level].types);
    put_shaped(draft.out, op->levels[level].dims, &texts->split);
    return draft_end(&draft, texts->punctuation, texts->punctuation->depth);
}

enum { SM_COUNT = 132, WARP_SIZE = 32 };

static char *make_kernel_args(const struct texts *texts, const struct kernel_desc *kernel)
{
    const int64_t blocks = (int64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    const int64_t warps = kernel->block[0] * kernel->block[1] * kernel->block[2] / WARP_SIZE;
    const int64_t per_sm = blocks * 1000000 / SM_COUNT;
    const int64_t warps_per_sm = blocks * warps * 1000000 / SM_COUNT;
    struct draft draft;
    if (!draft_begin(&draft))
        return NULL;
    fprintf(draft.out, "\"registers per thread\": %d,      \"shared memory\": %d,      ",
            kernel->registers, kernel->shared_memory);
    fprintf(draft.out, "\"blocks per SM\": %" PRId64 ".%06" PRId64 ",      ", per_sm / 1000000,
            per_sm % 1000000);
    fprintf(draft.out, "\"warps per SM\": %" PRId64 ".%06" PRId64 ",      ", warps_per_sm / 1000000,
            warps_per_sm % 1000000);
    fprintf(draft.out, "\"grid\": [%d, %d, %d],      \"block\": [%d, %d, %d],      ",
            kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
            kernel->block[2]);
    fprintf(draft.out, "\"est. achieved occupancy %%\": %d", kernel->occupancy);
    return draft_end(&draft, texts->punctuation, texts->punctuation->depth);
}

/* A long list is shortened, as torch does, to its first ranks and the last one. */
static void put_rank_list(FILE *out, const struct process_group *group)
{
    enum { SHOWN = 30 };
    fputc('[', out);
    for (int i = 0; i < group->size; i++) {
        if (group->size > SHOWN && i == SHOWN - 1) {
            fputs(", ...", out);
            i = group->size - 1;
        }
        fprintf(out, "%s%d", i != 0 ? ", " : "", group->ranks[i]);
    }
    fputc(']', out);
}

/* Starts the next argument, unless the trace lacks it. */
static bool has_field(FILE *out, const struct texts *texts, enum collective_field field)
{
    if (texts->lacking & field)
        return false;
    if (ftell(out) > 0)
        fputs(", ", out);
    return true;
}

static void put_group_args(FILE *out, const struct texts *texts, const struct process_group *group,
                           enum peer peer)
{
    if (has_field(out, texts, FIELD_GROUP))
        fprintf(out, "\"Process Group Name\": \"%s\", \"Process Group Description\": \"%s\"",
                group->name, group->description);
    if (has_field(out, texts, FIELD_RANKS)) {
        fputs("\"Process Group Ranks\": \"", out);
        put_rank_list(out, group);
        fputc('"', out);
    }
    if (peer != PEER_NONE && has_field(out, texts, FIELD_RANKS))
        fprintf(out, "\"%s Rank\": %d", peer == PEER_NEXT ? "Dst" : "Src",
                peer == PEER_NEXT ? group->next : group->previous);
}

static char *make_collective_args(const struct texts *texts,
                                  const struct collective_desc *collective)
{
    const struct process_group *group = &texts->groups[collective->dimension];
    struct draft draft;
    if (!draft_begin(&draft))
        return NULL;
    if (has_field(draft.out, texts, FIELD_NAME))
        fprintf(draft.out, "\"Collective name\": \"%s\"", collective->name);
    if (has_field(draft.out, texts, FIELD_ELEMENTS)) {
        fputs("\"In msg nelems\": ", draft.out);
        put_shaped(draft.out, collective->in, &texts->split);
        fputs(", \"Out msg nelems\": ", draft.out);
        put_shaped(draft.out, collective->out, &texts->split);
    }
    if (has_field(draft.out, texts, FIELD_SIZE))
        fprintf(draft.out, "\"Group size\": %d", group->size);
    if (has_field(draft.out, texts, FIELD_TYPE))
        fprintf(draft.out, "\"dtype\": \"%s\"", collective->dtype);
    if (has_field(draft.out, texts, FIELD_SPLITS))
        fputs("\"In split size\": \"[]\", \"Out split size\": \"[]\"", draft.out);
    put_group_args(draft.out, texts, group, collective->peer);
    return draft_end(&draft, texts->punctuation, texts->punctuation->depth);
}

static bool make_op_texts(struct texts *texts)
{
    for (int op = OP_LIST_END + 1; op < OP_COUNT; op++) {
        for (int level = 0; level < OP_LEVELS; level++) {
            if (op_table[op].levels[level].name == NULL)
                break;
            texts->op_args[op][level] = make_op_args(texts, &op_table[op], level);
            if (texts->op_args[op][level] == NULL)
                return false;
        }
    }
    return true;
}

bool texts_make(struct texts *texts, enum layout layout, const struct split *split)
{
    *texts = (struct texts){.punctuation = &punctuations[layout], .split = *split};
    for (int i = KERNEL_NONE + 1; i < KERNEL_COUNT; i++) {
        texts->kernel_args[i] = make_kernel_args(texts, &kernel_table[i]);
        if (texts->kernel_args[i] == NULL)
            return false;
    }
    return make_op_texts(texts);
}

bool texts_set_groups(struct texts *texts, const struct process_group groups[DIM_COUNT],
                      unsigned lacking)
{
    memcpy(texts->groups, groups, sizeof texts->groups);
    texts->lacking = lacking;
    for (int i = 0; i < COLLECTIVE_COUNT; i++) {
        free(texts->collective_args[i]);
        texts->collective_args[i] = NULL;
        if (groups[collective_table[i].dimension].size == 0)
            continue;
        texts->collective_args[i] = make_collective_args(texts, &collective_table[i]);
        if (texts->collective_args[i] == NULL)
            return false;
    }
    return true;
}

void texts_free(struct texts *texts)
{
    for (int op = 0; op < OP_COUNT; op++) {
        for (int level = 0; level < OP_LEVELS; level++)
            free(texts->op_args[op][level]);
    }
    for (int i = 0; i < KERNEL_COUNT; i++)
        free(texts->kernel_args[i]);
    for (int i = 0; i < COLLECTIVE_COUNT; i++)
        free(texts->collective_args[i]);
}

/* ---- the top of the file ------------------------------------------------------------------- */

static void put_devices(FILE *out, int count)
{
    fputs("  \"deviceProperties\": [\n", out);
    for (int id = 0; id < count; id++) {
        fprintf(out,
                "    {\n      \"id\": %d, \"name\": \"NVIDIA H200\", "
                "\"totalGlobalMem\": 150109880320,\n",
                id);
        fputs("      \"computeMajor\": 9, \"computeMinor\": 0,\n"
              "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
              "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n",
              out);
        fprintf(out, "      \"sharedMemPerBlock\": 49152, \"numSms\": %d\n", SM_COUNT);
        fputs("    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
              "\"sharedMemPerMultiprocessor\": 233472\n",
              out);
        fprintf(out, "    }%s\n", id + 1 < count ? "," : "");
    }
    fputs("  ],\n", out);
}

static void put_group(FILE *out, const struct process_group *group)
{
    fprintf(out,
            "{\"pg_name\": \"%s\", \"pg_desc\": \"%s\", \"backend_config\": \"cuda:nccl\", "
            "\"pg_size\": %d, \"ranks\": ",
            group->name, group->description, group->size);
    fputc('[', out);
    for (int i = 0; i < group->size; i++)
        fprintf(out, "%s%d", i != 0 ? ", " : "", group->ranks[i]);
    fputs("]}", out);
}

static void put_distributed_info(FILE *out, const struct texts *texts, int rank)
{
    int count = 0;
    for (int i = 0; i < DIM_COUNT; i++)
        count += texts->groups[i].size != 0;
    fprintf(out,
            "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, "
            "\"world_size\": %d, \"pg_count\": %d, \"pg_config\": [",
            rank, texts->groups[DIM_WORLD].size, count);
    for (int i = 0; i < DIM_COUNT; i++) {
        if (texts->groups[i].size == 0)
            continue;
        fputs(i != 0 ? ", " : "", out);
        put_group(out, &texts->groups[i]);
    }
    fputs("], \"nccl_version\": \"2.27.3\"},\n", out);
}

char *texts_file_head(const struct texts *texts, int rank, int devices, uint64_t trace_id)
{
    struct draft draft;
    if (!draft_begin(&draft))
        return NULL;
    fputs("{\n  \"schemaVersion\": 1,\n", draft.out);
    put_devices(draft.out, devices);
    fprintf(draft.out, "  \"trace_id\": \"%016" PRIX64 "%016" PRIX64 "\",\n", trace_id,
            ~trace_id * 3);
    fputs("  \"record_shapes\": 1,\n  \"profile_memory\": 1,\n", draft.out);
    put_distributed_info(draft.out, texts, rank);
    fputs("  \"cuda_driver_version\": 12090,\n  \"cuda_runtime_version\": 12090,\n"
          "  \"cupti_version\": 28,\n  \"displayTimeUnit\": \"ms\",\n",
          draft.out);
    /* Kineto rounds the base, here to the start of 2025, so all ranks share it. */
    fputs("  \"baseTimeNanoseconds\": 1735689600000000000,\n  \"traceEvents\": [\n  ", draft.out);
    return draft_end(&draft, texts->punctuation, 0);
}
