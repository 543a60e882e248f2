"""Release of graphs that reported variables keep."""

from ... import configuration, variable
from .. import extension


class unchain_variables(extension.Extension):
    """Removes the graphs of all reported variables after the other extensions, if `keep_graph_on_report` was set when they were reported."""

    priority = 0

    def initialize(self, _):
        self._kept = configuration.config.keep_graph_on_report

    def trigger(self, _):
        kept, self._kept = self._kept, configuration.config.keep_graph_on_report
        return kept

    def __call__(self, trainer):
        for value in trainer.observation.values():
            if isinstance(value, variable.Variable):
                value.unchain_backward()
