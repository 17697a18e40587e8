"""Signatures of files by Ed25519: who has the public key can tell that a plan comes from where it says.

A digest inside a file guards against accidents, since anyone can make it again. A signature is a file of its own beside
the signed one, ``plan.json.sig``: 64 bytes over the very bytes of the file, in base64. Keys are PEM files as OpenSSL
writes them.
"""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path
from typing import Any

from deptriad.utils import files

SUFFIX = ".sig"

PathLike = str | os.PathLike[str]


def new_key(path: PathLike) -> Path:
    """Make a private key, readable by its owner alone, and beside it the public one, which ends in .pub.

    Returns
    -------
    The place of the public key: what clients are given, by a way that they trust.

    Raises
    ------
    FileExistsError
        Where there is a file: a key that is overwritten is lost.
    """
    serialization, ed25519 = _cryptography()
    private, public = Path(path), Path(f"{os.fspath(path)}.pub")
    for place in (private, public):
        if place.exists():
            raise FileExistsError(f"{place} is there, and a key that is replaced is lost: move it")
    key = ed25519.Ed25519PrivateKey.generate()
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with files.whole(private) as partial:
        partial.touch(0o600)
        partial.write_bytes(secret)
    shown = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    with files.whole(public) as partial:
        partial.write_bytes(shown)
    return public


def sign(path: PathLike, key: PathLike) -> Path:
    """Sign a file with a private key.

    Returns
    -------
    The place of the signature, beside the file; an old one is replaced.
    """
    private = _key(key, "private")
    signature = private.sign(Path(path).read_bytes())
    place = signature_of(path)
    with files.whole(place) as partial:
        partial.write_bytes(base64.b64encode(signature) + b"\n")
    return place


def verify(path: PathLike, key: PathLike, signature: PathLike | None = None) -> None:
    """Check the signature of a file with the public key of whoever should have signed it.

    Raises
    ------
    ValueError
        Where it has none, or none of this file and this key.
    """
    from cryptography.exceptions import InvalidSignature

    public = _key(key, "public")
    place = Path(signature) if signature else signature_of(path)
    if not place.is_file():
        raise ValueError(f"{path} is not signed: there is no {place}")
    try:
        public.verify(
            base64.b64decode(place.read_bytes().strip(), validate=True), Path(path).read_bytes()
        )
    except (InvalidSignature, binascii.Error):
        raise ValueError(
            f"{place} is no signature of {path} by {key}: the file was changed, or signed by someone else"
        ) from None


def spki(key: PathLike) -> str:
    """A public key as browsers read it: its SubjectPublicKeyInfo in base64."""
    serialization, _ = _cryptography()
    raw = _key(key, "public").public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(raw).decode("ascii")


def signature_of(path: PathLike) -> Path:
    """Where the signature of a file lies."""
    return Path(f"{os.fspath(path)}{SUFFIX}")


def _key(path: PathLike, kind: str) -> Any:
    serialization, ed25519 = _cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm

    data = Path(path).read_bytes()
    try:
        key = (
            serialization.load_pem_private_key(data, password=None)
            if kind == "private"
            else serialization.load_pem_public_key(data)
        )
    except TypeError:
        raise ValueError(f"{path} is locked by a password, expected a key without one") from None
    except (ValueError, UnsupportedAlgorithm):
        key = None
    wanted = ed25519.Ed25519PrivateKey if kind == "private" else ed25519.Ed25519PublicKey
    if not isinstance(key, wanted):
        raise ValueError(f"{path} holds no {kind} key of Ed25519 in PEM: make one by --new-key")
    return key


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "signatures need cryptography: pip install 'deptriad[sign]'", name="cryptography"
        ) from None
    return serialization, ed25519
