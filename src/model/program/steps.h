/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of a program, from what it marks on the host.
 *
 * Of the ways in which programs mark steps the first that a trace has counts: ranges that the user
 * names (--step-marker), ProfilerStep#N, the steps of an inference engine, the calls of a training
 * loop (data loader, zero_grad, optimizer), ranges of the program that repeat at one level.  A
 * range that holds the whole program is no step.  Where there is none of all this, or a single step
 * around the whole of a diffusion, the steps are the denoiser's (generation.h). */
#ifndef TA_PROGRAM_STEPS_H
#define TA_PROGRAM_STEPS_H

#include "model/program/marker.h"
#include "traceanalyze/model.h"

enum ta_steps_by {
    TA_STEPS_BY_NOTHING,
    TA_STEPS_BY_USER,
    TA_STEPS_BY_PROFILER,
    TA_STEPS_BY_ENGINE,
    TA_STEPS_BY_LOOP,
    TA_STEPS_BY_RANGE,
    TA_STEPS_BY_DENOISER
};

struct ta_program_step {
    int64_t start, end;
    ta_row mark;     /* the range that is the step, or that begins or ends it */
    int64_t number;  /* N of ProfilerStep#N; of others their place in the trace, from 1 on */
    uint64_t repeat; /* steps before it whose marks have the same name */
};

struct ta_program_steps {
    enum ta_steps_by by;
    struct ta_program_step *at; /* by start */
    size_t n;
    /* Requests and steps of engines that are not the steps, each in no other. */
    ta_row *requests;
    size_t n_requests;
    const struct ta_program_steps *around; /* of steps of the denoiser: what the program marks */
};

/* Found once and kept with the trace, from any thread; NULL without memory. */
const struct ta_program_steps *ta_program_steps(const struct ta_trace *trace);

/* Those that the program marks, none by the denoiser; likewise. */
const struct ta_program_steps *ta_marked_steps(const struct ta_trace *trace);

/* The name of a step: the name of its mark, or "denoising step 3". */
enum { TA_STEP_NAME_ROOM = 48 };
struct ta_slice ta_program_step_name(const struct ta_trace *trace,
                                     const struct ta_program_steps *steps, size_t i,
                                     char text[TA_STEP_NAME_ROOM]);

/* "denoising step 3" */
struct ta_slice ta_denoising_step_name(int64_t number, char text[TA_STEP_NAME_ROOM]);

/* The step that is open at a time, of several the one that began last; SIZE_MAX without one. */
size_t ta_program_step_at(const struct ta_program_steps *steps, int64_t time);

/* What a step is called, which is unique in its trace: its name, numbered where that
 * repeats ("ProfilerStep#2 (2)"). */
enum { TA_STEP_LABEL_ROOM = 160 };
struct ta_slice ta_step_label(struct ta_slice name, uint64_t repeat, char text[TA_STEP_LABEL_ROOM]);

/* Whether a range of this name is a step as a whole, by its name alone. */
bool ta_is_step_mark(struct ta_slice name);

/* Refuses an unusable --step-marker before anything is read; `text` may be NULL. */
enum ta_status ta_check_step_marker(struct ta_ctx *ctx, const char *text) TA_MUST_CHECK;

/* ---- for the files of this folder ---------------------------------------------------------- */

/* A range of the host. */
struct marked_range {
    ta_row row;
    uint32_t track;
    int64_t start, end;
    ta_str name;
};

/* Of ranges by track, start and length: those that repeat at one level of the nesting and hold most
 * of it become steps.  False without memory. */
TA_MUST_CHECK bool repeats_find(const struct ta_trace *trace, const struct marked_range *ranges,
                                size_t n, struct ta_program_steps *steps);

#endif
