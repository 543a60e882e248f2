"""Crops of images."""
import numpy


def oversample(images, crop_dims):
    """Returns ten crops of each image (channels, height, width): corners, centre, and their mirror images."""
    height, width = crop_dims
    crops = []
    for image in images:
        free_y, free_x = image.shape[1] - height, image.shape[2] - width
        corners = [(y, x) for y in (0, free_y) for x in (0, free_x)]
        plain = [image[:, y:y + height, x:x + width] for y, x in corners + [(free_y // 2, free_x // 2)]]
        crops += plain + [crop[:, :, ::-1] for crop in plain]
    return numpy.array(crops, dtype=numpy.float32)
