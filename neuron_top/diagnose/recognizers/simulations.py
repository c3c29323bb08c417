"""Codes of science and engineering, which say in a form of their own why they stop."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

SIMULATIONS: tuple[Recognizer, ...] = (
    Recognizer(
        "a routine of linear algebra refuses an argument",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("pblas error '|blacs error '|on entry to |mkl error: "),
        (
            r"^(?:PBLAS|BLACS) ERROR '"
            r"|\bOn entry to \w{1,20},? *parameter (?:number )?\W{0,3}\d{1,3} had an illegal value"
            r"|^Intel MKL ERROR: \S"
        ),
    ),
    Recognizer(
        "OpenMP's library reports an error",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("omp: error #|libgomp: "),
        r"^OMP: Error #\d{1,5}: \S|^libgomp: (?!Affinity|Invalid value)\S",
    ),
    Recognizer(
        "CP2K's box names the reason",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("\\___/"),
        r"^\* {1,3}\\_{3}/ {2,8}\S.{0,200} \*$",
    ),
    Recognizer(
        "a calculation does not converge",
        CauseClass.SCRIPT_ERROR,
        Weight.REASON,
        words(
            "convergence failure -- |scf not converged after|too many attempts made for this increment"
            "|bend failed for angle|formbx had a problem|simulation has become unstable"
        ),
        (
            r"^Convergence failure -- run terminated|\bSCF NOT CONVERGED AFTER \d"
            r"|\bTOO MANY ATTEMPTS MADE FOR THIS INCREMENT\b|^Bend failed for angle\b|^FormBX had a problem"
            r"|\b[Tt]he simulation has become unstable\b"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a calculation ended by its own check",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("error termination |aborting the run"),
        r"^Error termination (?:via|request)\b|\bfinished by error termination\b|^\.{2,6} ?aborting the run$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "an OpenACC program stopped",
        CauseClass.RUNTIME_EXEC,
        Weight.DEATH,
        words("current file:  "),
        r"^Current file: {2,}/\S",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
