"""Updaters, which compute gradients and update parameters."""

from .multiprocess_parallel_updater import MultiprocessParallelUpdater
from .parallel_updater import ParallelUpdater
from .standard_updater import StandardUpdater

__all__ = ['MultiprocessParallelUpdater', 'ParallelUpdater', 'StandardUpdater']
