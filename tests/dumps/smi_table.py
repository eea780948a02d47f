# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as nvidia-smi prints them without options, as three generations of drivers do."""
import datetime

START = datetime.datetime(2026, 3, 1, 10, 0, 0)

# Width of the three cells, whether a third line (MIG) follows, the titles of the first line.
LAYOUTS = {
    "384": ((31, 22, 22), False, "Persistence-M| Bus-Id        Disp.A "),
    "525": ((31, 22, 22), True, "Persistence-M| Bus-Id        Disp.A "),
    "550": ((41, 24, 22), True, "Persistence-M | Bus-Id          Disp.A "),
}


def rule(widths, left="+", fill="-", middle="+", right="+"):
    return left + middle.join(fill * width for width in widths) + right


def line(widths, *cells):
    """Cells by their ends: (left, right) of each."""
    parts = []
    for width, (left, right) in zip(widths, cells):
        parts.append(left + " " * (width - len(left) - len(right)) + right)
    return "|" + "|".join(parts) + "|"


def gpu(widths, has_mig, number, at):
    used = "N/A" if at.get("used") is None else f"{at['used']}%"
    wide = widths[0] > 31
    name = at.get("name", "NVIDIA GeForce RTX 3090" if wide else "NVIDIA GeForce ...")
    power = at.get("power")
    draw = power if isinstance(power, str) else f"{power}W"
    limit = "N/A" if at.get("limit") is None else f"{at['limit']}W"
    heat = "ERR!" if at.get("heat") is None else f"{at['heat']}C"
    rows = [line(widths, (f"   {number}  {name}", " Off " if wide else "Off  "),
                 (f" 00000000:{number + 1:02X}:00.0 Off ".rjust(widths[1]), ""),
                 ("", " N/A ")),
            line(widths, (f" {at.get('fan', '45%')}   {heat}    P2", f"{draw} / {limit} "),
                 ("", f"{at['memory']}MiB / {at.get('total', 24576)}MiB "),
                 ("", f"{used}      Default "))]
    if has_mig:
        rows.append(line(widths, ("", ""), ("", ""), ("", " N/A ")))
    return rows + [rule(widths)]


def table(driver, devices, second=None, processes=()):
    """One table; with `second` after its date."""
    widths, has_mig, titles = LAYOUTS[driver]
    inside = sum(widths) + 2
    rows = []
    if second is not None:
        rows.append((START + datetime.timedelta(seconds=second)).strftime("%a %b %e %H:%M:%S %Y")
                    + "       ")
    head = titles.split("|")
    rows += ["+" + "-" * inside + "+",
             "|" + f" NVIDIA-SMI {driver}.12    Driver Version: {driver}.12    CUDA Version: 12.2"
             .ljust(inside) + "|",
             rule(widths, left="|"),
             line(widths, (" GPU  Name", head[0]), (head[1].rstrip(), " "),
                  (" Volatile Uncorr. ECC ", "")),
             line(widths, (" Fan  Temp  Perf", "Pwr:Usage/Cap "), ("", "Memory-Usage "),
                  (" GPU-Util  Compute M. ", ""))]
    if has_mig:
        rows.append(line(widths, ("", ""), ("", ""), ("", "MIG M. ")))
    rows.append(rule(widths, left="|", fill="=", right="|"))
    for number, at in enumerate(devices):
        rows += gpu(widths, has_mig, number, at)
    rows += [" " * (inside + 2), "+" + "-" * inside + "+",
             "|" + " Processes:".ljust(inside) + "|",
             "|" + "  GPU   GI   CI        PID   Type   Process name".ljust(inside) + "|",
             "|" + "=" * inside + "|"]
    for number, name, memory in processes:
        rows.append("|" + (f"    {number}   N/A  N/A      4711      C   {name}").ljust(inside - 11)
                    + f"{memory:>7}MiB |")
    return "\n".join(rows + ["+" + "-" * inside + "+"]) + "\n"
