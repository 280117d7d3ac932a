"""Actors: objects in separate tasks. Messages call their methods.

`declared` has the decorator, `handles` the handles of callers, `runtime` the process of one actor. `places` is the
state of the actor that stores `parvum.Queue`, `Event`, `Barrier` and `Lock`.
"""
