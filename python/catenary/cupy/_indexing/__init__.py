"""Names that programs import from `cupy._indexing`."""
