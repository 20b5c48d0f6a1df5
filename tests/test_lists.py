"""The lists of geometries and likelihoods are complete, so the shared axioms reach everything."""

import dataclasses
import importlib
import inspect
import pkgutil
import sys
import typing

import pytest

import timelike
from timelike import baselines, likelihoods, manifolds
from timelike.core.likelihood import Likelihood
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS, Manifold


def concrete_subclasses(base: type) -> set[type]:
    """All classes of the package, in whatever module, that can be built and derive from `base`."""
    for module in pkgutil.walk_packages(timelike.__path__, "timelike."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, todo = set(), [base]
    while todo:
        todo += (cls := todo.pop()).__subclasses__()
        if cls.__module__.startswith("timelike.") and not inspect.isabstract(cls):
            found.add(cls)
    return found


def build_all(constructors) -> tuple[set[type], set[object]]:
    """The classes, nested ones too, and the code that run when everything in a list is built."""
    code = set()
    sys.setprofile(lambda frame, event, _: code.add(frame.f_code))
    try:
        todo = [make() for make in constructors]
    finally:
        sys.setprofile(None)
    classes = set()
    while todo:
        classes.add(type(one := todo.pop()))
        todo += [x for f in dataclasses.fields(one) if dataclasses.is_dataclass(x := getattr(one, f.name))]
    return classes, code


def of_baselines(part: str) -> set[type]:
    """The manifolds, or likelihoods, of the models that came before."""
    return build_all([lambda make=make: getattr(make(3), part) for make in baselines.MODELS.values()])[0]


def constructors_in(module, kind: type) -> list:
    """The public functions of a module that are declared to return a `kind`."""
    functions = [f for name in module.__all__ if inspect.isfunction(f := getattr(module, name))]
    return [f for f in functions if issubclass(typing.get_type_hints(f).get("return", object), kind)]


def test_every_manifold_is_listed():
    classes, code = build_all([lambda make=make: make(3) for make in MANIFOLDS.values()])
    assert concrete_subclasses(Manifold) <= classes | of_baselines("manifold")
    constructors = constructors_in(manifolds, Manifold)
    assert len(constructors) >= 9
    assert [f.__name__ for f in constructors if f.__code__ not in code] == []


def test_every_likelihood_is_listed():
    classes, code = build_all(LIKELIHOODS.values())
    assert concrete_subclasses(Likelihood) <= classes | of_baselines("likelihood")
    assert [f.__name__ for f in constructors_in(likelihoods, Likelihood) if f.__code__ not in code] == []


@pytest.mark.parametrize(("module", "kind"), [(manifolds, Manifold), (likelihoods, Likelihood)])
def test_every_listed_class_is_public(module, kind):
    assert {cls.__name__ for cls in concrete_subclasses(kind)} <= {*module.__all__, *baselines.__all__}


@pytest.mark.parametrize("name", MANIFOLDS)
def test_dim_is_the_one_asked_for(name):
    for dim in (2, 3, 10):
        m = MANIFOLDS[name](dim)
        assert m.dim == sum(m.signature) == dim
        assert m.origin().shape == (m.ambient_dim,)
