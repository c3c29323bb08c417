"""Where the reason stands: below a heading, in a quotation, behind a bar, in front of what was printed late."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

HEADINGS = (
    Case(
        "what an operation of TensorFlow's graph says, without its stack",
        "script_error",
        """
Traceback (most recent call last):
  File "fit.py", line 3, in <module>
    model.fit(leaves)
tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:

Detected at node Tea/Parse defined at (most recent call last):
<stack traces unavailable>
>>>Feature: leaf (data type: string) is required but could not be found.
\t [[{{node Tea/Parse}}]]
""",
        "failed",
    ),
    Case(
        "what an operation of TensorFlow's graph says, below a stack of frames and source",
        "script_error",
        """
Traceback (most recent call last):
  File "fit.py", line 3, in <module>
    model.fit(leaves)
tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:

Detected at node 'Tea' defined at (most recent call last):
    File "fit.py", line 3, in <module>
      model.fit(leaves)
    File "/opt/site-packages/keras/engine/training.py", line 16, in fit
      tmp_logs = self.train_function(iterator)
Node: 'Tea'
>>>the lid does not fit the pot
\t [[{{node Tea}}]] [Op:__inference_train_function_3]
""",
    ),
    Case(
        "what an operation of TensorFlow's graph says, the first of two, below frames alone",
        "script_error",
        """
Traceback (most recent call last):
  File "fit.py", line 3, in <module>
    model.fit(leaves)
tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:

Detected at node Tea/Cast defined at (most recent call last):
  File "fit.py", line 3, in <module>

  File "/opt/site-packages/keras/src/engine/training.py", line 18, in fit

2 root error(s) found.
>>>  (0) INVALID_ARGUMENT:  Input to reshape is a tensor with 7 values, but the requested shape has 9
\t [[{{node Tea/Cast}}]]
  (1) INVALID_ARGUMENT:  Input to reshape is a tensor with 7 values, but the requested shape has 9
0 successful operations.
""",
    ),
    Case(
        "a banner, and the reason behind a label below it",
        "script_error",
        """
terminate called after throwing an instance of 'std::runtime_error'
  what():  *** verification of the lid failed ***
>>>Reason: the lid is not of steel
""",
    ),
    Case(
        "a call of R that failed, its words on the next line",
        "script_error",
        """
Error in read.table(file = "leaf.txt", header = TRUE) : 
>>>  no lines available in input
Calls: steep -> read.table
Execution halted
""",
    ),
    Case(
        "an assignment of R that failed, its words on the next line",
        "script_error",
        """
Error in cups[full] <- sizes[leaf[full]] : 
>>>  NAs are not allowed in subscripted assignments
Execution halted
""",
    ),
    Case(
        "an error of R whose words end in a colon",
        "missing_dependency",
        """
Error: package or namespace load failed for ‘kettle’ in dyn.load(file, DLLpath = DLLpath, ...):
>>> unable to load shared object '/opt/kettle.so':
Execution halted
""",
    ),
    Case(
        "a heading alone, and the reason below it",
        "script_error",
        """
Source file: src/flow/ranks.cpp (line 61)
Fatal error:
>>>The number of ranks that was asked for does not divide the grid.

For more information see the manual.
""",
    ),
    Case(
        "a heading in a box of a program in Fortran, before MPI ends all",
        "script_error",
        """
     Reading input from relax.in

 %%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%
     Error in routine set_grid (3):
>>>      the grid of the second cell is empty
 %%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%

     stopping ...
Abort(3) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3) - process 0
""",
        "failed",
    ),
    Case(
        "a heading with a level, an empty line and the reason",
        "script_error",
        """
ERROR: the following error occurred:

>>>the plan has no stage for these layers
""",
    ),
    Case(
        "a heading whose reason is known by itself",
        "network",
        """
ERROR: cannot prepare the data:
>>>curl: (6) Could not resolve host: data.example.org
""",
    ),
    Case(
        "headings with nothing below them",
        "",
        """
Errors:
  none
Error:
0.0134
Runtime error:
  mean = 2.5e-3
Failed checks:
Total failed: 0
[1/3] going on
""",
    ),
    Case(
        "an assertion of a test, indented as its source",
        "script_error",
        """
repo = 'demo/none'

    def load(repo):
        if repo:
            try:
>               raise LookupError(f"{repo} has no shards")
>>>E               LookupError: demo/none has no shards
""",
    ),
    Case(
        "a log that somebody has quoted, which begins in rich's frame",
        "script_error",
        """
> │   731 │   │   loss = self.step(batch)                                  │
> │ ❱ 733 │   │   self.scheduler.step(count=self.batch_size())             │
> ╰────────────────────────────────────────────────────────────────────────╯
>>>> TypeError: Warmup.step() got an unexpected keyword argument 'count'
> wandb: Waiting for W&B process to finish... (failed 1). Press Control-C to abort syncing.
> wandb: Run summary:
> wandb:   train_loss 8.9231
> wandb:   mean_loss 8.9
>
""",
        "failed",
    ),
    Case(
        "the summary of Weights & Biases is no step",
        "script_error",
        """
>>>TypeError: Warmup.step() got an unexpected keyword argument 'count'
wandb: Run summary:
wandb:   train_loss 8.9231
wandb:   mean_loss 8.9
wandb:   eval_loss 7.5
""",
    ),
    Case(
        "a network that is tried again while a bar counts images",
        "",
        """
Epoch 2/5:  40%|████      | 1832/4580 [04:16<05:47,  7.90img/s, loss (batch)=0.0489INFO: score: 0.96
Epoch 2/5:  80%|████████  | 3664/4580 [08:55<01:56,  7.87img/s, loss (batch)=0.0337wandb: Network error (ConnectTimeout), entering retry loop.
Epoch 2/5: 100%|██████████| 4580/4580 [11:14<00:00,  7.87img/s, loss (batch)=0.0396INFO: score: 0.97
""",
    ),
    Case(
        "what is uploaded behind a failure is no step",
        "network",
        """
>>>requests.exceptions.ConnectTimeout: the hub did not answer
model.bin:  40%|████      | 412M/1.00G [00:16<00:24, 25.1MB/s]
model.bin: 100%|██████████| 1.00G/1.00G [00:40<00:00, 25.0MB/s]
""",
    ),
    Case(
        "Ctrl-C while a worker was ending by itself, in the launcher's log first",
        "script_error",
        """
  File "/job/pool.py", line 97, in add
    data = self._remote.recv()
  File "/usr/lib/python3.10/multiprocessing/connection.py", line 250, in recv
    buf = self._recv_bytes()
KeyboardInterrupt
Process SpawnProcess-4:
Traceback (most recent call last):
  File "/usr/lib/python3.10/multiprocessing/process.py", line 297, in _bootstrap
    self.run()
  File "/job/write.py", line 9, in run
    event.step = int(step)
>>>ValueError: the step is out of range

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/usr/lib/python3.10/multiprocessing/process.py", line 300, in _bootstrap
    util._exit_function()
KeyboardInterrupt
""",
        "failed",
    ),
    Case(
        "Ctrl-C while a worker asked whether something had come",
        "interrupted",
        """
Traceback (most recent call last):
  File "/job/main.py", line 9, in <module>
    pool.join()
>>>KeyboardInterrupt
Process SpawnProcess-4:
Traceback (most recent call last):
  File "/job/wait.py", line 9, in run
    item = queue.get(timeout=1)
_queue.Empty

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/job/wait.py", line 11, in run
    time.sleep(1)
KeyboardInterrupt
""",
        "failed",
    ),
    Case(
        "what conda printed late, behind the end that it tells",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/train.py", line 98, in <module>
    config = Adapter(
  File "/env/lib/python3.12/site-packages/adapters/config.py", line 98, in __post_init__
    raise ValueError("`wide` should be a subset of `deep`")
>>>ValueError: `wide` should be a subset of `deep`

ERROR conda.cli.main_run:execute(47): `conda run python /job/train.py --wide` failed. (See above for error)
starting
{'loss': 2.0}
{'loss': 1.9}
{'loss': 1.8}
{'loss': 1.7}
{'loss': 1.6}
Conversion finished successfully
""",
        "failed",
    ),
    Case(
        "an exception whose words begin on the next line",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model = compile_all(model)
RuntimeError:
>>>The arguments of this call fit none of its forms.
The forms are:
""",
        "failed",
    ),
    Case(
        "an exception without words, and words that are known by themselves",
        "runtime_oom",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step()
flow.errors.ExecutionError:

>>>CUDA out of memory. Tried to allocate 2.00 GiB
""",
        "failed",
    ),
    Case(
        "an exception without words above titles between rules",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step()
RuntimeError:

----------------------------------------------------
- Framework Error Message:
----------------------------------------------------
>>>Launch of the kernel Default/Conv2D-op4 did not work

----------------------------------------------------
- C++ Call Stack: (For framework developers)
----------------------------------------------------
flow/runtime/kernel_runtime.cc:600 LaunchKernelMod
""",
        "failed",
    ),
    Case(
        "an exception without words, tracebacks in it, and the summary below them",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    loss.backward()
RuntimeError:

  Forward Traceback (most recent call last):
    File "train.py", line 6, in <module>
    b = a**2

--------------------------------------
C++ Traceback (most recent call last):
--------------------------------------
0   flow::Backward(std::vector<flow::Tensor, std::allocator<flow::Tensor> > const&)
1   flow::TensorWrapper::recover()

----------------------
Error Message Summary:
----------------------
>>>PermissionDeniedError: Tensor 'a' was changed in place: its version is 1, expected was 0.
  [Hint: Expected version == snapshot, but received version:1 != snapshot:0.] (at /flow/tensor_wrapper.h:264)
""",
        "failed",
    ),
    Case(
        "an exception that announces another one, frames of Python and C++ between",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    out = net(batch)
OSError: In user code:

    File "net.py", line 3, in forward
      x = self.fc(x)
    File "layers.py", line 31, in forward
      return flow.matmul(x, self.weight)

--------------------------------------
C++ Traceback (most recent call last):
--------------------------------------
0   flow::matmul(flow::Tensor const&, flow::Tensor const&)
1   flow::GpuMemcpySync(void*, void const*, unsigned long)

----------------------
Error Message Summary:
----------------------
>>>ExternalError: CUDA error(719), unspecified launch failure.
  [Hint: Please search for the error code.] (at /flow/cuda_info.cc:259)
""",
        "failed",
    ),
    Case(
        "an exception that ends in a colon, and one of another process",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    check(config)
>>>ValueError: these options are not known:
  - depth_of_mesh
  - width_of_mesh
  - height_of_mesh
Traceback (most recent call last):
  File "other.py", line 3, in <module>
    go()
TypeError: go() takes no list
""",
        "failed",
    ),
)
