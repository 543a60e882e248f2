"""Names of the memory layouts of images (x) and filters (W). Channels first is None, the layout of every array here."""

CUDNN_CHANNEL_FIRST_X = None
CUDNN_CHANNEL_FIRST_W = None
CUDNN_CHANNEL_LAST_X = 'CUDNN_CHANNEL_LAST_X'
CUDNN_CHANNEL_LAST_W = 'CUDNN_CHANNEL_LAST_W'
