<?php
class Point {
    public function __construct(private int $x, protected int $y = 2, public readonly array $tags = []) {
        $sum = $x + $y;
        if ($sum > 100) {
            throw new InvalidArgumentException('far');
        }
    }
    public function shift(int $by): self {
        $moved = clone $this;
        $moved->x += $by;
        return $moved;
    }
    public function show(): string {
        $x = 'x';
        return "{$this->x},{$this->y} " . $this->$x;
    }
}
echo (new Point(1))->shift(4)->show(), "\n";
