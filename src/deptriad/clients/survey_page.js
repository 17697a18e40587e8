// The survey page: asks the questions of one view, has them perturbed once, shows the report, and sends it.
// In the browser it keeps the view and the report until they are acknowledged, and never an answer.

const { plan, signature, endpoint, words, sure, views } = JSON.parse(document.getElementById("data").textContent);

const element = (id) => document.getElementById(id);
const say = (text, parts = {}) => text.replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);
const percent = (number) => `${new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 }).format(number)} %`;

function made(name, text, attributes = {}) {
  const found = document.createElement(name);
  if (text !== undefined) found.textContent = text;
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  return found;
}

// --- words for what the plan has ---

const own = (texts, name, otherwise) => (Object.hasOwn(texts, name) ? texts[name] : otherwise);
const questionOf = ({ name }) => own(words.questions, name, name);

function labelOf(attribute, code) {
  const { name, values, edges, categories, codes, missing, unseen } = attribute;
  const given = own(own(words.values, name, {}), values[code]);
  if (given !== undefined) return given;
  const declared = values.length - (missing === "category") - (unseen === "other");
  if (code >= declared) return missing === "category" && code === values.length - 1 ? words.missing : words.other;
  const category = categories?.[codes ? codes.indexOf(code) : code];
  const plain = edges ? labels(attribute)[code] : typeof category === "boolean" && (category ? "True" : "False");
  if (values[code] !== plain) return values[code]; // as the schema calls it
  if (!edges) return category ? words.yes : words.no;
  const number = (edge) => edge.toLocaleString(document.documentElement.lang, { maximumFractionDigits: 12, useGrouping: "min2" });
  const [low, high] = edges.slice(code), last = code === declared - 1;
  const parts = { low: number(low), high: number(high) };
  if (low === -Infinity) return high === Infinity ? words.any : say(last ? words.up_to : words.under, parts);
  return say(high === Infinity ? words.over : last ? words.to : words.range, parts);
}

/** What the script takes for a code, also where a label is what another value is called in the data. */
function valueOf({ values, categories, codes, missing }, code) {
  if (!categories || !codes) return values[code];
  const place = codes.indexOf(code);
  if (place >= 0) return categories[place];
  return missing === "category" && code === values.length - 1 ? null : undefined;
}

// --- what is kept in the browser: the view, then the report, then that it is done ---

const kept = {
  name: "",
  shown: null, // what the step that is to be seen was made of
  read() {
    return JSON.parse(localStorage.getItem(this.name) ?? "{}");
  },
  write(content) {
    localStorage.setItem(this.name, JSON.stringify(content));
    if (localStorage.getItem(this.name) !== JSON.stringify(content)) throw new Error(words.not_kept);
    return content;
  },
};

// --- the three steps ---

function show(step) {
  const first = ["ask", "review", "done"].every((each) => element(each).hidden);
  for (const each of ["ask", "review", "done"]) element(each).hidden = each !== step;
  if (!first) element(`${step}-title`).focus();
  window.scrollTo(0, 0);
}

function askedBy(survey, view) {
  return survey.views[view - 1].map((name) => survey.schema.find((each) => each.name === name));
}

const CHOICES = 8; // up to which answers are listed

function question(attribute, place) {
  const labels = attribute.values.map((_, code) => labelOf(attribute, code));
  const name = `question-${place}`;
  const wrong = made("p", "", { class: "wrong", id: `${name}-wrong`, hidden: "" });
  if (labels.length > CHOICES) {
    const box = made("div", undefined, { class: "question" });
    const select = made("select", undefined, { id: name, "aria-describedby": wrong.id, autocomplete: "off" });
    select.append(made("option", words.choose, { value: "" }), ...labels.map((label, code) => made("option", label, { value: code })));
    box.append(made("label", questionOf(attribute), { for: name }), select, wrong);
    return { attribute, box, wrong, first: select, code: () => select.value };
  }
  const box = made("fieldset", undefined, { "aria-describedby": wrong.id });
  const inputs = labels.map((_, code) => made("input", undefined, { type: "radio", name, value: code, autocomplete: "off" }));
  const choices = labels.map((label, code) => {
    const line = made("label", undefined, { class: "choice" });
    line.append(inputs[code], made("span", label));
    return line;
  });
  box.append(made("legend", questionOf(attribute)), ...choices, wrong);
  return { attribute, box, wrong, first: inputs[0], code: () => inputs.find((each) => each.checked)?.value ?? "" };
}

function ask(survey, view) {
  const attributes = askedBy(survey, view);
  const asked = attributes.map(question);
  element("lot").textContent = survey.views.length > 1
    ? say(words.lot, { count: attributes.length, all: new Set(survey.views.flat()).size }) : "";
  element("questions").replaceChildren(...asked.map((each) => each.box));
  element("form").onsubmit = (event) => {
    event.preventDefault();
    try {
      answered();
    } catch (error) {
      broken(error);
    }
  };
  const answered = () => {
    const open = asked.filter((each) => each.code() === "");
    for (const each of asked) {
      each.wrong.hidden = !open.includes(each);
      each.wrong.textContent = open.includes(each) ? words.required : "";
    }
    if (open.length) return open[0].first.focus();
    // another tab may have been quicker
    const before = kept.read();
    const answers = Object.fromEntries(asked.map((each) => [each.attribute.name, valueOf(each.attribute, Number(each.code()))]));
    const state = before.view === view && !before.report ? kept.write({ view, report: survey.report(answers, view) }) : before;
    step(survey, state);
  };
  show("ask");
}

/** What the text of a report says, in words. */
function inWords(attribute, kind, text) {
  if (kind === "label") return labelOf(attribute, attribute.values.indexOf(text));
  if (kind === "code") return say(words.code, { code: text });
  const bytes = text.slice(1).match(/../g).map((byte) => parseInt(byte, 16));
  const named = attribute.values.map((_, value) => value).filter((value) => (bytes[value >> 3] >> value % 8) & 1);
  return named.length ? say(words.set, { labels: named.map((value) => labelOf(attribute, value)).join(", ") }) : words.none;
}

function review(survey, { view, report, tried }) {
  const named = Object.fromEntries(survey.schema.map((each) => [each.name, each]));
  const rows = views[view - 1].flatMap(({ names, kind }) => (kind === "label" ? names.map((name) => [name]) : [names]).map((own) => {
    const row = made("div"), text = report.answers[own[0]];
    row.append(made("dt", own.map((name) => questionOf(named[name])).join(" · ")), made("dd", inWords(named[own[0]], kind, text)));
    return row;
  }));
  element("told").replaceChildren(...rows);
  element("along").hidden = !endpoint || !invitation();
  element("along").textContent = say(words.along, { invitation: invitation() });
  element("exact").textContent = JSON.stringify(report, null, 1);
  element("means").tBodies[0].replaceChildren(...sure.each.map(([name, number]) => {
    const row = made("tr");
    row.append(made("th", name === null ? words.each : questionOf({ name }), { scope: "row" }), made("td", percent(number)));
    return row;
  }));
  element("basis").textContent = [sure.basis && words[sure.basis], say(words.plain, { sure: percent(sure.plain) })].filter(Boolean).join(" ");
  // another tab may have been quicker: then what it did is shown, and nothing is done that was not to be seen
  const still = (what) => () => (kept.read().report?.id === report.id ? what() : start(survey));
  const end = (how) => step(survey, kept.write({ done: how }));
  element("send").textContent = tried ? words.retry : words[endpoint ? "send" : "save"];
  element("send").onclick = still(() => (endpoint ? send(survey, report) : save(report)));
  element("handed").onclick = still(() => end("sent"));
  element("decline").onclick = still(() => end(kept.read().tried ? "stopped" : "declined"));
  show("review");
}

function done(survey, what) {
  element("done-title").textContent = words[`${what}_title`];
  element("done-text").textContent = words[what];
  element("again").onclick = () => {
    element("invitation").value = ""; // which was somebody's own
    history.replaceState(null, "", "#");
    step(survey, kept.write({ view: survey.draw() }));
  };
  show("done");
}

function step(survey, state) {
  element("status").textContent = "";
  element("form").reset();
  element("questions").replaceChildren();
  kept.shown = JSON.stringify(state);
  if (state.done) return done(survey, state.done);
  return state.report ? review(survey, state) : ask(survey, state.view);
}

function start(survey) {
  const state = kept.read();
  const known = state.done || state.report || (Number.isInteger(state.view) && survey.views[state.view - 1]);
  step(survey, known ? state : kept.write({ view: survey.draw() }));
}

// --- sending ---

const invitation = () => element("invitation").value.trim();

async function send(survey, report) {
  const status = element("status"), button = element("send"), decline = element("decline");
  const mine = () => kept.read().report?.id === report.id;
  const keep = (tried) => (kept.shown = JSON.stringify(kept.write({ ...kept.read(), tried })));
  const before = Boolean(kept.read().tried);
  button.disabled = decline.disabled = true;
  status.textContent = words.sending;
  try {
    keep(true); // from now on it may have arrived
    const answer = await fetch(endpoint, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(invitation() ? { "X-Invitation": invitation() } : {}) },
      body: JSON.stringify(report),
      ...{ credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error" },
    });
    if (!mine()) return start(survey);
    if (answer.ok) return step(survey, kept.write({ done: "sent" }));
    const later = [408, 429].includes(answer.status) || answer.status >= 500;
    if (!later) keep(before);
    element("field").hidden = answer.status !== 403;
    status.textContent = answer.status === 403 ? words.invited : later ? words.later : say(words.rejected, { status: answer.status });
    if (answer.status === 403) element("invitation").focus();
  } catch {
    status.textContent = words.later;
  } finally {
    button.disabled = decline.disabled = false;
    if (mine()) button.textContent = words.retry;
  }
}

function save(report) {
  const link = made("a", undefined, {
    href: URL.createObjectURL(new Blob([JSON.stringify(report)], { type: "application/json" })),
    download: `report-${report.id.slice(0, 8)}.json`,
  });
  link.click();
  URL.revokeObjectURL(link.href);
  element("status").textContent = words.saved;
  element("handed").hidden = false;
}

// --- begin ---

const texts = {
  ...{ "ask-title": "ask", lead: "lead", once: "once", next: "next", "review-title": "review", "review-lead": "review_lead" },
  ...{ "exact-title": "exact", "means-title": "means", "means-lead": "means_lead", "invitation-label": "invitation" },
  ...{ handed: "handed", decline: "decline", again: "again" },
};
for (const [id, name] of Object.entries(texts)) element(id).textContent = words[name];
element("invitation").value = new URLSearchParams(location.hash.slice(1)).get("invitation") ?? "";

function broken(error) {
  for (const each of ["ask", "review", "done"]) element(each).hidden = true;
  element("problem").textContent = say(words.broken, { error: error.message });
  element("problem").hidden = false;
}

try {
  const survey = await open(plan, { signature });
  kept.name = `deptriad ${survey.fingerprint}`;
  start(survey);
  // what another tab did, or this page before it was left, is to be seen here, too
  const follow = () => ![null, kept.shown].includes(localStorage.getItem(kept.name)) && start(survey);
  addEventListener("storage", follow);
  addEventListener("pageshow", follow);
} catch (error) {
  broken(error);
}
