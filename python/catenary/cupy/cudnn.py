"""cupy.cudnn is not available. Convolutions do not need it."""

raise ImportError('cupy.cudnn is not available: Catenary\'s convolutions do not have cuDNN\'s interface')
