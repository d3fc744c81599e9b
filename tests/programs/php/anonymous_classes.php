<?php
function build($seed) {
    $value = $seed * 2;
    $object = new class($value) {
        public $value;
        private static $seed = 100;
        public function __construct($start) {
            $value = $start + 1;
            $this->value = $value + self::$seed;
        }
        public function twice() {
            $seed = $this->value;
            return $seed * 2;
        }
    };
    return [$value, $object->value, $object->twice()];
}
function outer() {
    $inner = 1;
    function inner_function($inner) { $outer = $inner + 1; return $outer; }
    return inner_function($inner + 5);
}
echo json_encode([build(3), outer()]), "\n";
