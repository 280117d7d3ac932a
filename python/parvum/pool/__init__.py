"""Pools of worker tasks that run calls.

`schedule` assigns calls to workers, as a state machine without messages or clocks. `calls` turns calls and results
into bytes, and `failures` turns exceptions into a form that can be sent to other hosts. `store` stores large
arguments once per host. `executor` connects these modules to a virtual machine; `worker` is the program of each
worker.
"""
