"""More logs of our own: what stands around a failure, what takes it back, and what batch systems print of an end."""

from __future__ import annotations

from tests.diagnose.cases import Case

NCCL = (
    Case(
        "what NCCL tells of plugins that it does not find",
        "",
        """
box-7:310:310 [0] NCCL INFO NET/Plugin: Plugin load (libwide-net.so) returned 2 : libwide-net.so: cannot open shared object file: No such file or directory
box-7:310:310 [0] NCCL INFO NET/Plugin: Using internal network plugin.
box-7:310:344 [0] NCCL INFO NET/IB : No device found.
""",
    ),
    Case(
        "NCCL's warning that nobody knows, where nothing else states a cause",
        "collective",
        """
box-7:310:344 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0
>>>box-7:310:351 [0] transport/wide.cc:88 NCCL WARN Peer 3 refused the handshake
""",
    ),
    Case(
        "NCCL's warning that nobody knows, and the exception that ended the rank",
        "script_error",
        """
box-7:310:351 [0] transport/wide.cc:88 NCCL WARN Peer 3 refused the handshake
Traceback (most recent call last):
  File "/job/wide.py", line 3, in <module>
>>>ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "NCCL's advice on how the machine is set up",
        "",
        "box-7:310:351 [0] rocmwrap.cc:9 NCCL WARN A kernel option is missing, which can lead to errors or a hang\n",
    ),
    Case(
        "a call of libfabric that failed, as the plugin reports it",
        "collective",
        ">>>[1,4]<stdout>:box-9:77:91 [4] create_wide_ep:12 NCCL WARN NET/OFI Couldn't bind CQ. RC: -12, ERROR: Out of memory slots\n",
    ),
    Case("MPI that cannot start", "collective", ">>>*** An error occurred in MPI_Init\n*** on a NULL communicator\n"),
    Case(
        "what a rank of MPI ended itself with, and Slurm behind it",
        "script_error",
        """
>>>Abort(7) on node 2 (rank 2 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7) - process 2
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
slurmstepd: error: *** STEP 71.0 ON box-2 CANCELLED AT 2026-05-02T01:02:03 ***
srun: error: box-2: tasks 0-7: Killed
""",
        "failed",
    ),
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
    Case(
        "collectives of another maker",
        "collective",
        ">>>RuntimeError: wide.cpp:12 OPS function error: HcclBroadcast, error code is 9\n",
    ),
)
HEADERS = (
    Case(
        "a check of Ray's C++ that did not hold",
        "script_error",
        """
[2026-05-02 10:00:00,101 I 81 81] (raylet) wide.cc:20: Failed to look up a node, trying again
[2026-05-02 10:00:00,102 W 81 81] (raylet) wide.cc:21: Couldn't start a worker
>>>[2026-05-02 10:00:00,103 C 81 90] (raylet) wide.cc:44: Check failed: tasks_.size() == 2 Bad number of tasks
""",
        "failed",
    ),
    Case(
        "glog's header with the number of a thread",
        "",
        "I0502 10:00:00.660001 140000000000321 backends.py:66] Unable to open libwide.so: libwide.so: cannot open shared "
        "object file: No such file or directory\n",
    ),
    Case(
        "a step of a workflow that somebody canceled",
        "interrupted",
        """
2026-05-02T10:00:01.1000000Z INFO:wheel:copying 12 files
>>>2026-05-02T10:00:02.1000000Z ##[error]The operation was canceled.
2026-05-02T10:00:02.2000000Z Post job cleanup.
""",
    ),
    Case(
        "a step of a workflow that failed",
        "script_error",
        """
2026-05-02T10:00:01.1000000Z ##[warning]This action is old
>>>2026-05-02T10:00:02.1000000Z ##[error]The shards could not be read
2026-05-02T10:00:02.2000000Z ##[error]Process completed with exit code 2.
""",
    ),
    Case(
        "a line behind a progress bar whose head is gone",
        "script_error",
        ">>>  31/900 [01:02<19:59,  1.38s/it]Error: shard 12 is empty\n",
    ),
    Case(
        "a line in the middle of a progress bar",
        "interrupted",
        ">>>Epoch 3:  58%|###  | 208/356 [09:46<06:57,  2.82s/it, loss=srun: error: *** JOB 71 ON box-3 CANCELLED AT "
        "2026-05-02T01:02:03 DUE TO TIME LIMIT ***\n",
    ),
    Case(
        "Hydra's heading in the middle of a progress bar",
        "script_error",
        ">>>Epoch 3:   0%|   | 0/375 [00:17<?, ?it/s, v_num=abError executing job with overrides: ['lr=1']\n",
    ),
    Case(
        "a test's name that has words of failures in it",
        "script_error",
        """
ERROR [2.001s]: test_barrier_timeout_of_wide (__main__.WideTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/job/test_wide.py", line 9, in test_barrier_timeout_of_wide
>>>RuntimeError: the second barrier was left too early
""",
        "failed",
    ),
    Case(
        "TensorFlow's heading, and the first of the errors below it",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/net.py", line 9, in call
tensorflow.python.framework.errors_impl.InternalError: 2 root error(s) found.
>>>  (0) Internal: the convolution found no plan
\t [[{{node wide/Conv2D}}]]
  (1) Internal: the convolution found no plan
""",
        "failed",
    ),
)
TAKEN_BACK = (
    Case(
        "an error line that the next one takes back",
        "",
        """
E0502 10:00:00.366000 1121 wide/select.py:210] [7/0] The kernel could not be made: Required: 131072, limit: 101376.
E0502 10:00:00.366000 1121 wide/select.py:210] [7/0] Ignoring this choice.
""",
    ),
    Case(
        "an error line in front of what is done instead",
        "",
        "ERROR:wide:The fast path failed: no such symbol\nFalling back to the slow path\n",
    ),
    Case(
        "an exception is not taken back",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 3, in <module>
>>>ValueError: shards do not add up
Falling back to the last checkpoint
""",
        "failed",
    ),
    Case(
        "choices that an autotuner leaves out",
        "",
        """
ERROR:wide.select:Exception No valid triton configs. OutOfMemoryError: out of resource: wide_mm Required: 9 Hardware limit:7
Traceback (most recent call last):
  File "/env/wide/select.py", line 9, in precompile
RuntimeError: No valid triton configs. OutOfMemoryError: out of resource: wide_mm Required: 9 Hardware limit:7
AUTOTUNE mm(16x16, 16x16)
  mm 0.0420 ms 100.0%
SingleProcess AUTOTUNE benchmarking takes 0.3 seconds and 3.5 seconds precompiling for 18 choices
""",
    ),
    Case(
        "a thread that only notices that its service has gone",
        "",
        """
service: uploaded 5 files
Exception in thread Uploader:
Traceback (most recent call last):
  File "/usr/lib/python3.12/threading.py", line 1073, in _bootstrap_inner
    self.run()
ConnectionResetError: [Errno 104] Connection reset by peer
""",
    ),
    Case(
        "a thread that ended for a reason of its own",
        "script_error",
        """
Exception in thread Loader:
Traceback (most recent call last):
  File "/usr/lib/python3.12/threading.py", line 1073, in _bootstrap_inner
    self.run()
>>>IndexError: pop from an empty deque
""",
    ),
    Case(
        "success of which is said that it comes later",
        "script_error",
        ">>>Error: no such checkpoint\nwarning: numbers are not exact if training is done again\n",
        "unknown",
    ),
    Case(
        "a path that looks like a rate is no step",
        "script_error",
        """
>>>Error: the stage failed: no input
last files: /data/runs/item-1, /src/kit/sub/one.cc, /data/runs/item-2, /src/kit/sub/two.cc, /data/runs/item-3, /x/kit/s
""",
    ),
)
ABORTS = (
    Case(
        "an error line in front of the check that fails for it",
        "script_error",
        """
I0502 10:00:00.100000 81 wide.cc:10] Listening
>>>E0502 10:00:00.200000 90 shard.cc:20] The file of shard 3 does not exist
F0502 10:00:00.200100 90 store.cc:30] Check failed: shard->Open() == 0
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "an error line long before a check that fails",
        "script_error",
        """
E0502 10:00:00.200000 90 shard.cc:20] The file of shard 3 does not exist
I0502 10:00:00.200001 90 shard.cc:21] Reading shard 4
I0502 10:00:00.200002 90 shard.cc:21] Reading shard 5
>>>F0502 10:00:00.200100 90 store.cc:30] Check failed: shard->Open() == 0
""",
        "failed",
    ),
)
BATCH = (
    Case("PBS and a time limit", "interrupted", "step 12\n>>>=>> PBS: job killed: walltime 3612 exceeded limit 3600\n"),
    Case("PBS and a limit of memory", "host_oom", ">>>=>> PBS: job killed: mem 9000kb exceeded limit 8000kb\n"),
    Case(
        "LSF and a limit of memory",
        "host_oom",
        ">>>TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 143.\n",
    ),
    Case(
        "LSF and a time limit",
        "interrupted",
        ">>>TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.\n",
    ),
    Case(
        "a scheduler that deletes a job for its memory",
        "host_oom",
        "Job deleted at request of root@sched\n>>>job 71 exceeded MEM usage hard limit (2528 > 1126)\n",
    ),
    Case(
        "HTCondor holds a job", "host_oom", ">>>Hold reason: Error from slot1: job has gone over memory limit of 9 MB\n"
    ),
    Case("a task that Slurm ended for its memory", "host_oom", ">>>srun: error: box-1: task 3: Out Of Memory\n"),
    Case("a task that was killed, nobody says why", "host_oom", ">>>srun: error: box-1: task 3: Killed\n"),
    Case("a queue that takes no job", "tool_error", ">>>qsub: submit error (Job exceeds the limits of its queue)\n"),
    Case(
        "a job of SageMaker that somebody stopped",
        "interrupted",
        "2026-05-02 10:00:00 Training - step 12\n>>>2026-05-02 10:05:00 Stopping - Stopping the training job\n",
    ),
    Case(
        "a launcher that only tells whom it ends",
        "script_error",
        ">>>[2026-05-02 10:00:00,100] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 4711\n",
    ),
    Case(
        "torchrun's report from its middle on",
        "script_error",
        """
  rank      : 3 (local_rank: 3)
>>>  exitcode  : 1 (pid: 19418)
  error_file: <N/A>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  exitcode  : 1 (pid: 19414)
""",
    ),
    Case(
        "events of workers, one object a line",
        "script_error",
        '>>>{"name": "torchelastic.worker.status.FAILED", "metadata": {"global_rank": 3, "state": "FAILED"}}\n',
    ),
    Case(
        "trials that failed, only counted",
        "script_error",
        "Number of trials: 2/2 (1 ERROR)\n>>>Number of errored trials: 1\n",
    ),
    Case(
        "a job's status, and the message that states the reason",
        "script_error",
        "Job 'wide_1' failed\n>>>Status message: The supervisor could not start within 900 seconds.\n",
    ),
    Case(
        "the middle of a traceback, cut off at both ends",
        "script_error",
        """
File "/job/a.py", line 1, in one
    two()
File "/job/a.py", line 2, in two
    three()
File "/job/a.py", line 3, in three
>>>    four()
""",
    ),
    Case(
        "an exception as far indented as the frames above it say",
        "script_error",
        """
        File "/env/ext.py", line 9, in _run_build
          raise RuntimeError(message) from e
>>>      RuntimeError: the extension's objects did not compile
      [end of output]

  note: This comes from a subprocess.
ERROR: No wheel was built
""",
    ),
    Case(
        "a program that ends by an exception, in words of its own",
        "script_error",
        ">>>Unhandled exception <class 'RuntimeError'> in thread <_MainThread(MainThread)>, proc 28.\n",
    ),
)
MACHINES = (
    Case(
        "a container's end in the API's words",
        "host_oom",
        """
        "terminated": {
>>>            "exitCode": 137,
            "reason": "Error"
        }
""",
    ),
    Case(
        "an older scheduler of Kubernetes",
        "tool_error",
        ">>>Message:  No nodes are available that match all of the predicates: Insufficient cpu (3)\n",
    ),
    Case("a pod without a network", "tool_error", ">>>Failed to create pod sandbox: rpc error: no address left\n"),
    Case("a volume that another node has", "tool_error", '>>>Multi-Attach error for volume "pvc-9"\n'),
    Case("a webhook that refuses", "tool_error", '>>>admission webhook "w.test" denied the request: no queue\n'),
    Case(
        "a GPU's driver of another version",
        "runtime_init",
        ">>>Failed to initialize NVML: Driver/library version mismatch\n",
    ),
    Case("no GPU to be had", "runtime_init", ">>>RuntimeError: No CUDA GPUs are available\n"),
    Case(
        "memory of an AMD GPU",
        "runtime_exec",
        ">>>Memory access fault by GPU node-1 on address 0x7000. Reason: Page not present.\nAborted (core dumped)\n",
    ),
    Case("memory of another device", "runtime_oom", ">>>RuntimeError: NPU out of memory. Tried to allocate 9.00 GiB\n"),
    Case(
        "an engine that finds its device taken",
        "runtime_oom",
        ">>>ValueError: Free memory on device cuda:1 (0.5/23.0 GiB) on startup is less than what is asked for\n",
    ),
    Case(
        "memory of the device, told by the service",
        "runtime_oom",
        ">>>  OP_REQUIRES failed at tpu_execute_op.cc:266 : RESOURCE_EXHAUSTED: Attempting to reserve 9.51G. 8.97G free\n",
    ),
    Case(
        "cores that are taken",
        "runtime_init",
        ">>>2026-May-02 10:00:00.000001 7:7 ERROR   NRT:nrt_allocate  NERR_RESOURCE: failed to allocate 8 cores\n",
    ),
    Case(
        "weights of another size",
        "script_error",
        ">>>[rank1]:        size mismatch for net.2.w: copying a param with shape torch.Size([4]) from checkpoint\n",
    ),
    Case("a heap that is damaged", "script_error", ">>>corrupted size vs. prev_size\n"),
    Case("a host that refuses a key", "network", ">>>Permission denied (publickey).\n"),
    Case("a shell's script that nobody can read", "script_error", '>>>/job/start: 9: Syntax error: "fi" unexpected\n'),
    Case("an assembler that gives up", "script_error", ">>>ptxas fatal   : Value 'sm_900' is not defined\n"),
    Case("a full disk, in small letters", "script_error", ">>>write /var/lib/wide/x: no space left on device\n"),
    Case(
        "git where there is no repository", "", "fatal: not a git repository (or any of the parent directories): .git\n"
    ),
)
PLATFORMS = (
    Case(
        "a job of Slurm that a workflow reports",
        "interrupted",
        """
Error in rule fit:
>>>    message: SLURM-job '77' failed, SLURM status is: 'TIMEOUT'. See the log.
    jobid: 4
WorkflowError:
At least one job did not finish.
""",
        "failed",
    ),
    Case(
        "how a job ended, in the words of Slurm's reports",
        "host_oom",
        "Job ID: 77\nCluster: wide\n>>>State: OUT_OF_MEMORY (exit code 0)\n",
    ),
    Case("a letter of Slurm", "interrupted", ">>>Slurm Job_id=77 Name=fit Failed, Run time 00:10:02, TIMEOUT\n"),
    Case("a letter of Slurm, of a job that ended well", "", "Slurm Job_id=7 Ended, Run time 00:10:02, COMPLETED\n"),
    Case(
        "a container that YARN ends",
        "host_oom",
        """
26/05/02 10:00:01 INFO YarnAllocator: Completed container c_2 on host: wide (state: COMPLETE, exit status: -104)
>>>26/05/02 10:00:01 ERROR Scheduler: Lost executor 1: Container killed for exceeding memory limits. 8 GB used.
""",
    ),
    Case(
        "a worker that holds too much",
        "host_oom",
        """
>>>wide.nanny - WARNING - Worker 3 exceeded 90% memory budget. It starts again
wide.nanny - WARNING - Worker 3 starts
KilledWorker: ("('fit', 3)", 'tcp://192.0.2.7:41193')
""",
    ),
    Case(
        "a model that a server does not load",
        "script_error",
        """
I0502 10:00:00.100000 81 server.cc:633]
+-------+---------+---------------------------------------------+
| Model | Version | Status                                      |
+-------+---------+---------------------------------------------+
>>>| wide  | 1       | UNAVAILABLE: Internal: no engine can be made |
+-------+---------+---------------------------------------------+
error: creating server: Internal - failed to load all models
""",
    ),
    Case(
        "a launcher that only says that trainers ended",
        "script_error",
        """
>>>FatalError: `Segmentation fault` has been seen.
ERROR 2026-05-02 10:00:02,000 launch.py:3] ABORT!!! Out of all 4 trainers, the trainer process with rank=[0] ended.
""",
        "failed",
    ),
    Case("an image that is not pulled", "tool_error", ">>>CannotPullContainerError: repository wide not found\n"),
    Case(
        "a container that is not made",
        "tool_error",
        'INFO:    Setting up\n>>>FATAL:   container creation failed: exec: "/usr/bin/wide": no such file or directory\n',
    ),
    Case("a program of another kind", "tool_error", ">>>init.go:228: exec user process caused: no such file\n"),
    Case(
        "a shell that is named by its path",
        "script_error",
        ">>>/bin/bash: /job/start.sh: Is a directory\n",
    ),
    Case(
        "a queue that has no room",
        "tool_error",
        """
Events:
  Type     Reason         Age  From     Message
  ----     ------         ---  ----     -------
>>>  Warning  Unschedulable  16s  volcano  0/2 tasks in gang unschedulable: pod group is not ready, 2 minAvailable
""",
    ),
    Case(
        "a pod that got its node later, and its volume not",
        "tool_error",
        """
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  7m    default-scheduler  0/3 nodes are available: 3 Insufficient cpu.
  Normal   Scheduled         5m    default-scheduler  Successfully assigned default/wide-0 to node-7
>>>  Warning  FailedMount       4m    kubelet            MountVolume.SetUp failed for volume "data": no such share
""",
    ),
    Case(
        "a pod that got its node, and another that did not",
        "tool_error",
        """
>>>7m  Warning  FailedScheduling  pod/wide-1  0/3 nodes are available: 3 Insufficient cpu.
5m  Normal   Scheduled         pod/wide-0  Successfully assigned default/wide-0 to node-7
""",
    ),
    Case(
        "a pod that got its node, and one that did not later",
        "tool_error",
        """
Events:
  ----     ------            ----  ----               -------
>>>  Warning  FailedScheduling  7m    default-scheduler  0/3 nodes are available: 3 Insufficient cpu.
  Normal   Scheduled         5m    default-scheduler  Successfully assigned default/wide-0 to node-7
Events:
  Warning  FailedScheduling  3m    default-scheduler  0/3 nodes are available: 3 Insufficient cpu.
""",
    ),
    Case(
        "a transfer that libfabric could not make",
        "collective",
        ">>>libfabric:81:17085::efa:cq:handle_error():73<warn> err: 5, message: Invalid address My address: 1\n",
    ),
    Case(
        "what libfabric says of a machine",
        "",
        "libfabric:81:1673:efa:core:to_rxr():5<warn> needs RDMA, not supported.\n",
    ),
    Case("a transfer that an adapter could not make", "collective", ">>>mlx5: wide-7: got completion with error:\n"),
    Case(
        "the stack of an error of MPI, whose head is cut off",
        "collective",
        ">>>MPIDI_wide_cq(902).............: OFI poll failed (events.h:902:cq:Input/output error))\n",
    ),
    Case(
        "a package whose compiler failed, in the output that pip shows",
        "script_error",
        """
  error: subprocess-exited-with-error
  × python setup.py bdist_wheel did not run successfully.
  │ exit code: 1
  ╰─> [9 lines of output]
      fatal: not a git repository (or any of the parent directories): .git
      running build
>>>      error: command '/usr/bin/wide-cc' failed with exit code 2
      [end of output]
  ERROR: Failed building wheel for wide
""",
        "failed",
    ),
    Case(
        "a line that could not be logged, in a job that goes on",
        "",
        """
Step 120/1000 loss 0.2
--- Logging error ---
Traceback (most recent call last):
  File "/usr/lib/python3.11/logging/__init__.py", line 1114, in emit
    self.flush()
OSError: [Errno 116] Stale file handle
Call stack:
  File "/job/train.py", line 20, in <module>
    log.info("saved")
Message: 'saved'
Arguments: ()
""",
    ),
    Case(
        "a level behind the name of a file",
        "script_error",
        ">>>2026-05-02 10:00:00,611 wide_executor.py ERROR - Event: pod-7f04 Failed\n",
    ),
    Case(
        "a task that ran out of memory, in its platform's words",
        "host_oom",
        "2026-05-02 10:00:00.920 [12/fit/41 (pid 83)] Platform error:\n"
        ">>>2026-05-02 10:00:00.920 [12/fit/41 (pid 83)] Task ran out of memory. Give the step more.\n",
    ),
    Case(
        "a node that Slurm's controller gives up",
        "interrupted",
        ">>>[2026-05-02T02:15:03.786] update_node: node wide-7 reason set to: Health check of the scheduler failed\n",
    ),
    Case("a machine that was taken away", "interrupted", ">>>Host EC2 (instance i-0a1b2c3d) terminated.\n"),
    Case(
        "an error line that has no words",
        "script_error",
        """
[ERROR] Thread-7 org.wide.Handler - 
>>>org.wide.ServerError: the model has no version 3
        at org.wide.Api.update(Api.java:413)
""",
    ),
)
EIGHTH_CASES = (*NCCL, *HEADERS, *TAKEN_BACK, *ABORTS, *BATCH, *MACHINES, *PLATFORMS)
