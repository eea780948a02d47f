/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file that is no trace looks like, so that a refusal says what was found instead. */
#include "discover/discover.h"

#include "base/refusals.h"

#include <ctype.h>
#include <strings.h>

#define TORCH "Record with torch.profiler"
#define NO_TIMES "which hold no times.  " TORCH
#define NSYS_SUMS                                                                                  \
    "nsys stats --report cuda_gpu_kern_sum,cuda_api_sum --format csv --output . FILE"
#define FLIGHT_RECORDER                                                                            \
    "a dump of the NCCL Flight Recorder, which says where collectives hang (torchfrtrace) and "    \
    "not what takes time.  " TORCH " on each rank"
#define SINGLE_KERNELS                                                                             \
    "of Nsight Compute (ncu), which has metrics of single kernels and no times of a run.  " TORCH  \
    ", or with nsys profile, and give its sums: " NSYS_SUMS

/* Formats by the bytes that they begin with and texts in what follows; the first that fits is
 * meant.  Says what it is, and how to come by what is read. */
static const struct format {
    const char *bytes;
    size_t size, at; /* of them */
    const char *words[2];
    const char *what;
} formats[] = {
    /* archives */
    {"PK\x03\x04", 4, 0, {"data.pkl"}, "a checkpoint of PyTorch (torch.save), " NO_TIMES},
    {"PK\x03\x04", 4, 0, {"[Content_Types].xml"}, "a spreadsheet: save its sheet as CSV"},
    {"PK\x03\x04", 4, 0, {0}, "a zip archive: unpack it first (unzip FILE)"},
    {"PK\x05\x06", 4, 0, {0}, "an empty zip archive"},
    {"ustar", 5, 257, {0}, "a tar archive: unpack it first (tar -xf FILE)"},
    {"\x28\xb5\x2f\xfd", 4, 0, {0}, "zstd data: unpack it first (zstd -d FILE)"},
    {"BZh", 3, 0, {0}, "bzip2 data: unpack it first (bunzip2 FILE)"},
    {"\xfd\x37zXZ", 5, 0, {0}, "xz data: unpack it first (xz -d FILE)"},
    {"7z\xbc\xaf\x27\x1c", 6, 0, {0}, "a 7z archive: unpack it first (7z x FILE)"},
    {"Rar!\x1a\x07", 6, 0, {0}, "a rar archive: unpack it first (unrar x FILE)"},
    {"\x04\x22\x4d\x18", 4, 0, {0}, "lz4 data: unpack it first (lz4 -d FILE)"},
    {"\x1f\x8b", 2, 0, {0}, "gzip within gzip: unpack it first (gzip -d FILE)"},
    /* what other profilers write */
    {"SQLite format 3", 15, 0, {"rocpd"},
     "a database of rocprofv3 (rocpd).  Record tables instead: rocprofv3 --kernel-trace "
     "--hip-trace --stats --output-format csv -- PROGRAM"},
    {"SQLite format 3", 15, 0, {0},
     "an SQLite database.  Of one of Nsight Systems give the sums: " NSYS_SUMS},
    {"NVR", 3, 0, {0}, "a report " SINGLE_KERNELS},
    {"PERFILE2", 8, 0, {0},
     "data of perf record.  Give its folded stacks: perf script | stackcollapse-perf.pl > "
     "stacks.txt"},
    {"\x80", 1, 0, {"pg_config", "entries"}, FLIGHT_RECORDER},
    {"{", 1, 0, {"\"pg_config\"", "\"entries\""}, FLIGHT_RECORDER},
    {"{", 1, 0, {"\"record_id\"", "\"collective_seq_id\""}, FLIGHT_RECORDER},
    {"{", 1, 0, {"speedscope.app/file-format"},
     "a profile of speedscope.  Record Chrome's format instead: py-spy record --format "
     "chrometrace -o trace.json -- python PROGRAM"},
    {"{", 1, 0, {"\"rocprofiler-sdk-tool\""},
     "a result of rocprofv3.  Record tables instead: rocprofv3 --kernel-trace --hip-trace --stats "
     "--output-format csv -- PROGRAM, or with torch.profiler, whose trace has the host, too"},
    {"{", 1, 0, {"\"cell_type\"", "\"metadata\""},
     "a Jupyter notebook: save what a cell printed as text, or give the trace that it recorded"},
    {"<", 1, 0, {"GPU Memory Profile HTML"},
     "a memory timeline of torch.profiler as a picture.  Write a snapshot with "
     "torch.cuda.memory._dump_snapshot(FILE): it is read"},
    {"<", 1, 0, {"MemoryViz"},
     "a page of PyTorch's memory viewer: give the snapshot that it shows, which "
     "torch.cuda.memory._dump_snapshot(FILE) wrote"},
    {"<", 1, 0, {"<svg", "lame"}, /* FlameGraph, flamegraph */
     "a flame graph as a picture.  Record folded stacks instead: py-spy record --format raw -o "
     "stacks.txt -- python PROGRAM"},
    {"", 0, 0, {"\"Kernel Name\"", "\"Metric Name\""}, "a table " SINGLE_KERNELS},
    {"", 0, 0, {"Section: GPU Speed Of Light"}, "text " SINGLE_KERNELS},
    {"", 0, 0, {"NVPROF is profiling"},
     "text of nvprof.  Record with nsys profile, and give its sums: " NSYS_SUMS},
    {"", 0, 0, {"Collection and Platform Info", "Elapsed Time"},
     "a report of Intel VTune.  " TORCH " (ProfilerActivity.XPU)"},
    {"", 0, 0, {"total_direct_kernel_time"},
     "a table of TraceLens, which is made of a trace: give that"},
    {"", 0, 0, {"brain.Event:"},
     "events of TensorBoard, which are scalars.  Record with torch.profiler, on_trace_ready="
     "tensorboard_trace_handler(FOLDER), and give its *.pt.trace.json"},
    /* weights, pictures, programs */
    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", 8, 0, {0},
     "a checkpoint of PyTorch (torch.save), " NO_TIMES},
    {"{\"", 2, 8, {"\"dtype\"", "\"data_offsets\""}, "weights (safetensors), " NO_TIMES},
    {"GGUF", 4, 0, {0}, "weights (GGUF), " NO_TIMES},
    {"\x93NUMPY", 6, 0, {0}, "an array of NumPy, which holds no times.  " TORCH},
    {"\x89HDF", 4, 0, {0}, "an HDF5 file.  " TORCH},
    {"PAR1", 4, 0, {0}, "a Parquet file: save its table as CSV"},
    {"%PDF", 4, 0, {0}, "a PDF document: give the trace or text that it shows"},
    {"\x89PNG", 4, 0, {0}, "a PNG picture: give the trace or text that it shows"},
    {"\xff\xd8\xff", 3, 0, {0}, "a JPEG picture: give the trace or text that it shows"},
    {"GIF8", 4, 0, {0}, "a GIF picture: give the trace or text that it shows"},
    {"ftyp", 4, 4, {0}, "a video (MP4): give the log or trace of its making"},
    {"\x1a\x45\xdf\xa3", 4, 0, {0}, "a video (Matroska): give the log or trace of its making"},
    {"RIFF", 4, 0, {0}, "sound, a video or a picture (RIFF)"},
    {"\x7f\x45LF", 4, 0, {0}, "an ELF program or library"},
    {"version https://git-lfs", 23, 0, {0},
     "a pointer of Git LFS in place of the file: fetch it with git lfs pull"},
    {"#!", 2, 0, {0}, "a script"},
    {"", 0, 0, {"QuadD"}, "a report of Nsight Systems.  Give its sums: " NSYS_SUMS},
};

static bool holds(struct ta_slice text, const char *word)
{
    return !word || (text.len && memmem(text.ptr, text.len, word, strlen(word)));
}

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
 * own; a test writes all of them next to traces. Named as an operand each is what it looks like. */
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
        return "an output of traceanalyze";
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

/* A trace of Perfetto is packets, each with its length. */
static bool is_perfetto(struct ta_slice head)
{
    size_t at = 0, n = 0;
    for (; n < 4 && at + 1 < head.len && head.ptr[at] == 0x0a; n++) {
        size_t len = 0;
        for (unsigned shift = 0; shift < 28 && ++at < head.len; shift += 7) {
            len |= (size_t)(head.ptr[at] & 0x7f) << shift;
            if (!(head.ptr[at] & 0x80))
                break;
        }
        if (len == 0)
            return false;
        at += len + 1;
    }
    return n == 4 && !is_text(head);
}

static struct ta_slice take_line(struct ta_slice *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    const struct ta_slice line = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};
    *text = ta_slice_from(*text, line.len + (end != NULL));
    return line;
}

/* Whether the first statement of a text, after comments and a docstring, imports something. */
static bool is_python(struct ta_slice head)
{
    static const char quotes[] = "\"\"\"";
    while (head.len) {
        struct ta_slice line = take_line(&head);
        while (line.len && memchr(" \t\r", line.ptr[0], 3))
            line = ta_slice_from(line, 1);
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (!ta_slice_starts(line, quotes))
            return ta_slice_starts(line, "import ") ||
                   (ta_slice_starts(line, "from ") && holds(line, " import "));
        for (line = ta_slice_from(line, 3); !holds(line, quotes); line = take_line(&head))
            if (head.len == 0)
                return false;
    }
    return false;
}

const char *ta_describe_format(struct ta_slice head)
{
    struct ta_slice text = head;
    while (text.len && memchr(" \t\r\n", text.ptr[0], 4))
        text = ta_slice_from(text, 1);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format *format = &formats[i];
        const struct ta_slice from = format->size == 1 ? text : head; /* brackets after blanks */
        if (from.len >= format->at + format->size &&
            memcmp(ta_slice_at(from, format->at), format->bytes, format->size) == 0 &&
            holds(from, format->words[0]) && holds(from, format->words[1]))
            return format->what;
    }
    if (take(&text, "[") && take(&text, "[") &&
        (take(&text, "-") || (text.len && isdigit((uint8_t)*text.ptr))))
        return "a memory timeline of torch.profiler (export_memory_timeline): it names neither "
               "events nor places.  Record the trace with profile_memory=True, or write a "
               "snapshot with torch.cuda.memory._dump_snapshot(): both are read";
    text = head;
    if (take(&text, "{") && take(&text, "\"schema\"") && holds(head, "\"nodes\""))
        return "an execution trace of PyTorch (ExecutionTraceObserver), which has no times of "
               "devices.  Record with torch.profiler";
    if (head.len && head.ptr[0] == 0x0a && (holds(head, "/host:") || holds(head, "/device:")))
        return "a profile of JAX or TensorFlow (XPlane protobuf), which is not read.  Record with "
               "jax.profiler.trace(…, create_perfetto_trace=True): it writes the same events as "
               "perfetto_trace.json.gz";
    if (is_perfetto(head))
        return "a trace of Perfetto as protobuf.  Convert it: traceconv json FILE trace.json "
               "(get.perfetto.dev/traceconv)";
    return is_python(head) ? "source of Python: run it with torch.profiler, and give its trace"
                           : NULL;
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
    const char *format = ta_describe_format(head);
    if (format)
        return format;
    if (is_zlib(head))
        return "zlib data without a header of gzip";
    if ((unsigned char)head.ptr[0] == 0x80 && head.len > 1 && head.ptr[1] >= 2 && head.ptr[1] <= 5)
        return "a Python pickle, but no snapshot of torch.cuda.memory._dump_snapshot()";
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
    return is_text(head) ? TA_NO_FIGURES : "binary data of unknown kind";
}
