<?php
class Registry {
    public static $items = ['a' => 1];
    public $name = 'reg';
    private $total = 2;
    public static function add($key, $value) {
        $items = ['local'];
        self::$items[$key] = $value;
        $call = 'size';
        return [count($items), static::$call(), Registry::$items];
    }
    public static function size() { return count(self::$items); }
    public function describe() {
        $name = 'total';
        $total = 9;
        return "$this->name {$this->$name} $total {$this->total}";
    }
}
echo json_encode(Registry::add('b', 2)), "\n", (new Registry())->describe(), "\n";
