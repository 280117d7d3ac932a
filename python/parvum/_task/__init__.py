"""The task of this process: its machine, messages, groups, events, and memory that tasks share."""
