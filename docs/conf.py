"""Sphinx's settings of the site that `make docs` builds. scripts/make_docs collects its pages."""

from sphinx import addnodes
from sphinx.transforms import SphinxTransform

project = 'Catenary'
author = 'the authors of Catenary'
extensions = ['myst_parser']
html_theme = 'furo'
html_title = 'Catenary'
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
myst_heading_anchors = 4  # links to headings as on a code-hosting page
smartquotes = False  # quotation marks in prose stand beside code
highlight_language = 'none'
toc_object_entries = False  # a page of a header may have a hundred functions
cpp_maximum_signature_line_length = 100
python_maximum_signature_line_length = 100


class WithoutForeignTypes(SphinxTransform):
    """Types of std:: and parameters of templates are no links: catenary::std is a function, and looking each up takes half the time."""

    default_priority = 5

    def apply(self, **options):
        for node in list(self.document.findall(addnodes.pending_xref)):
            target = node['reftarget']
            if node.get('refdomain') == 'cpp' and node['reftype'] == 'identifier' and (target.split('::')[0] == 'std' or len(target) == 1):
                node.parent.replace(node, node.children)


def setup(app):
    app.add_transform(WithoutForeignTypes)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
