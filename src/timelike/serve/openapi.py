"""The description of the service in OpenAPI 3.1, from which clients can be generated."""

from __future__ import annotations

from typing import Any

from timelike._version import __version__

#: Most edges of a reply, most pairs of a request, and longest name of a node.
MOST_EDGES, MOST_PAIRS, MOST_NAME = 100, 10_000, 500

NAME = {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "Name of a node."}
PROBABILITY = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
SPREAD = {
    "type": ["number", "null"],
    "minimum": 0,
    "description": "Standard deviation of the probability over the members of the model, if it has several.",
}
NUMBER = {"type": ["number", "null"]}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


MODEL = _object(
    {
        "name": {"type": "string"},
        "version": {"type": "string", "description": "Changes with the content of the model folder."},
        "nodes": {"type": "integer", "minimum": 0},
        "edges": {"type": "integer", "minimum": 0, "description": "Known edges."},
        "geometry": {"type": "string"},
        "likelihood": {"type": "string"},
        "evidence": {"type": "array", "items": {"type": "string"}},
        "members": {"type": "integer", "minimum": 1},
        "calibration": {"type": ["string", "null"]},
    }
)
EDGE = _object({"node": NAME, "known": {"type": "boolean"}, "probability": PROBABILITY}, {"spread": SPREAD})
PAIR = _object(
    {"source": NAME, "target": NAME, "known": {"type": "boolean"}, "probability": PROBABILITY},
    {"spread": SPREAD},
)
REASON = _object(
    {"group": {"type": "string"}, "contribution": NUMBER, "strongest": {"type": "string"}, "value": NUMBER}
)
SCHEMAS = {
    "Model": MODEL,
    "Models": _object({"models": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}),
    "Edges": _object(
        {"model": {"type": "string"}, "version": {"type": "string"}, "node": NAME}
        | {"edges": {"type": "array", "maxItems": MOST_EDGES, "items": EDGE}}
    ),
    "Pairs": _object(
        {
            "pairs": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_PAIRS,
                "items": {
                    "type": "array",
                    "minItems": 2,
                    "maxItems": 2,
                    "items": {"oneOf": [{"type": "string", "minLength": 1, "maxLength": MOST_NAME}]},
                },
            }
        },
        {"missing": {"type": "string", "enum": ["error", "skip"], "default": "error"}},
    ),
    "ScoredPairs": _object(
        {
            "model": {"type": "string"},
            "version": {"type": "string"},
            "missing": {"type": "integer", "minimum": 0, "description": "Pairs with unknown names."},
            "pairs": {"type": "array", "items": PAIR},
        }
    ),
    "Why": _object(
        {
            **PAIR["properties"],
            "model": {"type": "string"},
            "version": {"type": "string"},
            "interval": {**NUMBER, "description": "s², negative for timelike pairs."},
            "time": {**NUMBER, "description": "Δt from source to target."},
            "base": {**NUMBER, "description": "Log-odds of an average pair; null without evidence."},
            "reasons": {"type": "array", "items": REASON},
        }
    ),
    "Health": _object({"status": {"type": "string", "enum": ["ok"]}, "models": {"type": "integer"}}),
    "Error": _object({"error": {"type": "string"}}, {"near": {"type": "array", "items": {"type": "string"}}}),
}
SCHEMAS["Why"]["required"].remove("spread")

ERRORS = {
    "400": "The request is malformed; `error` says how.",
    "404": "There is no such model or node; `near` lists similar names.",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
    "421": "The server does not serve this host.",
    "503": "Too many requests wait; ask again later.",
    "504": "The reply took too long.",
}
MODEL_NAME = {"name": "model", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _query(name: str, about: str, schema: dict[str, Any], required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "description": about, "schema": schema}


def _node(name: str, about: str) -> dict[str, Any]:
    return _query(name, about, {"type": "string", "minLength": 1, "maxLength": MOST_NAME}, True)


def _reply(schema: str, about: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": about, "content": content}


def description(token: bool, models: list[str]) -> dict[str, Any]:
    """The whole description; with `token`, requests must carry it."""
    errors = ERRORS | ({"401": "The token is missing or wrong."} if token else {})
    name = {**MODEL_NAME, "schema": {**MODEL_NAME["schema"], "examples": models[:3]}}  # type: ignore[dict-item]

    def get(identity: str, about: str, schema: str, *parameters: dict[str, Any]) -> dict[str, Any]:
        codes = [code for code in errors if code not in ("404", "415") or (parameters and code == "404")]
        replies = {code: _reply("Error", errors[code]) for code in codes}
        return {
            "get": {
                "operationId": identity,
                "summary": about,
                "parameters": list(parameters),
                "responses": {"200": _reply(schema, "The reply."), **replies},
            }
        }

    ranked: tuple[Any, ...] = (
        "Edges",
        name,
        _node("node", "Name of the node."),
        _query(
            "k", "Number of edges.", {"type": "integer", "minimum": 1, "maximum": MOST_EDGES, "default": 10}
        ),
        _query(
            "known",
            "Whether known edges are listed too.",
            {"type": "boolean", "default": False},
        ),
    )
    ends = (name, _node("source", "Name of the source."), _node("target", "Name of the target."))
    pairs = {
        "operationId": "pairs",
        "summary": f"The probabilities of up to {MOST_PAIRS:,} pairs, in their order. Nothing is written.",
        "parameters": [name],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pairs"}}},
        },
        "responses": {
            "200": _reply("ScoredPairs", "The reply."),
            **{code: _reply("Error", text) for code, text in errors.items()},
        },
    }
    plain = {"text/plain": {"schema": {"type": "string"}}}
    metrics = get("metrics", "Counts and times for Prometheus.", "Error")
    metrics["get"]["responses"]["200"] = {"description": "Prometheus' text format.", "content": plain}
    whole = get("openapi", "This description.", "Error")
    anything = {"application/json": {"schema": {"type": "object"}}}
    whole["get"]["responses"]["200"] = {"description": "OpenAPI 3.1.", "content": anything}
    health = get("health", "Whether the service answers.", "Health")
    health["get"]["security"] = []
    health["get"]["responses"].pop("401", None)
    bearer = {"bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "timelike",
            "version": "1",
            "summary": "Likely edges of directed graphs.",
            "description": f"Served by timelike {__version__}. Paths under /v1 stay compatible.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/v1/models": get("models", "The models.", "Models"),
            "/v1/models/{model}": get("model", "One model.", "Model", name),
            "/v1/models/{model}/targets": get("targets", "The likeliest edges out of a node.", *ranked),
            "/v1/models/{model}/sources": get("sources", "The likeliest edges into a node.", *ranked),
            "/v1/models/{model}/pairs": {"post": pairs},
            "/v1/models/{model}/why": get("why", "A pair, and why it is likely.", "Why", *ends),
            "/health": health,
            "/metrics": metrics,
            "/openapi.json": whole,
        },
        "components": {"schemas": SCHEMAS, **({"securitySchemes": bearer} if token else {})},
        **({"security": [{"bearer": []}]} if token else {}),
    }
