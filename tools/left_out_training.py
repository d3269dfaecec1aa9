"""Leave-one-source-out and leave-one-model-out of training steps, for tools/leave_one_out.py --training.

Few constants were fitted to published runs, or chosen with such runs in view; FITTED lists all. For each source left out
(or each model), every constant is refitted to the rows of the other sources on the same generation of GPUs: the value of the
smallest mean over sources of their mean absolute error. A row's time between two values of a constant follows from two
simulations: it is linear in 1 / step_speed, and in host_read.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "validation" / "training"

# The speed of kernels in a step against kernels alone, by generation; host time after a kernel whose result the host reads.
SHIPPED_SPEED = {"ampere": 0.93, "hopper": 0.84, "blackwell": 0.90, "cdna": 0.95}
TRIAL_SPEED = 0.75
SHIPPED_READ, TRIAL_READ = 1600.0, 600.0  # microseconds
READ_FILES = ["megatron_bridge_perf_summary.csv", "simumax_b200_real.csv"]  # the tables with experts and no CUDA graphs
# Constants that no other source can give; rows that need them are listed, and not counted in the left-out errors.
CONVENTIONS = [
    ("MT-NLG", "mt_nlg", "the microbatch of two sequences follows from how the three times scale"),
    ("vTrain, one node", "vtrain_ground_truth_single", "compute.host_issue 80 us (CUPTI) is fitted to its `calibrate` rows; that no "
     "row recomputes is read out of the times"),
    ("zero bubble", "zero_bubble", "compute.host_resume 300 us of 1F1B rows was chosen after looking at the same rows"),
]


UNSTEADY = "ccl_bench_a100_tpu"  # equal configurations took 2.6 and 16 s (rows 112 and 092)


def simulated(binary, *arguments):
    answer = subprocess.run([binary, "validate", "training", *arguments, "--json", "-q"], text=True, capture_output=True)
    if not answer.stdout:
        sys.exit(answer.stderr)
    return json.loads(answer.stdout)


class Row:
    """Times of one run: measured, as simulated, and with the trial values of the constants."""

    def __init__(self, row, fast, read):
        self.row = row
        self.source = row["source"]
        self.model = row["model"]
        self.measured = row["measured_s"]
        shipped = SHIPPED_SPEED.get(row["generation"])
        self.per_inverse = 0.0  # seconds for each unit of 1 / step_speed
        if fast and shipped:
            self.per_inverse = (fast["predicted_s"] - row["predicted_s"]) / (1.0 / TRIAL_SPEED - 1.0 / shipped)
        self.per_read = (row["predicted_s"] - read["predicted_s"]) / (SHIPPED_READ - TRIAL_READ) if read else 0.0

    def error(self, speed=None, read=SHIPPED_READ):
        shipped = SHIPPED_SPEED.get(self.row["generation"])
        seconds = self.row["predicted_s"] + self.per_read * (read - SHIPPED_READ)
        if speed and shipped:
            seconds += self.per_inverse * (1.0 / speed - 1.0 / shipped)
        return seconds / self.measured - 1.0


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def mean_over_sources(rows, error):
    """Each source counts once."""
    of = {}
    for row in rows:
        of.setdefault(row.source, []).append(abs(error(row)))
    return mean(mean(errors) for errors in of.values())


def fitted(rows):
    """The constants that suit these rows, of one generation: step speed and time of a read by the host."""
    reads = [r for r in rows if r.per_read != 0.0]
    read = min([0.0, 300.0, 600.0, 1000.0, 1300.0, 1600.0, 2000.0], key=lambda us: mean_over_sources(
        reads, lambda row: row.error(read=us))) if reads else TRIAL_READ
    speeds = [0.70 + 0.01 * step for step in range(31)]
    speed = min(speeds, key=lambda value: mean_over_sources(rows, lambda row: row.error(value, read))) if rows else None
    return speed, read


def left_out(rows, key):
    """By row: the error with constants fitted without the rows of its source, or of its model. And those constants."""
    errors, constants = {}, {}
    everywhere = {}
    for name in sorted({getattr(row, key) for row in rows}):
        others = [row for row in rows if getattr(row, key) != name]
        _, read = fitted([row for row in others if row.per_read != 0.0])
        for generation in {row.row["generation"] for row in rows if getattr(row, key) == name}:
            speed, _ = fitted([row for row in others if row.row["generation"] == generation])
            if speed is None:  # no other source on this generation: what suits the others
                if name not in everywhere:
                    everywhere[name] = fitted(others)[0]
                speed = everywhere[name]
            constants[name, generation] = (speed, read)
            for row in rows:
                if getattr(row, key) == name and row.row["generation"] == generation:
                    errors[id(row)] = row.error(speed, read)
    return errors, constants


def percent(ratio):
    return f"{100 * ratio:.1f} %"


def signed(ratio):
    return f"{100 * ratio:+.1f} %"


def kinds_csv(rows, errors):
    text = ("# Errors that leave-one-source-out found for training steps, by kind: means over sources. `any`: all kinds. Made by\n"
            "# tools/leave_one_out.py BINARY --training --page.\n"
            "generation,strategy,precision,rows,sources,error,bias\n")
    cells = {}
    for row in rows:
        r = row.row
        for kind in {(r["generation"], r["strategy"], r["precision"]), (r["generation"], "any", r["precision"]),
                     (r["generation"], "any", "any"), ("any", "any", "any")}:
            cells.setdefault(kind, {}).setdefault(row.source, []).append(errors[id(row)])
    for kind in sorted(cells):
        of = cells[kind]
        absolute = mean(mean(map(abs, values)) for values in of.values())
        bias = mean(mean(values) for values in of.values())
        text += f"{','.join(kind)},{sum(map(len, of.values()))},{len(of)},{absolute:.3f},{bias:.3f}\n"
    return text, cells


def memory_lines(rows, titles):
    """Errors of device memory. No constant of it was fitted to runs, so that leaving a source out changes nothing."""
    of = {}
    for row in rows:
        if "memory_error" in row.row:
            of.setdefault(row.source, []).append(row.row["memory_error"])
    lines = ["", "Device memory of the fullest GPU, where it was measured. No constant of it was fitted to runs, so that leaving a",
             "source out changes nothing; which buffers a framework has was found in its code, with these rows in view:", "",
             "| source | rows | memory | signed | largest |", "|---|---:|---:|---:|---:|"]
    for source in sorted(of, key=lambda name: titles[name]):
        errors = of[source]
        lines.append(f"| {titles[source]} | {len(errors)} | {percent(mean(map(abs, errors)))} | {signed(mean(errors))} | "
                     f"{signed(max(errors, key=abs))} |")
    if of:
        lines.append(f"| **mean over sources** | {sum(map(len, of.values()))} | "
                     f"{percent(mean(mean(map(abs, errors)) for errors in of.values()))} | "
                     f"{signed(mean(mean(errors) for errors in of.values()))} | |")
    return lines


def page(rows, by_source, by_model, constants, kinds, titles):
    excluded = {source for _, source, _ in CONVENTIONS}
    counted = [row for row in rows if row.source not in excluded]
    lines = ["## Held-out sources", "",
             "Each source in turn is held out: the constants that were fitted to published runs, or chosen after looking at such",
             "runs, are refitted to the other sources of the same GPU generation; the last columns show their values then. The",
             "same for each model. Generated by `tools/leave_one_out.py build/release/ringwright --training --page`.", "",
             "| source | rows | in-sample | held out | signed | model held out | step speed | host_read |",
             "|---|---:|---:|---:|---:|---:|---|---:|"]
    for source in sorted({row.source for row in rows}, key=lambda name: titles[name]):
        mine = [row for row in rows if row.source == source]
        used = [(g, c) for (name, g), c in sorted(constants.items()) if name == source]
        speeds = ", ".join(f"{g} {100 * c[0]:.0f} %" for g, c in used)
        read = f"{used[0][1][1]:.0f} us" if any(row.per_read for row in mine) else "-"
        name = titles[source] + (" (not counted)" if source in excluded else "")
        lines.append(f"| {name} | {len(mine)} | {percent(mean(abs(r.error()) for r in mine))} | "
                     f"{percent(mean(abs(by_source[id(r)]) for r in mine))} | {signed(mean(by_source[id(r)] for r in mine))} | "
                     f"{percent(mean(abs(by_model[id(r)]) for r in mine))} | {speeds} | {read} |")

    def total(name, chosen):
        chosen = [row for row in counted if chosen(row)]
        lines.append(f"| **{name}** | {len(chosen)} | {percent(mean_over_sources(chosen, lambda r: r.error()))} | "
                     f"{percent(mean_over_sources(chosen, lambda r: by_source[id(r)]))} | "
                     f"{signed(mean(mean(by_source[id(r)] for r in chosen if r.source == s) for s in {r.source for r in chosen}))} | "
                     f"{percent(mean_over_sources(chosen, lambda r: by_model[id(r)]))} | | |")

    total("mean over sources", lambda row: True)
    total("dense", lambda row: row.row["strategy"] != "experts")
    total("dense, without CCL-Bench*", lambda row: row.row["strategy"] != "experts" and row.source != UNSTEADY)
    total("experts", lambda row: row.row["strategy"] == "experts")
    total("experts, without CCL-Bench*", lambda row: row.row["strategy"] == "experts" and row.source != UNSTEADY)
    lines += ["", "\\* Its authors changed software between runs of one configuration, whose times differ by a factor of up to six, and",
              "profiled most of them: its rows give shares and volumes, and are counted all the same."]
    lines += memory_lines(rows, titles)
    lines += ["", "Constants fitted to runs, or chosen after looking at runs:", "",
              "| constant | shipped | from | without it |", "|---|---|---|---|",
              "| `step.speed` of A100 | 93 % | `calibrate` rows of Megatron 2020 and vTrain | refitted, above |",
              "| `step.speed` of H100, H200, GH200 | 84 % | open rows of NeMo 24.07 and MLPerf GPT-3 on H100 | refitted, above |",
              "| `step.speed` of B200, GB200, B300, GB300 | 90 % | `calibrate` rows of SimuMax | refitted, above |",
              "| `step.speed` of MI300X, MI325X, MI350X, MI355X | 95 % | open rows of MLPerf LoRA v5.0 on MI300X and MI325X | refitted, above |",
              "| `compute.host_read` | 1.6 ms | rows of Megatron-Bridge with experts | refitted, above |"]
    lines += ["", "Inferred from the very times that they predict; rows that need them are not counted in the means:", ""]
    lines += [f"* {title}: {why}" for title, _, why in CONVENTIONS]
    lines += ["", "By kind of step (means over sources, held out):", "",
              "| generation | strategy | precision | rows | sources | error | signed |", "|---|---|---|---:|---:|---:|---:|"]
    for kind in sorted(kinds):
        of = kinds[kind]
        if len(of) < 2:
            continue
        lines.append(f"| {' | '.join(kind)} | {sum(map(len, of.values()))} | {len(of)} | "
                     f"{percent(mean(mean(map(abs, v)) for v in of.values()))} | {signed(mean(mean(v) for v in of.values()))} |")
    return lines


def main(binary, write_page, folder=None):
    """`folder`: keeps the three simulations there as base.json, speed.json and read.json, and takes those that are there."""
    def result(name, *arguments):
        file = pathlib.Path(folder) / f"{name}.json" if folder else None
        if file and file.exists():
            return json.loads(file.read_text())
        answer = simulated(binary, *arguments)
        if file:
            file.write_text(json.dumps(answer))
        return answer

    base = result("base")
    slow = result("speed", "--set", f"compute.step_speed={100 * TRIAL_SPEED:.0f}%")
    reads = result("read", *(str(TABLES / file) for file in READ_FILES), "--set", f"compute.host_read={TRIAL_READ:.0f}us")
    titles = {source["name"]: source["title"] for source in base["sources"]}
    fast, read = ({row["id"]: row for row in answer["rows"] if "predicted_s" in row} for answer in (slow, reads))
    rows = [Row(row, fast.get(row["id"]), read.get(row["id"])) for row in base["rows"] if "predicted_s" in row]
    by_source, constants = left_out(rows, "source")
    by_model, _ = left_out(rows, "model")
    excluded = {source for _, source, _ in CONVENTIONS}
    csv, kinds = kinds_csv([row for row in rows if row.source not in excluded], by_source)
    lines = page(rows, by_source, by_model, constants, kinds, titles)
    print("\n".join(lines))
    if write_page:
        (TABLES / "leave_one_out.md").write_text("\n".join(lines) + "\n")
        (ROOT / "validation" / "left_out_training.csv").write_text(csv)
