"""Tools and services around a job: clouds, containers, schedulers, packages, pipelines; and look-alikes that are none."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

SERVICES = (
    Case(
        "a bucket that is not there, at level warning",
        "bad_usage",
        """
time="2026-03-04T08:53:08Z" level=info msg="Saving from /tmp/a.tgz to s3"
>>>time="2026-03-04T08:53:09Z" level=warning msg="Failed to put file: The specified bucket does not exist"
time="2026-03-04T08:53:19Z" level=error msg="executor error: timed out waiting for the condition"
""",
    ),
    Case(
        "CloudFormation reaches a limit",
        "tool_error",
        """
[i]  AWS::EC2::EIP/NATIP: CREATE_IN_PROGRESS - "Resource creation Initiated"
>>>[x]  AWS::EC2::VPC/VPC: CREATE_FAILED - "The maximum number of VPCs has been reached. (Service: AmazonEC2; Status Code: 400; Error Code: VpcLimitExceeded; Request ID: x)"
[i]  AWS::EC2::VPC/VPC: CREATE_IN_PROGRESS
""",
    ),
    Case(
        "CloudFormation finds a name taken, and takes the rest back",
        "tool_error",
        """
>>>AWS::IAM::Role/ServiceRole: CREATE_FAILED - "role-1 already exists in stack arn:aws:cloudformation:x"
AWS::EC2::VPC/VPC: CREATE_FAILED - "Resource creation cancelled"
""",
    ),
    Case(
        "the program that a probe asks is not in the image",
        "missing_dependency",
        """
  Normal   Started    31s   kubelet            Started container server
>>>  Warning  Unhealthy  21s   kubelet            Startup probe errored: rpc error: code = Unknown desc = failed to exec in container: failed to start exec "31": OCI runtime exec failed: exec failed: unable to start container process: exec: "health_probe": executable file not found in $PATH: unknown
""",
    ),
    Case(
        "a kind of resource that no operator has brought, and its words at level warning",
        "missing_dependency",
        """
time="2026-03-04T05:06:07Z" level=warning msg="Ignore task Master priority class : priorityclass.scheduling.k8s.io \\"\\" not found"
>>>time="2026-03-04T05:06:07Z" level=warning msg="Sync PodGroup jobs/mnist: unable to create PodGroup: the server could not find the requested resource (post podgroups.scheduling.volcano.sh)"
time="2026-03-04T05:06:07Z" level=warning msg="PodGroup jobs/mnist unschedulable"
""",
    ),
    Case(
        "AWS knows no such stack",
        "bad_usage",
        """
[INFO] INSTANCES = g5.12xlarge

>>>An error occurred (ValidationError) when calling the DescribeStacks operation: Stack with id cluster does not exist
[ERROR] failed to retrieve VPC ID
""",
    ),
    Case(
        "AWS does not allow a call",
        "network",
        """
>>>botocore.exceptions.ClientError: An error occurred (UnauthorizedOperation) when calling the RunInstances operation: You are not authorized to perform this operation.
""",
    ),
    Case(
        "a mount helper of Lustre in the report of Chef",
        "tool_error",
        """
      Error executing action `mount` on resource 'mount[/fsx]'
      Expected process to exit with [0], but received '22'
      STDOUT: 
>>>      STDERR: mount.lustre: Can't parse NID 'fs-0a1.fsx.example.com@tcp:/abcd'
""",
    ),
    Case(
        "Docker is not there, in the words of older clients",
        "tool_error",
        """
>>>Cannot connect to the Docker daemon. Is the docker daemon running on this host?
[Pipeline] }
""",
    ),
    Case(
        "a bus that is no network",
        "tool_error",
        """
>>>slurmd: error: cgroup_dbus_attach_to_scope: cannot connect to dbus system daemon: Failed to connect to socket /run/dbus/system_bus_socket: No such file or directory
""",
    ),
    Case(
        "a server refuses a mount that Kubernetes asks for",
        "tool_error",
        """
  Warning  FailedMount  40s  kubelet  Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition
  Warning  FailedMount  9s   kubelet  MountVolume.SetUp failed for volume "pvc-41" : rpc error: code = Internal desc = Could not mount "fs-0a1:/" at "/var/lib/kubelet/pods/41/mount": mount failed: exit status 32
Output: Could not start the watchdog
>>>mount.nfs4: access denied by server while mounting 127.0.0.1:/
""",
    ),
    Case(
        "a sky without machines",
        "tool_error",
        """
I 03-04 10:00:00 optimizer.py:719] Considered resources (1 node):
W 03-04 10:00:10 cloud_vm_ray_backend.py:2071] Failed to provision in us-east-1a
>>>sky.exceptions.ResourcesUnavailableError: Failed to provision all possible launchable resources. Relax the task's resource requirements: 1x AWS({'trn1': 16})
""",
    ),
    Case(
        "an environment of Ray's whose packages are nowhere",
        "missing_dependency",
        """
2026-03-04 10:00:00,123	INFO worker.py:1642 -- Started a local Ray instance.
Traceback (most recent call last):
  File "train.py", line 5, in <module>
    ray.get(f.remote())
ray.exceptions.RuntimeEnvSetupError: Failed to set up runtime environment.
Failed to install pip packages in the runtime env
>>>ERROR: Could not find a version that satisfies the requirement flashy==9.9 (from versions: none)
""",
    ),
    Case(
        "a build of an image that lacks a file",
        "tool_error",
        """
#6 [3/6] COPY requirements.txt /app/
>>>#6 ERROR: failed to calculate checksum of ref abc::def: "/requirements.txt": not found
------
 > [3/6] COPY requirements.txt /app/:
------
ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref abc::def: "/requirements.txt": not found
""",
    ),
    Case(
        "Docker's daemon does not run",
        "tool_error",
        """
$ docker run --rm trainer
>>>Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
""",
    ),
    Case(
        "Docker's socket may not be used",
        "tool_error",
        """
>>>docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Head "http://%2Fvar%2Frun%2Fdocker.sock/_ping": dial unix /var/run/docker.sock: connect: permission denied.
See 'docker run --help'.
""",
    ),
    Case(
        "a quota of a namespace",
        "tool_error",
        """
>>>Warning  FailedCreate  10s (x5 over 30s)  job-controller  Error creating: pods "train-abc" is forbidden: exceeded quota: team-quota, requested: requests.aws.amazon.com/neuron=16, used: requests.aws.amazon.com/neuron=16, limited: requests.aws.amazon.com/neuron=16
""",
    ),
    Case(
        "a quota of a queue",
        "tool_error",
        """
>>>Warning  Pending  10s  kueue-admission  couldn't assign flavors to pod set main: insufficient unused quota for aws.amazon.com/neuron in flavor trn1, 16 more needed
""",
    ),
    Case(
        "a file system whose server has gone",
        "tool_error",
        """
>>>OSError: [Errno 108] Cannot send after transport endpoint shutdown: '/fsx/ckpt/step-100'
""",
    ),
    Case(
        "JAX's processes that do not meet",
        "collective",
        """
I0304 10:00:00.000000 123 distributed.py:106] Starting JAX distributed service on [::]:1234
E0304 10:05:00.000000 130 coordination_service_agent.cc:740] Coordination agent is set to ERROR: DEADLINE_EXCEEDED: Deadline Exceeded
Traceback (most recent call last):
  File "/job/a.py", line 9, in <module>
    jax.distributed.initialize()
>>>jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0. This usually happens because a task triggered the barrier too early or too slowly.
""",
    ),
    Case(
        "a back end of JAX that does not start",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/job/a.py", line 9, in <module>
    print(jax.devices())
>>>RuntimeError: Unable to initialize backend 'tpu': INTERNAL: Failed to get global TPU topology. (set JAX_PLATFORMS='' to automatically choose an available backend)
""",
    ),
    Case(
        "a device that another process holds",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/job/a.py", line 9, in <module>
    print(jax.devices())
>>>RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid 4711. Not attempting to load libtpu.so in this process.
""",
    ),
    Case(
        "Slurm's controller is not reached",
        "tool_error",
        """
>>>slurm_load_jobs error: Unable to contact slurm controller (connect failure)
""",
    ),
    Case(
        "Slurm does not launch a task",
        "tool_error",
        """
>>>srun: error: Task launch for StepId=123.0 failed on node node-7: Invalid job credential
srun: error: Application launch failed: Invalid job credential
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
""",
    ),
    Case(
        "an operator's CUDA is not PyTorch's",
        "bad_usage",
        """
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    from deepspeed.ops.adam import FusedAdam; FusedAdam([])
>>>deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 11.8 does not match the version torch was compiled with 12.1, unable to compile cuda/cpp extensions without a matching cuda version.
""",
    ),
    Case(
        "no toolkit to build an operator with",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "/job/setup.py", line 1, in <module>
    build()
>>>OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.
""",
    ),
    Case(
        "a number of processes that is none",
        "bad_usage",
        """
Traceback (most recent call last):
  File "/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
>>>ValueError: Unsupported nproc_per_node value: neuron
""",
    ),
    Case(
        "a variable that a launcher sets",
        "bad_usage",
        """
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    dist.init_process_group("xla")
>>>ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but not set
""",
    ),
    Case(
        "a disk that fails",
        "tool_error",
        """
>>>[12345.678901] blk_update_request: I/O error, dev nvme1n1, sector 123456 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 0
[12345.679012] EXT4-fs error (device nvme1n1p1): ext4_find_entry:1455: inode #2: comm python3: reading directory lblock 0
[12345.680012] EXT4-fs (nvme1n1p1): Remounting filesystem read-only
""",
    ),
    Case(
        "a kernel that gives up",
        "tool_error",
        """
>>>[  100.000001] Kernel panic - not syncing: Out of memory: system-wide panic_on_oom is enabled
""",
    ),
    Case(
        "a workflow's limit of time",
        "interrupted",
        """
2026-03-04T10:00:00.1234567Z step 1
>>>2026-03-04T16:00:00.1234567Z ##[error]The job running on runner node-1 has exceeded the maximum execution time of 360 minutes.
""",
    ),
    Case(
        "a runner that is shut down",
        "interrupted",
        """
>>>##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped, or a manually started runner is canceled.
""",
    ),
    Case(
        "a pipeline's limit of time",
        "interrupted",
        """
step 1
>>>ERROR: Job failed: execution took longer than 1h0m0s seconds
""",
    ),
    Case(
        "a branch that PyTorch cannot trace",
        "compile_error",
        """
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    model(x)
>>>torch._dynamo.exc.Unsupported: Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).
""",
    ),
    Case(
        "a size that PyTorch cannot know",
        "compile_error",
        """
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    torch.export.export(model, (x,))
>>>torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).
""",
    ),
    Case(
        "packages whose hashes differ",
        "tool_error",
        """
Collecting torch
>>>ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes. Otherwise, examine the package contents carefully; someone may have tampered with them.
""",
    ),
    Case(
        "an environment that the system manages",
        "tool_error",
        """
>>>error: externally-managed-environment

× This environment is externally managed
╰─> To install Python packages system-wide, try apt install
""",
    ),
    Case(
        "packages that pip finds in conflict",
        "bad_usage",
        """
>>>ERROR: Cannot install torch==2.1 and torchvision==0.20 because these package versions have conflicting dependencies.
ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/
""",
    ),
    Case(
        "a channel that is not reached",
        "network",
        """
Collecting package metadata (repodata.json): failed

>>>CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.anaconda.org/conda-forge/linux-64/repodata.json>
Elapsed: -
""",
    ),
    Case(
        "a repository that does not know the user",
        "network",
        """
Cloning into 'repo'...
>>>fatal: Authentication failed for 'https://github.com/acme/repo.git/'
""",
    ),
    Case(
        "a clone that is cut off",
        "network",
        """
error: failed to run custom build command for `acme-sys v0.3.0`
  Cloning into '/srv/build/acme'...
  >>>error: RPC failed; curl 56 GnuTLS recv error (-9): Error decoding the received TLS packet.
  error: 2817 bytes of body are still expected
  fatal: early EOF
  fatal: fetch-pack: invalid index-pack output
""",
    ),
    Case(
        "a key that a service refuses",
        "network",
        """
wandb: Currently logged in as: x
>>>wandb.errors.errors.AuthenticationError: API key verification failed. Make sure your API key is valid.
""",
    ),
    Case(
        "a name that the linker does not know",
        "compile_error",
        """
/usr/bin/ld: main.o: in function `main':
>>>main.cpp:(.text+0x5): undefined reference to `wide_rows()'
collect2: error: ld returned 1 exit status
make: *** [Makefile:12: app] Error 1
""",
    ),
    Case(
        "a name that Go does not know",
        "compile_error",
        """
# acme/plugin
>>>./main.go:10:2: undefined: wide
""",
    ),
    Case(
        "no room for another process",
        "script_error",
        """
bash: fork: retry: Resource temporarily unavailable
>>>bash: fork: Resource temporarily unavailable
""",
    ),
    Case(
        "a driver that is built and installed",
        "",
        """
Building module:
Cleaning build area...(bad exit status: 2)
Building module(s).........
Signing module /var/lib/dkms/aws-neuronx/2.18/build/neuron.ko
Installing /lib/modules/6.8.0/updates/dkms/neuron.ko
depmod....
""",
    ),
    Case(
        "headings of what did not happen",
        "",
        """
Summary of errors:
 - none
Runtime error:
0
INFO errors: 0
Possible failure modes:
 - the network may be slow
training done
""",
    ),
    Case(
        "an error that is measured",
        "",
        """
Epoch 1
Validation error:
0.123 (best 0.120)
Test error:
0.2 in the first fold
Epoch 2
""",
    ),
    Case(
        "a list of known errors",
        "",
        """
Known errors:
  - E1: the disk is slow at times
  - E2: nobody knows
started
""",
    ),
    Case(
        "a daemon that comes up",
        "",
        """
Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running? Waiting...
Docker is up
{'loss': 1.0}
{'loss': 0.9}
""",
    ),
    Case(
        "a disk that is mounted",
        "",
        """
[    1.000000] EXT4-fs (nvme0n1p1): mounted filesystem with ordered data mode. Opts: errors=remount-ro
[    1.100000] systemd[1]: Started File System Check.
""",
    ),
    Case(
        "a part that PyTorch does not trace",
        "",
        """
W0304 10:00:00.000000 12 torch/_dynamo/convert_frame.py:906] [0/8] torch._dynamo hit config.cache_size_limit (8)
W0304 10:00:00.000000 12 torch/_dynamo/utils.py:9] torch._dynamo.exc.Unsupported: dynamic shapes; falling back to eager
step 1 loss 2.0
step 2 loss 1.9
""",
    ),
    Case(
        "a question that is quoted",
        "",
        """
> Please explain: RuntimeError
> It happens when a tensor is on another device.
Answer: move it.
""",
    ),
    Case(
        "a test that is expected to fail",
        "",
        """
tests/test_a.py::test_b XFAIL
E       ValueError: expected
============ 3 passed, 1 xfailed in 0.1s ============
""",
    ),
    Case(
        "back ends that JAX looks for",
        "",
        """
INFO:2026-03-04 10:00:00,000:jax._src.xla_bridge:927: Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'
INFO:2026-03-04 10:00:00,000:jax._src.xla_bridge:927: Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory
[CpuDevice(id=0)]
""",
    ),
    Case(
        "a module that a program wants to do without, and another rank that needs it",
        "missing_dependency",
        """
>>>[rank0]: ERROR:job:Cannot load the kernels: ModuleNotFoundError: No module named 'kern9'
[rank1]: WARNING:job:falling back to plain kernels
""",
    ),
    Case(
        "a module that a program wants to do without, and cannot",
        "missing_dependency",
        """
>>>ERROR:job:Cannot load the kernels: ModuleNotFoundError: No module named 'kern9'
WARNING:job:falling back to plain kernels failed
""",
    ),
    Case(
        "what a program did without is why it ended, where nothing else is",
        "missing_dependency",
        """
>>>2026-05-02T10:00:02.679061Z ERROR serve::chat: src/chat.rs:72: Cannot load the chat template: ModuleNotFoundError: No module named 'jinja9'
2026-05-02T10:00:02.679079Z  WARN serve::chat: src/chat.rs:80: No template found, falling back on plain prompts
srun: error: node-7: task 0: Exited with exit code 1
""",
    ),
    Case(
        "a monitor that does not start where no server is ready",
        "script_error",
        """
waiting until the server is ready
>>>Error: Failed to initialize NVML
""",
    ),
    Case(
        "a model that a server loses after it was ready",
        "script_error",
        """
INFO:     Application startup complete.
>>>ERROR: model segmenter could not be loaded: checksum differs
""",
    ),
    Case(
        "a model without a configuration, on a server without a GPU",
        "script_error",
        """
WARNING: no driver was found. GPU functionality will not be available.
E0304 05:06:07.000001 1 memory_manager.cc:192] failed to allocate pinned system memory: CUDA driver version is insufficient for CUDA runtime version
>>>E0304 05:06:07.000002 1 models.cc:1604] failed to open text file for read /models/segmenter/config.pbtxt: No such file or directory
error: creating server: Internal - failed to load all models
""",
    ),
    Case(
        "a library of vLLM's operators that was not loaded, and one of which is asked for",
        "missing_dependency",
        """
>>>WARNING 02-28 20:57:36 _core_ext.py:180] Failed to import from vllm._tea_C with ImportError('libtea_hip.so: cannot open shared object file: No such file or directory')
Traceback (most recent call last):
  File "/tea/lib/python3.10/site-packages/vllm/__init__.py", line 3, in <module>
    from vllm.pots import Pot
  File "/tea/lib/python3.10/site-packages/vllm/pots.py", line 9, in <module>
    Lid = torch.classes._tea_C.Lid
RuntimeError: Tried to instantiate class '_tea_C.Lid', but it does not exist! Ensure that it is registered via torch::class_
""",
    ),
    Case(
        "a server on a TPU that does without vLLM's operators, and starts",
        "",
        """
ERROR 08-16 20:22:58 [tpu_info.py:40] Unable to poll TPU GCE Metadata. Got status code: 404 and content: 
Check failed with unknown exit code: -6.
WARNING 08-16 20:23:18 [interface.py:368] Failed to import from vllm._C: ModuleNotFoundError("No module named 'vllm._C'")
INFO 08-16 20:23:18 [__init__.py:112] Registered model loader
""",
    ),
    Case(
        "what servers print about models that they load all the same",
        "",
        """
str: cannot properly format tensor name output with suffix=weight bid=-1 xid=-1
load_tensors: offloaded 43/43 layers to GPU
Could not find image processor class in the image processor config or the model config. Loading based on pattern matching with the model's feature extractor configuration.
main: server is listening on http://127.0.0.1:8080
""",
    ),
    Case(
        "llama.cpp does not know a model, behind its sign of life",
        "bad_usage",
        """
>>>Loading model... /llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'tea'
llama_model_load_from_file_impl: failed to load model
Failed to load the model
""",
    ),
    Case(
        "a task of Metaflow's that failed without a word",
        "script_error",
        """
2026-03-04 05:06:07.802 [15982/pour/2 (pid 19077)] Task is starting.
>>>2026-03-04 05:06:08.069 [15982/pour/2 (pid 19077)] Task failed.
2026-03-04 05:06:08.069 Workflow failed.
""",
    ),
    Case(
        "a traceback of a task of Metaflow's",
        "script_error",
        """
2026-03-04 05:06:07.802 [15982/pour/2 (pid 19077)] Traceback (most recent call last):
2026-03-04 05:06:07.802 [15982/pour/2 (pid 19077)] File "tea.py", line 3, in pour
2026-03-04 05:06:07.802 [15982/pour/2 (pid 19077)] pot[7]
>>>2026-03-04 05:06:07.802 [15982/pour/2 (pid 19077)] KeyError: 7
2026-03-04 05:06:08.069 [15982/pour/2 (pid 19077)] Task failed.
2026-03-04 05:06:08.069 Workflow failed.
""",
    ),
    Case(
        "a Java that is not where Airflow's task looks for it",
        "missing_dependency",
        """
[2026-03-04, 05:06:06 UTC] {spark_submit.py:571} INFO - /opt/pyspark/bin/load-spark-env.sh: line 68: ps: command not found
>>>[2026-03-04, 05:06:06 UTC] {spark_submit.py:571} INFO - /opt/pyspark/bin/spark-class: line 71: /usr/lib/jvm/tea/bin/java: No such file or directory
[2026-03-04, 05:06:06 UTC] {taskinstance.py:1935} ERROR - Task failed with exception
Traceback (most recent call last):
  File "/opt/spark_submit.py", line 502, in submit
    raise AirflowException(
airflow.exceptions.AirflowException: Cannot execute: spark-submit --name tea jobs/tea.py. Error code is: 1.
""",
    ),
    Case(
        "a program that is not in an image, in BuildKit's seconds and pip's indentation",
        "script_error",
        """
>>>332.8       error: command 'swig' failed: No such file or directory
332.8       [end of output]
332.8   note: This error originates from a subprocess, and is likely not a problem with pip.
332.8   ERROR: Failed building wheel for tea
333.1 error: failed-wheel-build-for-install
ERROR: failed to solve: process "/bin/sh -c pip install -e ." did not complete successfully: exit code: 1
""",
    ),
    Case(
        "Grid Engine's report of a job that it could not start",
        "tool_error",
        """
Job 51374 caused action: Job 51374 set to ERROR
 User        = tea
>>>failed changing into working directory:03/04/2026 05:06:07 [1202:32173]: error: can't chdir to /tmp/tea: No such file or directory
Shepherd trace:
03/04/2026 05:06:07.187019 [496:32172]: Univa Grid Engine 8.2.1 shepherd trace file
""",
    ),
    Case(
        "cloud-init's output on the machine's console",
        "missing_dependency",
        """
[   14.635166] cloud-init[4138]: + /opt/tea/bin/pour -v
>>>[   14.649321] cloud-init[4138]: /var/lib/cloud/instance/scripts/part-001: line 5: /opt/tea/bin/pour: No such file or directory
[   14.681825] cloud-init[4138]: Mar 04 05:06:07 cloud-init[4138]: util.py[WARNING]: Failed running /var/lib/cloud/instance/scripts/part-001 [127]
""",
    ),
    Case(
        "a server's program does not start in time",
        "tool_error",
        """
time=2026-03-04T05:06:07.000Z level=INFO source=server.go:589 msg="waiting for server to become available"
>>>time=2026-03-04T05:11:07.000Z level=ERROR source=sched.go:455 msg="error loading" error="timed out waiting for llama runner to start - progress 0.00"
""",
    ),
    Case(
        "a check of GGML's, and the error of the server above it",
        "script_error",
        """
>>>llama.cpp:10939: GGML_ASSERT(hparams.n_tea > 0) failed
time=2026-03-04T05:06:07.824+08:00 level=ERROR source=sched.go:455 msg="error loading llama server" error="llama runner process has terminated: GGML_ASSERT(hparams.n_tea > 0) failed"
""",
    ),
    Case(
        "machines that a cloud does not provide in time",
        "tool_error",
        """
I 11-26 17:45:57 backend.py:1356] Successfully provisioned or found existing head VM. Waiting for workers.
>>>E 11-26 17:47:34 utils.py:992] Timed out: waited for more than 90 seconds for new workers to be provisioned, but no progress.
E 11-26 17:47:34 backend.py:1118] *** Failed provisioning the cluster. ***
""",
    ),
    Case(
        "Poetry names the exception, and below it the words",
        "missing_dependency",
        """
Installing dependencies from lock file

  - Installing kettle (1.13.1): Failed

  RuntimeError

>>>  Unable to find installation candidates for kettle (1.13.1)

  at /opt/site-packages/poetry/installation/chooser.py:74 in choose_for
       70|
""",
    ),
    Case(
        "AzCopy counts what failed",
        "tool_error",
        """
Number of File Transfers Completed: 1165766
>>>Number of File Transfers Failed: 39
Number of Folder Transfers Failed: 0
Final Job Status: CompletedWithErrors
""",
        "failed",
    ),
    Case(
        "a CUDA that the driver does not know",
        "runtime_init",
        """
>>>RuntimeError: [TM][ERROR] CUDA runtime error: API call is not supported in the installed CUDA driver /tea/src/cup.h:7
""",
    ),
    Case(
        "a model that fits the host's memory only without its last buffer",
        "host_oom",
        """
load_tensors: loading model tensors, this can take a while... (mmap = false)
>>>ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 437944320
alloc_tensor_range: failed to allocate CPU buffer of size 437944320
llama_model_load: error loading model: unable to allocate CPU buffer
""",
    ),
    Case(
        "a library of CUDA's that is looked for by name",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "/opt/tea/pour.py", line 7, in pour
    model.steep()
>>>RuntimeError: Library libcublas.so.12 is not found or cannot be loaded
""",
    ),
    Case(
        "whisper.cpp's server is asked to end",
        "",
        """
whisper server listening at http://127.0.0.1:8080

Received request: tea.wav
Successfully loaded tea.wav

Caught signal 15, shutting down gracefully...
""",
    ),
    Case(
        "ComfyUI starts without an extension",
        "",
        """
[2026-03-04 05:06] Device: cuda:0 Kettle 7 : cudaMallocAsync
[2026-03-04 05:06] Traceback (most recent call last):
  File "/opt/ComfyUI/nodes.py", line 79, in load_custom_node
    module_spec.loader.exec_module(module)
  File "/opt/ComfyUI/custom_nodes/tea/__init__.py", line 1, in <module>
    from .leaves import Leaf
ModuleNotFoundError: No module named 'leaves'

[2026-03-04 05:06] Cannot import /opt/ComfyUI/custom_nodes/tea module for custom nodes: No module named 'leaves'
[2026-03-04 05:06] Starting server
[2026-03-04 05:07] Prompt executed in 7.99 seconds
""",
        "finished",
    ),
    Case(
        "hosts that Ansible does not reach, in its own log file",
        "network",
        """
2026-05-02 10:00:04,100 p=4711 u=tea n=ansible INFO| PLAY [brew] **************
2026-05-02 10:00:09,200 p=4711 u=tea n=ansible INFO| TASK [ping] **************
2026-05-02 10:00:09,300 p=4711 u=tea n=ansible INFO| fatal: [pot1]: UNREACHABLE! => changed=false 
  msg: |-
>>>    Failed to connect to the host via ssh: ssh: connect to host pot1 port 22: Connection timed out
  unreachable: true
2026-05-02 10:00:09,400 p=4711 u=tea n=ansible INFO| PLAY RECAP **************
2026-05-02 10:00:09,400 p=4711 u=tea n=ansible INFO| pot1                       : ok=0    changed=0    unreachable=1    failed=0    skipped=0    rescued=0    ignored=0   
2026-05-02 10:00:09,400 p=4711 u=tea n=ansible INFO| pot2                       : ok=1    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0   
""",
    ),
    Case(
        "a node that promises more than it has, to Slurm",
        "bad_usage",
        """
[2026-05-02T10:00:07.266] error: chdir(/var/log): Permission denied
[2026-05-02T10:00:07.266] error: Configured MailProg is invalid
[2026-05-02T10:00:07.266] slurmctld version 23.02.4 started on cluster tea
[2026-05-02T10:05:07.931] error: Nodes leaf[0-1] not responding
[2026-05-02T10:09:24.128] Node leaf1 now responding
>>>[2026-05-02T10:09:24.128] error: Setting node leaf1 state to INVAL with reason:Low RealMemory (reported:100 < 100.00% of configured:900)
[2026-05-02T10:09:24.128] drain_nodes: node leaf1 state set to DRAIN
[2026-05-02T10:09:24.128] error: _slurm_rpc_node_registration node=leaf1: Invalid argument
""",
    ),
    Case(
        "no machine for dstack",
        "tool_error",
        """
Submit a new run? [y/n]: y
late-lemur-2 provisioning completed (failed)
No capacity
>>>Failed to provision in fleet 'tea-fleet': tried 3 of 3 offers, all failed.
Errors: trn2.48xlarge in aws/us-west-2: NoCapacityError.
See https://tea.example/docs/provisioning
""",
    ),
    Case(
        "a device that the container engine does not know",
        "tool_error",
        """
Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.
>>>Error: setting up CDI devices: unresolvable CDI devices tea.com/leaf=all
""",
    ),
    Case(
        "a process of foreman's that ends, and the others that are ended",
        "bad_usage",
        """
10:00:33 web.1  | started with pid 58
10:00:33 css.1  | started with pid 59
10:00:34 web.1  | => Booting
>>>10:00:34 web.1  | A server is already running (pid: 281, file: /srv/tea/server.pid).
10:00:34 web.1  | Exiting
10:00:34 web.1  | exited with code 1
10:00:34 system | sending SIGTERM to all processes
10:00:34 css.1  | SignalException: SIGTERM (SignalException)
10:00:34 css.1  |
10:00:34 css.1  | exited with code 1
""",
    ),
    Case(
        "services with other names, each before a bar",
        "script_error",
        """
db     | listening
kettle | Traceback (most recent call last):
db     | a client has come
kettle |   File "/srv/kettle.py", line 3, in <module>
kettle |     boil()
>>>kettle | ValueError: no water
db     | a client has gone
""",
    ),
    Case(
        "a program that systemd cannot start",
        "bad_usage",
        """
May 02 10:00:35 pot systemd[1]: Starting brewer...
>>>May 02 10:00:35 pot systemd[1]: brew.service: Control process exited, code=exited, status=217/USER
May 02 10:00:35 pot systemd[1]: brew.service: Failed with result 'exit-code'.
May 02 10:00:35 pot systemd[1]: Failed to start brewer.
""",
    ),
    Case(
        "a setting of the system that Elasticsearch refuses",
        "bad_usage",
        """
>>>ERROR: [1] bootstrap checks failed
[1]: max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]
""",
    ),
    Case(
        "a port that Spring's server wants",
        "network",
        """
Error starting ApplicationContext. To display the condition evaluation report re-run your application with 'debug' enabled.
***************************
APPLICATION FAILED TO START
***************************

Description:

>>>Web server failed to start. Port 7080 was already in use.
""",
    ),
    Case(
        "a resource that CloudFormation cannot make, and those that it then cancels",
        "tool_error",
        """
+1100 CREATE_FAILED AWS::CloudFront::Distribution Pot Resource creation cancelled
>>>+1090 CREATE_FAILED Custom::Sync Leaves Data returned must be an object
+10 CREATE_IN_PROGRESS AWS::S3::Bucket Leaves
""",
    ),
    Case(
        "files that GitLab does not take",
        "network",
        """
>>>WARNING: Uploading artifacts as "archive" to coordinator... failed  correlation=77 id=7 responseStatus=500 Internal Server Error status=500 token=x
WARNING: Retrying...                                correlation=77
FATAL: invalid argument
""",
    ),
)
