#!/bin/sh
# TaskProlog or Prolog of Slurm: starts an agent on each node of a job, once, and never fails a job.
#   slurm.conf:  Prolog=/etc/slurm/neurontop-prolog.sh   Epilog=/etc/slurm/neurontop-prolog.sh   PrologFlags=Alloc
# In the epilog the agent is asked to end: it ships what is left. NEURONTOP_STORE comes from /etc/neurontop/agent.env.
set -u
[ -r /etc/neurontop/agent.env ] && . /etc/neurontop/agent.env && export NEURONTOP_STORE
state="${NEURONTOP_STATE_DIR:-/var/lib/neurontop}"
pidfile="$state/job-$SLURM_JOB_ID.pid"
if [ "${SLURM_SCRIPT_CONTEXT:-}" = epilog_slurmd ]; then
    # Only the agent of this job: it may have ended long ago, and its number be another process's by now.
    [ -r "$pidfile" ] && pid=$(cat "$pidfile") && grep -qsxz "NEURONTOP_JOB=$SLURM_JOB_ID" "/proc/$pid/environ" &&
        kill -TERM "$pid" 2>/dev/null
    rm -f "$pidfile"
elif [ -n "${NEURONTOP_STORE:-}" ] && command -v neurontop >/dev/null && mkdir -p "$state"; then
    NEURONTOP_STATE_DIR="$state" NEURONTOP_JOB="$SLURM_JOB_ID" setsid neurontop agent \
        ${NEURONTOP_LOGS:+"$NEURONTOP_LOGS"} </dev/null >"$state/job-$SLURM_JOB_ID.log" 2>&1 &
    echo $! >"$pidfile"
fi
exit 0
