#!/bin/bash
# A job for Slurm: four ranks on each of two hosts, one for each GPU.
#
#   CATENARY=$HOME/catenary-0.2.0-x86_64-linux sbatch $CATENARY/share/doc/catenary/examples/jobs/slurm.sh
#
# One minute before the time limit, the ranks get SIGTERM and write checkpoints. `sbatch … slurm.sh -r result.NUMBER` resumes from them.
# If your Slurm lacks PMIx, replace `srun --mpi=pmix` by `mpiexec`, which finds the hosts too.
#SBATCH --job-name=mnist
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=0:10:00
#SBATCH --signal=TERM@60
set -euo pipefail
jobs=${CATENARY:?is not set: set it to the folder that the bundle was unpacked to}/share/doc/catenary/examples/jobs
. "$jobs/environment.sh"
srun --mpi=pmix --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" bash "$jobs/run.sh" -o "result.$SLURM_JOB_ID" "$@"
