/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file that is no trace looks like, so that a refusal says what was found instead. */
#include "discover/discover.h"

#include <ctype.h>
#include <strings.h>

static const struct {
    const char *bytes;
    size_t size;
    const char *what;
} signatures[] = {
    {"PK\x03\x04", 4, "a zip archive"},
    {"PK\x05\x06", 4, "an empty zip archive"},
    {"\x7f"
     "ELF",
     4, "an ELF program or library"},
    {"%PDF", 4, "a PDF document"},
    {"\x89PNG", 4, "a PNG picture"},
    {"\xff\xd8\xff", 3, "a JPEG picture"},
    {"\x28\xb5\x2f\xfd", 4, "zstd data, which this build does not read"},
    {"BZh", 3, "bzip2 data"},
    {"\xfd"
     "7zXZ",
     5, "xz data"},
    {"7z\xbc\xaf\x27\x1c", 6, "a 7z archive"},
    {"Rar!\x1a\x07", 6, "a rar archive"},
    {"\x04\x22\x4d\x18", 4, "lz4 data"},
    {"SQLite format 3", 15, "an SQLite database"},
    {"\x1f\x8b", 2, "gzip within gzip"},
    {"#!", 2, "a script"},
};

static bool starts_with(struct ta_slice text, const char *start)
{
    const size_t n = strlen(start);
    return text.len >= n && strncasecmp(text.ptr, start, n) == 0;
}

static bool is_text(struct ta_slice head)
{
    for (size_t i = 0; i < head.len; i++) {
        const unsigned char c = (unsigned char)head.ptr[i];
        if (c < 0x20 && !memchr("\t\r\n\f\x1b", c, 5))
            return false;
    }
    return true;
}

/* The name of the format stands after that of the first file. */
static bool is_tar(struct ta_slice head)
{
    enum { MAGIC = 257, MAGIC_SIZE = 5 };
    return head.len >= MAGIC + MAGIC_SIZE &&
           memcmp(ta_slice_at(head, MAGIC), "ustar", MAGIC_SIZE) == 0;
}

/* RFC 1950, for the four levels that there are. */
static bool is_zlib(struct ta_slice head)
{
    return head.len > 2 && head.ptr[0] == 0x78 && memchr("\x01\x5e\x9c\xda", head.ptr[1], 4);
}

static bool take(struct ta_slice *text, const char *token)
{
    const size_t n = strlen(token);
    while (text->len && memchr(" \t\r\n", *text->ptr, 4))
        *text = ta_slice_from(*text, 1);
    if (text->len < n || memcmp(text->ptr, token, n) != 0)
        return false;
    *text = ta_slice_from(*text, n);
    return true;
}

/* What we write for people and other services, some of which an input plugin could take for its
 * own; a test writes all of them beside traces.  Named as an operand each is what it looks like. */
static bool is_view(struct ta_slice head)
{
    static const char *const starts[][3] = {
        {"host (traceanalyze)"},
        {"device (traceanalyze)"},
        {"<!-- traceanalyze."},
        {"{", "\"traceanalyze/"},
        {"[", "{", "\"name\": \"traceanalyze/"},
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct ta_slice rest = head;
        size_t k = 0;
        while (k < 3 && starts[i][k] && take(&rest, starts[i][k]))
            k++;
        if (k == 3 || !starts[i][k])
            return true;
    }
    return false;
}

/* All that programs read names its schema first. */
const char *ta_describe_product(struct ta_slice head, bool in_folder)
{
    if (in_folder && is_view(head))
        return "a product of traceanalyze";
    if (!take(&head, "{"))
        return NULL;
    const bool is_merged = take(&head, "\"traceanalyze\"") && take(&head, ":") && take(&head, "{");
    if (!take(&head, "\"schema\"") || !take(&head, ":") || !take(&head, "\"traceanalyze."))
        return NULL;
    if (is_merged)
        return in_folder ? "a trace that traceanalyze has merged" : NULL;
    if (take(&head, "summary"))
        return NULL;
    return take(&head, "report") ? "a report of traceanalyze, which `diff` and --baseline take"
                                 : "what traceanalyze has written";
}

const char *ta_describe_document(struct ta_slice head)
{
    const struct ta_slice whole = head;
    if (take(&head, "[")) {
        if (take(&head, "[") && (take(&head, "-") || (head.len && isdigit((uint8_t)*head.ptr))))
            return "a memory timeline of torch.profiler (export_memory_timeline): it names neither "
                   "events nor places.  Record the trace with profile_memory=True, or write a "
                   "snapshot with torch.cuda.memory._dump_snapshot(): both are read";
        return NULL;
    }
    if (!take(&head, "{"))
        return NULL;
    if (take(&head, "\"rocprofiler-sdk-tool\""))
        return "a result of rocprofv3, which is not read.  Record with torch.profiler: its trace "
               "has the kernels of the device, and what the host did";
    if (take(&head, "\"schema\"") && memmem(whole.ptr, whole.len, "\"nodes\"", 7))
        return "an execution trace of PyTorch (ExecutionTraceObserver), which has no times of "
               "devices.  Record with torch.profiler";
    return NULL;
}

/* Each names the program first, after little more than the marks of its format. */
bool ta_describe_ours(struct ta_slice head)
{
    static const char name[] = "traceanalyze";
    enum { MARKS_MAX = 128 };
    return memmem(head.ptr, head.len < MARKS_MAX ? head.len : MARKS_MAX, name, sizeof name - 1);
}

const char *ta_describe(struct ta_slice head)
{
    if (head.len == 0)
        return "an empty file";
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (head.len >= signatures[i].size &&
            memcmp(head.ptr, signatures[i].bytes, signatures[i].size) == 0)
            return signatures[i].what;
    if (is_tar(head))
        return "a tar archive: unpack it first";
    if (is_zlib(head))
        return "zlib data without a header of gzip";
    if ((unsigned char)head.ptr[0] == 0x80 && head.len > 1 && head.ptr[1] >= 2 && head.ptr[1] <= 5)
        return "a Python pickle";
    struct ta_slice text = head;
    while (text.len && memchr(" \t\r\n", text.ptr[0], 4)) {
        text.ptr++;
        text.len--;
    }
    if (starts_with(text, "<!doctype html") || starts_with(text, "<html"))
        return "an HTML page";
    if (starts_with(text, "<"))
        return "XML or HTML text";
    if (text.len == 0)
        return "white space";
    size_t zeros = 0;
    while (zeros < head.len && head.ptr[zeros] == 0)
        zeros++;
    if (zeros == head.len)
        return "nothing but zero bytes";
    if (head.ptr[0] == 0x0a && memmem(head.ptr, head.len, "/host:", 6))
        return "a profile of JAX or TensorFlow (XPlane protobuf), which is not read.  Record with "
               "jax.profiler.trace(…, create_perfetto_trace=True): it writes the same events as "
               "perfetto_trace.json.gz";
    return is_text(head) ? "text that is no JSON" : "binary data of unknown kind";
}
