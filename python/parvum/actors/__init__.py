"""Actors: objects that live in tasks of their own and are called by messages.

`declared` has the decorator, `handles` what callers hold, `runtime` the process of one actor. `places` is the
actor behind `parvum.Queue`, `Event`, `Barrier` and `Lock`.
"""
