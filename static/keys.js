// Keys of the judging and the adjudication page: each presses the first thing in the page that bears it as data-key.
"use strict";

// The character typed decides. Where a layout types none of ours with a key (Cyrillic letters, the French digit row),
// the key's place does.
function keyOf(event) {
  const typed = event.key.length === 1 ? event.key.toLowerCase() : "";
  if (/^[a-z0-9?]$/.test(typed)) return typed;
  if (event.shiftKey) return "";
  const place = /^(?:Key([A-Z])|Digit([0-9]))$/.exec(event.code);
  return place ? (place[1] || place[2]).toLowerCase() : "";
}

function isTyping(target) {
  return target.closest("input:not([type=hidden]), textarea, select, [contenteditable]") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && isTyping(event.target)) return event.target.blur();
  if (event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (isTyping(event.target)) return;
  const key = keyOf(event);
  if (!key) return;
  const inSheet = document.querySelector("[popover]:popover-open") !== null;
  if (inSheet && key !== "g" && key !== "?") return;
  const wanted = [...document.querySelectorAll("[data-key]")].find((el) => el.dataset.key.split(" ").includes(key));
  if (!wanted) return;
  event.preventDefault();
  if (key === "c") return writeComment(wanted);
  wanted.click();
});

function writeComment(summary) {
  summary.parentElement.open = true;
  const box = summary.parentElement.querySelector("textarea");
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}
