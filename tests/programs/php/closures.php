<?php
function counter($start) {
    $count = $start;
    $step = 2;
    $next = function ($times) use (&$count, $step) {
        $result = [];
        for ($i = 0; $i < $times; $i++) {
            $count += $step;
            $result[] = $count;
        }
        return $result;
    };
    $peek = fn() => $count * $step;
    $own = function () { $count = 99; return $count; };
    return [$next(3), $peek(), $own(), $count];
}
echo json_encode(counter(5)), "\n";
