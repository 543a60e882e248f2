#!/bin/bash
# A job for Grid Engine, for instance on TSUBAME: PPN ranks (4) on each host, one for each GPU.
#
#   CATENARY=$HOME/catenary-0.2.0-x86_64-linux qsub -V -g GROUP $CATENARY/share/doc/catenary/examples/jobs/grid_engine.sh
#
# The job writes checkpoints after each epoch. `qsub … grid_engine.sh -r result.NUMBER` resumes from the newest one.
# The resource node_f below is a whole node of TSUBAME 4 with four GPUs. Other sites use other names.
#$ -cwd
#$ -N mnist
#$ -j y
#$ -l node_f=2
#$ -l h_rt=0:10:00
set -euo pipefail
jobs=${CATENARY:?is not set: set it to the folder that the bundle was unpacked to}/share/doc/catenary/examples/jobs
. "$jobs/environment.sh"
PPN=${PPN:-4}
NP=$((NHOSTS * PPN))
mpiexec -npernode "$PPN" -n "$NP" -x LD_LIBRARY_PATH -x CATENARY -x CATENARY_MPI_PLUGIN \
  bash "$jobs/run.sh" -o "result.$JOB_ID" "$@"
