# SPDX-License-Identifier: GPL-3.0-or-later
"""A diffusion pipeline on one or several ranks: text encoder, denoising steps, VAE decode.

Without defects the kernels are near what the device can do and the host is far ahead.
"""
import gpus
from gpus import Kernel
from model import Model


class Pipeline(Model):
    # ---- the loop --------------------------------------------------------------------------------

    def read_value(self, waits):
        if waits["kind"] == "nonzero":
            for name in ("aten::eq", "aten::lt"):
                self.small(name)
            with self.op("aten::nonzero", [[self.plan.steps]]):
                self.launch(Kernel("void at_cuda_detail::cub::DeviceReduceSingleTileKernel<at_cuda"
                                   "_detail::cub::DeviceReducePolicy<bool, unsigned int, at_cuda_"
                                   "detail::cub::Sum>::Policy600, int*, int*, int>", 2500,
                                   [1, 1, 1], [256, 1, 1]))
                self.copy(4, to_device=False, within=())
        elif waits["kind"] == "cpu":
            self.copy(4096, to_device=False, within=("aten::to", "aten::_to_copy", "aten::copy_"))
        elif waits["kind"] == "mask":
            with self.op("aten::index", [[1, self.plan.tokens], []]):
                with self.op("aten::nonzero", [[1, self.plan.tokens]]):
                    self.copy(4, to_device=False, within=())
        elif waits["kind"] == "print":
            for _ in range(4):
                self.item()
        else:
            self.item()

    def scheduler(self):
        """Python computes the step's coefficients, then some small operators."""
        with self.frame("diffusers/schedulers/scheduling_flow_match_euler_discrete.py(300): step"):
            self.open_eager = True
            self.spend(self.plan.between)
            for name in ("aten::sub", "aten::mul", "aten::add", "aten::mul"):
                self.small(name)
            self.open_eager = False

    def make_noise(self, ns):
        """On the host."""
        if not ns:
            return
        with self.op("aten::randn", [[]], before=8000):
            with self.op("aten::normal_", [[1, 16, self.plan.tokens]], ["float"],
                         before=ns / self.cost * self.noise("host", 0.03)):
                pass
        self.copy(4 * 16 * self.plan.tokens, within=("aten::to", "aten::_to_copy", "aten::copy_"))

    def step(self, number):
        plan = self.plan
        throttled = self.defect("C14")
        if throttled and number >= throttled["from"] * plan.steps:
            self.stretch = 1 / throttled["slow"]
        noise, lone = self.defect("C8"), self.defect("lone")
        if noise and noise["what"] == "noise":
            self.make_noise(noise["ns"])
        if lone:
            self.make_noise(lone["ns"] if lone["rank"] == self.rank else
                            lone["others"] * lone["all"])
        twice = self.defect("C10")
        with self.range("transformer" if plan.marks == "stages" else ""):
            if twice:
                for _ in range(2):
                    yield from self.transformer(plan.batch // 2)
            else:
                yield from self.transformer(plan.batch)
        if plan.batch > 1 or twice:  # guidance
            self.open_eager = True
            for name in ("aten::sub", "aten::mul", "aten::add"):
                self.small(name)
            self.open_eager = False
        waits = self.defect("C7")
        if waits and waits["where"] == "step":
            self.open_eager = True
            self.read_value(waits)
            self.open_eager = False
        self.scheduler()
        extra = self.defect("extra")
        if extra:
            self.watch(extra["times"] if number in extra["steps"] else 0)

    def watch(self, times):
        """Statistics of the latents for a log, on the device; then a value for the progress bar."""
        dims = [1, self.plan.tokens, self.plan.hidden]
        self.open_eager = True
        with self.frame("diffusers/callbacks.py(120): callback_on_step_end"):
            for _ in range(times):
                for name in ("aten::mean", "aten::std", "aten::amax"):
                    self.reduction(name, gpus.MEAN, dims)
            self.item()
        self.open_eager = False

    def postprocess(self):
        """To the range of pixels, to the host; Python makes the image."""
        dims = [1, 3, self.plan.side, self.plan.side]
        self.open_eager = True
        self.elementwise("aten::mul", dims, 1, extra=([],))
        self.elementwise("aten::add", dims, 1, extra=([],))
        self.copy(3 * self.plan.side ** 2 * 2, to_device=False,
                  within=("aten::to", "aten::_to_copy", "aten::copy_"))
        self.open_eager = False
        late = self.defect("C8")
        if late and late["what"] == "image":
            for name, share in (("aten::mul", 0.3), ("aten::clamp", 0.2), ("aten::permute", 0.0),
                                ("aten::round", 0.25), ("aten::to", 0.25)):
                with self.op(name, [dims], ["float"], before=late["ns"] * share / self.cost):
                    pass

    def generate(self, turn):
        plan = self.plan
        stages = plan.marks == "stages"
        loading = self.defect("C13")
        if loading and turn < loading["runs"]:
            self.load(loading)
        for _ in range((self.defect("encodes") or {}).get("times", 1)):  # and the negative prompt
            with self.range("encode_prompt" if stages else ""):
                self.encode()
        for number in range(plan.steps):
            name = {"profiler": f"ProfilerStep#{number + 3}", "steps": "denoise_step"}
            with self.range(name.get(plan.marks, "")):
                self.next_batch()
                self.empty_cache()
                self.compile(number)
                yield from self.step(number)
        alone = self.defect("alone")
        if alone:
            if alone["parts"] > 1 or self.rank == 0:
                with self.range("vae_decode" if stages else ""):
                    self.decode_on_one(alone)
            yield from self.share_image()
        else:
            with self.range("vae_decode" if stages else ""):
                self.decode()
        self.postprocess()

    def program(self):
        plan = self.plan
        self.begin = self.host
        self.spend(80_000)
        for number in range(plan.iterations):
            self.age(number)
            name = f"{plan.turns}{number + 2}" if plan.turns.endswith("#") else plan.turns
            with self.range(name if plan.iterations > 1 else ""):
                yield from self.generate(number)
        self.synchronize(name="cudaDeviceSynchronize")
        self.spend(40_000)
        with self.op("aten::detach", [[1]]):  # the program ends here
            pass
        self.end = self.host

    # ---- what happens now and then ---------------------------------------------------------------

    def next_batch(self):
        """The process itself loads it, where no workers do."""
        loading = self.defect("input")
        if loading:
            with self.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                         category="user_annotation",
                         before=loading["ns"] / self.cost * self.noise("loading", 0.1)):
                pass

    def empty_cache(self):
        """The driver takes the memory back, and gives it out again."""
        emptied = self.defect("emptied")
        if not emptied:
            return
        self.synchronize(name="cudaDeviceSynchronize")
        for _ in range(emptied["blocks"]):
            self.runtime("cudaFree", emptied["ns"] / self.cost)
        for _ in range(emptied["blocks"]):
            with self.op("aten::empty_strided", [[], [], [], [], [], []]):
                self.runtime("cudaMalloc", emptied["ns"] / self.cost)

    def compile(self, number):
        """In the steps of the plan Dynamo compiles the transformer."""
        event = self.defect("C5")
        if not event or number not in event["steps"]:
            return
        ns = event["ns"] * self.noise("compile", 0.1)
        {"dynamo": self.compiled_ranges, "autotune": self.autotuned, "modules": self.modules,
         "graphs": self.captured}[event["what"]](ns)

    def autotuned(self, ns):
        """Triton tries its configurations of each kernel of the graph."""
        n = 6
        for number in range(n):
            with self.op("CachingAutotuner.benchmark_all_configs (dynamo_timed)",
                         category="user_annotation"):
                for _ in range(12):
                    self.spend(ns / n / 14 / self.cost)
                    self.launch(gpus.stream(self.gpu, f"triton_poi_fused_add_mul_{number}", 2**22,
                                            2**22))
                self.synchronize()

    def modules(self, ns):
        """The driver loads the code of kernels when each is launched first."""
        n = 40
        for number in range(n):
            with self.op("aten::mul", [[64], []]):
                self.runtime("hipModuleLoadDataEx" if self.gpu.is_rocm else "cuModuleLoadDataEx",
                             ns / n / self.cost, "cuda_driver")
                self.launch(gpus.stream(self.gpu, gpus.vectorized(f"Functor{number}", 2), 128, 128))

    def captured(self, ns):
        """Trees of CUDA graphs record a graph again, as inputs have moved."""
        self.runtime("cudaStreamBeginCapture", 20_000)
        for _ in range(60):
            with self.op("aten::addmm", [[64]], before=ns / 150 / self.cost):
                self.runtime("cudaLaunchKernel", 4000)
        self.runtime("cudaStreamEndCapture", 60_000)
        self.runtime("cudaGraphInstantiateWithFlags", ns / 2 / self.cost)

    def compiled_ranges(self, ns):
        def part(name, share, inner=()):
            with self.op(f"{name} (dynamo_timed)", category="user_annotation", before=0, after=0):
                left = share - sum(s for _, s, _ in inner)
                self.spend(ns * left / 2 / self.cost)
                for one in inner:
                    part(*one)
                self.spend(ns * left / 2 / self.cost)

        backend = ("compile_fx_inner", 0.62, (
            ("GraphLowering.run", 0.12, ()),
            ("GraphLowering.compile_to_fn", 0.44, (
                ("GraphLowering.codegen", 0.22, (("Scheduler.__init__", 0.08, ()),
                                                 ("Scheduler.codegen", 0.11, ()))),
                ("PyCodeCache.load_by_key_path", 0.2, (("async_compile.wait", 0.18, ()),))))))
        with self.op("TorchDynamo Cache Lookup", before=200_000):
            pass
        part("_compile.compile_inner", 1.0, (
            ("bytecode_tracing", 0.14, ()),
            ("OutputGraph.call_user_compiler", 0.78,
             (("create_aot_dispatcher_function", 0.74, (backend,)),)),
            ("build_guards", 0.03, ())))

    def age(self, number):
        """What a program that runs for long does to later iterations."""
        growth = self.defect("C12")
        if growth and growth["what"] == "heat":
            self.stretch = 1 + growth["rate"] * number
        elif growth:
            self.cost = self.plan.cpu * (1 + growth["rate"] * number)

    def load(self, loading):
        """Weights from disk, through pageable memory; Python parses the files."""
        for _ in range(4):
            with self.frame("safetensors/torch.py(308): load_file"):
                self.spend(loading["ns"] / 4 / self.cost)
            for _ in range(6):
                self.copy(loading["bytes"] // 24,
                          within=("aten::to", "aten::_to_copy", "aten::copy_"))


def run(plan, kind=Pipeline):
    """All ranks as they happen; returns them, and the length of the run in ns."""
    ranks = [kind(plan, rank) for rank in range(plan.ranks)]
    programs = [rank.program() for rank in ranks]
    answers = [None] * len(ranks)
    while True:
        met = []
        for number, program in enumerate(programs):
            try:
                met.append(program.send(answers[number]))
            except StopIteration:
                met.append(None)
        if met[0] is None:
            break
        end = max(ready for ready, _ in met) + round(max(ns for _, ns in met))
        answers = [end] * len(ranks)
    return ranks, max(rank.end - rank.begin for rank in ranks)
