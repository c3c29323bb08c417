"""What to do about a cause: a sentence for each code. Change any of them: nothing but screens and texts changes.

`diagnose` yields the codes (`diagnose/advice.py`): the name of the row that knows the line, else the class alone.
"""

from __future__ import annotations

import shlex

import msgspec

from neuron_top.diagnose.advice import (
    ADAPTER_FAILED,
    DISK_FAILED,
    ERROR_LINE,
    FAILED_WITHOUT_MESSAGE,
    LAST_LINE,
    NCCL_WARNED,
    SOURCE_REFUSED,
    TORN_TRACEBACK,
    CauseAdvice,
    CodedDiagnosis,
    Remark,
)
from neuron_top.events.diagnosis import CauseClass, Diagnosis, LastWait

_READ_COMPILER_LOG = (
    "The log does not state the reason. Read log-neuron-cc.txt in the working directory (or where --logfile points), "
    "or compile once more with NEURON_CC_FLAGS=--verbose=info"
)
_HOST_MEMORY = "Fewer compiles at a time (--num_parallel of neuron_parallel_compile), a smaller graph, or a larger host"
_TOO_BIG = "Make the graph smaller: batch, sequence length or layers in one graph, or more cores; a retry fails again"
_REPORT = "Change the model or the compiler's version; a retry fails again unless one of them changes"
_RUNTIME_LINES = "Look at the runtime's lines above it; NEURON_RT_LOG_LEVEL=INFO and run again for more"

OF_ROWS: dict[str, str] = {
    "Ctrl-C in a pool of processes": "Somebody pressed Ctrl-C. What the workers were doing then stands in their "
    "tracebacks: where the job hung, it is what they waited for",
    "a worker of RLlib crashed": "The worker that took the steps ended. Its own lines, or those of the environment "
    "that it started, say why",
    "a launcher does not reach the others": "The launcher on this node lost the one that holds the rendezvous: look at "
    "that node first, and at what ended there",
    "Slurm refuses a node": "slurm.conf promises more processors, sockets or memory than the node has: `slurmd -C` on "
    "the node prints what to write there",
    "Chef's command failed": "A command of the recipe ended with an error: its output stands below, behind STDERR",
    "a container's device is not described": "The container engine has no description of this device: create it "
    "(`nvidia-ctk cdi generate`), or install the device's container toolkit",
    "a rule of Bazel says why it fails": "The rule names what it refuses, and often the command that mends it",
    "curl's library could not transfer": "The download failed as the code says (6: no such host, 7: refused, 28: "
    "timeout): check proxy, DNS and firewall on this machine, then run it again",
    "Node.js cannot connect": "The address was not reached: check proxy, DNS and firewall on this machine, then run it "
    "again",
    "a server runs already": "Stop the other one, or delete its file with the process number if it is gone",
    "an exception of Ruby": "The program reported this error itself: its name stands at the end of the line, the calls "
    "below it",
    "the driver is only a stub": "The library for linking (stubs/libcuda.so) was loaded in place of the driver's: take "
    "its folder out of LD_LIBRARY_PATH",
    "a tool for object files failed": "The tool of the build could not read or write what it names: a file that was "
    "not built yet, a long path or a full disk",
    "PowerShell may not run a script": "Sign the script, or allow scripts of this kind: about_Execution_Policies",
    "Elasticsearch refuses to start": "The line names the setting of the system: change it (`sysctl -w "
    "vm.max_map_count=262144`) and start it again",
    "systemd cannot start a program": "The name behind the status says what the unit asks for in vain: USER a user, "
    "CHDIR a folder, EXEC a program",
    "PHP's limit of memory": "Raise memory_limit for this command: `php -d memory_limit=-1`",
    "a sanitizer reports undefined behavior": "The source line does what the language does not define: mend it there",
    "a test failed": "Read the lines below: they say what the test expected",
    "GitLab does not take a job's files": "The server answered with this status: look there, or retry the job",
    "a server's port is taken": "Another program listens there: end it, or give this one another port",
    "an archive is damaged": "What was downloaded or copied is no whole archive: look at its first bytes (a page that "
    "says why?), and get it again",
    "an operation on Ascend's device failed": "The operation is named; set ASCEND_LAUNCH_BLOCKING=1 to see which line "
    "started it, and read the device's log for the reason",
    "PBS could not run a job": "PBS gave the job up before its script began: a hook or the node refused it. Ask those "
    "who run the cluster, with the job's number",
    "PBS sums up a failed job": "The script ended with this status; the reason is in the job's error file",
    "a step of an image was stopped with another": "Another step of the build failed: that one is the cause",
    "MPI lacks one of its components": "The component named below is not installed on this node, or a library of its "
    "is not found; install it, or choose another with the variable of its framework",
    "HDFS has no node to write to": "No datanode is up, or none has room: `hdfs dfsadmin -report` lists them",
    "apt cannot get what a package needs": "Add the repository that has this version, or ask for a version that "
    "needs what there is; `apt-cache policy NAME` lists both",
    "MPI could not be set up": "The lines above say which part of MPI did not start",
    "fallback failed too": "What was tried in its place failed too: the failure before it is the cause",
    "a server of models goes on without pinned memory": "The server copies to the device more slowly; if it ended, "
    "another line says why",
    "compiler killed": f"The compiler was killed, most often for host memory. {_HOST_MEMORY}; dmesg shows who killed "
    "it",
    "compiler killed by the kernel": f"The host ran out of memory while it compiled. {_HOST_MEMORY}",
    "compiler crashed": "The compiler itself crashed: retry once, then report it with the graph; another compiler "
    "version may pass",
    "a build's compiler was killed": "The compiler of a build was killed, most often for host memory: build with fewer "
    "processes at once (MAX_JOBS, make -j) or on a host with more memory; dmesg shows who killed it",
    "a build's compiler crashed": "The compiler of a build crashed: retry once, then build with another version of it; "
    "the lines around it name the file",
    "ptxas refuses a kernel": "CUDA's assembler refuses a kernel that Triton made: read its own lines below, and see "
    "that Triton and its ptxas know this GPU's architecture",
    "compiler killed, told by torch-neuron": f"The compiler was killed, most often for host memory. {_HOST_MEMORY}",
    "compiler crashed, told by torch-neuron": "The compiler itself crashed: report it with the graph; another compiler "
    "version may pass",
    "a stage of the compiler failed": _READ_COMPILER_LOG,
    ADAPTER_FAILED: "A network adapter of this host does not work as it should: see whether fi_info -p efa (or "
    "ibv_devinfo) lists it, then reload its driver or replace the host",
    NCCL_WARNED: "NCCL could not do what the line names, on this host: give the container more shared memory "
    "(docker run --shm-size) where it is about that, else look at the interface or file that it names",
    "the kernel looks for what to kill": "The host ran out of memory; the kernel's next lines say which process it "
    "ended. Fewer processes or workers of the data loader, or a larger host",
    "compiler interrupted": "The compiler was stopped from outside (terminal closed, scheduler, Ctrl-C): run it again",
    "OpenCL cannot allocate memory": "The device has no memory for a buffer of OpenCL: a smaller batch or problem, or "
    "end what else uses the device",
    "OpenCL cannot build a kernel": "The device's OpenCL compiler refuses a kernel: read its build log, and see that "
    "driver and program fit this device",
    "a call to OpenCL failed": "A call to OpenCL failed: the first such line names it; see that the driver fits the "
    "device, and that arguments and sizes are what the kernel takes",
    "an assertion of Metal's": "A check of Apple's GPU libraries failed and ended the process: change what the message "
    "names (often the size of a tensor), or run that part on the CPU",
    "TensorRT cannot read a network": "TensorRT cannot read the network as it was exported: export it again with an "
    "opset that this release knows, replace the operator that is named, or take a newer release",
    "gcloud crashed": "Google's command line ended with an exception of its own: correct what the message names, or "
    "update it (gcloud components update)",
    "a system that is not supported": "An installer or program does not know this system: take one that does, or the "
    "packages that the system itself has",
    "compile timeout": "Give the compile more time, compile ahead (neuronx-cc or neuron_parallel_compile), or make "
    "the graph smaller",
    "compiler arguments": "Correct the compiler's flags (NEURON_CC_FLAGS, or those that the program passes)",
    "graph does not fit the device": f"The graph needs more device memory than there is. {_TOO_BIG}",
    "graph too large": f"The graph is too large for the compiler. {_TOO_BIG}",
    "operator not supported": "The compiler does not support something in the graph: replace the operation or keep "
    f"it on the CPU; {_REPORT}",
    "compiler code": _REPORT,
    "compiler code without brackets": _REPORT,
    "compiler's error message": _REPORT,
    "Inductor or Triton cannot compile a graph": "Read what PyTorch's compiler says of the operator or kernel: change "
    "that code, leave it out of the graph (torch.compiler.disable), or try another release; TORCH_LOGS=output_code "
    "shows it",
    "native compile failed": "Read the file that the message names; TORCH_NEURONX_LOG_LEVEL=3 and "
    "TORCH_NEURONX_DEBUG_DIR keep more of it",
    "PyTorch cannot capture a graph": "PyTorch cannot trace this part of the model: change the code that the message "
    "names, or leave that part out of the graph (torch.compiler.disable, fullgraph=False)",
    "internal compiler error": _REPORT,
    "a name that a compiler does not know": "The sources and the libraries that they are built with do not fit: see "
    "that library's version, or that it is given to the linker",
    "LLVM gave up": _REPORT,
    "internal compiler error without a message": _READ_COMPILER_LOG,
    "native compile failed without a message": "The log does not state the reason. Set TORCH_NEURONX_LOG_LEVEL=3 "
    "and run again; TORCH_NEURONX_DEBUG_DIR keeps the graph",
    "compile gave up": _READ_COMPILER_LOG,
    "nothing of a model was compiled": "Every part that was given to the compiler failed: read the file that the "
    "lines above name (`log file is at`)",
    "no operator was compiled": "Either the model has no operator that the compiler supports, or converting it failed: "
    "the lines above list its operators and say what failed",
    "compiler failed, told by PyTorch/XLA's service": _READ_COMPILER_LOG,
    "a runtime call failed, told by the service": _RUNTIME_LINES,
    "a graph is refused, told by the service": _REPORT,
    "compiler failed": _READ_COMPILER_LOG,
    "a compile made nothing": f"A compile before it has failed. {_READ_COMPILER_LOG}",
    "compiler ended with a status": _READ_COMPILER_LOG,
    "failed graphs in a summary": _READ_COMPILER_LOG,
    "native lock broken": "The waiter removed the lock, whoever held it, and compiles the graph again: raise "
    "TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT above the longest compile; neurontop cache ls --torch-neuron names who "
    "holds a lock now",
    "a lock that nobody gives back": "The process waited for another one that compiles the same graph: neurontop cache "
    "show, with the MODULE of the line, says who holds the lock. Where no neuronx-cc runs on any host that shares the "
    "cache, it was left behind (neurontop cache unlock --dry-run)",
    "lock timeout": "See who holds the lock (neurontop cache unlock --dry-run); remove it only when no host that "
    "shares it compiles",
    "device memory": "Device memory is full: fewer or smaller programs per core (buckets, batch, sequence), or weights "
    "over more cores; the table in the log shows what fills it",
    "device memory without a place": "Device memory is full: fewer or smaller programs per core (buckets, batch, "
    "sequence), or more cores",
    "an operation of TensorFlow got no memory": "The device's memory is full: a smaller batch, or let TensorFlow take "
    "memory as it needs it (TF_FORCE_GPU_ALLOW_GROWTH=true) where others share the device",
    "TensorFlow got no memory for a GPU's context": "Another process holds the GPU's memory: nvidia-smi shows which; "
    "wait for it, end it, or choose another GPU (CUDA_VISIBLE_DEVICES)",
    "KV cache too small": "One request of full length does not fit the cache of keys and values: a shorter length "
    "(max_model_len), more of the memory for the cache, or the model over more devices",
    "an accelerator's memory": "The device's memory is full, or another process holds it: a smaller batch or "
    "sequence, or the model over more devices; the vendor's tool (npu-smi, hl-smi) shows what is on it",
    "an accelerator that is not there": "The number of the device is none that this process sees: compare LOCAL_RANK "
    "and the number of workers with the devices of the machine, and with the variable that hides some of them",
    "OpenCL's compiler refuses a kernel": "The kernel was made for other devices or another version of OpenCL: try a "
    "newer driver, another device, or another version of the library that made it",
    "an engine of another version of TensorRT": "Build the engine again with the TensorRT that loads it, on the same "
    "kind of GPU",
    "TensorRT cannot build an engine": "Read what the line names: change that part of the network, its precision or "
    "its shapes, or build with another version of TensorRT",
    "a converter does not know an operator": "Replace the operation in the model, give its shape where that is what is "
    "missing, or use a version or an extension of the converter that knows it",
    "MLIR refuses an operation": "Read which operation and which part of the program the line names: write that part "
    "in another way, or try another version of the compiler",
    "a compilation failed": "What follows in the line is the compiler's reason: read it and the lines above",
    "a compiler on LLVM crashed": "This is a defect of the compiler: the arguments and the stack stand below; look for "
    "the report of it, or try another version or fewer optimizations",
    "Ascend's compiler lacks a module of Python": "Install the module that the line names for the Python that runs: "
    "Ascend's compiler is written in it",
    "Ascend reports an operation that was not compiled": "The compiler's own output, above or below, says why: read "
    "that first",
    "Ascend's operations are not installed": "CANN has no binary of this operation for this device: install "
    "the kernels package of the same release and chip, and source set_env.sh",
    "rocBLAS has no kernels for a GPU": "This rocBLAS was not built for the GPU: take a ROCm that supports it, or "
    "let it count as a near relative (HSA_OVERRIDE_GFX_VERSION)",
    "a parameter that Ascend's converter refuses": "Correct the parameter that the message names: `atc --help` "
    "lists all",
    "Rockchip's NPU refuses a task": "The NPU's driver did not run the task: update it and the runtime together, "
    "and see that the model was converted for this chip",
    "no driver of AMD's GPUs": "The amdgpu driver is not loaded, or the process may not use it: look at dmesg and "
    "`ls -l /dev/kfd`, and pass /dev/kfd and /dev/dri to the container",
    "a device of Vulkan was lost": "The GPU stopped answering: look at dmesg for its driver's lines (Xid), and try a "
    "smaller scene or another driver",
    "IREE's runtime reports a failure": "Read the status and what follows it; a device that is not supported needs a "
    "runtime that was built with its driver, and --device= names it",
    "installed versions do not fit a requirement": "A package that is installed has another version than the one "
    "required: install the version that the message names, in an environment of its own",
    "no compiler for a package": "Something must be compiled here and its compiler is not installed, or not on the "
    "PATH: install it, or take a prebuilt package",
    "nothing compiles kernels for a GPU": "XLA finds neither ptxas nor nvlink: install the CUDA toolkit of this "
    "release, or nvidia-cuda-nvcc, and see that it is on the PATH",
    "make stops": "The makefile itself refuses to go on, for the reason in this line",
    "a compiler's program crashed": _REPORT,
    "no license": "The program found no license that is valid here: the lines below name what it looked for",
    "Nextflow knows no such variable": "The script uses a name that is nowhere defined: the lines below name the "
    "script and line",
    "Hadoop refuses a job": "Correct what the exception names: an output directory must not exist yet, an input must",
    "an accelerator is not opened": "The device does not answer, or another process holds it: look at it with the "
    "vendor's tool (npu-smi, hl-smi), and see that the container may use it",
    "Gaudi's compiler refuses a graph": _REPORT,
    "Gaudi's runtime reports a failure": "Read what the line names; the logs of Gaudi's stack (HABANA_LOGS) and dmesg "
    "say more",
    "Ascend's compiler says why": "The compiler of operators refuses this one: read the shape or type that the line "
    "names; another one, or a newer CANN, may be accepted",
    "Ascend's runtime says why": "Read what the line names; the device's own log (~/ascend/log) says more",
    "a container's hook failed, its reason on the next line": "A hook that prepares devices for the container "
    "failed: the line below states why; see that driver and container toolkit work (nvidia-smi on the host)",
    "GPU memory": "The GPU's memory is full: a smaller batch or sequence, checkpointed activations, or the model over "
    "more GPUs; nvidia-smi shows what else is on it",
    "GPU memory, told by NCCL": "The GPU of the rank that says so is full, there is no room for NCCL's buffers: a "
    "smaller batch, or more GPUs; nvidia-smi shows what else is on it",
    "an assertion on a GPU": "A number is out of range in a kernel (token ids, class labels, positions): check the "
    "data against the sizes of tables; CUDA_LAUNCH_BLOCKING=1, or the same batch on the CPU, shows where",
    "a GPU's driver does not answer": "The loaded module of the GPU's driver and its library differ, or the container "
    "may not use the device: load the module anew (reboot the machine), start the container again with the host's "
    "driver, then run nvidia-smi",
    "NVIDIA's installer refuses": "Do what the installer asks for, then run it again: end the X server, unload the "
    "modules that are loaded (rmmod), disable nouveau, or install the headers of the running kernel",
    "NVIDIA's installer names another log": "The installer's own log says why: read the ERROR lines of "
    "/var/log/nvidia-installer.log",
    "no GPU": "The program asks for a GPU that this machine or this PyTorch does not have: choose the device (on "
    "Neuron: xla), or install a driver and a PyTorch that match (nvidia-smi)",
    "NCCL refuses the ranks": "Give each rank a device of its own and a number below the size of the world: check "
    "RANK, LOCAL_RANK, WORLD_SIZE and what chooses the devices",
    "NCCL states no reason": "NCCL tells its reason in lines of its own (`NCCL WARN`): read them above, or run again "
    "with NCCL_DEBUG=INFO; mostly a network interface, shared memory or another worker that ended",
    "a GPU's own reason below an exception of NCCL": "The GPU says what the line names: dmesg (Xid) and nvidia-smi "
    "show whether the card itself failed; one with memory errors has to be reset or replaced",
    "a call to CUDA failed": "Read what the line names; CUDA_LAUNCH_BLOCKING=1 shows where, NCCL_DEBUG=INFO logs "
    "more, and dmesg shows whether the GPU itself failed (Xid)",
    "number of cores": "The collectives cannot connect this number of cores: take one that the line names "
    "(NEURON_RT_NUM_CORES, NEURON_RT_VISIBLE_CORES, number of workers, tensor parallel degree)",
    "cores taken or missing": "More cores are asked for than are free: neuron-ls shows who holds them; compare "
    "NEURON_RT_NUM_CORES, NEURON_RT_VISIBLE_CORES, the number of workers and the LNC setting with the machine",
    "no Neuron device for a pod": "Kubernetes has not placed the pod: no node has that many Neuron devices left. See "
    "what the nodes offer and who holds it (kubectl describe node), whether the Neuron device plugin runs there, and "
    "whether the group of nodes may grow",
    "no node for a pod": "Kubernetes has not placed the pod: no node meets what the line counts. Compare the pod's "
    "requests, node selector and tolerations with the nodes (kubectl describe node), and see whether the group of "
    "nodes may grow",
    "a quota of Kubernetes": "The namespace may not have that much: ask for less, end what holds it, or raise the "
    "quota (kubectl describe resourcequota)",
    "no room in Ray's cluster": "Ray waits for nodes or devices that its cluster does not have: compare what is asked "
    "for with `ray status`, start more nodes, and give each worker the address that Ray knows it by",
    "no capacity, or a limit of the account": "No machine was to be had: the region or zone has none free, the "
    "reservation is not active, or a limit of the account is reached. Compare the request with the reservation and "
    "with Service Quotas; try another zone or time",
    "no devices for a pod": "The device plugin could not give the pod its devices: read the plugin's log, and "
    "compare what the pod asks for with what the node has free (kubectl describe node)",
    "a pod is not admitted": "The node has refused the pod, most often since the device plugin has no devices left: "
    "kubectl describe pod states the reason",
    "driver or device missing": "The Neuron driver or a device is not usable: neurontop doctor, neuron-ls, then "
    "dmesg; reload the driver or replace the instance if a device does not come back",
    "a core does not answer": "A core did not answer the runtime in time: see that no other process holds it "
    "(neuron-ls) and read dmesg; reload the driver, or replace the instance if the core does not come back",
    "the driver's module is not there": "The driver's module is not built for the running kernel: install the "
    "headers of that kernel (uname -r) and the driver's package again",
    "the kernel's headers are missing": "Install the headers of the running kernel (uname -r), then the driver's "
    "package again",
    "the driver's source is refused": "This version of the driver does not build for this kernel: take a version of "
    "the driver that supports it, or another kernel",
    "the driver's module is not built": "The driver was not built for this kernel: install the headers of the running "
    "kernel (uname -r), install the driver's package again and read the make.log that it names",
    "runtime does not start, told by torch-neuron": "The model does not run on a core, and the log does not say why: "
    "NEURON_RT_LOG_LEVEL=INFO and run again; neurontop doctor checks driver, devices and cores",
    "PyTorch/XLA's session failed": "The server of the TPU ended or no longer knows this session: start it again (or "
    "the machine), then the program",
    "JAX finds no device": "JAX does not start the device that it is told to use: see that no other process holds it "
    "and that its plug-in is installed, or leave JAX_PLATFORMS to choose",
    "runtime does not start": "The runtime did not start and the log does not state the reason: "
    "NEURON_RT_LOG_LEVEL=INFO and run again; neurontop doctor checks driver, devices and cores",
    "a peer left a collective": "Another worker ended, or the network between the two failed: read the lines of others "
    "first, the one that stopped first is the cause",
    "a heading of CUDA's error": "The lines below it name the file and the error; run again with "
    "CUDA_LAUNCH_BLOCKING=1 to see the call that failed",
    "Ascend's collectives say why": "The line names what the ranks disagree about, or which rank has gone: read "
    "that rank's log first",
    "ranks disagree": "The ranks do not run the same collectives in the same order: look for a branch that depends on "
    "the rank, and for ranks with fewer batches",
    "parameters without a gradient": "Some parameters take no part in the loss: let all of them, freeze those that do "
    "not, or give DistributedDataParallel find_unused_parameters=True; TORCH_DISTRIBUTED_DEBUG=DETAIL names them",
    "collective hangs": "One worker did not come to a collective: look at the logs of the others first, the one "
    "that stopped first is the cause; then network and EFA",
    "an endpoint's error": "The endpoint only answers that its model failed or did not answer in time: its log in "
    "CloudWatch, at this time, states why",
    "too many sockets": "The limit of open files is reached, and each connection between ranks is one: raise it on "
    "each node (ulimit -n 65535) and in the container or service that starts the job",
    "fork beside EFA": "The program forks while EFA is in use: set FI_EFA_FORK_SAFE=1 (and RDMAV_FORK_SAFE=1 with an "
    "old kernel), or make the data loader without worker processes",
    "the network's plugin reports a failure": "EFA or libfabric failed between two machines: security groups have to "
    "allow all traffic within the group, both ways; the same version of EFA, libfabric and the plugin on all machines",
    "collective set-up": "The workers did not find each other: MASTER_ADDR, NEURON_RT_ROOT_COMM_ID, ports, security "
    "groups, EFA, number of nodes, and whether another worker died or still compiles",
    "hardware": "The device reports a hardware error. Stop using this instance: replace it, and move the job to "
    "another one",
    "the runtime does not take a graph": "The runtime refused to run this graph on a core: its own lines of about that "
    "time say why; see that the graph was compiled for this instance type and this number of cores",
    "an exception of a custom operator": "The code of a custom operator failed on the core: the lines below state the "
    "kind and the address; check its reads and writes against the sizes of its tensors",
    "execution timeout": "A program did not end in time: a hang, a partner that died, or too low a limit "
    "(NEURON_RT_EXEC_TIMEOUT)",
    "index out of bounds": "An index is outside its table (token ids, positions, KV-cache slots): check inputs "
    "against compiled shapes",
    "numerical error": "A program computed NaN: check its inputs and weights for NaN and Inf, then its data types "
    "(--auto-cast)",
    "program too new": "The program was compiled by a newer compiler than the runtime knows: update the runtime, or "
    "compile again",
    "a runtime call failed, in the framework's words": _RUNTIME_LINES,
    "execution failed": _RUNTIME_LINES,
    "a TPU's core halted": "A core of the TPU stopped inside the program: run once more, and report the graph that the "
    "line names if it happens again",
    "Bazel cannot analyze a target": "Bazel's line names the file, and the attribute or package that it does not know",
    "pip does not accept a requirement": "Correct the requirement in the line: a name, then versions as pip writes "
    "them (==, >=, ~=); a build such as +cpu goes with == only",
    "MIOpen reports a failure": "MIOpen could not make or run a kernel: see that this GPU's architecture is among "
    "those that this ROCm supports, and clear MIOpen's own cache (~/.cache/miopen)",
    "Kaldi's tasks failed": "Read the logs of the tasks, whose path stands in the line",
    "Bazel refuses a rule": "The rule does not declare what its sources include: add the files that are listed below "
    "to its deps, or clean what an older configuration has left (bazel clean --expunge)",
    "Nix reports a build that failed": "Read the whole output of the build: nix log with the path in the line",
    "conda reports that pip failed": "Read what pip itself printed, in the lines above",
    "a container's image has no valid name": "Part of the image's name is empty or wrong: see that every variable in "
    "it is set, and that name and tag hold lower-case letters, digits and . _ - only",
    "clang finds no toolkit for a GPU": "Install the toolkit with its device libraries, or name its folder (ROCM_PATH, "
    "--rocm-path, CUDA_HOME, --cuda-path); it must know this GPU's architecture",
    "a step of Bazel failed": "Read what the step itself printed, in the lines below; "
    "bazel build --verbose_failures shows its command",
    "Slurm cannot create a step yet": "Other steps of the job hold the nodes: give each srun its share (--exact, "
    "--ntasks, --cpus-per-task, --mem), or wait for the others",
    "rsync failed": "rsync's lines above it say which file or connection failed",
    "rsync lost its connection": "The program at the other end has gone: see that rsync is installed there, that the "
    "login prints nothing, and that the connection lasts",
    "AzCopy counts what it did not copy": "AzCopy's own log, which it names at its start, lists each transfer that "
    "failed and why; azcopy jobs resume tries them again",
    "execution failed, in TorchNeuron's words": _RUNTIME_LINES,
    "host memory, in TorchNeuron's words": "The runtime found no more memory on the host: fewer workers, a smaller "
    "batch or data loader, a higher limit of the container",
    "execution failed, its reason on the next line": _RUNTIME_LINES,
    "a program in TorchScript failed": "The exception below TorchScript's own traceback states the reason",
    "Ray guesses why a worker died": "Ray does not know why the worker died: its own log (worker-*.err below "
    "/tmp/ray) and dmesg say more",
    "host memory limit, perhaps": "The worker ended without a word, as the kernel ends what exceeds a limit of "
    "memory: see whether `kubectl describe pod` says OOMKilled; give the pod more memory or run fewer workers",
    "a model too large for the host": "The model needs more memory than the host or container has free: raise the "
    "limit of the pod or container, take a smaller or more quantized model, or unload others first",
    "shared memory": "Shared memory (/dev/shm) ran out: give the container more (docker run --shm-size, on Kubernetes "
    "an emptyDir with medium Memory), or run fewer workers of the data loader",
    "host memory": "The host ran out of memory: fewer workers, a smaller batch or data loader, a higher limit of "
    "the container; dmesg names the process",
    "node short of memory": "Kubernetes removed the pod since its node ran out of memory: ask for what the job needs "
    "(requests and limits), run fewer workers, or take a larger node",
    "pod evicted": "Kubernetes removed the pod for want of what the line names: request enough of it (memory, "
    "ephemeral-storage), keep caches and checkpoints on a volume, then run it again",
    "image cannot be pulled": "Compare name and tag of the image with the registry, and see whether the node may pull "
    "from it (role, region, image pull secret) and reaches it",
    "a pod's container is not made": "Why stands in the pod's events: `kubectl describe pod`",
    "a container waits for its image": "Why its image cannot be pulled stands in the pod's events: "
    "`kubectl describe pod`",
    "disk full": "Free space on the disk that the line names (compile cache, /tmp, checkpoints): neurontop cache stats",
    "a volume cannot be mounted": "Kubernetes cannot mount a volume of the pod: see whether it exists, in the same "
    "zone, and whether its driver (FSx, EBS, EFS) and security groups allow it",
    "Kubernetes does not know a kind of resource": "The cluster lacks a custom resource definition: install the "
    "operator (Volcano, Kueue, a training operator) that brings it, in a version that fits",
    "AWS does not allow a call": "Add the action that the line names to the role or user that it names",
    "a machine does not answer": "The other side never answered: compare security groups, subnets, keys and the "
    "user; on a fabric, its links and counters",
    "CloudFormation cannot make a resource": "Read the reason in the line: limits are raised in Service Quotas, "
    "names that exist already and permissions are the account's; what was made is rolled back",
    "a probe's program is not in the image": "Build the program into the image, or let the probe ask in another way: "
    "Kubernetes ends and starts the container again and again otherwise",
    "apt cannot verify a repository": "Install the repository's current signing key: vendors exchange them, and old "
    "images have the old one",
    "a local service is not reached": "The service does not run here, or this user may not use its socket: inside a "
    "container it usually does not",
    "a file system cannot be mounted": "The server or the kernel refuses the mount: compare its access policy, export "
    "or security group, the path and the kind of file system",
    "Docker's daemon is not reached": "Docker's daemon does not run, or this user may not use its socket: start it "
    "(systemctl start docker), or join the group docker",
    "an image is not built": "The build of the image lacks what the line names: compare the path with the build's "
    "folder and .dockerignore",
    "the API of Kubernetes refuses": "Kubernetes refused the command: `kubectl describe` of the object and its events "
    "say why",
    "a probe of Kubernetes ends a container": "The container did not answer its probe in time, so Kubernetes ended it: "
    "a server that compiles or loads for long needs a startup probe with a higher failureThreshold",
    "an image's import failed": "The lines below say why the container's image could not be imported or started; they "
    "are those of enroot",
    "a container does not start": "The container's command cannot run: it is not in the image, may not be executed, "
    "has no interpreter, or the image is for another kind of processor (uname -m)",
    "a file could not be read or written": "The disk or the network file system under the path failed, or is "
    "full: df and dmesg show it; mount it again, then go on from the last whole checkpoint",
    "a file is damaged": "The file is not whole, or none at all (cut off while it was written, a pointer of Git "
    "LFS): compare its size with the source's, and download or save it again",
    "llama.cpp refuses a model's file": "This build does not read the file: take a newer llama.cpp for a new "
    "architecture, download a file that is damaged again, or give it more memory, as the line says",
    "a checkpoint does not fit the model": "The checkpoint was saved from a model of other sizes or names: compare its "
    "configuration, the degrees of parallelism it was saved with, and which weights are left out or renamed",
    "weights that do not fit, listed": "The checkpoint was saved from a model of other sizes: compare its "
    "configuration with the model's, and which weights are left out",
    "a worker over its budget of memory": "The worker was started again since it held more memory than it may: give "
    "each worker more memory or fewer threads, or make the partitions of the data smaller",
    "a build's command failed": "A package is built from its sources and its compiler failed: read the lines above in "
    "the full output, check that compiler, CUDA and PyTorch match, or install a wheel that is built already",
    "a server does not load a model": "The server names the model and what is missing: compare its folder (version, "
    "name of the file, configuration) with what the back end expects, and the versions of driver and libraries",
    "too many open files": "The limit of open files or threads is reached: raise it (ulimit -n, ulimit -u), run fewer "
    "workers of the data loader, or torch.multiprocessing.set_sharing_strategy('file_system')",
    "no permission": "The user of the job may not use what the line names: correct owner and mode, or name a folder of "
    "its own (HOME, XDG_CACHE_HOME, TMPDIR, NEURON_COMPILE_CACHE_URL)",
    "mpirun cannot start a program": "The launcher found the program and may not run it, or its path is cut off: check "
    "on that host that the file is there, that its mode lets the job's user run it, and that its first line names an "
    "interpreter",
    "make knows no way to a target": "A file that the build needs is missing, or a variable of the Makefile is empty, "
    "so that an option stands where a file should: look at what the line names, and whether configuring succeeded",
    "no such file": "The path does not exist on the machine, or in the container, of that worker: correct it, or mount "
    "what it is on",
    "a script's syntax": "The shell cannot read the script: correct it at that line, or run it with the shell that it "
    "is written for",
    "the shell cannot run something": "The shell could not run or enter what the line names: correct the path, or its "
    "permissions; without `set -e` the script goes on behind it",
    "numbers overflow": "The loss or the gradients became infinite or NaN: train in bf16 instead of fp16, lower the "
    "learning rate, clip gradients, and check the data",
    "no versions fit together": "What is asked for cannot be installed together: correct the versions that the message "
    "names, or name the index that has them (Neuron's own for torch-neuronx)",
    "no versions fit together, for a reason below": "What is asked for cannot be installed together: the lines below "
    "state which versions exclude each other",
    "missing shared library": "The machine, or the container, lacks the shared library that the line names: install "
    "the package of the system that has it (apt-get install libxml2; libnrt is in aws-neuronx-runtime-lib); where it "
    "is installed, add its folder to LD_LIBRARY_PATH",
    "missing dependency": "Install what the line names into the environment that ran (same Python, same release of "
    "the SDK)",
    "a module that was made for another NumPy": "Install numpy<2, or a release of the module that was made for NumPy 2",
    "OpenVINO cannot convert a model": "Name the operations as extensions, convert with a newer release of OpenVINO, "
    "or export the model without them",
    "no display for a window": "The program opens a window, and the machine has no display for it: let it draw without "
    "one (MUJOCO_GL=egl, QT_QPA_PLATFORM=offscreen, MPLBACKEND=Agg), or run it below xvfb-run",
    "a library of another version": "One library looks for something in another one whose version does not have it: "
    "take versions that go together (the release notes of the SDK, pip check)",
    "a lazy import failed": "Transformers imports its parts when they are asked for, and this one failed: the lines "
    "above and below it name what is missing or of another version",
    "conda is not set up in the shell": 'Put `source "$(conda info --base)/etc/profile.d/conda.sh"` in front of `conda '
    "activate` in the job's script, or use `conda run`",
    "a bucket that does not exist": "Compare the bucket's name, its region and the endpoint with what the storage has",
    "AWS refuses a request": "The request names what AWS does not have or allow: compare the name, the region and the "
    "account with what the console shows",
    "Hydra finds no such choice": "Correct the override or the config's name; `--info defaults` lists what there is, "
    "and `+key=value` adds a key",
    "a package manager refuses": "The package manager says what it refuses: wait until another one has released the "
    "lock, or download again what is damaged or another file than was asked for",
    "a Python that belongs to the system": "pip may not change the system's Python: install into an environment of the "
    "job's own (python -m venv)",
    "npm refuses": "npm says what it refuses (a package or version, a permission, the network): correct that and run "
    "it again; the debug log that it names says more",
    "a command that is no more": "The command only prints this and does nothing: call what the line names instead",
    "a shell's command refuses an option": "Correct the script's line: a program's name may be empty there, so "
    "that its option was taken for one of the shell's",
    "a shell's variable that is not set": "Set the variable in the job's script or environment, or give it a default "
    "(${NAME:-})",
    "wrong arguments": "Correct the command line as the message says",
    "versions do not match": "Take the versions of one release of the SDK (compiler, runtime, driver, frameworks)",
    "port taken": "Another process listens on this port, often a job that has not ended: end it, or choose another one "
    "(torchrun --master_port, or --rdzv_endpoint with port 0)",
    "peer closed the connection": "Another process ended first: its own lines say why",
    "a download is tried again": "A download fails again and again: check network, proxy and mirror from this host, "
    "then build again, or fetch what the line names beforehand",
    "a request failed, told by a panic": "The program asked a server and ended on its answer: see whether the address "
    "in the line answers from this host, and try again",
    "apt does not know a key": "Add the key of the repository (for NVIDIA's, install cuda-keyring), or take the "
    "repository out of the sources",
    "git cannot download a large file": "Git LFS could not fetch the file: the end of the line says why (credentials, "
    "quota, a file that was never pushed); GIT_LFS_SKIP_SMUDGE=1 checks out without these files",
    "git lacks an object": "This clone does not have the commit: see that the fetch behind it went well, fetch with "
    "more depth, or ask for a commit that the remote has",
    "pip could not build a package": "A package had to be built here and that failed: read the output below the line, "
    "or install a version that has a wheel for this Python",
    "no access": "The service knows no token, or one without the right: log in again (huggingface-cli login, HF_TOKEN, "
    "AWS credentials or role), and ask for access to what the line names",
    "ssh lost its connection": "The connection to the host ended, and with it what ran in its terminal: start jobs in "
    "tmux, with nohup or through a scheduler",
    "MPI finds no process manager": "The program's MPI and what started it do not fit: start it with the mpirun of "
    "that MPI, or with srun --mpi=TYPE for a type that it was built for (srun --mpi=list)",
    "MPI's processes cannot reach each other": "The nodes do not reach each other over the network that MPI chose: "
    "check firewall and security groups, and name the interface (btl_tcp_if_include, UCX_NET_DEVICES, FI_PROVIDER)",
    "MPI's launcher lost a node": "The daemon of MPI on another node has ended: read that node's log, and see whether "
    "it was stopped, rebooted or ran out of memory",
    "a task of Nextflow ended without a status": "The task left no exit status: the batch system ended it, or its "
    "machine was taken away. Look at the job in the batch system's own records; errorStrategy 'retry' starts it again",
    "a task of Julia failed": "A task of the program failed; its own exception stands below as `nested task error`",
    "a worker of a TPU went away": "The TPU was taken away (preempted, or under maintenance): start again from the "
    "last checkpoint",
    "MPI cannot open its network adapter": "The network adapter of this node is missing, busy or out of contexts: see "
    "whether another job holds it, then test the node, or let MPI use another network",
    "a check of MPI itself failed": "MPI met a state that it takes for impossible: try another transport "
    "(I_MPI_SHM, I_MPI_FABRICS, btl) or another version of MPI",
    "OpenMP's library reports an error": "OpenMP could not set up its threads: fewer of them (OMP_NUM_THREADS), or a "
    "larger limit of processes (ulimit -u) and of stack (OMP_STACKSIZE)",
    "curl reports why a transfer failed": "See whether this host reaches the server (DNS, proxy, certificate, "
    "credentials), and whether the transfer works when it is tried again",
    "ssh is refused": "The other machine refuses ssh: see whether it is up and lets this user in from here, and "
    "whether too many connections begin at once (MaxStartups)",
    "Cromwell reports that a workflow failed": "A call of the workflow failed: read its own stderr, whose path stands "
    "below or in the call's folder",
    "a program refuses an option": "This program does not know the option: another version of it, or another "
    "program of the same name, comes first in PATH",
    "a routine of linear algebra refuses an argument": "The program calls a routine with a wrong argument, or was "
    "built against another interface of the library (32 or 64 bits)",
    "Java's exception stands below": "Read Java's own exception, the lines below",
    "a pipeline in R names the last error": "This is the error with which a target failed: read that target's code; "
    "targets::tar_meta(fields = error, complete_only = TRUE) lists all",
    "YARN names the exception of an application": "The application itself raised the exception: its own log has the "
    "stack (yarn logs -applicationId)",
    "mpirun refuses to run as root": "Run as another user; in a container that nobody else shares, --allow-run-as-root",
    "CP2K's box names the reason": "The program checks its input and stops: correct what the box names",
    "a calculation does not converge": "The calculation found no solution in its steps: start from a better guess, "
    "take smaller steps or more of them, or damp it more",
    "a calculation ended by its own check": "The program says that it stopped, not why: read its output above",
    "an OpenACC program stopped": "The GPU's run-time library ended the program at this place; its reason went to "
    "another stream. Run again with NVCOMPILER_ACC_NOTIFY=3 and with standard error in the log",
    "mpirun cannot start its daemons": "mpirun reaches a node but cannot run on it, and the log does not state why: "
    "try ssh to each host without a password, and see that each has the same Open MPI in its PATH",
    "a call to another process was not answered": "The other process does not run, has not started yet, or is not "
    "reached at that address and port: read its log first, then check the address, the port and the security group",
    "network": "See whether the address in the line can be reached from this host (DNS, proxy, security group, "
    "credentials)",
    "stopped": "The job was stopped from outside (a person or a scheduler): see who, then run it again",
    "a time limit ended it": "The time that the job may take was over: ask for more (sbatch --time, bsub -W, qsub -l "
    "walltime, MaxRuntimeInSeconds), or save checkpoints and go on from the last one",
    "its machine was taken for another": "A scheduler or a cloud took the machine for another job: queue it again, and "
    "save checkpoints to go on from the last one",
    "Airflow's state of a task was changed": "Airflow, or a person, gave the task another state, so it was ended: the "
    "scheduler's log at this time tells of a run that took too long, a missed heartbeat, or tasks that were cleared",
    "the host of a container was taken away": "The machine under the container went, often a Spot instance: let AWS "
    "Batch try again (retryStrategy, with an evaluateOnExit for Host EC2*), and go on from the last checkpoint",
    "a signal asked it to end": "The job was asked to end from outside and the log does not say by whom: look at the "
    "scheduler's record (sacct, kubectl describe pod, spot notices) and the other ranks' logs",
    "failure that another task states": "PyTorch/XLA's service only passes a failure on: its lines above state the "
    "reason",
    "Slurm's table lists a failed job": "Slurm's table only says that the job failed: read what the job itself printed "
    "(slurm-JOBID.out)",
    "a rank did not join a collective": "Some ranks wait for others that did not come: see what the missing ranks do "
    "(an exception, slow data, another branch of the program)",
    "HTCondor reports that a job cannot go on": "HTCondor names the reason on the line below: mend that (a file that "
    "the job did not write, a limit of memory), then condor_release the job",
    "HTCondor reports that a job was stopped": "Somebody, a policy or the machine's owner ended the job: "
    "condor_history -l shows RemoveReason",
    "Python lacks its SSL module": "Nothing can be fetched by HTTPS: activate the environment (PATH, LD_LIBRARY_PATH), "
    "or install Python again with OpenSSL",
    "a trial of Optuna failed": "No trial has finished: the exception ends the line, and its traceback stands below",
    "Dataflow says why": "The job's workers log why in the service: look there for the first error, and for workers "
    "that never started (image, network, quota)",
    "a model of AutoGluon is left out": "The line below says why the model could not be trained; the others were, so "
    "it matters only where you want this one",
    "a rule of Snakemake failed": "Read what the rule's command printed above, or the file that `log:` names below",
    "Snakemake lacks a file": "The file is named below: no rule makes it, and it does not exist",
    "a rule of Snakemake did not write its files": "The files are named below, and the command ended with status 0: "
    "read what it printed above, or the file that `log:` names; on a slow file system raise --latency-wait",
    "Snakemake sums up": "Snakemake only sums up: read what the rules printed above, or the log that it names",
    "Slurm stops the other tasks of a step": "Slurm stops a step when one of its tasks has ended, or somebody cancels "
    "it: read the lines of the task that ended first, and sacct for who canceled",
    "one choice of an autotuner": "A kernel that was tried does not fit this GPU; another one takes its place unless "
    "none does: read the lines behind it",
    "Slurm reports a task that was killed": "Slurm does not say who killed the task: its limit of memory, or a step "
    "that ends since another task has ended. sacct shows State and MaxRSS, dmesg of the node the kernel's part",
    "an event says that something failed": "The event only says that it failed: read the log of what it names",
    "a count of what failed": "This only counts what failed: read the log of the one that failed first",
    "another worker ended": "This worker only noticed that another one had ended: read the lines of the one that ended "
    "first",
    "the launcher stops the other workers": "The launcher stops all workers since one of them ended: read the lines of "
    "the first one that failed",
    "launcher's report": "The launcher only reports that a worker ended: read the lines of the first rank that failed",
    "more processes than mpirun has slots": "Ask for fewer processes (-np), or tell mpirun of more slots "
    "(hostfile, --host NAME:SLOTS, --oversubscribe)",
    "Grid Engine does not start a job": "The node could not do what the line names before the job: a folder or file "
    "that only the submitting machine has, or a missing right; put it on a disk that all nodes share",
    "Slurm refuses a job": "Slurm does not accept what the job asks for: correct account, partition, nodes, time or "
    "--gres as the message says",
    "a container ends again and again": "The container's program ends each time: `kubectl logs --previous` shows what "
    "it said last, `kubectl describe pod` its exit code",
    "what Hydra prints around an error": "Hydra shortened what went wrong: set HYDRA_FULL_ERROR=1 and run again",
    "a worker failed, in its parent's words": "One worker failed, and this is all that its parent says: read the lines "
    "of that worker, or its own log",
    "engine died": "The engine or a worker ended for a reason that stands above, or in the log of that worker",
    "exit status": "The log does not state why: read what stands above, or the log of that process",
    "killed": "The process was killed and the log does not state by whom; most often the kernel, for memory: dmesg "
    "shows it",
    "a node was lost": "A node stopped answering and the log does not state why (taken away, out of memory, its "
    "network failed): read that node's own log and see whether it still runs",
    "a worker process died": "A worker process died and left no message: look whether the host's memory ran out "
    "(dmesg), then run with one worker, or none, to see its error",
    "a job's end, told above its last lines": "The job's command ended with that exit code; the lines below are the "
    "last of its log (139 or -11: it crashed, 137 or -9: it was killed)",
    "a Go program crashed": "The tool crashed: look at the lines above, then take another version of it",
    "an exception of C++, told by its library": "The program's C++ threw what the line names and nobody "
    "caught it: look at what it did last, above",
    "what a program of Boost prints of an exception": "A program in C++ ended with what the line says; the lines "
    "around it name the program",
    "a worker of pytest ended": "A test ended its whole process: run the test that the line names alone, with "
    "`-p no:xdist -p faulthandler`; dmesg says whether the kernel ended it for want of memory",
    "Python shows where it hangs": "The program did nothing for that long: the stacks below say where each "
    "thread waits",
    "a kernel needs more than a GPU has": "The kernel needs more shared memory or registers than this GPU has: smaller "
    "blocks, fewer stages (num_stages) or warps, or settings that were tuned for this kind of GPU",
    "a Fortran program ends": "The program's own run-time library ended it, for the reason that the line names: "
    "compile with -g -traceback (ifort, ifx) or -g -fbacktrace (gfortran) to see where",
    "crashed": "A process crashed and the log does not state why: look at the lines above; set PYTHONFAULTHANDLER=1 "
    "and NEURON_RT_LOG_LEVEL=INFO, and keep the core file",
    ERROR_LINE: "The program reported this error itself, without a traceback: read the lines around it",
    DISK_FAILED: "A part of this machine fails, or the server of a file system does not answer: save what can be "
    "saved, and replace the machine (its disk), or mount the file system again",
    SOURCE_REFUSED: "The compiler refuses the source at that place: see that compiler, headers and architecture are "
    "those that it is written for, or install a build that is ready",
    FAILED_WITHOUT_MESSAGE: "The log does not state the reason: read log-neuron-cc.txt, or compile again with "
    "--verbose=info",
    LAST_LINE: "Nothing else in the log failed, and it ends with this line: see whether the job ended there (its exit "
    "code, sacct, kubectl describe pod), and correct what the line names",
    TORN_TRACEBACK: "The log ends inside a traceback, before the exception that states the reason; this is its last "
    "line. Read the process's own log to its end",
}
"""Advice by the name of a row in `diagnose/recognizers/`."""
SAY_NOT_STATED = frozenset(
    {
        "internal compiler error without a message",
        "native compile failed without a message",
        "compile gave up",
        "nothing of a model was compiled",
        "no operator was compiled",
        "a stage of the compiler failed",
        "compiler failed, told by PyTorch/XLA's service",
        "compiler failed",
        "a compile made nothing",
        "compiler ended with a status",
        "failed graphs in a summary",
        "runtime does not start",
        "runtime does not start, told by torch-neuron",
        "mpirun cannot start its daemons",
        "a lock that nobody gives back",
        "killed",
        "crashed",
        "a node was lost",
        "exit status",
        "an endpoint's error",
        FAILED_WITHOUT_MESSAGE,
        TORN_TRACEBACK,
    }
)
"""Rows whose sentence says by itself that the log does not state the reason, or where to read it."""
OF_CLASSES: dict[CauseClass, str] = {
    CauseClass.COMPILE_ERROR: _REPORT,
    CauseClass.COMPILE_KILLED: _HOST_MEMORY,
    CauseClass.COMPILE_CRASHED: "Retry once, then report it with the graph",
    CauseClass.COMPILE_TIMEOUT: "Give the compile more time, or compile ahead",
    CauseClass.CACHED_FAILURE: "The graph failed before and its failure is kept in the cache. Remove the cause, "
    "then retry it: neurontop cache retry, or --retry_failed_compilation in NEURON_CC_FLAGS",
    CauseClass.LOCK_TIMEOUT: "See who holds the lock: neurontop cache unlock --dry-run",
    CauseClass.MISSING_DEPENDENCY: "Install what the line names into the environment that ran",
    CauseClass.BAD_USAGE: "Correct the command or the versions as the message says",
    CauseClass.RUNTIME_INIT: "neurontop doctor checks driver, devices and cores; NEURON_RT_LOG_LEVEL=INFO logs more",
    CauseClass.RUNTIME_OOM: "Fewer or smaller programs per core, or more cores",
    CauseClass.RUNTIME_EXEC: "Look at the runtime's lines around it; NEURON_RT_LOG_LEVEL=INFO and run again for more",
    CauseClass.COLLECTIVE: "Look at the other workers first: the one that stopped earliest is the cause",
    CauseClass.HOST_OOM: "The host ran out of memory: fewer workers or a larger host",
    CauseClass.SCRIPT_ERROR: "The program's own error: correct it where the traceback ends",
    CauseClass.NETWORK: "See whether the address can be reached from this host",
    CauseClass.TOOL_ERROR: "The tool's own error: see its configuration, permissions and version",
    CauseClass.INTERRUPTED: "Run it again, if nobody meant to stop it",
}
"""Advice by class, for lines that no row knows."""
REMARKS: dict[Remark, str] = {
    Remark.STORED: "{of_class}. {advice}",
    Remark.ONLY_EXIT_CODE: "The job {ended}. {advice}",
    Remark.NOT_STATED: "The log does not state the reason; this is the nearest line. {advice}",
    Remark.LARGER_PAGES: "{advice}; the runtime itself recommends a larger Scratchpad page here: "
    "NEURON_SCRATCHPAD_PAGE_SIZE=1024 and NEURON_CC_FLAGS=--hbm-scratchpad-page-size=1024",
}
"""Remarks that go with the advice."""
_OF_WAIT = (
    "neurontop cache show {entry} says who holds the lock. Where no neuronx-cc compiles this graph on any host that "
    "shares the cache, the lock was left behind: neurontop cache unlock --dry-run {entry} says whether it may go"
)
_OF_UNNAMED_WAIT = "neurontop cache unlock --dry-run {entry} lists the locks, who holds them, and which may go"
_OF_OWN_WAIT = "The compile of this graph began in the same log: see whether its neuronx-cc still runs. "


def advice_text(code: CauseAdvice) -> str:
    """What to do about a cause, with the remarks that go with the advice."""
    of_class = OF_CLASSES[code.cause_class]
    advice = OF_ROWS[code.row] if code.row else of_class
    for remark in Remark:
        if remark in code.remarks and not (remark is Remark.NOT_STATED and code.row in SAY_NOT_STATED):
            advice = REMARKS[remark].format(advice=advice, of_class=of_class, ended=_ended(code.exit_code))
    return advice


def _ended(exit_code: int | None) -> str:
    is_signal = exit_code is not None and exit_code < 0
    return f"was ended by signal {-(exit_code or 0)}" if is_signal else f"ended with exit code {exit_code}"


def worded(found: CodedDiagnosis) -> Diagnosis:
    """A diagnosis whose causes say what to do."""
    causes = zip(found.diagnosis.causes, found.advice, strict=True)
    advised = tuple(msgspec.structs.replace(cause, advice=advice_text(code)) for cause, code in causes)
    wait = found.diagnosis.last_wait or msgspec.UNSET
    if wait:
        wait = msgspec.structs.replace(wait, advice=_advice_of_wait(wait))
    return msgspec.structs.replace(found.diagnosis, causes=advised, last_wait=wait)


def _advice_of_wait(wait: LastWait) -> str:
    """What to do about a wait: commands that can be copied, whatever a log calls its folders."""
    entry = " ".join(shlex.quote(word) for word in (wait.root, wait.module) if word)
    advice = (_OF_WAIT if wait.module else _OF_UNNAMED_WAIT).format(entry=entry)
    return f"{_OF_OWN_WAIT if wait.is_own else ''}{advice}"
