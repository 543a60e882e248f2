"""The part of ChainerMN's module of this name for scripts that call MPI themselves."""


def array_to_buffer_object(array, mpi_dtype=None):
    """Returns the argument for `mpi_comm.Bcast`: the array."""
    return array
