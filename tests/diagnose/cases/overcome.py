"""What failed, or seemed to, and was tried again, replaced or done without: the job went on."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import waits

OVERCOME = (
    Case(
        "ranks that others waited for join in, and train",
        "",
        """
[1,0]<stderr>:[2026-02-25 11:13:55.899666: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds.
[1,0]<stderr>:Stalled ranks:
[1,0]<stderr>:1: [Allreduce/gradients_0]
[1,1]<stderr>:INFO:tensorflow:loss = 25.564167, step = 0
[1,1]<stderr>:INFO:tensorflow:loss = 24.1, step = 10
""",
    ),
    Case(
        "rclone's third attempt",
        "",
        """
2026/03/04 19:12:26 ERROR : a.tiles: Post request put error: multipart upload failed to read source: stream error; received from peer
2026/03/04 19:12:26 ERROR : Attempt 1/3 failed with 2 errors and: multipart upload failed to read source: stream error; received from peer
2026/03/04 19:56:29 ERROR : Attempt 2/3 succeeded
""",
    ),
    Case(
        "a device that answers late to the runtime's daemon",
        "",
        """
Mar 04 05:06:39 ip-10-0-0-1 nrtd[41]: [TDRV:reset_mla] Resetting 0000:00:1f.0
Mar 04 05:07:00 ip-10-0-0-1 nrtd[41]: [hal] request seq: 3, cmd: 1 timed out
Mar 04 05:07:25 ip-10-0-0-1 nrtd[41]: [TDRV:tdrv_init_one_mla_phase2] Initialized Inferentia: 0000:00:1f.0
Mar 04 05:07:25 ip-10-0-0-1 nrtd[41]: [NRTD:RunServer] Server listening on unix:/run/neuron.sock0
""",
    ),
    Case(
        "a workload of Kueue that waits for another to go",
        "",
        """
  Type    Reason         Age                  From             Message
  Normal  Pending        3m5s (x5 over 3m5s)  kueue-admission  couldn't assign flavors to pod set main: flavor spot doesn't match node affinity, insufficient unused quota for cpu in flavor on-demand, 1 more needed.
  Normal  QuotaReserved  3m5s                 kueue-admission  Quota reserved in ClusterQueue queue, wait time since queued was 1s
  Normal  Admitted       65s (x2 over 3m5s)   kueue-admission  Admitted by ClusterQueue queue, wait time since reservation was 0s
""",
    ),
    Case(
        "a region without machines, and another that has one",
        "",
        """
I 03-04 05:06:07 cloud_vm_ray_backend.py:668] Launching on AWS us-east-2 (us-east-2a)
W 03-04 05:06:17 cloud_vm_ray_backend.py:479]   create_instances: Attempt failed with An error occurred (InsufficientInstanceCapacity) when calling the RunInstances operation (reached max retries: 0): We currently do not have sufficient capacity
I 03-04 05:06:18 cloud_vm_ray_backend.py:668] Launching on AWS us-west-2 (us-west-2a)
I 03-04 05:09:18 cloud_vm_ray_backend.py:740] Successfully provisioned or found existing VM. Setup completed.
""",
    ),
    Case(
        "an error that a program logs before its job is finished",
        "",
        """
ERROR: the plot of step 3 has no points
Job finished
""",
    ),
    Case(
        "a job with a step that Slurm starts again",
        "",
        """
slurmstepd: error: *** STEP 5150.0 ON node-3 CANCELLED AT 2026-05-01T10:35:06 DUE TO JOB REQUEUE ***
slurmstepd: error: *** JOB 5150 ON node-3 CANCELLED AT 2026-05-01T10:35:06 DUE TO JOB REQUEUE ***
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
srun: error: node-3: task 0: Killed
srun: error: node-4: task 1: Terminated
restored the checkpoint of step 400
""",
    ),
    Case(
        "a job that Slurm starts again as it asked",
        "",
        """
10:34:59 caught USR1, asking to be queued again
slurmstepd: error: *** JOB 5150 ON node-3 CANCELLED AT 2026-05-01T10:35:06 DUE TO JOB REQUEUE ***
10:38:11 restored the checkpoint of step 400
10:39:11 working
""",
    ),
    Case(
        "errors of a job that goes on",
        "",
        """
ERROR:job.metrics:could not push metrics
{'loss': 2.1, 'epoch': 0.1}
{'loss': 2.0, 'epoch': 0.2}
{'loss': 1.9, 'epoch': 0.3}
""",
    ),
    Case(
        "a retry of a cached failure that passes",
        "",
        """
2026-05-06 10:00:00.000001:  41  [INFO]: Got a cached failed neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff. With eror log: [Failed compilation with ['neuronx-cc', 'compile']:
2026-05-05T09:00:00Z [ERROR] [F137] neuronx-cc was forcibly killed
[libneuronxla 2.9.100.0]
].                 Retrying...
......
Compiler status PASS
2026-05-06 10:20:00.000001:  41  [INFO]: Compilation Successfully Completed for model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb
{'loss': 2.0}
""",
    ),
    Case(
        "a failed compile that is compiled later",
        "",
        """
2026-05-06 10:00:00.000001:  41  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', '-O2', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb']:
2026-05-06T10:00:00Z [ERROR] [NCC_EBVF030] too many instructions
[libneuronxla 2.9.100.0]
falling back to -O1
2026-05-06 10:20:00.000001:  41  [INFO]: Compilation Successfully Completed for model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb
""",
        recovered=True,
    ),
    Case(
        "a lock that was broken and a job that went on",
        "",
        """
[W1121 22:03:04.123456789 NeuronLogging.h:103] Warning: [Neuron] [WARNING] [FileLock.cpp:182] Lock acquisition timed out, breaking stale lock path= /c/locks/0123456789abcdef0123456789abcdef.lock elapsed_seconds= 1200
step 1 loss: 2.5
step 2 loss: 2.4
""",
        recovered=True,
    ),
    Case(
        "workers that wait for one another and go on",
        "",
        """
2026-Mar-03 10:00:00.1234 900:910 [3] include/socket.h:500 CCOM WARN Timeout waiting for RX (waited 120 sec) - retrying
2026-Mar-03 10:02:00.1234 900:910 [3] include/socket.h:500 CCOM WARN Timeout waiting for RX (waited 240 sec) - retrying
{'loss': 2.0, 'epoch': 0.1}
{'loss': 1.9, 'epoch': 0.2}
""",
    ),
    Case(
        "a download that was retried",
        "",
        """
WARNING:urllib3.connectionpool:Retrying (Retry(total=2)) after connection broken by 'NewConnectionError': /x
{'loss': 1.0}
""",
    ),
    Case(
        "a recovery by an elastic launcher",
        "",
        """
[rank0]: Traceback (most recent call last):
[rank0]:   File "a.py", line 1, in <module>
[rank0]: ConnectionError: storage did not answer
W0302 09:18:04.165000 46217 torch/distributed/elastic/agent/server/api.py:708] Worker group is unhealthy. Restarting worker group
{'loss': 2.1, 'epoch': 0.1}
{'loss': 2.0, 'epoch': 0.2}
{'loss': 1.9, 'epoch': 0.3}
{'loss': 1.8, 'epoch': 0.4}
{'loss': 1.7, 'epoch': 0.5}
{'loss': 1.6, 'epoch': 0.6}
""",
        recovered=True,
    ),
    Case(
        "a group of workers that its agent starts again, and that trains on",
        "",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 31, in <module>
    loss.backward()
RuntimeError: NCCL error: unhandled system error, NCCL version 2.5.6
[ERROR] 2026-05-02 10:00:00,201 local_elastic_agent: [default] Worker group failed
[INFO] 2026-05-02 10:00:00,202 api: [default] Worker group FAILED. 2/5 attempts left; will restart worker group
[INFO] 2026-05-02 10:00:31,009 api: [default] Starting worker group
=> restored epoch 4
epoch 4 step 10 loss 1.93
""",
        recovered=True,
    ),
    Case(
        "a group of workers that Ray Train starts again",
        "",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 31, in <module>
    rows = next(batches)
OSError: [Errno 107] the share did not answer
INFO trainer.py:12 -- Restarting training worker group from latest checkpoint.
{'loss': 1.93, 'epoch': 4.1}
""",
        recovered=True,
    ),
    Case(
        "one of two parts stays on the CPU",
        "",
        """
INFO:Neuron:Compile command returned: 1
WARNING:Neuron:trace failed on part 7; falling back to native python function call
ERROR:Neuron:neuron-cc failed with the following command line call:
INFO:Neuron:Neuron successfully compiled 1 sub-graphs, 2 in all
Saved the model
""",
        recovered=True,
    ),
    Case(
        "one of two parts stays on the CPU, far above the last lines",
        "",
        """
ERROR:Neuron:neuron-cc failed with the following command line call:
Traceback (most recent call last):
  File "/opt/site-packages/torch_neuron/decorators.py", line 63, in trace
    raise subprocess.SubprocessError(
subprocess.SubprocessError: neuron-cc failed with the following command line call:
neuron-cc compile /tmp/part7.pb --framework TENSORFLOW --output /tmp/part7.neff
INFO:Neuron:Neuron successfully compiled 1 sub-graphs, Total fused subgraphs = 2
"""
        + "".join(f"INFO:Neuron: => aten::leaf_{number}: {number} [supported]\n" for number in range(60)),
        recovered=True,
    ),
    Case(
        "a pod that waits for a node and then runs",
        "",
        """
  Warning  FailedScheduling  9s    default-scheduler  0/4 nodes are available: 4 Insufficient cpu.
  Normal   Scheduled         1s    default-scheduler  Successfully assigned jobs/fit-0 to ip-10-0-1-9
step 1 loss: 4.0
step 2 loss: 3.9
""",
    ),
    Case(
        "Ray had to wait for its nodes, and then the job ran",
        "",
        """
(autoscaler +11s) Warning: No available node types can fulfill resource request {'neuron_cores': 64.0}.
{'loss': 3.0, 'step': 1}
{'loss': 2.9, 'step': 2}
""",
    ),
    Case(
        "an endpoint that the network's plugin cannot make, and a job that goes on",
        "",
        "host-1:82:48 [0] get_ep:969 NCCL WARN NET/OFI Creating a new endpoint failed: Invalid argument\n"
        + "".join(f"{{'loss': {10 - step / 10}, 'step': {step}}}\n" for step in range(9)),
    ),
    Case(
        "a server that was not up when it was probed first",
        "",
        "  Warning  Unhealthy  11m  kubelet  Readiness probe failed: dial tcp 10.0.0.3:8000: connect: connection refused\n",
    ),
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
        "a timeout that the runtime ignores",
        "",
        "512:514 ERROR  TDRV:wide_wait  (NON-FATAL, Ignoring) inference timeout (9000 ms) on Neuron Device 2 NC 1\n",
    ),
    Case(
        "no Neuron device for a pod at first",
        "",
        """
  Type     Reason            Age   From           Message
  Warning  FailedScheduling  9m    my-scheduler   0/2 nodes are available: 2 Insufficient aws.amazon.com/neuron.
  Normal   Scheduled         4m    my-scheduler   Successfully assigned team/serve-7f04-x2 to box-7.internal
""",
    ),
    Case(
        "a rank that came late",
        "",
        """
step 1 loss: 2.30
[2026-05-02 10:00:00.000000: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be \
reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds.
Missing ranks:
1: [allreduce.wide]
step 2 loss: 2.20
step 3 loss: 2.10
""",
    ),
    Case(
        "workers that wait for what another worker of the job compiles",
        "",
        "2026-05-02 10:00:00.000100:  4700  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile "
        "/tmp/w/model.MODULE_10000000000000000001+abcdef01.hlo_module.pb\n"
        + waits(1.0, 75.0).replace("MODULE_1+2", "MODULE_10000000000000000001+abcdef01"),
    ),
    Case(
        "a short wait in front of a training that ends well",
        "",
        waits(1.0, 2.0) + "step 1 loss: 2.0\nstep 2 loss: 1.9\nTraining is complete\n",
    ),
    Case(
        "a wait of hours that ended",
        "",
        waits(180.0)
        + "2026-05-02 13:01:00.000100:  4711  [INFO]: Using a cached neff at /cache/MODULE_1+2/model.neff\n",
    ),
    Case(
        "a volume that was mounted before its container started",
        "",
        """
  Type     Reason       Age    From     Message
  Warning  FailedMount  5m30s  kubelet  MountVolume.SetUp failed for volume "wide": failed to sync configmap cache: \
timed out waiting for the condition
  Normal   Started      5m3s   kubelet  Started container train
""",
    ),
    Case(
        "a folder that is not there, and the one that is taken instead",
        "",
        """
slurmstepd: error: couldn't chdir to `/wide/work': No such file or directory: going to /tmp instead
#       size         count    type   redop     time   algbw
     1048576        262144   float     sum    33.43   31.37
""",
    ),
    Case(
        "advice of a hub whose upload was refused, in a job that went well",
        "",
        """
  train_loss               =     1.8731
Repository Not Found for url: https://hub.test/api/models/w/preupload/main.
If you are trying to access a private or gated repo, make sure you are authenticated.
Invalid username or password.
Did not push the cached model located at /tmp/w to the repo named w
  eval_loss                =     2.9018
""",
    ),
    Case(
        "a batch that does not fit, and the next one that does",
        "",
        """
Auto batch size: trying 64
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15 GiB
Auto batch size: 64 does not fit, trying 32
Epoch 1/10 loss 0.7001
Epoch 2/10 loss 0.6001
""",
    ),
    Case(
        "a trial that failed once and was done at last",
        "",
        """
| wide_00000 | TERMINATED | 127.0.0.1:20 |      3 |       0.35 |        5 |
Number of errored trials: 1
| wide_00000 |            1 | /tmp/wide_00000/error.txt |
* The trial terminated successfully after retrying.
""",
    ),
    Case(
        "a port of an adapter that was down for a moment",
        "",
        """
[2026-05-02 10:00:00] box-1:11:45 [0] transport/wide.cc:19 NCCL WARN NET/IB : mlx5_7:1 Got async error event: port error
[2026-05-02 10:00:08] box-1:11:45 [0] transport/wide.cc:19 NCCL WARN NET/IB : mlx5_7:1 Got async error event: port active
INFO 05-02 10:00:09 [loggers.py:1] Engine 000: Avg generation throughput: 88.0 tokens/s, Running: 3 reqs
""",
    ),
    Case(
        "limits of recompiles, and a job that goes on",
        "",
        """
W0502 10:00:00.172000 60 torch/_dynamo/convert_frame.py:9] [9/64] torch._dynamo hit config.recompile_limit (64)
W0502 10:00:00.863000 60 torch/_dynamo/convert_frame.py:9] [9/64]    last reason: 9/63: tensor 'X[0]' size mismatch at index 1
100%|██████████| 20/20 [01:13<00:00,  3.44s/it]
""",
    ),
    Case(
        "a node that Slurm did not hear of for a while, and a job that ended well",
        "",
        """
[2026-05-02T10:00:00.111] error: Node box-3 not responding
[2026-05-02T10:05:00.111] Node box-3 now responding
[2026-05-02T12:05:00.111] _job_complete: JobId=812 WEXITSTATUS 0
[2026-05-02T12:05:00.112] _job_complete: JobId=812 done
""",
    ),
    Case(
        "a server's worker that was replaced, and requests that are answered",
        "",
        """
[2026-05-02 10:00:00 +0000] [1] [CRITICAL] WORKER TIMEOUT (pid:44)
[2026-05-02 10:00:01 +0000] [1] [ERROR] Worker (pid:44) was sent SIGKILL! Perhaps out of memory?
[2026-05-02 10:00:01 +0000] [51] [INFO] Booting worker with pid: 51
10.0.0.5 - - [02/May/2026:10:00:09 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:10 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:11 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:12 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:13 +0000] "POST /w HTTP/1.1" 200 311
""",
    ),
    Case(
        "a metric that a tracking server did not take",
        "",
        """
Epoch 1/3: 100%|██████████| 100/100 [00:30<00:00,  3.30it/s, loss=0.81]
2026/05/02 10:00:31 ERROR wide.tracking.client: Failed to log metric: API request to endpoint /api/w failed with error code 503
Epoch 2/3: 100%|██████████| 100/100 [00:30<00:00,  3.31it/s, loss=0.71]
""",
    ),
    Case(
        "a command whose error make ignores",
        "",
        """
rm: cannot remove 'build/old.o': No such file or directory
make: [Makefile:12: clean] Error 1 (ignored)
gcc -O2 -c a.c
throughput 1021 samples/s
""",
    ),
    Case(
        "an error that a program goes on from, skipping something",
        "",
        """
ERROR checkpoint: could not delete old checkpoint step_10, skipping
WARN: 2 files skipped
step 20 loss 1.1
step 30 loss 1.0
final eval ok
""",
    ),
    Case(
        "a request that TGI's router refuses, and others that it answers",
        "",
        """
2026-05-01T10:00:00.111111Z  INFO text_generation_launcher: Starting shard 0
2026-05-01T10:00:10.111111Z  WARN text_generation_router: Could not find a fast tokenizer implementation for org/m
2026-05-01T10:00:10.211111Z  WARN text_generation_router: Rust input length validation and truncation is disabled
2026-05-01T10:00:20.111111Z  INFO text_generation_router: Connected
2026-05-01T10:00:31.111111Z ERROR chat_completions{total_time="1.2ms"}: text_generation_router::infer: Request failed during validation: inputs tokens + max_new_tokens must be <= 4096
2026-05-01T10:00:41.111111Z  INFO generate{total_time="2.1s"}: text_generation_router::server: Success
2026-05-01T10:00:42.111111Z  INFO generate{total_time="2.1s"}: text_generation_router::server: Success
""",
    ),
    Case(
        "a download that the hub's client tries again",
        "",
        """
model.safetensors:  10%|█         | 1.0G/9.9G [00:10<01:30, 100MB/s]
'(MaxRetryError("HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: /a (Caused by NewConnectionError(': Failed to establish a new connection: [Errno 111] Connection refused'))"), '(Request ID: 1)')' thrown while requesting GET https://x/a
Retrying in 1s [Retry 1/5].
model.safetensors: 100%|██████████| 9.9G/9.9G [01:40<00:00, 100MB/s]
ready
""",
    ),
    Case(
        "what Slurm's daemon could not set up for a job that works",
        "",
        """
slurmstepd: error: task/cgroup: unable to add task[pid=3310] to memory cg '(null)'
slurmstepd: error: Unable to create TMPDIR [/scratch/7]: Permission denied
slurmstepd: error: Setting TMPDIR to /tmp
waves: read 12 rows
""",
    ),
    Case(
        "a task of Ansible that may fail",
        "",
        """
TASK [look for an old release] *************************************************
fatal: [box-3]: FAILED! => {
    "changed": false,
    "cmd": ["/srv/release", "--version"],
    "msg": "[Errno 2] No such file or directory: '/srv/release'",
    "rc": 2
}
...ignoring

TASK [copy the release] ********************************************************
ok: [box-3]
""",
    ),
    Case(
        "a check that fails and is no longer needed",
        "",
        """
looking for mesh.h in /opt/mesh ...... FAILED
looking for mesh.h in /usr/include ...... ok
all 2 tests completed
""",
        ended="finished",
    ),
    Case(
        "an attempt whose machine went, and the next one",
        "",
        """
attempt 1: "Host EC2 (instance i-0123abcd0123abcd0) terminated."
attempt 2: "Essential container in task exited"
job 7 of 40 has ended
""",
        recovered=True,
    ),
    Case(
        "a job that submitit queues again",
        "",
        """
submitit WARNING (2026-03-04 04:18:45,881) - Caught signal SIGHUP on tea-n1: this job is preempted.
submitit INFO (2026-03-04 04:18:45,912) - Requeued job 4711 (3 remaining timeouts)
submitit INFO (2026-03-04 04:18:45,913) - Exiting gracefully after preemption/timeout.
submitit INFO (2026-03-04 04:21:41,214) - Starting with JobEnvironment(job_id=4711, hostname=tea-n1)
""",
    ),
    Case(
        "a module that a server lacks, and does without",
        "",
        """
2026-05-02T10:00:01.175673Z  INFO serve::engine: loading shard 0
2026-05-02T10:00:02.679061Z ERROR serve::chat: src/chat.rs:72: Cannot load the chat template: ModuleNotFoundError: No module named 'jinja9'
2026-05-02T10:00:02.679079Z  WARN serve::chat: src/chat.rs:80: No template found, falling back on plain prompts
2026-05-02T10:00:02.780106Z  INFO serve::engine: src/engine.rs:66: Accepting requests
""",
    ),
    Case(
        "a program that goes on without what it could not reach",
        "",
        """
[2026-05-02 10:00:01,100] [ERROR] [store.py:12] could not connect to the object store: Connection refused
[2026-05-02 10:00:01,101] [INFO] [store.py:40] proceeding without remote checkpoints
[2026-05-02 10:00:02,000] [INFO] [train.py:90] building the model
""",
    ),
    Case(
        "a monitor that does not start beside a server that is ready",
        "",
        """
I0502 10:00:57.730653 77 repository.cc:52] successfully loaded 'segmenter' version 3
+-----------+---------+--------+
| Model     | Version | Status |
+-----------+---------+--------+
| segmenter | 3       | READY  |
+-----------+---------+--------+

Error: Failed to initialize NVML
""",
    ),
    Case(
        "an exporter of metrics that fails before and after its server is ready",
        "",
        """
ERROR: the metrics exporter could not bind port 9100
INFO:     Application startup complete.
ERROR: telemetry could not be sent to otel.example.com:4317
""",
    ),
    Case(
        "ONNX Runtime gets no memory, and a smaller batch is tried",
        "",
        """
2026-03-04 05:06:07.493748329 [E:onnxruntime:, sequential_executor.cc:572 ExecuteKernel] Non-zero status code returned while running Conv node. Name:'/tea' Status Message: /onnxruntime_src/bfc_arena.cc:358 Failed to allocate memory for requested buffer of size 4531027968

2026-03-04 05:06:07,494 WARNING OOM at batch 147. Reducing.
2026-03-04 05:06:14,350 INFO page 2
""",
    ),
    Case(
        "a batch that is too large, as an error line, and the smaller one below it",
        "",
        """
2026-03-04 05:06:07,494 ERROR CUDA out of memory. Tried to allocate 2.00 GiB.
2026-03-04 05:06:07,494 INFO Decreasing batch size to: 64.
2026-03-04 05:06:14,350 INFO page 2
""",
    ),
    Case(
        "XLA lets the driver compile what ptxas cannot",
        "",
        """
2026-03-04 05:06:07.140252: W external/xla/xla/service/gpu/buffer_comparator.cc:1054] INTERNAL: ptxas exited with non-zero error code 65280, output: ptxas /tmp/tea, line 1
ptxas fatal   : Ptx assembly aborted due to errors

Relying on driver to perform ptx compilation. 
This message will only be logged once.
""",
    ),
    Case(
        "a mirror that refuses, and the next one",
        "",
        """
Downloading http://tea.example/leaves.gz
Failed to download (trying next):
HTTP Error 403: Forbidden

Downloading https://pot.example/leaves.gz
100.0%
Extracting leaves.gz
""",
    ),
    Case(
        "fits of a search that failed, as scikit-learn's warning quotes them",
        "",
        """
/opt/sklearn/model_selection/_validation.py:372: FitFailedWarning: 
6 fits failed out of a total of 12.
Below are more details about the failures:
--------------------------------------------------------------------------------
6 fits failed with the following error:
Traceback (most recent call last):
  File "/opt/sklearn/model_selection/_validation.py", line 681, in _fit_and_score
    estimator.fit(X_train, y_train, **fit_params)
ValueError: The loss steeping is not supported. 

  warnings.warn(some_fits_failed_message, FitFailedWarning)
Best CV params {'alpha': 1, 'loss': 'hinge'}
""",
        recovered=True,
    ),
    Case(
        "a place without machines, and the next one that has some",
        "",
        """
Launching on Azure eastus.
E 03-04 05:06:07 instance.py:457] Failed to create instances: [azure.core.exceptions.HttpResponseError] (Tea)
sky.exceptions.ResourcesUnavailableError: Failed to acquire resources in all zones in eastus
Launching on GCP us-central1 (us-central1-b).
✓ Cluster launched: tea-8.  View logs at: ~/sky_logs/provision.log
""",
    ),
    Case(
        "a model that AutoGluon leaves out, with the traceback",
        "",
        """
Fitting model: Kettle_BAG_L1 ...
\tWarning: Exception caused Kettle_BAG_L1 to fail during training... Skipping this model.
\t\tno leaf is left
Detailed Traceback:
Traceback (most recent call last):
  File "/opt/site-packages/autogluon/core/trainer.py", line 62, in _train_and_save
    model = self._train_single(X, y, model)
  File "/opt/site-packages/kettle/fit.py", line 7, in fit
    raise ValueError("no leaf is left")
ValueError: no leaf is left
Fitting model: Teapot_BAG_L1 ...
\t0.95\t = Validation score   (accuracy)
""",
        recovered=True,
    ),
    Case(
        "rsync succeeds the second time",
        "",
        """
2026/03/04 05:06:07 [25969] rsync: connection unexpectedly closed (0 bytes received so far) [sender]
2026/03/04 05:06:07 [25969] rsync error: error in rsync protocol data stream (code 12) at io.c(235) [sender=3.1.3]
2026/03/04 05:06:30 [26003] building file list
2026/03/04 05:06:30 [26003] <f+++++++++ tea.txt
2026/03/04 05:06:30 [26003] sent 226,040 bytes  received 263 bytes  64,658.00 bytes/sec
2026/03/04 05:06:30 [26003] total size is 225,967  speedup is 1.00
""",
        "finished",
        recovered=True,
    ),
    Case(
        "an elastic launcher starts its workers again after an error without words",
        "",
        """
[ERROR] 2026-03-04 05:06:07,219 local_elastic_agent: [default] Worker group failed
Traceback (most recent call last):
  File "/opt/site-packages/torch/multiprocessing/spawn.py", line 119, in join
    raise Exception(msg)
Exception:

[INFO] 2026-03-04 05:06:07,220 api: [default] Worker group FAILED. 3/3 attempts left; will restart worker group
[INFO] 2026-03-04 05:06:37,502 api: [default] Starting worker group
step: 0 loss: 3.5
step: 1 loss: 3.25
""",
        recovered=True,
    ),
    Case(
        "Slurm has no room for a step at first",
        "",
        """
srun: Job 812 step creation temporarily disabled, retrying (Requested nodes are busy)
srun: Step created for job 812
tea is poured
""",
        recovered=True,
    ),
    Case(
        "curl tries a transfer again that broke off",
        "",
        """
curl: (56) Recv failure: Connection reset by peer
Warning: Problem : timeout. Will retry in 1 second. 3 retries left.
  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
100  112k  100  112k    0     0   224k      0 --:--:-- --:--:-- --:--:--  224k
tea.tar.gz: unpacked
""",
    ),
    Case(
        "Spark does the tasks of a lost executor elsewhere",
        "",
        """
26/03/04 05:06:07 WARN TaskSetManager: Lost task 3.0 in stage 1.0 (TID 7) (tea-3 executor 2): ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding memory limits.
26/03/04 05:06:07 ERROR YarnScheduler: Lost executor 2 on tea-3: Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used.
26/03/04 05:06:08 INFO TaskSetManager: Starting task 3.1 in stage 1.0 (TID 12) (tea-4, executor 3, partition 3, PROCESS_LOCAL, 77 bytes)
26/03/04 05:07:08 INFO DAGScheduler: Job 0 finished: count at steep.py:10, took 71.2 s
26/03/04 05:07:09 INFO SparkContext: Successfully stopped SparkContext
""",
        recovered=True,
    ),
    Case(
        "a wheel that pip could not build, and a package that it installed all the same",
        "",
        """
Building wheels for collected packages: tea
  Running setup.py bdist_wheel for tea ... error
  error: invalid command 'bdist_wheel'
  Failed building wheel for tea
Failed to build tea
Installing collected packages: leaf, tea
Successfully installed leaf-1.2 tea-2.3
""",
        recovered=True,
    ),
    Case(
        "a worker of Ray that died, in a job that did well",
        "",
        """
2026-05-02 10:00:00,032 WARNING worker.py:1072 -- A worker died or was killed while executing task ffff.
success!
""",
        "finished",
    ),
    Case(
        "a job that submitit queues again, and starts",
        "",
        """
submitit INFO (2026-05-02 10:00:53,762) - Starting with JobEnvironment(job_id=77, hostname=leaf3, local_rank=0(1), node=0(1), global_rank=0(1))
submitit WARNING (2026-05-02 10:01:45,881) - Caught signal SIGHUP on leaf3: this job is preempted.
submitit INFO (2026-05-02 10:01:45,912) - Requeued job 77 (3 remaining timeouts)
submitit INFO (2026-05-02 10:04:41,214) - Starting with JobEnvironment(job_id=77, hostname=leaf4, local_rank=0(1), node=0(1), global_rank=0(1))
""",
        recovered=True,
    ),
    Case(
        "an item of Ansible's list that failed, and a task in its place",
        "",
        """
PLAY [brew] ****************************************************************

TASK [Get tea] *************************************************************
changed: [pot1] => (item=leaf)
failed: [pot1] (item=lid) => {"ansible_loop_var": "item", "changed": false, "item": "lid", "msg": "Request failed", "status_code": 404}

TASK [Get tea elsewhere] ***************************************************
changed: [pot1]

PLAY RECAP *****************************************************************
pot1                       : ok=7    changed=6    unreachable=0    failed=0    skipped=0    rescued=1    ignored=0
""",
        "finished",
        recovered=True,
    ),
)
