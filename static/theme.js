// Light or dark: what the system says, until the switch says otherwise. Loaded before the page paints.
const root = document.documentElement;
const stored = localStorage.getItem("theme");
if (stored) root.dataset.theme = stored;

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-switch]")) return;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});
