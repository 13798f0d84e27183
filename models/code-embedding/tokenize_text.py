"""The tokenizer of the embedding table: identifiers split into lower-case words, then greedy longest-match pieces.

The Rust embedder does exactly the same; `vocabulary.txt` is shared by both.
"""
import re
from math import log

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
MAX_WORDS = 512


def words(text):
    return [w.lower() for w in WORD.findall(text)[:MAX_WORDS]]


class Tokenizer:
    def __init__(self, vocabulary):
        self.ids = {token: i for i, token in enumerate(vocabulary)}
        self.cache = {}

    def word(self, word):
        found = self.cache.get(word)
        if found is None:
            found = self.cache[word] = self.pieces(word)
        return found

    def pieces(self, word):
        if word in self.ids:
            return (self.ids[word],)
        if len(word) > 40:
            return ()
        out, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start:
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                if piece in self.ids:
                    out.append(self.ids[piece])
                    break
                end -= 1
            if end == start:
                return ()
            start = end
        return tuple(out)

    def bag(self, text):
        """Token → count."""
        counts = {}
        for word in words(text):
            for token in self.word(word):
                counts[token] = counts.get(token, 0) + 1
        return counts


def weight(count):
    """Repetition counts, but less each time."""
    return 1.0 + log(count)
