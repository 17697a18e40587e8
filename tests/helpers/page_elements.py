"""A page taken apart."""

from html.parser import HTMLParser


class Elements(HTMLParser):
    """All elements of a page, with the text of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self._open = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open = f"{tag} {dict(attributes).get('id', '')}".strip()

    def handle_data(self, data):
        if self._open in ("script", "script data", "style"):
            self.texts[self._open] = self.texts.get(self._open, "") + data

    def handle_endtag(self, tag):
        self._open = None
