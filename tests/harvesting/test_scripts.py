"""Functions of PHP and Ruby, with their documentation and qualified names."""

import json
from pathlib import Path

import puzzlemark as pm

PHP = """\
<?php
namespace Shop;

/**
 * A cart.
 */
class Cart extends Base
{
    /** @var int */
    private $size = 0;

    /**
     * The sum of all prices.
     *
     * @param int[] $prices
     */
    #[Pure]
    public static function total(array $prices): int
    {
        return array_sum($prices);
    }

    // no documentation
    abstract function later();
}

trait Named
{
    /** Its name. */
    public function name() { return fn($x) => $x; }
}

/* nor this */
function help() { return 1; }
"""
RUBY = """\
# frozen_string_literal: true

module Shop
  # A cart.
  class Cart < Base # :nodoc:
    ##
    # The sum of all prices.
    #
    # @param prices [Array]
    def total(prices)
      prices.sum
    end

    # Opens one.
    private def self.open(name = nil)
      new(name)
    end

    # far away

    def plain; end

=begin
Sets it.
=end
    def name=(value)
      @name = value
    end
  end
end

class Shop::Desk
  # Adds.
  def +(other) = other
end

# Helps.
def help
  1
end
"""


def harvested(place: Path, file: str, text: str, language: str) -> list[tuple[str, str]]:
    (place / file).write_text(text)
    output = place / "functions.jsonl"
    pm.harvest(place / file, output, language, workers=1)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert {row["language"] for row in rows} == {language}
    return [(row["func_name"], row["docstring"]) for row in rows]


def test_functions_of_php(tmp_path: Path) -> None:
    assert harvested(tmp_path, "a.php", PHP, "php") == [
        ("Cart::total", "The sum of all prices.\n\n@param int[] $prices"),
        ("Named::name", "Its name."),
        ("help", ""),
    ]


def test_functions_of_ruby(tmp_path: Path) -> None:
    assert harvested(tmp_path, "a.rb", RUBY, "ruby") == [
        ("Shop::Cart#total", "The sum of all prices.\n\n@param prices [Array]"),
        ("Shop::Cart.open", "Opens one."),
        ("Shop::Cart#name=", "Sets it."),
        ("Shop::Desk#+", "Adds."),
        ("help", "Helps."),
    ]
