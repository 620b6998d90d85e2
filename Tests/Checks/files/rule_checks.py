"""The checker of edits is tried: it finds nothing in right edits, and each rule that an edit breaks."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from typing import Optional

import model_cache
import store_file
from description import Model
from plain_edits import PlainEditor, random_edits
from tally import Tally
from writer_rules import check

# What breaks a rule, and words of what is to be found. All are edits of the stores that are made here.
BROKEN = [
    ("UPDATE ZTHING SET ZSMALL = 12345 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZTHING)", "with the version"),
    ("UPDATE ZTHING SET Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZTHING)", "without a change"),
    ("UPDATE ZTHING SET Z_OPT = Z_OPT + 2, ZSMALL = 12345 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZTHING)", "has 3"),
    ("UPDATE ZTHING SET Z_ENT = 8, Z_OPT = Z_OPT + 1 WHERE Z_ENT = 6", "was of entity"),
    ("UPDATE ZTHING SET ZOWNER = 9999, Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZTHING)", "is not there"),
    ("UPDATE ZPERSON SET Z5_FAVOURITE = 5, Z_OPT = Z_OPT + 1 WHERE ZFAVOURITE NOT NULL", "as entity 5"),
    ("UPDATE ZPERSON SET ZFAVOURITE = NULL, Z_OPT = Z_OPT + 1 WHERE ZFAVOURITE NOT NULL", "holds nothing of entity"),
    ("UPDATE ZPERSON SET ZSPOUSE = NULL, Z_OPT = Z_OPT + 1 WHERE Z_PK = "
     "(SELECT MIN(Z_PK) FROM ZPERSON WHERE ZSPOUSE NOT NULL)", "does not hold"),
    ("UPDATE ZTHING SET Z_FOK_SHELF = NULL, Z_OPT = Z_OPT + 1 WHERE ZSHELF NOT NULL", "at the place None"),
    ("UPDATE ZTHING SET Z_FOK_SHELF = 7, Z_OPT = Z_OPT + 1 WHERE ZSHELF NOT NULL", "two members at one place"),
    ("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX - 1 WHERE Z_NAME = 'Thing'", "Z_MAX of Thing"),
    ("UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'", "Z_MAX of Book"),
    ("UPDATE Z_METADATA SET Z_PLIST = CAST(Z_PLIST || x'00' AS BLOB)", "Z_METADATA has"),
    ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'", "Z_MODELCACHE has"),
    ("DROP TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_DELETE", "the trigger"),
    ("CREATE INDEX OURS ON ZTHING (ZNAME)", "the index"),
    ("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT MAX(Z_PK) + 1, 4, 1 FROM ZTAG", "after the last one"),
    ("INSERT INTO ZTAG (Z_PK, Z_ENT) SELECT MAX(Z_PK) + 1, 4 FROM ZTAG", "with the version None"),
    ("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (-5, 4, 1)", "handed out before"),
    ("DELETE FROM ZTAG WHERE Z_PK IN (SELECT Z_4TAGS FROM Z_5TAGS)", "is not there"),
    ("DELETE FROM Z_RT_Person_place", "Z_RT_Person_place"),
    ("UPDATE ZTHING SET ZPAGESCOUNT = 77 WHERE Z_ENT = 6", "is right"),
    ("UPDATE ZTHING SET ZLENT = 3, Z_OPT = Z_OPT + 1", "no value of type"),
    ("UPDATE ZTHING SET ZCOVER = x'02' || CAST('00000000-0000-0000-0000-000000000000' AS BLOB) || x'00', "
     "Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZTHING)", "no value of type"),
    ("UPDATE ZTHING SET ZCOVER = CAST(x'0230303030303030302D303030302D303030302D303030302D30303030303030303030303000' "
     "AS BLOB), Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZTHING)", "names a file"),
    ("UPDATE ZTHING SET ZCOVER = NULL, Z_OPT = Z_OPT + 1 WHERE LENGTH(ZCOVER) = 38", "no row names the file"),
]


def read_model(path: str) -> Optional[Model]:
    with store_file.opened(path) as connection:
        return model_cache.read_store(connection)


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    for number, path in enumerate(stores):
        model = read_model(path)
        if model is not None:
            check_right_edits(tally, path, model, random.Random(f"{seed}/{number}"), folder)
    made = [each for each in stores if os.path.basename(each) == "Everything_2.sqlite"]
    for path in made:
        check_broken(tally, path, folder)


def check_right_edits(tally: Tally, path: str, model: Model, dice: random.Random, folder: str) -> None:
    """Edits by the rules, in two saves, and then the deletion of an object. Its external files stay."""
    place = tempfile.mkdtemp(dir=folder)
    target = store_file.copy_store(path, place)
    os.chmod(target, 0o644)
    for _ in range(2):
        editor = PlainEditor(target, model)
        tally.count("edited rows", random_edits(editor, dice, 15))
        editor.commit()
    report(tally, path, check(path, target, model, 2))
    before = store_file.copy_store(target, tempfile.mkdtemp(dir=place))
    editor = PlainEditor(target, model)
    objects = list(editor.reading.objects.values())
    if objects:
        editor.delete(dice.choice(objects))
        tally.count("deleted rows")
    editor.commit()
    report(tally, path, [
        each for each in check(before, target, model, 1) if "no row names the file" not in each])
    shutil.rmtree(place)


def report(tally: Tally, path: str, problems: list[str]) -> None:
    for each in problems:
        tally.differ(os.path.basename(path), f"in a right edit: {each}")


def check_broken(tally: Tally, path: str, folder: str) -> None:
    model = read_model(path)
    assert model is not None
    for statement, words in BROKEN:
        place = tempfile.mkdtemp(dir=folder)
        target = store_file.copy_store(path, place)
        connection = store_file.connect(target)
        connection.execute(statement)
        connection.close()
        found = check(path, target, model, 1)
        tally.count("broken rules")
        tally.expect("broken", f"{statement}: {words} is not among {found[:3]}", any(words in each for each in found))
        shutil.rmtree(place)
