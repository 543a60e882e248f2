"""Links that connect layers."""
