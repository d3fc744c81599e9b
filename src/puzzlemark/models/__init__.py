"""Suspicious models as black boxes: text in, text out; one file per way to reach one."""
