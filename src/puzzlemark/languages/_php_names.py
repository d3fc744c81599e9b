"""Public tables of PHP: names that the marks with a key draw.

Both are part of the scheme: whoever changes one gives it a new version, because marks that were
made with the old one must stay readable.
"""

from puzzlemark.languages.base import name_sets

# Sets of local names that people use alike, whatever the type; see docs/watermarks/synonyms.md.
SYNONYMS = name_sets("""
result res ret | i idx index | val value v | key k | item elem element | e ex exception
msg message | req request | resp response | config cfg conf configuration | ctx context
count cnt | fileName filename | filePath filepath | tmp temp | current cur curr | prev previous
cmd command | pos position | loc location | addr address | doc document | img image | src source
dest dst destination | attr attribute | attrs attributes | param parameter | params parameters
prop property | props properties | opts options | conn connection | dir directory folder
desc description | values vals | ts timestamp | meta metadata | orig original | col column
cols columns | buf buffer | len length | expr expression | stmt statement | ref reference
ext extension | cb callback | re regex regexp | num number | env environment | lang language
pkg package | repo repository | db database | err error | errs errors | args arguments
proc process | tok token | sig signature | retVal returnValue | newVal newValue
oldVal oldValue | tmpDir tempDir | tmpFile tempFile | qb queryBuilder | em entityManager
tpl template | rel relation | perm permission | perms permissions
""")
SYNONYMS_VERSION = 1

# The two hundred local names of one word that most projects of csn_php declare
# (`benchmarks/name_pools.py csn_php.jsonl.gz --sampled 1 --ties functions`).
POOL = tuple(
    (
        "action active after allowed arg args argument attribute attributes base before body "
        "buffer builder cache callback code collection column columns command commands "
        "component config connection constraints content contents context controller cookie "
        "cookies count current data date defaults depth description details diff direction "
        "directory domain driver element env errors exception expire expression ext extension "
        "extra field fields file filename files first flags force formatter frame group handle "
        "handler header headers host html identifier ids index indexes info instance item items "
        "iterator json key keys label last length level limit line lines loader locale logger "
        "matches message messages metadata mime mode model msg names node obj offset operation "
        "operator option options original out output overwrite owner parameters params parsed "
        "parser part parts password path paths pattern port pos position precision prefix "
        "previous priority provider query raw reason reflection regex relation replace "
        "repository request res resource response result results root route row rows rule rules "
        "schema scheme scope search segment separator service session settings size source sql "
        "start state stream strict style suffix table tables tag tags template text time "
        "timestamp timezone title token tokens total trace ttl types update uri url user "
        "username val validator value values version view where width words "
    ).split()
)
POOL_VERSION = 1
