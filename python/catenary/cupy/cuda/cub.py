"""cupy.cuda.cub: not used."""

available = False
