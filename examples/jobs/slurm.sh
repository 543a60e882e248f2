#!/bin/bash
# A job of Slurm's: four ranks on each of two hosts, one for each GPU there.
#
#   CATENARY=$HOME/catenary-0.2.0-x86_64-linux sbatch $CATENARY/share/doc/catenary/examples/jobs/slurm.sh
#
# A minute before the time is up the ranks get SIGTERM and write checkpoints, from which `sbatch … slurm.sh -r result.NUMBER` goes on.
# Where Slurm was built without PMIx, `mpiexec` in the place of `srun --mpi=pmix` finds the hosts, too.
#SBATCH --job-name=mnist
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=0:10:00
#SBATCH --signal=TERM@60
set -euo pipefail
jobs=${CATENARY:?the folder that the bundle was unpacked to}/share/doc/catenary/examples/jobs
. "$jobs/environment.sh"
srun --mpi=pmix --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" bash "$jobs/run.sh" -o "result.$SLURM_JOB_ID" "$@"
