"""More logs of our own: what launchers, schedulers and containers print around a failure, and what it follows from."""

from __future__ import annotations

from tests.diagnose.cases import Case

LAUNCHERS = (
    Case(
        "a command that is started and is not there",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "/job/launch.py", line 20, in <module>
    subprocess.run(["qsubmit", "a.sh"])
  File "/usr/lib/python3.12/subprocess.py", line 1955, in _execute_child
    raise child_exception_type(errno_num, err_msg, err_filename)
>>>FileNotFoundError: [Errno 2] No such file or directory: 'qsubmit'
""",
        "failed",
    ),
    Case(
        "a script that is started and is not there",
        "script_error",
        """
Traceback (most recent call last):
  File "/usr/lib/python3.12/subprocess.py", line 1955, in _execute_child
    raise child_exception_type(errno_num, err_msg, err_filename)
>>>FileNotFoundError: [Errno 2] No such file or directory: './run/step2.sh'
""",
        "failed",
    ),
    Case(
        "Hydra's heading, and the error behind it",
        "script_error",
        """
Error executing job with overrides: ['lr=0.1']
>>>Error locating target 'job.nets.Wide', see chained exception above.
full_key: net

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
""",
    ),
    Case(
        "an exception whose message is an error line of Slurm's",
        "tool_error",
        """
Error executing job with overrides: []
Traceback (most recent call last):
  File "/job/submit.py", line 75, in wait
    raise OSError(stderr.decode())
>>>OSError: sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification
""",
        "failed",
    ),
    Case(
        "a heading that ends in a colon, and what it announces",
        "script_error",
        """
2026-03-06T17:53:31.052367Z ERROR manager: launcher: Complete standard error output:
 rank=0
>>>2026-03-06T17:53:31.052444Z ERROR manager: launcher: The process was signaled to shutdown with signal 4 rank=0
2026-03-06T17:53:31.149443Z ERROR launcher: Shard 3 failed to start
""",
        "failed",
    ),
    Case(
        "a worker's failure in its parent's words, behind the worker's death",
        "script_error",
        """
>>>(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker PID: 93 There are \
some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.
(Trainer pid=92) Worker 0 has failed.
""",
    ),
    Case(
        "a call that a macro of C names",
        "runtime_exec",
        """
loading
>>>Error invalid configuration argument at line 19 in file /src/kernels/scale.cu
[2026-03-04 05:06:07,720] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 0 (pid: 88) of binary: /usr/bin/python3
""",
    ),
    Case(
        "words about errors that are handled",
        "",
        "Error handling is on\nError logging goes to /var/log/job\nError in file names is looked for: none yet\n"
        "all steps done successfully\n",
    ),
    Case(
        "an error of a server that logs as Rust does",
        "script_error",
        '>>>{"timestamp":"2026-08-29T14:40:17.2Z","level":"ERROR","message":"Request failed during a step",'
        '"target":"router::back","line_number":5}\n',
    ),
)
NETWORK = (
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
        "a request that the network's plugin completes with an error",
        "collective",
        ">>>[1,3]<stdout>:worker-1:35:89 [5] process_cq:139 NCCL WARN NET/OFI Request 0x7fbb completed with error. "
        "RC: 20. Error: unknown error.\n",
    ),
    Case(
        "an endpoint that the network's plugin cannot make, and a job that goes on",
        "",
        "host-1:82:48 [0] get_ep:969 NCCL WARN NET/OFI Creating a new endpoint failed: Invalid argument\n"
        + "".join(f"{{'loss': {10 - step / 10}, 'step': {step}}}\n" for step in range(9)),
    ),
    Case(
        "a peer of MPI that went away",
        "collective",
        """
>>>An MPI communication peer process has unexpectedly disconnected.  This
usually indicates a failure in the peer process.
""",
    ),
)
MACHINES = (
    Case(
        "a signal that the process itself reports",
        "interrupted",
        """
>>>2026-07-08 08:28:12 10.164.0.33 [0] *** SIGTERM received by PID 738 (TID 738) on cpu 20 from PID 165; stack trace: ***
2026-07-08 08:28:12 10.164.0.33 [0] PC: @     0x7f98b808ecab  (unknown)  (unknown)
""",
        "failed",
    ),
    Case(
        "a compile that was killed, told as information",
        "compile_killed",
        """
INFO:Neuron:Compiling function _NeuronGraph$7 with neuron-cc
>>>INFO:Neuron:Compile command returned: -9
WARNING:Neuron:torch.neuron.trace failed on _NeuronGraph$7; falling back to native python function call
""",
    ),
    Case(
        "a pod whose container ends again and again",
        "script_error",
        """
Name:                 trainer-0
Containers:
  trainer:
    State:          Waiting
>>>      Reason:       CrashLoopBackOff
Events:
  Type     Reason     Age                   From               Message
  Warning  BackOff    31s (x26 over 5m32s)  kubelet            Back-off restarting failed container trainer in pod trainer-0
""",
    ),
    Case(
        "events of a pod of the device plugin",
        "tool_error",
        """
  Type     Reason     Age                   From               Message
>>>  Warning  BackOff    31s (x26 over 5m32s)  kubelet            Back-off restarting failed container neuron-device-plugin
""",
    ),
    Case(
        "a pod that ended, told by an operator as information",
        "script_error",
        """
time="2026-02-21T09:32:29Z" level=info msg="Reconciling for job wide"
>>>time="2026-02-21T09:32:29Z" level=info msg="Pod: team.wide-worker-0 exited with code 1" job=team.wide uid=1
""",
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
        "a container that cannot be started, and no reason",
        "tool_error",
        """
pyxis: importing docker image: wide.sqsh
>>>slurmstepd: error: pyxis: child 28 failed with error code: 1
slurmstepd: error: pyxis: failed to import docker image
slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1
srun: error: node-0: task 0: Exited with exit code 1
""",
    ),
)
REFUSALS = (
    Case(
        "a sentence of the program's own about its arguments",
        "bad_usage",
        """
usage: wide.py [-h] [--tp TP] [--steps STEPS]
>>>wide.py: error: --tp has to divide 32, not 5
srun: error: node-1: task 0: Exited with exit code 2
""",
    ),
    Case(
        "an argument that is no number",
        "bad_usage",
        "usage: wide [-h] [--tp TP]\n>>>wide: error: argument --tp: invalid int value: 'many'\n",
    ),
    Case(
        "a box around what a command line lacks",
        "bad_usage",
        """
Usage: wide [OPTIONS]
Try 'wide --help' for help.
╭─ Error ──────────────────────────────────╮
>>>│ Missing option '--model'.                │
╰──────────────────────────────────────────╯
""",
    ),
    Case(
        "a choice that Hydra does not find",
        "bad_usage",
        """
>>>In 'config': Could not find 'net/wide'

Available options in 'net':
\tsmall
Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
""",
    ),
    Case("a flag that Fire does not know", "bad_usage", ">>>ERROR: Could not consume arg: --wide\nUsage: a.py main\n"),
)
SHELLS = (
    Case(
        "a script that the shell cannot enter",
        "script_error",
        ">>>/var/spool/slurmd/job7/slurm_script: line 4: /opt/wide/bin/activate: No such file or directory\n",
    ),
    Case(
        "a script that the shell cannot enter, and the exception that ended the job",
        "script_error",
        """
run.sh: line 4: cd: /data/wide: No such file or directory
Traceback (most recent call last):
  File "/job/wide.py", line 3, in <module>
>>>ValueError: no rows
""",
        "failed",
    ),
    Case(
        "a script that the shell cannot read",
        "script_error",
        ">>>run.sh: line 9: syntax error near unexpected token `fi'\n",
    ),
    Case(
        "a module that is not there",
        "missing_dependency",
        '>>>Lmod has detected the following error: The following module(s) are unknown: "neuron/9.9"\n',
    ),
    Case(
        "a wheel for another Python",
        "missing_dependency",
        ">>>ERROR: wide-2.1-cp31-cp31-linux_x86_64.whl is not a supported wheel on this platform.\n",
    ),
    Case(
        "a daemon of Docker that refuses a container",
        "tool_error",
        '>>>docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n',
    ),
)
ORDER = (
    Case(
        "ranks that waited, printed before the exception of the one that did not",
        "script_error",
        """
[rank1]:[E101 10:00:00.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.
[rank3]: Traceback (most recent call last):
[rank3]:   File "/job/wide.py", line 3, in <module>
>>>[rank3]: RuntimeError: shapes do not match
""",
        "failed",
    ),
    Case(
        "a rank that waited, and died of it",
        "collective",
        """
>>>[rank1]:[E101 10:00:00.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/wide.py", line 3, in <module>
[rank1]: RuntimeError: the store is gone
""",
        "failed",
    ),
    Case(
        "a traceback inside the launcher's table",
        "script_error",
        """
E0527 09:05:54.711000 1403 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: 1) local_rank: 3 (pid: 721) of binary: /opt/python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
wide.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 3 (local_rank: 3)
  exitcode  : 1 (pid: 721)
  error_file: /tmp/e/error.json
  traceback : Traceback (most recent call last):
    File "/opt/torch/errors/__init__.py", line 355, in wrapper
      return f(*args, **kwargs)
    File "/job/wide.py", line 12, in main
      raise ValueError("no rows")
>>>  ValueError: no rows

============================================================
""",
        "failed",
    ),
)
PODS = (
    Case(
        "a volume that a pod waits for",
        "tool_error",
        '>>>Warning  FailedMount  2m (x9 over 20m)  kubelet  MountVolume.SetUp failed for volume "wide" : rpc error: code = '
        'Internal desc = Could not mount "fs-1.test"\n',
    ),
    Case(
        "a server that did not answer its probe",
        "interrupted",
        """
Warning  Unhealthy  1m (x3 over 2m)  kubelet  Liveness probe failed: HTTP probe failed with statuscode: 503
>>>Normal   Killing    1m  kubelet  Container main failed liveness probe, will be restarted
""",
    ),
    Case(
        "a job that ran longer than it may",
        "interrupted",
        ">>>Warning  DeadlineExceeded  2m  job-controller  Job was active longer than specified deadline\n",
    ),
    Case(
        "a limit of memory that Slurm enforces",
        "host_oom",
        ">>>slurmstepd: error: Exceeded job memory limit\n",
    ),
)
REPORTS = (
    Case(
        "a job's end, told above the last lines of its log",
        "script_error",
        """
>>>Job entrypoint command failed with exit code -11, last available logs (truncated to 9,000 chars):
Running: 0.0/18.0 CPU: 100%|██████████| 36/36 [00:00<00:00, 71.21it/s]
"""
        + "".join(f"{{'loss': {10 - step / 10}, 'step': {step}}}\n" for step in range(9)),
        "failed",
    ),
    Case(
        "a step of an environment's making, and what it printed",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "/opt/agent/pip.py", line 200, in _install
    await check_output(command)
agent.utils.SubprocessCalledProcessError: Run cmd[9] failed with the following details.
Last 50 lines of stdout:
>>>    ERROR: Could not find a version that satisfies the requirement wide==9 (from versions: none)
""",
        "failed",
    ),
    Case(
        "a request that the API of Kubernetes refuses",
        "tool_error",
        '>>>Error from server (BadRequest): container "main" in pod "wide-0" is waiting to start: PodInitializing\n',
    ),
    Case(
        "a kernel of Triton's that failed on the device",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "/opt/triton/compiler.py", line 498, in _init_handles
    load(kernel)
>>>RuntimeError: Triton Error [CUDA]: unspecified launch failure
""",
        "failed",
    ),
    Case(
        "a volume in an event of the older form",
        "tool_error",
        """
>>>  4m        2m      2   {kubelet node-7}           Warning     FailedMount Unable to mount volumes for pod "wide-0": timed out
""",
    ),
    Case(
        "a shell that is not told which line it reads",
        "script_error",
        ">>>(task, pid=2846) bash: /usr/bin/python9: No such file or directory\n",
    ),
)
OTHERS = (
    Case(
        "errors with glog's header of today, which has the year",
        "script_error",
        """
I20261218 09:35:42.463377 3029784 store.cpp:41] Number of GPUs: 4
>>>E20261218 09:47:16.837333 3029991 model.cpp:53] Tensor file "/data/wide/tensor.data_0" does not exist
F20261218 09:47:16.837400 3029991 store.cpp:120] Check failed: model->Initialize(path) == 0
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "a server that is not up yet when it is probed, and ended for it",
        "interrupted",
        """
Name:             wide-0
Events:
  Type     Reason     Age   From     Message
>>>  Normal   Killing    11m   kubelet  Container wide failed startup probe, will be restarted
  Warning  Unhealthy  11m (x30 over 13m)  kubelet  Startup probe failed: Get "http://10.0.0.3:8000/health": dial tcp 10.0.0.3:8000: connect: connection refused
""",
    ),
    Case(
        "a server that was not up when it was probed first",
        "",
        "  Warning  Unhealthy  11m  kubelet  Readiness probe failed: dial tcp 10.0.0.3:8000: connect: connection refused\n",
    ),
    Case(
        "a child that ended, as its parent tells",
        "script_error",
        "[rank: 2] Seed set to 7\n>>>[rank: 2] Child process with PID 652 terminated with code 1. Forcefully terminating all "
        "other processes\n",
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
)
SEVENTH_CASES = (*OTHERS, *REPORTS, *LAUNCHERS, *NETWORK, *MACHINES, *REFUSALS, *SHELLS, *ORDER, *PODS)
