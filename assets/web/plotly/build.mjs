/* Makes plotly.min.js, and plotly.LICENSES.txt with the licence of every package in it: npm install --ignore-scripts && npm run build */
import {readFileSync, readdirSync, writeFileSync} from "node:fs";
import {build} from "esbuild";

const made = await build({
  entryPoints: ["traces.js"], outfile: "plotly.min.js", bundle: true, minify: true, format: "iife",
  globalName: "Plotly", target: "es2020", define: {global: "window", "define.amd": "false"},
  loader: {".css": "empty"}, // maps only
  legalComments: "none", metafile: true,
});

const packages = new Set(
  Object.keys(made.metafile.inputs).map((path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[0]).filter(Boolean),
);
const licences = [...packages].sort().map((folder) => {
  const {name, version, license} = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file ? readFileSync(`${folder}/${file}`, "utf8").trim() : "";
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync("plotly.LICENSES.txt", licences.join(`\n${"=".repeat(80)}\n\n`));
