"""Actors: objects in separate tasks, whose methods are called by messages.

`declared` has the decorator, `handles` the handles of callers, `runtime` the process of one actor. `places` is the
state of the actor behind `parvum.Queue`, `Event`, `Barrier` and `Lock`.
"""
