#!/usr/bin/env bash
# Run the fast tests with the oldest versions that pyproject.toml declares, or with the newest.
# Usage: tools/test_versions.sh oldest|newest        (PYTHON=python3.12 for another interpreter)
set -euo pipefail
cd "$(dirname "$0")/.."
which="$1"
environment=".venv-$which"
"${PYTHON:-python3}" -m venv --clear "$environment"
install() { .venv/bin/uv pip install --quiet --python "$environment/bin/python" "$@"; }
if [ "$which" = oldest ]; then
    install --group oldest
    install --no-deps --no-build-isolation -e . -e ./paper
else
    install --upgrade -e . -e ./paper --group test --group build
fi
"$environment/bin/python" -m pytest -n auto src paper/src tests paper/tests
