"""What programs take from `cupy._indexing`."""
