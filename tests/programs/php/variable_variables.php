<?php
function dynamic() {
    $alpha = 1;
    $name = 'alp' . 'ha';
    $$name = 5;
    ${'be' . 'ta'} = 6;
    $beta = $beta + 1;
    return [$alpha, $beta];
}
function curly() {
    $gamma = 'g';
    return "${gamma} {$gamma} $gamma";
}
error_reporting(E_ALL & ~E_DEPRECATED);
echo json_encode([dynamic(), curly()]), "\n";
