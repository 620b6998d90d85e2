"""A later library whose structs are longer."""

import ctypes
import unittest

from quire import changes
from quire._c import _ffi


class LaterStep(ctypes.Structure):
    _fields_ = [("known", _ffi.quire_step), ("later", ctypes.c_int64 * 3)]


class LaterFrame(ctypes.Structure):
    _fields_ = [("known", _ffi.quire_child_frame), ("later", ctypes.c_int64)]


class GrowthTests(unittest.TestCase):
    def test_steps_are_read_by_the_stride_of_their_array(self):
        ids = (ctypes.c_int64 * 3)(7, 8, 9)
        steps = (LaterStep * 2)()
        for index, step in enumerate(steps):
            step.known.kind = _ffi.QUIRE_STEP_REPLACE_ROWS
            step.known.flat = index
            step.known.removed, step.known.inserted = 1, 2
            step.known.removed_ids = ctypes.cast(ctypes.byref(ids), ctypes.POINTER(ctypes.c_int64))
            step.known.inserted_ids = ctypes.cast(ctypes.byref(ids, 8), ctypes.POINTER(ctypes.c_int64))
            step.later[:] = (-5, -5, -5)
        array = _ffi.quire_step_array(
            ctypes.cast(steps, ctypes.POINTER(_ffi.quire_step)), 2, ctypes.sizeof(LaterStep))
        read = changes._steps(array)
        self.assertEqual([step.flat for step in read], [0, 1])
        self.assertEqual([(step.removed_ids, step.inserted_ids) for step in read], [((7,), (8, 9))] * 2)

    def test_records_are_read_by_the_stride_of_their_array(self):
        frames = (LaterFrame * 3)()
        for index, frame in enumerate(frames):
            frame.known.old_section = index
            frame.later = -5
        array = _ffi.quire_child_frame_array(
            ctypes.cast(frames, ctypes.POINTER(_ffi.quire_child_frame)), 3, ctypes.sizeof(LaterFrame))
        self.assertEqual([frame.old_section for frame in changes.lent(array)], [0, 1, 2])
        self.assertEqual(list(changes.lent(_ffi.quire_child_frame_array())), [])


if __name__ == "__main__":
    unittest.main()
