"""Finding plug-ins, reading their settings, and living with broken ones."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from puzzlemark import plugins
from puzzlemark.errors import PluginError, PuzzleMarkWarning, UsageError
from puzzlemark.languages.base import find as find_language
from puzzlemark.watermarks.base import Named, from_settings, from_spec, named
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from tests.installing import install, run_with


@dataclass(frozen=True, slots=True)
class Everything:
    """A field of each type that a setting may have."""

    words: int
    rate: float = 0.5
    fast: bool = False
    title: str = "none"
    limit: int | None = 3
    names: tuple[str, ...] = ()
    pair: tuple[float, float] | None = None
    mode: Literal["a", "b"] = "a"


def read(text: str) -> Any:
    settings = plugins.parse_settings(text, "everything")
    return Everything(**plugins.typed("everything", Everything, settings))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("words=64", Everything(64)),
        ("words=64,rate=1e-3,fast=true", Everything(64, 0.001, True)),
        ("words=1,title=64", Everything(1, title="64")),
        ("words=1,title=none,limit=none", Everything(1, title="none", limit=None)),
        ("words=1,limit=7,mode=b", Everything(1, limit=7, mode="b")),
        ('words=1,names="a, b",pair="0.5,1"', Everything(1, names=("a", "b"), pair=(0.5, 1.0))),
        ("words=1,names=a,pair=none", Everything(1, names=("a",))),
        ("words=1,names=", Everything(1)),
    ],
)
def test_text_becomes_what_the_field_is(text: str, wanted: Everything) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words=many", "everything: words='many': Input should be a valid integer"),
        ("words=1.5", "words='1.5'"),
        ("words=1,fast=perhaps", "fast='perhaps'"),
        ("words=1,pair=1", "pair='1'"),
        ("words=1,mode=c", "mode='c': Input should be 'a' or 'b'"),
        ("words=none", "words='none'"),
        ("size=1", "everything has no setting 'size'; it takes words, rate, fast"),
        ("words", "expected name=value"),
        ("words=1,words=2", "words is given twice"),
    ],
)
def test_what_does_not_fit_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(text)


def test_a_wrong_type_from_python_is_named_as_well() -> None:
    with pytest.raises(UsageError, match="fixed_prefix: prefix=3: Input should be a valid string"):
        from_settings("fixed_prefix", {"prefix": 3})


def test_a_setting_that_is_needed_is_asked_for() -> None:
    with pytest.raises(UsageError, match=r"fixed_prefix needs prefix: fixed_prefix:prefix=\.\.\."):
        from_spec("fixed_prefix")


def test_spec_and_keywords_go_together_but_not_twice() -> None:
    both = plugins.configure("detectors", "decoma:z=2.5", {"clean_samples": 10})
    assert (both.z, both.clean_samples) == (2.5, 10)
    with pytest.raises(UsageError, match="decoma: z is given twice"):
        plugins.configure("detectors", "decoma:z=2.5", {"z": 1})


def test_a_module_takes_no_settings() -> None:
    with pytest.raises(UsageError, match="pca has no setting 'size'; it takes no settings"):
        plugins.configure("carriers.projections", "pca:size=3")


def test_the_value_of_a_models_setting_is_never_shown() -> None:
    with pytest.raises(UsageError, match="openai: timeout: ") as caught:
        plugins.configure("models", "openai", {"timeout": "sk-secret"})
    assert "sk-secret" not in str(caught.value)
    with pytest.raises(UsageError, match="key_env") as caught:
        plugins.configure("models", "openai:api_key=sk-secret")
    assert "sk-secret" not in str(caught.value)


def test_none_and_json_are_read_by_a_class_of_pydantic_as_well() -> None:
    made = plugins.configure("models", 'hf:pretrained=x,threads=none,batch_size="4"')
    assert (made.threads, made.batch_size) == (None, 4)
    made = plugins.configure(
        "models", "openai", {"base_url": "x", "model": "m", "body": '{"k": 1}'}
    )
    assert made.body == {"k": 1}


# Packages of third parties

PROJECTION = '''"""Every snippet is as complex as its first feature, times a factor."""
from dataclasses import dataclass

@dataclass(frozen=True)
class First:
    factor: int = 1
    def project(self, z):
        return z[:, 0] * self.factor
    def explain(self, z):
        return {}

PLUGIN = First
'''
GROUP = "puzzlemark.carriers.projections"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages that this process sees."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    plugins.refresh()
    find_language.cache_clear()
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    monkeypatch.undo()
    plugins.refresh()
    find_language.cache_clear()


def test_a_variant_of_another_package_is_found_and_configured(site: Path) -> None:
    install(site, "pm-first", {"pm_first.py": PROJECTION}, {GROUP: {"first": "pm_first"}})
    plugins.refresh()
    assert "first" in plugins.names("carriers.projections")
    assert plugins.distribution("carriers.projections", "first") == "the package pm-first 1.0"
    assert plugins.distribution("carriers.projections", "pca") is None
    assert plugins.configure("carriers.projections", "first:factor=3").factor == 3


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("1 / 0", "ZeroDivisionError"),
        ("def project(z): ...", "it lacks explain to be a projection"),
    ],
)
def test_a_broken_one_is_a_warning_for_all_and_an_error_for_who_asks_for_it(
    site: Path, module: str, reason: str
) -> None:
    install(site, "pm-broken", {"pm_broken.py": module}, {GROUP: {"broken": "pm_broken"}})
    plugins.refresh()
    with pytest.warns(PuzzleMarkWarning, match="of the package pm-broken 1.0 cannot") as warned:
        found = dict(plugins.every("carriers.projections"))
    again = dict(plugins.every("carriers.projections"))  # a second warning would be an error here
    assert len(warned) == 1
    assert reason in str(warned[0].message)
    assert set(found) == set(again) == {"pca", "topsis", "mahalanobis"}
    with pytest.raises(PluginError, match=f"pm-broken 1.0 cannot be used: .*{reason}"):
        plugins.find("carriers.projections", "broken")


def test_our_own_name_stays_ours(site: Path) -> None:
    install(site, "pm-thief", {"pm_thief.py": PROJECTION}, {GROUP: {"pca": "pm_thief"}})
    plugins.refresh()
    with pytest.warns(PuzzleMarkWarning, match=r"the package pm-thief 1\.0 offers .*'pca'"):
        plugins.names("carriers.projections")
    assert plugins.load("carriers.projections", "pca").__name__.startswith("puzzlemark.")


def test_a_name_that_two_packages_offer_is_nobodys(site: Path) -> None:
    for name in ("pm-one", "pm-two"):
        module = name.replace("-", "_")
        install(site, name, {f"{module}.py": PROJECTION}, {GROUP: {"first": module}})
    plugins.refresh()
    with pytest.raises(PluginError, match=r"offered by the packages pm-one 1\.0 and pm-two 1\.0"):
        plugins.find("carriers.projections", "first")
    with pytest.warns(PuzzleMarkWarning, match="pm-one"):
        assert "first" not in dict(plugins.every("carriers.projections"))


def test_a_preset_of_another_package_does_not_take_the_place_of_ours(site: Path) -> None:
    text = (
        '"""A watermark that calls itself P1."""\n'
        "from puzzlemark.watermarks.base import Named\n"
        "from puzzlemark.watermarks.universal import Universal\n"
        "class PLUGIN(Universal):\n    __slots__ = ()\n    name = 'also'\n"
        "NAMED = {'P1': Named('python', PLUGIN()), 'X1': Named('python', PLUGIN())}\n"
    )
    install(site, "pm-also", {"pm_also.py": text}, {"puzzlemark.watermarks": {"also": "pm_also"}})
    plugins.refresh()
    with pytest.warns(PuzzleMarkWarning, match=r"pm-also 1\.0 offers the preset 'P1'"):
        assert named()["P1"] == Named("python", FixedPrefix("key"))
    assert named()["X1"].watermark.name == "also"


def test_broken_packages_take_no_command_with_them(tmp_path: Path, corpus_path: Path) -> None:
    """One broken plug-in of each kind: `list` and `embed` warn once for each and do their work."""
    site = tmp_path / "site"
    groups = {f"puzzlemark.{package}": {"broken": "pm_bad"} for package in plugins.packages()}
    command = {"puzzlemark.cli": {"broken": "pm_bad"}}
    install(site, "pm-bad", {"pm_bad.py": "import no_such_library\n"}, groups | command)
    done = run_with(site, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("warning: cli 'broken' of the package pm-bad 1.0 cannot be used")
    done = run_with(site, "list", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fixed_prefix:prefix=key" in done.stdout
    assert "broken" not in done.stdout
    told = [line for line in done.stderr.splitlines() if line]
    assert all(line.startswith("warning: ") and "pm-bad 1.0" in line for line in told)
    assert len(told) == len(set(told)) == len(groups)
    words = ["--mark", "U1", "--workers", "2", "--secret-file", "secret"]
    done = run_with(site, "embed", corpus_path, "-o", "marked.jsonl", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if line]
    assert all(line.startswith("warning: ") and "pm-bad 1.0" in line for line in told)
    assert len(told) == len(set(told))
    done = run_with(
        site, "embed", corpus_path, "-o", "x.jsonl", "--watermark", "broken", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "error: watermarks 'broken' of the package pm-bad 1.0 cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
