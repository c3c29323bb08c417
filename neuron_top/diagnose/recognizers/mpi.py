"""MPI and what starts its processes: no process manager, nodes that cannot reach each other."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

MPI: tuple[Recognizer, ...] = (
    Recognizer(
        "MPI finds no process manager",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words(
            "pmii_singinit: |singleton init program|pmi2 initialized but|pmi2 failed to init|pmix_init failed|pmi_init"
            "|pmi2_init|built with slurm|direct launched using"
        ),
        (
            r"\bPMII_singinit: execv failed|\bsingleton init program attempted to access some feature"
            r"|\bPMI2 (?:initialized but returned bad values|failed to initialize)"
            r"|\bPMI(?:x|2)?_Init (?:failed|returned)\W{1,4}-?[1-9]"
            r"|\bwas not built with (?:SLURM|Slurm)(?:'s)? (?:PMI )?support|appears to have been direct launched using"
        ),
    ),
    Recognizer(
        "MPI lacks one of its components",
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words("a requested component was not found"),
        r"^A requested component was not found, or was unable to be opened\b",
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "MPI could not be set up",
        CauseClass.COLLECTIVE,
        Weight.DEATH,
        words("it looks like "),
        r"\bIt looks like (?:MPI|pmix|orte|opal|prte|shmem)_init(?:ialized)?\(?\)? failed for some reason\b"
        r"|\bIt looks like MPI_INIT failed for some reason\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "mpirun refuses to run as root",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words("attempt to run as root"),
        r"\b\w{2,6}run has detected an attempt to run as root\b",
    ),
    Recognizer(
        "MPI's processes cannot reach each other",
        CauseClass.NETWORK,
        Weight.REASON,
        words(
            "to complete a tcp connection|pair of mpi processes are unable|failed to tcp connect to a peer"
            "|hydu_sock_connect|unable to get host address"
        ),
        (
            r"\bwas unable to complete a TCP connection$|pair of MPI processes are unable to reach each other"
            r"|\bfailed to TCP connect to a peer MPI process"
            r"|\bHYDU_sock_connect \(.{1,200}: unable to (?:connect|get)\b"
        ),
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "MPI cannot open its network adapter",
        CauseClass.COLLECTIVE,
        Weight.REASON,
        words("can't open hfi unit|psm_ep_open failed"),
        r"PSM2? can't open hfi unit\b|\bpsm_ep_open failed with error\b",
    ),
    Recognizer(
        "a check of MPI itself failed",
        CauseClass.COLLECTIVE,
        Weight.STATEMENT,
        words("assertion failed in file "),
        r"^Assertion failed in file \S{1,300} at line \d{1,7}: \S",
    ),
    Recognizer(
        "MPI's launcher lost a node",
        CauseClass.NETWORK,
        Weight.DEATH,
        words("has lost communication with a remote daemon|lost connection to proxy"),
        r"\b(?:ORTE|PRTE) has lost communication with a remote daemon|\blost connection to proxy\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
