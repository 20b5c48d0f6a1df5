// Points and lines in WebGL 2, drawn by three small shader programs.

const POINTS = `#version 300 es
in vec3 at; in vec4 shade;
uniform mat4 matrix; uniform float size; uniform bool deep; uniform vec3 paper;
flat out vec3 tint;
void main() {
  gl_Position = matrix * vec4(at, 1.0);
  gl_PointSize = deep ? size * 3.2 / gl_Position.w : size;
  tint = deep ? mix(shade.rgb, paper, clamp((gl_Position.w - 2.2) / 3.0, 0.0, 0.6)) : shade.rgb;
}`;

const SQUARE = `#version 300 es
precision mediump float;
flat in vec3 tint; uniform float alpha; out vec4 colour;
void main() { colour = vec4(tint, alpha); }`;

const ROUND = `#version 300 es
precision mediump float;
flat in vec3 tint; uniform float alpha; out vec4 colour;
void main() {
  float r = length(gl_PointCoord - 0.5) * 2.0;
  if (r > 1.0) discard;
  colour = vec4(tint * (1.0 - 0.25 * smoothstep(0.6, 0.85, r)), alpha);
}`;

const LINES = [`#version 300 es
in vec3 at; uniform mat4 matrix;
void main() { gl_Position = matrix * vec4(at, 1.0); }`, `#version 300 es
precision mediump float;
uniform vec4 ink; out vec4 colour;
void main() { colour = ink; }`];

function program(gl, sources) {
  const found = gl.createProgram();
  [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, i) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, sources[i]);
    gl.compileShader(shader);
    gl.attachShader(found, shader);
  });
  gl.bindAttribLocation(found, 0, "at");
  gl.bindAttribLocation(found, 1, "shade");
  gl.linkProgram(found);
  if (!gl.getProgramParameter(found, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(found));
  const places = {};
  for (let i = 0; i < gl.getProgramParameter(found, gl.ACTIVE_UNIFORMS); i++) {
    const { name } = gl.getActiveUniform(found, i);
    places[name] = gl.getUniformLocation(found, name);
  }
  return { program: found, places };
}

export class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = (this.gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: false }));
    if (!gl) throw new Error("this browser lacks WebGL 2, which the page needs to draw");
    this.square = program(gl, [POINTS, SQUARE]);
    this.round = program(gl, [POINTS, ROUND]);
    this.lines = program(gl, LINES);
    this.buffers = Object.fromEntries(["at", "shade", "line"].map((name) => [name, gl.createBuffer()]));
    this.count = this.lineCount = 0;
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  _fill(name, data) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  }

  /** x, y, z of every node. */
  setPoints(at) { this._fill("at", at); this.count = at.length / 3; }

  /** Red, green, blue and a padding byte for every node. */
  setColours(shades) { this._fill("shade", shades); }

  /** x, y, z of both ends of every line. */
  setLines(at) { this._fill("line", at); this.lineCount = at.length / 3; }

  draw({ matrix, size, alpha, deep, paper, ink, lines }) {
    const { gl } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    deep ? gl.enable(gl.DEPTH_TEST) : gl.disable(gl.DEPTH_TEST);
    if (lines && this.lineCount) this._drawLines(matrix, ink);
    if (this.count) this._drawPoints({ matrix, size, alpha, deep, paper });
  }

  _drawLines(matrix, ink) {
    const { gl } = this, { program: found, places } = this.lines;
    gl.enable(gl.BLEND);
    gl.useProgram(found);
    gl.uniformMatrix4fv(places.matrix, false, matrix);
    gl.uniform4f(places.ink, ...ink);
    this._attribute(0, "line", 3, gl.FLOAT);
    gl.disableVertexAttribArray(1);
    gl.depthMask(false); // lines do not hide nodes
    gl.drawArrays(gl.LINES, 0, this.lineCount);
    gl.depthMask(true);
  }

  /** Small points are drawn as squares: indistinguishable, and much faster in software rendering. */
  _drawPoints({ matrix, size, alpha, deep, paper }) {
    const { gl } = this, { program: found, places } = size > 3 ? this.round : this.square;
    alpha < 1 ? gl.enable(gl.BLEND) : gl.disable(gl.BLEND);
    gl.useProgram(found);
    gl.uniformMatrix4fv(places.matrix, false, matrix);
    gl.uniform1f(places.size, size);
    gl.uniform1f(places.alpha, alpha);
    gl.uniform1i(places.deep, deep ? 1 : 0);
    gl.uniform3f(places.paper, ...paper);
    this._attribute(0, "at", 3, gl.FLOAT);
    this._attribute(1, "shade", 4, gl.UNSIGNED_BYTE);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }

  _attribute(place, name, size, kind) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, kind, kind === gl.UNSIGNED_BYTE, 0, 0);
  }

  /** Wait until everything is drawn; for benchmarks. */
  finish() { const { gl } = this; gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); }
}
