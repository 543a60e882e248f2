"""Reads and writes the result files benchmarks/results/PROCESSOR.json, one for each kind of processor.

A file holds the name of the processor and a list of rows. A row has its name, work, unit, device, dtype and date, the goal as a ratio to the best
peer, and for each program the median, the smallest and the largest sample (or only the median). scripts/make_measurements makes pages and a plot of them.
"""

import datetime
import json
import pathlib
import re
import statistics

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "results"
# Generations of x86-64 processors by (vendor, family, first and last model), because virtual machines often hide the
# marketing name.
GENERATIONS = [("AuthenticAMD", 25, 0x00, 0x0F, "Zen 3"), ("AuthenticAMD", 25, 0x10, 0x1F, "Zen 4"), ("AuthenticAMD", 25, 0x20, 0x5F, "Zen 3"),
               ("AuthenticAMD", 25, 0x60, 0xAF, "Zen 4"), ("AuthenticAMD", 26, 0x00, 0xFF, "Zen 5"), ("GenuineIntel", 6, 143, 143, "Sapphire Rapids")]


def processor(cpuinfo=None):
    """Returns a readable name of this machine's processor: its name, its generation if known, and its widest vector instructions."""
    text = cpuinfo if cpuinfo is not None else pathlib.Path("/proc/cpuinfo").read_text()
    facts = dict(re.findall(r"(?m)^([^\t\n]+)\t*: (.*)$", text.split("\n\n")[0]))
    flags = facts.get("flags", "").split()
    vendor, family, model = facts.get("vendor_id", ""), int(facts.get("cpu family", 0)), int(facts.get("model", 0))
    known = [name for maker, of, first, last, name in GENERATIONS if (maker, of) == (vendor, family) and first <= model <= last]
    vectors = next((name for flag, name in (("amx_tile", "AVX-512 and AMX"), ("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    return ", ".join([facts.get("model name", "unknown processor").strip(), *known, vectors])


def path_of(name, folder=FOLDER):
    return folder / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".json")


def spread(samples, scale=1):
    """Returns the median, smallest and largest of the samples, times `scale`."""
    return [float(f"{scale * value:.4g}") for value in (statistics.median(samples), min(samples), max(samples))]


def row(name, work, unit, figures, wanted=None, device="cpu", dtype="float32", date=None):
    """Returns a row of results. `figures` maps the name of each program to its numbers and includes Catenary."""
    return {"row": name, "work": work, "unit": unit, "device": device, "dtype": dtype, "date": date or datetime.date.today().isoformat(),
            "wanted": wanted, "figures": figures}


def key(entry):
    return entry["row"], entry["device"], entry["dtype"]


def record(rows, name=None, folder=FOLDER):
    """Replaces rows in the file of a processor and returns its path. A temporary file keeps the old one intact if writing fails."""
    name = name or processor()
    path = path_of(name, folder)
    found = json.loads(path.read_text()) if path.exists() else {"processor": name, "rows": []}
    new = {key(entry): entry for entry in rows}
    kept = [new.pop(key(entry), entry) for entry in found["rows"]]
    found["rows"] = kept + list(new.values())
    folder.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    temporary.replace(path)
    return path


def read(folder=FOLDER):
    """Returns the rows of all files by the name of the processor."""
    files = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return {entry["processor"]: entry["rows"] for entry in files}
