"""Coroutines that run together and share what is around them."""

import asyncio


async def work(name, delay, log):
    key = f"start {name}"
    value = delay * 2
    log.append(key)
    for step in range(delay):
        await asyncio.sleep(0)
        log.append(f"{name}{step}")
    result = value + len(name)
    return result


async def main():
    log = []
    tasks = [work(name, delay, log) for delay, name in enumerate(["a", "bb", "ccc"])]
    results = await asyncio.gather(*tasks)
    total = sum(results)
    queue = asyncio.Queue()

    async def producer():
        for number in range(3):
            item = number * total
            await queue.put(item)
        await queue.put(None)

    async def consumer():
        taken = []
        while (item := await queue.get()) is not None:
            taken.append(item)
        return taken

    _, taken = await asyncio.gather(producer(), consumer())
    return results, total, taken, log


async def limited(amount):
    lock = asyncio.Lock()
    order = []

    async def enter(number):
        async with lock:
            order.append(number)
            await asyncio.sleep(0)
            order.append(-number)

    await asyncio.gather(*(enter(number) for number in range(1, amount)))
    value = order[::-1]
    return order, value


if __name__ == "__main__":
    results, total, taken, log = asyncio.run(main())
    assert results == [1, 4, 7]
    assert taken == [0, 12, 24]
    assert log == ["start a", "start bb", "start ccc", "bb0", "ccc0", "ccc1"]
    assert asyncio.run(limited(3))[0] == [1, -1, 2, -2]
    print(total, sorted(log))
