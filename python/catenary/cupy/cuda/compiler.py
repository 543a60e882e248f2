"""cupy.cuda.compiler"""


class CompileException(Exception):
    """Raised if a device's compiler rejects a kernel. Contains its messages and the text."""

    def __init__(self, msg, source='', name='', options=(), backend=''):
        super().__init__(msg)
        self._msg, self.source, self.name, self.options, self.backend = msg, source, name, options, backend

    def get_message(self):
        return self._msg

    def dump(self, f):
        """Writes the text with numbers of lines."""
        for number, line in enumerate(self.source.split('\n'), 1):
            f.write(f'{number:4} {line}\n')


NVRTCError = CompileException
