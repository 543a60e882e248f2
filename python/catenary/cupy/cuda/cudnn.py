"""cupy.cuda.cudnn is not available."""

import catenary.cupy.cudnn  # noqa: F401, which says why
