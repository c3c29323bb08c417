"""Programs that fail on a device."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

FALLBACKS: tuple[Recognizer, ...] = (
    Recognizer(
        "one choice of an autotuner",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("no valid triton configs"),
        r"\bNo valid triton configs\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "fallback failed too",
        CauseClass.RUNTIME_EXEC,
        Weight.CASCADE,
        words("fallback failed|fallback also failed"),
        r"(?i)fallback (?:also )?failed",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a server of models goes on without pinned memory",
        CauseClass.RUNTIME_INIT,
        Weight.CASCADE,
        words("failed to allocate pinned system memory"),
        r"\bfailed to allocate pinned system memory\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
"""A fallback that failed too, which only follows from the first failure; choices that an autotuner leaves out; what a
server goes on without."""
EXECUTION: tuple[Recognizer, ...] = (
    Recognizer(
        "hardware",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words(
            "neuron_hw_err|uncorrectable|abort state|nrt_exec_hw_err|nrt_hw_error|status=120|status: 120|err=120"
            "|err: 120|error=120|error: 120|nrt_exec_unit|fallen off the bus|nvrm: xid"
        ),
        (
            r"NEURON_HW_ERR=|[Uu]ncorrectable|is in an abort state|NRT_EXEC_HW_ERR_\w+|NRT_HW_ERROR"
            r"|NRT_EXEC_UNIT_UNRECOVERABLE|\b(?:status|error|err)[:=] ?120[1235]\b|fallen off the bus"
            r"|NVRM: Xid \(.{1,60}\): (?:48|6[1-4]|74|79|9[45]|1(?:10|19|20|21|40|43))\b"
        ),
    ),
    Recognizer(
        "the runtime does not take a graph",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("failed to schedule neff execution"),
        r"\bFailed to schedule neff execution\b",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "an exception of a custom operator",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("gpsimd exception"),
        r"\bGPSIMD EXCEPTION OCCURRED: (?=\S)",
    ),
    Recognizer(
        "execution timeout",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("execution timeout|inference timeout|nrt_timeout|execution timed out|fatal-rt"),
        (
            r"(?i)(?<!non-fatal, )(?<!non-fatal, ignoring\) )(?:execution|inference) time(?:out|d out)(?!=)"
            r"|NRT_TIMEOUT\b|FATAL-RT-UNDEFINED"
        ),
    ),
    Recognizer(
        "index out of bounds",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("out-of-bound|out of bound|nrt_exec_oob|indirect memory copy|error: 1006|status=1006"),
        (
            r"(?i:out[- ]of[- ]bounds? (?:access|indirect|error|memory))|NRT_EXEC_OOB|indirect memory copy"
            r"|(?:error|status)[:=] ?1006\b"
        ),
    ),
    Recognizer(
        "numerical error",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("numerical error|nrt_exec_completed_with_num_err|status=1003|error: 1003|err: 1003"),
        r"NRT_EXEC_COMPLETED_WITH_NUM_ERR|message=\"?Numerical [Ee]rror|\b(?:status|error|err)[:=] ?1003\b",
    ),
    Recognizer(
        "program too new",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words("operator code|nrt_unsupported_neff|neff version"),
        (
            r"Unsupported hardware operator code|NRT_UNSUPPORTED_NEFF_VERSION|(?i:unsupported neff version"
            r"|neff version\b.{0,80}not supported)"
        ),
    ),
    Recognizer(
        "a runtime call failed, in the framework's words",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("nrt::"),
        r"\b[Nn]rt::\w+ failed",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "host memory, in TorchNeuron's words",
        CauseClass.HOST_OOM,
        Weight.REASON,
        words("allocate host memory"),
        r"NRT EXECUTION FAILED: .{0,400}\ballocate host memory",
    ),
    Recognizer(
        "execution failed, in TorchNeuron's words",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("nrt execution failed: "),
        r"NRT EXECUTION FAILED: (?=\S)",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "execution failed, its reason on the next line",
        CauseClass.RUNTIME_EXEC,
        Weight.DEATH,
        words("nrt execution error"),
        r"NRT Execution error occurred on Neuron for operation=\S+$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a TPU's core halted",
        CauseClass.RUNTIME_EXEC,
        Weight.REASON,
        words("core halted unexpectedly|device halted prematurely"),
        r"\bCore halted unexpectedly\b|\bdevice halted prematurely\b",
    ),
    Recognizer(
        "execution failed",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words(
            "nrt_exec|nrt execution|execute model|execute the model|nrt_invalid|nrt_failure|nrt_queue_full|nrt_closed"
            "|status_code=|message=|nrt_load|nrt_tensor|execution failed|load neff|load nn|load subgraph|load the neff"
            "|stage graph|nrt status code|neff is invalid|invalid neff|failed in nrtd"
        ),
        (
            r"NRT_EXEC_\w+|NRT E(?:XECUTION FAILED|xecution error)|[Ff]ailed to execute (?:the )?model"
            r"|NRT_(?:INVALID(?:_HANDLE)?|FAILURE|QUEUE_FULL|CLOSED)\b|nrt_(?:execute|load|tensor).{0,100}(?i:fail"
            r"|error|status[_ ]?(?:code)?[= ]*[1-9])"
            r"|\bnrt \w{1,40} failed in nrtd\b"
            r"|status_code=[1-9]|\bnrt status code [1-9]|\bstatus=[1-9]\d{0,3},? (?:error )?message="
            r"|(?i:failed to (?:load (?:the )?(?:neff|nn|subgraph)|stage graph)\b|neff is invalid|invalid neff\b)"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a program in TorchScript failed",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("failed in the torchscript interpreter"),
        r"operation failed in the TorchScript interpreter",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
