"""Failures of the compiler, and failed compiles as frameworks and services report them."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import CRASHES, Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.late_pattern import late_pattern

_COMPILERS = r"(?:neuronx?-cc|neuronxcc|walrus_driver|hlo2penguin|hlo-opt|tensorizer|hh_checker|birsim|penguin)"
"""Programs of the compiler, by name."""
_BUILDS_COMPILERS = (
    r"(?:[\w.+-]{1,40}-)?(?:cc|gcc|g\+\+|c\+\+|cc1|cc1plus|gfortran|clang(?:\+\+)?|ld|lld|llc|opt|nvcc|cudafe\+\+|cicc"
    r"|ptxas|nvlink|hipcc|icp?x|icc|icpc|dpcpp|rustc)(?:-\d{1,3}(?:\.\d{1,3})?)?"
)
"""Compilers of C, C++, CUDA, HIP and Rust, of LLVM's and MLIR's, their parts and the linkers."""
LLVM_CRASHED = "a compiler on LLVM crashed"
"""Row of what LLVM prints above the arguments and the stack."""
_DOTS = r"^\.{2,2000}"
"""Dots that the Neuron compiler prints while it works; after them a shell reports the signal that ended it."""
_BUILDS_COMMAND = (
    rf"\bCommand ['\"]\[?['\"]?(?:[^'\"\s,]{{0,300}}/)?{_BUILDS_COMPILERS}['\" ].{{0,5000}} died with <Signals\.SIG"
)
"""How Python reports the signal that ended one of them."""
_RUSTS_PROCESS = (
    rf"^process didn't exit successfully: `(?:\S{{0,300}}/)?{_BUILDS_COMPILERS} .{{0,5000}}\(signal: \d{{1,2}}, SIG"
)
"""The same, as cargo reports it."""
BUILD_KILLED, BUILD_CRASHED = "a build's compiler was killed", "a build's compiler crashed"
"""Rows of what a signal did to one of them."""
CALLS_COMPILER = late_pattern(
    rf"(?:(?:ccache|sccache|time|cd \S{{1,300}} &&) )?(?:\S{{0,300}}/)?{_BUILDS_COMPILERS} \S"
)
"""How a command begins that calls one of them, as Ninja prints it above the output of a step that failed."""
_BUILDS_VARIABLE = r"\$\{?(?:CC|CXX|CLANG|GCC|LD|LLC|NVCC|OPT)\b"
"""How a shell script calls one of them, as the shell prints it behind the signal that ended it."""
COMPILER: tuple[Recognizer, ...] = (
    Recognizer(
        "compiler killed",
        CauseClass.COMPILE_KILLED,
        Weight.REASON,
        words(
            "f137|forcibly killed|returned: -9|error code: -9|signals.sigkill|status -9|status 137|code 137|code -9"
            "|failed with -9|failed with 137|killed signal terminated program|..killed"
        ),
        (
            rf"{_DOTS}Killed\b"
            r"|\[?F137\]?|forcibly killed|Killed signal terminated program \S"
            r"|[Cc]ompile command returned: -9|[Rr]eceived error code: -9"
            rf"|{_COMPILERS} failed with (?:-9|137)\b"
            rf"|{_COMPILERS}.{{0,4000}}(?:Signals\.SIGKILL|exit (?:status|code):? (?:-9|137)\b)"
        ),
    ),
    Recognizer(
        "compiler killed by the kernel",
        CauseClass.COMPILE_KILLED,
        Weight.REASON,
        words("kill process|killed process"),
        rf"(?i)out of memory: kill(?:ed)? process \d+ \(?{_COMPILERS}",
    ),
    Recognizer(
        "compiler crashed",
        CauseClass.COMPILE_CRASHED,
        Weight.REASON,
        words(
            "f134|f139|f135|f136|terminated abnormally|signals.sig|core dumped|segmentation|status -6|status -11"
            "|status 134|status 139|exited with code -|code 139|code 134|failed with -|failed with 13"
            "|..floating point|..aborted|..bus error|..illegal instruction"
        ),
        (
            rf"{_DOTS}(?:{CRASHES})\b|"
            r"\[F13[4-69]\]|(?<!trace )terminated abnormally"
            rf"|{_COMPILERS} failed with (?:-(?:4|6|7|8|11)|13[24-69])\b"
            rf"|{_COMPILERS}.{{0,4000}}(?:Signals\.SIG(?:SEGV|ABRT|BUS|ILL|FPE)|core dumped|[Ss]egmentation fault"
            r"|exit (?:status|code):? (?:-6|-11|-7|134|135|139)\b)|Backend exited with code -(?:6|7|11)\b"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        BUILD_KILLED,
        CauseClass.COMPILE_KILLED,
        Weight.REASON,
        words(
            "internal compiler error: killed|unable to execute command: killed|died due to signal 9"
            "|terminated with signal 9|terminated by signal 9|signals.sigkill|(signal: 9"
        ),
        (
            r"^(?!(?:note|hint|info): )(?:\S{1,300}: )?"
            r"(?:internal compiler error|(?:(?:fatal )?error: )?unable to execute command): Killed\b"
            r"|^nvcc error {1,4}: '\S{1,80}' died due to signal 9\b"
            r"|\bcollect2: (?:fatal )?error: ld terminated with signal 9\b"
            r"|^\S{1,40}-Fatal-\S{1,300} TERMINATED by signal 9\b"
            rf"|{_BUILDS_COMMAND}KILL\b|{_RUSTS_PROCESS}KILL\b"
        ),
        doubt=Doubt.SOME,
    ),
    Recognizer(
        BUILD_CRASHED,
        CauseClass.COMPILE_CRASHED,
        Weight.REASON,
        words(
            "internal compiler error: |unable to execute command: |died due to signal |terminated with signal "
            "|terminated by signal |signals.sig|(signal: |signal terminated program|: line "
        ),
        (
            r"^(?!(?:note|hint|info): )(?:\S{1,300}: )?internal compiler error: \S|\bsignal terminated program \S"
            r"|^(?:\S{1,300}: (?:fatal )?error: )?unable to execute command: "
            r"(?:Segmentation|Abort|Bus error|Illegal|Floating)"
            r"|^nvcc error {1,4}: '\S{1,80}' died due to signal (?:[4678]|11)\b"
            r"|\bcollect2: (?:fatal )?error: ld terminated with signal (?:[4678]|11)\b"
            r"|^\S{1,40}-Fatal-\S{1,300} TERMINATED by signal (?:[4678]|11)\b"
            rf"|: line \d{{1,6}}: +\d{{1,10}} (?:{CRASHES})\b.{{0,40}} {_BUILDS_VARIABLE}"
            rf"|{_BUILDS_COMMAND}(?:SEGV|ABRT|BUS|ILL|FPE)\b|{_RUSTS_PROCESS}(?:SEGV|ABRT|BUS|ILL|FPE)\b"
        ),
        Confidence.MEDIUM,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "ptxas refuses a kernel",
        CauseClass.COMPILE_ERROR,
        Weight.DEATH,
        words("ptxaserror: |triton ptx codegen error|`ptxas` failed with error code"),
        r"\bPTXASError: |\bInternal Triton PTX codegen error\b|`ptxas` failed with error code",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "compiler killed, told by torch-neuron",
        CauseClass.COMPILE_KILLED,
        Weight.REASON,
        words("(sig_kill|(sigkill|command returned: -9"),
        r"neuron compiler\) process .{0,40}\(SIG_?KILL\)|^Compile command returned: -9\b",
        any_level=True,
    ),
    Recognizer(
        "a converter does not know an operator",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words('unresolved custom op: |registered "infer" function|neither a custom op nor |] is not fully defin'),
        (
            r"\bEncountered unresolved custom op: \S|\bno registered \"infer\" function for node\b"
            r"|\bop is neither a custom op nor a flex op\b|^Shape \[.{1,200}\] is not fully defin(?:ed for output\b|$)"
        ),
    ),
    Recognizer(
        "MLIR refuses an operation",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words(": error: '"),
        r":\d{1,7}:\d{1,5}: error: '[a-z]\w{0,40}\.[\w.]{1,80}' op ",
    ),
    Recognizer(
        "a compilation failed",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("compilation failed: |compilation failed!"),
        r"(?:^|Exception: |Error: )Compilation failed(?:: \S|!$)",
        Confidence.MEDIUM,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        LLVM_CRASHED,
        CauseClass.COMPILE_CRASHED,
        Weight.DEATH,
        words("stack dump:"),
        r"^Stack dump:$",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
        any_level=True,
    ),
    Recognizer(
        "compiler crashed, told by torch-neuron",
        CauseClass.COMPILE_CRASHED,
        Weight.REASON,
        words("(sig_abort|(sigabrt|(sig_segv|(sigsegv|(sig_bus|neuron compiler) crashed"),
        r"neuron compiler\) (?:crashed\b|process .{0,40}\(SIG_?(?:ABORT|ABRT|SEGV|BUS)\))",
        Confidence.MEDIUM,
        any_level=True,
    ),
    Recognizer(
        "a stage of the compiler failed",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("driver failed to complete|exit status (|process pool was terminated|an exception was thrown"),
        (
            r"^(?:Error message: {1,8})?(?:\w+ driver failed to complete|Non-zero exit status \(-?\d+\) for command"
            r"|A process in the process pool was terminated)|^An exception was thrown:$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "compiler interrupted",
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words("signals.sig"),
        rf"{_COMPILERS}.{{0,4000}}Signals\.SIG(?:HUP|INT|TERM)",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "compile timeout",
        CauseClass.COMPILE_TIMEOUT,
        Weight.REASON,
        words("timed out|timeout|time limit"),
        (
            rf"(?i)\bcompil(?:e|ation|ing|er)\b.{{0,80}}"
            r"(?:timed out|\btimeout\b(?! ?[=:]| (?:timer|period))|exceeded (?:the )?time)"
            rf"|(?:timed out|timeout) (?:while |during |waiting for )?(?:the )?compil"
            rf"|{_COMPILERS}.{{0,3000}}timed out after"
        ),
    ),
    Recognizer(
        "OpenVINO cannot convert a model",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("original exception message: |cannot be converted to "),
        r"^Original exception message: \S|\boperations that cannot be converted to \w{1,12} IR\b",
    ),
    Recognizer(
        "compiler arguments",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words("ncc_earg|ncc_eusg"),
        r"\bNCC_E(?:ARG|USG)\d{3}\b",
    ),
    Recognizer(
        "graph does not fit the device",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("ncc_eoom|ncc_exsp|peak hbm|hbm limit"),
        r"\bNCC_E(?:OOM|XSP)\d{3}\b|peak HBM usage|exceeds HBM limit",
    ),
    Recognizer(
        "graph too large",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("ncc_extp|too many instructions|instruction limit|instruction count|instruction-limit"),
        (
            r"\bNCC_EXTP\d{3}\b|[Tt]oo many instructions|exceed.{0,70}instruction (?:limit|count)"
            r"|instruction (?:limit|count).{0,60}exceed"
        ),
    ),
    Recognizer(
        "operator not supported",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("ncc_evrf|ncc_euoc|not supported by neuron"),
        r"\bNCC_E(?:VRF|UOC)\d{3}\b|HLO instructions? (?:is|are) not supported by neuronx?-cc",
    ),
    Recognizer(
        "compiler code",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("ncc_|ncc-|["),
        (
            r"\bNCC_[A-Z]{3,5}\d{3}\b|\bNCC-\d{4}: \S|\[(?!F1)[A-Z]{3}\d{3}\] .{0,200}?"
            r"(?i:err|fail|unsupport|exceed|too many|assert|invalid|\bnot\b|n't\b|cannot|out of|ticket|illegal|no "
            r"|exception)"
        ),
    ),
    Recognizer(
        "compiler code without brackets",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("error"),
        r"(?i:compiler error|compilation error|error class|error code)\W{1,4}[A-Z]{3}\d{3}\b",
    ),
    Recognizer(
        "compiler's error message",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("error message:|bir error|bir verification| inst."),
        (
            r"^Error message: {0,8}(?=\S)(?!Traceback \()|^=+ BIR error =+(?: |$)"
            r"|^(?:what\(\): +)?=+ BIR verification failed =|^Instruction \w{1,60} inst\.\d+: \S"
        ),
    ),
    Recognizer(
        "Inductor or Triton cannot compile a graph",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("inductorerror: |loweringexception: |compilationerror: at "),
        r"\b(?:InductorError|LoweringException): \S|\bCompilationError: at \d",
    ),
    Recognizer(
        "native compile failed",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words("compilation failed:|compilationerror|backendcompilerfailed: "),
        (
            r"COMPILATION FAILED: ?(?=[^\s\"])|\bCompilationError: \S"
            r"|\bBackendCompilerFailed: (?!.{1,200} raised:$)\S"
        ),
    ),
    Recognizer(
        "PyTorch cannot capture a graph",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("torch._dynamo.exc.|guardondatadependentsymnode: |unsupportedoperatorexception: "),
        (
            r"^torch\._dynamo\.exc\.(?!BackendCompilerFailed|TorchRuntimeError)\w{1,60}: \S"
            r"|\b(?:GuardOnDataDependentSymNode|UnsupportedOperatorException): \S"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "internal compiler error",
        CauseClass.COMPILE_ERROR,
        Weight.REASON,
        words(
            "internal tensorizer error|internal transformation|backend exited with|compiler assertion"
            "|failed assertion check"
        ),
        (
            r"Internal (?:tensorizer error|transformation failed)|Backend exited with code [1-9]|compiler assertion"
            r"|\binst failed assertion check: \S"
        ),
    ),
    Recognizer(
        "a name that a compiler does not know",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words(
            "undefined reference to |nicht definierter verweis auf |rence indéfinie vers |riferimento non definito a "
            "|未定义的引用|: undefined: |declared and not used"
        ),
        (
            r"\b(?:undefined reference to|[Nn]icht definierter Verweis auf|indéfinie vers|riferimento non definito a)"
            r" [`'\"\u2018\u201e\u00ab]|未定义的引用"
            r"|^\S{1,200}\.go:\d{1,7}:\d{1,5}: (?:undefined: |declared and not used)"
        ),
    ),
    Recognizer(
        "a compiler's program crashed",
        CauseClass.COMPILE_CRASHED,
        Weight.REASON,
        words(" was terminated due to receipt of signal "),
        r"^\"\S{0,300}/cce/\S{1,300}\" was terminated due to receipt of signal \d",
    ),
    Recognizer(
        "a tool for object files failed",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("ar: |ar.exe: |ranlib: |ranlib.exe: "),
        (
            r"^(?:\S{1,300}[/\\-])?(?:ar|ranlib)(?:\.exe)?: (?:could not create |unable to "
            r"|\S.{0,1000}: No such file or directory$)"
        ),
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "LLVM gave up",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("llvm error: "),
        r"^(?:(?!.{0,80}(?:CHECK|[Ee]xpect)).{1,80}: )?LLVM ERROR: (?!out of memory)\S",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "internal compiler error without a message",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("internal compiler error"),
        r"(?i)an internal compiler error has occurred",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "native compile failed without a message",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("compilation error occurred"),
        r"Compilation error occurred on Neuron",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "no operator was compiled",
        CauseClass.COMPILE_ERROR,
        Weight.CASCADE,
        words("partitioned and"),
        r"No operations were successfully partitioned",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "compile gave up",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("compilation failed for|compiler status error|compiler status fail"),
        r"Compilation failed for \S+|Compiler status (?:ERROR|FAIL)",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "nothing of a model was compiled",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("no operator will be running on"),
        r"no operator will be running on (?:AWS|Neuron)",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "compiler failed, told by PyTorch/XLA's service",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("-cc compilation failed"),
        rf": {_COMPILERS} compilation failed",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "a runtime call failed, told by the service",
        CauseClass.RUNTIME_EXEC,
        Weight.STATEMENT,
        words("op_requires failed"),
        r"OP_REQUIRES failed at \S+ : .{0,200}?\b[Nn]rt(?:::|_|$)",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a graph is refused, told by the service",
        CauseClass.COMPILE_ERROR,
        Weight.STATEMENT,
        words("op_requires failed"),
        (
            r"OP_REQUIRES failed at tpu_\w+\.cc:\d+ : (?!RESOURCE_EXHAUSTED)[A-Z_]{3,30}: "
            r"(?!From /job|\S*neuronx?-cc compilation failed)\S"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "compiler failed",
        CauseClass.COMPILE_ERROR,
        Weight.DEATH,
        words(
            "-cc compilation failed|neuron-cc failed|neuronx-cc failed|status 70|code 70|exit status: 70"
            "|command returned:|runneuronccimpl|non-zero exit status|calledprocesserror: "
        ),
        (
            rf"{_COMPILERS} (?:compilation )?failed|exit (?:status|code):? 70\b|Compile command returned: (?!0\b)-?\d"
            rf"|{_COMPILERS}.{{0,4000}}non-zero exit status|CalledProcessError: Command .{{0,60}}{_COMPILERS}"
            r"|RunNeuronCCImpl: error"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "a compile made nothing",
        CauseClass.COMPILE_ERROR,
        Weight.DEATH,
        words("neff bytes as none|executable (neff) is empty"),
        r"load with neff bytes as None|Neuron executable \(neff\) is empty",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "compiler ended with a status",
        CauseClass.COMPILE_ERROR,
        Weight.DEATH,
        words("exitcode="),
        r"Subcommand returned with exitcode=(?!0\b)",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "failed graphs in a summary",
        CauseClass.COMPILE_ERROR,
        Weight.DEATH,
        words("failed: |failed compilations|failed, "),
        r"Compilation summary.{0,80}(?:Failed: [1-9]|: [1-9]\d*/\d+ failed)|Total failed compilations: [1-9]",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
)
