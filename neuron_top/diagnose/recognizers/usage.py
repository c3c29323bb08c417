"""Arguments, choices and versions that are refused."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

USAGE: tuple[Recognizer, ...] = (
    Recognizer(
        "a package manager refuses",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words(
            "do not match the hashes|get lock /var/lib|dpkg was interrupted|yum lockfile is held"
            "|condaverificationerror|invalidarchiveerror"
        ),
        (
            r"^(?:ERROR: )?THESE PACKAGES DO NOT MATCH THE HASHES\b"
            r"|^E: (?:Could not get lock /var/lib/|dpkg was interrupted, )"
            r"|^yum lockfile is held by another process|\b(?:CondaVerification|InvalidArchive)Error\b"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a Python that belongs to the system",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("externally-managed-environment"),
        r"^externally-managed-environment$",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "npm refuses",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("npm err! code e| error code e"),
        r"^(?:npm (?:ERR!|error)|\d{1,6} error) code E(?!LIFECYCLE)[A-Z]*\d{0,3}\b",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "wrong arguments",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words(
            "unrecognized arguments|arguments are required|invalid choice|expected one argument|no such option"
            "|unknown flag|unknown option|invalid value for|expected at least one argument|unknown argument"
            "|unknown command|not allowed with argument|is not a valid option|unrecognized option"
            "|flag provided but|unexpected keyword argument '-|.py: error: |argument -|argument {"
            "|invalid int value|invalid float value|one of the arguments|ambiguous option|missing option"
            "|missing argument|missing parameter|missing command|unexpected extra argument|flags parsing error"
            "|unsupported nproc_per_node|expected, but not set"
            "|unknown command line flag|illegal value '|could not consume arg|unexpected argument '|not expected: "
            "|error while handling argument|requires 1 arg|requires 2 arg|requires at least |requires exactly "
            "|unknown parameter: "
        ),
        (
            r"(?i)unrecognized (?:arguments|option)|arguments are required|invalid choice|expected (?:one"
            r"|at least one) argument"
            r"|no such option|unknown (?:flag|option|argument|command)s?\b|invalid value for|not allowed with argument"
            r"|is not a valid option|flag provided but not defined"
            r"|^[\w./-]{1,200}\.py(?: [\w-]{1,40})?: error: \S|^argument [-{]\S{0,200}?: \S"
            r"|invalid (?:int|float) value: '|one of the arguments .{1,300} is required|ambiguous option: "
            r"|flags parsing error:|unknown command line flag|illegal value '.{0,200}' specified for \w{1,20} flag"
            r"|\bmissing (?:option|argument|parameter|command)(?: ['\"]|\.)|unexpected extra arguments? \("
            r"|unsupported nproc_per_node value: |\benvironment variable \w{1,60} expected, but not set\b"
            r"|\berror while handling argument \"-|\brequires (?:at least |exactly )?\d{1,2} arg(?:ument)?s?\b"
            r"|^unknown parameter: ['\"]\S"
            r"|could not consume arg|unexpected argument '-|^the following arguments? (?:was|were) not expected: "
        ),
    ),
    Recognizer(
        "Nextflow knows no such variable",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("no such variable: "),
        r"^(?:ERROR ~ )?No such variable: \w",
    ),
    Recognizer(
        "Hadoop refuses a job",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("privilegedactionexception as:|priviledgedactionexception as:"),
        r"\bPrivil(?:e|ed)gedActionException as:.{1,200} cause:\S{1,200}(?:FileAlreadyExists|InvalidInput"
        r"|InvalidJobConf)Exception: \S",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a system that is not supported",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words(
            "unsupported distribution|unsupported linux|unsupported operating system|unsupported platform"
            "|unsupported os|unsupported architecture"
        ),
        r"(?i:^(?:error: )?unsupported (?:linux )?(?:distribution|operating system|platform|os|architecture)\b)",
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a program refuses an option",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words(" option -- |: invalid |: illegal -"),
        (
            r"^\S{1,200}: (?:illegal|invalid|unrecognized|unknown) (?:option -- ['`]?\S|-\w value )"
            r"|^[\w.+-]{1,60}: (?:--?[\w-]{1,60}: )?[Ii]nvalid (?:[\w-]{1,20} ){0,3}(?:value|argument|number|size)\b"
            r".{0,20}['`\"\u2018]"
        ),
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "PowerShell may not run a script",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("is not digitally signed|running scripts is disabled on"),
        r"\bis not digitally signed\b|\brunning scripts is disabled on this system\b",
    ),
    Recognizer(
        "Elasticsearch refuses to start",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("bootstrap checks failed|virtual memory areas vm.max_map_count"),
        r"\bbootstrap checks failed\b|\bmax virtual memory areas vm\.max_map_count \[\d+\] is too low\b",
    ),
    Recognizer(
        "systemd cannot start a program",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("code=exited, status=2"),
        r"\bcode=exited, status=2\d\d/[A-Z]",
    ),
    Recognizer(
        "a server runs already",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("a server is already running"),
        r"^A server is already running\b",
    ),
    Recognizer(
        "a command that is no more",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("and no longer works"),
        r"\bis deprecated and no longer works\b",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a shell's command refuses an option",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words(": invalid option"),
        r": line \d{1,6}: \w{1,20}: -\S{0,40}: invalid option$",
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a shell's variable that is not set",
        CauseClass.BAD_USAGE,
        Weight.MESSAGE,  # it ends the shell that prints it, perhaps a subshell: known failures that follow count more
        words(": unbound variable"),
        r": line \d+: \w+: unbound variable$",
    ),
    Recognizer(
        "a container's image has no valid name",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("invalid reference format"),
        r"\binvalid reference format(?:$|[.:])",
    ),
    Recognizer(
        "pip does not accept a requirement",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("invalid requirement: '"),
        r"^Invalid requirement: '",
    ),
    Recognizer(
        "conda is not set up in the shell",
        CauseClass.SCRIPT_ERROR,
        Weight.MESSAGE,  # without `set -e` the script goes on, with the Python that it has
        words("shell has not been properly configured to use|run 'conda init' before 'conda"),
        r"\bYour shell has not been properly configured to use 'conda |\bRun 'conda init' before 'conda ",
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a bucket that does not exist",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("the specified bucket does not exist"),
        r"\bThe specified bucket does not exist\b",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "AWS refuses a request",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words(") when calling the"),
        (
            r"\bAn error occurred \((?:(?:Param)?Validation|Invalid(?!ClientToken|AccessKey|Signature|Identity)"
            r"|Malformed|MissingParameter|Unsupported)\w{0,60}\) when calling the \w"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "Hydra finds no such choice",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("could not find '|could not load '|could not override '|primary config"),
        (
            r"^(?:In '[^']{1,200}': )?Could not (?:find|load|override) '[^']{1,300}'"
            r"|Primary config (?:module|directory) (?:'[^']{1,200}' )?not found"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "versions do not match",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words(
            "incompatible|version mismatch|mismatched|not compatible with|requires torch"
            "|is required but found|unsupported version|wrong version of|cudamismatchexception"
            "|was used to compile pytorch"
        ),
        (
            r"(?i)^(?!.{1,200}, but you have )(?:.*?)(?:version mismatch|mismatched .{0,40}version"
            r"|incompatible .{0,40}version|versions? .{0,60}(?:incompatible|not compatible)"
            r"|cudamismatchexception: |detected cuda version \S.{0,80}\bthat was used to compile pytorch"
            r"|is required but found|requires torch|unsupported version|^wrong version of \w)"
        ),
        Confidence.MEDIUM,
    ),
)
