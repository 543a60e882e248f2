"""A drawing of the graph of a reported variable."""

import os
import shutil
import subprocess

from ... import configuration, variable
from .. import extension
from .._state import serialize_attributes


def is_graphviz_available():
    """Returns whether the program `dot` of Graphviz is installed."""
    return shutil.which('dot') is not None


class DumpGraph(extension.Extension):
    """Writes the graph of the reported variable `root_name` in the first iteration, as text for Graphviz and as an image if `dot` is installed.

    `filename` (or `out_name`) is 'cg.dot'. The styles are dicts of attributes, see `build_computational_graph`.
    """

    default_name = 'dump_graph'

    def __init__(self, root_name, filename=None, variable_style=None, function_style=None, **kwargs):
        out_name = kwargs.pop('out_name', 'cg.dot')
        if kwargs:
            raise TypeError(f'unexpected argument {next(iter(kwargs))!r}')
        self._root_name = root_name
        self._filename = out_name if filename is None else filename
        self._variable_style = variable_style
        self._function_style = function_style
        self._is_done = False
        self._kept_before = None

    def initialize(self, trainer):
        if not self._is_done:
            self._kept_before, configuration.config.keep_graph_on_report = configuration.config.keep_graph_on_report, True

    def trigger(self, trainer):
        is_done, self._is_done = self._is_done, True
        return not is_done

    def __call__(self, trainer):
        from ... import computational_graph
        try:
            root = trainer.observation[self._root_name]
            if not isinstance(root, variable.Variable):
                raise TypeError(f'{self._root_name} was reported as {type(root).__name__}: only the graph of a variable can be drawn')
            graph = computational_graph.build_computational_graph([root], variable_style=self._variable_style, function_style=self._function_style)
            path = os.path.join(trainer.out, self._filename)
            with open(path, 'w') as file:
                file.write(graph.dump())
            if is_graphviz_available():
                subprocess.run(['dot', '-Tpng', path, '-o', os.path.splitext(path)[0] + '.png'], check=True)
        finally:
            configuration.config.keep_graph_on_report = self._kept_before

    def serialize(self, serializer):
        serialize_attributes(self, serializer, {'_original_flag': '_kept_before', '_flag_called': '_is_done'})
