"""Tests of slug.py, run by the mission's oracle."""

import unittest

from slug import slug


class SlugTest(unittest.TestCase):
    def test_words_are_joined(self) -> None:
        assert slug("Hello, World!") == "hello-world"

    def test_nothing_is_refused(self) -> None:
        with self.assertRaises(ValueError):  # noqa: PT027 - needs nothing but Python
            slug("!?")


if __name__ == "__main__":
    unittest.main()
