<?php
function fill(array &$rows, &$last) {
    foreach ($rows as $key => &$row) {
        $row = $row * 2;
        $last = $key;
    }
    unset($row);
    $alias = &$rows[0];
    $alias = 50;
    [$first, , $third] = $rows;
    ['k' => $kept, 'l' => [$deep]] = ['k' => 'K', 'l' => ['D']];
    list($one, list(, $two)) = [1, [2, 3]];
    return [$first, $third, $kept, $deep, $one, $two];
}
function use_it() {
    $rows = [1, 2, 3];
    $result = fill($rows, $last);
    preg_match('/(\d)(\w)/', 'a1b', $matches);
    return [$rows, $result, $last, $matches];
}
echo json_encode(use_it()), "\n";
