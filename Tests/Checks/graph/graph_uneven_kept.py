"""Histories of contexts that read little, which once showed a difference: `graph.py --kept` runs them, too."""

from __future__ import annotations

from graph_stage import Step

KEPT_UNEVEN: dict[str, list[Step]] = {
    "a pair that was taken out by the side that knows of it stays out where the other side has other changes": [
        ("insert", 0, 1, "Book"), ("insert", 0, 5, "Tag"), ("insert", 0, 6, "Tag"), ("link", 0, 1, "tags", 6, 0),
        ("save", 0, False), ("link", 1, 5, "books", 1, 0), ("save", 1, True), ("unlink", 0, 5, "books", 1, 0),
        ("delete", 0, 6), ("merge", 0), ("check", 0),
    ],
    "neither does a refresh bring back a pair that was added on one side and taken out on both": [
        ("insert", 0, 1, "Book"), ("insert", 0, 2, "Book"), ("insert", 0, 4, "Tag"), ("check", 0), ("save", 0, True),
        ("link", 2, 4, "books", 2, 3), ("save", 2, True), ("forget", 0, (8, 5, 2)), ("link", 0, 4, "books", 1, 3),
        ("link", 0, 4, "books", 2, 1), ("unlink", 0, 4, "books", 2, 0), ("refresh_all", 0),
    ],
    "a member that was given away here is none of whom others have given it to": [
        ("insert", 0, 1, "Book"), ("insert", 0, 2, "Book"), ("insert", 0, 4, "Note"), ("save", 0, False),
        ("point", 0, 4, "about", 2, 1), ("link", 2, 1, "notes", 4, 1), ("save", 0, True),
        ("assign", 2, 2, "notes", (), 2),
    ],
    "nor is it taken from whom it was given to when it is taken out there": [
        ("insert", 0, 1, "Person"), ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"), ("save", 0, False),
        ("link", 1, 3, "reports", 2, 1), ("save", 1, False), ("link", 0, 2, "reports", 2, 0),
        ("assign", 0, 3, "reports", (1,), 0), ("merge", 0), ("check", 0),
    ],
    "a member that others have given already is one when it is added": [
        ("insert", 0, 1, "Book"), ("insert", 0, 8, "Chapter"), ("save", 0, False), ("point", 1, 8, "book", 1, 2),
        ("save", 1, True), ("merge", 0), ("unlink", 1, 1, "chapters", 8, 2), ("save", 1, True),
        ("link", 0, 1, "chapters", 8, 3),
    ],
    "what is taken out of an order is written": [
        ("insert", 0, 1, "Node"), ("insert", 0, 5, "Node"), ("save", 0, False), ("point", 1, 5, "parent", 1, 3),
        ("save", 1, True), ("link", 0, 5, "children", 5, 1), ("assign", 0, 1, "children", (), 0), ("save", 0, True),
    ],
    "a refresh keeps the one that others have put into an order that was changed here": [
        ("insert", 0, 4, "Node"), ("insert", 0, 5, "Node"), ("save", 0, False), ("link", 0, 4, "children", 5, 2),
        ("assign", 1, 4, "children", (5, 4), 1), ("save", 1, False), ("refresh_all", 0),
    ],
    "so does a merge after the refresh of its owner": [
        ("insert", 0, 1, "Book"), ("insert", 0, 7, "Chapter"), ("insert", 0, 8, "Chapter"), ("save", 0, False),
        ("link", 1, 1, "chapters", 7, 3), ("save", 1, False), ("point", 0, 8, "book", 1, 3), ("refresh", 0, 1),
        ("merge", 0), ("check", 0),
    ],
    "partners agree after a refresh": [
        ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"), ("insert", 0, 4, "Passport"), ("save", 0, False),
        ("point", 1, 4, "holder", 3, 2), ("save", 1, False), ("point", 0, 2, "passport", 4, 1), ("refresh_all", 0),
    ],
    "who was given another partner here keeps it when others take the one that others had given it": [
        ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"), ("insert", 0, 4, "Passport"),
        ("insert", 0, 5, "Passport"), ("save", 0, False), ("unlink", 1, 3, "friends", 3, 1),
        ("point", 0, 5, "holder", 3, 1), ("save", 0, True), ("point", 1, 4, "holder", 3, 1),
        ("point", 1, 2, "passport", 5, 2), ("merge", 1), ("save", 1, True),
    ],
    "an order that is refreshed has no member that was read before others took it out": [
        ("insert", 0, 1, "Node"), ("insert", 0, 2, "Node"), ("insert", 0, 3, "Node"), ("insert", 0, 4, "Node"),
        ("save", 0, False), ("link", 1, 2, "children", 4, 3), ("link", 1, 2, "children", 3, 2),
        ("point", 0, 3, "parent", 1, 1), ("save", 1, True), ("merge", 0), ("unlink", 1, 2, "children", 3, 0),
        ("point", 0, 3, "parent", 2, 0), ("unlink", 0, 2, "children", 4, 2), ("save", 1, True), ("refresh_all", 0),
    ],
    "a refresh leaves a partner alone who was read before": [
        ("insert", 0, 1, "Person"), ("insert", 0, 2, "Person"), ("insert", 0, 5, "Passport"), ("save", 0, True),
        ("point", 1, 5, "holder", 1, 2), ("unlink", 2, 1, "friends", 2, 3), ("save", 1, False), ("refresh", 2, 5),
        ("merge", 2), ("point", 2, 5, "holder", 1, 1),
    ],
    "what is inserted again holds nothing that the same save deletes": [
        ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 4, "Tag"), ("save", 0, False),
        ("assign", 1, 4, "books", (2, 3), 0), ("delete", 2, 3), ("save", 1, True), ("unlink", 2, 2, "tags", 4, 2),
        ("delete", 1, 4), ("save", 1, True), ("policy", 2, 2), ("save", 2, False),
    ],
    "members that were read when they were deleted are gone when that is saved": [
        ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 4, "Tag"), ("open", 0),
        ("link", 3, 3, "tags", 4, 1), ("link", 0, 2, "tags", 4, 1), ("delete", 3, 4), ("read", 3, 2, "tags"),
        ("save", 3, False), ("read", 3, 2, "tags"),
    ],
    "members are replaced as a whole though one of them is gone": [
        ("insert", 0, 3, "Book"), ("insert", 0, 4, "Tag"), ("insert", 0, 5, "Tag"), ("insert", 0, 6, "Tag"),
        ("save", 0, False), ("merge", 2), ("open", 2), ("insert", 2, 7, "Tag"), ("link", 2, 3, "tags", 5, 0),
        ("link", 2, 3, "tags", 6, 0), ("read", 5, 3, "tags"), ("delete", 2, 5), ("assign", 5, 3, "tags", (7, 4), 1),
        ("save", 5, True), ("save", 2, False),
    ],
    "a member that is gone can be taken out": [
        ("insert", 0, 3, "Book"), ("insert", 0, 5, "Person"), ("link", 0, 5, "books", 3, 1), ("save", 0, True),
        ("forget", 0, (1, 3, 2)), ("delete", 1, 3), ("save", 1, True), ("assign", 0, 5, "books", (), 3),
    ],
    "what overwrites does not refer to what the same save deletes": [
        ("insert", 0, 1, "Book"), ("insert", 0, 2, "Book"), ("insert", 0, 4, "Tag"), ("save", 0, False),
        ("link", 2, 2, "tags", 4, 2), ("delete", 2, 1), ("link", 1, 1, "tags", 4, 2), ("policy", 0, 3),
        ("save", 1, False), ("policy", 2, 3), ("refresh_all", 2), ("assign", 0, 4, "books", (), 1), ("save", 0, False),
        ("save", 2, True),
    ],
    "who held the partner of one that overwrites lets go of it, though it was read before": [
        ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"), ("insert", 0, 4, "Passport"), ("save", 0, False),
        ("link", 1, 2, "friends", 2, 3), ("save", 1, True), ("point", 0, 4, "holder", 2, 0), ("policy", 0, 3),
        ("point", 1, 4, "holder", 3, 1), ("save", 0, True), ("assign", 0, 2, "friends", (3,), 0),
        ("unlink", 0, 3, "friends", 2, 1), ("merge", 1), ("save", 1, False), ("save", 0, False), ("merge", 0),
        ("check", 0),
    ],
    "an order has back whom it lacked only while somebody else was to have it": [
        ("insert", 0, 1, "Book"), ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 6, "Chapter"),
        ("insert", 0, 7, "Chapter"), ("insert", 0, 8, "Chapter"), ("save", 0, False),
        ("assign", 1, 1, "chapters", (8,), 3), ("assign", 0, 2, "chapters", (8, 7, 6), 2), ("save", 0, True),
        ("link", 1, 2, "chapters", 6, 3), ("unlink", 1, 1, "chapters", 8, 2), ("link", 1, 3, "chapters", 6, 1),
        ("merge", 1), ("check", 1),
    ],
    "an order of members that were read after the object is no conflict": [
        ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 4, "Chapter"), ("insert", 0, 5, "Chapter"),
        ("insert", 0, 6, "Chapter"), ("insert", 0, 7, "Chapter"), ("save", 0, False),
        ("assign", 1, 3, "chapters", (6, 7, 5), 0), ("link", 0, 2, "chapters", 4, 1), ("point", 1, 6, "book", 2, 1),
        ("save", 1, True), ("point", 1, 7, "book", None, 3), ("save", 0, True), ("link", 1, 3, "chapters", 6, 0),
        ("save", 1, False), ("rollback", 0), ("assign", 0, 3, "chapters", (6, 5), 0), ("merge", 0), ("save", 0, False),
    ],
    "one that others have made a member stays one only as long as they say so": [
        ("insert", 0, 1, "Book"), ("insert", 0, 2, "Book"), ("insert", 0, 4, "Chapter"), ("insert", 0, 5, "Chapter"),
        ("insert", 0, 6, "Chapter"), ("save", 0, False), ("link", 0, 2, "chapters", 4, 1),
        ("assign", 1, 2, "chapters", (5, 6), 3), ("save", 0, True), ("link", 1, 2, "chapters", 4, 0),
        ("forget", 1, (4, 8, 2)), ("unlink", 0, 2, "chapters", 4, 2), ("save", 0, True), ("merge", 1),
        ("point", 1, 4, "book", 1, 3), ("read", 1, 2, "chapters"),
    ],
    "a partner that others have given it lets go of what is given away here": [
        ("insert", 0, 1, "Person"), ("insert", 0, 3, "Person"), ("insert", 0, 4, "Passport"), ("save", 0, False),
        ("point", 1, 3, "passport", 4, 1), ("read", 2, 3, "friends"), ("save", 1, True),
        ("point", 2, 4, "holder", 1, 3), ("unlink", 2, 3, "friends", 1, 0), ("save", 2, False), ("merge", 2),
        ("check", 2),
    ],
    "what is deleted here shows nothing that was done to it": [
        ("insert", 0, 3, "Person"), ("insert", 0, 4, "Passport"), ("insert", 0, 6, "Passport"), ("save", 0, False),
        ("merge", 1), ("point", 1, 3, "passport", 6, 3), ("save", 1, False), ("merge", 0), ("delete", 1, 3),
        ("point", 0, 4, "holder", 3, 1), ("save", 0, True), ("refresh_all", 1), ("merge", 1),
    ],
    "a child refuses to save a band without players that its parent has rolled back": [
        ("insert", 0, 1, "Band"), ("insert", 0, 6, "Person"), ("open", 0), ("link", 0, 1, "players", 6, 1),
        ("unlink", 3, 1, "players", 6, 1), ("rollback", 0), ("save", 3, True),
    ],
    "what a parent shows as well is no change of a child, though the file lost it": [
        ("insert", 0, 1, "Person"), ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"), ("save", 0, False),
        ("open", 0), ("refresh", 3, 2), ("assign", 1, 1, "reports", (2, 3), 0), ("assign", 0, 1, "friends", (2, 3), 2),
        ("merge", 1), ("check", 1), ("policy", 1, 3), ("save", 0, True), ("assign", 3, 2, "friends", (1, 3), 1),
        ("save", 1, False), ("merge", 3), ("merge", 0), ("save", 3, False), ("save", 0, True),
    ],
    "a child shows what was open in its parent until that is merged": [
        ("insert", 0, 1, "Book"), ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 4, "Tag"),
        ("insert", 0, 5, "Tag"), ("insert", 0, 6, "Tag"), ("link", 0, 4, "books", 1, 1), ("save", 0, True),
        ("link", 1, 4, "books", 3, 0), ("open", 1), ("assign", 1, 1, "tags", (), 0), ("link", 4, 4, "books", 1, 0),
        ("save", 1, True), ("merge", 4), ("link", 4, 4, "books", 2, 1), ("save", 4, True), ("save", 4, False),
        ("assign", 1, 1, "tags", (6, 5), 3), ("read", 4, 4, "books"),
    ],
    "who held a member when it was read shows it until the merge, though it was given away and saved": [
        ("insert", 0, 1, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 4, "Note"), ("insert", 0, 5, "Note"),
        ("insert", 0, 6, "Note"), ("save", 0, False), ("link", 1, 1, "notes", 4, 1), ("point", 1, 5, "about", 1, 1),
        ("open", 1), ("read", 4, 1, "notes"), ("assign", 1, 1, "notes", (), 2), ("link", 4, 1, "notes", 6, 0),
        ("point", 4, 4, "about", 3, 1), ("save", 4, True), ("read", 4, 1, "notes"),
    ],
    "in a context on the store no object holds a member that was given away and saved there": [
        ("insert", 0, 1, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 4, "Note"), ("link", 0, 1, "notes", 4, 1),
        ("save", 0, False), ("merge", 1), ("read", 1, 1, "notes"), ("forget", 1, (4, 3)),
        ("assign", 0, 1, "notes", (), 2), ("save", 0, True), ("point", 1, 4, "about", 3, 1), ("save", 1, False),
        ("read", 1, 1, "notes"), ("merge", 1), ("read", 1, 1, "notes"),
    ],
    "what was deleted here and saved is no member of whom others have taken it from": [
        ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 4, "Chapter"), ("insert", 0, 5, "Chapter"),
        ("insert", 0, 6, "Chapter"), ("insert", 0, 7, "Chapter"), ("open", 0), ("point", 0, 5, "book", 2, 1),
        ("link", 0, 2, "chapters", 4, 2), ("assign", 3, 3, "chapters", (6, 4), 2),
        ("assign", 0, 3, "chapters", (4, 7, 5), 0), ("read", 3, 2, "chapters"), ("delete", 3, 5), ("save", 3, False),
        ("assign", 3, 2, "chapters", (7,), 3),
    ],
    "neither is it in a context on the store": [
        ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 5, "Chapter"),
        ("link", 0, 2, "chapters", 5, 1), ("save", 0, False), ("merge", 1), ("read", 1, 2, "chapters"),
        ("point", 0, 5, "book", 3, 3), ("save", 0, True), ("forget", 1, (5, 3)), ("delete", 1, 5), ("save", 1, False),
        ("read", 1, 2, "chapters"),
    ],
    "what a child gives a partner takes that from whom its parent has given it to": [
        ("insert", 0, 1, "Person"), ("insert", 0, 4, "Passport"), ("insert", 0, 6, "Passport"), ("save", 0, False),
        ("merge", 1), ("open", 1), ("point", 4, 1, "passport", 4, 3), ("point", 1, 6, "holder", 1, 3), ("merge", 4),
        ("save", 4, False), ("check", 1),
    ],
    "a partner takes back what others have taken from it since it was read": [
        ("insert", 0, 1, "Person"), ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"),
        ("insert", 0, 5, "Passport"), ("save", 0, False), ("point", 1, 3, "passport", 5, 2),
        ("link", 0, 2, "friends", 3, 2), ("save", 1, False), ("save", 0, True), ("link", 1, 1, "reports", 3, 3),
        ("rollback", 0), ("save", 1, True), ("forget", 1, (5, 3)), ("link", 1, 1, "reports", 3, 3),
        ("point", 0, 3, "passport", None, 2), ("save", 0, True), ("point", 1, 5, "holder", 3, 3), ("save", 1, True),
        ("refresh_all", 0),
    ],
    "members are those that were set, though others have taken one out and added one": [
        ("insert", 0, 3, "Book"), ("insert", 0, 5, "Note"), ("insert", 1, 7, "Note"), ("save", 0, True),
        ("link", 1, 3, "notes", 5, 3), ("save", 1, False), ("unlink", 1, 3, "notes", 5, 0), ("forget", 0, ()),
        ("insert", 1, 8, "Note"), ("link", 1, 3, "notes", 8, 1), ("link", 0, 3, "notes", 7, 2), ("save", 1, False),
        ("assign", 0, 3, "notes", (), 3),
    ],
    "one that is given back where it was read is no change of the members": [
        ("insert", 0, 1, "Book"), ("insert", 0, 2, "Book"), ("insert", 0, 3, "Book"), ("insert", 0, 5, "Chapter"),
        ("insert", 0, 6, "Chapter"), ("insert", 0, 7, "Chapter"), ("link", 0, 2, "chapters", 5, 1), ("save", 0, True),
        ("link", 1, 2, "chapters", 6, 1), ("link", 0, 2, "chapters", 7, 2), ("rollback", 0),
        ("point", 1, 5, "book", 1, 3), ("save", 1, False), ("link", 0, 3, "chapters", 5, 1),
        ("link", 0, 2, "chapters", 5, 3), ("refresh_all", 0),
    ],
    "an object that a policy has had return is there though a rule refuses the save": [
        ("insert", 0, 1, "Band"), ("insert", 0, 2, "Band"), ("insert", 0, 3, "Band"), ("insert", 0, 4, "Person"),
        ("insert", 0, 5, "Person"), ("insert", 0, 6, "Person"), ("policy", 1, 2), ("assign", 0, 6, "bands", (3, 1), 2),
        ("link", 0, 2, "players", 6, 0), ("point", 0, 4, "manager", 6, 1), ("insert", 0, 7, "Person"),
        ("link", 0, 1, "players", 5, 1), ("save", 0, True), ("delete", 0, 4), ("assign", 0, 7, "bands", (1, 2), 1),
        ("link", 1, 1, "players", 4, 1), ("save", 0, False), ("save", 1, False), ("merge", 1), ("check", 1),
    ],
    "who has lost a partner here to what is pending gets none that others give it": [
        ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"), ("insert", 0, 4, "Passport"),
        ("insert", 0, 6, "Passport"), ("save", 0, False), ("point", 0, 6, "holder", 2, 0),
        ("point", 1, 2, "passport", 4, 3), ("save", 0, False), ("point", 0, 6, "holder", 3, 1), ("merge", 1),
        ("save", 0, False), ("merge", 1), ("save", 1, True),
    ],
    "a partner that is read again has no change that others have saved as well": [
        ("insert", 0, 2, "Person"), ("insert", 0, 3, "Person"), ("insert", 0, 4, "Passport"), ("save", 0, False),
        ("point", 1, 2, "manager", 2, 3), ("link", 0, 2, "reports", 2, 3), ("point", 1, 2, "passport", 4, 0),
        ("save", 1, False), ("link", 1, 3, "reports", 2, 3), ("refresh", 0, 4), ("point", 0, 3, "passport", 4, 1),
        ("save", 1, True), ("merge", 0), ("save", 0, True),
    ],
}
