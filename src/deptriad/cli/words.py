"""What the library says about parameters, put for someone who types options and edits files."""

from deptriad.utils.errors import Parameter, Worded

OPTIONS = {
    "schema": "--schema and a file that `deptriad schema` wrote",
    "Relative": "relative",
    "Absolute": "absolute",
    "Spread": "spread",
    "Confidence": "confidence",
}
"""Parameters whose option is not called like them."""

FIELDS = ("missing", "unseen")
"""What stands in the file of a schema."""


def option(parameter: Parameter) -> str:
    """How the command line, or a file, spells a parameter.

    >>> option(Parameter("min_records")), option(Parameter("fixed", "0", key="age"))
    ('--min-records', '--fixed age=0')
    """
    name, code, key = parameter
    value = (code or "").strip("'")
    if name in FIELDS:
        return f'"{name}": "{value}"'
    spelt = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if key is not None:
        spelt = "--total-of" if name == "total" else spelt
        return f"{spelt} {key}" + (f"={value}" if value else "") if key else spelt
    return spelt if value in ("", "True") or name in OPTIONS else f"{spelt} {value}"


def reason(error: Exception) -> str:
    """What went wrong, in the words of the command line and without numbers of the operating system."""
    if isinstance(error, Worded):
        return error.said(option)
    if isinstance(error, OSError) and error.filename and error.strerror:
        if error.strerror.startswith("No such file"):
            return f"there is no file {error.filename}"
        return f"{error.filename}: {error.strerror}"
    return str(error)
