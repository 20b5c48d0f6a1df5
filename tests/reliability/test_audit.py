"""The audit distinguishes vulnerable, sound and unknown packages."""

import os
import sys

import audit
import pytest

SOUND = {"name": "numpy", "version": "2.0.0", "vulns": []}
FAULTY = {"name": "x", "version": "1.0", "vulns": [{"id": "CVE-1", "fix_versions": ["1.1", "2.0"]}]}
UNMENDED = {"name": "y", "version": "3", "vulns": [{"id": "CVE-2", "fix_versions": []}]}
SKIPPED = {"name": "timelike", "skip_reason": "distribution marked as editable"}


def test_verdict():
    assert audit.verdict([SOUND, SKIPPED]) == (1, 1, [])
    lines = ["x 1.0: CVE-1, mended in 1.1, 2.0", "y 3: CVE-2, mended in no version yet"]
    assert audit.verdict([SOUND, FAULTY, UNMENDED]) == (3, 0, lines)


@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        ({"dependencies": [SOUND, FAULTY]}, 1, "2 distributions looked up, 0 not, 1 vulnerabilities\nx 1.0"),
        ({"dependencies": [SOUND]}, 0, "pypi: 1 distributions looked up"),
        ({"dependencies": [SKIPPED]}, 0, "NOTHING WAS AUDITED"),
        ("no network", 0, "NOTHING WAS AUDITED"),
    ],
)
def test_what_the_audit_ends_with(answer, code, says, tmp_path, monkeypatch, capsys):
    """With a substitute for pip-audit that gives this answer."""
    if os.name != "posix":
        pytest.skip("a script stands for pip-audit")
    program = tmp_path / "pip-audit"
    program.write_text(f"#!{sys.executable}\nimport json\nprint(json.dumps({answer!r}))\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert audit.main([]) == code
    assert says in capsys.readouterr().out
