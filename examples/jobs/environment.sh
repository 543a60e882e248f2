# Read by the job scripts: the bundle, the cluster's MPI, and Catenary's plugin for it.
# CATENARY is the folder that the bundle was unpacked to; MODULES what `module load` is to load.
export CATENARY
if [ -r /etc/profile.d/modules.sh ]; then
  set +u  # which such scripts do not stand
  . /etc/profile.d/modules.sh
  module load ${MODULES:-openmpi}
  set -u
fi
# One plugin for each MPI, beside the results: made once, by the MPI's own compiler.
export CATENARY_MPI_PLUGIN=${CATENARY_MPI_PLUGIN:-$PWD/libcatenary_mpi.so}
if [ ! -e "$CATENARY_MPI_PLUGIN" ]; then
  mpicxx -std=c++17 -O2 -shared -fPIC "$CATENARY/share/catenary/mpi/plugin.cpp" -o "$CATENARY_MPI_PLUGIN"
fi
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
