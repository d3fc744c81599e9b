"""Ask people which snippets look marked: make the pages, serve them, score the answers."""
