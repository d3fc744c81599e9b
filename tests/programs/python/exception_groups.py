"""Several exceptions at once, caught group by group."""


def run(jobs):
    problems = []
    results = []
    for key, job in enumerate(jobs):
        try:
            value = job()
            results.append((key, value))
        except Exception as problem:
            problems.append(problem)
    kinds = []
    try:
        if problems:
            raise ExceptionGroup("jobs", problems)
    except* ValueError as group:
        texts = [str(each) for each in group.exceptions]
        kinds.append(("value", texts))
    except* (KeyError, IndexError) as group:
        names = sorted(type(each).__name__ for each in group.exceptions)
        kinds.append(("lookup", names))
    return results, kinds


def fail(kind, text):
    def job():
        raise kind(text)

    return job


if __name__ == "__main__":
    jobs = [lambda: 1, fail(ValueError, "a"), fail(KeyError, "b"), fail(IndexError, "c"), lambda: 2]
    results, kinds = run(jobs)
    assert results == [(0, 1), (4, 2)]
    assert kinds == [("value", ["a"]), ("lookup", ["IndexError", "KeyError"])]
    assert run([]) == ([], [])
    print(len(results), kinds)
