import chainer

from chainermn.functions import batch_normalization


class MultiNodeBatchNormalization(chainer.links.BatchNormalization):
    """Batch normalisation with mean and variance over the batches of all ranks, which have the same size.

    The arguments are those of `chainer.links.BatchNormalization`. communication_backend: 'auto', 'mpi' or 'nccl', which compute alike.
    """

    def __init__(self, size, comm, decay=0.9, eps=2e-5, dtype=None, use_gamma=True, use_beta=True, initial_gamma=None, initial_beta=None,
                 communication_backend='auto'):
        batch_normalization.get_communication_backend(comm, communication_backend)
        self.comm = comm
        super().__init__(size, decay=decay, eps=eps, dtype=dtype, use_gamma=use_gamma, use_beta=use_beta, initial_gamma=initial_gamma,
                         initial_beta=initial_beta)
        self.avg_var[...] = 0  # as in ChainerMN. The link of one rank begins with 1

    def __deepcopy__(self, memo):
        # a communicator stands for the ranks: copies use it, too
        import copy
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        memo[id(self.comm)] = self.comm
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return made

    def forward(self, x, finetune=False):
        xp = self.xp
        with chainer.using_device(self.device):
            gamma = self.gamma if self.gamma is not None else xp.ones_like(self.avg_mean)
            beta = self.beta if self.beta is not None else xp.zeros_like(self.avg_mean)
        if not chainer.config.train:
            return chainer.functions.fixed_batch_normalization(x, gamma, beta, self.avg_mean, self.avg_var, self.eps)
        if finetune:
            self.N += 1
        decay = 1 - 1 / self.N if finetune else self.decay
        function = batch_normalization.MultiNodeBatchNormalization(self.comm, self.eps)
        y, = function.apply((x, gamma, beta))
        count = x.size // self.avg_mean.size
        self.avg_mean[...] = decay * self.avg_mean + (1 - decay) * function.mean
        self.avg_var[...] = decay * self.avg_var + (1 - decay) * count / max(count - 1, 1) * function.var
        return y
