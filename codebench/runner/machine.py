"""Which machine this is: latency is compared on the same one only."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any


def fingerprint() -> dict[str, Any]:
    """Return the processor, its cores, memory in bytes, system, kernel and Python.

    No host name, user or path is among them.
    """
    return {
        "cpu": _cpu(),
        "cores": _cores(),
        "memory_bytes": _memory(),
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def digest_of(machine: dict[str, Any]) -> str:
    """Return a short digest of a fingerprint."""
    text = json.dumps(machine, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in {"model name", "Model", "cpu model"}:
            return value.strip()
    return platform.machine()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
