"""More logs of our own: headers that syslog, pages and launchers change, and what only follows from another failure."""

from __future__ import annotations

from tests.diagnose.cases import Case

RUNTIME = (
    Case(
        "the runtime's lines as syslog keeps them",
        "runtime_init",
        """
>>>NRT:  512:512 ERROR  TDRV:wide_get_core                           Could not find VNC id 9
NRT:  512:512 ERROR  NMGR:wide_stage                              Failed to stage graph: wide.json to NeuronCore
""",
    ),
    Case(
        "the runtime's lines without their stamps",
        "runtime_oom",
        ">>>512:514 ERROR  TDRV:wide_mem   Failed to allocate 2.000GB (usage: wide rings) on ND 3:NC 1\n",
    ),
    Case(
        "a size that does not fit a device, on a line that was cut",
        "runtime_oom",
        """
NRT_RESOURCE in nrt_load_wide
>>>Failed to allocate 3.000GB (alignment: 2.000MB, usage: wide pages)
Failed to stage the graph
""",
    ),
    Case(
        "a timeout that the runtime ignores",
        "",
        "512:514 ERROR  TDRV:wide_wait  (NON-FATAL, Ignoring) inference timeout (9000 ms) on Neuron Device 2 NC 1\n",
    ),
    Case(
        "two processes of the runtime that wrote over each other",
        "collective",
        ">>>2026-May-02 10:00:00.1234562026-May-02 10:00:00.123460 512:514 ERROR   ENC:wide_init                  "
        "513:515 ERROR   ENC:wide_groups                 [rank 1] failed (2) to find a ring\n"
        "2026-May-02 10:00:00.123470 512:514 ERROR   ENC:wide_load                 [nec_dev 1] failed to load it\n",
    ),
    Case(
        "a device that another process holds, as the kernel tells it",
        "runtime_init",
        ">>>May  2 10:00:00 box-7 kernel: [ 812.004411] neuron:wide_device_init: device inuse by pid:4711\n",
    ),
    Case(
        "no Neuron device for a pod",
        "runtime_init",
        """
  Type     Reason            Age   From           Message
>>>  Warning  FailedScheduling  9m    my-scheduler   0/2 nodes are available: 2 Insufficient aws.amazon.com/neuron.
""",
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
        "a device of another maker that has no room",
        "runtime_oom",
        """
>>>Out of Memory: Not enough space to allocate 1048576 B DRAM buffer across 4 banks
RuntimeError: Bad StatusOr access: INTERNAL: Error code: 13
""",
    ),
)
NINTH_CASES = (*RUNTIME,)
