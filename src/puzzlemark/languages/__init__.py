"""Programming languages, as tables: grammar, naming convention, node types. Almost no code."""
