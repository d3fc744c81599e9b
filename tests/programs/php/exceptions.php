<?php
function attempt($input) {
    $log = [];
    try {
        $value = intdiv(10, $input);
        $log[] = $value;
    } catch (DivisionByZeroError | TypeError $error) {
        $log[] = get_class($error);
        $error = 'reused';
    } finally {
        $log[] = isset($error) ? $error : 'fine';
    }
    $kind = match (true) {
        $input > 5 => 'big',
        $input === 0 => 'none',
        default => 'small',
    };
    switch ($kind) {
        case 'big': $log[] = 1; break;
        default: $log[] = $kind ?? 'x';
    }
    return $log;
}
echo json_encode([attempt(0), attempt(7), attempt(2)]), "\n";
