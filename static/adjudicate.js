// The adjudication page: what comes after a verdict is read from its top, and a verdict that was not stored is said.
"use strict";

const trouble = document.getElementById("trouble");

for (const failure of ["htmx:sendError", "htmx:responseError", "htmx:timeout"])
  document.addEventListener(failure, () => {
    trouble.textContent = trouble.dataset.text;
    trouble.hidden = false;
  });

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "adjudicating") return;
  trouble.hidden = true;
  document.getElementById("query")?.focus({ preventScroll: true });
});
