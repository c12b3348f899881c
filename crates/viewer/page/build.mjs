// Bundles the page: dist/index.html with page.js and page.css beside it, and dist/standalone.html with both inside.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const result = await build({
  entryPoints: { page: "src/main.ts" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  write: false,
});
const script = result.outputFiles[0].text.trim();
const style = [readFileSync("node_modules/uplot/dist/uPlot.min.css", "utf8"), readFileSync("style.css", "utf8")].join("\n");
const index = readFileSync("index.html", "utf8");

// The standalone page may run exactly this script: its hash stands in the policy.
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
const policy =
  `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data: blob:; media-src blob:; base-uri 'none'`;
const replace = (text, place, by) => {
  if (!text.includes(place)) throw new Error(`index.html has no ${place}`);
  return text.replace(place, () => by);
};
let standalone = replace(index, "<!--POLICY-->", `<meta http-equiv="Content-Security-Policy" content="${policy}">`);
standalone = replace(standalone, '<link rel="stylesheet" href="page.css">', `<style>${style}</style>`);
standalone = replace(standalone, '<script src="page.js" defer></script>', "");
standalone = replace(standalone, "</body>", `<!--DATA-->\n<script>${script}</script>\n</body>`);

mkdirSync("dist", { recursive: true });
writeFileSync("dist/page.js", script);
writeFileSync("dist/page.css", style);
writeFileSync("dist/index.html", replace(index, "<!--POLICY-->", ""));
writeFileSync("dist/standalone.html", standalone);
