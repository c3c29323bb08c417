"""The Slurm of the tests: four nodes on one machine, each with a name of its own."""

from __future__ import annotations

from tests.servers.slurm import SlurmCluster

RANK_AND_NODE = 'echo "$SLURM_PROCID $SLURMD_NODENAME"'


def test_a_job_has_a_rank_on_each_of_four_nodes_of_this_machine(slurm: SlurmCluster) -> None:
    printed = slurm.run("srun", "--nodes=4", "--ntasks-per-node=1", "bash", "-c", RANK_AND_NODE)
    assert sorted(printed.split("\n")) == ["", "0 n1", "1 n2", "2 n3", "3 n4"]


def test_a_second_step_runs_beside_the_first_on_the_same_nodes(slurm: SlurmCluster) -> None:
    beside = f"srun --overlap --nodes=4 --ntasks-per-node=1 bash -c '{RANK_AND_NODE}'"
    first = "srun --overlap --nodes=4 --ntasks-per-node=1 sleep 300 & "
    begun = "until squeue --steps --noheader --format=%i | grep -q '[.]0$'; do sleep 0.1; done; "
    script = f"{first}{begun}{beside}; scancel --signal=KILL $SLURM_JOB_ID.0; wait"
    printed = slurm.run("salloc", "--quiet", "--nodes=4", "bash", "-c", script)
    assert sorted(printed.split("\n")) == ["", "0 n1", "1 n2", "2 n3", "3 n4"]
