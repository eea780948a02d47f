/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program that generates images or videos by diffusion does, as far as one trace shows: its
 * phases, the calls of its models, and of the denoiser's the steps and images that they belong to.
 *
 * Of the ways in which a trace shows it the first that it has counts: ranges of the program that
 * name a phase, calls of modules of a known kind, Python functions of a known name, kernels alone.
 * What lies inside a call of the denoiser is denoising, whatever it is called.  A program without
 * denoiser (a language model that serves, training, vision) has no phases and no calls; what it
 * encodes and decodes all the same counts where another rank of the run denoises. */
#ifndef TA_PROGRAM_GENERATION_H
#define TA_PROGRAM_GENERATION_H

#include "traceanalyze/model.h"

enum ta_generation_phase {
    TA_GENERATION_LOAD,         /* models are loaded */
    TA_GENERATION_TEXT_ENCODE,  /* prompts become embeddings */
    TA_GENERATION_IMAGE_ENCODE, /* images become embeddings or latents */
    TA_GENERATION_DENOISE,      /* from the first call of the denoiser to the end of the last */
    TA_GENERATION_VAE_DECODE,   /* latents become pixels */
    TA_GENERATION_POST,         /* pixels become files, or are scaled */
    TA_GENERATION_PHASES
};

/* "load", "text encode", "image encode", "denoise", "VAE decode", "post-process". */
extern const char *const ta_generation_phase_names[TA_GENERATION_PHASES];

enum ta_generation_by {
    TA_GENERATION_BY_NOTHING,
    TA_GENERATION_BY_RANGE,
    TA_GENERATION_BY_MODULE,
    TA_GENERATION_BY_FUNCTION,
    TA_GENERATION_BY_KERNELS
};

/* Words for programs: "", "range", "module", "function", "kernels". */
extern const char *const ta_generation_by_words[];

/* What is made, by names and operators: what is denoised and decoded again without another prompt
 * is another image, or the next block of a video. */
enum ta_generation_makes {
    TA_GENERATION_MAKES_UNKNOWN,
    TA_GENERATION_IMAGES,
    TA_GENERATION_VIDEOS
};

/* A decoder attends once or twice, where it is narrowest: so many convolutions it has for each
 * attention at least, which no other network has. */
enum { TA_DECODE_CONVOLUTIONS_LEAST = 8 };

/* Time on the host, and on devices what was launched in it.  TA_MISSING what is not known;
 * `gpu_start` and `gpu_end` of what launched nothing. */
struct ta_generation_time {
    int64_t host_start, host_end;
    int64_t gpu_start, gpu_end; /* first start and last end of these activities, of all devices */
    int64_t gpu_busy;           /* union of them, of all devices together */
    int64_t activities, kernels;
};

/* When it is: on devices, which are done long after the host, else on the host. */
static inline struct ta_interval ta_generation_span(const struct ta_generation_time *time)
{
    return time->gpu_start != TA_MISSING ? (struct ta_interval){time->gpu_start, time->gpu_end}
                                         : (struct ta_interval){time->host_start, time->host_end};
}

/* A call of a model: of an encoder, of the denoiser (a forward), of a decoder. */
struct ta_generation_call {
    enum ta_generation_phase phase;
    enum ta_generation_by by;
    ta_row mark;    /* the range, module or function; TA_NO_ROW where kernels show it */
    uint32_t track; /* thread of the mark, or of a decode between marked passes; else UINT32_MAX */
    size_t
        image;   /* number of the image (or video) that it is for, from 0 on; SIZE_MAX: not known */
    size_t step; /* of the denoiser: index into the steps; else SIZE_MAX */
    uint32_t kind; /* calls of one phase that launch the same kernels have the same number, by
                      their mean time, longest first: of the denoiser 0 is a full forward */
    struct ta_generation_time time;
};

/* A step of denoising: one call of the denoiser, or as many as guidance makes. */
struct ta_generation_step {
    size_t first_call, n_calls;     /* of the calls, which are next to each other */
    size_t image, block;            /* block: of a video that is denoised in parts, from 0 on */
    int64_t number;                 /* within its block, from 1 on */
    uint32_t kind;                  /* of its first call */
    struct ta_generation_time time; /* from the first call to the end of the last, on the host */
};

/* A phase of an image: from the start of the first to the end of the last of calls that follow each
 * other, or of the range around them.  A video that is denoised in blocks has several of a phase.
 */
struct ta_generation_stage {
    enum ta_generation_phase phase;
    enum ta_generation_by by;
    size_t image;
    size_t first_call, n_calls; /* of the calls, which are next to each other */
    uint32_t track;
    struct ta_generation_time time;
};

struct ta_generation {
    enum ta_generation_by
        by;          /* how the denoiser was found; NOTHING: no diffusion, all lists empty */
    ta_str denoiser; /* class of the module, name of the range or function; or ABSENT */
    size_t n_images, n_blocks;    /* blocks of all images; as many as images without blocks */
    size_t n_prompts, n_requests; /* that images are of; 0 where that is not known */
    enum ta_generation_makes makes;
    /* Images, of several requests, that are denoised in turns, one step of each after the other;
     * else 1.  0: so are some, and nobody can say whose a step is. */
    size_t n_at_once;
    /* By start on the host, else on the device; first all calls of what is denoised in turns with
     * others, then of the next. */
    struct ta_generation_call *calls;
    size_t n_calls;
    struct ta_generation_step *steps; /* likewise */
    size_t n_steps;
    struct ta_generation_stage *stages; /* by image, then start */
    size_t n_stages;
    size_t forwards_per_step; /* 2: guidance in two calls; 0 where steps differ */
    size_t layers;            /* calls of attention in one forward; 0 where that is not known */
    double confidence;        /* 1 where the program says it; of kernels less */
    /* Of each activity of the trace (by its place among them): index into the calls, or
     * UINT32_MAX for those that no call launched.  NULL without calls. */
    uint32_t *call_of;
    /* Of a trace without denoiser: stages and calls of encoders and decoders that ranges or modules
     * name plainly, none of an image that is known; else NULL.  They count where another rank of
     * the run denoises. */
    struct ta_generation *aside;
};

/* Found once and kept with the trace, from any thread; NULL without memory. */
const struct ta_generation *ta_program_generation(const struct ta_trace *trace);

/* ---- for the files of this folder ---------------------------------------------------------- */

/* Of denoising: a call or a step, all of it, a call if other marks say that this is diffusion.  Of
 * other phases WEAK is what other programs have as well. */
enum generation_level { GENERATION_CALL, GENERATION_LOOP, GENERATION_WEAK };

/* What a span is by its name alone. */
struct generation_name {
    enum ta_generation_by by; /* NOTHING: of no phase */
    enum ta_generation_phase phase;
    enum generation_level level;
};

struct generation_name generation_name_of(struct ta_slice name);

/* What a denoiser, a decoder or what writes its output makes, by its name. */
enum ta_generation_makes generation_makes_by_name(struct ta_slice name);

/* Whether only a diffusion has this: time steps of a noise schedule, guidance. */
bool generation_is_hint(struct ta_slice name);

/* The number of "request 3", "denoise_step 4 (req_id=3)"; TA_MISSING without. */
int64_t generation_request_of(struct ta_slice name);

/* The times of calls, and call_of; adds to between[i] how many activities were launched after the
 * end of call i, on its thread, before the next one there; after[] of such an activity is i, of
 * others UINT32_MAX.  Either may be NULL.  False without memory. */
TA_MUST_CHECK bool generation_time_calls(const struct ta_trace *trace, struct ta_generation *found,
                                         size_t *between, uint32_t *after);

/* The times of steps and stages, whose host times are known.  False without memory. */
TA_MUST_CHECK bool generation_time_parts(const struct ta_trace *trace, struct ta_generation *found);

/* All of it from kernels alone, where nothing is marked; leaves it as it is where no denoiser is
 * found.  False without memory; what it has allocated then is in it. */
TA_MUST_CHECK bool generation_by_kernels(const struct ta_trace *trace, struct ta_generation *found);

/* The kinds of calls and steps, and the layers of the denoiser.  False without memory. */
TA_MUST_CHECK bool generation_kinds(const struct ta_trace *trace, struct ta_generation *found);

#endif
