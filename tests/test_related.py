"""Which files are related to a target file."""

from __future__ import annotations

import pytest

from codebench.gold.imports import ImportMap
from codebench.gold.related import CoChange, Relations, assign
from codebench.model import Related

LANGUAGES = {
    "shop/__init__.py": "python",
    "shop/store.py": "python",
    "shop/clock.py": "python",
    "shop/deep/tool.py": "python",
    "other/clock.py": "python",
    "src/flask/app.py": "python",
    "web/index.ts": "typescript",
    "web/api.ts": "typescript",
    "web/ui/button.tsx": "tsx",
    "web/ui/index.ts": "typescript",
    "packages/core/src/index.ts": "typescript",
    "go/render/json.go": "go",
    "go/render/json_test.go": "go",
    "go/context.go": "go",
    "src/lib.rs": "rust",
    "src/net/mod.rs": "rust",
    "src/net/tcp.rs": "rust",
    "app/src/org/shop/Store.java": "java",
    "app/src/org/shop/Clock.java": "java",
    "c/src/list.c": "c",
    "c/include/util/list.h": "c",
    "lib/shop/order.rb": "ruby",
    "lib/shop.rb": "ruby",
    "php/src/Order/Item.php": "php",
    "php/src/Shop.php": "php",
}


@pytest.mark.parametrize(
    ("path", "raw", "found"),
    [
        ("shop/store.py", "shop.clock", {"shop/clock.py"}),
        ("shop/store.py", ".clock", {"shop/clock.py"}),
        ("shop/deep/tool.py", "..clock", {"shop/clock.py"}),
        ("shop/store.py", ".", {"shop/__init__.py"}),
        ("shop/store.py", "flask.app", {"src/flask/app.py"}),
        ("shop/store.py", "clock", set()),  # two files have that name: neither is meant
        ("shop/store.py", "os.path", set()),
        ("web/index.ts", "./api", {"web/api.ts"}),
        ("web/index.ts", "./api.js", {"web/api.ts"}),
        ("web/index.ts", "./ui", {"web/ui/index.ts"}),
        ("web/ui/index.ts", "./button", {"web/ui/button.tsx"}),
        ("web/ui/index.ts", "../api", {"web/api.ts"}),
        ("web/index.ts", "@shop/core", {"packages/core/src/index.ts"}),
        ("web/index.ts", "react", set()),
        ("go/context.go", "github.com/x/go/render", {"go/render/json.go"}),
        ("go/context.go", "fmt", set()),
        ("src/lib.rs", "crate::net::tcp::Stream", {"src/net/tcp.rs"}),
        ("src/net/mod.rs", "tcp", {"src/net/tcp.rs"}),
        ("src/net/tcp.rs", "super", set()),
        ("app/src/org/shop/Store.java", "org.shop.Clock", {"app/src/org/shop/Clock.java"}),
        ("app/src/org/shop/Store.java", "org.shop.Clock.now", {"app/src/org/shop/Clock.java"}),
        ("app/src/org/shop/Store.java", "java.util.List", set()),
        ("c/src/list.c", "util/list.h", {"c/include/util/list.h"}),
        ("c/src/list.c", "stdio.h", set()),
        ("lib/shop.rb", "shop/order", {"lib/shop/order.rb"}),
        ("php/src/Shop.php", "App\\Order\\Item", {"php/src/Order/Item.php"}),
    ],
)
def test_an_import_names_a_file(path: str, raw: str, found: set[str]) -> None:
    assert ImportMap(LANGUAGES).resolve(path, [raw]) == found


def test_files_that_change_together_more_than_by_chance() -> None:
    together = [frozenset({"a", "b"})] * 3 + [frozenset({"a", "c"})]
    alone = [frozenset({name}) for name in "defgh" for _ in range(2)]
    partners = CoChange([*together, *alone]).partners("a")
    assert partners == {"b"}, "c changed with a only once"


def test_a_file_that_is_in_every_commit_is_nobodys_partner() -> None:
    sets = [frozenset({"a", "log"}), frozenset({"a", "log"})]
    sets += [frozenset({name, "log"}) for name in "bcdefgh"]
    assert CoChange(sets).partners("a") == frozenset()


def test_a_change_set_of_more_than_thirty_files_says_nothing() -> None:
    huge = frozenset({"a", "b", *map(str, range(29))})
    assert CoChange([huge, huge, *[frozenset({"z"})] * 9]).partners("a") == frozenset()


def relations(**imports: set[str]) -> Relations:
    paths = ["a/one.py", "a/two.py", "b/three.py", "tests/test_one.py", "tests/test_two.py"]
    sets = [frozenset({"a/one.py", "b/three.py"})] * 2 + [frozenset({"x"})] * 6
    named = {key.replace("__", "/") + ".py": value for key, value in imports.items()}
    return Relations(named, paths, CoChange(sets))


def test_scores_add_up_and_two_is_the_least() -> None:
    found = relations(a__two={"a/one.py"}).of("a/one.py")
    assert [(one.path, one.score, one.flags) for one in found] == [
        ("a/two.py", 2, ("import", "package")),
        ("b/three.py", 2, ("co-change",)),  # twice
        ("tests/test_one.py", 2, ("test",)),
    ]
    assert [one.path for one in relations().of("a/two.py")] == ["tests/test_two.py"]


def test_at_most_ten_files_are_related() -> None:
    paths = ["p/a.py", *(f"q/f{number:02}.py" for number in range(20))]
    changed = [frozenset({"p/a.py", path}) for path in paths[1:] for _ in range(2)]
    unrelated = [frozenset({"z"})] * 100
    found = Relations({}, paths, CoChange([*changed, *unrelated])).of("p/a.py")
    assert [one.path for one in found] == [f"q/f{number:02}.py" for number in range(10)]


def test_a_module_belongs_to_one_target_file_only() -> None:
    given = [
        Related("m.py", "b.py", 3),
        Related("m.py", "a.py", 3),
        Related("n.py", "a.py", 2),
        Related("n.py", "b.py", 4),
        Related("b.py", "a.py", 4),
    ]
    assert assign(given, {"a.py", "b.py"}) == (
        Related("m.py", "a.py", 3),
        Related("n.py", "b.py", 4),
    )
