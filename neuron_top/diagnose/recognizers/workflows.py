"""Tasks of workflow engines and batch systems, whose reason stands on the next lines or in what was printed."""

from __future__ import annotations

import re

from neuron_top.diagnose.recognizers.row import ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

HTCONDORS_EVENT = "HTCondor reports that a job cannot go on"
"""Row of events whose reason stands on the line below."""
HTCONDOR_STOPPED = "HTCondor reports that a job was stopped"
"""The same of jobs that were removed, or sent away from their machine."""
_EVENT = r"^\d{3} \(\d{1,12}\.\d{1,9}\.\d{1,9}\) \d[\d/-]{3,9} [\d:.]{8,16} "
TRIAL_FAILED = "a trial of Optuna failed"
"""Row of what a study may survive."""
MODEL_LEFT_OUT = "a model of AutoGluon is left out"
"""Row of what a search over models goes on from."""
LEFT_OUT = "to fail during training... Skipping this model"
"""How AutoGluon says so; the reason follows, and perhaps a title and the traceback."""
WORKFLOWS: tuple[Recognizer, ...] = (
    Recognizer(
        "a step of Bazel failed",
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words(" failed (exit |failed: (exit "),
        r"\bBUILD(?:\.bazel)?:\d{1,6}:\d{1,6}: .{1,300} failed:? \(Exit \d",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a rule of Bazel says why it fails",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("error in fail: |error in download|error in extract: |error in execute: |error in read: "),
        r"^Error in (?:fail|download\w*|extract|execute|read): (?=\S)",
    ),
    Recognizer(
        "Bazel refuses a rule",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words(" in rule '//"),
        r"\bBUILD(?:\.bazel)?:\d{1,6}:\d{1,6}: undeclared inclusion\(s\) in rule '",
    ),
    Recognizer(
        "Kaldi's tasks failed",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words(" failed, log is in "),
        r"^\w{1,20}\.pl: (?:\d{1,6} / \d{1,6}|job) failed, log is in \S",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "Chef's command failed",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("shellcommandfailed: "),
        r"\bShellOut::ShellCommandFailed: (?=\S)",
    ),
    Recognizer(
        "Nix reports a build that failed",
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words("builder for '/nix/"),
        r"^(?:error: )?builder for '/nix/store/\S{1,300}' failed\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "Bazel cannot analyze a target",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("build aborted"),
        r"^(?:ERROR: )?Analysis of target '\S{1,200}' failed; build aborted",
        Confidence.MEDIUM,
    ),
    Recognizer(
        TRIAL_FAILED,
        CauseClass.SCRIPT_ERROR,
        Weight.MESSAGE,
        words(" failed with parameters: "),
        r"^Trial \d{1,9} failed with parameters: ",
        Confidence.LOW,
        any_level=True,
    ),
    Recognizer(
        MODEL_LEFT_OUT,
        CauseClass.SCRIPT_ERROR,
        Weight.MESSAGE,
        words(LEFT_OUT.lower()),
        rf"\bException caused \S{{1,200}} {re.escape(LEFT_OUT)}",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
    ),
    Recognizer(
        HTCONDORS_EVENT,
        CauseClass.TOOL_ERROR,
        Weight.CASCADE,
        words("shadow exception!|job was held|job reconnection failed"),
        _EVENT + r"(?:Shadow exception!|Job was held\.|Job reconnection failed)",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        HTCONDOR_STOPPED,
        CauseClass.INTERRUPTED,
        Weight.CASCADE,
        words("job was aborted|job was evicted"),
        _EVENT + r"Job was (?:aborted|evicted)\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "Dataflow says why",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("job_message_error: workflow failed"),
        r"\bJOB_MESSAGE_ERROR: Workflow failed\. Causes: ",
        any_level=True,
    ),
    Recognizer(
        "a task of Nextflow ended without a status",
        CauseClass.INTERRUPTED,
        Weight.REASON,
        words("terminated for an unknown reason"),
        r"\bProcess `.{1,300}` terminated for an unknown reason\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
    ),
    Recognizer(
        "a pipeline in R names the last error",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("last error: "),
        r"^Last error: (?=\S)",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "YARN names the exception of an application",
        CauseClass.SCRIPT_ERROR,
        Weight.REASON,
        words("user class threw exception: "),
        r"^diagnostics: User class threw exception: \S",
    ),
    Recognizer(
        "Cromwell reports that a workflow failed",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("failed (during "),
        r"\bWorkflow \S{3,40} failed \(during \w{1,40}\): \S",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
    ),
    Recognizer(
        "a rule of Snakemake failed",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("error in rule |error in checkpoint |error in group |exception in rule |exception in checkpoint "),
        (
            r"^Error in (?:rule|checkpoint|group) \S{1,200}?(?:, jobid: \d{1,9}|:)$"
            r"|^(?:Rule|CalledProcess)\w{0,20}Exception in (?:rule|checkpoint) "
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "Snakemake lacks a file",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("missinginputexception"),
        r"^MissingInputException in (?:rule|checkpoint|line) ",
    ),
    # What the rule's command printed says more, though it ended with status 0.
    Recognizer(
        "a rule of Snakemake did not write its files",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("missingoutputexception"),
        r"^MissingOutputException in (?:rule|checkpoint|line) ",
    ),
    Recognizer(
        "Snakemake sums up",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("at least one job did not complete"),
        r"^(?:WorkflowError: )?At least one job did not complete successfully\.$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
"""Tried after all that knows a reason."""
