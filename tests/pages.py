"""An HTML page, taken apart."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Elements, texts and scripts as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.scripts, self.attributes = [], [], [], []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = tag
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1][1] += data
        else:
            self.texts.append(data)
