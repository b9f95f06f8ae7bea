#!/usr/bin/env python3
"""Runs the tests that CTest knows in a build tree and counts test cases, not programs.

    tests/run.py BUILD_DIR [--full] [--torch] [--list] [--built SECONDS] [FILTER]

Programs labelled `catch2` are run with Catch2's XML reporter, whose form is the same in versions 2
and 3, and entries labelled `pytest` with pytest's, which those of tests/behaviour make, too; every
other CTest entry counts as one case. FILTER is a regular expression over CTest names; when none
matches, it is a part of the name of a test case of Catch2 or pytest. --full adds the cases tagged
[.full] and sets DATAFLUX_TEST_FULL=1. --torch runs what is labelled `torch`, for which a package of
5.5 GB is installed, and nothing else; it is left out otherwise. Ends with a line for each failed
case, "FAILED entry: case: why", and a line "N passed, N failed"; exit status 1 if anything failed, or
if nothing ran. --list names the entries that FILTER matches: they are build targets too.

Each entry is told with its seconds by the clock and by the processors. Before the last lines come the
slowest entries by processor, the slowest cases by the clock, and what building (--built) and running
have taken. Processes that a program leaves behind are not counted.

With DATAFLUX_TEST_AGAIN=N, as CI has it, whose machine is shared and takes ten thousand cases at
once, a case that failed is run again alone when all are through: N times it must pass, and is then
told as "UNSTEADY entry: case: why" and counts as passed. What a sanitizer found, a crash, and what ran
out of time get no second chance. An unsteady case is a defect of the test or of the library: mend it.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

SHOWN_OUTPUT = 8000  # characters of a failed program's own output that are shown
SLOWEST = 5  # entries and cases that are told
LANES = 2  # test programs at a time
MOST_AGAIN = 5  # failed cases; where there are more, it is not the machine
CUT_SHORT = "the program ended inside this test case"


def ctest_entries(build_dir):
    shown = subprocess.run(["ctest", "--test-dir", str(build_dir), "--show-only=json-v1"],
                           check=True, capture_output=True, text=True)
    entries = []
    for test in json.loads(shown.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        entries.append({"name": test["name"], "command": test.get("command", []), **properties})
    return entries


class Ended(NamedTuple):
    """How a program ended, and what it took; status is None where its time ran out."""
    status: int | None
    output: str
    processor: float  # seconds, with those of its children for which it waited


class Outcome(NamedTuple):
    passed: int = 0
    skipped: int = 0
    failed: list = []  # (case, lines)
    slowest: list = []  # (seconds, case)
    output: str = ""
    processor: float = 0.0


def kill_all(program):
    try:
        os.killpg(program.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait(program, limit):
    """(exit status or None when out of time, seconds of the processors)"""
    late = threading.Event()

    def stop():
        late.set()
        kill_all(program)

    timer = threading.Timer(limit, stop)
    timer.start()
    _, status, used = os.wait4(program.pid, 0)
    timer.cancel()
    program.returncode = os.waitstatus_to_exitcode(status)
    return None if late.is_set() else program.returncode, used.ru_utime + used.ru_stime


def run_program(command, cwd, environment, limit):
    """Leaves no child of the program behind."""
    with tempfile.TemporaryFile() as output:
        program = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status, processor = wait(program, limit)
        finally:
            kill_all(program)
            program.wait()
        output.seek(0)
        return Ended(status, output.read().decode(errors="replace"), processor)


def text_of(element, tag):
    child = element.find(tag)
    return " ".join((child.text or "").split()) if child is not None else ""


def describe(element):
    """One failed assertion or exception of a Catch2 report, in two or three lines."""
    where = f"{element.get('filename', '?')}:{element.get('line', '?')}"
    if element.tag == "Expression":
        lines = [f"{where}: {element.get('type')}( {text_of(element, 'Original')} )"]
        if element.find("Expanded") is not None:
            lines.append(f"  with: {text_of(element, 'Expanded')}")
        for inner in element:
            if inner.tag in ("Exception", "FatalErrorCondition"):
                lines.append(f"  threw: {' '.join((inner.text or '').split())}")
        return lines
    return [f"{where}: {element.tag}: {' '.join((element.text or '').split())}"]


def read_report(path):
    """The outcome of a report, which a crash may have cut short."""
    passed, skipped, failed, slowest = 0, 0, [], []
    case, lines, notes, in_expression = None, [], [], False
    parser = ET.XMLPullParser(["start", "end"])
    try:
        parser.feed(path.read_bytes())
        parser.close()
    except ET.ParseError:
        pass  # cut short: what was complete has been taken in, see below
    try:
        for event, element in parser.read_events():
            if event == "start":
                if element.tag == "TestCase":
                    case, lines, notes = element.get("name"), [], []
                in_expression = in_expression or element.tag == "Expression"
                continue
            if element.tag in ("Info", "Warning"):
                notes.append("  note: " + " ".join((element.text or "").split()))
            elif element.tag == "Expression":
                in_expression = False
                if element.get("success") == "false":
                    lines += describe(element) + notes
                notes = []
            elif element.tag in ("Failure", "Exception", "FatalErrorCondition") and not in_expression:
                lines += describe(element) + notes
                notes = []
            elif element.tag == "OverallResult" and case is not None:
                slowest.append((float(element.get("durationInSeconds") or 0), case))
                if element.get("success") != "true":
                    failed.append((case, lines))
                elif element.get("skips", "0") != "0":
                    skipped += 1
                else:
                    passed += 1
                case = None
    except ET.ParseError:
        pass
    if case is not None:
        failed.append((case, lines + [CUT_SHORT]))
    return Outcome(passed, skipped, failed, slowest)


def escaped(name):
    return re.sub(r'([\\,\[\]"])', r"\\\1", name)


def run_catch2(entry, environment, limit, full, case_filter):
    specification = []
    if case_filter is not None:
        specification = [f"*{escaped(case_filter)}*"]
    elif full:
        specification = ["~[.],[full]"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = entry["command"] + specification + ["-d", "yes", "-r", "xml", "-o", str(report)]
        ended = run_program(command, entry.get("WORKING_DIRECTORY"), environment, limit)
        told = read_report(report) if report.exists() else Outcome()
    status, failed = ended.status, list(told.failed)
    if case_filter is not None and not any(told):
        return Outcome()  # no case of this program has such a name
    if status != 0 and not failed:
        failed = [("(the program)", [])]
    if not any(told) and not failed:
        failed = [("(the program)", ["it ran no test case"])]
    if failed and status is None:
        failed[-1][1].append(f"stopped after {limit:.0f} s")
    elif failed and status not in (0, None) and (
            status < 0 or failed[0][0] == "(the program)" or CUT_SHORT in failed[-1][1]):
        failed[-1][1].append(f"exit status {status}")
    if failed:
        # What a sanitizer has found, in its own one line.
        failed[-1][1].extend(re.findall(r"^SUMMARY: .+", ended.output, re.MULTILINE))
    return told._replace(failed=failed, output=ended.output, processor=ended.processor)


def read_junit(path):
    """The outcome that pytest reports; of no case where the report is not whole."""
    try:
        cases = list(ET.parse(path).iter("testcase"))
    except (OSError, ET.ParseError):
        return Outcome()
    passed, skipped, failed, slowest = 0, 0, {}, []
    for case in cases:
        name = f"{case.get('classname', '')}.{case.get('name', '')}".removeprefix(".")
        slowest.append((float(case.get("time") or 0), name))
        lost = [told for told in case if told.tag in ("failure", "error")]
        if lost:  # a test that failed and could not be cleared away is in the report twice
            lines = failed.setdefault(name, [])
            for told in lost:
                lines += (told.get("message") or told.tag).splitlines()[:3]
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return Outcome(passed, skipped, list(failed.items()), slowest)


def run_pytest(entry, environment, limit, case_filter):
    chosen = []
    if case_filter is not None:
        if not re.fullmatch(r"\w+", case_filter):
            return Outcome()  # no function has such a name
        chosen = ["-k", case_filter]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = entry["command"] + chosen + [f"--junitxml={report}"]
        ended = run_program(command, entry.get("WORKING_DIRECTORY"), environment, limit)
        told = read_junit(report)
    status, failed = ended.status, list(told.failed)
    if status is not None and status == entry.get("SKIP_RETURN_CODE"):
        return Outcome(skipped=1)
    if status == 5 and case_filter is not None:  # pytest chose none
        return Outcome()
    if status != 0 and not failed:
        failed = [("(the program)", [])]
    if not any(told) and not failed:
        failed = [("(the program)", ["it ran no test case"])]
    if failed and status not in (0, 1):
        failed[-1][1].append(f"stopped after {limit:.0f} s" if status is None
                             else f"exit status {status}")
    return told._replace(failed=failed, output=ended.output, processor=ended.processor)


def run_other(entry, environment, limit):
    status, output, processor = run_program(entry["command"], entry.get("WORKING_DIRECTORY"),
                                            environment, limit)
    if status is not None and status == entry.get("SKIP_RETURN_CODE"):
        return Outcome(skipped=1)
    if status == 0:
        return Outcome(passed=1, output=output, processor=processor)
    why = f"stopped after {limit:.0f} s" if status is None else f"exit status {status}"
    # unittest names the tests that failed; the reason is the last line below such a name.
    lost = re.findall(r"^(?:FAIL|ERROR): (.+)\n(?:[^-].*\n)?-+\n((?:.+\n)*)", output, re.MULTILINE)
    named = [(name, [told.splitlines()[-1]] if told else [why]) for name, told in lost]
    return Outcome(failed=named or [("(the program)", [why])], output=output, processor=processor)


def run_entry(entry, base, full, case_filter):
    """(entry, seconds by the clock, outcome)"""
    environment = base | dict(v.split("=", 1) for v in entry.get("ENVIRONMENT", []))
    limit = float(entry.get("TIMEOUT", 600))
    started = time.monotonic()
    if not entry["command"] or shutil.which(entry["command"][0]) is None:
        outcome = Outcome(failed=[("(the program)", ["it was not built"])])
    elif is_catch2(entry):
        outcome = run_catch2(entry, environment, limit, full, case_filter)
    elif is_pytest(entry):
        outcome = run_pytest(entry, environment, limit, case_filter)
    else:
        outcome = run_other(entry, environment, limit)
    return entry, time.monotonic() - started, outcome


def run_all(entries, *how):
    """Test programs two at a time, since most wait for much of their time; scripts, mostly compilers,
    on all cores. What has RUN_SERIAL uses the cores by itself, and runs alone."""
    def run(entry):
        return run_entry(entry, *how)

    alone = [e for e in entries if e.get("RUN_SERIAL")]
    programs = [e for e in entries if has_cases(e) and e not in alone]
    scripts = [e for e in entries if not has_cases(e) and e not in alone]
    with concurrent.futures.ThreadPoolExecutor(LANES) as lanes:
        yield from lanes.map(run, programs)
    yield from map(run, alone)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(run, scripts)


def may_pass_again(case, lines):
    ended_badly = ("SUMMARY: ", "exit status", "stopped after", CUT_SHORT)
    return case != "(the program)" and not any(line.startswith(ended_badly) for line in lines)


def passes_again(entry, case, times, base, full):
    """Whether the case passes so many times, alone."""
    # pytest chooses by a function's name, Catch2 by the whole one; a script is run whole.
    name = re.sub(r"\[.*", "", case).rpartition(".")[2] if is_pytest(entry) else case
    for _ in range(times):
        outcome = run_entry(entry, base, full, name)[2]
        if outcome.failed or not outcome.passed:
            return False
    return True


def in_short(lines):
    """Why, in one line: what failed, with which values and notes, and how the program ended."""
    told = ("exit status", "stopped", "SUMMARY: ", "  with: ", "  note: ")
    rest = [line.strip() for line in lines[1:] if line.startswith(told)]
    return "; ".join(lines[:1] + rest)[:600]


def report(name, took, outcome):
    bad, output = outcome.failed, outcome.output
    counts = f"{outcome.passed} passed"
    counts += f", {outcome.skipped} skipped" if outcome.skipped else ""
    counts += f", {len(bad)} FAILED" if bad else ""
    print(f"{name:<28} {counts:<32} {took:7.2f} s  {outcome.processor:7.2f} s CPU", flush=True)
    for case, lines in bad:
        print(f"  FAILED {case}")
        for line in lines:
            print(f"    {line}")
    if bad and output.strip():
        shown = output if len(output) <= SHOWN_OUTPUT else "[...]\n" + output[-SHOWN_OUTPUT:]
        print("  its output:\n" + "\n".join("    " + line for line in shown.splitlines()))


def tell_slowest(results, built, ran):
    """What took longest, so that nobody need guess where the time goes."""
    entries = sorted(results, key=lambda result: -result[2].processor)
    told = ", ".join(f"{entry['name']} {outcome.processor:.0f}" for entry, _, outcome in
                     entries[:SLOWEST])
    print(f"most CPU, in s: {told}")
    cases = sorted(((took, entry["name"], case) for entry, _, outcome in results
                    for took, case in outcome.slowest), reverse=True)
    for took, name, case in cases[:SLOWEST]:
        print(f"  {took:7.2f} s  {name}: {case}")
    processor = sum(outcome.processor for _, _, outcome in results)
    print((f"built {built} s, " if built is not None else "") +
          f"ran {ran:.0f} s, {processor:.0f} s CPU")


def is_catch2(entry):
    return "catch2" in entry.get("LABELS", [])


def is_pytest(entry):
    return "pytest" in entry.get("LABELS", [])


def needs_torch(entry):
    return "torch" in entry.get("LABELS", [])


def has_cases(entry):
    return is_catch2(entry) or is_pytest(entry)


def select(entries, pattern):
    """(entries to run, part of a case name or None)"""
    if pattern is None:
        return entries, None
    try:
        named = ([e for e in entries if e["name"] == pattern] or
                 [e for e in entries if re.search(pattern, e["name"])])
    except re.error:
        named = []
    if named:
        return named, None
    return list(filter(has_cases, entries)), pattern


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build_dir", type=Path)
    arguments.add_argument("filter", nargs="?")
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--torch", action="store_true")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--built", type=int, metavar="SECONDS")
    options = arguments.parse_intermixed_args()

    base = dict(os.environ)
    if options.full:
        base["DATAFLUX_TEST_FULL"] = "1"
    entries = ctest_entries(options.build_dir)
    left_out = [e for e in entries if needs_torch(e) != options.torch]
    entries, case_filter = select([e for e in entries if e not in left_out], options.filter)
    if options.list:
        shown = entries if case_filter is None or options.torch else []
        print("\n".join(e["name"] for e in shown))
        return
    entries = [e for e in entries if not e.get("DISABLED")]
    passed = skipped = 0
    lost, results, started = [], [], time.monotonic()
    for entry, took, outcome in run_all(entries, base, options.full, case_filter):
        if not (outcome.passed or outcome.skipped or outcome.failed):
            continue
        passed, skipped = passed + outcome.passed, skipped + outcome.skipped
        lost += [(entry, case, why) for case, why in outcome.failed]
        results.append((entry, took, outcome))
        report(entry["name"], took, outcome)
    if passed + len(lost) + skipped == 0:
        sys.exit(f"no test matches '{options.filter}'" if options.filter else "there is no test")
    tell_slowest(results, options.built, time.monotonic() - started)
    if skipped:
        print(f"{skipped} skipped")
    if options.filter is None and not options.torch and left_out:
        print(f"not run: {', '.join(e['name'] for e in left_out)}; ./dev test --torch runs that")
    times = int(base.get("DATAFLUX_TEST_AGAIN") or 0)
    failed = 0
    for entry, case, why in lost:
        unsteady = (times > 0 and len(lost) <= MOST_AGAIN and may_pass_again(case, why)
                    and passes_again(entry, case, times, base, options.full))
        failed += not unsteady
        passed += unsteady
        print(f"{'UNSTEADY' if unsteady else 'FAILED'} {entry['name']}: {case}: {in_short(why)}")
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
