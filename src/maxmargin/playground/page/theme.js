// Light or dark: as the system has it, until the reader chooses.

const KEY = "maxmargin-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export function startTheme(button) {
  let chosen = read();
  const apply = () => {
    const dark = chosen === null ? system.matches : chosen === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    write(chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

// A browser may forbid storage; the theme is then the system's at the next visit.
function read() {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "dark" || kept === "light" ? kept : null;
  } catch {
    return null;
  }
}

function write(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // nothing is lost but the memory of a colour
  }
}
