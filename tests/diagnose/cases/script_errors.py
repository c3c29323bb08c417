"""Jobs whose own program ended them otherwise: crashes, error lines, and ends that nothing explains better."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import CCOM

SCRIPT_ERRORS = (
    Case(
        "a name that a shell took for a command, and the option that is empty for it",
        "missing_dependency",
        """
usage: steep.py [-h] --leaf-size SIZE
steep.py: error: argument --leaf-size: expected one argument
>>>/var/spool/slurm/job77/slurm_script: line 28: leaf_size: command not found
usage: steep.py [-h] --leaf-size SIZE
steep.py: error: argument --leaf-size: expected one argument
""",
    ),
    Case(
        "a parent that points to the traceback above",
        "script_error",
        """
CRITICAL 04-09 10:29:26 [executor.py:49] Executor got fatal signal from worker processes, shutting down. See stack trace above for root cause issue.
(Worker rank=1 pid=336) Traceback (most recent call last):
(Worker rank=1 pid=336)   File "/srv/run.py", line 3, in step
>>>(Worker rank=1 pid=336) ValueError: no such layout: 7
""",
    ),
    Case(
        "an exception of Spark around the worker's own",
        "script_error",
        """
PythonException:
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "udf.py", line 26, in interval
>>>TypeError: must be a column, got float
""",
    ),
    Case(
        "an exception without its traceback",
        "script_error",
        """
Loading weights
>>>ValueError: cannot reshape array of size 12 into shape (5,)
""",
    ),
    Case(
        "pytest's marks",
        "script_error",
        """
tests/test_ops.py F
    def test_add():
>       assert add(1, 2) == 4
>>>E       AssertionError: assert 3 == 4
tests/test_ops.py:4: AssertionError
FAILED tests/test_ops.py::test_add - AssertionError: assert 3 == 4
1 failed, 3 passed in 0.12s
""",
    ),
    Case(
        "tests that pytest could not collect",
        "missing_dependency",
        """
collecting ... collected 3 items / 1 error
_____________________ ERROR collecting tests/test_layers.py _____________________
ImportError while importing test module '/job/tests/test_layers.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
tests/test_layers.py:3: in <module>
    from layers import Wide
>>>E   ModuleNotFoundError: No module named 'layers'
ERROR tests/test_layers.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
""",
    ),
    Case(
        "glog",
        "script_error",
        """
I0611 10:11:12.131415  4711 pipe.cc:10] begin
W0611 10:11:13.131415  4711 pipe.cc:11] slow
>>>F0611 10:11:14.131415  4711 pipe.cc:12] Check failed: n > 0 (0 vs. 0)
*** Check failure stack trace: ***
""",
    ),
    Case(
        "Python's logging",
        "script_error",
        """
2026-01-02 03:04:05,678 - job.data - INFO - 12 shards
>>>2026-01-02 03:04:06,678 - job.data - ERROR - shard 7 is shorter than its index says
2026-01-02 03:04:06,700 - job - CRITICAL - giving up
""",
    ),
    Case(
        "loguru",
        "script_error",
        """
2026-01-02 03:04:05.678 | INFO     | job.data:load:12 - 12 shards
>>>2026-01-02 03:04:06.678 | ERROR    | job.data:load:40 - shard 7 is shorter than its index says
""",
    ),
    Case(
        "what() of C++",
        "script_error",
        """
terminate called after throwing an instance of 'std::runtime_error'
>>>  what():  tensor descriptor 12 has no owner
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "segmentation fault and core dump",
        "script_error",
        """
loading model
>>>Segmentation fault (core dumped)
""",
        "failed",
    ),
    Case(
        "exit status of nobody knows what",
        "script_error",
        """
preparing
>>>make: *** [Makefile:12: train] Error 2
""",
        "failed",
    ),
    Case(
        "Python's own fault handler",
        "script_error",
        """
loading
>>>Fatal Python error: Aborted

Thread 0x00007f (most recent call first):
  File "a.py", line 3 in step
""",
        "failed",
    ),
    Case(
        "an exception as SageMaker's toolkit reports it",
        "script_error",
        """
2026-03-01 10:00:00,123 sagemaker-training-toolkit ERROR    Reporting training FAILURE
2026-03-01 10:00:00,123 sagemaker-training-toolkit ERROR    ExecuteUserScriptError:
ExitCode 1
>>>ErrorMessage "RuntimeError: shape mismatch: a tensor of shape [4] cannot be broadcast"
""",
    ),
    Case(
        "a rank that was killed by a signal while others waited for it",
        "script_error",
        """
[rank0]:[E1103 10:00:00.123 ProcessGroupGloo.cpp:144] Rank 0 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 2
[rank0]: RuntimeError: Rank 2 failed to pass monitoredBarrier in 1800000 ms
W1103 10:00:01.000 140 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 1 closing signal SIGTERM
>>>E1103 10:00:02.000 140 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -7) local_rank: 2 (pid: 55) of binary: /usr/bin/python
""",
    ),
    Case(
        "a C++ check of the framework ends the process",
        "script_error",
        """
>>>2026-03-04 05:06:07.890123: F torch_xla/csrc/some.cc:77] Check failed: devices_ > 0
""",
        "failed",
    ),
    Case(
        "a C compiler names the place",
        "compile_error",
        """
make: Entering directory '/usr/src/x'
>>>/usr/src/x/ring.c:41:3: error: too few arguments to function 'ring_new'
make[1]: *** [Makefile:7: ring.o] Error 1
make: *** [Makefile:2: all] Error 2
""",
        "failed",
    ),
    Case(
        "a managed job that crashed",
        "script_error",
        """
2026-03-04 05:06:07 Failed - Training job failed
>>>sagemaker.exceptions.UnexpectedStatusException: Error for Training job x: Failed. Reason: AlgorithmError: Exit Code: 139
""",
    ),
    Case(
        "errors and failures that pytest lists",
        "script_error",
        """
ERROR tests/test_export.py::test_load[small]
FAILED tests/test_export.py::test_save - LookupError
>>>E       LookupError: no shard for this worker
""".replace("E       ", ""),
    ),
    Case(
        "a unit of systemd that ends with a status",
        "script_error",
        """
Mar 04 05:06:06 n-1 fit[77]: loading
>>>Mar 04 05:06:07 n-1 systemd[1]: fit.service: Main process exited, code=exited, status=3/NOTIMPLEMENTED
""",
    ),
    Case(
        "the heading of torchrun's report is not the reason",
        "script_error",
        """
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
==============================
jobs/pretrain.py FAILED
------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 0 (local_rank: 0)
>>>  exitcode  : -11 (pid: 8123)
  traceback : Signal 11 (SIGSEGV) received by PID 8123
==============================
""",
        "failed",
    ),
    Case(
        "a panic of Rust ends its process",
        "script_error",
        """
loading 3 programs
>>>thread 'main' panicked at src/runner.rs:31:5:
assertion failed: handle.is_some()
""",
        "failed",
    ),
    Case(
        "a table of a log service, stamps between bars",
        "script_error",
        """
| 1767225600123 | loading
| 1767225600200 | terminate called after throwing an instance of 'c10::Error'
>>>| 1767225600201 |   what():  a tuple was expected
| 1767225600202 | frame #3: python3() [0x51a2]
""",
        "failed",
    ),
    Case(
        "a name and a stamp in front of the level",
        "script_error",
        """
[Keeper] 2026-01-01T00:00:01 INFO 16 devices
>>>[Keeper] 2026-01-01T00:00:02 ERROR device 4 does not answer, the job is stopped
""",
    ),
    Case(
        "a check of a library",
        "script_error",
        """
>>>python3: ring.c:20: ring_push: Assertion `n < size' failed.
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "a launcher that stops workers before it says which one ended",
        "script_error",
        """
[2026-03-04 05:06:07,890] torch.distributed.elastic.multiprocessing.api: [WARNING] Sending process 78 closing signal SIGTERM
>>>[2026-03-04 05:06:08,890] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 1 (pid: 77) of binary: python3
""",
        "failed",
    ),
    Case(
        "a step of Slurm whose other tasks are stopped after one has ended",
        "script_error",
        """
10: step 30 loss 2.1
>>>srun: error: n-3: task 9: Exited with exit code 1
srun: Terminating StepId=77.0
slurmstepd: error: *** STEP 77.0 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
srun: error: n-1: tasks 0-7: Terminated
""",
        "failed",
    ),
    Case(
        "an exception behind a progress bar",
        "script_error",
        """
>>>  0%|          | 0/10 [00:00<?, ?it/s]RuntimeError: the tensor has no storage
""",
    ),
    Case(
        "a check of C++ between two progress bars",
        "script_error",
        """
>>>Epoch ... (1/10):   0%|     | 0/10 [00:00<?, ?it/s]F0304 05:06:07.890123   77 array.h:41] Check failed: n < size      | 0/118 [00:00<?, ?it/s]
""",
        "failed",
    ),
    Case(
        "PyTorch's C++ in May, whose month has one digit",
        "script_error",
        """
[rank2]:[W503 07:08:09.123456789 SomeStore.cpp:12] a warning that is none of an error
>>>[rank2]:[E503 07:08:10.123456789 SomeStore.cpp:34] the table of peers could not be written
""",
    ),
    Case(
        "the agent that ends workers says no more",
        "script_error",
        """
>>>[2026-05-04 07:08:09,123] some.agent.api: [WARNING] Unable to shutdown process 41 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL
[2026-05-04 07:08:10,123] some.agent.api: [WARNING] Unable to shutdown process 42 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL
""",
    ),
    Case(
        "Slurm may not run the script",
        "script_error",
        """
>>>slurmstepd: error: execve(): fit.sh: Permission denied
srun: error: n7: task 0: Exited with exit code 13
""",
        "failed",
    ),
    Case(
        "numbers that overflow, without the heading of the traceback, and the bar that is drawn once more",
        "script_error",
        """
  4%|4         | 16/400 [05:00<1:57:56, 19.13s/it]
    raise Exception(
>>>Exception: Current loss scale already at minimum - cannot decrease it anymore. Exiting run.
  4%|4         | 17/400 [05:25<1:57:56, 19.13s/it]
""",
    ),
    Case(
        "a log that begins inside a traceback, behind a header on each line",
        "script_error",
        """
ERROR 05-04 07:08:09 engine.py:12]   File "/job/engine.py", line 7, in run
ERROR 05-04 07:08:09 engine.py:12]     failed = check()
>>>ERROR 05-04 07:08:09 engine.py:12] ValueError: the table has no room
ERROR 05-04 07:08:10 workers.py:34] Worker pid 41 died, exit code: -15
""",
    ),
    Case(
        "a shard that was ended by a signal",
        "script_error",
        """
>>>2024-01-02T03:04:05.000000Z ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with signal 4 rank=0
Error: ShardCannotStart
""",
        "failed",
    ),
    Case(
        "a line that is cut off in its stamp",
        "script_error",
        """
(EngineCore_DP0 pid=7) INFO 01-02 03:04:05 [core.py:7] Loading the model.
>>>(EngineCore_DP0 pid=7) ERROR 01-02 03:04:06 [core.py:8] EngineCore failed to start.
(EngineCore_DP0 pid=7) ERROR 01-02 03:0
""",
        "failed",
    ),
    Case(
        "an endpoint that did not answer",
        "script_error",
        ">>>botocore.errorfactory.ModelError: An error occurred (ModelError) when calling the InvokeEndpoint operation: "
        'server error (0) with message "Your invocation timed out while waiting for a response"\n',
    ),
    Case(
        "a limit of open files among ranks that meet",
        "collective",
        f"""
>>>{CCOM} [17] bootstrap.cc:106 CCOM WARN Call to accept failed : Too many open files
{CCOM} [13] include/socket.h:443 CCOM WARN Net : Socket creation failed : Too many open files
{CCOM} [29] include/socket.h:579 CCOM WARN Timeout waiting for RX (waited 120 sec) - retrying
""",
    ),
    Case(
        "an allocator that aborts",
        "script_error",
        "loading\n>>>src/tcmalloc.cc:332] Attempt to free invalid pointer 0x7ffd\n",
        "failed",
    ),
    Case(
        "a traceback on one line",
        "script_error",
        '>>>File "<string>", line 111, in __init__ File "/opt/arguments.py", line 13, in check_device '
        "raise RuntimeError('no such device: {}'.format(device)) RuntimeError: no such device: cpu\n",
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
        "an error of a server that logs as Rust does",
        "script_error",
        '>>>{"timestamp":"2026-08-29T14:40:17.2Z","level":"ERROR","message":"Request failed during a step",'
        '"target":"router::back","line_number":5}\n',
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
        "a pod that ended, told by an operator as information",
        "script_error",
        """
time="2026-02-21T09:32:29Z" level=info msg="Reconciling for job wide"
>>>time="2026-02-21T09:32:29Z" level=info msg="Pod: team.wide-worker-0 exited with code 1" job=team.wide uid=1
""",
    ),
    Case(
        "a script that the shell cannot enter",
        "script_error",
        ">>>/var/spool/slurmd/job7/slurm_script: line 4: /opt/wide/bin/activate: No such file or directory\n",
    ),
    Case(
        "a script that the shell cannot read",
        "script_error",
        ">>>run.sh: line 9: syntax error near unexpected token `fi'\n",
    ),
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
        "a shell that is not told which line it reads",
        "script_error",
        ">>>(task, pid=2846) bash: /usr/bin/python9: No such file or directory\n",
    ),
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
        "a child that ended, as its parent tells",
        "script_error",
        "[rank: 2] Seed set to 7\n>>>[rank: 2] Child process with PID 652 terminated with code 1. Forcefully terminating all "
        "other processes\n",
    ),
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
        "Hydra's heading in the middle of a progress bar",
        "script_error",
        ">>>Epoch 3:   0%|   | 0/375 [00:17<?, ?it/s, v_num=abError executing job with overrides: ['lr=1']\n",
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
    Case(
        "weights of another size",
        "script_error",
        ">>>[rank1]:        size mismatch for net.2.w: copying a param with shape torch.Size([4]) from checkpoint\n",
    ),
    Case("a heap that is damaged", "script_error", ">>>corrupted size vs. prev_size\n"),
    Case("a shell's script that nobody can read", "script_error", '>>>/job/start: 9: Syntax error: "fi" unexpected\n'),
    Case("an assembler that gives up", "compile_error", ">>>ptxas fatal   : Value 'sm_900' is not defined\n"),
    Case("a full disk, in small letters", "tool_error", ">>>write /var/lib/wide/x: no space left on device\n"),
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
    Case(
        "a shell that is named by its path",
        "script_error",
        ">>>/bin/bash: /job/start.sh: Is a directory\n",
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
        "a level behind the name of a file",
        "script_error",
        ">>>2026-05-02 10:00:00,611 wide_executor.py ERROR - Event: pod-7f04 Failed\n",
    ),
    Case(
        "an error line that has no words",
        "script_error",
        """
[ERROR] Thread-7 org.wide.Handler - 
>>>org.wide.ServerError: the model has no version 3
        at org.wide.Api.update(Api.java:413)
""",
    ),
    Case(
        "Ray's guess why an actor died, and the job's exit code told behind it",
        "script_error",
        """
>>>The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: End of file. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer.
Status message: Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):
    output = ray.get(output)
""",
    ),
    Case(
        "the job's exit code alone",
        "script_error",
        ">>>Status message: Job entrypoint command failed with exit code 1, last available logs:\n    run()\n",
    ),
    Case(
        "an accelerator's farewell behind a wrapper's exception",
        "script_error",
        """
>>>RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
[ERROR] 2026-05-02-10:00:30 (PID:4711, Device:-1, RankID:-1) ERR99999 UNKNOWN application exception
""",
    ),
    Case(
        "a stamp with a dash between date and time",
        "script_error",
        ">>>[ERROR] 2026-05-02-10:00:30 (PID:4711) no stream is left for the wide queue\n",
    ),
    Case(
        "Slurm's table of a job that failed",
        "script_error",
        ">>>4711              wide      trn1       team          4     FAILED      1:0\n",
    ),
    Case(
        "a trial's heading follows from the worker that died",
        "script_error",
        """
>>>2026-05-02 10:00:00,472\tWARNING worker.py:12 -- A worker died or was killed by an unexpected system error. \
Worker PID: 93 There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer.
2026-05-02 10:00:01,509\tERROR wide_runner.py:98 -- Trial Wide_b13e7_00000: Error processing event.
""",
    ),
    Case(
        "a job's exit status, as Slurm's controller tells it",
        "script_error",
        ">>>[2026-05-02T11:00:00.377] _job_complete: JobId=77 WEXITSTATUS 3\n",
        "failed",
    ),
    Case(
        "what Kubeflow says of a job whose workers failed",
        "script_error",
        """
status:
  conditions:
>>>    message: WideJob llama is failed because 2 Worker replica(s) failed.
    reason: WideJobFailed
""",
    ),
    Case(
        "the kernel saw a process crash",
        "script_error",
        """
[Mon May  2 10:00:00 2026] >>>python3.11[78]: segfault at 60 ip 00007f24 sp 00007ffc error 4 in libwide.so[7f24+5c000] likely on CPU 15
[Mon May  2 11:00:00 2026] python3.11[79]: segfault at b0 ip 00007f61 sp 00007fff error 4 in libwide.so[7f61+5c000] likely on CPU 15
""",
    ),
    Case(
        "a general protection fault",
        "script_error",
        """
>>>[  501.123456] traps: python3[88] general protection fault ip:7f2a sp:7ffd error:0 in libwide.so[7f2a+8f00]
""",
    ),
    Case(
        "a job of zsh's that crashed",
        "script_error",
        """
loading weights
>>>[1]  + 8812 segmentation fault (core dumped)  python wide.py --port 8000
""",
    ),
    Case(
        "the report of a module that torchrun started: its worker says more than its heading",
        "script_error",
        """
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
wide.cli.train FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-05-02_10:00:00
  host      : box-1
  rank      : 1 (local_rank: 1)
>>>  exitcode  : 1 (pid: 11)
  error_file: <N/A>
""",
        "failed",
    ),
    Case(
        "a launcher's worker that a bus error ended",
        "script_error",
        """
[2026-05-02 10:00:00,980] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 39
>>>[2026-05-02 10:00:00,982] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python3', '-u', 'wide.py'] exits with return code = -7
""",
    ),
    Case(
        "a gradient that is no number, told by a logger without a header of its own",
        "script_error",
        """
iteration        2/      50 | consumed samples:           64 | lm loss: 1.077431E+01 | number of nan iterations:   0 |
>>>ERROR:wide.core.rerun:Unexpected result nan on rank 3 at iteration #3 (message='found NaN in local grad norm')
ERROR:wide.core.rerun:Rank 3, node box-1, device 3, iteration #3: First rerun: the result is reproducible
""",
    ),
    Case(
        "a table of a server's models, below the error of one",
        "script_error",
        """
>>>E0519 08:11:54.803470 1 wide_manager.cc:12] failed to load 'NMS' version 1: Unsupported: the back end is too old
I0519 08:11:54.803579 1 wide_manager.cc:10] no next action
+------------+---------+-----------------------------------------------+
| NMS        | 1       | UNAVAILABLE: Unsupported: the back end is too old |
+------------+---------+-----------------------------------------------+
error: creating server: Internal - failed to load all models
""",
    ),
    Case(
        "a check of glibc's that ends the process",
        "script_error",
        """
epoch 3 step 1200 loss 2.113
epoch 3 step 1210 loss 2.101
>>>*** buffer overflow detected ***: terminated
Aborted (core dumped)
""",
    ),
    Case(
        "an exception of C++ that another library tells of",
        "script_error",
        """
loading graph
>>>libc++abi: terminating due to uncaught exception of type std::out_of_range: vector
zsh: abort      ./bench --model m.neff
""",
    ),
    Case(
        "a script with the line ends of Windows",
        "script_error",
        r"""
>>>run.sh: line 2: $'\r': command not found
: invalid optiont: -
run.sh: line 5: syntax error: unexpected end of file
""",
    ),
    Case(
        "Python shows where it hangs, and the log ends",
        "script_error",
        """
step 40 loss 3.2
step 41 loss 3.1
>>>Timeout (0:10:00)!
Thread 0x00007f2a1b7fe700 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
  File "/app/data.py", line 44 in worker
Thread 0x00007f2a9c5c1740 (most recent call first):
  File "/app/data.py", line 80 in get
  File "/app/train.py", line 31 in <module>
""",
    ),
    Case(
        "an archive that ends too early",
        "script_error",
        """
+ tar xzf data.tgz
>>>gzip: stdin: unexpected end of file
tar: Unexpected EOF in archive
tar: Error is not recoverable: exiting now
""",
    ),
    Case(
        "workers that are started again and fail as before",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 31, in <module>
    loss.backward()
>>>ValueError: label 11 is none of ten classes
[INFO] 2026-05-02 10:00:00,202 api: [default] Worker group FAILED. 1/1 attempts left; will restart worker group
epoch 4 step 10 loss 1.93
Traceback (most recent call last):
  File "/job/fit.py", line 31, in <module>
    loss.backward()
ValueError: label 11 is none of ten classes
""",
        "failed",
    ),
    Case(
        "workers that are started again and were not seen to work",
        "script_error",
        """
epoch 3 step 10 loss 1.95
Traceback (most recent call last):
  File "/job/fit.py", line 31, in <module>
    loss.backward()
>>>ValueError: label 11 is none of ten classes
epoch 4 step 10 loss 1.93
[INFO] 2026-05-02 10:00:00,202 api: [default] Worker group FAILED. 1/1 attempts left; will restart worker group
[INFO] 2026-05-02 10:00:00,203 api: [default] Stopping worker group
""",
        "failed",
    ),
    Case(
        "an exception that a program logs before it puts its things away",
        "script_error",
        """
2026-05-02 10:00:04,377 fit ERROR the run has ended early
Traceback (most recent call last):
  File "/job/fit.py", line 88, in main
    rows = build(offers)
>>>KeyError: 'price'
2026-05-02 10:00:09,204 fit INFO uploading 3 files to the bucket
2026-05-02 10:00:14,209 fit INFO destroying the process group
2026-05-02 10:00:19,201 fit INFO file 1 of 3
2026-05-02 10:00:24,203 fit INFO file 2 of 3
2026-05-02 10:00:29,207 fit INFO file 3 of 3
2026-05-02 10:00:29,208 fit INFO good night
2026-05-02 10:00:29,209 fit INFO it took 40 seconds
""",
        "failed",
    ),
    Case(
        "an exception that a program logs, and the status with which it ends some lines later",
        "script_error",
        """
2026-05-02 10:00:04,377 fit ERROR the run has ended early
Traceback (most recent call last):
  File "/job/fit.py", line 88, in main
    rows = build(offers)
>>>KeyError: 'price'
2026-05-02 10:00:09,204 fit INFO 12 epochs
2026-05-02 10:00:14,209 fit INFO 40 batches
2026-05-02 10:00:19,201 fit INFO 8 readers
2026-05-02 10:00:24,203 fit INFO 2 devices
2026-05-02 10:00:29,207 fit INFO 1 host
srun: error: box-5: task 0: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "an exception below a warning of Python's own",
        "script_error",
        """
/job/fit.py:3: UserWarning: few rows
Traceback (most recent call last):
  File "/job/fit.py", line 88, in main
    rows = build(offers)
>>>KeyError: 'price'
2026-05-02 10:00:09,204 fit INFO 12 epochs
2026-05-02 10:00:14,209 fit INFO 40 batches
2026-05-02 10:00:19,201 fit INFO 8 readers
2026-05-02 10:00:24,203 fit INFO 2 devices
2026-05-02 10:00:29,207 fit INFO 1 host
""",
        "failed",
    ),
    Case(
        "a program of Fortran that crashes, behind what Slurm's daemon could not set up",
        "script_error",
        """
slurmstepd: error: task/cgroup: unable to add task[pid=3310] to memory cg '(null)'
slurmstepd: error: Unable to create TMPDIR [/scratch/7]: Permission denied
slurmstepd: error: Setting TMPDIR to /tmp
>>>forrtl: severe (174): SIGSEGV, segmentation fault occurred
Image              PC                Routine            Line        Source
waves              000000000040118E  MAIN__                     12  waves.f90
forrtl: error (78): process killed (SIGTERM)
srun: error: box-5: task 0: Exited with exit code 174
""",
        "failed",
    ),
    Case(
        "a program of Fortran whose input ends",
        "script_error",
        """
forrtl: error (78): process killed (SIGTERM)
At line 12 of file waves.f90 (unit = 9, file = 'waves.in')
>>>Fortran runtime error: End of file
""",
        "failed",
    ),
    Case(
        "a benchmark that ends, and whose result is wrong",
        "script_error",
        """
W00R2R4        40960   256     1     2              61.17            7.49e+02
>>>||A*x-b||/(e*||A||*||x||*N) =     41133.2290017 ...... FAILED

Ended          1 tests:
               0 tests completed and were right,
               1 tests failed a check
End of tests.
""",
    ),
    Case(
        "a session of TensorFlow that is made anew, and fails then",
        "script_error",
        """
INFO:tensorflow:An error was raised. This may be due to a preemption in a connected worker or parameter server. The current session will be closed and a new session will be created. Error: =====
Aborted: From /job:ps/replica:0/task:2:
Session handle is not found: 77ab. Possibly this worker just restarted.
INFO:tensorflow:Restoring parameters from /models/step-700
Traceback (most recent call last):
  File "/job/fit.py", line 9, in <module>
    estimator.train(rows)
>>>ValueError: the checkpoint is of another model
""",
        "failed",
    ),
    Case(
        "a panic of Rust whose thread has no name",
        "script_error",
        """
[00:04:29] ##------    2804/61262   Training
>>>panicked at C:\\rows\\src\\core.rs:1613:18:

thread panicked while processing panic. aborting.
error: process didn't exit successfully: `target\\train.exe` (exit code: 0xc0000409, STATUS_STACK_BUFFER_OVERRUN)
""",
    ),
    Case(
        "a loss that is no number, told by Ignite",
        "script_error",
        """
>>>2026-03-04 01:25:03,792 ignite.handlers.terminate_on_nan.TerminateOnNan WARNING: TerminateOnNan: Output '{'leaf': nan}' contains NaN or Inf. Stop training
State:
	iteration: 1878924
""",
    ),
    Case(
        "a verdict in capitals",
        "script_error",
        """
  'the kettle is'                 ids=ok
STAGE C.1 STEEPING: >>>FAIL
""",
    ),
)
