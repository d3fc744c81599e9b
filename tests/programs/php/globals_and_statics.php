<?php
$setting = 10;
$other = 20;
function bump() {
    global $setting;
    static $calls = 0;
    $calls++;
    $setting += $calls;
    $other = 1;
    return [$calls, $setting, $other, $GLOBALS['other']];
}
bump();
echo json_encode(bump()), ' ', $setting, "\n";
