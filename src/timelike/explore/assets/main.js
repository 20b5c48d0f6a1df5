// The page: what is chosen, and who is told.

import { Explorer } from "timelike/explorer.js";
import { Local } from "timelike/local.js";
import { make } from "timelike/parts.js";
import { Server } from "timelike/source.js";

const KEYS = [
  ["/", "search for a node"], ["← ↑ → ↓", "move, or turn in 3-D"], ["+ −", "zoom"], ["0", "all in view"], ["1 … 5", "views"],
  ["E", "edges"], ["C", "light cone"], ["L", "labels"], ["S", "stretch space"], ["D", "dark or light"], ["Space", "play the training"], ["Esc", "choose nothing"], ["?", "this list"],
];

const stored = document.getElementById("data");
const status = document.getElementById("status");
const say = (text, kind = "") => { status.textContent = text; status.hidden = !text; status.className = kind; };
const source = stored ? new Local(JSON.parse(stored.textContent)) : new Server(() => say("The server has stopped: start `timelike explore` again, then reload this page.", "stopped"));
if (stored) source.html = document.documentElement.outerHTML;

const wanted = matchMedia("(prefers-color-scheme: dark)");
const kept = () => { try { return localStorage.getItem("timelike-theme"); } catch { return null; } };
const dress = (name) => { document.documentElement.dataset.theme = name; };
dress(kept() ?? (wanted.matches ? "dark" : "light"));

const explorer = new Explorer(source, say);
const setTheme = (name) => { dress(name); explorer.recolour(); };
const toggleTheme = () => {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("timelike-theme", name); } catch { /* a file may not */ }
  setTheme(name);
};
wanted.addEventListener("change", (event) => { if (!kept()) setTheme(event.matches ? "dark" : "light"); });
document.getElementById("theme").addEventListener("click", toggleTheme);

const dialog = document.getElementById("keys");
dialog.append(make("h2", {}, "Keys"), make("dl", {}, ...KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)])),
  make("p", { class: "sub" }, "Drag to move or turn, scroll or pinch to zoom, shift-drag to shift in 3-D."),
  make("form", { method: "dialog" }, make("button", { class: "main" }, "Close")));
document.getElementById("help").addEventListener("click", () => dialog.showModal());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.target.closest("input:not([type=checkbox]):not([type=range]), select, textarea")) return;
  const act = { "/": () => explorer.search.input.focus(), d: toggleTheme, "?": () => dialog.showModal(), ...explorer.keys() }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || (event.key === " " && event.target.closest("button, summary"))) return;
  if (event.key.startsWith("Arrow") && event.target.closest("[type=range], [role=tab]")) return;
  event.preventDefault();
  act();
});

explorer.start().then(() => { document.documentElement.dataset.ready = "yes"; }, (error) => { if (status.hidden) say(error.message, "stopped"); });
window.timelike = explorer;
