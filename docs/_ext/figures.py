"""matplotlib's plot directive in Markdown pages.

There it stands inside ``eval-rst``. Each of these blocks is a document of its own, so the count of
the figures of a page is kept here: without it, all figures of a page have the same file name.
"""

from docutils import nodes
from matplotlib.sphinxext.plot_directive import PlotDirective
from sphinx.application import Sphinx

COUNTER = "_plot_counter"


class CountedPlot(PlotDirective):
    """The plot directive with a count for each page."""

    def run(self) -> list[nodes.Node]:
        """Run the code, and save its figures under the next number."""
        block = self.state_machine.document.attributes
        page = self.state.document.settings.env.current_document
        block[COUNTER] = page.get(COUNTER, 0)
        made = super().run()
        page[COUNTER] = block[COUNTER]
        return made


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace the directive."""
    app.setup_extension("matplotlib.sphinxext.plot_directive")
    app.add_directive("plot", CountedPlot, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
