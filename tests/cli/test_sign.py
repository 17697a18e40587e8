"""deptriad sign and verify."""

import pytest

pytest.importorskip("typer")
pytest.importorskip("cryptography", reason="cryptography, which signs, is absent")

from deptriad.cli import main


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    return ended.value.code or 0


def test_sign_and_verify(tmp_path, capsys):
    plan, key = tmp_path / "plan.json", tmp_path / "key.pem"
    plan.write_text("{}")
    assert run("sign", plan, "--key", key, "--new-key") == 0
    assert "key.pem.pub" in capsys.readouterr().out
    assert run("verify", plan, "--key", f"{key}.pub") == 0
    plan.write_text("{ }")
    assert run("verify", plan, "--key", f"{key}.pub") == 1
    assert "was changed" in capsys.readouterr().err
    assert run("sign", plan, "--key", key) == 1
    assert "--force" in capsys.readouterr().err
    assert run("sign", plan, "--key", key, "--force") == 0
    assert run("verify", plan, "--key", f"{key}.pub") == 0
    signature = tmp_path / "plan.json.sig"
    signature.write_bytes(key.read_bytes())
    assert run("sign", plan, "--key", signature, "--force") == 1
    assert "which is an input" in capsys.readouterr().err
    assert run("sign", plan, "--key", tmp_path / "none.pem") == 1
    assert run("sign", tmp_path / "none.json", "--key", key) == 1
