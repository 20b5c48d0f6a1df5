"""XLA that compiles quickly and optimises little, for tests whose subject is not what is compiled.

On small graphs a program takes far longer to compile than to run: without optimisation, a third as long.
"""

import os
from typing import Any

import jax
from jax._src import compiler  # private: if it changes, tests compile as for users

_WANTED = {"xla_backend_optimization_level": "0", "xla_cpu_use_fusion_emitters": "False"}


def _is_known(name: str, value: str) -> bool:
    """Whether this version of XLA has the option."""
    try:
        jax.jit(lambda x: x, compiler_options={name: value}).lower(0).compile()
    except Exception:
        return False
    return True


#: For `jax.jit(…, compiler_options=QUICKLY)`, and the same for the environment of another process.
QUICKLY = {name: value for name, value in _WANTED.items() if _is_known(name, value)}
XLA_FLAGS = " ".join(f"--{name}={value.lower()}" for name, value in QUICKLY.items())

_as_for_users = getattr(compiler, "get_compile_options", None)
_users_flags = os.environ.get("XLA_FLAGS", "")


def _quick(*arguments: Any, env_options_overrides: dict[str, str] | None = None, **named: Any) -> Any:
    overrides = QUICKLY | (env_options_overrides or {})
    return _as_for_users(*arguments, env_options_overrides=overrides, **named)


def compile_quickly(quickly: bool) -> None:
    """From now on compile everything quickly, or as for users, also in new processes.

    Programs that were compiled the other way are forgotten.
    """
    wanted = _quick if quickly else _as_for_users
    if _as_for_users is not None and compiler.get_compile_options is not wanted:
        compiler.get_compile_options = wanted
        os.environ["XLA_FLAGS"] = f"{_users_flags} {XLA_FLAGS}" if quickly else _users_flags
        jax.clear_caches()
