<?php
// Compiles 5.php, 6.php, ... of the working directory; opcache prints the opcodes of each.
for ($number = (int) $argv[1]; $number < (int) $argv[2]; $number++) {
    fwrite(STDERR, "\n" . str_repeat("@", 9) . " $number\n"); // not a text that is printed as an opcode
    try {
        @opcache_compile_file("$number.php");
    } catch (Throwable $problem) {
        // a syntax error: nothing is printed
    }
}
