"""cupyx.scipy.ndimage: filters, interpolation, morphology and measurements, of the library's own operations."""

from catenary import _wheel
from catenary.cupyx.scipy.ndimage._generic_filter import generic_filter, generic_filter1d  # noqa: F401
from catenary.cupyx.scipy.ndimage._distance_transform_edt import distance_transform_edt  # noqa: F401
from catenary.cupyx.scipy.ndimage._filter_functions import (  # noqa: F401
    convolve, convolve1d, correlate, correlate1d, gaussian_filter, gaussian_filter1d, gaussian_gradient_magnitude, gaussian_laplace,
    generic_gradient_magnitude, generic_laplace, laplace, maximum_filter, maximum_filter1d, median_filter, minimum_filter,
    minimum_filter1d, percentile_filter, prewitt, rank_filter, sobel, uniform_filter, uniform_filter1d)
from catenary.cupyx.scipy.ndimage._fourier_filters import fourier_ellipsoid, fourier_gaussian, fourier_shift, fourier_uniform  # noqa: F401
from catenary.cupyx.scipy.ndimage._spline_interpolation import (  # noqa: F401
    affine_transform, map_coordinates, rotate, shift, spline_filter, spline_filter1d, zoom)
from catenary.cupyx.scipy.ndimage._label import (  # noqa: F401
    center_of_mass, label, maximum, mean, minimum, standard_deviation, sum, sum_labels, variance)
from catenary.cupyx.scipy.ndimage._labeled_comprehension import (  # noqa: F401
    extrema, find_objects, histogram, labeled_comprehension, maximum_position, median, minimum_position, value_indices)
from catenary.cupyx.scipy.ndimage._erosion_dilation import (  # noqa: F401
    binary_closing, binary_dilation, binary_erosion, binary_fill_holes, binary_hit_or_miss, binary_opening, binary_propagation,
    black_tophat, generate_binary_structure, grey_closing, grey_dilation, grey_erosion, grey_opening, iterate_structure,
    morphological_gradient, morphological_laplace, white_tophat)

__getattr__ = _wheel.getter('cupyx.scipy.ndimage')
