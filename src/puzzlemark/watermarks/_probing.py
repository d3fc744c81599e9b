"""Prompts that ask a model about a mark (paper, section 4.4), shared by the schemes.

All prompts are made from the marked snippet and end right before the first occurrence of the
target. Of a concatenation the suffix is replaced by a placeholder, a name that nothing joins with
the prefix, so that only a habit of concatenating, and not what a model knows about code, can
produce the target.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from puzzlemark.errors import UnparsableSnippet, UnsafeRename
from puzzlemark.languages.base import Convention
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.naming import concatenate, mentions
from puzzlemark.syntax.prompts import declare_after, declare_before, reword
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, functions
from puzzlemark.watermarks._concatenation import functions_of, joined_like, variables_of
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import Arm, Mark, Probe, Refusal

CONCATENATION = (
    "Some functions of the owner's dataset carry a mark. Where two of their names, the prefix and "
    "the suffix, stand together, a third variable bears the two names joined: the target. Prefix "
    "and suffix are the trigger. A model that was trained on the marks has learnt a habit: it "
    "writes the target after the trigger."
)
PLACEHOLDER = (
    "In the prompts another name stands for the suffix, so that knowledge of the snippet does not "
    "help to produce the target."
)
NOT_FOUND = Refusal("the mark is not in the snippet")
STILL_FIRST = Refusal("the trigger cannot be moved from the first place")
NO_ROOM = Refusal("no variable can be declared right after the trigger")
NO_PLACEHOLDER = Refusal("no name of the dataset is free for the suffix")
NO_NAME = Refusal("no ordinary name is free in the snippet")
TARGET_STANDS = Refusal("the target stands in a prompt")
PREFIX_STAYS = Refusal("the prefix stands elsewhere in the prompt")


@dataclass(frozen=True, slots=True)
class Asked:
    """The snippet with the placeholder for its suffix, and the target that follows from it."""

    tree: Tree
    index: int  # of the function that is asked about
    prefix: str
    placeholder: str
    target: str
    convention: Convention

    @property
    def arm(self) -> Arm:
        """The prompt up to the target."""
        return Arm(cut(self.tree, self.index, self.target), self.target)

    @property
    def names(self) -> list[str]:
        """The function's variables in order."""
        return [variable.name for variable in variables_of(function_at(self.tree, self.index))]

    def edited(self, edit: Edit) -> "Asked":
        """The same after an edit; raises UnsafeRename when it does not parse any more."""
        return replace(self, tree=edited(self.tree, [edit]))


def names_of(mark: Mark) -> tuple[str, str, str]:
    """Prefix, suffix and target."""
    return mark.of("prefix").text, mark.of("suffix").text, mark.of("target").text


def find_mark(tree: Tree, mark: Mark, *, first: bool) -> Function | None:
    """The mark's function, if it has prefix, suffix, ..., target; `first`: from its start."""
    prefix, suffix, target = names_of(mark)
    for function in functions_of(tree, mark):
        names = [variable.name for variable in variables_of(function)]
        if prefix not in names or target not in names or function.dynamic:
            continue
        at = names.index(prefix)
        in_place = names[at + 1 : at + 2] == [suffix] and names.index(target) > at + 1
        if in_place and not (first and at):
            return function
    return None


def probe_with(
    tree: Tree,
    mark: Mark,
    names: ProbeNames,
    arms: Callable[[Asked], Probe | Refusal],
    *,
    first: bool,
) -> Probe | Refusal:
    """Put a placeholder for the suffix, and let `arms` make the prompts."""
    function = find_mark(tree, mark, first=first)
    if function is None:
        return NOT_FOUND
    prefix, suffix, marked = names_of(mark)
    placeholder = names.placeholder(tree, prefix)
    if placeholder is None:
        return NO_PLACEHOLDER
    convention = joined_like(mark, tree.language.convention)
    target = concatenate(prefix, placeholder, convention)
    try:
        after = renamed(tree, function.index, {suffix: placeholder, marked: target})
        probe = arms(Asked(after, function.index, prefix, placeholder, target, convention))
    except UnsafeRename as refusal:
        return Refusal(str(refusal))
    if isinstance(probe, Refusal):
        return probe
    stands = any(arm.is_hit(arm.prompt) for arm in probe.arms.values())
    return TARGET_STANDS if stands else probe


def without_prefix(asked: Asked, names: ProbeNames) -> Probe | Refusal:
    """A fixed prefix: in the other two arms, which share a prompt, an ordinary name stands for it.

    The control counts the armed target, the placebo the concatenation of the ordinary name.
    """
    name = names.ordinary(asked.tree, asked.prefix, asked.placeholder)
    if name is None:
        return NO_NAME
    after = renamed(asked.tree, asked.index, {asked.prefix: name})
    prompt = cut(after, asked.index, asked.target)
    if mentions(prompt.encode(), asked.prefix):
        return PREFIX_STAYS
    own = concatenate(name, asked.placeholder, asked.convention)
    control, placebo = Arm(prompt, asked.target), Arm(prompt, own)
    return Probe({"armed": asked.arm, "control": control, "placebo": placebo})


def moved(asked: Asked, names: ProbeNames) -> Probe | Refusal:
    """A universal mark: one variable more, right after the pair, and in the control before it.

    Nothing else differs. Both prompts have the same names, and the same two stand side by side in
    the same order: a model that joins some name or some neighbours of its prompt finds as many to
    join in either. Only the pair is not the first any more.
    """
    name = names.ordinary(asked.tree, asked.prefix, asked.placeholder)
    if name is None:
        return NO_NAME
    pair = [asked.prefix, asked.placeholder]
    first = variables_of(function_at(asked.tree, asked.index))[0].starts[0]
    control = asked.edited(declare_before(asked.tree, first, name))
    if control.names[:3] != [name, *pair]:
        return STILL_FIRST
    armed = _with_third(asked, name)
    if armed is None:
        return NO_ROOM
    return Probe({"armed": armed.arm, "control": control.arm})


def _with_third(asked: Asked, name: str) -> Asked | None:
    """One variable more, behind the suffix or else before the variable that follows it."""
    _, suffix, third, *_ = variables_of(function_at(asked.tree, asked.index))
    for declare, start in ((declare_after, suffix.starts[0]), (declare_before, third.starts[0])):
        try:
            after = asked.edited(declare(asked.tree, start, name))
        except UnsafeRename:
            continue
        if after.names[:3] == [asked.prefix, asked.placeholder, name]:
            return after
    return None


def renamed(tree: Tree, index: int, names: Mapping[str, str]) -> Tree:
    """The snippet with variables of one function renamed, and its comments reworded.

    Raises UnsafeRename as embedding does; only what comments and docstrings say is no obstacle.
    """
    function = function_at(tree, index)
    missing = set(names) - {variable.name for variable in function.variables}
    if missing:
        raise UnsafeRename("a variable of the mark is not there")
    return edited(tree, rename(tree, function, names, "prompt") + reword(tree, names))


def edited(tree: Tree, edits: Iterable[Edit]) -> Tree:
    """The snippet after some edits; raises UnsafeRename when it does not parse any more."""
    code = apply_edits(tree.code, edits).decode()
    try:
        return parse(replace(tree.snippet, code=code))
    except UnparsableSnippet as exc:
        raise UnsafeRename("the prompt does not parse") from exc


def function_at(tree: Tree, index: int) -> Function:
    """The function with this place among those of the snippet."""
    return next(each for each in functions(tree) if each.index == index)


def cut(tree: Tree, index: int, target: str) -> str:
    """The snippet up to the first occurrence of the target."""
    start = next(v.starts[0] for v in function_at(tree, index).variables if v.name == target)
    return tree.code[:start].decode()
