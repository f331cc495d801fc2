#!/usr/bin/env bash
# Bundle the parts of Observable Plot that the report page draws with, once and for all, into
# src/purecover/html/vendor/. Needs node and npm; run it from anywhere, then look at the pages.
set -euo pipefail
out="$(cd "$(dirname "$0")/.." && pwd)/src/purecover/html/vendor"
locked="$(cd "$(dirname "$0")" && pwd)/vendor_plot"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
# What the lock file has no hash of, or another, is not installed.
cp "$locked/package.json" "$locked/package-lock.json" .
npm ci --silent --no-audit --no-fund --ignore-scripts

# Only these functions become visible, as properties of the global Plot.
cat >entry.js <<'JS'
export {
  plot, areaY, axisX, axisY, dot, frame, gridX, gridY, line, pointer, rect, rectY, ruleX, ruleY, text, tip,
} from "@observablehq/plot";
JS
npx esbuild entry.js --bundle --minify --format=iife --global-name=Plot --target=es2022 \
    --legal-comments=none --metafile=meta.json --log-level=warning --outfile=plot.js

# The license of every package that is in the bundle: in full in a file, and with equal texts
# once at the head of the script, because a page that is passed on is a copy of it.
node - "$out" <<'JS'
const fs = require("fs");
const out = process.argv[2];
const [{inputs}] = Object.values(JSON.parse(fs.readFileSync("meta.json")).outputs);
const folders = new Set(
  Object.keys(inputs)
    .filter((name) => inputs[name].bytesInOutput > 0)
    .map((name) => name.match(/^node_modules\/(@[^/]+\/)?[^/]+/)?.[0])
    .filter(Boolean)
);
const full = [];
const holders = new Map(); // body of a license -> the packages and copyright lines it stands for
for (const folder of [...folders].sort()) {
  const {name, version, license} = JSON.parse(fs.readFileSync(`${folder}/package.json`));
  const file = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file) throw new Error(`${name} brings no license text`);
  const text = fs.readFileSync(`${folder}/${file}`, "utf8").trim();
  full.push(`${name} ${version} (${license})\n\n${text}\n`);
  const [first, ...body] = text.split("\n");
  const key = body.join("\n").trim();
  holders.set(key, [...(holders.get(key) ?? []), `${name} ${version}. ${first}`]);
}
fs.writeFileSync(`${out}/LICENSES.txt`, full.join(`\n${"-".repeat(80)}\n\n`));
const notice = [...holders].map(([body, names]) => `${names.join("\n")}\n\n${body}`).join("\n\n");
if (/\*\/|<\/|<!--/.test(notice)) throw new Error("the notice would end the comment or the script");
fs.writeFileSync(`${out}/plot.min.js`, `/*!\n${notice}\n*/\n${fs.readFileSync("plot.js", "utf8")}`);
JS
cd "$out" && sha256sum plot.min.js LICENSES.txt >"$locked/SHA256SUMS"
wc -c plot.min.js LICENSES.txt
