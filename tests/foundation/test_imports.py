"""The direction of imports that import-linter has no contract for."""

import grimp


def circles(graph: grimp.ImportGraph) -> list[tuple[str, ...]]:
    """Groups of files that all import each other, over however many files between (Tarjan, without recursion)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []
    groups: list[tuple[str, ...]] = []
    for root in sorted(graph.modules):
        work = [(root, iter(sorted(graph.find_modules_directly_imported_by(root))))] if root not in order else []
        if work:
            order[root] = lowest[root] = len(order)
            open_modules.append(root)
        while work:
            module, imported = work[-1]
            following = next(imported, None)
            if following is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[module])
                if lowest[module] == order[module]:
                    cut = open_modules.index(module)
                    group, open_modules = open_modules[cut:], open_modules[:cut]
                    groups += [tuple(sorted(group))] if len(group) > 1 else []
            elif following not in order:
                order[following] = lowest[following] = len(order)
                open_modules.append(following)
                work.append((following, iter(sorted(graph.find_modules_directly_imported_by(following)))))
            elif following in open_modules:
                lowest[module] = min(lowest[module], order[following])
    return groups


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports for type checking and inside functions count: whoever reads one file of a circle must read them all."""
    graph = grimp.build_graph("neuron_top", cache_dir=None)
    assert len(graph.modules) > 400
    assert circles(graph) == []


def test_a_circle_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "a")):
        graph.add_import(importer=importer, imported=imported)
    assert circles(graph) == [("a", "b", "c")]
