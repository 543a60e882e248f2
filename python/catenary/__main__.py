"""`python -m catenary`: runs a program with Catenary's `cupy` and `chainer`, installs data sets for Chainer, or reports on this machine.

    python -m catenary script.py arguments…     runs as `python script.py arguments…`
    python -m catenary -m module arguments…     runs as `python -m module arguments…`
    python -m catenary data mnist               puts MNIST into Chainer's cache of data sets
    python -m catenary names [MODULE]           lists which of CuPy's names are available

These run the command `catenary` of the package, which pip also installs beside python. `python -m catenary COMMAND --help` shows the options:

    python -m catenary devices                  lists the devices: ordinal, name, memory, the default
    python -m catenary doctor                   checks drivers and devices, and says how to repair them
    python -m catenary info                     prints versions and devices, for a bug report
    python -m catenary launch -n 4 python x.py  runs a script as several ranks on this machine that train one model (chainermn)
    python -m catenary bench, cache, convert, data list, data fetch, generate, inspect, quantize, run
"""

import os
import runpy
import signal
import sys

from catenary import _finder

# The commands of the program `catenary`
COMMANDS = ('bench', 'cache', 'convert', 'data', 'devices', 'doctor', 'generate', 'info', 'inspect', 'launch', 'quantize', 'run')
_HERE = os.path.dirname(os.path.abspath(__file__))


def _hand_to_children():
    """Makes Python processes that the program starts load the hook, too: their PYTHONPATH begins with a sitecustomize."""
    folder = os.path.join(_HERE, '_children')
    path = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    if folder not in path:
        os.environ['PYTHONPATH'] = os.pathsep.join([folder] + [entry for entry in path if entry])


def run(arguments):
    """Runs a script or a module as the main program. Raises SystemExit with a message if it cannot be run."""
    early = sorted(name for name in sys.modules if name in _finder.SERVED | _finder.CHAINERS)
    if early:
        sys.stderr.write('catenary: imported before the hook, and left as they are: %s\n' % ', '.join(early))
    if _finder.install() is not None:
        _hand_to_children()
    if arguments[0] == '-m':
        if len(arguments) < 2:
            sys.exit('python -m catenary -m: the name of a module is missing')
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name='__main__', alter_sys=True)
        return
    script = arguments[0]
    if script.startswith('-'):
        sys.exit('python -m catenary: unknown option %s\n%s' % (script, __doc__))
    if not os.path.exists(script):
        sys.exit('python -m catenary: there is no file %s. Expected a script, -m MODULE, names, or a command: %s' % (script, ', '.join(COMMANDS)))
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name='__main__')


def _program():
    """Returns the path of the program `catenary`: in an installed package inside of it, otherwise in the build of the library."""
    program = os.path.join(_HERE, 'bin', 'catenary')
    if not os.path.exists(program):
        from catenary import _core
        program = os.path.join(os.path.dirname(_core._library_folder()), 'bin', 'catenary')
    return program


def command(arguments=None):
    """Replaces this process by the program `catenary`, which examines this Python. pip installs this function as the command `catenary`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    program = _program()
    if not os.path.exists(program):
        sys.exit('catenary: the program %s is missing. Install the package again, or build the target catenary_command' % program)
    os.environ.setdefault('CATENARY_PYTHON', sys.executable)
    if not os.access(program, os.X_OK):
        os.chmod(program, 0o755)  # some installers drop the executable bit
    sys.stdout.flush()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these signals, and execv would keep that
        signal.signal(ignored, signal.SIG_DFL)
    os.execv(program, ['catenary', *arguments])  # the name in messages and --help


def main(arguments):
    if not arguments or arguments[0] in ('-h', '--help'):
        print(__doc__)
    elif arguments[:2] == ['data', 'mnist']:
        from catenary import _data
        _data.main(arguments[1:])
    elif arguments[0] == 'names':
        from catenary import _names
        try:
            _names.main(arguments[1:])
            sys.stdout.flush()
        except BrokenPipeError:  # the reader closed the pipe early (head), which is not an error
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the flush at Python's exit does not fail
    elif arguments[0] in COMMANDS or arguments == ['--version']:
        command(arguments)
    else:
        run(arguments)


if __name__ == '__main__':
    main(sys.argv[1:])
