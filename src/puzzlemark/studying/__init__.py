"""A study with people: pages that ask which snippets look marked, and what the answers say."""
