<?php
function template($title) {
    $body = 'text';
    $file = tempnam(sys_get_temp_dir(), 'pm');
    file_put_contents($file, '<?php return $title . "/" . ' . chr(36) . 'body;');
    $shown = include $file;
    unlink($file);
    return $shown;
}
function plain() {
    $title = 'a';
    $shown = strtoupper($title);
    return $shown;
}
echo template('T'), plain(), "\n";
