"""The runtime's start: driver, devices, back end."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

RUNTIME_START: tuple[Recognizer, ...] = (
    Recognizer(
        "driver or device missing",
        CauseClass.RUNTIME_INIT,
        Weight.REASON,
        words(
            "neuron driver|neuron device|/dev/neuron|engines are running|failed to reset|driver version"
            "|devices found|neuron_device|compatible driver|no devices|module neuron|neuron:fw_io"
            "|device information from|open the device|open the nd|[hal] request|mla device"
        ),
        (
            r"Unable to (?:determine Neuron|read compatible) Driver version|requires Neuron Driver version"
            r"|(?i:no neuron devices?\b|neuron devices? (?:\w+ ){0,3}(?:not (?:found|available|detected|present)))"
            r"|(?i:(?:could not|can ?not|can't|unable to|failed to) (?:find|open|access) (?:any )?neuron devices?\b)"
            r"|(?i:/dev/neuron\d*.{0,60}(?:no such|denied|busy))|(?:open|access) /dev/neuron"
            r"|(?i:driver version .{0,40}(?:too old|not supported|unsupported|incompatible))"
            r"|\bNo devices specified|One or more engines are running|Failed to reset nd|\bnd ?\d+: failed to reset"
            r"|neuron:fw_io_\w+: .{0,40}timed out|(?i:neuron driver (?:is )?not (?:loaded|installed|found))"
            r"|[Mm]odule neuron is (?:in use|not currently loaded)|device information from the driver"
            r"|Could not open the (?:device index|nd)|\[hal\] request .{1,60} timed out"
            r"|\bBDF \S{1,20} is not an? MLA [Dd]evice"
        ),
    ),
    Recognizer(
        "a core does not answer",
        CauseClass.RUNTIME_INIT,
        Weight.REASON,
        words("timestamp program| timeout ("),
        r"\bTimestamp program \w{1,20} timeout|\bnd\d+ nc\d+ .{1,100}\btimeout \(\d+ ms\)",
    ),
    Recognizer(
        "the driver's module is not there",
        CauseClass.RUNTIME_INIT,
        Weight.STATEMENT,
        words("module neuron not found"),
        r"Module neuron not found",
    ),
    Recognizer(
        "the kernel's headers are missing",
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words("kernel headers for this kernel"),
        r"kernel headers for this kernel .{0,40}not",
    ),
    Recognizer(
        "the driver's source is refused",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("/dkms/"),
        r"/dkms/\S{1,200}:\d+:(?:\d+:)? (?:fatal )?error: ",
    ),
    Recognizer(
        "the driver's module is not built",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("return status for module build|pre_install failed|error processing package aws-neuron"),
        r"Bad return status for module build|\bpre_install failed|error processing package aws-neuron",
    ),
    Recognizer(
        "runtime does not start, told by torch-neuron",
        CauseClass.RUNTIME_INIT,
        Weight.STATEMENT,
        words("runtime could not be initialized"),
        r"Neuron [Rr]untime could not be initialized",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
        True,
        Doubt.SOME,
    ),
    Recognizer(
        "PyTorch/XLA's session failed",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words("check failed: session->session()"),
        r"\bCheck failed: session->session\(\)->",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "JAX finds no device",
        CauseClass.RUNTIME_INIT,
        Weight.STATEMENT,
        words("unable to initialize backend '|no tpu platform available|not_found: no "),
        (
            r"^RuntimeError: Unable to initialize backend '(?!neuron)\w{1,40}'"
            r"|\bUNAVAILABLE: No TPU Platform available|\bNOT_FOUND: No \w{1,40} device found\b"
        ),
    ),
    Recognizer(
        "runtime does not start",
        CauseClass.RUNTIME_INIT,
        Weight.STATEMENT,
        words(
            "nrt_init|could not be initialized|nrt_uninitialized|initialize devices|tdrv_init|initialize neuron"
            "|neuron runtime|initialize backend|neuron.sock|neuron-rtd|unknown backend|pjrt|init failed"
            "|missing xla configuration|operation xrt"
        ),
        (
            r"(?:Unable to initialize|Unknown) backend:? '?neuron|(?i:unknown pjrt[ _](?:backend|plugin|device))"
            r"|: Missing XLA configuration$|\bCannot assign a device for operation XRT\w"
            r"|PJRT_Client_Create: |(?i:neuron\.sock.{0,60}(?:unavailable|refused|no such))"
            r"|Is neuron-rtd running|"
            r"\binit failed: NRT_"
            r"|NRT_\w+ in nrt_init\b|nrt_init\w*\W.{0,60}(?i:fail|error|status)"
            r"|(?i:fail|error|unable|could not).{0,70}nrt_init"
            r"|(?i:neuron runtime.{0,40}(?:could not|failed|cannot) .{0,20}initiali[sz]ed?)|NRT_UNINITIALIZED"
            r"|(?i:failed to initialize (?:the )?(?:neuron|devices|nrt|runtime))|tdrv_init\w* failed"
        ),
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
)
