"""Failures because something is not installed."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

NOT_INSTALLED = "missing dependency"
"""Row of modules, programs and libraries that are not there."""
OTHER_VERSION = "a library of another version"
"""Row of what a library needs from another one that has it no longer, or not yet."""
DEPENDENCIES: tuple[Recognizer, ...] = (
    Recognizer(
        "no versions fit together",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words(
            "no solution found when resolving|version solving failed|resolutionimpossible|could not solve for"
            "|have conflicting dependencies|unsatisfiableerror|─▶ because |`-> because "
        ),
        (
            r"No solution found when resolving\b(?!.{0,200}:$)|(?:─▶|`->) Because \S"
            r"|\bversion solving failed\b|^(?:ERROR: )?ResolutionImpossible:"
            r"|\b(?:LibMamba)?UnsatisfiableError\b"
            r"|Could not solve for environment specs|because these package versions have conflicting dependencies\b"
        ),
    ),
    Recognizer(
        "no versions fit together, for a reason below",
        CauseClass.BAD_USAGE,
        Weight.DEATH,
        words("no solution found when resolving"),
        r"No solution found when resolving\b.{0,200}:$",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "installed versions do not fit a requirement",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("versionconflict: ("),
        r"\b(?:Contextual)?VersionConflict: \(\S",
    ),
    Recognizer(
        "no compiler for a package",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("can't find rust compiler|compiler: cl is not found"),
        r"\bcan't find Rust compiler$|\bCompiler: \S{1,40} is not found\b",
    ),
    Recognizer(
        "nothing compiles kernels for a GPU",
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words("ptx compilation provider"),
        r"\bNo PTX compilation provider is available\b",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "no license",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("license checkout failed"),
        r"^License checkout failed\.",
    ),
    Recognizer(
        "Python lacks its SSL module",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("ssl module is not available"),
        r"\b(?:SSL|ssl) module is not available\b",
    ),
    Recognizer(
        "missing shared library",
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words("shared object file|error opening lib"),
        r"cannot open shared object file|\bError opening lib[\w.+-]{1,80}\.so\b",
    ),
    Recognizer(
        NOT_INSTALLED,
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words(
            "is not a supported wheel|following module(s)|locate a modulefile|environmentnamenotfound"
            "|environmentlocationnotfound|resolvepackagenotfound"
            "|cuda_home|find nvcc|locate nvcc|find hipcc|locate hipcc|find c compiler|cuda toolkit|rocm_home"
            "|no installation candidate|packagesnotfounderror"
            "|is not found or cannot be loaded|.so not found|.sonot found| in path|fatal error: "
            "|: cannot find -l"
            "|no module named|cannot import name|undefined symbol|command not found|: not found"
            "|working triton installation"
            "|modulenotfounderror|importerror|packagenotfounderror|distributionnotfound|no matching distribution"
            "|satisfies the requirement|installation candidates for|is not installed|executable file not found"
            "|libneuronpjrt"
            "|no such file or directory|glibc|libxml2|unable to locate package|no package |execve(): "
            "|execvp error on |-cc is installed|module compiled against|pip install |pip3 install "
            "|unsatisfiedlinkerror: |cannot run program |io.ioexception: error=2, |[winerror 12"
            "|could not resolve linux kernel|can't find plugin for |cannot load such file -- |can't find executable "
        ),
        (
            r"is not a supported wheel\b|following module\(s\) (?:are unknown|cannot be loaded)"
            r"|[Uu]nable to locate a modulefile"
            r"|\bEnvironment(?:Name|Location)NotFound\b|\bResolvePackageNotFound\b"
            r"|\b(?:CUDA|ROCM)_HOME (?:environment variable )?(?:does not exist|is not set)\b"
            r"|^(?:(?:\w+\.){0,9}\w+(?:Error|Exception): )?(?i:(?:could not|cannot|can't|unable to|failed to) "
            r"(?:find|locate) (?:the |a )?(?:nvcc|hipcc|C compiler|cuda_home|rocm_home|cuda toolkit)\b)"
            r"|\bhas no installation candidate\b"
            r"|\bPackagesNotFoundError\b|\blib[\w.+-]{1,80}\.so ?not found\b"
            r"|\bLibrary \S{1,100} is not found or cannot be loaded\b"
            r"|(?i:\b(?:unable to|could not|cannot|can't|failed to) (?:find|locate) \S{1,80} (?:in|on) (?:the |your )?"
            r"\$?PATH\b|\bnot found (?:in|on) (?:the |your )?(?:system )?\$?PATH\b)"
            r"|\bfatal error: ['\"]?[\w./+-]{1,200}['\"]?(?: file not found|: No such file or directory)"
            r"|^\S{0,200}\bld(?:\.\w{1,8})?: cannot find -l\w"
            r"|\bNo module named\b|cannot import name|Unable to locate package|^No package \S+ available"
            r"|undefined symbol|(?<![\"'`])[Cc]ommand not found(?![\"'`])"
            r"|\b(?:sh|bash|dash|zsh|exec): .{0,60}: not found|^[^\s:]{1,300}: \d+: .{1,200}: not found$"
            r"|ModuleNotFoundError|ImportError(?! while (?:import|load)ing (?:test module|conftest) )"
            r"|PackageNotFoundError"
            r"|DistributionNotFound|No matching distribution found|satisfies the requirement|executable file not found"
            r"|Unable to find installation candidates for \S"
            r"|(?:is|are) not installed\b|No such file or directory: ['\"](?:\S*/)?(?:neuronx?-\w+"
            r"|libneuronpjrt-path)['\"]"
            r"|[Mm]odule compiled against A[BP]I version"
            r"|^(?:\w+\.){0,9}\w+(?:Error|Exception): (?!.{0,400}(?i:version|upgrade)).{0,400}\bpip3? install [A-Za-z]"
            r"|version `GLIBC|\bexecv(?:e\(\):|p error on file|\w{1,3}\(.{1,300}\) failed:) .{0,300}"
            r"No such file or directory"
            r"|check that neuronx?-cc is installed|\bCannot find a working triton installation\b"
            r"|\bcannot load such file -- \S|\bcan't find executable \S{1,100} for gem\b"
            r"|Could not resolve Linux kernel version|\bCan't find plugin for \w"
            r"|\bstart failed: \S{1,200}: No such file or directory"
            r"|^(?:STDERR: )?(?:(?:\S{0,100}/)?(?:ba|da|z|k)?sh: (?:(?:line )?\d{1,6}: )?|\S{1,300}: line \d{1,6}: )"
            r"/\S{0,300}/bin/(?!activate:)\S{1,100}: No such file or directory$"
            r"|\bUnsatisfiedLinkError: \S|\bCannot run program \".{1,200}\"(?: \(.{1,200}\))?: error=2,"
            r"|\bIOException: error=2, |\[WinError 12[67]\]"
            r"|(?:missing|not find|requires?|install) .{0,30}lib(?:xml2|neuron\w*|nrt|fabric)\b"
        ),
    ),
    Recognizer(
        "apt cannot get what a package needs",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("depends: "),
        r"^\S{1,80} : (?:Pre)?Depends: .{1,200}? but (?:\S{1,80} is to be installed|it is not )",
    ),
    Recognizer(
        "a module that was made for another NumPy",
        CauseClass.MISSING_DEPENDENCY,
        Weight.MESSAGE,  # a warning: the program ends only if it needs what the module cannot do then
        words("compiled using numpy"),
        r"\bcompiled using NumPy \d",
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "clang finds no toolkit for a GPU",
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words("cannot find rocm |cannot find hip |cannot find cuda |cannot find device library|cannot find libdevice"),
        (
            r"\bcannot find (?:ROCm (?:installation|device)|HIP (?:runtime|version)|CUDA installation"
            r"|(?:device library|libdevice) for)\b"
        ),
    ),
    Recognizer(
        "no display for a window",
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words(
            "display environment variable is missing|glfwerror: (|initialize glfw|name and no $display"
            "|connect to display|open display"
            "|bad x server connection|no qt platform plugin"
        ),
        (
            r"\bDISPLAY environment variable is missing\b"
            r"|\bGLFWError: \(\d{1,6}\) |[Cc]ould not initialize GLFW|\bno display name and no \$DISPLAY\b"
            r"|\b(?:could not connect to|(?:[Cc]annot|[Cc]an't|[Uu]nable to|[Cc]ould not) open) display\b"
            r"|\bbad X server connection\b|\bno Qt platform plugin could be initialized\b"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        OTHER_VERSION,
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words("' has no attribute '"),
        r"^(?:Error message: {0,8})?module '[\w.]{1,100}' has no attribute '",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a lazy import failed",
        CauseClass.MISSING_DEPENDENCY,
        Weight.DEATH,
        words("because of the following error|importerror while "),
        (
            r"Failed to import \S{1,200} because of the following error"
            r"|^ImportError while (?:importing|loading) (?:test module|conftest) '"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
