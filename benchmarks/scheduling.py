"""The scheduler alone: what it costs, and how good its order is.

    python benchmarks/scheduling.py [--nodes 5000] [--rounds 3] [--graphs 20]

First the processor time of this process for a layered DAG of nodes that do nothing, from the graph to the end of the
run: contraction to the selection, priorities, waiting for tests, ready queue, threads. Then the makespan of random
layered DAGs with skewed durations, on a virtual clock: the runner's own ready queue, against the critical path (no
schedule can be shorter, nor shorter than all work divided by the threads) and against running level by level.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
import time
from collections.abc import Mapping

import networkx as nx

from merge_runner.graph.graph import Dag, DataTestNode, Graph, ModelNode, Node
from merge_runner.graph.order import contracted, levels, parents_with_tests, priorities
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.data_test import DataTestConfig
from merge_runner.run.scheduling.ready_queue import ReadyQueue
from merge_runner.run.scheduling.scheduler import Job, run_jobs
from merge_runner.text import Place


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=20)
    arguments = parser.parse_args()
    tell_cost(arguments.nodes, arguments.rounds)
    tell_order(arguments.graphs)


def tell_cost(nodes: int, rounds: int) -> None:
    graph = layered(nodes, width=max(1, nodes // 50), seed=1, tests=True)
    seconds: dict[str, list[float]] = {}
    for _ in range(rounds):
        for step, spent in cost(graph).items():
            seconds.setdefault(step, []).append(spent)
    print(f"{len(graph.nodes):,} nodes that do nothing, {sum(1 for _ in graph.dag.edges):,} edges, 8 threads:\n")
    print("| step | processor time, median | smallest |\n|---|---|---|")
    for step, values in seconds.items():
        print(f"| {step} | {statistics.median(values):.2f} s | {min(values):.2f} s |")


def cost(graph: Graph) -> dict[str, float]:
    """Processor seconds of this process for each step of scheduling all nodes of a graph."""
    durations = dict.fromkeys(graph.nodes, 1.0)
    marks = [time.process_time()]
    dag = contracted(graph, graph.nodes)
    marks.append(time.process_time())
    order = priorities(dag, durations, {node: number % 3 for number, node in enumerate(graph.nodes)})
    marks.append(time.process_time())
    parents = parents_with_tests(graph.nodes, dag)
    marks.append(time.process_time())
    done: list[str] = []

    def work(node: str) -> bool:
        done.append(node)
        return True

    run_jobs(Job(parents, work, lambda *_: None, order), threads=8)
    marks.append(time.process_time())
    assert len(done) == len(graph.nodes)
    names = ("DAG of the selection", "priorities", "waiting for tests", "ready queue and threads")
    steps = {name: end - start for name, start, end in zip(names, marks, marks[1:], strict=False)}
    return {**steps, "all": marks[-1] - marks[0]}


def tell_order(graphs: int) -> None:
    print(
        "\nMakespan as a multiple of the lower bound (critical path, or all work by the threads, whichever is longer):\n"
    )
    print("| threads | ready queue: median | worst | by levels: median | worst | ready queue to levels: median |")
    print("|---|---|---|---|---|---|")
    for threads in (2, 4, 8, 16):
        ready, by_level = [], []
        for seed in range(graphs):
            graph = layered(300, width=15, seed=seed)
            chance = random.Random(seed)
            # Most models are short and a few are very long.
            durations = {node: chance.lognormvariate(1.0, 1.2) for node in graph.nodes}
            dag = contracted(graph, graph.nodes)
            bound = lower_bound(dag, durations, threads)
            ready.append(ready_queue(dag, durations, threads) / bound)
            by_level.append(level_by_level(graph, durations, threads) / bound)
        ratio = statistics.median(one / other for one, other in zip(ready, by_level, strict=True))
        print(
            f"| {threads} | {statistics.median(ready):.2f} | {max(ready):.2f} | {statistics.median(by_level):.2f} "
            f"| {max(by_level):.2f} | {ratio:.2f} |"
        )


def ready_queue(dag: nx.DiGraph[str], durations: Mapping[str, float], threads: int) -> float:
    """When the last node ends, as the runner's own queue starts them; durations are those of the run before."""
    queue = ReadyQueue({node: set(dag.pred[node]) for node in dag}, priorities(dag, durations, {}), {})
    clock, running = 0.0, []
    while True:
        while len(running) < threads and (node := queue.start()) is not None:
            heapq.heappush(running, (clock + durations[node], node))
        if not running:
            assert not queue.open
            return clock
        clock, node = heapq.heappop(running)
        queue.finish(node, True)


def level_by_level(graph: Graph, durations: Mapping[str, float], threads: int) -> float:
    """When the last node ends if no level begins before the one above has ended; within it, longest first."""
    clock = 0.0
    for level in levels(graph):
        free = [clock] * threads
        for node in sorted(level, key=lambda node: -durations[node]):
            heapq.heappush(free, heapq.heappop(free) + durations[node])
        clock = max(free)
    return clock


def lower_bound(dag: nx.DiGraph[str], durations: Mapping[str, float], threads: int) -> float:
    """No schedule ends before this."""
    ends: dict[str, float] = {}
    for node in nx.topological_sort(dag):
        ends[node] = durations[node] + max((ends[parent] for parent in dag.pred[node]), default=0.0)
    return max(*ends.values(), sum(durations.values()) / threads)


def layered(count: int, width: int, seed: int, tests: bool = False) -> Graph:
    """A DAG of layers; a node has one to three parents, most of them in the layer above. With `tests`, a third are."""
    chance = random.Random(seed)
    layers: list[list[str]] = [[]]
    nodes: dict[str, Node] = {}
    while len(nodes) < count:
        is_test = tests and len(layers) > 1 and chance.random() < 1 / 3
        kind = "test" if is_test else "model"
        name = f"n{len(nodes)}"
        unique_id = f"{kind}.shop.{name}"
        above = layers[-2] if len(layers) > 1 and chance.random() < 0.8 else layers[chance.randrange(len(layers))]
        parents = chance.sample(above, min(len(above), 1 if is_test else chance.randint(1, 3)))
        if above is layers[-1]:
            parents = []
        of = (unique_id, name, f"models/{name}.sql", ("shop", name), Place("x", 1, 1))
        after = tuple(parents)
        nodes[unique_id] = (
            DataTestNode(*of, depends_on=after, config=DataTestConfig())
            if is_test
            else ModelNode(*of, depends_on=after, config=ModelConfig())
        )
        if not is_test:
            layers[-1].append(unique_id)
            if len(layers[-1]) >= width:
                layers.append([])
    return Graph("shop", nodes, Dag(nodes))


if __name__ == "__main__":
    main()
