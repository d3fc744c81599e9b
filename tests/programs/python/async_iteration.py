"""async for, async with, async comprehensions and async generators."""

import asyncio
from contextlib import asynccontextmanager


class Ticker:
    def __init__(self, limit):
        self.limit = limit

    def __aiter__(self):
        self.count = 0
        return self

    async def __anext__(self):
        key = self.count
        value = key * 3
        if key >= self.limit:
            raise StopAsyncIteration
        self.count = following = key + 1
        await asyncio.sleep(0)
        return value + following


@asynccontextmanager
async def session(name, log):
    key = f"<{name}"
    closing = f"{name}>"
    log.append(key)
    try:
        yield key, closing
    finally:
        log.append(closing)


async def pairs(source):
    previous = None
    count = 0
    async for item in source:
        if previous is not None:
            pair = (previous, item)
            count += 1
            yield pair
        previous = item


async def main():
    log = []
    total = 0
    async with session("a", log) as (key, value):
        async for number in Ticker(3):
            total += number
        else:
            log.append("done")
    squares = [number * number async for number in Ticker(3) if number]
    joined = [pair async for pair in pairs(Ticker(4))]
    mapped = {number: total async for number in Ticker(2)}
    for index in range(len(joined)):
        log.append(index)
    return total, squares, joined, mapped, log, key, value


if __name__ == "__main__":
    outcome = asyncio.run(main())
    assert outcome == (15, [1, 25, 81], [(1, 5), (5, 9), (9, 13)], {1: 15, 5: 15},
                       ["<a", "done", "a>", 0, 1, 2], "<a", "a>")
    print(*outcome)
