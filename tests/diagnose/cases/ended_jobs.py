"""Jobs whose end launchers, schedulers and parents tell: what of that is the reason, and what follows from it."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import CCOM

ENDED_JOBS = (
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
        "exit status of nobody knows what",
        "script_error",
        """
preparing
>>>make: *** [Makefile:12: train] Error 2
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
        "a managed job that crashed",
        "script_error",
        """
2026-03-04 05:06:07 Failed - Training job failed
>>>sagemaker.exceptions.UnexpectedStatusException: Error for Training job x: Failed. Reason: AlgorithmError: Exit Code: 139
""",
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
        "a shard that was ended by a signal",
        "script_error",
        """
>>>2024-01-02T03:04:05.000000Z ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with signal 4 rank=0
Error: ShardCannotStart
""",
        "failed",
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
        "a worker's failure in its parent's words, behind the worker's death",
        "script_error",
        """
>>>(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker PID: 93 There are \
some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.
(Trainer pid=92) Worker 0 has failed.
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
        "a pod that ended, told by an operator as information",
        "script_error",
        """
time="2026-02-21T09:32:29Z" level=info msg="Reconciling for job wide"
>>>time="2026-02-21T09:32:29Z" level=info msg="Pod: team.wide-worker-0 exited with code 1" job=team.wide uid=1
""",
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
        "a step of a workflow that failed",
        "script_error",
        """
2026-05-02T10:00:01.1000000Z ##[warning]This action is old
>>>2026-05-02T10:00:02.1000000Z ##[error]The shards could not be read
2026-05-02T10:00:02.2000000Z ##[error]Process completed with exit code 2.
""",
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
        "a launcher that only says that trainers ended",
        "script_error",
        """
>>>FatalError: `Segmentation fault` has been seen.
ERROR 2026-05-02 10:00:02,000 launch.py:3] ABORT!!! Out of all 4 trainers, the trainer process with rank=[0] ended.
""",
        "failed",
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
        "Lightning has made its epochs",
        "",
        """
Epoch 4: 100%|##########| 55/55 [00:07<00:00,  7.30it/s, train_loss=0.892]
`Trainer.fit` stopped: `max_epochs=5` reached.
""",
        "finished",
    ),
    Case(
        "a server was shut down",
        "",
        """
INFO:     Shutting down
INFO:     Waiting for application shutdown.
INFO:     Application shutdown complete.
INFO:     Finished server process [297708]
""",
        "finished",
    ),
    Case(
        "a server was shut down since its engine failed",
        "script_error",
        """
Traceback (most recent call last):
  File "tea.py", line 3, in pour
    pot[7]
>>>KeyError: 7
INFO:     Application shutdown complete.
""",
        "failed",
    ),
    Case(
        "a task that failed after another one had finished",
        "script_error",
        """
2026-03-04 05:06:07.665 [15982/start/1 (pid 19041)] Task finished successfully.
>>>2026-03-04 05:06:08.069 [15982/pour/2 (pid 19077)] Task failed.
2026-03-04 05:06:08.069 Workflow failed.
""",
        "unknown",
    ),
    Case(
        "what GNU's time prints behind a workflow",
        "",
        """
[2e/95d787] process > pour (12)           [100%] 12 of 12 ✔

10.43user 3.81system 0:51.48elapsed 27%CPU (0avgtext+0avgdata 401948maxresident)k
0inputs+4536outputs (3major+807788minor)pagefaults 0swaps
""",
        "finished",
    ),
    Case(
        "cloud-init's last line",
        "",
        """
Setting up tea (2.3.1) ...
Cloud-init v. 23.4 finished at Wed, 04 Mar 2026 05:06:07 +0000. Datasource DataSourceEc2.  Up 10.03 seconds
""",
        "finished",
    ),
    Case(
        "the bandwidth that a test of collectives prints last",
        "",
        """
     102400           25600    fp32         398           0.24           0.47
Avg bus bandwidth:	2.2375GB/s
""",
        "finished",
    ),
    Case(
        "Snakemake's last line",
        "",
        """
Finished jobid: 0 (Rule: all)
Complete log(s): /tea/.snakemake/log/2026-03-04T050607.417799.snakemake.log
""",
        "finished",
    ),
    Case(
        "a program's own mark of success",
        "",
        """
   5 |   3.3800 |   0.9
FSDP_TEA_OK
""",
        "finished",
    ),
    Case(
        "Jenkins names the end of a build that failed",
        "script_error",
        """
[Pipeline] sh
>>>ERROR: the watch rejected the tea
Finished: FAILURE
""",
        "failed",
    ),
    Case(
        "a package of Go whose tests failed",
        "script_error",
        """
=== RUN   TestTea
>>>Error: the pot is empty
FAIL	example.com/tea/test/pot	17.234s
""",
        "failed",
    ),
    Case(
        "an exception in the last line, of whose traceback the rest is gone",
        "script_error",
        """
INFO pouring
>>>RuntimeError: Type mismatch in the pot: module1 output 0 cannot connect to module2 input 0
""",
        "failed",
    ),
    Case(
        "wget ends with the server's refusal",
        "network",
        """
Resolving tea.example.com (tea.example.com)... 192.0.2.4
HTTP request sent, awaiting response... 403 Forbidden
>>>2026-03-04 05:06:07 ERROR 403: Forbidden.
""",
        "failed",
    ),
    Case(
        "packages that uv has installed",
        "",
        """
Installed 2 packages in 12ms
 + tea==1.2.3
 + kettle==0.4.5
""",
        "finished",
    ),
    Case(
        "Dagster reports the end of a pipeline",
        "",
        """
2026-03-04 05:06:07 - dagster - DEBUG - tea - PIPELINE_SUCCESS - Finished execution of pipeline "tea".
""",
        "finished",
    ),
)
