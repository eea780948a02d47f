/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peaks of devices: the built-in list, which entry is that of a device, and files of other ones. */
#include "hardware/hardware.h"

#include "base/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct ta_shared shared;
static struct ta_ctx ctx;
static struct ta_hardware_list list;

static int set_up(void **state)
{
    (void)state;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ta_hardware_free(&list);
    return 0;
}

static const struct ta_hardware *find(const char *name, int64_t units, int64_t bytes)
{
    const struct ta_device device = {
        .id = 0, .name = ta_slice_of(name), .multiprocessors = units, .memory_bytes = bytes};
    const char *why = NULL;
    const struct ta_hardware *found = ta_hardware_find(&list, &device, &why);
    assert_true((found == NULL) == (why != NULL));
    return found;
}

static void expect(const char *name, int64_t units, int64_t bytes, const char *entry)
{
    const struct ta_hardware *found = find(name, units, bytes);
    if (!found != !entry || (entry && strcmp(found->name, entry) != 0))
        fail_msg("%s: got %s, expected %s", name, found ? found->name : "none",
                 entry ? entry : "none");
}

/* Names as traces have them. */
static void names_of_devices(void **state)
{
    (void)state;
    assert_int_equal(ta_hardware_load(&ctx, NULL, &list), TA_OK);
    expect("NVIDIA H100 80GB HBM3", 132, 85018279936, "NVIDIA H100 SXM");
    expect("NVIDIA H100 PCIe", 114, 85018279936, "NVIDIA H100 PCIe");
    expect("NVIDIA H100 NVL", 132, 100000000000, "NVIDIA H100 NVL");
    expect("NVIDIA H100", 132, 102085492736, NULL); /* which of them? */
    expect("NVIDIA H200", 132, 150000000000, "NVIDIA H200");
    expect("NVIDIA H200 NVL", 132, 150000000000, "NVIDIA H200 NVL");
    expect("NVIDIA GH200 480GB", 132, 100000000000, "NVIDIA GH200 480GB");
    expect("NVIDIA B200", 148, 191503138816, "NVIDIA B200");
    expect("NVIDIA GB200", 152, 191503138816, "NVIDIA GB200");
    expect("NVIDIA B300 SXM6 AC", 148, 287416123392, "NVIDIA B300");
    expect("NVIDIA A100-SXM4-80GB", 108, 85031714816, "NVIDIA A100 80GB SXM");
    expect("NVIDIA A100 80GB PCIe", 108, 85031714816, "NVIDIA A100 80GB PCIe");
    expect("NVIDIA A100-PG509-200", 108, 42297524224, "NVIDIA A100 40GB");
    expect("NVIDIA A100-SXM4-40GB", 108, 0, NULL); /* 40 or 80 GB? */
    expect("NVIDIA A10", 72, 24000000000, "NVIDIA A10");
    expect("NVIDIA A10G", 80, 24000000000, NULL);
    expect("Tesla V100-SXM2-32GB", 80, 34089730048, "NVIDIA V100 SXM2");
    expect("Tesla V100-DGXS-32GB", 80, 34084028416, "NVIDIA V100 DGX Station");
    expect("NVIDIA L40S", 142, 47000000000, "NVIDIA L40S");
    expect("NVIDIA L40", 142, 47000000000, "NVIDIA L40");
    expect("NVIDIA L4", 58, 23000000000, "NVIDIA L4");
    expect("NVIDIA GeForce RTX 4090", 128, 25000000000, "NVIDIA GeForce RTX 4090");
    expect("NVIDIA GeForce RTX 4090 Laptop GPU", 76, 17000000000, NULL);
    expect("AMD Instinct MI300X VF", 304, 205571227648, "AMD Instinct MI300X");
    expect("AMD Instinct MI325X", 304, 274000000000, "AMD Instinct MI325X");
    expect("AMD Instinct MI355X", 256, 309000000000, "AMD Instinct MI355X");
    expect("AMD Instinct MI250X", 110, 68702699520, "AMD Instinct MI250X");
    expect("AMD Instinct MI250", 104, 68702699520, "AMD Instinct MI250");
    expect("AMD Radeon Graphics", 104, 68702699520, NULL);
    expect("", 304, 206141652992, NULL);
    expect("ARTEMIS", 0, 0, NULL);
}

/* A slice of a device has no peaks of its own in the list. */
static void parts_of_devices(void **state)
{
    (void)state;
    assert_int_equal(ta_hardware_load(&ctx, "auto", &list), TA_OK);
    expect("AMD Instinct MI300X", 38, 25769803776, NULL);
    expect("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 60, 42000000000, NULL);
    expect("AMD Instinct MI300X", 0, 0, "AMD Instinct MI300X"); /* it is not said to be one */
}

/* Links by their makers, one direction; what may be attached in several ways has none. */
static void links_of_devices(void **state)
{
    (void)state;
    assert_int_equal(ta_hardware_load(&ctx, NULL, &list), TA_OK);
    const struct ta_hardware *h100 = find("NVIDIA H100 80GB HBM3", 132, 85018279936);
    assert_true(h100->host_bytes_per_s == 63e9 && h100->peer_bytes_per_s == 450e9);
    const struct ta_hardware *l4 = find("NVIDIA L4", 58, 23000000000);
    assert_true(l4->host_bytes_per_s == 31.5e9 && l4->peer_bytes_per_s == 0);
    const struct ta_hardware *mi250x = find("AMD Instinct MI250X", 110, 68702699520);
    assert_true(mi250x->host_bytes_per_s == 0 && mi250x->peer_bytes_per_s == 0);
    for (size_t i = 0; i < list.entries.n; i++) {
        const struct ta_hardware *h = &list.entries.at[i].hardware;
        assert_true(h->host_bytes_per_s == 0 ||
                    (h->host_bytes_per_s >= 15e9 && h->host_bytes_per_s <= 450e9));
        assert_true(h->peer_bytes_per_s == 0 || h->peer_bytes_per_s > h->host_bytes_per_s);
        assert_true(h->peer_bytes_per_s < h->bytes_per_s);
    }
}

/* Every entry has a source and figures of the size that such figures have. */
static void sound_entries(void **state)
{
    (void)state;
    assert_int_equal(ta_hardware_load(&ctx, NULL, &list), TA_OK);
    assert_true(list.entries.n >= 30);
    for (size_t i = 0; i < list.entries.n; i++) {
        const struct ta_hardware *h = &list.entries.at[i].hardware;
        assert_true(strcmp(h->source, "devices.yaml") != 0);
        assert_true(h->bytes_per_s >= 2e11 && h->bytes_per_s <= 1e13);
        assert_true(list.entries.at[i].match.n > 0);
        const double *peak = h->flop_per_s;
        assert_true(peak[TA_PEAK_FP32] >= 5e12 && peak[TA_PEAK_FP32] <= 3e14);
        assert_true(peak[TA_PEAK_FP16] >= 2 * peak[TA_PEAK_FP32] - 1e12);
        assert_true(peak[TA_PEAK_FP8] == 0 || peak[TA_PEAK_FP8] >= 1.9 * peak[TA_PEAK_FP16]);
        assert_true(peak[TA_PEAK_FP4] == 0 || peak[TA_PEAK_FP4] >= 1.9 * peak[TA_PEAK_FP8]);
        assert_true(peak[TA_PEAK_TF32] == 0 || peak[TA_PEAK_TF32] >= peak[TA_PEAK_FP32]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(h->name, list.entries.at[k].hardware.name);
    }
}

static void by_name(void **state)
{
    (void)state;
    assert_int_equal(ta_hardware_load(&ctx, "nvidia l40s", &list), TA_OK);
    expect("NVIDIA H100 80GB HBM3", 132, 85018279936, "NVIDIA L40S");
    expect("", 0, 0, "NVIDIA L40S");
    ta_hardware_free(&list);
    assert_int_equal(ta_hardware_load(&ctx, "NVIDIA L40T", &list), TA_ERR_USAGE);
    assert_non_null(strstr(ta_ctx_causes(&ctx), "did you mean 'NVIDIA L40"));
}

/* ---- files --------------------------------------------------------------------------------- */

static enum ta_status read_text(const char *text)
{
    ta_hardware_free(&list);
    return ta_hardware_read(&ctx, "d.yaml", ta_slice_of(text), &list);
}

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/test_hardware_XXXXXX";
    static const char text[] = "devices:\n- name: Mine\n  match: [MI300X]\n  bandwidth: 1e12\n"
                               "  peaks: {bf16: 2e14, fp32: 50000000000000}\n";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(fd);
    assert_int_equal(ta_hardware_load(&ctx, path, &list), TA_OK);
    unlink(path);
    const struct ta_hardware *mine = find("AMD Instinct MI300X", 304, 206141652992);
    assert_string_equal(mine->name, "Mine");
    assert_string_equal(mine->source, path);
    assert_true(mine->flop_per_s[TA_PEAK_BF16] == 2e14 && mine->flop_per_s[TA_PEAK_FP32] == 5e13);
    assert_true(mine->flop_per_s[TA_PEAK_FP16] == 0 && mine->bytes_per_s == 1e12);
    expect("NVIDIA B200", 148, 191503138816, "NVIDIA B200"); /* the others stay */
}

/* An entry without words is for every device, even without a name. */
static void entries_for_all(void **state)
{
    (void)state;
    assert_int_equal(read_text("devices: [{name: Any, bandwidth: 1e12}]"), TA_OK);
    list.forced = SIZE_MAX;
    expect("", 0, 0, "Any");
    expect("ARTEMIS", 3, 0, "Any");
}

static void unusable_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } cases[] = {
        {"devices:\n- name: A\n  peaks: {bf17: 1e12}\n", "d.yaml:3:11: Unknown key: bf17; did you"},
        {"devices:\n- name: A\n  bandwith: 1e12\n", "d.yaml:3:3: Unknown key: bandwith; did you"},
        {"devices:\n- name: A\n  bandwidth: fast\n", "d.yaml:3:14: bandwidth is a text"},
        {"devices:\n- name: A\n  bandwidth: -1\n", "d.yaml:3:14: Expected a number above 0"},
        {"devices:\n- name: A\n  bandwidth: .inf\n", "d.yaml:3:14: "},
        {"devices:\n- name: A\n  match: H100\n", "d.yaml:3:10: match is a text"},
        {"devices:\n- name: A\n  match: ['']\n", "d.yaml:3:11: Expected a word"},
        {"devices:\n- name: A\n  match: [a,b,c,d,e,f,g,h,i]\n", "at most 8"},
        {"devices:\n- name: A\n  memory_bytes: [1]\n", "the least and the most"},
        {"devices:\n- name: A\n  peaks: 3\n", "a map of types"},
        {"devices:\n- bandwidth: 1\n", "d.yaml:2:3: The device has no name"},
        {"devices:\n- A100\n", "d.yaml:2:3: Expected a device"},
        {"devices: 3\n", "nothing but a list of devices"},
        {"cards: []\n", "nothing but a list of devices"},
        {"- A\n", "nothing but a list of devices"},
        {"", "nothing but a list of devices"},
        {"devices: []\nmore: 1\n", "nothing but a list of devices"},
        {"devices: [", "d.yaml:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_text(cases[i].text), TA_ERR_USAGE);
        if (!strstr(ta_ctx_causes(&ctx), cases[i].place))
            fail_msg("%s\nexpected %s", ta_ctx_causes(&ctx), cases[i].place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_of_devices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_of_devices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_of_devices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sound_entries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unusable_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
