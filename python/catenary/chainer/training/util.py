"""Triggers from the arguments that stand for them."""

from .trigger import get_trigger

__all__ = ['get_trigger']
