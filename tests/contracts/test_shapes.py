"""What every plug-in of every package promises: its module has the shape that the package asks."""

import importlib
import inspect
import pickle
import re
from types import ModuleType

import pytest

from puzzlemark import plugins

EVERY = [(package, name) for package in plugins.packages() for name in plugins.names(package)]
every_plugin = pytest.mark.parametrize(("package", "name"), EVERY)


def test_these_packages_take_plug_ins() -> None:
    assert {
        "attacks",
        "auditing.checks",
        "carriers.projections",
        "corpora.formats",
        "detectors",
        "engines",
        "languages",
        "models",
        "models.encoders",
        "models.pretrained",
        "syntax.resolvers",
        "syntax.rewritings",
        "training.recipes",
        "verification.tests",
        "watermarks",
    } <= set(plugins.packages())
    assert "cli" not in plugins.packages()  # a command is no variant of anything


@pytest.mark.parametrize("package", plugins.packages())
def test_a_package_says_in_words_what_it_takes_and_has_some(package: str) -> None:
    shape = plugins.shape_of(package)
    assert shape is not None
    assert shape.about.split()[0] in ("a", "an", "the")
    assert plugins.names(package)
    assert (importlib.import_module(f"puzzlemark.{package}").__doc__ or "").strip()


@every_plugin
def test_its_module_has_the_shape_of_its_package(package: str, name: str) -> None:
    assert plugins.why_misshapen(package, name, plugins.load(package, name)) is None


@every_plugin
def test_its_module_says_in_one_line_what_it_is(package: str, name: str) -> None:
    text = inspect.getdoc(plugins.load(package, name)) or ""
    assert re.match(r"\S.*[.:,]$", text.partition("\n")[0])


@every_plugin
def test_a_class_has_settings_with_types(package: str, name: str) -> None:
    plugin = plugins.find(package, name)
    if isinstance(plugin, type):
        assert all(hint is not inspect.Parameter.empty for hint in plugins.fields(plugin).values())


@every_plugin
def test_worker_processes_can_be_given_it(package: str, name: str) -> None:
    plugin = plugins.find(package, name)
    if not isinstance(plugin, ModuleType):
        assert pickle.loads(pickle.dumps(plugin)) == plugin  # noqa: S301


@pytest.mark.parametrize("name", plugins.names("auditing.checks"))
def test_a_check_looks_at_records_or_inspects_the_whole(name: str) -> None:
    check = plugins.find("auditing.checks", name)
    assert hasattr(check, "look") != hasattr(check, "inspect")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "its module has no PLUGIN, which must be a watermark"),
        ("PLUGIN = 3", "not a class"),
        ("class PLUGIN:\n    name = 'made_up'", r"it lacks .*locate, may_occur, plan, probe"),
    ],
)
def test_the_rule_can_fail_for_a_class(lines: str, message: str) -> None:
    told = plugins.why_misshapen("watermarks", "made_up", make(lines))
    assert told is not None
    assert re.search(message, told)


def test_the_rule_can_fail_for_an_object_and_for_a_module() -> None:
    told = plugins.why_misshapen("training.recipes", "x", make("PLUGIN = {}"))
    assert told == "its PLUGIN is not a recipe (an object of Recipe)"
    told = plugins.why_misshapen("carriers.projections", "x", make("def project(z): ..."))
    assert told == "it lacks explain to be a projection"
    assert plugins.why_misshapen("watermarks", "x", object()) == (
        "its entry point does not name a module"
    )


def make(lines: str) -> ModuleType:
    module = ModuleType("made_up")
    exec(lines, vars(module))  # noqa: S102
    return module
