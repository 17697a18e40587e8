"""What the library says about parameters, put for someone who types options and edits files."""

import re

SPOKEN = (
    (r"\b(unseen|missing)='(\w+)'", r'"\1": "\2"'),  # as in the file of a schema
    (r"pass schema=Schema\.infer\(data\), or --schema", "pass --schema"),
    (r"\bthin='(\w+)'", r"--thin \1"),
    (r"\bown=True\b", "--own"),
    (r"\bthin \(--thin\)", "--thin"),
    (r"(?<![\w'-])(by|weight)=(?![\w'\"])", r"--\1"),
    (r"(?<![\w'-])min_records\b", "--min-records"),
    (r"\bsay fixed=\{['\"](.*)['\"]: 0\}", r"say --fixed \1=0"),
    (r"\b(fixed|lower|upper)\[(['\"])(.*?)\2\]", r"--\1 \3"),
    (r"\btotal\[(['\"])(.*?)\1\]", r"--total-of \2"),
    (r"\bweights\[(['\"])(.*?)\1\]", r"--importance \2"),
    (r"^total names\b", "--total-of names"),
    (r"^weights names\b", "--importance names"),
    (r"^(fixed|lower|upper) names\b", r"--\1 names"),
    (r"^(total|out) is\b", r"--\1 is"),
    (
        r"(?<!['\"\w])(Relative|Absolute|Spread|Confidence)(?![('\"\w])",
        lambda kind: kind[1].lower(),
    ),
)
"""Patterns of what is said in Python, and how the command line says it."""


def spoken(message: str) -> str:
    """A message of the library in the words of the command line.

    >>> spoken("Spread needs several sources, and there is one: pass by= and the column")
    'spread needs several sources, and there is one: pass --by and the column'
    """
    for pattern, words in SPOKEN:
        message = re.sub(pattern, words, message)
    return message


def reason(error: Exception) -> str:
    """What went wrong, without numbers of the operating system."""
    if isinstance(error, FileNotFoundError) and error.filename and error.strerror:
        plain = error.strerror.startswith("No such file")
        return f"there is no file {error.filename}" if plain else _placed(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        return _placed(error)
    return spoken(str(error))


def _placed(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}"
