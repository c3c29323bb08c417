"""Collectives and the ranks that meet in them."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import CCOM

COLLECTIVES = (
    Case(
        "Open MPI's transport over TCP reads no more",
        "collective",
        """
rank 1 pours
>>>[tea7][[401,1],3][btl_tcp_frag.c:215:mca_btl_tcp_frag_recv] mca_btl_tcp_frag_recv: readv error (0x55d0c0ffee, 4096)
\tBad address(1)

[tea8.example:977] pml_ob1_sendreq.c:188 FATAL
""",
    ),
    Case(
        "a GPU's reason below NCCL's last error",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "train.py", line 4, in <module>
    dist.init_process_group("nccl")
torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:41, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5
ncclUnhandledCudaError: Call to CUDA function failed.
Last error:
>>>Cuda failure 'uncorrectable ECC error encountered'
""",
    ),
    Case(
        "the exception of the worker that the launcher reports, though it only met another's end",
        "collective",
        """
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/train.py", line 30, in <module>
[rank1]:     broadcast(sizes)
>>>[rank1]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:7, remote process exited or there was a network error
[rank1]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
./train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-05-16_10:00:00
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 812)
  error_file: <N/A>
""",
    ),
    Case(
        "InfiniBand's error behind NCCL's",
        "collective",
        """
[E ProcessGroupNCCL.cpp:852] [Rank 3] NCCL watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error
ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
Last error:
>>>NET/IB : Got completion from peer 10.1.0.4<4711> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor err 129
terminate called after throwing an instance of 'c10::DistBackendError'
""",
    ),
    Case(
        "a crash that others notice by a closed connection",
        "script_error",
        """
>>>Fatal Python error: PyThreadState_Get: the function must be called with the GIL held
[TP1] Scheduler hit an exception: Traceback (most recent call last):
  File "/srv/utils.py", line 9, in send
    dist.broadcast(size, src=0)
RuntimeError: [/src/third_party/gloo/gloo/transport/tcp/pair.cc:534]
Connection closed by peer [127.0.0.1]:5805
""",
    ),
    Case(
        "a collective that hangs",
        "collective",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:exec_check                               missing collectives status on Neuron Device 0 NC 1, model 2 - suspected hang in collectives operation 3 out of 90
2026-Mar-03 10:00:00.223456  900:900  ERROR   NRT:nrt_infodump                              Failure: NRT_TIMEOUT in nrt_execute()
""",
    ),
    Case(
        "workers that did not come",
        "collective",
        """
>>>torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 3/4 clients joined.
""",
    ),
    Case(
        "a watchdog of collectives",
        "collective",
        """
>>>[rank2]:[E611 10:00:00.123456789 ProcessGroup.cpp:629] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE) ran for 1800000 milliseconds before timing out.
terminate called after throwing an instance of 'c10::DistBackendError'
""",
    ),
    Case(
        "a hang of collectives by its number",
        "collective",
        """
>>>RuntimeError: the call of nrt_execute ended with status=1200
""",
    ),
    Case(
        "a back end of torch.distributed gives up",
        "collective",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
    dist.init_process_group("x")
>>>torch.distributed.DistBackendError: the library said: unhandled system error
""",
    ),
    Case(
        "gloo waits in vain",
        "collective",
        """
[rank1]:[E101 05:06:07.890 ProcessGroupGloo.cpp:144] Rank 1 failed to pass monitoredBarrier in 600000 ms
>>>RuntimeError: [gloo/transport/tcp/some.cc:81] Timed out waiting 600000ms for recv operation to complete
""",
    ),
    Case(
        "a variable that collectives need is not set",
        "collective",
        """
>>>2026-Feb-01 10:00:00.123456   71:90   ERROR  NRT:nrt_gather                NEURON_RT_ROOT_COMM_ID is not set
2026-Feb-01 10:00:00.223456   71:90   ERROR  NRT:nrt_gather                no communicator
Traceback (most recent call last):
  File "a.py", line 4, in <module>
    xm.mark_step()
RuntimeError: Bad StatusOr access: INTERNAL: nrt status code 1
""",
        "failed",
    ),
    Case(
        "a worker whose peers do not come",
        "collective",
        """
>>>2026-Mar-04 05:06:07.8901 77:78 [31] bootstrap.cc:89 CCOM WARN Timeout waiting for incoming connection (waited 120 sec)
2026-Mar-04 05:06:07.8905 77:79 [29] include/socket.h:579 CCOM WARN Timeout waiting for RX (waited 120 sec) - retrying
""",
    ),
    Case(
        "a progress bar with values behind its speed",
        "collective",
        """
>>>Epoch 2:  41%|████      | 410/1000 [0:41:00<0:59:00,  1.50s/it, loss=1.9, norm=0.3, step=410][E SomeGroup.cpp:12] [Rank 3] a collective operation timed out
[E SomeGroup.cpp:12] [Rank 5] a collective operation timed out
""",
    ),
    Case(
        "a collective that waited in vain, and the exception that follows from it",
        "collective",
        """
>>>[rank0]:[E503 07:18:10.123456789 SomeGroup.cpp:34] [Rank 0] Watchdog caught collective operation timeout: it ran for 600060 milliseconds
[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/fit.py", line 7, in <module>
[rank0]: RuntimeError: the group was aborted
""",
        "failed",
    ),
    Case(
        "a task that is told of another one's end, and guesses",
        "collective",
        """
>>>E0503 07:08:09.123456 41 some_agent.cc:12] Polled an error from the service (this can be an error from this or another task).
F0503 07:08:09.123457 41 client.h:13] Terminating process. This most likely indicates that another task died. UNAVAILABLE: Either the leader was preempted/died/restarted or this task has network issues.
""",
        "failed",
    ),
    Case(
        "an operator of TensorFlow that fails is no compile",
        "collective",
        """
>>>2026-05-04 07:08:09.123456: W tensorflow/core/framework/op_kernel.cc:12] OP_REQUIRES failed at some_ops.cc:34 : Aborted: It has been shut down. This was caused by an exception on one of the ranks or an attempt to reduce a tensor.
""",
    ),
    Case(
        "ranks that cannot reach each other",
        "collective",
        """
>>>[rank4]:[E503 07:08:09.123456789 SomeGroup.cpp:12] Gloo connectFullMesh failed with [somewhere/pair.cc:34] no error
[rank4]: RuntimeError: Gloo connectFullMesh failed with [somewhere/pair.cc:34] no error
""",
    ),
    Case(
        "a rank that cannot connect",
        "collective",
        """
>>>n7:41:90 [0] misc/somewhere.cc:12 NCCL WARN startConnect: Connect to 10.0.0.7<4001> failed : Software caused connection abort
n7:41:90 [0] NCCL INFO somewhere.cc:13 -> 2
n7:41:91 [0] misc/somewhere.cc:14 NCCL WARN Connection closed by remote peer n8<4002>
""",
    ),
    Case(
        "ranks that run different collectives",
        "collective",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in <module>
    save()
>>>RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: BROADCAST, but Rank 0 is running ALLREDUCE
""",
        "failed",
    ),
    Case(
        "an error of NCCL that states no reason",
        "collective",
        """
step 3 loss 2.0
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    dist.barrier()
>>>RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:9, unhandled system error, NCCL version 2.18.1
""",
        "failed",
    ),
    Case(
        "a communicator over nodes that is not built",
        "collective",
        '>>>RuntimeError: Nrt::BuildGlobalComm failed on NeuronCores 0-1(2):  nrt_status=1, message="x".\n',
    ),
    Case(
        "a thread of no rank",
        "collective",
        f">>>{CCOM} [-1] bootstrap.cc:95 CCOM WARN Timeout waiting for incoming connection (waited 120 sec)\n",
    ),
    Case(
        "a fork beside EFA",
        "collective",
        """
A process has called fork().

>>>As a result, the libfabric EFA provider is operating in
a condition that could result in errors.
Your job will now abort.
""",
    ),
    Case(
        "a request that the network's plugin completes with an error",
        "collective",
        ">>>[1,3]<stdout>:worker-1:35:89 [5] process_cq:139 NCCL WARN NET/OFI Request 0x7fbb completed with error. "
        "RC: 20. Error: unknown error.\n",
    ),
    Case(
        "a peer of MPI that went away",
        "collective",
        """
>>>An MPI communication peer process has unexpectedly disconnected.  This
usually indicates a failure in the peer process.
""",
    ),
    Case(
        "a rank that waited, and died of it",
        "collective",
        """
>>>[rank1]:[E101 10:00:00.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/wide.py", line 3, in <module>
[rank1]: RuntimeError: the store is gone
""",
        "failed",
    ),
    Case(
        "NCCL's warning that nobody knows, where nothing else states a cause",
        "collective",
        """
box-7:310:344 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0
>>>box-7:310:351 [0] transport/wide.cc:88 NCCL WARN Peer 3 refused the handshake
""",
    ),
    Case(
        "a call of libfabric that failed, as the plugin reports it",
        "collective",
        ">>>[1,4]<stdout>:box-9:77:91 [4] create_wide_ep:12 NCCL WARN NET/OFI Couldn't bind CQ. RC: -12, ERROR: Out of memory slots\n",
    ),
    Case("MPI that cannot start", "collective", ">>>*** An error occurred in MPI_Init\n*** on a NULL communicator\n"),
    Case(
        "collectives of another maker",
        "collective",
        ">>>RuntimeError: wide.cpp:12 OPS function error: HcclBroadcast, error code is 9\n",
    ),
    Case(
        "a transfer that libfabric could not make",
        "collective",
        ">>>libfabric:81:17085::efa:cq:handle_error():73<warn> err: 5, message: Invalid address My address: 1\n",
    ),
    Case("a transfer that an adapter could not make", "collective", ">>>mlx5: wide-7: got completion with error:\n"),
    Case(
        "the stack of an error of MPI, whose head is cut off",
        "collective",
        ">>>MPIDI_wide_cq(902).............: OFI poll failed (events.h:902:cq:Input/output error))\n",
    ),
    Case(
        "two processes of the runtime that wrote over each other",
        "collective",
        ">>>2026-May-02 10:00:00.1234562026-May-02 10:00:00.123460 512:514 ERROR   ENC:wide_init                  "
        "513:515 ERROR   ENC:wide_groups                 [rank 1] failed (2) to find a ring\n"
        "2026-May-02 10:00:00.123470 512:514 ERROR   ENC:wide_load                 [nec_dev 1] failed to load it\n",
    ),
    Case(
        "a call of NCCL that failed, in the framework's exception",
        "collective",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in <module>
    fit()
>>>wide.errors.UnknownError:  ncclGroupEnd failed: unhandled system error
""",
        "failed",
    ),
    Case(
        "NCCL's error with its number",
        "collective",
        "[rank2]: Traceback (most recent call last):\n"
        '[rank2]:   File "/job/wide.py", line 12, in <module>\n'
        "[rank2]:     fit()\n"
        ">>>[rank2]: RuntimeError: NCCL Error 6: internal error - see the log of the others\n",
        "failed",
    ),
    Case(
        "oneCCL's own error line",
        "collective",
        """
CCL_WARN| wide exchange is not there, the narrow one is taken
>>>CCL_ERROR| wide_fd.cpp:91 open_fds: condition fd >= 0 failed
RuntimeError: Engine core initialization failed. See root cause above.
""",
    ),
    Case(
        "the watchdog takes its process down because another rank has gone",
        "collective",
        """
>>>[rank5]:[E502 10:00:00.483540349 ProcessGroupNCCL.cpp:681] [Rank 5] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, results may be incomplete.
[rank5]:[E502 10:00:00.483555114 ProcessGroupNCCL.cpp:695] [Rank 5] To avoid data inconsistency, we are taking the entire process down.
""",
    ),
    Case(
        "what NCCL warns of, behind mpirun's stamp and tag",
        "collective",
        ">>>2026-05-02 10:00:00 [1,3]<stderr>:box-7:310:344 [3] transport/wide.cc:88 NCCL WARN Peer 3 refused it\n",
    ),
    Case(
        "XLA's mesh, whose master nobody reached",
        "collective",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in step
    device = xm.xla_device()
>>>RuntimeError: tensorflow/compiler/xla/xla_client/mesh_service.cc:316 : Check failed: impl_->channel->Wait(60)
""",
        "failed",
    ),
    Case(
        "a collective whose waiting thread gave up",
        "collective",
        """
>>>[rank3]:[E502 10:00:00.000000000 ProcessGroupNCCL.cpp:756] [Rank 3] Work WorkNCCL(SeqNum=9, OpType=ALLREDUCE, \
NumelIn=4, NumelOut=4, Timeout(ms)=600000) timed out in blocking wait.
""",
    ),
    Case(
        "a watchdog's line that is cut off",
        "collective",
        """
[rank6]:[E502 10:00:00.000000000 ProcessGroupNCCL.cpp:698] [Rank 6] To avoid data inconsistency, we are taking the \
entire process down.
>>>[rank6]:[E502 10:00:00.000000001 ProcessGroupNCCL.cpp:1896] [PG ID 1 PG GUID 1 Rank 6] Process group watchdog \
thread terminated with exception: [Rank 6] Watch
""",
    ),
    Case(
        "a job that hangs since a rank did not come",
        "collective",
        """
>>>[0]<stderr>:[2026-05-02 10:00:00.000000: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted \
to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 \
seconds.
[0]<stderr>:Missing ranks:
[0]<stderr>:1: [allreduce.wide]
""",
    ),
    Case(
        "NCCL's last error below the exception",
        "collective",
        """
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/wide.py", line 12, in step
[rank1]:     dist.broadcast(x, 0)
>>>[rank1]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, remote process exited or there was a \
network error, NCCL version 2.26.2
[rank1]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
[rank1]: Last error:
[rank1]: socketPollConnect: connect returned Connection refused, exceeded error retry count (35)
""",
        "failed",
    ),
    Case(
        "no way between two devices",
        "collective",
        """
>>>2026-May-02 10:00:00.0924 512:514 [3] wide.cc:36 CCOM WARN No transport found between devices 3 and 4. Wide groups?
2026-May-02 10:00:00.0925 512:514 ERROR   ENC:wide_init          failed wide request to NCCL
""",
    ),
    Case(
        "an adapter of the network whose driver fails",
        "collective",
        """
>>>[   77.420956] infiniband efa_7: Failed to process command WIDE_PD (opcode 14) comp_status 1 err -12
[   77.420957] infiniband efa_7: Failed to allocate pd[-12]
""",
    ),
    Case(
        "a plugin's call that finds no adapter, and the test that ends for it",
        "collective",
        """
>>>[2026-05-02 10:00:00] box-1:29:37 [0] wide_init:78 NCCL WARN NET/OFI OFI fi_getinfo() call failed: No data available
box-1: Test NCCL failure wide.cu:5 'unhandled system error (run with NCCL_DEBUG=INFO for details) / '
""",
    ),
    Case(
        "a file that NCCL cannot make, and the status that it returns",
        "collective",
        """
box-3:97:183 [0] NCCL INFO NET/Socket : Using [0]eth0
>>>box-3:97:183 [0] include/shm.h:48 NCCL WARN Error while creating the segment nccl-shm-recv-77ab (size 4096)
box-3:97:183 [0] NCCL INFO transport.cc:30 -> 2
2026-05-02 10:00:00 ERROR fit NCCL error in: /opt/v/ProcessGroupNCCL.cpp:7, unhandled system error, NCCL version 2.5.6
""",
    ),
    Case(
        "a worker whose end NCCL notices, and the status that it returns",
        "collective",
        """
box-3:97:183 [0] include/socket.h:48 NCCL WARN Net : Connection closed by the remote side, an error
>>>2026-05-02 10:00:00 ERROR fit NCCL error in: /opt/v/ProcessGroupNCCL.cpp:7, unhandled system error, NCCL version 2.5.6
""",
    ),
    Case(
        "connections that NCCL tries again, and the exception when it gives up",
        "collective",
        """
g15:49:56 [0] NCCL INFO socketPollConnect: connect returned Connection refused, retrying (33/34) after sleep for 3300 msec
g15:49:56 [0] NCCL INFO socketPollConnect: connect returned Connection refused, retrying (34/34) after sleep for 3400 msec
[rank1]: Traceback (most recent call last):
[rank1]:   File "/srv/ddp.py", line 43, in <module>
[rank1]:     dist.barrier()
>>>[rank1]: torch.distributed.DistBackendError: NCCL error in: /opt/NCCLUtils.cpp:7, remote process exited or there was a network error
[rank1]: Last error:
[rank1]: socketPollConnect: connect returned Connection refused, exceeded error retry count (35)
""",
        "failed",
    ),
    Case(
        "an exception that leaves to its device's block why",
        "collective",
        """
Traceback (most recent call last):
  File "/srv/feed.py", line 9, in <module>
    net(rows)
RuntimeError: Preprocess failed before run graph 3. The details refer to 'Ascend Error Message'.

----------------------------------------------------
- Ascend Error Message:
----------------------------------------------------
>>>EI0005: The arguments of the collective differ between ranks: parameter [count], local [96], remote [95]
""",
        "failed",
    ),
    Case(
        "a failure that the next line says to ignore",
        "collective",
        """
[ERROR] QUEUE(16,python):2026-05-02-10:00:00.086.834 [transfer.cpp:9]16 sendTensor: failed to send, result = -1
[WARNING] DEVICE(16,python):2026-05-02-10:00:00.388.563 [queue.cc:2] Push] The queue was interrupted, you can ignore the above error: 'failed to send...'
>>>[CRITICAL] DEVICE(16,python):2026-05-02-10:00:00.399.787 [executor.cc:2] RunGraph] Run task error! Ascend Error Message:EI0002: The wait of the notify register timed out.
""",
    ),
    Case(
        "workers without a transport, since the plugin did not start",
        "collective",
        """
>>>2026-05-01 10:00:03.000080 93:95 [0] nccl_net_ofi_init:1415 CCOM WARN NET/OFI aws-ofi-nccl initialization failed
2026-05-01 10:00:03.000080 93:95 [0] init.cc:99 CCOM WARN OFI plugin initNet() failed is EFA enabled?
2026-05-01 10:00:15.000924 93:95 [0] transport.cc:36 CCOM WARN No transport found between devices 0 and 1. Possible replica group misconfiguration
""",
    ),
    Case(
        "a plugin that did not start on one machine",
        "",
        """
2026-05-01 10:00:03.000080 93:95 [0] nccl_net_ofi_init:1415 CCOM WARN NET/OFI aws-ofi-nccl initialization failed
2026-05-01 10:00:03.000080 93:95 [0] init.cc:99 CCOM WARN OFI plugin initNet() failed is EFA enabled?
step 1 loss 1
""",
    ),
    Case(
        "a plugin that did not start, and another failure",
        "script_error",
        """
2026-05-01 10:00:03.000080 93:95 [0] nccl_net_ofi_init:1415 CCOM WARN NET/OFI aws-ofi-nccl initialization failed
2026-05-01 10:00:03.000080 93:95 [0] init.cc:99 CCOM WARN OFI plugin initNet() failed is EFA enabled?
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
>>>ValueError: rows are odd
""",
    ),
    Case(
        "two processes with the same rank, in NCCL's words",
        "bad_usage",
        """
tea-1:18622:18622 [1] NCCL INFO Using network IB
>>>tea-1:18569:18835 [0] bootstrap.cc:131 NCCL WARN Bootstrap Root : rank 1 of 8 ranks has already checked in
""",
    ),
    Case(
        "parameters without a gradient, the exception's name torn off",
        "script_error",
        """
RuntimeErrorpred = model(imgs)  # forward
: 
>>>Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss.
""",
    ),
    Case(
        "NCCL names the call to CUDA that failed",
        "runtime_exec",
        """
tea-1:2736:2736 [0] NCCL INFO Channel 00/24 : 0 1
>>>tea-1:2736:2736 [0] transport/cup.cc:79 (cupAlloc) NCCL WARN Failed to bind memory of size 4096 : CUDA error 802 'system not yet initialized'
Traceback (most recent call last):
  File "pour.py", line 5, in <module>
    dist.barrier()
RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)
""",
    ),
    Case(
        "Ascend's first code says why a job cannot begin",
        "collective",
        """
RuntimeError: [ERROR] HCCL error in: csrc/Tea.cpp:64
[ERROR] 2026-03-04-05:06:07 (PID:927, Device:3, RankID:3) ERR02200 DIST call hccl api failed.
>>>EJ0001: 2026-03-04-05:06:07.167.645 Failed to initialize the kettle process. Reason: the last one may still be there.
        TraceBack (most recent call last):
        wait response fail, device response code[1]. unknown device error.[FUNC:Pour][FILE:cup.cpp][LINE:29]
""",
    ),
    Case(
        "a test of NCCL names the status",
        "collective",
        """
# Using devices
#   Rank  0 Pid 7 on tea-1 device  0 [0000:63:00.0] Kettle
>>>tea-1: Test NCCL failure common.cu:85 'internal error - please report this issue to the NCCL developers'
 .. tea-1 pid 7: Test failure common.cu:61
""",
    ),
    Case(
        "a test of HCCL names the status",
        "collective",
        """
the minbytes is 8192, maxbytes is 16384, iters is 20, warmup_iters is 5
>>>hccl interface return err ./tea/common.cc:538, retcode: 7
This is an error in init_hcclComm.
""",
    ),
    Case(
        "Open MPI gets no endpoint from UCX",
        "collective",
        """
>>>[tea-1:712] pml_ucx.c:421  Error: ucp_ep_create(proc=47) failed: Input/output error
[tea-1:712] pml_ucx.c:472  Error: Failed to resolve UCX endpoint for rank 19
""",
    ),
    Case(
        "a rendezvous that is not met, whose source has a compiler in its path",
        "collective",
        """
Traceback (most recent call last):
  File "/srv/tea.py", line 8, in main
    xm.rendezvous("steep")
>>>RuntimeError: tensorflow/compiler/xla/xla_client/mesh_service.cc:377 : Failed to meet rendezvous 'steep': Deadline Exceeded (4)
""",
    ),
    Case(
        "a launcher that lost the rendezvous, and a worker that was killed",
        "host_oom",
        """
WARNING:torch.distributed.elastic.rendezvous.dynamic_rendezvous:The node 'tea_17_0' has failed to send a keep-alive heartbeat to the rendezvous '77' due to an error of type RendezvousConnectionError.
WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 60 closing signal SIGTERM
>>>ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 1 (pid: 61) of binary: /srv/bin/python
""",
    ),
    Case(
        "a stub in place of the driver, below NCCL",
        "runtime_init",
        """
>>>(Worker pid=77) leaf3:77:77 [0] misc/strongstream.cc:60 NCCL WARN Cuda failure 'CUDA driver is a stub library'
(Worker pid=77) [ERROR] NCCL error /srv/tea.cc:59 'ncclAllReduce(a, b, n, type, op, comm, stream)' : unhandled cuda error (run with NCCL_DEBUG=INFO for details)
(raylet) A worker died or was killed while executing a task by an unexpected system error.
""",
    ),
)
