"""Signatures: made and checked here, checked by OpenSSL too, and broken by any change."""

import base64
import shutil
import stat
import subprocess

import pytest

from deptriad.utils import signatures

pytest.importorskip("cryptography", reason="cryptography, which signs, is absent")


@pytest.fixture
def signed(tmp_path):
    """A signed file, its private and its public key."""
    plan, key = tmp_path / "plan.json", tmp_path / "key.pem"
    plan.write_text('{"budget": 1}')
    public = signatures.new_key(key)
    signatures.sign(plan, key)
    return plan, key, public


def test_a_signature_fits_its_file_and_its_key_alone(signed, tmp_path):
    plan, _, public = signed
    signatures.verify(plan, public)
    other = signatures.new_key(tmp_path / "other.pem")
    with pytest.raises(ValueError, match="signed by someone else"):
        signatures.verify(plan, other)
    plan.write_text('{"budget": 9}')
    with pytest.raises(ValueError, match=r"no signature of .*plan\.json"):
        signatures.verify(plan, public)


def test_every_bit_of_a_signature_counts(signed):
    plan, _, public = signed
    place = signatures.signature_of(plan)
    right = bytearray(base64.b64decode(place.read_bytes()))
    for bit in range(0, 512, 37):
        wrong = right.copy()
        wrong[bit // 8] ^= 1 << bit % 8
        place.write_bytes(base64.b64encode(wrong))
        with pytest.raises(ValueError, match="is no signature"):
            signatures.verify(plan, public)


@pytest.mark.parametrize("content", [b"", b"!!!", b"AAAA", b"\xff\xfe"])
def test_what_is_no_signature_is_refused(signed, content):
    plan, _, public = signed
    signatures.signature_of(plan).write_bytes(content)
    with pytest.raises(ValueError, match="is no signature"):
        signatures.verify(plan, public)


def test_a_file_without_a_signature_is_refused(signed, tmp_path):
    plan, _, public = signed
    signatures.signature_of(plan).rename(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="is not signed"):
        signatures.verify(plan, public)
    signatures.verify(plan, public, tmp_path / "elsewhere")


def test_keys_are_private_kept_and_told_apart(signed, tmp_path):
    plan, key, public = signed
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError, match="a key that is replaced is lost"):
        signatures.new_key(key)
    with pytest.raises(ValueError, match="holds no private key"):
        signatures.sign(plan, public)
    with pytest.raises(ValueError, match="holds no public key"):
        signatures.verify(plan, key)
    (tmp_path / "text").write_text("no key")
    with pytest.raises(ValueError, match="holds no private key"):
        signatures.sign(plan, tmp_path / "text")
    other = base64.b64decode("MCowBQYDK2Vw").replace(b"\x2b\x65\x70", b"\x2b\x65\x77") + bytes(35)
    text = base64.b64encode(other).decode()
    (tmp_path / "text").write_text(
        f"-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n"
    )
    with pytest.raises(ValueError, match="holds no public key"):  # a kind that nobody knows
        signatures.verify(plan, tmp_path / "text")


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl to compare with")
def test_openssl_agrees(signed, tmp_path):
    plan, key, public = signed
    raw = tmp_path / "raw"
    raw.write_bytes(base64.b64decode(signatures.signature_of(plan).read_bytes()))
    check = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in", plan]
    assert subprocess.run([*check, "-sigfile", raw], capture_output=True).returncode == 0
    subprocess.run(["openssl", "pkey", "-in", key, "-noout"], check=True)
