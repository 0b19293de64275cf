"""Configuration of the documentation: `make docs`."""

import os
import sys
import warnings
from pathlib import Path

import stablek

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

# Pages show the output of commands. They run here, one after the other.
COMMANDS = HERE / "_build" / "commands"
COMMANDS.mkdir(parents=True, exist_ok=True)
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["COLUMNS"] = "100"

project = "stablek"
author = "The stablek developers"
copyright = author
version = release = stablek.__version__

extensions = [
    "figures",
    "mathml",
    "method_pages",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.programoutput",
]
exclude_patterns = [
    "_build",
    "gallery/**/*.py",
    "gallery/**/*.ipynb",
    "sg_execution_times.rst",  # loads scripts from elsewhere
    "**/sg_execution_times.rst",
]
root_doc = "index"
templates_path = ["_templates"]
default_role = "py:obj"
nitpicky = False
suppress_warnings = ["config.cache", "myst.header"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

plot_include_source = True
plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 110)]
plot_rcparams = {"figure.figsize": (6.4, 3.6), "savefig.bbox": "tight"}
plot_apply_rcparams = True
plot_working_directory = str(HERE.parent)
plot_pre_code = "import numpy as np\nfrom matplotlib import pyplot as plt"
programoutput_prompt_template = "$ {command}\n{output}"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

SECTIONS = ("first_steps", "paper", "real_data", "methods", "extend")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"__init__\.py|conftest\.py",
    "subsection_order": [f"../examples/{section}" for section in SECTIONS],
    "within_subsection_order": "gallery_order.StartThenName",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "min_reported_time": 0,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("stablek",),
    "reference_url": {"stablek": None},
    "capture_repr": ("_repr_html_", "__repr__"),
    "plot_gallery": True,
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "stablek"
html_static_path = ["_static"]
html_css_files = ["stablek.css"]
html_favicon = "_static/logo.svg"
html_logo = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "stablek"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_version_warning_banner": False,
}


def skip_foreign(app, what, name, member, skip, options):
    """Leave out what scikit-learn documents itself."""
    return skip or str(getattr(member, "__module__", "")).startswith("sklearn")


def setup(app):
    """Connect the function above."""
    app.connect("autodoc-skip-member", skip_foreign)
