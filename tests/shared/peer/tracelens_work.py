# SPDX-License-Identifier: GPL-3.0-or-later
"""How TraceLens 0.1.0 models the work of an operator by its arguments: parameters, FLOPs, and bytes
where each tensor is moved once. The faults of its models are kept, since its figures have them."""
import dataclasses
import math
import re

SIZES = {"double": 8, "long int": 8, "long": 8, "float": 4, "Float": 4, "int": 4, "Scalar": 4,
         "c10::Half": 2, "c10::BFloat16": 2, "unsigned char": 1}
UNITS = {"double": "fp64", "float": "fp32", "Float": "fp32", "c10::Half": "fp16",
         "c10::BFloat16": "bf16"}


@dataclasses.dataclass(frozen=True)
class Work:
    """`flops` or `size` is None where the model gives none; `params` are those of its tables."""
    params: dict
    flops: float
    size: float
    unit: str = None # of the roofline


class Call:
    """The arguments of an operator, as they were recorded."""

    def __init__(self, args):
        self.dims = [tuple(dims) if isinstance(dims, list) else () for dims in
                     args.get("Input Dims") or args.get("Input dims") or ()]
        self.types = args.get("Input type") or ()
        self.values = args.get("Concrete Inputs") or ()
        self.strides = [tuple(strides) for strides in args.get("Input Strides") or ()]

    def numbers(self, index):
        """The numbers of a list that is an argument, as a tuple."""
        return tuple(int(word) for word in re.findall(r"-?\d+", self.values[index]))


def size_of(kind):
    return SIZES.get(kind)


def product(left, right, bias=None, transposed=False):
    """Of two matrices, or of batches of them. All tensors have the type of the first."""
    def count(call):
        first, second = call.dims[left], call.dims[right]
        batch = first[0] if len(first) == 3 else 1
        rows, inner = math.prod(first[:-1]) // batch, first[-1]
        columns = second[-2] if transposed else second[-1]
        added = bias is not None
        size = size_of(call.types[left])
        return Work({"B": batch, "M": rows, "N": columns, "K": inner, "bias": str(added),
                     "dtype_A_B": str(tuple(call.types) if transposed else
                                      (call.types[left], call.types[right]))},
                    batch * (2 * rows * columns * inner + added * rows * columns),
                    batch * size * (rows * inner + inner * columns + rows * columns
                                    + added * columns),
                    f"matrix_{UNITS.get(call.types[left])}")
    return count


def conv_lengths(data, weight, stride, padding, dilation):
    return [(data[2 + i] + 2 * padding[i] - dilation[i] * (weight[2 + i] - 1) - 1) // stride[i] + 1
            for i in range(len(data) - 2)]


def convolution(backward=False):
    """A bias is seen where an operator has three arguments. Backward is the gradients of both
    input and weight, whatever the arguments ask for."""
    def count(call):
        at = 1 if backward else 0
        data, weight = call.dims[at], call.dims[at + 1]
        spatial = len(data) - 2
        if len(call.values) > 8 + backward and call.values[at + 3 + backward]:
            stride, padding, dilation = (call.numbers(at + 3 + i) for i in range(3))
            transposed = call.values[at + 6]
            extra, groups = call.numbers(at + 7), call.numbers(at + 8)[0]
        else:
            raise KeyError
        stride, padding, dilation, extra = (value * spatial if len(value) == 1 else value
                                            for value in (stride, padding, dilation, extra))
        bias = len(call.dims) == 3
        out = data[0] * weight[0] * math.prod(conv_lengths(data, weight, stride, padding, dilation))
        flops = 2 * out * math.prod(weight[1:]) + bias * out
        size = (math.prod(data) + math.prod(weight) + out + bias * weight[0]) * \
            size_of(call.types[at])
        return Work({"convNd": f"conv{spatial}d", "input_shape": str(data),
                     "filter_shape": str(weight),
                     "dtype_input_weight": str((call.types[at], call.types[at + 1])),
                     "input_stride": str(call.strides[at]),
                     "weight_stride": str(call.strides[at + 1]), "stride": str(stride),
                     "padding": str(padding), "dilation": str(dilation),
                     "transposed_conv": transposed, "output_padding": str(extra),
                     "groups": groups},
                    flops * (1 + backward), size * (1 + backward),
                    f"matrix_{UNITS.get(call.types[at])}")
    return count


def attention(call):
    """Heads before lengths. Two bytes an element, whatever the type."""
    q, k, v = call.dims[:3]
    batch, heads, rows, depth = q
    causal = call.values[4]
    flops = 2 * batch * heads * rows * k[2] * (depth + v[3])
    return Work({"B": batch, "N_Q": rows, "H_Q": heads, "N_KV": k[2], "H_KV": k[1],
                 "d_h_qk": depth, "d_h_v": v[3], "dropout": float(call.values[3]),
                 "causal": causal, "flash_impl": "True",
                 "dtype_A_B": str(tuple(call.types[:2]))},
                flops // 2 if causal == "True" else flops,
                2 * (math.prod(q) + math.prod(k) + math.prod(v) + batch * rows * heads * v[3]),
                f"matrix_{UNITS.get(call.types[0])}")


def unary(written=None, copied=False):
    """One operation an element. `written` is the argument with the sizes of what is written. The
    tensor that is copied to is taken for the one that is copied."""
    def count(call):
        shape, kind, made, params = call.dims[0], call.types[0], None, {}
        out = shape
        if copied:
            made = call.types[1] if call.dims[1] else None
        if written is not None:
            out, made = shape[:2] + call.numbers(written), kind
            params = {"input_shape": str(shape), "output_shape": str(out)}
        sizes = size_of(kind), size_of(made or kind)
        size = None if None in sizes else math.prod(shape) * sizes[0] + math.prod(out) * sizes[1]
        return Work({"op_shape": str(out), "dtype_in_out": str((kind, made)), **params},
                    math.prod(out), size, f"vector_{UNITS.get(kind)}")
    return count


def binary(third=False):
    """One operation an element of what both make. `third` is where a type of the result may be."""
    def count(call):
        shapes, kinds = call.dims[:2], list(call.types[:2])
        length = max(map(len, shapes))
        padded = [(1,) * (length - len(shape)) + shape for shape in shapes]
        out = math.prod(map(max, *padded))
        made = call.types[2] if third and len(call.types) == 3 else None
        sizes = [size_of(kind) for kind in kinds]
        widest = max(size for size, shape in zip(sizes, shapes) if shape or size == sizes[0])
        size = sum(math.prod(shape) * size for shape, size in zip(shapes, sizes))
        return Work({"shape_in1": str(shapes[0]), "shape_in2": str(shapes[1]),
                     "dtype_in1_in2_out": str((*kinds, made))}, out,
                    size + out * (size_of(made) or widest), f"vector_{UNITS.get(kinds[0])}")
    return count


def reduction(name):
    """Whatever is reduced, one element is left, but of a running sum all."""
    def count(call):
        elements = math.prod(call.dims[0])
        left = elements if name == "cumsum" else 1
        size = size_of(call.types[0])
        return Work({"num_input_elems": elements, "num_output_elems": left,
                     "dtype_in_out": str((call.types[0], None))}, elements,
                    size and (elements + left) * size, f"vector_{UNITS.get(call.types[0])}")
    return count


def channels_at(index):
    return lambda call: call.dims[0][index]


def elements_of(index):
    return lambda call: math.prod(call.dims[index])


def listed(index):
    return lambda call: math.prod(call.numbers(index))


def rows_of(call):
    return math.prod(call.dims[0]) // listed(1)(call)


def normalization(channels, flops, parameters, tensors=2, mask=None):
    """`flops` of elements, channels and call. So many `parameters` of each channel are moved beside
    so many tensors. `mask` is the argument that tells which gradients are wanted."""
    def count(call):
        elements, width, kind = math.prod(call.dims[0]), channels(call), call.types[0]
        wanted = {"output_mask": call.values[mask]} if mask else {}
        moved = parameters(call) if callable(parameters) else parameters
        return Work({"op_shape": str(call.dims[0]), "dtype_in_out": str((kind, None)),
                     "num_channels": width, **wanted}, flops(elements, width, call),
                    (tensors * elements + moved * width) * size_of(kind),
                    f"vector_{UNITS.get(kind)}")
    return count


def with_statistics(elements, width, _):
    return 5 * elements + 6 * width


def root_mean_square(elements, _, call):
    return 4 * elements + 2 * rows_of(call)


def backward(elements, *_):
    return 9 * elements


def backward_of_recorded(elements, width, _):
    return 4 * elements + 3 * width


def backward_of_mean_square(elements, _, call):
    return (10 if call.values[5].endswith("True]") else 8) * elements


def groups(call):
    """Taken for the channels."""
    return int(call.values[8])


def with_weight(call):
    return 4 if call.dims[5] else 1


MODELS = {
    "aten::mm": product(0, 1), "aten::bmm": product(0, 1), "aten::addmm": product(1, 2, 0),
    "vllm::rocm_unquantized_gemm": product(0, 1, transposed=True),
    "aten::convolution": convolution(), "aten::convolution_backward": convolution(True),
    "aten::_scaled_dot_product_flash_attention": attention,
    "vllm::unified_attention_with_output": None,
    "aten::layer_norm": normalization(listed(1), with_statistics, 6),
    "aten::native_layer_norm": normalization(listed(1), with_statistics, 6),
    "aten::batch_norm": normalization(channels_at(1), with_statistics, 6),
    "aten::native_batch_norm": normalization(channels_at(1), with_statistics, 6),
    "aten::miopen_batch_norm": normalization(channels_at(1), with_statistics, 6),
    "aten::instance_norm": normalization(channels_at(1), with_statistics, 6),
    "aten::group_norm": normalization(channels_at(1), with_statistics, 6),
    "aten::native_group_norm": normalization(channels_at(1), with_statistics, 6),
    "aiter::_groupnorm_run": normalization(channels_at(1), with_statistics, 6),
    "aten::_fused_rms_norm": normalization(listed(1), root_mean_square, 1),
    "aten::copy_": unary(copied=True), "aten::clamp_min_": unary(), "aten::sigmoid": unary(),
    "aten::pow": unary(), "aten::silu": unary(), "aten::neg": unary(), "aten::rsqrt": unary(),
    "aten::upsample_nearest1d": unary(written=1), "aten::upsample_nearest2d": unary(written=1),
    "aten::add": binary(), "aten::add_": binary(), "aten::div": binary(True),
    "aten::mul": binary(True), "aten::mul_": binary(), "aten::threshold_backward": binary(),
    **{f"aten::{name}": reduction(name)
       for name in ("max", "min", "mean", "sum", "linalg_norm", "cumsum")},
    "aten::native_layer_norm_backward":
        normalization(listed(2), backward, with_weight, 3, mask=7),
    "aten::native_batch_norm_backward": normalization(channels_at(1), backward, 4, 3),
    "aten::miopen_batch_norm_backward":
        normalization(channels_at(1), backward_of_recorded, 1, 2),
    "aten::native_group_norm_backward": normalization(groups, backward, 4, 3, mask=9),
    "aten::_fused_rms_norm_backward":
        normalization(listed(2), backward_of_mean_square, 2, 3, mask=5),
}


# Operations per element, by their table; what is not in it counts nothing.
TRITON = {"add": 1, "sub": 1, "mul": 1, "div": 1, "relu": 1, "mean": 1, "sum": 1, "abs": 1,
          "neg": 1, "ne": 1, "eq": 1, "lt": 1, "gt": 1, "pow": 2, "sqrt": 2, "rsqrt": 2,
          "var": 2, "reciprocal": 2, "exp": 4, "log": 4, "sigmoid": 4, "tanh": 4, "silu": 4,
          "gelu": 8}


def triton(call, name):
    """Operations by the words of the name, of what the last number says, with that before it where
    the kernel reduces; else so many elements are written, too. Tensors of other types than these
    are none."""
    numbers = [int(value) for value, kind in zip(call.values, call.types) if kind == "Scalar"]
    reduces = name.startswith(("triton_red", "triton_per"))
    elements = math.prod(numbers[-2:] if reduces else numbers[-1:])
    words = name.split("_")
    moved = [2 * math.prod(dims) for dims, kind in zip(call.dims, call.types)
             if kind in ("c10::BFloat16", "c10::Half")]
    if moved and not reduces:
        moved.append(2 * elements)
    return Work({}, elements * sum(TRITON.get(word, 0) for word in words), sum(moved))


def has_model(name):
    return name in MODELS or name.startswith("triton_")


def work_of(span):
    """None of what has no model, or lacks what the model asks for."""
    model = MODELS.get(span.name)
    try:
        if span.name.startswith("triton_"):
            return triton(Call(span.args), span.args.get("kernel_name", span.name))
        return model and model(Call(span.args))
    except (LookupError, TypeError, ValueError):
        return None


def strides_that_count(span, work):
    """Their tables of operators have the strides of what they read in the keys of their rows."""
    kept = 2
    if "num_input_elems" in work.params:
        kept = 0
    elif "num_channels" in work.params:
        kept = 1
    return str((span.args.get("Input Strides") or [])[:kept])
