// Perturbs one person's answers on their own device, as a plan of deptriad says: (await open(plan)).report(record).
// From the same random words the Python package makes the same report, bit for bit; its docs/survey.md has the words
// and their order. Apache-2.0, the deptriad authors.

/** The public key by which every plan must be signed; `deptriad client --key` sets it. */
const KEY = null;

const WORD = 1n << 64n;
const LOW = (1n << 32n) - 1n;

// --- numbers, exactly ---

const ceiling = (above, below) => (above + below - 1n) / below;
const nearest = (above, below) => (2n * above + below) / (2n * below);

/** A float, which is not negative, as its exponent and 52 bits. */
function partsOf(number) {
  const [bits] = new BigUint64Array(new Float64Array([number]).buffer);
  return [Number(bits >> 52n), bits & ((1n << 52n) - 1n)];
}

/** The same times 2^1074, which makes any float whole. */
function whole(number) {
  const [exponent, bits] = partsOf(number);
  return exponent ? (bits | (1n << 52n)) << BigInt(exponent - 1) : bits;
}

/** The same as Python's float.hex. */
function hex(number) {
  const [exponent, bits] = partsOf(number);
  const power = Math.max(exponent, 1) - 1023;
  return `0x${exponent ? 1 : 0}.${bits.toString(16).padStart(13, "0")}p${power < 0 ? "" : "+"}${power}`;
}

/** Just below e^budget, at most e^64: rounded to 60 digits, then one less in the last. */
function expBelow(budget) {
  const one = 1n << 512n, halvings = 16n;
  const part = (whole(Math.min(budget, 64)) * one) >> (1074n + halvings);
  let sum = 0n;
  for (let term = one, n = 1n; term > 0n; n++) {
    sum += term;
    term = (term * part) / (n * one);
  }
  for (let n = 0n; n < halvings; n++) sum = (sum * sum) / one;
  const scale = 10n ** BigInt(60 - (sum / one).toString().length);
  const found = nearest(sum * scale, one);
  return found === 10n ** 59n ? [10n * found - 1n, 10n * scale] : [found - 1n, scale];
}

/** A number as Python's ".12g" writes it; with `all` as its repr. */
function decimal(number, all) {
  let [digits, power] = number.toExponential(all ? undefined : 11).split("e");
  const plain = (text) => text.replace(/\D/g, "");
  digits = plain(digits);
  power = Number(power);
  const exact = plain(number.toExponential(99).split("e")[0]);
  if (!all && /^50*$/.test(exact.slice(12)) && digits[11] % 2) digits = exact.slice(0, 12); // half to even
  digits = digits.replace(/0+$/, "").padEnd(1, "0");
  const sign = number < 0 ? "-" : "";
  const pointed = (place) => digits.slice(0, place) + (digits.length > place ? `.${digits.slice(place)}` : "");
  if (power < -4 || power >= (all ? 16 : 12)) {
    return `${sign}${pointed(1)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  if (power < 0) digits = "0".repeat(-power) + digits;
  const place = Math.max(power, 0) + 1;
  digits = digits.padEnd(place, "0");
  return sign + pointed(place) + (all && digits.length === place ? ".0" : "");
}

// --- mechanisms: how words turn a code into a report ---

/** The least Q such that q = Q/2^bits and p = 1 - (size - 1)q have p <= e^budget q. */
function lyingCell(size, budget, bits) {
  const [above, below] = expBelow(budget);
  return ceiling(below << bits, above + (size - 1n) * below);
}

const responded = (code, word, cell, size) => (word < cell * size ? word / cell : code);

/** A number below `count` from 32 bits; null where taking it would favour some. */
function drawn(bits, count) {
  const product = bits * count, left = product & LOW;
  return left < count && left < (LOW + 1n) % count ? null : product >> 32n;
}

/** A set of values in bytes: the first value is the lowest bit of the first one. */
function bytes(bits, size) {
  let text = "x";
  for (let byte = 0n; 8n * byte < size; byte++) text += digits((bits >> (8n * byte)) & 255n, 2);
  return text;
}

const digits = (number, count) => number.toString(16).padStart(count, "0");

/** A bit for each value: the true one with chance keep/2^64, the others with add/2^64. */
function unary(law, size, keep, add) {
  const groups = (size + 63n) / 64n;
  const report = (code, words) => {
    const given = words(Number((143n * groups) / 2n) + 2);
    let used = 1, bits = 0n;
    for (let group = 0n; group < groups; group++) {
      const values = size - 64n * group < 64n ? size - 64n * group : 64n;
      let lanes = (1n << values) - 1n;
      if (code / 64n === group) lanes &= ~(1n << code % 64n);
      // in each lane the bits of the words to come are a number, compared with the threshold
      for (let threshold = add; lanes && threshold; threshold = (threshold << 1n) % WORD) {
        const word = given[used++];
        if (threshold >> 63n) {
          bits |= (lanes & ~word) << (64n * group);
          lanes &= word;
        } else lanes &= ~word;
      }
    }
    return bytes(given[0] < keep ? bits | (1n << code) : bits, size);
  };
  return { law, report, numbers: { keep, add } };
}

/** By their keys in a plan. */
const MECHANISMS = {
  grr(size, budget) {
    const short = lyingCell(size, budget, 32n), long = lyingCell(size, budget, 64n);
    // 32 bits where that changes q and p - q by less than 1/4096
    const near = (short << 32n) * 4096n <= long * 4097n
      && (WORD - ((size * short) << 32n)) * 4096n >= (WORD - size * long) * 4095n;
    const [cell, mask] = near ? [short, LOW] : [long, WORD - 1n];
    const report = (code, words) => responded(code, words(1)[0] & mask, cell, size);
    return { law: "GRR", named: true, report, numbers: { cell, mask } };
  },

  sue(size, budget) {
    const [above, below] = expBelow(budget / 2);
    const add = ceiling(WORD * below, above + below);
    return unary("SUE", size, WORD - add, add);
  },

  oue(size, budget) {
    const [above, below] = expBelow(budget);
    return unary("OUE", size, WORD / 2n, ceiling(WORD * below, above + below));
  },

  olh(size, budget) {
    const most = nearest(...expBelow(budget)) + 1n, cells = most < 4096n ? most : 4096n;
    const cell = lyingCell(cells, budget, 64n), field = (1n << 20n) - 1n;
    const timesT = (element) => (element << 1n) ^ (((element << 1n) >> 20n) * 0x100009n); // in GF(2^20)
    const hashed = (code, seed) => {
      let hash = seed & field, linear = (seed >> 20n) & field, square = (seed >> 40n) & field;
      for (let rest = code; rest; rest >>= 1n) {
        if (rest & 1n) hash ^= square ^ linear;
        [linear, square] = [timesT(linear), timesT(timesT(square))];
      }
      return (hash * cells) >> 20n;
    };
    const report = (code, words) => {
      const [seed] = words(1), [word] = words(1);
      return `x${digits(seed, 16)}${digits(responded(hashed(code, seed), word, cell, cells), 4)}`;
    };
    return { law: "OLH by a polynomial of degree 2", report, numbers: { cells, cell } };
  },

  subset(size, budget) {
    const [above, below] = expBelow(budget);
    const width = nearest(size * below, above + below) || 1n;
    const keep = (WORD * width * above) / (width * above + (size - width) * below);
    const report = (code, words) => {
      for (;;) {
        const [first, ...row] = words(1 + Math.floor((Number(width) + 2) / 2));
        const half = (place) => (row[place >> 1] >> BigInt(32 * (place % 2))) & LOW;
        const others = [];
        let rejected = false;
        for (let place = 0; place < width && !rejected; place++) { // Floyd's way to draw a set
          const most = size - 1n - width + BigInt(place);
          const found = drawn(half(place), most + 1n);
          rejected = found === null;
          others.push(others.includes(found) ? most : found);
        }
        const room = drawn(half(Number(width)), width);
        if (rejected || room === null) continue;
        const set = others.map((other) => (other >= code ? other + 1n : other));
        if (first < keep) set[room] = code;
        return bytes(set.reduce((bits, value) => bits | (1n << value), 0n), size);
      }
    };
    return { law: "SubsetSelection", report, numbers: { width, keep } };
  },

  hadamard(size, budget) {
    const [above, below] = expBelow(budget);
    const keep = (WORD * above) / (above + below), columns = 1n << BigInt(size.toString(2).length);
    const even = (bits) => bits.toString(2).replaceAll("0", "").length % 2 === 0;
    const report = (code, words) => {
      const [word] = words(1), column = words(1)[0] % columns, row = code + 1n;
      const wrong = even(column & row) !== word < keep;
      return `x${digits(wrong ? column ^ (row & -row) : column, 8)}`;
    };
    return { law: "HadamardResponse", report, numbers: { keep, columns } };
  },

  staircase(size, budget) {
    const all = 1n << 63n, reach = size - 1n;
    const [above, below] = expBelow(budget / 2);
    const far = (distance) => (distance < 0n ? -distance : distance);
    const off = (step) => far(step * (above + below) - reach * below); // from reach/(1 + e^(budget/2))
    let step = 0n;
    for (let each = 1n; each <= reach; each++) {
      const fits = reach % (2n * each - 1n) === 0n || (size - 2n) % (2n * each - 1n) === 0n;
      if (fits && (!step || off(each) < off(step))) step = each;
    }
    const [most, least] = expBelow(budget);
    const slots = 2n * step * most + (2n * (reach - step) + 1n) * least - most;
    let high = ((all * (most - least)) / slots / 2n) * 2n, low = 0n;
    for (; high > 0n; high -= 2n) {
      low = ceiling(high * least, most);
      const end = (all + high) / 2n;
      if (end * least <= most * (end - step * high - (reach - step) * low)) break;
    }
    if (!high) refuse(`the budget is ${budget}, too small for ${size} values`);
    const noise = (distance) => (far(distance) < step ? high : low);
    const end = (distance) => (all + high) / 2n - (distance < step ? distance : step) * high
      - (distance < step ? 0n : distance - step) * low;
    const report = (code, words) => {
      const number = words(1)[0] >> 1n;
      let value = 0n;
      for (let below = end(code); value < reach && below <= number; below += noise(code - value)) value++;
      return value;
    };
    return { law: "Staircase", named: true, report, numbers: { step, high, low } };
  },
};

// --- the plan ---

const refuse = (said) => { throw new RangeError(said); };
const shown = (value) => String(typeof value === "string" ? JSON.stringify(value) : value);

/** What values are called, by their codes. */
function labels({ categories, edges, missing, unseen }) {
  const isFloat = (each) => Number.isFinite(each) && (edges || !Number.isInteger(each));
  const text = (each) => (isFloat(each) ? decimal(each) : typeof each === "boolean" ? (each ? "True" : "False") : String(each));
  const texts = (values) => {
    const short = values.map(text);
    const alike = (one) => short.filter((two) => one === two).length > 1;
    return values.map((each, place) => (isFloat(each) && alike(short[place]) ? decimal(each, true) : short[place]));
  };
  const named = edges ? texts(edges) : [];
  const bins = (edges ?? []).slice(1).map((high, place) => {
    const last = place === edges.length - 2, low = edges[place], [start, stop] = named.slice(place);
    if (low === -Infinity) return high === Infinity ? "any" : `${last ? "≤" : "<"} ${stop}`;
    return high === Infinity ? `≥ ${start}` : `[${start}, ${stop}${last ? "]" : ")"}`;
  });
  const own = edges ? bins : texts(categories);
  return [...own, ...(unseen === "other" ? ["(other)"] : []), ...(missing === "category" ? ["(missing)"] : [])];
}

function attributeOf(row) {
  const edges = row.edges?.map((edge) => Number(String(edge).replace("inf", "Infinity")));
  const each = { missing: "category", unseen: "error", ...row, edges };
  return { ...each, values: row.values ?? labels(each) };
}

const sizeOf = (attribute) => BigInt(attribute.values.length);

/** The code of a declared value, its label, a number for bins, or null for a missing one. */
function codeOf({ name, values, categories, codes, edges, missing, unseen }, record) {
  const value = Object.hasOwn(record, name) ? record[name] : refuse(`the record lacks ${shown(name)}, expected a value or null`);
  const other = unseen === "other" ? values.indexOf("(other)") : -1;
  let code = categories?.indexOf(value) ?? -1;
  if (codes) code = codes[code] ?? -1;
  if (code < 0 && typeof value === "string") code = values.indexOf(value);
  if (code < 0 && edges && typeof value === "number")
    code = edges.slice(1).findIndex((high, at) => value >= edges[at] && (value < high || (value === high && at === edges.length - 2)));
  if (value === null || Number.isNaN(value)) code = { category: values.length - 1, other, error: -1 }[missing];
  else if (code < 0) code = other;
  // without the answer: messages get logged
  return code >= 0 ? BigInt(code) : refuse(`the answer to ${shown(name)} is none of its values, expected one of ${values.slice(0, 20).map(shown).join(", ")}`);
}

function viewsOf({ version, views, attributes: rows }, attributes) {
  const question = (names, key, budget) => {
    const own = names.map((name) => attributes.find((each) => each.name === name) ?? refuse(`the schema lacks ${shown(name)}`));
    if (!Object.hasOwn(MECHANISMS, key)) refuse(`the mechanism is ${shown(key)}, expected one of ${Object.keys(MECHANISMS).join(", ")}`);
    if (!(budget > 0 && budget < Infinity)) refuse(`the budget is ${shown(budget)}, expected a number above 0`);
    return { attributes: own, budget, ...MECHANISMS[key](own.reduce((size, each) => size * sizeOf(each), 1n), budget) };
  };
  if (version === 1) {
    const asked = rows.filter((row) => row.budget > 0);
    return [{ share: 1, questions: asked.map((row) => question([row.name], row.mechanism, row.budget)) }];
  }
  return views.map(({ attributes: names, mechanisms, budgets, joint, share }) => {
    const groups = joint ? [names] : names.map((name) => [name]);
    return { share, questions: groups.map((group, at) => question(group, mechanisms[at], budgets[at])) };
  });
}

/** Shares as whole numbers that sum to 2^32, what is left of them to the largest remainders. */
function wholeShares(shares) {
  const add = (one, two) => one + two;
  const exact = shares.map((share) => whole(share) << 32n);
  const sum = exact.reduce(add) >> 32n;
  const parts = exact.map((each) => each / sum), rests = exact.map((each) => each % sum);
  const order = [...rests.keys()].sort((one, two) => (rests[one] > rests[two] ? -1 : Number(rests[one] < rests[two])));
  const left = Number(LOW + 1n - parts.reduce(add));
  for (const place of order.slice(0, left)) parts[place]++;
  return parts;
}

/** SHA-256 of Python's JSON of what is asked. */
async function fingerprintOf(attributes, views) {
  const ascii = (text) => JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${digits(unit.charCodeAt(0), 4)}`);
  const json = (value) => (Array.isArray(value) ? `[${value.map(json).join(", ")}]` : typeof value === "string" ? ascii(value) : value);
  const asked = views.flatMap((view, number) => view.questions.map((each) => [
    each.attributes.map((one) => one.name), each.law, hex(each.budget), ...(views.length > 1 ? [number] : []),
  ]));
  const told = ["Separate", attributes.map((each) => [each.name, each.values]), asked];
  return inHex(await subtle().digest("SHA-256", utf8(json(told))));
}

const utf8 = (text) => new TextEncoder().encode(text);
const inHex = (buffer) => [...new Uint8Array(buffer)].map((byte) => digits(byte, 2)).join("");

function subtle() {
  return globalThis.crypto?.subtle ?? refuse("there is no WebCrypto here: use https");
}

async function verify(text, signature, key) {
  const raw = (base64) => Uint8Array.from(atob(base64.replace(/-----[^-]*-----|\s/g, "")), (sign) => sign.charCodeAt(0));
  if (typeof text !== "string" || typeof signature !== "string")
    refuse("the plan is not signed: pass its text, and { signature }, the text of plan.json.sig");
  let fits = false;
  try {
    const imported = await subtle().importKey("spki", raw(key), "Ed25519", false, ["verify"]);
    fits = await subtle().verify("Ed25519", imported, raw(signature), utf8(text));
  } catch { /* no signature, or no key */ }
  if (!fits) refuse("the plan was changed, or signed by someone else");
}

/** Whether it serves crypto alone, and is built in; that of Node is JavaScript. */
function isSecure(draw) {
  try {
    draw.call({}, new BigUint64Array(1));
  } catch {
    return draw && (/\[native code\]/.test(Function.prototype.toString.call(draw)) || globalThis.process?.versions?.node);
  }
}

let source = null;

/** Words of the secure source; what was put in its place is refused. */
function secure(count) {
  const draw = globalThis.Crypto?.prototype.getRandomValues;
  if (draw !== source)
    source = isSecure(draw) ? draw : refuse("there is no secure randomness: crypto.getRandomValues is not built in");
  const words = new BigUint64Array(count);
  for (let at = 0; at < count; at += 8192) draw.call(globalThis.crypto, words.subarray(at, at + 8192)); // the most at once
  return words;
}

function given(list) {
  const words = (count) => {
    words.used += count;
    return words.used > list.length ? refuse(`there are ${list.length} words, too few`) : list.slice(words.used - count, words.used);
  };
  return Object.assign(words, { used: 0 });
}

// --- a survey ---

class Survey {
  #views;
  #ends;

  constructor(attributes, views, fingerprint) {
    let sum = 0n;
    this.#views = views;
    this.#ends = wholeShares(views.map((view) => view.share)).map((part) => (sum += part));
    this.fingerprint = fingerprint;
    this.schema = attributes;
    this.views = views.map((view) => view.questions.flatMap((each) => each.attributes.map((one) => one.name)));
  }

  /** Which view to ask, counted from 1. Draw once for each person, and keep it. */
  draw() {
    return this.#drawn(secure);
  }

  /** The report to send. Make one for each person, and send that again where it failed. */
  report(record, view = this.draw()) {
    const answers = this.#answers(record, view, secure);
    const id = inHex(secure(2).buffer);
    return { format: "deptriad report", version: 1, plan: this.fingerprint, id, view, answers };
  }

  /** What given words make of a record: for tests against the vectors, and no report to send. */
  fromWords(record, list) {
    const words = given(list), view = this.#drawn(words);
    return { view, answers: this.#answers(record, view, words), used: words.used };
  }

  #drawn(words) {
    if (this.#ends.length === 1) return 1;
    const word = words(1)[0] >> 32n;
    return this.#ends.findIndex((end) => end > word) + 1;
  }

  #answers(record, view, words) {
    const own = this.#views[view - 1] ?? refuse(`the view is ${shown(view)}, expected 1 to ${this.#views.length}`);
    return Object.fromEntries(own.questions.flatMap(({ attributes, named, report }) => {
      let told = report(attributes.reduce((code, each) => code * sizeOf(each) + codeOf(each, record), 0n), words);
      if (!named) return [[attributes[0].name, told]];
      return [...attributes].reverse().map((each) => {
        const label = each.values[told % sizeOf(each)];
        told /= sizeOf(each);
        return [each.name, label];
      });
    }));
  }
}

/** Open a plan: the text of its file, or, without a key, the object in it. */
export async function open(plan, { signature, key } = {}) {
  const asked = KEY ?? key;
  if (asked) await verify(plan, signature, asked);
  const content = typeof plan === "string" ? JSON.parse(plan) : plan;
  if (content?.format !== "deptriad plan") refuse(`the plan has "format": ${shown(content?.format)}, expected "deptriad plan"`);
  if (![1, 2].includes(content.version)) refuse(`the plan has "version": ${shown(content.version)}, expected 1 or 2`);
  const attributes = content.schema.attributes.map(attributeOf);
  const views = viewsOf(content, attributes);
  return new Survey(attributes, views, await fingerprintOf(attributes, views));
}
