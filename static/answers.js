// Answers on their way to the server. Each is kept in the tab until the server has taken it: through a lost connection,
// a reload and a sign-in. The key in its form makes the server store it once, however often it is sent.
"use strict";

const KEPT = "unjudged:answer";
const PAUSES = [2, 4, 8, 16, 30]; // seconds
const HEARTBEAT = 60_000;

const trouble = document.getElementById("trouble");

let answer = read(); // {url, values, word, query, annotator, tries}: what the server has not taken yet
let isSending = false;
let timer = 0;

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

function keep(kept) {
  answer = kept;
  if (kept) sessionStorage.setItem(KEPT, JSON.stringify(kept));
  else sessionStorage.removeItem(KEPT);
}

// On a shared computer, what one person said is not sent as another's.
const isOurs = () => answer !== null && answer.annotator === area().dataset.annotator;

// --- Sending --------------------------------------------------------------------------------------------------------

document.addEventListener("htmx:configRequest", (event) => {
  const { elt, verb, path, parameters, formData } = event.detail;
  if (isSending && elt === area()) return; // an answer that is sent again
  if (!elt.closest("#judging")) return;
  if (isOurs()) return event.preventDefault(); // one at a time: nothing else is asked while an answer waits
  const form = elt.closest("form");
  if (verb !== "post" || !form) return;
  if (form.matches(".pair")) parameters.seconds = secondsSpent();
  const pressed = event.detail.triggeringEvent?.submitter ?? elt;
  const values = Object.fromEntries([...formData].filter(([name]) => name !== "csrfmiddlewaretoken"));
  const query = document.getElementById("query")?.innerText ?? "";
  keep({ url: path, values, word: pressed.dataset?.word ?? "", query, annotator: area().dataset.annotator, tries: 0 });
  isSending = true;
  area().classList.add("sending");
});

document.addEventListener("htmx:afterRequest", (event) => {
  const { requestConfig, successful, xhr } = event.detail;
  if (requestConfig?.verb !== "post" || !isSending || !answer) return;
  isSending = false;
  area().classList.remove("sending");
  const goesElsewhere = xhr.getResponseHeader("HX-Redirect") || xhr.getResponseHeader("HX-Refresh");
  if (goesElsewhere) return count();
  if (successful || xhr.status === 409) settle();
  else if (xhr.status >= 400 && xhr.status < 500 && ![408, 429].includes(xhr.status)) refuse();
  else wait();
});

function count() {
  keep({ ...answer, tries: answer.tries + 1 });
}

function settle() {
  keep(null);
  clearTimeout(timer);
  hideTrouble();
}

function wait() {
  const pause = PAUSES[Math.min(answer.tries, PAUSES.length - 1)];
  count();
  showTrouble(trouble.dataset.waiting, { send: true });
  clearTimeout(timer);
  timer = setTimeout(send, pause * 1000);
}

function refuse() {
  clearTimeout(timer);
  showTrouble(trouble.dataset.refused, { send: true, drop: true });
}

function send() {
  clearTimeout(timer);
  if (!isOurs() || isSending) return;
  isSending = true;
  area().classList.add("sending");
  ask("POST", answer.url, answer.values);
}

// What fails is seen by the events above.
function ask(verb, url, values) {
  const swap = "outerHTML show:window:top";
  htmx.ajax(verb, url, { source: area(), target: area(), swap, values }).catch(() => {});
}

addEventListener("online", send);
trouble.querySelector("[data-send]").addEventListener("click", send);
trouble.querySelector("[data-drop]").addEventListener("click", settle);

addEventListener("beforeunload", (event) => {
  if (isOurs() && !isSending) event.preventDefault();
});

// --- Saying so ------------------------------------------------------------------------------------------------------

function showTrouble(what, { send = false, drop = false } = {}) {
  const said = answer && send ? [answer.word, answer.query, answer.values.comment].filter(Boolean).join(" · ") : "";
  trouble.querySelector("[data-what]").textContent = what;
  trouble.querySelector("[data-which]").textContent = said;
  trouble.querySelector("[data-send]").hidden = !send;
  trouble.querySelector("[data-drop]").hidden = !drop;
  trouble.hidden = false;
  area().classList.toggle("waiting", send);
}

function hideTrouble() {
  trouble.hidden = true;
  area().classList.remove("waiting");
}

// What was asked for without an answer, such as the pair before: nothing is lost, so nothing is tried again.
for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"])
  document.addEventListener(failure, (event) => {
    if (event.detail.requestConfig?.verb !== "get" || isOurs()) return;
    showTrouble(trouble.dataset.away);
    setTimeout(() => isOurs() || hideTrouble(), 6_000);
  });

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "judging" && !isOurs()) hideTrouble();
});

// --- What the person holds: kept by an open page, given back by one that is closed ------------------------------------

const forms = () => area()?.querySelector("form.pair");
const headers = () => JSON.parse(document.body.getAttribute("hx-headers"));
const others = new BroadcastChannel(`unjudged:${area().dataset.leave}`);

function beat() {
  if (!forms()) return;
  const body = new URLSearchParams({ shown: forms().dataset.hold });
  fetch(area().dataset.heartbeat, { method: "POST", headers: headers(), body }).catch(() => {});
}

setInterval(() => document.hidden || beat(), HEARTBEAT);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  beat();
  if (answer?.tries) send();
});

addEventListener("pagehide", () => {
  if (!forms()) return;
  const body = new FormData();
  body.append("closed", "1");
  body.append("csrfmiddlewaretoken", headers()["X-CSRFToken"]);
  navigator.sendBeacon(area().dataset.leave, body);
  others.postMessage("left");
});

// The page that was left may be this one, loaded again, or a second one beside this: either way somebody is here.
setTimeout(beat, 2_000);
others.addEventListener("message", () => setTimeout(beat, 1_000));

addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  answer = read();
  if (isOurs()) send();
  else ask("GET", area().dataset.judge);
});

// --- An answer that this tab brought from before a reload ---------------------------------------------------------------

if (isOurs() && answer.tries > 0) wait();
if (isOurs() && answer.tries === 0) {
  showTrouble(trouble.dataset.waiting, { send: true });
  send();
}
