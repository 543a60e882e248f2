"""The bases of serializers."""


class AbstractSerializer:
    """Saves or loads values by a key. serializer[key] is the serializer of a part."""

    def __call__(self, key, value):
        """Saves a value, or loads one into it. Returns the value that holds."""
        raise NotImplementedError

    def __getitem__(self, key):
        raise NotImplementedError


class Deserializer(AbstractSerializer):
    """The base of serializers that load."""

    def load(self, obj):
        """Loads an object by its method serialize."""
        obj.serialize(self)


class Serializer(AbstractSerializer):
    """The base of serializers that save."""

    def save(self, obj):
        """Saves an object by its method serialize, or each value of a dict under its key."""
        if isinstance(obj, dict):
            for key, value in obj.items():
                self(key, value)
        else:
            obj.serialize(self)
