"""A run while it goes on: its clock, those who observe it, what is recorded of it."""
