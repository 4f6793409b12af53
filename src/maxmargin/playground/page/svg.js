// Elements by name and attributes, for SVG and for HTML. Text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** A new SVG element with these attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  set(element, attributes);
  element.append(...children);
  return element;
}

/** A new HTML element with these attributes and children. */
export function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  set(element, attributes);
  element.append(...children);
  return element;
}

/**
 * Set attributes; null and undefined take one away, true and false are words (aria-pressed="false"). What is the same
 * already is left alone: the browser would work through the style of the element again.
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
  }
  return element;
}

/** Polygon and polyline coordinates, in full precision. */
export function coordinates(points) {
  return points.map(([x, y]) => `${x},${y}`).join(" ");
}
