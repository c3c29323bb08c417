"""Jobs that an exception of their own program ended: which exception states the reason."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

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
    Case(
        "a download that is tried again over another protocol",
        "network",
        """
Traceback (most recent call last):
  File "/opt/py/lib/fetching.py", line 90, in fetch
    opener.get(address)
  File "/opt/py/lib/urllib/request.py", line 1993, in http_error_default
    raise HTTPError(url, errcode, errmsg, headers, None)
urllib.error.HTTPError: HTTP Error 301: Moved Permanently

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/py/lib/fetching.py", line 93, in fetch
    opener.get(address.replace("http:", "https:"))
  File "/opt/py/lib/urllib/request.py", line 1993, in http_error_default
    raise HTTPError(url, errcode, errmsg, headers, None)
>>>urllib.error.HTTPError: HTTP Error 410: Gone
""",
        "failed",
    ),
    Case(
        "an exception that another line of the same program raises while it handles one",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in step
    raise ValueError("the batch holds no token")
>>>ValueError: the batch holds no token

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 12, in step
    raise ValueError("step 3 failed")
ValueError: step 3 failed
""",
        "failed",
    ),
    Case(
        "tracebacks of two ranks, mixed line by line",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 90, in <module>
Traceback (most recent call last):
    main()
  File "/job/fit.py", line 90, in <module>
  File "/job/fit.py", line 70, in main
    main()
    batch = next(it)
  File "/job/fit.py", line 70, in main
  File "/job/data.py", line 12, in __next__
    dist.barrier()
    return self.rows[i]
  File "/job/dist.py", line 9, in barrier
>>>KeyError: 'kettle'
    self.wait()
RuntimeError: NCCL communicator was aborted on rank 1.
""",
        ended="failed",
    ),
    Case(
        "an exception whose words only count the fits that failed, and the one of a fit below",
        "script_error",
        """
Traceback (most recent call last):
  File "tea.py", line 17, in <module>
    raise ValueError(message)
ValueError: 
All the 5 fits failed.
It is very likely that your model is misconfigured.

Below are more details about the failures:
--------------------------------------------------------------------------------
5 fits failed with the following error:
Traceback (most recent call last):
  File "tea.py", line 9, in fit
    pour(leaf)
>>>ValueError: could not convert string to float: 'leaf'
""",
        "failed",
    ),
    Case(
        "a plug-in that JAX does without, right above the exception that ended the program",
        "script_error",
        """
ERROR:2026-01-21 02:30:35,177:jax._src.xla_bridge:477: Jax plugin configuration error: Exception when calling jax_plugins.tea.initialize()
Traceback (most recent call last):
  File "/tea/lib/jax/_src/xla_bridge.py", line 475, in discover
    module.initialize()
RuntimeError: tea.cc:113: operation pour(0) failed: Unknown error 303. This probably means that JAX was unable to load the libraries.
Traceback (most recent call last):
  File "steep.py", line 24, in <module>
    pour(leaf)
>>>TypeError: a leaf is no shape
""",
        "failed",
    ),
    Case(
        "a module that is imported in place of one that is not there, and is not there either",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "load.py", line 8, in load
    module = importlib.import_module(name)
ModuleNotFoundError: No module named 'kettle'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "load.py", line 10, in load
    module = importlib.import_module(name, "pantry.kettles")
  File "/opt/site-packages/pantry/kettles/kettle.py", line 6, in <module>
    import teapot
>>>ModuleNotFoundError: No module named 'teapot'
""",
    ),
)
