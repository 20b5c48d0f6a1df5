// Downloads of pictures, tables and pages.

export function save(name, data, kind) {
  const url = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type: kind }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** All panes side by side as one PNG. */
export function savePng(panes) {
  const parts = panes.map((pane) => pane.toCanvas()), out = document.createElement("canvas");
  out.width = parts.reduce((sum, part) => sum + part.width, 0);
  out.height = Math.max(...parts.map((part) => part.height));
  let x = 0;
  for (const part of parts) { out.getContext("2d").drawImage(part, x, 0); x += part.width; }
  return new Promise((done) => out.toBlob((blob) => { save("timelike.png", blob); done(); }, "image/png"));
}

export function saveSvg(panes) {
  panes.forEach((pane, m) => save(panes.length > 1 ? `timelike-${m + 1}.svg` : "timelike.svg", pane.toSvg(), "image/svg+xml"));
}
