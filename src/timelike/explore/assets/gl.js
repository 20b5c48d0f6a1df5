// Points and lines on WebGL2, drawn by two small programs.

const POINTS = [`#version 300 es
in vec3 at; in float value;
uniform mat4 matrix; uniform float size; uniform bool deep;
out float shade; out float fog;
void main() {
  gl_Position = matrix * vec4(at, 1.0);
  fog = deep ? clamp((gl_Position.w - 2.2) / 3.0, 0.0, 0.6) : 0.0;
  gl_PointSize = deep ? size * 3.2 / gl_Position.w : size;
  shade = value;
}`, `#version 300 es
precision mediump float;
in float shade; in float fog;
uniform sampler2D palette; uniform vec3 paper; uniform float alpha; uniform bool soft;
out vec4 colour;
void main() {
  float r = soft ? length(gl_PointCoord - 0.5) * 2.0 : 0.0;
  if (r > 1.0) discard;
  vec3 found = texture(palette, vec2(shade, 0.5)).rgb;
  colour = vec4(mix(found * (1.0 - 0.25 * smoothstep(0.6, 0.85, r)), paper, fog), alpha);
}`];

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
  gl.bindAttribLocation(found, 1, "value");
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
    if (!gl) throw new Error("this browser has no WebGL 2, which the picture is drawn with");
    this.points = program(gl, POINTS);
    this.lines = program(gl, LINES);
    this.buffers = Object.fromEntries(["at", "value", "line"].map((name) => [name, gl.createBuffer()]));
    this.count = this.lineCount = 0;
    this.palette = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  _fill(name, data, changes) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, data, changes ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
  }

  /** x, y, z of every node. */
  setPoints(at) { this._fill("at", at, true); this.count = at.length / 3; }

  /** The place of every node in the palette, from 0 to 1. */
  setValues(values) { this._fill("value", values, true); }

  /** x, y, z of the two ends of every line. */
  setLines(at) { this._fill("line", at, true); this.lineCount = at.length / 3; }

  setPalette(rgba) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, rgba.length / 4, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
  }

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
    this._attribute(0, "line", 3);
    gl.disableVertexAttribArray(1);
    gl.drawArrays(gl.LINES, 0, this.lineCount);
  }

  _drawPoints({ matrix, size, alpha, deep, paper }) {
    const { gl } = this, { program: found, places } = this.points;
    alpha < 1 ? gl.enable(gl.BLEND) : gl.disable(gl.BLEND);
    gl.useProgram(found);
    gl.uniformMatrix4fv(places.matrix, false, matrix);
    gl.uniform1f(places.size, size);
    gl.uniform1f(places.alpha, alpha);
    gl.uniform1i(places.deep, deep ? 1 : 0);
    gl.uniform1i(places.soft, size > 3 ? 1 : 0);
    gl.uniform3f(places.paper, ...paper);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    this._attribute(0, "at", 3);
    this._attribute(1, "value", 1);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }

  _attribute(place, name, size) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, 0, 0);
  }

  /** Wait until all is drawn: for measurements. */
  finish() { const { gl } = this; gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); }
}
