"""Pods and containers that cannot be created, or are ended."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

EVICTIONS: tuple[Recognizer, ...] = (
    Recognizer(
        "pod evicted",
        CauseClass.INTERRUPTED,
        Weight.REASON,
        words("node was low on resource|evicted|node had condition"),
        (
            r"[Nn]ode (?:was low on resource|had condition: \[)|\bEvicted\b.{0,80}\b(?:kubelet|taint)"
            r"|\b[Rr]eason:\s{1,20}\w*Evicted\b"
        ),
        any_level=True,
    ),
    Recognizer(
        "image cannot be pulled",
        CauseClass.NETWORK,
        Weight.REASON,
        words(
            "failed to pull image|cannot pull the container image|pulling image"
            "|pull access denied|manifest unknown|authentication required|to the resource is denied|pull rate limit"
        ),
        (
            r"[Ff]ailed to pull image|[Cc]annot pull the container image"
            r"|pull access denied|manifest unknown|\bunauthorized: authentication required"
            r"|requested access to the resource is denied|reached your (?:\S{1,30} )?pull rate limit"
        ),
        any_level=True,
    ),
    Recognizer(
        "a container waits for its image",
        CauseClass.NETWORK,
        Weight.REASON,
        words("errimagepull|imagepullbackoff"),
        r"\b(?:ErrImagePull|ImagePullBackOff)\b",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
        any_level=True,
    ),
)
CONTAINERS: tuple[Recognizer, ...] = (
    Recognizer(
        "a volume cannot be mounted",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words(
            "mountvolume.|attach or mount volumes|attachvolume.|unable to mount volumes|volumes to attach"
            "|multi-attach error"
        ),
        (
            r"\b(?:Mount|Attach)Volume\.\w+ failed for volume|Unable to (?:attach or )?mount volumes"
            r"|waiting for volumes to attach|Multi-Attach error for volume"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "Kubernetes does not know a kind of resource",
        CauseClass.MISSING_DEPENDENCY,
        Weight.STATEMENT,
        words("could not find the requested resource"),
        r"\bthe server could not find the requested resource \((?:get|post|put|patch) ",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "CloudFormation cannot make a resource",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("create_failed|update_failed"),
        r"\b(?:CREATE|UPDATE)_FAILED(?!.{0,400}Resource (?:creation|update) cancell)\W{1,30}\w",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a probe's program is not in the image",
        CauseClass.MISSING_DEPENDENCY,
        Weight.REASON,
        words("failed to exec in container"),
        r"\bfailed to exec in container: .{0,600}(?:executable file not found|no such file or directory)",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "apt cannot verify a repository",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("following signatures "),
        r"^The following signatures (?:couldn't be verified|were invalid)",
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a local service is not reached",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("dbus|connect to socket|connect to bus"),
        (
            r"(?i:(?:cannot|failed to|could not|unable to) connect to (?:the )?(?:system |session )?d-?bus\b)"
            r"|[Ff]ailed to connect to (?:socket /|bus: )"
        ),
        Confidence.MEDIUM,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a file system cannot be mounted",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("mount.|mount: |mount error"),
        (
            r"\bmount\.lustre: (?:[Cc]an't parse NID|mount .{1,300} failed: )"
            r"|\bmount(?:\.\w{2,12})?: (?:\S{1,300}: )?(?:access denied by server while|wrong fs type|bad option|"
            r"permission denied|failed to resolve server|no such device|special device .{1,300} does not exist"
            r"|(?i:connection (?:refused|timed out|reset))|protocol not supported|unknown filesystem type)"
            r"|\bmount error\(\d{1,4}\): \S"
            r"|\bmount\.nfs4?: (?!(?:trying|timeout set|mount\(2\))\b).{1,400} for \S+ on \S"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a container's device is not described",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("unresolvable cdi devices"),
        r"\bunresolvable CDI devices \S",
    ),
    Recognizer(
        "Docker's daemon is not reached",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("docker daemon|docker api|error during connect: "),
        (
            r"\bCannot connect to the Docker daemon(?: at\b|\. Is )"
            r"|\btrying to connect to the [Dd]ocker (?:daemon|API)\b"
            r"|^(?:docker: )?error during connect: \S"
        ),
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a step of an image was stopped with another",
        CauseClass.TOOL_ERROR,
        Weight.CASCADE,
        words(": context cancel"),
        r"\bdid not complete successfully: .{0,80}: context cancell?ed\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "an image is not built",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("failed to calculate checksum|failed to compute cache key|failed to solve: |failed to read dockerfile"),
        (
            r"^failed to (?:solve: (?!process |executor failed running )|calculate checksum of ref "
            r"|compute cache key: |read dockerfile: )\S"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "the API of Kubernetes refuses",
        CauseClass.TOOL_ERROR,
        Weight.MESSAGE,
        words(
            "error from server|logged in to the server|admission webhook|resource mapping not found|no matches for kind"
            "|installation failed: |upgrade failed: "
        ),
        (
            r"^Error from server(?: \(\w{1,60}\))?: \S|^You must be logged in to the server"
            r"|\badmission webhook \S{1,200} denied the request|^(?:error: )?resource mapping not found for name: "
            r"|\bno matches for kind \"|^(?:Error: )?(?:INSTALLATION|UPGRADE) FAILED: \S"
        ),
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a probe of Kubernetes ends a container",
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words("ness probe, will be restarted|startup probe, will be restarted"),
        r"failed (?:liveness|startup) probe, will be restarted",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "an image's import failed",
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words(
            "child |failed to import docker|container start failed|couldn't start container|contents of log file"
            "|container exited too soon|engine log file|enroot log file"
            "|plugin spank_|spank plugin stack|spank_task_init"
        ),
        (
            r"^(?:child \d+ failed with error code|failed to import docker image|container start failed with"
            r"|couldn't start container|container exited too soon|printing (?:contents of|enroot|engine) log file"
            r"|spank: required plugin spank_"
            r"|spank_task_init\w* failed|Failed to invoke spank plugin stack)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a container's hook failed, its reason on the next line",
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words("error running hook|error running prestart hook|error running createruntime hook"),
        r"\berror running (?:\w{1,20} )?hook\b.{0,600}\bstderr: ?(?:Auto-detected mode as '[\w-]{1,20}')?$",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a container does not start",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words(
            "oci runtime|exec format error|start container process|error response from daemon|create pod sandbox"
            "|exec user process caused|container creation failed"
            "|container start failed|cannotpull|cannotstart|cannotcreate|cannotinspect|resourceinitializationerror"
            "|dockertimeouterror|taskfailedtostart|cgrouperror|nvidia-container-cli: "
        ),
        (
            r"Error response from daemon: (?!.{0,200}(?i:no such container|is not running))\S|"
            r"(?i:oci runtime (?:create failed|error))|exec format error|unable to start container process"
            r"|[Ff]ailed to create pod sandbox"
            r"|nvidia-container-cli: (?:requirement|initialization|mount|device|detection) error: "
            r"|exec user process caused: "
            r"|^(?:pyxis: )?container (?:creation|start) failed\b"
            r"|\b(?:Cannot(?:Pull|Start|Create|Inspect)(?:ECR)?Container(?:Error)?|ResourceInitializationError"
            r"|DockerTimeoutError|TaskFailedToStart|CgroupError): \S"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a pod's container is not made",
        CauseClass.TOOL_ERROR,
        Weight.REASON,
        words("createcontainererror|runcontainererror|createcontainerconfigerror"),
        r"\b(?:Create|Run)Container(?:Config)?Error\b",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
)
