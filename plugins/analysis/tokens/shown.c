/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the shapes of operators in the calls of models, image by image.
 *
 * A kernel belongs to the attention around its launch, if there is one, so that attention by
 * separate products is attention; else to the innermost operator with a formula. */
#include "base/vec.h"
#include "lib/counted.h"
#include "lib/outward.h"
#include "shown.h"

#include <stdlib.h>
#include <string.h>

/* What one text of arguments says, read once. */
struct reading {
    struct attention_sizes attention; /* queries 0: it is none */
    struct conv_shape conv;           /* n 0: it is none */
    struct shown_encoder encoder;     /* words 0: it is none */
};

struct walk {
    const struct ta_trace *trace;
    const struct ta_generation *found;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_activities activities;
    struct ta_kernels kernels;
    struct counting counting;
    TA_VEC(struct reading) readings; /* as many as `counting` has */
    struct ta_outward to_attention, to_product;
    uint8_t *kinds; /* of names of operators, enum named; 0 when not looked at */
    uint8_t *seen;  /* a bit per span: its work is counted */
    size_t *first;  /* of each call, where its activities begin in `of`; one more at the end */
    uint32_t *of;
};

/* ---- operators ----------------------------------------------------------------------------- */

enum named { NOT_LOOKED_AT, NAMED_OTHER, NAMED_ATTENTION, NAMED_PRODUCT, NAMED_EMBEDDING };

static bool is_operator(const struct walk *w, ta_row row)
{
    return ta_class_is_op(w->categories.at[w->spans.cat[row]].class);
}

static enum named look_up(struct walk *w, ta_str name)
{
    const struct formula *formula = counting_formula(&w->counting, name);
    const struct ta_slice text = ta_trace_text(w->trace, name);
    if (ta_slice_equal(text, TA_LIT("aten::embedding")))
        return NAMED_EMBEDDING;
    if (formula != &no_formula && formula->class == WORK_ATTENTION)
        return NAMED_ATTENTION;
    if (formula != &no_formula && work_is_product(formula->class))
        return NAMED_PRODUCT;
    const bool is_called_so =
        memmem(text.ptr, text.len, "attention", 9) || memmem(text.ptr, text.len, "attn", 4);
    return formula == &no_formula && is_called_so ? NAMED_ATTENTION : NAMED_OTHER;
}

static enum named named(struct walk *w, ta_row row)
{
    uint8_t *kind = &w->kinds[w->spans.name[row]];
    if (*kind == NOT_LOOKED_AT)
        *kind = (uint8_t)look_up(w, w->spans.name[row]);
    return (enum named) * kind;
}

static bool ends_at_attention(void *user, ta_row row)
{
    return !is_operator(user, row) || named(user, row) == NAMED_ATTENTION;
}

static bool ends_at_product(void *user, ta_row row)
{
    return !is_operator(user, row) || named(user, row) >= NAMED_PRODUCT;
}

static ta_row product_around(struct walk *w, ta_row op)
{
    const ta_row row = ta_outward_find(&w->to_product, op, ends_at_product, w);
    return row != TA_NO_ROW && is_operator(w, row) ? row : TA_NO_ROW;
}

/* The operator that a kernel belongs to; TA_NO_ROW for none that matters here.  A convolution adds
 * its bias outside of the operator that convolves: the outermost of those in each other is one. */
static ta_row owner_of(struct walk *w, ta_row op)
{
    const ta_row around = ta_outward_find(&w->to_attention, op, ends_at_attention, w);
    if (around != TA_NO_ROW && is_operator(w, around))
        return around;
    ta_row owner = TA_NO_ROW;
    for (ta_row row = product_around(w, op); row != TA_NO_ROW;
         row = product_around(w, w->spans.parent[row]))
        owner = row;
    return owner;
}

/* Token numbers are looked up in a vocabulary; tables of positions are smaller. */
static struct shown_encoder read_embedding(const struct call *call)
{
    enum { WORDS_LEAST = 10000 };
    const struct operand *table = &call->at[0], *text = &call->at[1];
    const bool fits = call->n > 1 && table->kind == TENSOR && table->rank == 2 &&
                      table->dims[0] >= WORDS_LEAST && text->rank >= 1 && text->rank <= 2;
    if (!fits)
        return (struct shown_encoder){0};
    return (struct shown_encoder){.words = table->dims[0],
                                  .width = table->dims[1],
                                  .length = text->dims[text->rank - 1],
                                  .prompts = text->rank == 2 ? text->dims[0] : 1};
}

static struct reading read_call(struct walk *w, ta_row row, const struct texts *texts)
{
    const struct formula *formula = counting_formula(&w->counting, texts->name);
    struct reading reading = {0};
    struct call call;
    const enum lack lack =
        call_read(text_or_empty(w->trace, texts->dims), text_or_empty(w->trace, texts->types),
                  text_or_empty(w->trace, texts->values), &call);
    if (lack != LACK_NOTHING && lack != LACK_TYPES)
        return reading;
    if (named(w, row) == NAMED_EMBEDDING)
        reading.encoder = read_embedding(&call);
    else if (named(w, row) == NAMED_ATTENTION && formula == &no_formula)
        attention_sizes_guess(&call, &reading.attention);
    else if (named(w, row) == NAMED_ATTENTION)
        attention_sizes_of(formula, &call, &reading.attention);
    else if (formula->class == WORK_CONV)
        conv_shape_of(formula, &call, &reading.conv);
    return reading;
}

/* NULL without memory. */
static const struct reading *reading_of(struct walk *w, ta_row row, size_t *index)
{
    *index = counting_of(&w->counting, row);
    if (*index == SIZE_MAX)
        return NULL;
    while (w->readings.n <= *index) {
        const struct texts texts = w->counting.at[w->readings.n].texts;
        if (!ta_vec_push(&w->readings, read_call(w, row, &texts)))
            return NULL;
    }
    return &w->readings.at[*index];
}

/* ---- calls --------------------------------------------------------------------------------- */

static struct shown_attention *attention_at(struct shown *shown, const struct attention_sizes *of)
{
    for (size_t i = 0; i < shown->n_attention; i++)
        if (memcmp(&shown->attention[i].sizes, of, sizeof *of) == 0)
            return &shown->attention[i];
    if (shown->n_attention == ATTENTIONS_MOST)
        return NULL;
    shown->attention[shown->n_attention] = (struct shown_attention){.sizes = *of};
    return &shown->attention[shown->n_attention++];
}

/* Two products of queries, keys and values, of all pairs. */
static int64_t attention_flop(const struct attention_sizes *a)
{
    const int64_t pairs = times(times(a->batch, a->heads), times(a->queries, a->keys));
    return ta_max_i64(0, times(4, times(pairs, a->depth)));
}

/* `is_new`: the first kernel of the operator. */
static void see_denoiser(struct shown *shown, const struct reading *reading, bool is_new,
                         int64_t ns)
{
    if (reading->conv.n && !shown->patch.n)
        shown->patch = reading->conv;
    if (!reading->attention.queries)
        return;
    struct shown_attention *attention = attention_at(shown, &reading->attention);
    if (!attention)
        return;
    attention->calls += is_new;
    attention->ns = ta_add_sat(attention->ns, ns);
    if (is_new)
        attention->flop = ta_add_sat(attention->flop, attention_flop(&reading->attention));
}

/* Of pixels, or of squares of 2 or 4 pixels, which some decoders make. */
static int64_t pixels_of(int64_t channels)
{
    return channels == 3 ? 1 : channels == 12 ? 2 : channels == 48 ? 4 : 0;
}

static void see_decoder(struct shown *shown, const struct conv_shape *conv, bool is_new)
{
    if (!conv->n || !is_new)
        return;
    if (!shown->first.n)
        shown->first = *conv;
    if (!pixels_of(conv->out_channels))
        return;
    if (shown->colors.n != conv->n) /* in time, after each frame was made: the last one counts */
        shown->passes = shown->samples = shown->frames = 0;
    shown->colors = *conv;
    shown->passes++;
    shown->samples = ta_add_sat(shown->samples, conv->batch);
    shown->frames = ta_add_sat(shown->frames, conv->n == SPACE_MAX ? conv->out[0] : 1);
}

static void see_encoder(struct shown *shown, const struct shown_encoder *one)
{
    size_t i = 0;
    while (i < shown->n_encoders &&
           (shown->encoder[i].words != one->words || shown->encoder[i].width != one->width))
        i++;
    if (i == ENCODERS_MOST)
        return;
    if (i == shown->n_encoders)
        shown->encoder[shown->n_encoders++] = (struct shown_encoder){one->words, one->width, 0, 0};
    shown->encoder[i].length = ta_max_i64(shown->encoder[i].length, one->length);
    shown->encoder[i].prompts = ta_add_sat(shown->encoder[i].prompts, one->prompts);
}

static bool mark_seen(struct walk *w, ta_row row)
{
    const bool was = w->seen[row / 8] >> row % 8 & 1;
    w->seen[row / 8] |= (uint8_t)(1U << row % 8);
    return !was;
}

/* The time of a kernel, and the work of its operator. */
static void add_work(struct walk *w, struct shown *shown, const struct ta_activity *a,
                     const struct reading *reading, size_t index, bool is_new)
{
    const enum ta_kernel_kind kind = w->kernels.at[a->kernel].facts.kind;
    const bool is_attention =
        kind == TA_KERNEL_ATTENTION || (reading && reading->attention.queries);
    const bool is_product = is_attention || kind == TA_KERNEL_GEMM || kind == TA_KERNEL_CONV;
    const int64_t ns = w->spans.dur[a->span];
    int64_t flop = TA_MISSING;
    if (reading && reading->attention.queries)
        flop = attention_flop(&reading->attention);
    else if (reading && w->counting.at[index].lack == LACK_NOTHING)
        flop = w->counting.at[index].work.flop;
    shown->kernel_ns = ta_add_sat(shown->kernel_ns, ns);
    shown->attention_ns = ta_add_sat(shown->attention_ns, is_attention ? ns : 0);
    shown->product_ns = ta_add_sat(shown->product_ns, is_product ? ns : 0);
    shown->known_ns = ta_add_sat(shown->known_ns, is_product && flop != TA_MISSING ? ns : 0);
    if (is_new && flop != TA_MISSING)
        shown->product_flop = ta_add_sat(shown->product_flop, flop);
}

/* False without memory. */
static bool see_kernel(struct walk *w, const struct ta_generation_call *call, size_t activity,
                       struct shown *shown)
{
    const struct ta_activity *a = &w->activities.at[activity];
    const bool is_full = call->phase == TA_GENERATION_DENOISE && call->kind == 0;
    const ta_row owner = a->op == TA_NO_ROW ? TA_NO_ROW : owner_of(w, a->op);
    const struct reading *reading = NULL;
    size_t index = 0;
    bool is_new = false;
    if (a->kernel == TA_NO_KERNEL)
        return true;
    if (owner != TA_NO_ROW) {
        reading = reading_of(w, owner, &index);
        if (!reading)
            return false;
        is_new = mark_seen(w, owner);
    }
    if (is_full && w->kernels.at[a->kernel].facts.class != TA_KERNEL_COMM)
        add_work(w, shown, a, reading, index, is_new);
    if (!reading)
        return true;
    if (is_full)
        see_denoiser(shown, reading, is_new, w->spans.dur[a->span]);
    else if (call->phase == TA_GENERATION_VAE_DECODE)
        see_decoder(shown, &reading->conv, is_new);
    else if (call->phase == TA_GENERATION_TEXT_ENCODE && reading->encoder.words && is_new)
        see_encoder(shown, &reading->encoder);
    return true;
}

/* ---- images -------------------------------------------------------------------------------- */

/* The activities of each call next to each other, in their order. */
static bool list_activities(struct walk *w)
{
    const size_t n = w->found->n_calls;
    w->first = calloc(n + 2, sizeof *w->first);
    w->of = malloc((w->activities.n + 1) * sizeof *w->of);
    if (!w->first || !w->of)
        return false;
    for (size_t i = 0; i < w->activities.n; i++)
        if (w->found->call_of[i] != UINT32_MAX)
            w->first[w->found->call_of[i] + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        w->first[i] += w->first[i - 1];
    for (size_t i = 0; i < w->activities.n; i++)
        if (w->found->call_of[i] != UINT32_MAX)
            w->of[w->first[w->found->call_of[i] + 1]++] = (uint32_t)i;
    return true;
}

/* Steps are in the order of their calls; `next` is the first one of this image or a later one. */
static void count_steps(const struct walk *w, size_t image, size_t *next, struct shown *shown)
{
    for (; *next < w->found->n_steps && w->found->steps[*next].image <= image; ++*next)
        shown->steps += w->found->steps[*next].image == image;
    shown->per_step = (int64_t)w->found->forwards_per_step;
}

/* The calls [first, end) are of one image. */
static bool see_image(struct walk *w, size_t first, size_t end, struct shown *shown)
{
    *shown = (struct shown){0};
    for (size_t c = first; c < end; c++) {
        const struct ta_generation_call *call = &w->found->calls[c];
        shown->forwards += call->phase == TA_GENERATION_DENOISE && call->kind == 0;
        for (size_t i = w->first[c]; i < w->first[c + 1]; i++)
            if (!see_kernel(w, call, w->of[i], shown))
                return false;
    }
    return true;
}

static bool see_images(struct walk *w, void (*take)(void *user, const struct shown *shown),
                       void *user)
{
    const struct ta_generation *found = w->found;
    struct shown *shown = malloc(sizeof *shown);
    bool done = shown;
    size_t step = 0;
    for (size_t first = 0, end; done && first < found->n_calls; first = end) {
        const size_t image = found->calls[first].image;
        for (end = first + 1; end < found->n_calls && found->calls[end].image == image;)
            end++;
        done = see_image(w, first, end, shown);
        if (done) {
            count_steps(w, image, &step, shown);
            take(user, shown);
        }
    }
    free(shown);
    return done;
}

bool shown_images(const struct ta_trace *trace, const struct ta_generation *found,
                  void (*take)(void *user, const struct shown *shown), void *user)
{
    struct walk *w = calloc(1, sizeof *w);
    if (!w)
        return false;
    w->trace = trace;
    w->found = found;
    w->spans = ta_trace_spans(trace);
    w->categories = ta_trace_categories(trace);
    w->activities = ta_trace_activities(trace);
    w->kernels = ta_trace_kernels(trace);
    w->to_attention.parent = w->to_product.parent = w->spans.parent;
    w->kinds = calloc(ta_trace_string_count(trace) + 1, 1);
    w->seen = calloc(w->spans.n / 8 + 1, 1);
    counting_begin(&w->counting, trace);
    const bool done = w->kinds && w->seen && !w->counting.failed && list_activities(w) &&
                      see_images(w, take, user) && !counting_failed(&w->counting);
    counting_end(&w->counting);
    ta_outward_free(&w->to_attention);
    ta_outward_free(&w->to_product);
    free(w->readings.at);
    free(w->kinds);
    free(w->seen);
    free(w->first);
    free(w->of);
    free(w);
    return done;
}
