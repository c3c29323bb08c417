"""Services that cannot be reached, and what they refuse."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

NETWORK = (
    Case(
        "what transformers looked for, behind the exceptions of the connection",
        "network",
        """
Traceback (most recent call last):
  File "/opt/site-packages/urllib3/util/connection.py", line 73, in create_connection
    sock.connect(address)
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/site-packages/requests/adapters.py", line 6, in send
    raise ConnectionError(e, request=request)
requests.exceptions.ConnectionError: no answer

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "steep.py", line 3, in <module>
    load()
>>>OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in the cached files and it looks like tea/leaf is not the path to a directory containing a file named config.json.
""",
    ),
    Case(
        "AWS does not allow Karpenter a machine, in a record over several lines",
        "network",
        """
{
   "level":"ERROR",
   "message":"Reconciler error",
>>>   "error":"launching nodeclaim, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::41:role is not authorized to perform: ec2:RunInstances"
}
""",
    ),
    Case(
        "Packer's machine does not answer",
        "network",
        """
==> amazon-ebs: Waiting for SSH to become available...
>>>==> amazon-ebs: Timeout waiting for SSH.
==> amazon-ebs: Terminating the source AWS instance...
""",
    ),
    Case(
        "a peer that InfiniBand does not reach",
        "network",
        """
>>>[n1:195:0:195] ib_mlx5_log.c:139  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)
[n1:195:0:195] ib_mlx5_log.c:139  RC QP 0x1 wqe[0]: SEND s-e [inl len 26]
""",
    ),
    Case(
        "Bazel downloads something else",
        "network",
        """
>>>ERROR: /a/BUILD:759:1: no such package '@jpeg//': Error downloading [http://www.example.org/jpeg.tar.gz] to /c/jpeg.tar.gz: Checksum was 1 but wanted 2
ERROR: Analysis of target '//:game' failed; build aborted
""",
    ),
    Case(
        "a download in Rust",
        "network",
        """
Traceback (most recent call last):
  File "get.py", line 7, in <module>
    snapshot_download("a/b")
>>>RuntimeError: Data processing error: CAS service error : ReqwestMiddleware Error: error sending request for url (https://cdn.example/xorbs/default/4141)
""",
    ),
    Case(
        "structured JSON lines",
        "network",
        """
{"level":"info","ts":1765432100.1,"msg":"registering"}
>>>{"level":"error","ts":1765432101.1,"msg":"cannot register","error":"dial unix /var/lib/kubelet/device-plugins/kubelet.sock: connect: connection refused"}
""",
    ),
    Case(
        "a server nobody answers",
        "network",
        """
>>>2026/05/01 10:00:00 Get "https://10.0.0.1:443/api": dial tcp 10.0.0.1:443: connect: no route to host
""",
    ),
    Case(
        "an image that cannot be pulled",
        "network",
        """
>>>  Warning  Failed     3s    kubelet  Failed to pull image "reg.example.org/x:1": rpc error: code = Unknown desc = dial tcp: lookup reg.example.org: no such host
""",
    ),
    Case(
        "a hub that refuses",
        "network",
        """
Traceback (most recent call last):
  File "/x/hub.py", line 9, in get
    response.raise_for_status()
>>>requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://hub.example.org/api/models/x

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 1, in <module>
    load()
hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo for url https://hub.example.org/x
""",
    ),
    Case(
        "a port that is taken",
        "network",
        """
>>>[rank0]: RuntimeError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
""",
    ),
    Case(
        "an image that the registry does not have",
        "network",
        """
Events:
  Normal   Pulling    9s    kubelet  Pulling image "reg.example.org/fit:9"
>>>  Warning  Failed     8s    kubelet  Failed to pull image "reg.example.org/fit:9": code = NotFound desc = no such tag
  Warning  Failed     8s    kubelet  Error: ErrImagePull
""",
    ),
    Case(
        "a bucket that refuses",
        "network",
        """
Traceback (most recent call last):
  File "cache.py", line 4, in exists
    client.head_object(Bucket=bucket, Key=key)
>>>botocore.exceptions.ClientError: An error occurred (403) when calling the HeadObject operation: Forbidden
""",
        "failed",
    ),
    Case(
        "a bucket that asks for fewer requests",
        "network",
        """
Traceback (most recent call last):
  File "cache.py", line 4, in push
    client.put_object(Bucket=bucket, Key=key, Body=body)
>>>botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation: fewer, please
""",
        "failed",
    ),
    Case(
        "a model server that does not answer",
        "network",
        """
Traceback (most recent call last):
  File "/job/ask.py", line 9, in <module>
    answer = stub.Predict(request)
>>>grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:
        status = StatusCode.UNAVAILABLE
""",
        "failed",
    ),
    Case(
        "a port that another process has, and the bar that is drawn once more",
        "network",
        """
>>>[W socket.cpp:12] [c10d] The server socket has failed to bind to [::]:4567 (errno: 98 - Address already in use).
[E socket.cpp:34] [c10d] The server socket has failed to listen on any local network address.
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    init()
torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 4567
""",
        "failed",
    ),
    Case(
        "a hub that is not asked, since the job is offline",
        "network",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    fetch()
>>>hub.utils.OfflineModeIsEnabled: Cannot reach https://hub.example/model: offline mode is enabled.
""",
        "failed",
    ),
    Case(
        "a service that does not answer",
        "network",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    init(project="p")
>>>tracker.errors.CommError: Run initialization has timed out after 90.0 sec.
""",
        "failed",
    ),
    Case(
        "a model that nobody has given access to",
        "network",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    fetch("some/model")
>>>hub.errors.GatedRepoError: 401 Client Error. (Request ID: 0a1b)
""",
        "failed",
    ),
    Case(
        "a store that cannot be connected to",
        "network",
        """
Traceback (most recent call last):
  File "/job/rendezvous.py", line 155, in _create_store
    store = Store(
>>>RuntimeError: connect() timed out. Original timeout was 70000 ms.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/job/run.py", line 719, in main
    run(args)
RuntimeError: The connection to the store has failed. See inner exception for details.
""",
        "failed",
    ),
    Case(
        "an image that a registry refuses, below the headings of the plugin that imports it",
        "network",
        """
pyxis: importing docker image ...
slurmstepd: error: pyxis: child 21 failed with error code: 1
slurmstepd: error: pyxis: failed to import docker image
slurmstepd: error: pyxis: printing contents of log file ...
slurmstepd: error: pyxis:     [INFO] Querying registry for permission grant
>>>slurmstepd: error: pyxis:     [ERROR] URL https://registry.test/v2/team/wide/manifests/3 returned error code: 401 Unauthorized
slurmstepd: error: pyxis: couldn't start container
slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1
slurmstepd: error: Failed to invoke spank plugin stack
srun: error: node1: task 0: Exited with exit code 1
""",
    ),
    Case(
        "a repository that is not reached",
        "network",
        """
Cloning into 'wide'...
>>>fatal: unable to access 'https://code.test/wide/': The requested URL returned error: 503
""",
    ),
    Case("a download that is refused", "network", ">>>curl: (22) The requested URL returned error: 404\n"),
    Case(
        "a coordinator that does not answer",
        "network",
        """
Traceback (most recent call last):
  File "/job/start.py", line 4, in <module>
    jax.distributed.initialize()
>>>jaxlib.XlaRuntimeError: DEADLINE_EXCEEDED: no answer from the coordinator
""",
        "failed",
    ),
    Case("a host that refuses a key", "network", ">>>Permission denied (publickey).\n"),
    Case(
        "an address that is not reached",
        "network",
        ">>>ERROR - wide.training - uncaught exception: : Unable to connect to endpoint\n",
    ),
    Case(
        "a token that has expired, below a library's own wording",
        "network",
        """
---------------------------------------------------------------------------
ClientError                               Traceback (most recent call last)
File /opt/v/s3fs/core.py:7, in S3FileSystem._lsdir(self, path)
      6 try:
----> 7     async for c in self._iterdir(bucket):

>>>ClientError: An error occurred (ExpiredToken) when calling the ListObjectsV2 operation: The provided token has expired.

The above exception was the direct cause of the following exception:

PermissionError                           Traceback (most recent call last)
Cell In[4], line 1
----> 1 wide.download("set")

PermissionError: The provided token has expired.
""",
        "failed",
    ),
    Case(
        "a hub that asks for fewer requests while a rank reads its data",
        "network",
        """
[rank2]: Traceback (most recent call last):
[rank2]:   File "/opt/v/datasets/wide.py", line 13, in __iter__
[rank2]:     for key, example in ex_iterable:
>>>[rank2]: huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://hub.test/api/datasets/w
""",
        "failed",
    ),
    Case(
        "an image that nobody logged in for",
        "network",
        """
INFO:    Converting OCI blobs to SIF format
>>>FATAL:   While making image from oci registry: error fetching image to cache: failed to get checksum for docker://registry.example/train:v9: reading manifest v9 in registry.example/train: unauthorized: authentication required
""",
    ),
    Case(
        "large files that a repository does not give out any more",
        "network",
        """
Cloning into 'weights'...
Downloading model.bin (1.2 GB)
>>>batch response: This repository is over its data quota. Account responsible for LFS bandwidth should purchase more data packs to restore access.
error: external filter 'git-lfs filter-process' failed
fatal: model.bin: smudge filter lfs failed
""",
    ),
    Case(
        "a login of AWS that has expired",
        "network",
        """
Collecting |1.00 [00:00, 12.0entry/s]
>>>ERROR: unexpected error - The SSO session associated with this profile has expired or is otherwise invalid. To refresh this SSO session run aws sso login with the corresponding profile.
Having any troubles? Hit us up at https://dvc.example/support, we are always happy to help!
""",
    ),
    Case(
        "a connector of S3's that is refused",
        "network",
        """
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/ck.py", line 9, in save
[rank0]:     w.write(b)
>>>[rank0]: s3torchconnectorclient._mountpoint_s3_client.S3Exception: Client error: Forbidden: Access Denied
""",
    ),
    Case(
        "a terminal whose connection ended",
        "network",
        """
step 1 loss 1
step 2 loss 1
>>>client_loop: send disconnect: Broken pipe
""",
    ),
    Case(
        "a file that wget does not find",
        "network",
        """
--2026-05-01 10:00:00--  https://x.example/m.bin
Resolving x.example... 10.0.0.1
HTTP request sent, awaiting response... 404 Not Found
>>>2026-05-01 10:00:01 ERROR 404: Not Found.
""",
    ),
    Case(
        "downloads that are tried again to the end",
        "network",
        """
    Updating crates.io index
>>>warning: spurious network error (2 tries remaining): [28] Timeout was reached
warning: spurious network error (1 tries remaining): [28] Timeout was reached
make: *** [all] Error 101
""",
    ),
    Case(
        "a package that pip cannot build for want of a download",
        "network",
        """
Collecting rows
  error: subprocess-exited-with-error

  × Preparing metadata (pyproject.toml) did not run successfully.
  │ exit code: 1
  ╰─> [2 lines of output]
>>>      warning: spurious network error (1 try remaining): [28] Timeout was reached
""",
    ),
    Case(
        "a download that came when it was tried again",
        "",
        """
warning: spurious network error (2 tries remaining): [28] Timeout was reached
   Compiling rows v1.0.0
    Finished dev [unoptimized] target(s) in 2.1s
""",
    ),
    Case(
        "a download that came, before a build that failed",
        "script_error",
        """
warning: spurious network error (2 tries remaining): [28] Timeout was reached
   Compiling rows v1.0.0
>>>make: *** [all] Error 101
""",
    ),
    Case(
        "a step of pip's that failed",
        "tool_error",
        """
Collecting rows
>>>  × Getting requirements to build wheel did not run successfully.
  │ exit code: 1
""",
    ),
    Case(
        "a version that pip can build after all",
        "",
        """
Collecting rows
  × Building wheel for rows (pyproject.toml) did not run successfully.
  │ exit code: 1
Successfully installed rows-1.0
""",
    ),
    Case(
        "git that fetches what it lacks in vain",
        "network",
        """
fatal: Could not parse object 'a9a7163f2a29'.
From https://example.org/rows
 * branch            main     -> FETCH_HEAD
fatal: Could not parse object 'a9a7163f2a29'.
>>>fatal: unable to access 'https://example.org/rows/': Failed to connect to example.org port 443: Connection timed out
make: *** [fetch] Error 128
""",
    ),
    Case(
        "git that fetches what it lacks",
        "",
        """
fatal: Could not parse object 'a9a7163f2a29'.
From https://example.org/rows
 * branch            main     -> FETCH_HEAD
HEAD is now at a9a7163 add rows
""",
    ),
    Case(
        "a commit that git does not have",
        "tool_error",
        """
>>>fatal: reference is not a tree: a9a7163f2a29
make: *** [fetch] Error 128
""",
    ),
    Case(
        "a panic over what a server answers",
        "network",
        """
>>>thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: Refused { code: 503, url: "https://rows.example/a" }
no rows', src/main.rs:12:5
""",
    ),
    Case(
        "a host of DeepSpeed's that ssh does not reach",
        "network",
        """
Traceback (most recent call last):
  File "/opt/deepspeed/launcher/runner.py", line 407, in main
    raise RuntimeError(
>>>RuntimeError: Using hostfile at /etc/hostfile but host=tea-0 was not reachable via ssh.
""",
        "failed",
    ),
    Case(
        "rsync loses its connection",
        "network",
        """
>>>rsync: connection unexpectedly closed (0 bytes received so far) [sender]
rsync error: unexplained error (code 255) at io.c(235) [sender=3.1.3]
""",
    ),
    Case(
        "curl's connection is closed by the other side",
        "network",
        """
  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
>>>curl: (56) Recv failure: Connection reset by peer
tar: tea.tar.gz: unexpected end of file
""",
    ),
    Case(
        "a server closes the connection, said by a build",
        "network",
        """
running bdist_wheel
Guessing wheel URL:  https://wheels.tea.example/tea-2.3-cp310-linux_x86_64.whl
>>>error: Remote end closed connection without response
[end of output]
""",
    ),
    Case(
        "a model whose download timed out, and then does not load",
        "network",
        """
tea_download_file: no previous model file found /home/tea/Library/Caches/tea/green.gguf
>>>tea_download_file: curl_easy_perform() failed: Timeout was reached
tea_init: error: failed to load model '/home/tea/Library/Caches/tea/green.gguf'
main: error: unable to load model
""",
    ),
    Case(
        "a model that is neither on the hub nor here, in the words of old Transformers",
        "network",
        """
Traceback (most recent call last):
  File "/srv/tea.py", line 3, in <module>
    brew()
>>>ValueError: Connection error, and we cannot find the requested files in the cached path. Please try again.
""",
    ),
    Case(
        "Airflow's connections that are tried again, and why they failed",
        "script_error",
        """
[2026-05-02, 10:00:00 UTC] {ssh.py:343} INFO - Failed to connect. Sleeping before retry attempt 1
[2026-05-02, 10:00:03 UTC] {ssh.py:343} INFO - Failed to connect. Sleeping before retry attempt 2
[2026-05-02, 10:00:06 UTC] {taskinstance.py:2731} ERROR - Task failed with exception
Traceback (most recent call last):
  File "/srv/tea.py", line 347, in get_conn
    raise retry_exc.reraise()
>>>paramiko.ssh_exception.SSHException: No authentication methods available
""",
    ),
    Case(
        "files that W&B does not take",
        "network",
        """
Syncing: http://localhost:8080/tea/brew ...
>>>wandb: ERROR Error uploading "leaf.py": CommError, <Response [507]>
wandb: ERROR Error uploading "pot.json": CommError, <Response [507]>
""",
    ),
    Case(
        "a package of Rust's that is not reached, in pip's build",
        "network",
        """
  error: subprocess-exited-with-error
  × Preparing metadata (pyproject.toml) did not run successfully.
  │ exit code: 1
  ╰─> [12 lines of output]
          Updating crates.io index
      error: failed to get `tea` as a dependency of package `brew v0.20.4 (/tmp/brew)`

      Caused by:
        failed to download from `https://leaf.example/config.json`

      Caused by:
>>>        [28] Timeout was reached (Failed to connect to leaf.example port 443 after 15211 ms: Connection timed out)
      [end of output]
""",
    ),
    Case(
        "a program of Node.js that is not answered",
        "network",
        """
> tea@2.0.8 install /srv/tea
> brew || node-gyp rebuild
gyp ERR! configure error
>>>gyp ERR! stack Error: connect ETIMEDOUT 192.0.2.7:443
gyp ERR! stack     at TCPConnectWrap.afterConnect [as oncomplete] (net.js:1145:16)
gyp ERR! not ok
""",
    ),
)
