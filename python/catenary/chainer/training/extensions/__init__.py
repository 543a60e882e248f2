"""Extensions of trainers: evaluation, reports, plots, snapshots and schedules."""

from . import computational_graph, evaluator, snapshot_writers, variable_statistics_plot
from ._snapshot import snapshot, snapshot_object
from .computational_graph import DumpGraph
from .evaluator import Evaluator
from .fail_on_nonnumber import FailOnNonNumber
from .log_report import LogReport
from .micro_average import MicroAverage
from .parameter_statistics import ParameterStatistics
from .plot_report import PlotReport
from .print_report import PrintReport
from .progress_bar import ProgressBar
from .shifts import ExponentialShift, InverseShift, LinearShift, MultistepShift, PolynomialShift, StepShift, WarmupShift
from .value_observation import observe_lr, observe_value
from .variable_statistics_plot import VariableStatisticsPlot
from .variable_unchain import unchain_variables

dump_graph = DumpGraph

__all__ = [name for name in dir() if not name.startswith('_')]
