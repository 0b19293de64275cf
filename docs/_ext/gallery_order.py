"""The order of examples in a part of the gallery: the one to start with, then by file name."""

FIRST = ("plot_first_answer.py", "plot_three_gaussians.py", "plot_compare.py", "plot_iris.py")


class StartThenName:
    """Sort key of a file name; sphinx-gallery makes one for each folder."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[bool, str]:
        """Sort the examples of FIRST before all others."""
        return filename not in FIRST, filename

    def __repr__(self) -> str:
        return type(self).__name__
