# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a diffusion model: text encoder, transformer, VAE decoder."""
import gpus
from gpus import BYTES, TYPES
from host import COMPUTE, COPIES
from operators import Operators
from plans import TOKENS

ENCODER = 4096  # width of the text encoder
EXCHANGE = {True: "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
            False: "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"}
BROADCAST = {True: EXCHANGE[True], False: "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage"
                                          "<4096ul>)"}
# Bytes per ns that an all-to-all reaches between a rank and another, and to all others: NVLink with
# switches, links of one pair each, PCIe.
LINKS = {"NVIDIA H100 80GB HBM3": (300, 300), "NVIDIA A100-SXM4-80GB": (190, 190),
         "AMD Instinct MI300X": (48, 340), "Tesla V100-SXM2-32GB": (40, 120),
         "NVIDIA GeForce RTX 4090": (18, 18)}


class Model(Operators):
    # ---- text encoder ----------------------------------------------------------------------------

    def encode(self):
        if self.defect("C8") and self.defect("C8")["what"] == "encoder":
            self.encode_on_host(self.defect("C8")["ns"])
            return
        batch = (self.defect("encodes") or {}).get("batch", 1)
        rows = batch * TOKENS
        self.open_eager = True
        self.copy(rows * 8, within=("aten::to", "aten::_to_copy", "aten::copy_"))
        with self.op("aten::embedding", [[32128, ENCODER], [batch, TOKENS]]):
            self.launch(gpus.stream(self.gpu, gpus.GATHER, rows * ENCODER * 2,
                                    rows * ENCODER * 2))
        dims, wide = [batch, TOKENS, ENCODER], [batch, TOKENS, 10240]
        for layer in range(self.plan.encoder_layers):
            with self.frame(f"nn.Module: T5Block_{layer}"):
                self.norm(dims)
                for _ in range(3):
                    self.linear(rows, ENCODER, ENCODER, bias=False)
                self.encoder_attention(batch)
                self.linear(rows, ENCODER, ENCODER, bias=False)
                self.elementwise("aten::add", dims, extra=(dims,))
                self.norm(dims)
                self.linear(rows, 10240, ENCODER, bias=False)
                self.elementwise("aten::gelu", wide)
                self.linear(rows, 10240, ENCODER, bias=False)
                self.elementwise("aten::mul", wide, extra=(wide,))
                self.linear(rows, ENCODER, 10240, bias=False)
                self.elementwise("aten::add", dims, extra=(dims,))
        self.norm(dims)
        self.open_eager = False

    def encoder_attention(self, batch):
        heads, size = ENCODER // 64, 64
        kind = self.gpu.precision
        kernel = gpus.fused_attention(self.gpu, batch, heads, TOKENS, TOKENS, size, kind, False)
        dims = [[batch, heads, TOKENS, size]] * 3
        flash = self.gpu.capability[0] > 7
        self.nested(("aten::scaled_dot_product_attention",
                     "aten::_scaled_dot_product_flash_attention" if flash else
                     "aten::_scaled_dot_product_efficient_attention",
                     "aten::_flash_attention_forward" if flash else
                     "aten::_efficient_attention_forward"), dims, kernel)

    def encode_on_host(self, ns):
        """The same operators, none of which launches anything."""
        layers = self.plan.encoder_layers
        parts = [("aten::addmm", 0.26), ("aten::addmm", 0.22), ("aten::bmm", 0.02),
                 ("aten::_softmax", 0.02), ("aten::bmm", 0.02), ("aten::addmm", 0.24),
                 ("aten::gelu", 0.02), ("aten::addmm", 0.2)]
        outer = {"aten::addmm": "aten::linear", "aten::bmm": "aten::matmul",
                 "aten::_softmax": "aten::softmax", "aten::gelu": None}
        for layer in range(layers):
            with self.frame(f"nn.Module: T5Block_{layer}"):
                for name, share in parts:
                    took = ns * share / layers / self.cost * self.noise("host", 0.05)
                    if outer[name]:
                        with self.op(outer[name], [[TOKENS, ENCODER]], ["float"]):
                            with self.op(name, [[TOKENS, ENCODER]], ["float"], before=took):
                                pass
                    else:
                        with self.op(name, [[TOKENS, ENCODER]], ["float"], before=took):
                            pass
        self.copy(TOKENS * ENCODER * 4, within=("aten::to", "aten::_to_copy", "aten::copy_"))

    # ---- transformer -----------------------------------------------------------------------------

    def transformer(self, batch):
        """One forward; a generator, for it may meet other ranks."""
        plan = self.plan
        rows, width = batch * plan.tokens // plan.ranks, plan.hidden
        breaks = self.defect("C11")
        if plan.compiled and not breaks:
            with self.op("TorchDynamo Cache Lookup", before=60_000):
                pass
            with self.op("Torch-Compiled Region: 0/0", before=20_000, after=8000):
                with self.op("## Call CompiledFxGraph fq3yhvx4ab7lwc2hcgkzusaexd2yeg4pgc5wv5v4jtn3"
                             "mzhnnz6g ##", before=15_000, category="user_annotation"):
                    for layer in range(plan.layers):
                        yield from self.block(layer, batch, rows, width)
                    self.head(rows, width)
            return
        for layer in range(plan.layers):
            with self.frame(f"nn.Module: TransformerBlock_{layer}"):
                if breaks:
                    yield from self.broken_block(layer, batch, rows, width, breaks)
                else:
                    self.spend(30_000)
                    yield from self.block(layer, batch, rows, width)
        self.open_eager = bool(breaks)
        self.head(rows, width)
        self.open_eager = False

    def broken_block(self, layer, batch, rows, width, breaks):
        """Dynamo leaves compiled code in each block, runs Python, and enters a resumed function."""
        for part in range(breaks["parts"]):
            with self.op("TorchDynamo Cache Lookup", before=breaks["ns"] * 0.55):
                pass
            frame = ("diffusers/models/transformers/transformer.py(312): "
                     f"torch_dynamo_resume_in_forward_at_{341 + 17 * part}" if part else
                     "diffusers/models/transformers/transformer.py(312): forward")
            with self.frame(frame), self.op(f"Torch-Compiled Region: {2 * part + 1}/0",
                                            before=breaks["ns"] * 0.25, after=4000):
                with self.op(f"## Call CompiledFxGraph f{part}yhvx4ab7lwc2hcgkzusaexd2yeg4pgc5wv5v4"
                             "jtn3 ##", before=15_000, category="user_annotation"):
                    yield from self.block(layer, batch, rows, width, part, breaks["parts"])
            self.spend(breaks["ns"] * 0.2)

    def head(self, rows, width):
        self.norm([1, rows, width])
        self.linear(rows, 64, width)

    def block(self, layer, batch, rows, width, part=0, parts=1):
        """The work of a transformer block, or the n-th part of it."""
        plan, moved = self.plan, rows * width * BYTES[self.gpu.precision]
        heads = width // plan.size
        self.offload(layer)
        retries = self.defect("C2")
        if retries and layer < retries["share"] * plan.layers:
            self.retry(retries["ns"])
        work = [
            lambda: self.linear(batch, 6 * width, width),
            lambda: self.modulate(rows, width, moved, is_first=True),
            lambda: self.linear(rows, 3 * width, width),
            lambda: self.rotate(batch, rows, width, heads, moved),
            "exchange",
            lambda: self.attention(batch, heads // plan.ranks, rows * plan.ranks // batch,
                                   rows * plan.ranks // batch, plan.size),
            "exchange",
            lambda: self.linear(rows, width, width),
            lambda: self.modulate(rows, width, moved, is_first=False),
            lambda: self.linear(rows, 4 * width, width),
            lambda: self.activate(rows, width, moved),
            lambda: self.linear(rows, width, 4 * width),
            lambda: self.gate(rows, width, moved),
        ]
        first, last = len(work) * part // parts, len(work) * (part + 1) // parts
        for what in work[first:last]:
            if what == "exchange":
                if plan.ranks > 1:
                    yield from self.exchange(rows * width)
            else:
                what()
        waits = self.defect("C7")
        if waits and waits["where"] == "block":
            self.read_value(waits)

    def modulate(self, rows, width, moved, is_first):
        if self.defect("C3") and "modulate" in self.defect("C3")["chains"]:
            dims = [1, rows, width]
            if not is_first:
                self.elementwise("aten::mul", dims, 1, extra=([1, 1, width],))
                self.elementwise("aten::add", dims, extra=(dims,))
            self.norm(dims)
            self.elementwise("aten::add", [1, 1, width], 1, extra=([],))
            self.elementwise("aten::mul", dims, 1, extra=([1, 1, width],))
            self.elementwise("aten::add", dims, 1, extra=([1, 1, width],))
        elif is_first:
            self.fused("red_fused_add_mul_native_layer_norm_split_unsqueeze_2", moved, moved)
        else:
            self.fused("red_fused_add_addmm_mul_native_layer_norm_split_unsqueeze_view_7",
                       2 * moved, 2 * moved)

    def rotate(self, batch, rows, width, heads, moved):
        if not self.defect("C3") or "rotate" not in self.defect("C3")["chains"]:
            self.fused("per_fused__to_copy_add_cat_mean_mul_pow_rsqrt_transpose_view_4", 3 * moved,
                       2 * moved)
            return
        dims = [batch, heads, rows // batch, self.plan.size]
        one = [batch, heads, rows // batch, 1]
        low = self.gpu.precision
        for _ in range(2):  # queries and keys: root mean square, then rotary
            self.cast(dims, "fp32")
            self.elementwise("aten::pow", dims, 1, "fp32")
            self.reduction("aten::mean", gpus.MEAN, dims, "fp32")
            self.elementwise("aten::add", one, 1, "fp32", extra=([],))
            self.elementwise("aten::rsqrt", one, 1, "fp32")
            self.elementwise("aten::mul", dims, 1, "fp32", extra=(one,))
            self.cast(dims, low)
            self.elementwise("aten::mul", dims, 1, extra=([self.plan.size],))
            self.cast(dims, "fp32")
            self.elementwise("aten::mul", dims, 1, "fp32", extra=(dims[2:],))
            self.elementwise("aten::neg", [*dims[:3], dims[3] // 2], 1, "fp32")
            n = moved * 2
            with self.op("aten::cat", [[], []], ["TensorList", "Scalar"]):
                self.launch(gpus.stream(self.gpu, gpus.CAT, n, n, 128, 8))
            self.elementwise("aten::mul", dims, 1, "fp32", extra=(dims[2:],))
            self.elementwise("aten::add", dims, 2, "fp32", extra=(dims,))
            self.cast(dims, low)

    def activate(self, rows, width, moved):
        if self.defect("C3"):
            self.elementwise("aten::gelu", [1, rows, 4 * width])
        else:
            self.fused("poi_fused_addmm_gelu_view_9", 4 * moved, 4 * moved)

    def gate(self, rows, width, moved):
        if self.defect("C3") and "modulate" in self.defect("C3")["chains"]:
            self.elementwise("aten::mul", [1, rows, width], 1, extra=([1, 1, width],))
            self.elementwise("aten::add", [1, rows, width], extra=([1, rows, width],))
        else:
            self.fused("poi_fused_add_addmm_mul_view_11", 2 * moved, moved)

    def exchange(self, elements):
        """All-to-all of Ulysses: each rank gives the others their heads."""
        slow = self.defect("C9")
        pair, all_ = LINKS[self.gpu.name]
        rate = slow["rate"] if slow else min(pair * (self.world - 1), all_)
        elements *= (self.defect("exposed") or {}).get("larger", 1)
        size = elements * BYTES[self.gpu.precision]
        begun = self.collective("c10d::alltoall_base_", "all_to_allv",
                                EXCHANGE[self.gpu.is_rocm], elements)
        ns = 14_000 + size * (self.world - 1) / self.world / rate
        ns *= (self.defect("exposed") or {}).get("left", 1)
        end = yield begun["ready"], ns * self.noise("link", 0.02)
        self.collective_ends(begun, end)

    def offload(self, layer):
        how = self.defect("C1")
        if not how or layer >= how["layers"]:
            return
        size = 18 * self.plan.hidden ** 2 * BYTES[self.gpu.precision]
        within = ("aten::to", "aten::_to_copy", "aten::copy_")
        parts = [size * share // 18 for share in (6, 3, 1, 4, 4)]
        with self.frame("accelerate/hooks.py(328): pre_forward"):
            for part in parts:
                if how["kind"] == "pageable":
                    self.copy(part, within=within)
                elif how["kind"] == "pinned":
                    self.copy(part, pinned=True, blocking=False, within=within)
                else:  # a stream of its own: the weights of a block arrive before it runs
                    self.copy(part, pinned=how["kind"] == "stream", blocking=False, stream=COPIES,
                              within=within)
        if how["kind"] in ("stream", "staged"):
            self.runtime("cudaEventRecordWithFlags", 900)
            self.runtime("cudaStreamWaitEvent", 900)
            ready = self.busy_until(COPIES)
            self.free[self.device, COMPUTE] = max(self.busy_until(), ready)

    def retry(self, ns):
        """An allocation does not fit: the allocator waits, frees what it caches, tries again."""
        with self.op("aten::empty_strided", [[], [], [], [], [], []]):
            self.runtime("cudaMalloc", 90_000)
            self.synchronize(name="cudaDeviceSynchronize")
            for _ in range(3):
                self.runtime("cudaFree", ns / 4)
            self.runtime("cudaMalloc", ns / 4)

    # ---- VAE -------------------------------------------------------------------------------------

    def decode_on_one(self, alone):
        """The first rank decodes while the others wait for its picture; or each a part of it, with
        edges that overlap."""
        if alone["parts"] > 1:
            self.decode_image(int((1.1 * self.plan.side ** 2 / alone["parts"]) ** 0.5) // 8 * 8)
        elif self.rank == 0:
            self.decode()

    def share_image(self):
        """The picture goes to all ranks."""
        elements = 3 * self.plan.side ** 2
        begun = self.collective("c10d::broadcast_", "broadcast", BROADCAST[self.gpu.is_rocm],
                                elements)
        end = yield begun["ready"], 20_000 + 2 * elements / LINKS[self.gpu.name][0]
        self.collective_ends(begun, end)

    def decode(self):
        tiles = (self.defect("C4") or {}).get("tiles")
        if tiles:
            for _ in range(tiles ** 2):
                self.decode_image(self.plan.side * 5 // 4 // tiles)
                for _ in range(4):  # blends its edges, row by row in Python
                    self.elementwise("aten::mul", [1, 3, 32, self.plan.side], 1, extra=([],))
                    self.elementwise("aten::add", [1, 3, 32, self.plan.side],
                                     extra=([1, 3, 32, self.plan.side],))
        else:
            self.decode_image(self.plan.side)

    def decode_image(self, side):
        kind = (self.defect("C4") or {}).get("kind") or self.gpu.precision
        self.open_eager = True
        height, width = side // 8, 4 * self.plan.channels
        for level in range(4):
            for _ in range(2):
                self.residual(height, width, width, kind)
            if level < 3:
                n = 4 * height * height * width * BYTES[kind]
                with self.op("aten::upsample_nearest2d", [[1, width, height, height]],
                             [TYPES.get(kind, "float")]):
                    self.launch(gpus.stream(self.gpu, gpus.NEAREST.format(TYPES.get(kind, "float")),
                                            n // 4, n))
                height *= 2
                self.conv(height, width, width, kind)
                width = {0: width, 1: width // 2, 2: width // 2}[level]
        self.conv(height, width, 3, kind)
        self.open_eager = False
