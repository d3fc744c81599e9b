"""Public tables of JavaScript and TypeScript: names that the marks with a key draw.

Both are part of the scheme: whoever changes one gives it a new version, because marks that were
made with the old one must stay readable.
"""

from puzzlemark.languages.base import name_sets

# Sets of local names that people use alike, whatever the type; see docs/watermarks/synonyms.md.
SYNONYMS = name_sets("""
result res ret | i idx index | val value v | key k | element elem el | elements elems els
err error e ex | msg message | str string | req request | resp response | cfg config conf
ctx context | count cnt | fileName filename fname | filePath filepath | tmp temp
current cur curr | prev previous | arr array | cmd command | pos position | addr address
img image | src source | dest dst destination | attr attribute | attrs attributes
param parameter | params parameters | prop property | props properties | opts options
conn connection | dir directory folder | desc description | values vals | ts timestamp
orig original | col column | cols columns | buf buffer | len length | obj object
expr expression | stmt statement | ref reference | ext extension | cb callback | re regex regexp
num number | coord coordinate | coords coordinates | ver version | env environment | lang language
rect rectangle | geom geometry | proj projection | decl declaration | def definition
op operation | pref preference | prefs preferences | newVal newValue | oldVal oldValue
minVal minValue | maxVal maxValue
""")
SYNONYMS_VERSION = 1

# The two hundred local names of one word that most projects of csn_javascript declare
# (`benchmarks/name_pools.py csn_javascript.jsonl.gz --sampled 1 --ties functions`).
POOL = tuple(
    (
        "added alpha arg args arr array ast base basename body buffer builder cache callback "
        "canvas center change changed charset child children client cmd code col color column "
        "command comment condition config context coordinates coords count ctx current cursor "
        "cwd data date day delta depth description descriptor doc domain done elem element "
        "enabled encoding end ends entries entry err errors events evt existing expression ext "
        "extension extra factory features field file filename files first flags formatter found "
        "group handler height href identifier idx image index info interval item items json key "
        "keys label language last layer layers left length line lines loc locale markers "
        "matches member members message messages metadata method mode model month msg mtime "
        "names node nodes now num obj objects offset operation operator options opts origin "
        "other output padding pair param params parser parts path pattern point pos position "
        "precision prefix prev prop properties props query regex reject req request res resolve "
        "response result results right root row rule rules scale schema scope second segment "
        "segments selector settings silent size source src stack start stat state stats step "
        "strict style suffix tag template text time tmp token uid unit update url val value "
        "values variables version view width "
    ).split()
)
POOL_VERSION = 1
