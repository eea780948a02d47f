/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a range of the host marks, by its name: a step, a request, the borders of a training loop,
 * and the numbers in it.  The table of names is marker.c. */
#ifndef TA_PROGRAM_MARKER_H
#define TA_PROGRAM_MARKER_H

#include "traceanalyze/base.h"

enum ta_marker {
    TA_MARKS_NOTHING,   /* a range of the program itself, or no range */
    TA_MARKS_PROFILER,  /* ProfilerStep#N: profiler.step() */
    TA_MARKS_ENGINE,    /* a step of an inference engine */
    TA_MARKS_REQUEST,   /* an image or a video from beginning to end */
    TA_MARKS_LOADER,    /* the next batch of a data loader: a step begins */
    TA_MARKS_ZERO_GRAD, /* a training step begins */
    TA_MARKS_OPTIMIZER, /* a training step ends */
    TA_MARKS_LIBRARY,   /* a range of torch or of a library, which says nothing about steps */
    TA_MARKS_RECORDER,  /* the profiler's own start or stop */
    TA_MARKERS
};

enum ta_phase { TA_PHASE_NONE, TA_PHASE_PREFILL, TA_PHASE_DECODE, TA_PHASE_MIXED, TA_PHASES_N };

/* "prefill", "decode", "mixed"; "" for none. */
extern const char *const ta_phase_names[TA_PHASES_N];

/* TA_MISSING where the name does not say. */
struct ta_marked_work {
    enum ta_phase phase;
    int64_t batch;         /* requests, sequences or images */
    int64_t tokens;        /* read or written in the step */
    int64_t width, height; /* pixels */
};

/* What a range of this name marks; one look at the first letters for nearly all names. */
enum ta_marker ta_marker_of(struct ta_slice name);

/* The numbers in the name of a step, in the forms of SGLang, vLLM and xDiT, or as "bs=4",
 * "tokens=512", "1024x768". */
struct ta_marked_work ta_marked_work_of(struct ta_slice name);

/* The name as one of its kind, for people: "step[DECODE]", "execute_context_generation", the part
 * of another name before its number. */
struct ta_slice ta_marker_kind(struct ta_slice name, char text[64]);

#endif
