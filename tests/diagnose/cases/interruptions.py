"""Jobs that somebody or something ended from outside."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

INTERRUPTIONS = (
    Case(
        "Ctrl-C",
        "interrupted",
        """
{'loss': 2.5, 'epoch': 0.1}
^CTraceback (most recent call last):
  File "train.py", line 4, in <module>
    time.sleep(5)
>>>KeyboardInterrupt
""",
        "failed",
    ),
    Case(
        "Ctrl-C, as the go command tells it",
        "interrupted",
        """
=== RUN   TestNodes/waits_for_the_job
    nodes_test.go:41: waiting for the job
>>>^Csignal: interrupt
FAIL    example.org/cluster/test/nodes 612.004s
""",
    ),
    Case(
        "SIGTERM from a scheduler",
        "interrupted",
        """
{'loss': 2.1, 'epoch': 0.1}
>>>slurmstepd: error: *** STEP 991.0 ON node-3 CANCELLED AT 2026-05-01T10:00:00 DUE TO TIME LIMIT ***
srun: error: node-3: task 0: Exited with exit code 143
""",
        "failed",
    ),
    Case(
        "an allocation whose time is over",
        "interrupted",
        """
 97%|#########7| 970/1000
>>>salloc: Job 4411 has exceeded its time limit and its allocation has been revoked.
srun: forcing job termination
srun: error: node-7: task 0: Killed
tcsetattr: Input/output error
""",
    ),
    Case(
        "a time limit behind a line of bars",
        "interrupted",
        """
loading
>>>  0%|          | 0/50 [00:00<?, ?it/s]  2%|▏         | 1/50 [10:38<8:41:21, 638.39s/it]  4%|▍         | 2/50 [21:17<8:30:50, 638.55s/it]slurmstepd: error: *** JOB 41 ON n1 CANCELLED AT 2026-05-01T10:00:00 DUE TO TIME LIMIT ***
""",
        "failed",
    ),
    Case(
        "a pod that is evicted",
        "interrupted",
        """
Events:
  Type     Reason     Age   From     Message
>>>  Warning  Evicted    9s    kubelet  The node was low on resource: ephemeral-storage. Container main was using 40Gi.
  Normal   Killing    9s    kubelet  Stopping container main
""",
    ),
    Case(
        "a shell says that the job was terminated",
        "interrupted",
        """
step 3 loss 2.0
>>>./start.sh: line 9:  4711 Terminated              python fit.py
""",
    ),
    Case(
        "a managed job whose spot machine was taken back",
        "interrupted",
        """
step 3 loss: 4.0
>>>2026-01-04 10:10:00 Interrupted - Managed spot training interrupted
""",
    ),
    Case(
        "a job that somebody cancels",
        "interrupted",
        """
slurmstepd: error: *** STEP 77.0 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
>>>slurmstepd: error: *** JOB 77 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
""",
        "failed",
    ),
    Case(
        "a step that somebody cancels, whose program then waits in vain",
        "interrupted",
        """
scheduler - INFO - registered 8 workers
>>>slurmstepd: error: *** STEP 77.0 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
scheduler - INFO - stops
Traceback (most recent call last):
  File "/opt/env/bin/scheduler", line 10, in <module>
    sys.exit(main())
  File "/opt/env/lib/python3.11/site-packages/loops/loop.py", line 52, in run
    raise TimeoutError("not done after %s seconds" % timeout)
loops.TimeoutError: not done after None seconds
""",
        "failed",
    ),
    Case(
        "a step that Slurm cancels since a task waited in vain",
        "network",
        """
Traceback (most recent call last):
  File "/opt/env/lib/python3.11/site-packages/loops/loop.py", line 52, in run
    raise TimeoutError("not done after %s seconds" % timeout)
>>>loops.TimeoutError: not done after 30 seconds
slurmstepd: error: *** STEP 77.0 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
""",
        "failed",
    ),
    Case(
        "a node that no longer answers",
        "interrupted",
        """
step 3
>>>The node with node id: 0a1b2c and address: 10.0.0.7 has been marked dead because the detector has missed too many heartbeats from it. This can happen when a raylet crashes (OOM, preempted node, etc.)
""",
    ),
    Case(
        "conditions of a job whose workers were evicted",
        "interrupted",
        """
  conditions:
  - lastTransitionTime: "2026-05-04T07:08:09Z"
    message: 1/8 workers are evicted
>>>    reason: SomeJobEvicted
    status: "True"
    type: Failed
""",
    ),
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
        "a step of a workflow that somebody canceled",
        "interrupted",
        """
2026-05-02T10:00:01.1000000Z INFO:wheel:copying 12 files
>>>2026-05-02T10:00:02.1000000Z ##[error]The operation was canceled.
2026-05-02T10:00:02.2000000Z Post job cleanup.
""",
    ),
    Case(
        "a line in the middle of a progress bar",
        "interrupted",
        ">>>Epoch 3:  58%|###  | 208/356 [09:46<06:57,  2.82s/it, loss=srun: error: *** JOB 71 ON box-3 CANCELLED AT "
        "2026-05-02T01:02:03 DUE TO TIME LIMIT ***\n",
    ),
    Case("PBS and a time limit", "interrupted", "step 12\n>>>=>> PBS: job killed: walltime 3612 exceeded limit 3600\n"),
    Case(
        "LSF and a time limit",
        "interrupted",
        ">>>TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.\n",
    ),
    Case(
        "a job of SageMaker that somebody stopped",
        "interrupted",
        "2026-05-02 10:00:00 Training - step 12\n>>>2026-05-02 10:05:00 Stopping - Stopping the training job\n",
    ),
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
    Case("a letter of Slurm", "interrupted", ">>>Slurm Job_id=77 Name=fit Failed, Run time 00:10:02, TIMEOUT\n"),
    Case(
        "a node that Slurm's controller gives up",
        "interrupted",
        ">>>[2026-05-02T02:15:03.786] update_node: node wide-7 reason set to: Health check of the scheduler failed\n",
    ),
    Case("a machine that was taken away", "interrupted", ">>>Host EC2 (instance i-0a1b2c3d) terminated.\n"),
    Case(
        "the runtime's signal handler, and nothing else that explains the end",
        "interrupted",
        """
step 41 loss 2.10
>>>2026-May-02 10:00:00.000100  4711:4711  ERROR   NRT:nrt_infodump_signal_handler   Interrupt signal (15) received
""",
    ),
    Case(
        "torchrun's warning that it was asked to end",
        "interrupted",
        """
step 41 loss 2.10
>>>W0502 10:00:00.000000 4711 torch/distributed/elastic/agent/server/api.py:741] Received 15 death signal, shutting down
""",
    ),
    Case(
        "Slurm's table of a job whose time was over",
        "interrupted",
        ">>>4711              wide      trn1       team          4    TIMEOUT      0:0\n",
    ),
    Case(
        "a step of Slurm that was canceled, and whose daemon was ended as well",
        "interrupted",
        """
>>>[2026-05-02T10:00:00.500] [77.0] error: *** STEP 77.0 ON box-7 CANCELLED AT 2026-05-02T10:00:00 ***
[2026-05-02T10:01:00.002] [77.0] error: *** STEP 77.0 STEPD TERMINATED ON box-7 AT 2026-05-02T10:01:00 DUE TO JOB NOT \
ENDING WITH SIGNALS ***
""",
    ),
    *(
        Case(
            f"a job that ended by signal {signal}, as Slurm's controller tells it",
            cause_class,
            f"""
[2026-05-02T10:00:00.509] sched: Allocate JobId=77 NodeList=box-7 #CPUs=2 Partition=wide
>>>[2026-05-02T11:00:00.377] _job_complete: JobId=77 WTERMSIG {signal}
""",
            "failed",
        )
        for signal, cause_class in ((9, "host_oom"), (15, "interrupted"), (11, "script_error"))
    ),
    Case(
        "a node that Slurm lost",
        "interrupted",
        """
>>>srun: error: Node failure on box-7
slurmstepd: error: *** STEP 77.0 ON box-1 CANCELLED AT 2026-05-02T10:00:00 DUE TO NODE FAILURE, SEE THE LOG ***
""",
    ),
    Case(
        "a job of zsh's that was terminated",
        "interrupted",
        """
step 30 goes on
>>>[1]  + 4411 terminated  python wide.py --steps 1000
""",
    ),
    Case(
        "steps that are printed while a step of Slurm ends",
        "interrupted",
        """
Epoch 10:  93%|█████████▎| 18626/20000 [5:43:21<25:19,  0.90it/s, v_num=w, train_loss=3.400
>>>slurmstepd: error: *** STEP 5559.0 ON box-7 CANCELLED AT 2026-05-02T10:00:00 DUE TO TIME LIMIT ***
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
[rank: 0] Received SIGTERM: 15
Bypassing SIGTERM: 15
Epoch 10:  93%|█████████▎| 18627/20000 [5:43:23<25:18,  0.90it/s, v_num=w, train_loss=3.970
""",
        "failed",
    ),
    Case(
        "a node of Ray that was lost, as a warning before the error of its actor",
        "interrupted",
        """
(Trainer pid=11, ip=10.0.0.7) loss: 2.5  [  64/640]
>>>2026-05-02 10:00:00,096\tWARNING worker.py:17 -- The node with node id: 8f2a and ip: 10.0.0.7 has been marked dead because the detector has missed too many heartbeats from it. This can happen when a raylet crashes unexpectedly or has lagging heartbeats.
(Driver pid=12, ip=10.0.0.8) 2026-05-02 10:00:00,097\tERROR utils.py:42 -- The actor died unexpectedly before finishing this task.
(Driver pid=12, ip=10.0.0.8) \tclass_name: Trainer
(Driver pid=12, ip=10.0.0.8) \tip: 10.0.0.7
""",
    ),
    Case(
        "a node of Ray that was lost, whose work others took over",
        "",
        """
2026-05-02 10:00:00,096\tWARNING worker.py:17 -- The node with node id: 8f2a and ip: 10.0.0.7 has been marked dead because the detector has missed too many heartbeats from it.
step 61 loss 2.5
step 62 loss 2.4
step 63 loss 2.3
step 64 loss 2.2
step 65 loss 2.1
step 66 loss 2.0
""",
    ),
    Case(
        "a node of Ray's that is dead, and the client that only sees its raylet leave",
        "interrupted",
        """
>>>2026-05-02 10:00:00,160 ERROR worker.py:17 -- The node with client ID 05271e has been marked dead because the monitor has missed too many heartbeats from it.
(pid=16) Traceback (most recent call last):
(pid=16)   File "/opt/ray/workers/default_worker.py", line 11, in <module>
(pid=16)     main_loop()
(pid=16) Exception: [RayletClient] Raylet connection closed.
""",
        "failed",
    ),
    Case(
        "a worker that was killed with a signal from outside",
        "interrupted",
        """
working on part 7
>>>worker 3 was ended by SIGTERM
""",
    ),
    Case(
        "a scheduler that ends a job for its time",
        "interrupted",
        """
working on part 7
>>>Terminating job 515 with SIGTERM: it has reached its time limit
""",
    ),
    Case(
        "a key pressed in a terminal, shown alone",
        "interrupted",
        """
epoch 1 of 40
>>>^C
""",
    ),
    Case(
        "a key pressed under MPI's launcher",
        "interrupted",
        """
case 3 of 40 ...... PASSED
>>>[mpiexec@box-3] Sending Ctrl-C to processes as requested
[mpiexec@box-3] Press Ctrl-C again to force abort

=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 77 RUNNING AT box-3
=   EXIT CODE: 2
""",
    ),
    Case(
        "the machine of a container, taken away",
        "interrupted",
        """
status: FAILED
>>>statusReason: Host EC2 (instance i-0123abcd0123abcd0) terminated.
""",
    ),
    Case(
        "a task on Spot capacity",
        "interrupted",
        """
Job state: FAILED
>>>Reason: Your Spot Task was interrupted.
""",
    ),
    Case(
        "an attempt that took too long for AWS Batch",
        "interrupted",
        """
Job state: FAILED
>>>Reason: Job attempt duration exceeded timeout
""",
    ),
    Case(
        "a program that was interrupted, and what its scheduler says of that",
        "interrupted",
        """
  File "/tea/steep.py", line 95, in update
    return F.linear(leaf, cup)
KeyboardInterrupt
Terminated

# LSBATCH: User input
python steep.py
------------------------------------------------------------

>>>TERM_OWNER: job killed by owner.
Exited with exit code 143.
""",
    ),
    Case(
        "a TPU that was taken away",
        "interrupted",
        """
INFO:tensorflow:global_step/sec: 2.20221
INFO:tensorflow:Dequeue next (100) batch(es) of data from outfeed.
>>>INFO:tensorflow:ShutdownHook: lame workers found: HeartbeatManager(/job:worker/replica:0/task:0/device:CPU:0)
""",
    ),
    Case(
        "a Fortran program that was canceled, and whose stack could not be printed",
        "interrupted",
        """
>>>slurmstepd: error: *** JOB 4711 ON tea-n1 CANCELLED AT 2026-04-21T12:13:09 ***
*** longjmp causes uninitialized stack frame ***: /tea/steep.exe terminated
forrtl: error (78): process killed (SIGTERM)
Image              PC                Routine            Line        Source             

Stack trace terminated abnormally.
""",
    ),
    Case(
        "Lightning ends after Ctrl-C, as a warning of Python's",
        "interrupted",
        """
Epoch 0:   2%|1         | 87/5087 [01:01<58:27,  1.43it/s, loss=1.11]
>>>/opt/lib/trainer/call.py:54: UserWarning: Detected KeyboardInterrupt, attempting graceful shutdown...
  rank_zero_warn("Detected KeyboardInterrupt, attempting graceful shutdown...")
""",
    ),
    Case(
        "Lightning ends after Ctrl-C, and the script goes on to its end",
        "",
        """
/opt/lib/trainer/call.py:54: UserWarning: Detected KeyboardInterrupt, attempting graceful shutdown...
saving tea.ckpt
Training completed successfully
""",
    ),
    Case(
        "Airflow gives a task another state, and then ends it",
        "interrupted",
        """
>>>[2026-03-04, 05:06:07 UTC] {local_task_job_runner.py:291} WARNING - State of this instance has been externally set to failed. Terminating instance.
[2026-03-04, 05:06:07 UTC] {process_utils.py:131} INFO - Sending Signals.SIGTERM to group 28. PIDs of all processes in the group: [28]
[2026-03-04, 05:06:07 UTC] {taskinstance.py:1517} ERROR - Received SIGTERM. Terminating subprocesses.
""",
    ),
    Case(
        "PBS ends a job in the middle of a line with a loss",
        "interrupted",
        """
Epoch: 1/3, loss: 0.55, took: 12 seconds
>>>batch: 19172, current loss: 0.36=>> PBS: job killed: walltime 86489 exceeded limit 86400
""",
    ),
    Case(
        "somebody ends pip",
        "interrupted",
        """
Looking in indexes: https://example.com/simple
>>>ERROR: Operation cancelled by user
""",
    ),
    Case(
        "somebody ends what mpirun has started",
        "interrupted",
        """
0 has sent 100 to 1
>>>^Cmpirun: killing job...

mpirun noticed that process rank 0 with PID 5997 on node tea-1 exited on signal 2 (Interrupt).
""",
    ),
    Case(
        "Slurm cancels a step whose script says that it hears a signal",
        "interrupted",
        """
waiting for signals, 1 minutes ...
>>>slurmstepd: error: *** STEP 71.0 ON tea3 CANCELLED AT 2026-03-04T05:06:07 ***
The script received SIGTERM
waiting for signals, 2 minutes ...
srun: error: tea3: task 0: Killed
""",
    ),
    Case(
        "Ctrl-C in a pool, and tracebacks that are cut",
        "interrupted",
        """
Epoch [1][50/75] loss: 1.734
>>>^CProcess ForkPoolWorker-1:
Process ForkPoolWorker-2:
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/process.py", line 297, in _bootstrap
    self.run()
  File "/usr/lib/python3.11/multiprocessing/pool.py", line 110, in worker
    task = get()
""",
    ),
)
