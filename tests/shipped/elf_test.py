#!/usr/bin/env python3
"""The programs that are shipped are hardened: what an overflow could overwrite is protected, and no address is known before."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("PLIMSOLL", ROOT / "build" / "release" / "bin" / "plimsoll"))
STARTER = PROGRAM.with_name("plimsoll-starter")
BOTH = (PROGRAM, STARTER)


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


class Elf(unittest.TestCase):
    def headers(self, program):
        return said("readelf", "--wide", "--file-header", "--program-headers", "--dynamic", program)

    def imports(self):
        return re.findall(r" UND (\w+)", said("readelf", "--wide", "--dyn-syms", PROGRAM))

    def test_any_address_suits_them(self):
        for program in BOTH:
            headers = self.headers(program)
            self.assertRegex(headers, r"Type: +DYN \(Position-Independent Executable file\)", program)
            self.assertNotIn("TEXTREL", headers, program)

    def test_tables_of_the_linker_are_read_only_once_they_run(self):
        for program in BOTH:
            headers = self.headers(program)
            self.assertRegex(headers, r"(?m)^ +GNU_RELRO ", program)
            self.assertRegex(headers, r"\(FLAGS_1\) +Flags:.*\bNOW\b", program)

    def test_nothing_can_be_both_written_and_executed(self):
        for program in BOTH:
            headers = self.headers(program)
            self.assertRegex(headers, r"(?m)^ +GNU_STACK .* RW +0", program)
            self.assertNotRegex(headers, r"(?m)^ +(LOAD|GNU_STACK) .* RWE ", program)

    def test_functions_with_buffers_check_their_stack(self):
        self.assertIn("__stack_chk_fail", self.imports())
        self.assertIn("%fs:0x28", said("objdump", "--disassemble", "--section=.text", STARTER))

    def test_calls_of_libc_check_their_buffers(self):
        self.assertIn("__memcpy_chk", self.imports())

    def test_standard_library_checks_indices(self):
        self.assertIn("_ZSt21__glibcxx_assert_failPKciS0_S0_", self.imports())

    def test_starter_needs_nothing_of_its_container(self):
        headers = self.headers(STARTER)
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("(NEEDED)", headers)


if __name__ == "__main__":
    unittest.main()
