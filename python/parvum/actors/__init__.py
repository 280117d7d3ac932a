"""Actors: objects in separate tasks. Other tasks call the methods of an actor by messages.

`declared` has the decorator, `handles` has the handles that callers use, and `runtime` is the process of one actor.
`places` is the state of the actor that stores `parvum.Queue`, `Event`, `Barrier` and `Lock`.
"""
