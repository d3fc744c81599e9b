"""Shortest paths and orderings in a small graph."""

import heapq


def dijkstra(graph, start):
    distance = {start: 0}
    previous = {}
    heap = [(0, start)]
    while heap:
        cost, node = heapq.heappop(heap)
        if cost > distance[node]:
            continue
        for neighbour, weight in sorted(graph[node].items()):
            value = cost + weight
            if value < distance.get(neighbour, value + 1):
                distance[neighbour] = value
                previous[neighbour] = node
                heapq.heappush(heap, (value, neighbour))
    return distance, previous


def path(previous, end):
    key = [end]
    current = end
    while current in previous:
        current = previous[current]
        key.append(current)
    result = key[::-1]
    return result


def ordered(graph):
    waiting = {node: 0 for node in graph}
    for node in graph:
        for neighbour in graph[node]:
            waiting[neighbour] += 1
    ready = sorted(node for node, count in waiting.items() if not count)
    result = []
    while ready:
        node = ready.pop(0)
        result.append(node)
        for neighbour in sorted(graph[node]):
            waiting[neighbour] -= 1
            if waiting[neighbour] == 0:
                ready.append(neighbour)
    return result


def matrix(graph):
    names = sorted(graph)
    rows = []
    for row in range(len(names)):
        cells = []
        for column in range(len(names)):
            cells.append(graph[names[row]].get(names[column], 0))
        rows.append(cells)
    return rows


if __name__ == "__main__":
    graph = {"a": {"b": 4, "c": 1}, "b": {"d": 1}, "c": {"b": 2, "d": 5}, "d": {}}
    distance, previous = dijkstra(graph, "a")
    assert distance == {"a": 0, "c": 1, "b": 3, "d": 4}
    assert path(previous, "d") == ["a", "c", "b", "d"]
    assert ordered(graph) == ["a", "c", "b", "d"]
    assert matrix(graph)[0] == [0, 4, 1, 0]
    print(sorted(distance.items()))
