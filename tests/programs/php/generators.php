<?php
function walk(array $tree, int $depth = 0) {
    foreach ($tree as $name => $children) {
        $label = str_repeat('-', $depth) . $name;
        $sent = yield $label => $depth;
        if ($sent) {
            yield "got $sent";
        }
        $count = yield from walk($children, $depth + 1);
    }
    return $depth;
}
function collect() {
    $result = [];
    foreach (walk(['a' => ['b' => []], 'c' => []]) as $label => $depth) {
        $result[] = "$label:$depth";
    }
    return $result;
}
echo implode(' ', collect()), "\n";
