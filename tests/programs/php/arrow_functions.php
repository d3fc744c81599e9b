<?php
function nested($base) {
    $factor = 3;
    $add = fn($x) => fn($y) => $x + $y * $factor + $base;
    $local = fn() => [$factor, $factor = 7, $factor];
    $values = array_map(fn($value) => $value * $factor, [1, 2]);
    return [$add(1)(2), $local(), $factor, $values];
}
echo json_encode(nested(10)), "\n";
