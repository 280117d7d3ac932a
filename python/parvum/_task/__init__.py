"""The task of this process: virtual machine, messages, groups, events and shared memory."""
