// Data sources: a server, or (local.js) the page itself. Both have the same methods.

/** A request that was refused; `near` lists similar names. */
export class Refused extends Error {
  constructor(message, near) { super(message); this.near = near ?? []; }
}

const query = (id, name) => (typeof id === "number" ? `${name}=${id}` : `${name}-name=${encodeURIComponent(id)}`);

export class Server {
  constructor(onStop) { this.onStop = onStop; }

  async _get(path) {
    let answer;
    try {
      answer = await fetch(`/api/${path}`);
    } catch {
      this.onStop();
      throw new Error("the server does not respond");
    }
    if (answer.ok) return answer;
    const text = await answer.text();
    let found = { error: text || `the server replied with status ${answer.status}` };
    try { found = JSON.parse(text); } catch { /* plain text */ }
    throw new Refused(found.error, found.near);
  }

  async _json(path) { return (await this._get(path)).json(); }
  async _array(path, kind) { return new kind(await (await this._get(path)).arrayBuffer()); }

  about() { return this._json("about"); }
  positions(m) { return this._array(`${m}/positions`, Float32Array); }
  colour(m, i) { return this._array(`${m}/colour?colour=${i}`, Float32Array); }
  edges(m) { return this._array(`${m}/edges`, Int32Array); }
  frames(m) { return this._array(`${m}/frames`, Float32Array); }
  search(m, text) { return this._json(`${m}/search?text=${encodeURIComponent(text)}`); }
  names(m, ids) { return this._json(`${m}/names?ids=${ids.join(",")}`); }
  node(m, node, most = 20) { return this._json(`${m}/node?${query(node, "node")}&most=${most}`); }
  pair(m, a, b) { return this._json(`${m}/pair?${query(a, "source")}&${query(b, "target")}`); }
  likeliest(m) { return this._json(`${m}/likeliest`); }
  async table(m, node, most = 100) { return (await this._get(`${m}/predictions.tsv?${query(node, "node")}&most=${most}`)).text(); }
  async page() { return (await this._get("page.html")).text(); }
}
