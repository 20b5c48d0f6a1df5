"""Ask for known vulnerabilities of what is installed, as `make audit` and CI do.

Ends with 1 if there are any, and names them. Where no service of advisories answers, nothing is known: that
is said, and no failure. Options are passed on to pip-audit: `--ignore-vuln ID` accepts one.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SERVICES = ("pypi", "osv")


def ask(service: str, more: list[str]) -> tuple[list[dict[str, Any]], str]:
    """The findings of pip-audit per distribution, or the reason why it skipped one."""
    program = str(Path(sys.executable).with_name("pip-audit"))
    options = ["--local", "--skip-editable", "--format=json", f"--vulnerability-service={service}", *more]
    run = subprocess.run([program, *options], capture_output=True, text=True)
    try:
        found = json.loads(run.stdout)["dependencies"]
    except (KeyError, TypeError, ValueError):
        return [], (run.stderr.strip().splitlines() or ["it said nothing"])[-1][:120]
    return found, next((x["skip_reason"] for x in found if "skip_reason" in x), "")


def verdict(found: list[dict[str, Any]]) -> tuple[int, int, list[str]]:
    """The numbers of audited and skipped distributions, and a line per vulnerability."""
    known = [x for x in found if "skip_reason" not in x]
    lines = [
        f"{x['name']} {x['version']}: {v['id']}, mended in {', '.join(v['fix_versions']) or 'no version yet'}"
        for x in known
        for v in x["vulns"]
    ]
    return len(known), len(found) - len(known), lines


def main(more: list[str]) -> int:
    for service in SERVICES:
        found, complaint = ask(service, more)
        looked_up, left, lines = verdict(found)
        if looked_up:
            print(f"{service}: {looked_up} distributions looked up, {left} not, {len(lines)} vulnerabilities")
            print("\n".join(lines), end="\n" if lines else "")
            return bool(lines)
        print(f"{service}: no answer ({complaint})")
    print("NOTHING WAS AUDITED: no service of advisories can be reached from here")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
