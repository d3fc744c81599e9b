<?php
function compute($left) {
    $right = 5;
    $sum = eval('return $left + ' . chr(36) . 'right;');
    return $sum;
}
function late() {
    $text = 'x';
    $size = strlen($text);
    return [$text, $size];
}
echo json_encode([compute(2), late()]), "\n";
