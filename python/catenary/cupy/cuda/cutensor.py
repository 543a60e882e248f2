"""cupy.cuda.cutensor: not used."""

available = False
