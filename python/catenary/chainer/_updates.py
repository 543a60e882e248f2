"""The updates of parameters by the library's formulas."""

import functools

import numpy

from catenary import _core

from . import variable

# The original's modules of optimizers, with the optimizer's name. The rule's name adds Rule.
OPTIMIZERS = {
    'ada_delta': 'AdaDelta', 'ada_grad': 'AdaGrad', 'adam': 'Adam', 'corrected_momentum_sgd': 'CorrectedMomentumSGD', 'momentum_sgd': 'MomentumSGD',
    'msvag': 'MSVAG', 'nesterov_ag': 'NesterovAG', 'rmsprop': 'RMSprop', 'rmsprop_graves': 'RMSpropGraves', 'sgd': 'SGD', 'smorms3': 'SMORMS3',
}
# Classes of rules whose formula the library implements -> the optimizer's name.
RULES = {}
# Methods that a rule or its class overrides if a user changed its behaviour.
_CHANGES = frozenset(('update', 'update_core', 'update_core_cpu', 'update_core_gpu', 'init_state', '_init_states'))

_formula = functools.cache(_core._Formula)
_names_of = functools.cache(lambda formula: ['weight_decay_rate' if name == 'chainer_decay' else name for name in formula.hyperparameters])


def _numbers(rule):
    """Returns (formula, hyperparameters) for a rule's next update, or None if the library's formula does not cover it."""
    name, hyperparam = RULES[type(rule)], rule.hyperparam
    if name != 'Adam':
        formula = _formula(name)
    elif hyperparam.adabound:
        formula = _formula(name, bool(hyperparam.amsgrad), True, float(rule.initial_alpha))
    else:
        formula = _formula(name, bool(hyperparam.amsgrad))
    shared = hyperparam._parent.__dict__ if len(hyperparam.__dict__) == 1 and hyperparam._parent is not None else {}
    values = []
    for name in _names_of(formula):
        value = shared[name] if name in shared else getattr(hyperparam, name)
        if type(value) is not float and not isinstance(value, (int, float, numpy.number, numpy.bool_)):
            return None
        if name == 'eps' and value != 0 and numpy.float32(value) == 0:
            return None
        values.append(float(value))
    return formula, tuple(values)


def _counts(rule):
    """Is the count of a rule's updates the one that its formula goes by? M-SVAG has its own."""
    if rule.t < 1:
        return False
    power = rule.__dict__.get('beta_power')
    return power is None or abs(power - rule.hyperparam.beta ** rule.t) <= 1e-9 * power


def _was_updated(rule):
    if 'beta_power' in rule.__dict__:
        rule.beta_power *= rule.hyperparam.beta


def update_one(rule, param):
    """Updates a parameter by the library's formula. Returns False where that does not cover the rule or the parameter."""
    numbers = _numbers(rule) if type(rule) in RULES and _counts(rule) else None
    if numbers is None or numbers[0].update(rule.t, numbers[1], [(param, rule.state)]):
        return False
    _was_updated(rule)
    return True


def update_all(params):
    """Updates parameters, in one call for all with equal formula, update number and hyperparameters."""
    groups, known = {}, {}
    for param in params:
        rule = param.update_rule
        if (type(rule) not in RULES or type(param).update is not variable.Parameter.update or 'update' in param.__dict__ or not rule.enabled
                or param._loss_scale is not None or not _CHANGES.isdisjoint(rule.__dict__)):
            param.update()
            continue
        hookable = rule._hookable
        if hookable._pre_update_hooks or hookable._post_update_hooks:
            param.update()
            continue
        if rule.state is None and param.is_initialized:
            rule._init_states(param)
        hyperparam = rule.hyperparam
        if len(hyperparam.__dict__) == 1:  # only the parent, whose values apply
            key = type(rule), hyperparam._parent, rule.__dict__.get('initial_alpha')
            numbers = known[key] if key in known else known.setdefault(key, _numbers(rule))
        else:
            numbers = _numbers(rule)
        rule.t += 1
        if numbers is None or not _counts(rule):
            rule.t -= 1
            param.update()
        else:
            groups.setdefault((*numbers, rule.t), []).append((param, rule.state))
    for (formula, values, t), pairs in groups.items():
        refused = formula.update(t, values, pairs)
        for i, (param, _) in enumerate(pairs):
            if i in refused:
                param.update_rule.t -= 1
                param.update()
            else:
                _was_updated(param.update_rule)
