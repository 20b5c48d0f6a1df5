"""Count the programs that a test compiles."""

import contextlib

import jax


@contextlib.contextmanager
def compilations():
    """A list that grows with every program that XLA compiles."""
    events = []

    def note(name, _, **__):
        if name == "/jax/core/compile/backend_compile_duration":
            events.append(name)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield events
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
