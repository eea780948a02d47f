/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ComfyUI's console: prompts, and how much of each model fits the device.
 *
 *     got prompt
 *     Requested to load WAN21
 *     loaded partially; 4821.43 MB usable, 4050.79 MB loaded, 23200.62 MB offloaded, …
 *     100%|██████████| 10/10 [04:02<00:00, 24.20s/it]
 *     Prompt executed in 641.68 seconds
 *
 * Earlier versions write "loaded partially 4821.43 4050.79 370", whose last number counts patches
 * when it is whole, and before that only "Loading 1 new model", followed by "loading in lowvram
 * mode 1074.63" where only so many MB of the last one fit; later ones the time of long prompts as
 * "00:10:41".  Models are requested together and then loaded in the same order; a loop that follows
 * runs the largest of them that can have a loop.  A model that was loaded before is loaded again
 * without a request: one that was as large to the byte is the same.  A prompt that loads none runs
 * what the one before ran. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <math.h>

enum { REQUESTS = 8, TAGS = 6, KNOWN = 32 };

struct state {
    ta_str requested[REQUESTS];
    bool has_no_loop[REQUESTS];
    size_t n_requested, n_loaded; /* of those that were requested together */
    int64_t largest;              /* bytes of the largest of them */
    struct {
        ta_str model;
        int64_t loaded, offloaded;
        bool has_no_loop;
    } known[KNOWN]; /* loads with a name */
    size_t n_known;
    struct {
        const char *key;
        ta_str value;
    } tags[TAGS]; /* of the machine, said only of logs of ComfyUI */
    size_t n_tags;
    uint64_t figures;
    int64_t frames, frames_ns; /* of prompts whose frames were said, and their time */
};

/* ---- models ---------------------------------------------------------------------------------- */

/* Weights without a limit are usable in 1e32 bytes. */
static int64_t megabytes(double value)
{
    return value >= 0 && value < 1e9 ? ta_whole(round(value * 0x1p20)) : TA_MISSING;
}

/* Whether a model runs once and not in the loop of denoising: what encodes, decodes, controls. */
static bool has_no_loop(struct ta_slice model)
{
    static const char *const words[] = {"clip",    "temodel",    "t5",        "vae", "autoenc",
                                        "textenc", "controlnet", "previewer", NULL};
    return ta_slice_has_any(model, words);
}

/* Names a load without a request: after the one model that had as many bytes.  Returns whether
 * that has no loop. */
static bool name_by_size(const struct state *st, struct ta_model_load *row)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < st->n_known; i++) {
        if (st->known[i].loaded != row->loaded_bytes ||
            st->known[i].offloaded != row->offloaded_bytes)
            continue;
        if (found != SIZE_MAX && st->known[found].model != st->known[i].model)
            return false;
        found = i;
    }
    if (found == SIZE_MAX)
        return false;
    row->model = st->known[found].model;
    return st->known[found].has_no_loop;
}

static void note_request(struct ta_log_reading *log, struct state *st, struct ta_slice model)
{
    if (st->n_loaded) {
        st->n_requested = st->n_loaded = 0;
        st->largest = 0;
    }
    if (st->n_requested < REQUESTS) {
        st->has_no_loop[st->n_requested] = has_no_loop(model);
        st->requested[st->n_requested++] = ta_log_string(log, model);
    }
}

/* "4821.43 MB usable, 4050.79 MB loaded, 23200.62 MB offloaded, full load: True". */
static void take_amounts(struct ta_slice text, struct ta_model_load *row)
{
    while (text.len) {
        const int64_t bytes = ta_log_bytes(&text);
        const struct ta_slice word = ta_text_trim(text);
        if (ta_slice_starts(word, "usable"))
            row->usable_bytes = bytes;
        else if (ta_slice_starts(word, "loaded"))
            row->loaded_bytes = bytes;
        else if (ta_slice_starts(word, "offloaded"))
            row->offloaded_bytes = bytes;
        const char *comma = memchr(text.ptr, ',', text.len);
        if (!comma)
            return;
        text = ta_text_trim(ta_slice_from(text, (size_t)(comma - text.ptr) + 1));
    }
}

/* "4821.43 4050.79 23200.62": usable, loaded, offloaded or the number of patches. */
static void take_bare_amounts(struct ta_slice text, struct ta_model_load *row)
{
    row->usable_bytes = megabytes(ta_log_number(&text));
    const int64_t loaded = megabytes(ta_log_number(&text));
    struct ta_slice last = text;
    if (ta_text_trim(text).len == 0)
        return; /* cut, perhaps in this number */
    row->loaded_bytes = loaded;
    if (ta_log_integer(&last) == TA_MISSING)
        row->offloaded_bytes = megabytes(ta_log_number(&text));
}

/* False when the line is cut before it says how much. */
static bool note_load(struct ta_log_reading *log, struct state *st, const struct ta_log_line *line,
                      struct ta_slice amounts, bool is_partial)
{
    struct ta_model_load row = ta_unknown_model_load();
    row.rank = line->rank;
    row.extent = ta_log_string(log, is_partial ? TA_LIT("partial") : TA_LIT("complete"));
    if (ta_slice_starts(amounts, ";"))
        take_amounts(ta_text_trim(ta_slice_from(amounts, 1)), &row);
    else
        take_bare_amounts(ta_text_trim(amounts), &row);
    if (row.loaded_bytes == TA_MISSING)
        return false;
    if (!is_partial)
        row.offloaded_bytes = 0;
    const size_t place = st->n_loaded++;
    bool is_aside; /* of the loop */
    if (place < st->n_requested) {
        row.model = st->requested[place];
        is_aside = st->has_no_loop[place];
        if (st->n_known < KNOWN) {
            st->known[st->n_known].model = row.model;
            st->known[st->n_known].has_no_loop = is_aside;
            st->known[st->n_known].loaded = row.loaded_bytes;
            st->known[st->n_known++].offloaded = row.offloaded_bytes;
        }
    } else {
        is_aside = name_by_size(st, &row);
    }
    ta_log_add_model_load(log, &row);
    log->loads++;
    const int64_t bytes = ta_add_sat(row.loaded_bytes, ta_max_i64(row.offloaded_bytes, 0));
    if (bytes >= st->largest && !is_aside) {
        st->largest = bytes;
        log->load = log->loads;
        log->model = row.model;
    }
    return true;
}

/* "Loading 1 new model" of versions that do not say how much. */
static void note_loading(struct ta_log_reading *log, struct state *st,
                         const struct ta_log_line *line)
{
    size_t loops = 0;
    for (; st->n_loaded < st->n_requested; st->n_loaded++) {
        struct ta_model_load row = ta_unknown_model_load();
        row.rank = line->rank;
        row.model = st->requested[st->n_loaded];
        ta_log_add_model_load(log, &row);
        log->loads++;
        if (st->has_no_loop[st->n_loaded])
            continue;
        loops++;
        log->load = loops == 1 ? log->loads : 0;
        log->model = loops == 1 ? row.model : TA_STR_ABSENT;
    }
}

/* "loading in lowvram mode 1074.63": the MB of the model just named that are on the device. */
static bool note_lowvram(struct ta_log_reading *log, struct state *st,
                         const struct ta_log_line *line, struct ta_slice amount)
{
    struct ta_model_load row = ta_unknown_model_load();
    row.rank = line->rank;
    row.loaded_bytes = megabytes(ta_log_number(&amount));
    if (row.loaded_bytes == TA_MISSING || st->n_loaded == 0)
        return false;
    row.model = st->requested[st->n_loaded - 1];
    row.extent = ta_log_string(log, TA_LIT("partial"));
    ta_log_add_model_load(log, &row);
    log->loads++;
    if (!st->has_no_loop[st->n_loaded - 1]) {
        log->load = log->loads;
        log->model = row.model;
    }
    return true;
}

/* "cpu, offload device: cpu, current: cpu, dtype: torch.float16" of the text encoder. */
static bool note_encoder(struct ta_log_reading *log, const struct ta_log_line *line,
                         struct ta_slice rest)
{
    const char *comma = rest.len ? memchr(rest.ptr, ',', rest.len) : NULL;
    if (!comma)
        return false;
    struct ta_model_load row = ta_unknown_model_load();
    row.rank = line->rank;
    row.model = ta_log_string(log, TA_LIT("text encoder"));
    row.device =
        ta_log_string(log, ta_text_trim(ta_slice_part(rest, 0, (size_t)(comma - rest.ptr))));
    ta_log_add_model_load(log, &row);
    log->loads++;
    return true;
}

/* ---- prompts --------------------------------------------------------------------------------- */

static bool note_prompt(struct ta_log_reading *log, struct state *st,
                        const struct ta_log_line *line, struct ta_slice rest)
{
    int64_t dur_ns = ta_log_time(&rest);
    if (dur_ns == TA_MISSING && rest.len >= strlen("00:10:41"))
        dur_ns = ta_log_clock(&rest);
    if (dur_ns == TA_MISSING)
        return false;
    struct ta_timed_stage prompt =
        ta_single_call(ta_log_string(log, TA_LIT("prompt/total")), dur_ns);
    prompt.rank = line->rank;
    ta_log_add_stage(log, &prompt);
    if (log->frames > 0) {
        st->frames += log->frames;
        st->frames_ns = ta_add_sat(st->frames_ns, dur_ns);
        log->frames = 0;
    }
    st->n_requested = st->n_loaded = 0;
    st->largest = 0;
    log->load = log->ran_load > 0 ? log->ran_load : 0;
    log->model = log->ran_load > 0 ? log->ran_model : TA_STR_ABSENT;
    log->ran_load = 0;
    return true;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void note_tag(struct ta_log_reading *log, struct state *st, const char *key,
                     struct ta_slice value)
{
    if (st->n_tags == TAGS || value.len == 0)
        return;
    st->tags[st->n_tags].key = key;
    st->tags[st->n_tags++].value = ta_log_string(log, ta_text_trim(value));
}

/* "cuda:0 NVIDIA GeForce RTX 4070 : cudaMallocAsync". */
static void note_device(struct ta_log_reading *log, struct state *st, struct ta_slice rest)
{
    const struct ta_slice after = ta_log_after(rest, " : ");
    const struct ta_slice name = ta_log_after(
        ta_slice_part(rest, 0, after.ptr ? (size_t)(after.ptr - rest.ptr) - 3 : rest.len), " ");
    note_tag(log, st, "device", name);
    note_tag(log, st, "allocator", after);
}

static bool note_machine(struct ta_log_reading *log, struct state *st, struct ta_slice text)
{
    static const struct {
        const char *words, *key;
    } lines[] = {
        {"Total VRAM ", "device memory"},
        {"Set vram state to: ", "VRAM state"},
        {"pytorch version: ", "torch"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (ta_slice_starts(text, lines[i].words)) {
            const struct ta_slice rest = ta_slice_from(text, strlen(lines[i].words));
            const char *comma = memchr(rest.ptr, ',', rest.len);
            note_tag(log, st, lines[i].key,
                     ta_slice_part(rest, 0, comma ? (size_t)(comma - rest.ptr) : rest.len));
            return true;
        }
    if (!ta_slice_starts(text, "Device: "))
        return false;
    note_device(log, st, ta_slice_from(text, strlen("Device: ")));
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    const struct ta_slice text = line->text;
    struct ta_slice rest;
    if (ta_slice_starts(text, "Requested to load ")) {
        note_request(log, st, ta_slice_from(text, strlen("Requested to load ")));
        return TA_LOG_TAKEN;
    }
    if (ta_slice_starts(text, "Loading ") && ta_log_after(text, " new model").ptr) {
        note_loading(log, st, line);
        return TA_LOG_TAKEN;
    }
    bool is_whole = true;
    if (ta_slice_starts(text, "loaded partially"))
        is_whole = note_load(log, st, line, ta_slice_from(text, strlen("loaded partially")), true);
    else if (ta_slice_starts(text, "loaded completely"))
        is_whole =
            note_load(log, st, line, ta_slice_from(text, strlen("loaded completely")), false);
    else if (ta_slice_starts(text, "Prompt executed in "))
        is_whole = note_prompt(log, st, line, ta_slice_from(text, strlen("Prompt executed in ")));
    else if (ta_slice_starts(text, "loading in lowvram mode "))
        is_whole =
            note_lowvram(log, st, line, ta_slice_from(text, strlen("loading in lowvram mode ")));
    else if ((rest = ta_log_after(text, "text encoder model load device: ")).ptr)
        is_whole = note_encoder(log, line, rest);
    else
        return note_machine(log, st, text) ? TA_LOG_TAKEN : TA_LOG_NOT_MINE;
    if (!is_whole)
        return TA_LOG_BAD;
    st->figures++;
    return TA_LOG_TAKEN;
}

static void add_rate(struct ta_log_reading *log, const struct state *st)
{
    const struct ta_figure rate = {.rank = TA_MISSING,
                                   .name = ta_log_string(log, TA_LIT("fps")),
                                   .group = ta_log_string(log, TA_LIT("log")),
                                   .value = 1e9 * (double)st->frames / (double)st->frames_ns,
                                   .unit = TA_UNIT_PER_S};
    if (st->frames_ns > 0)
        ta_log_add_figure(log, &rate);
}

/* Tags of the machine alone are no figures. */
static void end(struct ta_log_reading *log, void *state)
{
    const struct state *st = state;
    add_rate(log, st);
    for (size_t i = 0; st->figures && i < st->n_tags; i++) {
        const struct ta_tag tag = {.rank = TA_MISSING,
                                   .key = ta_log_string(log, ta_slice_of(st->tags[i].key)),
                                   .value = st->tags[i].value};
        ta_log_add_tag(log, &tag);
    }
}

static const char *const marks[] = {
    "Requested to load ", " new model",          "loading in lowvram mode ", "loaded partially",
    "loaded completely",  "Prompt executed in ", "encoder model load ",      "Total VRAM ",
    "Device: ",           "Set vram state to: ", "pytorch version: ",        NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, comfyui, &ops, .title = "ComfyUI",
          .summary = "ComfyUI's console: prompts, models and how much of each is offloaded",
          .version = "1");
