"""The command line: one file per command, arguments, one call, one print."""
