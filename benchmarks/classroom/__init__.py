"""Simulated students in front of real servers: what ``hub_load.py`` measures with.

Modules go from the wire up: ``wire`` speaks to a kernel, ``browser`` does what JupyterLab does,
``student`` what a person does, ``servers`` starts what they work on, ``machine`` watches the cost,
``ramp`` adds students until it breaks, ``sizing`` computes what follows, ``page`` writes it down.
"""
