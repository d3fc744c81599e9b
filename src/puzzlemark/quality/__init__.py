"""Harmlessness: does a marked model complete code as well as a bare one (paper, RQ1, section 6)?"""
