"""Histories that once showed a difference, each with what it is about: `graph.py --kept` runs them."""

from __future__ import annotations

from graph_stage import Step

KEPT: dict[str, list[Step]] = {
    "a reference that was saved by another, to what is gone by now, is no change of this context": [
        ("insert", 1, 2, "Book"), ("save", 1), ("merge", 0), ("insert", 0, 3, "Note"), ("save", 0), ("merge", 1),
        ("point", 1, 3, "about", 2), ("link", 0, 2, "notes", 3), ("save", 0), ("delete", 0, 2), ("save", 0),
        ("refresh_all", 1),
    ],
    "neither is it when the object that was to refer to it was changed besides": [
        ("insert", 0, 7, "Person"), ("insert", 0, 9, "Note"), ("save", 0), ("merge", 1), ("point", 1, 9, "about", 7),
        ("point", 0, 9, "about", 7), ("save", 0), ("delete", 0, 7), ("set", 1, 9, "text", "c"), ("save", 0),
        ("merge", 1), ("look", 1),
    ],
    "letting go of what the parent has deleted can be undone": [
        ("insert", 0, 5, "Book"), ("insert", 0, 9, "Crate"), ("link", 0, 9, "items", 5), ("save", 0),
        ("delete", 0, 9), ("child", 0, True, (("point", 5, "crate", None), ("undo",), ("redo",), ("undo",))),
        ("child", 0, True, (("point", 5, "crate", None),)), ("save", 0),
    ],
    "a member that a group added and deleted, with a save between, is none when it returns": [
        ("insert", 0, 4, "Clip"), ("insert", 0, 16, "Book"), ("save", 0), ("begin", 0), ("link", 0, 16, "clips", 4),
        ("save", 0), ("delete", 0, 4), ("end", 0), ("undo", 0), ("redo", 0), ("undo", 0), ("save", 0),
    ],
    "what a child has deleted, saved and brought back stays when it merges": [
        ("open", 0, 3), ("insert", 0, 8, "Chapter"), ("merge", 2), ("delete", 2, 8), ("save", 2), ("undo", 2),
        ("merge", 2), ("save", 2),
    ],
    "the save of a child that changes nothing in its parent leaves what can be redone there": [
        ("insert", 0, 1, "Tag"), ("open", 0, 0), ("undo", 0), ("delete", 2, 1), ("save", 2), ("redo", 0),
    ],
    "an object that parent and child have brought back is in conflict": [
        ("insert", 0, 1, "Note"), ("open", 0, 0), ("delete", 0, 1), ("delete", 2, 1), ("merge", 2), ("undo", 2),
        ("undo", 0), ("save", 2), ("rollback", 2),
    ],
    "what a parent has deleted and has again is there for its child": [
        ("insert", 0, 5, "Clip"), ("open", 0, 0), ("delete", 0, 5), ("undo", 0), ("delete", 2, 5), ("merge", 2),
    ],
    "what others change of what a parent has deleted brings nothing back to its child": [
        ("open", 0, None), ("open", 2, None), ("insert", 2, 10, "Person"), ("merge", 4), ("save", 2),
        ("link", 4, 10, "friends", 10), ("save", 0), ("refresh_all", 0), ("delete", 2, 10), ("merge", 2), ("merge", 4),
    ],
    "a member without inverse that a parent has again is one for its child again": [
        ("insert", 0, 15, "Book"), ("insert", 0, 18, "Clip"), ("link", 0, 15, "clips", 18), ("save", 0),
        ("open", 0, None), ("delete", 0, 18), ("merge", 2), ("undo", 0), ("merge", 2),
    ],
    "an object that an undo brings back is there, whoever asked for it while it was gone": [
        ("open", 0, None), ("insert", 0, 11, "Person"), ("rollback", 2), ("save", 0), ("link", 0, 11, "reports", 11),
        ("delete", 0, 11), ("save", 0), ("delete", 2, 11), ("undo", 0), ("merge", 2),
    ],
    "a transient value of what its parent has no more goes with the object": [
        ("open", 0, 0), ("insert", 0, 9, "Person"), ("merge", 2), ("rollback", 0), ("set", 2, 9, "nick", "c"),
        ("save", 2), ("merge", 2),
    ],
    "what a child has deleted, saved, brought back, saved and deleted again is still to be deleted": [
        ("open", 0, 3), ("insert", 0, 2, "Tag"), ("merge", 2), ("delete", 2, 2), ("save", 2), ("undo", 2), ("save", 2),
        ("redo", 2), ("merge", 2), ("save", 2),
    ],
    "what a child brings back after its deletion was saved to the parent belongs there to what it belonged to": [
        ("insert", 0, 12, "Book"), ("insert", 0, 13, "Crate"), ("insert", 0, 14, "Tag"), ("insert", 0, 15, "Clip"),
        ("insert", 0, 16, "Person"), ("insert", 0, 17, "Note"), ("point", 0, 12, "crate", 13),
        ("link", 0, 12, "tags", 14), ("link", 0, 12, "clips", 15), ("point", 0, 12, "author", 16),
        ("point", 0, 16, "favourite", 12), ("point", 0, 17, "about", 12), ("save", 0), ("open", 0, 0),
        ("delete", 2, 12), ("save", 2), ("undo", 2), ("save", 2), ("delete", 2, 12), ("save", 2), ("undo", 2),
        ("unlink", 2, 12, "tags", 14), ("unlink", 2, 12, "clips", 15), ("save", 2), ("save", 0), ("delete", 2, 12),
        ("save", 2), ("save", 0), ("undo", 2), ("save", 2), ("save", 0),
    ],
    "what is deleted is shown no more by one whose changes were dropped for those of another": [
        ("insert", 0, 11, "Book"), ("save", 0), ("insert", 1, 9, "Tag"), ("policy", 1, 4), ("merge", 1),
        ("link", 1, 9, "books", 11), ("save", 1), ("merge", 0), ("set", 0, 11, "label", "b"), ("save", 0),
        ("delete", 1, 9), ("save", 1),
    ],
    "what a parent deletes by its policy, though another has changed it, is gone for its child": [
        ("insert", 1, 1, "Book"), ("save", 1), ("merge", 0), ("set", 0, 1, "label", "a"), ("open", 1, 0),
        ("policy", 1, 2), ("save", 0), ("set", 3, 1, "label", "b"), ("delete", 1, 1), ("save", 1), ("merge", 3),
    ],
    "members that are as they were are nothing to undo after a refresh": [
        ("insert", 1, 5, "Node"), ("save", 1), ("link", 1, 5, "children", 5), ("merge", 0), ("save", 1),
        ("set", 0, 5, "key", 2), ("merge", 0), ("assign", 0, 5, "children", ()), ("point", 0, 5, "parent", 5),
        ("forget", 0, 4), ("refresh_all", 0), ("undo", 0),
    ],
    "an order has those that another has put into it without changing its owner": [
        ("insert", 0, 1, "Node"), ("save", 0), ("rollback", 1), ("policy", 1, 4), ("insert", 1, 11, "Node"),
        ("set", 0, 1, "key", 1), ("link", 1, 1, "children", 11), ("save", 0), ("save", 1),
        ("link", 0, 1, "children", 1), ("save", 0),
    ],
    "who has lost a member to an undo is changed, when it returns as well": [
        ("insert", 1, 3, "Person"), ("save", 1), ("insert", 0, 12, "Band"), ("merge", 0),
        ("assign", 0, 12, "players", (3,)), ("save", 0), ("undo", 0), ("delete", 0, 3), ("undo", 0),
    ],
    "a child that has brought back what its parent is to delete shows it once": [
        ("open", 1, 0), ("insert", 1, 7, "Node"), ("save", 1), ("merge", 3), ("undo", 1), ("delete", 3, 7),
        ("merge", 3), ("undo", 3), ("fetch", 3, "Node"),
    ],
    "an object that is inserted again takes its partner from whom another has given it to": [
        ("insert", 0, 1, "Person"), ("insert", 0, 3, "Person"), ("insert", 1, 5, "Person"), ("policy", 1, 5),
        ("insert", 0, 8, "Passport"), ("insert", 1, 9, "Person"), ("insert", 1, 10, "Person"), ("save", 1), ("save", 0),
        ("refresh_all", 1), ("undo", 1), ("merge", 0), ("insert", 1, 11, "Person"), ("point", 0, 8, "holder", 10),
        ("save", 0), ("point", 1, 11, "passport", 8), ("point", 0, 8, "holder", 5), ("undo", 0), ("save", 1),
        ("policy", 0, 5), ("point", 0, 10, "manager", 5), ("save", 0),
    ],
    "what lets go of what its parent has deleted is not in the order that the parent has put it into": [
        ("open", 0, None), ("insert", 0, 12, "Node"), ("insert", 0, 15, "Node"), ("refresh_all", 2),
        ("point", 2, 15, "parent", 12), ("insert", 0, 18, "Node"), ("delete", 0, 12),
        ("assign", 0, 15, "children", (15, 18)), ("refresh_all", 2),
    ],
    "a save that comes to write nothing of an object does not learn its version": [
        ("insert", 1, 6, "Book"), ("save", 1), ("insert", 0, 9, "Crate"), ("insert", 1, 10, "Tag"), ("merge", 0),
        ("insert", 0, 11, "Tag"), ("assign", 1, 6, "tags", (10,)), ("save", 1), ("link", 0, 11, "books", 6),
        ("set", 1, 6, "price", 0), ("merge", 0), ("save", 1), ("delete", 0, 11), ("save", 0),
        ("link", 0, 9, "items", 6), ("save", 0),
    ],
    "a child's save that is refused half way leaves nothing updated in its parent": [
        ("insert", 0, 5, "Book"), ("insert", 0, 6, "Book"), ("save", 0), ("merge", 1), ("delete", 0, 6),
        ("insert", 1, 9, "Person"), ("open", 1, 0), ("save", 0), ("end", 1), ("merge", 1), ("insert", 3, 12, "Note"),
        ("insert", 3, 13, "Note"), ("save", 1), ("link", 3, 5, "notes", 12), ("point", 3, 13, "about", 6), ("save", 3),
        ("assign", 1, 9, "reports", (9,)),
    ],
    "a transient value of what child and parent have brought back is no change": [
        ("open", 1, 0), ("insert", 1, 17, "Person"), ("refresh_all", 3), ("set", 1, 17, "nick", "c"), ("merge", 3),
        ("delete", 3, 17), ("save", 3), ("undo", 3), ("set", 3, 17, "label", "b"), ("undo", 1), ("merge", 3),
        ("save", 3),
    ],
    "whom another has given what lets go of a gone object need not be updated": [
        ("insert", 1, 2, "Passport"), ("insert", 1, 3, "Account"), ("insert", 0, 6, "Chapter"),
        ("insert", 0, 10, "Book"), ("save", 1), ("save", 0), ("merge", 1), ("insert", 0, 14, "Book"), ("open", 1, None),
        ("link", 0, 14, "chapters", 6), ("assign", 3, 10, "chapters", (6,)), ("delete", 0, 10), ("save", 0),
        ("save", 3), ("refresh_all", 1),
    ],
    "delete rules find whom another has had refer to what was deleted": [
        ("insert", 0, 3, "UniqueAccount"), ("insert", 1, 5, "Account"), ("link", 0, 3, "clients", 3), ("save", 0),
        ("merge", 1), ("rollback", 0), ("forget", 0, 4), ("link", 1, 3, "clients", 5), ("delete", 0, 3),
        ("link", 1, 3, "clients", 3), ("save", 1), ("save", 0),
    ],
    "a reference without inverse that undoing brings back may be to what was deleted": [
        ("insert", 0, 1, "Account"), ("open", 0, 0), ("insert", 2, 7, "Node"), ("insert", 2, 10, "Node"), ("save", 2),
        ("delete", 2, 10), ("set", 0, 10, "key", 0), ("point", 0, 7, "parent", 10), ("point", 2, 1, "keeper", 7),
        ("save", 2), ("delete", 2, 1), ("merge", 2), ("undo", 2), ("merge", 2),
    ],
    "members whose order a policy took back stand as the file has them": [
        ("policy", 1, 5), ("child", 1, True, (("insert", 3, "Node"), ("link", 3, "children", 3))),
        ("insert", 0, 5, "Node"), ("insert", 0, 8, "Node"), ("save", 0), ("refresh_all", 1), ("undo", 1),
        ("link", 0, 5, "children", 8), ("save", 0), ("insert", 1, 17, "Node"), ("assign", 1, 8, "children", (17, 5)),
        ("save", 1),
    ],
    "a save has an order read nothing that was not merged": [
        ("insert", 0, 6, "Book"), ("insert", 0, 14, "Book"), ("open", 0, 3),
        ("child", 2, True, (("redo",), ("unlink", 6, "clips", 5), ("insert", 19, "Chapter"), ("set", 6, "price", 2))),
        ("save", 2), ("link", 0, 6, "chapters", 19), ("link", 2, 14, "chapters", 19), ("merge", 2),
        ("insert", 0, 22, "Chapter"), ("point", 0, 22, "book", 6), ("save", 2),
    ],
    "an order loses whom another gives away, knowing an object of before it was inserted again": [
        ("insert", 0, 10, "Node"), ("point", 0, 10, "parent", 10), ("save", 0), ("point", 0, 10, "parent", None),
        ("save", 0), ("merge", 1), ("point", 1, 10, "parent", 10), ("delete", 0, 10), ("save", 0), ("end", 0),
        ("undo", 0), ("save", 0), ("insert", 0, 19, "Node"), ("point", 0, 10, "parent", 19), ("save", 0), ("save", 1),
    ],
    "an object that is to overwrite keeps what it shows while another's deletion is taken back for it": [
        ("insert", 0, 1, "Passport"), ("insert", 1, 2, "Passport"), ("insert", 0, 4, "Person"),
        ("insert", 0, 8, "Person"), ("link", 0, 8, "reports", 8), ("insert", 0, 11, "Passport"), ("policy", 1, 5),
        ("save", 0), ("point", 0, 8, "manager", None), ("refresh_all", 1), ("save", 0), ("delete", 1, 11),
        ("reset", 0), ("point", 0, 8, "passport", 11), ("save", 0), ("set", 1, 8, "label", "c"), ("save", 1),
    ],
    "who held an object in the parent that its child has deleted holds it again": [
        ("insert", 0, 7, "Book"), ("open", 0, 0), ("insert", 0, 8, "Note"), ("link", 0, 7, "notes", 8),
        ("delete", 2, 7), ("save", 0), ("save", 2), ("save", 0), ("refresh_all", 2), ("undo", 2),
    ],
    "an order is refreshed together with a member that another has put into it": [
        ("insert", 0, 6, "Node"), ("link", 0, 6, "children", 6), ("insert", 1, 7, "Node"), ("save", 1), ("save", 0),
        ("refresh_all", 0), ("child", 0, True, (("unlink", 6, "children", 6), ("undo",), ("redo",))), ("merge", 1),
        ("link", 1, 6, "children", 7), ("save", 1), ("refresh_all", 0),
    ],
    "a save without changes after a conflict moves nothing": [
        ("insert", 1, 9, "Person"), ("save", 1), ("merge", 0), ("set", 0, 9, "name", "a"), ("delete", 1, 9),
        ("save", 1), ("save", 0), ("undo", 0), ("save", 0),
    ],
    "a rule of what was deleted here reaches what others have related to it, before that is refreshed": [
        ("insert", 0, 11, "Person"), ("insert", 0, 14, "Passport"), ("save", 0), ("merge", 1),
        ("point", 1, 11, "passport", 14), ("save", 1), ("delete", 0, 11), ("fetch", 0, "Passport"),
        ("refresh", 0, 14, False), ("save", 0),
    ],
    "what a refused save has left is taken over by a merge, and moves the context no more": [
        ("policy", 1, 5), ("insert", 0, 13, "Crate"), ("save", 0), ("merge", 1), ("delete", 1, 13),
        ("insert", 0, 20, "Person"), ("insert", 0, 26, "Tag"), ("assign", 0, 13, "items", (20,)), ("save", 0),
        ("delete", 0, 26), ("save", 1), ("save", 0), ("child", 1, True, (("link", 20, "friends", 20),)),
    ],
    "a batch request that takes over what refers to a deleted object leaves what can be redone": [
        ("insert", 1, 1, "Passport"), ("merge", 1), ("set", 1, 1, "number", 0), ("merge", 1),
        ("insert", 1, 5, "Person"), ("save", 1), ("insert", 1, 6, "Band"), ("insert", 0, 9, "Passport"),
        ("refresh", 0, 9, True), ("point", 0, 9, "holder", 5), ("undo", 1), ("undo", 1), ("undo", 1), ("save", 0),
        ("batch", 1, "Chapter", "text", "b", True), ("redo", 1),
    ],
}
