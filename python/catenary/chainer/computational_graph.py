"""Drawings of computational graphs in the DOT language."""
from .function_node import FunctionNode
from .variable import Variable, VariableNode

_VARIABLE_STYLE = {'shape': 'octagon', 'fillcolor': '#E0E0E0', 'style': 'filled'}
_FUNCTION_STYLE = {'shape': 'record', 'fillcolor': '#6495ED', 'style': 'filled'}


def _node_text(node, style, show_name):
    label = node.label
    if show_name and isinstance(node, VariableNode) and node.name is not None:
        label = '{}: {}'.format(node.name, label)
    entries = {'label': label}
    entries.update(style)
    return '{} [{}];'.format(id(node), ','.join('{}="{}"'.format(*entry) for entry in entries.items()))


class ComputationalGraph:
    """Nodes (variables and functions) and edges (pairs of nodes, from inputs to outputs)."""

    def __init__(self, nodes, edges, variable_style='default', function_style='default', rankdir='TB',
                 remove_variable=False, show_name=True):
        if rankdir not in ('TB', 'BT', 'LR', 'RL'):
            raise ValueError('rankdir must be TB, BT, LR or RL, but it is {!r}'.format(rankdir))
        if remove_variable:
            nodes, edges = _skip_variables(nodes, edges)
        self.nodes = nodes
        self.edges = edges
        self.variable_style = _VARIABLE_STYLE if variable_style == 'default' else variable_style or {}
        self.function_style = _FUNCTION_STYLE if function_style == 'default' else function_style or {}
        self.rankdir = rankdir
        self.show_name = show_name

    def dump(self, format='dot'):
        """Returns the graph as text in the DOT language."""
        if format != 'dot':
            raise NotImplementedError('only the format dot is available, not {}'.format(format))
        lines = ['digraph graphname{rankdir=%s;' % self.rankdir]
        for node in self.nodes:
            style = self.variable_style if isinstance(node, VariableNode) else self.function_style
            lines.append(_node_text(node, style, self.show_name))
        lines += ['{} -> {};'.format(id(head), id(tail)) for head, tail in self.edges]
        return ''.join(lines) + '}'


def _skip_variables(nodes, edges):
    """Joins each edge into a variable with the edges out of it."""
    following = {}
    for head, tail in edges:
        if isinstance(head, VariableNode):
            following.setdefault(head, []).append(tail)
    joined = [(head, next_tail) for head, tail in edges if isinstance(tail, VariableNode)
              for next_tail in following.get(tail, ())]
    return [node for node in nodes if not isinstance(node, VariableNode)], joined


def _start_node(output):
    if isinstance(output, Variable):
        return output.node
    if isinstance(output, (VariableNode, FunctionNode)):
        return output
    raise TypeError('outputs must be variables, variable nodes or functions, but one is a {}'.format(type(output)))


def build_computational_graph(outputs, remove_split=True, variable_style='default', function_style='default',
                              rankdir='TB', remove_variable=False, show_name=True):
    """Returns the `ComputationalGraph` of all nodes from which `outputs` were computed.

    Args:
        outputs: a variable, a variable node, a function, or a list of them.
        remove_split: has no effect. Chainer 1.4 had functions that split variables.
        variable_style, function_style: attributes of DOT nodes, or 'default', or None for none.
        rankdir: TB, BT, LR or RL.
        remove_variable: leaves functions only.
        show_name: puts names of variables into labels.
    """
    if not isinstance(outputs, (list, tuple)):
        outputs = [outputs]
    nodes, edges, pending = {}, {}, [_start_node(output) for output in outputs]
    while pending:
        node = pending.pop()
        if node in nodes:
            continue
        nodes[node] = None
        if isinstance(node, VariableNode):
            before = [] if node.creator_node is None else [node.creator_node]
        else:
            before = node.inputs or ()
        for earlier in before:
            edges[earlier, node] = None
            pending.append(earlier)
    return ComputationalGraph(list(nodes), list(edges), variable_style, function_style, rankdir, remove_variable,
                              show_name)
