<?php
function pack_up($width) {
    $height = 4;
    $names = ['he' . 'ight', 'width'];
    return compact($names);
}
function unpack_it($row) {
    $title = 'none';
    extract($row);
    return $title . '/' . ($rank ?? '-');
}
function listed() {
    $first = 1;
    $second = $first + 1;
    return implode(',', array_keys(get_defined_vars()));
}
function parsed($query) {
    $page = 1;
    parse_str($query, $values);
    return [$page, $values['page']];
}
echo json_encode([pack_up(3), unpack_it(['title' => 'T', 'rank' => 2]), listed(), parsed('page=7')]), "\n";
