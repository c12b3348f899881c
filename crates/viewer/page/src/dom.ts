// Elements without markup: text from scenes becomes text nodes and nothing else.

type Child = Node | string | null | undefined | false;

interface Attributes {
  class?: string;
  title?: string;
  [name: string]: unknown;
}

/** An element with attributes, `on...` listeners and children; strings are text. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return element;
}

const PATHS: Record<string, string> = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z",
  back: "M17.5 5v14L8 12zM5 5h2v14H5z",
  forward: "M6.5 5v14L16 12zM17 5h2v14h-2z",
  start: "M19 5v14l-7-7zM12 5v14l-7-7z",
  loop: "M17 4l4 3.5L17 11V8.5H8A3.5 3.5 0 0 0 4.5 12v1h-2v-1A5.5 5.5 0 0 1 8 6.5h9zM7 20l-4-3.5L7 13v2.5h9a3.5 3.5 0 0 0 3.5-3.5v-1h2v1a5.5 5.5 0 0 1-5.5 5.5H7z",
  eye: "M12 5.5c5 0 8.8 4.2 10 6.5-1.2 2.3-5 6.5-10 6.5S3.200 14.300 2 12c1.200-2.300 5-6.500 10-6.500zm0 2.500a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm0 2a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  plot: "M4 4h2v14h14v2H4zM8 15l3.500-5 3 2.500L19 6l1.500 1.200-5.700 8.200-3-2.500-2.300 3.300z",
  camera: "M4 7h4l1.500-2h5L16 7h4v12H4zm8 2.500a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  sun: "M12 7.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM11 2h2v3.500h-2zM11 18.500h2V22h-2zM2 11h3.500v2H2zM18.500 11H22v2h-3.500zM4.200 5.600l1.400-1.400L8 6.600 6.600 8zM16 17.400l1.400-1.400 2.400 2.400-1.400 1.400zM4.200 18.400L6.600 16 8 17.400l-2.400 2.400zM16 6.600l2.400-2.400 1.400 1.400L17.400 8z",
  help: "M12 2a10 10 0 1 1 0 20 10 10 0 0 1 0-20zm-1 14.500v2h2v-2zM12 6c-2.200 0-3.800 1.400-4 3.500h2c.1-1 .9-1.700 2-1.700s2 .7 2 1.700c0 1.700-3 2-3 5.300h2c0-2 3-2.500 3-5.300C16 7.400 14.300 6 12 6z",
  down: "M11 3h2v9l3.500-3.500L18 10l-6 6-6-6 1.500-1.500L11 12zM4 18h16v2H4z",
  target: "M12 6a6 6 0 1 1 0 12 6 6 0 0 1 0-12zm0 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 1h2v5h-2zM11 18h2v5h-2zM1 11h5v2H1zM18 11h5v2h-5z",
  close: "M6.400 5L5 6.400 10.600 12 5 17.600 6.400 19l5.600-5.600 5.600 5.600 1.400-1.400-5.600-5.600L19 6.400 17.600 5 12 10.600z",
  plus: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z",
};

export function icon(name: keyof typeof PATHS | string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name] ?? "");
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

/** A number with about `digits` significant digits, short. */
export function format(x: number, digits = 5): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : x > 0 ? "∞" : "-∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) return x.toExponential(Math.max(0, digits - 2)).replace(/\.?0*e\+?/, "e");
  return String(Number(x.toPrecision(digits)));
}

export function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
