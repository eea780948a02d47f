/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tar that Perfetto opens as one trace: a manifest, then the traces.
 *
 * The manifest is the one of Perfetto 58 (perfetto.dev/docs/reference/perfetto-manifest, version
 * 1). Each trace is a machine of its own, so ids of processes and events need not change. Its clock
 * is related to the clock of one of them by a fixed offset; drift is not known there, so the times
 * of a clock that drifts are written anew, without their offset. Traces are not packed: Perfetto
 * refuses a manifest that says anything of a member that is. */
#include "merge/trace.h"
#include "base/write/file.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- tar ----------------------------------------------------------------------------------- */

/* A header of POSIX.1-1988 ("ustar"). */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

enum { BLOCK = 512 };
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

/* Sizes that 11 octal digits cannot hold are binary, as GNU and Perfetto have them. */
static void set_size(struct header *header, uint64_t size)
{
    if (size >> 33 == 0) {
        snprintf(header->size, sizeof header->size, "%011" PRIo64, size);
        return;
    }
    memset(header->size, 0, sizeof header->size);
    header->size[0] = (char)0x80;
    for (size_t i = 0; i < 8; i++)
        header->size[sizeof header->size - 1 - i] = (char)(size >> 8 * i);
}

static struct header make_header(const char *name, uint64_t size)
{
    struct header header = {.mode = "0000644",
                            .uid = "0000000",
                            .gid = "0000000",
                            .mtime = "00000000000",
                            .checksum = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '},
                            .type = '0',
                            .magic = "ustar",
                            .version = {'0', '0'}};
    snprintf(header.name, sizeof header.name, "%s", name);
    set_size(&header, size);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += ((const unsigned char *)&header)[i];
    snprintf(header.checksum, sizeof header.checksum, "%06o", sum);
    return header;
}

/* Begins a member; its size is known when it ends. */
static uint64_t begin_member(struct ta_file *out)
{
    static const char nothing[BLOCK] = {0};
    const uint64_t start = ta_file_bytes(out);
    ta_put(out, (struct ta_slice){nothing, BLOCK});
    return start;
}

static void end_member(struct ta_file *out, uint64_t start, const char *name)
{
    static const char nothing[BLOCK] = {0};
    const uint64_t size = ta_file_bytes(out) - start - BLOCK;
    const struct header header = make_header(name, size);
    ta_put(out, (struct ta_slice){nothing, (BLOCK - size % BLOCK) % BLOCK});
    ta_file_patch(out, start, (struct ta_slice){(const char *)&header, sizeof header});
}

/* ---- the manifest -------------------------------------------------------------------------- */

enum { NAME_MAX_BYTES = 64 };

/* "rank-00003.json"; of several traces of a rank, "rank-00003-2.json" is the second one. */
static void name_member(const struct ta_merge *merge, size_t at, char name[NAME_MAX_BYTES])
{
    size_t before = 0;
    for (size_t i = at; i > 0 && merge->traces[i - 1].rank == merge->traces[at].rank; i--)
        before++;
    if (before)
        snprintf(name, NAME_MAX_BYTES, "rank-%05" PRId64 "-%zu.json", merge->traces[at].rank,
                 before + 1);
    else
        snprintf(name, NAME_MAX_BYTES, "rank-%05" PRId64 ".json", merge->traces[at].rank);
}

/* The trace whose clock is the run's: the one with the least offset, as what would lie before the
 * start of its time is not shown. */
static size_t find_reference(const struct ta_merge *merge)
{
    size_t least = 0;
    for (size_t i = 1; i < merge->n; i++)
        if (merge->traces[i].clock.offset_ns < merge->traces[least].clock.offset_ns)
            least = i;
    return least;
}

static void put_manifest(const struct ta_merge *merge, struct ta_file *out)
{
    const uint64_t start = begin_member(out);
    ta_puts(out, "{\"perfetto_manifest\": {\n  \"version\": 1,\n  \"attributes\": {"
                 "\"traceanalyze.schema\": \"" TA_MERGE_SIGNATURE "\", \"traceanalyze.version\": ");
    ta_put_json(out, ta_slice_of(merge->version), false);
    ta_puts(out, ", \"traceanalyze.alignment\": ");
    ta_put_json(out, ta_slice_of(merge->alignment), false);
    ta_puts(out, "},\n  \"files\": [");
    const size_t reference = find_reference(merge);
    for (size_t i = 0; i < merge->n; i++) {
        const struct ta_merge_trace *trace = &merge->traces[i];
        char name[NAME_MAX_BYTES];
        name_member(merge, i, name);
        ta_putf(out, "%s\n    {\"path\": \"%s\", \"machine\": {\"name\": \"rank %" PRId64 "\"}",
                i ? "," : "", name, trace->rank);
        if (i != reference) {
            name_member(merge, reference, name);
            ta_putf(out,
                    ", \"clocks\": {\"sync_to\": {\"file\": \"%s\"}, \"offset_ns\": %" PRId64 "}",
                    name, trace->clock.offset_ns - merge->traces[reference].clock.offset_ns);
        }
        ta_puts(out, "}");
    }
    ta_puts(out, "\n  ]\n}}\n");
    end_member(out, start, "perfetto_manifest.json");
}

/* ---- traces -------------------------------------------------------------------------------- */

static enum ta_status put_trace(struct ta_ctx *ctx, const struct ta_merge *merge, size_t at,
                                struct ta_file *out)
{
    struct ta_merge_trace *trace = &merge->traces[at];
    struct ta_clock_shift drift = trace->clock;
    struct merge_members members = {0};
    struct merge_writer writer = {
        .clock = &drift, .moves = drift.drift_ppt != 0, .out = out, .separator = "\n"};
    char name[NAME_MAX_BYTES];
    drift.offset_ns = 0;
    const uint64_t start = begin_member(out);
    ta_puts(out, "{\"traceEvents\": [");
    const enum ta_status status = merge_trace(ctx, merge, trace, &writer, &members, NULL);
    ta_puts(out, "\n]");
    merge_members_put(&members, out);
    ta_puts(out, ",\n\"" TA_MERGE_MEMBER "\": ");
    merge_trace_describe(trace, out);
    ta_puts(out, "\n}\n");
    name_member(merge, at, name);
    end_member(out, start, name);
    ta_clean_free(&writer.clean);
    merge_members_free(&members);
    return status;
}

enum ta_status ta_merge_archive(struct ta_ctx *ctx, const struct ta_merge *merge,
                                struct ta_file *out)
{
    static const char end[2 * BLOCK] = {0};
    if (!ta_file_can_patch(out))
        return ta_fail(ctx, TA_ERR_OUTPUT,
                       "A tar goes to a file, as the size of a trace is known when it is written: "
                       "try -o run.perfetto.tar, or -o merged.json.gz, which may go to a pipe");
    put_manifest(merge, out);
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < merge->n; i++) {
        status = put_trace(ctx, merge, i, out);
    }
    ta_put(out, (struct ta_slice){end, sizeof end});
    return status;
}
