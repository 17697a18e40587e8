"use strict";
// Everything on the page is worked out here from the data block. Names and labels are hostile input: they reach the
// document as text nodes and property values only, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { names, triads, promises } = data;
  const n = names.length;
  const NUMBERED = 20; // up to this many attributes the cells show their numbers
  const NO_GAIN = 1.02; // up to so many times less variance is called no gain
  const BESIDE = 9; // and up to this many there is room for the chosen pair beside them
  const $ = (id) => document.getElementById(id);

  // --- building elements ---------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  const filled = (node, attributes, children) => {
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
  const LONG = 60; // a name or a label of more signs is cut in sentences; the schema has the whole of it
  function short(text) {
    const signs = Array.from(text);
    return signs.length > LONG ? `${signs.slice(0, LONG - 1).join("")}…` : text;
  }
  const strong = (text) => el("strong", {}, text);
  const name = (text) => el("bdi", {}, short(text)); // by itself: a name written from the right turns nothing around

  // --- numbers in words: bounds rounded up, budgets and what is attained rounded down ------------------------------

  const digits = (value) => (value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  const grouped = (value, places) => value.toLocaleString("en-GB", { minimumFractionDigits: places, maximumFractionDigits: places });
  function rounded(value, places, way) {
    if (!Number.isFinite(value)) return "∞";
    const scale = 10 ** places;
    return grouped(way(Number((value * scale).toPrecision(15))) / scale, places);
  }
  function up(value, places = 3) {
    if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : "∞";
    const small = Math.max(places, places - 1 - Math.floor(Math.log10(Math.abs(value))));
    return rounded(value, value >= 1000 ? 0 : Math.min(small, places + 4), Math.ceil);
  }
  const down = (value, places = 3) => rounded(value, value >= 1000 ? 0 : places, Math.floor);
  // e^x as a factor; beyond a million as a power of ten
  function times(nats, way = Math.ceil) {
    const factor = Math.exp(nats);
    if (factor < 1e6) return rounded(factor, digits(factor), way);
    const power = Math.floor(nats / Math.LN10);
    return `${rounded(Math.exp(nats - power * Math.LN10), 1, way)}e${power}`;
  }
  const plain = (value) => String(Number(value.toPrecision(3)));
  // how sure someone is at most who was so sure before: the odds move e^nats times
  const sure = (nats, before = 50) => {
    const after = 100 / (1 + (100 / before - 1) * Math.exp(-nats));
    return after > 99.9 ? "100 %" : `${rounded(after, 1, Math.ceil).replace(/\.0$/, "")} %`;
  };
  let unit = "times";
  const shown = (nats, way = Math.ceil) =>
    unit === "times" ? `${times(nats, way)}×` : way === Math.ceil ? up(nats) : down(nats);
  const moved = (nats) => (unit === "times" ? `at most ${times(nats)} times` : `by at most ${up(nats)} in log-odds`);
  const onAxis = (nats) => (unit === "times" ? `${axisTimes(nats)}×` : plain(nats));

  // --- leakage: the library's formulas, for lines E = gap − (γ − 1)·lower --------------------------------------------

  const pairOf = (source, target) => source * (n - 1) + target - (target > source ? 1 : 0);
  const count = n * (n - 1);
  const slope = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const alpha = triads.alpha[i];
    slope[i] = alpha > 0 ? ((triads.phi[i] - triads.delta[i]) * Math.exp(-alpha)) / -Math.expm1(-alpha) : 0;
  }
  function ofLine(gap, lower, epsilon) {
    if (!(gap > 0) || epsilon === 0) return 0;
    return Math.min(Math.log1p(gap / (1 / Math.expm1(epsilon) + lower)), epsilon);
  }
  const ofTriad = (pair, epsilon) =>
    Math.max(ofLine(triads.phi[pair], slope[pair], epsilon), ofLine(triads.delta[pair], 0, epsilon));
  const ofCurve = (lines, epsilon) => lines.reduce((most, [gap, lower]) => Math.max(most, ofLine(gap, lower, epsilon)), 0);
  // the curve is sharper; six digits of it may lie above the triad by a rounding
  const sharpest = (pair, epsilon) =>
    data.curves ? Math.min(ofCurve(data.curves[pair], epsilon), ofTriad(pair, epsilon)) : ofTriad(pair, epsilon);

  // --- colours ----------------------------------------------------------------------------------------------------

  const STEPS = 128;
  const channels = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  function ramp(dark) {
    const stops = (dark ? [...data.scale].reverse() : data.scale).map(channels);
    return Array.from({ length: STEPS + 1 }, (_, step) => {
      const place = (step / STEPS) * (stops.length - 1);
      const left = Math.min(Math.floor(place), stops.length - 2);
      const mixed = stops[left].map((c, i) => Math.round(c + (stops[left + 1][i] - c) * (place - left)));
      const pixel = (255 << 24) | (mixed[2] << 16) | (mixed[1] << 8) | mixed[0];
      return { pixel, fill: `rgb(${mixed.join(" ")})`, ink: light(mixed) > 0.179 ? "#000000" : "#ffffff" };
    });
  }
  let colours = [];
  let isDark = false;

  // --- the matrix ---------------------------------------------------------------------------------------------------

  const cells = []; // row by row, the diagonal included
  const leakages = new Float64Array(n * n); // what they show
  const image = n > NUMBERED ? new ImageData(n, n) : null;
  const pixels = image && new Uint32Array(image.data.buffer);
  let epsilon = 1;
  let chosen = { source: 0, target: Math.min(1, n - 1) };
  let focus = { ...chosen };
  const heads = { row: [], column: [] };

  function buildMatrix() {
    const many = n > NUMBERED;
    const table = $("matrix");
    table.classList.toggle("many", many);
    $("pairs").classList.toggle("broad", n > BESIDE);
    const corner = el("th", { class: "corner", scope: "col" }, "about →", el("br"), "released ↓");
    const top = el("tr", { role: "row" }, corner);
    names.forEach((text, i) => {
      const label = el("span", {}, data.heads[i]);
      const head = el("th", { scope: "col", role: "columnheader", "aria-label": text }, label);
      head.title = text;
      heads.column.push(head);
      top.append(head);
    });
    const body = el("tbody", { role: "rowgroup" });
    for (let source = 0; source < n; source++) {
      const head = el("th", { scope: "row", role: "rowheader", "aria-label": names[source] }, data.heads[source]);
      head.title = names[source];
      heads.row.push(head);
      const row = el("tr", { role: "row" }, head);
      for (let target = 0; target < n; target++) {
        const cell = document.createElement("td");
        cell.setAttribute("role", "gridcell");
        cell.tabIndex = -1;
        cell.place = { source, target };
        if (source === target) cell.className = "own";
        cells.push(cell);
        row.append(cell);
      }
      body.append(row);
    }
    table.replaceChildren(el("thead", { role: "rowgroup" }, top), body);
    table.leakages = leakages;
    if (many) {
      filled($("pixels"), { width: n, height: n }, []).hidden = false;
      new ResizeObserver(placePixels).observe(table);
    }
    new ResizeObserver(fit).observe($("frame").parentNode);
    addEventListener("resize", fit);
    $("matrix-scroll").addEventListener("scroll", showCut);
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (cell) moveTo(cell.place.source, cell.place.target, true);
    });
    table.addEventListener("keydown", onKey);
    table.addEventListener("focusin", (event) => {
      if (event.target.place) describe(event.target);
    });
  }

  // All of the matrix, if cells stay large enough to be pointed at; else it scrolls, and says what is out of sight.
  function fit() {
    if (n > NUMBERED) {
      const corner = $("matrix").rows[0].cells[0];
      const least = innerWidth < 640 ? 22 : 12;
      const room = Math.min($("frame").parentNode.clientWidth - corner.offsetWidth, 0.85 * innerHeight - corner.offsetHeight) - 6;
      $("matrix").style.setProperty("--cell", `${Math.max(least, Math.min(30, Math.floor(room / n)))}px`);
    }
    showCut();
  }
  function inSight() { // what sticky heads leave to see
    const box = $("matrix-scroll").getBoundingClientRect();
    const corner = $("matrix").rows[0].cells[0].getBoundingClientRect();
    return { left: corner.right, right: box.right, top: corner.bottom, bottom: box.bottom };
  }
  function showCut() {
    const seen = inSight();
    const among = (heading, start, end, from, to) => {
      const inside = heading.flatMap((each, i) => {
        const box = each.getBoundingClientRect();
        return box[start] > from - 4 && box[end] < to + 4 ? [i] : [];
      });
      return inside.length ? [inside[0], inside.at(-1)] : [0, 0];
    };
    const across = among(heads.column, "left", "right", seen.left, seen.right);
    const along = among(heads.row, "top", "bottom", seen.top, seen.bottom);
    const said = [["columns", across], ["rows", along]].filter(([, [first, last]]) => last - first < n - 1)
      .map(([what, [first, last]]) => `${what} ${first + 1} to ${last + 1} of ${n}`);
    $("cut").textContent = said.length ? `In sight: ${said.join(", ")}. Scroll the matrix for the others.` : "";
    $("frame").classList.toggle("more-right", across[1] < n - 1);
    $("frame").classList.toggle("more-below", along[1] < n - 1);
  }
  function reveal(cell) {
    const seen = inSight();
    const box = cell.getBoundingClientRect();
    $("matrix-scroll").scrollBy(
      Math.min(0, box.left - seen.left) + Math.max(0, box.right - seen.right),
      Math.min(0, box.top - seen.top) + Math.max(0, box.bottom - seen.bottom));
  }

  function describe(cell) { // what a screen reader says; made when it is needed
    const { source, target } = cell.place;
    cell.setAttribute("aria-label", source === target
      ? `${names[source]} itself: ${shown(epsilon)}`
      : `${names[source]} released, about ${names[target]}: at most ${shown(leakages[source * n + target])}`);
  }

  function onKey(event) {
    const cell = event.target.closest("td");
    if (!cell) return;
    let { source, target } = cell.place;
    const far = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowUp: () => source--, ArrowDown: () => source++, ArrowLeft: () => target--, ArrowRight: () => target++,
      Home: () => { target = 0; if (far) source = 0; }, End: () => { target = n - 1; if (far) source = n - 1; },
    };
    if (event.key in moves) {
      moves[event.key]();
      moveTo(Math.max(0, Math.min(n - 1, source)), Math.max(0, Math.min(n - 1, target)), false);
      event.preventDefault();
    } else if (event.key === "Enter" || event.key === " ") {
      choose(source, target);
      bringWords();
      event.preventDefault();
    }
  }

  function moveTo(source, target, andChoose) {
    cells[focus.source * n + focus.target].tabIndex = -1;
    focus = { source, target };
    const cell = cells[source * n + target];
    cell.tabIndex = 0;
    cell.focus({ preventScroll: andChoose });
    reveal(cell);
    if (andChoose) {
      choose(source, target);
      bringWords();
    }
  }
  // where the chosen pair is not beside the cells but below them, what was asked for should be seen
  const bringWords = () => $("words").scrollIntoView({ block: "nearest" });

  function choose(source, target) {
    if (source === target) return;
    mark(false);
    chosen = { source, target };
    cells[focus.source * n + focus.target].tabIndex = -1;
    focus = { ...chosen };
    cells[source * n + target].tabIndex = 0;
    mark(true);
    reveal(cells[source * n + target]);
    $("source").selectedIndex = source;
    $("target").selectedIndex = target;
    showDetail();
    say();
  }
  function mark(on) {
    cells[chosen.source * n + chosen.target].setAttribute("aria-selected", String(on));
    heads.row[chosen.source].classList.toggle("on", on);
    heads.column[chosen.target].classList.toggle("on", on);
  }

  function showMatrix() {
    const numbered = n <= NUMBERED;
    const inCell = unit === "times" ? (nats) => times(nats) : (nats) => rounded(nats, 3, Math.ceil);
    for (let source = 0, place = 0; source < n; source++) {
      for (let target = 0; target < n; target++, place++) {
        const own = source === target;
        const leakage = own ? epsilon : ofTriad(pairOf(source, target), epsilon);
        leakages[place] = leakage;
        const colour = colours[epsilon > 0 ? Math.round((STEPS * leakage) / epsilon) : 0];
        if (!numbered) {
          pixels[place] = own ? 0 : colour.pixel;
          continue;
        }
        cells[place].textContent = inCell(leakage);
        if (own) continue;
        cells[place].style.backgroundColor = colour.fill;
        cells[place].style.color = colour.ink;
      }
    }
    if (!numbered) $("pixels").getContext("2d").putImageData(image, 0, 0);
    showLegend();
    showStrongest();
  }

  // Beyond some attributes a picture of one pixel a cell lies behind the cells: restyling each of them takes too long.
  function placePixels() {
    const last = cells[n * n - 1];
    const { style } = $("pixels");
    style.left = `${cells[0].offsetLeft}px`;
    style.top = `${cells[0].offsetTop}px`;
    style.width = `${last.offsetLeft + last.offsetWidth - cells[0].offsetLeft}px`;
    style.height = `${last.offsetTop + last.offsetHeight - cells[0].offsetTop}px`;
  }

  function showLegend() {
    const ramp = el("span", { class: "ramp" });
    const stops = [0, 0.25, 0.5, 0.75, 1].map((part) => colours[Math.round(part * STEPS)].fill);
    ramp.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
    $("legend").replaceChildren(
      el("span", {}, `${unit === "times" ? "1×" : "0"}, nothing`), ramp,
      el("span", {}, `${shown(epsilon)}, as much as the answer itself`));
  }

  function showStrongest() {
    const best = []; // places of the largest few
    for (let place = 0; place < n * n; place++) {
      if (place % (n + 1) === 0 || (best.length === 5 && leakages[place] <= leakages[best[4]])) continue;
      best.push(place);
      best.sort((one, other) => leakages[other] - leakages[one]);
      best.length = Math.min(best.length, 5);
    }
    const list = $("strongest");
    while (list.children.length < best.length) {
      const button = el("button", { type: "button" }, el("span"), " ", el("b"));
      button.addEventListener("click", () => {
        choose(button.place.source, button.place.target);
        bringWords();
      });
      list.append(el("li", {}, button));
    }
    best.forEach((place, i) => {
      const button = list.children[i].firstChild;
      const { source, target } = (button.place = cells[place].place);
      button.firstChild.replaceChildren(name(names[source]), " → ", name(names[target]));
      button.lastChild.textContent = shown(leakages[place]);
    });
  }

  // --- one pair --------------------------------------------------------------------------------------------------

  function showDetail() {
    const { source, target } = chosen;
    const pair = pairOf(source, target);
    const leakage = ofTriad(pair, epsilon);
    $("says").replaceChildren("Released with ε = ", plain(epsilon), ", ", name(names[source]), " moves the odds about ",
      name(names[target]), " ", strong(moved(leakage)), ".");
    showWhy(pair);
    showLeakageChart(pair);
    showTriad(pair);
  }

  function showWhy(pair) {
    const { source, target } = chosen;
    const entries = data.explained[pair];
    // an entry holds from its budget to that of the next; budgets below the first are read with the first
    const [, more, less, values] = entries.reduce((best, each) => (each[0] <= epsilon ? each : best));
    const parts = ["Released itself, ", name(names[target]), ` would allow ${shown(epsilon)}. `];
    const sharp = shown(sharpest(pair, epsilon));
    if (sharp !== shown(ofTriad(pair, epsilon))) parts.push(`The whole curve, sharper than the triad’s three numbers, allows ${sharp}. `);
    if (values.length) {
      const labels = data.schema[source].values;
      const listed = values.slice(0, 6).map((value) => short(labels[value])).join(", ");
      const rest = values.length > 6 ? ` or ${values.length - 6} more` : "";
      const about = data.schema[target].values;
      parts.push("What gives it away at about this budget: a report that points to ",
        name(names[source]), " = ", el("bdi", {}, `${listed}${rest}`), " raises the odds of ", name(names[target]), " = ",
        name(about[more]), " over ", name(about[less]), ".");
    } else {
      parts.push("In this data it says nothing about it.");
    }
    $("why").replaceChildren(...parts);
  }

  const WIDE = 360, HIGH = 190, LEFT = 46, RIGHT = 12, TOP = 12, BOTTOM = 32;
  function chart(label) {
    return svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": label });
  }
  const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}`;
  const sampled = (most, f, steps = 160) => Array.from({ length: steps + 1 }, (_, i) => f((most * i) / steps));
  function ticks(most, wanted = 4) {
    const raw = most / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((m) => m * power >= raw * 0.999) * power;
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
  }
  function axes(graph, xs, ys, xTitle) {
    for (const [y, label] of ys) {
      graph.append(svg("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: y, y2: y }),
        svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, label));
    }
    for (const [x, label] of xs) graph.append(svg("text", { x, y: HIGH - BOTTOM + 15, "text-anchor": "middle" }, label));
    graph.append(svg("text", { x: WIDE - RIGHT, y: HIGH - 2, "text-anchor": "end" }, xTitle));
  }

  function showLeakageChart(pair) {
    const most = Math.max(6, epsilon);
    const highest = Math.max(Math.min(most, ofTriad(pair, most) * 1.1), 0.02);
    const x = (e) => LEFT + ((WIDE - LEFT - RIGHT) * e) / most;
    const y = (l) => HIGH - BOTTOM - ((HIGH - BOTTOM - TOP) * l) / highest;
    const graph = chart(`Leakage of ${names[chosen.source]} about ${names[chosen.target]} for ε from 0 to ${plain(most)}`);
    axes(graph, ticks(most).map((e) => [x(e), plain(e)]),
      ticks(highest).map((l) => [y(l), onAxis(l)]), "budget ε");
    graph.append(svg("path", { class: "self", d: path([[x(0), y(0)], [x(highest), y(highest)]]) }));
    graph.append(svg("path", { class: "chord", d: path(sampled(most, (e) => [x(e), y(ofTriad(pair, e))])) }));
    if (data.curves) graph.append(svg("path", { class: "curve", d: path(sampled(most, (e) => [x(e), y(sharpest(pair, e))])) }));
    const now = Math.min(epsilon, most);
    graph.append(svg("line", { class: "now", x1: x(now), x2: x(now), y1: y(0), y2: y(ofTriad(pair, now)) }),
      svg("circle", { class: "dot", cx: x(now), cy: y(ofTriad(pair, now)), r: 5 }));
    $("leakage-chart").replaceChildren(graph);
  }
  const axisTimes = (nats) => { const f = Math.exp(nats); return f < 10 ? String(Number(f.toPrecision(f < 1.1 ? 4 : f < 2 ? 3 : 2))) : f < 1e5 ? grouped(Number(f.toPrecision(2)), 0) : f.toExponential(0).replace("+", ""); };

  function showTriad(pair) {
    const rows = [
      ["α", up(triads.alpha[pair]), "log of the largest ratio between two values’ frequencies"],
      ["δ", up(triads.delta[pair]), "probability of answers that another value excludes"],
      ["φ", up(triads.phi[pair]), "largest difference between two values; rules small budgets"],
    ];
    $("triad").replaceChildren(...rows.flatMap(([sign, value, means]) => [el("dt", {}, sign), el("dd", {}, value), el("dd", {}, means)]));
  }

  let waiting = 0;
  function say() { // for screen readers, once things have come to rest
    clearTimeout(waiting);
    waiting = setTimeout(() => { $("live").textContent = $("says").textContent; }, 400);
  }

  // --- all together ------------------------------------------------------------------------------------------------

  let promise = data.asked;
  const at = (x) => `${x}%`;
  const marks = { // each at (x %, middle), so that rows stretch with the page
    attained: (x) => svg("circle", { class: "f-attained", cx: at(x), cy: 16, r: 5 }),
    paired: (x) => svg("rect", { class: "f-paired", x: at(x), y: 11.5, width: 9, height: 9, transform: "translate(-4.5 0)" }),
    pairwise: (x) => svg("svg", { x: at(x), y: 16, overflow: "visible" }, svg("path", { class: "f-pairwise", d: "M0-6.5L6 0L0 6.5L-6 0Z" })),
    certified: (x) => svg("line", { class: "s-certified", x1: at(x), x2: at(x), y1: 6, y2: 26 }),
    promise: (x) => svg("line", { class: "s-promise", x1: at(x), x2: at(x), y1: 0, y2: 32 }),
    one: (x) => svg("circle", { class: "f-one", cx: at(x), cy: 16, r: 5 }),
    two: (x) => svg("circle", { class: "f-two", cx: at(x), cy: 16, r: 5 }),
  };
  const span = (from, to, kind) => svg("line", { class: kind, x1: at(from), x2: at(to), y1: 16, y2: 16 });

  function showKey(id, entries) {
    $(id).replaceChildren(...entries.map(([kind, title, means]) => {
      const drawing = svg("svg", { viewBox: "0 4 22 24", "aria-hidden": "true" }, marks[kind](50));
      return el("li", {}, drawing, el("span", {}, el("b", {}, title), means));
    }));
  }

  function row(title, drawings, number, extra) {
    const label = el("span", { class: "name" }, short(title));
    label.title = title;
    const value = el("span", { class: "number" }, number, " ", el("small", {}, extra));
    return el("div", { class: "row" }, label, svg("svg", {}, ...drawings), value);
  }
  function scaleRow(places, title) {
    const scale = el("div");
    for (const [x, label] of places) {
      const mark = el("span", {}, label);
      mark.style.left = at(x);
      scale.append(mark);
    }
    return el("div", { class: "row scale" }, el("span"), scale, el("span", { class: "number" }, el("small", {}, title)));
  }
  const gridlines = (places) => places.map(([x]) => svg("line", { class: "gridline", x1: at(x), x2: at(x), y1: 0, y2: 32 }));

  function table(id, heading, rows) {
    const head = el("tr", {}, ...heading.map((text, i) => el("th", { scope: "col", class: i ? "n" : "" }, text)));
    const body = rows.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, ...(Array.isArray(first) ? first : [name(first)])), ...rest.map((text) => el("td", { class: "n" }, text))));
    $(id).replaceChildren(el("thead", {}, head), el("tbody", {}, ...body));
  }

  function showPromised({ total, worth }) {
    $("promised").replaceChildren("Whoever held an answer for as likely as not (50 %) is ", strong(`at most ${sure(total)}`),
      ` sure of it after all that a person reports. Whoever held it for 10 % likely is at most ${sure(total, 10)} sure. `,
      `This is so for every answer, asked or not: its odds move ${moved(total)}.`);
    $("worth").textContent = worth;
  }

  const listed = (nodes, between) => nodes.flatMap((node, i) => (i ? [between, node] : [node]));
  const NOTABLE = 8; // sets of questions that are seen without asking for more
  function showViews({ views }) {
    const questions = views.reduce((sum, view) => sum + view.share * view.asked.length, 0);
    const lengths = views.map((view) => view.asked.length);
    const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
    $("asked").replaceChildren(views.length > 1
      ? `Each person is asked one of ${grouped(views.length, 0)} sets of ${least === most ? least : `${least} ${most - least > 1 ? "to" : "or"} ${most}`} of the ${n} questions, ${down(questions, 1)} on average.`
      : most === n ? "Everybody is asked everything." : `Everybody is asked the same ${most} of the ${n} questions.`);
    const heading = ["asked", "people", "reported"];
    const rows = views.map((view) => [
      listed(view.asked.map((place) => name(names[place])), view.joint ? " & " : ", "), `${down(100 * view.share, 1)} %`,
      `${view.joint ? "as one value" : view.asked.length > 1 ? "one by one" : "by itself"}, by ${[...new Set(view.mechanisms)].join(", ")}, ε = ${view.budgets.map((budget) => down(budget)).join(", ")}`]);
    table("views", heading, rows.slice(0, NOTABLE));
    table("rest", heading, rows.slice(NOTABLE));
    $("more-views").hidden = rows.length <= NOTABLE;
    $("more-views").firstElementChild.textContent = `${rows.length - NOTABLE} more, of fewer people each`;
  }

  const ratio = (value) => (Number.isFinite(value) ? `${rounded(value, value < 100 ? 2 : 0, Math.round)}×` : value === "inf" ? "never" : "–");
  function showRivals({ rivals, verdict }) {
    $("verdict").textContent = verdict;
    const known = rivals.flatMap(([, ...both]) => both).filter(Number.isFinite);
    const [low, high] = [Math.log(Math.min(1, ...known)) - 0.15, Math.log(Math.max(2, ...known)) + 0.15];
    const x = (value) => (100 * (Math.log(value) - low)) / (high - low);
    const usual = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6];
    const places = usual.filter((value) => x(value) >= 0 && x(value) <= 95).map((value) => [x(value), `${plain(value)}×`]);
    const kinds = ["one", "two"];
    const rows = rivals.map(([title, ...both]) => row(title, [
      ...gridlines(places), marks.promise(x(1)),
      ...both.flatMap((value, i) => (Number.isFinite(value) ? [marks[kinds[i]](x(value))] : [])),
    ], both.map(ratio).join(" · "), ""));
    $("rivals").replaceChildren(...rows, scaleRow(places, "one · two"));
    showKey("rivals-key", [["one", "tables of one answer", ""], ["two", "tables of two answers", ""], ["promise", "the plan", ", 1×"]]);
    table("rivals-table", ["variance over the plan’s", "tables of one answer", "tables of two"], rivals.map(([title, ...both]) => [title, ...both.map(ratio)]));
  }

  function showTold({ views, totals, errors }) {
    const asked = names.map((_, i) => views.reduce((sum, view) => sum + (view.asked.includes(i) ? view.share : 0), 0));
    table("told", ["answer", "people asked", "largest total", "50 % becomes at most", "expected error"],
      names.map((title, i) => [title, `${down(100 * Math.min(asked[i] + 1e-12, 1), 1)} %`, shown(totals[i]), sure(totals[i]),
        Number.isFinite(errors[i]) ? rounded(errors[i], 4, Math.ceil) : "never asked"]));
    $("told-note").textContent = `The largest total is what all reports of a person tell about that answer at most, whichever set of questions they get: how far they move its odds. The expected error is that of the answer’s frequencies, from ${grouped(data.users, 0)} people: the root of their summed variances, at most.`;
  }

  function showOnce({ once, total }) {
    $("once").hidden = !once;
    if (!once) return;
    const { attained, paired, pairwise, certified, levels } = once;
    const most = Math.max(total * 1.04, ...certified, ...pairwise) * 1.02;
    const x = (value) => (100 * value) / most;
    const places = ticks(most, 5).map((tick) => [x(tick), onAxis(tick)]);
    const rows = names.map((title, i) => row(title, [
      ...gridlines(places),
      span(x(attained ? attained[i] : paired[i]), x(certified[i]), "span"), marks.promise(x(total)),
      marks.certified(x(certified[i])), marks.pairwise(x(pairwise[i])), marks.paired(x(paired[i])),
      ...(attained ? [marks.attained(x(attained[i]))] : []),
    ], shown(certified[i]), `of ${shown(total)}`));
    $("totals").replaceChildren(...rows, scaleRow(places, unit === "times" ? "odds, log scale" : "log-odds"));
    showKey("totals-key", [
      ...(attained ? [["attained", "attained", ", a fact: some ways of blurring do give away so much about this data"]] : []),
      ["paired", "paired", ", an estimate"], ["pairwise", "pairwise", ", an estimate"],
      ["certified", "certified", ", a bound"], ["promise", "promise", ""],
    ]);
    table("totals-table", ["answer", "budget ε", ...(attained ? ["attained, at least"] : []), "paired, estimate", "pairwise, estimate", "certified, at most", "promise"],
      names.map((title, i) => [title, down(once.budgets[i]), ...(attained ? [shown(attained[i], Math.floor)] : []),
        shown(paired[i]), shown(pairwise[i]), shown(certified[i]), shown(total)]));
    $("levels").hidden = !levels;
    if (levels) {
      $("levels-note").textContent = levels.reasons.map((reason) => `–: ${reason}.`).join(" ");
      table("levels-table", ["answer", "any blurring, from pairs", "GRR, from pairs", "GRR, joint table", "promise"],
        names.map((title, i) => [title, shown(certified[i]), shown(levels.pairs[i]),
          levels.joint[i] === null ? "–" : shown(levels.joint[i]), shown(total)]));
    }
    const closest = certified.indexOf(Math.max(...certified));
    const below = attained ? attained.filter((value, i) => pairwise[i] < value).length : 0;
    const opening = promises[data.asked];
    $("kept").replaceChildren("No certified total is above the promise. The closest is ", name(names[closest]),
      `, ${shown(certified[closest])} of ${shown(total)}.`,
      below ? ` For ${below} of ${n} answers the data attains more than the sum of pairs (pairwise), which is why that sum is no bound.` : "",
      opening.once.attained && !attained ? ` What is attained was looked for under a promise of ${plain(opening.total)} only.` : "");
  }

  function showPromise() {
    const plan = promises[promise];
    const { total } = plan;
    $("promise").value = promise;
    $("promise").setAttribute("aria-valuetext", `${plain(total)}, odds move ${moved(total)}`);
    $("promise-number").textContent = shown(total);
    $("promise-words").textContent = `ε = ${plain(total)}: someone at 50 % is at most ${sure(total)} sure afterwards`;
    $("get-plan-words").textContent = `who is asked what, under a promise of ${plain(total)}`;
    for (const show of [showSummary, showPromised, showViews, showRivals, showTold, showOnce]) show(plan);
  }

  // --- the rest ------------------------------------------------------------------------------------------------------

  function showSummary({ total, views, best }) {
    const questions = views.reduce((sum, view) => sum + view.share * view.asked.length, 0);
    const [one, two] = best.slice(1);
    const pays = [one, two].some((gain) => gain >= NO_GAIN);
    const loses = [one, two].some((gain) => gain < 1 / NO_GAIN);
    const ways = Number.isFinite(two) ? `${ratio(two)} as many people for tables of two answers, ${ratio(one)} for tables of one` : `${ratio(one)} as many people for tables of one answer`;
    const figure = (term, big, ...text) => el("div", {}, el("dt", {}, term), el("dd", {}, el("div", { class: "big" }, big), el("p", {}, ...text)));
    $("figures").replaceChildren(
      figure("The promise", `50 % → ${sure(total)}`, `Whoever held an answer for as likely as not is at most ${sure(total)} sure of it after all that a person reports. Odds move ${moved(total)}. `,
        el("a", { href: "#rests-title" }, "What this rests on")),
      figure("What each person is asked", `${down(questions + 1e-9, 1)} of ${n} questions`, views.length > 1
        ? `On average: one of ${grouped(views.length, 0)} sets, drawn by chance.` : "Everybody the same."),
      figure("What knowing how answers depend buys", pays ? `${ratio(Math.max(...[one, two].filter(Number.isFinite)))} fewer people` : "nothing here", pays || loses
        ? `For the same promise and errors, the best plans that ignore it need ${ways}.`
        : "The best plan that ignores it is as good for the same promise."));
  }

  function list(id, items) {
    $(id).replaceChildren(...items.map((text) => el("li", {}, text)));
  }

  function showCurveKey() {
    const entry = (kind, text) => el("li", {}, svg("svg", { viewBox: "0 0 22 16", "aria-hidden": "true" }, svg("line", { class: kind, x1: 0, x2: 22, y1: 8, y2: 8 })), text);
    $("leakage-key").replaceChildren(...(data.curves ? [entry("curve", "whole curve")] : []), entry("chord", "by the three numbers"), entry("self", "the answer itself"));
  }

  function showText() {
    showCurveKey();
    const many = `${grouped(n, 0)} answers, ${grouped(count, 0)} ordered pairs`;
    $("about").replaceChildren(...(data.file ? [name(data.file), " · "] : []), data.records ? `${data.records} records · ` : "", many);
    $("foot").textContent = `Made by deptriad ${data.made.version} on ${data.made.date}. Works from disk; nothing leaves this page.`;
    if (data.file) document.title = `${data.file}: who is asked what, and what is promised`;
    $("certainty-title").textContent = data.certainty.title;
    $("certainty-means").textContent = data.certainty.means;
    $("certainty-guarantees").textContent = data.certainty.guarantees;
    list("caveats", [...data.caveats,
      "Bounds are about what reports add to what an observer knows, not about what they knew before.",
      "Certified totals hold for every ε-locally-private way of blurring, with independent noise for each answer.",
      "Paired and pairwise totals are estimates: bounds only if the other answers are independent given the one told about."]);
    list("inside", [
      "No records.",
      `No count below ${data.threshold}: a smaller one reads “fewer than ${data.threshold}”.`,
      "Plans and totals, three numbers and a curve for each pair, and the values’ names. They are worked out from frequencies in the data, without noise: show this page where that data may be used.",
      "No outside address: the browser is told to load nothing."]);
    const changes = data.changes.length ? el("ul", {}, ...data.changes.map((text) => el("li", {}, text))) : el("p", {}, "Nothing.");
    if (data.changes.length > 8) filled(changes, { class: "long", tabindex: "0", role: "list" }, []);
    $("changes").replaceChildren(changes);
    const kinds = { bins: "number, in bins", number: "number", text: "text", boolean: "yes or no" };
    const rows = data.schema.map((each) => {
      const values = el("div", { class: "values" }, ...each.values.slice(0, 60).map((value) => el("span", {}, value)));
      if (each.values.length > 60) values.append(el("em", {}, `and ${grouped(each.values.length - 60, 0)} more`));
      return el("tr", {}, el("th", { scope: "row" }, each.name), el("td", {}, kinds[each.kind]), el("td", { class: "n" }, String(each.values.length)), el("td", {}, values));
    });
    const heading = ["answer", "kind", "values", "which"].map((text, i) => el("th", { scope: "col", class: i === 2 ? "n" : "" }, text));
    $("schema").replaceChildren(el("thead", {}, el("tr", {}, ...heading)), el("tbody", {}, ...rows));
  }

  function download(title, text) {
    const link = el("a", { download: title });
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  function triadsFile() { // one line a pair, as the library writes it
    const own = data.files.names;
    const lines = [];
    for (let source = 0, pair = 0; source < n; source++) {
      for (let target = 0; target < n; target++) {
        if (source === target) continue;
        lines.push("  " + JSON.stringify({ source: own[source], target: own[target], alpha: triads.alpha[pair],
          beta: triads.beta[pair], phi: triads.phi[pair], delta: triads.delta[pair++] }));
      }
    }
    return `${data.files.analysis}, "schema": ${data.files.schema.trim()}, "triads": [\n${lines.join(",\n")}\n]}\n`;
  }

  // --- controls ------------------------------------------------------------------------------------------------------

  const LEAST = 0.01, MOST = 20, SPAN = Math.log(MOST / LEAST);
  const fromSlider = (place) => Number((LEAST * Math.exp((SPAN * place) / 1000)).toPrecision(3));
  const toSlider = (value) => Math.max(0, Math.min(1000, Math.round((1000 / SPAN) * Math.log(Math.max(value, LEAST) / LEAST))));
  function setEpsilon(value, from) {
    epsilon = value;
    if (from !== "slider") $("epsilon").value = toSlider(value);
    if (from !== "number") $("epsilon-number").value = String(value);
    showBudget();
    showMatrix();
    showDetail();
    say();
  }
  function showBudget() {
    $("epsilon").setAttribute("aria-valuetext", `${plain(epsilon)}, odds move ${moved(epsilon)}`);
    $("epsilon-words").textContent = `odds move ${moved(epsilon)}`;
  }
  function refresh() {
    showBudget();
    showMatrix();
    showDetail();
    showPromise();
  }
  function setTheme(dark, byHand) {
    if (byHand) document.documentElement.dataset.theme = dark ? "dark" : "light";
    isDark = dark;
    $("theme").textContent = dark ? "Light theme" : "Dark theme";
    colours = ramp(dark);
  }

  function start() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    buildMatrix();
    setTheme(system.matches, false);
    for (let pair = 0, best = -1, source = 0; source < n; source++) {
      for (let target = 0; target < n; target++) {
        if (source === target) continue;
        const leakage = ofTriad(pair++, 1);
        if (leakage > best) { best = leakage; chosen = { source, target }; }
      }
    }
    for (const id of ["source", "target"]) $(id).append(...names.map((text) => el("option", {}, short(text))));
    $("promise").max = promises.length - 1;
    $("promise-ticks").replaceChildren(...promises.map((each, i) => {
      const tick = el("span", i === data.asked ? { class: "asked" } : {}, plain(each.total));
      const part = i / Math.max(promises.length - 1, 1);
      tick.style.left = `calc(${100 * part}% + ${8 - 16 * part}px)`; // where the thumb's middle comes to stand
      return tick;
    }));
    showText();
    const planned = promises.map((each) => plain(each.total)).join(", ");
    $("planned").textContent = `Planned for ${promises.length > 1 ? "promises" : "a promise"} of ${planned}.${data.unplanned ? ` Others, ${data.unplanned}.` : ""}`;
    for (const id of ["promise", "promise-ticks", "move"]) $(id).hidden = promises.length === 1;
    fit();
    choose(chosen.source, chosen.target);
    setEpsilon(1);
    showPromise();

    $("epsilon").addEventListener("input", (event) => setEpsilon(fromSlider(Number(event.target.value)), "slider"));
    $("epsilon-number").addEventListener("input", (event) => {
      const value = event.target.valueAsNumber;
      const fine = value >= 0 && value <= MOST;
      $("epsilon-refused").textContent = fine ? "" : `A budget is a number from 0 to ${MOST}.`;
      if (fine) setEpsilon(value, "number");
    });
    $("epsilon-number").addEventListener("change", (event) => { // what is no budget does not stay in the box
      if (!event.target.validity.valid || event.target.value === "") event.target.value = String(epsilon);
    });
    $("promise").addEventListener("input", (event) => { promise = Number(event.target.value); showPromise(); });
    for (const id of ["source", "target"]) {
      $(id).addEventListener("change", () => {
        let [source, target] = [$("source").selectedIndex, $("target").selectedIndex];
        if (source === target) [source, target] = [chosen.target, chosen.source]; // the same twice: swap
        choose(source, target);
      });
    }
    $("swap").addEventListener("click", () => choose(chosen.target, chosen.source));
    for (const input of document.querySelectorAll("input[name=unit]")) input.addEventListener("change", () => { unit = input.value; refresh(); });
    $("theme").addEventListener("click", () => { setTheme(!isDark, true); showMatrix(); });
    system.addEventListener("change", (event) => { if (!document.documentElement.dataset.theme) { setTheme(event.matches, false); showMatrix(); } });
    $("get-plan").addEventListener("click", () => download("plan.json", promises[promise].file));
    $("get-schema").addEventListener("click", () => download("schema.json", data.files.schema));
    $("get-triads").addEventListener("click", () => download("triads.json", triadsFile()));
  }
  start();
})();
