"""cupy.cuda.cudnn is not there."""

import catenary.cupy.cudnn  # noqa: F401, which says why
