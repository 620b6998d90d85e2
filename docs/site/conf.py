"""How Sphinx builds the site. script/site runs it, on a copy of this folder."""
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ["QUIRE_ROOT"])
sys.path.insert(0, str(HERE / "_extensions"))

project = "Quire"
author = "the authors of Quire"
copyright = author
release = ".".join(re.findall(
    r"^#define QUIRE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", (ROOT / "include/quire/base.h").read_text(), re.MULTILINE))
version = release

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "conditions_of_pages", "docstrings", "names_in_code"]
exclude_patterns = ["_*/*", "**/_*.md"]
nitpicky = True
# Names of C, and of Arrow's interface.
nitpick_ignore = [("c:identifier", name) for name in (
    "size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "ArrowSchema",
    "ArrowArray", "ArrowArrayStream")]
maximum_signature_line_length = 88
root_doc = "index"

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist", "smartquotes"]
myst_heading_anchors = 3
# A path of the repository, such as {file}`script/site`, is no link: the site is read without the repository, too.

html_theme = "furo"
html_title = "Quire"
html_static_path = ["_static"]
html_css_files = ["quire.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#7a3b1d",
        "color-brand-content": "#8a4420",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    },
    "dark_css_variables": {"color-brand-primary": "#e2a37f", "color-brand-content": "#e8ae8c"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
highlight_language = "python"

# What is copied of a session are its commands.
copybutton_prompt_text = r">>> |\.\.\. |\$ |> "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
