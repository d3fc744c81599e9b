"""Where the parts of a mark stand in the marked snippet, for parts that are variables."""

from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks.base import Mark, Place


def variable_places(tree: Tree, mark: Mark) -> tuple[Place, ...]:
    """The variables named like the parts, in the first function that has all of them."""
    roles = {part.text: part.role for part in mark.parts}
    for function in functions(tree):
        variables = {variable.name: variable for variable in function.variables}
        if roles.keys() <= variables.keys():
            places = (
                Place(start, start + len(name), role)
                for name, role in roles.items()
                for start in variables[name].starts
            )
            return tuple(sorted(places, key=lambda place: place.start))
    return ()
