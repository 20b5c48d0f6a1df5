// Where answers come from: a server, or (local.js) the page itself. Both have the same questions.

/** An answer that says what was wrong with the question; `near` are names that were perhaps meant. */
export class Refused extends Error {
  constructor(message, near) { super(message); this.near = near ?? []; }
}

/** The server does not answer any more. */
export class Stopped extends Error {}

const asked = (id, name) => (typeof id === "number" ? `${name}=${id}` : `${name}-name=${encodeURIComponent(id)}`);

export class Server {
  constructor(onStop) { this.onStop = onStop; this.alone = false; }

  async _get(path) {
    let answer;
    try {
      answer = await fetch(`/api/${path}`);
    } catch {
      this.onStop();
      throw new Stopped("the server does not answer");
    }
    if (answer.ok) return answer;
    const text = await answer.text();
    let found = { error: text || `the server answered ${answer.status}` };
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
  node(m, node, most = 20) { return this._json(`${m}/node?${asked(node, "node")}&most=${most}`); }
  pair(m, a, b) { return this._json(`${m}/pair?${asked(a, "source")}&${asked(b, "target")}`); }
  likeliest(m) { return this._json(`${m}/likeliest`); }
  async table(m, node, most = 100) { return (await this._get(`${m}/predictions.tsv?${asked(node, "node")}&most=${most}`)).text(); }
  async page() { return (await this._get("page.html")).text(); }
}
