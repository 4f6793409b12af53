// What is seen, as a file: PNG, SVG or CSV.
//
// An exported picture stands alone: the colours and widths that the page's style sheet gives are written into it.

import { announce, showNotice } from "./announce.js";
import { html } from "./svg.js";

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap",
  "stroke-linejoin", "opacity", "font-family", "font-size", "paint-order", "visibility",
];
const NOT_YET = "Nothing was saved: the picture is not yet that of these points. Save it when it has been checked.";
const SHARPNESS = 2; // pixels of a PNG for each pixel of the page

export class Downloads {
  constructor(store, panels) {
    Object.assign(this, { store, panels });
    for (const kind of ["png", "svg", "csv"]) {
      document.getElementById(`save-${kind}`).addEventListener("click", async () => {
        // A picture that leaves the page cannot say that it is out of date.
        const isReady = kind === "csv" || this.visible.every(({ isFresh }) => isFresh);
        showNotice("trouble", isReady ? null : NOT_YET, { onClose: () => {} });
        if (!isReady) return;
        await this[kind]();
        announce(`Saved as ${kind.toUpperCase()}.`);
      });
    }
  }

  get visible() {
    return this.panels.filter(({ root }) => !root.hidden);
  }

  get figures() {
    return this.visible.map(({ figure, name }) => ({ root: figure.root, name }));
  }

  svg() {
    for (const { root, name } of this.figures) {
      save(new Blob([standalone(root)], { type: "image/svg+xml" }), this.file(name, "svg"));
    }
  }

  async png() {
    for (const { root, name } of this.figures) {
      const picture = new Image();
      picture.src = URL.createObjectURL(new Blob([standalone(root)], { type: "image/svg+xml" }));
      await picture.decode();
      const canvas = document.createElement("canvas");
      const { width, height } = root.getBoundingClientRect();
      canvas.width = SHARPNESS * width;
      canvas.height = SHARPNESS * height;
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(picture.src);
      save(await new Promise((resolve) => canvas.toBlob(resolve, "image/png")), this.file(name, "png"));
    }
  }

  csv() {
    const rows = this.store.state.points.map((point) => point.join(","));
    save(new Blob([["x1,x2,label", ...rows, ""].join("\n")], { type: "text/csv" }), "points.csv");
  }

  file(name, kind) {
    return this.figures.length === 1 ? `maxmargin.${kind}` : `maxmargin-${name}.${kind}`;
  }
}

function standalone(root) {
  const copy = root.cloneNode(true);
  const { width, height } = root.getBoundingClientRect();
  const originals = root.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role"]) element.removeAttribute(name);
  });
  copy.querySelectorAll("[fill='rgba(0, 0, 0, 0)']").forEach((element) => element.setAttribute("fill", "none"));
  const background = document.createElementNS(copy.namespaceURI, "rect");
  background.setAttribute("width", width);
  background.setAttribute("height", height);
  background.setAttribute("fill", getComputedStyle(root).backgroundColor);
  copy.prepend(background);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.removeAttribute("class");
  return new XMLSerializer().serializeToString(copy);
}

function save(blob, name) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
