"""Recurrent links."""
