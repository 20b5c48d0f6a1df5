// Entry point: data source, theme, keyboard shortcuts and status messages.

import { Explorer } from "timelike/explorer.js";
import { Local } from "timelike/local.js";
import { make } from "timelike/parts.js";
import { Server } from "timelike/source.js";

const KEYS = [
  ["/", "search for a node"], ["← ↑ → ↓", "pan; rotate in 3-D"], ["+ −", "zoom"], ["0", "show all nodes"], ["1 … 5", "switch view"],
  ["E", "edges"], ["C", "light cone"], ["L", "labels"], ["S", "stretch space"], ["D", "dark or light theme"], ["Space", "play the training"], ["Esc", "clear the selection"], ["?", "this list"],
];

const stored = document.getElementById("data");
const status = document.getElementById("status");
const say = (text, kind = "") => { status.textContent = text; status.hidden = !text; status.className = kind; };
const source = stored ? new Local(JSON.parse(stored.textContent)) : new Server(() => say("The server has stopped. Run `timelike explore` again and reload this page.", "stopped"));
if (stored) source.html = document.documentElement.outerHTML;

const preference = matchMedia("(prefers-color-scheme: dark)");
const saved = () => { try { return localStorage.getItem("timelike-theme"); } catch { return null; } };
const dress = (name) => { document.documentElement.dataset.theme = name; };
dress(saved() ?? (preference.matches ? "dark" : "light"));

const explorer = new Explorer(source, say);
const setTheme = (name) => { dress(name); explorer.recolour(); };
const toggleTheme = () => {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("timelike-theme", name); } catch { /* pages opened as files may have no storage */ }
  setTheme(name);
};
preference.addEventListener("change", (event) => { if (!saved()) setTheme(event.matches ? "dark" : "light"); });
document.getElementById("theme").addEventListener("click", toggleTheme);

const dialog = document.getElementById("keys");
dialog.append(make("h2", {}, "Keyboard shortcuts"), make("dl", {}, ...KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)])),
  make("p", { class: "sub" }, "Drag to pan or rotate, scroll or pinch to zoom, Shift-drag to pan in 3-D."),
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
