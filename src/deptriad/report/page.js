"use strict";
// Everything on the page is worked out here from the data block. Names and labels are hostile input: they reach the
// document as text nodes and property values only, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { names, triads, promises } = data;
  const n = names.length;
  const NUMBERED = 20; // up to this many attributes the cells show their numbers
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
  const percent = (nats) => {
    const sure = 100 / (1 + Math.exp(-nats));
    return sure > 99.9 ? "may be over 99.9 %" : `is at most ${rounded(sure, 1, Math.ceil)} %`;
  };
  let unit = "times";
  const shown = (nats, way = Math.ceil) =>
    unit === "times" ? `${times(nats, way)}×` : way === Math.ceil ? up(nats) : down(nats);

  // --- leakage: the library's formulas, for lines E = gap − (γ − 1)·lower --------------------------------------------

  const pairOf = (source, target) => source * (n - 1) + target - (target > source ? 1 : 0);
  const count = n * (n - 1);
  const slope = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const alpha = triads.alpha[i];
    slope[i] = alpha > 0 ? ((triads.phi[i] - triads.delta[i]) * Math.exp(-alpha)) / -Math.expm1(-alpha) : 0;
  }
  const addedLogs = (a, b) => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
  function ofLine(gap, lower, epsilon) {
    if (!(gap > 0) || epsilon === 0) return 0;
    if (epsilon > 700 && lower < 1e-270) { // e^ε nears the end of what numbers can hold
      const below = lower > 0 ? addedLogs(Math.log(lower), -epsilon) : -epsilon;
      return Math.min(addedLogs(Math.log(gap + lower), -epsilon) - below, epsilon);
    }
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
    if (many) table.style.setProperty("--cell", `${Math.max(9, Math.min(30, Math.floor(920 / n)))}px`);
    const corner = el("th", { class: "corner", scope: "col" }, "about →", el("br"), "released ↓");
    const top = el("tr", { role: "row" }, corner);
    names.forEach((text) => {
      const label = el("span", {}, text);
      const head = el("th", { scope: "col", role: "columnheader" }, label);
      head.title = text;
      heads.column.push(head);
      top.append(head);
    });
    const body = el("tbody", { role: "rowgroup" });
    for (let source = 0; source < n; source++) {
      const head = el("th", { scope: "row", role: "rowheader" }, names[source]);
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
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (cell) moveTo(cell.place.source, cell.place.target, true);
    });
    table.addEventListener("keydown", onKey);
    table.addEventListener("focusin", (event) => {
      if (event.target.place) describe(event.target);
    });
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
    const strong = (text) => el("strong", {}, text);
    $("says").replaceChildren("Released with ε = ", plain(epsilon), ", ", name(names[source]), " moves the odds about ",
      name(names[target]), " at most ", strong(`${times(leakage)} times`), ".");
    showWhy(pair);
    showLeakageChart(pair);
    showProfileChart(pair);
    showTriad(pair);
  }

  function showWhy(pair) {
    const { source, target } = chosen;
    const entries = data.explained[pair];
    // an entry holds from its budget to that of the next; budgets below the first are read with the first
    const [, more, less, values] = entries.reduce((best, each) => (each[0] <= epsilon ? each : best));
    const parts = ["Released itself, ", name(names[target]), ` would allow ${times(epsilon)} times. `];
    const sharp = times(sharpest(pair, epsilon));
    if (sharp !== times(ofTriad(pair, epsilon))) parts.push(`The whole curve, sharper than the triad’s three numbers, allows ${sharp}. `);
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
    const most = Math.max(6, Math.min(epsilon * 1.25, 1000));
    const highest = Math.max(Math.min(most, ofTriad(pair, most) * 1.1), 0.02);
    const x = (e) => LEFT + ((WIDE - LEFT - RIGHT) * e) / most;
    const y = (l) => HIGH - BOTTOM - ((HIGH - BOTTOM - TOP) * l) / highest;
    const graph = chart(`Leakage of ${names[chosen.source]} about ${names[chosen.target]} for ε from 0 to ${plain(most)}`);
    axes(graph, ticks(most).map((e) => [x(e), plain(e)]),
      ticks(highest).map((l) => [y(l), unit === "times" ? `${axisTimes(l)}×` : plain(l)]), "budget ε");
    graph.append(svg("path", { class: "self", d: path([[x(0), y(0)], [x(highest), y(highest)]]) }));
    graph.append(svg("path", { class: "chord", d: path(sampled(most, (e) => [x(e), y(ofTriad(pair, e))])) }));
    if (data.curves) graph.append(svg("path", { class: "curve", d: path(sampled(most, (e) => [x(e), y(sharpest(pair, e))])) }));
    const now = Math.min(epsilon, most);
    graph.append(svg("line", { class: "now", x1: x(now), x2: x(now), y1: y(0), y2: y(ofTriad(pair, now)) }),
      svg("circle", { class: "dot", cx: x(now), cy: y(ofTriad(pair, now)), r: 5 }));
    $("leakage-chart").replaceChildren(graph);
  }
  const axisTimes = (nats) => { const f = Math.exp(nats); return f < 10 ? String(Number(f.toPrecision(f < 1.1 ? 4 : f < 2 ? 3 : 2))) : f < 1e5 ? grouped(Number(f.toPrecision(2)), 0) : f.toExponential(0).replace("+", ""); };

  function showProfileChart(pair) {
    const lines = data.curves ? data.curves[pair] : [];
    const [alpha, phi, delta] = [triads.alpha[pair], triads.phi[pair], triads.delta[pair]];
    const most = Math.min(Math.max(alpha * 1.12, 0.3), 14);
    const highest = Math.max(phi * 1.2, 0.01);
    const x = (g) => LEFT + ((WIDE - LEFT - RIGHT) * g) / most;
    const y = (v) => HIGH - BOTTOM - ((HIGH - BOTTOM - TOP) * v) / highest;
    const graph = chart(`Profile of ${names[chosen.source]} about ${names[chosen.target]}: from ${plain(phi)} at a ratio of 1 to ${plain(delta)} at ${axisTimes(alpha)}`);
    const ratios = [1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1e3, 1e4, 1e5, 1e6].filter((g) => Math.log(g) <= most);
    const spaced = ratios.reduce((kept, g) => (kept.length && x(Math.log(g)) - x(Math.log(kept.at(-1))) < 42 ? kept : [...kept, g]), []);
    axes(graph, spaced.map((g) => [x(Math.log(g)), g < 1e5 ? `${g}×` : g.toExponential(0).replace("+", "") + "×"]),
      ticks(highest, 3).map((v) => [y(v), plain(v)]), "ratio γ between two values");
    const chord = (g) => Math.max(phi - Math.expm1(g) * slope[pair], delta);
    graph.append(svg("path", { class: "chord", d: path(sampled(most, (g) => [x(g), y(chord(g))])) }));
    if (lines.length) {
      const stick = (g) => Math.min(chord(g), lines.reduce((high, [gap, lower]) => Math.max(high, gap - Math.expm1(g) * lower), 0));
      graph.append(svg("path", { class: "curve", d: path(sampled(most, (g) => [x(g), y(stick(g))])) }));
    }
    graph.append(svg("circle", { class: "knot", cx: x(0), cy: y(phi), r: 4 }), svg("text", { x: x(0) + 6, y: y(phi) - 8 }, `φ = ${up(phi)}`));
    if (alpha <= most) {
      const early = x(alpha) < WIDE / 2; // then its label goes to the right; above that of φ if they would meet, else below if there is room
      const meet = x(alpha) < LEFT + 200 && y(delta) - y(phi) < 14;
      const away = meet ? -23 : y(0) - y(delta) > 17 ? 15 : -9;
      graph.append(svg("circle", { class: "knot", cx: x(alpha), cy: y(delta), r: 4 }),
        svg("text", { x: x(alpha), y: y(delta) + away, "text-anchor": early ? "start" : "end" }, `e^α = ${times(alpha)}, δ = ${up(delta)}`));
    }
    $("profile-chart").replaceChildren(graph);
  }

  function showTriad(pair) {
    const rows = [
      ["α", up(triads.alpha[pair]), "log of the largest ratio between two values’ frequencies"],
      ["β", up(triads.beta[pair]), "φ in the paper’s coding"],
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
  let way = "plan";
  const at = (x) => `${x}%`;
  const marks = { // each at (x %, middle), so that rows stretch with the page
    attained: (x) => svg("circle", { class: "f-attained", cx: at(x), cy: 16, r: 5 }),
    paired: (x) => svg("rect", { class: "f-paired", x: at(x), y: 11.5, width: 9, height: 9, transform: "translate(-4.5 0)" }),
    pairwise: (x) => svg("svg", { x: at(x), y: 16, overflow: "visible" }, svg("path", { class: "f-pairwise", d: "M0-6.5L6 0L0 6.5L-6 0Z" })),
    certified: (x) => svg("line", { class: "s-certified", x1: at(x), x2: at(x), y1: 6, y2: 26 }),
    promise: (x) => svg("line", { class: "s-promise", x1: at(x), x2: at(x), y1: 0, y2: 32 }),
    split: (x) => svg("circle", { class: "f-split", cx: at(x), cy: 16, r: 5 }),
    plan: (x) => svg("circle", { class: "f-plan", cx: at(x), cy: 16, r: 6 }),
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
  function scaleRow(most, label, title) {
    const scale = el("div");
    for (const tick of ticks(most, 5)) {
      const mark = el("span", {}, label(tick));
      mark.style.left = at((100 * tick) / most);
      scale.append(mark);
    }
    return el("div", { class: "row scale" }, el("span"), scale, el("span", { class: "number" }, el("small", {}, title)));
  }
  const gridlines = (most) => ticks(most, 5).map((t) => svg("line", { class: "gridline", x1: at((100 * t) / most), x2: at((100 * t) / most), y1: 0, y2: 32 }));

  function table(id, heading, rows) {
    const head = el("tr", {}, ...heading.map((text, i) => el("th", { scope: "col", class: i ? "n" : "" }, text)));
    const body = rows.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, name(first)), ...rest.map((text) => el("td", { class: "n" }, text))));
    $(id).replaceChildren(el("thead", {}, head), el("tbody", {}, ...body));
  }

  function showTotals() {
    const plan = promises[promise];
    const used = way === "plan" ? plan : plan.splitting;
    const attained = way === "plan" ? plan.attained : null;
    const most = Math.max(plan.total * 1.04, ...used.certified, ...used.pairwise) * 1.02;
    const x = (value) => (100 * value) / most;
    const rows = names.map((title, i) => row(title, [
      ...gridlines(most),
      span(x(attained ? attained[i] : used.paired[i]), x(used.certified[i]), "span"),
      marks.promise(x(plan.total)),
      marks.certified(x(used.certified[i])), marks.pairwise(x(used.pairwise[i])), marks.paired(x(used.paired[i])),
      ...(attained ? [marks.attained(x(attained[i]))] : []),
    ], shown(used.certified[i]), `of ${shown(plan.total)}`));
    $("totals").replaceChildren(...rows, scaleRow(most, (t) => (unit === "times" ? `${axisTimes(t)}×` : plain(t)), unit === "times" ? "odds, log scale" : "log-odds"));
    showKey("totals-key", [
      ...(attained ? [["attained", "attained", ", a fact: some ways of blurring do give away so much about this data"]] : []),
      ["paired", "paired", ", an estimate"], ["pairwise", "pairwise", ", an estimate"],
      ["certified", "certified", ", a bound"], ["promise", "promise", ""],
    ]);
    table("totals-table", ["answer", ...(attained ? ["attained, at least"] : []), "paired, estimate", "pairwise, estimate", "certified, at most", "promise"],
      names.map((title, i) => [title, ...(attained ? [shown(attained[i], Math.floor)] : []),
        shown(used.paired[i]), shown(used.pairwise[i]), shown(used.certified[i]), shown(plan.total)]));
    showLevels(plan);
    showVerdict(plan, used, attained);
  }

  function showLevels(plan) {
    const { levels } = plan;
    $("levels").hidden = way !== "plan" || !levels;
    if ($("levels").hidden) return;
    const others = names.filter((_, i) => plan.budgets[i] > 0 && plan.mechanisms[i] !== "grr").length;
    $("levels-note").textContent = [
      others ? `At the plan’s budgets. The plan itself blurs ${others} of ${n} answers in another way: the bounds for GRR are not about it.` : "At the plan’s budgets; it blurs every answer by GRR.",
      ...levels.reasons.map((reason) => `–: ${reason}.`),
    ].join(" ");
    table("levels-table", ["answer", "any blurring, from pairs", "GRR, from pairs", "GRR, joint table", "promise"],
      names.map((title, i) => [title, shown(plan.certified[i]), shown(levels.pairs[i]),
        levels.joint[i] === null ? "–" : shown(levels.joint[i]), shown(plan.total)]));
  }

  function showVerdict(plan, used, attained) {
    const closest = used.certified.indexOf(Math.max(...used.certified));
    const sought = promises[data.asked].attained && !attained;
    const unused = used.certified[closest] < 0.99 * plan.total;
    const below = attained ? attained.filter((value, i) => used.pairwise[i] < value).length : 0;
    $("verdict").replaceChildren(
      way === "plan" ? "The plan keeps the promise: " : `Splitting keeps the promise${unused ? ", and leaves some of it unused" : ""}: `,
      "no certified total is above it. The closest is ", name(names[closest]), `, ${times(used.certified[closest])} times of ${times(plan.total)}.`,
      below ? ` For ${below} of ${n} answers the data attains more than the sum of pairs (pairwise), which is why that sum is no bound.` : "",
      sought ? ` What is attained was looked for under the plan${plan.attained ? "s" : ` for a promise of ${plain(promises[data.asked].total)}`} only.` : "");
  }

  function showBudgets() {
    const plan = promises[promise];
    const part = plan.splitting.budget;
    const most = Math.max(part, ...plan.budgets) * 1.06;
    const x = (value) => (100 * value) / most;
    const gain = (i) => plan.splitting.errors[i] / plan.errors[i]; // no number where an error is spelt "inf"
    const words = (i) => (!Number.isFinite(gain(i)) ? "not released" : `error ÷ ${down(gain(i), 1)}`);
    $("budgets").replaceChildren(...names.map((title, i) => row(title, [
      ...gridlines(most), span(x(part), x(plan.budgets[i]), "s-gain"), marks.split(x(part)), marks.plan(x(plan.budgets[i])),
    ], `ε ${down(plan.budgets[i])}`, words(i))), scaleRow(most, plain, "budget ε"));
    showKey("budgets-key", [["split", "split evenly", `, ε = ${down(part)} each`], ["plan", "the plan", ""]]);
    $("budgets-note").textContent = `A larger budget means a clearer answer and a smaller error of what is learnt about everyone. “error ÷ 2” means that the expected error of an answer’s frequencies, from ${grouped(data.users, 0)} people, is half that of splitting.`;
    table("budgets-table", ["answer", "budget ε", "split evenly", "blurred by", "expected error, at most", "split evenly"],
      names.map((title, i) => [title, down(plan.budgets[i]), down(part), plan.mechanisms[i],
        ...[plan.errors[i], plan.splitting.errors[i]].map((error) => (Number.isFinite(error) ? up(error, 4) : "–"))]));
  }

  function showPromise() {
    const { total } = promises[promise];
    $("promise").value = promise;
    $("promise").setAttribute("aria-valuetext", `${plain(total)}, at most ${times(total)} times`);
    $("promise-number").textContent = shown(total);
    $("promise-words").replaceChildren("e", el("sup", {}, plain(total)), ` ≈ ${times(total)} times: someone at 50 % ${percent(total)} sure afterwards`);
    $("get-plan-words").textContent = `budgets under a promise of ${plain(total)}, with the totals that keep it`;
    showTotals();
    showBudgets();
  }

  // --- the rest ------------------------------------------------------------------------------------------------------

  function showSummary() {
    const plan = promises[data.asked];
    const { source, target } = chosen;
    const mean = plan.budgets.reduce((sum, each) => sum + each, 0) / n / plan.splitting.budget;
    const best = ofTriad(pairOf(source, target), 1);
    const figure = (term, big, kind, ...text) => el("div", {}, el("dt", {}, term), el("dd", {}, el("div", { class: `big ${kind}` }, ...big), el("p", {}, ...text)));
    $("figures").replaceChildren(
      figure("The promise", [`${times(plan.total)} times`], "", "With the plan’s budgets, all reports of a person together move anyone’s odds about any one answer at most e",
        el("sup", {}, plain(plan.total)), ` ≈ ${times(plan.total)} times. `, el("a", { href: "#rests-title" }, "What this rests on")),
      figure("The strongest tie", [name(names[source]), " → ", name(names[target])], "text", `Released with ε = 1, the first moves the odds about the second up to ${times(best)} times; the second itself, 2.72 times.`),
      figure("What knowing the ties buys", [`${down(mean, 1)}× the budget`], "", `Budgets are on average ${down(mean, 1)} times those of splitting the promise evenly, under the same promise.`));
  }

  function list(id, items) {
    $(id).replaceChildren(...items.map((text) => el("li", {}, text)));
  }

  function showCurveKeys() {
    const entry = (kind, text) => el("li", {}, svg("svg", { viewBox: "0 0 22 16", "aria-hidden": "true" }, svg("line", { class: kind, x1: 0, x2: 22, y1: 8, y2: 8 })), text);
    const both = () => [...(data.curves ? [entry("curve", "whole curve")] : []), entry("chord", "triad")];
    $("leakage-key").replaceChildren(...both(), entry("self", "the answer itself"));
    $("profile-key").replaceChildren(...both());
  }

  function showText() {
    showCurveKeys();
    const many = `${grouped(n, 0)} answers, ${grouped(count, 0)} ordered pairs`;
    $("about").replaceChildren(...(data.file ? [name(data.file), " · "] : []), data.records ? `${data.records} records · ` : "", many);
    $("made").textContent = `Made by deptriad ${data.made.version} on ${data.made.date}`;
    $("foot").textContent = `Made by deptriad ${data.made.version} on ${data.made.date}. Works from disk; nothing leaves this page.`;
    if (data.file) document.title = `${data.file}: what answers give away about each other`;
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
      "Three numbers and a curve for each pair, plans, totals and the values’ names. They are worked out from frequencies in the data, without noise: show this page where that data may be used.",
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

  const LEAST = 0.01, DECADES = 3;
  const fromSlider = (place) => Number((LEAST * 10 ** ((DECADES * place) / 1000)).toPrecision(3));
  const toSlider = (value) => Math.max(0, Math.min(1000, Math.round((1000 / DECADES) * Math.log10(Math.max(value, LEAST) / LEAST))));
  function setEpsilon(value, from) {
    epsilon = value;
    if (from !== "slider") $("epsilon").value = toSlider(value);
    if (from !== "number") $("epsilon-number").value = String(value);
    $("epsilon").setAttribute("aria-valuetext", `${plain(value)}, at most ${times(value)} times`);
    $("epsilon-words").textContent = `odds move at most ${times(value)} times`;
    showMatrix();
    showDetail();
    say();
  }
  function refresh() {
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
    choose(chosen.source, chosen.target);
    showSummary();
    setEpsilon(1);
    showPromise();

    $("epsilon").addEventListener("input", (event) => setEpsilon(fromSlider(Number(event.target.value)), "slider"));
    $("epsilon-number").addEventListener("input", (event) => {
      const value = event.target.valueAsNumber;
      if (value >= 0 && Number.isFinite(value)) setEpsilon(value, "number");
    });
    $("epsilon-number").addEventListener("change", (event) => { // what is no budget does not stay in the box
      if (!(event.target.valueAsNumber >= 0)) event.target.value = String(epsilon);
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
    for (const input of document.querySelectorAll("input[name=way]")) input.addEventListener("change", () => { way = input.value; showTotals(); });
    $("theme").addEventListener("click", () => { setTheme(!isDark, true); showMatrix(); });
    system.addEventListener("change", (event) => { if (!document.documentElement.dataset.theme) { setTheme(event.matches, false); showMatrix(); } });
    $("get-plan").addEventListener("click", () => download("plan.json", promises[promise].file));
    $("get-schema").addEventListener("click", () => download("schema.json", data.files.schema));
    $("get-triads").addEventListener("click", () => download("triads.json", triadsFile()));
  }
  start();
})();
