"""Replaces pycocotools for Chainer's image captioning."""
