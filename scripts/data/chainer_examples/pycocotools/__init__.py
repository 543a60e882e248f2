"""In the place of pycocotools: what Chainer's image captioning asks of it."""
