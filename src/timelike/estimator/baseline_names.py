"""The names of baselines, and lists of them as users type them."""

from __future__ import annotations

from collections.abc import Iterable

from timelike._util.checks import show

#: Baselines that are trained by gradient descent: seconds each.
TRAINED = ("dot product", "Euclidean")

#: Baselines that are only counted or decomposed: seconds even for large graphs.
UNTRAINED = (
    "degree product",
    "common neighbours",
    "L3",
    "L3 normalised",
    "L3 × out-degree",
    "Katz",
    "reciprocity",
    "reachability",
    "SVD",
)

#: An AP that is higher by no more than this is not worth a word.
NEAR = 0.002

#: Words for several baselines.
WORDS = {"all": (*UNTRAINED, *TRAINED), "untrained": UNTRAINED, "none": ()}


def baseline_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """The baselines of a list, a text such as "L3,svd", or a word; case, blanks and hyphens do not matter."""
    if isinstance(names, str) and names.lower() in WORDS:
        return WORDS[names.lower()]
    if not isinstance(names, str | Iterable):
        raise TypeError(f"baselines is {show(names)}; it must be text, such as L3,SVD, or {', '.join(WORDS)}")
    parts = names.split(",") if isinstance(names, str) else [str(name) for name in names]
    plain = {_plain(name): name for name in WORDS["all"]}
    wrong = [part for part in parts if _plain(part) not in plain]
    if wrong:
        names = ", ".join(name.replace(" × ", "-x-").replace(" ", "-") for name in WORDS["all"])
        raise ValueError(
            f"baselines has {show(wrong[0])}; it must be {', '.join(WORDS)}, or a list of {names}"
        )
    return tuple(dict.fromkeys(plain[_plain(part)] for part in parts))


def _plain(name: str) -> str:
    return name.strip().lower().translate(str.maketrans("×", "x", " -_"))


def beaten(
    average_precision: float | None, baselines: dict[str, float], where: str, alone: float | None = None
) -> str | None:
    """One line if a baseline ranks better than the model, with what to do; None if none does.

    `alone` is the average precision of the geometry alone, if that is not the model.
    """
    best = max(baselines, key=lambda name: baselines[name], default=None)
    if best is None or average_precision is None or baselines[best] <= average_precision + NEAR:
        return None
    hint = "try a larger --dim, --members 5 or --tune"
    if alone is not None and alone > baselines[best]:
        hint = f"try --evidence none, the geometry alone ({alone:.3f})"
    return (
        f"{best} ranks {where} better than the model: AP {baselines[best]:.3f} against "
        f"{average_precision:.3f}; {hint}, or use {best} instead"
    )
