/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounts of what was read, repaired and lost.
 *
 * Everything not used is counted by a code of a closed vocabulary, merged per file: how often,
 * where first and last (byte offset in the decompressed stream), with one example.  A code
 * never changes meaning; the table with severities and explanations is src/base/quality.c. */
#ifndef TRACEANALYZE_QUALITY_H
#define TRACEANALYZE_QUALITY_H

#include "base.h"

TA_BEGIN_DECLS

enum ta_quality_severity {
    TA_QUALITY_INFO,   /* nothing to do */
    TA_QUALITY_NOTICE, /* repaired, nothing lost */
    TA_QUALITY_LOSS,   /* something was not used */
    TA_QUALITY_ERROR   /* the file was refused */
};

enum ta_quality_code {
    TA_Q_TRUNCATED,
    TA_Q_UNTERMINATED_ARRAY,
    TA_Q_REFUSED,
    TA_Q_NO_EVENTS,
    TA_Q_SKIPPED_FILE,
    TA_Q_GZIP_TRAILING,
    TA_Q_GZIP_CHECKSUM,
    TA_Q_GZIP_TRUNCATED,
    TA_Q_GZIP_CORRUPT,
    TA_Q_MULTIPLE_DOCUMENTS,
    TA_Q_TRAILING_TEXT,
    TA_Q_UTF16,
    TA_Q_EMBEDDED,
    TA_Q_SYNTAX,
    TA_Q_COMMA,
    TA_Q_COMMENT,
    TA_Q_TEXT_ENCODING,
    TA_Q_TEXT_CONTROL,
    TA_Q_TEXT_ESCAPE,
    TA_Q_BAD_NUMBER,
    TA_Q_BAD_TS,
    TA_Q_STRING_NUMBER,
    TA_Q_UNKNOWN_PHASE,
    TA_Q_NOT_AN_EVENT,
    TA_Q_UNFINISHED,
    TA_Q_NEGATIVE_DURATION,
    TA_Q_BAD_DURATION,
    TA_Q_UNMATCHED_END,
    TA_Q_CROSSED_PAIR,
    TA_Q_OVERLAP,
    TA_Q_ZERO_TIME,
    TA_Q_OVERLONG,
    TA_Q_CLOCK_SET_BACK,
    TA_Q_EVENTS_LOST,
    TA_Q_BAD_RECORD,
    TA_Q_DUPLICATE_KEY,
    TA_Q_TOO_DEEP,
    TA_Q_TOO_LONG,
    TA_Q_LIMIT,
    TA_Q_RANK_DUPLICATE,
    TA_Q_RANK_MISSING,
    TA_Q_RANK_BEYOND_WORLD,
    TA_Q_RANK_CONFLICT,
    TA_Q_RANK_POSITION,
    TA_Q_RANK_FROM_NAME,
    TA_Q_WORLD_SIZE,
    TA_Q_MIXED_VENDORS,
    TA_Q_DUPLICATE_CONTENT,
    TA_Q_EARLIER_EXPORT,
    TA_Q_OTHER_SESSION,
    TA_Q_PARTIAL_SAMPLES,
    TA_Q_UNALIGNED,
    TA_Q_ANALYSIS_MISSING,
    TA_Q_RECORDINGS,
    TA_Q_REPLAYS_LOST,
    TA_Q_UNREAD_COLUMNS,
    TA_Q_NUMBER_FORM,
    TA_Q_COUNT
};

#define TA_NO_OFFSET UINT64_MAX

/* Of a code: its name ("gzip-checksum"), its severity, and what it means. */
struct ta_quality_info {
    const char *name;
    enum ta_quality_severity severity;
    const char *doc;
};

/* A constant. */
TA_API const struct ta_quality_info *ta_quality_info(enum ta_quality_code code);

static inline const char *ta_quality_name(enum ta_quality_code code)
{
    return ta_quality_info(code)->name;
}

/* "info", "notice", "loss" or "error". */
static inline const char *ta_quality_severity_name(enum ta_quality_severity severity)
{
    static const char *const names[] = {"info", "notice", "loss", "error"};
    return names[severity];
}

struct ta_quality_finding {
    enum ta_quality_code code;
    enum ta_quality_severity
        severity; /* the severity of the code, or milder where the rule says so */
    uint64_t count;
    uint64_t byte_offset, last_offset; /* TA_NO_OFFSET when it has no place */
    uint64_t file_offset;              /* in the compressed file; TA_NO_OFFSET otherwise */
    const char *text;                  /* one example, a sentence; may quote input: escape it */
};

/* What a reader adds to while it works on one file. */
struct ta_quality;

/* Counts one case.  Of the texts of a code the one of the lowest offset is kept; a NULL format
 * keeps none. */
TA_API void ta_quality_add(struct ta_quality *quality, enum ta_quality_code code, uint64_t offset,
                           const char *format, ...) TA_PRINTF(4, 5);

enum ta_file_state { TA_FILE_OK, TA_FILE_REPAIRED, TA_FILE_TRUNCATED, TA_FILE_REFUSED };

/* Where the rank of a file came from, in order of belief. */
enum ta_rank_source {
    TA_RANK_OPTION,   /* --rank-regex */
    TA_RANK_CONTENT,  /* distributedInfo.rank */
    TA_RANK_NAME,     /* the default pattern on its path */
    TA_RANK_PRODUCT,  /* the rank of the dump which names it as its own */
    TA_RANK_POSITION, /* its place by name among the traces */
    TA_RANK_DEFAULT,  /* 0: dumps that name no rank are of the only one */
    TA_RANK_NONE      /* refused before it had one */
};

struct ta_file_account {
    const char *path;   /* below INPUT; of a file its name */
    const char *format; /* id of the input plugin, "" when refused */
    bool is_dump;       /* of another profiler than a tracer: its events are records */
    enum ta_file_state state;
    int64_t rank; /* TA_MISSING when refused, or of several ranks */
    enum ta_rank_source rank_source;
    uint64_t bytes, raw_bytes; /* on disk, inflated */
    uint64_t events_seen, events_kept, events_repaired, events_dropped, bytes_skipped;
    int64_t first_ts_ns, last_ts_ns; /* TA_MISSING without events that have a time */
    const struct ta_quality_finding *findings;
    size_t n_findings;
};

struct ta_account_totals {
    uint64_t files_seen, files_used, files_refused;
    uint64_t events_seen, events_kept, events_repaired, events_dropped, bytes_skipped;
};

enum ta_quality_status { TA_QUALITY_CLEAN, TA_QUALITY_REPAIRED, TA_QUALITY_LOSSY };

/* The data_quality section of a report. */
struct ta_accounts {
    enum ta_quality_status status;
    struct ta_account_totals totals;
    const struct ta_file_account *files; /* by path */
    size_t n_files;
    const struct ta_quality_finding *findings; /* about the whole job: ranks, duplicates … */
    size_t n_findings;
};

/* Up to so many files that have the same are listed one by one. */
enum { TA_NOTICES_APART = 3 };

/* What was found, as people read it. */
struct ta_notice {
    struct ta_quality_finding finding; /* of several files: all cases, no place, the first text */
    const char *where; /* path of the file; of several "a, b, c and 4,093 more"; NULL: of no file */
    size_t n_files;
};

struct ta_notices {
    const struct ta_notice *at; /* in the arena */
    size_t n;
};

/* All that was found, the worst first, of the run before its files; what more than
 * TA_NOTICES_APART files have is one notice.  None when the arena has failed. */
TA_API struct ta_notices ta_accounts_notices(const struct ta_accounts *accounts,
                                             struct ta_arena *arena);

/* The words of report.json. */
static inline const char *ta_file_state_name(enum ta_file_state state)
{
    static const char *const names[] = {"ok", "repaired", "truncated", "refused"};
    return names[state];
}

static inline const char *ta_rank_source_name(enum ta_rank_source source)
{
    static const char *const names[] = {"option",   "content", "name", "product",
                                        "position", "default", "none"};
    return names[source];
}

static inline const char *ta_quality_status_name(enum ta_quality_status status)
{
    static const char *const names[] = {"clean", "repaired", "lossy"};
    return names[status];
}

TA_END_DECLS

#endif
