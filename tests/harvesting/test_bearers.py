"""Functions without a name of their own are called by what bears them."""

import json
from pathlib import Path

import puzzlemark as pm

SOURCE = """\
/** Adds. */
export const add = (a, b) => a + b;
/** Gets it. */
exports.get = function (key) { return key; };
const o = {
  /** Sets. */
  set: function (v) { return v; },
  m() { return 1; },
};
class K {
  /** Runs. */
  f = () => 1;
}
items.map((x) => x);
"""


def test_names_and_comments_come_from_what_bears_a_function(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(SOURCE)
    output = tmp_path / "functions.jsonl"
    harvested = pm.harvest(tmp_path / "a.js", output, "js", workers=1)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(row["func_name"], row["docstring"]) for row in rows] == [
        ("add", "Adds."),
        ("exports.get", "Gets it."),
        ("set", "Sets."),
        ("m", ""),
        ("K.f", "Runs."),
    ]
    assert harvested.skipped_functions == {"no name": 1}
