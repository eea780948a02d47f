/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FLOPs and bytes of operators, computed by hand; shapes and arguments that make no sense; which
 * operator a kernel belongs to; and what the roof is. */
#include "report_fixture.h"

#define BF16 "'c10::BFloat16'"
#define BF16_3 BF16 "," BF16 "," BF16

/* One call that launches one kernel of 10 µs. */
struct call {
    const char *op, *dims, *types, *values; /* insides of the lists; NULL: not recorded */
    int64_t flop, bytes;                    /* TA_MISSING: none; -1: not looked at */
    const char *shape, *lack;               /* the latter: why nothing is known */
};

static void add_list(struct text *json, const char *key, const char *inside)
{
    if (inside)
        text_add(json, ",'%s':[%s]", key, inside);
}

static void add_call(struct text *json, const struct call *call, int number)
{
    const int at = 1000 * number;
    text_add(json,
             "{'ph':'X','cat':'cpu_op','name':'%s','pid':1,'tid':1,'ts':%d,'dur':50,"
             "'args':{'External id':1",
             call->op, at);
    add_list(json, "Input Dims", call->dims);
    add_list(json, "Input type", call->types);
    add_list(json, "Concrete Inputs", call->values);
    text_add(json,
             "}},{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,'tid':1,'ts':%d,"
             "'dur':5,'args':{'correlation':%d}},"
             "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':%d,'dur':10,"
             "'args':{'device':0,'correlation':%d}},",
             at + 10, number, at + 100, number);
}

static struct ta_slice text_at(const struct ta_table *table, size_t row, const char *column)
{
    return ta_table_cell(table, row, ta_table_column(table, column))->text;
}

static void expect_number(const struct call *call, const struct ta_table *table, const char *column,
                          int64_t expected)
{
    const struct ta_cell *cell = ta_table_cell(table, 0, ta_table_column(table, column));
    if (expected == -1)
        return;
    if (expected == TA_MISSING ? cell->kind != TA_CELL_NULL
                               : cell->kind != TA_CELL_INT || cell->i != expected)
        fail_msg("%s(%s): %s is %lld, expected %lld", call->op, call->dims, column,
                 (long long)(cell->kind == TA_CELL_INT ? cell->i : -1), (long long)expected);
}

static void expect_call(const struct call *call)
{
    struct text json = {0};
    add_call(&json, call, 1);
    struct ta_report *report = report_on_events(json.at);
    const struct ta_table *known = ta_report_table(report, "roofline.by_op");
    const struct ta_table *unknown = ta_report_table(report, "roofline.unknown");
    if (call->lack) {
        if (known || !unknown ||
            !ta_slice_equal(text_at(unknown, 0, "reason"), ta_slice_of(call->lack)))
            fail_msg("%s(%s): expected %s, got %.*s", call->op, call->dims, call->lack,
                     unknown ? (int)text_at(unknown, 0, "reason").len : 5,
                     unknown ? text_at(unknown, 0, "reason").ptr : "a row");
    } else {
        if (!known)
            fail_msg("%s(%s): no row, but %.*s", call->op, call->dims,
                     (int)text_at(unknown, 0, "reason").len, text_at(unknown, 0, "reason").ptr);
        assert_int_equal(known->n_rows, 1);
        expect_number(call, known, "flop", call->flop);
        expect_number(call, known, "bytes", call->bytes);
        if (call->shape && !ta_slice_equal(text_at(known, 0, "shape"), ta_slice_of(call->shape)))
            fail_msg("%s: shape is %.*s, expected %s", call->op,
                     (int)text_at(known, 0, "shape").len, text_at(known, 0, "shape").ptr,
                     call->shape);
    }
    ta_report_free(report);
    text_free(&json);
}

#define EXPECT_ALL(calls)                                                                          \
    for (size_t i = 0; i < sizeof(calls) / sizeof *(calls); i++)                                   \
    expect_call(&(calls)[i])

/* ---- products ------------------------------------------------------------------------------ */

static void products(void **state)
{
    (void)state;
    static const struct call calls[] = {
        /* 2·4·5·6 = 240; (4·6 + 6·5 + 4·5)·4 = 296 */
        {"aten::mm", "[4,6],[6,5]", "'float','float'", "'',''", 240, 296, "M=4 N=5 K=6", NULL},
        /* A bias is M·N more, and read, unless beta is 0. */
        {"aten::addmm", "[5],[4,6],[6,5],[],[]", "'float','float','float','Scalar','Scalar'",
         "'','','','1','1'", 260, 316, "M=4 N=5 K=6 + bias", NULL},
        {"aten::addmm", "[5],[4,6],[6,5],[],[]", "'float','float','float','Scalar','Scalar'",
         "'','','','0','1'", 240, 296, "M=4 N=5 K=6", NULL},
        /* Each tensor counts in its own type: 24·2 + 30·4 + 20·4 = 248. */
        {"aten::mm", "[4,6],[6,5]", BF16 ",'float'", "'',''", 240, 248, NULL, NULL},
        {"aten::bmm", "[3,4,6],[3,6,5]", BF16 "," BF16, "'',''", 720, 3 * 74 * 2, "B=3 M=4 N=5 K=6",
         NULL},
        {"aten::baddbmm", "[3,4,5],[3,4,6],[3,6,5],[],[]", BF16_3 ",'Scalar','Scalar'",
         "'','','','1','1'", 780, 3 * 94 * 2, NULL, NULL},
        /* Batches are broadcast: 2·3 of 4×6 by 6×5. */
        {"aten::matmul", "[2,1,4,6],[3,6,5]", "'float','float'", "'',''", 6 * 240,
         (48 + 90 + 120) * 4, "B=6 M=4 N=5 K=6", NULL},
        {"aten::mv", "[4,6],[6]", "'double','double'", "'',''", 48, (24 + 6 + 4) * 8, NULL, NULL},
        /* Weights are N by K, whatever stands before the last size of the input. */
        {"aten::linear", "[2,4,6],[5,6],[5]", "'float','float','float'", "'','',''", 480 + 40,
         (48 + 30 + 40 + 5) * 4, "M=8 N=5 K=6 + bias", NULL},
        /* fp8 in, bf16 out, unless the argument says fp32 (6). */
        {"aten::_scaled_mm", "[4,6],[6,5],[],[],[],[],[],[]",
         "'c10::Float8_e4m3fn','c10::Float8_e4m3fn','float','float','','','Scalar','Scalar'",
         "'','','','','','','','True'", 240, 24 + 30 + 40, NULL, NULL},
        {"aten::_scaled_mm", "[4,6],[6,5],[],[],[],[],[],[]",
         "'c10::Float8_e4m3fn','c10::Float8_e4m3fn','float','float','','','Scalar','Scalar'",
         "'','','','','','','6','True'", 240, 24 + 30 + 80, NULL, NULL},
        /* Two values of fp4 in a byte: K is 12. */
        {"aten::_scaled_mm", "[4,6],[6,5],[],[],[],[],[],[]",
         "'c10::Float4_e2m1fn_x2','c10::Float4_e2m1fn_x2','float','float','','','Scalar','Scalar'",
         "'','','','','','','15','True'", 480, 24 + 30 + 40, "M=4 N=5 K=12", NULL},
        {"aten::_int_mm", "[4,6],[6,5]", "'signed char','signed char'", "'',''", 240, 24 + 30 + 80,
         NULL, NULL},
        /* Rows shared out between two experts, each row multiplied once. */
        {"aten::_grouped_mm", "[8,6],[2,6,5],[2]", BF16 "," BF16 ",'int'", "'','',''", 480,
         (48 + 60 + 40) * 2, "M=8 N=5 K=6", NULL},
        {"aten::mm", "[4,6],[7,5]", "'float','float'", "'',''", 0, 0, NULL, "unusable_shapes"},
        {"aten::mm", "[4,-6],[-6,5]", "'float','float'", "'',''", 0, 0, NULL, "unusable_shapes"},
        {"aten::mm", "['s0',6],[6,5]", "'float','float'", "'',''", 0, 0, NULL, "unusable_shapes"},
        {"aten::mm", "[4,6]", "'float'", "''", 0, 0, NULL, "unusable_shapes"},
        {"aten::mm", "[4,6],[6,5]", "'float','Tensor'", "'',''", 0, 0, NULL, "no_types"},
        {"aten::mm", "[4,6],[6,5]", NULL, NULL, 0, 0, NULL, "no_types"},
        {"aten::mm", NULL, NULL, NULL, 0, 0, NULL, "no_shapes"},
        /* 2·2^62 does not fit; neither does a size of more than 64 bits. */
        {"aten::mm", "[2147483648,1],[1,2147483648]", "'float','float'", "'',''", 0, 0, NULL,
         "too_large"},
        {"aten::mm", "[4294967296,4294967296],[4294967296,4294967296]", "'float','float'", "'',''",
         0, 0, NULL, "too_large"},
        {"aten::mm", "[99999999999999999999,1],[1,1]", "'float','float'", "'',''", 0, 0, NULL,
         "unusable_shapes"},
        /* 2^62 FLOPs and 2^33 + 2^62 bytes, which fit. */
        {"aten::mm", "[2147483648,1],[1,1073741824]", "'bool','bool'", "'',''",
         INT64_C(4611686018427387904),
         INT64_C(2305843009213693952) + INT64_C(2147483648) + INT64_C(1073741824), NULL, NULL},
        {"aten::mm", "[0,6],[6,5]", "'float','float'", "'',''", 0, 120, NULL, NULL},
    };
    EXPECT_ALL(calls);
}

/* ---- convolutions -------------------------------------------------------------------------- */

static void convolutions(void **state)
{
    (void)state;
#define CONV_TYPES_OF(bias)                                                                        \
    "'float','float','" bias "','ScalarList','ScalarList','ScalarList','Scalar','ScalarList',"     \
    "'Scalar'"
#define CONV_TYPES CONV_TYPES_OF("")
#define CONV_REST ",[],[],[],[],[],[]"
    static const struct call calls[] = {
        /* 2·(2·4·8·8)·(3·3·3) = 27648; (2·3·8·8 + 4·27 + 512)·4 */
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1'", 27648, (384 + 108 + 512) * 4,
         "2x3x8x8 * 4x3x3x3 pad=1", NULL},
        /* Nine arguments, and a bias among them: one more for each element. */
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[4]" CONV_REST, CONV_TYPES_OF("float"),
         "'','','','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1'", 27648 + 512,
         (384 + 108 + 512 + 4) * 4, NULL, NULL},
        /* Stride 2: floor((8 + 2 - 2 - 1) / 2) + 1 = 4 in each direction. */
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[2, 2]','[1, 1]','[1, 1]','False','[0, 0]','1'", 2 * 128 * 27,
         (384 + 108 + 128) * 4, "2x3x8x8 * 4x3x3x3 stride=2 pad=1", NULL},
        /* Dilation 2: floor((8 - 4 - 1) / 1) + 1 = 4. */
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[0, 0]','[2, 2]','False','[0, 0]','1'", 2 * 128 * 27, -1, NULL, NULL},
        /* One number stands for all directions, two for one each. */
        {"aten::convolution", "[2,3,8,8],[4,3,3,1],[]" CONV_REST, CONV_TYPES,
         "'','','','[1]','[1, 0]','[1]','False','[0]','1'", 2 * 512 * 9, -1,
         "2x3x8x8 * 4x3x3x1 pad=1x0", NULL},
        /* Two groups: the filter has half the channels already. */
        {"aten::convolution", "[2,4,8,8],[6,2,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','2'", 2 * (2 * 6 * 64) * 18, -1,
         "2x4x8x8 * 6x2x3x3 pad=1 groups=2", NULL},
        /* Depthwise. */
        {"aten::convolution", "[8,1024,32,32],[1024,1,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1024'",
         INT64_C(2) * 8 * 1024 * 1024 * 9, -1, NULL, NULL},
        /* Transposed: 2·elements of the input·2·3·3, (4 - 1)·2 - 2 + 2 + 1 + 1 = 8 in each
         * direction, so the output has 2·2·8·8 elements. */
        {"aten::convolution", "[2,3,4,4],[3,2,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[2, 2]','[1, 1]','[1, 1]','True','[1, 1]','1'", 2 * 96 * 18,
         (96 + 54 + 256) * 4, "2x3x4x4 * 3x2x3x3 stride=2 pad=1 transposed", NULL},
        /* One and three dimensions. */
        {"aten::convolution", "[2,3,8],[4,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1]','[1]','[1]','False','[0]','1'", 2 * 64 * 9, -1, NULL, NULL},
        {"aten::convolution", "[1,3,4,8,8],[4,3,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1, 1]','[1, 1, 1]','[1, 1, 1]','False','[0, 0, 0]','1'", 2 * (4 * 256) * 81,
         -1, NULL, NULL},
        /* Input and weight of different types. */
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST,
         BF16 ",'float','','ScalarList','ScalarList','ScalarList','Scalar','ScalarList','Scalar'",
         "'','','','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1'", 27648,
         384 * 2 + (108 + 512) * 4, NULL, NULL},
        /* Padding before stride. */
        {"aten::miopen_convolution", "[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[]", CONV_TYPES,
         "'','','','[1, 1]','[2, 2]','[1, 1]','1','False','False'", 2 * 128 * 27, -1, NULL, NULL},
        {"aten::cudnn_convolution", "[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[]", CONV_TYPES,
         "'','','[1, 1]','[2, 2]','[1, 1]','1','False','False','True'", 2 * 128 * 27, -1, NULL,
         NULL},
        {"aten::_conv_depthwise2d", "[2,4,8,8],[4,1,3,3],[],[],[],[],[]", CONV_TYPES,
         "'','','[3, 3]','','[1, 1]','[1, 1]','[1, 1]'", 2 * (2 * 4 * 64) * 9, -1, NULL, NULL},
        /* Backward: a product for each gradient, one per element for the bias; its bytes count. */
        {"aten::convolution_backward", "[2,4,8,8],[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]",
         "'float','float','float','ScalarList','ScalarList','ScalarList','ScalarList','Scalar',"
         "'ScalarList','Scalar','ScalarList'",
         "'','','','[4]','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1','[True, True, True]'",
         2 * 27648 + 512, (512 + 2 * 384 + 2 * 108 + 4) * 4,
         "2x3x8x8 * 4x3x3x3 pad=1 d(input, weight, bias)", NULL},
        {"aten::convolution_backward", "[2,4,8,8],[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]",
         "'float','float','float','ScalarList','ScalarList','ScalarList','ScalarList','Scalar',"
         "'ScalarList','Scalar','ScalarList'",
         "'','','','[0]','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1','[False, True, False]'",
         27648, (512 + 384 + 108) * 4, NULL, NULL},
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST, CONV_TYPES, NULL, 0, 0, NULL,
         "no_arguments"},
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','s0','[1, 1]','[1, 1]','False','[0, 0]','1'", 0, 0, NULL, "no_arguments"},
        {"aten::convolution", "[2,3,8,8],[4,2,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1'", 0, 0, NULL, "unusable_shapes"},
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[0, 0]','[1, 1]','[1, 1]','False','[0, 0]','1'", 0, 0, NULL, "unusable_shapes"},
        {"aten::convolution", "[2,3,2,2],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[0, 0]','[1, 1]','False','[0, 0]','1'", 0, 0, NULL, "unusable_shapes"},
        {"aten::convolution", "[2,3,8,8],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[9000000000000000000, 1]','[1, 1]','False','[0, 0]','1'", 0, 0, NULL,
         "unusable_shapes"},
        {"aten::convolution", "[4294967296,3,1048576,1048576],[4,3,3,3],[]" CONV_REST, CONV_TYPES,
         "'','','','[1, 1]','[1, 1]','[1, 1]','False','[0, 0]','1'", 0, 0, NULL, "too_large"},
    };
    EXPECT_ALL(calls);
}

/* ---- templates of the compiler, mixtures of experts ----------------------------------------- */

static void templates(void **state)
{
    (void)state;
#define FOUR BF16_3 "," BF16
#define NONE "'','','',''"
    static const struct call calls[] = {
        {"triton_tem_fused_mm_0", "[4,6],[6,5],[4,5]", BF16_3, "'','',''", 240, (24 + 30 + 20) * 2,
         "M=4 N=5 K=6", NULL},
        /* Rows in two sizes, weights as they were made, and a bias. */
        {"triton_tem_fused_addmm_1", "[5],[2,2,6],[5,6],[4,5]", FOUR, NONE, 240, -1, "M=4 N=5 K=6",
         NULL},
        /* What is added has the sizes of the result. */
        {"triton_tem_fused_add_mm_2", "[4,6],[6,4],[4,4],[4,4]", FOUR, NONE, 192, -1, NULL, NULL},
        /* Two pairs that could make it with different K. */
        {"triton_tem_fused_mm_3", "[4,6],[6,5],[4,3],[3,5],[4,5]", FOUR "," BF16, NONE ",''", 0, 0,
         NULL, "unusable_shapes"},
        {"triton_tem_fused_mm_4", "[4,7],[6,5],[4,5]", BF16_3, "'','',''", 0, 0, NULL,
         "unusable_shapes"},
        {"triton_tem_fused_bmm_5", "[2,4,6],[2,6,5],[2,4,5]", BF16_3, "'','',''", 0, 0, NULL,
         "no_formula"},
        {"triton_tem_fused_flex_attention_6", "[2,4,6],[2,6,5],[2,4,5]", BF16_3, "'','',''", 0, 0,
         NULL, "no_formula"},
        /* Two groups, a stride that only what comes out shows. */
        {"triton_tem_fused_convolution_7", "[2,4,8,8],[6,2,3,3],[2,6,4,4]", BF16_3, "'','',''",
         2 * (2 * 6 * 16) * 18, -1, "2x4x8x8 * 6x2x3x3 = 2x6x4x4", NULL},
        {"triton_tem_fused_convolution_8", "[2,4,8,8],[6,3,3,3],[2,6,4,4]", BF16_3, "'','',''", 0,
         0, NULL, "unusable_shapes"},
    };
    EXPECT_ALL(calls);
}

static void experts(void **state)
{
    (void)state;
#define EXPERT_TYPES FOUR ",'int',''"
#define EXPERTS_OF(rows) rows ",[2,10,6],[2,6,5],[16,2],[16,2]"
    static const struct call calls[] = {
        /* 16·2 pairs through 2·6·10 and 2·5·6. */
        {"aiter::fused_moe_", EXPERTS_OF("[16,6]") ",[]", EXPERT_TYPES, NONE ",'',''",
         INT64_C(32) * (120 + 60), (96 + 120 + 60 + 96) * 2, "E=2 top 2 M=16 N=5 K=6", NULL},
        {"vllm::inplace_fused_experts", EXPERTS_OF("[16,6]"), FOUR ",'long'", NONE ",''",
         INT64_C(32) * (120 + 60), -1, NULL, NULL},
        /* Which experts are here is not recorded. */
        {"aiter::fused_moe_", EXPERTS_OF("[16,6]") ",[4]", FOUR ",'int','int'", NONE ",'',''", 0, 0,
         NULL, "no_lengths"},
        /* Few rows leave some weights alone. */
        {"aiter::fused_moe_", "[1,6],[2,10,6],[2,6,5],[1,2],[1,2],[]", EXPERT_TYPES, NONE ",'',''",
         0, 0, NULL, "no_lengths"},
        {"aiter::fused_moe_", EXPERTS_OF("[16,6]") ",[]",
         BF16 ",'c10::Float8_e4m3fn','c10::Float8_e4m3fn'," BF16 ",'int',''", NONE ",'',''", 0, 0,
         NULL, "no_types"},
        {"aiter::fused_moe_", EXPERTS_OF("[16,7]") ",[]", EXPERT_TYPES, NONE ",'',''", 0, 0, NULL,
         "unusable_shapes"},
    };
    EXPECT_ALL(calls);
}

/* ---- attention ----------------------------------------------------------------------------- */

static void attention(void **state)
{
    (void)state;
#define FLASH "aten::_flash_attention_forward"
#define FLASH_TYPES BF16_3 ",'','','Scalar','Scalar','Scalar','Scalar','Scalar','','','','',''"
#define FLASH_REST ",[],[],[],[],[],[],[],[],[],[],[],[]"
#define SDPA_TYPES BF16_3 ",'Scalar','Scalar','Scalar','Scalar'"
    static const struct call calls[] = {
        /* Heads before lengths: 2·2·3·16·16·(8 + 8) = 49152; 4 tensors of 768 values. */
        {"aten::_scaled_dot_product_flash_attention",
         "[2,3,16,8],[2,3,16,8],[2,3,16,8],[],[],[],[]", SDPA_TYPES,
         "'','','','0.','False','False',''", 49152, 4 * 768 * 2, "B=2 H=3 Nq=16 Nk=16 d=8", NULL},
        /* Causal is half of a square. */
        {"aten::_scaled_dot_product_flash_attention",
         "[2,3,16,8],[2,3,16,8],[2,3,16,8],[],[],[],[]", SDPA_TYPES,
         "'','','','0.','True','False',''", 24576, 4 * 768 * 2, "B=2 H=3 Nq=16 Nk=16 d=8 causal",
         NULL},
        /* fp32 has four bytes. */
        {"aten::_scaled_dot_product_efficient_attention",
         "[2,3,16,8],[2,3,16,8],[2,3,16,8],[],[],[],[],[]",
         "'float','float','float','','Scalar','Scalar','Scalar',''",
         "'','','','','False','0.','False',''", 49152, 4 * 768 * 4, NULL, NULL},
        /* A mask is read, too. */
        {"aten::_scaled_dot_product_efficient_attention",
         "[2,3,16,8],[2,3,16,8],[2,3,16,8],[1,1,16,16],[],[],[],[]",
         BF16_3 "," BF16 ",'Scalar','Scalar','Scalar',''", "'','','','','False','0.','False',''",
         49152, (4 * 768 + 256) * 2, NULL, NULL},
        /* Lengths before heads; 6 heads of queries share 2 of keys and values. */
        {FLASH, "[2,16,6,8],[2,16,2,8],[2,16,2,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','16','16','0.','False','False','0.5','','','',''", 2 * 49152,
         (2 * 1536 + 2 * 512) * 2, "B=2 H=6/2 Nq=16 Nk=16 d=8", NULL},
        /* 512 heads of 4 tokens are 4 heads of 512. */
        {FLASH, "[1,4,512,8],[1,4,512,8],[1,4,512,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','512','512','0.','False','False','0.5','','','',''", 2 * 4 * 262144 * 16,
         4 * 16384 * 2, "B=1 H=4 Nq=512 Nk=512 d=8", NULL},
        /* Causal with lengths that differ ends in the last corner: 4·16 - 4·4/2 = 56 pairs, or
         * starts in the first: 4·4/2 = 8 pairs. */
        {FLASH, "[1,4,1,8],[1,16,1,8],[1,16,1,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','4','16','0.','True','False','0.5','','','',''", 2 * 56 * 16, -1, NULL,
         NULL},
        {"aten::_scaled_dot_product_efficient_attention",
         "[1,1,4,8],[1,1,16,8],[1,1,16,8],[],[],[],[],[]",
         BF16_3 ",'','Scalar','Scalar','Scalar',''", "'','','','','False','0.','True',''",
         2 * 8 * 16, -1, NULL, NULL},
        /* More queries than keys: 16·4 - 4·4/2 from the first corner, 4·4/2 to the last. */
        {"aten::_scaled_dot_product_efficient_attention",
         "[1,1,16,8],[1,1,4,8],[1,1,4,8],[],[],[],[],[]",
         BF16_3 ",'','Scalar','Scalar','Scalar',''", "'','','','','False','0.','True',''",
         2 * 56 * 16, -1, NULL, NULL},
        {FLASH, "[1,16,1,8],[1,4,1,8],[1,4,1,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','16','4','0.','True','False','0.5','','','',''", 2 * 8 * 16, -1, NULL,
         NULL},
        /* A window of 2 keys before and none after the own place: 1 + 2 + 14·3 = 45 pairs. */
        {FLASH, "[1,16,1,8],[1,16,1,8],[1,16,1,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','16','16','0.','True','False','0.5','2','0','',''", 2 * 45 * 16, -1,
         "B=1 H=1 Nq=16 Nk=16 d=8 causal window=2/0", NULL},
        /* One on either side: 2 + 14·3 + 2 = 46 pairs. */
        {FLASH, "[1,16,1,8],[1,16,1,8],[1,16,1,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','16','16','0.','False','False','0.5','1','1','',''", 2 * 46 * 16, -1, NULL,
         NULL},
        /* Keys and values of different depth: 2·256·(8 + 4). */
        {FLASH, "[1,16,1,8],[1,16,1,8],[1,16,1,4]" FLASH_REST, FLASH_TYPES,
         "'','','','','','16','16','0.','False','False','0.5','','','',''", 2 * 256 * 12,
         (128 + 128 + 64 + 64) * 2, "B=1 H=1 Nq=16 Nk=16 d=8/4", NULL},
        /* Sequences behind one another: three of 16 tokens are as long as the longest. */
        {FLASH, "[48,1,8],[48,1,8],[48,1,8],[4],[4],[],[],[],[],[],[],[],[],[],[]",
         BF16_3 ",'int','int','Scalar','Scalar','Scalar','Scalar','Scalar','','','','',''",
         "'','','','','','16','16','0.','False','False','0.5','','','',''", 3 * 2 * 256 * 16, -1,
         "B=3 H=1 Nq=16 Nk=16 d=8", NULL},
        {FLASH, "[40,1,8],[40,1,8],[40,1,8],[4],[4],[],[],[],[],[],[],[],[],[],[]",
         BF16_3 ",'int','int','Scalar','Scalar','Scalar','Scalar','Scalar','','','','',''",
         "'','','','','','16','16','0.','False','False','0.5','','','',''", 0, 0, NULL,
         "no_lengths"},
        /* Backward: 2·256·(3·8 + 2·8); gradients of all, and what is read again. */
        {"aten::_scaled_dot_product_flash_attention_backward",
         "[1,1,16,8],[1,1,16,8],[1,1,16,8],[1,1,16,8],[1,1,16,8],[1,1,16],[],[],[],[],[],[],[],[]",
         BF16_3 "," BF16 "," BF16 ",'float','','','Scalar','Scalar','Scalar','Scalar','long',"
                "'long'",
         "'','','','','','','','','16','16','0.','False','',''", 2 * 256 * 40, 8 * 128 * 2, NULL,
         NULL},
        {"flash_attn::_flash_attn_forward", "[1,16,1,8],[1,16,1,8],[1,16,1,8],[],[],[],[],[]",
         BF16_3 ",'Scalar','Scalar','Scalar','Scalar','Scalar'",
         "'','','','0.','0.5','True','-1','-1'", 256 * 16, -1, NULL, NULL},
        {FLASH, "[2,16,5,8],[2,16,2,8],[2,16,2,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','16','16','0.','False','False','0.5','','','',''", 0, 0, NULL,
         "unusable_shapes"},
        {FLASH, "[2,16,2,8],[2,16,2,8],[2,16,2,8]" FLASH_REST, FLASH_TYPES, NULL, 0, 0, NULL,
         "no_arguments"},
        {FLASH, "[1,4294967296,1,8],[1,4294967296,1,8],[1,4294967296,1,8]" FLASH_REST, FLASH_TYPES,
         "'','','','','','1','1','0.','True','False','0.5','3','3','',''", 0, 0, NULL, "too_large"},
    };
    EXPECT_ALL(calls);
}

/* ---- one pass ------------------------------------------------------------------------------ */

static void passes(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {"aten::add", "[4,1,3],[5,3],[]", "'float','float','Scalar'", "'','','1'", 60,
         (12 + 15 + 60) * 4, "4x5x3", NULL},
        /* In place, with a number that is a tensor without sizes. */
        {"aten::mul_", "[4,3],[]", BF16 ",'double'", "'',''", 12, 12 * 2 + 8 + 12 * 2, NULL, NULL},
        /* bf16 and fp16 make fp32. */
        {"aten::add", "[4],[4],[]", BF16 ",'c10::Half','Scalar'", "'','','1'", 4, 8 + 8 + 16, NULL,
         NULL},
        {"aten::eq", "[4,3],[]", "'long int','Scalar'", "'','1'", 0, 12 * 8 + 12, NULL, NULL},
        {"aten::div", "[4],[]", "'long int','Scalar'", "'','2'", 0, 4 * 8 + 4 * 4, NULL, NULL},
        {"aten::copy_", "[4,3],[4,3],[]", "'float'," BF16 ",'Scalar'", "'','','False'", 0,
         12 * 4 + 12 * 2, NULL, NULL},
        {"aten::fill_", "[4,3],[]", "'float','Scalar'", "'','0'", 0, 48, NULL, NULL},
        /* 24 in; 4, 6 or 1 out. */
        {"aten::sum", "[4,6],[],[],[]", "'float','ScalarList','Scalar',''", "'','[1]','False',''",
         24, 28 * 4, NULL, NULL},
        {"aten::sum", "[4,6],[],[],[]", "'float','ScalarList','Scalar',''", "'','[-2]','False',''",
         24, 30 * 4, NULL, NULL},
        {"aten::sum", "[4,6],[],[],[]", "'float','ScalarList','Scalar',''",
         "'','[0, 1]','False',''", 24, 25 * 4, NULL, NULL},
        {"aten::mean", "[4,6],[],[],[]", "'float','ScalarList','Scalar',''", "'','[]','False',''",
         24, 25 * 4, NULL, NULL},
        {"aten::max", "[4,6],[],[]", "'float','Scalar','Scalar'", "'','1','False'", 24, 28 * 4,
         NULL, NULL},
        {"aten::sum", "[4,6],[],[],[]", "'float','ScalarList','Scalar',''", NULL, 0, 0, NULL,
         "no_arguments"},
        {"aten::cumsum", "[4,6],[],[]", "'float','Scalar',''", "'','1',''", 24, 48 * 4, NULL, NULL},
        {"aten::native_layer_norm", "[4,6],[],[6],[6],[]",
         BF16 ",'ScalarList'," BF16 "," BF16 ",'Scalar'", "'','[6]','','','1e-5'", 24 * 7,
         (48 + 12) * 2, NULL, NULL},
        {"aten::native_batch_norm", "[2,3,4],[3],[3],[3],[3],[],[],[]",
         BF16 ",'float','float','float','float','Scalar','Scalar','Scalar'",
         "'','','','','','True','0.1','1e-5'", 24 * 7, 48 * 2 + 12 * 4, NULL, NULL},
        {"aten::_softmax", "[4,6],[],[]", "'float','Scalar','Scalar'", "'','-1','False'", 24 * 5,
         48 * 4, NULL, NULL},
        {"triton_poi_fused_add_0", "[4,6],[4,6],[]", BF16 "," BF16 ",'Scalar'", "'','','24'",
         TA_MISSING, 96, "4x6", NULL},
        {"aten::add", "[4],[5],[]", "'float','float','Scalar'", "'','','1'", 0, 0, NULL,
         "unusable_shapes"},
        {"aten::cat", "[[1,2],[3,2]],[]", "'TensorList','Scalar'", "'','0'", 0, 0, NULL,
         "no_formula"},
        {"aten::relu", "[[1,2],[3,2]]", "'TensorList'", "''", 0, 0, NULL, "unusable_shapes"},
        {"aten::relu", "[3037000500,3037000500]", "'double'", "''", 0, 0, NULL, "too_large"},
        {"my::op", "[4],[5]", "'float','float'", "'',''", 0, 0, NULL, "no_formula"},
    };
    EXPECT_ALL(calls);
}

/* Whatever stands in the texts, nothing is read beyond them. */
static void hostile_texts(void **state)
{
    (void)state;
    static const char *const dims[] = {"[",
                                       "[[",
                                       "[4,",
                                       "[4]]",
                                       "4",
                                       "'x'",
                                       "null",
                                       "[4.5]",
                                       "[1e9]",
                                       "{'a':1}",
                                       "[[[[[[[[[[",
                                       "[-]",
                                       "[1,1,1,1,1,1,1,1,1]",
                                       "[4 5]",
                                       "['\\'']"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct text json = {0};
        const struct call call = {
            .op = "aten::mm", .dims = dims[i], .types = dims[i], .values = dims[i]};
        add_call(&json, &call, 1);
        text_add(&json, "{}]}");
        struct text whole = {0};
        text_add(&whole, "{\"traceEvents\":[%s", json.at);
        for (char *c = whole.at; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        struct reading r;
        fixture_read_text(&fixture, whole.at, &r);
        if (r.status == TA_OK)
            ta_report_free(fixture_report(&fixture, &r, 1));
        reading_free(&r);
        text_free(&whole);
        text_free(&json);
    }
}

/* ---- which operator ------------------------------------------------------------------------ */

#define ARGS(dims, types, values)                                                                  \
    "'Input Dims':[" dims "],'Input type':[" types "],'Concrete Inputs':[" values "]"
#define OP(name, ts, dur, args)                                                                    \
    "{'ph':'X','cat':'cpu_op','name':'" name "','pid':1,'tid':1,'ts':" #ts ",'dur':" #dur          \
    ",'args':{" args "}},"
#define LAUNCH(call, ts, id)                                                                       \
    "{'ph':'X','cat':'cuda_runtime','name':'" call "','pid':1,'tid':1,'ts':" #ts                   \
    ",'dur':1,'args':{'correlation':" #id "}},"
#define KERNEL(ts, id)                                                                             \
    "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':" #ts                                \
    ",'dur':10,'args':{'device':0,'correlation':" #id "}},"
#define MM ARGS("[4,6],[6,5]", "'float','float'", "'',''")

static int64_t cell(const struct ta_report *report, const char *op, const char *column)
{
    return report_number(report, "roofline.by_op", "name", op, column);
}

/* Two kernels of a call are one call; one launched by something inside without a formula counts
 * for the operator around it. */
static void kernels_of_a_call(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        OP("aten::mm", 100, 50, MM) LAUNCH("cudaLaunchKernel", 110, 1)
            OP("my::prepare", 120, 10, "'External id':2") LAUNCH("cudaLaunchKernel", 121, 2)
                KERNEL(200, 1) KERNEL(205, 2) OP("aten::mm", 300, 50, MM)
                    LAUNCH("cudaLaunchKernel", 310, 3) KERNEL(400, 3));
    assert_int_equal(cell(report, "aten::mm", "calls"), 2);
    assert_int_equal(cell(report, "aten::mm", "kernels"), 3);
    assert_int_equal(cell(report, "aten::mm", "busy_ns"), 25000); /* 200…215 and 400…410 */
    assert_null(ta_report_table(report, "roofline.unknown"));
    ta_report_free(report);
}

#define SELF "[2,3,8,8]"
#define WEIGHT "[4,3,3,3]"
#define FLOATS "'float','float','float'"
#define CONV(at, id)                                                                               \
    OP("aten::cudnn_convolution", at##0, 9,                                                        \
       "'Input Dims':[" SELF "," WEIGHT ",[],[]],'Input type':['float','float','','']")            \
    LAUNCH("cudaLaunchKernel", at##1, id) KERNEL(at##5, id)
#define BACKWARD(at, gradient, id)                                                                 \
    OP("aten::cudnn_convolution_backward", at##0, 9,                                               \
       "'Input Dims':[" SELF "," gradient "," WEIGHT "],'Input type':[" FLOATS "]")                \
    OP("aten::cudnn_convolution_backward_weight", at##1, 7,                                        \
       "'Input Dims':[[]," gradient "," SELF "],'Input type':['','float','float']")                \
    LAUNCH("cudaLaunchKernel", at##2, id) KERNEL(at##5, id)

/* Without strides, which older profilers do not record, gradients show what comes out, unless the
 * same sizes come with several strides. */
static void convolutions_without_strides(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(CONV(10, 1) BACKWARD(20, "[2,4,4,4]", 2));
    assert_int_equal(cell(report, "aten::cudnn_convolution_backward_weight", "flop"),
                     2 * 2 * 4 * 16 * 27);
    assert_int_equal(cell(report, "aten::cudnn_convolution", "flop"), 2 * 2 * 4 * 16 * 27);
    assert_int_equal(cell(report, "aten::cudnn_convolution", "bytes"), (384 + 108 + 128) * 4);
    assert_null(ta_report_table(report, "roofline.unknown"));
    ta_report_free(report);
    report =
        report_on_events(CONV(10, 1) BACKWARD(20, "[2,4,4,4]", 2) BACKWARD(30, "[2,4,8,8]", 3));
    assert_int_equal(report_number(report, "roofline.unknown", "reason", "no_arguments", "kernels"),
                     1);
    ta_report_free(report);
}

/* The work of a product inside another is counted once, with the inner one. */
static void inner_products(void **state)
{
    (void)state;
    struct ta_report *report =
        report_on_events(OP("aten::matmul", 100, 50, MM) LAUNCH("cudaLaunchKernel", 101, 1)
                             OP("aten::mm", 110, 20, MM) LAUNCH("cudaLaunchKernel", 111, 2)
                                 KERNEL(200, 1) KERNEL(210, 2));
    assert_int_equal(cell(report, "aten::mm", "calls"), 1);
    assert_int_equal(cell(report, "aten::matmul", "calls"), TA_MISSING);
    assert_int_equal(
        report_number(report, "roofline.unknown", "reason", "inner_operator", "kernels"), 1);
    ta_report_free(report);
}

/* A product in the same operator that launches nothing does not take its work. */
static void silent_inner_products(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(OP("aten::matmul", 100, 50, MM) LAUNCH(
        "cudaLaunchKernel", 101, 1) OP("aten::mm", 110, 20, MM) KERNEL(200, 1));
    assert_int_equal(cell(report, "aten::matmul", "calls"), 1);
    ta_report_free(report);
}

static void what_has_no_operator(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        OP("aten::mm", 100, 50, MM) LAUNCH("cudaGraphLaunch", 110, 1) KERNEL(200, 1) KERNEL(220, 1)
            LAUNCH("cudaLaunchKernel", 300, 2) KERNEL(310, 2) KERNEL(330, 99));
    assert_null(ta_report_table(report, "roofline.by_op"));
    assert_int_equal(report_number(report, "roofline.unknown", "reason", "graph_launch", "kernels"),
                     2);
    assert_int_equal(report_sum(report, "roofline.unknown", "kernels"), 4);
    assert_int_equal(report_sum(report, "roofline.unknown", "total_ns"), 40000);
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(templates),
        cmocka_unit_test(experts),
        cmocka_unit_test(attention),
        cmocka_unit_test(passes),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(kernels_of_a_call),
        cmocka_unit_test(convolutions_without_strides),
        cmocka_unit_test(inner_products),
        cmocka_unit_test(silent_inner_products),
        cmocka_unit_test(what_has_no_operator),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
