"""What ChainerMN's module of this name had for scripts that call MPI themselves."""


def array_to_buffer_object(array, mpi_dtype=None):
    """What is given to `mpi_comm.Bcast`: the array."""
    return array
