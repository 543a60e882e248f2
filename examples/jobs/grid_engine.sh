#!/bin/bash
# A job of Grid Engine's, as on TSUBAME: PPN ranks on each of its hosts, one for each GPU there.
#
#   CATENARY=$HOME/catenary-0.2.0-x86_64-linux qsub -V -g GROUP $CATENARY/share/doc/catenary/examples/jobs/grid_engine.sh
#
# Checkpoints are written after each epoch; `qsub … grid_engine.sh -r result.NUMBER` goes on from the newest.
# The resource below is a whole node of TSUBAME 4's, which has four GPUs; other sites have other names.
#$ -cwd
#$ -N mnist
#$ -j y
#$ -l node_f=2
#$ -l h_rt=0:10:00
set -euo pipefail
jobs=${CATENARY:?the folder that the bundle was unpacked to}/share/doc/catenary/examples/jobs
. "$jobs/environment.sh"
PPN=${PPN:-4}
NP=$((NHOSTS * PPN))
mpiexec -npernode "$PPN" -n "$NP" -x LD_LIBRARY_PATH -x CATENARY -x CATENARY_MPI_PLUGIN \
  bash "$jobs/run.sh" -o "result.$JOB_ID" "$@"
