<?php
function area(int $width, int $height = 2) {
    $result = $width * $height;
    return $result;
}
function both() {
    $width = 3;
    $height = 4;
    $named = ['height' => 5, 'width' => 6];
    return [area(height: $height, width: $width), area(...$named), call_user_func('area', height: 7, width: 1)];
}
echo json_encode(both()), "\n";
