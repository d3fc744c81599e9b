"""Public tables of Ruby: names that the marks with a key draw.

Both are part of the scheme: whoever changes one gives it a new version, because marks that were
made with the old one must stay readable.
"""

from puzzlemark.languages.base import name_sets

# Sets of local names that people use alike, whatever the type; see docs/watermarks/synonyms.md.
SYNONYMS = name_sets("""
result res ret | idx index | val value v | key k | item elem element | e ex exc exception
msg message | req request | resp response | config cfg conf configuration | ctx context
count cnt | filename file_name fname | filepath file_path | tmp temp | current cur curr
prev previous | arr ary array | cmd command | pos position | loc location | addr address
doc document | img image | src source | dest dst destination | attr attribute | attrs attributes
param parameter | params parameters | prop property | props properties | opts options
opt option | conn connection | dir directory folder | desc description | values vals
ts timestamp | meta metadata | orig original | col column | cols columns | buf buffer
len length | obj object | expr expression | stmt statement | ref reference | ext extension
cb callback | re regex regexp | num number | env environment | lang language | pkg package
repo repository | db database | err error | errs errors | args arguments | arg argument
tok token | sig signature | klass cls clazz | assoc association | cert certificate
crit criteria | dep dependency | deps dependencies | var variable | retval return_value
new_val new_value | old_val old_value | tmpdir tmp_dir temp_dir | sym symbol | rel relation
app application | op operation
""")
SYNONYMS_VERSION = 1

# The two hundred local names of one word that most projects of csn_ruby declare
# (`benchmarks/name_pools.py csn_ruby.jsonl.gz --sampled 1 --ties functions`).
POOL = tuple(
    (
        "action adapter aliases app arg args attribute attributes attrs base block body builder "
        "callback candidates cert child children client cmd code collection column command "
        "condition config conn connection container content context count counter current data "
        "database date defaults dependency description dest destination details device "
        "direction dirs doc docs element entry env err exc existing expression ext extension "
        "field fields file filename filepath files flags force found group handler header "
        "headers host ids indent index info inner instance interval item job json key keys kind "
        "klass label length level limit line lines locale log logger mapping matcher message "
        "metadata mod mode model msg names node nodes now obj offset operation operator opt "
        "option options opts order other out output owner pairs param parameters params parsed "
        "parser part parts password path paths pattern payload port pos prefix previous query "
        "queue reader reason regex relation remote replacement req request res resource "
        "response result results ret retries root row scope secret selector serializer server "
        "service session setting settings size source spec stack start state stats stdin store "
        "strategy subclass subject success table tag targets template text time timeout "
        "timestamp title token topic total tries types uri url user val value values version "
        "warnings width "
    ).split()
)
POOL_VERSION = 1
