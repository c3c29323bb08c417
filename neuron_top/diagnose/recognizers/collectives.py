"""Workers that do not find each other, or time out waiting for each other."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

COLLECTIVES: tuple[Recognizer, ...] = (
    Recognizer(
        "port taken",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("address already in use|eaddrinuse|failed to listen on any|address in use"),
        r"(?i:address (?:already )?in use)|\bEADDRINUSE\b(?! [a-z])|failed to listen on any local network address",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a peer left a collective",
        CauseClass.COLLECTIVE,
        Weight.CASCADE,
        words(
            "remote process exit|communicator was aborted|peer process has unexpectedly|some nccl operations have"
            "|taking the entire process down|for faulty rank|: connect returned"
        ),
        (
            r"remote process exit(?:ed|ing)\b|NCCL communicator was aborted|peer process has unexpectedly disconnected"
            r"|Some NCCL operations have failed or timed out|we are taking the entire process down"
            r"|[Pp]lease check rank \d{1,6} logs for faulty rank|\bsocket\w{1,30}: connect returned\b"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "a rank did not join a collective",
        CauseClass.COLLECTIVE,
        Weight.CASCADE,
        words("waiting for remainder of ranks"),
        r"waiting for remainder of ranks for more than \d",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "ranks disagree",
        CauseClass.COLLECTIVE,
        Weight.STATEMENT,
        words("mismatch between collectives|running different collectives"),
        r"mismatch between collectives|running different collectives",
    ),
    Recognizer(
        "parameters without a gradient",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("expected to have finished reduction in the prior"),
        r"\bExpected to have finished reduction in the prior iteration before starting a new one",
    ),
    Recognizer(
        "collective hangs",
        CauseClass.COLLECTIVE,
        Weight.REASON,
        words(
            "collectives|collective operation|collective timeout|nrt_network_proxy|nrt_coll|status=120|status: 120"
            "|err=120|err: 120|error=120|error: 120|in blocking wait|efa network proxy|collective operation pending"
            "|timeout exceeded: waiting on "
        ),
        (
            r"missing collectives status|suspected hang in collectives|NRT_EXEC_HW_ERR_COLLECTIVES|HANG_ON_COLLECTIVES"
            r"|(?i:collective operation timeout)|(?i:collectives? .{0,60}(?:timed out|time-?out|hang|hung))"
            r"|NRT_NETWORK_PROXY_FAILURE|NRT_COLL_PENDING|\b(?:status|error|err)[:=] ?120[06]\b"
            r"|\bWork\w*\(.{0,300}timed out in blocking wait|\b[Ss]tuck in collectives? op\b"
            r"|EFA network proxy failure|\bCollective operation pending\b"
            r"|\bTimeout exceeded: Waiting on .{1,60}\bproxy\b"
        ),
    ),
    Recognizer(
        "Ascend's collectives say why",
        CauseClass.COLLECTIVE,
        Weight.REASON,
        words("ei0|ej0"),
        r"(?:^|Error Message: ?|\s)E[IJ]\d{4}: \S",
    ),
    Recognizer(
        "an endpoint's error",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("(modelerror)"),
        r"\(ModelError\) when calling the InvokeEndpoint",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "too many sockets",
        CauseClass.COLLECTIVE,
        Weight.REASON,
        words("too many open files"),
        r"(?i:\b(?:call to \w+|socket creation) failed.{0,20}too many open files)",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "fork beside EFA",
        CauseClass.COLLECTIVE,
        Weight.REASON,
        words("libfabric efa provider"),
        r"libfabric EFA provider is operating in",
    ),
    Recognizer(
        "the network's plugin reports a failure",
        CauseClass.COLLECTIVE,
        Weight.STATEMENT,
        words("net/ofi|<warn> |got completion with error|: got completion "),
        (
            r"NET/OFI .{0,300}(?:completed with error|\bfail(?:ed|ure)(?: with\b.{0,40})?: "
            r"|\bRC: -?[1-9]\d*, ERROR: )|^libfabric:\S{1,200}<warn> .{0,80}\berr: [1-9]\d*, "
            r"|\bmlx5: \S{1,100}: got completion with error\b"
            r"|\bNET/IB(?:/\w{1,10})? ?: Got completion .{0,300}\b(?:error|status)[ =]{1,3}(?:IBV_WC_\w{1,40}\()?[1-9]"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a launcher does not reach the others",
        CauseClass.COLLECTIVE,
        Weight.DEATH,
        words("keep-alive heartbeat to the rendezvous"),
        r"\bhas failed to send a keep-alive heartbeat to the rendezvous\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "collective set-up",
        CauseClass.COLLECTIVE,
        Weight.STATEMENT,
        words(
            "waiting for rx|timed out|communicator|waiting for tx|waiting for incoming|call to connect"
            "|connect to |call to accept|rendezvous|clients joined|distbackenderror|diststoreerror|distnetworkerror"
            "|waiting for clients|init global comm|global comm|bootstrap|root_comm_id|tcpstore|client socket"
            "|buildglobalcomm"
            "|processgroup|process group|barrier|connectfullmesh|workers joined|fatal error in |error occurred in mpi_"
            "|socket timeout|mca_btl_|to rendezvous|mpidi_|mpid_|mpir_|pmpi_|watchdog thread|mesh_service|mesh master"
            "|no transport found|pml_ucx.c:"
        ),
        (
            r"Timeout waiting for (?:[RT]X|incoming connection)|Call to (?:connect|accept|bind|recv|send)\b.{0,80}fail"
            r"|Connect to \S{1,100}<\d+> failed|\bNo transport found (?:for|between)\b"
            r"|connectFullMesh failed|(?i:rendezvous.{0,100}(?:timed? ?out|timeout|fail|refused|closed|error))"
            r"|RendezvousTimeoutError"
            r"|(?i:timed out .{0,60}(?:waiting for(?! the condition| job step| [\w ]{1,40} to start\b)|clients))"
            r"|\d+/\d+ clients joined"
            r"|(?i:timed out waiting \d+ ?\w{1,12} for)"
            r"|(?i:(?:failed to|cannot|unable to) (?:init\w*|bootstrap|create|establish).{0,60}(?:comm\b|communicator|"
            r"process ?group|collective))|(?i:client socket has (?:failed|timed out)"
            r"(?!.{0,200}\(errno: 9[79]\b|.{0,80}\[localhost\]:\d{1,5} \(errno: 101\b))|ProcessGroup.{0,100}[Tt]imeout"
            r"|(?i:barrier.{0,60}(?:timed out|timeout(?![:=] ?\d)))|(?i:bootstrap(?! checks).{0,60}(?:fail|timed out))"
            r"|(?<!::)\bDist(?:Backend|Store|Network)Error\b|ROOT_COMM_ID.{0,40}(?:not set|missing|invalid)"
            r"|\bBuildGlobalComm failed|\bFatal error in (?:internal_|P?MPI_)\w+: "
            r"|\bpml_ucx\.c:\d{1,6} {1,4}Error: |\bmca_btl_\w{1,60}: (?:readv|writev) (?:error|failed)\b"
            r"|^P?MPI\w{1,80}\(\d{1,5}\)\.{2,}: \S|\bAn error occurred in MPI_\w+|\bSocket Timeout$"
            r"|(?i:(?:could not|failed to|unable to|cannot) (?:connect to|meet|join) (?:the )?rendezvous)"
            r"|watchdog thread terminated with exception: \[Rank \d"
            r"|\bmesh_service\.cc:\d+ ?: Check failed|[Ff]ailed to connect to client mesh master"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
)
