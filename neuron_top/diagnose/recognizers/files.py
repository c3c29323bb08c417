"""Files, disks and limits of the system, and what a shell cannot read or run."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

DISKS: tuple[Recognizer, ...] = (
    Recognizer(
        "disk full",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("no space left|quota exceeded|read-only file system|ephemeral local storage"),
        r"(?i:no space left on device)|[Dd]isk quota exceeded|Read-only file system|local storage usage exceeds",
    ),
)
FILES: tuple[Recognizer, ...] = (
    Recognizer(
        "a file could not be read or written",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words(
            "input/output error|stale file handle|stale nfs|file write failed|streamwriter failed"
            "|endpoint is not connected|endpoint shutdown"
        ),
        (
            r"\bInput/output error|[Ss]tale (?:NFS )?file handle|file write failed|PytorchStreamWriter failed writing"
            r"|Transport endpoint is not connected|Cannot send after transport endpoint shutdown"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a file is damaged",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words(
            "deserializing header|streamreader failed|unpicklingerror|badzipfile|ran out of input|badgzipfile"
            "|file signature not found"
        ),
        (
            r"Error while deserializing header|PytorchStreamReader failed|\bUnpicklingError: (?!Weights only)"
            r"|\bBad(?:Zip|Gzip)File\b|\bEOFError: Ran out of input|file signature not found"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "an archive is damaged",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("gzip: |tar: |end-of-central-directory signature"),
        (
            r"^gzip: \S{1,300}: (?:unexpected end of file|not in gzip format|invalid compressed data)"
            r"|^tar: (?:Unexpected EOF in archive|This does not look like a tar archive)"
            r"|\bEnd-of-central-directory signature not found"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "llama.cpp refuses a model's file",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("error loading model|gguf_init_from_file"),
        r"(?:\bllama_model_load\w{0,20}: |^)error loading model: (?=\S)|^gguf_init_from_file\w{0,20}: failed to \w+ ",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a checkpoint does not fit the model",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("in loading state_dict|key(s) in state_dict"),
        r"Error\(s\) in loading state_dict for \S|(?:Missing|Unexpected) key\(s\) in state_dict: ",
    ),
    Recognizer(
        "weights that do not fit, listed",
        CauseClass.SCRIPT_ERROR,
        Weight.MESSAGE,
        words("copying a param"),
        r"size mismatch for \S{1,300}: copying a param",
    ),
    Recognizer(
        "a server does not load a model",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("failed to load '| unavailable: "),
        r"\bfailed to load '[^']{1,300}' version \d{1,6}: \S|^\| [^|]{1,300}\| *\d{1,6} *\| UNAVAILABLE: \S",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "too many open files",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words(
            "too many open files|open shared memory object|can't start new thread|pthread_create failed"
            "|resource temporarily unavailable"
        ),
        (
            r"[Tt]oo many open files|unable to open shared memory object|can't start new thread"
            r"|pthread_create failed|\bfork: Resource temporarily unavailable"
            r"|\bBlockingIOError: \[Errno 11\] Resource temporarily unavailable"
        ),
    ),
    Recognizer(
        "no permission",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("permissionerror: |execve(): "),
        r"\bPermissionError: (?!(?:Access Denied|Forbidden)$)|\bexecve\(\): .{1,300}: Permission denied",
    ),
    Recognizer(
        "mpirun cannot start a program",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("execvp error on "),
        r"\bexecvp error on file (?!.{1,400}No such file or directory)\S",
    ),
    Recognizer(
        "no such file",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("filenotfounderror: |can't open file '|notadirectoryerror: "),
        (
            r"\bFileNotFoundError: (?!.{0,200}No such file or directory: ['\"](?:\S*/)?(?:neuronx?-\w"
            r"|libneuronpjrt-path))|\bcan't open file '.{1,400}No such file|\bNotADirectoryError: "
        ),
    ),
    Recognizer(
        "make knows no way to a target",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("no rule to make target|don't know how to make "),
        r"\bmake(?:\[\d{1,4}\])?: (?:\*\*\* )?(?:No rule to make target ['`]\S|[Dd]on't know how to make \S)",
    ),
    Recognizer(
        "make stops",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words(": *** "),
        r"^\S{1,300}:\d{1,7}: \*\*\* \S.{0,300}\.  \w{3,20}\.$",
    ),
    Recognizer(
        "a build's command failed",
        CauseClass.SCRIPT_ERROR,
        Weight.MESSAGE,
        words("command '"),
        r"^command '[^']{1,300}' failed\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "gcloud crashed",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("gcloud crashed ("),
        r"\bgcloud crashed \(\w{1,80}\): \S",
    ),
    Recognizer(
        "a script's syntax",
        CauseClass.SCRIPT_ERROR,
        Weight.REASON,
        words(": syntax error|': command not found"),
        (
            r": line \d+: (?:syntax error\b|\$'[^']{1,200}': command not found$)"
            r"|^\S{1,300}: \d+: (?:\S{1,300}: )?Syntax error: "
        ),
        Confidence.HIGH,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "HDFS has no node to write to",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("could only be replicated to 0 nodes|could only be written to 0 of"),
        r"\bcould only be (?:replicated to 0 nodes|written to 0 of)\b",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "the shell cannot run something",
        CauseClass.SCRIPT_ERROR,
        Weight.MESSAGE,
        words(
            "no such file or directory|: permission denied|: is a directory|: not a directory|bad interpreter"
            "|cannot execute|can't cd to "
        ),
        (
            r"^(?:\S{1,300}: line \d+|(?:\([^)]{1,80}\) )?-?(?:/\S{1,200}/)?(?:ba|da|z)?sh): "
            r"(?!/\S{0,300}/bin/(?!activate:)\S{1,100}: No such).{1,400}: "
            r"(?:No such file or directory|Permission denied|Is a directory"
            r"|Not a directory|bad interpreter: .{1,200}|cannot execute.{0,80})$"
            r"|^(?:\S{1,300}: )?(?:/\S{1,200}/)?(?:da)?sh: \d{1,6}: cd: can't cd to \S"
        ),
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
)
