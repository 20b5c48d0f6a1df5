// A replay of the training: a slider over the saved epochs.

const $ = (id) => document.getElementById(id);

export class Replay {
  constructor(explorer) {
    this.explorer = explorer;
    this.m = explorer.models.findIndex((about) => about.epochs);
    this.epochs = explorer.models[this.m].epochs;
    this.pane = explorer.panes[this.m];
    this.slider = $("epoch");
    this.slider.max = String(this.epochs.length - 1);
    this.slider.value = this.slider.max;
    this.slider.oninput = () => { this.stop(); this.show(Number(this.slider.value)); };
    $("play").onclick = () => this.toggle();
    $("replay").hidden = false;
    this._say(this.epochs.length - 1);
  }

  async show(i) {
    this.frames ??= await this.explorer.source.frames(this.m);
    const size = this.pane.home.length;
    this.pane.setTable(this.frames.subarray(i * size, (i + 1) * size));
    this.slider.value = String(i);
    this._say(i);
  }

  _say(i) { $("epoch-shown").textContent = `epoch ${this.epochs[i]} of ${this.epochs.at(-1)}`; }

  toggle() {
    if (this.timer) return this.stop();
    let i = Number(this.slider.value);
    if (i >= this.epochs.length - 1) i = -1;
    $("play").textContent = "❚❚";
    this.timer = setInterval(() => {
      i += 1;
      this.show(i);
      if (i >= this.epochs.length - 1) this.stop();
    }, Math.max(40, 4000 / this.epochs.length));
    return undefined;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    $("play").textContent = "▶";
  }
}
