"""Public pools of local names: the two hundred that most projects of CodeSearchNet declare.

A key draws the prefixes of the watermark `prefixes` from them. `benchmarks/name_pools.py` made
them. They are part of the scheme: whoever changes one gives it a new version, because marks that
were made with the old one can only be asked about with that.
"""

PYTHON = tuple(
    (
        "acc action alpha arg args arr array attr attrs axes axis base block body buf cache "
        "callback child chunk cmd code col color colors cols column command config content "
        "context count ctx current data dataset date delta depth description dest directory "
        "dist doc dtype element encoding end entry env err error event exc expr ext extension "
        "extra field fields fig file filename filepath files first flags fmt fname force frame "
        "func function group groups handler header headers height host idx image ind index "
        "indices info item items iterable job key keys kwargs label labels last left length "
        "level limit line lines link location mask matches message metadata method mod mode "
        "model msg name names node nodes num obj offset option options order other out output "
        "overwrite param params parent parser parts path paths pattern payload port pos prefix "
        "query reader req request res response result results ret right root row rows sample "
        "samples scale section seed sep server session shape size source spec src start state "
        "status step stop stream string suffix table tag tags target task template text "
        "threshold time timeout title tmp token tokens total url user username val vals value "
        "values verbose version weight width word writer "
    ).split()
)

JAVA = tuple(
    (
        "action address alpha arg args arr array attr attributes baos base bean beta buf buffer "
        "builder cache callback candidates capacity cause channel chars child classes clazz "
        "client cmd cmp code col collection column columns command comparator component "
        "condition config content context copy count counter ctx current data dataset date "
        "delimiter delta desc description dest diff directory doc document dst duration element "
        "elements end entries entry error event existing expression factory field fields file "
        "filename files first flags found function future group handler head header height idx "
        "ignore ignored index info instance ioe item items iterator job key keys label last "
        "left length level limit line listener location mask mean message method mid mode model "
        "msg name names node nodes now num number obj off offset options order other out output "
        "param parameters params parent password path pattern point points port pos position "
        "predicate prefix prev prop properties props query reader ref request res resource "
        "response result results ret right root row rows scale seed selector size source split "
        "src start state status step stream string suffix table target task temp text threshold "
        "time timeout tmp token top total types unit update uri url val vals value values "
        "version width writer "
    ).split()
)
