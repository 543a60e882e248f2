import json


class COCO:
    def __init__(self, path):
        with open(path) as file:
            content = json.load(file)
        self._images = {image['id']: image for image in content['images']}
        self._annotations = {annotation['id']: annotation for annotation in content['annotations']}

    def getAnnIds(self):
        return list(self._annotations)

    def loadAnns(self, ids):
        return [self._annotations[i] for i in ids]

    def loadImgs(self, ids):
        return [self._images[i] for i in ids]
