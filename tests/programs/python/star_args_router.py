"""A router that passes positional and keyword arguments on."""


class Router:
    def __init__(self):
        self.routes = {}
        self.calls = []

    def route(self, path, **defaults):
        def register(handler):
            key = path.strip("/")
            value = (handler, defaults)
            self.routes[key] = value
            return handler

        return register

    def dispatch(self, path, *args, **kwargs):
        key = path.strip("/")
        handler, defaults = self.routes[key]
        options = {**defaults, **kwargs}
        result = handler(*args, **options)
        self.calls.append((key, len(args), sorted(options)))
        return result


router = Router()


@router.route("/add", scale=2)
def add(first, second, *, scale):
    total = first + second
    scaled = total * scale
    text = f"{total} {scaled}"
    return text


@router.route("/join/", sep=",")
def join(*words, sep, **rest):
    ordered = sorted(words)
    names = list(rest)
    joined = sep.join(ordered + names)
    return joined


def positional_only(key, value, /, *others, key_word=1, **more):
    size = len(others)
    label = f"{key}{value}"
    result = (label, size, key_word, more)
    return result


if __name__ == "__main__":
    assert router.dispatch("add", 1, 2) == "3 6"
    assert router.dispatch("/add/", 1, second=5, scale=1) == "6 6"
    assert router.dispatch("join", "b", "a", c=1, sep="+") == "a+b+c"
    assert positional_only("k", 1, 2, 3, key=4, value=5) == ("k1", 2, 1, {"key": 4, "value": 5})
    print(router.calls)
