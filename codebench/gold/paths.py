"""What kind of file a path names: source, test, documentation, generated or vendored.

Words are matched whole, so that `latest` is no test and `distance` is no build folder.
"""

from __future__ import annotations

import re

_TEST_DIRS = frozenset(
    """test tests testing __tests__ spec specs e2e testdata fixtures __fixtures__ __mocks__ mocks
    unittests integration_tests testutils""".split()
)
_TEST_FILE = re.compile(
    r"^(?:test_.*|.*_tests?|conftest|.*\.(?:test|spec|e2e|cy)|.*_spec|.*Tests?|.*Spec|tests?)$"
)
_DOC_DIRS = frozenset(
    "doc docs documentation example examples samples demo demos site website tutorial".split()
)
_VENDOR_DIRS = frozenset(
    "vendor vendored _vendor third_party thirdparty third-party node_modules bower_components "
    "external externals deps".split()
)
_GENERATED_DIRS = frozenset("generated __generated__ gen dist build".split())
_GENERATED_FILE = re.compile(
    r"(?:\.min|\.bundle|\.pb|\.pb\.gw|_pb2|_pb2_grpc|\.generated|_generated|\.g|zz_generated.*)$"
)


def path_kind(path: str) -> str:
    """Return `vendored`, `generated`, `test`, `docs` or `source` for a path."""
    *folders, name = path.split("/")
    lowered = {folder.lower() for folder in folders}
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    if lowered & _VENDOR_DIRS:
        return "vendored"
    if lowered & _GENERATED_DIRS or _GENERATED_FILE.search(stem):
        return "generated"
    if lowered & _TEST_DIRS or _TEST_FILE.match(stem):
        return "test"
    if lowered & _DOC_DIRS:
        return "docs"
    return "source"
