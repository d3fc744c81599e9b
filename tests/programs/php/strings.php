<?php
function render($user) {
    $name = $user['name'];
    $items = ['a' => 1, 'b' => [2, 3]];
    $object = (object) ['name' => 'obj', 'deep' => (object) ['name' => 'in']];
    $index = 1;
    $text = <<<TEXT
    Dear $name, {$items['a']} $items[a] {$items['b'][$index]} $object->name {$object->deep->name}
      costs \$name and {$user['name']}
    TEXT;
    $raw = <<<'RAW'
    $name stays
    RAW;
    return $text . "\n" . $raw . "\n" . "$name's \$index $index[0]" . 'no $index';
}
error_reporting(0);
echo render(['name' => 'Ann']), "\n";
