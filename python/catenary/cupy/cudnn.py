"""cupy.cudnn is not there: convolutions are done without it."""

raise ImportError('cupy.cudnn is not available: Catenary\'s convolutions do not stand behind cuDNN\'s interface yet')
