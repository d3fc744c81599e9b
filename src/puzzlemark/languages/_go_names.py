"""Public tables of Go: names that the marks with a key draw.

Both are part of the scheme: whoever changes one gives it a new version, because marks that were
made with the old one must stay readable.
"""

from puzzlemark.languages.base import name_sets

# Sets of local names that people use alike, whatever the type; see docs/watermarks/synonyms.md.
SYNONYMS = name_sets("""
result res ret | i idx index | v val value | k key | item elem element | count cnt | num number
resp response rsp | req request | msg message | cfg config conf configuration | opt option
opts options | arg argument | param parameter | params parameters | buf buffer | cmd command
ctx context | conn connection | srv server | addr address | src source | dst dest destination
dir directory folder | filename fileName fname | tmp temp | cur curr current | prev previous
pos position | loc location | desc description | attr attribute | attrs attributes | prop property
props properties | meta metadata | ts timestamp | sig signature | sess session | env environment
ext extension | ref reference | hdr header | vals values | col column | cols columns
expr expression | stmt statement | seq sequence | iter it itr iterator | tok token | found exists
tmpl template | img image | doc document | db database | repo repository | proc process
out output | in input | coord coordinate | coords coordinates | creds credentials | dur duration
orig original | arr array | cert certificate | password pw pwd passwd | tx txn transaction
dec decoder | enc encoder | ver version | obj object | ep endpoint | errs errors | tmpDir tempDir
tmpFile tempFile | newVal newValue | oldVal oldValue | minVal minValue | maxVal maxValue
""")
SYNONYMS_VERSION = 1

# The two hundred local names of one word that most projects of csn_go declare
# (`benchmarks/name_pools.py csn_go.jsonl.gz --sampled 1 --ties functions`).
POOL = tuple(
    (
        "added addr address after api app arg args arr attrs auth base batch before body buf "
        "cache call callback cancel cert cfg changed client cmd code col conf config conn "
        "container content context count ctx cur current cwd data dec dep desc dest dirs done "
        "dst dur elem empty enc encoded end entries entry env err errors errs exists exp ext "
        "extra field fields file filename files filters first flags force found got group "
        "handler hdr header headers high host ids idx index info infos interval item items key "
        "keys labels last layout length level limit line lines listener log logger message "
        "metadata method missing mode msg names node now num obj offset old opt options opts "
        "origin other out output params part parts path paths payload perm port pos prefix prev "
        "proc query reader ref remote removed repo req res resp response result results ret "
        "retry root row rows rule scanner schema scheme sec secret seen server sig sign size "
        "source span spec src srv stack start state stderr stdout stop store stream sub tag "
        "tags text timeout timestamp tmp tok total transport ttl typ unit updated uri url user "
        "val valid value values version view wrapped writer written "
    ).split()
)
POOL_VERSION = 1
