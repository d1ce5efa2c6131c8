"""Records of runs, as data of tests."""


def node(name, seconds=1.0, status="success", **response):
    """A node of a record; its figures as keywords."""
    found = {
        "id": f"model.shop.{name}",
        "name": name,
        "kind": "model",
        "materialized": "merge",
        "status": status,
        "seconds": seconds,
    }
    if response:
        found["response"] = {"operation": "MERGE", **response}
    return found


def record(*nodes, number=0, **values):
    """A record; `number` counts runs from the oldest."""
    return {
        "version": 1,
        "id": f"{number:08x}-0000-4000-8000-000000000000",
        "project": "shop",
        "target": "dev",
        "command": "build",
        "args": {},
        "started_at": f"2024-05-01T10:{number:02}:00.000000Z",
        "seconds": sum(each["seconds"] or 0 for each in nodes),
        "ok": all(each["status"] not in ("error", "fail") for each in nodes),
        "threads": 2,
        "nodes": list(nodes),
        **values,
    }


def batch(start, end, status="success", **values):
    """A batch of a node of a record."""
    entry = {"start": start, "end": end, "reason": "new", "status": status, "rows": 5, "version": "1", "seconds": 1.5}
    return {**entry, "message": None, **values}
