// The judging page: keys, the clock, the heartbeat, and answers that wait while the server is away.
"use strict";

const IDLE_AFTER = 30_000; // a pause longer than this is not time spent on the document
const HEARTBEAT = 60_000;
const RETRY = 5_000;

const area = () => document.getElementById("judging");
const trouble = document.getElementById("trouble");

// --- Keys ---------------------------------------------------------------------------------------------------------

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
  wanted.click();
  if (key === "c") focusComment();
});

function focusComment() {
  const box = area().querySelector("textarea");
  if (box && box.closest("details").open) box.focus();
}

// --- What a person chose to see stays chosen ----------------------------------------------------------------------

function remember() {
  for (const details of document.querySelectorAll("details[data-remember]")) {
    details.open = localStorage.getItem(`open:${details.dataset.remember}`) !== "no";
    details.addEventListener("toggle", () =>
      localStorage.setItem(`open:${details.dataset.remember}`, details.open ? "yes" : "no"));
  }
  showMarks(localStorage.getItem("marks") !== "no");
}

function showMarks(shown) {
  document.body.classList.toggle("no-marks", !shown);
  for (const button of document.querySelectorAll("[data-marks]")) button.setAttribute("aria-pressed", String(shown));
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-marks]")) return;
  const shown = document.body.classList.contains("no-marks");
  localStorage.setItem("marks", shown ? "yes" : "no");
  showMarks(shown);
});

// --- The clock: time with the document, idle time cut out -----------------------------------------------------------

let spent = 0;
let lastSign = performance.now();

function tick() {
  const now = performance.now();
  if (!document.hidden) spent += Math.min(now - lastSign, IDLE_AFTER);
  lastSign = now;
}

for (const sign of ["pointermove", "pointerdown", "keydown", "scroll", "touchstart"])
  document.addEventListener(sign, tick, { passive: true });
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    spent += Math.min(performance.now() - lastSign, IDLE_AFTER);
  }
  lastSign = performance.now();
});

document.addEventListener("submit", (event) => {
  const field = event.target.elements.seconds;
  if (!field) return;
  tick();
  field.value = (spent / 1000).toFixed(1);
}, { capture: true });

// --- Swaps, and an answer that waits ---------------------------------------------------------------------------------

let waiting = null;

document.addEventListener("htmx:configRequest", (event) => {
  const form = event.detail.elt.closest("form.pair");
  if (!form || event.detail.verb !== "post") return;
  tick();
  event.detail.parameters.seconds = (spent / 1000).toFixed(1);
  form.classList.add("sending");
});

document.addEventListener("htmx:afterRequest", (event) => {
  event.detail.elt.closest("form.pair")?.classList.remove("sending");
});

// The same button once more sends the same key, so an answer that did arrive is not stored twice.
function tryAgain(event) {
  const config = event.detail.requestConfig;
  if (!config || config.verb !== "post" || !area().contains(event.detail.elt)) return;
  trouble.textContent = trouble.dataset.text;
  trouble.hidden = false;
  clearTimeout(waiting);
  const button = config.triggeringEvent?.submitter ?? event.detail.elt;
  waiting = setTimeout(() => document.contains(button) && button.click(), RETRY);
}

for (const failure of ["htmx:sendError", "htmx:responseError", "htmx:timeout"])
  document.addEventListener(failure, tryAgain);

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "judging") return;
  clearTimeout(waiting);
  trouble.hidden = true;
  spent = 0;
  lastSign = performance.now();
  remember();
  document.getElementById("query")?.focus({ preventScroll: true });
});

setInterval(() => {
  if (document.hidden || !area()?.querySelector("form.pair")) return;
  fetch(area().dataset.heartbeat, {
    method: "POST",
    headers: JSON.parse(document.body.getAttribute("hx-headers")),
  }).catch(() => {});
}, HEARTBEAT);

remember();
