"""Ruby."""

from puzzlemark.languages import _ruby_names as names
from puzzlemark.languages.base import DocComment, Grammar, Language, Lexing, Measures, Tokens

# How the resolver reads a body (docs/languages/ruby.md).
# methods to which the names of variables are visible
SCOPE_READERS = frozenset(
    "binding eval local_variables local_variable_get local_variable_set local_variable_defined? "
    "set_trace_func irb pry".split()
)
# as those, where they are given a text; with a block alone they are not
TEXT_READERS = frozenset("instance_eval class_eval module_eval".split())
CONSTANT_READERS = frozenset("ERB TracePoint RubyVM TOPLEVEL_BINDING".split())
# methods of Ruby itself that call their block, and never ask for the names of its parameters
CALL_THEIR_BLOCK = frozenset(
    "each each_with_index each_with_object each_pair each_key each_value each_slice each_cons "
    "each_char each_line each_byte each_index each_entry reverse_each with_index with_object map "
    "map! flat_map collect collect! collect_concat select select! filter filter! filter_map reject "
    "reject! find detect find_all find_index index rindex inject reduce sum min max min_by max_by "
    "minmax_by sort sort! sort_by sort_by! uniq uniq! group_by partition chunk chunk_while "
    "slice_when zip take_while drop_while delete_if keep_if any? all? none? one? count times upto "
    "downto step tap then yield_self fetch to_h transform_values transform_values! transform_keys "
    "transform_keys! gsub gsub! sub sub! scan cycle merge merge! update bsearch combination "
    "permutation loop open foreach synchronize".split()
)
STRINGS = frozenset("string subshell heredoc_body".split())

PLUGIN = Language(
    name="ruby",
    title="Ruby",
    aliases=frozenset("rb jruby".split()),
    grammar=Grammar("tree_sitter_ruby"),
    example="""\
# The sum of all prices.
def total(prices, rate = 1)
  count = 0 # so far
  prices.each do |price|
    if price > 0
      count += price * rate
    end
  end
  puts("total", count)
  count
end
""",
    convention="snake",
    reserved=frozenset(
        "BEGIN END alias and begin break case class def defined do else elsif end ensure false for "
        "if in module next nil not or redo rescue retry return self super then true undef unless "
        "until when while yield it i r ri binding block_given p puts print raise loop lambda proc "
        "format sprintf require gets catch throw fail exit abort sleep rand srand test open "
        "select system exec fork trap warn send method methods initialize private public "
        "protected include extend".split()
    ),
    receivers=frozenset({"self"}),
    synonyms=names.SYNONYMS,
    synonyms_version=names.SYNONYMS_VERSION,
    pool=names.POOL,
    pool_version=names.POOL_VERSION,
    tokens=Tokens(
        comments=frozenset({"comment"}),
        strings=STRINGS,
        numbers=frozenset({"integer", "float"}),
        opaque=STRINGS | frozenset({"regex", "character"}),
    ),
    lexing=Lexing(line_comments=("#",), block_comments=(("\n=begin", "\n=end"),)),
    functions=frozenset({"method", "singleton_method"}),
    classes=frozenset({"class", "module"}),
    class_sign="::",
    function_signs={"method": "#", "singleton_method": "."},
    bearers={"call": None, "argument_list": None},  # `private def x`
    parameter_lists=frozenset({"method_parameters", "block_parameters", "lambda_parameters"}),
    last_parameters=frozenset("block_parameter hash_splat_parameter keyword_parameter".split()),
    optional=(frozenset({"optional_parameter"}), "{} = nil, "),
    blocks=frozenset("body_statement block_body then else do begin program".split()),
    clauses=frozenset({"rescue", "else", "ensure", "heredoc_body"}),
    joint="; ",
    declaration=("{}, ", "{} = nil"),
    measures=Measures(
        decisions=frozenset(
            "if elsif unless while until for when rescue && || and or ||= &&= conditional "
            "in_clause".split()
        ),
        nesting=frozenset("if unless while until for case case_match begin".split()),
        expressions=frozenset(
            "assignment operator_assignment call element_reference binary unary conditional range "
            "array hash lambda block do_block yield scope_resolution rescue_modifier string_array "
            "symbol_array match_pattern test_pattern".split()
        ),
        declares={
            "method_parameters": "all",
            "block_parameters": "all",
            "lambda_parameters": "all",
            "optional_parameter": "name",
            "keyword_parameter": "name",
            "splat_parameter": "name",
            "hash_splat_parameter": "name",
            "block_parameter": "name",
            "destructured_parameter": "all",
            "assignment": "left",
            "left_assignment_list": "all",
            "destructured_left_assignment": "all",
            "rest_assignment": "all",
            "for": "pattern",
            "exception_variable": "all",
            "as_pattern": "name",
            "array_pattern": "all",
            "find_pattern": "all",
            "keyword_pattern": "value",
            "in_clause": "pattern",
            "match_pattern": "pattern",
            "test_pattern": "pattern",
        },
        calls={"call": "method"},
        qualified={},
        names=frozenset({"identifier"}),
    ),
    binders=frozenset(
        "assignment operator_assignment method_parameters block_parameters argument_list".split()
    ),
    phrases=frozenset(
        "binary call element_reference assignment operator_assignment return array pair".split()
    ),
    extensions=(".rb", ".rake", ".gemspec"),
    skipped_folders=frozenset({"vendor"}),
    doc_comments=(DocComment("#", margin=r"#*\s?"), DocComment("=begin", "=end")),
)
