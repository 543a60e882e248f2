"""Names of functions in profiles of CUDA."""
from ..backends import cuda
from ..function_hook import FunctionHook


class CUDAProfileHook(FunctionHook):
    """Marks each function's forward and backward computation with a range of NVTX."""

    name = 'CUDAProfileHook'

    def __init__(self):
        cuda.check_cuda_available()
        if not cuda.cupy.cuda.nvtx_enabled:
            raise RuntimeError('nvtx is required for CUDAProfileHook')

    def _enter(self, function, suffix):
        cuda.cupy.cuda.nvtx.RangePush('{}.{}'.format(function.label, suffix))

    def forward_preprocess(self, function, in_data):
        self._enter(function, 'forward')

    def forward_postprocess(self, function, in_data):
        cuda.cupy.cuda.nvtx.RangePop()

    def backward_preprocess(self, function, in_data, out_grad):
        self._enter(function, 'backward')

    def backward_postprocess(self, function, in_data, out_grad):
        self.forward_postprocess(function, in_data)
