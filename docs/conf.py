"""How the site is built: `make docs`. Nothing of it is fetched when it is read."""

import logging
import os
import sys
from hashlib import sha256
from importlib.metadata import version as installed
from pathlib import Path

from sphinx.util.inspect import TypeAliasForwardRef

EXTENSIONS = str(Path(__file__).parent / "_ext")
sys.path.insert(0, EXTENSIONS)
# what the cells of notebooks need: `pictures`, and the command `deptriad` of this very environment
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [EXTENSIONS, os.getenv("PYTHONPATH")]))
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["COLUMNS"] = "88"
# kernels have no settings of this machine's, and nothing is said of each that starts
IPYTHON = Path(EXTENSIONS, "../_build/ipython").resolve()
(IPYTHON / "profile_default").mkdir(parents=True, exist_ok=True)
quiet = "c.IPKernelApp.log_level = 40\n"
(IPYTHON / "profile_default/ipython_kernel_config.py").write_text(quiet, encoding="utf-8")
os.environ["IPYTHONDIR"] = str(IPYTHON)
logging.getLogger("traitlets").setLevel(logging.WARNING)

project = "deptriad"
author = "The deptriad authors"
copyright = author
version = release = installed("deptriad")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "command_line",
    "mathml",
    "paper_figures",
    "pictures",
    "reachable",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "paper/.parts"]
nitpicky = False

html_theme = "furo"
html_title = "deptriad"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_domain_indices = False
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
# what was executed is kept until a page, or the code it runs, has changed
CODE = [Path(EXTENSIONS, "pictures.py"), *Path(EXTENSIONS, "../../src").rglob("*.py")]
STATE = sha256(b"".join(path.read_bytes() for path in sorted(CODE))).hexdigest()[:16]
nb_execution_cache_path = str(Path(EXTENSIONS, "../_build/executed", STATE).resolve())
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_merge_streams = True

autosummary_generate = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Progress")}
# within unions and tuples, too, an alias is shown by its name
TypeAliasForwardRef.__repr__ = lambda alias: alias.name
python_use_unqualified_type_names = True
smartquotes = False
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
