"""Tools around a job: launchers, schedulers, containers, device tools."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

TOOLS = (
    Case(
        "a cross in the place of a level",
        "script_error",
        """
[ℹ]  creating stack "tea-nodes"
>>>[✖]  unexpected status "CREATE_IN_PROGRESS" while waiting for stack "tea-nodes"
[ℹ]  fetching stack events
""",
    ),
    Case(
        "what a program in Go has gathered, below its number",
        "tool_error",
        """
>>>ERRO[0004] Error pulling image ref //tea:latest: Error adding layer: lchown /etc/gshadow: operation not permitted
Failed
Error: unable to pull tea: 1 error occurred:
\t* Error adding layer: lchown /etc/gshadow: operation not permitted
""",
    ),
    Case(
        "a time limit, long after conda was not set up in the batch script",
        "interrupted",
        """
CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.
To initialize your shell, run

    $ conda init <SHELL_NAME>

>>>slurmstepd-n04: error: *** JOB 77 ON n04 CANCELLED AT 2026-03-04T10:00:58 DUE TO TIME LIMIT ***
""",
    ),
    Case(
        "a program that Chef does not find",
        "missing_dependency",
        """
  Expected process to exit with [0], but received '127'
  STDOUT: 
>>>  STDERR: sh: /opt/cluster/envs/cookbook/bin/aws: No such file or directory
""",
    ),
    Case(
        "a program that Flux does not find",
        "missing_dependency",
        """
$ flux mini run -N2 stress
>>>0.778s: flux-shell[1]: FATAL: task 0: start failed: stress: No such file or directory
0.784s: job.exception type=exec severity=0 task 0: start failed: stress: No such file or directory
""",
    ),
    Case(
        "Airflow's header in front of what a sensor says",
        "script_error",
        """
[2026-03-04 05:06:07,781] {emr_base_sensor.py:33} INFO - Job flow currently TERMINATED_WITH_ERRORS
>>>[2026-03-04 05:06:07,799] {__init__.py:1580} ERROR - EMR job failed for code: VALIDATION with message no such type
""",
    ),
    Case(
        "a shell's words, indented by the runner",
        "missing_dependency",
        """
 $ COMPILER=$(root-config --cxx)
>>> /usr/bin/bash: line 87: root-config: command not found
 ERROR: Job failed: exit code 1
""",
    ),
    Case(
        "BuildKit's seconds in front of pip's levels",
        "script_error",
        """
16.61 WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ReadTimeoutError("HTTPSConnectionPool(host='pypi.example', port=443): Read timed out.")': /simple/pip/
>>>100.4 ERROR: Could not open requirements file: [Errno 2] No such file or directory: 'requirements.txt'
failed to solve: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit code: 1
""",
    ),
    Case(
        "a program whose mode does not let Hydra start it, behind a path that a pager has broken",
        "script_error",
        """
starting the run
>>>[proxy:0:0@n17] HYD_spawn (lib/intel/hydra_spawn.c:145): execvp error on file /scratch/project/tea/with/a/long/na
me/brew (Permission denied)
run ended
""",
    ),
    Case(
        "a program of a build that has a path in front of its words",
        "tool_error",
        """
cmd.exe /C "cd . && D:\\mingw\\bin\\ar.exe qc lib\\libtea.a @tea.rsp && cd ."
>>>D:\\mingw\\bin\\ar.exe: could not create temporary file whilst writing archive: no space
[3/9] Linking CXX executable bin\\kettle.exe
ninja: build stopped: subcommand failed.
""",
    ),
    Case(
        "a plugin that this Slurm no longer has",
        "missing_dependency",
        """
slurmctld: error: cannot find select/cons_res
>>>slurmctld: fatal: Can't find plugin for select/cons_res
""",
    ),
    Case(
        "apt has no key for a repository",
        "tool_error",
        """
Get:1 https://example.com/compute/repos  InRelease [1575 B]
Err:1 https://example.com/compute/repos  InRelease
>>>  The following signatures couldn't be verified because the public key is not available: NO_PUBKEY A4B469963BF863CC
Get:2 http://archive.example.com/ubuntu focal InRelease [265 kB]
""",
    ),
    Case(
        "a quota of Google's, told by SkyPilot",
        "tool_error",
        """
>>>W 03-04 05:06:07 instance_utils.py:112] Got return codes 'QUOTA_EXCEEDED' in us-central1-a: "Quota 'SSD_TOTAL_GB' exceeded.  Limit: 500.0 in region us-central1"
D 03-04 05:06:07 provisioner.py:150] Failed to provision 'a' on GCP (us-central1-a).
""",
    ),
    Case(
        "pyxis in the words of Slurm's daemon, with a process and an address",
        "tool_error",
        """
resuming
Mar 04 05:06:07.834962 44995 slurmstepd   0x1555aaddfd40: error: pyxis: child 44996 failed with error code: 1
Mar 04 05:06:07.835051 44995 slurmstepd   0x1555aaddfd40: error: pyxis: failed to import docker image
Mar 04 05:06:07.835098 44995 slurmstepd   0x1555aaddfd40: error: pyxis:     [INFO] Permission granted
>>>Mar 04 05:06:07.835140 44995 slurmstepd   0x1555aaddfd40: error: pyxis:     [ERROR] Could not process JSON input
""",
    ),
    Case(
        "what a container's engine logged before it ended",
        "tool_error",
        """
slurmstepd: error: pyxis: container start failed with error code: 1
slurmstepd: error: pyxis: container exited too soon
slurmstepd: error: pyxis: printing engine log file:
>>>slurmstepd: error: pyxis:     hook: cannot look up the account of this job
slurmstepd: error: pyxis: couldn't start container
srun: error: node-2: task 0: Exited with exit code 1
""",
    ),
    Case(
        "a container's library that does without the driver it needs",
        "tool_error",
        """
$ docker run --rm --gpus all trainer
exec command: [/usr/bin/nvidia-container-cli --require=cuda>=12.8]
>>>nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver
docker: Error response from daemon: failed to create task for container
""",
    ),
    Case(
        "why an image is waited for",
        "network",
        """
Events:
  Warning  Failed   6m    kubelet, n1  Error: ImagePullBackOff
>>>  Warning  Failed   5m    kubelet, n1  Failed to pull image "example.org/train:9": no such tag
  Warning  Failed   5m    kubelet, n1  Error: ErrImagePull
""",
    ),
    Case(
        "an image that is waited for, after a launcher's complaint",
        "network",
        """
RuntimeError: job did not start
>>>  train-0   0/1   ImagePullBackOff   0   3m
  train-1   0/1   ErrImagePull   0   3m
""",
    ),
    Case(
        "a build in an image, whose lines BuildKit counts",
        "compile_error",
        """
#24 23.05 make[2]: Entering directory '/src/kernels'
>>>#24 23.05 nvcc fatal   : Unsupported gpu architecture 'compute_91'
#24 23.05 make[2]: *** [/src/kernels/add.o] Error 1
""",
    ),
    Case(
        "a pod's container that is not made",
        "host_oom",
        """
NAME      READY   STATUS                 RESTARTS   AGE
train-0   0/1     CreateContainerError   0          3m
>>>Warning  Failed  90s  kubelet  Error: container create failed: container init was OOM-killed
""",
    ),
    Case(
        "an image that is waited for",
        "network",
        """
NAME      READY   STATUS             RESTARTS   AGE
>>>train-0   0/1     ImagePullBackOff   0          3m
""",
    ),
    Case(
        "klog of a device plugin",
        "tool_error",
        """
I1024 10:11:11.131415       1 main.go:30] Starting plugin
>>>E1024 10:11:12.131415       1 plugin.go:42] Failed to enumerate devices: sysfs entry has 3 fields, want 4
""",
    ),
    Case(
        "logfmt of a profiler",
        "tool_error",
        """
time="2026-06-01T10:00:00Z" level=info msg="capturing"
time="2026-06-01T10:00:01Z" level=warning msg="no host trace"
>>>time="2026-06-01T10:00:02Z" level=error msg="profile has no notifications" file=a.ntff
""",
    ),
    Case(
        "a panic with a reason",
        "tool_error",
        """
starting
>>>panic: shard table is empty

goroutine 1 [running]:
main.main()
""",
    ),
    Case(
        "a server in Go whose handler crashed",
        "tool_error",
        """
2026/11/24 14:40:00 Starting scheduler extension
>>>2026/11/24 14:40:03 http: panic serving 10.2.37.164:54286: runtime error: invalid memory address or nil pointer dereference
goroutine 74 [running]:
net/http.(*conn).serve.func1(0xc0002a00a0)
""",
    ),
    Case(
        "a pod that was not given its devices",
        "tool_error",
        """
Events:
  Type     Reason                    Age   From               Message
  Normal   Scheduled                 10s   default-scheduler  Successfully assigned default/train to ip-10-0-0-1
>>>  Warning  UnexpectedAdmissionError  10s   kubelet            Allocate failed due to rpc error: code = Unknown, which is unexpected
""",
    ),
    Case(
        "a number with a point in front of the word failed",
        "tool_error",
        """
>>>srun: error: Task launch for 77.0 failed on node n-1: the credential has expired
srun: error: Application launch failed: the credential has expired
""",
    ),
    Case(
        "a vendor's tool with the Go logger's header on a terminal",
        "tool_error",
        """
instance-type: trn1.2xlarge
>>>FATA[0003] Failed to ask the driver                      error="no answer from the kernel module"
""",
    ),
    Case(
        "a job that Slurm does not take",
        "tool_error",
        """
>>>sbatch: error: invalid account or partition: trn7
sbatch: error: Batch job submission failed: try another one
""",
    ),
    Case(
        "a pod for which no node is free",
        "tool_error",
        """
Events:
  Type     Reason            Age   From               Message
>>>  Warning  FailedScheduling  9s    default-scheduler  0/4 nodes are available: 4 Insufficient hugepages-2Mi.
""",
    ),
    Case(
        "no machine to be had in the cloud",
        "tool_error",
        """
>>>sagemaker.exceptions.CapacityError: Error for Training job bert-9: Failed. Reason: CapacityError: no capacity, try another type
""",
    ),
    Case(
        "an instance that the account's limit forbids",
        "tool_error",
        """
>>>An error occurred (VcpuLimitExceeded) when calling the RunInstances operation: more cores than this account may have
""",
    ),
    Case(
        "a block of capacity that has ended",
        "tool_error",
        """
>>>Launching an instance failed: the Capacity Block cb-77 is no longer to be used
""",
    ),
    Case(
        "nodes that Slurm does not have",
        "tool_error",
        """
>>>srun: error: Unable to allocate resources: Requested node configuration is not available
""",
    ),
    Case(
        "the status of a pod, and the event that states why",
        "tool_error",
        """
NAME    READY   STATUS                     RESTARTS   AGE
fit-0   0/2     UnexpectedAdmissionError   0          5s
Events:
>>>  Warning  UnexpectedAdmissionError  9s   kubelet  Allocate failed due to rpc error: code = Unknown desc = no group of devices
""",
    ),
    Case(
        "a node that an autoscaler cannot add",
        "tool_error",
        """
>>>  Warning  FailedScheduling  9s   karpenter   Failed to schedule pod, incompatible with nodepool "trn", no instance type has enough
""",
    ),
    Case(
        "capacity that does not come after a retry",
        "tool_error",
        """
2026-03-04 05:06:07 Starting - Insufficient capacity error from EC2 while launching instances, retrying!
>>>2026-03-04 06:06:07 Failed - CapacityError: no such instance is free
""",
    ),
    Case(
        "Ray has no such nodes",
        "tool_error",
        """
INFO 05-04 07:08:09 ray_utils.py:12] Waiting for creating a placement group of specs for 10 seconds.
>>>(autoscaler +10m11s, ip=10.0.0.7) Error: No available node types can fulfill resource request {'neuron_cores': 64.0}.
""",
    ),
    Case(
        "a container whose command does not exist",
        "tool_error",
        """
>>>docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "./fit.sh": stat ./fit.sh: no such file or directory: unknown.
""",
    ),
    Case(
        "an image for another kind of processor, and the client's answer",
        "tool_error",
        """
>>>standard_init_linux.go:12: exec user process caused: exec format error
requests.exceptions.HTTPError: 400 Client Error: Bad Request for url: http+docker://localhost/containers/0a1b/start
""",
    ),
    Case(
        "mpirun does not reach a node's shell",
        "tool_error",
        """
start MPI
--------------------------------------------------------------------------
>>>ORTE was unable to reliably start one or more daemons.
This usually is caused by:
* not finding the required libraries and/or binaries on one or more nodes.
--------------------------------------------------------------------------
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
        "events of a pod of the device plugin",
        "tool_error",
        """
  Type     Reason     Age                   From               Message
>>>  Warning  BackOff    31s (x26 over 5m32s)  kubelet            Back-off restarting failed container neuron-device-plugin
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
    Case(
        "a daemon of Docker that refuses a container",
        "tool_error",
        '>>>docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n',
    ),
    Case(
        "a volume that a pod waits for",
        "tool_error",
        '>>>Warning  FailedMount  2m (x9 over 20m)  kubelet  MountVolume.SetUp failed for volume "wide" : rpc error: code = '
        'Internal desc = Could not mount "fs-1.test"\n',
    ),
    Case(
        "a request that the API of Kubernetes refuses",
        "tool_error",
        '>>>Error from server (BadRequest): container "main" in pod "wide-0" is waiting to start: PodInitializing\n',
    ),
    Case(
        "a volume in an event of the older form",
        "tool_error",
        """
>>>  4m        2m      2   {kubelet node-7}           Warning     FailedMount Unable to mount volumes for pod "wide-0": timed out
""",
    ),
    Case("a queue that takes no job", "tool_error", ">>>qsub: submit error (Job exceeds the limits of its queue)\n"),
    Case(
        "an older scheduler of Kubernetes",
        "tool_error",
        ">>>Message:  No nodes are available that match all of the predicates: Insufficient cpu (3)\n",
    ),
    Case("a pod without a network", "tool_error", ">>>Failed to create pod sandbox: rpc error: no address left\n"),
    Case("a volume that another node has", "tool_error", '>>>Multi-Attach error for volume "pvc-9"\n'),
    Case("a webhook that refuses", "tool_error", '>>>admission webhook "w.test" denied the request: no queue\n'),
    Case("an image that is not pulled", "tool_error", ">>>CannotPullContainerError: repository wide not found\n"),
    Case(
        "a container that is not made",
        "tool_error",
        'INFO:    Setting up\n>>>FATAL:   container creation failed: exec: "/usr/bin/wide": no such file or directory\n',
    ),
    Case("a program of another kind", "tool_error", ">>>init.go:228: exec user process caused: no such file\n"),
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
        "a volume that Kubernetes waits for in vain",
        "tool_error",
        """
  Type     Reason       Age    From     Message
>>>  Warning  FailedMount  5m30s  kubelet  MountVolume.SetUp failed for volume "wide": timed out waiting for the condition
""",
    ),
    Case(
        "nodes that a cluster could not launch",
        "tool_error",
        """
2026-05-02 10:00:00,889 - [slurm_plugin.resume:_resume] - INFO - Successfully launched nodes (x0) []
>>>2026-05-02 10:00:00,889 - [slurm_plugin.resume:_resume] - ERROR - Failed to launch following nodes, setting nodes to down: (x1) ['wide-dy-1']
2026-05-02 10:00:00,908 - [slurm_plugin.resume:main] - INFO - ResumeProgram finished.
""",
    ),
    Case(
        "a monitor whose settings cannot be read",
        "tool_error",
        """
>>>Error: neuron-monitor: failed to start collection: cannot parse /etc/wide.json: invalid character '}'
""",
    ),
    Case(
        "a container that Slurm's plugin cannot start",
        "tool_error",
        """
pyxis: importing docker image ...
slurmstepd: error: pyxis: container start failed with error code: 1
slurmstepd: error: pyxis: printing contents of log file ...
>>>slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/wide: No such file or directory
slurmstepd: error: pyxis: couldn't start container
srun: error: box-2: task 1: Exited with exit code 1
""",
    ),
    Case(
        "a sandbox of a pod that has no address",
        "tool_error",
        """
>>>May 02 10:00:00 box-1 kubelet[54]: E0502 10:00:00.454707    5444 wide.go:6] createPodSandbox for pod "fit-1_ml(4b)" failed: rpc error: code = Unknown desc = NetworkPlugin cni failed to set up pod "fit-1_ml" network: add cmd: failed to assign an IP address to container
""",
    ),
    Case(
        "a chart that Helm does not install",
        "tool_error",
        """
>>>Error: INSTALLATION FAILED: cannot re-use a name that is still in use
""",
    ),
    Case(
        "a kind that a cluster does not know",
        "tool_error",
        """
>>>error: resource mapping not found for name: "bert" namespace: "" from "job.yaml": no matches for kind "PyTorchJob" in version "kubeflow.org/v1"
ensure CRDs are installed first
""",
    ),
    Case(
        "a task of Ansible that fails behind one that may fail",
        "missing_dependency",
        """
TASK [look for an old release] *************************************************
fatal: [box-3]: FAILED! => {"changed": false, "msg": "Could not find '/srv/old' on the controller"}
...ignoring

TASK [install tools] ***********************************************************
>>>fatal: [box-3]: FAILED! => {"changed": true, "cmd": "./tools.sh", "msg": "non-zero return code", "rc": 100, "stderr": "+ apt-get update\\nE: Unable to locate package mesh-tools", "stdout": ""}

PLAY RECAP *********************************************************************
box-3                      : ok=1    changed=0    unreachable=0    failed=1    skipped=0    rescued=0    ignored=1
""",
    ),
    Case(
        "MPI's launcher that lacks the program which starts ranks",
        "missing_dependency",
        """
mktemp: failed to create file via template '/scratch/12/tmp.XXXX': No such file or directory
starting the benchmark...
>>>[mpiexec@box-3] HYDU_create_process (../../utils/launch/launch.c:825): execvp error on file /usr/bin/srun (No such file or directory)
""",
    ),
    Case(
        "a configuration of CMake that fails",
        "tool_error",
        """
-- Looking for floor - not found
CMake Error at third/CMakeLists.txt:50 (add_subdirectory):
>>>  add_subdirectory given source "rows" which is not an existing directory.
CMake Error at third/CMakeLists.txt:51 (add_subdirectory):
  add_subdirectory given source "columns" which is not an existing directory.
-- Configuring incomplete, errors occurred!
""",
    ),
    Case(
        "a test of Go that fails among others",
        "script_error",
        """
--- PASS: TestPanicsWhenStepFails (0.00s)
>>>--- FAIL: TestBuild (0.76s)
--- PASS: TestErrors (0.00s)
FAIL
""",
    ),
    Case(
        "an installer that names another log, with that log below",
        "tool_error",
        """
[INFO]: Finished with code: 256
[ERROR]: Install of driver component failed. Consult the driver log at /var/log/nvidia-installer.log for more details.
[ERROR]: Install of 550.54.14 failed, quitting

$ tail -3 /var/log/nvidia-installer.log
-> Installing NVIDIA driver version 550.54.14.
>>>ERROR: An NVIDIA kernel module 'nvidia-drm' appears to already be loaded in your kernel.  This may be because it is in use.
ERROR: Installation has failed.  Please see the file '/var/log/nvidia-installer.log' for details.
""",
    ),
    Case(
        "an installer that only names another log",
        "tool_error",
        """
[INFO]: Finished with code: 256
>>>[ERROR]: Install of driver component failed. Consult the driver log at /var/log/nvidia-installer.log for more details.
[ERROR]: Install of 550.54.14 failed, quitting
""",
    ),
    Case(
        "a task of Ansible, its message among other members",
        "tool_error",
        """
TASK [mesh : install] **********
fatal: [box-1]: FAILED! => {
    "changed": false,
    "invocation": {
        "module_args": {
            "msg": "none",
            "name": "mesh"
        }
    },
>>>    "msg": "No package that is called mesh is there"
}

PLAY RECAP *********************
box-1 : ok=2 changed=0 unreachable=0 failed=1
""",
    ),
    Case(
        "a machine that Ansible does not reach",
        "network",
        """
TASK [mesh : install] **********
fatal: [box-1]: UNREACHABLE! => {
    "changed": false,
>>>    "msg": "Failed to connect to the host via ssh: ssh: connect to host 10.0.0.1 port 22: Connection timed out",
    "unreachable": true
}
""",
    ),
    Case(
        "a task of Ansible whose message says little",
        "missing_dependency",
        r"""
TASK [mesh : set up] ***********
fatal: [box-1]: FAILED! => {
    "changed": true,
    "cmd": "./tools.sh",
    "msg": "non-zero return code",
    "rc": 100,
>>>    "stderr": "+ apt-get update\\nE: Unable to locate package mesh-tools",
    "stderr_lines": [
        "+ apt-get update",
        "E: Unable to locate package mesh-tools"
    ],
    "stdout": ""
}
""",
    ),
    Case(
        "a task of Ansible behind times, its message below a title",
        "tool_error",
        """
10:00:05  TASK [mesh : clean] ****************
10:00:05  fatal: [box-1]: FAILED! => {
10:00:05      "changed": false
10:00:05  }
10:00:05  
10:00:05  MSG:
10:00:05  
10:00:05  >>>The disks hold a mesh of another kind
10:00:05  
10:00:05  PLAY RECAP *********************
""",
    ),
    Case(
        "a task of Ansible in YAML",
        "tool_error",
        """
TASK [mesh : set up] ***********
fatal: [box-1]: FAILED! => changed=false
  cmd: ./set_up
  msg: non-zero return code
  rc: 3
>>>  stderr: 'cp: the disk of the mesh is not there'
  stdout: ''

PLAY RECAP *********************
""",
    ),
    Case(
        "a task of Ansible in YAML, its message below its name",
        "tool_error",
        """
TASK [mesh : set up] ***********
fatal: [box-1]: FAILED! => changed=false
  msg: |-
>>>    The driver of the cards is older than the cards.

PLAY RECAP *********************
""",
    ),
    Case(
        "an answer that is no object to its end",
        "script_error",
        """
ERROR: the request failed: {
  "error": {
    "code": 403,
Traceback (most recent call last):
  File "ask.py", line 2, in <module>
    ask()
>>>ValueError: no answer to read
""",
        "failed",
    ),
    Case(
        "an answer in an object",
        "script_error",
        """
ERROR: the request failed: {
  "error": {
    "code": 403,
>>>    "message": "This key opens no mesh"
  }
}
""",
    ),
    Case(
        "mamba's logger",
        "script_error",
        """
CreateCondaEnvironmentException:
Could not create conda environment from /tea/envs/leaf.yaml:
Output:
>>>error    libmamba Non-conda folder exists at prefix
critical libmamba Aborting.
""",
    ),
    Case(
        "CMake in the summary of a build of an image",
        "tool_error",
        """
 => ERROR [builder 7/7] RUN cmake -DTEA=off && make                                            0.3s
------
 > [builder 7/7] RUN cmake -DTEA=off && make:
0.263 CMake Warning:
0.263   No source or binary directory provided.
0.263
>>>0.263 CMake Error: The source directory "/tea" does not appear to contain CMakeLists.txt.
0.263 Specify --help for usage, or press the help button on the CMake GUI.
""",
    ),
    Case(
        "a script of a container that a shell's start-up did not stop",
        "script_error",
        """
1: slurmstepd: error: pyxis: container start failed with error code: 1
1: slurmstepd: error: pyxis: printing contents of log file ...
1: slurmstepd: error: pyxis:     /etc/hooks.d/50-tea.sh: line 39: [: 1(x2): integer expression expected
1: slurmstepd: error: pyxis:     /etc/profile.d/01-tea.sh: line 2: /usr/bin/tea-check: No such file or directory
>>>1: slurmstepd: error: pyxis:     /etc/rc: line 4: cd: /tea: No such file or directory
1: slurmstepd: error: pyxis: couldn't start container
srun: error: tea-n1: task 1: Exited with exit code 1
""",
    ),
    Case(
        "a folder that a build of an image does not have",
        "script_error",
        """
 => ERROR [12/12] RUN cd /tea/lib && ln -s leaf cup                                        0.1s
------
 > [12/12] RUN cd /tea/lib && ln -s leaf cup:
>>>0.116 /bin/sh: 1: cd: can't cd to /tea/lib
------
ERROR: failed to solve: process "/bin/sh -c cd /tea/lib && ln -s leaf cup" did not complete successfully: exit code: 2
""",
    ),
    Case(
        "the sum of a program's own tests, one of which failed",
        "script_error",
        """
  pour: 1.0 ok
  steep: 266.6
>>>  Stage 2 Summary: 6/7 passed, 1 failed
""",
    ),
    Case(
        "the sum of a program's own tests, all of which passed",
        "",
        """
  pour: 1.0 ok
  Stage 2 Summary: 7/7 passed, 0 failed
""",
    ),
    Case(
        "a native library of a program in Java",
        "missing_dependency",
        """
Exception in thread "main" java.lang.ExceptionInInitializerError
\tat org.brew.Kettle.main(Kettle.java:7)
>>>Caused by: java.lang.UnsatisfiedLinkError: no kettle in java.library.path
\tat java.lang.ClassLoader.loadLibrary(ClassLoader.java:1867)
""",
    ),
    Case(
        "a program in Java that does not find a host",
        "network",
        """
Exception in thread "main" java.lang.IllegalStateException: cannot load the kettle
\tat org.brew.Kettle.main(Kettle.java:7)
>>>Caused by: java.net.UnknownHostException: tea.example.org
\tat java.net.AbstractPlainSocketImpl.connect(AbstractPlainSocketImpl.java:184)
""",
    ),
    Case(
        "a library of Windows that lacks another, in Korean",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "brew.py", line 1, in <module>
    import torch
>>>OSError: [WinError 126] 지정된 모듈을 찾을 수 없습니다. Error loading "C:\\torch\\lib\\kettle.dll" or one of its dependencies.
""",
    ),
    Case(
        "Windows without memory to load a library",
        "host_oom",
        """
>>>OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading "D:\\torch\\lib\\kettle.dll"
""",
    ),
    Case(
        "a large file that git cannot download",
        "network",
        """
FATAL: Could not checkout 4711
stderr: leaf.png (44 KB)
>>>Error downloading object: leaf.png (1a2b): Smudge error: Error downloading leaf.png (1a2b3c): batch response: Bad credentials
error: external filter 'git-lfs filter-process' failed
fatal: leaf.png: smudge filter lfs failed
""",
    ),
    Case(
        "a repository whose key apt does not know",
        "tool_error",
        """
0.555 Get:1 http://archive.example.org bionic InRelease [242 kB]
0.777 Err:2 https://repos.example.org/x86_64  InRelease
>>>0.777   The following signatures couldn't be verified because the public key is not available: NO_PUBKEY A4B469963BF863CC
""",
    ),
    Case(
        "a job of Dataflow's that has failed",
        "tool_error",
        """
INFO[dataflow_runner.py]: 2026-02-22T17:44:17.970Z: JOB_MESSAGE_DETAILED: Workers have started successfully.
>>>INFO[dataflow_runner.py]: 2026-02-22T18:43:20.001Z: JOB_MESSAGE_ERROR: Workflow failed. Causes: The job appears to be stuck.
""",
    ),
    Case(
        "a task that somebody has stopped in ClearML",
        "interrupted",
        """
done! the kettle is warm
2026-06-27 02:34:49
>>>User aborted: stopping task (3)
""",
    ),
    Case(
        "a quota of a region",
        "tool_error",
        """
Error: error creating NodePool: googleapi: Error 403:
>>>        (1) insufficient regional quota to satisfy request: resource "CPUS": request requires '72.0' and is short '48.0'.

  on main.tf line 42, in resource "google_container_node_pool" "brewers":
""",
    ),
    Case(
        "Bazel cannot analyze a target",
        "tool_error",
        """
INFO: Found 1 target...
>>>ERROR: Analysis of target '//:tea' failed; build aborted: in tag at /tmp/tea/MODULE.bazel:5:17, unknown attribute kettle
INFO: Elapsed time: 0.4s
""",
    ),
    Case(
        "Slurm does not find a node of the job",
        "tool_error",
        """
srun: job 10 has been allocated resources
>>>srun: error: Task launch for StepId=10.0 failed on node tea-2: Can't find an address, check slurm.conf
srun: error: Application launch failed: Can't find an address, check slurm.conf
srun: error: Timed out waiting for job step to complete
""",
    ),
    Case(
        "Apptainer says what ends it",
        "tool_error",
        """
INFO:    Starting build...
>>>FATAL:   While performing build: conveyor failed to get: stat tea:0.7/index.json: no such file or directory
""",
    ),
    Case(
        "Nix quotes the last lines of a build",
        "compile_crashed",
        """
error: builder for '/nix/store/7abc-tea-2.7.drv' failed with exit code 1;
       last 3 log lines:
       > nvcc warning : incompatible redefinition for option 'compiler-bindir', the last value of this option was used
>>>       > nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)
       > ninja: build stopped: subcommand failed.
       For full logs, run 'nix log /nix/store/7abc-tea-2.7.drv'.
""",
    ),
    Case(
        "Bazel finds files that a rule does not declare",
        "tool_error",
        """
>>>ERROR: /home/tea/kettle/BUILD:71:1: undeclared inclusion(s) in rule '//kettle:lid':
this rule is missing dependency declarations for the following files included by 'kettle/lid.cc':
  '/home/tea/cup/cup.h'.
Target //kettle:all failed to build
""",
    ),
    Case(
        "Kaldi's script counts the tasks that failed",
        "script_error",
        """
2026-03-04T05:06:07 (asr.sh:45:main) LM collect-stats started... log: 'exp/tea/logdir/stats.*.log'
>>>run.pl: 7 / 7 failed, log is in exp/tea/logdir/stats.*.log
""",
    ),
    Case(
        "PBS whose hook refuses a job before it begins",
        "tool_error",
        """
Resource Usage on 2026-05-02 10:00:00:
Job Id:             4711.pbs-1
>>>Exit Status:        -17 (Job execution failed due to hook rejection; delete the job at end)
NCPUs Requested:    12                     NCPUs Used: 12
""",
    ),
    Case(
        "PBS's summary of a job whose script failed",
        "script_error",
        """
brewing
Resource Usage on 2026-05-02 10:00:00:
Job Id:             4712.pbs-1
>>>Exit Status:        3
NCPUs Requested:    12                     NCPUs Used: 12
""",
    ),
    Case(
        "a step of an image that is stopped since another one failed",
        "bad_usage",
        """
[base 2/4] RUN fetch -x /tmp/tea.tar
>>>fetch: --limit: Invalid byte value '-x'
process "/bin/sh -c fetch -x /tmp/tea.tar" did not complete successfully: exit code: 2
process "/bin/sh -c make" did not complete successfully: exit code: 137: context canceled: context canceled
ERROR: failed to solve: process "/bin/sh -c fetch -x /tmp/tea.tar" did not complete successfully: exit code: 2
""",
    ),
    Case(
        "Ray's environment of a job that was not set up",
        "tool_error",
        """
Job 'raysubmit_tea' submitted successfully
Job 'raysubmit_tea' failed
>>>Status message: runtime_env setup failed: Failed to set up runtime environment.
The container did not start.
""",
    ),
    Case(
        "Docker, which asks for a context",
        "tool_error",
        """
$ docker buildx create --name tea
>>>error: could not create a builder with what the environment says. Please use `docker context create <name>` first
ERROR: Job failed: exit code 1
""",
    ),
    Case(
        "HDFS without a node",
        "tool_error",
        """
26/05/02 10:00:00 WARN hdfs.DataStreamer: DataStreamer Exception
>>>org.apache.hadoop.ipc.RemoteException(java.io.IOException): File /tea could only be replicated to 0 nodes instead of minReplication (=1).
    at org.apache.hadoop.Tea.brew(Tea.java:1814)
""",
    ),
    Case(
        "Spark, which stops in order after its program's exception",
        "script_error",
        """
26/05/02 10:00:00 INFO SparkContext: Running
Traceback (most recent call last):
  File "/srv/tea.py", line 54, in <module>
    query.awaitTermination()
>>>pyspark.errors.exceptions.captured.StreamingQueryException: [STREAM_FAILED] Query terminated: no such tea
26/05/02 10:00:01 INFO SparkContext: SparkContext is stopping with exitCode 0.
26/05/02 10:00:01 INFO SparkContext: Successfully stopped SparkContext
""",
    ),
    Case(
        "a license that MATLAB does not find",
        "missing_dependency",
        """
>>>  License checkout failed.
  License Manager Error -1
  The license file cannot be found.
  exit status 1
Error: The process '/opt/tea/run-matlab' failed with exit code 1
""",
    ),
    Case(
        "an output folder that Hadoop finds there",
        "bad_usage",
        """
2026-05-02 10:00:03,788 WARN org.tea.NativeCodeLoader: Unable to load native-tea library, using builtin classes where applicable
>>>2026-05-02 10:00:04,648 WARN org.apache.hadoop.security.UserGroupInformation: PriviledgedActionException as:pot (auth:SIMPLE) cause:org.apache.hadoop.mapred.FileAlreadyExistsException: Output directory file:/srv/tea already exists
""",
    ),
    Case(
        "a job that PBS ended, told in a mail",
        "host_oom",
        """
PBS Job Id: 42
Aborted by PBS Server
>>>Job exceeded a memory resource limit (vmem, pvmem, etc.). Job was aborted
See Administrator for help
""",
    ),
    Case(
        "what a launcher says that a command has printed",
        "bad_usage",
        """
Traceback (most recent call last):
  File "brew.py", line 3, in <module>
    pot.run()
NoSuccess: future exception: Couldn't get the id of the job! sbatch output:
>>>sbatch: unrecognized option '--cups=1'
removed 'tea.slurm'
""",
    ),
)
