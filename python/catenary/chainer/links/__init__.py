"""Links: functions with parameters."""

from .classifier import Classifier
from .linear import Linear
