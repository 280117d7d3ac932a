"""The work layer: pools of worker tasks that run calls.

`schedule` decides who runs what, as a state machine without messages or clocks. `calls` turns calls and
results into bytes, `failures` turns exceptions into something that crosses hosts. `store` keeps large
arguments once per host. `executor` joins them to a machine; `worker` is the program of each worker.
"""
