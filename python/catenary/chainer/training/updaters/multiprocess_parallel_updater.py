"""The updater of one model on several GPUs, with a process for each one."""

import multiprocessing
import warnings

from ... import backend, reporter
from ...backends import cuda
from ...dataset import convert
from .standard_updater import StandardUpdater, call_with


def _nccl():
    """Returns the module of NCCL, or None."""
    try:
        from cupy.cuda import nccl
        return nccl if getattr(nccl, 'available', True) else None
    except ImportError:
        return None


def _contiguous(link, attribute):
    """Returns an array with the values of all parameters of a link, one after the other."""
    xp = _gpu_module(link)
    arrays = [getattr(param, attribute) for _, param in sorted(link.namedparams())]
    parts = [array.ravel().astype(xp.float32, copy=False) for array in arrays if array is not None]
    return xp.concatenate(parts) if parts else xp.zeros((0,), xp.float32)


def _distribute(link, values, attribute):
    """Writes values of one array to all parameters of a link."""
    _gpu_module(link)
    offset = 0
    for _, param in sorted(link.namedparams()):
        array = getattr(param, attribute)
        if array is None and attribute == 'grad' and param.array is not None:
            param.cleargrad()
            param.grad = array = param.xp.empty_like(param.array)
        if array is not None:
            array[...] = values[offset:offset + array.size].reshape(array.shape)
            offset += array.size


def _gpu_module(link):
    if link.xp is not cuda.cupy or not cuda.available:
        raise RuntimeError('parameters of several processes are exchanged only on GPUs: send the model to one')
    return link.xp


def size_num_grads(link):
    """Returns the number of elements of all gradients."""
    return sum(param.size for param in link.params() if param.size)


def gather_grads(link):
    """Returns one array of all gradients of a link on a GPU."""
    return _contiguous(link, 'grad')


def gather_params(link):
    """Returns one array of all parameters of a link on a GPU."""
    return _contiguous(link, 'data')


def scatter_grads(link, array):
    """Sets all gradients of a link from one array."""
    _distribute(link, array, 'grad')


def scatter_params(link, array):
    """Sets all parameters of a link from one array."""
    _distribute(link, array, 'data')


class _Worker(multiprocessing.Process):
    """The process of one of the other GPUs."""

    def __init__(self, proc_id, pipe, master):
        super().__init__()
        self.proc_id, self.pipe = proc_id, pipe
        self.device, self.iterator = master._devices[proc_id], master._mpu_iterators[proc_id]
        self.model, self.converter = master._master, master.converter
        self.n_devices = len(master._devices)

    def _set_up(self):
        _, comm_id = self.pipe.recv()
        self.comm = _nccl().NcclCommunicator(self.n_devices, comm_id, self.proc_id)
        self.model.to_device(self.device)
        self.reporter = reporter.Reporter()
        for name, link in self.model.namedlinks():
            self.reporter.add_observer('main' + name.rstrip('/'), link)

    def run(self):
        self.device.use()
        self._set_up()
        while self.pipe.recv()[0] == 'update':
            self._update()
        self.iterator.finalize()

    def _update(self):
        nccl = _nccl()
        self.model.cleargrads()
        arrays = convert._call_converter(self.converter, self.iterator.next(), self.device)
        with self.reporter.scope({}):
            call_with(self.model, arrays).backward()
        stream = cuda.Stream.null
        gradients = gather_grads(self.model)
        self.comm.reduce(gradients.data.ptr, gradients.data.ptr, gradients.size, nccl.NCCL_FLOAT, nccl.NCCL_SUM, 0, stream.ptr)
        self.model.cleargrads()
        parameters = gather_params(self.model)
        self.comm.bcast(parameters.data.ptr, parameters.size, nccl.NCCL_FLOAT, 0, stream.ptr)
        scatter_params(self.model, parameters)


class MultiprocessParallelUpdater(StandardUpdater):
    """Updates one model with a process for each of several GPUs, which exchange gradients with NCCL.

    `iterators` is a list of an iterator for each device and `devices` a list or dict of the devices. The first one (or 'main') updates the
    parameters. The learning rate is divided by the number of devices, as gradients are added up.
    """

    def __init__(self, iterators, optimizer, converter=convert.concat_examples, devices=None, auto_new_epoch=True):
        if not self.available():
            raise RuntimeError('MultiprocessParallelUpdater needs GPUs and NCCL')
        devices = self._device_list(devices)
        if multiprocessing.get_start_method() == 'fork' and self._has_context():
            raise RuntimeError('this process has a CUDA context already, which processes that start by fork cannot use: make the updater before the '
                               "first use of a GPU, or call multiprocessing.set_start_method('spawn')")
        if len(iterators) != len(devices):
            raise ValueError(f'{len(iterators)} iterators do not fit {len(devices)} devices')
        super().__init__(iterators[0], optimizer, converter, auto_new_epoch=auto_new_epoch)
        for other in iterators[1:]:
            if len(other.dataset) != len(iterators[0].dataset):
                warnings.warn('the iterators have datasets of different lengths, so their epochs differ', stacklevel=2)
        self._adapt(optimizer, len(devices))
        self._master = optimizer.target
        self._devices = devices
        self._mpu_iterators = iterators
        self._initialized = False
        self._pipes, self._workers = [], []
        self.comm = None

    @staticmethod
    def available():
        """Returns whether there are GPUs and NCCL."""
        return cuda.available and _nccl() is not None

    @staticmethod
    def _device_list(devices):
        if isinstance(devices, dict):
            devices = dict(devices)
            devices = [devices.pop('main'), *devices.values()]
        elif isinstance(devices, (list, tuple)):
            devices = list(devices)
        else:
            raise ValueError('devices has to be a list, a tuple or a dict with the key main')
        return [convert._get_device(device) for device in devices]

    @staticmethod
    def _has_context():
        try:
            return bool(cuda.cupy.cuda.driver.ctxGetCurrent())
        except Exception:
            return False

    @staticmethod
    def _adapt(optimizer, count):
        """Makes an optimizer that gets sums of gradients work as with their mean."""
        kind = type(optimizer).__name__
        if kind in ('Adam', 'AdaGrad', 'RMSprop'):
            name, value = 'eps', optimizer.eps * count
        elif kind in ('RMSpropGraves', 'AdaDelta'):
            name, value = 'eps', optimizer.eps * count ** 2
        elif hasattr(optimizer, 'lr'):
            name, value = 'lr', optimizer.lr / count
        else:
            return
        setattr(optimizer, name, value)
        warnings.warn(f'{name} of the optimizer is set to {value} as gradients of {count} devices are added up', stacklevel=3)

    def setup_workers(self):
        """Starts the processes before the first update."""
        if self._initialized:
            return
        self._initialized = True
        self._master.cleargrads()
        for number in range(1, len(self._devices)):
            pipe, end = multiprocessing.Pipe()
            worker = _Worker(number, end, self)
            worker.start()
            self._workers.append(worker)
            self._pipes.append(pipe)
        with backend.using_device(self._devices[0]):
            self._master.to_device(self._devices[0])
            if len(self._devices) > 1:
                nccl = _nccl()
                key = nccl.get_unique_id()
                self._send_message(('communicator', key))
                self.comm = nccl.NcclCommunicator(len(self._devices), key, 0)

    def finalize(self):
        """Ends the processes."""
        self._send_message(('finalize', None))
        for worker in self._workers:
            worker.join()
        super().finalize()

    def _send_message(self, message):
        for pipe in self._pipes:
            pipe.send(message)

    def update_core(self):
        self.setup_workers()
        self._send_message(('update', None))
        with backend.using_device(self._devices[0]):
            iterator, optimizer = self.get_iterator('main'), self.get_optimizer('main')
            self._master.cleargrads()
            arrays = convert._call_converter(self.converter, iterator.next(), self._devices[0])
            call_with(self._master, arrays).backward()
            stream = cuda.Stream.null
            if self.comm is not None:
                nccl = _nccl()
                gradients = gather_grads(self._master)
                self.comm.reduce(gradients.data.ptr, gradients.data.ptr, gradients.size, nccl.NCCL_FLOAT, nccl.NCCL_SUM, 0, stream.ptr)
                scatter_grads(self._master, gradients)
            optimizer.update()
            if self.comm is not None:
                parameters = gather_params(self._master)
                self.comm.bcast(parameters.data.ptr, parameters.size, nccl.NCCL_FLOAT, 0, stream.ptr)
        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(auto=True)
