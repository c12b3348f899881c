"""Code blocks of the documents, notebooks, types and the wheel's command run as they stand."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def blocks(path):
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"```python\n(.*?)```", text, re.S):
        line = text[: found.start()].count("\n") + 1
        yield "\n" * line + found.group(1)


DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if list(blocks(path))], ids=lambda path: path.stem)
def test_code_blocks(path):
    names = {"__name__": "__main__"}
    document = str(path.relative_to(ROOT))
    for block in blocks(path):
        exec(compile(block, document, "exec"), names)


def test_there_are_six_notebooks():
    assert len(NOTEBOOKS) == 6
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert all(not cell.get("outputs") for cell in cells), f"{path.name} holds outputs"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    if path.stem == "first_scene":
        assert "iframe" in notebook.cells[-1]["outputs"][0]["data"]["text/html"]


def test_the_types_of_keywords_are_those_of_the_schema():
    sys.path.insert(0, str(ROOT / "crates" / "python"))
    import keys

    assert keys.OUT.read_text(encoding="utf-8") == keys.text(), "run python crates/python/keys.py"
    assert keys.KINDS.read_text(encoding="utf-8") == keys.methods(), "run python crates/python/keys.py"


def test_types():
    """The package is typed throughout, and a misspelt keyword of the builder is found without running anything."""
    pytest.importorskip("mypy")
    Path("use.py").write_text(
        "import tippe\n"
        "scene = tippe.Scene(gravity=(0, 0, -9.81))\n"
        "ball = scene.sphere('ball', radius=0.1, position=(0, 0, 1))\n"
        "run = scene.run(until=1.0)\n"
        "scene.sphere('other', raduis=0.1)\n"
    )
    config = str(ROOT / "pyproject.toml")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file", config, "--cache-dir", str(Path(sys.prefix) / ".mypy_cache")]
    done = subprocess.run([*mypy, "use.py"], capture_output=True, text=True)
    assert done.stdout.splitlines()[0].startswith('use.py:5: error: Unexpected keyword argument "raduis"'), done.stdout
    assert "Found 1 error" in done.stdout, done.stdout
    done = subprocess.run([*mypy, "-p", "tippe"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_command_of_the_wheel():
    tippe = Path(sys.executable).parent / "tippe"
    done = subprocess.run([tippe, "run", "bouncing_ball", "--out", "run", "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scene"] == "bouncing_ball"
    assert json.load(open("run/manifest.json"))["command"][:3] == ["tippe", "run", "bouncing_ball"]
    done = subprocess.run([tippe, "run", "biliards"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "did you mean `billiards`" in done.stderr
    assert subprocess.run([tippe, "nonsense"], capture_output=True).returncode == 1
    assert os.path.exists("run/signals.parquet")


@pytest.mark.skipif("TIPPE_WHEEL" not in os.environ, reason="TIPPE_WHEEL names no wheel")
def test_the_wheel_in_a_clean_place():
    """Nothing but numpy beside it: no Rust, no Node, nothing of this folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "clean"], check=True)
    pip = [sys.executable, "-m", "pip", "--python", "clean/bin/python", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", os.environ["TIPPE_WHEEL"]], check=True)
    bare = {"PATH": "/usr/bin:/bin", "HOME": os.getcwd()}
    subprocess.run(["clean/bin/tippe", "run", "bouncing_ball", "--out", "run", "--quiet"], check=True, env=bare)
    script = "import tippe; assert tippe.load('bouncing_ball').run().hash == tippe.open_run('run').hash"
    subprocess.run(["clean/bin/python", "-c", script], check=True, env=bare)
    page = ["clean/bin/tippe", "view", "run", "--html", "page.html"]
    subprocess.run(page, check=True, env=bare, capture_output=True)
    assert os.path.getsize("page.html") > 100_000
