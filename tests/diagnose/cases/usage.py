"""Wrong usage, and what is not installed."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

USAGE = (
    Case(
        "Ray's suffix and prefix",
        "missing_dependency",
        """
(RayTrainWorker pid=912, ip=10.1.2.3) Traceback (most recent call last):
(RayTrainWorker pid=912, ip=10.1.2.3)   File "/job/worker.py", line 3, in <module>
(RayTrainWorker pid=912, ip=10.1.2.3)     import flash_widgets
>>>(RayTrainWorker pid=912, ip=10.1.2.3) ModuleNotFoundError: No module named 'flash_widgets' [repeated 15x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication)
ray.exceptions.RayTaskError(ModuleNotFoundError): ray::RayTrainWorker.run() (pid=912, ip=10.1.2.3)
""",
        "failed",
    ),
    Case(
        "a missing library of the compiler",
        "missing_dependency",
        """
2024-05-06 10:00:00.000001:  41  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile --target=trn1 /tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb
>>>2024-05-06 10:00:03.000001:  41  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with ['neuronx-cc', 'compile', '--target=trn1', '/tmp/x/a.pb', '--verbose=35']: 2024-05-06T10:00:03Z error while loading shared libraries: libgomp.so.1: cannot open shared object file: No such file or directory
""",
    ),
    Case(
        "wrong flags",
        "bad_usage",
        """
usage: neuronx-cc compile [-h] [--target TARGET]
>>>neuronx-cc compile: error: unrecognized arguments: --optlevel3
""",
    ),
    Case(
        "a package that is nowhere",
        "missing_dependency",
        """
Reading package lists... Done
>>>E: Unable to locate package aws-neuronx-tools
""",
    ),
    Case(
        "pip finds nothing",
        "missing_dependency",
        """
Looking in indexes: https://index.example.org/simple
>>>ERROR: Could not find a version that satisfies the requirement neuronx-cc==9.9.* (from versions: none)
ERROR: No matching distribution found for neuronx-cc==9.9.*
""",
    ),
    Case(
        "a managed training job's report",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import peft
>>>ModuleNotFoundError: No module named 'peft'
2026-01-01 10:00:00 Uploading - Uploading generated training model
sagemaker.exceptions.UnexpectedStatusException: Error for Training job x: Failed. Reason: AlgorithmError: ExecuteUserScriptError:
ExitCode 1
ErrorMessage "ModuleNotFoundError: No module named 'peft'"
""",
        "failed",
    ),
    Case(
        "a program of a newer compiler",
        "bad_usage",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:parse_instr                               Unsupported hardware operator code 233 found in neff a.neff
RuntimeError: Could not load the model status=10 message=Unsupported NEFF
""",
    ),
    Case(
        "a program with features that the runtime does not know",
        "bad_usage",
        """
>>>2026-Jan-18 01:49:40.973724    97:99    ERROR  NEFF:neff_parse                NEFF version: 2.0, features: 0x400 are not supported.  Currently supporting: 0xff
2026-Jan-18 01:49:40.973725    97:99    ERROR  NMGR:kmgr_load_nn_post_metrics    Failed to load NN: /tmp/w/model.MODULE_f4+2c.neff, err: 10
""",
    ),
    Case(
        "a number of cores that collectives cannot connect",
        "bad_usage",
        """
>>>2026-Jun-02 04:05:36.428977   273:478   ERROR   NRT:nrt_load_collectives      Unsupported topology. Supported number of Neuron Cores is 1, 2, 8 or a multiple of 32.
Traceback (most recent call last):
  File "/job/generate.py", line 12, in <module>
    model.to_neuron()
RuntimeError: nrt_load_collectives status=2
""",
    ),
    Case(
        "a fatal line of XLA without a stamp",
        "bad_usage",
        """
step 1 loss 2.1
>>>F external/xla/xla/parse_flags_from_env.cc:224] Unknown flags in XLA_FLAGS: --xla_no_such_flag=1
Aborted (core dumped)
""",
    ),
    Case(
        "the runtime's plug-in that is not installed",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "/job/train.py", line 5, in <module>
    import torch_xla.distributed.xla_backend
>>>FileNotFoundError: [Errno 2] No such file or directory: 'libneuronpjrt-path'
""",
    ),
    Case(
        "yum knows no such package",
        "missing_dependency",
        """
Loaded plugins: update-motd
>>>No package kernel-headers-6.8.0 available.
Error: Nothing to do
""",
    ),
    Case(
        "a variable that the job's script lacks",
        "bad_usage",
        """
>>>./start.sh: line 3: WORLD: unbound variable
""",
    ),
    Case(
        "a plugin of another version",
        "bad_usage",
        """
Traceback (most recent call last):
  File "a.py", line 2, in <module>
    jax.devices()
>>>jax.errors.JaxRuntimeError: INVALID_ARGUMENT: Mismatched plugin API version (0.1) and framework API version (0.9).
""",
        "failed",
    ),
    Case(
        "Slurm does not find the command",
        "missing_dependency",
        """
>>>slurmstepd: error: execve(): torchrun: No such file or directory
srun: error: n7: task 0: Exited with exit code 2
""",
        "failed",
    ),
    Case(
        "a compiler that torch-neuron does not find",
        "missing_dependency",
        """
WARNING:Neuron:torch.neuron.trace failed on _Graph$3; falling back to native python function call
>>>ERROR:Neuron:Please check that neuron-cc is installed and working properly.
""",
    ),
    Case(
        "ranks that share a device",
        "bad_usage",
        """
>>>node1:70:71 [0] init.cc:99 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    dist.barrier()
torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:9, invalid usage, NCCL version 2.18.1
ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
""",
        "failed",
    ),
    Case(
        "an extension of the compiler that was built for another numpy",
        "missing_dependency",
        ">>>RuntimeError: Failed compilation with ['neuronx-cc', 'compile', '/tmp/a.pb', '--output', '/tmp/a.neff']: "
        "RuntimeError: module compiled against API version 0xf but this version of numpy is 0xe\n",
    ),
    Case(
        "an import that fails when it is asked for, and its reason on the next line",
        "missing_dependency",
        """
RuntimeError: Failed to import job.modeling because of the following error (look up to see its traceback):
>>>cannot import name 'Mode' from 'job.utils' (/opt/job/utils.py)
""",
    ),
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
        "a partition that Slurm does not have",
        "tool_error",
        """
>>>sbatch: error: invalid partition specified: trn9
sbatch: error: Batch job submission failed: Invalid partition name specified
""",
    ),
    Case(
        "a library of the system that is too old",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "wide.py", line 1, in <module>
    import torch_neuronx
>>>ImportError: /lib/libc.so.6: version `GLIBC_2.99' not found (required by /opt/v/libwide.so)
""",
        "failed",
    ),
    Case(
        "versions that do not fit together, says uv",
        "bad_usage",
        """
Using CPython 3.12.3 interpreter at: /usr/bin/python3.12
Creating virtual environment at: .venv
  × No solution found when resolving dependencies:
>>>  ╰─▶ Because only torch-neuronx<=2.8.0.2.10 is available and your project
      depends on torch-neuronx>=2.9, we can conclude that your project's
      requirements are unsatisfiable.
""",
    ),
    Case(
        "versions that do not fit together, says mamba",
        "bad_usage",
        """
Looking for: ['python=3.12', 'faiss-gpu=1.7']
>>>error    libmamba Could not solve for environment specs
    The following packages are incompatible
    ├─ faiss-gpu 1.7** is not installable because it requires
critical libmamba Could not solve for environment specs
""",
    ),
    Case(
        "more processes than mpirun has slots",
        "bad_usage",
        """
--------------------------------------------------------------------------
>>>There are not enough slots available in the system to satisfy the 64
slots that were requested by the application:

  python

Either request fewer procs for your application, or make more slots
available for use.
--------------------------------------------------------------------------
""",
    ),
    Case(
        "a tool that an exception asks to install",
        "missing_dependency",
        """
Using /root/.cache/torch_extensions as PyTorch extensions root...
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import deepspeed.ops
  File "/opt/env/lib/python3.11/site-packages/torch/utils/cpp_extension.py", line 2200, in verify_ninja_availability
    raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
>>>RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get it)
""",
    ),
    Case(
        "a variable that a shell does not find, in a subshell of what goes on and says why it fails",
        "missing_dependency",
        """
slurmstepd: error: pyxis: container start failed with error code: 1
slurmstepd: error: pyxis: printing enroot log file:
slurmstepd: error: pyxis:     /usr/local/bin/enroot: line 51: XDG_DATA: unbound variable
>>>slurmstepd: error: pyxis:     [ERROR] Command not found: ldconfig
slurmstepd: error: pyxis:     [ERROR] /etc/enroot/hooks.d/80-mesh.sh exited with return code 1
slurmstepd: error: pyxis: couldn't start container
slurmstepd: error: Failed to invoke spank plugin stack
""",
    ),
    Case(
        "a variable that ends the hook of a container",
        "bad_usage",
        """
slurmstepd: error: pyxis: container start failed with error code: 1
slurmstepd: error: pyxis: printing enroot log file:
>>>slurmstepd: error: pyxis:     /etc/enroot/hooks.d/80-mesh.sh: line 12: MESH_ROOT: unbound variable
slurmstepd: error: pyxis:     [ERROR] /etc/enroot/hooks.d/80-mesh.sh exited with return code 1
slurmstepd: error: pyxis: couldn't start container
slurmstepd: error: Failed to invoke spank plugin stack
""",
    ),
    Case(
        "what a solver of versions says first",
        "bad_usage",
        """
Solving environment: failed

>>>LibMambaUnsatisfiableError: Encountered problems while solving:
  - package mesh-1.2-0 requires flow >=3, but none of the providers can be installed

Could not solve for environment specs
The following packages are incompatible
""",
    ),
    Case(
        "a program that is not found, and the shell that runs its option",
        "missing_dependency",
        """
$ ./hooks/mesh_wrapper.sh
>>>/usr/bin/which: no mesh-hook in (/usr/local/bin:/usr/bin)
./hooks/mesh_wrapper.sh: line 9: exec: --: invalid option
exec: usage: exec [-cl] [-a name] [command [arguments ...]] [redirection ...]
""",
    ),
    Case(
        "a program that is not found, for the command of a line",
        "missing_dependency",
        """
>>>which: no numactl in (/usr/local/sbin:/usr/bin)
run.sh: line 14: --cpunodebind=0: command not found
""",
    ),
    Case(
        "an option that a shell refuses",
        "bad_usage",
        """
loading the modules
>>>/etc/profile.d/mesh.sh: line 3: source: -q: invalid option
source: usage: source filename [arguments]
""",
    ),
    Case(
        "an option that mamba does not have, told by Snakemake",
        "bad_usage",
        """
CreateCondaEnvironmentException:
Could not create conda environment from /tea/envs/leaf.yaml:
Command:
mamba env create --quiet --no-tea --file "/tea/leaf.yaml"
Output:
>>>The following argument was not expected: --no-tea
Run with --help for more information.
""",
    ),
    Case(
        "another program of the same name, which refuses an option",
        "bad_usage",
        """
linking static-library libleaf.a
>>>//tea/bin/x86_64-ar: illegal option -- n
usage:  ar -d [-TLsv] archive file ...
make: *** [libleaf.a] Error 1
""",
    ),
    Case(
        "a script's syntax, below a module that was not found and that the script did without",
        "script_error",
        """
Lmod has detected the following error: The following module(s) are unknown:
"kettle"

>>>/var/spool/slurmd/job4711/slurm_script: line 33: syntax error near unexpected token `('
/var/spool/slurmd/job4711/slurm_script: line 33: `export LEAVES=max(pots / cups, 1)'
""",
    ),
    Case(
        "an error of a library that names itself before the level",
        "script_error",
        """
>>>OpenCV ERROR: Unsupported format or combination of formats (a leaf in a pot)
\tin function cvSteep, utils.cpp(573)
Terminating the application...
exit status 255
""",
    ),
    Case(
        "measured errors, whose names stand before a word in capitals",
        "",
        """
Mean ERROR: 0.25
RMS ERROR: -1.5e-3
""",
    ),
    Case(
        "another version of a language than a program wants, in its own words",
        "bad_usage",
        """
Starting tea
>>>Wrong version of java. Please use Java 7 or higher.
Finished tea
""",
    ),
    Case(
        "a command that only says that it is no more",
        "bad_usage",
        """
>>>Warning: `tea-cli` is deprecated and no longer works. Use `tea` instead.
Hint: Examples:
""",
    ),
    Case(
        "Lightning refuses what it was asked for, in lines of its own",
        "bad_usage",
        """
pytorch_lightning.utilities.exceptions.MisconfigurationException: 
>>>                You requested teas: [0, 1]
                But your machine only has: [0]
""",
    ),
    Case(
        "a flag without its value, in the words of gflags",
        "bad_usage",
        """
  > The server is ready...
>>>ERROR: illegal value '' specified for bool flag 'tea_service'
One of the processes has exited unexpectedly. Stopping container.
""",
    ),
    Case(
        "a model's file that llama.cpp cannot open",
        "bad_usage",
        """
main: llama backend init
>>>gguf_init_from_file: failed to open 'models/tea.gguf': 'No such file or directory'
llama_model_load: error loading model: llama_model_loader: failed to load model from models/tea.gguf
main: error: unable to load model
""",
    ),
    Case(
        "llama.cpp refuses the value of an option",
        "bad_usage",
        """
  Device 0: Kettle, compute capability 8.7
>>>error while handling argument "-fa": error: unknown value for --flash-attn: '--tea'

usage:
-fa,   --flash-attn [on|off|auto]       set it
""",
    ),
    Case(
        "a subcommand's parser refuses a choice",
        "bad_usage",
        """
usage: tea-cli <command> [<args>] pour [-h]
>>>tea-cli pour: error: invalid choice: 'kettle' (choose from 'cup', 'pot')
""",
        "failed",
    ),
    Case(
        "an image's name is empty behind a variable",
        "bad_usage",
        """
Step 1/4 : FROM $TEA_IMAGE:$TEA_TAG
>>>invalid reference format
ERROR: Job failed: command terminated with exit code 1
""",
    ),
    Case(
        "conda names pip's failure behind pip's own words",
        "bad_usage",
        """
Installing pip dependencies: | Pip subprocess error:
>>>ERROR: Invalid requirement: 'tea>=2.1.0+cup': Local version label can only be used with `==` or `!=` operators

failed

CondaEnvException: Pip failed
""",
    ),
    Case(
        "a batch script uses a variable that is not set, below a token of some name",
        "bad_usage",
        """
Token is valid (permission: fineGrained).
The token `gatedrepo` has been saved to /home/tea/.cache/huggingface/stored_tokens
Login successful.
>>>/var/spool/slurmd/job7/slurm_script: line 30: TEA_: unbound variable
""",
    ),
    Case(
        "versions that uv finds nowhere, on a terminal without its signs",
        "bad_usage",
        """
  x No solution found when resolving dependencies for split (python_full_version >= '3.13'):
>>>  `-> Because there is no version of tea==11.1.0 and your project depends on tea==11.1.0, we can conclude that your project's requirements are unsatisfiable.
  help: If you want to add the package regardless of the failed resolution, provide the `--frozen` flag.
""",
    ),
    Case(
        "a value that qsub refuses",
        "bad_usage",
        """
>>>qsub: illegal -N value "1tea"
usage: qsub [-a date_time] [-A account_string] [-b secs]
      [-C directive_prefix] [-d path] [-D path]
""",
    ),
    Case(
        "a command that has too few arguments",
        "bad_usage",
        """
>>>Error: "helm upgrade" requires 2 arguments

Usage:  helm upgrade [RELEASE] [CHART] [flags]
""",
    ),
    Case(
        "a script that PowerShell may not run",
        "bad_usage",
        """
PS C:\\> brew
>>>brew : File C:\\tea\\brew.ps1 cannot be loaded. The file C:\\tea\\brew.ps1 is not digitally signed.
At line:1 char:1
+ brew
    + CategoryInfo          : SecurityError: (:) [], PSSecurityException
    + FullyQualifiedErrorId : UnauthorizedAccess
""",
    ),
)
