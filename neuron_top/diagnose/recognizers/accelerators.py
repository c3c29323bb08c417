"""What the stacks of other accelerators print: Ascend, Gaudi, Metal, OpenCL, TensorRT."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

METALS_ASSERTION = "an assertion of Metal's"
"""Row of a check of Apple's libraries that ends the process."""
ACCELERATORS: tuple[Recognizer, ...] = (
    Recognizer(
        "an accelerator's memory",
        CauseClass.RUNTIME_OOM,
        Weight.REASON,
        words(
            "malloc device memory|memalloc|device malloc failed|rtmalloc|el0004"
            "|allocation failed for size|workspace allocation of size|callbackerroroutofmemory"
            "|is false: failed to allocate "
        ),
        (
            r"\bMalloc device memory failed|\b(?:halMemAlloc|DevMemAlloc|rtMalloc|Device malloc)\b.{0,80}? failed\b"
            r"|\bEL0004\)?: \S"
            r"|\bMODULE:\w{1,40} (?:Allocation failed for size|workspace Allocation of size .{0,80}failed)"
            r"|\bkIOGPUCommandBufferCallbackErrorOutOfMemory\b"
            r"|\bTVMError: Check failed: .{1,80} is false: Failed to allocate \d"
        ),
    ),
    Recognizer(
        "OpenCL cannot allocate memory",
        CauseClass.RUNTIME_OOM,
        Weight.STATEMENT,
        words("cl_mem_object_allocation_failure|cl_out_of_host_memory"),
        r"(?i:error|fail).{0,120}\bCL_(?:MEM_OBJECT_ALLOCATION_FAILURE|OUT_OF_HOST_MEMORY)\b",
    ),
    Recognizer(
        "OpenCL cannot build a kernel",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("_program_failure"),
        r"(?i:error|fail).{0,120}\bCL_(?:BUILD|COMPILE|LINK)_PROGRAM_FAILURE\b",
    ),
    Recognizer(
        "OpenCL's compiler refuses a kernel",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words(": error: "),
        r"^\d{1,5}:\d{1,7}:\d{1,5}: (?:fatal )?error: \S",
    ),
    Recognizer(
        "an engine of another version of TensorRT",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("serialization assertion|engine plan file"),
        (
            r"Serialization assertion .{1,200} failed\b"
            r"|\bengine plan file is (?:not compatible|generated on an incompat)"
        ),
    ),
    Recognizer(
        "a call to OpenCL failed",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words("cl_invalid_|cl_out_of_resources"),
        r"(?i:error|fail).{0,120}\bCL_(?:INVALID_[A-Z_]{2,40}|OUT_OF_RESOURCES)\b",
        Confidence.MEDIUM,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        METALS_ASSERTION,
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words(": failed assertion `"),
        r"(?i:metal|mps|mtl).{0,200}: failed assertion `.{1,600}'$",
    ),
    Recognizer(
        "TensorRT cannot read a network",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("assertion failed: |no importer registered for op|invalid node - |unsupported_node"),
        (
            r"^(?:\[\d{1,2}\]|In node -?\d{1,6} \(\w{1,60}\): [A-Z_]{3,30}:) "
            r"(?:Assertion failed: |Invalid Node - |UNSUPPORTED_NODE)\S"
            r"|\bNo importer registered for op: \S"
        ),
    ),
    Recognizer(
        "TensorRT cannot build an engine",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words(": error code |] error code "),
        (
            r"\bI[A-Z]\w{2,40}::\w{1,60}: Error Code \d{1,2}: (?!OutOfMemory|Cuda)"
            r"|\[\w{0,40}(?:[Bb]uilder|[Oo]ptimizer|[Gg]raph|[Nn]etwork|[Nn]ode|[Cc]odeGenerator|[Vv]alidat)\w{0,40}"
            r"\.cpp::(?:\w{1,80}::){1,6}\d{1,6}\] Error Code \d{1,2}: (?!OutOfMemory|Cuda)"
        ),
    ),
    Recognizer(
        "an accelerator that is not there",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words("invalid device|error device id"),
        r"\binvalid device, current device=\d|\breason=\[error device id\]|\bCUDA error: invalid device ordinal",
    ),
    Recognizer(
        "rocBLAS has no kernels for a GPU",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("rocblas error: "),
        r"\brocBLAS error: (?:Cannot read |Could not (?:load|initialize) )",
    ),
    Recognizer(
        "a parameter that Ascend's converter refuses",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words("e10"),
        r"^E10\d{3}: (?=.{0,400}\b[Pp]arameter \[--)",
    ),
    Recognizer(
        "Rockchip's NPU refuses a task",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words("failed to submit!, op id: "),
        r"\bfailed to submit!, op id: \d",
    ),
    Recognizer(
        "no driver of AMD's GPUs",
        CauseClass.RUNTIME_INIT,
        Weight.REASON,
        words("rock module is not loaded|unable to open /dev/kfd"),
        r"\bROCk module is NOT loaded\b|\bUnable to open /dev/kfd\b",
    ),
    Recognizer(
        "a device of Vulkan was lost",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words("error_device_lost"),
        r"\bERROR_DEVICE_LOST\b",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "IREE's runtime reports a failure",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words(
            "unknown; |internal; |invalid_argument; |unavailable; |unimplemented; |failed_precondition; "
            "|not_found; |incompatible; |resource_exhausted; "
        ),
        (
            r"(?:^|[\s'])\S{1,300}:\d{1,7}: (?:UNKNOWN|INTERNAL|INVALID_ARGUMENT|UNAVAILABLE|UNIMPLEMENTED"
            r"|FAILED_PRECONDITION|NOT_FOUND|INCOMPATIBLE|RESOURCE_EXHAUSTED); \S"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "an accelerator is not opened",
        CauseClass.RUNTIME_INIT,
        Weight.REASON,
        words(
            "device acquire failed|synstatus|tsdopen|rtsetdevice|is already in use by process|failed to acquire "
            "|/sys/class/hailo|rknpu module|rknn device|qnn_open failed|(initdevice): "
        ),
        (
            r"\bDevice acquire failed\b|\bsynStatus(?: ?= ?| )\d{1,3} \[Device|\bTsdOpen failed\b"
            r"|\bThe [TGNH]PU is already in use by process\b|\bFailed to acquire \d{1,4} IPU\(s\)"
            r"|\bFailed open /sys/class/hailo"
            r"|\bfailed to open (?:rknpu module|rknn device)\b|\bqnn_open failed\b"
            r"|\(initDevice\): The condition \[.{1,80}\] failed\b"
            r"|\brtSetDevice (?:execute )?failed\b.{0,200}\[FUNC:"
        ),
    ),
    Recognizer(
        "Gaudi's compiler refuses a graph",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("synstatus|graph compile failed|failed to load tpc kernel for node"),
        r"\bGraph compile failed\b|\bFailed to load tpc kernel for node: "
        r"|\bsyn(?:Node|Graph|Tensor|Section)\w{0,60} failed\b.{0,300}\bsynStatus\b",
    ),
    Recognizer(
        "Gaudi's runtime reports a failure",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("synstatus"),
        r"\bsyn[A-Z]\w{1,60} failed\b.{0,300}\bsynStatus\b|\bsynStatus(?: ?= ?| )[1-9]\d{0,2} \[\w",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "Ascend's compiler says why",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words(" in op[|[pid: |compile op|ez3002: |ez3003: | failed call python "),
        (
            r"^E[1-9]\d{4}: (?!Inner Error|.{0,60}\bFailed to compile Op\b)"
            r"(?=.{0,60}?(?: In op\[|\[PID: |\b[Cc]ompile [Oo]p\b| Failed call Python ))"
            r"|(?:^|[\s:])EZ300[23]: \S"
        ),
    ),
    Recognizer(
        "Ascend reports an operation that was not compiled",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("failed to compile op "),
        r"^E[1-9]\d{4}: .{0,60}\bFailed to compile Op ",
    ),
    Recognizer(
        "MIOpen reports a failure",
        CauseClass.RUNTIME_EXEC,
        Weight.MESSAGE,
        words("miopen error: |miopen(hip): error ["),
        r"^MIOpen(?:\(HIP\): Error \[| Error: \S)",
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "an operation on Ascend's device failed",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words("npu function error: |inner error is reported as above"),
        (
            r"\bNPU function error: \S"
            r"|\bThe Inner error is reported as above\b.{0,80}\bthe current working operator name is \S"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "Ascend's compiler lacks a module of Python",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("ec0010: "),
        r"(?:^|\s)EC0010: ",
    ),
    Recognizer(
        "Ascend's operations are not installed",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("opp_kernel package|cannot find bin of op"),
        r"\bplease check if the opp_kernel package is installed\b|\bCannot find bin of op\b",
    ),
    Recognizer(
        "Ascend's runtime says why",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("[func:|ee1001: |ez1001: |ez9999: |ee1002: |ee4002: |el0003: |el0005: "),
        (
            r"\S\[FUNC:\w{1,80}\]\[FILE:[^\]]{1,120}\]\[LINE:\d{1,6}\]"
            r"|(?:^|[\s:])E[ELZ](?!9999: Inner Error|8888: Inner Error|300[23]: )\d{4}: \S"
        ),
        Confidence.MEDIUM,
    ),
)
