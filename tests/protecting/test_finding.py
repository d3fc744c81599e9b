"""Marks are found again when a function moves to another class and file, in every language."""

from pathlib import Path

import pytest

from puzzlemark.protecting.finding import _last, name_of, path_of
from puzzlemark.protecting.run import protect, revert_repository

# a file, and the same method in another class and namespace
METHODS = {
    "shop.py": (
        """\
class Cart:
    def join(self, first, second):
        both = first + second
        return both
""",
        """\
class Basket:
    def join(self, first, second):
        both = first + second
        return both
""",
    ),
    "shop.php": (
        """\
<?php
class Cart {
    function join($first, $second) {
        $both = $first + $second;
        return $both;
    }
}
""",
        """\
<?php
namespace Store;
class Basket {
    function join($first, $second) {
        $both = $first + $second;
        return $both;
    }
}
""",
    ),
    "shop.rb": (
        """\
module Shop
  class Cart
    def join(first, second)
      both = first + second
      both
    end
  end
end
""",
        """\
class Basket
    def join(first, second)
      both = first + second
      both
    end
end
""",
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_mark_is_found_in_another_class_of_another_file(tmp_path: Path, name: str) -> None:
    before, after = METHODS[name]
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / name).write_text(before, encoding="utf-8")
    assert protect(folder, in_place=True).marks == 1
    marked = (folder / name).read_text(encoding="utf-8")
    new = next(word for word in ("first_second", "firstSecond") if word in marked)
    moved = folder / "lib" / f"basket{Path(name).suffix}"
    moved.parent.mkdir()
    moved.write_text(after.replace("both", new), encoding="utf-8")
    (folder / name).unlink()
    revert_repository(folder, in_place=True)
    assert moved.read_text(encoding="utf-8") == after


@pytest.mark.parametrize(
    ("id_", "path", "name", "last"),
    [
        ("a/b.py::Class.method#2", "a/b.py", "Class.method", "method"),
        ("a/b.php::Cart::total", "a/b.php", "Cart::total", "total"),
        ("a/b.rb::Shop::Cart#total", "a/b.rb", "Shop::Cart#total", "total"),
        ("a/b.rb::Shop::Cart#total#2", "a/b.rb", "Shop::Cart#total", "total"),
        ("a/b.rb::Shop::Cart.open#12", "a/b.rb", "Shop::Cart.open", "open"),
        ("a/b.rb::Cart#==#2", "a/b.rb", "Cart#==", "=="),
        ("a/b.js::exports.get", "a/b.js", "exports.get", "get"),
        ("a/b.go::total#2", "a/b.go", "total", "total"),
    ],
)
def test_an_id_tells_path_name_and_last_name(id_: str, path: str, name: str, last: str) -> None:
    assert (path_of(id_), name_of(id_), _last(name_of(id_))) == (path, name, last)
