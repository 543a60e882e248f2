"""Turns Doxygen's XML of the public headers into pages of Sphinx's C++ domain, one for each header."""

import collections
import dataclasses
import re
import textwrap
import xml.etree.ElementTree as ElementTree

KINDS = {'function': 'function', 'variable': 'member', 'typedef': 'type', 'enum': 'enum', 'class': 'class', 'struct': 'struct',
         'union': 'union', 'concept': 'concept', 'define': 'macro'}


def escape(text):
    """Plain text as reStructuredText."""
    return re.sub(r'([\\*`|_])', r'\\\1', text)


def _inline(node):
    """The text of a paragraph; code becomes a literal."""
    parts = [escape(node.text or '')]
    for child in node:
        if child.tag == 'computeroutput':
            code = ''.join(child.itertext()).strip()
            parts.append('\\ ``%s``\\ ' % code if code else '')
        elif child.tag in ('ndash', 'mdash'):
            parts.append('–' if child.tag == 'ndash' else '—')
        elif child.tag not in ('itemizedlist', 'table', 'verbatim', 'programlisting'):
            parts.append(_inline(child))
        parts.append(escape(child.tail or ''))
    return ''.join(parts)


def _blocks(node):
    """The paragraphs, lists and tables of a description."""
    for child in node:
        if child.tag == 'para':
            text = ' '.join(_inline(child).split())
            if text:
                yield text
            yield from _blocks(child)
        elif child.tag in ('itemizedlist', 'orderedlist'):
            for item in child:
                yield '- ' + '\n  '.join('\n\n'.join(_blocks(item)).splitlines())
        elif child.tag == 'table':
            rows = [[' '.join(_blocks(entry)) for entry in row] for row in child]
            yield '\n'.join(['.. list-table::', ''] + ['   %s - %s' % (' ' if i else '*', cell) for row in rows for i, cell in enumerate(row)])
        elif child.tag in ('verbatim', 'programlisting'):
            yield '::\n\n' + textwrap.indent(''.join(child.itertext()), '   ')


def description(definition):
    parts = [block for tag in ('briefdescription', 'detaileddescription') for node in definition.findall(tag) for block in _blocks(node)]
    return '\n\n'.join(parts)


def _flat(node):
    return '' if node is None else ' '.join(''.join(node.itertext()).split())


def _template(definition):
    parameters = definition.find('templateparamlist')
    if parameters is None:
        return ''
    words = []
    for parameter in parameters:
        name, value = _flat(parameter.find('declname')), _flat(parameter.find('defval'))
        words.append(_flat(parameter.find('type')) + (' ' + name if name else '') + (' = ' + value if value else ''))
    return 'template<%s> ' % ', '.join(words)


def _function(definition, name):
    words = [word for word in ('static', 'explicit') if definition.get(word) == 'yes']
    arguments = re.sub(r'=(0|default|delete)$', r' = \1', _flat(definition.find('argsstring')))
    arguments = re.sub(r' ?=\[\].*?\}', '', arguments)  # a lambda by default, which Sphinx cannot read
    if definition.get('virt') in ('virtual', 'pure-virtual') and 'override' not in arguments:
        words.append('virtual')
    return ' '.join([*words, *_flat(definition.find('type')).split(), name]) + arguments


def _variable(definition, name):
    words = ['static'] if definition.get('static') == 'yes' else []
    value = _flat(definition.find('initializer'))
    shown = ' ' + value if value.startswith('=') and len(value) < 60 else ''
    return ' '.join([*words, _flat(definition.find('type')), name]) + _flat(definition.find('argsstring')) + shown


def _typedef(definition, name):
    return name + ' = ' + _flat(definition.find('type'))


def _enum(definition, name):
    kind = _flat(definition.find('type'))
    return name + (' : ' + kind if kind else '')


def _define(definition, name):
    parameters = [_flat(parameter.find('defname')) for parameter in definition.findall('param')]
    return name + ('(%s)' % ', '.join(parameters) if parameters else '')


def _compound(definition, name):
    bases = [base.get('prot') + ' ' + base.text for base in definition.findall('basecompoundref')]
    return name + (' : ' + ', '.join(bases) if bases else '')


SIGNATURES = {'function': _function, 'variable': _variable, 'typedef': _typedef, 'enum': _enum, 'define': _define}


@dataclasses.dataclass
class Entity:
    """A declaration: how it is written, its text, and where it stands."""
    kind: str
    directive: str
    name: str
    signature: str
    text: str
    file: str
    line: int
    scope: str = ''
    members: list = dataclasses.field(default_factory=list)


def _entity(definition, name, scope=''):
    kind = definition.get('kind')
    directive = 'c:macro' if kind == 'define' else 'cpp:enum-class' if definition.get('strong') == 'yes' else 'cpp:' + KINDS[kind]
    location = definition.find('location')
    file, line = location.get('declfile') or location.get('file'), int(location.get('declline') or location.get('line'))
    signature = _template(definition) + SIGNATURES.get(kind, _compound)(definition, name)
    values = [Entity('enumerator', 'cpp:enumerator', _flat(value.find('name')), _flat(value.find('name')), description(value), file, line)
              for value in definition.findall('enumvalue')]
    return Entity(kind, directive, name, signature, description(definition), file, line, scope, values)


def _is_public(definition):
    name = definition.findtext('name') or ''
    return definition.get('prot') in ('public', None) and definition.get('kind') in KINDS and not name.startswith('@') and (
        not name.endswith('_') and 'delete' not in (definition.findtext('argsstring') or '')[-7:])


def _compound_entity(root, compounds, scope, name):
    entity = _entity(root, name, scope)
    for section in root.findall('sectiondef'):
        for member in section.findall('memberdef'):
            if section.get('kind', '').startswith('public') and _is_public(member):
                entity.members.append(_entity(member, member.findtext('name')))
    for inner in root.findall('innerclass'):
        if inner.get('prot') == 'public' and inner.get('refid') in compounds and '<' not in inner.text:
            entity.members.append(_compound_entity(compounds[inner.get('refid')], compounds, '', inner.text.rsplit('::', 1)[1]))
    entity.members.sort(key=lambda member: member.line)
    return entity


def read(folder):
    """Every public declaration, by the header's path."""
    compounds = {}
    for path in sorted(folder.glob('*.xml')):
        for root in ElementTree.parse(path).getroot().findall('compounddef'):
            compounds[root.get('id')] = root
    headers = collections.defaultdict(list)
    for root in compounds.values():
        name = root.findtext('compoundname')
        if root.get('kind') == 'namespace' and '@' not in name and 'detail' not in name:
            for member in root.iter('memberdef'):
                if _is_public(member):
                    entity = _entity(member, member.findtext('name'), name)
                    headers[entity.file].append(entity)
            for inner in root.findall('innerclass') + root.findall('innerconcept'):
                if inner.get('prot', 'public') == 'public' and inner.get('refid') in compounds and '<' not in inner.text:
                    entity = _compound_entity(compounds[inner.get('refid')], compounds, name, inner.text.rsplit('::', 1)[1])
                    headers[entity.file].append(entity)
        elif root.get('kind') == 'file':
            for member in root.iter('memberdef'):
                if member.get('kind') == 'define' and description(member):
                    entity = _entity(member, member.findtext('name'))
                    headers[entity.file].append(entity)
    for entities in headers.values():
        entities.sort(key=lambda entity: entity.line)
    return headers


def _render(entities, lines, seen, scope, depth=0):
    """Directives for the declarations. One without a text, right below another of its kind, shares that one's directive."""
    groups = []
    for entity in entities:
        key = (scope, entity.scope, entity.directive, re.sub(r' = [^,()]*(?=[,)])', '', entity.signature))
        if key in seen:
            continue
        seen.add(key)
        last = groups[-1][-1] if groups else None
        if (last and entity.kind == last.kind == 'function' and not entity.text and entity.scope == last.scope
                and all(line.strip() for line in lines[last.line - 1:entity.line])):
            groups[-1].append(entity)
        else:
            groups.append([entity])
    space, at = '   ' * depth, None
    for group in groups:
        first = group[0]
        if depth == 0 and first.scope != at and first.kind != 'define':
            at = first.scope
            yield '.. cpp:namespace:: %s\n' % at
        head = '%s.. %s:: ' % (space, first.directive)
        yield head + ('\n' + ' ' * len(head)).join(entity.signature for entity in group) + '\n'
        if first.text:
            yield textwrap.indent(first.text, space + '   ') + '\n'
        if first.members:
            yield from _render(first.members, lines, seen, scope + '::' + first.scope + '::' + first.name, depth + 1)


def _purpose(lines):
    """The comment that a header begins with, as paragraphs."""
    words = []
    for line in lines:
        if line.startswith('//') and not line.startswith('///'):
            words.append(line[2:].strip())
        elif words or not line.startswith('#pragma once'):
            break
    return '\n\n'.join(escape(' '.join(part.split('\n'))) for part in '\n'.join(words).split('\n\n') if part)


def _operation(name, arity, parameters=' x y z'):
    names = parameters.split() or ['', '', '']
    return 'Array %s(%s)' % (name, ', '.join(('Operand ' + names[i]).strip() for i in range(int(arity))))


def _operations(lines, rows):
    """The functions that a header makes of the rows of ops/elementwise.def."""
    if not any('#define CT_OP(name, arity' in line for line in lines):
        return
    yield '.. cpp:namespace:: catenary\n'
    for name, arity, text in rows:
        yield '.. cpp:function:: %s\n\n   %s.\n' % (_operation(name, arity), escape(text))


def write(xml, root, target):
    """Writes the pages and their index; gives the full names of the functions that have one."""
    headers = read(xml)
    rows = re.findall(r'^CT_OP\((\w+), (\d),.*"(.*)"\)$', (root / 'catenary/ops/elementwise.def').read_text(), re.MULTILINE)
    folders, names = collections.defaultdict(list), set()
    # Headers that declare some of the operations again do not list them.
    seen = {('', 'catenary', 'cpp:function', _operation(name, arity, parameters)) for name, arity, _ in rows for parameters in (' x y z', ' a b c', '')}
    for file, entities in sorted(headers.items()):
        lines = (root / file).read_text().splitlines()
        name = file.removeprefix('catenary/').removesuffix('.h')
        body = [*_operations(lines, rows), *_render(entities, lines, seen, '')]
        if not body:
            continue
        names.update('%s::%s' % (entity.scope, entity.name) for entity in entities)
        title = name + '.h'
        page = target / (name + '.rst')
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text('\n'.join([':orphan:', '', title, '=' * len(title), '', '``#include <%s>``' % file, '', _purpose(lines), '', *body]))
        folders[name.rpartition('/')[0]].append(name)
    index = ['C++', '===', '', 'Every public header, by folder. Programs include ``<catenary/catenary.h>``, which has all of them.', '']
    for folder, pages in sorted(folders.items()):
        name = folder or 'catenary'
        index += [name, '-' * len(name), '', *('- :doc:`%s`' % page for page in pages), '']
    (target / 'index.rst').write_text('\n'.join(index))
    return names
