"""`maxmargin plot` on real files: every kind, every format, and sentences where something cannot be drawn."""

import pytest
from PIL import Image

from maxmargin.cli import main

STREET = "width,height,label\n0,0,left\n0,2,left\n1,1,left\n3,0,right\n5,1,right\n4,2,right\n"
PNG, PDF, GIF = b"\x89PNG", b"%PDF", b"GIF8"


@pytest.fixture
def fitted(write, tmp_path, capsys):
    """A model of the street by these options, and what `plot` needs to know of both files."""

    def fit(*options):
        data, model = write(STREET), str(tmp_path / "model")
        assert main(["fit", data, "-o", model, *options]) == 0
        capsys.readouterr()
        return [model, data]

    return fit


@pytest.mark.parametrize("kind", ["street", "hull", "loss", "kkt", "path", "convergence"])
def test_every_kind_of_a_soft_margin(fitted, tmp_path, capsys, kind):
    picture = tmp_path / f"{kind}.png"
    assert main(["plot", *fitted(), "-o", str(picture), "--kind", kind]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out == f"Written to {picture}\n"
    assert picture.read_bytes().startswith(PNG)


def test_a_run_as_pictures_and_as_a_film(fitted, tmp_path):
    files = fitted("--algorithm", "perceptron")
    for kind, name, start in (("trace", "run.pdf", PDF), ("bound", "bound.png", PNG), ("trace", "run.gif", GIF)):
        assert main(["plot", *files, "-k", kind, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(start)


def test_one_update(fitted, fail, tmp_path, capsys):
    files, picture = fitted("--algorithm", "perceptron"), str(tmp_path / "update.svg")
    assert main(["plot", *files, "-k", "trace", "--update", "1", "-o", picture]) == 0
    capsys.readouterr()
    assert "<!-- after update 1 -->" in (tmp_path / "update.svg").read_text()
    assert "update 999 is not in the record" in fail("plot", *files, "-k", "trace", "--update", "999", "-o", picture)
    assert "--kind trace" in fail("plot", *files, "--update", "1", "-o", picture)


def test_names_of_scaled_columns_are_on_the_axes_and_paper_is_dark(fitted, tmp_path):
    picture = tmp_path / "street.svg"
    assert main(["plot", *fitted("-t", "rbf"), "-o", str(picture), "--dark"]) == 0
    text = picture.read_text()
    assert "<!-- width, scaled -->" in text
    assert "<!-- left -->" in text
    dark = tmp_path / "dark.png"
    assert main(["plot", *fitted("-t", "rbf"), "-o", str(dark), "--dark"]) == 0
    with Image.open(dark) as image:
        assert image.convert("L").getpixel((2, 2)) == 0


def test_one_plane_of_many(flowers, tmp_path, capsys):
    model = str(tmp_path / "model")
    assert main(["fit", *flowers, "-o", model]) == 0
    assert main(["plot", model, *flowers, "-o", str(tmp_path / "two.svg"), "--plane", "2"]) == 0
    assert "<!-- crocus -->" in (tmp_path / "two.svg").read_text()
    assert capsys.readouterr().out.endswith("two.svg, plane 2 of 3, counted from 0: --plane draws another\n")
    assert main(["plot", model, *flowers, "-o", str(tmp_path / "three.svg"), "--plane", "3"]) == 1
    assert "there are 3 planes, counted from 0" in capsys.readouterr().err


def test_a_model_of_categories_and_gaps_reads_its_own_columns(write, tmp_path, capsys):
    cells = "a,colour,note,label\n1,red,x,0\n2,blue,,0\n,red,y,1\n4,blue,z,1\n"
    data, model, picture = write(cells), str(tmp_path / "model"), str(tmp_path / "p.png")
    assert main(["fit", data, "--impute", "--ignore", "note", "-o", model]) == 0
    capsys.readouterr()
    assert main(["plot", model, data, "-o", picture]) == 0
    assert capsys.readouterr().err == ""


def test_other_data_are_said_to_be_others(fitted, write, tmp_path, capsys):
    model, _ = fitted()
    other = write(STREET.replace("4,2", "4,3"), "other.csv")
    assert main(["plot", model, other, "-o", str(tmp_path / "p.png")]) == 0
    assert "is not what the model was fitted on" in capsys.readouterr().err
    assert main(["audit", model, other]) == 0
    assert "These are not the data that the model was fitted on" in capsys.readouterr().out


def test_what_cannot_be_drawn(fitted, fail, tmp_path):
    files = fitted("-t", "rbf")
    picture = str(tmp_path / "p.png")
    assert "in the space of its kernel" in fail("plot", *files, "-o", picture, "-k", "hull")
    assert "has a kernel" in fail("plot", *files, "-o", picture, "-k", "path")
    assert "updates are recorded by" in fail("plot", *files, "-o", picture, "-k", "trace")
    assert "only --kind trace is a film" in fail("plot", *files, "-o", str(tmp_path / "p.gif"))
    assert "must end in .pdf, .png, .svg" in fail("plot", *files, "-o", str(tmp_path / "p.txt"))
    assert "there is no folder" in fail("plot", *files, "-o", str(tmp_path / "nowhere" / "p.png"))
    assert "no/model cannot be read" in fail("plot", "no/model", files[1], "-o", picture)


def test_a_folder_is_no_picture(fitted, fail, tmp_path):
    (tmp_path / "folder.png").mkdir()
    assert "is a directory" in fail("plot", *fitted(), "-o", str(tmp_path / "folder.png"))


def test_without_matplotlib_a_line_says_how_to_get_it(fitted, fail, tmp_path, monkeypatch):
    files = fitted()
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert 'pip install "maxmargin[plots]"' in fail("plot", *files, "-o", str(tmp_path / "p.png"))


def test_for_machines(fitted, tmp_path, run):
    files, picture = fitted("--algorithm", "perceptron"), str(tmp_path / "a.png")
    told = {"model": files[0], "file": files[1], "rows": 6, "kind": "bound", "plane": 0, "update": None}
    assert run("plot", *files, "-k", "bound", "-o", picture) == (0, {**told, "output": picture})


def test_a_run_for_machines(write, tmp_path, run, capsys):
    record, picture = str(tmp_path / "run.json"), str(tmp_path / "a.png")
    assert main(["fit", write(STREET), "--algorithm", "perceptron", "--record", record]) == 0
    capsys.readouterr()
    told = {"run": record, "kind": "trace", "update": 1, "output": picture}
    assert run("plot", record, "--update", "1", "-o", picture) == (0, told)


def test_a_run_that_is_not_there(fail, tmp_path):
    missing = str(tmp_path / "run.json")
    assert fail("plot", missing, "-o", "a.png") == f"maxmargin: {missing} cannot be read: there is no such file\n"
