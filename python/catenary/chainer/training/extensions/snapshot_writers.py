"""Writers of snapshots: in the training's thread, in another thread or in another process."""

import os
import shutil
import tempfile

from ...serializers import npz


class Writer:
    """Base class of writers. A call with a file name, a folder and an object writes a snapshot."""

    def __init__(self):
        self._cleanup_hooks = []

    def __call__(self, filename, outdir, target):
        raise NotImplementedError(f'{type(self).__name__} has to define __call__(filename, outdir, target)')

    def __del__(self):
        self.finalize()

    def finalize(self):
        """Waits until everything is written."""

    def save(self, filename, outdir, target, savefun, **kwds):
        """Writes a temporary file and gives it its name when it is complete."""
        with tempfile.TemporaryDirectory(prefix='tmp' + os.path.basename(filename), dir=outdir) as folder:
            path = os.path.join(folder, os.path.basename(filename))
            savefun(path, target, **kwds)
            shutil.move(path, os.path.join(outdir, filename))
        self._post_save(filename)

    def _add_cleanup_hook(self, hook_fun):
        """Registers a function that is called after each snapshot, with its file name if the function has `takes_name`."""
        self._cleanup_hooks.append(hook_fun)

    def _post_save(self, filename):
        for hook in getattr(self, '_cleanup_hooks', ()):
            hook(filename) if getattr(hook, 'takes_name', False) else hook()


class SimpleWriter(Writer):
    """Writes in the training's thread."""

    def __init__(self, savefun=npz.save_npz, **kwds):
        super().__init__()
        self._options = {'savefun': savefun, **kwds}

    def __call__(self, filename, outdir, target):
        self.save(filename, outdir, target, **self._options)


class StandardWriter(Writer):
    """Base of the writers that start a worker for each snapshot."""

    _started = False
    _worker = None

    def __init__(self, savefun=npz.save_npz, **kwds):
        super().__init__()
        self._savefun = savefun
        self._kwds = kwds

    def __call__(self, filename, outdir, target):
        self.finalize()  # at most one snapshot is written at a time
        worker = self.create_worker(filename, outdir, target, **self._kwds)
        worker.start()
        self._worker, self._started = worker, True

    def create_worker(self, filename, outdir, target, **kwds):
        """Returns an object with start() and join() that writes a snapshot."""
        raise NotImplementedError(f'{type(self).__name__} has to define create_worker(filename, outdir, target)')

    def finalize(self):
        if self._started:
            self._started = False
            self._worker.join()
            self._worker = None


class ThreadWriter(StandardWriter):
    """Writes each snapshot in a thread."""

    def create_worker(self, filename, outdir, target, **kwds):
        import threading
        return threading.Thread(target=self.save, args=(filename, outdir, target, self._savefun), kwargs=kwds)


class ProcessWriter(StandardWriter):
    """Writes each snapshot in a process."""

    def create_worker(self, filename, outdir, target, **kwds):
        import multiprocessing
        return multiprocessing.Process(target=self.save, args=(filename, outdir, target, self._savefun), kwargs=kwds)


class QueueWriter(Writer):
    """Base of the writers with one worker that takes snapshots from a queue."""

    _started = False
    _finalized = False
    _queue = None
    _consumer = None

    def __init__(self, savefun=npz.save_npz, task=None):
        super().__init__()
        self._task = self.create_task(savefun) if task is None else task
        self._queue = self.create_queue()
        self._consumer = self.create_consumer(self._queue)
        self._consumer.start()
        self._started = True

    def __call__(self, filename, outdir, target):
        self._queue.put([self._task, [filename, outdir, target]])

    def create_task(self, savefun):
        """Returns the writer of one snapshot."""
        return SimpleWriter(savefun=savefun)

    def create_queue(self):
        """Returns the queue."""
        raise NotImplementedError(f'{type(self).__name__} has to define create_queue()')

    def create_consumer(self, q):
        """Returns an object with start() and join() that runs `consume`."""
        raise NotImplementedError(f'{type(self).__name__} has to define create_consumer(q)')

    def consume(self, q):
        """Writes snapshots of the queue until None comes."""
        while (task := q.get()) is not None:
            task[0](*task[1])
            q.task_done()
        q.task_done()

    def _add_cleanup_hook(self, hook_fun):
        self._task._add_cleanup_hook(hook_fun)

    def finalize(self):
        if self._started and not self._finalized:
            self._finalized = True
            self._queue.put(None)
            self._queue.join()
            self._consumer.join()


class ThreadQueueWriter(QueueWriter):
    """Writes snapshots in one thread."""

    def create_queue(self):
        import queue
        return queue.Queue()

    def create_consumer(self, q):
        import threading
        return threading.Thread(target=self.consume, args=(q,), daemon=True)


class ProcessQueueWriter(QueueWriter):
    """Writes snapshots in one process."""

    def create_queue(self):
        import multiprocessing
        return multiprocessing.JoinableQueue()

    def create_consumer(self, q):
        import multiprocessing
        return multiprocessing.Process(target=self.consume, args=(q,), daemon=True)
