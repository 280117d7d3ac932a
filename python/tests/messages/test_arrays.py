"""NumPy's arrays come as they went, and into memory of the program's own."""

from __future__ import annotations

import unittest

import numpy as np
import support

from parvum import errors

KINDS = "?,i1,u1,i2,u2,i4,u4,i8,u8,f2,f4,f8,c8,c16,g,G,S3,U4,M8[s],m8[D],O,>i4"


class Arrays(unittest.TestCase):
    def setUp(self) -> None:
        self.vm = support.vm()

    def back(self, array: object) -> np.ndarray:
        self.vm.send(array, self.vm.id, 1)
        came = self.vm.recv(tag=1, timeout=60)
        self.assertIs(type(came), type(array))
        self.assertEqual((came.dtype, came.shape), (array.dtype, array.shape))  # type: ignore[attr-defined]
        np.testing.assert_array_equal(came, array)
        return came

    def test_arrays_of_all_types_and_orders_return_equal(self) -> None:
        for kind in KINDS.split(","):
            flat = np.arange(24).astype(kind)
            for array in (flat, flat.reshape(2, 3, 4), np.asfortranarray(flat.reshape(4, 6)), flat[:0], flat[:1].reshape(())):
                self.back(array)
        self.back(np.zeros((0, 3)))
        self.back(np.float64(3))
        self.back(np.zeros(3, [("a", "i4"), ("b", "f8", 2)]))
        self.back(np.ma.masked_array([1, 2], [True, False]))

    def test_strided_arrays_return_equal(self) -> None:
        a = np.arange(10000.0).reshape(100, 100)
        for part in (a[::2], a[:, ::2], a[::-1], a[::-1, ::-1], a.T, a.T[3:50], a[10:20, 5:50], np.broadcast_to(a[0], (5, 100))):
            self.back(part)
        b = np.arange(2 * 300 * 4).reshape(2, 300, 4)
        self.back(b[:, ::2])
        self.back(b.transpose(2, 0, 1))

    def test_received_arrays_are_writable(self) -> None:
        for size in (3, 1 << 12, 1 << 20):
            came = self.back(np.arange(size))
            came[0] = 7
        data = {f"a{n}": np.random.rand(1 << 15) for n in range(10)}
        self.vm.send(data, self.vm.id, 1)
        came_data = self.vm.recv(tag=1, timeout=60)
        for name, array in data.items():
            np.testing.assert_array_equal(came_data[name], array)
            came_data[name][0] = 1

    def test_large_arrays_pass_between_processes(self) -> None:
        (echo,) = support.spawn(
            """
            import numpy as np
            while (m := vm.recv_message()).tag:
                if m.tag == 1: vm.send(m.obj, boss, 1)
                elif m.tag == 2: r = vm.isend(m.obj, boss, 2); r.wait()
                elif m.tag == 3: room = np.empty(m.obj, 'f8'); vm.recv_into(room, boss, 4); vm.send(room, boss, 3)
            """
        )
        for size in (10, 1000, 100_000, 1 << 20):
            array = np.random.rand(size)
            for tag in (1, 2):
                self.vm.send(array, echo, tag)
                np.testing.assert_array_equal(self.vm.recv(echo, tag, timeout=60), array)
            self.vm.send(size, echo, 3)
            self.vm.send(array, echo, 4)
            room = np.empty_like(array)
            self.assertEqual(self.vm.recv_into(room, echo, 3, 60), (echo, 3, array.nbytes))
            np.testing.assert_array_equal(room, array)
        parts = {"a": np.random.rand(1 << 19), "b": [np.random.rand(7)], "c": bytearray(1 << 20)}
        self.vm.send(parts, echo, 1)
        came = self.vm.recv(echo, 1, timeout=60)
        np.testing.assert_array_equal(came["a"], parts["a"])
        # Both at once, and neither waits for the other.
        both = np.zeros(1 << 21)
        for _ in range(3):
            self.vm.send(both, echo, 1)
        for _ in range(3):
            np.testing.assert_array_equal(self.vm.recv(echo, 1, timeout=60), both)
        self.vm.send(None, echo, 0)

    def test_recv_into_fills_memory_of_any_strides(self) -> None:
        a = np.arange(100 * 100.0).reshape(100, 100)
        room = np.zeros((100, 200))
        self.vm.send(a, self.vm.id, 1)
        self.assertEqual(self.vm.recv_into(room[:, :100], tag=1, timeout=60).length, a.nbytes)
        np.testing.assert_array_equal(room[:, :100], a)
        self.assertFalse(room[:, 100:].any())
        raw = bytearray(a.nbytes)
        self.vm.send(a, self.vm.id, 1)
        self.vm.recv_into(raw, tag=1, timeout=60)
        self.assertEqual(raw, a.tobytes())

    def test_mismatched_array_arrives_in_exception(self) -> None:
        a = np.arange(100.0)
        for room, kind in (
            (np.empty(100, "f4"), errors.WrongShape),
            (np.empty(100, "i8"), errors.WrongShape),
            (np.empty(99), errors.Truncated),
            (np.empty((200,))[::2], errors.WrongShape),
        ):
            self.vm.send(a, self.vm.id, 1)
            before = room.copy()
            with self.assertRaises(kind) as raised:
                self.vm.recv_into(room, tag=1, timeout=60)
            np.testing.assert_array_equal(raised.exception.obj, a)
            np.testing.assert_array_equal(room, before)
        self.vm.send({"not": "an array"}, self.vm.id, 1)
        with self.assertRaises(errors.WrongShape):
            self.vm.recv_into(np.empty(3), tag=1, timeout=60)
        fixed = np.empty(3)
        fixed.flags.writeable = False
        self.vm.send(np.zeros(3), self.vm.id, 1)
        with self.assertRaises(ValueError):
            self.vm.recv_into(fixed, tag=1, timeout=60)
        self.vm.recv(tag=1, timeout=60)

    def test_views_and_dlpack_objects_are_sent(self) -> None:
        class Tensor:
            """As other packages have them."""

            def __init__(self, array: np.ndarray) -> None:
                self.array = array

            def __dlpack__(self, **how: object) -> object:
                return self.array.__dlpack__(**how)  # type: ignore[arg-type]

            def __dlpack_device__(self) -> tuple[int, int]:
                return self.array.__dlpack_device__()

        a = np.arange(12.0).reshape(3, 4)
        for obj in (Tensor(a), memoryview(a)):
            self.vm.send(obj, self.vm.id, 1)
            np.testing.assert_array_equal(self.vm.recv(tag=1, timeout=60), a)

    def test_array_arrives_as_view_without_numpy(self) -> None:
        (task,) = support.spawn(
            """
            sys.modules['numpy'] = None
            got = vm.recv(boss)
            vm.send((type(got).__name__, got.format, got.shape, got.tolist()), boss, 5)
            """
        )
        self.vm.send(np.arange(6, dtype="i4").reshape(2, 3), task)
        self.assertEqual(self.vm.recv(task, 5, timeout=60), ("memoryview", "i", (2, 3), [[0, 1, 2], [3, 4, 5]]))


if __name__ == "__main__":
    unittest.main()
