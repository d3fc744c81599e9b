"""The local variables of each function of a snippet, resolved by scope."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal, Protocol

import tree_sitter

from puzzlemark import plugins
from puzzlemark.syntax.tree import Tree

Policy = Literal["paper", "safe"]
POLICIES: tuple[Policy, ...] = ("paper", "safe")
# `prompt` is for questions to a model, which nobody runs: there a stale comment does no harm.
Care = Policy | Literal["prompt"]
MOST_VARIABLES = 10_000  # of one function; javac has room for six times as many, people for 100
TOO_MANY = f"more than {MOST_VARIABLES} variables in a function"
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that a function binds, with every place in the snippet that means that binding."""

    name: str
    starts: tuple[int, ...]  # byte offsets in the snippet, ascending
    is_parameter: bool
    fixed: str | None = None  # why it must keep its name whatever the policy; None: it may change
    documented: str | None = None  # where a text names this parameter and would become stale
    doubtful: str | None = None  # why policy `safe` keeps the name: something may look for it

    @property
    def frequency(self) -> int:
        """How often the name occurs."""
        return len(self.starts)

    def refusal(self, policy: Care) -> str | None:
        """Why this variable may not be renamed, or None when it may."""
        if self.fixed is not None or policy == "prompt":
            return self.fixed
        if policy == "safe":
            return "parameter (policy safe)" if self.is_parameter else self.doubtful
        return self.documented


@dataclass(frozen=True, slots=True)
class Function:
    """One function, method or constructor: the unit of marking."""

    name: str
    variables: tuple[Variable, ...]  # by first occurrence; `self` and its like are left out
    dynamic: str | None = None  # why nothing in it may be renamed, or None
    index: int = 0  # its place among the functions of the snippet


class Resolver(Protocol):
    """What each file in `syntax/resolvers/` offers: a function node's own variables."""

    def resolve(self, tree: Tree, node: tree_sitter.Node) -> Function:
        """Resolve every name in the function by the language's rules of scope."""
        ...


def functions(tree: Tree) -> Iterator[Function]:
    """The functions of a snippet in document order, an outer one before those inside it."""
    resolver = _resolver_of(tree.language.name)
    for index, node in enumerate(function_nodes(tree)):
        function = replace(resolver.resolve(tree, node), index=index)
        if len(function.variables) > MOST_VARIABLES:
            function = replace(function, dynamic=TOO_MANY)
        yield function


@cache  # asked for every snippet
def _resolver_of(language: str) -> Resolver:
    found: Resolver = plugins.find("syntax.resolvers", language)
    return found


def ignores_spelling(language: str) -> bool:
    """Whether the variables of this language are told by which names are equal, and so alike for
    all spellings of a name but those of receivers.

    A resolver says so with `IGNORES_SPELLING = True`; it may then not be asked again after a rename
    to fresh names.
    """
    return getattr(_resolver_of(language), "IGNORES_SPELLING", False)


def function_nodes(tree: Tree) -> Iterator[tree_sitter.Node]:
    """The nodes that are functions, in document order."""
    wanted = tree.language.functions
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if node.type in wanted:
            yield node
        stack.extend(reversed(node.named_children))


def names_a_parameter(text: str, name: str) -> bool:
    """Whether a documentation text speaks of this parameter; a rename would make it stale.

    Any whole word counts, but `a` and `I`, English words, only in a form that documents:
    `:param a:`, `` `a` ``, `a:`, `a (int)`, `a -`, `f(a=1)`.
    """
    if "$" in name:  # not a word to the expression below
        return name in text
    if name not in _words_of(text):
        return False
    if name in ("a", "I"):
        form = rf"(?:`{name}`|\b(?:param|arg|argument|parameter)\b[^\n:]*\b{name}\b"
        form += rf"|^\s*\*?{name}\s*(?::|\(|-|=)|\b{name}=(?!=))"
        return re.search(form, text, re.MULTILINE) is not None
    return True


@lru_cache(maxsize=8)  # a function asks for each of its parameters
def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text))
