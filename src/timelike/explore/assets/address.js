// What is shown, in the address of the page: #node=…&view=…&colour=…, or #source=…&target=… of an edge check.

const $ = (id) => document.getElementById(id);

export class Address {
  constructor(explorer) {
    this.explorer = explorer;
    addEventListener("hashchange", () => this.follow());
  }

  /** Show what the address says; what it does not mention stays. */
  async follow() {
    const { explorer } = this, said = new URLSearchParams(location.hash.slice(1));
    this.following = true;
    try {
      if (explorer.views.includes(said.get("view"))) explorer.setView(said.get("view"));
      const colour = [...$("colour").options].find((option) => option.text === said.get("colour"));
      if (colour) { $("colour").value = colour.value; await explorer.setColour(colour.text); }
      if (said.has("source") && said.has("target")) await explorer.check(said.get("source"), said.get("target"));
      else if (said.has("node")) await explorer.choose(said.get("node"));
    } finally {
      this.following = false;
    }
  }

  /** Write what is shown. */
  write() {
    if (this.following) return;
    const { explorer } = this, { pair } = explorer, chosen = explorer.chosen.find(Boolean), parts = new URLSearchParams();
    if (!$("pair").hidden && pair.source.value && pair.target.value) { parts.set("source", pair.source.value); parts.set("target", pair.target.value); }
    else if (chosen) parts.set("node", chosen.name);
    parts.set("view", explorer.view);
    parts.set("colour", $("colour").selectedOptions[0].text);
    history.replaceState(null, "", `#${parts}`);
  }
}
