/* What must hold of any page at any size, in any colours: nothing cut, nothing on top of another, nothing too faint.
 * Each of these runs in the browser and gives back sentences about what is wrong. */

/* Wider than the screen, or a text that its box cuts off. */
export function cutText() {
  const wrong = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) wrong.push(`the page is ${wide} px wider than the screen`);
  for (const element of document.querySelectorAll("main *, .topbar *")) {
    const style = getComputedStyle(element);
    if (element.closest("svg") || !element.clientWidth || style.overflowX !== "hidden") continue;
    if (element.scrollWidth > element.clientWidth + 1) wrong.push(`cut: "${element.innerText}"`);
  }
  for (const svg of document.querySelectorAll("svg.schematic, svg.density")) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const here = text.getBoundingClientRect();
      const out = Math.max(box.left - here.left, here.right - box.right, box.top - here.top, here.bottom - box.bottom);
      if (here.width && out > 2.5) wrong.push(`${out.toFixed(0)} px outside its picture: "${text.textContent}"`);
    }
  }
  return wrong;
}

/* Names in a picture that lie on one another. */
export function overlaps() {
  const wrong = [];
  for (const svg of document.querySelectorAll("svg.schematic")) {
    const lines = [...svg.querySelectorAll(".label tspan, .branch-label, .axis text")].filter(
      (e) => !e.querySelector("tspan"),
    );
    const boxes = lines.map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }));
    boxes.forEach((a, i) =>
      boxes.slice(i + 1).forEach((b) => {
        const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        const scale = a.box.height / 15;
        if (x > 2 && y > 4.5 * scale) wrong.push(`"${a.text}" lies on "${b.text}"`);
      }),
    );
  }
  return wrong;
}

/* Text that stands out too little from what is behind it: 4.5 to 1, for large letters 3 to 1 (WCAG 2.2, 1.4.3). */
export function faintText() {
  const channel = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const parse = (text) => {
    const n = (text.match(/[\d.]+/g) ?? []).map(Number);
    return text === "transparent" || n.length < 3 ? [0, 0, 0, 0] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const wrong = new Set();
  for (const element of document.querySelectorAll("main *, .topbar *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const style = getComputedStyle(element);
    if (!own || !element.getClientRects().length || style.visibility === "hidden" || element.disabled) continue;
    const text = element.closest("svg") ? style.fill : style.color;
    const ground = behind(element.closest("svg")?.parentElement ?? element);
    const [a, b] = [light(over(parse(text), ground)), light(ground)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) wrong.add(`${ratio.toFixed(2)} to 1: "${element.textContent.trim().slice(0, 60)}"`);
  }
  return [...wrong];
}

/* Pixels of a chart in the colour of readings, which is not the same in light and dark. */
export function inkOf(selector) {
  const canvas = document.querySelector(`${selector} canvas`);
  if (!canvas) return 0;
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  probe.fillRect(0, 0, 1, 1);
  const want = probe.getImageData(0, 0, 1, 1).data;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let ink = 0;
  for (let i = 0; i < pixels.length; i += 4)
    ink += pixels[i + 3] > 128 && [0, 1, 2].every((k) => Math.abs(pixels[i + k] - want[k]) < 10);
  return ink;
}
