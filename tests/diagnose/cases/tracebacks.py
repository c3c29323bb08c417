"""Jobs that an exception of their own program ended."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

_TRACEBACK = """
Traceback (most recent call last):
  File "/job/fit.py", line 12, in <module>
    run(config)
  File "/job/fit.py", line 7, in run
    shard = shards[rank]
>>>LookupError: no shard for this worker
"""


def _fronted(front: str) -> str:
    return "".join(f"{front}{line}\n" for line in _TRACEBACK.strip("\n").split("\n"))


_FRONTS = {
    "TorchX": "fit/0 [5]:",
    "SageMaker's MPI": "[1,mpirank:5,algo-1]<stderr>:",
    "SageMaker on this machine": "algo-2-q8z1k  | ",
    "pod and container": "fit-worker-5 trainer ",
    "a quotation": "> ",
    "a table with stamps": "| 2026-03-04T05:06:07.890Z | ",
    "a logger in brackets": "[2026-03-04 05:06:07,890] [ERROR] [starter] ",
    "host and rank": "node-5: [rank5]: ",
    "task and rank": " 5: [rank5]: ",
    "a container's runtime without fractions": "2026-03-04T05:06:07Z stderr F ",
}
_RELAYED = """
Traceback (most recent call last):
  File "/job/handler.py", line 9, in load
    self.words = vocabulary.words
>>>AttributeError: this vocabulary has no words
"""


def _relayed(front: str) -> str:
    return "".join(f"{front}{line}\n" for line in _RELAYED.strip("\n").split("\n"))


_TORCHSERVE = "2026-03-04 05:06:07,890 [INFO ] W-9001-fit_1.0-stdout org.pytorch.serve.wlm.WorkerLifeCycle - "
ELASTIC = "E0203 04:05:06.000000 77 torch/distributed/elastic/multiprocessing/api.py:9]"
TRACEBACKS = (
    Case(
        "the last cause of Java's, below those that it led to",
        "script_error",
        """
Exception in thread "main" java.lang.RuntimeException: the kettle did not start
\tat org.kettle.Main.main(Main.java:3)
Caused by: org.kettle.TankException: no level in the tank
\tat org.kettle.Tank.read(Tank.java:9)
>>>Caused by: java.io.FileNotFoundException: /tea/gauge (Permission denied)
\tat org.kettle.Gauge.open(Gauge.java:4)
\t... 3 more
""",
    ),
    Case(
        "pydantic says below its heading what is wrong with a model",
        "script_error",
        """
Traceback (most recent call last):
  File "serve.py", line 8, in <module>
    args = Arguments(**given)
pydantic_core._pydantic_core.ValidationError: 1 validation error for Arguments
>>>  Value error, max_batch_size [2048] is greater than that of the engine [type=value_error, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.10/v/value_error
""",
    ),
    Case(
        "pydantic says below its heading what is wrong with a field",
        "script_error",
        """
Traceback (most recent call last):
  File "serve.py", line 8, in <module>
    args = Arguments(**given)
pydantic_core._pydantic_core.ValidationError: 2 validation errors for Arguments
model.max_len
>>>  Input should be a valid integer [type=int_type, input_value='x', input_type=str]
    For further information visit https://errors.pydantic.dev/2.10/v/int_type
model.name
  Field required [type=missing, input_value={}, input_type=dict]
""",
    ),
    Case(
        "what the compiler of a graph raised",
        "compile_error",
        """
[rank4]: Traceback (most recent call last):
[rank4]:   File "train.py", line 8, in <module>
[rank4]:     loss = model(x)
[rank4]: torch._dynamo.exc.BackendCompilerFailed: backend='compile_fn' raised:
>>>[rank4]: AttributeError: 'int' object has no attribute 'meta'
""",
    ),
    Case(
        "an exception behind a list of weights that were left out",
        "script_error",
        """
size mismatch for head.weight: copying a param with shape torch.Size([8, 64]) from checkpoint, the shape in current model is torch.Size([4, 64]).
Traceback (most recent call last):
  File "/job/measure.py", line 30, in <module>
    names = labels[best]
>>>IndexError: list index out of range
""",
    ),
    Case(
        "a library that a letter marks as information",
        "script_error",
        """
10:00:01.616 [I] Unable to initialize backend 'tpu': Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory (812:xla_bridge.py:925)
Traceback (most recent call last):
  File "/job/train.py", line 30, in <module>
    run(step)
>>>ValueError: step has to be positive
""",
    ),
    Case(
        "a batch script that goes on behind its program, and says that its job is finished",
        "script_error",
        """
Job started on node-7
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    import wide
  File "/opt/site-packages/wide/__init__.py", line 12, in <module>
    TABLE = make(int_kind)
>>>TypeError: make() takes no arguments
Job finished
""",
    ),
    Case(
        "an uncaught exception",
        "script_error",
        """
2026-05-01 10:00:00.000001:  77  [INFO]: Using a cached neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff
Traceback (most recent call last):
  File "/opt/job/finetune.py", line 118, in <module>
    main()
  File "/opt/job/finetune.py", line 90, in main
    tokens = table[name]
             ~~~~~^^^^^^
>>>KeyError: 'labels'
""",
        "failed",
    ),
    Case(
        "the innermost of a chain with a direct cause",
        "script_error",
        """
Traceback (most recent call last):
  File "loader.py", line 7, in read
    return json.loads(text)
>>>json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "train.py", line 40, in <module>
    config = read(path)
RuntimeError: could not read the configuration
""",
        "failed",
    ),
    Case(
        "a probe at the bottom of a chain is not the cause",
        "script_error",
        """
Traceback (most recent call last):
  File "registry.py", line 12, in lookup
    return MODELS[kind]
KeyError: 'mamba3'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "serve.py", line 5, in <module>
    model = lookup(kind)
>>>ValueError: model kind mamba3 has no Neuron implementation
""",
    ),
    Case(
        "a chain through rank prefixes of two ranks",
        "script_error",
        """
[rank3]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank3]:   File "/job/step.py", line 9, in step
[rank1]:   File "/job/step.py", line 9, in step
[rank3]:     assert x.shape[0] == n
>>>[rank3]: AssertionError: batch of 7 does not divide into 4
[rank1]:     assert x.shape[0] == n
[rank1]: AssertionError: batch of 7 does not divide into 4
W0302 09:18:04.165000 46217 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 46301 closing signal SIGTERM
E0302 09:18:05.100000 46217 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: 3 (pid: 46304) of binary: /usr/bin/python3
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-03-02_09:18:04
  host      : node-7
  rank      : 3 (local_rank: 3)
  exitcode  : 1 (pid: 46304)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
""",
        "failed",
    ),
    Case(
        "line ends escaped in JSON",
        "script_error",
        r"""
{"time": "2026-02-01T00:00:00Z", "stream": "stderr", "host": "a"}
>>>{"log":"Traceback (most recent call last):\n  File \"/app/run.py\", line 4, in <module>\n    go()\nTypeError: unsupported operand type(s) for +: 'int' and 'NoneType'\n","stream":"stderr","time":"2026-02-01T00:00:01Z"}
""",
    ),
    Case(
        "a notebook's output as strings of a list",
        "script_error",
        r"""
   "outputs": [
    {
     "ename": "IndexError",
     "traceback": [
      "\u001b[0;31m---------------------------------------------------------------------------\u001b[0m",
      "\u001b[0;31mIndexError\u001b[0m                                Traceback (most recent call last)",
      "\u001b[0;32m/tmp/ipykernel_7/12.py\u001b[0m in \u001b[0;36m<module>\u001b[0;34m\u001b[0m\n\u001b[0;32m----> 1\u001b[0;31m \u001b[0mx\u001b[0m\n",
>>>      "\u001b[0;31mIndexError\u001b[0m: list index out of range"
     ]
""",
    ),
    Case(
        "a remote traceback between quotes",
        "script_error",
        '''
multiprocessing.pool.RemoteTraceback:
"""
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/pool.py", line 125, in worker
    result = (True, func(*args, **kwds))
  File "prep.py", line 3, in split
    raise ValueError("empty shard")
>>>ValueError: empty shard
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "prep.py", line 30, in <module>
    pool.map(split, shards)
ValueError: empty shard
''',
    ),
    Case(
        "peers that only saw the connection close",
        "script_error",
        """
[rank0]: RuntimeError: [enforce fail at tcp.cc:77] Connection closed by peer [10.1.1.2]:4000
[rank5]: Traceback (most recent call last):
[rank5]:   File "train.py", line 3, in <module>
[rank5]:     main()
>>>[rank5]: FloatingPointError: gradient norm is not finite
[rank0]: BrokenPipeError: [Errno 32] Broken pipe
""",
    ),
    Case(
        "srun's task numbers",
        "script_error",
        """
0: loading
3: Traceback (most recent call last):
1: Traceback (most recent call last):
3:   File "/job/a.py", line 3, in <module>
1:   File "/job/a.py", line 3, in <module>
3:     check(x)
>>>3: ArithmeticError: scale of layer 7 is zero
1:     check(x)
1: ArithmeticError: scale of layer 7 is zero
srun: error: node-1: tasks 1,3: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "a host's name in front of each line",
        "script_error",
        """
ip-10-0-1-7: Traceback (most recent call last):
ip-10-0-1-9: step 3
ip-10-0-1-7:   File "/job/a.py", line 3, in <module>
ip-10-0-1-7:     check(x)
>>>ip-10-0-1-7: LookupError: shard 9 of the index is missing
""",
    ),
    Case(
        "a process of its own dies of an exception",
        "script_error",
        """
Process SpawnProcess-3:
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/process.py", line 314, in _bootstrap
    self.run()
  File "worker.py", line 7, in run
    raise OSError("tokenizer.json holds no merges")
>>>OSError: tokenizer.json holds no merges
""",
    ),
    Case(
        "Windows' line ends",
        "script_error",
        """
loading\r
Traceback (most recent call last):\r
  File "a.py", line 3, in <module>\r
    go()\r
>>>TypeError: go() missing 1 required positional argument: 'x'\r
""",
    ),
    Case(
        "a kernel function that breaks its rules",
        "script_error",
        """
Traceback (most recent call last):
  File "kernel.py", line 12, in add
    nl.store(out, x)
>>>SyntaxError: tile of 200 partitions is larger than 128
""",
    ),
    Case(
        "an output buffer that is printed behind the traceback",
        "script_error",
        """
Traceback (most recent call last):
  File "a.py", line 9, in <module>
    evaluate()
>>>ZeroDivisionError: division by zero
E0302 09:18:05.100000 46217 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: 0 (pid: 46304) of binary: /usr/bin/python3
step 1 loss: 2.1
step 2 loss: 2.0
step 3 loss: 1.9
step 4 loss: 1.8
step 5 loss: 1.7
step 6 loss: 1.6
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
""",
    ),
    Case(
        "a job that prints its time after it failed",
        "script_error",
        """
Traceback (most recent call last):
  File "a.py", line 1, in <module>
>>>NameError: name 'modle' is not defined

real\t0m3.343s
user\t0m2.984s
sys\t0m0.249s
""",
        "failed",
    ),
    Case(
        "a shard's traceback in a line of Rust's tracing",
        "script_error",
        r"""
{"timestamp":"2026-08-29T14:40:16.2Z","level":"INFO","fields":{"message":"Waiting for shard to be ready..."},"target":"launcher","span":{"rank":0}}
>>>{"timestamp":"2026-08-29T14:40:17.1Z","level":"ERROR","fields":{"message":"Shard complete standard error output:\n\nTraceback (most recent call last):\n  File \"/app/server\", line 8, in <module>\nRuntimeError: no model for 8 cores"},"target":"launcher"}
{"timestamp":"2026-08-29T14:40:17.2Z","level":"ERROR","fields":{"message":"Shard 0 failed to start"},"target":"launcher"}
""",
    ),
    *(Case(f"a traceback behind {name}", "script_error", _fronted(front), "failed") for name, front in _FRONTS.items()),
    Case(
        "words in front of a traceback's heading alone",
        "script_error",
        """
step 3 of 9 Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
>>>LookupError: no shard for this worker
""",
        "failed",
    ),
    Case(
        "two tracebacks behind names of pods, mixed",
        "script_error",
        """
fit-0 main Traceback (most recent call last):
fit-1 main Traceback (most recent call last):
fit-0 main   File "/job/fit.py", line 7, in run
fit-1 main   File "/job/fit.py", line 8, in run
fit-1 main     check(x)
>>>fit-1 main LookupError: no shard for this worker
fit-0 main     check(x)
fit-0 main BufferError: nothing to read
""",
        "failed",
    ),
    Case(
        "TorchScript's own traceback",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/serve.py", line 12, in <module>
    model(x)
RuntimeError: The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__/wrapper.py", line 7, in forward
    _0 = ops.neuron.forward(x)
>>>RuntimeError: expected 4 inputs, got 3
""",
        "failed",
    ),
    Case(
        "a log that ends inside a traceback",
        "script_error",
        """
step 3 loss: 4.0
Traceback (most recent call last):
  File "fit.py", line 4, in <module>
    main()
  File "/job/fit.py", line 44, in main
>>>    return self.forw
""",
        "failed",
    ),
    Case(
        "a log that ends inside a traceback behind the name of a pod",
        "script_error",
        """
fit-0 main Traceback (most recent call last):
>>>fit-0 main   File "/job/fit.py", line 44, in main
""",
        "failed",
    ),
    Case("a traceback that TorchServe passes on", "script_error", _relayed(_TORCHSERVE), "failed"),
    Case(
        "a traceback on the error stream that TorchServe passes on as a warning",
        "script_error",
        _relayed(_TORCHSERVE.replace("INFO", "WARN").replace("stdout", "stderr")),
        "failed",
    ),
    Case("a traceback whose lines all are information", "script_error", _relayed("INFO: "), "failed"),
    Case(
        "an exception that quotes the one of its subprocess",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/registry.py", line 9, in inspect
    raise RuntimeError(text)
RuntimeError: the subprocess has failed:
Traceback (most recent call last):
  File "/job/model.py", line 2, in <module>
    import parts
>>>AttributeError: this version has no such operator
""",
        "failed",
    ),
    Case(
        "a run of Ray that only points at the exception of its worker",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/driver.py", line 9, in <module>
    trainer.fit()
ray.train.base_trainer.TrainingFailedError: the run has failed, see above
ray.exceptions.RayTaskError(LookupError): ray::_Inner.train() (pid=70, ip=10.0.0.7)
  File "/job/fit.py", line 12, in train
>>>LookupError: no shard for this worker
""",
        "failed",
    ),
    Case(
        "a launcher's return code behind the exception",
        "script_error",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    main()
>>>ValueError: no such split
[2026-05-04 07:08:09,124] [ERROR] [run.py:13:end_handler] ['/usr/bin/python3', '-u', 'fit.py'] exits with return code = 1
""",
        "failed",
    ),
    Case(
        "a worker raises, and ten minutes later the others have waited in vain",
        "script_error",
        """
step 41 loss 2.0
[rank3]: Traceback (most recent call last):
[rank3]:   File "/job/fit.py", line 7, in <module>
[rank3]:     main()
>>>[rank3]: ValueError: no label in shard 7
[rank0]:[E503 07:18:10.123456789 SomeGroup.cpp:34] [Rank 0] Watchdog caught collective operation timeout: it ran for 600060 milliseconds
[rank1]:[E503 07:18:10.123456789 SomeGroup.cpp:34] [Rank 1] Watchdog caught collective operation timeout: it ran for 600060 milliseconds
""",
        "failed",
    ),
    Case(
        "peers that left come before the worker that says why",
        "script_error",
        """
[rank1]: torch.distributed.DistBackendError: NCCL error in: somewhere.cpp:12, remote process exited or there was a network error
[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/fit.py", line 7, in <module>
>>>[rank0]: IndexError: list index out of range
""",
        "failed",
    ),
    Case(
        "a file that a network file system has lost",
        "tool_error",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    save()
>>>RuntimeError: write(): fd 7 failed with Stale file handle
terminate called after throwing an instance of 'c10::Error'
  what():  a pointer is null
""",
        "failed",
    ),
    Case(
        "a reader of data behind a report's margin",
        "script_error",
        """
fit.D0
>>>        | [rank0]: FileNotFoundError: Caught FileNotFoundError in DataLoader worker process 2.
        | [rank0]: Original Traceback (most recent call last):
        | [rank0]:   File "/job/data.py", line 7, in read
        | [rank0]:     data = [self.rows[i] for i in batch]
""",
    ),
    Case(
        "a worker of a data set's map that died",
        "script_error",
        """
Map (num_proc=4):  40%|####      | 400/1000 [00:03<00:05, 101.10 examples/s]
Traceback (most recent call last):
  File "/job/prepare.py", line 3, in <module>
    rows.map(work, num_proc=4)
>>>RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.
""",
        "failed",
    ),
    Case(
        "a logger's traceback with a header on each line",
        "script_error",
        f"""
{ELASTIC} Traceback (most recent call last):
{ELASTIC}   File "/opt/spawn.py", line 215, in join
{ELASTIC}     raise ProcessRaisedException(msg, index, pid)
>>>{ELASTIC} torch.multiprocessing.spawn.ProcessRaisedException:
{ELASTIC}
{ELASTIC} -- Process 1 terminated with the following error:
""",
        "failed",
    ),
    Case(
        "a traceback in a box",
        "script_error",
        """
╭─────────────────── Traceback (most recent call last) ───────────────────╮
│ /job/fit.py:7 in <module>                                               │
│                                                                         │
│   5 │   failed = 0                                                      │
│ ❱ 7 │   raise ValueError("no such split")                               │
╰─────────────────────────────────────────────────────────────────────────╯
>>>ValueError: no such split
""",
        "failed",
    ),
    Case(
        "a box that is cut off",
        "script_error",
        """
step 3 loss 2.0
╭─────────────────── Traceback (most recent call last) ───────────────────╮
│ /job/fit.py:7 in <module>                                               │
>>>│ ❱ 7 │   main(
""",
        "failed",
    ),
    Case(
        "a script that is started and is not there",
        "script_error",
        """
Traceback (most recent call last):
  File "/usr/lib/python3.12/subprocess.py", line 1955, in _execute_child
    raise child_exception_type(errno_num, err_msg, err_filename)
>>>FileNotFoundError: [Errno 2] No such file or directory: './run/step2.sh'
""",
        "failed",
    ),
    Case(
        "a script that the shell cannot enter, and the exception that ended the job",
        "script_error",
        """
run.sh: line 4: cd: /data/wide: No such file or directory
Traceback (most recent call last):
  File "/job/wide.py", line 3, in <module>
>>>ValueError: no rows
""",
        "failed",
    ),
    Case(
        "ranks that waited, printed before the exception of the one that did not",
        "script_error",
        """
[rank1]:[E101 10:00:00.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.
[rank3]: Traceback (most recent call last):
[rank3]:   File "/job/wide.py", line 3, in <module>
>>>[rank3]: RuntimeError: shapes do not match
""",
        "failed",
    ),
    Case(
        "a traceback inside the launcher's table",
        "script_error",
        """
E0527 09:05:54.711000 1403 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: 1) local_rank: 3 (pid: 721) of binary: /opt/python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
wide.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 3 (local_rank: 3)
  exitcode  : 1 (pid: 721)
  error_file: /tmp/e/error.json
  traceback : Traceback (most recent call last):
    File "/opt/torch/errors/__init__.py", line 355, in wrapper
      return f(*args, **kwargs)
    File "/job/wide.py", line 12, in main
      raise ValueError("no rows")
>>>  ValueError: no rows

============================================================
""",
        "failed",
    ),
    Case(
        "NCCL's warning that nobody knows, and the exception that ended the rank",
        "script_error",
        """
box-7:310:351 [0] transport/wide.cc:88 NCCL WARN Peer 3 refused the handshake
Traceback (most recent call last):
  File "/job/wide.py", line 3, in <module>
>>>ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "a test's name that has words of failures in it",
        "script_error",
        """
ERROR [2.001s]: test_barrier_timeout_of_wide (__main__.WideTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/job/test_wide.py", line 9, in test_barrier_timeout_of_wide
>>>RuntimeError: the second barrier was left too early
""",
        "failed",
    ),
    Case(
        "TensorFlow's heading, and the first of the errors below it",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/net.py", line 9, in call
tensorflow.python.framework.errors_impl.InternalError: 2 root error(s) found.
>>>  (0) Internal: the convolution found no plan
\t [[{{node wide/Conv2D}}]]
  (1) Internal: the convolution found no plan
""",
        "failed",
    ),
    Case(
        "an exception is not taken back",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 3, in <module>
>>>ValueError: shards do not add up
Falling back to the last checkpoint
""",
        "failed",
    ),
    Case(
        "a thread that ended for a reason of its own",
        "script_error",
        """
Exception in thread Loader:
Traceback (most recent call last):
  File "/usr/lib/python3.12/threading.py", line 1073, in _bootstrap_inner
    self.run()
>>>IndexError: pop from an empty deque
""",
    ),
    Case(
        "the watchdog takes its process down, and the exception of the rank that had gone",
        "script_error",
        """
[rank5]:[E502 10:00:00.483540349 ProcessGroupNCCL.cpp:681] [Rank 5] Some NCCL operations have failed or timed out.
[rank2]: Traceback (most recent call last):
[rank2]:   File "/job/wide.py", line 3, in <module>
>>>[rank2]: ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "a heading behind a progress bar, and its frames behind the launcher's host",
        "script_error",
        """
 2%|1         | 224/13945 [25:36<39:50:56, 10.46s/it]Traceback (most recent call last):
box7:   File "/job/wide.py", line 31, in fit
box7:     step()
box7:   File "/job/wide.py", line 12, in step
box7:     raise ValueError("shards do not add up")
>>>box7: ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "a heading whose frames stand behind nothing, beside another process's log",
        "script_error",
        """
Traceback (most recent call last):
box8: loading shard 3
  File "/job/wide.py", line 12, in step
    raise ValueError("shards do not add up")
>>>ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "a signal behind an exception of the job's own",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in step
    raise ValueError("shards do not add up")
>>>ValueError: shards do not add up
box7: got signal 15, leaving
""",
        "failed",
    ),
    Case(
        "a failure behind an exception that Python ignored",
        "script_error",
        """
Exception ignored in: <function Wide.__del__ at 0x7f0000000000>
RuntimeError: the wide queue is closed
Traceback (most recent call last):
  File "/job/wide.py", line 12, in step
    raise ValueError("shards do not add up")
>>>ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "a rank that blames another one, and what stopped that one, with Kaggle's numbers in front",
        "tool_error",
        """
704.7s\t11\t[rank1]: Traceback (most recent call last):
704.7s\t12\t[rank1]:   File "/job/wide.py", line 12, in step
704.7s\t13\t[rank1]:     dist.barrier()
704.7s\t14\t[rank1]: RuntimeError: Rank 1 successfully reached monitoredBarrier, but received errors while waiting \
for send/recv from rank 0. Please check rank 0 logs for faulty rank.
705.1s\t15\tTraceback (most recent call last):
705.1s\t16\t  File "/job/wide.py", line 31, in save
705.1s\t17\t    f.write(shard)
>>>705.1s\t18\tOSError: [Errno 28] No space left on device
""",
        "failed",
    ),
    Case(
        "an exception that a compiler's front end only wraps, in the journal",
        "script_error",
        """
May 02 10:00:00 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:00 [core.py:13] EngineCore failed to start.
May 02 10:00:00 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:00 [core.py:13] Traceback (most recent call last):
May 02 10:00:00 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:00 [core.py:13]   File "/opt/v/torch/_inductor/wide.py", line 22, in load
May 02 10:00:00 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:00 [core.py:13]     import wide
>>>May 02 10:00:00 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:00 [core.py:13] RuntimeError: Found no C compiler; name one in CC.
May 02 10:00:01 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:01 [core.py:13]
May 02 10:00:01 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:01 [core.py:13] The above exception was the direct cause of the following exception:
May 02 10:00:01 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:01 [core.py:13]
May 02 10:00:01 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:01 [core.py:13] Traceback (most recent call last):
May 02 10:00:01 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:01 [core.py:13]   File "/opt/v/wide/core.py", line 13, in run
May 02 10:00:01 box-1 serve[87]: (EngineCore pid=87) ERROR 05-02 10:00:01 [core.py:13] torch._inductor.exc.InductorError: RuntimeError: Found no C compiler; name one in CC.
""",
        "failed",
    ),
    Case(
        "a program that asks a question and has no terminal",
        "script_error",
        """
05/02/2026 10:00:00 INFO     Press 'ENTER' to stop
05/02/2026 10:00:01 ERROR    Got Exception on main handler:
Traceback (most recent call last):
  File "/opt/wide/cli.py", line 9, in run
    input()
>>>EOFError: EOF when reading a line
05/02/2026 10:00:01 CRITICAL An unexpected crash has occurred. Crash report written to /tmp/w.log
""",
        "failed",
    ),
    Case(
        "a checkpoint that is cut off",
        "script_error",
        """
Traceback (most recent call last):
  File "wide.py", line 9, in <module>
    sd = torch.load("w.pt")
>>>EOFError: Ran out of input
""",
        "failed",
    ),
    Case(
        "a rank behind Slurm's number and its own, with carets below the source",
        "script_error",
        """
29: [rank29]: Traceback (most recent call last):
29: [rank29]:   File "/opt/v/wide/module.py", line 13, in step
29: [rank29]:     optimizer.step(closure=c)
29: [rank29]:                   ^^^^^^^^^^^
>>>29: [rank29]: RuntimeError: Rank 29: unexpected result nan
srun: error: box-5: task 29: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "an exception in a tree of a benchmark's output",
        "script_error",
        """
    * 1 x W0502 10:00:00.983000 41 torch/distributed/elastic/multiprocessing/api.py:9] Sending process 40 closing signal SIGTERM
        | [rank0]: Traceback (most recent call last):
        | [rank0]:   File "/opt/v/torch/_utils.py", line 7, in reraise
        | [rank0]:     raise exception
>>>        | [rank0]: FileNotFoundError: Caught FileNotFoundError in DataLoader worker process 2.
        | [rank0]: Original Traceback (most recent call last):
        | [rank0]:   File "/opt/v/torch/utils/data/_utils/worker.py", line 3, in _worker_loop
        | [rank0]:     data = fetcher.fetch(index)
""",
        "failed",
    ),
    Case(
        "two services of a composition, one of which ends",
        "script_error",
        """
trainer-1  | 2026-05-02 10:00:00,201 INFO starting
trainer-1  | Traceback (most recent call last):
trainer-1  |   File "/app/wide.py", line 18, in <module>
db-1       | 2026-05-02 10:00:00.107 UTC [33] LOG:  could not receive data from client: Connection reset by peer
trainer-1  |     cfg = load(open(path))
>>>trainer-1  | FileNotFoundError: [Errno 2] No such file or directory: '/app/w.yaml'
trainer-1 exited with code 1
""",
        "failed",
    ),
    Case(
        "a full disk in the middle of a detector's training",
        "tool_error",
        """
[05/02 10:00:00 wide.checkpoint]: Saving checkpoint to ./out/model_7.pth
ERROR [05/02 10:00:00 wide.engine.train_loop]: Exception during training:
Traceback (most recent call last):
  File "/opt/wide/engine/train_loop.py", line 9, in train
    self.after_step()
>>>OSError: [Errno 28] No space left on device
[05/02 10:00:01 wide.engine.hooks]: Overall training speed: 7 iterations in 0:00:31 (0.28 s / it)
[05/02 10:00:01 wide.engine.hooks]: Total training time: 0:00:40 (0:00:08 on hooks)
""",
        "failed",
    ),
    Case(
        "a rank that raises, below a rank that only saw it leave",
        "script_error",
        """
[rank0]: Traceback (most recent call last):
[rank0]:   File "wide.py", line 9, in <module>
[rank0]:     dist.barrier()
[rank0]: RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.5]:1234
[rank5]: Traceback (most recent call last):
[rank5]:   File "wide.py", line 7, in <module>
[rank5]:     check(batch)
>>>[rank5]: AssertionError: batch has 3 labels, expected 4
W0502 10:00:00.000000 11 torch/distributed/elastic/multiprocessing/api.py:9] Sending process 12 closing signal SIGTERM
""",
        "failed",
    ),
    Case(
        "a checkpoint whose writers' exceptions are quoted, rank by rank",
        "tool_error",
        """
[rank0]:[titan] 2026-05-12 17:07:23,237 - root - INFO - step: 3000  loss:  3.63069  memory: 92.49GiB(97.36%)  tps: 77,538  mfu: 11.30%
[rank0]:[titan] 2026-05-12 17:07:23,237 - root - INFO - Saving the checkpoint (or staging if async is enabled).
[rank0]:Traceback (most recent call last):
[rank0]:  File "/opt/titan/train.py", line 69, in <module>
[rank0]:    main()
[rank0]:  File "/opt/env/lib/python3.12/site-packages/torch/distributed/checkpoint/utils.py", line 219, in reduce_scatter
[rank0]:    raise result
[rank0]:torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([3, 5])
[rank0]:Traceback (most recent call last): (RANK 3)
[rank0]:  File "/opt/env/lib/python3.12/site-packages/torch/distributed/checkpoint/filesystem.py", line 240, in _write_item
[rank0]:    stream.write(data)
>>>[rank0]:OSError: [Errno 28] No space left on device
[rank0]:Traceback (most recent call last): (RANK 5)
[rank0]:  File "/opt/env/lib/python3.12/site-packages/torch/serialization.py", line 820, in __exit__
[rank0]:    self.file_like.write_end_of_file()
[rank0]:RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 704 vs 598
""",
    ),
    Case(
        "a compile of PyTorch's that quotes what its back end raised",
        "compile_error",
        """
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/bench.py", line 30, in <module>
[rank0]:     out = compiled(x)
[rank0]:   File "/opt/env/lib/python3.12/site-packages/torch/_dynamo/output_graph.py", line 1611, in _call_user_compiler
[rank0]:     raise BackendCompilerFailed(
[rank0]: torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:
>>>[rank0]: LoweringException: NotImplementedError: View+mutation on aten.index_put_ is not supported
[rank0]:   target: aten.index_put_.default
[rank0]:   args[0]: TensorBox(StorageBox(
""",
    ),
    Case(
        "a structured logger that keeps the traceback in a member of its own",
        "script_error",
        r"""
{"severity":"INFO","time":"2026-05-01T10:00:00Z","rank":3,"message":"step 120 loss 2.22"}
{"severity":"INFO","time":"2026-05-01T10:00:02Z","rank":3,"message":"step 121 loss 2.21"}
>>>{"severity":"ERROR","time":"2026-05-01T10:00:04Z","rank":3,"message":"training loop crashed","exc_info":"Traceback (most recent call last):\n  File \"/app/loop.py\", line 90, in step\n    batch = next(it)\n  File \"/app/data.py\", line 31, in __next__\n    raise ValueError('bad sample id 8812')\nValueError: bad sample id 8812"}
{"severity":"INFO","time":"2026-05-01T10:00:05Z","rank":3,"message":"closing writers"}
""",
    ),
    Case(
        "a structured logger that keeps exceptions as objects",
        "script_error",
        """
{"event":"start","level":"info","timestamp":"2026-05-01T10:00:00Z"}
>>>{"event":"run failed","level":"error","timestamp":"2026-05-01T10:00:02Z","exception":[{"exc_type":"TypeError","exc_value":"unsupported operand","syntax_error":null,"is_cause":false,"frames":[{"filename":"/app/t.py","lineno":3,"name":"<module>"}]}]}
""",
    ),
    Case(
        "what a reader of data has raised, in a log that begins with what its parent says",
        "script_error",
        """
KeyError: Caught KeyError in DataLoader worker process 3.
Original Traceback (most recent call last):
  File "/opt/v/torch/utils/data/_utils/worker.py", line 3, in _worker_loop
    data = fetcher.fetch(index)
  File "/job/data.py", line 7, in __getitem__
    return self.rows[index]
>>>KeyError: 17
""",
        "failed",
    ),
    Case(
        "what a copy of the model has raised, with the traceback of its parent",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 4, in <module>
    out = model(rows)
ValueError: Caught ValueError in replica 1 on device 1.
Original Traceback (most recent call last):
  File "/job/model.py", line 7, in forward
    raise ValueError(size)
>>>ValueError: 40 rows do not fit 32
""",
        "failed",
    ),
    Case(
        "a log that begins inside a traceback and ends inside another",
        "compile_error",
        """
    self._load()
  File "/opt/v/tiles/compiler.py", line 85, in _load
    raise OutOfResources(needed, limit)
>>>tiles.errors.OutOfResources: out of resource: shared memory, Required: 99000, Hardware limit: 65536

[2026-05-02 10:00:00 TP3] the worker has met an exception: Traceback (most recent call last):
  File "/opt/v/serve/worker.py", line 93, in run
    worker = Worker(
""",
        "failed",
    ),
    Case(
        "a log that begins with frames of a stack, and a logger behind them",
        "",
        """
    self._load()
  File "/opt/v/tiles/compiler.py", line 85, in _load
    show_stack()
tiles.compiler: loaded in 3 seconds
done
""",
    ),
    Case(
        "an exception that ends in a colon, and torchrun's own traceback far below it",
        "script_error",
        """
Traceback (most recent call last):
  File "/srv/align.py", line 8, in main
    trainer.train()
>>>RuntimeError: MapAdd: condition !(((place) != nullptr)): 

Compiler status PASS
the other worker is at work
E0502 10:00:00.561000 58 torch/distributed/elastic/multiprocessing/api.py:8] failed (exitcode: 4) local_rank: 0 (pid: 61) of binary: /opt/v/bin/python
Traceback (most recent call last):
  File "/opt/v/torch/distributed/run.py", line 9, in main
    run(args)
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
""",
        "failed",
    ),
    Case(
        "an exception of another worker as PyTorch's RPC shows it",
        "script_error",
        """
On WorkerInfo(id=3, name=worker_3):
ValueError('no rows', 7)
Traceback (most recent call last):
  File "/opt/v/torch/distributed/rpc/internal.py", line 2, in _run_function
    result = udf.func(*udf.args)
  File "/srv/loop.py", line 24, in run
    worker.train()
>>>ValueError: ('no rows', 7)
""",
        "failed",
    ),
    Case(
        "ranks behind the numbers of an editor's lines",
        "script_error",
        """
 11  [rank1]: Traceback (most recent call last):
 12  [rank1]:   File "/srv/ddp.py", line 43, in <module>
 13  [rank1]:     main()
>>> 14  [rank1]: ValueError: no rows
127  srun: error: g15: task 1: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "a compiler that died, wrapped by an exception of its caller",
        "compile_crashed",
        """
Traceback (most recent call last):
  File "/app/lower.py", line 9, in lower
    subprocess.run(cmd, check=True)
>>>subprocess.CalledProcessError: Command '['/opt/wide/bin/wide-opt', '/tmp/k.mlir']' died with <Signals.SIGSEGV: 11>.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/train.py", line 9, in <module>
    step(state)
wide.LoweringError: 
[lower] meets an error:
Stack dump:
""",
        "failed",
    ),
    Case(
        "a compiler that was killed, wrapped by an exception of its caller",
        "compile_killed",
        """
Traceback (most recent call last):
  File "/app/lower.py", line 9, in lower
    subprocess.run(cmd, check=True)
>>>subprocess.CalledProcessError: Command '['g++', '-c', 'k.cpp']' died with <Signals.SIGKILL: 9>.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/train.py", line 9, in <module>
    step(state)
RuntimeError: the extension is not built
""",
        "failed",
    ),
    Case(
        "a program that died, wrapped by an exception of its caller",
        "script_error",
        """
Traceback (most recent call last):
  File "/app/lower.py", line 9, in lower
    subprocess.run(cmd, check=True)
>>>subprocess.CalledProcessError: Command '['/opt/rows', 'in']' died with <Signals.SIGSEGV: 11>.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/train.py", line 9, in <module>
    step(state)
RuntimeError: no rows were read
""",
        "failed",
    ),
    Case(
        "a program that was asked to end, and what its caller makes of it",
        "script_error",
        """
Traceback (most recent call last):
  File "/app/lower.py", line 9, in lower
    subprocess.run(cmd, check=True)
subprocess.CalledProcessError: Command '['/opt/rows', 'in']' died with <Signals.SIGTERM: 15>.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/train.py", line 9, in <module>
    step(state)
>>>RuntimeError: no rows were read
""",
        "failed",
    ),
    Case(
        "a program that died, whose own words stand above",
        "script_error",
        """
>>>wide.cpp:12: Assertion `rows > 0' failed.
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
subprocess.CalledProcessError: Command '['python', 'rows.py']' died with <Signals.SIGABRT: 6>.
""",
    ),
    Case(
        "a compiler that died in a trial",
        "",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
subprocess.CalledProcessError: Command '['gcc', 'probe.c']' died with <Signals.SIGSEGV: 11>.
step 1 loss 1
step 2 loss 1
""",
    ),
    Case(
        "a traceback that a line of another process cuts in two, which looks like an exception",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step()
Loss: 2.3
  File "train.py", line 4, in step
    return batch["ids"]
>>>KeyError: 'no ids in this batch'
""",
        "failed",
    ),
    Case(
        "such a line right above the exception",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step()
Configuration: a small plan
>>>KeyError: 'no ids in this batch'
""",
        "failed",
    ),
    Case(
        "an exception of the program's own whose name does not say that it is one",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step()
>>>PlanIsGone: the plan of the mesh was taken away
the job ends
""",
        "failed",
    ),
)
