#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file is as clang-format 14 and .clang-format would write it. Exit code 77 without clang-format-14."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("cmd", "hooks", "lib", "packaging", "test")


def main() -> int:
    tool = shutil.which("clang-format-14")
    if tool is None:
        print("clang-format-14 is not installed")
        return 77
    files = sorted(str(p) for f in FOLDERS for p in (ROOT / f).rglob("*") if p.suffix in (".cc", ".h"))
    assert len(files) > 100, files
    answer = subprocess.run([tool, "--dry-run", "--Werror", *files], capture_output=True, text=True, check=False)
    sys.stdout.write(answer.stderr)
    return answer.returncode


if __name__ == "__main__":
    sys.exit(main())
