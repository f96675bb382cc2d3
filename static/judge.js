// The judging page: what a person chose to see, and the clock. keys.js presses buttons, answers.js sends what they say.
"use strict";

const IDLE_AFTER = 30_000; // a pause longer than this is not time spent on the document

const area = () => document.getElementById("judging");

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

// Guidelines open by themselves once, and once more when they have changed.
function offerGuidelines() {
  const sheet = document.getElementById("guidelines");
  if (!sheet) return;
  const [close, ...rest] = sheet.children;
  const text = rest.map((part) => part.textContent).join("\n");
  const key = `guidelines:${area().dataset.annotator}:${area().dataset.judge}`;
  if (localStorage.getItem(key) === text) return;
  localStorage.setItem(key, text);
  sheet.showPopover();
  close.focus();
}

// A press beside an open sheet closes it, and does nothing else: a grade behind it would be judged unread.
let closesSheet = false;

document.addEventListener("pointerdown", (event) => {
  const sheet = document.querySelector("[popover]:popover-open");
  closesSheet = sheet !== null && !sheet.contains(event.target) && !event.target.closest("[popovertarget]");
}, { capture: true });

document.addEventListener("click", (event) => {
  if (!closesSheet || event.detail === 0) return; // 0: pressed by a key
  closesSheet = false;
  event.preventDefault();
  event.stopPropagation();
}, { capture: true });

// --- The clock: time with the document, idle time cut out -----------------------------------------------------------

let spent = 0;
let lastSign = performance.now();

function tick() {
  const now = performance.now();
  if (!document.hidden) spent += Math.max(0, Math.min(now - lastSign, IDLE_AFTER));
  lastSign = now;
}

function secondsSpent() {
  tick();
  return (spent / 1000).toFixed(1);
}

for (const sign of ["pointermove", "pointerdown", "keydown", "scroll", "touchstart"])
  document.addEventListener(sign, tick, { passive: true });

document.addEventListener("visibilitychange", () => {
  const now = performance.now();
  if (document.hidden) spent += Math.max(0, Math.min(now - lastSign, IDLE_AFTER));
  lastSign = now;
});

// --- Another question stands there ----------------------------------------------------------------------------------

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "judging") return;
  const { verb, path } = event.detail.requestConfig;
  history.replaceState(history.state, "", verb === "get" ? path : area().dataset.judge);
  spent = 0;
  lastSign = performance.now();
  remember();
  (document.getElementById("go-on") ?? document.getElementById("query"))?.focus({ preventScroll: true });
});

// The page comes back in the other language with what it shows now, not with what it was opened for.
document.addEventListener("submit", (event) => {
  const next = event.target.elements.namedItem("next");
  if (next) next.value = location.pathname + location.search;
}, { capture: true });

// A button pressed before htmx is ready sends the form as a page without scripts does.
document.addEventListener("submit", (event) => {
  if (event.target.matches("form.pair")) event.target.elements.seconds.value = secondsSpent();
}, { capture: true });

remember();
document.getElementById("go-on")?.focus({ preventScroll: true });
offerGuidelines();
