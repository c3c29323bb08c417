"""Memory of the host that ran out."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

HOST_MEMORY: tuple[Recognizer, ...] = (
    Recognizer(
        "Ray guesses why a worker died",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("some potential root causes"),
        r"There are some potential root causes",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "host memory limit, perhaps",
        CauseClass.HOST_OOM,
        Weight.STATEMENT,
        words("pod memory limit|container memory limit"),
        r"(?i)(?:may|might) have exceeded .{0,20}(?:pod|container) memory limits?",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "PHP's limit of memory",
        CauseClass.HOST_OOM,
        Weight.STATEMENT,
        words("allowed memory size of "),
        r"\bFatal error: {1,2}Allowed memory size of \d+ bytes exhausted\b",
    ),
    Recognizer(
        "a worker over its budget of memory",
        CauseClass.HOST_OOM,
        Weight.STATEMENT,
        words("memory budget"),
        r"\bexceeded \d{1,3}% memory budget",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a model too large for the host",
        CauseClass.HOST_OOM,
        Weight.STATEMENT,
        words("more system memory ("),
        r"\bmodel requires more system memory \(\S.{0,40}\) than is available \(",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "shared memory",
        CauseClass.HOST_OOM,
        Weight.REASON,
        words("insufficient shared memory|out of shared memory|by signal: bus"),
        r"insufficient shared memory|out of shared memory|[Kk]illed by signal: Bus error",
    ),
    Recognizer(
        "host memory",
        CauseClass.HOST_OOM,
        Weight.REASON,
        words(
            "kill process|killed process|oom-kill|oom_kill|oomkilled|oom kill|cgroup out of memory|memoryerror"
            "|allocate memory|bad_alloc|nrt_fail_host_mem|memory pressure|outofmemoryerror|memory usage threshold"
            "|by signal: killed|exceeded memory limit|exceeded job memory limit"
            "|defaultcpuallocator|running out of memory|out of memory allocating"
            "|exceeded limit|term_memlimit|memory usage limit|exceeding memory limits|memory limits. |out_of_memory"
            "|ran out of memory|out_of_me+|heap out of memory|[winerror 1455]"
            "|memory quota "
            "|failed to allocate buffer|allocate cpu buffer"
            "|: out of memory|memory limit|exceeded a memory resource limit"
            "|usage hard limit|to free up memory|: badness |insufficient virtual"
        ),
        (
            r"(?i:out of memory: kill|(?<!invoked )oom[-_ ]?kill(?!_process[.+]))|Memory cgroup out of memory"
            r"|\bMemoryError\b"
            r"|\bjob killed: \w{0,4}mem\b.{0,80}exceeded limit|Cannot allocate memory"
            r"|\binsufficient virtual memory\b|^(?:\w{1,60}: )?failed to allocate buffer of size \d"
            r"|\b(?:failed|unable) to allocate CPU buffer\b"
            r"|can't allocate memory|bad_alloc|NRT_FAIL_HOST_MEM_ALLOC|memory pressure|(?<!CUDA)OutOfMemoryError"
            r"|[Kk]illed by signal: Killed|[Ee]xceeded (?:job )?memory limit|_ArrayMemoryError"
            r"|\bout of memory allocating \d+ bytes|JavaScript heap out of memory\b"
            r"|DefaultCPUAllocator: (?:not enough|can't allocate) memory"
            r"|\btasks? [\d,-]{1,80}: Out Of Memory$|PBS: job killed: v?mem \S{1,30} exceeded limit"
            r"|\b[Jj]ob exceeded a memory resource limit\b"
            r"|\bTERM_(?:MEM|SWAP)LIMIT\b|reaching LSF memory usage limit"
            r"|\b(?i:task|job|container|pod|instance|machine) ran out of memory\b"
            r"|(?i:\bmemory quota (?:vastly )?exceeded\b)"
            r"|for exceeding memory limits|running beyond (?:physical|virtual) memory limits"
            r"|(?i:slurm|job).{0,120}?(?i:state|status)(?: is)?\W{1,4}OUT_OF_MEMORY\b|^State: OUT_OF_MEMORY\b"
            r"|\bRun time [\d:-]{4,20}, OUT_OF_MEMORY\b|^\d.{0,200} OUT_OF_ME(?:\+|MORY) +\d+:\d+$"
            r"|(?i:\b(?:exceeded|gone over) (?:the |its |job )?mem(?:ory)? (?:usage )?(?:hard |soft )?limit)"
            r"|^(?:.{1,80}: )?LLVM ERROR: out of memory|\[WinError 1455\]"
            r"|exceeds the memory usage threshold|\bsending SIG(?:TERM|KILL) to process \d+ .{1,200}: badness \d"
            r"|(?i:killing) .{1,200} to (?:avoid running out of|free up) memory"
        ),
    ),
    Recognizer(
        "the kernel looks for what to kill",
        CauseClass.HOST_OOM,
        Weight.STATEMENT,
        words("invoked oom-killer"),
        r"\binvoked oom-killer: ",
    ),
    Recognizer(
        "node short of memory",
        CauseClass.HOST_OOM,
        Weight.REASON,
        words("low on resource: memory"),
        r"low on resource: memory",
        any_level=True,
    ),
)
