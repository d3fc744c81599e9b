"""Small programs that check themselves, rich in hazards of scope, and what is needed to run them.

`python/*.py` and `java/*.java` are data: odd on purpose, one program to a file. A program that ends
without an error has passed. `# requires: 3.12` in the first line: not for an older Python.
"""
