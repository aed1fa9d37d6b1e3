// Keys for the pages of `memrepo serve`; everything works without them, and without this file.
"use strict";
const cards = [...document.querySelectorAll("article.decision[id]")];
let at = -1;
function go(step) {
  if (!cards.length) return;
  cards[at]?.classList.remove("on");
  at = Math.min(Math.max(at + step, 0), cards.length - 1);
  cards[at].classList.add("on");
  cards[at].focus({ preventScroll: true });
  cards[at].scrollIntoView({ block: "nearest" });
}
const keys = {
  j: () => go(1), k: () => go(-1),
  "/": () => { const q = document.getElementById("q"); if (q) q.focus(); else location.assign(document.querySelector(".tabs a[href$=search]").href); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => { if (!window.confirm(form.dataset.confirm)) event.preventDefault(); });
}
