<?php
ini_set('assert.exception', '1');
function checked($limit) {
    $size = $limit * 2;
    try {
        assert($size < 3);
    } catch (AssertionError $problem) {
        $message = $problem->getMessage();
        return $message;
    }
    return 'none';
}
function reflected() {
    $hidden = 1;
    $tied = 2;
    $closure = function ($given) use ($tied) { return $given + $tied; };
    $function = new ReflectionFunction($closure);
    $names = array_keys($function->getStaticVariables());
    return implode(',', $names) . $function->getParameters()[0]->getName() . $hidden;
}
echo checked(1), checked(5), reflected(), "\n";
