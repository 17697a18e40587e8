"""What a user gets: a light import, and a wheel that works in an empty environment."""

import json
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import deptriad as dt

ROOT = Path(__file__).parents[1]
HEAVY = {
    "numba",
    "scipy.optimize",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "narwhals",
    "matplotlib",
    "typer",
    "rich",
    "sklearn",
    "torch",
}


def python(code, interpreter=sys.executable):
    return subprocess.run(
        [interpreter, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_public_names_exist_and_are_documented():
    for name in dt.__all__:
        assert getattr(dt, name) is not None
        if not name.startswith("_"):
            assert getattr(dt, name).__doc__, name


def test_version_is_the_installed_one():
    assert dt.__version__ == version("deptriad")


def test_import_is_light():
    loaded = json.loads(
        python("import sys, json, deptriad; print(json.dumps(sorted(sys.modules)))")
    )
    assert not HEAVY.intersection(loaded)


def test_import_is_quick():
    # Against numpy's own import in the same process, which the user pays anyway; the least of a few.
    code = (
        "import time; start = time.perf_counter(); import numpy; middle = time.perf_counter();"
        "import deptriad; print((time.perf_counter() - middle) / (middle - start))"
    )
    assert min(float(python(code)) for _ in range(7)) < 1.5


def test_no_module_takes_the_place_of_a_name():
    code = """
import deptriad, importlib, pkgutil
for module in pkgutil.iter_modules(deptriad.__path__, "deptriad."):
    importlib.import_module(module.name)
print([name for name in deptriad.__all__ if type(getattr(deptriad, name)) is type(pkgutil)])
"""
    assert python(code).strip() == "['metrics']"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        dt.analyse  # noqa: B018


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the source archive, and the wheel from that archive, as ``make dist`` does."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--quiet", "--outdir", folder, ROOT],
        check=True,
    )
    assert len(list(folder.glob("deptriad-*.tar.gz"))) == 1
    (wheel,) = folder.glob("deptriad-*.whl")
    return wheel


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "deptriad/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.split("/")[0].removesuffix(".dist-info").split("-")[0] for name in names} == {
        "deptriad"
    }
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_wheel_answers_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "empty")
    interpreter = tmp_path / "empty" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", interpreter, "--disable-pip-version-check"]
    install = [*pip, "install", "-qq", "--no-compile", wheel]  # most of it is never imported here
    subprocess.run(install, check=True, cwd=tmp_path)

    code = "import deptriad as dt; t = dt.triad([[.9,.1],[.2,.8]]); print(t.phi, t.leakage(1.0))"
    phi, leakage = map(float, python(code, interpreter).split())
    assert phi == pytest.approx(0.7, rel=1e-12)
    assert leakage == dt.triad([[0.9, 0.1], [0.2, 0.8]]).leakage(1.0)

    command = subprocess.run(
        [tmp_path / "empty" / "bin" / "deptriad"], capture_output=True, text=True
    )
    assert command.returncode == 1
    assert "pip install 'deptriad[cli]'" in command.stderr
