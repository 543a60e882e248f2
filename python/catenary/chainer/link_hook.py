"""The base of link hooks."""

from .link import LinkHook, _ForwardPostprocessCallbackArgs, _ForwardPreprocessCallbackArgs, _get_link_hooks

__all__ = ['LinkHook']
