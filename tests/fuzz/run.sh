#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the fuzz targets with the fuzz preset, seeds them, and runs each for some seconds.
#
# usage: tests/fuzz/run.sh [SECONDS [TARGET...]]
#
# Seeds are the inputs of the golden tests, earlier finds, the samples and, where ../shared/data is,
# the damaged files and dumps there; of the reader of reports, reports.  Corpora and finds stay in
# BUILD/fuzz/, BUILD being $TA_FUZZ_BUILD or build-fuzz.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
build=${TA_FUZZ_BUILD:-$root/build-fuzz}
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(
    scanner layout gzip report saved escape pickle dumps logs tables config summary)

# Debug code is slow under two sanitizers; -O1 finds the same and reaches further.
cmake -S "$root" -B "$build" --preset fuzz -DCMAKE_C_FLAGS_DEBUG="-g -O1" >/dev/null
cmake --build "$build" --target fuzz_targets --target traceanalyze_cli -j "$(nproc)" >/dev/null

# Copies small files below the given folders into the seeds of a target; each with its own name.
seed() {
    local target=$1 file number=0
    shift
    mkdir -p "$build/fuzz/$target/seeds"
    while IFS= read -r -d '' file; do
        number=$((number + 1))
        cp -- "$file" "$build/fuzz/$target/seeds/seed-$number"
    done < <(find "$@" -type f -size -64k -print0 | sort -z)
}

folders=("$root/tests/golden/inputs" "$root/tests/fuzz/finds")
for folder in inferix-4ranks framepack-pair diffulex; do
    folders+=("$root/samples/$folder")
done
for folder in faults/cases dumps; do
    [ ! -d "$root/../shared/data/$folder" ] || folders+=("$root/../shared/data/$folder")
done

# Reports on small inputs, as seeds of what reads them.
saved() {
    local file number=0
    mkdir -p "$build/fuzz/saved/seeds"
    while IFS= read -r -d '' file; do
        number=$((number + 1))
        { printf '0' && "$build/traceanalyze" report --no-config -q -o - --format json "$file"; } \
            >"$build/fuzz/saved/seeds/report-$number" 2>/dev/null || true
    done < <(find "$root/tests/golden/inputs" -type f -name '*.json' -size -2k -print0 | sort -z)
}

# Summaries of small inputs.
summary() {
    local file number=0
    mkdir -p "$build/fuzz/summary/seeds"
    while IFS= read -r -d '' file; do
        number=$((number + 1))
        "$build/traceanalyze" reduce --no-config -q -o - "$file" 2>/dev/null | gzip -dc \
            >"$build/fuzz/summary/seeds/summary-$number" 2>/dev/null || true
    done < <(find "$root/tests/golden/inputs" -type f -size -2k -print0 | sort -z)
}

# Logs and small files of servers; the byte before them picks the reader (fuzz_logs.c).
logs() {
    local file byte
    mkdir -p "$build/fuzz/logs/seeds"
    for file in "$root"/samples/console-logs/* "$root"/../shared/data/public/[fd][0-9]*/*; do
        [ -f "$file" ] || continue
        for byte in '\001' '\002' '\004' '\006' '\010' '\012' '\014'; do
            { printf "$byte" && head -c 12000 "$file"; } \
                >"$build/fuzz/logs/seeds/${byte#?}-$(basename "$file")"
        done
    done
}

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$root/tests/support/lsan.supp:print_suppressions=0

status=0
for target in "${targets[@]}"; do
    work=$build/fuzz/$target
    case $target in
    saved | summary | logs) "$target" ;;
    *) seed "$target" "${folders[@]}" ;;
    esac
    mkdir -p "$work/corpus" "$work/finds"
    longest=16384
    case $target in # no report and no summary is shorter than some 20 KiB
    saved | summary) longest=131072 ;;
    esac
    options=(-max_total_time="$seconds" -max_len="$longest" -timeout=10 -rss_limit_mb=2048
        -print_final_stats=1 -artifact_prefix="$work/finds/")
    dict=$root/tests/fuzz/${target/layout/scanner}.dict
    [ ! -f "$dict" ] || options+=(-dict="$dict")
    printf '== %s, %s s\n' "$target" "$seconds"
    "$build/tests/fuzz/fuzz_$target" "${options[@]}" "$work/corpus" "$work/seeds" \
        >"$work/log" 2>&1 || status=1
    grep -E '^stat::|^SUMMARY|broken:|ERROR|Test unit written' "$work/log" || true
done
exit "$status"
