"""A background thread, to test whether calls release the GIL."""

import contextlib
import sys
import threading
import time


@contextlib.contextmanager
def another_thread():
    """Counts the turns of another thread. Without forced switches it runs only while the GIL is released."""
    turns, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            turns[0] += 1
            time.sleep(0)  # gives the GIL back

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        yield turns
    finally:
        ended.set()
        sys.setswitchinterval(interval)
        thread.join()


def gives_turns(large, small, most):
    """Does `large` release the GIL? `small` must not."""
    large()  # warms up, for example compiles kernels
    with another_thread() as turns:
        before = turns[0]
        for _ in range(100):
            small()
        assert turns[0] == before
        for _ in range(most):  # the system decides when the other thread is scheduled
            large()
            if turns[0] > before:
                return True
    return False
