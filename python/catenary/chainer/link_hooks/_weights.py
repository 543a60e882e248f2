"""A hook that replaces a weight while its link runs."""
from ..link_hook import LinkHook


class WeightHook(LinkHook):
    """Gives a link ``_changed(link)`` for its weight during each forward computation."""

    def __init__(self, weight_name, name):
        self.weight_name = weight_name
        if name is not None:
            self.name = name

    def __enter__(self):
        raise NotImplementedError('{} belongs to single links: call link.add_hook(hook), not `with hook:`'.format(
            type(self).__name__))

    def __exit__(self, *_):
        raise NotImplementedError('{} is no context manager'.format(type(self).__name__))

    def _weight(self, link):
        weight = getattr(link, self.weight_name, None)
        if weight is None or self.weight_name not in link._params:
            raise ValueError("link {} has no parameter '{}' for {}".format(link, self.weight_name, self.name))
        return weight

    def _initialized(self, link, args):
        """Returns the weight after it has its shape, for which links without input size need an argument."""
        weight = self._weight(link)
        if weight.array is None:
            link._initialize_params(args[0].shape[1])
        return weight

    def forward_preprocess(self, cb_args):
        link = cb_args.link
        self._original = self._initialized(link, cb_args.args)
        setattr(link, self.weight_name, self._changed(link))

    def forward_postprocess(self, cb_args):
        setattr(cb_args.link, self.weight_name, self._original)
