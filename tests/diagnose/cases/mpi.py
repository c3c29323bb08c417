"""MPI, and codes of science and engineering that run over it."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

MPI = (
    Case(
        "srun and MPI that speak different protocols, and a person who ends the wait",
        "bad_usage",
        """
>>>PMII_singinit: execv failed: No such file or directory
[unset]:   This singleton init program attempted to access some feature
[unset]:   for which process manager support was required, e.g. spawn or universe_size.
[unset]: write_line error; fd=-1 buf=:cmd=get kvsname=tea
^Csrun: sending Ctrl-C to StepId=4711.0
slurmstepd: error: *** STEP 4711.0 ON tea-n1 CANCELLED AT 2026-03-04T10:11:12 ***
""",
    ),
    Case(
        "Open MPI that needs another type of srun",
        "bad_usage",
        """
>>>PMI2 failed to initialize, returning an error code of 14.
We cannot use PMI2 at this time, and your job will
likely abort.
""",
    ),
    Case(
        "a program that was started without the server that it needs",
        "bad_usage",
        """
NS  rank 0: >>>PMIx_Init failed: -44
------- Partition 0 Processor 0 Exiting: Called CmiAbort ------
Reason: kettle: runtime_init failed: -1
""",
    ),
    Case(
        "Open MPI's daemons that a firewall keeps apart",
        "network",
        """
------------------------------------------------------------
>>>A process or daemon was unable to complete a TCP connection
to another process:
  Local host:    tea-n1
  Remote host:   tea-n2
This is usually caused by a firewall on the remote host.
------------------------------------------------------------
""",
    ),
    Case(
        "mpirun that refuses root",
        "bad_usage",
        """
--------------------------------------------------------------------------
>>>mpirun has detected an attempt to run as root.

Running as root is *strongly* discouraged.
--------------------------------------------------------------------------
""",
    ),
    Case(
        "what UCX says before MPI gives up",
        "collective",
        """
>>>[1772000000.123456] [tea-n1:4711 :0]         select.c:438  UCX  ERROR no transport to leaf: tcp/eth0 - Unreachable
Abort(1091471) on node 3 (rank 3 in comm 0): Fatal error in PMPI_Init: Other MPI error, error stack:
MPIR_Init_thread(703)........:
""",
    ),
    Case(
        "OpenFOAM's heading, by ranks",
        "script_error",
        """
Time = 0.7
[0] 
[0] --> FOAM FATAL ERROR: 
>>>[0] the leaf does not match its cup by 0.1%
[0] 
[0]     From function teaPatch::steep()
[0]     in file teaPatch.C at line 12.
[0] 
FOAM parallel run exiting
""",
    ),
    Case(
        "OpenFOAM's heading with its version",
        "script_error",
        """
--> FOAM FATAL IO ERROR: (openfoam-2312)
>>>Entry 'leaf' not found in dictionary "system/teaDict"

file: system/teaDict at line 12 to 31.

FOAM exiting
""",
    ),
    Case(
        "a climate model, which names the place before the reason",
        "script_error",
        """
-------------- FATAL CALLED ---------------
FATAL CALLED FROM FILE:  <stdin>  LINE:     419
>>> Possible duplicate declaration of leaf
-------------------------------------------
application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0
""",
    ),
    Case(
        "a C++ exception whose words begin on the next line",
        "script_error",
        """
terminate called after throwing an instance of 'TEA::Kettle::ExceptionError'
  what():
(core/Kettle.cpp:824) void TEA::Kettle::read(const std::vector<std::string>&)
ERROR
>>>I do not know this line: STEEP LABEL=leaf
[tea-n1:04711] *** Process received signal ***
[tea-n1:04711] Signal: Aborted (6)
""",
    ),
    Case(
        "PETSc, which puts its name before each line",
        "script_error",
        """
[0]PETSC ERROR: --------------------- Error Message ----------------------------
>>>[0]PETSC ERROR: Argument out of range
[0]PETSC ERROR: New leaf at (17,93) caused a malloc
[0]PETSC ERROR: #1 steep() at /tea/leaf.c:515
application called MPI_Abort(MPI_COMM_SELF, 63) - process 0
""",
    ),
    Case(
        "HDF5's stack of errors",
        "script_error",
        """
HDF5-DIAG: Error detected in HDF5 (1.14.4) thread 0:
>>>  #000: H5F.c line 509 in H5Fopen(): unable to open file
    major: File accessibility
    minor: Unable to open file
srun: error: tea-n1: task 0: Exited with exit code 1
""",
    ),
    Case(
        "CP2K's box",
        "script_error",
        """
 *******************************************************************************
 *   ___                                                                       *
 *  /   \\                                                                      *
 * [ABORT]                                                                     *
>>> *  \\___/       The basis set LEAF-TEA for element C was not found.               *
 *    |                                                                        *
 *******************************************************************************
""",
    ),
    Case(
        "a calculation that does not converge",
        "script_error",
        """
 SCF Done:  E(RB3LYP) =  -76.4
>>> Convergence failure -- run terminated.
 Error termination via Lnk1e in /tea/l502.exe at Wed Mar  4 10:11:12 2026.
""",
    ),
    Case(
        "a program that only says that it stops",
        "script_error",
        """
reading leaf.inp
>>>KETTLE finished by error termination in SCF
""",
    ),
    Case(
        "an OpenACC program whose reason went to another stream",
        "runtime_exec",
        """
>>>Current file:     /tea/kettle.F90
        function: steep
        line:     1699
This file was compiled: -ta=tesla:cc70
srun: error: tea-n1: tasks 1,3: Exited with exit code 1
""",
    ),
    Case(
        "an error between stars",
        "script_error",
        """
Begin analysis
>>>***ERROR: THE LEAF IS NOT IN THE CUP
Analysis exited
""",
    ),
    Case(
        "MATLAB's heading",
        "script_error",
        """
Error using load
>>>Unable to read file 'leaf.mat'. No such file or directory.

Error in steep (line 12)
""",
    ),
    Case(
        "a task of Julia that failed, told indented",
        "network",
        """
ERROR: LoadError: TaskFailedException
Stacktrace:
  [1] wait
    @ ./task.jl:352 [inlined]
>>>    nested task error: IOError: connect: connection refused (ECONNREFUSED)
    Stacktrace:
      [1] wait_connected(x::Sockets.TCPSocket)
""",
    ),
    Case(
        "MPICH's stack of errors, of two ranks",
        "collective",
        """
Abort(1614479) on node 0 (rank 0 in comm 0): Fatal error in PMPI_Init: Unknown error class, error stack:
MPIR_Init_thread(189)........:
MPID_Init(1561)..............:
>>>create_vni_context(2221).....: OFI endpoint open failed (ofi_init.c:2221:create_vni_context:Invalid argument)
[unset]: write_line error; fd=-1 buf=:cmd=abort exitcode=1614479
Abort(1614479) on node 1 (rank 1 in comm 0): Fatal error in PMPI_Init: Unknown error class, error stack:
MPIR_Init_thread(189)........:
MPID_Init(1561)..............:
create_vni_context(2221).....: OFI endpoint open failed (ofi_init.c:2221:create_vni_context:Invalid argument)
""",
    ),
    Case(
        "HDF5's stack of errors, whose last line says most",
        "script_error",
        """
HDF5-DIAG: Error detected in HDF5 (1.14.4) thread 0:
  #000: ../src/H5F.c line 509 in H5Fopen(): unable to open file
    major: File accessibility
    minor: Unable to open file
>>>  #001: ../src/H5FD.c line 941 in H5FD_lock(): unable to lock file, errno = 11
    major: File accessibility
    minor: Bad file ID accessed
terminate called after throwing an instance of 'H5::FileIException'
Aborted
""",
    ),
    Case(
        "OpenMP that gets no threads, before Fortran's own report",
        "script_error",
        """
>>>OMP: Error #34: System unable to allocate necessary resources for OMP thread:
OMP: System error #11: Resource temporarily unavailable
forrtl: error (76): Abort trap signal
""",
    ),
    Case(
        "a network adapter that MPI cannot open",
        "collective",
        """
Fatal error in MPI_Init: Internal MPI error!, error stack:
MPIR_Init_thread(490): 
MPID_Init(395).......: channel initialization failed
(unknown)(): Internal MPI error!
>>>tea-n1.64451PSM2 can't open hfi unit: -1 (err=23)
[cli_83]: aborting job:
""",
    ),
    Case(
        "a check of MPI itself",
        "collective",
        """
step 12
>>>Assertion failed in file ../../src/mpid/leaf.h at line 1013: cup == size
/tea/libmpi.so.12(MPL_backtrace_show+0x1c) [0x2b7b4fab4bcc]
""",
    ),
    Case(
        "ssh that is refused, before mpirun's guesses",
        "network",
        """
>>>ssh_exchange_identification: Connection closed by remote host

--------------------------------------------------------------------------
ORTE was unable to reliably start one or more daemons.
This usually is caused by:
""",
    ),
    Case(
        "GROMACS's heading, and a script that goes on after the program that failed",
        "script_error",
        """
-------------------------------------------------------
Program:     gmx solvate, version 2018.4
Source file: src/leaf.cpp (line 224)

System I/O error:
>>>Library file 'leaf216.gro' not found in current dir nor in your GMXLIB path nor
in the default directories.
-------------------------------------------------------
MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD
with errorcode 1.
"""
        + 70 * "reading the next leaf\n"
        + """gromacs_ex1 job finished at Wed Mar  4 13:05:09 GMT 2026
""",
    ),
    Case(
        "a stack of MPICH with a line that a terminal has broken",
        "collective",
        """
aborting job:
Fatal error in PMPI_Sendrecv: Other MPI error, error stack:
PMPI_Sendrecv(249)........: MPI_Sendrecv(sbuf=0x1537d3200418, scount=128, MPI_DOUBLE, rbuf=0x1537d
3200008, rcount=128, MPI_DOUBLE) failed
MPID_Isend(584)...........:
>>>MPIDI_OFI_send_normal(352): OFI tagged senddata failed (ofi_send.h:352:MPIDI_OFI_send_normal:Bad address)
tea-n1: rank 4 exited with code 255
""",
    ),
    Case(
        "a routine of ScaLAPACK that refuses an argument",
        "script_error",
        """
>>>PBLAS ERROR 'Illegal JY = 0, JY must be at least 1'
from {0,0}, pnum=0, Contxt=1, in routine 'PDSWAP'.
{0,0}, pnum=0, Contxt=1, killed other procs, exiting with error #-9.
MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
""",
    ),
    Case(
        "coordinates that Gaussian cannot use",
        "script_error",
        """
 Using GEDIIS/GDIIS optimizer.
>>> Bend failed for angle    33 -    87 -    81
 FormBX had a problem.
 Error termination via Lnk1e in /tea/l103.exe at Wed Mar  4 12:58:22 2026.
""",
    ),
    Case(
        "PMIx that lacks a component, and does not start",
        "missing_dependency",
        """
--------------------------------------------------------------------------
>>>A requested component was not found, or was unable to be opened.  This
means that this component is either not installed or is unable to be
used on your system.
Host: node9
Framework: psec
Component: munge
--------------------------------------------------------------------------
It looks like pmix_init failed for some reason; your parallel process is
likely to abort.
""",
    ),
    Case(
        "a stack of MPICH's whose last line only says where",
        "collective",
        """
>>>Abort(8085) on node 0 (rank 0 in comm 0): Fatal error in PMPI_Allgather: Message truncated, error stack:
MPIR_Allgather_intra_tea(140)...............: Failure during collective
MPIR_Allgather_intra_cup(136)...............:
(unknown)(): Message truncated
""",
    ),
    Case(
        "libraries of CUDA that Open MPI does without",
        "",
        """
The library attempted to open the following supporting CUDA libraries,
but each of them failed.  CUDA-aware support is disabled.
libcuda.so.1: cannot open shared object file: No such file or directory
/usr/lib64/libcuda.dylib: cannot open shared object file: No such file or directory
Hello from rank 0 / 2
Hello from rank 1 / 2
""",
    ),
)
