"""Memory of devices that ran out."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

DEVICE_MEMORY: tuple[Recognizer, ...] = (
    Recognizer(
        "device memory",
        CauseClass.RUNTIME_OOM,
        Weight.REASON,
        words("failed to allocate|mempool"),
        (
            r"Failed to allocate [\d.]{1,20} ?[KMGT]?i?B(?: \((?:alignment|usage): |.{0,120}\bon ND)"
            r"|device mempool .{1,200} needed \d+ available \d+|NRT EXECUTION FAILED: .{0,400}to allocate resource\b"
        ),
    ),
    Recognizer(
        "device memory without a place",
        CauseClass.RUNTIME_OOM,
        Weight.STATEMENT,
        words(
            "alloc device memory|npu memory|pages allowed|mla dram|no more pages|allocation failure|nrt_resource"
            "|nerr_resource"
            "|resource_exhausted|resource exhausted|resourceexhaustederror|oom when allocating"
            "|gpu memory|for requested buffer of size|memory_allocation_err"
            "|thcudacheck fail|cudasuccess"
            "|device memory|enough space to allocate|cache blocks|status=4|memory on device|not enough memory"
            "|decode out of memory|prefill out of memory"
        ),
        (
            r"Failed to alloc(?:ate)? DEVICE memory|exceeded the max number of pages allowed|buffer in MLA DRAM"
            r"|No more pages for ring"
            r"|message=\"?Allocation Failure|\bnrt_\w+ status=4\b"
            r"|\bN(?:RT|ERR)_RESOURCE\b(?!.{0,80}\bcores?\b)|RESOURCE[_ ]EXHAUSTED|[Rr]esource exhausted"
            r"|\b\w{2,60}_memory_allocation_err(?:or)?\b|\bResourceExhaustedError\b|\bOOM when allocating tensor\b"
            r"|(?i:(?:out of|insufficient|not enough|ran out of) (?:(?:neuron )?device|GPU) memory\b(?!\?))"
            r"|Failed to allocate memory for requested buffer of size \d|\bfailed to (?:malloc|allocate) npu memory\b"
            r"|No available memory for the cache blocks|[Ff]ree memory on device .{1,80} is less than"
            r"|Not enough space to allocate \d|\b(?:Decode|Prefill) out of memory\. Try to "
            r"|\bTHCudaCheck FAIL .{1,300} : out of memory$|\bcudaSuccess\b.{0,100}\bout of memory$"
            r"|Not enough memory(?:\. Please try to increase| to handle \d)"
        ),
        Confidence.MEDIUM,
    ),
    # At level W, as all operations of TensorFlow that fail, before 2018 without the place; Python raises the error,
    # unless the log ends before.
    Recognizer(
        "an operation of TensorFlow got no memory",
        CauseClass.RUNTIME_OOM,
        Weight.STATEMENT,
        words("op_requires failed at |resource exhausted: oom when"),
        (
            r"\bOP_REQUIRES failed at \S{1,200} ?: (?i:resource[ _]exhausted): OOM\b"
            r"|^Resource exhausted: OOM when allocating tensor\b"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "TensorFlow got no memory for a GPU's context",
        CauseClass.RUNTIME_OOM,
        Weight.STATEMENT,
        words("cuda_error_out_of_memory"),
        r"\bunable to create StreamExecutor for .{1,300}\bCUDA_ERROR_OUT_OF_MEMORY\b",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "KV cache too small",
        CauseClass.RUNTIME_OOM,
        Weight.REASON,
        words("kv cache"),
        r"larger than the (?:maximum number of tokens that can be stored in|available) KV cache",
    ),
)
