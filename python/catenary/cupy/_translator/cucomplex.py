"""Translates cuComplex.h: renames its types and functions to complex<float>, complex<double> and their functions, without moving lines."""

import re

from catenary.cupy._translator.reader import Untranslatable, tokens

_SPOKEN = re.compile(r'\b(?:make_)?cu(?:Float|Double)?Complex\b|\bcuC[a-z]+f?\b|\bcuComplex\w+')
_WORDS = {'cuComplex': 'complex<float>', 'cuFloatComplex': 'complex<float>', 'cuDoubleComplex': 'complex<double>',
          'cuComplexFloatToDouble': 'complex<double>', 'cuComplexDoubleToFloat': 'complex<float>'}
_WORDS.update({'make_' + name: made for name, made in _WORDS.items() if name.endswith('Complex')})
for _name, _made in {'Creal': 'real', 'Cimag': 'imag', 'Conj': 'conj', 'Cabs': 'abs', 'Cadd': 'ct_cadd', 'Csub': 'ct_csub', 'Cmul': 'ct_cmul',
                     'Cdiv': 'ct_cdiv', 'Cfma': 'ct_cfma'}.items():
    _WORDS.update({'cu' + _name: _made, 'cu%sf' % _name: _made})


def renamed(text):
    """Returns the text with names of cuComplex.h replaced, or the text itself if it has none."""
    if not isinstance(text, str) or not _SPOKEN.search(text):
        return text
    try:
        ts = tokens(text)
    except Untranslatable:
        return text  # the next reader reports the error
    for t in ts:
        if t.kind == 'directive' and re.match(r'#\s*include\s*[<"]cuComplex\.h[>"]', t.text):
            t.text = ''
        elif t.kind == 'directive':  # a macro's text
            t.text = _SPOKEN.sub(lambda found: _WORDS.get(found[0], found[0]), t.text)
        else:
            t.text = _WORDS.get(t.text, t.text)
    return ''.join(t.space + t.text for t in ts)
