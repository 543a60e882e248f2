import copy

import chainer

from chainermn.links.batch_normalization import MultiNodeBatchNormalization


def create_mnbn_model(link, comm, communication_backend='auto'):
    """Returns a copy of a model in which all batch normalisations use the batches of all ranks (chainermn.links.create_mnbn_model)."""
    if isinstance(link, chainer.links.BatchNormalization):
        return _replaced(link, comm, communication_backend)
    if isinstance(link, chainer.Sequential):
        return chainer.Sequential(*[create_mnbn_model(layer, comm, communication_backend) if isinstance(layer, chainer.Link) else layer
                                    for layer in link])
    made = copy.deepcopy(link)
    if isinstance(link, chainer.Chain):
        for name in sorted(link._children):
            made.__dict__[name] = create_mnbn_model(getattr(link, name), comm, communication_backend)
            made.__dict__[name].name = name
    elif isinstance(link, chainer.ChainList):
        made._children = []
        for child in link:
            made.add_link(create_mnbn_model(child, comm, communication_backend))
    return made


def _replaced(link, comm, communication_backend):
    """Returns a link of all ranks with the parameters and averages of a batch normalisation."""
    if link.avg_mean is None:
        raise ValueError('create_mnbn_model: the batch normalisation %s has no size: give its size, or call the model once' % (link.name or ''))
    made = MultiNodeBatchNormalization(link.avg_mean.shape, comm, link.decay, link.eps, link.avg_mean.dtype, link.gamma is not None,
                                       link.beta is not None, communication_backend=communication_backend)
    made.name = link.name
    made.to_device(link.device)
    made.copyparams(link)
    made.N = link.N
    return made
