"""The host's memory, and limits on it."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

HOST_MEMORY = (
    Case(
        "killed by the shell's word",
        "host_oom",
        """
Loading checkpoint shards:  66%
>>>/opt/start.sh: line 12:  4711 Killed                  python serve.py
""",
    ),
    Case(
        "kernel's out-of-memory killer",
        "host_oom",
        """
[ 8123.456789] python invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0
>>>[ 8123.556789] Out of memory: Killed process 4711 (python) total-vm:812345678kB, anon-rss:501234567kB
""",
    ),
    Case(
        "a task of a workflow that is killed at each try",
        "host_oom",
        """
>>>[aa/bb0001] NOTE: Process `align (3)` terminated with an error exit status (137) -- Execution is retried (1)
ERROR ~ Error executing process > 'align (3)'

Caused by:
  Process `align (3)` terminated with an error exit status (137)

Command exit status:
  137
""",
    ),
    Case(
        "exit code 137 of a pod",
        "host_oom",
        """
step 10
>>>command terminated with exit code 137
""",
    ),
    Case(
        "the launcher reports signal 9",
        "host_oom",
        """
>>>E0302 09:18:05.100000 46217 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: -9) local_rank: 2 (pid: 46304) of binary: /usr/bin/python3
""",
        "failed",
    ),
    Case(
        "Kubernetes' OOMKilled",
        "host_oom",
        """
Name:         job-abc
    State:          Terminated
>>>      Reason:       OOMKilled
      Exit Code:    137
""",
    ),
    Case(
        "a data loader that ran out of shared memory",
        "host_oom",
        """
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    next(it)
>>>RuntimeError: DataLoader worker (pid 712) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.
""",
    ),
    Case(
        "Slurm's word on memory",
        "host_oom",
        """
step 3
>>>slurmstepd: error: Detected 1 oom_kill event in StepId=99.0. Some of the step tasks have been OOM Killed.
srun: error: node-4: task 0: Out Of Memory
""",
    ),
    Case(
        "Ray's memory monitor",
        "host_oom",
        """
>>>ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.
""",
    ),
    Case(
        "a pod's memory limit, as Ray suspects it",
        "host_oom",
        """
Traceback (most recent call last):
  File "/job/a.py", line 3, in <module>
    ray.get(refs)
ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
>>>The actor is dead because its worker process has died. Worker exit detail: Worker exits unexpectedly. The worker may have exceeded K8s pod memory limits.
""",
    ),
    Case(
        "a rank that was killed while the launcher waited for the others",
        "host_oom",
        """
step 120/1000 loss 2.0
[2026-03-01 10:00:00,000] torch.distributed.elastic.agent.server.api: [ERROR] Error waiting on exit barrier. Elapsed: 300.1 seconds
Traceback (most recent call last):
  File "/usr/local/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-03-01_10:00:00
  rank      : 5 (local_rank: 5)
>>>  exitcode  : -9 (pid: 332066)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 332066
============================================================
""",
    ),
    Case(
        "a limit of memory that Slurm enforces",
        "host_oom",
        """
>>>slurmstepd: error: Job 77 exceeded memory limit (9000 > 8000), being killed
""",
    ),
    Case(
        "a unit of systemd that is killed",
        "host_oom",
        """
>>>Mar 04 05:06:07 n-1 systemd[1]: fit.service: Main process exited, code=killed, status=9/KILL
""",
    ),
    Case(
        "an array that does not fit the host",
        "host_oom",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
>>>numpy._core._exceptions._ArrayMemoryError: Unable to allocate 90.0 GiB for an array
""",
    ),
    Case(
        "a tensor that does not fit the host",
        "host_oom",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
>>>RuntimeError: DefaultCPUAllocator: not enough memory: you tried to allocate 99 bytes.
""",
    ),
    Case(
        "a pod evicted for the memory of its node",
        "host_oom",
        """
step 3 loss: 4.0
>>>The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container bert was using 60Gi.
""",
    ),
    Case(
        "Ray's monitor ends a worker",
        "host_oom",
        """
(fit pid=41, ip=10.0.0.7) step 3
>>>(raylet) Memory on the node (IP: 10.0.0.7, ID: 0a1b) where the task was running was 31.00GB / 32.00GB (0.97), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: 2c3d).
(raylet) Consider provisioning more memory on this node or reducing task parallelism.
ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.
""",
    ),
    Case(
        "Ray's older words for it",
        "host_oom",
        """
>>>(raylet) [2026-05-04 07:08:09,123 E 41 42] (raylet) some_manager.cc:12: System memory low at node 10.0.0.7, killing latest task with name fit to avoid running out of memory.
""",
    ),
    Case(
        "a data loader without shared memory, and no more",
        "host_oom",
        """
2026-05-04T07:08:09 | fit: 77 files
>>>ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
""",
    ),
    Case(
        "a launcher's return code that is a signal",
        "host_oom",
        """
[2026-05-04 07:08:09,123] [INFO] [run.py:12:end_handler] Killing subprocess 41
>>>[2026-05-04 07:08:09,124] [ERROR] [run.py:13:end_handler] ['/usr/bin/python3', '-u', 'fit.py'] exits with return code = -9
""",
    ),
    Case(
        "what the shell says behind such a stack",
        "host_oom",
        """
Stack (most recent call last):
  File "/job/fit.py", line 7, in <module>
    main()
Shard 4
>>>Killed
""",
        "failed",
    ),
    Case(
        "a killed worker names the pool's end as what follows",
        "host_oom",
        """
>>>[12345.678901] Out of memory: Killed process 77 (python) total-vm:99kB, anon-rss:88kB, file-rss:0kB
Traceback (most recent call last):
  File "/job/prepare.py", line 3, in <module>
    future.result()
concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.
""",
        "failed",
    ),
    Case(
        "a limit of memory that Slurm enforces",
        "host_oom",
        ">>>slurmstepd: error: Exceeded job memory limit\n",
    ),
    Case("PBS and a limit of memory", "host_oom", ">>>=>> PBS: job killed: mem 9000kb exceeded limit 8000kb\n"),
    Case(
        "LSF and a limit of memory",
        "host_oom",
        ">>>TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 143.\n",
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
        "how a job ended, in the words of Slurm's reports",
        "host_oom",
        "Job ID: 77\nCluster: wide\n>>>State: OUT_OF_MEMORY (exit code 0)\n",
    ),
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
        "a task that ran out of memory, in its platform's words",
        "host_oom",
        "2026-05-02 10:00:00.920 [12/fit/41 (pid 83)] Platform error:\n"
        ">>>2026-05-02 10:00:00.920 [12/fit/41 (pid 83)] Task ran out of memory. Give the step more.\n",
    ),
    Case(
        "Slurm's table of a job that had no memory left",
        "host_oom",
        """
       JobID    JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
>>>4711              wide      trn1       team          4 OUT_OF_ME+    0:125
4711.extern      extern                  team          4  COMPLETED      0:0
""",
    ),
    Case(
        "Ray takes a worker's memory",
        "host_oom",
        ">>>[2026-05-02 10:00:00,260 E 99 101] (raylet) wide.cc:12: [0] Killing worker with the latest task to free up memory.\n",
    ),
    Case(
        "a job of zsh's that was killed",
        "host_oom",
        """
epoch 3 goes on
>>>[1]    7506 killed     python wide.py --model base
""",
    ),
    Case(
        "a job of bash's that was killed",
        "host_oom",
        """
epoch 3 goes on
>>>[2]+  Killed                  python wide.py > out.log 2>&1
""",
    ),
    Case(
        "the kernel looks for what to kill, and its stack follows",
        "host_oom",
        """
>>>[  507.207709] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[  507.207712] CPU: 0 PID: 97 Comm: python3 Tainted: P           OE     5.4.0-1
[  507.207714] Call Trace:
[  507.207720]  dump_stack+0x57/0x6d
[  507.207725]  oom_kill_process+0xe6/0x120
[  507.207729]  mem_cgroup_out_of_memory+0xbb/0xd0
""",
    ),
    Case(
        "a container's reason, below its exit code",
        "host_oom",
        """
    Task: arn:aws:ecs:xx:0:task/wide
    Reason: Essential container in task exited
      Container: app (STOPPED)
        Exit code: 137
>>>        Reason: OutOfMemoryError: Container killed due to memory usage
""",
    ),
    Case(
        "a spawned process that SIGKILL ended",
        "host_oom",
        """
Traceback (most recent call last):
  File "wide.py", line 4, in <module>
    join=True)
  File "/opt/v/torch/multiprocessing/spawn.py", line 146, in join
    signal_name=name
>>>torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGKILL
""",
        "failed",
    ),
    Case(
        "a program that ends others before memory runs out",
        "host_oom",
        """
step 1
>>>earlyoom[99]: sending SIGTERM to process 8812 uid 1000 "python": badness 912, VmRSS 60123 MiB
Terminated
""",
    ),
    Case(
        "a server that does without a module, and is killed later",
        "host_oom",
        """
2026-05-02T10:00:00.448329Z  WARN loader: serve::models: the fast kernels are not there
Traceback (most recent call last):
  File "/srv/models.py", line 12, in <module>
    import fast_kernels
ImportError: the device is not there
 rank=0
2026-05-02T10:00:09.977961Z  INFO serve: waiting for shard 0
2026-05-02T10:00:19.977961Z  INFO serve: waiting for shard 0
2026-05-02T10:00:29.977961Z  INFO serve: waiting for shard 0
2026-05-02T10:00:39.977961Z  INFO serve: waiting for shard 0
2026-05-02T10:00:49.977961Z  INFO serve: waiting for shard 0
>>>2026-05-02T10:00:51.347050Z ERROR serve: the shard was ended with signal 9
2026-05-02T10:00:51.362497Z ERROR serve: shard 0 did not start
""",
    ),
    Case(
        "a heap of JavaScript, told through compose",
        "host_oom",
        """
build_1    | [1:0x7fa9d36693b0]  1605430 ms: Mark-sweep 981.7 (1058.0) -> 968.6 (1058.3) MB
>>>build_1    | FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
app_build_1 exited with code 139
""",
    ),
    Case(
        "a limit of PBS",
        "host_oom",
        """
step 44
>>>=>> PBS: job killed: mem job total 12582912 kb exceeded limit 8388608 kb
""",
    ),
    Case(
        "a model that a server's host has no room for, at level info",
        "host_oom",
        """
time=2026-03-04T05:06:07.861Z level=INFO source=server.go:497 msg="loading model" "model layers"=33 requested=-1
>>>time=2026-03-04T05:06:07.861Z level=INFO source=sched.go:511 msg="Load failed" model=/tea error="model requires more system memory (5.3 GiB) than is available (4.8 GiB)"
[GIN] 2026/03/04 - 05:06:07 | 500 |  1.404291251s |    10.0.0.5 | POST     "/api/chat"
""",
    ),
    Case(
        "a platform's memory quota",
        "host_oom",
        """
2026-03-04T05:06:07.556352+00:00 heroku[web.1]: Process running mem=1025M(200.2%)
>>>2026-03-04T05:06:07.558523+00:00 heroku[web.1]: Error R15 (Memory quota vastly exceeded)
""",
    ),
    Case(
        "the kernel's frames are not the reason",
        "host_oom",
        """
2026-03-04T05:06:07,678661+02:00  oom_kill_process.cold.33+0xb/0x10
>>>2026-03-04T05:06:07,679700+02:00 Out of memory: Killed process 812 (tea) total-vm:870376kB, anon-rss:603560kB
""",
    ),
    Case(
        "PHP's limit of memory",
        "host_oom",
        """
Installing from the lock file
>>>PHP Fatal error:  Allowed memory size of 536870912 bytes exhausted (tried to allocate 78 bytes) in phar:///srv/tea.phar/src/Brew.php on line 169
""",
    ),
)
