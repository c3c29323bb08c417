"""Addresses that cannot be reached, and requests that are refused."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

TRIED_AGAIN = "a download is tried again"
"""Row of a tool's warning before it retries: it is the reason only if the tool fails in the end and states no other."""
RSYNC_FAILED, RSYNC_LOST = "rsync failed", "rsync lost its connection"
"""Rows of what rsync prints last, and of why."""
NETWORK: tuple[Recognizer, ...] = (
    Recognizer(
        TRIED_AGAIN,
        CauseClass.NETWORK,
        Weight.DEATH,
        words("spurious network error (|after connection broken by "),
        (
            r"\bspurious network error \(\d{1,3} tr(?:y|ies) remaining\)"
            r"|^Retrying \(Retry\(total=\d.{0,200}\)\) after connection broken by \S"
        ),
        Confidence.LOW,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "curl's library could not transfer",
        CauseClass.NETWORK,
        Weight.REASON,
        words(
            "curl error: t|curl error: c"
            "|] timeout was reached (|] could not resolve host|] could not connect to server|] couldn't |] ssl connect "
        ),
        (
            r"^\[(?:5|6|7|28|35|52|56|60)\] (?:Timeout was reached|(?:Could not|Couldn't) (?:resolve|connect)"
            r"|SSL connect error)\b|^curl error: (?:Timeout was reached|(?:Could not|Couldn't) (?:resolve|connect))\b"
        ),
        any_level=True,
    ),
    Recognizer(
        "Node.js cannot connect",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("connect etimedout|connect econnrefused|connect ehostunreach|connect enetunreach|getaddrinfo e"),
        r"\bconnect E(?:TIMEDOUT|CONNREFUSED|HOSTUNREACH|NETUNREACH) \S|\bgetaddrinfo E[A-Z]{3,12} \S",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "GitLab does not take a job's files",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("to coordinator... "),
        r"^Uploading artifacts .{0,80}to coordinator\.\.\. .{0,40}\b(?:failed|error|responseStatus=[45]\d\d)",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a server's port is taken",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("web server failed to start. port "),
        r"^Web server failed to start\. Port \d+ was already in use\b",
    ),
    Recognizer(
        "a request failed, told by a panic",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("panicked at "),
        (
            r"\bpanicked at .{0,300}(?:\b(?:code|status): [45]\d\d, url: \"https?://"
            r"|\breqwest::Error \{ kind: (?:Connect|Request|Status|Timeout|Body)\b)"
        ),
        any_level=True,
    ),
    Recognizer(
        "apt does not know a key",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("no_pubkey "),
        r"\bpublic key is not available: NO_PUBKEY \S",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "git cannot download a large file",
        CauseClass.NETWORK,
        Weight.REASON,
        words("error downloading object: "),
        r"^Error downloading object: .{1,300}: Smudge error: ",
    ),
    Recognizer(
        "git lacks an object",
        CauseClass.TOOL_ERROR,
        Weight.MESSAGE,
        words("could not parse object '|reference is not a tree: "),
        r"^(?:fatal: )?(?:[Cc]ould not parse object '[0-9a-f]|reference is not a tree: [0-9a-f])",
        Confidence.LOW,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        RSYNC_FAILED,
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words("rsync error: "),
        r"\brsync error: .{1,200} \(code \d{1,3}\) at \S{1,80}\(\d{1,6}\)",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        RSYNC_LOST,
        CauseClass.NETWORK,
        Weight.MESSAGE,
        words(
            "rsync: connection unexpectedly closed|rsync: [sender] connection|rsync: read error: |rsync: write error: "
        ),
        r"\brsync: (?:\[\w{1,20}\] )?(?:connection unexpectedly closed \(\d|(?:read|write) error: \S)",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "AzCopy counts what it did not copy",
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words("transfers failed: "),
        r"^(?:Total )?Number of (?:File )?Transfers Failed: [1-9]",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "ssh is refused",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("_exchange_identification: |ssh: connect to host"),
        r"^(?:ssh|kex)_exchange_identification: \S|^ssh: connect to host \S{1,200} port \d{1,5}: \S",
    ),
    Recognizer(
        "ssh lost its connection",
        CauseClass.NETWORK,
        Weight.DEATH,
        words("client_loop: send disconnect|closed by remote host"),
        r"^client_loop: send disconnect: |^Connection to \S{1,200} closed by remote host",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "curl reports why a transfer failed",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("curl: (|rpc failed; |curl_easy_perform() failed: "),
        r"^curl: \(\d{1,2}\) |\bcurl_easy_perform\(\) failed: \S|^RPC failed; (?:curl|HTTP|result=)",
    ),
    Recognizer(
        "peer closed the connection",
        CauseClass.COLLECTIVE,
        Weight.CASCADE,
        words(
            "closed by peer|reset by peer|by remote peer|broken pipe|brokenpipe|to pass monitoredbarrier"
            "|for send/recv from rank|rayletclient]"
        ),
        (
            r"(?i)connection (?:closed|reset) by (?:remote )?peer|broken ?pipe|failed to pass monitoredBarrier"
            r"|errors while waiting for send/recv from rank|\[RayletClient\] (?:raylet )?connection closed"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "no access",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words(
            "gated repo|gatedrepo|401 client error|403 client error|access denied|accessdenied|expiredtoken"
            "|unable to locate credentials|nocredentials|unrecognizedclientexception|invalidclienttokenid"
            "|signaturedoesnotmatch|invalidaccesskeyid|(unauthorized|(authfailure|(optinrequired"
            "|(forbidden)|(403)|401 unauthorized|403 forbidden"
            "|forbidden: 403|unauthorized: 401|permission denied (|host key verification|sso session|when retrieving "
            "|authentication failed for '|authenticationerror: |api key verification|api_key not configured"
            "|could not read username for|remote: invalid username or password|invalid credentials in authorization"
            "|permissionerror: forbidden|s3exception: |403: forbidden|401: unauthorized"
        ),
        (
            r"(?i:gated repo)|GatedRepo|\b40[13] Client Error"
            r"|(?i:code|status|returned|error)\W{1,3}40[13] (?:Unauthorized|Forbidden)"
            r"|\b(?:Forbidden: 403|Unauthorized: 401)\b|Permission denied \((?:publickey|password|gssapi|keyboard)"
            r"|\bpermission denied \(<Response \[40[13]\]>\)"
            r"|^Host key verification failed|\bSSO session associated with this profile has expired"
            r"|\bError when retrieving (?:token|credentials) from \S"
            r"|\b(?:PermissionError|Forbidden): Access Denied|\bPermissionError: Forbidden$|\bS3Exception: Client error"
            r"|\bAuthentication failed for '|\bAuthenticationError: \S|\bAPI key verification failed"
            r"|\bapi_key not configured\b|\bcould not read Username for '|^remote: Invalid username or password\b"
            r"|\bInvalid credentials in Authorization header"
            r"|^(?:403: Forbidden|401: Unauthorized)\b"
            r"|AccessDenied|ExpiredToken|(?i:unable to locate credentials)"
            r"|NoCredentials|An error occurred \((?:403|Forbidden|UnrecognizedClientException|InvalidClientTokenId"
            r"|SignatureDoesNotMatch|InvalidAccessKeyId|Unauthorized\w{0,30}|AuthFailure|OptInRequired)\) when calling"
        ),
    ),
    Recognizer(
        "AWS does not allow a call",
        CauseClass.NETWORK,
        Weight.REASON,
        words("you are not authorized to perform|is not authorized to perform: "),
        r"\bUnauthorizedOperation: You are not authorized to perform\b|\bis not authorized to perform: [\w-]{1,60}:\w",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a machine does not answer",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("timeout waiting for ssh|timeout waiting for winrm|transport retry count exceeded on "),
        r"\bTimeout waiting for (?:SSH|WinRM)\b|\bTransport retry count exceeded on \S",
        Confidence.MEDIUM,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "mpirun cannot start its daemons",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words(
            "start one or more daemons|start a daemon on|orte daemon|orte_init failed|run was unable to"
            "|exec was unable to"
        ),
        (
            r"unable to reliably start one or more daemons|Unable to start a daemon on|ORTE daemon has unexpectedly"
            r" failed|orte_init failed|^(?:mpi|orte|prte)(?:run|exec) was unable to (?:find|launch|start)\b"
        ),
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a call to another process was not answered",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words("deadline_exceeded|unavailable: |statuscode.unavailable"),
        (
            r"^(?!\||.{0,4000}(?:another task died|heartbeat timeout|this or another task|Coordination agent is set"
            r" to ERROR|error from coordination service))(?:.*?)"
            r"(?:\b(?:DEADLINE_EXCEEDED|UNAVAILABLE): |\bStatusCode\.(?:DEADLINE_EXCEEDED|UNAVAILABLE)\b)"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "network",
        CauseClass.NETWORK,
        Weight.STATEMENT,
        words(
            "dial tcp|i/o timeout|connection refused|econnrefused|name resolution|name or service"
            "|could not resolve|max retries exceeded|network is unreachable|no route to host|tls handshake"
            "|certificate|endpointconnection|endpoint url|read timed out|connecttimeout|readtimeout"
            "|connectionerror|connection timed out|connection aborted|server error|client error|deadline exceeded"
            "|couldn't connect|failed to connect|unable to connect|no such host|httperror|urlerror|gaierror"
            "|connection was closed|not reachable via"
            "|aws_error_|aws_io_|commerror|initialization has timed out"
            "|cannot reach http|remotedisconnected|serverdisconnected|incompleteread|proxyerror|sslerror"
            "|toomanyrequests|slowdown|repositorynotfound|localentrynotfound|connection timeout|) when calling the"
            "|inactiverpcerror|() timed out|404: not found|502: bad gateway|503: service|429: too many"
            "|reqwest|error sending request for url|error downloading [|batch response: |smudge error: |condahttperror"
            "|e: failed to fetch|not found [ip: "
            "|remote end closed connection without|unable to access 'http|requested url returned"
            "|unable to resolve host|unknownhostexception: |connection error, and we cannot"
        ),
        (
            r"dial tcp|i/o timeout|(?i:connection refused)|ECONNREFUSED|(?i:failure in name resolution"
            r"|name or service not known)"
            r"|(?i:(?:could not|unable to) resolve host)|unable to access 'https?://"
            r"|^E: Failed to fetch \S|^(?!W: ).{0,400}\b404 {1,3}Not Found \[IP: "
            r"|requested URL returned error: [45]\d\d"
            r"|\bCondaHTTPError: |^batch response: \S|\bSmudge error: Error downloading\b"
            r"|Max retries exceeded|Network is unreachable|(?i:no route to host)"
            r"|TLS handshake"
            r"|\bUnknownHostException: \S|\bConnection error, and we cannot find the requested files\b"
            r"|CERTIFICATE_VERIFY_FAILED|certificate (?:has expired|verify failed|signed by unknown)"
            r"|EndpointConnectionError"
            r"|(?i:read timed out|connect ?timeout|readtimeout)|\bConnectionError\b|(?i:connection timed? ?out)"
            r"|Connection aborted|^Remote end closed connection without response"
            r"|\b[45]\d\d (?:Server|Client) Error|(?i:context deadline exceeded)|(?i:couldn't connect|(?:failed"
            r"|unable) to connect)"
            r"|\bAWS_(?:ERROR|IO)_[A-Z_]+|\bCommError[:,] |Run initialization has timed out"
            r"|Cannot reach https?://|Connection was closed before|\b(?:RemoteDisconnected|ServerDisconnectedError"
            r"|IncompleteRead|ProxyError|SSLError)\b|no such host|\bHTTPError\b|\bURLError\b|\bgaierror\b"
            r"|\b(?:connect|accept|recv|send|read|poll)\(\) timed out"
            r"|TooManyRequests|SlowDown|An error occurred \((?:[45]\d\d|NoSuchBucket|NoSuchKey"
            r"|InternalError|ServiceUnavailable|Throttling\w*|RequestLimitExceeded|RequestTimeTooSkewed)\) when calling"
            r"|RepositoryNotFound|_InactiveRpcError\b"
            r"|\bError downloading \[https?://"
            r"|\bnot reachable via \w|error sending request for url \(|\bReqwestMiddleware Error: |\breqwest::Error\b"
            r"|LocalEntryNotFound|^(?:404: Not Found|429: Too Many Requests|502: Bad Gateway|503: Service \w+)\b"
        ),
    ),
)
