"""Tracebacks in the forms that logs give them: behind fronts, in boxes, escaped, in objects, mixed, cut off."""

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
_ELASTIC = "E0203 04:05:06.000000 77 torch/distributed/elastic/multiprocessing/api.py:9]"

TRACEBACK_FORMS = (
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
        "a logger's traceback with a header on each line",
        "script_error",
        f"""
{_ELASTIC} Traceback (most recent call last):
{_ELASTIC}   File "/opt/spawn.py", line 215, in join
{_ELASTIC}     raise ProcessRaisedException(msg, index, pid)
>>>{_ELASTIC} torch.multiprocessing.spawn.ProcessRaisedException:
{_ELASTIC}
{_ELASTIC} -- Process 1 terminated with the following error:
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
        "Hydra cannot shorten a traceback",
        "script_error",
        """
Error executing job with overrides: ['cup=2']
An error occurred during Hydra's exception formatting:
AssertionError()
Traceback (most recent call last):
  File "/opt/site-packages/hydra/_internal/utils.py", line 254, in run_and_report
    assert mdl is not None
AssertionError

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "pour.py", line 168, in <module>
    main()
  File "/opt/site-packages/hydra/_internal/utils.py", line 296, in run_and_report
    raise ex
  File "pour.py", line 160, in main
    cup.pour(pot)
>>>AttributeError: 'Cup' object has no attribute 'pour'
""",
    ),
    Case(
        "a data loader's worker ended, and the loader sums that up",
        "script_error",
        """
Traceback (most recent call last):
  File "/opt/site-packages/torch/utils/data/dataloader.py", line 724, in _try_get_data
    data = self.data_queue.get(timeout=timeout)
>>>RuntimeError: DataLoader worker (pid 812) exited unexpectedly with exit code 1. Details are lost.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "pour.py", line 137, in train
    for cup in loader:
RuntimeError: DataLoader worker (pid(s) 812, 813) exited unexpectedly
""",
    ),
    Case(
        "a notebook's traceback that is cut off below its heading",
        "interrupted",
        """
---------------------------------------------------------------------------
>>>KeyboardInterrupt                         Traceback (most recent call last)
<ipython-input-4-fd> in <module>()
      4 cup = Cup()
----> 5 cup.pour(tea)

6 frames
/opt/site-packages/kettle.py in pour(self, tea)
    471         self.open()
--> 473         results = self.wait()
""",
    ),
    Case(
        "an exception whose report failed as well, and what TensorFlow quotes of the program",
        "script_error",
        """
Error in sys.excepthook:
Traceback (most recent call last):
  File "/srv/tracker.py", line 1007, in stop
    raise TrackerErrors(errors)
tracker.TrackerErrors: Caused by:
    * Invalid point: the text is too long

Original exception was:
Traceback (most recent call last):
  File "/srv/tea.py", line 122, in <module>
    brew()
  File "/opt/site-packages/tensorflow/python/framework/func_graph.py", line 986, in wrapper
    raise e.ag_error_metadata.to_exception(e)
ValueError: in user code:

    /opt/site-packages/tensorflow/python/keras/training.py:805 train_function  *
        return step_function(self, iterator)
    /opt/site-packages/tensorflow/python/keras/input_spec.py:219 check  **
        raise ValueError('Input ' + str(index) + ' of layer ' +

>>>    ValueError: Input 0 of layer pot is incompatible with the layer: expected ndim=4, found ndim=5.
""",
    ),
    Case(
        "the words of a C++ exception below their heading, before another process's report",
        "script_error",
        """
terminate called after throwing an instance of 'c10::Error'
  what():
>>>Mismatch of the lid and the pot
  registered at /srv/tea/pot.cpp:74
Traceback (most recent call last):
  File "brew.py", line 3, in <module>
    brew()
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
""",
    ),
)
