"""What CUDA and NCCL print of GPUs."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

NCCL_WITHOUT_REASON = "NCCL states no reason"
"""Row of statuses of NCCL that name no reason; it may have printed that as a warning before."""
GPUS: tuple[Recognizer, ...] = (
    Recognizer(
        "GPU memory",
        CauseClass.RUNTIME_OOM,
        Weight.REASON,
        words(
            "cuda out of memory|hip out of memory|xpu out of memory|npu out of memory|mlu out of memory"
            "|musa out of memory|hpu out of memory|mps backend out of memory|error: out of memory"
            "|status_alloc_failed|cudaerrormemoryallocation|triton error [cuda]|internal: out of memory"
            "|malloc failed: out of memory|error(2), out of memory|memory error on gpu"
        ),
        (
            r"\b(?:CUDA|HIP|XPU|NPU|MLU|MUSA|HPU|MPS backend)(?: error:)? out of memory"
            r"|Triton Error \[CUDA\]: out of memory|\bstatus: (?:Internal|INTERNAL): out of memory"
            r"|\bCU(?:BLAS|DNN|SPARSE)_STATUS_ALLOC_FAILED"
            r"|\b(?:CUDA|HIP) error ?\(2\), out of memory|^Out of memory error on GPU \d"
            r"|\bcudaErrorMemoryAllocation\b|\b(?:cuda|hip)Malloc failed: out of memory\b"
        ),
    ),
    Recognizer(
        "GPU memory, told by NCCL",
        CauseClass.RUNTIME_OOM,
        Weight.REASON,
        words("cuda failure"),
        r"Cuda failure (?:2 )?'out of memory'",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a kernel needs more than a GPU has",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("out of resource: |uses too much shared data"),
        r"\bout of resource: \S|\buses too much shared data\b",
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a heading of CUDA's error",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words("cuda error:"),
        r"^CUDA [Ee]rror:$",
    ),
    Recognizer(
        "an assertion on a GPU",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("thread: [|device-side assert"),
        (
            r"\.cuh?:\d+: .{0,400}thread: \[[\d,]+\] Assertion .{1,400} failed"
            r"|(?:CUDA error: |Cuda failure (?:\d+ )?')device-side assert"
        ),
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a GPU's driver does not answer",
        CauseClass.RUNTIME_INIT,
        Weight.STATEMENT,
        words("initialize nvml|nvrm: api mismatch"),
        r"Failed to initialize NVML: \S|NVRM: API mismatch: \S",
    ),
    Recognizer(
        "NVIDIA's installer refuses",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words(
            "running an x server|nouveau kernel driver is|load the kernel module|kernel source tree for the"
            "|build the nvidia kernel|appears to already be loaded|kernel module was not created"
            "|pre-install script failed|the kernel module failed to load"
        ),
        (
            r"^You appear to be running an X server|^The Nouveau kernel driver is currently in use"
            r"|^Unable to (?:load the kernel module 'nvidia|find the kernel source tree for the currently running"
            r"|build the NVIDIA kernel module)|^An NVIDIA kernel module '[\w-]{1,40}' appears to already be loaded"
            r"|^The (?:nvidia )?kernel module (?:was not created|failed to load)"
            r"|^The distribution-provided pre-install script failed"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "NVIDIA's installer names another log",
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words("install of |installation failed. see|installation has failed."),
        (
            r"^Install of (?:\w{1,30} component|\d[\d.]{1,20}) failed\b|^Installation failed\. See log at \S"
            r"|^Installation has failed\. {1,3}Please see the file "
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "no GPU",
        CauseClass.RUNTIME_INIT,
        Weight.STATEMENT,
        words(
            "nvidia driver|nvidia-smi has failed|cuda-capable device|with cuda enabled|cuda driver version"
            "|installed cuda driver|gpus are available|cudagetdevicecount|cuda unknown error|nvidia-container-cli"
            "|no opencl|no cuda|no rocm"
            "|no hip |no gpu|no sycl|no vulkan|no metal|no level|no oneapi|no supported |no suitable |no compatible "
        ),
        (
            r"[Nn]o NVIDIA driver|NVIDIA-SMI has failed|^(?!failed call to cuInit).*[Nn]o CUDA-capable device"
            r"|not compiled with CUDA enabled"
            r"|CUDA driver version is insufficient|not supported in the installed CUDA driver"
            r"|NVIDIA driver on your system is too old"
            r"|No (?:CUDA|HIP|XPU|NPU) GPUs are available|error from cudaGetDeviceCount\(\)|CUDA unknown error"
            r"|nvidia-container-cli: (?:initialization|detection) error"
            r"|(?i:^(?:cannot|can't|could not|unable to|failed to) .{1,200}\b(?:because|since|as) no (?:\w{1,20} )?"
            r"GPUs? (?:is|are|was|were|could)\b)"
            r"|^(?:[\w.]{1,60}: )?(?i:no (?:supported |suitable |compatible )?"
            r"(?:OpenCL|CUDA|ROCm|HIP|SYCL|Vulkan|Metal|Level[ -]Zero|oneAPI)(?:-capable|-enabled)? "
            r"(?:devices?|platforms?|GPUs?)(?: (?:was|were|is|are|could be))? (?:found|detected|available))[.!]?$"
        ),
    ),
    Recognizer(
        "the driver is only a stub",
        CauseClass.RUNTIME_INIT,
        Weight.REASON,
        words("driver is a stub library"),
        r"\bCUDA driver is a stub library\b",
        any_level=True,
    ),
    Recognizer(
        "a GPU's own reason below an exception of NCCL",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("cuda failure"),
        r"^Cuda failure (?:\d+ )?'",
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a call to CUDA failed",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words(
            "cuda error:|cuda error(|hip error:|hip error(|cudnn error(|cublas error(|triton error [cuda]"
            "|unspecified launch failure"
            "|page fault (src_id|unhandled cuda error|cuda failure|: cuda error |blas_status_|cudnn_status_"
            "|illegal memory access|failed to launch "
            "|memory access fault by gpu|hw exception by gpu|hsa_status_error|hiperror|nvrm: xid|cuda_error_"
            "|timeout, signaled seq="
        ),
        (
            r"NVRM: Xid \(.{1,60}\): (?:13|31)\b|(?:Memory access fault|HW Exception) by GPU node"
            r"|\bpage fault \(src_id:|\bHSA_STATUS_ERROR\w*"
            r"|\bhipError(?!NotReady)[A-Z]\w+"
            r"|\b(?:CUDA|HIP|CUDNN|CUBLAS) error ?\([1-9]\d{0,4}\), \S"
            r"|^(?!failed call to cuInit)(?:.*)\b(?:CUDA|HIP) error: (?!\(null\))\S|Triton Error \[CUDA\]: "
            r"|unspecified launch failure|\bFailed to launch (?:CUDA|ROCm|HIP) kernel\b"
            r"|unhandled cuda error|Cuda failure (?:\d+ )?'|: CUDA error [1-9]\d{0,3} '"
            r"|\bCUDA_ERROR_(?:INVALID_(?:IMAGE|PTX|SOURCE|VALUE|HANDLE)|UNSUPPORTED_PTX_VERSION|NO_BINARY_FOR_GPU"
            r"|ILLEGAL_(?:ADDRESS|INSTRUCTION)|MISALIGNED_ADDRESS|LAUNCH_(?:FAILED|TIMEOUT|OUT_OF_RESOURCES)|ASSERT"
            r"|ECC_UNCORRECTABLE|HARDWARE_STACK_ERROR)\b|\bDriverError\(CUDA_ERROR_(?!OUT_OF_MEMORY)[A-Z_]+"
            r"|\*ERROR\* ring \S{1,20} timeout, signaled seq="
            r"|\bCU(?:BLAS|DNN)_STATUS_(?!SUCCESS)[A-Z_]+|\bCheck failed: .{1,80}\bCU(?:BLAS|DNN)_STATUS_SUCCESS \("
            r"|an illegal memory access"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "NCCL refuses the ranks",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("duplicate gpu detected|invalid rank requested|mismatch in rank count|ranks has already checked in"),
        r"Duplicate GPU detected|Invalid rank requested|mismatch in rank count|\branks has already checked in\b",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        NCCL_WITHOUT_REASON,
        CauseClass.COLLECTIVE,
        Weight.STATEMENT,
        words(
            "ncclsystemerror|ncclinternalerror|ncclinvalidusage|nccl error|ccl_error|hccl error"
            "|hccl function error|error: hccl|oneccl: |unhandled system error|test nccl failure "
            "|hccl interface return err"
        ),
        (
            r"\bTest NCCL failure \S{1,100}:\d{1,6} '|\bhccl interface return err \S"
            r"|\boneCCL: .{1,200}\bEXCEPTION: |\bHCCL (?:function )?error\b"
            r"|function error: Hccl\w+, error code is [1-9]"
            r"|\bnccl(?:System|Internal)Error\b|\bncclInvalidUsage\b|\bnccl[A-Z]\w{2,40} failed: unhandled system"
            r"|\bCCL_ERROR\| |NCCL [Ee]rror\b.{0,300}(?:unhandled system error|internal error|invalid usage)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
