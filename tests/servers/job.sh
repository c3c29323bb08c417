#!/bin/bash
# The batch script of `make fleet`: an agent on each node, then the tutorial's job with one rank a node.
# Variables: PYTHON, NEURONTOP, LOGS, STATE, EXAMPLE, STEPS, MASTER_PORT.

on_each_node() { srun --overlap --ntasks-per-node=1 --job-name="$1" bash -c "$2"; }

on_each_node agents 'NEURONTOP_STATE_DIR=$STATE/$SLURMD_NODENAME exec "$NEURONTOP" agent "$LOGS/$SLURMD_NODENAME"' &
agents=$!

on_each_node ranks '
  export RANK=$SLURM_PROCID LOCAL_RANK=0 WORLD_SIZE=$SLURM_NTASKS MASTER_ADDR=127.0.0.1 GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
  exec "$PYTHON" "$EXAMPLE" --tensor_parallel_size "$SLURM_NTASKS" --steps_this_run "$STEPS" \
    --hidden 128 --heads 4 --layers 1 --sequence 32 >"$LOGS/$SLURMD_NODENAME/rank$SLURM_PROCID.log" 2>&1'
status=$?

# The agents ship what is left and end.
step=$(squeue --noheader --steps --jobs="$SLURM_JOB_ID" --format='%i %j' | awk '$2 == "agents" {print $1}')
scancel --signal=TERM "$step"
wait "$agents"
exit "$status"
