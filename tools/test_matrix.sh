#!/usr/bin/env bash
# Run the fast tests ten times, each in a fresh clone with another hash seed and time zone.
# Usage: tools/test_matrix.sh [PYTHON ...]        (several take turns: python3.11 python3.13)
#        TURNS="0 1 2" tools/test_matrix.sh       (these of the ten only)
set -euo pipefail
cd "$(dirname "$0")/.."
pythons=("${@:-python3}")
zones=(UTC Pacific/Auckland America/St_Johns Asia/Kathmandu Europe/Berlin
    Pacific/Kiritimati America/Los_Angeles Africa/Casablanca Asia/Tokyo Antarctica/Troll)
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
failures=0
for i in ${TURNS:-${!zones[@]}}; do
    python="${pythons[i % ${#pythons[@]}]}"
    git clone -q . "$place/clone"
    env "PYTHONHASHSEED=$((i * 7))" "TZ=${zones[i]}" make -C "$place/clone" test "PYTHON=$python" \
        >"$place/log" 2>&1 || { failures=$((failures + 1)); grep -E "^(FAILED|ERROR)" "$place/log" || true; }
    echo "$python, PYTHONHASHSEED=$((i * 7)), TZ=${zones[i]}: $(grep -E ' (passed|failed|error)' "$place/log" | tail -n 1)"
    rm -rf "$place/clone"
done
exit "$failures"
