/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one table of what ranges, modules and functions of programs that generate images and videos
 * called, in diffusers, xDiT, ComfyUI, Wan, HunyuanVideo, FramePack and Inferix. */
#include "model/program/generation.h"
#include "model/program/marker.h"

#include <ctype.h>
#include <string.h>

const char *const ta_generation_phase_names[TA_GENERATION_PHASES] = {
    [TA_GENERATION_LOAD] = "load",
    [TA_GENERATION_TEXT_ENCODE] = "text encode",
    [TA_GENERATION_IMAGE_ENCODE] = "image encode",
    [TA_GENERATION_DENOISE] = "denoise",
    [TA_GENERATION_VAE_DECODE] = "VAE decode",
    [TA_GENERATION_POST] = "post-process",
};

const char *const ta_generation_by_words[] = {
    [TA_GENERATION_BY_NOTHING] = "",        [TA_GENERATION_BY_RANGE] = "range",
    [TA_GENERATION_BY_MODULE] = "module",   [TA_GENERATION_BY_FUNCTION] = "function",
    [TA_GENERATION_BY_KERNELS] = "kernels",
};

/* How a word has to stand in a name. */
enum place { ANYWHERE, START, END, WHOLE };

struct word {
    const char *text; /* of ranges in lower case, '_' for any of "_ -.:/" */
    enum place place;
    enum ta_generation_phase phase;
    enum generation_level level;
};

static char plain(char c)
{
    if (c == ' ' || c == '-' || c == '.' || c == ':' || c == '/')
        return '_';
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* What is read of a name: it is long where arguments stand in it, and the words come first. */
enum { READ_MOST = 512 };

/* A name in lower case with '_' for what parts words. */
static struct ta_slice plain_name(struct ta_slice name, char text[READ_MOST])
{
    const size_t n = name.len < READ_MOST ? name.len : READ_MOST;
    for (size_t i = 0; i < n; i++)
        text[i] = plain(name.ptr[i]);
    return (struct ta_slice){text, n};
}

static bool has_part(struct ta_slice name, const char *part)
{
    return memmem(name.ptr, name.len, part, strlen(part)) != NULL;
}

static bool fits(struct ta_slice name, const struct word *word)
{
    switch (word->place) {
    case START:
        return ta_slice_starts(name, word->text);
    case END:
        return ta_slice_ends(name, word->text);
    case WHOLE:
        return ta_slice_equal(name, ta_slice_of(word->text));
    default:
        return has_part(name, word->text);
    }
}

static const struct word *first_fit(struct ta_slice name, const struct word *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fits(name, &words[i]))
            return &words[i];
    return NULL;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Of several that fit the first counts; WEAK are words of other programs, too. */
static const struct word range_words[] = {
    {"encode_prompt", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"text_encod", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"textencod", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"prompt_encod", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"prompt_embed", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"encode_text", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"cliptextencode", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"vae_encod", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, 0},
    {"encode_vae", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, 0},
    {"vaeencode", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, 0},
    {"image_encod", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, 0},
    {"encode_image", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, 0},
    {"clip_vision", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, 0},
    {"vae_decod", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"vaedecod", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"decode_vae", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"decode_latent", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"latent_decod", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"decode_first_stage", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"vae", WHOLE, TA_GENERATION_VAE_DECODE, 0},
    {"denoising_loop", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_LOOP},
    {"denoise_loop", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_LOOP},
    {"sampling_loop", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_LOOP},
    {"denois", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"diffusion_step", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"noise_pred", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"unet", WHOLE, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"unet_", START, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"dit", WHOLE, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"dit_forward", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"dit_step", ANYWHERE, TA_GENERATION_DENOISE, GENERATION_CALL},
    {"transformer", WHOLE, TA_GENERATION_DENOISE, GENERATION_WEAK},
    {"transformer_forward", WHOLE, TA_GENERATION_DENOISE, GENERATION_WEAK},
    {"load_model", ANYWHERE, TA_GENERATION_LOAD, 0},
    {"load_weight", ANYWHERE, TA_GENERATION_LOAD, 0},
    {"load_pipeline", ANYWHERE, TA_GENERATION_LOAD, 0},
    {"load_checkpoint", ANYWHERE, TA_GENERATION_LOAD, 0},
    {"model_load", ANYWHERE, TA_GENERATION_LOAD, 0},
    {"from_pretrained", ANYWHERE, TA_GENERATION_LOAD, 0},
    {"postprocess", ANYWHERE, TA_GENERATION_POST, 0},
    {"post_process", ANYWHERE, TA_GENERATION_POST, 0},
    {"save_video", ANYWHERE, TA_GENERATION_POST, 0},
    {"save_image", ANYWHERE, TA_GENERATION_POST, 0},
    {"export_to_video", ANYWHERE, TA_GENERATION_POST, 0},
    {"write_video", ANYWHERE, TA_GENERATION_POST, 0},
};

static const struct word *range_word(struct ta_slice name)
{
    char text[READ_MOST];
    return first_fit(plain_name(name, text), range_words, sizeof range_words / sizeof *range_words);
}

/* ---- modules --------------------------------------------------------------------------------- */

/* Parts of models, whatever else their names say. */
static const char *const part_ends[] = {"Block",      "Blocks",    "Layer",  "Norm", "Embedding",
                                        "Embeddings", "Attention", "Embed",  "MLP",  "Processor",
                                        "Head",       "Proj",      "Stack2", NULL};

static const struct word module_words[] = {
    {"Transformer2D", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"Transformer3D", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"ImageTransformer", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"VideoTransformer", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"DiffusionTransformer", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"DiffusionModel", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"DiffusionWrapper", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"UNet2DCondition", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"UNet3DCondition", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"UNetSpatioTemporal", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"UNetMotion", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"UNet2DModel", WHOLE, TA_GENERATION_DENOISE, 0},
    {"UNetModel", END, TA_GENERATION_DENOISE, 0},
    {"DiT", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"WanModel", END, TA_GENERATION_DENOISE, 0},
    {"WanTransformer", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"LTXModel", END, TA_GENERATION_DENOISE, 0},
    {"NextDiT", ANYWHERE, TA_GENERATION_DENOISE, 0},
    {"Lumina", START, TA_GENERATION_DENOISE, 0},
    {"Flux", WHOLE, TA_GENERATION_DENOISE, 0},
    {"Flux2", WHOLE, TA_GENERATION_DENOISE, 0},
    {"FluxModel", END, TA_GENERATION_DENOISE, 0},
    {"UViT", START, TA_GENERATION_DENOISE, 0},
    {"CLIPVision", START, TA_GENERATION_IMAGE_ENCODE, GENERATION_WEAK},
    {"Siglip", START, TA_GENERATION_IMAGE_ENCODE, GENERATION_WEAK},
    {"Dino", START, TA_GENERATION_IMAGE_ENCODE, GENERATION_WEAK},
    {"VisionModel", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, GENERATION_WEAK},
    {"ImageEncoder", ANYWHERE, TA_GENERATION_IMAGE_ENCODE, GENERATION_WEAK},
    {"Encoder", WHOLE, TA_GENERATION_IMAGE_ENCODE, GENERATION_WEAK},
    {"EncoderTiny", WHOLE, TA_GENERATION_IMAGE_ENCODE, 0},
    {"Encoder3d", END, TA_GENERATION_IMAGE_ENCODE, 0},
    {"Encoder3D", END, TA_GENERATION_IMAGE_ENCODE, 0},
    {"VAEEncoder", END, TA_GENERATION_IMAGE_ENCODE, 0},
    {"Autoencoder", START, TA_GENERATION_VAE_DECODE, 0},
    {"Decoder", WHOLE, TA_GENERATION_VAE_DECODE, GENERATION_WEAK},
    {"DecoderTiny", WHOLE, TA_GENERATION_VAE_DECODE, 0},
    {"Decoder3d", END, TA_GENERATION_VAE_DECODE, 0},
    {"Decoder3D", END, TA_GENERATION_VAE_DECODE, 0},
    {"VAEDecoder", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"VaeDecoder", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"VideoDecoder", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"TemporalDecoder", ANYWHERE, TA_GENERATION_VAE_DECODE, 0},
    {"CLIPText", START, TA_GENERATION_TEXT_ENCODE, 0},
    {"TextEncoder", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"TextModel", ANYWHERE, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"PromptEncoder", ANYWHERE, TA_GENERATION_TEXT_ENCODE, 0},
    {"T5Encoder", START, TA_GENERATION_TEXT_ENCODE, 0},
    {"T5", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"UMT5", START, TA_GENERATION_TEXT_ENCODE, 0},
    {"MT5", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"Llama", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"Qwen", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"Gemma", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"Mistral", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"ChatGLM", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"Glm", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"Bert", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"XLMRoberta", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"Phi", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"SmolLM", START, TA_GENERATION_TEXT_ENCODE, GENERATION_WEAK},
    {"RRDBNet", ANYWHERE, TA_GENERATION_POST, 0},
    {"SafetyChecker", ANYWHERE, TA_GENERATION_POST, 0},
    {"Upscaler", ANYWHERE, TA_GENERATION_POST, 0},
};

/* "SD3Transformer2DModel" of "nn.Module: SD3Transformer2DModel_0". */
static struct ta_slice class_of(struct ta_slice name)
{
    name = ta_slice_from(name, sizeof "nn.Module: " - 1);
    size_t end = name.len;
    while (end > 0 && isdigit((unsigned char)name.ptr[end - 1]))
        end--;
    if (end > 1 && end < name.len && name.ptr[end - 1] == '_')
        name.len = end - 1;
    return name;
}

static const struct word *module_word(struct ta_slice name)
{
    const struct ta_slice class = class_of(name);
    for (const char *const *end = part_ends; *end; end++)
        if (ta_slice_ends(class, *end))
            return NULL;
    return first_fit(class, module_words, sizeof module_words / sizeof *module_words);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A function counts if its file has one of these words, NULL for any. */
static const struct {
    const char *file;
    struct word function;
} function_words[] = {
    {"transformers/transformer_", {"forward", WHOLE, TA_GENERATION_DENOISE, 0}},
    {"unets/unet_", {"forward", WHOLE, TA_GENERATION_DENOISE, 0}},
    {"diffusionmodules/openaimodel", {"forward", WHOLE, TA_GENERATION_DENOISE, 0}},
    {"/wan/modules/model", {"forward", WHOLE, TA_GENERATION_DENOISE, 0}},
    {"pipeline", {"encode_prompt", END, TA_GENERATION_TEXT_ENCODE, 0}},
    {"pipeline", {"encode_text", END, TA_GENERATION_TEXT_ENCODE, 0}},
    {"pipeline", {"encode_image", END, TA_GENERATION_IMAGE_ENCODE, 0}},
    {"pipeline", {"encode_vae_image", END, TA_GENERATION_IMAGE_ENCODE, 0}},
    {"autoencoder", {"decode", WHOLE, TA_GENERATION_VAE_DECODE, 0}},
    {"vae", {"decode", WHOLE, TA_GENERATION_VAE_DECODE, 0}},
    {"vae", {"tiled_decode", WHOLE, TA_GENERATION_VAE_DECODE, 0}},
    {NULL, {"decode_latents", END, TA_GENERATION_VAE_DECODE, 0}},
    {NULL, {"decode_first_stage", END, TA_GENERATION_VAE_DECODE, 0}},
    {"diffusers/", {"from_pretrained", WHOLE, TA_GENERATION_LOAD, 0}},
    {"image_processor", {"postprocess", WHOLE, TA_GENERATION_POST, 0}},
    {"video_processor", {"postprocess_video", WHOLE, TA_GENERATION_POST, 0}},
    {NULL, {"export_to_video", WHOLE, TA_GENERATION_POST, 0}},
};

/* Of "diffusers/…/autoencoder_kl.py(213): decode"; `colon` is at "): ". */
static const struct word *function_word(struct ta_slice name, const char *colon)
{
    const struct ta_slice file = {name.ptr, (size_t)(colon - name.ptr)};
    const struct ta_slice function = ta_slice_from(name, (size_t)(colon + 3 - name.ptr));
    for (size_t i = 0; i < sizeof function_words / sizeof *function_words; i++) {
        const char *const in = function_words[i].file;
        if (fits(function, &function_words[i].function) &&
            (!in || memmem(file.ptr, file.len, in, strlen(in))))
            return &function_words[i].function;
    }
    return NULL;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct generation_name name_by(const struct word *word, enum ta_generation_by by)
{
    if (!word)
        return (struct generation_name){.by = TA_GENERATION_BY_NOTHING};
    return (struct generation_name){.by = by, .phase = word->phase, .level = word->level};
}

struct generation_name generation_name_of(struct ta_slice name)
{
    if (name.len == 0)
        return name_by(NULL, TA_GENERATION_BY_NOTHING);
    if (ta_slice_starts(name, "nn.Module: "))
        return name_by(module_word(name), TA_GENERATION_BY_MODULE);
    const char *const colon = memmem(name.ptr, name.len, "): ", 3);
    if (colon && memmem(name.ptr, name.len, ".py(", 4))
        return name_by(function_word(name, colon), TA_GENERATION_BY_FUNCTION);
    const enum ta_marker marks = ta_marker_of(name);
    if (marks != TA_MARKS_NOTHING || memmem(name.ptr, name.len, "::", 2))
        return name_by(NULL, TA_GENERATION_BY_NOTHING);
    return name_by(range_word(name), TA_GENERATION_BY_RANGE);
}

/* ---- what is made ---------------------------------------------------------------------------- */

/* Parts of names in lower case, '_' as above; of videos first, as "VideoToImage" makes frames. */
static const struct {
    const char *part;
    enum ta_generation_makes makes;
} makes_words[] = {
    {"video", TA_GENERATION_VIDEOS},     {"2d", TA_GENERATION_IMAGES},
    {"3d", TA_GENERATION_VIDEOS},        {"wan", TA_GENERATION_VIDEOS},
    {"motion", TA_GENERATION_VIDEOS},    {"temporal", TA_GENERATION_VIDEOS},
    {"framepack", TA_GENERATION_VIDEOS}, {"ltx", TA_GENERATION_VIDEOS},
    {"mochi", TA_GENERATION_VIDEOS},     {"causal", TA_GENERATION_VIDEOS},
    {"chunk", TA_GENERATION_VIDEOS},     {"image", TA_GENERATION_IMAGES},
    {"flux", TA_GENERATION_IMAGES},      {"sd3", TA_GENERATION_IMAGES},
    {"pixart", TA_GENERATION_IMAGES},    {"sana", TA_GENERATION_IMAGES},
    {"lumina", TA_GENERATION_IMAGES},    {"kolors", TA_GENERATION_IMAGES},
    {"chroma", TA_GENERATION_IMAGES},    {"hidream", TA_GENERATION_IMAGES},
    {"omnigen", TA_GENERATION_IMAGES},   {"photo", TA_GENERATION_IMAGES},
};

enum ta_generation_makes generation_makes_by_name(struct ta_slice name)
{
    char text[READ_MOST];
    const struct ta_slice shown = plain_name(name, text);
    for (size_t i = 0; i < sizeof makes_words / sizeof *makes_words; i++)
        if (has_part(shown, makes_words[i].part))
            return makes_words[i].makes;
    return TA_GENERATION_MAKES_UNKNOWN;
}

/* ---- hints ----------------------------------------------------------------------------------- */

/* Likewise; what trains has a scheduler as well, but does not count at all. */
static const char *const hints[] = {
    "timestep",      "time_embed",      "time_proj",  "scheduler_step",
    "noise_schedul", "noise_level",     "add_noise",  "scale_model_in",
    "guidance",      "classifier_free", "euler_step", "euler_discre",
    "flow_match",    "dpmsolver",       "dpm_solver", "unipc",
    "latents",       "sigmas",          NULL};

bool generation_is_hint(struct ta_slice name)
{
    if (has_part(name, "::"))
        return false;
    char text[READ_MOST];
    const struct ta_slice shown = plain_name(name, text);
    for (const char *const *hint = hints; *hint; hint++)
        if (has_part(shown, *hint))
            return true;
    return has_part(name, "/scheduling_");
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The number after "req", "request", "request_id" and what may lie between; TA_MISSING without. */
static int64_t number_from(struct ta_slice name, size_t at)
{
    static const char *const rests[] = {"uest", "_id", "-id", " id", "id"};
    enum { DIGITS_MOST = 12 };
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        if (ta_slice_starts(ta_slice_from(name, at), rests[i]))
            at += strlen(rests[i]);
    while (at < name.len && strchr("_- .:=#[(", name.ptr[at]) && name.ptr[at])
        at++;
    int64_t number = 0;
    const size_t first = at;
    for (; at < name.len && at - first < DIGITS_MOST && isdigit((unsigned char)name.ptr[at]); at++)
        number = number * 10 + (name.ptr[at] - '0');
    return at > first ? number : TA_MISSING;
}

int64_t generation_request_of(struct ta_slice name)
{
    for (size_t i = 0; i + 3 < name.len; i++) {
        const char first = plain(name.ptr[i]);
        if (first != 'r' || plain(name.ptr[i + 1]) != 'e' || plain(name.ptr[i + 2]) != 'q' ||
            (i > 0 && is_letter(name.ptr[i - 1])))
            continue;
        const int64_t number = number_from(name, i + 3);
        if (number != TA_MISSING)
            return number;
    }
    return TA_MISSING;
}
