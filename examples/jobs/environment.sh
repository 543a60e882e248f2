# Sourced by the job scripts. Loads the cluster's MPI and builds Catenary's plugin for it.
# CATENARY: the folder of the unpacked bundle. MODULES: arguments of `module load` (openmpi).
export CATENARY
if [ -r /etc/profile.d/modules.sh ]; then
  set +u  # module scripts use unset variables
  . /etc/profile.d/modules.sh
  module load ${MODULES:-openmpi}
  set -u
fi
# Each MPI needs a plugin of its own. It is built once, with the compiler of the MPI, in the current folder.
export CATENARY_MPI_PLUGIN=${CATENARY_MPI_PLUGIN:-$PWD/libcatenary_mpi.so}
if [ ! -e "$CATENARY_MPI_PLUGIN" ]; then
  mpicxx -std=c++17 -O2 -shared -fPIC "$CATENARY/share/catenary/mpi/plugin.cpp" -o "$CATENARY_MPI_PLUGIN"
fi
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
