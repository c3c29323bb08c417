"""Cores, nodes and capacity that a job asks for and does not get."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

STEP_WAITS = "Slurm cannot create a step yet"
"""Row of what srun prints before it tries again."""
NO_CAPACITY = "no capacity, or a limit of the account"
"""Row of machines that a cloud or a cluster does not provide."""
CORES: tuple[Recognizer, ...] = (
    Recognizer(
        "number of cores",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words("unsupported topology|supported number of neuron"),
        r"(?i)unsupported topology|supported number of neuron ?cores",
    ),
    Recognizer(
        "cores taken or missing",
        CauseClass.RUNTIME_INIT,
        Weight.REASON,
        words(
            "not available|physical core|nrt_load_not_enough_nc|nrt_exec_nc_busy|logical core|enough|find vnc"
            "|device inuse|device in use|nerr_resource_nc|ncs for the|failed to allocate|core busy/locked"
        ),
        (
            r"(?i:neuron ?cores?(?:\(s\))? not available)|Unable to find a physical core|NRT_LOAD_NOT_ENOUGH_NC"
            r"|Could not find VNC id|\bneuron:\w+: (?:nd ?\d+: )?device in ?use by|NRT_EXEC_NC_BUSY"
            r"|\b(?i:not enough (?:free )?(?:neuron ?)?cores)"
            r"|NERR_RESOURCE_NC\b|(?i:failed to allocate \d+ (?:logical |physical |neuron )?cores?\b)"
            r"|(?i:insuffici?ent NCs|not enough NCs)|\b[Cc]ore busy/locked by another"
        ),
    ),
)
SCHEDULING: tuple[Recognizer, ...] = (
    Recognizer(
        "no Neuron device for a pod",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("insufficient aws"),
        r"Insufficient aws\.amazon\.com/neuron",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "no node for a pod",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words(
            "nodes are available|incompatible with nodepool|to schedule pod|gang unschedulable|quota insufficient"
            "|insufficient unused quota"
        ),
        (
            r"\b0/\d+ nodes are available: |\bNo nodes are available that match all\b"
            r"|(?:[Ff]ailed to|[Cc]ould not) schedule pod\b|\btasks in gang unschedulable: "
            r"|\bqueue resource quota insufficient\b|\binsufficient unused quota for \S"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a quota of Kubernetes",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("exceeded quota"),
        r"\bis forbidden: exceeded quota: \S",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "no room in Ray's cluster",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("no available node types|exceeds the total number of available|cannot provide a placement group"),
        (
            r"No available node types can fulfill resource request|number of required \w+ exceeds the total number of"
            r" available|Cannot provide a placement group"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "more processes than mpirun has slots",
        CauseClass.BAD_USAGE,
        Weight.STATEMENT,
        words("not enough slots available"),
        r"There are not enough slots available in the system",
    ),
    Recognizer(
        NO_CAPACITY,
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words(
            "insufficient|capacityerror|limitexceeded|countexceeded|capacity block|capacityexceeded|ml compute capacity"
            "|allocate resources|unfulfillablecapacity|node configuration is not available|vcpu capacity"
            "|resourcesunavailableerror|quota_exceeded|quota '|to be provisioned|to provision in fleet"
        ),
        (
            r"Insufficient(?:Instance|Host|ReservedInstances?|Address)?Capacity|\bCapacityError\b|UnfulfillableCapacity"
            r"|\b(?!Request|Rate)[A-Z]\w{2,60}LimitExceeded|MaxSpotInstanceCountExceeded"
            r"|ReservationCapacityExceeded|(?i:insufficient capacity(?:,| error)(?!.{0,80}retrying)"
            r"|requested ml compute capacity|more vcpu capacity)"
            r"|(?i:capacity block.{0,80}(?:expired|not active|ended|not started|not yet|no longer))"
            r"|\binsufficient regional quota to satisfy\b"
            r"|\bResourcesUnavailableError: \S|\bQUOTA_EXCEEDED\b|\bQuota '\w{1,80}' exceeded\b"
            r"|\bwaited for more than \d.{0,80} to be provisioned\b|\bNoCapacityError\b|^Failed to provision in fleet '"
            r"|Unable to allocate resources|Requested node configuration is not available"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        STEP_WAITS,
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words("step creation temporarily disabled"),
        r"\b[Ss]tep creation temporarily disabled, retrying\b",
        Confidence.LOW,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "Slurm refuses a node",
        CauseClass.BAD_USAGE,
        Weight.REASON,
        words("state to inval with reason"),
        r"\bSetting node \S{1,80} state to INVAL with reason:",
    ),
    Recognizer(
        "Slurm refuses a job",
        CauseClass.TOOL_ERROR,
        Weight.MESSAGE,
        words(
            "batch job submission failed|unable to create step|unable to submit batch|submit error (|job not submitted"
            "|contact slurm controller|task launch for stepid"
        ),
        (
            r"(?:Batch job submission failed|Unable to (?:create step for job \S{1,40}|submit batch job)): \S"
            r"|\b[Uu]nable to contact slurm controller\b|^Task launch for StepId=\S{1,40} failed on node \S"
            r"|\bsubmit error \(\S|\bJob not submitted\b"
        ),
        Confidence.HIGH,
    ),
    Recognizer(
        "PBS could not run a job",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("exit status:  "),
        r"^Exit Status:\s{2,20}-\d{1,3} \(\S",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "Grid Engine does not start a job",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("failed "),
        r"^failed [a-z][\w /]{2,60}:\d\d/\d\d/\d{4} [\d:]{8} \[\d{1,10}:\d{1,10}\]: \S",
    ),
    Recognizer(
        "no devices for a pod",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("allocate failed due to"),
        r"\bAllocate failed due to\b",
        any_level=True,
    ),
    Recognizer(
        "a pod is not admitted",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("unexpectedadmissionerror"),
        r"\bUnexpectedAdmissionError\b",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
)
