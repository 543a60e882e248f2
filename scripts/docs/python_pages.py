"""Turns the names that python_names.py prints into pages of Sphinx's Python domain, one for each module."""

import re
import textwrap

HOW = '``import chainer`` gives these names of Chainer %s. Their arguments and results are those that Chainer documents.'


def escape(text):
    """Text of a docstring as reStructuredText: `code` and ``code`` become literals."""
    parts = re.split(r'(``[^`]+``|`[^`\n]+`)', text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = '\\ ``%s``\\ ' % part.strip('`').strip()
        else:
            parts[i] = re.sub(r'([\\*`|_])', r'\\\1', part)
    return ''.join(parts)


def prose(text):
    """A docstring's paragraphs. An indented paragraph is code."""
    blocks = []
    for block in re.split(r'\n[ ]*\n', text):
        lines = block.split('\n')
        if all(line.startswith('  ') for line in lines):
            blocks.append('::\n\n' + textwrap.indent(textwrap.dedent(block), '   '))
            continue
        code = next((i for i, line in enumerate(lines) if line.startswith('    ')), len(lines))
        blocks.append(' '.join(escape(' '.join(lines[:code])).split()))
        if code < len(lines):
            blocks.append('::\n\n' + textwrap.indent(textwrap.dedent('\n'.join(lines[code:])), '   '))
    return '\n\n'.join(blocks)


def clean(signature):
    """A signature that Sphinx can read: no reprs, short names of types."""
    signature = signature.replace('catenary._core.', '').replace('collections.abc.', '').replace('numpy.typing.', '').replace('| None | None', '| None')
    return re.sub(r"<(?:class|function|no value|object)[^>]*>|<[^<>]*>", '...', signature)


def directive(entry, prefix, depth=0):
    space = '   ' * depth
    kind = {'class': 'class', 'function': 'function', 'method': 'method', 'attribute': 'attribute'}.get(entry['kind'], 'data')
    head = '%s.. py:%s:: ' % (space, kind)
    signatures = [clean(text) for text in entry['signatures']] or [entry['name']]
    yield head + ('\n' + ' ' * len(head)).join(prefix + text for text in signatures) + '\n'
    if entry['text']:
        yield textwrap.indent(prose(entry['text']), space + '   ') + '\n'
    for member in entry['members']:
        yield from directive(member, '', depth + 1)


def _page(title, *parts):
    return '\n'.join([':orphan:', '', title, '=' * len(title), '', *parts])


def _chainer(rows, classes, functions):
    parts = [HOW % '7.8.1', '']
    named = {}
    for path, parameters in rows.items():
        words = path.split('.')
        named['.'.join([*words[:2], words[-1]])] = parameters
    for name, parameters in sorted(named.items()):
        short = name.rsplit('.', 1)[1]
        parts.append('.. py:function:: %s(%s)\n' % (name, ', '.join(p for p in parameters if p != '...') + (', *' if '...' in parameters else '')))
        if 'catenary::functions::' + short in functions:
            parts.append('   In C++: :cpp:func:`catenary::functions::%s`.\n' % short)
    parts += ['Classes and other functions', '-' * 27, '']
    parts += ['.. py:%s:: %s\n' % ('function' if name.rsplit('.', 1)[1].islower() else 'class', name) for name in classes]
    return _page('chainer', *parts)


def _chainermn(rows):
    """rows: lines of scripts/data/chainermn_names.txt."""
    parts = ['ChainerMN\'s names, which Chainer documents, run on the library\'s communicators.', '']
    for line in rows:
        name, ours = line.split()[:2]
        if line.startswith('#') or ours == '-':
            continue
        owner, _, last = name.rpartition('.')
        kind = 'class' if last[:1].isupper() else 'method' if owner.rpartition('.')[2][:1].isupper() else 'function'
        parts += ['.. py:%s:: chainermn.%s\n' % (kind, name), '   In C++: :cpp:any:`catenary::%s`.\n' % ours.replace('.', '::')]
    return _page('chainermn', *parts)


def write(data, functions, chainermn, target):
    """Writes the pages and their index. functions: the full names of C++'s, to which Chainer's are linked."""
    target.mkdir(parents=True, exist_ok=True)
    pages = []
    for module in data['modules']:
        if not module['names']:
            continue
        name = module['module']
        text = re.sub(r'^%s:? ?' % re.escape(name), '', module['text'])
        parts = ['.. py:module:: %s\n' % name, prose(text[:1].upper() + text[1:]), '']
        for entry in module['names']:
            if entry['text'] or entry['owner'].split('.')[0] in ('catenary', 'cupy', 'cupyx'):
                parts += directive(entry, '')
        others = ['``%s``' % entry['name'] for entry in module['names']
                  if not entry['text'] and entry['owner'].split('.')[0] not in ('catenary', 'cupy', 'cupyx')]
        if others:
            parts += ['NumPy\'s own names', '-' * 17, '', ', '.join(others) + '.', '']
        (target / (name + '.rst')).write_text(_page(name, *parts))
        pages.append(name)
    (target / 'chainer.rst').write_text(_chainer(data['chainer'], data['classes'], functions))
    (target / 'chainermn.rst').write_text(_chainermn(chainermn))
    index = ['Python', '======', '', '``import cupy`` and ``import cupyx`` find these modules where the package is installed.', '',
             *('- :doc:`%s`' % page for page in [*pages, 'chainer', 'chainermn']), '']
    (target / 'index.rst').write_text('\n'.join(index))
