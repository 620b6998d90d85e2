"""Several contexts on one store: what each learns of the others."""

from __future__ import annotations

import asyncio
import random
import select
import threading
import unittest

import quire

from support import PATIENCE, Author, Cat, Kitten, Quote, StoreTestCase, seeds


class Album(quire.Model):
    songs: quire.ToMany["Song"] = quire.relation(inverse="albums", ordered=True)


class Song(quire.Model):
    albums: quire.ToMany["Album"] = quire.relation(inverse="songs")


class PairTests(unittest.TestCase):
    def test_both_sides_of_a_pair_agree_after_merging(self) -> None:
        # What is here is on top of what others have saved: pairs made here stay, pairs parted here are parted.
        for parts in (False, True):
            with self.subTest(parts=parts), quire.open(":memory:", [Album, Song]) as store:
                context = store.context
                album, song, second = context.add(Album()), context.add(Song()), context.add(Song())
                album.songs = [song] if parts else []
                context.save()
                other = store.create_context()
                mine, mine_song = other.get(Album, album.id), other.get(Song, song.id)
                self.assertEqual(len(mine.songs), 1 if parts else 0)
                album.songs = [song, second] if parts else [second]
                context.save()
                # The other does not know of the second song.
                mine_song.albums = [] if parts else [mine]
                other.merge()
                expected = [second.id] if parts else [song.id, second.id]
                self.assertEqual([each.id for each in mine.songs], expected)
                self.assertEqual([each.id for each in mine_song.albums], [] if parts else [album.id])
                other.save()
                fresh = store.create_context()
                self.assertEqual([each.id for each in fresh.get(Album, album.id).songs], expected)
                self.assertEqual([each.id for each in mine.songs], expected)


class ReturningTests(StoreTestCase):
    def test_a_row_that_returns_is_the_object_that_was_held(self) -> None:
        # A list that follows its relationships reads it while its return is merged.
        author = self.context.add(Author(name="Goethe"))
        quote = self.quote("a", author=author)
        self.context.save()
        live = self.context.query(Quote).where("author.name == 'Goethe'").live()
        other = self.store.create_context()
        other.enable_undo()
        other.delete(other.get(Author, author.id))
        other.save()
        self.context.merge()
        self.assertEqual((author.is_deleted, quote.is_deleted, len(live)), (True, True, 0))
        other.undo()
        other.save()
        self.context.merge()
        self.assertEqual((author.is_deleted, quote.is_deleted), (False, False))
        self.assertEqual([each.contents for each in author.quotes], ["a"])
        self.assertIs(live[0], quote)
        self.assertIs(self.context.query(Author).one(), author)


class MergingTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.author = self.context.add(Author(name="Goethe"))
        self.mine = self.quote("a", price=1, author=self.author)
        self.context.save()
        self.other = self.store.create_context()
        self.theirs = self.other.get(Quote, self.mine.id)
        self.assertEqual(self.theirs.contents, "a")

    def readable(self, context: quire.Context) -> bool:
        return bool(select.select([context], [], [], 0)[0])

    def test_what_another_saves_arrives_when_it_is_merged(self) -> None:
        self.mine.contents = "b"
        self.context.save()
        self.assertEqual(self.theirs.contents, "a")
        self.other.merge()
        self.assertEqual(self.theirs.contents, "b")
        self.assertFalse(self.other.has_changes)
        self.theirs.contents = "c"
        self.other.save()
        self.assertEqual(self.mine.contents, "b")
        self.context.merge()
        self.assertEqual(self.mine.contents, "c")

    def test_what_was_merged_in_between_is_merged_again(self) -> None:
        quote = self.quote("b")
        self.context.save()
        with self.assertRaises(quire.NotFound):
            self.other.get(Quote, quote.id)
        self.other.merge()
        theirs = self.other.get(Quote, quote.id)
        self.assertEqual(theirs.contents, "b")
        quote.contents = "c"
        self.context.save()
        self.assertEqual(theirs.contents, "b")
        self.other.merge()
        self.assertEqual(theirs.contents, "c")

    def test_live_lists_report_what_was_merged(self) -> None:
        told: list[quire.ChangeSet] = []
        live = self.other.query(Quote).where("author.name == 'Goethe'").order_by("contents").live()
        live.on_change(told.append)
        second = self.quote("z", author=self.author)
        self.context.save()
        self.assertEqual((len(live), told), (1, []))
        self.other.merge()
        self.assertEqual([quote.contents for quote in live], ["a", "z"])
        second.contents = "A"
        self.context.save()
        self.other.merge()
        self.assertEqual([quote.contents for quote in live], ["A", "a"])
        self.author.name = "Schiller"
        self.context.save()
        self.other.merge()
        self.assertEqual(list(live), [])
        self.author.name = "Goethe"
        self.context.save()
        self.context.delete(self.mine)
        self.context.save()
        self.other.merge()
        self.assertEqual([quote.contents for quote in live], ["A"])
        self.assertEqual(len(told), 4)
        self.other.merge()
        self.assertEqual(len(told), 4)

    def test_unsaved_changes_stay_on_top(self) -> None:
        self.theirs.contents = "theirs"
        self.mine.contents, self.mine.price = "mine", 9
        self.context.save()
        self.other.merge()
        self.assertEqual((self.theirs.contents, self.theirs.price), ("theirs", 9))
        self.other.save()
        self.context.merge()
        self.assertEqual((self.mine.contents, self.mine.price), ("theirs", 9))

    def test_without_merging_there_is_a_conflict(self) -> None:
        self.other.merges_automatically = True
        self.theirs.contents = "theirs"
        self.mine.contents = "mine"
        self.context.save()
        with self.assertRaises(quire.Conflict):
            self.other.save()

    def test_what_was_deleted_elsewhere_is_gone(self) -> None:
        quotes = self.other.get(Author, self.author.id).quotes
        self.assertEqual(len(quotes), 1)
        self.context.delete(self.mine)
        self.context.save()
        self.other.merge()
        self.assertTrue(self.theirs.is_deleted)
        self.assertEqual(len(quotes), 0)
        self.assertFalse(self.other.has_changes)

    def test_a_row_that_a_save_here_has_brought_back_is_not_gone(self) -> None:
        live, kept = self.other.query(Quote).order_by("contents").live(), self.other.query(Quote).live()
        self.assertEqual([each.contents for each in live], ["a"])
        self.context.delete(self.mine)
        self.context.save()
        self.other.merge_policy = quire.MergePolicy.OBJECT_WINS
        self.theirs.contents = "b"
        self.other.save()
        del self.theirs
        self.other.merge()
        self.assertEqual([each.contents for each in live], ["b"])
        self.assertEqual(len(kept), 1)

    def test_relationships_follow(self) -> None:
        schiller = self.context.add(Author(name="Schiller"))
        theirs = self.other.get(Author, self.author.id)
        self.assertEqual(len(theirs.quotes), 1)
        self.mine.author = schiller
        self.context.save()
        self.other.merge()
        self.assertEqual(len(theirs.quotes), 0)
        self.assertEqual(self.theirs.author.name, "Schiller")
        self.assertEqual([each.contents for each in self.theirs.author.quotes], ["a"])

    def test_automatic_merging_happens_with_processing_and_no_query(self) -> None:
        self.other.merges_automatically = True
        self.assertTrue(self.other.merges_automatically)
        live = self.other.query(Quote).order_by("contents").live()
        self.mine.contents = "b"
        self.quote("c")
        self.context.save()
        # A query only reads: it advances no context, and moves no list.
        self.assertIsNone(self.other.query(Quote).where("contents == 'b'").first())
        self.assertEqual((self.theirs.contents, len(live)), ("a", 1))
        self.other.process()
        self.assertEqual(self.other.query(Quote).where("contents == 'b'").one(), self.theirs)
        self.assertEqual((self.theirs.contents, len(live)), ("b", 2))
        self.mine.contents = "d"
        self.context.save()
        self.other.process()
        self.assertEqual(self.theirs.contents, "d")
        self.assertEqual([quote.contents for quote in live], ["c", "d"])

    def test_batch_requests_arrive_too(self) -> None:
        live = self.other.query(Quote).order_by("contents").live()
        self.context.query(Quote).update(contents="new")
        self.context.insert_rows(Quote, {"contents": ["x", "y"]})
        self.other.merge()
        self.assertEqual([quote.contents for quote in live], ["new", "x", "y"])
        self.context.query(Quote).where("contents != 'y'").delete()
        self.other.merge()
        self.assertEqual([quote.contents for quote in live], ["y"])
        self.assertTrue(self.theirs.is_deleted)

    def test_a_descriptor_tells_that_there_is_something(self) -> None:
        self.assertFalse(self.readable(self.other))
        self.mine.contents = "b"
        self.context.save()
        self.assertTrue(self.readable(self.other))
        self.assertFalse(self.readable(self.context))
        self.assertTrue(self.readable(self.other))
        self.other.merge()
        self.assertFalse(self.readable(self.other))
        self.mine.contents = "c"
        self.context.save()
        late = self.store.create_context()
        self.assertFalse(self.readable(late))
        self.mine.contents = "d"
        self.context.save()
        self.assertTrue(self.readable(late))

    def test_an_event_loop_merges_what_another_thread_saves(self) -> None:
        live = self.context.query(Quote).order_by("contents").live()
        self.addCleanup(live.close)

        def work() -> None:
            with self.store.background() as context:
                context.add(Quote(contents="from a thread"))

        async def main() -> None:
            # Before Python 3.10 an event belongs to the loop that is there when it is made.
            done = asyncio.Event()
            live.on_change(lambda change: done.set())
            loop = asyncio.get_running_loop()
            loop.add_reader(self.context, self.context.merge)
            threading.Thread(target=work).start()
            await asyncio.wait_for(done.wait(), PATIENCE)
            loop.remove_reader(self.context)

        asyncio.run(main())
        self.assertEqual([quote.contents for quote in live], ["a", "from a thread"])

    def test_background_work_that_fails_saves_nothing(self) -> None:
        with self.assertRaises(ZeroDivisionError), self.store.background() as context:
            context.add(Quote(contents="lost"))
            1 / 0
        self.assertTrue(context.closed)
        self.assertEqual(self.context.query(Quote).count(), 1)

    def test_objects_of_subclasses_arrive(self) -> None:
        live = self.other.query(Cat).order_by("name").live()
        self.context.add(Kitten(name="Tom"))
        self.context.save()
        self.other.merge()
        self.assertIsInstance(live[0], Kitten)


class RandomMergingTests(unittest.TestCase):
    """Contexts that edit, save and merge at random agree in the end with each other and with a fresh one."""

    def run_history(self, seed: int) -> None:
        dice = random.Random(seed)
        with quire.open(":memory:", [Author, Quote]) as store:
            contexts = [store.create_context() for _ in range(3)]
            lists = [
                context.query(Quote).where("author == nil OR author.name < 'f'").order_by("author.name", "contents")
                .live(section_by="author.name") for context in contexts]
            kept: list[list] = [[] for _ in contexts]
            for _ in range(150):
                place = dice.randrange(3)
                context, objects = contexts[place], kept[place]
                context.merge()
                authors, quotes = context.query(Author).all(), context.query(Quote).all()
                for _ in range(dice.randrange(1, 6)):
                    step = dice.randrange(6)
                    if step == 0:
                        objects.append(context.add(Author(name=dice.choice("abcdefgh"))))
                    elif step == 1:
                        objects.append(context.add(Quote(contents=dice.choice("xyz"), price=dice.random())))
                    elif quotes and step == 2:
                        quote = dice.choice(quotes)
                        if not quote.is_deleted:
                            quote.contents = dice.choice("xyz")
                    elif quotes and step == 3:
                        quote = dice.choice(quotes)
                        alive = [author for author in authors if not author.is_deleted]
                        if not quote.is_deleted:
                            quote.author = dice.choice([None, *alive])
                    elif authors and step == 4:
                        author = dice.choice(authors)
                        if not author.is_deleted:
                            author.name = dice.choice("abcdefgh")
                    elif step == 5 and dice.random() < 0.4 and (authors or quotes):
                        context.delete(dice.choice(authors + quotes))
                objects[:] = [each for each in objects + quotes[:5] + authors[:5] if dice.random() < 0.8]
                context.save()
                if dice.random() < 0.3:
                    dice.choice(contexts).merge()
            for context in contexts:
                context.merge()

            def state(context: quire.Context) -> list:
                return [
                    sorted((quote.id, quote.contents, quote.price, quote.author and quote.author.id)
                           for quote in context.query(Quote)),
                    sorted((author.id, author.name, sorted(quote.id for quote in author.quotes))
                           for author in context.query(Author))]

            wanted = state(store.create_context())
            fresh = store.create_context().query(Quote).where("author == nil OR author.name < 'f'")
            rows = list(fresh.order_by("author.name", "contents").ids())
            for context, live in zip(contexts, lists):
                self.assertEqual(state(context), wanted, f"seed {seed}")
                self.assertEqual(list(live.ids), rows, f"seed {seed}")
            # Reading needed no look at the other contexts: their objects show the same as the file.
            self.assertFalse(any(context.has_changes for context in contexts))

    def test_contexts_agree_after_merging(self) -> None:
        for seed in seeds(3):
            print(f"merging: seed {seed}")
            self.run_history(seed)


if __name__ == "__main__":
    unittest.main()
