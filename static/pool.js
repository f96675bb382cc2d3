// The lead's pool page: nothing is asked for while nobody looks, and what is shown once can be copied.
"use strict";

document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.elt.matches("[data-live]")) event.preventDefault();
});

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const said = button.closest("section").querySelector("[data-copied]");
  field.addEventListener("focus", () => field.select());
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    // Without TLS there is no clipboard to write to, but the old command still copies what is selected.
    if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
    else document.execCommand("copy");
    said.textContent = said.dataset.copied;
  });
}
