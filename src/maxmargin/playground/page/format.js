// Numbers as people read them.

/** Four digits, a true minus sign, and a word for what is not a number. */
export function short(value, digits = 4) {
  if (value === null || value === undefined) return "unknown";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? scientific(value, digits) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

/** Rounded up (direction 1) or down (-1), so that a bound that is printed is still one. */
export function outwards(value, direction, digits = 6) {
  if (value === null || !Number.isFinite(value)) return "unknown";
  const near = Number(value.toPrecision(digits));
  if (value === 0 || (near - value) * direction >= 0) return short(near, digits);
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  return short(Number((near + direction * unit).toPrecision(digits)), digits);
}

/** 1.2e-16 as 1.2 × 10⁻¹⁶. */
function scientific(value, digits) {
  return typeset(value.toExponential(Math.max(0, digits - 3)));
}

function raised(exponent) {
  return String(Number(exponent)).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
}

export function percent(share) {
  return `${(100 * share).toFixed(share < 0.9995 ? 1 : 2)} %`;
}

/** The label of a third class; the two others are 1 and -1. */
export const THIRD = 2;

export function className(label) {
  if (label === THIRD) return "third";
  return label > 0 ? "positive" : "negative";
}

/** Whether there are more than two classes. */
export function hasThird(points) {
  return points.some(([, , label]) => label === THIRD);
}

// The library writes mathematics for a terminal; a page has signs for it.
const SIGNS = [
  [/<=/g, "≤"],
  [/>=/g, "≥"],
  [/\^2/g, "²"],
  [/ - /g, " − "],
  [/\bsum (?=xi|\w_|\w \w)/g, "Σ "],
  [/\bxi(?=\b|_)/g, "ξ"],
  [/\bphi\b/g, "φ"],
  [/_i\b/g, "ᵢ"],
  [/\bsqrt\((\w+)\)/g, "√$1"],
  [/\|_1/g, "|₁"],
  [/(\d)e([-+]?\d+)\b/g, (_, digit, exponent) => `${digit}\u00a0×\u00a010${raised(exponent)}`],
];

export function typeset(text) {
  return SIGNS.reduce((written, [plain, sign]) => written.replace(plain, sign), text);
}
